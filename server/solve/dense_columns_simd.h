// SPDX-License-Identifier: MIT
// What dense_columns.h says, for SIMD_COUNT columns at a time. Included by the files that are it.
#pragma once

#include "base/simd.h"
#include "solve/dense_columns.h"

enum { GROUPS = DENSE_COLUMNS / SIMD_COUNT };

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

// x := (L D L^T)^-1 x; x^T times that.
INLINE Simd solve_group(size_t n, const double *factor, Simd *x) {
    for (size_t k = begin_lower(n, factor, x); k + 1 < n; k += 2) {
        const double *row = factor + (k + 1) * n + k;
        const Simd a = x[k], b = x[k + 1] - row[0] * a;
        x[k + 1] = b;
        row += n;
        for (size_t i = k + 2; i < n; i++, row += n) {
            x[i] = (x[i] - row[0] * a) - row[1] * b;
        }
    }
    Simd square = simd_all(0.0);
    for (size_t k = 0; k < n; k++) {
        square += x[k] * x[k] * factor[k * n + k];
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
    return square;
}

// The first once more where there are fewer, so that none is kept waiting.
INLINE void solve_columns(size_t n, const double *factor, DenseColumn *column, uint32_t count) {
    const double *from[DENSE_COLUMNS];
    Simd x[GROUPS][DENSE_COLUMNS_WIDTH], square[GROUPS];
    for (uint32_t k = 0; k < DENSE_COLUMNS; k++) {
        from[k] = column[k < count ? k : 0].from;
    }
    for (size_t i = 0; i < n; i++) {
        const double at[DENSE_COLUMNS] = {from[0][i], from[1][i], from[2][i], from[3][i]};
        for (size_t g = 0; g < GROUPS; g++) {
            x[g][i] = SIMD_OF(at + SIMD_COUNT * g, );
        }
    }
    for (size_t g = 0; g < GROUPS; g++) {
        square[g] = solve_group(n, factor, x[g]);
    }
    for (uint32_t k = 0; k < count; k++) {
        for (size_t i = 0; i < n; i++) {
            column[k].to[i] = x[k / SIMD_COUNT][i][k % SIMD_COUNT];
        }
        column[k].square = square[k / SIMD_COUNT][k % SIMD_COUNT];
    }
}
