// SPDX-License-Identifier: MIT
#include "solve/block_slide.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "solve/block_slide_simd.h"

__attribute__((target("avx2"))) void mdp_slide_converge_avx2(MdpSlide *slide, uint32_t count,
                                                             int steps) {
    converge_slides(slide, count, steps);
}

#endif
