// SPDX-License-Identifier: MIT
// Responses of rows over two dense trees, wherever the batch that solves four of one tree at a time
// ends: before the row, within it, or full as it comes. By single solves, and by M times what came
// out.
#include "solve/mass.h"

#include "solve/dense/columns.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

// Some that fours factor, some that are solved one by one; one after the other, and all at once.
static const uint32_t widths[] = {6, 17, 23, 64, 66};
enum { TREES = 5, PAIRS = TREES * (TREES - 1), LEADS = 2 * DENSE_COLUMNS + 2, WIDEST = 66 };

typedef struct Rows {
    ProblemBuild build;
    ProblemMass mass;
    uint64_t state;
} Rows;

static void open_rows(Rows *rows) {
    rows->state = 77;
    problem_build_init(&rows->build);
    double mass[WIDEST * WIDEST], v_free[WIDEST] = {0};
    for (int i = 0; i < TREES; i++) {
        problem_build_random_mass(&rows->state, widths[i], 0.1, mass);
        problem_build_dense(&rows->build, widths[i], mass, v_free);
    }
}

static void add_block(Rows *rows, uint32_t tree) {
    double jacobian[WIDEST];
    for (uint32_t k = 0; k < widths[tree]; k++) {
        jacobian[k] = problem_build_random(&rows->state);
    }
    problem_build_block(&rows->build, tree, jacobian);
}

static void add_row(Rows *rows, uint32_t a, uint32_t b) {
    problem_build_row(&rows->build, 0.0, 1.0, 0.0);
    add_block(rows, a);
    if (b != a) {
        add_block(rows, b);
    }
}

// As one solve makes it, to the bit; and M times it is what was asked for.
static void check_block(const Rows *rows, const RowBlock *block, const MassResponse *response) {
    const ContactProblem *problem = &rows->build.problem;
    const uint32_t width = problem->tree[block->tree].width;
    const double *jacobian = problem->number + block->jacobian;
    double alone[WIDEST], back[WIDEST], square = 0.0;
    memcpy(alone, jacobian, width * sizeof(double));
    mass_dense_solve(&rows->mass, block->tree, alone);
    ck_assert_ptr_nonnull(response->number);
    ck_assert_mem_eq(response->number, alone, width * sizeof(double));
    mass_dense_multiply(&rows->mass, block->tree, response->number, back);
    for (uint32_t k = 0; k < width; k++) {
        // eigenvalues from 0.1 on, and at most as many as its width times its numbers
        ck_assert_double_eq_tol(back[k], jacobian[k], 1e-10);
        square += jacobian[k] * response->number[k];
    }
    ck_assert_double_eq_tol(response->square, square, 1e-10 * square);
}

static void check_rows(Rows *rows) {
    const ContactProblem *problem = &rows->build.problem;
    uint32_t row[64];
    MassResponse response[128];
    double scratch[WIDEST];
    ck_assert_uint_le(problem->row_count, 64);
    for (uint32_t i = 0; i < problem->row_count; i++) {
        row[i] = i;
    }
    memset(response, 0xff, sizeof(response));
    Error error;
    ck_assert_int_eq(mass_init(&rows->mass, problem, NULL, &rows->build.arena, &error), STATUS_OK);
    ck_assert(
        mass_respond_rows(&rows->mass, row, problem->row_count, response, &rows->build.arena));
    for (uint32_t i = 0; i < problem->row_count; i++) {
        const ProblemRow *r = &problem->row[i];
        double weight = 0.0;
        for (uint32_t b = r->block_first; b < r->block_first + r->block_count; b++) {
            check_block(rows, &problem->row_block[b], &response[b]);
            weight += response[b].square;
        }
        ck_assert_double_eq(mass_row_weight(&rows->mass, i, scratch), weight);
    }
}

// None to ten rows of the first tree, then a row over both, and some of either.
START_TEST(a_row_over_two_trees_responds_wherever_a_batch_ends) {
    const uint32_t a = (uint32_t)_i / (TREES - 1), other = (uint32_t)_i % (TREES - 1),
                   b = other + (other >= a);
    for (uint32_t lead = 0; lead < LEADS; lead++) {
        Rows rows;
        open_rows(&rows);
        for (uint32_t i = 0; i < lead; i++) {
            add_row(&rows, a, a);
        }
        add_row(&rows, a, b);
        add_row(&rows, a, b);
        for (uint32_t i = 0; i < lead; i++) {
            add_row(&rows, b, b);
        }
        add_row(&rows, b, a);
        add_row(&rows, a, a);
        check_rows(&rows);
        problem_build_deinit(&rows.build);
    }
}
END_TEST

START_TEST(rows_over_any_two_trees_respond_one_after_the_other) {
    Rows rows;
    open_rows(&rows);
    for (int i = 0; i < 60; i++) {
        const uint32_t a = (uint32_t)(fabs(problem_build_random(&rows.state)) * TREES),
                       b = (uint32_t)(fabs(problem_build_random(&rows.state)) * TREES);
        add_row(&rows, a, b);
    }
    check_rows(&rows);
    problem_build_deinit(&rows.build);
}
END_TEST

static TCase *case_batches(void) {
    TCase *tcase = tcase_create("batches");
    tcase_add_loop_test(tcase, a_row_over_two_trees_responds_wherever_a_batch_ends, 0, PAIRS);
    tcase_add_test(tcase, rows_over_any_two_trees_respond_one_after_the_other);
    return tcase;
}

SUITE_MAIN("solve/mass_batches", case_batches)
