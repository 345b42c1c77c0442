// SPDX-License-Identifier: MIT
// Geometries in the log: their names, of which each recording has a list, and their bytes, of which
// a file has one copy, however many recordings name them. A name is the SHA-256 of the bytes: so
// whatever covers the names covers the bytes, and who reads bytes checks them against the name.
//
//   chunk of geometries   number (u64), then of each its name (32 bytes), bytes (u64)
//   chunk of a geometry   the bytes; its uid is the beginning of the name, its sequence 0, its
//                         step and time 0, of one world: to the byte the same in every file
#pragma once

#include "base/sha256.h"
#include "log/format/chunk.h"

typedef struct LogGeometry {
    uint8_t name[SHA256_BYTES];
    const uint8_t *bytes; // borrowed; NULL: named alone
    size_t byte_count;
} LogGeometry;

// The body of a chunk of geometries. With `bytes` NULL it only counts.
size_t geometries_write(const LogGeometry *list, size_t count, uint8_t *bytes);

// Whether the body is names, and how many.
Status geometries_open(const Chunk *chunk, size_t *count, Error *error);
LogGeometry geometries_get(const Chunk *chunk, size_t index);

// The chunk of a geometry's bytes takes so many; and those.
size_t geometry_chunk_bytes(const LogGeometry *geometry);
void geometry_chunk_write(const LogGeometry *geometry, uint8_t *bytes);

// Any bytes; `name` Nullable: any geometry's. DATA_LOSS goes on from "it …" or "its …".
Status geometry_chunk_open(const uint8_t *bytes, size_t count, const uint8_t *name,
                           LogGeometry *geometry, Error *error);
