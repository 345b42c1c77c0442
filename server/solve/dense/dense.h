// SPDX-License-Identifier: MIT
// Small dense symmetric positive definite matrices, row by row: what mass blocks and joint blocks
// are factored with.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The factor L D L^T of `matrix` (n x n; its lower triangle is read) into `factor` (n x n; its
// lower triangle is written, the inverses of D on its diagonal; may be `matrix` itself). false,
// with the factor unfinished, when a pivot is not above `pivot_floor` (NaN is not).
bool dense_factor(size_t n, const double *matrix, double pivot_floor, double *factor);

// Its first n / 4 * 4 rows, four at a time, as one alone waits for those above it more than it
// computes; each becomes what it becomes alone, bit by bit. For machines with AVX2 only, and for
// widths at which it is worth it, and has room.
enum { DENSE_FOURS_MIN = 16, DENSE_FOURS_MAX = 64 };
bool dense_factor_fours_avx2(size_t n, const double *matrix, double pivot_floor, double *factor);

// in place: x := (L D L^T)^-1 x; returns what dense_square says of x as it was.
double dense_solve(size_t n, const double *factor, double *x);

// x^T (L D L^T)^-1 x, half of the way there; x is lost.
double dense_square(size_t n, const double *factor, double *x);

static inline double dense_product(const double *a, const double *b, size_t n) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}
