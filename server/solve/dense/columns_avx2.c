// SPDX-License-Identifier: MIT
#include "solve/dense/columns.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "solve/dense/columns_simd.h"

__attribute__((target("avx2"))) void dense_solve_columns_avx2(size_t n, const double *factor,
                                                              DenseColumn *column, uint32_t count) {
    solve_columns(n, factor, column, count);
}

#endif
