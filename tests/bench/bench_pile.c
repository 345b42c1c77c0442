// SPDX-License-Identifier: MIT
// A settled pile of spheres, ten sweeps per step: time per contact, how far the spheres sink into
// each other, and how the time grows with the pile.
#include "bench/bench.h"
#include "bench/contest.h"
#include "solve/mdp/mdp.h"

#include <math.h>
#include <stdio.h>

enum { SWEEPS = 10 };
enum { REST_STEPS = 120 }; // between settling and measuring: the pile gets used to fewer sweeps
enum { TURNS = 10, TURN_STEPS = 24 };

// Of our time per contact to theirs, at 1,000 spheres.
static const double ratio_aims[PEER_COUNT] = {
    [PEER_MUJOCO] = 1.0 / 7.5, [PEER_BULLET] = 1.0 / 2.3, [PEER_ODE] = 1.0 / 6.5};

static Contest run_case(const BenchRun *run, uint32_t count) {
    bool is_1000 = count == 1000, is_10000 = count == 10000;
    double contact_ns_max = is_1000 ? 400.0 : 0.0, step_ms_max = is_10000 ? 12.0 : 0.0;
    double overlap_mm_max = is_1000 ? 0.05 : 0.0;
    const ContestRow rows[] = {
        {.figure = "contacts",
         .offset = offsetof(ContestFigures, contacts),
         .scale = 1.0,
         .unit = ""},
        {.figure = "sweeps",
         .offset = offsetof(ContestFigures, sweeps),
         .scale = 1.0,
         .unit = "",
         .is_ours = true},
        {.figure = "CPU per contact",
         .offset = offsetof(ContestFigures, contact_ns),
         .scale = 1.0,
         .unit = "ns",
         .aim = contact_ns_max,
         .ratio_aim = is_1000 ? ratio_aims : NULL},
        {.figure = "CPU/step p50",
         .offset = offsetof(ContestFigures, step_ns),
         .scale = 1e-6,
         .unit = "ms",
         .aim = step_ms_max},
        {.figure = "mean overlap",
         .offset = offsetof(ContestFigures, overlap_mean),
         .scale = 1e3,
         .unit = "mm",
         .aim = overlap_mm_max},
        {.figure = "deepest overlap",
         .offset = offsetof(ContestFigures, overlap_max),
         .scale = 1e3,
         .unit = "mm"},
    };
    static const ContestPlan plan = {.rest_steps = REST_STEPS, .turns = TURNS, .steps = TURN_STEPS};
    Scene scene = scene_pile(count);
    scene_set(&scene, "method", MDP_GAUSS_SEIDEL); // auto would solve what they leave
    scene_set(&scene, "max_iterations", SWEEPS);
    Contest contest = contest_run(&scene, &plan);
    scene_destroy(&scene);
    char prefix[16];
    snprintf(prefix, sizeof(prefix), "%u", count);
    contest_add_rows(run, prefix, &contest, rows, sizeof(rows) / sizeof(rows[0]));
    return contest;
}

void bench_pile(const BenchRun *run) {
    Contest small = run_case(run, 100);
    run_case(run, 1000);
    Contest large = run_case(run, 10000);
    BenchRow row = {.figure = "growth, 100 to 10000",
                    .value = log10(large.figures[0].step_ns / small.figures[0].step_ns) / 2.0,
                    .unit = "",
                    .peer = "linear",
                    .peer_value = 1.0,
                    .aim_kind = AIM_VALUE_MAX,
                    .aim = 1.1};
    bench_add(run, &row);
}
