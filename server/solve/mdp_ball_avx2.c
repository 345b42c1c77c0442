// SPDX-License-Identifier: MIT
#include "solve/mdp_ball.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#include "solve/mdp_ball_simd.h"

__attribute__((target("avx2"))) double mdp_ball_sweep_avx2(MdpQuad *quad, uint32_t begin,
                                                           uint32_t end, MdpBody *body,
                                                           MdpIsland *island, double largest) {
    return sweep_quads(quad, begin, end, body, island, largest);
}

#endif
