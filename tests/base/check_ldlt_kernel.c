// SPDX-License-Identifier: MIT
#include "base/ldlt_kernel.h"

#define SIMD_COUNT 2
#include "base/ldlt_kernel_simd.h"

#include "support/problem_build.h"
#include "support/suite.h"

enum { ROWS = 21, COLUMNS = 11, DEPTH = 9, STRIDE = 24 };

static double a[ROWS * DEPTH + LDLT_KERNEL_SLACK], b[COLUMNS * DEPTH], wide[STRIDE * COLUMNS],
    narrow[STRIDE * COLUMNS];

static void fill(double *numbers, size_t count, uint64_t *state) {
    for (size_t k = 0; k < count; k++) {
        numbers[k] = problem_build_random(state);
    }
}

START_TEST(a_product_has_the_same_bits_in_vectors_of_any_width) {
    uint64_t state = 5;
    fill(a, ROWS * DEPTH, &state);
    fill(b, COLUMNS * DEPTH, &state);
    for (size_t rows = 1; rows <= ROWS; rows++) {
        for (size_t columns = 1; columns <= COLUMNS; columns++) {
            LdltProduct product = {rows, columns, DEPTH, a, b, ROWS, COLUMNS, wide, STRIDE};
            ldlt_kernel(&product);
            product.c = narrow;
            multiply_tiles(&product);
            for (size_t j = 0; j < columns; j++) {
                for (size_t i = 0; i < rows; i++) {
                    double sum = 0.0;
                    for (size_t k = 0; k < DEPTH; k++) {
                        sum += a[i + k * ROWS] * b[j + k * COLUMNS];
                    }
                    ck_assert_double_eq(wide[i + j * STRIDE], sum);
                    ck_assert_double_eq(narrow[i + j * STRIDE], sum);
                }
            }
        }
    }
}
END_TEST

static TCase *case_kernel(void) {
    TCase *tcase = tcase_create("kernel");
    tcase_add_test(tcase, a_product_has_the_same_bits_in_vectors_of_any_width);
    return tcase;
}

SUITE_MAIN("base/ldlt_kernel", case_kernel)
