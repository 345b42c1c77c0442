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
