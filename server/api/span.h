// SPDX-License-Identifier: MIT
// Ranges: `first` and `count` mean the same in every call that has them. A range is what there is
// of it: it ends where the things end, and one that begins behind them is empty. No range is an
// error, as things may vanish between two calls; how many there are stands in the reply.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The things [first, first + count) of a call that names a range.
typedef struct Span {
    uint64_t first, count;
} Span;

static inline Span span_of(uint64_t first, bool has_count, uint64_t count, uint64_t total) {
    Span span = {.first = first < total ? first : total};
    uint64_t rest = total - span.first;
    span.count = has_count && count < rest ? count : rest;
    return span;
}
