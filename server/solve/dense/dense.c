// SPDX-License-Identifier: MIT
// Sums are made column by column, four or two columns at a time, so that no addition waits for the
// one before it, and what is summed up is seldom stored between two of them.
#include "solve/dense/dense.h"

#include "base/assert.h"

#include <string.h>

// The first n of x := L^-1 x, L of rows `stride` apart.
static inline void solve_lower(size_t n, size_t stride, const double *factor, double *x) {
    size_t k = 0;
    while (k < n && x[k] == 0.0) { // rows of joints begin with many
        k++;
    }
    for (; k + 4 < n; k += 4) {
        const double *row = factor + (k + 1) * stride + k;
        const double a = x[k], b = x[k + 1] - row[0] * a;
        row += stride;
        const double c = (x[k + 2] - row[0] * a) - row[1] * b;
        row += stride;
        const double d = ((x[k + 3] - row[0] * a) - row[1] * b) - row[2] * c;
        x[k + 1] = b;
        x[k + 2] = c;
        x[k + 3] = d;
        row += stride;
        for (size_t i = k + 4; i < n; i++, row += stride) {
            x[i] = (((x[i] - row[0] * a) - row[1] * b) - row[2] * c) - row[3] * d;
        }
    }
    for (; k + 1 < n; k += 2) {
        const double *row = factor + (k + 1) * stride + k;
        const double a = x[k], b = x[k + 1] - row[0] * a;
        x[k + 1] = b;
        row += stride;
        for (size_t i = k + 2; i < n; i++, row += stride) {
            x[i] = (x[i] - row[0] * a) - row[1] * b;
        }
    }
}

// Row by row from i on: each is what those above it leave of it.
static bool factor_from(size_t i, size_t n, const double *matrix, double pivot_floor,
                        double *factor) {
    for (; i < n; i++) {
        double *row = factor + i * n;
        if (matrix != factor) {
            memcpy(row, matrix + i * n, (i + 1) * sizeof(double));
        }
        solve_lower(i, n, factor, row);
        double pivot = row[i];
        for (size_t k = 0; k < i; k++) {
            const double share = row[k] * factor[k * n + k];
            pivot -= share * row[k];
            row[k] = share;
        }
        if (!(pivot > pivot_floor)) {
            return false;
        }
        row[i] = 1.0 / pivot;
    }
    return true;
}

bool dense_factor(size_t n, const double *matrix, double pivot_floor, double *factor) {
    ASSERT(n > 0);
    size_t done = 0;
#if defined(__x86_64__)
    if (n >= DENSE_FOURS_MIN && n <= DENSE_FOURS_MAX && __builtin_cpu_supports("avx2")) {
        if (!dense_factor_fours_avx2(n, matrix, pivot_floor, factor)) {
            return false;
        }
        done = n / 4 * 4;
    }
#endif
    return factor_from(done, n, matrix, pivot_floor, factor);
}

// x := L^-T x
static inline void solve_upper(size_t n, const double *factor, double *x) {
    size_t i = n;
    for (; i >= 4; i -= 4) {
        const double *row = factor + (i - 1) * n, *row_c = row - n, *row_b = row_c - n,
                     *row_a = row_b - n;
        const double d = x[i - 1], c = x[i - 2] - row[i - 2] * d,
                     b = (x[i - 3] - row[i - 3] * d) - row_c[i - 3] * c,
                     a = ((x[i - 4] - row[i - 4] * d) - row_c[i - 4] * c) - row_b[i - 4] * b;
        x[i - 2] = c;
        x[i - 3] = b;
        x[i - 4] = a;
        for (size_t k = 0; k + 4 < i; k++) {
            x[k] = (((x[k] - row[k] * d) - row_c[k] * c) - row_b[k] * b) - row_a[k] * a;
        }
    }
    for (; i >= 2; i -= 2) {
        const double *lower = factor + (i - 1) * n, *upper = lower - n;
        const double b = x[i - 1], a = x[i - 2] - lower[i - 2] * b;
        x[i - 2] = a;
        for (size_t k = 0; k + 2 < i; k++) {
            x[k] = (x[k] - lower[k] * b) - upper[k] * a;
        }
    }
}

double dense_solve(size_t n, const double *factor, double *x) {
    ASSERT(n > 0);
    solve_lower(n, n, factor, x);
    double square = 0.0;
    for (size_t k = 0; k < n; k++) {
        square += x[k] * x[k] * factor[k * n + k];
        x[k] *= factor[k * n + k];
    }
    solve_upper(n, factor, x);
    return square;
}

double dense_square(size_t n, const double *factor, double *x) {
    ASSERT(n > 0);
    solve_lower(n, n, factor, x);
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) {
        sum += x[k] * x[k] * factor[k * n + k];
    }
    return sum;
}
