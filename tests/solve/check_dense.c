// SPDX-License-Identifier: MIT
#include "solve/dense.h"

#include "support/problem_build.h"
#include "support/suite.h"

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

static TCase *case_dense(void) {
    TCase *tcase = tcase_create("dense");
    tcase_add_loop_test(tcase, solve_undoes_multiplication_at_every_width, 1, 17);
    tcase_add_test(tcase, factor_refuses_what_is_not_positive_definite);
    tcase_add_test(tcase, factor_refuses_a_pivot_at_its_floor);
    return tcase;
}

SUITE_MAIN("solve/dense", case_dense)
