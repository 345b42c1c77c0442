// SPDX-License-Identifier: MIT
// A comparison: a player (player.h) steps an episode again, and variants (variant.h) take what it
// does under settings of their own. Where steps of both end they are compared. What the player does
// (replay/player/played.h) is the same whether it plays an episode of a world or one of a group's:
// there a step of the episode is one or more of its world, worlds are compared where it ends, and a
// variant goes on for as many of them, wherever the group's rules would have ended it.
//
//   player: does ──┬──► variant 0 ── catches up ──┐
//                  ├──► variant 1 ── catches up ──┼──► compared ──► what it does next …
//                  └──► …                         ┘
//
// All of it in one order on one thread at a time, so that nothing but times depends on the lanes.
// Memory is that of so many worlds, and of the samples.
#pragma once

#include "replay/compare/distance.h"
#include "replay/compare/totals.h"
#include "replay/player/player.h"
#include "replay/compare/variant.h"

enum { COMPARE_VARIANTS_MAX = 16 };

typedef struct CompareSample {
    uint64_t step, own_step; // the recording's, the run's: the latter from compare_own_first on
    double time;             // [s] since its first
    double energy;           // [J] kinetic + gravity
    uint32_t contacts;
    Distance apart; // of a variant
} CompareSample;

// When something was so for the first time.
typedef struct CompareFirst {
    bool is_there;
    uint64_t step; // the recording's
} CompareFirst;

// What is told of a run: the recording's own, or a variant's.
typedef struct CompareRun {
    const Totals *totals;
    SolverKind solver; // when it began, as the next
    double time_step;  // [s]
    size_t sample_count;
    const CompareSample *sample; // [sample_count]
    CompareFirst end;            // where the group's rules would have ended its episode
    // of a variant
    uint64_t overridden;
    uint64_t compared; // times
    Distance worst;    // has_… are not set
    uint64_t distance_step, angle_step;
    CompareFirst apart, bits, hash, bodies; // other ones, or too far
    const Error *ended;                     // status OK: it got to its end
    uint64_t ended_step;
} CompareRun;

typedef struct Comparison Comparison;

typedef struct CompareDef {
    Log *log;
    const EpisodeRow *episode; // borrowed for the comparison's life, as are rules and recordings
    WorldLimits limits;
    uint64_t first, last, stride; // steps: first <= last <= the episode's last
    double threshold;             // [m]
    size_t variant_count;
    const SettingsChange *rule; // [variant_count]
    // [variant_count], without their origin, their strides in steps of the episode; NULL: nothing
    // is recorded
    const RecorderDef *record;
} CompareDef;

// How many samples a run has at most.
uint64_t compare_sample_count(const CompareDef *def);

// FAILED_PRECONDITION: another dynamics version.
Status compare_open(Comparison **comparison, const CompareDef *def, Error *error);

// Episodes that are still being recorded end where they are.
void compare_close(Comparison *comparison); // Nullable

// Goes on until `until_ns` (clock_now_ns) has passed or `context` says stop. *is_over: at the end.
// *progressed false: it was stopped before it had done anything. DATA_LOSS: the recording is not
// what its steps give; INVALID_ARGUMENT and the like blame variants[i].settings.
Status compare_work(Comparison *comparison, Arena *scratch, uint64_t until_ns,
                    const Context *context, bool *is_over, bool *progressed, Error *error);

// The recorder that the log has no room for now, if that is what it was stopped by. Nullable
Recorder *compare_waits_for(const Comparison *comparison);

// Hands out a variant's recorder, which is the caller's to stop. NULL: there is none (any more).
Recorder *compare_take_recorder(Comparison *comparison, size_t variant);

// Index 0: the recording's own; i: variant i - 1.
CompareRun compare_run(const Comparison *comparison, size_t index);

size_t compare_bytes(const Comparison *comparison);        // memory held
uint64_t compare_steps_done(const Comparison *comparison); // of the recording. Any thread

// Once it has begun: steps of the world in one of the episode, and how many of them come before
// `first`.
uint64_t compare_substeps(const Comparison *comparison);
uint64_t compare_own_first(const Comparison *comparison);
