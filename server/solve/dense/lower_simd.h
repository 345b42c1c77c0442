// SPDX-License-Identifier: MIT
// L^-1 of dense_factor's L, for SIMD_COUNT columns at a time: what columns that are solved
// and four rows that are factored have in common. Included by the files that are it.
#pragma once

#include "base/simd.h"

#include <stddef.h>

// Zeros, as one column alone passes over them at its begin, so that no zero changes its sign.
INLINE Simd taken(SimdMask live, Simd product) {
    return (Simd)((SimdMask)product & live);
}

// The first n of x := L^-1 x, L of rows `stride` apart, up to where all columns have begun; as far
// as that is.
INLINE size_t begin_lower(size_t n, size_t stride, const double *factor, Simd *x) {
    SimdMask live = (SimdMask)simd_all(0.0);
    size_t k = 0;
    for (; k < n && simd_any(~live); k++) {
        live |= x[k] != 0.0;
        for (size_t i = k + 1; i < n; i++) {
            x[i] -= taken(live, factor[i * stride + k] * x[k]);
        }
    }
    return k;
}

// All of it.
INLINE void solve_lower_group(size_t n, size_t stride, const double *factor, Simd *x) {
    for (size_t k = begin_lower(n, stride, factor, x); k + 1 < n; k += 2) {
        const double *row = factor + (k + 1) * stride + k;
        const Simd a = x[k], b = x[k + 1] - row[0] * a;
        x[k + 1] = b;
        row += stride;
        for (size_t i = k + 2; i < n; i++, row += stride) {
            x[i] = (x[i] - row[0] * a) - row[1] * b;
        }
    }
}
