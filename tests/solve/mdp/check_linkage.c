// SPDX-License-Identifier: MIT
#include "solve/mdp/linkage.h"

#include "solve/ccp/ccp.h"
#include "solve/mdp/mdp.h"
#include "solve/solver.h"
#include "support/chain_build.h"
#include "support/suite.h"

#include <string.h>

static const Vec3 down = {0.0, 0.0, -1.0}, ahead = {1.0, 0.0, 0.0};

// The call Solve's defaults, with a method.
static SolveResult solve(ProblemBuild *build, SolverKind kind, uint32_t parameter, double choice) {
    SolverSettings settings = solver_solve_default(kind);
    settings.parameter[parameter] = choice;
    SolveResult result;
    Error error = {0};
    ck_assert_msg(solver_solve(&settings, &build->problem, &(Context){0}, &build->arena, &result,
                               &error) == STATUS_OK,
                  "%s", error.message);
    return result;
}

static SolveResult sweep(ProblemBuild *build) {
    return solve(build, SOLVER_MDP, MDP_METHOD, MDP_GAUSS_SEIDEL);
}

// What a joint's rows, of which there are 3 `times`, push up with.
static double tension(const SolveResult *result, uint32_t joint, uint32_t times) {
    double sum = 0.0;
    for (uint32_t k = 0; k < times; k++) {
        sum += result->answer.row_impulse[3 * (joint * times + k) + 2];
    }
    return sum;
}

// Joint i of a hanging chain bears all rods below: (n - i) m g h. A factor leaves rounding times
// the condition number of S, which grows as n^2: 1e6 of 1,000 rods, so 1e-10; rods that all weigh
// the same are kinder. No sweep leaves more than the certificate's 1e-6 of V = g h, at the tip.
static void assert_hangs(const SolveResult *result, uint32_t count, uint32_t times,
                         double relative) {
    ck_assert(result->certificate.converged);
    for (uint32_t i = 0; i < count; i++) {
        double weight = (count - i) * 9.81 * 0.01;
        ck_assert_double_eq_tol(tension(result, i, times), weight, relative * weight);
    }
}

static const uint32_t counts[] = {2, 20, 100, 1000};
enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

START_TEST(a_hanging_chain_bears_what_hangs_below) {
    ProblemBuild build;
    problem_build_init(&build);
    chain_build_rods(&build, counts[_i], down, true, 1);
    SolveResult result = sweep(&build);
    assert_hangs(&result, counts[_i], 1, 1e-9);
    // one solve leaves rho w over the least that S holds, 1e-3 of 1,000 rods: three bring 1e-9,
    // and one more sees that nothing changes; joint by joint it took 3667
    ck_assert_uint_le(result.iterations, 6);
    problem_build_deinit(&build);
}
END_TEST

// The rigid solvers agree: 1,000 rods are too many for lcp's dense system, and ccp judges itself by
// velocities, which at 1,000 rods say 1e-6 of the tension.
START_TEST(rigid_solvers_agree_on_the_tension) {
    static const struct {
        SolverKind kind;
        uint32_t parameter;
        double choice;
    } solvers[] = {{SOLVER_MDP, MDP_METHOD, MDP_AUTO},
                   {SOLVER_MDP, MDP_METHOD, MDP_NEWTON},
                   {SOLVER_CCP, CCP_METHOD, CCP_INTERIOR_POINT},
                   {SOLVER_LCP, SOLVER_TOLERANCE, 1e-6}};
    ProblemBuild build;
    problem_build_init(&build);
    chain_build_rods(&build, 100, down, true, 1);
    SolveResult result = solve(&build, solvers[_i].kind, solvers[_i].parameter, solvers[_i].choice);
    assert_hangs(&result, 100, 1, 1e-9);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(joints_that_are_there_three_times_share_the_tension) {
    ProblemBuild build;
    problem_build_init(&build);
    chain_build_rods(&build, 50, down, true, 3);
    SolveResult result = sweep(&build);
    assert_hangs(&result, 50, 3, 1e-9);
    ck_assert_uint_le(result.iterations, 6);
    // from nothing, rho gives of all impulses that hold the least ones, which are equal; rounding
    // of y, 1e-16, is divided by 1e-9 where S says nothing, and there are some sweeps of it
    for (uint32_t i = 0; i < 150; i++) {
        double third = tension(&result, i / 3, 3) / 3.0;
        ck_assert_double_eq_tol(result.answer.row_impulse[3 * i + 2], third, 1e-5 * third);
    }
    problem_build_deinit(&build);
}
END_TEST

// A loop: a chain that hangs and stands, as both its ends are held. Which end bears how much is not
// said by anything rigid, but that both bear all is, and each rod's joints differ by its weight.
START_TEST(a_chain_between_two_ends_rests_on_both) {
    enum { RODS = 30 };
    ProblemBuild build;
    problem_build_init(&build);
    uint32_t first = chain_build_rods(&build, RODS, down, true, 1);
    chain_build_joint(&build, PROBLEM_NO_TREE, vec3(0.0, 0.0, 0.0), first + RODS - 1,
                      vec3_scale(0.5, down), 1000);
    SolveResult result = sweep(&build);
    ck_assert(result.certificate.converged);
    double weight = 9.81 * 0.01;
    // the last one pushes up from below, with + on the rod as the first
    ck_assert_double_eq_tol(tension(&result, 0, 1) + tension(&result, RODS, 1), RODS * weight,
                            1e-6 * weight);
    for (uint32_t i = 0; i + 1 < RODS; i++) {
        ck_assert_double_eq_tol(tension(&result, i, 1) - tension(&result, i + 1, 1), weight,
                                1e-6 * weight);
    }
    for (uint32_t i = 0; i < 6 * RODS; i++) {
        ck_assert_double_eq_tol(result.answer.v[i], 0.0, 1e-6 * weight);
    }
    problem_build_deinit(&build);
}
END_TEST

// A hub with so many arms that its joints are all coupled: swept joint by joint, and solved.
START_TEST(a_star_is_swept_joint_by_joint) {
    enum { ARMS = 150 };
    ProblemBuild build;
    problem_build_init(&build);
    const double v_free[6] = {0.3, 0.0, -0.1, 0.0, 0.0, 0.2};
    const Sym3 heavy = {10.0, 10.0, 10.0, 0.0, 0.0, 0.0}, light = {0.01, 0.01, 0.01, 0.0, 0.0, 0.0};
    uint32_t hub = problem_build_free(&build, 100.0, heavy, v_free);
    for (uint32_t i = 0; i < ARMS; i++) {
        const double still[6] = {0.0};
        uint32_t arm = problem_build_free(&build, 0.1, light, still);
        double x = -1.0 + 2.0 * i / ARMS;
        chain_build_joint(&build, hub, vec3(x, 1.0 - x * x, 0.1 * x), arm, vec3(0.1, 0.0, 0.0),
                          i + 1);
    }
    SolveResult result = sweep(&build);
    ck_assert(result.certificate.converged);
    problem_build_deinit(&build);
}
END_TEST

// What a chain drags over the ground slides with friction, and what its joints let through is
// there for the contacts in the next sweep.
START_TEST(a_chain_on_the_ground_is_solved_in_a_few_sweeps) {
    ProblemBuild build;
    problem_build_init(&build);
    uint32_t first = chain_build_rods(&build, 200, ahead, false, 1);
    for (uint32_t i = 0; i < 200; i++) {
        build.v_free[6 * (first + i)] = 0.3;
        build.v_free[6 * (first + i) + 1] = 0.1;
        for (int end = -1; end <= 1; end += 2) {
            ProblemContact *contact =
                problem_build_contact(&build, vec3(0.0, 0.0, 1.0), 0.2 + 0.3 * (i % 3), 0.0);
            problem_build_side(contact, 1, first + i, vec3(0.3 * end, 0.0, -0.05));
        }
    }
    SolveResult result = sweep(&build);
    ck_assert(result.certificate.converged);
    // 7 or 8 however long the chain is; joint by joint it took hundreds
    ck_assert_uint_le(result.iterations, 20);
    problem_build_deinit(&build);
}
END_TEST

// ---- the factor

typedef struct Packed {
    ProblemBuild build;
    Context context;
    SolveResult result;
    Error error;
    Judge judge;
    MdpPack pack;
} Packed;

static void pack_chain(Packed *packed, uint32_t count) {
    Judge *judge = &packed->judge;
    packed->context = (Context){0};
    problem_build_init(&packed->build);
    chain_build_rods(&packed->build, count, down, true, 1);
    ck_assert_int_eq(judge_begin(judge, &packed->build.problem, RELATION_CONE, 1e-6, false,
                                 &packed->context, &packed->build.arena, &packed->result,
                                 &packed->error),
                     STATUS_OK);
    ck_assert_int_eq(mdp_pack_begin(judge, false, &packed->pack), STATUS_OK);
    ck_assert_int_eq(judge_survey(judge, mdp_pack_survey, &packed->pack), STATUS_OK);
    ck_assert_int_eq(mdp_pack_end(judge, &packed->pack), STATUS_OK);
}

// Rows of three: a block of 6 numbers on the diagonal and one of 9 below, in whatever order.
START_TEST(a_factor_grows_with_the_chain) {
    Packed packed;
    pack_chain(&packed, counts[_i]);
    ck_assert_uint_eq(packed.pack.joint_count, 1);
    const MdpLinkage *linkage = packed.pack.joint[0].linkage;
    ck_assert_ptr_nonnull(linkage);
    ck_assert_uint_eq(packed.pack.joint[0].count, 3 * counts[_i]);
    ck_assert_uint_eq(linkage->plan.fill, 6 * counts[_i] + 9 * (counts[_i] - 1));
    problem_build_deinit(&packed.build);
}
END_TEST

static TCase *case_chains(void) {
    TCase *tcase = tcase_create("chains");
    tcase_add_loop_test(tcase, a_hanging_chain_bears_what_hangs_below, 0, COUNTS);
    tcase_add_loop_test(tcase, rigid_solvers_agree_on_the_tension, 0, 4);
    tcase_add_test(tcase, joints_that_are_there_three_times_share_the_tension);
    tcase_add_test(tcase, a_chain_between_two_ends_rests_on_both);
    tcase_add_test(tcase, a_star_is_swept_joint_by_joint);
    tcase_add_test(tcase, a_chain_on_the_ground_is_solved_in_a_few_sweeps);
    tcase_add_loop_test(tcase, a_factor_grows_with_the_chain, 0, COUNTS);
    return tcase;
}

SUITE_MAIN("solve/mdp_linkage", case_chains)
