// SPDX-License-Identifier: MIT
#include "base/twofold.h"

#include "support/problem_build.h"
#include "support/suite.h"

#include <math.h>

// a number of 26 bits and of any size: products of two have no rounding
static double pick(uint64_t *state) {
    return ldexp(floor(ldexp(problem_build_random(state), 26)),
                 (int)(20.0 * problem_build_random(state)));
}

START_TEST(nothing_of_a_sum_or_a_product_is_lost) {
    uint64_t state = 1u + (uint64_t)_i;
    for (int i = 0; i < 1000; i++) {
        // a = ah + al and b = bh + bl, whose parts have products that are exact
        double ah = pick(&state), bh = pick(&state);
        double al = ah * ldexp(floor(ldexp(problem_build_random(&state), 20)), -50);
        double bl = bh * ldexp(floor(ldexp(problem_build_random(&state), 20)), -50);
        double a = ah + al, b = bh + bl;
        Twofold sum = twofold_sum(a, b), product = twofold_product(a, b);
        ck_assert_double_eq(sum.high, a + b);
        ck_assert_double_le(fabs(sum.low), 0x1p-53 * fabs(sum.high));
        // taking away what went in leaves what was rounded off, exactly
        double larger = fabs(a) > fabs(b) ? a : b, smaller = fabs(a) > fabs(b) ? b : a;
        ck_assert_double_eq(sum.low, smaller - (sum.high - larger));
        ck_assert_double_eq(product.high, a * b);
        ck_assert_double_eq(product.low, fma(a, b, -product.high));
    }
}
END_TEST

START_TEST(a_determinant_keeps_its_digits_where_products_cancel) {
    // (n + 1) (n - 1) - n n = -1
    for (double n = 3.0; n < 9e15; n *= 3.0) {
        ck_assert_double_eq(twofold_determinant(n + 1.0, n, n, n - 1.0), -1.0);
    }
    ck_assert_double_eq(twofold_determinant(2.0, 3.0, 5.0, 7.0), -1.0);
    ck_assert_double_eq(twofold_determinant(0.1, 0.2, 0.1, 0.2), 0.0);
}
END_TEST

START_TEST(what_a_sum_of_products_is_left_with_is_right) {
    // 1e16 + 1 - 1e16, with the one in a product of thirds
    Twofold sum = twofold_add_product((Twofold){1e16, 0.0}, 3.0, 1.0);
    sum = twofold_add_product(sum, -1e8, 1e8);
    ck_assert_double_eq(twofold_round(sum), 3.0);
}
END_TEST

static TCase *case_twofold(void) {
    TCase *tcase = tcase_create("twofold");
    tcase_add_loop_test(tcase, nothing_of_a_sum_or_a_product_is_lost, 0, 4);
    tcase_add_test(tcase, a_determinant_keeps_its_digits_where_products_cancel);
    tcase_add_test(tcase, what_a_sum_of_products_is_left_with_is_right);
    return tcase;
}

SUITE_MAIN("base/twofold", case_twofold)
