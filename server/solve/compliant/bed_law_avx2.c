// SPDX-License-Identifier: MIT
#include "solve/compliant/bed_law.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "solve/compliant/bed_law_simd.h"

__attribute__((target("avx2"))) void bed_law_pass_avx2(Bed *bed, BedLawKind kind, BedPass *pass) {
    law_pass_all(bed, kind, pass);
}

#endif
