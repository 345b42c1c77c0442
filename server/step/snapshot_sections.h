// SPDX-License-Identifier: MIT
// The sections of a snapshot, in the order they are written, and the byte streams they are written
// to and read from. A new kind of thing in a world is a new row.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "world/world.h"

// Takes bytes: hashes them, writes them, or, with neither, counts them.
typedef struct Sink {
    Hash *hash;     // Nullable
    uint8_t *bytes; // Nullable; large enough
    size_t count;
} Sink;

void sink_u32(Sink *sink, uint32_t value);
void sink_u64(Sink *sink, uint64_t value);
void sink_double(Sink *sink, double value);
void sink_doubles(Sink *sink, const double *values, size_t count);
void sink_text(Sink *sink, const char *text); // NULL: the empty text

// Gives bytes; past the end it gives zeros and remembers that it failed.
typedef struct Source {
    const uint8_t *bytes;
    size_t count, used;
    bool failed;
} Source;

uint32_t source_u32(Source *source);
uint64_t source_u64(Source *source);
double source_double(Source *source);
void source_doubles(Source *source, double *values, size_t count);
// A number of items that the rest of the bytes can hold, at item_bytes each.
size_t source_count(Source *source, size_t item_bytes);
bool source_text(Source *source, char *text, size_t capacity);

typedef struct SnapshotSection {
    uint32_t kind, version;
    bool is_definition; // changes only when the world is defined anew, not by a step
    void (*write)(Sink *sink, const World *world);
    // Fills a fresh world; judges every number. Sections are read in order.
    Status (*read)(Source *source, World *world, Error *error);
} SnapshotSection;

extern const SnapshotSection snapshot_sections[];
extern const size_t snapshot_section_count;
