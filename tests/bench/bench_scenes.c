// SPDX-License-Identifier: MIT
// The five solvers on ten scenes, side by side: a table in Markdown as it comes, and the same as
// rows.
#include "bench/bench.h"
#include "bench/load.h"
#include "bench/walk.h"
#include "solve/solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Friction that holds and slides, impacts, stacks, arches, masses far apart, heaps, and many.
static const char *const scenes[] = {"incline",    "four_balls",        "stack10", "arch",
                                     "card-house", "mass-ladder",       "falling", "heap-12",
                                     "balls-27",   "large/wall-105-hit"};
enum { SCENE_COUNT = sizeof(scenes) / sizeof(scenes[0]) };

// As the scene has it, where that is its solver; else as a world takes it unasked.
static void set_solver(Scene *scene, SolverKind kind) {
    WorldSettings settings = scene->world->settings;
    SolverSettings solver = step_solver(&settings);
    if (solver.kind != kind) {
        solver = solver_default(kind);
        step_set_solver(&settings, &solver);
        world_set_settings(scene->world, &settings);
    }
}

static void add_rows(const BenchRun *run, const char *scene, const char *solver, Walk *walk) {
    const WalkFigure figures[] = {
        {"median e_DS", "", bench_percentile(walk->ds, walk->steps, 0.5)},
        {"overlap", "m", walk->penetration},
        {"launch", "m/s", walk->launch},
        {"median step", "ms", bench_percentile(walk->ms, walk->steps, 0.5)},
    };
    walk_report(run, scene, solver, walk, figures, sizeof(figures) / sizeof(figures[0]));
}

static void print_head(const BenchRun *run) {
    if (run->json) {
        return;
    }
    puts("Steps that converged · distance from exact Coulomb, median and worst step · deepest "
         "overlap ·\nfastest launch · median step.\n");
    fputs("| scene |", stdout);
    for (SolverKind kind = 0; kind < SOLVER_COUNT; kind++) {
        printf(" %s |", solver_get(kind)->name);
    }
    fputs("\n| --- |", stdout);
    for (SolverKind kind = 0; kind < SOLVER_COUNT; kind++) {
        fputs(" --- |", stdout);
    }
    putchar('\n');
}

static void print_cell(const BenchRun *run, Walk *walk) {
    if (run->json) {
        return;
    }
    if (walk->steps == 0) {
        fputs(" refused |", stdout);
        return;
    }
    printf(" %.4g %% · %.0e, %.0e · %.2g mm ·", 100.0 * walk->converged / walk->steps,
           bench_percentile(walk->ds, walk->steps, 0.5), walk->e_ds, 1e3 * walk->penetration);
    if (walk->launch > 0.0) {
        printf(" %.2g m/s ·", walk->launch);
    } else {
        fputs(" none ·", stdout);
    }
    printf(" %.2g ms", bench_percentile(walk->ms, walk->steps, 0.5));
    if (walk->steps < WALK_STEPS) {
        printf(" (%u steps)", walk->steps);
    }
    fputs(" |", stdout);
}

static void run_scene(const BenchRun *run, const char *name) {
    char path[LOAD_PATH_BYTES];
    const char *slash = strchr(name, '/'), *shown = slash != NULL ? slash + 1 : name;
    snprintf(path, sizeof(path), MOREAU_SOURCE_DIR "/tests/scenes/%s.json", name);
    if (!run->json) {
        printf("| %s |", shown);
    }
    for (SolverKind kind = 0; kind < SOLVER_COUNT; kind++) {
        fprintf(stderr, "  %s %s\n", shown, solver_get(kind)->name);
        Scene scene = load_scene(path);
        set_solver(&scene, kind);
        Walk walk = walk_scene(&scene, run->seconds);
        if (walk.error.status != STATUS_OK) {
            fprintf(stderr, "  step %u: %s\n", walk.steps + 1, walk.error.message);
        }
        print_cell(run, &walk);
        if (walk.steps > 0) {
            add_rows(run, shown, solver_get(kind)->name, &walk);
        }
        scene_destroy(&scene);
    }
    if (!run->json) {
        putchar('\n');
        fflush(stdout);
    }
}

void bench_scenes(const BenchRun *run) {
    print_head(run);
    for (size_t i = 0; i < SCENE_COUNT; i++) {
        run_scene(run, scenes[i]);
    }
    if (!run->json) {
        putchar('\n');
    }
}
