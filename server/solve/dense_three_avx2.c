// SPDX-License-Identifier: MIT
#include "solve/dense_three.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "solve/dense_three_simd.h"

__attribute__((target("avx2"))) void dense_solve_three_avx2(size_t n, const double *factor,
                                                            const double *from, double *x) {
    solve_three(n, factor, from, x);
}

#endif
