// SPDX-License-Identifier: MIT
#include "solve/mdp/ball.h"

#include "base/assert.h"

#define SIMD_COUNT 2
#include "solve/mdp/ball_simd.h"

void mdp_ball_sweep(MdpQuad *quad, uint32_t begin, uint32_t end, MdpBody *body, MdpSum *sum) {
    VALIDATE(begin <= end);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        mdp_ball_sweep_avx2(quad, begin, end, body, sum);
        return;
    }
#endif
    sweep_quads(quad, begin, end, body, sum);
}

void mdp_ball_push(const MdpQuad *quad, uint32_t begin, uint32_t end, MdpBody *body) {
    VALIDATE(begin <= end);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        mdp_ball_push_avx2(quad, begin, end, body);
        return;
    }
#endif
    push_quads(quad, begin, end, body);
}
