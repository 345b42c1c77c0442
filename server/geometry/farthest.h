// SPDX-License-Identifier: MIT
// The vertex of few that is farthest along a direction: inlined, as searches ask for little else.
#pragma once

#include "base/vec.h"

#include <stdint.h>

enum { HULL_LINEAR_MAX = 32 }; // up to so many vertices asking all is as fast as climbing

// Of those that are as far the first.
static inline uint32_t farthest_of(const Vec3 *point, uint32_t count, Vec3 direction) {
    uint32_t farthest = 0;
    double best = vec3_dot(direction, point[0]);
    for (uint32_t i = 1; i < count; i++) {
        const double along = vec3_dot(direction, point[i]);
        farthest = along > best ? i : farthest;
        best = along > best ? along : best;
    }
    return farthest;
}
