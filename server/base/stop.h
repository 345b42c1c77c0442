// SPDX-License-Identifier: MIT
// Long work that can be given up: whoever does it asks now and then whether to stop. The answer
// must not change what work that goes on returns.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// What may be done, and how much of it has been, in operations: what is counted, and the same
// wherever it is done. Work that would exceed it stops as if it were asked to.
typedef struct Allowance {
    double spent, most;
    bool is_over;
} Allowance;

typedef struct Stop {
    bool (*asked)(void *context);
    void *context;
    Allowance *allowance; // Nullable: as much as one likes
} Stop;

static inline bool stop_is_asked(const Stop *stop) { // Nullable: never
    return stop != NULL && stop->asked(stop->context);
}

// Counts operations that have been done; whether that is too much.
static inline bool stop_spend(const Stop *stop, double operations) { // Nullable: never
    if (stop == NULL || stop->allowance == NULL) {
        return false;
    }
    Allowance *allowance = stop->allowance;
    allowance->spent += operations;
    allowance->is_over = allowance->is_over || allowance->spent > allowance->most;
    return allowance->is_over;
}

// Whether as much more may be begun; if not, all is over.
static inline bool stop_affords(const Stop *stop, double operations) { // Nullable: always
    if (stop == NULL || stop->allowance == NULL) {
        return true;
    }
    Allowance *allowance = stop->allowance;
    allowance->is_over = allowance->is_over || allowance->spent + operations > allowance->most;
    return !allowance->is_over;
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
        asker->is_stopped =
            stop_spend(asker->stop, asker->operations) || stop_is_asked(asker->stop);
        asker->operations = 0.0;
    }
    return asker->is_stopped;
}

// Before work of so many operations, which are counted when it is done; false: it is to stop
// instead.
static inline bool asker_affords(Asker *asker, double operations) {
    asker->is_stopped =
        asker->is_stopped || !stop_affords(asker->stop, asker->operations + operations);
    return !asker->is_stopped;
}
