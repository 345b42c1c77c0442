// SPDX-License-Identifier: MIT
#include "base/trig.h"

#include <math.h>
#include <stdint.h>

// pi/2 in three parts of 23 bits, so that their products with whole numbers below 2^30 are exact,
// and the rest.
static const double quarter[4] = {0x1.921fb4p+0, 0x1.4442dp-24, 0x1.8469880p-48,
                                  0x1.8cc51701b839ap-72};
static const double quarters_per_radian = 0x1.45f306dc9c883p-1; // 2/pi

// Taylor's series about 0 of an angle in [-pi/4, pi/4]: what they leave out is below 2^-60.
static double sin_near(double x, double rest) {
    const double z = x * x;
    double sum = 1.0 / 355687428096000.0; // 17!
    sum = sum * z - 1.0 / 1307674368000.0;
    sum = sum * z + 1.0 / 6227020800.0;
    sum = sum * z - 1.0 / 39916800.0;
    sum = sum * z + 1.0 / 362880.0;
    sum = sum * z - 1.0 / 5040.0;
    sum = sum * z + 1.0 / 120.0;
    sum = sum * z - 1.0 / 6.0;
    return x + (x * z * sum + rest * (1.0 - 0.5 * z));
}

static double cos_near(double x, double rest) {
    const double z = x * x;
    double sum = 1.0 / 6402373705728000.0; // 18!
    sum = 1.0 / 20922789888000.0 - sum * z;
    sum = sum * z - 1.0 / 87178291200.0;
    sum = sum * z + 1.0 / 479001600.0;
    sum = sum * z - 1.0 / 3628800.0;
    sum = sum * z + 1.0 / 40320.0;
    sum = sum * z - 1.0 / 720.0;
    sum = sum * z + 1.0 / 24.0;
    const double half = 0.5 * z, most = 1.0 - half;
    return most + (((1.0 - most) - half) + (z * z * sum - x * rest)); // what `most` rounded off
}

SinCos trig_sin_cos(double angle) {
    if (!(fabs(angle) <= TRIG_ANGLE_MAX)) {
        return (SinCos){NAN, NAN};
    }
    // angle = k pi/2 + x + rest; all but the last difference is exact
    const double k = floor(angle * quarters_per_radian + 0.5);
    const double near = (angle - k * quarter[0]) - k * quarter[1];
    const double part = k * quarter[2];
    double x = near - part;
    const double taken = near - x;
    double rest = (near - (x + taken)) + (taken - part) - k * quarter[3];
    const double whole = x + rest;
    rest = rest - (whole - x);
    x = whole;
    const double s = sin_near(x, rest), c = cos_near(x, rest);
    switch ((uint32_t)(k - 4.0 * floor(0.25 * k))) {
    case 0:
        return (SinCos){s, c};
    case 1:
        return (SinCos){c, -s};
    case 2:
        return (SinCos){-s, -c};
    default:
        return (SinCos){-c, s};
    }
}

// atan(i/8), and what its double leaves out
static const double eighth[9][2] = {
    {0.0, 0.0},
    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
};
static const double half_turn[2] = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

// atan of |x| <= 1/16, less x: what the series leaves out is below 2^-60 of it
static double atan_more(double x) {
    const double z = x * x;
    double sum = 1.0 / 13.0;
    sum = sum * z - 1.0 / 11.0;
    sum = sum * z + 1.0 / 9.0;
    sum = sum * z - 1.0 / 7.0;
    sum = sum * z + 1.0 / 5.0;
    sum = sum * z - 1.0 / 3.0;
    return x * z * sum;
}

double trig_atan2(double y, double x) {
    const double rise = fabs(y), run = fabs(x);
    const double small = rise < run ? rise : run, large = rise < run ? run : rise;
    if (large == 0.0) {
        return 0.0;
    }
    // atan(small/large) = atan(i/8) + atan(d), |d| <= 1/16; scaled, so that nothing overflows
    const double t = small / large;
    const uint32_t i = t >= 0.0 ? (uint32_t)(8.0 * t + 0.5) : 0; // NaN stays NaN
    const double e = 0.125 * (double)i;
    const double d = (t - e) / (1.0 + t * e);
    // of the first octant: + d; beyond 45 degrees pi/2 - that; to the left of the axis pi - that
    double base = eighth[i][0], more = eighth[i][1] + atan_more(d), step = d;
    if (rise > run) {
        const double corner = 0.5 * half_turn[0], turned = corner - base;
        more = 0.5 * half_turn[1] - more + ((corner - turned) - base);
        base = turned;
        step = -step;
    }
    if (x < 0.0) {
        const double turned = half_turn[0] - base;
        more = half_turn[1] - more + ((half_turn[0] - turned) - base);
        base = turned;
        step = -step;
    }
    const double angle = base + (step + more);
    return y < 0.0 ? -angle : angle;
}
