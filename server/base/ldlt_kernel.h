// SPDX-License-Identifier: MIT
// The product that a sparse factorisation is made of, several numbers at a time:
//
//   ldlt_kernel_simd.h    the loops, in tiles of vectors of SIMD_COUNT
//   ldlt_kernel_avx2.c    four of them, where the machine has AVX2
//   ldlt_kernel.c         two of them, which every machine has; the choice
//
// Every number of the result is a sum over the columns in their order, starting with 0, wherever in
// a vector or tile it stands: all machines give the same bits.
#pragma once

#include <stddef.h>

// How far beyond their end the numbers of the left factor are read, and the product written.
enum { LDLT_KERNEL_SLACK = 8 };

// c := a b^T. a: rows x depth, b: columns x depth, c: rows x columns, all column by column, a
// column a_stride, b_stride and c_stride after the one before; c_stride is at least rows rounded up
// to whole LDLT_KERNEL_SLACK, and what is in c between columns is lost.
typedef struct LdltProduct {
    size_t rows, columns, depth;
    const double *a, *b;
    size_t a_stride, b_stride;
    double *c;
    size_t c_stride;
} LdltProduct;

void ldlt_kernel(const LdltProduct *product);

// The same, for machines with AVX2 only.
void ldlt_kernel_avx2(const LdltProduct *product);
