// SPDX-License-Identifier: MIT
// Counts what a search does and asks now and then whether to go on: at the least once in a million
// operations, an operation being a look at a box, a body or a pair, or a move of one. Loops over
// bodies pay at their beginning, those over pairs as they go. What is over stays over.
#pragma once

#include "base/stop.h"

#include <stdint.h>

// Some milliseconds at most, where every operation waits for memory.
enum { PATIENCE_OPERATIONS = 1 << 18 };

typedef struct Patience {
    const Stop *stop; // Nullable
    size_t spent;     // since the last question
    bool is_over;
} Patience;

// Whether to stop, once so many operations more are done.
static inline bool patience_ends(Patience *patience, size_t operations) {
    patience->spent += operations;
    if (patience->spent >= PATIENCE_OPERATIONS && !patience->is_over) {
        patience->spent = 0;
        patience->is_over = stop_is_asked(patience->stop);
    }
    return patience->is_over;
}
