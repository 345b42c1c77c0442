// SPDX-License-Identifier: MIT
// What a solver ends with where it does not come: nothing that is worse than no impulse at all.
#include "solve/mdp/mdp.h"
#include "solve/solver.h"

#include "support/harness_judge.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

enum { SEEDS = 60, BUDGETS = 4 };

static const double iterations[BUDGETS] = {1.0, 5.0, 30.0, 200.0};

// A body that two joints hold at places on one line, at odds with each other: a ball, and a
// distance that pulls along the line. What is left to meet both are levers of `lever`: by impulses,
// and velocities, that are as much larger.
static void hold_twice(ProblemBuild *build, double lever, uint64_t *state) {
    double v_free[6];
    for (int k = 0; k < 6; k++) {
        v_free[k] = 0.1 * problem_build_random(state);
    }
    problem_build_init(build);
    problem_build_free(build, 6.4, (Sym3){0.15, 0.14, 0.03, 0.0, 0.0, 0.0}, v_free);
    for (int axis = 0; axis < 3; axis++) {
        const Vec3 n = vec3(axis == 0, axis == 1, axis == 2),
                   turn = vec3_cross(vec3(-0.006, lever, 0.5 * lever), n);
        const double jacobian[6] = {n.x, n.y, n.z, turn.x, turn.y, turn.z};
        problem_build_row(build, -HUGE_VAL, HUGE_VAL, 0.2 * problem_build_random(state));
        problem_build_block(build, 0, jacobian);
    }
    const Vec3 turn = vec3_cross(vec3(-0.084, -lever, lever), vec3(1.0, 0.0, 0.0));
    const double jacobian[6] = {1.0, 0.0, 0.0, turn.x, turn.y, turn.z};
    problem_build_row(build, -HUGE_VAL, HUGE_VAL, 1.0);
    problem_build_block(build, 0, jacobian);
}

static double worst(const ContactProblem *problem, const SolveResult *result, Arena *arena) {
    HarnessVerdict verdict;
    harness_judge(problem, result, arena, &verdict);
    return verdict.entry[CERTIFICATE_OWN];
}

// What such joints were given a step ago, before their levers moved by a thousandth: large numbers
// that cancelled each other, and do no longer.
static void start_from_what_was(ProblemBuild *build, uint64_t *state, double warm[4]) {
    const double large = pow(10.0, 15.0 * problem_build_random(state));
    for (int k = 0; k < 4; k++) {
        warm[k] = k == 1 || k == 2 ? 1e-3 * large : k == 0 ? -large : large;
    }
    build->problem.warm_row = warm;
}

// By the second certificate: the answer, and none in its place.
START_TEST(no_answer_is_worse_than_none) {
    const SolverKind kind = (SolverKind)(_i % SOLVER_COUNT);
    const double most = iterations[_i / SOLVER_COUNT % BUDGETS];
    uint64_t state = 0x9e3779b97f4a7c15u + (uint64_t)(_i / SOLVER_COUNT / BUDGETS);
    for (int seed = 0; seed < SEEDS; seed++) {
        ProblemBuild build;
        hold_twice(&build, pow(10.0, -1.0 - seed % 6), &state);
        double warm[4];
        start_from_what_was(&build, &state, warm);
        SolverSettings settings = solver_default(kind);
        settings.parameter[SOLVER_MAX_ITERATIONS] = most;
        if (kind == SOLVER_MDP) {
            const int method = _i / SOLVER_COUNT / BUDGETS;
            settings.parameter[MDP_METHOD] = method;
        }
        SolveResult result;
        Error error = {0};
        ck_assert_int_eq(
            solver_solve(&settings, &build.problem, &(Context){0}, &build.arena, &result, &error),
            STATUS_OK);
        const double own = worst(&build.problem, &result, &build.arena);
        memset(result.answer.row_impulse, 0, build.problem.row_count * sizeof(double));
        memcpy(result.answer.v, build.problem.v_free,
               build.problem.velocity_count * sizeof(double));
        const double none = worst(&build.problem, &result, &build.arena);
        // nothing leaves V or twice that; some of it, where targets contradict each other
        ck_assert_msg(own <= fmax(10.0, none), "seed %d: %g, and %g of none", seed, own, none);
        problem_build_deinit(&build);
    }
}
END_TEST

static TCase *case_worse(void) {
    TCase *tcase = tcase_create("worse");
    tcase_add_loop_test(tcase, no_answer_is_worse_than_none, 0, 3 * BUDGETS * SOLVER_COUNT);
    return tcase;
}

SUITE_MAIN("solve/worse", case_worse)
