// SPDX-License-Identifier: MIT
#include "solve/idle.h"

#include "solve/solver.h"
#include "support/problem_build.h"
#include "support/problem_file.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

static const Vec3 up = {0.0, 0.0, 1.0};

// Two contacts that move something; the second is on a rail, and cannot slide.
static void build_moved(ProblemBuild *build) {
    const double mass[4] = {1.0, 0.2, 0.2, 2.0}, v_free[2] = {-0.3, 0.8};
    const double whole[6] = {0.6, 0.6, -0.2, 1.3, -1.2, 1.3}, rail[6] = {-0.7, 0.1};
    problem_build_init(build);
    const uint32_t tree = problem_build_dense(build, 2, mass, v_free);
    ProblemContact *first = problem_build_contact(build, up, 0.8, 0.0);
    problem_build_dense_side(build, first, 1, tree, whole);
    first->motion[1] = 0.9;
    problem_build_dense_side(build, problem_build_contact(build, up, 0.5, 0.0), 1, tree, rail);
    problem_build_row(build, -0.1, 0.1, 0.2);
    problem_build_block(build, tree, (const double[]){0.3, 1.0});
}

// Behind these what can move nothing: an overlap that should leave, of zeros; one that only slides;
// a row that asks for a speed.
static void add_idle(ProblemBuild *build) {
    const double zeros[6] = {0.0}, slides[6] = {0.0, 0.0, 1.0, 0.5, -0.4, 0.2};
    ProblemContact *still = problem_build_contact(build, up, 0.5, -0.6);
    problem_build_dense_side(build, still, 1, 0, zeros);
    still->gap = -0.006;
    ProblemContact *sliding = problem_build_contact(build, up, 0.5, -0.4);
    problem_build_dense_side(build, sliding, 0, 0, slides);
    sliding->gap = -0.004;
    problem_build_row(build, -HUGE_VAL, HUGE_VAL, 3.0);
    problem_build_block(build, 0, zeros);
}

static void stiffen(ProblemBuild *build) {
    for (uint32_t i = 0; i < build->problem.contact_count; i++) {
        build->law[i].stiffness = PROBLEM_INFINITE_STIFFNESS;
    }
    for (uint32_t i = 0; i < build->problem.row_count; i++) {
        build->row[i].stiffness = PROBLEM_INFINITE_STIFFNESS;
    }
}

static void solve(SolverKind kind, ProblemBuild *build, Arena *arena, SolveResult *result) {
    const SolverSettings settings =
        solver_default(kind); // compliant has a stiffness for those without
    Error error = {0};
    stiffen(build);
    ck_assert_msg(solver_solve(&settings, &build->problem, &(Context){0}, arena, result, &error) ==
                      STATUS_OK,
                  "%s", error.message);
    ck_assert(result->certificate.converged);
}

// The interior point of ccp ended in numbers that are not finite.
START_TEST(a_contact_of_zeros_beside_a_belt_is_left_out) {
    ProblemFile file;
    Arena arena;
    SolveResult result;
    Error error = {0};
    SolverSettings settings = solver_solve_default((SolverKind)_i);
    if ((SolverKind)_i == SOLVER_COMPLIANT) {
        ck_assert_int_eq(solver_set(&settings, "stiffness_default", 1e9, &error), STATUS_OK);
    }
    problem_file_open(&file, "zero-jacobian");
    arena_init(&arena, (size_t)1 << 26);
    ck_assert_msg(solver_solve(&settings, &file.problem, &(Context){0}, &arena, &result, &error) ==
                      STATUS_OK,
                  "%s", error.message);
    ck_assert(result.certificate.converged);
    ck_assert_uint_eq(result.idle, 1);
    arena_deinit(&arena);
    problem_file_close(&file);
}
END_TEST

// The answer of the rest is that of the rest alone, to the bit; what is idle bears nothing, and its
// overlap is told.
START_TEST(what_moves_nothing_is_left_out_by_every_solver) {
    ProblemBuild build, alone;
    Arena arena;
    SolveResult whole, rest;
    arena_init(&arena, (size_t)1 << 26);
    build_moved(&alone);
    build_moved(&build);
    add_idle(&build);
    solve((SolverKind)_i, &alone, &arena, &rest);
    solve((SolverKind)_i, &build, &arena, &whole);
    ck_assert_uint_eq(rest.idle, 0);
    ck_assert_uint_eq(whole.idle, 3);
    ck_assert_mem_eq(whole.answer.v, rest.answer.v, 2 * sizeof(double));
    ck_assert_mem_eq(whole.answer.contact_impulse, rest.answer.contact_impulse, 6 * sizeof(double));
    for (int k = 6; k < 12; k++) {
        ck_assert_double_eq(whole.answer.contact_impulse[k], 0.0);
    }
    ck_assert_double_eq(whole.answer.row_impulse[0], rest.answer.row_impulse[0]);
    ck_assert_double_eq(whole.answer.row_impulse[1], 0.0);
    ck_assert_double_eq(whole.certificate.penetration, 0.006);
    arena_deinit(&arena);
    problem_build_deinit(&alone);
    problem_build_deinit(&build);
}
END_TEST

// A spring presses whatever moves: a contact with one that can slide is in the problem of solvers
// that have springs, unless it has no friction to slide by; so is nothing that moves a free body.
START_TEST(a_spring_presses_what_slides) {
    ProblemBuild build;
    build_moved(&build);
    add_idle(&build);
    ContactLaw law = {.stiffness = 1e5};
    const ProblemContact *contact = build.contact;
    for (int has_springs = 0; has_springs < 2; has_springs++) {
        ck_assert(!idle_is_contact(&build.problem, &contact[0], &law, has_springs));
        ck_assert(!idle_is_contact(&build.problem, &contact[1], &law, has_springs));
        ck_assert(idle_is_contact(&build.problem, &contact[2], &law, has_springs));
        ck_assert(idle_is_contact(&build.problem, &contact[3], &law, has_springs) == !has_springs);
    }
    build.contact[3].mu = 0.0;
    ck_assert(idle_is_contact(&build.problem, &contact[3], &law, true));
    build.contact[3].mu = 0.5;
    law.stiffness = PROBLEM_INFINITE_STIFFNESS;
    ck_assert(idle_is_contact(&build.problem, &contact[3], &law, true));
    const double v_free[6] = {0.0};
    const Sym3 inertia = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0};
    const uint32_t ball = problem_build_free(&build, 1.0, inertia, v_free);
    problem_build_side(&build.contact[3], 1, ball, vec3(0.0, 0.0, -1.0));
    ck_assert(!idle_is_contact(&build.problem, &contact[3], &law, true));
    problem_build_deinit(&build);
}
END_TEST

static TCase *case_idle(void) {
    TCase *tcase = tcase_create("idle");
    tcase_add_loop_test(tcase, what_moves_nothing_is_left_out_by_every_solver, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_contact_of_zeros_beside_a_belt_is_left_out, 0, SOLVER_COUNT);
    tcase_add_test(tcase, a_spring_presses_what_slides);
    return tcase;
}

SUITE_MAIN("solve/idle", case_idle)
