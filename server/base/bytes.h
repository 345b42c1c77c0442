// SPDX-License-Identifier: MIT
// Portable byte strings: what snapshots and inputs are written in. Little-endian, doubles as their
// IEEE 754 bits, no padding but what the format says. Both ends keep going after a failure and
// remember it, so that callers check once. What every step's input is made of stands in the header.
#pragma once

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are copied as they lie in memory: a big-endian machine needs swapping here"
#endif

// The same to the last bit: a zero's sign and what a NaN carries count.
static inline bool bytes_are_same(const void *a, const void *b, size_t count) {
    return memcmp(a, b, count) == 0;
}

static inline bool bytes_same_double(double a, double b) {
    return bytes_are_same(&a, &b, sizeof(a));
}

// Takes bytes: hashes them, writes them, or, with neither, counts them.
typedef struct Sink {
    Hash *hash;     // Nullable
    uint8_t *bytes; // Nullable; must be large enough for all that comes
    size_t count;
} Sink;

static inline void sink_bytes(Sink *sink, const void *bytes, size_t count) {
    if (count == 0) {
        return;
    }
    if (sink->hash != NULL) {
        hash_add(sink->hash, bytes, count);
    }
    if (sink->bytes != NULL) {
        memcpy(sink->bytes + sink->count, bytes, count);
    }
    sink->count += count;
}

static inline void sink_u32(Sink *sink, uint32_t value) {
    sink_bytes(sink, &value, sizeof(value));
}

static inline void sink_u64(Sink *sink, uint64_t value) {
    sink_bytes(sink, &value, sizeof(value));
}

static inline void sink_double(Sink *sink, double value) {
    sink_bytes(sink, &value, sizeof(value));
}

static inline void sink_doubles(Sink *sink, const double *values, size_t count) {
    sink_bytes(sink, values, count * sizeof(*values));
}

static inline void sink_u32s(Sink *sink, const uint32_t *values, size_t count) {
    sink_bytes(sink, values, count * sizeof(*values));
}

static inline void sink_u64s(Sink *sink, const uint64_t *values, size_t count) {
    sink_bytes(sink, values, count * sizeof(*values));
}

void sink_text(Sink *sink, const char *text); // length (u64), bytes; NULL: the empty text
void sink_pad(Sink *sink);                    // zeros up to the next multiple of 8

// Gives bytes; past the end it gives zeros and has failed.
typedef struct Source {
    const uint8_t *bytes; // borrowed
    size_t count, used;
    bool failed;
} Source;

// Borrowed; NULL past the end.
static inline const uint8_t *source_bytes(Source *source, size_t count) {
    if (source->failed || count > source->count - source->used) {
        source->failed = true;
        return NULL;
    }
    const uint8_t *bytes = source->bytes + source->used;
    source->used += count;
    return bytes;
}

// Leaves `to` as it is past the end.
static inline void source_copy(Source *source, void *to, size_t count) {
    const uint8_t *bytes = source_bytes(source, count);
    if (bytes != NULL) {
        memcpy(to, bytes, count);
    }
}

static inline uint32_t source_u32(Source *source) {
    uint32_t value = 0;
    source_copy(source, &value, sizeof(value));
    return value;
}

static inline uint64_t source_u64(Source *source) {
    uint64_t value = 0;
    source_copy(source, &value, sizeof(value));
    return value;
}

static inline double source_double(Source *source) {
    double value = 0.0;
    source_copy(source, &value, sizeof(value));
    return value;
}

// A number of items that the rest can hold.
static inline size_t source_count(Source *source, size_t item_bytes) {
    uint64_t count = source_u64(source);
    if (source->failed || count > (source->count - source->used) / item_bytes) {
        source->failed = true;
        return 0;
    }
    return (size_t)count;
}

void source_doubles(Source *source, double *values, size_t count);
void source_u32s(Source *source, uint32_t *values, size_t count);
void source_u64s(Source *source, uint64_t *values, size_t count);
bool source_text(Source *source, char *text, size_t capacity);
bool source_pad(Source *source); // skips to the next multiple of 8; what is skipped must be zero
