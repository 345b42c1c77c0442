// SPDX-License-Identifier: MIT
#include "solve/mdp/ball.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "solve/mdp/ball_simd.h"

__attribute__((target("avx2"))) void mdp_ball_sweep_avx2(MdpQuad *quad, uint32_t begin,
                                                         uint32_t end, MdpBody *body, MdpSum *sum) {
    sweep_quads(quad, begin, end, body, sum);
}

__attribute__((target("avx2"))) void mdp_ball_push_avx2(const MdpQuad *quad, uint32_t begin,
                                                        uint32_t end, MdpBody *body) {
    push_quads(quad, begin, end, body);
}

#endif
