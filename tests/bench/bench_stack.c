// SPDX-License-Identifier: MIT
// Ten boxes on each other for ten seconds: how long a step takes, and how far the stack sinks and
// drifts away from where exact contact would keep it.
#include "bench/bench.h"
#include "bench/scene.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 2400 }; // 10 s

typedef struct StackFigures {
    double step_ns, sweeps;
    double sink, drift; // of the box that moved most [m]
    double e_own, e_ds;
} StackFigures;

static void measure_motion(const World *world, StackFigures *figures) {
    for (int i = 0; i < SCENE_STACK_BOXES; i++) {
        const double *position = world->pose + 7 * (size_t)(i + 1); // after the ground
        figures->sink = fmax(figures->sink, 0.1 + 0.2 * i - position[2]);
        figures->drift = fmax(figures->drift, hypot(position[0], position[1]));
    }
}

static StackFigures measure(double sweeps_max) {
    static double times[STEPS];
    StackFigures figures = {0};
    Scene scene = scene_stack();
    if (sweeps_max > 0.0) {
        scene_set(&scene, "max_iterations", sweeps_max);
    }
    for (int i = 0; i < STEPS; i++) {
        double begun = bench_cpu_ns();
        scene_step(&scene);
        times[i] = bench_cpu_ns() - begun;
        const double *entry = scene.report.certificate.entry;
        figures.sweeps += scene.report.iterations;
        figures.e_own = fmax(figures.e_own, entry[CERTIFICATE_OWN]);
        figures.e_ds = fmax(figures.e_ds, entry[CERTIFICATE_DS]);
    }
    measure_motion(scene.world, &figures);
    scene_destroy(&scene);
    figures.sweeps /= STEPS;
    figures.step_ns = bench_percentile(times, STEPS, 0.5);
    return figures;
}

static void add_row(const BenchRun *run, const char *name, const char *figure, double value,
                    const char *unit, double aim, const StackFigures *figures) {
    BenchRow row = {.value = value,
                    .unit = unit,
                    .aim_kind = aim > 0.0 ? AIM_VALUE_MAX : AIM_NONE,
                    .aim = aim,
                    .has_certificate = true,
                    .e_own = figures->e_own,
                    .e_ds = figures->e_ds};
    snprintf(row.figure, sizeof(row.figure), "%s: %s", name, figure);
    bench_add(run, &row);
}

static void run_case(const BenchRun *run, const char *name, double sweeps_max) {
    StackFigures figures = measure(sweeps_max);
    add_row(run, name, "CPU/step p50", figures.step_ns * 1e-3, "us", 15.0, &figures);
    add_row(run, name, "sweeps", figures.sweeps, "", 0.0, &figures);
    add_row(run, name, "sink", figures.sink * 1e3, "mm", 0.35, &figures);
    add_row(run, name, "drift", figures.drift * 1e3, "mm", 0.0, &figures);
}

void bench_stack(const BenchRun *run) {
    run_case(run, "default", 0.0);
    run_case(run, "10 max", 10.0);
}
