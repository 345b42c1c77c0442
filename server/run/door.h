// SPDX-License-Identifier: MIT
// The one door: whatever changes a world passes here, as an input, on the lane that has the world.
// Live calls and, later, replay, verification, forks and groups all use it, so a recording of what
// passed is complete by construction.
//
// Steps are taken one by one: door_step stops between two of them when told to, and says how many
// were done. An input that is refused has changed nothing.
#pragma once

#include "base/arena.h"
#include "os/clock.h"
#include "os/histogram.h"
#include "base/status.h"
#include "run/input.h"
#include "run/recorder.h"
#include "step/step.h"

// A world and what goes with it. Owned by whoever runs it; one thread at a time.
typedef struct Door {
    World *world;
    Stepper *stepper;
    Recorder *recorder; // Nullable: told of all that passes
} Door;

Status door_init(Door *door, const WorldLimits *limits, Error *error);
void door_deinit(Door *door); // a recording ends as `world_destroyed`
size_t door_bytes(const Door *door);

// Whether an input may pass now. False: what records the world must catch up first, and wait->done
// is called when it has.
bool door_is_ready(Door *door, LogWait *wait);

// Carries out an input that is no step. `ids` (Nullable) gets the ids of what was added, in the
// arena. `scratch` is used and given back.
Status door_change(Door *door, InputBytes input, Arena *arena, const Id **ids, size_t *id_count,
                   Error *error);

// What n steps amounted to.
typedef struct StepTally {
    uint64_t done;
    uint64_t unconverged;
    StepReport last;                              // of the last step that was done
    double worst[CERTIFICATE_ENTRY_COUNT];        // largest of each entry …
    uint64_t worst_step[CERTIFICATE_ENTRY_COUNT]; // … and the step (since creation) where it stood
    double penetration_worst;
    uint64_t penetration_step;
} StepTally;

// An order of steps under way.
typedef struct StepRun {
    StepInput input;
    InputBytes order; // as it came, for the recorder
    uint64_t steps_left;
    Histogram *solver_times; // Nullable, borrowed: gets the solver's time of steps that are timed
    StepTally tally;
} StepRun;

// Judges a step input and makes it ready; its arrays live in `arena`. Refuses a faulted world.
Status door_step_begin(Door *door, InputBytes input, Arena *arena, StepRun *run, Error *error);

// Takes steps until all are done, one fails, or `until_ns` (by clock_now_ns; UINT64_MAX: never) has
// passed, or the recorder must catch up; at least one. `stop` (Nullable) is asked now and then,
// between steps and inside long ones: a step given up half-way has not happened, and the run ends
// as it does between two steps, with status OK and steps left.
//
// Reading the clock costs as much as a step of a tiny world, so the solver is timed in the last
// step and in those after which the clock is read anyway: every step longer than some 50 us, and
// about every 50 us one of the shorter ones.
Status door_step(Door *door, StepRun *run, Arena *scratch, uint64_t until_ns,
                 const SolverStop *stop, Error *error);
