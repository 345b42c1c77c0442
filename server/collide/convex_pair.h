// SPDX-License-Identifier: MIT
// Two convex bodies, and a half-space and one, as convex.h has them: what narrow_parts.h asks by
// primitives, with features of their own for each side.
#pragma once

#include "collide/convex.h"
#include "collide/narrow.h"

typedef struct ConvexPoint {
    Vec3 position; // midway between the two surfaces [m]
    double gap;    // [m]
    // Where one of the two is a hull: what of each touches (convex.h), stable while it does, and
    // the same whichever of two faces the points were found on. Else the pair's number, and 0.
    uint32_t feature[2];
} ConvexPoint;

typedef struct ConvexManifold {
    Vec3 normal;     // unit, from the first to the second
    bool is_of_face; // what lies over a flat side; else what is nearest
    uint32_t count;
    ConvexPoint point[MANIFOLD_POINT_MAX];
} ConvexManifold;

// A body of one of the two ways to say it.
typedef struct ConvexBody {
    const Primitive *primitive; // bounded; not looked at where there is a hull
    const Hull *hull;           // Nullable
    const Pose *pose;
} ConvexBody;

// The points with gap <= reach, in the world, the features in the bodies' order. Symmetric: swapped
// bodies give the same bits, with the normal turned around.
void convex_meet(const ConvexBody body[2], double reach, ConvexManifold *manifold);

// What is nearest alone, however flat they lie on each other: one point.
void convex_meet_nearest(const ConvexBody body[2], ConvexManifold *manifold);

// What convex_meet says of two as they are, in that order, from their origin.
void convex_collide(const Convex pair[2], double reach, ConvexManifold *manifold);

// What of a body lies lowest over the half-space below a point, along its normal, which is the
// manifold's.
void convex_rest(Vec3 point, Vec3 up, const Convex *convex, double reach, ConvexManifold *manifold);
