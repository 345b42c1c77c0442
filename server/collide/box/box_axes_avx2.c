// SPDX-License-Identifier: MIT
#include "collide/box/box_axes.h"

#if defined(__x86_64__)

#include <assert.h>

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "collide/box/box_axes_simd.h"

__attribute__((target("avx2"))) bool box_axes_find_avx2(const Box box[2], Vec3 offset, double reach,
                                                        BoxAxes *axes) {
    return find_axes(box, offset, reach, axes);
}

#endif
