// SPDX-License-Identifier: MIT
// A thousand hulls, cylinders, boxes and capsules that fall into a bowl of a mesh: what a step
// takes while they fall, land and settle, how deep they lie in each other, and the certificate.
// peers/shapes.py asks others.
#include "bench/bench.h"
#include "bench/load.h"
#include "solve/mdp/mdp.h"

#include <math.h>
#include <stdio.h>

enum { PHASES = 4, PHASE_STEPS = 120, SWEEPS = 10 }; // half a second each

typedef struct Phase {
    double ms[PHASE_STEPS];
    double contacts, iterations, deepest, sum, touching, e_own, e_ds;
    uint32_t converged;
} Phase;

static void take_step(Scene *scene, Phase *phase, int i) {
    const double begun = bench_cpu_ns();
    scene_step(scene);
    phase->ms[i] = (bench_cpu_ns() - begun) * 1e-6;
    const StepReport *report = &scene->report;
    phase->contacts += report->contact_count;
    phase->iterations += report->iterations;
    phase->converged += report->certificate.converged;
    phase->e_own = fmax(phase->e_own, report->certificate.entry[CERTIFICATE_OWN]);
    phase->e_ds = fmax(phase->e_ds, report->certificate.entry[CERTIFICATE_DS]);
    for (uint32_t k = 0; k < report->contact_count; k++) {
        const double depth = -scene->stepper->problem.contact[k].gap;
        phase->deepest = fmax(phase->deepest, depth);
        phase->sum += fmax(depth, 0.0);
        phase->touching += depth >= 0.0;
    }
}

static void add_row(const BenchRun *run, const char *who, int at, const Phase *phase,
                    const char *figure, double value, const char *unit) {
    BenchRow row = {.value = value,
                    .unit = unit,
                    .iterations = phase->iterations / PHASE_STEPS,
                    .has_certificate = true,
                    .e_own = phase->e_own,
                    .e_ds = phase->e_ds};
    snprintf(row.figure, sizeof(row.figure), "%s, %.1f to %.1f s: %s", who, 0.5 * at,
             0.5 * (at + 1), figure);
    bench_add(run, &row);
}

static void play(const BenchRun *run, const char *who, bool is_plain) {
    Scene scene = load_scene(MOREAU_SOURCE_DIR "/tests/scenes/moving/bowl-mixed-1000.json");
    if (is_plain) {
        scene_set(&scene, "method", MDP_GAUSS_SEIDEL);
        scene_set(&scene, "max_iterations", SWEEPS);
    }
    for (int k = 0; k < PHASES; k++) {
        Phase phase = {.contacts = 0.0};
        for (int i = 0; i < PHASE_STEPS; i++) {
            take_step(&scene, &phase, i);
        }
        add_row(run, who, k, &phase, "step p50", bench_percentile(phase.ms, PHASE_STEPS, 0.5),
                "ms");
        add_row(run, who, k, &phase, "step p99", bench_percentile(phase.ms, PHASE_STEPS, 0.99),
                "ms");
        add_row(run, who, k, &phase, "contacts", phase.contacts / PHASE_STEPS, "");
        add_row(run, who, k, &phase, "converged", phase.converged, "steps");
        add_row(run, who, k, &phase, "deepest overlap", phase.deepest * 1e3, "mm");
        add_row(run, who, k, &phase, "mean overlap", phase.sum / fmax(phase.touching, 1.0) * 1e3,
                "mm");
    }
    scene_destroy(&scene);
}

void bench_bowl(const BenchRun *run) {
    play(run, "as it is", false);
    play(run, "ten sweeps", true);
}
