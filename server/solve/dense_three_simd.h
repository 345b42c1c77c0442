// SPDX-License-Identifier: MIT
// What dense_three.h says, for SIMD_COUNT columns at a time. Included by the files that are it.
#pragma once

#include "base/simd.h"
#include "solve/dense_three.h"

enum { GROUPS = 4 / SIMD_COUNT };

// Zeros, as one column alone passes over them at its begin, so that no zero changes its sign.
INLINE Simd taken(SimdMask live, Simd product) {
    return (Simd)((SimdMask)product & live);
}

// x := L^-1 x up to where all columns have begun; as far as that is.
INLINE size_t begin_lower(size_t n, const double *factor, Simd *x) {
    SimdMask live = (SimdMask)simd_all(0.0);
    size_t k = 0;
    for (; k < n && simd_any(~live); k++) {
        live |= x[k] != 0.0;
        for (size_t i = k + 1; i < n; i++) {
            x[i] -= taken(live, factor[i * n + k] * x[k]);
        }
    }
    return k;
}

INLINE void solve_group(size_t n, const double *factor, Simd *x) {
    for (size_t k = begin_lower(n, factor, x); k + 1 < n; k += 2) {
        const double *row = factor + (k + 1) * n + k;
        const Simd a = x[k], b = x[k + 1] - row[0] * a;
        x[k + 1] = b;
        row += n;
        for (size_t i = k + 2; i < n; i++, row += n) {
            x[i] = (x[i] - row[0] * a) - row[1] * b;
        }
    }
    for (size_t k = 0; k < n; k++) {
        x[k] *= factor[k * n + k];
    }
    for (size_t i = n; i >= 2; i -= 2) {
        const double *lower = factor + (i - 1) * n, *upper = lower - n;
        const Simd b = x[i - 1], a = x[i - 2] - lower[i - 2] * b;
        x[i - 2] = a;
        for (size_t k = 0; k + 2 < i; k++) {
            x[k] = (x[k] - lower[k] * b) - upper[k] * a;
        }
    }
}

// The fourth column is nobody's, and not zero, so that it keeps none waiting.
INLINE void solve_three(size_t n, const double *factor, const double *from, double *x) {
    Simd column[GROUPS][DENSE_THREE_MAX];
    for (size_t i = 0; i < n; i++) {
        const double at[4] = {from[i], from[n + i], from[2 * n + i], 1.0};
        for (size_t g = 0; g < GROUPS; g++) {
            column[g][i] = SIMD_OF(at + SIMD_COUNT * g, );
        }
    }
    for (size_t g = 0; g < GROUPS; g++) {
        solve_group(n, factor, column[g]);
    }
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < n; i++) {
            x[k * n + i] = column[k / SIMD_COUNT][i][k % SIMD_COUNT];
        }
    }
}
