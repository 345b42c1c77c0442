// SPDX-License-Identifier: MIT
// Portable byte strings: what snapshots and inputs are written in. Little-endian, doubles as their
// IEEE 754 bits, no padding but what the format says. Both ends keep going after a failure and
// remember it, so that callers check once.
#pragma once

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Takes bytes: hashes them, writes them, or, with neither, counts them.
typedef struct Sink {
    Hash *hash;     // Nullable
    uint8_t *bytes; // Nullable; must be large enough for all that comes
    size_t count;
} Sink;

void sink_bytes(Sink *sink, const void *bytes, size_t count);
void sink_u32(Sink *sink, uint32_t value);
void sink_u64(Sink *sink, uint64_t value);
void sink_double(Sink *sink, double value);
void sink_doubles(Sink *sink, const double *values, size_t count);
void sink_u32s(Sink *sink, const uint32_t *values, size_t count);
void sink_u64s(Sink *sink, const uint64_t *values, size_t count);
void sink_text(Sink *sink, const char *text); // length (u64), bytes; NULL: the empty text
void sink_pad(Sink *sink);                    // zeros up to the next multiple of 8

// Gives bytes; past the end it gives zeros and has failed.
typedef struct Source {
    const uint8_t *bytes; // borrowed
    size_t count, used;
    bool failed;
} Source;

const uint8_t *source_bytes(Source *source, size_t count); // borrowed; NULL past the end
uint32_t source_u32(Source *source);
uint64_t source_u64(Source *source);
double source_double(Source *source);
void source_doubles(Source *source, double *values, size_t count);
void source_u32s(Source *source, uint32_t *values, size_t count);
void source_u64s(Source *source, uint64_t *values, size_t count);
size_t source_count(Source *source, size_t item_bytes); // a number of items that the rest can hold
bool source_text(Source *source, char *text, size_t capacity);
bool source_pad(Source *source); // skips to the next multiple of 8; what is skipped must be zero
