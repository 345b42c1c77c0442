// SPDX-License-Identifier: MIT
// The product of ldlt_kernel.h with vectors of SIMD_COUNT: the file that includes this says how
// many.
#pragma once

#include "base/ldlt_kernel.h"
#include "base/simd.h"

// two vectors of rows and four columns of the product: as many sums as there are registers for
INLINE void multiply_four(const LdltProduct *p, size_t row, size_t column) {
    const double *a = p->a + row, *b = p->b + column;
    Simd zero = simd_all(0.0);
    Simd c00 = zero, c01 = zero, c02 = zero, c03 = zero;
    Simd c10 = zero, c11 = zero, c12 = zero, c13 = zero;
    for (size_t k = 0; k < p->depth; k++) {
        Simd a0 = simd_load_anywhere(a), a1 = simd_load_anywhere(a + SIMD_COUNT);
        Simd b0 = simd_all(b[0]), b1 = simd_all(b[1]), b2 = simd_all(b[2]), b3 = simd_all(b[3]);
        c00 += a0 * b0;
        c10 += a1 * b0;
        c01 += a0 * b1;
        c11 += a1 * b1;
        c02 += a0 * b2;
        c12 += a1 * b2;
        c03 += a0 * b3;
        c13 += a1 * b3;
        a += p->a_stride;
        b += p->b_stride;
    }
    double *c = p->c + row + column * p->c_stride;
    *(SimdAnywhere *)c = c00;
    *(SimdAnywhere *)(c + SIMD_COUNT) = c10;
    c += p->c_stride;
    *(SimdAnywhere *)c = c01;
    *(SimdAnywhere *)(c + SIMD_COUNT) = c11;
    c += p->c_stride;
    *(SimdAnywhere *)c = c02;
    *(SimdAnywhere *)(c + SIMD_COUNT) = c12;
    c += p->c_stride;
    *(SimdAnywhere *)c = c03;
    *(SimdAnywhere *)(c + SIMD_COUNT) = c13;
}

INLINE void multiply_one(const LdltProduct *p, size_t row, size_t column) {
    const double *a = p->a + row, *b = p->b + column;
    Simd c0 = simd_all(0.0), c1 = c0;
    for (size_t k = 0; k < p->depth; k++) {
        Simd b0 = simd_all(b[0]);
        c0 += simd_load_anywhere(a) * b0;
        c1 += simd_load_anywhere(a + SIMD_COUNT) * b0;
        a += p->a_stride;
        b += p->b_stride;
    }
    double *c = p->c + row + column * p->c_stride;
    *(SimdAnywhere *)c = c0;
    *(SimdAnywhere *)(c + SIMD_COUNT) = c1;
}

INLINE void multiply_tiles(const LdltProduct *p) {
    const size_t tile = 2 * (size_t)SIMD_COUNT;
    size_t column = 0;
    for (; column + 4 <= p->columns; column += 4) {
        for (size_t row = 0; row < p->rows; row += tile) {
            multiply_four(p, row, column);
        }
    }
    for (; column < p->columns; column++) {
        for (size_t row = 0; row < p->rows; row += tile) {
            multiply_one(p, row, column);
        }
    }
}
