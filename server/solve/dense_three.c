// SPDX-License-Identifier: MIT
#include "solve/dense_three.h"

#include "base/assert.h"
#include "solve/dense.h"

#include <string.h>

#define SIMD_COUNT 2
#include "solve/dense_three_simd.h"

void dense_solve_three(size_t n, const double *factor, const double *from, double *x) {
    ASSERT(n > 0);
    ASSERT(from != x);
    if (n > DENSE_THREE_MAX) {
        memcpy(x, from, 3 * n * sizeof(double));
        for (size_t k = 0; k < 3; k++) {
            dense_solve(n, factor, x + k * n);
        }
        return;
    }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        dense_solve_three_avx2(n, factor, from, x);
        return;
    }
#endif
    solve_three(n, factor, from, x);
}
