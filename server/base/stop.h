// SPDX-License-Identifier: MIT
// Long work that can be given up: whoever does it asks now and then whether to stop. The answer
// must not change what work that goes on returns.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct Stop {
    bool (*asked)(void *context);
    void *context;
} Stop;

static inline bool stop_is_asked(const Stop *stop) { // Nullable: never
    return stop != NULL && stop->asked(stop->context);
}

// Counts what has been done, and asks every 10^6 operations or earlier: at half of that, as what is
// not counted is about as much.
typedef struct Asker {
    const Stop *stop;  // Nullable
    double operations; // since it was asked
    bool is_stopped;   // what it said last; then it is not asked again
} Asker;

#define ASKER_OPERATIONS 5e5

// Returns whether to stop.
static inline bool asker_spend(Asker *asker, double operations) { // Nullable: never
    if (asker == NULL) {
        return false;
    }
    asker->operations += operations;
    if (asker->operations >= ASKER_OPERATIONS && !asker->is_stopped) {
        asker->operations = 0.0;
        asker->is_stopped = stop_is_asked(asker->stop);
    }
    return asker->is_stopped;
}
