// SPDX-License-Identifier: MIT
// What is gone of something that decays, against libm's of long doubles, which have 11 bits more.
#include "base/decay.h"

#include "support/suite.h"

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

// Half a unit of the last sum, and as much of a part of it that is up to twice as large as the sum.
START_TEST(a_share_is_right_to_one_and_a_half_units) {
    static const double reach[] = {1e-300, 1e-9, 0.1, 0.4, 1.0, 10.0, 40.0};
    double worst = 0.0;
    for (int i = 0; i < 200000; i++) {
        const double x = random_in(0.0, reach[_i]);
        worst = fmax(worst, ulps(decay_share(x), -expm1l(-(long double)x)));
    }
    ck_assert_double_le(worst, 1.5);
}
END_TEST

START_TEST(it_begins_at_nothing_and_ends_at_all) {
    ck_assert_double_eq(decay_share(0.0), 0.0);
    ck_assert_double_eq(decay_share(40.0), 1.0);
    ck_assert_double_eq(decay_share(1e300), 1.0);
    ck_assert_double_eq(decay_share(HUGE_VAL), 1.0);
    for (double x = 0.0; x < 45.0; x += 0x1p-9) { // it rises, and where its two ways meet, too
        ck_assert_double_le(decay_share(x), decay_share(x + 0x1p-9));
        ck_assert_double_le(decay_share(x), 1.0);
    }
}
END_TEST

static TCase *case_decay(void) {
    TCase *tcase = tcase_create("decay");
    tcase_add_loop_test(tcase, a_share_is_right_to_one_and_a_half_units, 0, 7);
    tcase_add_test(tcase, it_begins_at_nothing_and_ends_at_all);
    return tcase;
}

SUITE_MAIN("base/decay", case_decay)
