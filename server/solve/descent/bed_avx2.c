// SPDX-License-Identifier: MIT
#include "solve/descent/bed.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "solve/descent/bed_simd.h"

__attribute__((target("avx2"))) void bed_pass_avx2(Bed *bed, BedKind kind, BedPass *pass) {
    bed_pass_all(bed, kind, pass);
}

#endif
