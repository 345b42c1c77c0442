// SPDX-License-Identifier: MIT
// What an input does to a world: alike for live calls, replay, verification and forks, and for
// whoever steps a recording again without a server. It knows no recorder, no thread and no clock
// but the one that it is handed.
//
//   stored bytes ──► input_decode ──► Input ──► apply_change                 the world has changed
//   a call ─────────────────────────► Input ──► apply_begin, apply_step …    one step after the
//   other
//
// An input that is refused has changed nothing. Whatever an input points to stays the caller's, and
// is read by apply_change until it returns, and by apply_step until the last step of its run.
#pragma once

#include "base/arena.h"
#include "base/gain.h"
#include "base/status.h"
#include "run/worlds/input.h"
#include "step/step.h"

// An empty world with the default settings and solver, and what steps it: world_destroy and
// stepper_destroy end them.
Status apply_create(const WorldLimits *limits, World **world, Stepper **stepper, Error *error);

// Carries out an input that is no step. `ids` (Nullable) gets the ids of what was added, in the
// arena, and `id_count` how many they are.
Status apply_change(World *world, Stepper *stepper, const Input *input, Arena *arena,
                    const Id **ids, size_t *id_count, Error *error);

// What n steps amounted to.
typedef struct StepTally {
    uint64_t done;
    uint64_t unconverged;
    uint64_t recovery_steps;                      // in which recovery_speed held some contact back
    uint64_t softened_steps;                      // in which ccp softened targets
    uint64_t idle_steps;                          // that had contacts or rows that move nothing
    uint64_t borrowed_steps;                      // that took more than their share
    uint64_t removed;                             // bodies that left the bounds
    uint64_t broken;                              // joints that broke
    Gain gain;                                    // energy that scheme and rows gained
    double gained;                                // what is to be told of that [J]
    StepReport last;                              // of the last step that was done
    double worst[CERTIFICATE_ENTRY_COUNT];        // largest of each entry …
    uint64_t worst_step[CERTIFICATE_ENTRY_COUNT]; // … and the step (since creation) where it stood
    double penetration_worst;
    uint64_t penetration_step;
    StepOpen worst_open;        // of the step that left the largest residual …
    uint64_t worst_open_step;   // … which is this; 0: none left anything open
    StepLaunch worst_launch;    // of the step that launched fastest …
    uint64_t worst_launch_step; // … which is this; 0: none launched anything
} StepTally;

// Adds a step that was done, behind which the world is at `step`.
void tally_add(StepTally *tally, const StepReport *report, uint64_t step);

// The order of a run under which bodies may be removed: the wrenches on them go with them.
typedef struct StepWrenches {
    Input order;
    uint64_t *id;
    double *wrench; // 6 each
    uint32_t *body; // indices
} StepWrenches;

// An order of steps under way.
typedef struct StepRun {
    StepInput input;
    const Input *order;     // of the next step; borrowed until the last of them
    StepWrenches *wrenches; // in the arena; NULL: `order` stays as it is
    uint64_t steps_left;
    uint64_t
        *broken; // Nullable: gets the ids of joints that break, has room for all that there are
    StepTally tally;
} StepRun;

// Judges a step input and makes it ready; its arrays live in `arena`. Refuses a faulted world.
Status apply_begin(const World *world, const Input *order, Arena *arena, StepRun *run,
                   Error *error);

// Takes the next of the steps that are left, which must be one or more. Fails as stepper_run does;
// a step that fails is not counted. `scratch` is used and given back.
Status apply_step(World *world, Stepper *stepper, StepRun *run, Arena *scratch, ClockProc *clock,
                  Error *error);
