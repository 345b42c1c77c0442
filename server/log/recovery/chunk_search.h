// SPDX-License-Identifier: MIT
// Chunks straight from the pages of a file, whatever its tables, trees and header say: each begins
// with a word that nothing else has and ends with a checksum. A row's bytes stand in one cell and,
// when they are many, go on along a chain of overflow pages (SQLite's file format, "Cell payload
// overflow pages"); where a link of the chain is broken the next page is tried, as rows that are
// written in one go lie in one piece.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

// A whole chunk, borrowed during the call. Any other status than OK ends the search.
typedef Status ChunkSearchFound(const uint8_t *bytes, size_t count, void *context, Error *error);

// Looks through the file and, if there is one, its write-ahead log.
Status chunk_search(const char *path, ChunkSearchFound *found, void *context, Error *error);
