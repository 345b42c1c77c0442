// SPDX-License-Identifier: MIT
// What a fault has made of a tree's mass is refused by the factor of four rows as by that of one:
// whichever row it shows in, and at the very number at which it does.
#include "solve/mass.h"

#include "solve/dense/dense.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

static const size_t widths[] = {15, 16, 17, 18, 19, 20, 23, 37, 63, 64, 65};
enum { WIDTHS = sizeof(widths) / sizeof(widths[0]), WIDEST = 65 };

typedef struct Matrix {
    double number[WIDEST * WIDEST];
} Matrix;

// The row in which it fails, as it would be factored by hand, one after the other, or n; the pivot
// there, or the least.
static size_t fail_plainly(size_t n, double floor, Matrix *matrix, double *pivot) {
    double *m = matrix->number;
    *pivot = HUGE_VAL;
    for (size_t i = 0; i < n; i++) {
        double *row = m + i * n;
        bool has_begun = false;
        for (size_t k = 0; k < i; k++) {
            has_begun = has_begun || row[k] != 0.0;
            for (size_t j = k + 1; j < i && has_begun; j++) {
                row[j] -= m[j * n + k] * row[k];
            }
        }
        for (size_t k = 0; k < i; k++) {
            const double share = row[k] * m[k * n + k];
            row[i] -= share * row[k];
            row[k] = share;
        }
        if (!(row[i] > floor)) {
            *pivot = row[i];
            return i;
        }
        *pivot = row[i] < *pivot ? row[i] : *pivot;
        row[i] = 1.0 / row[i];
    }
    return n;
}

static void make(uint64_t *state, size_t n, Matrix *matrix) {
    problem_build_random_mass(state, (uint32_t)n, 0.1, matrix->number);
}

// Both the same matrix: whether the plain one is through with it, and the other one, into another
// place and into its own.
static bool is_through(size_t n, double floor, const Matrix *matrix) {
    Matrix plain = *matrix, factor = *matrix, own = *matrix;
    double pivot;
    const bool is = fail_plainly(n, floor, &plain, &pivot) == n;
    ck_assert_int_eq(dense_factor(n, matrix->number, floor, factor.number), is);
    ck_assert_int_eq(dense_factor(n, own.number, floor, own.number), is);
    if (is) {
        for (size_t i = 0; i < n; i++) {
            ck_assert_mem_eq(factor.number + i * n, plain.number + i * n, (i + 1) * sizeof(double));
        }
    }
    return is;
}

// Its diagonal is taken down to where the pivot is none any more, and one number less or more.
START_TEST(a_pivot_is_refused_at_the_same_number) {
    const size_t n = widths[_i];
    uint64_t state = 3 + (uint64_t)_i;
    for (size_t row = 0; row < n; row++) {
        Matrix matrix, plain;
        make(&state, n, &matrix);
        double *diagonal = matrix.number + row * n + row, low = 0.0, high = *diagonal;
        while (nextafter(low, high) < high) {
            *diagonal = low + 0.5 * (high - low);
            plain = matrix;
            double pivot;
            *(fail_plainly(n, 0.0, &plain, &pivot) == n ? &high : &low) = *diagonal;
        }
        *diagonal = high;
        ck_assert(is_through(n, 0.0, &matrix));
        *diagonal = low;
        ck_assert(!is_through(n, 0.0, &matrix));
        *diagonal = -high;
        ck_assert(!is_through(n, 0.0, &matrix));
    }
}
END_TEST

// At the least pivot, and right below it.
START_TEST(a_floor_is_the_same_number) {
    const size_t n = widths[_i];
    uint64_t state = 5 + (uint64_t)_i;
    for (int i = 0; i < 20; i++) {
        Matrix matrix;
        make(&state, n, &matrix);
        Matrix plain = matrix;
        double least;
        ck_assert_uint_eq(fail_plainly(n, 0.0, &plain, &least), n);
        ck_assert(!is_through(n, least, &matrix));
        ck_assert(is_through(n, nextafter(least, 0.0), &matrix));
    }
}
END_TEST

// What no number is, in any place, and what is beyond all of them.
START_TEST(no_number_is_refused_in_any_place) {
    static const double bad[] = {NAN, -HUGE_VAL, HUGE_VAL, 1e200};
    const size_t n = widths[_i];
    uint64_t state = 7 + (uint64_t)_i;
    Matrix matrix;
    make(&state, n, &matrix);
    for (size_t row = 0; row < n; row++) {
        for (size_t column = 0; column <= row; column += 1 + row / 5) {
            for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
                Matrix broken = matrix;
                broken.number[row * n + column] = bad[k];
                const bool is = is_through(n, 0.0, &broken);
                ck_assert(k >= 2 || !is);
            }
        }
    }
}
END_TEST

// The tree is named, and the problem refused, whichever of its rows it is, and who stands beside
// it.
START_TEST(a_tree_that_a_fault_made_indefinite_is_named) {
    const size_t n = widths[_i];
    uint64_t state = 9 + (uint64_t)_i;
    for (size_t row = 0; row < n; row++) {
        ProblemBuild build;
        problem_build_init(&build);
        const double v_free[WIDEST] = {0};
        Matrix matrix;
        for (size_t i = 0; i < 3; i++) {
            make(&state, n, &matrix);
            matrix.number[row * n + row] *= i == 1 ? -1.0 : 1.0;
            problem_build_dense(&build, (uint32_t)n, matrix.number, v_free);
        }
        ck_assert_uint_eq(mass_find_indefinite(&build.problem, &build.arena), 1);
        ProblemMass mass;
        Error error = {0};
        ck_assert_int_eq(mass_init(&mass, &build.problem, NULL, &build.arena, &error),
                         STATUS_FAILED_PRECONDITION);
        // as it was, it is none
        double *number = build.number + build.tree[1].mass + row * n + row;
        *number = -*number;
        ck_assert_uint_eq(mass_find_indefinite(&build.problem, &build.arena), 3);
        ck_assert_int_eq(mass_init(&mass, &build.problem, NULL, &build.arena, &error), STATUS_OK);
        problem_build_deinit(&build);
    }
}
END_TEST

static TCase *case_indefinite(void) {
    TCase *tcase = tcase_create("indefinite");
    tcase_add_loop_test(tcase, a_pivot_is_refused_at_the_same_number, 0, WIDTHS);
    tcase_add_loop_test(tcase, a_floor_is_the_same_number, 0, WIDTHS);
    tcase_add_loop_test(tcase, no_number_is_refused_in_any_place, 0, WIDTHS);
    tcase_add_loop_test(tcase, a_tree_that_a_fault_made_indefinite_is_named, 0, WIDTHS);
    return tcase;
}

SUITE_MAIN("solve/indefinite", case_indefinite)
