// SPDX-License-Identifier: MIT
#include "solve/newton/island.h"

#include "solve/judge.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

enum { SIZE_MAX_HERE = 64 };

// Bodies and a wide tree, joined by contacts and a row of three trees.
static void build_mixed(ProblemBuild *build, uint64_t *state) {
    problem_build_init(build);
    problem_build_random_bodies(build, state, 5, 9);
    double mass[49], v_free[7], row[7];
    problem_build_random_mass(state, 7, 0.3, mass);
    for (int k = 0; k < 7; k++) {
        v_free[k] = problem_build_random(state);
        row[k] = problem_build_random(state);
    }
    uint32_t wide = problem_build_dense(build, 7, mass, v_free);
    double jacobian[21];
    for (int k = 0; k < 21; k++) {
        jacobian[k] = problem_build_random(state);
    }
    ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.4, 0.1);
    problem_build_side(contact, 0, 1, vec3(0.1, 0.2, 0.3));
    problem_build_dense_side(build, contact, 1, wide, jacobian);
    problem_build_row(build, -1.0, 1.0, 0.2);
    for (uint32_t tree = 0; tree < 5; tree++) {
        problem_build_block(build, tree, row);
    }
    problem_build_block(build, wide, row);
}

typedef struct Laid {
    ProblemBuild build;
    Judge judge;
    Context context;
    SolveResult result;
    NewtonIsland island;
} Laid;

static void laid_init(Laid *laid, uint64_t *state) {
    build_mixed(&laid->build, state);
    const ContactProblem *problem = &laid->build.problem;
    Arena *arena = &laid->build.arena;
    ck_assert_int_eq(judge_begin(&laid->judge, problem, RELATION_CONE, 1e-6, false, &laid->context,
                                 arena, &laid->result, NULL),
                     STATUS_OK);
    ck_assert_int_eq(judge_survey(&laid->judge, NULL, NULL), STATUS_OK);
    // the row joins all
    ck_assert_uint_eq(laid->judge.islands.count, 1);
    ck_assert_int_eq(newton_island_init(&laid->island, problem, &laid->judge.mass,
                                        &laid->judge.islands, 0, RELATION_CONE,
                                        laid->judge.scale.v_scale[0], NULL, arena, NULL),
                     STATUS_OK);
}

START_TEST(products_and_momenta_are_those_of_the_problem) {
    uint64_t state = 41;
    static Laid laid;
    laid_init(&laid, &state);
    const NewtonIsland *n = &laid.island;
    const ContactProblem *problem = &laid.build.problem;
    ck_assert_uint_eq(n->velocity_count, problem->velocity_count);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double u[3], expected[3], p[SIZE_MAX_HERE] = {0.0}, q[SIZE_MAX_HERE] = {0.0};
        const double gamma[3] = {0.7, -0.4, 1.3};
        newton_product(n, c, problem->v_free, u);
        newton_momentum(n, c, gamma, p);
        if (c->rows == 3) {
            problem_contact_product(problem, c->index, problem->v_free, expected);
            problem_contact_momentum(problem, c->index, gamma, q);
        } else {
            expected[0] = problem_row_product(problem, c->index, problem->v_free);
            problem_row_momentum(problem, c->index, gamma[0], q);
        }
        for (uint32_t r = 0; r < c->rows; r++) {
            ck_assert_double_eq_tol(u[r], expected[r], 1e-14);
        }
        for (size_t k = 0; k < n->velocity_count; k++) {
            ck_assert_double_eq_tol(p[k], q[k], 1e-14);
        }
    }
    problem_build_deinit(&laid.build);
}
END_TEST

// x solves (M + J^T H J) x = b; then M x + J^T H J x is b.
START_TEST(the_matrix_is_that_of_masses_and_constraints) {
    uint64_t state = 43 + (uint64_t)_i;
    bool is_symmetric = _i == 0;
    static Laid laid;
    laid_init(&laid, &state);
    const NewtonIsland *n = &laid.island;
    LdltPlan plan;
    Ldlt ldlt;
    ck_assert_int_eq(ldlt_plan(&n->graph, LDLT_UNLIMITED, &laid.build.arena, &plan, NULL),
                     STATUS_OK);
    ck_assert_int_eq(ldlt_init(&ldlt, &plan, is_symmetric, &laid.build.arena, NULL), STATUS_OK);
    double b[SIZE_MAX_HERE], x[SIZE_MAX_HERE], product[SIZE_MAX_HERE];
    double h[16][9];
    newton_begin_matrix(n, &ldlt);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        for (int k = 0; k < 9; k++) {
            h[i][k] = (k % 4 == 0 ? 2.0 : 0.3) * (1.5 + problem_build_random(&state));
        }
        if (is_symmetric) {
            h[i][3] = h[i][1], h[i][6] = h[i][2], h[i][7] = h[i][5];
        }
        newton_add_matrix(n, &ldlt, &n->constraint[i], h[i]);
    }
    for (size_t k = 0; k < n->velocity_count; k++) {
        b[k] = x[k] = problem_build_random(&state);
    }
    ck_assert_int_eq(ldlt_factor(&ldlt, NULL), LDLT_FINITE);
    ldlt_solve(&ldlt, x);
    memset(product, 0, sizeof(product));
    for (uint32_t i = 0; i < n->tree_count; i++) {
        double matrix[49];
        size_t width = n->graph.width[i], at = n->velocity[i];
        mass_tree_matrix(n->mass, n->tree[i], matrix);
        for (size_t k = 0; k < width * width; k++) {
            product[at + k / width] += matrix[k] * x[at + k % width];
        }
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double u[3], push[3] = {0.0};
        newton_product(n, c, x, u);
        for (uint32_t r = 0; r < c->rows * c->rows; r++) {
            push[r / c->rows] += h[i][r] * u[r % c->rows];
        }
        newton_momentum(n, c, push, product);
    }
    for (size_t k = 0; k < n->velocity_count; k++) {
        ck_assert_double_eq_tol(product[k], b[k], 1e-11);
    }
    problem_build_deinit(&laid.build);
}
END_TEST

START_TEST(the_residual_is_the_certificates) {
    uint64_t state = 47;
    static Laid laid;
    laid_init(&laid, &state);
    const NewtonIsland *n = &laid.island;
    const Answer *answer = &laid.result.answer;
    double impulse[SIZE_MAX_HERE], v[SIZE_MAX_HERE];
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double *of = c->rows == 3 ? answer->contact_impulse + (size_t)3 * c->index
                                  : answer->row_impulse + c->index;
        for (uint32_t r = 0; r < c->rows; r++) {
            of[r] = impulse[c->first + r] = problem_build_random(&state);
        }
    }
    judge_islands(&laid.judge, 0, 0, 1);
    newton_velocities(n, impulse, v);
    double own = judge_own(&laid.judge, 0);
    ck_assert_double_gt(own, 0.01);
    ck_assert_double_eq_tol(newton_residual(n, impulse, v), own, 1e-13 * own);
    problem_build_deinit(&laid.build);
}
END_TEST

static TCase *case_island(void) {
    TCase *tcase = tcase_create("island");
    tcase_add_test(tcase, products_and_momenta_are_those_of_the_problem);
    tcase_add_loop_test(tcase, the_matrix_is_that_of_masses_and_constraints, 0, 2);
    tcase_add_test(tcase, the_residual_is_the_certificates);
    return tcase;
}

SUITE_MAIN("solve/newton_island", case_island)
