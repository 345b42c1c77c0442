// SPDX-License-Identifier: MIT
// Geometries where files are mended, merged and looked at.
#pragma once

#include "log/recovery/finds.h"
#include "log/writer/writer.h"

// The chunk of a geometry, which is whole, gets its row. DATA_LOSS: it is none.
Status geometries_put(Writer *writer, const uint8_t *bytes, size_t count, bool *is_new,
                      Error *error);

// Each row's name is that of its bytes; those that are damaged are told.
Status geometries_mend(Writer *writer, Finds *finds, Error *error);

// Tells of names that recordings note and no row has.
Status geometries_tell_lacks(Writer *writer, Finds *finds, Error *error);

// The geometry of that name is in the writer's file as well; NOT_FOUND, with a sentence, where it
// is in neither of the two, whole.
Status geometries_take(Writer *writer, sqlite3 *from, const uint8_t name[SHA256_BYTES],
                       Error *error);

// Tells what of geometries is wrong in a file, of this version, and changes nothing.
Status geometries_inspect(sqlite3 *db, FILE *out, uint64_t *finds, Error *error);
