// SPDX-License-Identifier: MIT
// Sine, cosine and arctangent against libm's of long doubles, which have 11 bits more.
#include "base/trig.h"

#include "support/suite.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

static uint64_t state = 88172645463325252;

static double random_in(double low, double high) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return low + (high - low) * ((double)(state >> 11) * 0x1p-53);
}

// In units in the last place of the exact number.
static double ulps(double found, long double exact) {
    int exponent;
    frexpl(exact, &exponent);
    return (double)(fabsl((long double)found - exact) / ldexpl(1.0L, exponent - 53));
}

// One rounding of the last sum is half a unit; what is below it is computed to 2^-7 of one.
START_TEST(sine_and_cosine_are_right_to_a_unit_in_the_last_place) {
    static const double reach[] = {1e-9, 0.1, 1.0, 10.0, 1e4, 1e9};
    double worst = 0.0;
    for (int i = 0; i < 200000; i++) {
        double angle = random_in(-reach[_i], reach[_i]);
        SinCos got = trig_sin_cos(angle);
        worst = fmax(worst, ulps(got.sin, sinl((long double)angle)));
        worst = fmax(worst, ulps(got.cos, cosl((long double)angle)));
    }
    ck_assert_double_le(worst, 1.0);
}
END_TEST

// t, d and the last sum are rounded once each; in units of a sum that is smaller than its parts, by
// up to a half, the first two count twice.
START_TEST(arctangent_is_right_to_three_units) {
    static const double reach[] = {1e-300, 1e-9, 0.1, 1.0, 100.0, 1e300};
    double worst = 0.0;
    for (int i = 0; i < 200000; i++) {
        double y = random_in(-1.0, 1.0), x = random_in(-reach[_i], reach[_i]);
        worst = fmax(worst, ulps(trig_atan2(y, x), atan2l((long double)y, (long double)x)));
        worst = fmax(worst, ulps(trig_atan2(x, y), atan2l((long double)x, (long double)y)));
    }
    ck_assert_double_le(worst, 3.0);
}
END_TEST

START_TEST(axes_and_corners_are_exact) {
    ck_assert_double_eq(trig_sin_cos(0.0).sin, 0.0);
    ck_assert_double_eq(trig_sin_cos(0.0).cos, 1.0);
    ck_assert_double_eq(trig_atan2(0.0, 0.0), 0.0);
    ck_assert_double_eq(trig_atan2(0.0, 2.0), 0.0);
    ck_assert_double_eq(trig_atan2(0.0, -2.0), acos(-1.0));
    ck_assert_double_eq(trig_atan2(3.0, 0.0), acos(0.0));
    ck_assert_double_eq(trig_atan2(-3.0, 0.0), -acos(0.0));
    ck_assert_double_eq(trig_atan2(1.0, 1.0), 0.5 * acos(0.0));
}
END_TEST

START_TEST(what_is_no_angle_has_no_sine) {
    static const double none[] = {1.1e9, -1e300, HUGE_VAL, NAN};
    for (int i = 0; i < 4; i++) {
        SinCos got = trig_sin_cos(none[i]);
        ck_assert(isnan(got.sin));
        ck_assert(isnan(got.cos));
    }
    ck_assert(isnan(trig_atan2(NAN, 1.0)));
    ck_assert(isnan(trig_atan2(1.0, NAN)));
}
END_TEST

static TCase *case_trig(void) {
    TCase *tcase = tcase_create("trig");
    tcase_add_loop_test(tcase, sine_and_cosine_are_right_to_a_unit_in_the_last_place, 0, 6);
    tcase_add_loop_test(tcase, arctangent_is_right_to_three_units, 0, 6);
    tcase_add_test(tcase, axes_and_corners_are_exact);
    tcase_add_test(tcase, what_is_no_angle_has_no_sine);
    return tcase;
}

SUITE_MAIN("base/trig", case_trig)
