// SPDX-License-Identifier: MIT
// Pushes at random moments: in each step of a group one may begin, with a direction and a size of
// its own, and is held for some steps. What is drawn in a step is a pure function of the group's
// seed, the world, the episode and the step, so that no state of it is kept: a snapshot, a
// key-frame or a saved group goes on with the pushes that are under way, and whoever steps an
// episode again finds the same ones.
//
// Step t of an episode, counted from 0, draws for the n-th push of the list, counted from 0, from
//
//     numpy.random.Philox(key=[seed, world], counter=[0, t, episode, 4 + n])
//
// uniform numbers u0, u1, …: it begins where u0 < probability. Then of its force, if that is not
// always 0, and of its torque likewise: one for the size, low + (high - low) u, and those for the
// direction: of three axes two, z = 2 u - 1 and the angle 2 pi v about z; of two axes one, the
// angle 2 pi u from the first to the second; of one axis one, negative where u < 0.5. Pushes that
// are under way at the same time add up, those that began first first.
#pragma once

#include "base/status.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PUSH_COUNT_MAX = 64, PUSH_STEPS_MAX = 1000, PUSH_STREAM = 4, PUSH_AXES_ALL = 7 };

typedef struct PushDef {
    const char *body; // its name, or #n; NULL: not given
    uint64_t body_id; // 0: not given
    double probability;
    uint32_t steps;  // for which it is held
    uint32_t axes;   // bits: of the world, along which its directions lie
    bool is_impulse; // sizes are what all its steps give together [N s], [N m s], else [N], [N m]
    double force_low, force_high;
    double torque_low, torque_high;
} PushDef;

// Judges its numbers; `time`: of a step of the group [s], 0: not known yet. Blames pushes[index].
Status push_check(const PushDef *def, size_t index, double time, Error *error);

// Whose step it is.
typedef struct PushMoment {
    uint64_t seed, world, episode;
    uint64_t step; // of the episode, counted from 0
    double time;   // of a step of the group [s]
} PushMoment;

// Adds what is under way in that step of the n-th push of the list: force and torque [6].
void push_add(const PushDef *def, size_t n, const PushMoment *moment, double wrench[6]);
