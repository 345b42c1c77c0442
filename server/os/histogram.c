// SPDX-License-Identifier: MIT
#include "os/histogram.h"

// With one writer a load and a store are enough; no bus is locked.
static void raise(_Atomic uint64_t *counter, uint64_t by) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

void histogram_add(Histogram *histogram, uint64_t ns) {
    uint32_t bucket = 0;
    while (bucket < HISTOGRAM_BOUND_COUNT && ns > histogram_bound_ns(bucket)) {
        bucket++;
    }
    raise(&histogram->bucket[bucket], 1);
    raise(&histogram->sum_ns, ns);
}

void histogram_collect(const Histogram *histogram, HistogramTotal *total) {
    for (uint32_t i = 0; i <= HISTOGRAM_BOUND_COUNT; i++) {
        uint64_t count = atomic_load_explicit(&histogram->bucket[i], memory_order_relaxed);
        total->bucket[i] += count;
        total->count += count;
    }
    total->sum_ns += atomic_load_explicit(&histogram->sum_ns, memory_order_relaxed);
}
