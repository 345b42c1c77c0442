// SPDX-License-Identifier: MIT
// Normal numbers: those that NumPy makes of the same uniform ones, with the moments that they must
// have.
#include "base/gaussian.h"

#include "support/suite.h"

#include <math.h>

// u and v of numpy.random.Philox(key=[2024, 0]) and some corners, and what NumPy makes of them:
// numpy.sqrt(-2 numpy.log1p(-u)) numpy.cos(2 numpy.pi v)
static const double made[][3] = {
    {0x1.820628bc8e4fap-1, 0x1.4eab9c867688ep-1, -0x1.e7ed7abdf770bp-1},
    {0x1.a938c315c2c58p-1, 0x1.a801f122f5384p-1, 0x1.c6d2b3502ffe4p-1},
    {0x1.083119beca88ep-1, 0x1.80042f4c10491p-1, 0x1.fad213ec18543p-13},
    {0x1.d403894335046p-2, 0x1.6077a8d867002p-2, -0x1.3bb91c44ad05ap-1},
    {0x1.107166aafdf68p-3, 0x1.31928259f7411p-1, -0x1.c0fc153ca7f72p-2},
    {0x1.50db02711026cp-2, 0x1.86ce792c70b7ap-1, 0x1.313f78331b576p-4},
    {0x1.724f2b830a5e8p-1, 0x1.210ab68675b03p-1, -0x1.7912bfe0c6660p+0},
    {0x1.1b076bacc296ap-2, 0x1.16043e5b56ab0p-2, -0x1.bbbd0222b5e6ep-4},
    {0.0, 0x1.3333333333333p-2, 0.0},
    {0x1.fffffffffffffp-1, 0.0, 0x1.124b2800eda48p+3},
    {0x1.0000000000000p-53, 0x1.0000000000000p-1, -0x1.0000000000000p-26},
    {0x1.b7ce000000000p-34, 0x1.0000000000000p-3, 0x1.4f8b59773f4ebp-17},
};
enum { MADE_COUNT = sizeof(made) / sizeof(made[0]) };

// Either side rounds some five times, and 2 pi v by half a unit, of at most 2^-51 each.
START_TEST(numpy_makes_the_same) {
    ck_assert_double_le(fabs(gaussian_of(made[_i][0], made[_i][1]) - made[_i][2]), 1e-15);
}
END_TEST

START_TEST(a_stream_gives_the_numbers_in_its_order) {
    Philox stream = philox_stream(2024, 0, 0);
    for (int i = 0; i < 8; i++) {
        ck_assert_double_le(fabs(gaussian_draw(&stream) - made[i][2]), 1e-15);
    }
}
END_TEST

// In units in the last place, against libm's of long doubles, which has 11 bits more. The sum and
// what is added to it are rounded once each; near 1 the first term's rounding is half a unit more.
START_TEST(the_logarithm_is_right_to_two_units) {
    static const double reach[][2] = {{0.5, 1.0}, {0.999, 1.001}, {1e-16, 1e-3}, {1.0, 1e300}};
    Philox stream = philox_stream(1, 2, 3);
    double worst = 0.0;
    for (int i = 0; i < 100000; i++) {
        const double u = philox_uniform(&stream);
        const double x = reach[_i][0] + (reach[_i][1] - reach[_i][0]) * u;
        const long double exact = logl((long double)x);
        int exponent;
        frexpl(exact, &exponent);
        const long double off = fabsl((long double)gaussian_ln(x) - exact);
        worst = fmax(worst, (double)(off / ldexpl(1.0L, exponent - 53)));
    }
    ck_assert_double_le(worst, 2.0);
}
END_TEST

// Of n numbers the mean is off by some 1/sqrt(n), the square by sqrt(2/n), the fourth power by
// sqrt(96/n); five of these deviations. A tenth of all lies beyond 1.6449 on either side together.
START_TEST(moments_are_those_of_normal_numbers) {
    enum { COUNT = 200000 };
    double sum[4] = {0}, beyond = 0.0;
    Philox stream = philox_stream(77, 1, 0);
    for (int i = 0; i < COUNT; i++) {
        const double x = gaussian_draw(&stream);
        sum[0] += x;
        sum[1] += x * x;
        sum[2] += x * x * x;
        sum[3] += x * x * x * x;
        beyond += fabs(x) > 1.6448536269514722;
    }
    const double unit = 5.0 / sqrt(COUNT);
    ck_assert_double_le(fabs(sum[0] / COUNT), unit);
    ck_assert_double_le(fabs(sum[1] / COUNT - 1.0), sqrt(2.0) * unit);
    ck_assert_double_le(fabs(sum[2] / COUNT), sqrt(15.0) * unit);
    ck_assert_double_le(fabs(sum[3] / COUNT - 3.0), sqrt(96.0) * unit);
    ck_assert_double_le(fabs(beyond / COUNT - 0.1), 0.3 * unit);
}
END_TEST

static TCase *case_gaussian(void) {
    TCase *tcase = tcase_create("gaussian");
    tcase_add_loop_test(tcase, numpy_makes_the_same, 0, MADE_COUNT);
    tcase_add_test(tcase, a_stream_gives_the_numbers_in_its_order);
    tcase_add_loop_test(tcase, the_logarithm_is_right_to_two_units, 0, 4);
    tcase_add_test(tcase, moments_are_those_of_normal_numbers);
    return tcase;
}

SUITE_MAIN("base/gaussian", case_gaussian)
