// SPDX-License-Identifier: MIT
#include "solve/block_slide.h"

#include "base/assert.h"

#define SIMD_COUNT 2
#include "solve/block_slide_simd.h"

void mdp_slide_converge(MdpSlide *slide, uint32_t count, int steps) {
    ASSERT(steps > 0);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        mdp_slide_converge_avx2(slide, count, steps);
        return;
    }
#endif
    converge_slides(slide, count, steps);
}
