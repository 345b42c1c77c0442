// SPDX-License-Identifier: MIT
// Where a world asks for it, joints of rows are brought together once a step has moved their
// bodies: what is locked is closed by the least motion, by the masses of the step's begin, that
// does so to first order, and that again until nothing is off by more than 1e-10 m or rad. It moves
// places, not velocities. Gears and tendons are left to their rows.
//
// The step has happened: where memory ends, or what is locked contradicts itself, bodies stay where
// they have come to, and rows take back what is off.
#pragma once

#include "step/state/state.h"

void joint_project(StepState *state);

void joint_project_destroy(Stepper *projector); // Nullable
