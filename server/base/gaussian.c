// SPDX-License-Identifier: MIT
#include "base/gaussian.h"

#include "base/trig.h"

#include <math.h>
#include <string.h>

// x = 2^k m with m in [sqrt(1/2), sqrt(2)): ln x = k ln 2 + 2 atanh s, s = (m - 1)/(m + 1). Since
// s^2 <= 0.0295, what the series leaves out behind s^25 is below 2^-56 of it.
double gaussian_ln(double x) {
    static const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
    static const uint64_t half_root = UINT64_C(0x3fe6a09e667f3bcd); // sqrt(1/2)
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    const int64_t k = (int64_t)(bits - half_root) >> 52;
    bits -= (uint64_t)k << 52;
    double m;
    memcpy(&m, &bits, sizeof(m));
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    double sum = 1.0 / 25.0;
    sum = sum * z + 1.0 / 23.0;
    sum = sum * z + 1.0 / 21.0;
    sum = sum * z + 1.0 / 19.0;
    sum = sum * z + 1.0 / 17.0;
    sum = sum * z + 1.0 / 15.0;
    sum = sum * z + 1.0 / 13.0;
    sum = sum * z + 1.0 / 11.0;
    sum = sum * z + 1.0 / 9.0;
    sum = sum * z + 1.0 / 7.0;
    sum = sum * z + 1.0 / 5.0;
    sum = sum * z + 1.0 / 3.0;
    // m - 1 is exact; 2 s = (m - 1) - s (m - 1), so that of what is near 1 nothing is lost
    const double f = m - 1.0, count = (double)k;
    return count * ln2_high + (f - s * (f - 2.0 * z * sum) + count * ln2_low);
}

double gaussian_of(double u, double v) {
    const double two_pi = 6.283185307179586;
    return sqrt(-2.0 * gaussian_ln(1.0 - u)) * trig_sin_cos(two_pi * v).cos;
}

double gaussian_draw(Philox *stream) {
    const double u = philox_uniform(stream);
    const double v = philox_uniform(stream);
    return gaussian_of(u, v);
}
