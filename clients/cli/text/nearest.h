// SPDX-License-Identifier: MIT
// Which of the names there are was probably meant by one that there is not: the one with the fewest
// letters left out, added, changed or swapped, where these are few.
#pragma once

#include <stddef.h>

enum { NEAREST_HINT_BYTES = 96 };

typedef struct Nearest {
    const char *typed; // borrowed; the rest starts as zero
    const char *name;  // borrowed; the best so far, Nullable
    size_t distance;
} Nearest;

// One of the names there are; it must live as long as `nearest`.
void nearest_offer(Nearest *nearest, const char *name);

// " (did you mean worlds?)", or "" where nothing is near. Writes into `hint`, returns it.
const char *nearest_hint(const Nearest *nearest, char hint[NEAREST_HINT_BYTES]);
