// SPDX-License-Identifier: MIT
// Powers of two, by which numbers are scaled without any rounding: whatever follows has the same
// digits in all units that are powers of two of each other.
#pragma once

#include <math.h>

// About the inverse of a size; 1 of 0.
static inline double power_inverse(double size) {
    int exponent;
    frexp(size, &exponent);
    return ldexp(1.0, -exponent);
}
