// SPDX-License-Identifier: MIT
#include "solve/mdp/reach.h"

#include "solve/mdp/mdp.h"
#include "solve/solver.h"
#include "support/chain_build.h"
#include "support/suite.h"

static const Vec3 up = {0.0, 0.0, 1.0};

static SolveResult sweep(ProblemBuild *build) {
    SolverSettings settings = solver_solve_default(SOLVER_MDP);
    settings.parameter[MDP_METHOD] = MDP_GAUSS_SEIDEL;
    SolveResult result;
    Error error = {0};
    ck_assert_msg(solver_solve(&settings, &build->problem, &(Context){0}, &build->arena, &result,
                               &error) == STATUS_OK,
                  "%s", error.message);
    ck_assert(result.certificate.converged);
    return result;
}

// Four feet of friction 0.5, 0.3 m around a body's axis and so far below its centre of mass.
static void add_feet(ProblemBuild *build, uint32_t body, double below) {
    for (int i = 0; i < 4; i++) {
        ProblemContact *contact = problem_build_contact(build, up, 0.5, 0.0);
        problem_build_side(contact, 1, body,
                           vec3(i % 2 == 0 ? 0.3 : -0.3, i < 2 ? 0.3 : -0.3, -below));
    }
}

// Rods of one piece, that slide along x; `compliance` is that of their joints' rows.
static uint32_t add_pole(ProblemBuild *build, uint32_t count, double compliance) {
    uint32_t foot = build->problem.tree_count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rod = chain_build_rods(build, 1, up, false, 1);
        if (i > 0) {
            chain_build_joint(build, rod - 1, vec3_scale(0.5, up), rod, vec3_scale(-0.5, up), i);
            chain_build_weld(build, rod - 1, rod);
        }
        build->v_free[6 * (size_t)rod] = 0.3;
    }
    for (uint32_t i = 0; i < build->problem.row_count; i++) {
        build->row[i].has_compliance = compliance > 0.0;
        build->row[i].compliance = compliance;
    }
    add_feet(build, foot, 0.5);
    return foot;
}

// The same as one body.
static void add_rod(ProblemBuild *build, uint32_t count) {
    const double v_free[6] = {0.3, 0.0, -9.81 * 0.01, 0.0, 0.0, 0.0};
    double n = count, across = n * (1.01 / 12.0 + (n * n - 1.0) / 12.0); // Steiner
    uint32_t rod =
        problem_build_free(build, n, (Sym3){across, across, 0.005 * n, 0.0, 0.0, 0.0}, v_free);
    add_feet(build, rod, 0.5 * n);
}

static const struct { uint32_t rods, sweeps; } poles[] = {{5, 16}, {20, 26}, {100, 68}};
enum { POLES = sizeof(poles) / sizeof(poles[0]) };

// A pole that slides is the rod of its weight: the sums of what its feet push are the same, and the
// velocity of its foot. Sweeps are about those of the rod, 8 to 34, with as many to spare; contacts
// that know the lowest rod alone take 91, 408 and 6975.
START_TEST(a_pole_of_many_rods_slides_as_one) {
    ProblemBuild many, one;
    problem_build_init(&many);
    problem_build_init(&one);
    uint32_t foot = add_pole(&many, poles[_i].rods, 0.0);
    add_rod(&one, poles[_i].rods);
    SolveResult a = sweep(&many), b = sweep(&one);
    ck_assert_uint_le(a.iterations, poles[_i].sweeps);
    double weight = poles[_i].rods * 9.81 * 0.01;
    for (size_t k = 0; k < 3; k++) {
        double sum_a = 0.0, sum_b = 0.0;
        for (size_t i = 0; i < 4; i++) {
            sum_a += a.answer.contact_impulse[3 * i + k];
            sum_b += b.answer.contact_impulse[3 * i + k];
        }
        // both leave 1e-6 of V = 0.3 m/s, which a foot feels with some tenths of the pole's mass
        ck_assert_double_eq_tol(sum_a, sum_b, 1e-4 * weight);
    }
    double u[3], w[3];
    problem_contact_velocity(&many.problem, 0, a.answer.v, u);
    problem_contact_velocity(&one.problem, 0, b.answer.v, w);
    for (int k = 0; k < 3; k++) {
        ck_assert_double_eq_tol(u[k], w[k], 1e-5);
    }
    ck_assert_uint_eq(foot, 0);
    problem_build_deinit(&many);
    problem_build_deinit(&one);
}
END_TEST

// What sweeps leave is where the next solve starts: its impulses, of contacts and joints, say the
// same.
START_TEST(a_pole_goes_on_from_its_own_impulses) {
    ProblemBuild build;
    problem_build_init(&build);
    add_pole(&build, 12, _i == 0 ? 0.0 : 1e-3);
    SolveResult first = sweep(&build);
    build.problem.warm_contact = first.answer.contact_impulse;
    build.problem.warm_row = first.answer.row_impulse;
    SolveResult again = sweep(&build);
    ck_assert_uint_le(again.iterations, 3);
    problem_build_deinit(&build);
}
END_TEST

// Joints that give way: what is pushed through them goes as their compliance lets it, and the
// certificate, which is made from impulses alone, finds the joints' law met.
START_TEST(a_springy_pole_is_solved_in_a_few_sweeps) {
    ProblemBuild build;
    problem_build_init(&build);
    add_pole(&build, 20, 1e-3);
    SolveResult result = sweep(&build);
    ck_assert_uint_le(result.iterations, 40);
    ck_assert_double_le(result.certificate.entry[CERTIFICATE_ROW], 1e-6);
    problem_build_deinit(&build);
}
END_TEST

// ---- when it is worth it

static uint32_t count_reached(ProblemBuild *build) {
    Context context = {0};
    SolveResult result;
    Error error;
    Judge judge;
    MdpPack pack;
    ck_assert_int_eq(judge_begin(&judge, &build->problem, RELATION_CONE, 1e-6, false, &context,
                                 &build->arena, &result, &error),
                     STATUS_OK);
    ck_assert_int_eq(mdp_pack_begin(&judge, false, &pack), STATUS_OK);
    ck_assert_int_eq(judge_survey(&judge, mdp_pack_survey, &pack), STATUS_OK);
    ck_assert_int_eq(mdp_pack_end(&judge, &pack), STATUS_OK);
    uint32_t reached = 0;
    for (uint32_t i = 0; i < build->problem.contact_count; i++) {
        reached += pack.kind[i] == MDP_WIDE ? pack.wide[pack.slot[i]].more_count : 0;
    }
    return reached;
}

START_TEST(feet_reach_the_whole_pole) {
    ProblemBuild build;
    problem_build_init(&build);
    add_pole(&build, 10, 0.0);
    ck_assert_uint_eq(count_reached(&build), 4 * 10);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(contacts_all_along_a_chain_reach_their_own_body) {
    ProblemBuild build;
    problem_build_init(&build);
    uint32_t first = chain_build_rods(&build, 10, vec3(1.0, 0.0, 0.0), false, 1);
    for (uint32_t i = first; i < first + 10; i++) {
        problem_build_side(problem_build_contact(&build, up, 0.5, 0.0), 1, i,
                           vec3(0.3, 0.0, -0.05));
    }
    ck_assert_uint_eq(count_reached(&build), 0);
    problem_build_deinit(&build);
}
END_TEST

static TCase *case_reach(void) {
    TCase *tcase = tcase_create("reach");
    tcase_add_loop_test(tcase, a_pole_of_many_rods_slides_as_one, 0, POLES);
    tcase_add_loop_test(tcase, a_pole_goes_on_from_its_own_impulses, 0, 2);
    tcase_add_test(tcase, a_springy_pole_is_solved_in_a_few_sweeps);
    tcase_add_test(tcase, feet_reach_the_whole_pole);
    tcase_add_test(tcase, contacts_all_along_a_chain_reach_their_own_body);
    return tcase;
}

SUITE_MAIN("solve/mdp_reach", case_reach)
