// SPDX-License-Identifier: MIT
#include "solve/dense/dense.h"

#include "solve/dense/columns.h"

#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

enum { WIDE = DENSE_COLUMNS_WIDTH + 2 };

START_TEST(solve_undoes_multiplication_at_every_width) {
    uint32_t n = (uint32_t)_i;
    uint64_t state = 11u + n;
    double matrix[256], factor[256], x[16], product[16];
    problem_build_random_mass(&state, n, 0.1, matrix);
    ck_assert(dense_factor(n, matrix, 0.0, factor));
    for (uint32_t i = 0; i < n; i++) {
        x[i] = problem_build_random(&state);
    }
    for (uint32_t i = 0; i < n; i++) {
        product[i] = 0.0;
        for (uint32_t j = 0; j < n; j++) {
            product[i] += matrix[i * n + j] * x[j];
        }
    }
    double twice[16], along = 0.0; // x^T A x, from A x: the square of that by the inverse
    for (uint32_t i = 0; i < n; i++) {
        twice[i] = product[i];
        along += x[i] * product[i];
    }
    ck_assert_double_eq_tol(dense_square(n, factor, twice) / along, 1.0, 1e-12);
    dense_solve(n, factor, product);
    for (uint32_t i = 0; i < n; i++) {
        // the condition number is below n^2 / 0.1 = 2560
        ck_assert_double_eq_tol(product[i], x[i], 1e-12);
    }
}
END_TEST

START_TEST(factor_refuses_what_is_not_positive_definite) {
    const double indefinite[4] = {1.0, 2.0, 2.0, 1.0}, broken[4] = {1.0, NAN, NAN, 1.0};
    double factor[4];
    ck_assert(!dense_factor(2, indefinite, 0.0, factor));
    ck_assert(!dense_factor(2, broken, 0.0, factor));
}
END_TEST

START_TEST(factor_refuses_a_pivot_at_its_floor) {
    const double matrix[4] = {1.0, 0.0, 0.0, 1e-6};
    double factor[4];
    ck_assert(dense_factor(2, matrix, 1e-7, factor));
    ck_assert(!dense_factor(2, matrix, 1e-6, factor));
}
END_TEST

// Row by row, every number as it would be summed by hand: how many columns are taken at a time
// changes no bit, nor do zeros, of either sign, where a column begins.
static void solve_plainly(size_t n, const double *factor, double *x) {
    size_t begin = 0;
    while (begin < n && x[begin] == 0.0) {
        begin++;
    }
    for (size_t i = begin + 1; i < n; i++) {
        for (size_t k = begin; k < i; k++) {
            x[i] -= factor[i * n + k] * x[k];
        }
    }
    for (size_t i = 0; i < n; i++) {
        x[i] *= factor[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = n; k-- > i + 1;) {
            x[i] -= factor[k * n + i] * x[k];
        }
    }
}

static void check_column(size_t n, const double *factor, const double *from,
                         const DenseColumn *together) {
    double alone[WIDE], plain[WIDE], squared[WIDE];
    memcpy(alone, from, n * sizeof(double));
    memcpy(plain, from, n * sizeof(double));
    memcpy(squared, from, n * sizeof(double));
    const double square = dense_solve(n, factor, alone);
    solve_plainly(n, factor, plain);
    ck_assert_mem_eq(alone, plain, n * sizeof(double));
    ck_assert_mem_eq(together->to, alone, n * sizeof(double));
    ck_assert_double_eq(dense_square(n, factor, squared), square);
    ck_assert_double_eq(together->square, square);
}

// Likewise: each row from the one above it on, every number as it would be summed by hand.
static bool factor_plainly(size_t n, double pivot_floor, double *matrix) {
    for (size_t i = 0; i < n; i++) {
        double *row = matrix + i * n;
        bool has_begun = false;
        for (size_t k = 0; k < i; k++) {
            has_begun = has_begun || row[k] != 0.0;
            for (size_t j = k + 1; j < i && has_begun; j++) {
                row[j] -= matrix[j * n + k] * row[k];
            }
        }
        for (size_t k = 0; k < i; k++) {
            const double share = row[k] * matrix[k * n + k];
            row[i] -= share * row[k];
            row[k] = share;
        }
        if (!(row[i] > pivot_floor)) {
            return false;
        }
        row[i] = 1.0 / row[i];
    }
    return true;
}

// Rows begin with zeros of either sign; what is above the diagonal is nobody's, and stays.
START_TEST(a_factor_is_what_it_is_row_by_row) {
    const size_t n = (size_t)_i;
    uint64_t state = 23u + n;
    for (size_t zeros = 0; zeros <= n; zeros += 1 + n / 6) {
        double matrix[WIDE * WIDE] = {0}, plain[WIDE * WIDE] = {0}, factor[WIDE * WIDE];
        for (size_t i = 0; i < n * n; i++) {
            const size_t row = i / n, column = i % n;
            const double off = problem_build_random(&state), zero = row % 2 == 0 ? 0.0 : -0.0;
            const bool is_zero = column < row && column < zeros && (row + zeros) % 3 != 0;
            matrix[i] = row == column ? (double)n + 1.0 : is_zero ? zero : off;
        }
        memcpy(plain, matrix, n * n * sizeof(double));
        memcpy(factor, matrix, n * n * sizeof(double)); // as it is above the diagonal
        ck_assert(factor_plainly(n, 0.0, plain));
        ck_assert(dense_factor(n, matrix, 0.0, factor));
        ck_assert_mem_eq(factor, plain, n * n * sizeof(double));
        ck_assert(dense_factor(n, matrix, 0.0, matrix));
        ck_assert_mem_eq(matrix, plain, n * n * sizeof(double));
    }
}
END_TEST

// Whichever row its pivot is of.
START_TEST(a_wide_factor_refuses_a_pivot_at_its_floor) {
    enum { N = 37 };
    double matrix[N * N] = {0}, factor[N * N];
    for (size_t i = 0; i < N; i++) {
        matrix[i * N + i] = i == (size_t)_i ? 1e-6 : 1.0;
    }
    ck_assert(dense_factor(N, matrix, 1e-7, factor));
    ck_assert(!dense_factor(N, matrix, 1e-6, factor));
}
END_TEST

START_TEST(columns_are_solved_alike_alone_and_together) {
    const size_t n = (size_t)_i;
    uint64_t state = 5u + n;
    double matrix[WIDE * WIDE] = {0}, factor[WIDE * WIDE] = {0};
    for (size_t i = 0; i < n * n; i++) { // the diagonal outweighs each row
        matrix[i] = problem_build_random(&state) + (i % (n + 1) == 0 ? (double)n + 1.0 : 0.0);
    }
    ck_assert(dense_factor(n, matrix, 0.0, factor));
    for (size_t zeros = 0; zeros <= n; zeros += 1 + n / 6) {
        double columns[DENSE_COLUMNS * WIDE] = {0}, together[DENSE_COLUMNS * WIDE] = {0};
        DenseColumn column[DENSE_COLUMNS];
        for (size_t i = 0; i < DENSE_COLUMNS * n; i++) {
            columns[i] = problem_build_random(&state);
        }
        for (size_t i = 0; i < zeros; i++) {
            columns[i] = i % 2 == 0 ? 0.0 : -0.0;
            columns[n + i] = i % 3 == 0 ? columns[n + i] : -0.0;
            columns[2 * n + i / 2] = 0.0;
        }
        for (uint32_t count = 1; count <= DENSE_COLUMNS; count++) {
            for (size_t k = 0; k < count; k++) {
                column[k] = (DenseColumn){.from = columns + k * n, .to = together + k * n};
            }
            dense_solve_columns(n, factor, column, count);
            for (size_t k = 0; k < count; k++) {
                check_column(n, factor, columns + k * n, &column[k]);
            }
        }
    }
}
END_TEST

static TCase *case_dense(void) {
    TCase *tcase = tcase_create("dense");
    tcase_add_loop_test(tcase, solve_undoes_multiplication_at_every_width, 1, 17);
    tcase_add_loop_test(tcase, a_factor_is_what_it_is_row_by_row, 1, WIDE + 1);
    tcase_add_loop_test(tcase, a_wide_factor_refuses_a_pivot_at_its_floor, 0, 37);
    tcase_add_loop_test(tcase, columns_are_solved_alike_alone_and_together, 1, WIDE + 1);
    tcase_add_test(tcase, factor_refuses_what_is_not_positive_definite);
    tcase_add_test(tcase, factor_refuses_a_pivot_at_its_floor);
    return tcase;
}

SUITE_MAIN("solve/dense", case_dense)
