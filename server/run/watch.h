// SPDX-License-Identifier: MIT
// Who looks at a world while it runs: hangs at its door and is shown the world, between two steps
// or after another change, when it has asked for it. It changes nothing, and where nobody looks it
// is one branch that a step takes.
#pragma once

#include <stdatomic.h>
#include <stdint.h>

typedef struct Door Door;
typedef struct StepRun StepRun;
typedef struct Watch Watch;

#define WATCH_NOTHING UINT64_MAX

// What has happened to a world since it is watched, counted from 1 on.
typedef struct WatchMarks {
    uint64_t changes;     // that are no steps
    uint64_t things;      // times that bodies or joints came or went
    uint64_t definitions; // times that bodies or joints came, or all became others
} WatchMarks;

struct Watch {
    WatchMarks marks; // the lane's that has the world
    // Any thread: the world is to be shown once it has come to this step, and after every change
    // that is no step. WATCH_NOTHING: not now.
    _Atomic uint64_t from_step;
    // On the lane that has the world. `run` Nullable: the steps under way
    void (*show)(Watch *watch, const Door *door, const StepRun *run);
    // likewise: no more of these steps is taken just now
    void (*rest)(Watch *watch, const Door *door, const StepRun *run);
    // the last call: the world is about to go. On its lane or, when the host is closed, the loop
    void (*gone)(Watch *watch);
};
