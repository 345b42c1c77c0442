// SPDX-License-Identifier: MIT
// Which candidates of the broad phase cannot come together in this step, before anybody looks at
// their shapes: by balls, by boxes, and, of half-spaces, by heights. Of who is pushed, shapes are
// asked, too (touch.h).
#pragma once

#include "base/assert.h"
#include "step/state/state.h"

#define SIMD_COUNT 2
#include "base/simd.h"

// The first of some candidates, which come one after the other.
typedef struct NearBody {
    uint32_t body;      // UINT32_MAX: none yet
    Vec3 velocity;      // of its free motion
    bool is_half_space; // it is a plane and nothing else
    Vec3 up, point;     // of that
    // Its box, grown a little, as others' boxes are held against it, two of their six numbers at a
    // time: one is far where a number of it is above or below what is said here. HUGE_VAL where
    // nothing is asked, and of a half-space everywhere.
    Simd below_xy, below_z; // of lower.x and lower.y; of lower.z and nothing
    Simd above_x, above_yz; // of nothing and upper.x; of upper.y and upper.z
} NearBody;

void near_load(const StepState *state, uint32_t body, NearBody *from);

// By all that is known of the two.
bool near_is_far_closely(const StepState *state, const NearBody *from, uint32_t body);

// True only where the narrow phase would find nothing, or what neither of the two comes to: who is
// pushed one way reaches as far all around. The same, but of most that are far the boxes tell it
// that hold all that the two may reach, however they move beside each other.
static inline bool near_is_far(const StepState *state, const NearBody *from, uint32_t body) {
    const BroadBox *box = &state->box[body];
    const Simd first = {box->lower.x, box->lower.y}, second = {box->lower.z, box->upper.x},
               third = {box->upper.y, box->upper.z};
    const bool is_far = simd_any((first > from->below_xy) | (second > from->below_z) |
                                 (second < from->above_x) | (third < from->above_yz));
    VALIDATE(!is_far || near_is_far_closely(state, from, body));
    return is_far || near_is_far_closely(state, from, body);
}
