// SPDX-License-Identifier: MIT
// What a solve may cost: to the end, or as much as sweeps that are counted, whatever comes of them.
// The numbers are those of the wire.
#pragma once

#include <stdint.h>

typedef enum EffortKind {
    EFFORT_EXACT,    // to the end, within the solver's own budget
    EFFORT_BALANCED, // 100 sweeps; what rests or is small may borrow more, now and then
    EFFORT_FAST,     // the first few of these
    EFFORT_COUNT
} EffortKind;

// Two bytes, as every world carries it.
typedef struct Effort {
    uint8_t kind; // EffortKind
    uint8_t owed; // [steps] BALANCED: of what was borrowed; 0: what rests may borrow
} Effort;
