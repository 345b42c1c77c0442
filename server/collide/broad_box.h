// SPDX-License-Identifier: MIT
// What the broad phase is made of: boxes that hold bodies, and pairs of bodies whose boxes overlap.
#pragma once

#include "base/vec.h"

#include <stdint.h>

typedef struct BroadBox {
    Vec3 lower, upper; // [m]; infinite coordinates are legal: unbounded. lower.x > upper.x: a body
                       // that touches nothing
} BroadBox;

typedef struct BroadPair {
    uint32_t a, b; // body indices, a < b
} BroadPair;
