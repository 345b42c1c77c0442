// SPDX-License-Identifier: MIT
// One step of one world, as a table of contents: free motion, collide, wake, assemble, solve,
// integrate, fall asleep, remove what has left the bounds (step.c). Order lives there and nowhere
// else.
//
// A Stepper goes with a world: the collision caches (derived: dropping them changes nothing) and
// the last step's problem, answer and contacts, which may be looked at until the next step is
// begun: one that fails or is given up leaves none. The world itself changes only at the very end,
// when every new number is known to be finite: a step that fails has not happened. Pure of clocks
// and threads; in a steady state it allocates nothing.
#pragma once

#include "base/status.h"
#include "step/state/stepper.h"

// NULL when memory ends.
Stepper *stepper_create(size_t bytes_max);
void stepper_destroy(Stepper *stepper);

// Something happens to the world that is no step: what joints carried is not told any more.
void stepper_forget_wrenches(Stepper *stepper);

// From the next step on it is known how bodies moved as the last step began: their velocities, and
// their orientation. false: it is not.
void stepper_keep_motion(Stepper *stepper);
bool stepper_motion_before(const Stepper *stepper, const World *world, uint32_t body,
                           double velocity[6], Quat *orientation);

// The normal velocity of a contact of the last step before it began to push, <= 0 where the two
// came together [m/s]; of a step that is divided the fastest of its substeps.
double stepper_approach(const Stepper *stepper, uint32_t contact);

// From the next step on: as much as it holds, and so much more.
void stepper_limit(Stepper *stepper, size_t more_bytes);

// The world was changed by other means than a step: bodies added, moved, restored.
void stepper_reset(Stepper *stepper);

// The solver's settings that a world carries.
SolverSettings step_solver(const WorldSettings *settings);
void step_set_solver(WorldSettings *settings, const SolverSettings *solver);

// Takes one step. `clock` is Nullable: without it solver_ns is 0. Errors: FAILED_PRECONDITION when
// the new state would not be finite or not fit a float, or the report not be finite (names step,
// body and quantity; the world is marked faulted and otherwise as before), RESOURCE_EXHAUSTED when
// memory ends (the world is as before), ABORTED when `stop` said so (likewise).
Status stepper_run(Stepper *stepper, World *world, const StepInput *input, Arena *scratch,
                   ClockProc *clock, StepReport *report, Error *error);
