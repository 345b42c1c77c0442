// SPDX-License-Identifier: MIT
#include "bench/walk.h"

#include <math.h>
#include <stdio.h>

enum { SCENE_TIMES = 10 }; // a scene may take so many times what a step may

static bool is_late(void *context) {
    return bench_cpu_ns() > *(const double *)context;
}

// One step, within some seconds.
static bool step_once(Scene *scene, double seconds, Walk *walk) {
    double begun = bench_cpu_ns(), until = begun + seconds * 1e9;
    Stop stop = {.asked = is_late, .context = &until};
    scene->context.stop = &stop;
    Status status = scene_try_step(scene, &walk->error);
    scene->context.stop = NULL;
    if (status != STATUS_OK) {
        return false;
    }
    const StepReport *report = &scene->report;
    const double *entry = report->certificate.entry;
    walk->ms[walk->steps] = (bench_cpu_ns() - begun) * 1e-6;
    walk->ds[walk->steps++] = entry[CERTIFICATE_DS];
    walk->converged += report->certificate.converged;
    walk->iterations += report->iterations;
    walk->e_own = fmax(walk->e_own, entry[CERTIFICATE_OWN]);
    walk->e_ds = fmax(walk->e_ds, entry[CERTIFICATE_DS]);
    walk->penetration = fmax(walk->penetration, report->certificate.penetration);
    walk->launch = fmax(walk->launch, report->launch.speed);
    return true;
}

Walk walk_scene(Scene *scene, double seconds) {
    Walk walk = {.steps = 0};
    double until = bench_cpu_ns() + SCENE_TIMES * seconds * 1e9;
    while (walk.steps < WALK_STEPS && bench_cpu_ns() < until && step_once(scene, seconds, &walk)) {
    }
    return walk;
}

static void add_row(const BenchRun *run, const char *scene, const char *who, const Walk *walk,
                    const WalkFigure *figure, const char *peer) {
    BenchRow row = {.value = figure->value,
                    .unit = figure->unit,
                    .peer = peer,
                    .peer_value = peer == NULL ? 0.0 : walk->steps,
                    .iterations = walk->iterations / walk->steps,
                    .has_certificate = true,
                    .e_own = walk->e_own,
                    .e_ds = walk->e_ds};
    snprintf(row.figure, sizeof(row.figure), "%s: %s %s", scene, who, figure->figure);
    bench_add(run, &row);
}

void walk_report(const BenchRun *run, const char *scene, const char *who, const Walk *walk,
                 const WalkFigure *figure, size_t count) {
    const WalkFigure converged = {"converged", "steps", walk->converged};
    add_row(run, scene, who, walk, &converged, "of");
    for (size_t i = 0; i < count; i++) {
        add_row(run, scene, who, walk, &figure[i], NULL);
    }
}
