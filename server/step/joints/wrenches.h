// SPDX-License-Identifier: MIT
// What joints carried in the last step: force and torque that a did to b through each, in the mean
// over the step, at the origin of b's frame; all of it, also what acts along the free axes.
//
// Of rows they are their impulses. Of coordinates they follow from the motion of all that hangs on
// a joint, by Newton and Euler from the leaves on: what takes it from its velocities before the
// step to those after it, beside gravity, wrenches, contacts and rows, where the integrator takes
// it. So they need what the trees were at the begin of the step, which the stepper keeps. What is
// held is exact at rest; along free axes they are what acts there, to rounding where no contact or
// row takes part and no stages do (trees/staged.h), else to second order in h.
#pragma once

#include "step/state/stepper.h"

struct StepState;

// For the stages of a step: room for what is kept of the trees (false: memory ends), and keeping it
// once the step has happened.
Status joint_wrenches_reserve(struct StepState *state);
void joint_wrenches_keep(struct StepState *state);

// 6 numbers of each joint of the world [N, N m], world axes; memory that it works in is the
// arena's. FAILED_PRECONDITION: the last thing that happened to the world was not a step;
// RESOURCE_EXHAUSTED: memory ended.
Status joint_wrenches(const Stepper *stepper, const World *world, Arena *arena, double *wrench,
                      Error *error);
