// SPDX-License-Identifier: MIT
// Rows made again from sealed chunks, in a file that SQLite finds sound.
#pragma once

#include "log/recovery/finds.h"
#include "log/writer/writer.h"

// Reads every chunk: damaged ones are told and stay; the row of a sound one says what the chunk
// says, and stands in its recording, which is made when it is not there; one that is there twice
// goes. Then the rows of each recording that has its definition are what definition, seal and
// chunks say; one that nobody ended ends where its chunks do; each has an episode.
Status rebuild_rows(Writer *writer, Finds *finds, Error *error);

// A sound chunk from elsewhere is there, once, in its recording; what is damaged in its place goes.
// Within somebody's transaction.
Status rebuild_put(Writer *writer, const uint8_t *bytes, size_t count, bool *is_new, Error *error);

// The row of a chunk goes. Within somebody's transaction.
Status rebuild_delete_chunk(Writer *writer, int64_t id, Error *error);
