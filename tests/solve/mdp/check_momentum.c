// SPDX-License-Identifier: MIT
#include "solve/mdp/momentum.h"

#include "solve/mdp/mdp.h"
#include "solve/solver.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

static const Sym3 ball_inertia = {0.004, 0.004, 0.004, 0.0, 0.0, 0.0};

// a column of balls that stands on the ground, the lowest pushed at v_x
static void add_column(ProblemBuild *build, uint32_t count, double v_x) {
    uint32_t first = build->problem.tree_count;
    for (uint32_t i = 0; i < count; i++) {
        const double v_free[6] = {i == 0 ? v_x : 0.0, 0.0, -0.0981, 0.0, 0.0, 0.0};
        problem_build_free(build, 1.0, ball_inertia, v_free);
        ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.4, 0.0);
        uint32_t below = i == 0 ? PROBLEM_NO_TREE : first + i - 1;
        problem_build_side(contact, 0, below, vec3(0.0, 0.0, 0.1));
        problem_build_side(contact, 1, first + i, vec3(0.0, 0.0, -0.1));
    }
}

// of a column that is too high to be solved at once (solve/mdp/direct.h), with as many sweeps as it
// takes
enum { HIGH = 70 };

static SolveResult solve(const ContactProblem *problem, double max_iterations, Arena *arena) {
    SolverSettings settings = solver_solve_default(SOLVER_MDP);
    settings.parameter[MDP_METHOD] = MDP_GAUSS_SEIDEL;
    settings.parameter[MDP_MAX_ITERATIONS] = max_iterations;
    settings.parameter[MDP_TOLERANCE] = max_iterations < 1000.0 ? 1e-15 : 1e-6;
    SolveResult result;
    ck_assert_int_eq(solver_solve(&settings, problem, &(Context){0}, arena, &result, NULL),
                     STATUS_OK);
    return result;
}

START_TEST(a_column_twice_as_high_takes_about_twice_the_sweeps) {
    uint32_t sweeps[3];
    for (uint32_t k = 0; k < 3; k++) {
        ProblemBuild build;
        problem_build_init(&build);
        add_column(&build, (uint32_t)HIGH << k, 0.0);
        SolveResult result = solve(&build.problem, 1e5, &build.arena);
        ck_assert(result.certificate.converged);
        sweeps[k] = result.iterations;
        problem_build_deinit(&build);
    }
    // Gauss-Seidel alone multiplies by four; starts and restarts make the factor uneven
    ck_assert_uint_le(sweeps[1], (uintmax_t)3 * sweeps[0]);
    ck_assert_uint_le(sweeps[2], (uintmax_t)3 * sweeps[1]);
    // plain sweeps: N^2 and more, some 80000
    ck_assert_uint_le(sweeps[2], (uintmax_t)40 * HIGH);
}
END_TEST

START_TEST(an_island_does_not_feel_the_momentum_of_another) {
    // after the same number of sweeps a column has the same bits, alone or beside a restless
    // neighbour
    ProblemBuild alone, together;
    problem_build_init(&alone);
    problem_build_init(&together);
    add_column(&alone, HIGH, 0.0);
    add_column(&together, HIGH, 0.0);
    add_column(&together, 5, 3.0);
    SolveResult a = solve(&alone.problem, 60, &alone.arena);
    SolveResult b = solve(&together.problem, 60, &together.arena);
    ck_assert_uint_eq(a.iterations, 60);
    ck_assert_uint_eq(b.iterations, 60);
    ck_assert_mem_eq(a.answer.v, b.answer.v, sizeof(double) * 6 * HIGH);
    problem_build_deinit(&alone);
    problem_build_deinit(&together);
}
END_TEST

// ---- the rule itself, on one island

typedef struct Watched {
    ProblemBuild build;
    Judge judge;
    MdpPack pack;
    MdpGroup group;
    MdpIsland island;
    MdpSum sum;
    MdpBody body[2];
    double before[6];
} Watched;

static void watched_init(Watched *watched) {
    memset(watched, 0, sizeof(*watched));
    problem_build_init(&watched->build);
    const double v_free[6] = {0.0};
    problem_build_free(&watched->build, 1.0, ball_inertia, v_free);
    ck_assert_int_eq(islands_find(&watched->build.problem, NULL, &watched->build.arena,
                                  &watched->judge.islands, NULL),
                     STATUS_OK);
    watched->pack = (MdpPack){.problem = &watched->build.problem,
                              .judge = &watched->judge,
                              .body = watched->body,
                              .island = &watched->island,
                              .sum = &watched->sum,
                              .v_before = watched->before};
    mdp_momentum_begin(&watched->pack, 0);
}

// `largest` is of the sweep before, enough is 1
static void carry_at(Watched *watched, double largest, double residual, double opposition) {
    watched->sum.largest = largest;
    watched->sum.residual = residual;
    watched->sum.opposition = opposition;
    mdp_momentum_decide(&watched->pack, &watched->group, 0, 1.0);
    mdp_momentum_carry(&watched->pack, 0, 1);
}

static void carry(Watched *watched, double residual, double opposition) {
    carry_at(watched, HUGE_VAL, residual, opposition);
}

START_TEST(momentum_grows_with_every_sweep_that_goes_along) {
    Watched watched;
    watched_init(&watched);
    double last = -1.0;
    for (int i = 0; i < 5000; i++) {
        carry(&watched, 1.0 / (i + 1.0), -1.0);
        ck_assert_double_ge(watched.sum.ratio, last);
        last = watched.sum.ratio;
    }
    ck_assert_double_le(last, 0.999);
    ck_assert_double_ge(last, 0.998);
    problem_build_deinit(&watched.build);
}
END_TEST

START_TEST(velocities_go_on_as_far_as_the_ratio_says) {
    Watched watched;
    watched_init(&watched);
    carry(&watched, 1.0, -1.0);
    ck_assert_double_eq(watched.sum.ratio, 0.0);
    watched.body[0].v[2] = 8.0;
    carry(&watched, 1.0, -1.0);
    // t = 1.618: (t - 1) / t' = 0.2817, Nesterov's second ratio
    ck_assert_double_eq_tol(watched.sum.ratio, 0.281754, 1e-6);
    ck_assert_double_eq_tol(watched.body[0].v[2], 8.0 * (1.0 + watched.sum.ratio), 1e-14);
    ck_assert_double_eq(watched.before[2], 8.0);
    problem_build_deinit(&watched.build);
}
END_TEST

START_TEST(opposition_and_growth_end_a_momentum) {
    Watched watched;
    watched_init(&watched);
    for (int i = 0; i < 5; i++) {
        carry(&watched, 1.0, -1.0);
    }
    ck_assert_double_gt(watched.sum.ratio, 0.3);
    carry(&watched, 1.0, 1.0);
    ck_assert_double_eq(watched.sum.ratio, 0.0);
    for (int i = 0; i < 5; i++) {
        carry(&watched, 1.0, -1.0);
    }
    carry(&watched, 4.1, -1.0); // more than twice the residual, squared
    ck_assert_double_eq(watched.sum.ratio, 0.0);
    problem_build_deinit(&watched.build);
}
END_TEST

START_TEST(momentum_that_never_helps_fades_to_plain_sweeps) {
    Watched watched;
    watched_init(&watched);
    for (int i = 0; i < 40; i++) {
        carry(&watched, 1.0 + i, 1.0);
    }
    ck_assert_double_eq(watched.island.gap, 1.0);
    carry(&watched, 1.0, -1.0);
    carry(&watched, 1.0, -1.0);
    ck_assert_double_eq(watched.sum.ratio, 0.0);
    problem_build_deinit(&watched.build);
}
END_TEST

// four sweeps, each with 0.99 of the change before; residuals are squares
static void sweep_slowly(Watched *watched) {
    double residual = 1.0;
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq(watched->sum.ratio, 0.0);
        carry_at(watched, 0.0, residual, 0.0);
        residual *= 0.99 * 0.99;
    }
    // 0.99 + 0.99^2 + ... = 99; the root's rounding is divided by 1 - q
    ck_assert_double_eq_tol(watched->sum.ratio, 99.0, 1e-10);
}

START_TEST(near_the_end_a_slow_change_is_leapt_over) {
    Watched watched;
    watched_init(&watched);
    sweep_slowly(&watched);
    // landed well: plain sweeps, and another leap
    carry_at(&watched, 0.0, 0.5, 0.0);
    sweep_slowly(&watched);
    // landed badly: back to where it leapt from, and on with the common momentum
    carry_at(&watched, 0.0, 2.0, 0.0);
    ck_assert_double_eq(watched.sum.ratio, -1.0);
    carry(&watched, 1.0, -1.0);
    carry(&watched, 1.0, -1.0);
    ck_assert_double_gt(watched.sum.ratio, 0.0);
    ck_assert_double_lt(watched.sum.ratio, 1.0);
    problem_build_deinit(&watched.build);
}
END_TEST

static TCase *case_solve(void) {
    TCase *tcase = tcase_create("solve");
    tcase_add_test(tcase, a_column_twice_as_high_takes_about_twice_the_sweeps);
    tcase_add_test(tcase, an_island_does_not_feel_the_momentum_of_another);
    return tcase;
}

static TCase *case_rule(void) {
    TCase *tcase = tcase_create("rule");
    tcase_add_test(tcase, momentum_grows_with_every_sweep_that_goes_along);
    tcase_add_test(tcase, velocities_go_on_as_far_as_the_ratio_says);
    tcase_add_test(tcase, opposition_and_growth_end_a_momentum);
    tcase_add_test(tcase, near_the_end_a_slow_change_is_leapt_over);
    tcase_add_test(tcase, momentum_that_never_helps_fades_to_plain_sweeps);
    return tcase;
}

SUITE_MAIN("solve/mdp_momentum", case_solve, case_rule)
