// SPDX-License-Identifier: MIT
// What long work is handed beside its input. Stop, tasks and history change nothing of what it
// returns; a limit that is met does, and the answer says so.
#pragma once

#include "base/history.h"
#include "base/stop.h"
#include "base/tasks.h"

typedef struct Context {
    const Stop *stop; // Nullable: it is never given up; asked by the thread that began the work
    const Stop
        *limit; // Nullable: no solve ends early; asked likewise: when it says so, a solve ends with
                // the best that it has (solve/judge.h), where it would be given up otherwise
    const Stop *last_resort; // Nullable: the same, but of whoever runs the work, not of who asked
    const Tasks *tasks;      // Nullable: it is done by that thread alone
    IterationHistory
        *history; // Nullable: filled with how far it was from its aim after each iteration
    const struct GeometryAsk *geometry; // Nullable: of a step, for solvers (solve/geometry.h)
} Context;

static inline bool context_is_stopped(const Context *context) { // Nullable: never
    return context != NULL && stop_is_asked(context->stop);
}
