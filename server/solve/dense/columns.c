// SPDX-License-Identifier: MIT
#include "solve/dense/columns.h"

#include "base/assert.h"
#include "solve/dense/dense.h"

#include <string.h>

#define SIMD_COUNT 2
#include "solve/dense/columns_simd.h"

void dense_solve_columns(size_t n, const double *factor, DenseColumn *column, uint32_t count) {
    ASSERT(n > 0);
    ASSERT(count >= 1 && count <= DENSE_COLUMNS);
    if (n > DENSE_COLUMNS_WIDTH || count == 1) {
        for (uint32_t k = 0; k < count; k++) {
            memmove(column[k].to, column[k].from, n * sizeof(double));
            column[k].square = dense_solve(n, factor, column[k].to);
        }
        return;
    }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        dense_solve_columns_avx2(n, factor, column, count);
        return;
    }
#endif
    solve_columns(n, factor, column, count);
}
