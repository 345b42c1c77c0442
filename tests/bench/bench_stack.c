// SPDX-License-Identifier: MIT
// Ten boxes on each other for ten seconds: how long a step takes, and how far the stack sinks and
// drifts away from where exact contact would keep it.
#include "bench/bench.h"
#include "bench/contest.h"

enum { TURNS = 10, TURN_STEPS = 240 }; // 10 s

static void run_case(const BenchRun *run, const char *name, double sweeps_max, bool is_alone) {
    static const ContestRow rows[] = {
        {.figure = "CPU/step p50",
         .offset = offsetof(ContestFigures, step_ns),
         .scale = 1e-3,
         .unit = "us",
         .aim = 15.0},
        {.figure = "sweeps",
         .offset = offsetof(ContestFigures, sweeps),
         .scale = 1.0,
         .unit = "",
         .is_ours = true},
        {.figure = "sink",
         .offset = offsetof(ContestFigures, sink),
         .scale = 1e3,
         .unit = "mm",
         .aim = 0.35},
        {.figure = "drift",
         .offset = offsetof(ContestFigures, drift),
         .scale = 1e3,
         .unit = "mm",
         .aim = 0.7},
        {.figure = "fallen boxes",
         .offset = offsetof(ContestFigures, fallen),
         .scale = 1.0,
         .unit = ""},
    };
    ContestPlan plan = {.turns = TURNS, .steps = TURN_STEPS, .is_alone = is_alone};
    Scene scene = scene_stack();
    if (sweeps_max > 0.0) {
        scene_set(&scene, "max_iterations", sweeps_max);
    }
    Contest contest = contest_run(&scene, &plan);
    scene_destroy(&scene);
    contest_add_rows(run, name, &contest, rows, sizeof(rows) / sizeof(rows[0]));
}

void bench_stack(const BenchRun *run) {
    run_case(run, "default", 0.0, false);
    run_case(run, "10 max", 10.0, true);
}
