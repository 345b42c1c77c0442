// SPDX-License-Identifier: MIT
// Joints of rows in a step: what they lock and what acts along the axes that they leave free.
#pragma once

#include "world/motor.h"
#include "step/state/state.h"

// What joints of rows push their bodies with from the begin of the step on, as wrenches behind
// those of the input: what is fed forward, and under the explicit integrator springs, dampers and
// drives. `input` is that of the step, with them. false: memory ends.
bool joint_rows_push(StepState *state, StepInput *input);

// Adds the rows of a joint. false: memory ends.
bool joint_rows_add(StepState *state, uint32_t joint);

// The same of a joint of coordinates: limits, dry friction, drives with a bounded effort
// (tree_rows.c).
bool tree_rows_add(StepState *state, uint32_t joint);

// Only the rows of what it locks; of places where the step is projecting. Not of gears and tendons.
bool joint_rows_add_locked(StepState *state, uint32_t joint);

// The work in the step of a force along an axis of a joint of rows, as wrenches are booked
// (energy.c).
double joint_rows_work(const StepState *state, uint32_t joint, uint32_t axis, double force);

// What springs of joints of rows hold, in the energy book, and what of the wrenches is not what
// was given: efforts, and under explicit drives and springs. Once all bodies have landed.
void joint_rows_book(StepState *state, StepEnergy *energy);

// Adds what joints lock carried in this substep, of a step that is divided, to `carried`.
void joint_rows_carry(StepState *state);

// Which joints broke in this step, by indices that rise, in the scratch memory; that changes
// nothing yet.
Status joint_rows_find_broken(StepState *state);
// Takes them out of the world.
void joint_rows_remove_broken(StepState *state);
