// SPDX-License-Identifier: MIT
// Memory that several arenas may take together, whichever of them needs it. Any thread.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Budget {
    _Atomic uint64_t used_bytes;
    uint64_t max_bytes;
} Budget;

// false, with nothing taken: that would be more than there is.
static inline bool budget_take(Budget *budget, size_t bytes) {
    uint64_t used = atomic_load_explicit(&budget->used_bytes, memory_order_relaxed);
    do {
        if (used > budget->max_bytes || bytes > budget->max_bytes - used) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&budget->used_bytes, &used, used + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

static inline void budget_give(Budget *budget, size_t bytes) {
    atomic_fetch_sub_explicit(&budget->used_bytes, bytes, memory_order_relaxed);
}

static inline uint64_t budget_used_bytes(const Budget *budget) {
    return atomic_load_explicit(&budget->used_bytes, memory_order_relaxed);
}
