// SPDX-License-Identifier: MIT
// A scene stepped under one solver for as long as it may take, and what its steps were like.
#pragma once

#include "bench/bench.h"
#include "bench/scene.h"

enum { WALK_STEPS = 480 };

typedef struct Walk {
    double ms[WALK_STEPS], ds[WALK_STEPS]; // of each step: CPU time, distance from exact Coulomb
    uint32_t steps, converged;
    double iterations, e_own, e_ds; // mean; largest
    double penetration, launch;     // largest [m], [m/s]
    Error error;                    // of the step that failed, if one did
} Walk;

// WALK_STEPS steps, fewer where one fails, takes longer than `seconds` or all of them more than ten
// times that.
Walk walk_scene(Scene *scene, double seconds);

typedef struct WalkFigure {
    const char *figure, *unit;
    double value;
} WalkFigure;

// Rows of a table: how many steps were converged, then these. `who` walked.
void walk_report(const BenchRun *run, const char *scene, const char *who, const Walk *walk,
                 const WalkFigure *figure, size_t count);
