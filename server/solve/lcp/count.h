// SPDX-License-Identifier: MIT
// What a linear complementarity problem costs is counted in operations, so that whoever solves one
// asks often enough whether to stop, and never by a clock.
#pragma once

#include "base/stop.h"

#include <stdint.h>

// half of what may pass between two questions, as one stretch of work may be as long
#define LCP_OPERATIONS_PER_QUESTION 500000u

typedef struct LcpCount {
    const Stop *stop; // Nullable
    uint64_t operations;
    uint64_t pivots;
    bool is_stopped; // once it was asked for
} LcpCount;

// Counts operations; true: to stop was asked for.
static inline bool lcp_count(LcpCount *count, uint64_t operations) {
    count->operations += operations;
    if (count->operations >= LCP_OPERATIONS_PER_QUESTION) {
        count->is_stopped = count->is_stopped ||
                            stop_spend(count->stop, (double)count->operations) ||
                            stop_is_asked(count->stop);
        count->operations = 0;
    }
    return count->is_stopped;
}
