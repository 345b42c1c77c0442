// SPDX-License-Identifier: MIT
#include "base/sum.h"

#include "support/suite.h"

#include <math.h>

// n h less the sum's value, to the last bit that matters. h is taken apart into its upper 24 bits
// and the others: for n < 2^29 the first product is exact, and so is the difference to it of a
// number that is nearly equal; the second is 2^-24 of it, and so is its rounding.
static double value_error(Sum sum, double n, double h) {
    double upper = (double)(float)h, lower = h - upper;
    return (n * upper - sum.value) + n * lower;
}

static double half_ulp(double value) {
    return 0.5 * (nextafter(value, INFINITY) - value);
}

// 1/240 s is not a double; a thousandth neither; 1/256 s is, and its sums are exact anyway.
static const double steps[] = {1.0 / 240.0, 1e-3, 1.0 / 256.0, 1e-9, 0.1};

START_TEST(equal_steps_add_up_to_their_product) {
    double h = steps[_i], plain = 0.0;
    Sum sum = {0.0, 0.0};
    uint32_t count = 20000000;
    for (uint32_t n = 1; n <= count; n++) {
        sum = sum_add(sum, h);
        plain += h;
        // every one at first, and then a sample
        if (n <= 1000 || n % 9973 == 0 || n == count) {
            // half an ulp, and the rounding of the error itself
            ck_assert_msg(fabs(value_error(sum, n, h)) <= half_ulp(sum.value) * (1.0 + 1e-9),
                          "after %u additions of %g: %g", n, h, value_error(sum, n, h));
        }
    }
    ck_assert(sum_is_sound(sum));
    if (h != 1.0 / 256.0) { // what it is for
        ck_assert_double_gt(fabs(value_error((Sum){plain, 0.0}, count, h)),
                            1000.0 * half_ulp(plain));
    }
}
END_TEST

START_TEST(a_hundred_million_steps_are_within_half_an_ulp) {
    double h = 1.0 / 240.0;
    Sum sum = {0.0, 0.0};
    for (uint32_t n = 0; n < 100000000; n++) {
        sum = sum_add(sum, h);
    }
    ck_assert_double_le(fabs(value_error(sum, 1e8, h)), half_ulp(sum.value) * (1.0 + 1e-9));
}
END_TEST

// Steps of a billion: the sum stands at 10^9 h and goes on. The rest of a start is what the product
// leaves out.
START_TEST(a_sum_that_has_come_far_goes_on_as_well) {
    double h = 1.0 / 240.0, n = 1e9;
    double upper = (double)(float)h, lower = h - upper; // 24 bits and the others
    Sum sum = sum_of_two(n * upper, n * lower); // n * upper: 30 and 24 bits, of which 9 are zeros
    for (uint32_t i = 0; i < 1000000; i++) {
        sum = sum_add(sum, h);
    }
    double error = ((n + 1e6) * upper - sum.value) + (n + 1e6) * lower;
    ck_assert_double_le(fabs(error), half_ulp(sum.value) * (1.0 + 1e-9));
}
END_TEST

START_TEST(steps_of_different_length_are_not_lost_either) {
    // 2^53 and ones: each alone rounds to nothing
    Sum sum = {0x1p53, 0.0};
    for (int i = 0; i < 1001; i++) {
        sum = sum_add(sum, 1.0);
    }
    ck_assert_double_eq(sum.value, 0x1p53 + 1000.0); // a half rounds to even
    ck_assert_double_eq(sum.rest, 1.0);
    ck_assert(sum_is_sound(sum));
}
END_TEST

START_TEST(what_is_no_sum_is_told) {
    ck_assert(sum_is_sound((Sum){0.0, 0.0}));
    ck_assert(sum_is_sound((Sum){1.0, 0x1p-54}));
    ck_assert(!sum_is_sound((Sum){1.0, 0x1p-50}));
    ck_assert(!sum_is_sound((Sum){INFINITY, 0.0}));
    ck_assert(!sum_is_sound((Sum){NAN, 0.0}));
    ck_assert(!sum_is_sound((Sum){1.0, NAN}));
}
END_TEST

static TCase *case_sum(void) {
    TCase *tcase = tcase_create("sum");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, equal_steps_add_up_to_their_product, 0,
                        sizeof(steps) / sizeof(steps[0]));
    tcase_add_test(tcase, a_hundred_million_steps_are_within_half_an_ulp);
    tcase_add_test(tcase, a_sum_that_has_come_far_goes_on_as_well);
    tcase_add_test(tcase, steps_of_different_length_are_not_lost_either);
    tcase_add_test(tcase, what_is_no_sum_is_told);
    return tcase;
}

SUITE_MAIN("base/sum", case_sum)
