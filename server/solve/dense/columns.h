// SPDX-License-Identifier: MIT
// Up to four columns solved at once, as contacts have them, and the rows of a tree: one alone waits
// for its factor more than it computes. Each becomes what dense_solve makes of it, and its square
// what dense_square says, bit by bit, on every machine:
//
//   columns_simd.h    the solve, for vectors of SIMD_COUNT columns
//   columns_avx2.c    four of them, where the machine has AVX2
//   columns.c         two of them, which every machine has; the choice
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    DENSE_COLUMNS = 4,
    DENSE_COLUMNS_WIDTH = 64, // wider ones are solved one by one
};

typedef struct DenseColumn {
    const double *from; // b
    double *to;         // (L D L^T)^-1 b; may be `from`
    double square;      // b^T (L D L^T)^-1 b
} DenseColumn;

// `factor` is dense_factor's.
void dense_solve_columns(size_t n, const double *factor, DenseColumn *column, uint32_t count);

// The same, up to DENSE_COLUMNS_WIDTH, for machines with AVX2 only.
void dense_solve_columns_avx2(size_t n, const double *factor, DenseColumn *column, uint32_t count);
