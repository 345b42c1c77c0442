// SPDX-License-Identifier: MIT
// A wall of 525 boxes at rest for ten seconds: the time of a step, and whether the wall stands.
#include "bench/bench.h"
#include "bench/contest.h"

void bench_wall(const BenchRun *run) {
    static const ContestRow rows[] = {
        {.figure = "contacts",
         .offset = offsetof(ContestFigures, contacts),
         .scale = 1.0,
         .unit = ""},
        {.figure = "sweeps",
         .offset = offsetof(ContestFigures, sweeps),
         .scale = 1.0,
         .unit = "",
         .is_ours = true},
        {.figure = "CPU/step p50",
         .offset = offsetof(ContestFigures, step_ns),
         .scale = 1e-6,
         .unit = "ms"},
        {.figure = "mean overlap",
         .offset = offsetof(ContestFigures, overlap_mean),
         .scale = 1e3,
         .unit = "mm"},
        {.figure = "deepest overlap",
         .offset = offsetof(ContestFigures, overlap_max),
         .scale = 1e3,
         .unit = "mm"},
        {.figure = "sink", .offset = offsetof(ContestFigures, sink), .scale = 1e3, .unit = "mm"},
        {.figure = "drift", .offset = offsetof(ContestFigures, drift), .scale = 1e3, .unit = "mm"},
        {.figure = "fallen boxes",
         .offset = offsetof(ContestFigures, fallen),
         .scale = 1.0,
         .unit = ""},
    };
    static const ContestPlan plan = {.turns = 10, .steps = 240};
    Scene scene = scene_wall();
    Contest contest = contest_run(&scene, &plan);
    scene_destroy(&scene);
    contest_add_rows(run, "525", &contest, rows, sizeof(rows) / sizeof(rows[0]));
}
