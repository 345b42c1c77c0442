// SPDX-License-Identifier: MIT
#include "bench/curve/ways.h"

#include "bench/bench.h"
#include "bench/knobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 3, OWED_MAX = 64 }; // solves; steps

#define REPEAT_NS 2e7 // what takes longer is not measured again

// A point of a line: mdp with these parameters over a world's defaults, or those of the call Solve.
// One that this build does not have is left out. Rows of a line stand together, by growing work.
typedef struct Way {
    const char *line, *name, *parameters;
    EffortKind effort;
    SolverSettings (*defaults)(SolverKind kind);
    bool is_endless; // what it takes is not known before: it ends at the limit
} Way;

#define SWEEPS(count)                                                                              \
    {                                                                                              \
        "sweeps", #count " sweeps", "method=gauss_seidel max_iterations=" #count, EFFORT_EXACT,    \
            solver_default, false                                                                  \
    }

static const Way ways[] = {
    SWEEPS(2),
    SWEEPS(3),
    SWEEPS(5),
    SWEEPS(7),
    SWEEPS(10),
    SWEEPS(14),
    SWEEPS(20),
    SWEEPS(30),
    SWEEPS(50),
    SWEEPS(70),
    SWEEPS(100),
    SWEEPS(140),
    SWEEPS(200),
    SWEEPS(500),
    {"effort", "fast", "", EFFORT_FAST, solver_default, false},
    {"effort", "balanced", "", EFFORT_BALANCED, solver_default, false},
    {"effort", "exact", "", EFFORT_EXACT, solver_default, true},
    {"effort", "to the end", "", EFFORT_EXACT, solver_solve_default, true},
};
enum { WAY_COUNT = sizeof(ways) / sizeof(ways[0]) };

// What a world owes that is stepped so: of a balanced effort a step may borrow, and others pay it
// back, one each (step/patience.c, but for what was in vain, which is borrowed once here, too).
static uint8_t owed_after(uint8_t owed, const SolveResult *result) {
    const uint32_t left = owed > 0 ? owed - 1u : 0, all = left + result->owed;
    return (uint8_t)(all < OWED_MAX ? all : OWED_MAX);
}

static bool is_late(void *context) {
    return bench_cpu_ns() > *(const double *)context;
}

// Returns its CPU time.
static double solve_once(const SolverSettings *settings, const ContactProblem *problem,
                         double seconds, Arena *arena, SolveResult *result) {
    double begun = bench_cpu_ns(), until = begun + seconds * 1e9;
    Stop limit = {.asked = is_late, .context = &until};
    Context context = {.limit = &limit};
    Error error = {0};
    arena_reset(arena);
    if (solver_solve(settings, problem, &context, arena, result, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    return bench_cpu_ns() - begun;
}

// The fastest of some, where one is short.
static double solve(const SolverSettings *settings, const ContactProblem *problem, double seconds,
                    Arena *arena, SolveResult *result) {
    double ns = solve_once(settings, problem, seconds, arena, result);
    for (int i = 1; i < REPEATS && ns < REPEAT_NS; i++) {
        ns = fmin(ns, solve_once(settings, problem, seconds, arena, result));
    }
    return ns;
}

static CurvePoint run_way(const Way *way, SolverSettings *settings, const Recording *recording,
                          double seconds) {
    CurvePoint point = {.count = recording->count};
    snprintf(point.name, sizeof(point.name), "%s", way->name);
    double *ns = bench_memory(recording->count, sizeof(*ns));
    double *ds = bench_memory(recording->count, sizeof(*ds));
    Arena arena;
    arena_init(&arena, (size_t)1 << 33);
    for (uint32_t i = 0; i < recording->count; i++) {
        SolveResult result;
        ns[i] = recording->outside_ns +
                solve(settings, &recording->problem[i], seconds, &arena, &result);
        ds[i] = result.certificate.entry[CERTIFICATE_DS];
        settings->effort.owed = owed_after(settings->effort.owed, &result);
    }
    point.ns = bench_percentile(ns, recording->count, 0.5);
    point.ns_worst = bench_percentile(ns, recording->count, 1.0);
    point.ds = bench_percentile(ds, recording->count, 0.5);
    point.ds_worst = bench_percentile(ds, recording->count, 1.0);
    arena_deinit(&arena);
    free(ns);
    free(ds);
    return point;
}

// That of the way; a new one where the last is another's.
static CurveLine *line_of(const Way *way, CurveScene *scene) {
    if (scene->count == 0 || strcmp(scene->line[scene->count - 1].name, way->line) != 0) {
        CurveLine *line = &scene->line[scene->count++];
        *line = (CurveLine){.count = 0};
        snprintf(line->name, sizeof(line->name), "%s", way->line);
    }
    return &scene->line[scene->count - 1];
}

void ways_run(const Recording *recording, double seconds, CurveScene *scene) {
    for (size_t i = 0; i < WAY_COUNT; i++) {
        SolverSettings settings = ways[i].defaults(SOLVER_MDP);
        settings.effort = (Effort){.kind = (uint8_t)ways[i].effort};
        if (knobs_set(&settings, ways[i].parameters)) {
            CurveLine *line = line_of(&ways[i], scene);
            double patience = ways[i].is_endless ? seconds : INFINITY;
            line->point[line->count++] = run_way(&ways[i], &settings, recording, patience);
        }
    }
}
