// SPDX-License-Identifier: MIT
#include "solve/lcp/row.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "solve/lcp/row_simd.h"

__attribute__((target("avx2"))) void lcp_row_subtract_avx2(double *row, const double *above,
                                                           double factor, size_t count) {
    subtract_row(row, above, factor, count);
}

__attribute__((target("avx2"))) double
lcp_row_subtract_largest_avx2(double *row, const double *above, double factor, size_t count) {
    return subtract_row_largest(row, above, factor, count);
}

#endif
