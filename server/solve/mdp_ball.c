// SPDX-License-Identifier: MIT
#include "solve/mdp_ball.h"

#define SIMD_COUNT 2
#include "solve/mdp_ball_simd.h"

double mdp_ball_sweep(MdpQuad *quad, uint32_t begin, uint32_t end, MdpBody *body, MdpIsland *island,
                      double largest) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        return mdp_ball_sweep_avx2(quad, begin, end, body, island, largest);
    }
#endif
    return sweep_quads(quad, begin, end, body, island, largest);
}
