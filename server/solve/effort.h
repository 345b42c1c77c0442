// SPDX-License-Identifier: MIT
// What a solve may cost: to the end, or as much as sweeps that are counted, whatever comes of them.
// The numbers are those of the wire.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef enum EffortKind {
    EFFORT_EXACT,    // to the end, within the solver's own budget
    EFFORT_BALANCED, // 100 sweeps; what rests may borrow more, now and then
    EFFORT_FAST,     // the first few of these
    EFFORT_COUNT
} EffortKind;

// Two bytes, as every world carries it.
typedef struct Effort {
    uint8_t kind;    // EffortKind
    bool may_borrow; // BALANCED: nobody did lately
} Effort;
