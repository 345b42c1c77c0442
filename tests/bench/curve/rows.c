// SPDX-License-Identifier: MIT
#include "bench/curve/rows.h"

#include "bench/bench.h"
#include "bench/knobs.h"
#include "bench/load.h"

#include <stdio.h>

#define RECORDED "method=gauss_seidel max_iterations=10"

// What is kicked, hit, falls, leans and settles; what takes least first, so that a run that is cut
// short has left most.
const CurveRow curve_row[CURVE_ROW_COUNT] = {
    {"heap-12-falling", "twelve boxes, falling", "heap-12", 24, 48},
    {"dominoes-falling", "40 dominoes, falling", "moving/dominoes-40", 120, 24},
    {"pyramid-55-kicked", "a pyramid of 55 boxes, kicked", "large/pyramid-55-kicked", 0, 24},
    {"heap-125-falling", "125 boxes, falling", "large/heap-125", 100, 24},
    {"wall-105-hit", "a wall of 105 boxes, hit by a ball", "large/wall-105-hit", 40, 24},
    {"heap-300-falling", "300 boxes, capsules, balls, falling", "moving/heap-mixed-300", 80, 24},
    {"wall-525-kicked", "a wall of 525 boxes, kicked", "large/wall-525-kicked", 0, 6},
    {"heap-125-settling", "125 boxes, settling", "large/heap-125", 360, 24},
    {"heap-300-settling", "300 boxes, capsules, balls, settling", "moving/heap-mixed-300", 400, 24},
};

Scene curve_row_load(const CurveRow *row) {
    char path[LOAD_PATH_BYTES];
    snprintf(path, sizeof(path), MOREAU_SOURCE_DIR "/tests/scenes/%s.json", row->scene);
    Scene scene = load_scene(path);
    WorldSettings settings = scene.world->settings;
    SolverSettings solver = solver_default(SOLVER_MDP);
    if (!knobs_set(&solver, RECORDED)) {
        bench_fail("mdp does not take " RECORDED);
    }
    step_set_solver(&settings, &solver);
    world_set_settings(scene.world, &settings);
    return scene;
}
