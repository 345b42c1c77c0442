// SPDX-License-Identifier: MIT
// Each place of a vector computes what it would compute alone, also of what is no number.
#define SIMD_COUNT 2
#include "base/simd.h"

#include "support/suite.h"

#include <stdbool.h>

static const double values[] = {0.0, -0.0, 1.0, -1.5, 5e-324, 1e308, INFINITY, -INFINITY, NAN};

enum { COUNT = sizeof(values) / sizeof(values[0]) };

// What the other place holds makes no difference.
static void expect_both(Simd found, double expected) {
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(isnan(expected) ? isnan(found[i]) : found[i] == expected, "%g is not %g",
                      found[i], expected);
    }
}

START_TEST(the_larger_and_the_smaller_are_no_number_where_either_is_none) {
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < COUNT; k++) {
            double a = values[i], b = values[k];
            bool is_none = isnan(a) || isnan(b);
            expect_both(simd_max(simd_all(a), simd_all(b)), is_none ? NAN : a > b ? a : b);
            expect_both(simd_min(simd_all(a), simd_all(b)), is_none ? NAN : a < b ? a : b);
        }
        double a = values[i];
        expect_both(simd_positive(simd_all(a)), isnan(a) ? NAN : a > 0.0 ? a : 0.0);
        expect_both(simd_abs(simd_all(a)), fabs(a));
    }
}
END_TEST

START_TEST(places_do_not_mix) {
    Simd a = {1.0, -2.0}, b = {-3.0, 4.0};
    ck_assert(simd_max(a, b)[0] == 1.0 && simd_max(a, b)[1] == 4.0);
    ck_assert(simd_min(a, b)[0] == -3.0 && simd_min(a, b)[1] == -2.0);
    Simd chosen = simd_choose(a > b, a, b);
    ck_assert(chosen[0] == 1.0 && chosen[1] == 4.0);
    ck_assert(simd_root((Simd){4.0, 9.0})[0] == 2.0 && simd_root((Simd){4.0, 9.0})[1] == 3.0);
    ck_assert(simd_any(a > b) && simd_any(a < b) && !simd_any(a == b));
    // place after place: 1 is lost beside 1e16, 2 is not
    ck_assert(simd_add_to(1e16, (Simd){1.0, 1.0}) == 1e16);
    Simd3 x = {a, b, a}, y = {b, b, a};
    Simd3 cross = simd3_cross(x, y);
    for (int i = 0; i < 2; i++) {
        ck_assert(simd3_dot(x, y)[i] == a[i] * b[i] + b[i] * b[i] + a[i] * a[i]);
        ck_assert(cross.x[i] == b[i] * a[i] - a[i] * b[i]);
        ck_assert(cross.y[i] == a[i] * b[i] - a[i] * a[i]);
        ck_assert(cross.z[i] == a[i] * b[i] - b[i] * b[i]);
    }
}
END_TEST

static TCase *case_simd(void) {
    TCase *tcase = tcase_create("simd");
    tcase_add_test(tcase, the_larger_and_the_smaller_are_no_number_where_either_is_none);
    tcase_add_test(tcase, places_do_not_mix);
    return tcase;
}

SUITE_MAIN("base/simd", case_simd)
