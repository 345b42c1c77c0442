// SPDX-License-Identifier: MIT
// Who looks at a world while it runs: hangs at its door, or at its place in a group, and is shown
// the world, between two steps or after another change, when it has asked for it. It changes
// nothing, and where nobody looks it is one branch that a step takes.
#pragma once

#include "run/worlds/apply.h"

#include <stdatomic.h>
#include <stdint.h>

typedef struct Watch Watch;

#define WATCH_NOTHING UINT64_MAX

// What has happened to a world since it is watched, counted from 1 on.
typedef struct WatchMarks {
    uint64_t changes;     // that are no steps
    uint64_t things;      // times that bodies or joints came or went
    uint64_t definitions; // times that bodies or joints came, or all became others
} WatchMarks;

// What is there to be seen, for as long as the world is not touched.
typedef struct WatchView {
    const World *world;
    const Stepper *stepper;
    const StepTally *tally; // Nullable: of the call that took its last step, so far
    uint64_t step;          // as `from_step` counts
    // of a world of a group:
    bool has_episode, is_over; // one has begun; and has ended, and the next one has not begun
    uint64_t episode, episode_step;
} WatchView;

struct Watch {
    // the lane's that has the world:
    WatchMarks marks;
    StepTally tally;                    // of the last call that stepped it …
    uint64_t tally_step, tally_changes; // … and where it was then
    uint64_t steps;                     // of a world of a group: since it is watched
    bool was_lost;                      // of such a world: it had lost bodies or joints
    Error failure;                      // of such a world: of a row that failed; status OK: none

    // Any thread: the world is to be shown once it has come to this step, and after every change
    // that is no step. WATCH_NOTHING: not now. Steps are the world's own, or those of `steps`.
    _Atomic uint64_t from_step;
    atomic_bool wants_tally;
    // on the lane that has the world
    void (*show)(Watch *watch, const WatchView *view);
    // of a door, the last call: its world is about to go. On its lane or, when the host is closed,
    // the loop
    void (*gone)(Watch *watch);
};

// The tally of the last call, where it took the world's last step and nothing came later; or NULL.
static inline const StepTally *watch_tally(const Watch *watch, const World *world) {
    return watch->tally.done > 0 && watch->tally_step == world->step &&
                   watch->tally_changes == watch->marks.changes
               ? &watch->tally
               : NULL;
}
