// SPDX-License-Identifier: MIT
// What the certificate costs, as a share of a step of ten sweeps: measured on the problem and the
// impulses that each step leaves, from impulses to the certificate, as a solve does once at its end
// (an island that is asked for again is judged again).
#include "bench/bench.h"
#include "bench/scene.h"

#include "solve/judge.h"
#include "solve/mdp/mdp.h"

#include <stdio.h>

enum { SWEEPS = 10, REST_STEPS = 60, STEPS = 120 };

static void judge_all(Judge *judge) {
    const Islands *islands = &judge->islands;
    for (uint32_t i = 0; i < islands->share_count; i += judge_pieces(judge, i)) {
        const IslandShare *share = &islands->share[i];
        if (share->is_piece) {
            (void)judge_large(judge, i);
        } else {
            judge_islands(judge, i, share->island_begin, share->island_end);
        }
    }
}

// CPU time of the certificate of the last step's answer [ns]
static double certify(const Scene *scene, Arena *arena) {
    const Stepper *stepper = scene->stepper;
    const Context alone = {.stop = NULL};
    ContactProblem problem = stepper->problem;
    problem.warm_contact = stepper->impulse;
    SolveResult result;
    Error error;
    Judge judge;
    arena_reset(arena);
    if (judge_begin(&judge, &problem, RELATION_CONE, stepper->solver.parameter[SOLVER_TOLERANCE],
                    true, &alone, arena, &result, &error) != STATUS_OK ||
        judge_survey(&judge, NULL, NULL) != STATUS_OK) {
        bench_fail("the certificate: %s", error.message);
    }
    double begun = bench_cpu_ns();
    judge_all(&judge);
    (void)judge_end(&judge);
    return bench_cpu_ns() - begun;
}

static void run_case(const BenchRun *run, const char *name, Scene scene) {
    double steps[STEPS], certificates[STEPS];
    Arena arena;
    arena_init(&arena, (size_t)1 << 28);
    scene_set(&scene, "method", MDP_GAUSS_SEIDEL);
    scene_set(&scene, "method", MDP_GAUSS_SEIDEL); // auto would solve what they leave
    scene_set(&scene, "max_iterations", SWEEPS);
    for (int i = 0; i < REST_STEPS; i++) {
        scene_step(&scene);
    }
    double e_own = 0.0, e_ds = 0.0, sweeps = 0.0;
    for (int i = 0; i < STEPS; i++) {
        double begun = bench_cpu_ns();
        scene_step(&scene);
        steps[i] = bench_cpu_ns() - begun;
        certificates[i] = certify(&scene, &arena);
        const double *entry = scene.report.certificate.entry;
        e_own = entry[CERTIFICATE_OWN] > e_own ? entry[CERTIFICATE_OWN] : e_own;
        e_ds = entry[CERTIFICATE_DS] > e_ds ? entry[CERTIFICATE_DS] : e_ds;
        sweeps += scene.report.iterations;
    }
    double step = bench_percentile(steps, STEPS, 0.5);
    BenchRow row = {.value = 100.0 * bench_percentile(certificates, STEPS, 0.5) / step,
                    .unit = "% of a step",
                    .aim_kind = AIM_VALUE_MAX,
                    .aim = 10.0,
                    .iterations = sweeps / STEPS,
                    .has_certificate = true,
                    .e_own = e_own,
                    .e_ds = e_ds};
    snprintf(row.figure, sizeof(row.figure), "%s", name);
    bench_add(run, &row);
    arena_deinit(&arena);
    scene_destroy(&scene);
}

void bench_certificate(const BenchRun *run) {
    run_case(run, "pile of 1000 spheres", scene_pile(1000));
    run_case(run, "wall of 525 boxes", scene_wall());
}
