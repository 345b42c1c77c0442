// SPDX-License-Identifier: MIT
// A settled pile of spheres, ten sweeps per step: time per contact, how far the spheres sink into
// each other, and how the time grows with the pile.
#include "bench/bench.h"
#include "bench/scene.h"

#include <math.h>
#include <stdio.h>

enum { SWEEPS = 10 };
enum { REST_STEPS = 120 }; // between settling and measuring: the pile gets used to fewer sweeps
enum { MEASURED_STEPS = 240 };

typedef struct PileFigures {
    double contacts, sweeps;        // means per step
    double ns_per_contact, step_ns; // mean; median
    double penetration_mean, penetration_max;
    double e_own, e_ds;
} PileFigures;

// Adds the overlaps of the contacts that touch.
static void add_overlaps(const Scene *scene, double *sum, double *touching) {
    const Stepper *stepper = scene->stepper;
    for (uint32_t i = 0; i < stepper->contact_count; i++) {
        double gap = stepper->problem_contact[i].gap;
        if (gap <= 0.0) {
            *sum -= gap;
            *touching += 1.0;
        }
    }
}

static PileFigures measure(Scene *scene) {
    PileFigures figures = {0};
    double times[MEASURED_STEPS], total = 0.0, overlap = 0.0, touching = 0.0;
    for (int i = 0; i < MEASURED_STEPS; i++) {
        double begun = bench_cpu_ns();
        scene_step(scene);
        times[i] = bench_cpu_ns() - begun;
        total += times[i];

        const Certificate *certificate = &scene->report.certificate;
        figures.contacts += scene->report.contact_count;
        figures.sweeps += scene->report.iterations;
        figures.penetration_max = fmax(figures.penetration_max, certificate->penetration);
        figures.e_own = fmax(figures.e_own, certificate->entry[CERTIFICATE_OWN]);
        figures.e_ds = fmax(figures.e_ds, certificate->entry[CERTIFICATE_DS]);
        add_overlaps(scene, &overlap, &touching);
    }
    figures.ns_per_contact = figures.contacts > 0.0 ? total / figures.contacts : 0.0;
    figures.contacts /= MEASURED_STEPS;
    figures.sweeps /= MEASURED_STEPS;
    figures.penetration_mean = touching > 0.0 ? overlap / touching : 0.0;
    figures.step_ns = bench_percentile(times, MEASURED_STEPS, 0.5);
    return figures;
}

static BenchRow make_row(uint32_t count, const char *figure, double value, const char *unit,
                         const PileFigures *figures) {
    BenchRow row = {.value = value,
                    .unit = unit,
                    .has_certificate = true,
                    .e_own = figures->e_own,
                    .e_ds = figures->e_ds};
    snprintf(row.figure, sizeof(row.figure), "%u: %s", count, figure);
    return row;
}

static void add_figures(const BenchRun *run, uint32_t count, const PileFigures *figures) {
    BenchRow row = make_row(count, "contacts", figures->contacts, "", figures);
    bench_add(run, &row);
    row = make_row(count, "sweeps", figures->sweeps, "", figures);
    bench_add(run, &row);
    row = make_row(count, "CPU per contact", figures->ns_per_contact, "ns", figures);
    if (count == 1000) {
        row.aim_kind = AIM_VALUE_MAX;
        row.aim = 400.0;
    }
    bench_add(run, &row);
    row = make_row(count, "CPU/step p50", figures->step_ns * 1e-6, "ms", figures);
    if (count == 10000) {
        row.aim_kind = AIM_VALUE_MAX;
        row.aim = 12.0;
    }
    bench_add(run, &row);
    row = make_row(count, "mean overlap", figures->penetration_mean * 1e3, "mm", figures);
    row.aim_kind = count == 1000 ? AIM_VALUE_MAX : AIM_NONE;
    row.aim = 0.05;
    bench_add(run, &row);
    row = make_row(count, "deepest overlap", figures->penetration_max * 1e3, "mm", figures);
    bench_add(run, &row);
}

void bench_pile(const BenchRun *run) {
    static const uint32_t counts[] = {100, 1000, 10000};
    PileFigures figures[3];
    for (int i = 0; i < 3; i++) {
        Scene scene = scene_pile(counts[i]);
        scene_set(&scene, "max_iterations", SWEEPS);
        for (int k = 0; k < REST_STEPS; k++) {
            scene_step(&scene);
        }
        figures[i] = measure(&scene);
        scene_destroy(&scene);
        add_figures(run, counts[i], &figures[i]);
    }
    BenchRow row = {.figure = "growth, 100 to 10000",
                    .value = log10(figures[2].step_ns / figures[0].step_ns) / 2.0,
                    .unit = "",
                    .peer = "linear",
                    .peer_value = 1.0,
                    .aim_kind = AIM_VALUE_MAX,
                    .aim = 1.1};
    bench_add(run, &row);
}
