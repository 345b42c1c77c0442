// SPDX-License-Identifier: MIT
// Where a ray enters a primitive: closed forms in the primitive's own axes. A ray goes from its
// origin by its way, and ends there. What it begins in it does not see.
#pragma once

#include "world/shape.h"

typedef struct Ray {
    Vec3 origin, way;     // [m]; the way is not zero
    uint32_t group, mask; // as of primitives: each must be in a group that the other collides with
    uint32_t unseen_body; // index of one that it passes through; UINT32_MAX: none
} Ray;

// `fraction` of the way, in [0, 1], and the unit normal of the surface there, out of it. false: it
// does not enter.
bool ray_enters(const Primitive *primitive, Vec3 origin, Vec3 way, double *fraction, Vec3 *normal);

// The same of a primitive at a place, in the world.
bool ray_meets(const Ray *ray, const Primitive *primitive, Vec3 position, const Mat3 *axes,
               double *fraction, Vec3 *normal);
