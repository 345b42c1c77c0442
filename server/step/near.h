// SPDX-License-Identifier: MIT
// Which candidates of the broad phase cannot come together in this step, before anybody looks at
// their shapes: by balls, by boxes, and, of half-spaces, by heights.
#pragma once

#include "step/state/state.h"

// The first of some candidates, which come one after the other.
typedef struct NearBody {
    uint32_t body;      // UINT32_MAX: none yet
    Vec3 velocity;      // of its free motion
    bool is_half_space; // it is a plane and nothing else
    Vec3 up, point;     // of that
} NearBody;

void near_load(const StepState *state, uint32_t body, NearBody *from);

// True only where the narrow phase would find nothing.
bool near_is_far(const StepState *state, const NearBody *from, uint32_t body);
