// SPDX-License-Identifier: MIT
#include "base/ldlt_kernel.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "base/ldlt_kernel_simd.h"

__attribute__((target("avx2"))) void ldlt_kernel_avx2(const LdltProduct *product) {
    multiply_tiles(product);
}

#endif
