// SPDX-License-Identifier: MIT
#include "solve/lcp/row.h"

#include "base/assert.h"

#define SIMD_COUNT 2
#include "solve/lcp/row_simd.h"

void lcp_row_subtract(double *row, const double *above, double factor, size_t count) {
    VALIDATE(count % 8 == 0);
    VALIDATE((uintptr_t)row % 64 == 0);
    VALIDATE((uintptr_t)above % 64 == 0);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        lcp_row_subtract_avx2(row, above, factor, count);
        return;
    }
#endif
    subtract_row(row, above, factor, count);
}

double lcp_row_subtract_largest(double *row, const double *above, double factor, size_t count) {
    VALIDATE(count % 8 == 0);
    VALIDATE((uintptr_t)row % 64 == 0);
    VALIDATE((uintptr_t)above % 64 == 0);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        return lcp_row_subtract_largest_avx2(row, above, factor, count);
    }
#endif
    return subtract_row_largest(row, above, factor, count);
}
