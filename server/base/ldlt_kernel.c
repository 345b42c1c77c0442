// SPDX-License-Identifier: MIT
#include "base/ldlt_kernel.h"

#define SIMD_COUNT 2
#include "base/ldlt_kernel_simd.h"

void ldlt_kernel(const LdltProduct *product) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        ldlt_kernel_avx2(product);
        return;
    }
#endif
    multiply_tiles(product);
}
