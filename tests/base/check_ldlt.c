// SPDX-License-Identifier: MIT
#include "base/ldlt.h"

#include "support/graph_build.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <math.h>
#include <stdlib.h>

// A random matrix with the graph's pattern, sparse and dense, and its factor.
typedef struct System {
    GraphBuild build;
    Arena arena;
    LdltPlan plan;
    Ldlt ldlt;
    double *dense; // size x size, row by row
    double *right, *solution;
} System;

static System *system_create(GraphShape shape, uint32_t vertices, uint32_t width, uint64_t *state) {
    System *s = calloc(1, sizeof(*s));
    ck_assert_ptr_nonnull(s);
    graph_build(&s->build, shape, vertices, width, state);
    arena_init(&s->arena, 1u << 28);
    ck_assert_int_eq(ldlt_plan(&s->build.graph, LDLT_UNLIMITED, &s->arena, &s->plan, NULL),
                     STATUS_OK);
    size_t size = s->plan.size;
    s->dense = calloc(size * size, sizeof(double));
    s->right = calloc(size, sizeof(double));
    s->solution = calloc(size, sizeof(double));
    ck_assert(s->dense != NULL && s->right != NULL && s->solution != NULL);
    return s;
}

static void system_destroy(System *s) {
    arena_deinit(&s->arena);
    free(s->dense);
    free(s->right);
    free(s->solution);
    free(s);
}

static void add_dense(System *s, uint32_t a, uint32_t b, const double *block) {
    const uint32_t *width = s->build.width;
    for (size_t i = 0; i < width[a]; i++) {
        for (size_t j = 0; j < width[b]; j++) {
            s->dense[(s->plan.offset[a] + i) * s->plan.size + s->plan.offset[b] + j] +=
                block[i * width[b] + j];
        }
    }
}

// Diagonals are larger than what is beside them, so that the matrix is definite.
static void fill(System *s, bool is_symmetric, uint64_t *state) {
    const Graph *graph = &s->build.graph;
    memset(s->dense, 0, (size_t)s->plan.size * s->plan.size * sizeof(double));
    ldlt_clear(&s->ldlt);
    double block[49], opposite[49];
    for (size_t e = 0; e < graph->edge_count; e++) {
        uint32_t a = graph->end[2 * e], b = graph->end[2 * e + 1];
        size_t rows = graph->width[a], columns = graph->width[b];
        for (size_t k = 0; k < rows * columns; k++) {
            block[k] = problem_build_random(state);
            size_t transposed = (k % columns) * rows + k / columns;
            opposite[transposed] = is_symmetric ? block[k] : problem_build_random(state);
        }
        ldlt_add_edge(&s->ldlt, e, block, is_symmetric ? NULL : opposite);
        add_dense(s, a, b, block);
        add_dense(s, b, a, opposite);
    }
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        size_t width = graph->width[v], first = s->plan.offset[v];
        for (size_t i = 0; i < width; i++) {
            for (size_t j = 0; j < width; j++) {
                block[i * width + j] = problem_build_random(state);
                if (is_symmetric && j < i) {
                    block[i * width + j] = block[j * width + i];
                }
            }
            double sum = 7.0;
            for (size_t k = 0; k < s->plan.size; k++) {
                sum += fabs(s->dense[(first + i) * s->plan.size + k]);
            }
            block[i * width + i] = sum;
        }
        ldlt_add_vertex(&s->ldlt, v, block);
        add_dense(s, v, v, block);
    }
    for (size_t i = 0; i < s->plan.size; i++) {
        s->right[i] = s->solution[i] = problem_build_random(state);
    }
}

static double residual(const System *s) {
    double worst = 0.0;
    for (size_t i = 0; i < s->plan.size; i++) {
        double sum = -s->right[i], size = 1.0;
        for (size_t j = 0; j < s->plan.size; j++) {
            double term = s->dense[i * s->plan.size + j] * s->solution[j];
            sum += term;
            size += fabs(term);
        }
        worst = fmax(worst, fabs(sum) / size);
    }
    return worst;
}

static void make(System *s, bool is_symmetric) {
    ck_assert_int_eq(ldlt_init(&s->ldlt, &s->plan, is_symmetric, &s->arena, NULL), STATUS_OK);
}

static void solve(System *s) {
    ck_assert_int_eq(ldlt_factor(&s->ldlt, NULL), LDLT_FINITE);
    ck_assert_uint_eq(s->ldlt.replaced, 0);
    ldlt_solve(&s->ldlt, s->solution);
}

START_TEST(every_shape_is_solved) {
    GraphShape shape = (GraphShape)(_i / 2);
    bool is_symmetric = _i % 2 == 0;
    uint64_t state = 21 + (uint64_t)_i;
    const uint32_t width[] = {0, 6, 3, 1};
    for (uint32_t round = 0; round < 8; round++) {
        System *s = system_create(shape, 3 + 9 * round, width[round % 4], &state);
        make(s, is_symmetric);
        // a plan is good for more than one matrix
        for (int again = 0; again < 2; again++) {
            fill(s, is_symmetric, &state);
            solve(s);
            // some hundred roundings of a matrix with a dominant diagonal
            ck_assert_double_le(residual(s), 1e-13);
        }
        system_destroy(s);
    }
}
END_TEST

// The sign of the determinant of a dense matrix, which is lost: by elimination with the largest
// pivots.
static int dense_sign(double *a, size_t size) {
    int sign = 1;
    for (size_t k = 0; k < size; k++) {
        size_t largest = k;
        for (size_t i = k + 1; i < size; i++) {
            largest = fabs(a[i * size + k]) > fabs(a[largest * size + k]) ? i : largest;
        }
        for (size_t j = 0; j < size; j++) {
            double number = a[k * size + j];
            a[k * size + j] = a[largest * size + j];
            a[largest * size + j] = number;
        }
        sign = largest == k ? sign : -sign;
        sign = a[k * size + k] < 0.0 ? -sign : sign;
        for (size_t i = k + 1; i < size; i++) {
            double share = a[i * size + k] / a[k * size + k];
            for (size_t j = k; j < size; j++) {
                a[i * size + j] -= share * a[k * size + j];
            }
        }
    }
    return sign;
}

START_TEST(the_sign_of_the_determinant_is_known) {
    uint64_t state = 41;
    int negative = 0;
    for (int round = 0; round < 40; round++) {
        System *s = system_create(GRAPH_CHAIN, 6, 0, &state);
        ck_assert_int_eq(ldlt_init(&s->ldlt, &s->plan, false, &s->arena, NULL), STATUS_OK);
        fill(s, false, &state);
        // numbers that are no longer larger than all beside them
        for (uint32_t v = 0; v < s->build.graph.vertex_count; v++) {
            double block[49] = {0.0};
            size_t width = s->build.width[v];
            for (size_t i = 0; i < width; i++) {
                block[i * width + i] = 14.0 * (problem_build_random(&state) - 1.0);
            }
            ldlt_add_vertex(&s->ldlt, v, block);
            add_dense(s, v, v, block);
        }
        ck_assert_int_eq(ldlt_factor(&s->ldlt, NULL), LDLT_FINITE);
        int sign = ldlt_sign(&s->ldlt);
        negative += sign < 0;
        ck_assert_int_eq(sign, dense_sign(s->dense, s->plan.size));
        system_destroy(s);
    }
    ck_assert_int_gt(negative, 5);
    ck_assert_int_lt(negative, 35);
}
END_TEST

START_TEST(rows_are_exchanged_within_a_block) {
    // [[0, 1], [1, 0]] has no pivot of its own
    static const uint32_t width[] = {2};
    const Graph graph = {.vertex_count = 1, .width = width};
    const double block[] = {0.0, 1.0, 2.0, 0.0};
    Arena arena;
    LdltPlan plan;
    Ldlt ldlt;
    arena_init(&arena, 1u << 20);
    ck_assert_int_eq(ldlt_plan(&graph, LDLT_UNLIMITED, &arena, &plan, NULL), STATUS_OK);
    ck_assert_int_eq(ldlt_init(&ldlt, &plan, false, &arena, NULL), STATUS_OK);
    ldlt_clear(&ldlt);
    ldlt_add_vertex(&ldlt, 0, block);
    ck_assert_int_eq(ldlt_factor(&ldlt, NULL), LDLT_FINITE);
    ck_assert_uint_eq(ldlt.replaced, 0);
    double x[] = {3.0, 4.0};
    ldlt_solve(&ldlt, x);
    ck_assert_double_eq(x[0], 2.0);
    ck_assert_double_eq(x[1], 3.0);
    arena_deinit(&arena);
}
END_TEST

START_TEST(a_pivot_that_is_rounding_is_replaced) {
    bool is_symmetric = _i == 0;
    static const uint32_t width[] = {2};
    const Graph graph = {.vertex_count = 1, .width = width};
    // rank 1
    const double block[] = {1.0, 2.0, 2.0, 4.0};
    Arena arena;
    LdltPlan plan;
    Ldlt ldlt;
    arena_init(&arena, 1u << 20);
    ck_assert_int_eq(ldlt_plan(&graph, LDLT_UNLIMITED, &arena, &plan, NULL), STATUS_OK);
    ck_assert_int_eq(ldlt_init(&ldlt, &plan, is_symmetric, &arena, NULL), STATUS_OK);
    ldlt_clear(&ldlt);
    ldlt_add_vertex(&ldlt, 0, block);
    ck_assert_int_eq(ldlt_factor(&ldlt, NULL), LDLT_FINITE);
    ck_assert_uint_eq(ldlt.replaced, 1);
    double x[] = {1.0, 2.0};
    ldlt_solve(&ldlt, x);
    ck_assert_double_eq_tol(x[0] + 2.0 * x[1], 1.0, 1e-15);
    arena_deinit(&arena);
}
END_TEST

START_TEST(what_is_not_finite_is_reported) {
    uint64_t state = 4;
    System *s = system_create(GRAPH_GRID, 25, 6, &state);
    make(s, _i % 2 == 0);
    fill(s, _i % 2 == 0, &state);
    double block[36] = {0.0};
    block[14] = _i / 2 == 0 ? NAN : HUGE_VAL;
    ldlt_add_vertex(&s->ldlt, 7, block);
    ck_assert_int_eq(ldlt_factor(&s->ldlt, NULL), LDLT_NOT_FINITE);
    system_destroy(s);
}
END_TEST

// ---- fill

START_TEST(a_chain_does_not_fill) {
    uint64_t state = 8;
    System *s = system_create(GRAPH_CHAIN, 40, 6, &state);
    ck_assert_uint_eq(s->plan.fill, 40 * 21 + 39 * 36);
    system_destroy(s);
    s = system_create(GRAPH_ARROW, 40, 3, &state);
    ck_assert_uint_eq(s->plan.fill, 40 * 6 + 39 * 9);
    system_destroy(s);
}
END_TEST

START_TEST(a_grid_fills_no_more_than_nested_dissection_would) {
    // 31/4 n log2(side) + O(n) numbers (George 1973); 64 x 64
    static GraphBuild build;
    uint64_t state = 8;
    graph_build(&build, GRAPH_GRID, 4096, 1, &state);
    Arena arena;
    LdltPlan plan;
    arena_init(&arena, 1u << 26);
    ck_assert_int_eq(ldlt_plan(&build.graph, LDLT_UNLIMITED, &arena, &plan, NULL), STATUS_OK);
    ck_assert_uint_le(plan.fill, 31 * 4096 * 6 / 4);
    ck_assert_uint_ge(plan.fill, 4096 + build.graph.edge_count);
    // what supernodes add is little
    ck_assert_uint_le(plan.diagonal_count + plan.lower_count, 2 * plan.fill);
    arena_deinit(&arena);
}
END_TEST

// ---- limits

START_TEST(a_factor_that_is_too_large_is_refused_by_its_numbers) {
    static GraphBuild build;
    uint64_t state = 8;
    graph_build(&build, GRAPH_CHAIN, 10, 6, &state);
    Arena arena;
    LdltPlan plan;
    Error error;
    arena_init(&arena, 1u << 26);
    ck_assert_int_eq(ldlt_plan(&build.graph,
                               (LdltLimits){.number_max = 500, .operations_max = HUGE_VAL}, &arena,
                               &plan, &error),
                     STATUS_RESOURCE_EXHAUSTED);
    ck_assert_msg(strstr(error.message, "60 unknowns") != NULL, "%s", error.message);
    ck_assert_msg(strstr(error.message, "limit is 500") != NULL, "%s", error.message);
    arena_deinit(&arena);
}
END_TEST

START_TEST(memory_that_ends_is_reported) {
    static GraphBuild build;
    uint64_t state = 9;
    graph_build(&build, GRAPH_GRID, 100, 6, &state);
    size_t limit = 1000;
    Status status;
    do {
        Arena arena;
        LdltPlan plan;
        Ldlt ldlt;
        arena_init(&arena, limit);
        status = ldlt_plan(&build.graph, LDLT_UNLIMITED, &arena, &plan, NULL);
        if (status == STATUS_OK) {
            status = ldlt_init(&ldlt, &plan, false, &arena, NULL);
        }
        ck_assert(status == STATUS_OK || status == STATUS_RESOURCE_EXHAUSTED);
        arena_deinit(&arena);
        limit += 9000;
    } while (status != STATUS_OK);
    ck_assert_uint_gt(limit, 100000);
}
END_TEST

static bool stop_at_once(void *context) {
    (*(int *)context)++;
    return true;
}

START_TEST(a_long_factor_asks_whether_to_stop) {
    uint64_t state = 4;
    System *s = system_create(GRAPH_DENSE, 60, 6, &state);
    make(s, _i == 0);
    fill(s, _i == 0, &state);
    int asked = 0;
    const Stop stop = {.asked = stop_at_once, .context = &asked};
    // 360^3 / 6 multiplications, or twice that
    ck_assert_double_gt(s->plan.operations, 4e6);
    ck_assert_int_eq(ldlt_factor(&s->ldlt, &stop), LDLT_STOPPED);
    ck_assert_int_eq(asked, 1);
    system_destroy(s);
}
END_TEST

static TCase *case_solve(void) {
    TCase *tcase = tcase_create("solve");
    tcase_add_loop_test(tcase, every_shape_is_solved, 0, 2 * GRAPH_SHAPES);
    tcase_add_test(tcase, the_sign_of_the_determinant_is_known);
    tcase_add_test(tcase, rows_are_exchanged_within_a_block);
    tcase_add_loop_test(tcase, a_pivot_that_is_rounding_is_replaced, 0, 2);
    tcase_add_loop_test(tcase, what_is_not_finite_is_reported, 0, 4);
    return tcase;
}

static TCase *case_plan(void) {
    TCase *tcase = tcase_create("plan");
    tcase_add_test(tcase, a_chain_does_not_fill);
    tcase_add_test(tcase, a_grid_fills_no_more_than_nested_dissection_would);
    tcase_add_test(tcase, a_factor_that_is_too_large_is_refused_by_its_numbers);
    tcase_add_test(tcase, memory_that_ends_is_reported);
    tcase_add_loop_test(tcase, a_long_factor_asks_whether_to_stop, 0, 2);
    return tcase;
}

SUITE_MAIN("base/ldlt", case_solve, case_plan)
