// SPDX-License-Identifier: MIT
// Writing NumPy's NPZ: a ZIP archive of arrays, stored as they are, that numpy.load reads without
// pickle. Sizes have 64 bits throughout, so that nothing is too large. Why something cannot be
// written stands in the stream's `error`; Ctrl-C is such a reason.
#pragma once

#include "cli/files/save.h"

enum { NPZ_ARRAYS_MAX = 128, NPZ_DIMENSIONS_MAX = 3, NPZ_NAME_BYTES = 40 };

typedef struct NpzEntry {
    char name[NPZ_NAME_BYTES];
    uint64_t offset, bytes;
    uint32_t crc;
} NpzEntry;

typedef struct Npz {
    SaveStream *save; // borrowed; a regular file
    uint64_t at;      // bytes written
    size_t count;
    NpzEntry entry[NPZ_ARRAYS_MAX];
    uint64_t left; // bytes that the array under way still wants
    uint32_t crc_table[256];
} Npz;

void npz_begin(Npz *npz, SaveStream *save);

// An array `name` of items that NumPy calls `type` without the byte order, as "f8" or "U12", of
// `item_bytes` each. Its numbers follow, in C order, by npz_write, and then npz_array_end.
void npz_array_begin(Npz *npz, const char *name, const char *type, size_t item_bytes,
                     size_t dimensions, const uint64_t *shape);
void npz_write(Npz *npz, const void *data, size_t bytes);
void npz_array_end(Npz *npz);

// The whole array at once.
void npz_array(Npz *npz, const char *name, const char *type, size_t item_bytes, size_t dimensions,
               const uint64_t *shape, const void *data);

// An array of texts, all as long as the longest; or one text that is no array.
void npz_texts(Npz *npz, const char *name, const char *const *texts, size_t count);
void npz_text(Npz *npz, const char *name, const char *text);

void npz_end(Npz *npz);
