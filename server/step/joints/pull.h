// SPDX-License-Identifier: MIT
// What pulls an axis of a joint of rows, or a tendon, towards a place and a rate: its drive, and
// its spring with its damper.
#pragma once

#include "step/state/state.h"

#include <math.h>

typedef struct Pull {
    double stiffness, damping, position, rate, most;
} Pull;

static inline Pull pull_of_drive(const StepState *state, size_t at) {
    const JointAxis *axis = &state->world->joint_axis[at];
    return (Pull){axis->drive_stiffness, axis->drive_damping, state->command.target[at],
                  state->command.target_velocity[at], axis->effort_max};
}

static inline Pull pull_of_spring(const World *world, size_t at) {
    const JointAxis *axis = &world->joint_axis[at];
    return (Pull){axis->stiffness, axis->damping, axis->rest, 0.0, HUGE_VAL};
}

static inline double pull_force(const Pull *pull, double position, double rate) {
    const double force =
        pull->stiffness * (pull->position - position) + pull->damping * (pull->rate - rate);
    return fmax(fmin(force, pull->most), -pull->most);
}
