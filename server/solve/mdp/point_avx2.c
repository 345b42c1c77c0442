// SPDX-License-Identifier: MIT
#include "solve/mdp/point.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "solve/mdp/point_simd.h"

__attribute__((target("avx2"))) void mdp_point_close_avx2(MdpPointQuad *quad, uint32_t begin,
                                                          uint32_t end) {
    close_quads(quad, begin, end);
}

__attribute__((target("avx2"))) void mdp_point_sweep_avx2(const MdpPoints *points, uint32_t begin,
                                                          uint32_t end, bool is_coulomb,
                                                          const MdpSum *sum) {
    sweep_quads(points, begin, end, is_coulomb, sum);
}

__attribute__((target("avx2"))) void mdp_point_push_avx2(const MdpPoints *points, uint32_t begin,
                                                         uint32_t end) {
    push_quads(points, begin, end);
}

#endif
