// SPDX-License-Identifier: MIT
#include "solve/mass.h"

#include "solve/dense/dense.h"
#include "solve/problem_valid.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

// four bodies, twelve contacts, and the same with dense trees
typedef struct Twins {
    ProblemBuild free, dense;
    ProblemMass free_mass, dense_mass;
    uint64_t state;
} Twins;

static void twins_init(Twins *twins) {
    twins->state = 3;
    problem_build_init(&twins->free);
    problem_build_init(&twins->dense);
    problem_build_random_bodies(&twins->free, &twins->state, 4, 12);
    problem_build_densify(&twins->free.problem, &twins->dense);
    Error error;
    ck_assert_int_eq(
        mass_init(&twins->free_mass, &twins->free.problem, NULL, &twins->free.arena, &error),
        STATUS_OK);
    ck_assert_int_eq(
        mass_init(&twins->dense_mass, &twins->dense.problem, NULL, &twins->dense.arena, &error),
        STATUS_OK);
    for (uint32_t i = 0; i < twins->free.problem.contact_count; i++) {
        mass_add_contact(&twins->free_mass, i);
        mass_add_contact(&twins->dense_mass, i);
    }
}

static void twins_deinit(Twins *twins) {
    problem_build_deinit(&twins->free);
    problem_build_deinit(&twins->dense);
}

START_TEST(multiplying_and_solving_undo_each_other) {
    Twins twins;
    twins_init(&twins);
    for (int form = 0; form < 2; form++) {
        const ProblemMass *mass = form == 0 ? &twins.free_mass : &twins.dense_mass;
        double v[24], p[24];
        for (int k = 0; k < 24; k++) {
            v[k] = problem_build_random(&twins.state);
        }
        for (uint32_t i = 0; i < 4; i++) {
            mass_dense_multiply(&twins.dense_mass, i, v + (size_t)6 * i, p + (size_t)6 * i);
        }
        mass_solve(mass, p);
        for (int k = 0; k < 24; k++) {
            // inertias have a condition number below 10 / 0.2
            ck_assert_double_eq_tol(p[k], v[k], 1e-13);
        }
    }
    twins_deinit(&twins);
}
END_TEST

START_TEST(a_body_has_the_same_matrix_in_both_forms) {
    Twins twins;
    twins_init(&twins);
    for (uint32_t i = 0; i < 4; i++) {
        double free[36], dense[36];
        mass_tree_matrix(&twins.free_mass, i, free);
        mass_tree_matrix(&twins.dense_mass, i, dense);
        ck_assert_mem_eq(free, dense, sizeof(free));
    }
    twins_deinit(&twins);
}
END_TEST

START_TEST(blocks_of_free_and_dense_trees_agree_with_unit_impulses) {
    Twins twins;
    twins_init(&twins);
    for (uint32_t i = 0; i < 12; i++) {
        const MassBlock *of = mass_contact_block(&twins.free_mass, i);
        const MassBlock *at = mass_contact_block(&twins.dense_mass, i);
        const double block[9] = {of->nn, of->nt, of->no, of->nt, of->tt,
                                 of->to, of->no, of->to, of->oo};
        const double dense[9] = {at->nn, at->nt, at->no, at->nt, at->tt,
                                 at->to, at->no, at->to, at->oo};
        for (size_t k = 0; k < 3; k++) {
            // column k is the velocity that a unit impulse makes
            double p[24] = {0.0}, u[3];
            const double unit[3] = {k == 0, k == 1, k == 2};
            problem_contact_momentum(&twins.free.problem, i, unit, p);
            mass_solve(&twins.free_mass, p);
            problem_contact_product(&twins.free.problem, i, p, u);
            for (size_t l = 0; l < 3; l++) {
                ck_assert_double_eq_tol(block[3 * l + k], u[l], 1e-13);
                ck_assert_double_eq_tol(block[3 * l + k], dense[3 * l + k], 1e-13);
            }
        }
    }
    twins_deinit(&twins);
}
END_TEST

// Where a tree that is not free may be among them contacts are made one by one, else four at once,
// round bodies beside others, and the last one by one.
START_TEST(blocks_of_free_bodies_have_the_same_bits_however_they_are_made) {
    Twins twins;
    twins_init(&twins);
    ContactProblem again = twins.free.problem;
    again.all_free = _i > 0;
    ProblemMass mass;
    ck_assert_int_eq(mass_init(&mass, &again, NULL, &twins.free.arena, NULL), STATUS_OK);
    const uint32_t first = _i == 0 ? 0 : (uint32_t)_i - 1;
    uint32_t all[12];
    for (uint32_t i = 0; i < 12; i++) {
        all[i] = (first + i) % 12; // beside others, and others are the last
    }
    mass_add_contacts(&mass, all, 11);
    mass_add_contact(&mass, all[11]);
    for (uint32_t i = 0; i < 12; i++) {
        ck_assert_mem_eq(mass_contact_block(&mass, i), mass_contact_block(&twins.free_mass, i),
                         sizeof(MassBlock));
    }
    twins_deinit(&twins);
}
END_TEST

START_TEST(a_row_weighs_what_a_unit_impulse_moves) {
    Twins twins;
    twins_init(&twins);
    double jacobian[2][6], p[24] = {0.0}, scratch[6];
    for (int k = 0; k < 12; k++) {
        jacobian[k / 6][k % 6] = problem_build_random(&twins.state);
    }
    problem_build_row(&twins.free, 0.0, 1.0, 0.0);
    problem_build_block(&twins.free, 1, jacobian[0]);
    problem_build_block(&twins.free, 3, jacobian[1]);
    const ContactProblem *problem = &twins.free.problem;
    ck_assert_int_eq(mass_init(&twins.free_mass, problem, NULL, &twins.free.arena, NULL),
                     STATUS_OK);
    problem_row_momentum(&twins.free.problem, 0, 1.0, p);
    mass_solve(&twins.free_mass, p);
    double moved = problem_row_product(&twins.free.problem, 0, p);
    ck_assert_double_gt(moved, 0.0);
    ck_assert_double_eq_tol(mass_row_weight(&twins.free_mass, 0, scratch), moved, 1e-13 * moved);
    twins_deinit(&twins);
}
END_TEST

// Rows of one tree one after the other, more than are solved together; of two trees; of another.
START_TEST(rows_respond_alike_alone_and_together) {
    static const uint32_t tree[8][2] = {{1, 1}, {1, 1}, {1, 1}, {1, 1},
                                        {1, 1}, {0, 2}, {2, 2}, {1, 1}};
    Twins twins;
    twins_init(&twins);
    for (int form = 0; form < 2; form++) {
        ProblemBuild *build = form == 0 ? &twins.free : &twins.dense;
        for (uint32_t row = 0; row < 8; row++) {
            problem_build_row(build, 0.0, 1.0, 0.0);
            for (uint32_t b = 0; b < (tree[row][0] == tree[row][1] ? 1u : 2u); b++) {
                double jacobian[6];
                for (int k = 0; k < 6; k++) {
                    jacobian[k] = problem_build_random(&twins.state);
                }
                problem_build_block(build, tree[row][b], jacobian);
            }
        }
        const ContactProblem *problem = &build->problem;
        const uint32_t row[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        ProblemMass alone;
        MassResponse response[9]; // of blocks
        double scratch[6], solved[24];
        ck_assert_int_eq(mass_init(&alone, problem, NULL, &build->arena, NULL), STATUS_OK);
        ck_assert(mass_respond_rows(&alone, row, 8, response, &build->arena));
        for (uint32_t i = 0; i < 8; i++) {
            memset(solved, 0, sizeof(solved));
            problem_row_momentum(problem, i, 1.0, solved);
            mass_solve(&alone, solved);
            const ProblemRow *r = &problem->row[i];
            if (form == 0) {
                ck_assert_ptr_null(response[r->block_first].number);
                continue;
            }
            if (r->block_count == 1) {
                ck_assert_double_eq(response[r->block_first].square,
                                    mass_row_weight(&alone, i, scratch));
            }
            for (uint32_t b = r->block_first; b < r->block_first + r->block_count; b++) {
                ck_assert_mem_eq(response[b].number,
                                 solved + problem_first(problem, problem->row_block[b].tree),
                                 6 * sizeof(double));
            }
        }
    }
    twins_deinit(&twins);
}
END_TEST

// A step has factored its trees before it asks a solver.
START_TEST(a_factor_that_is_given_is_taken_and_no_other) {
    Twins twins;
    twins_init(&twins);
    ContactProblem given = twins.dense.problem;
    static double factor[PROBLEM_BUILD_NUMBERS];
    ProblemTree tree[4];
    memcpy(tree, given.tree, sizeof(tree));
    given.tree = tree;
    given.factor = factor;
    for (uint32_t i = 0; i < 4; i++) {
        tree[i].is_factored = i != 2;
        ck_assert(dense_factor(6, given.number + tree[i].mass, -HUGE_VAL, factor + tree[i].mass));
    }
    Defect defect;
    ck_assert(problem_is_valid(&given, &defect));
    factor[tree[1].mass] = NAN; // what is not surely positive definite is factored here
    Error error;
    ProblemMass mass;
    ck_assert_int_eq(mass_init(&mass, &given, NULL, &twins.dense.arena, &error), STATUS_OK);
    ck_assert_ptr_eq(mass.factor[0], factor + tree[0].mass);
    ck_assert_ptr_eq(mass.factor[3], factor + tree[3].mass);
    ck_assert(mass.factor[1] != factor + tree[1].mass && mass.factor[2] != factor + tree[2].mass);
    double p[24], same[24];
    for (int k = 0; k < 24; k++) {
        p[k] = same[k] = problem_build_random(&twins.state);
    }
    mass_solve(&mass, p);
    mass_solve(&twins.dense_mass, same);
    ck_assert_mem_eq(p, same, sizeof(p));
    factor[tree[0].mass] *= 1.0 + 1e-6; // of masses that have moved since
    ck_assert(!problem_is_valid(&given, &defect));
    twins_deinit(&twins);
}
END_TEST

START_TEST(an_arena_without_room_is_an_error_not_a_crash) {
    Twins twins;
    twins_init(&twins);
    Arena arena;
    arena_init(&arena, 64);
    Error error;
    ck_assert_int_eq(mass_init(&twins.dense_mass, &twins.dense.problem, NULL, &arena, &error),
                     STATUS_RESOURCE_EXHAUSTED);
    arena_deinit(&arena);
    twins_deinit(&twins);
}
END_TEST

static TCase *case_mass(void) {
    TCase *tcase = tcase_create("mass");
    tcase_add_test(tcase, multiplying_and_solving_undo_each_other);
    tcase_add_test(tcase, a_body_has_the_same_matrix_in_both_forms);
    tcase_add_test(tcase, blocks_of_free_and_dense_trees_agree_with_unit_impulses);
    tcase_add_loop_test(tcase, blocks_of_free_bodies_have_the_same_bits_however_they_are_made, 0,
                        5);
    tcase_add_test(tcase, a_row_weighs_what_a_unit_impulse_moves);
    tcase_add_test(tcase, rows_respond_alike_alone_and_together);
    tcase_add_test(tcase, a_factor_that_is_given_is_taken_and_no_other);
    tcase_add_test(tcase, an_arena_without_room_is_an_error_not_a_crash);
    return tcase;
}

SUITE_MAIN("solve/mass", case_mass)
