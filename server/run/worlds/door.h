// SPDX-License-Identifier: MIT
// The one door: whatever changes a world passes here, as an input, on the lane that has the world.
// Live calls, replay and verification all use it, so a recording of what passed is complete by
// construction. What an input does is apply.h's; the door tells the recorder, which alone makes
// bytes of it.
//
// Steps are taken one by one: door_step stops between two of them when told to, and says how many
// were done. An input that is refused has changed nothing.
#pragma once

#include "os/clock.h"
#include "os/histogram.h"
#include "run/worlds/apply.h"
#include "run/worlds/recorder.h"
#include "run/worlds/watch.h"

// A world and what goes with it. Owned by whoever runs it; one thread at a time.
typedef struct Door {
    World *world;
    Stepper *stepper;
    Recorder *recorder;      // Nullable: told of all that passes
    EpisodeOrigin *origin;   // owned. Nullable: of no episode, or of something else by now
    Histogram *solver_times; // Nullable, borrowed: gets the solver's time of steps that are timed
    // Nullable, borrowed until `gone`: told of what passes. Any thread sets it, once
    _Atomic(Watch *) watch;
} Door;

Status door_init(Door *door, const WorldLimits *limits, Error *error);
void door_deinit(Door *door); // a recording ends as `world_destroyed`
size_t door_bytes(const Door *door);

// Whether an input may pass now. False: what records the world must catch up first, and wait->done
// is called when it has.
bool door_is_ready(Door *door, LogWait *wait);

// Says what the world was just made of. RESOURCE_EXHAUSTED when memory ends.
Status door_set_origin(Door *door, const EpisodeOrigin *origin, Error *error);

// apply_change, recorded.
Status door_change(Door *door, const Input *input, Arena *arena, const Id **ids, size_t *id_count,
                   Error *error);

// apply_begin. The order and what it points to must stay until the last of its steps.
Status door_step_begin(Door *door, const Input *order, Arena *arena, StepRun *run, Error *error);

// Takes steps until all are done, one fails, or `until_ns` (by clock_now_ns; UINT64_MAX: never) has
// passed, or the recorder must catch up; at least one. `context` (Nullable) is handed to each step,
// and its `stop` asked now and then between two as well: a step given up half-way has not happened,
// and the run ends as it does between two steps, with status OK and steps left.
//
// Reading the clock costs as much as a step of a tiny world, so the solver is timed in the last
// step and in those after which the clock is read anyway: every step longer than some 50 us, and
// about every 50 us one of the shorter ones.
Status door_step(Door *door, StepRun *run, Arena *scratch, uint64_t until_ns,
                 const Context *context, Error *error);

// What a watch of it sees, between two calls.
WatchView door_view(const Door *door, const Watch *watch);
