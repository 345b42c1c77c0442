// SPDX-License-Identifier: MIT
#include "solve/mdp/point_fill.h"

#include "base/assert.h"

#define SIMD_COUNT 2
#include "solve/mdp/point_fill_simd.h"

unsigned mdp_point_fill(const MdpPointSource *from, MdpPointQuad *quad) {
    VALIDATE(from->contact[0] != NULL);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        return mdp_point_fill_avx2(from, quad);
    }
#endif
    return fill_quad(from, quad);
}
