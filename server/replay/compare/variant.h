// SPDX-License-Identifier: MIT
// One variant of a comparison: a world of its own behind a door of its own, which takes what a
// recording's player did, under settings that rule over those of the recording.
//
//   player: change ──► variant_change          what the rule says is left out of it
//           step   ──► variant_order ──► variant_run … until it is not behind
//
// With a time step of its own it has a clock of its own. A recorded step is then so much time to be
// covered, with the wrenches held in it; a step of the variant is taken when there is enough of
// that, and the rest is carried over to the next one:
//
//   recorded   |----W1----|----W2----|----W3----|          of h
//   variant    |-------1-------|-------2-------|…          of h'
//   wrenches   (h W1 + (h'-h) W2)/h'                        so that the momentum is the same
//
// Both clocks stand at the same time where nothing is carried.
//
// Belongs to one thread at a time.
#pragma once

#include "replay/compare/totals.h"
#include "run/worlds/door.h"

// Wrenches, one behind the other; a body may stand there twice.
typedef struct WrenchList {
    size_t count, body_capacity, wrench_capacity;
    uint64_t *body; // owned, as the next
    double *wrench; // 6 each
} WrenchList;

typedef struct Variant {
    Door door;
    SettingsChange rule;
    Totals totals;
    uint64_t overridden; // inputs of which the rule has left out a part
    Error ended;         // why it goes on no more; status OK: it does
    double time_step;    // [s] of its own clock; 0: the recording's

    // the recorded step at hand
    bool has_step;
    StepOrder recorded; // borrowed until it is not behind
    double left;        // [s] of it; of a clock of its own
    double fitting;     // [s] the time step that was found to fit with its own; 0: none yet
    double carried;     // [s] of the steps before it …
    WrenchList carry;   // … with what share they have in the next step's wrenches

    // its own step under way
    bool is_stepping;
    WrenchList held;
    Input order;
    StepRun run;
    Arena arena;
} Variant;

// Becomes what `world` is, under its rule; a Variant of zeros before. Blames settings.time_step and
// the like.
Status variant_open(Variant *variant, const World *world, const SettingsChange *rule,
                    const WorldLimits *limits, Arena *scratch, Error *error);
void variant_close(Variant *variant); // also of zeros
size_t variant_bytes(const Variant *variant);

// Takes a recorded input that is no step, unless it has ended. What it cannot take ends it.
// RESOURCE_EXHAUSTED when memory ends.
Status variant_change(Variant *variant, const Input *input, Error *error);

// Is to take a recorded step of so many seconds; `order` is borrowed until it is not behind.
// INVALID_ARGUMENT: of time_step, when the two clocks never stand at the same time.
Status variant_order(Variant *variant, const StepOrder *order, double time_step, Error *error);

// Takes the next of its steps that it is behind by, or a part of one that was given up before. With
// STATUS_OK and *is_stopped it was given up, or the log is full (door_is_ready).
Status variant_run(Variant *variant, Arena *scratch, const Context *context, bool *is_stopped,
                   Error *error);

// It goes on, and there is something to do.
bool variant_is_behind(const Variant *variant);

// It goes on, and stands at the recording's time.
bool variant_is_met(const Variant *variant);
