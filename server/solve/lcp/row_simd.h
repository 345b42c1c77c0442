// SPDX-License-Identifier: MIT
// row.h for as many numbers at a time as SIMD_COUNT says.
#pragma once

#include "base/simd.h"

#include <stddef.h>

INLINE void subtract_row(double *row, const double *above, double factor, size_t count) {
    Simd f = simd_all(factor);
    for (size_t k = 0; k < count; k += 2 * (size_t)SIMD_COUNT) {
        simd_store(row + k, simd_load(row + k) - f * simd_load(above + k));
        simd_store(row + k + SIMD_COUNT,
                   simd_load(row + k + SIMD_COUNT) - f * simd_load(above + k + SIMD_COUNT));
    }
}

// The same; returns the largest size of a number of the row.
INLINE double subtract_row_largest(double *row, const double *above, double factor, size_t count) {
    Simd f = simd_all(factor), largest = simd_all(0.0);
    for (size_t k = 0; k < count; k += (size_t)SIMD_COUNT) {
        Simd x = simd_load(row + k) - f * simd_load(above + k);
        simd_store(row + k, x);
        largest = simd_max(simd_abs(x), largest);
    }
    return simd_largest(largest);
}
