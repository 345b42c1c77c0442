// SPDX-License-Identifier: MIT
// How often durations of each size were seen: bucket i counts those up to 2^i microseconds, the
// last one all that are longer. One thread adds, any thread reads; neither waits.
#pragma once

#include <stdatomic.h>
#include <stdint.h>

enum { HISTOGRAM_BOUND_COUNT = 24 }; // 1 us … 8.4 s

typedef struct Histogram {
    _Atomic uint64_t bucket[HISTOGRAM_BOUND_COUNT + 1];
    _Atomic uint64_t sum_ns;
} Histogram;

typedef struct HistogramTotal {
    uint64_t bucket[HISTOGRAM_BOUND_COUNT + 1];
    uint64_t count, sum_ns;
} HistogramTotal;

// The upper bound of a bucket [ns].
static inline uint64_t histogram_bound_ns(uint32_t bucket) {
    return UINT64_C(1000) << bucket;
}

// By the one thread that writes this histogram.
void histogram_add(Histogram *histogram, uint64_t ns);

void histogram_collect(const Histogram *histogram, HistogramTotal *total);
