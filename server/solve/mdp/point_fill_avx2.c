// SPDX-License-Identifier: MIT
#include "solve/mdp/point_fill.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "solve/mdp/point_fill_simd.h"

__attribute__((target("avx2"))) unsigned mdp_point_fill_avx2(const MdpPointSource *from,
                                                             MdpPointQuad *quad) {
    return fill_quad(from, quad);
}

#endif
