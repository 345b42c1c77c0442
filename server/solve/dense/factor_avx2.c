// SPDX-License-Identifier: MIT
#include "solve/dense/dense.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "solve/dense/lower_simd.h"

#include <string.h>

// Four rows side by side, and where they meet: below the diagonal what is left of each for those of
// the four before it, on it what is left for itself.
typedef struct Four {
    Simd x[DENSE_FOURS_MAX], share[DENSE_FOURS_MAX];
    double corner[4][4], share_of[4][4];
    unsigned live; // bits: rows that have begun
} Four;

INLINE void take_rows(size_t n, size_t i, const double *matrix, Four *four) {
    const double *const row[4] = {matrix + i * n, matrix + (i + 1) * n, matrix + (i + 2) * n,
                                  matrix + (i + 3) * n};
    for (size_t k = 0; k < i; k += 4) {
        const SimdRows rows = simd_rows(row, (int)k);
        four->x[k] = rows.p;
        four->x[k + 1] = rows.q;
        four->x[k + 2] = rows.r;
        four->x[k + 3] = rows.s;
    }
    memset(four->corner, 0, sizeof(four->corner));
    for (size_t r = 0; r < 4; r++) {
        memcpy(four->corner[r], row[r] + i, (r + 1) * sizeof(double));
    }
}

// What the columns before the corner leave of it; and these columns' shares.
INLINE void reduce_corner(size_t n, size_t i, const double *factor, Four *four) {
    double(*c)[4] = four->corner;
    Simd a = {c[0][0], c[1][0], c[2][0], c[3][0]}, b = {c[0][1], c[1][1], c[2][1], c[3][1]};
    Simd d = {c[0][2], c[1][2], c[2][2], c[3][2]}, e = {c[0][3], c[1][3], c[2][3], c[3][3]};
    SimdMask live = (SimdMask)simd_all(0.0);
    for (size_t k = 0; k < i; k++) {
        const Simd x = four->x[k], share = x * factor[k * n + k];
        four->share[k] = share;
        live |= x != 0.0;
        a -= taken(live, share[0] * x);
        b -= taken(live, share[1] * x);
        d -= taken(live, share[2] * x);
        e -= taken(live, share[3] * x);
    }
    simd_transpose(&a, &b, &d, &e);
    *(SimdAnywhere *)c[0] = a;
    *(SimdAnywhere *)c[1] = b;
    *(SimdAnywhere *)c[2] = d;
    *(SimdAnywhere *)c[3] = e;
    four->live = simd_bits(live);
}

// Of a row of the corner what those above it there leave of it. Its pivot.
INLINE double end_row(size_t r, const double inverse[4], Four *four) {
    double *row = four->corner[r];
    bool is_live = (four->live >> r & 1) != 0;
    for (size_t q = 0; q < r; q++) {
        is_live = is_live || row[q] != 0.0;
        for (size_t p = q + 1; p < r && is_live; p++) {
            row[p] -= four->share_of[p][q] * row[q];
        }
    }
    double pivot = row[r];
    for (size_t q = 0; q < r; q++) {
        const double share = row[q] * inverse[q];
        pivot -= share * row[q];
        four->share_of[r][q] = share;
    }
    return pivot;
}

INLINE void keep_rows(size_t n, size_t i, const Four *four, double *factor) {
    for (size_t k = 0; k < i; k += 4) {
        Simd a = four->share[k], b = four->share[k + 1], c = four->share[k + 2],
             d = four->share[k + 3];
        simd_transpose(&a, &b, &c, &d);
        double *to = factor + i * n + k;
        *(SimdAnywhere *)to = a;
        *(SimdAnywhere *)(to + n) = b;
        *(SimdAnywhere *)(to + 2 * n) = c;
        *(SimdAnywhere *)(to + 3 * n) = d;
    }
    for (size_t r = 0; r < 4; r++) {
        memcpy(factor + (i + r) * n + i, four->share_of[r], (r + 1) * sizeof(double));
    }
}

__attribute__((target("avx2"))) bool dense_factor_fours_avx2(size_t n, const double *matrix,
                                                             double pivot_floor, double *factor) {
    Four four;
    for (size_t i = 0; i + 4 <= n; i += 4) {
        take_rows(n, i, matrix, &four);
        solve_lower_group(i, n, factor, four.x);
        reduce_corner(n, i, factor, &four);
        double inverse[4];
        for (size_t r = 0; r < 4; r++) {
            const double pivot = end_row(r, inverse, &four);
            if (!(pivot > pivot_floor)) {
                return false;
            }
            four.share_of[r][r] = inverse[r] = 1.0 / pivot;
        }
        keep_rows(n, i, &four, factor);
    }
    return true;
}

#endif
