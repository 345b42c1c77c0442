// SPDX-License-Identifier: MIT
// What a counted effort (solve/mdp/anytime.c) counts by: how long a sweep takes for each contact,
// how many of the multiplications that Newton's method counts it does in that time, and from both
// how many of them a sweep over a contact is worth. Of problems of the scenes that curves are drawn
// of, each from the impulses that its step started from; medians.
#include "bench/bench.h"
#include "bench/curve/record.h"
#include "bench/curve/rows.h"
#include "bench/knobs.h"
#include "solve/mdp/newton.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Of sweeps the difference counts: what stands before the first is none of them. More than the
// second and something is aimed at what moves, too.
#define FEW  "method=gauss_seidel tolerance=1e-15 max_iterations=8"
#define MANY "method=gauss_seidel tolerance=1e-15 max_iterations=28"
enum { SWEEPS = 28 - 8, REPEATS = 5, STEPS = 12, FACTORISATIONS = 12 };

typedef struct Rates {
    double sweep_ns;        // of a contact
    double multiplications; // of Newton's method [1/ns]
} Rates;

// The fastest of some.
static double solve_ns(const char *parameters, const ContactProblem *problem, Arena *arena) {
    SolverSettings settings = solver_default(SOLVER_MDP);
    if (!knobs_set(&settings, parameters)) {
        bench_fail("mdp does not take %s", parameters);
    }
    double least = INFINITY;
    for (int i = 0; i < REPEATS; i++) {
        Context context = {.stop = NULL};
        SolveResult result;
        Error error = {0};
        arena_reset(arena);
        const double begun = bench_cpu_ns();
        if (solver_solve(&settings, problem, &context, arena, &result, &error) != STATUS_OK) {
            bench_fail("%s", error.message);
        }
        least = fmin(least, bench_cpu_ns() - begun);
    }
    return least;
}

static double newton_rate(const ContactProblem *problem, Arena *arena) {
    double most = 0.0;
    for (int i = 0; i < REPEATS; i++) {
        Context context = {.stop = NULL};
        SolveResult result = {.iterations = 0};
        Error error = {0};
        Judge judge;
        arena_reset(arena);
        Status status = judge_begin(&judge, problem, RELATION_CONE, 1e-15, true, &context, arena,
                                    &result, &error);
        status = STATUS_THEN(status, judge_survey(&judge, NULL, NULL));
        const MdpNewton newton = {.tolerance = 1e-15,
                                  .iterations_max = FACTORISATIONS,
                                  .operations_max = HUGE_VAL,
                                  .least = 1.0};
        MdpSpent spent;
        const double begun = bench_cpu_ns();
        status = STATUS_THEN(status, mdp_newton(&judge, &newton, &spent));
        if (status != STATUS_OK) {
            bench_fail("%s", error.message);
        }
        most = fmax(most, spent.all / (bench_cpu_ns() - begun));
    }
    return most;
}

static Rates measure(const Recording *recording) {
    double sweep[STEPS], rate[STEPS];
    Arena arena;
    arena_init(&arena, (size_t)1 << 33);
    for (uint32_t i = 0; i < recording->count; i++) {
        const ContactProblem *problem = &recording->problem[i];
        const double ns = solve_ns(MANY, problem, &arena) - solve_ns(FEW, problem, &arena);
        sweep[i] = ns / SWEEPS / problem->contact_count;
        rate[i] = newton_rate(problem, &arena);
    }
    arena_deinit(&arena);
    return (Rates){bench_percentile(sweep, recording->count, 0.5),
                   bench_percentile(rate, recording->count, 0.5)};
}

static void add(const BenchRun *run, const char *name, const char *what, double value,
                const char *unit) {
    BenchRow row = {.value = value, .unit = unit};
    snprintf(row.figure, sizeof(row.figure), "%.32s: %.40s", name, what);
    bench_add(run, &row);
}

void bench_rates(const BenchRun *run) {
    bool is_any = false;
    for (size_t i = 0; i < CURVE_ROW_COUNT; i++) {
        const CurveRow *of = &curve_row[i];
        if (run->scene != NULL && strcmp(run->scene, of->name) != 0) {
            continue;
        }
        is_any = true;
        Scene scene = curve_row_load(of);
        Recording recording =
            record_scene(&scene, of->first, of->count < STEPS ? of->count : STEPS);
        if (recording.count == 0) {
            bench_fail("nothing touches in %s", of->scene);
        }
        const Rates rates = measure(&recording);
        add(run, of->name, "contacts", recording.contacts, "");
        add(run, of->name, "a contact and sweep", rates.sweep_ns, "ns");
        add(run, of->name, "Newton's multiplications", rates.multiplications, "1/ns");
        add(run, of->name, "a contact and sweep, in these", rates.sweep_ns * rates.multiplications,
            "");
        record_free(&recording);
        scene_destroy(&scene);
    }
    if (!is_any) {
        bench_fail("rates has no scene %s", run->scene);
    }
}
