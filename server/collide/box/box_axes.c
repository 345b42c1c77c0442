// SPDX-License-Identifier: MIT
#include "collide/box/box_axes.h"

#include "base/assert.h"

#include <assert.h>

#define SIMD_COUNT 4
#include "collide/box/box_axes_simd.h"

bool box_axes_find(const Box box[2], Vec3 offset, double reach, BoxAxes *axes) {
    ASSERT(reach >= 0.0);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        return box_axes_find_avx2(box, offset, reach, axes);
    }
#endif
    return find_axes(box, offset, reach, axes);
}
