// SPDX-License-Identifier: MIT
// What columns.h says, for SIMD_COUNT columns at a time. Included by the files that are it.
#pragma once

#include "solve/dense/columns.h"
#include "solve/dense/lower_simd.h"

enum { GROUPS = DENSE_COLUMNS / SIMD_COUNT };

// x := (L D L^T)^-1 x; x^T times that.
INLINE Simd solve_group(size_t n, const double *factor, Simd *x) {
    solve_lower_group(n, n, factor, x);
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
