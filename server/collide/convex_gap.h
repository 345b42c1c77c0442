// SPDX-License-Identifier: MIT
// The gap of two convex bodies: the greatest distance, over all directions, of the planes that hold
// them apart; where they overlap, the least depth, negative.
//
// gjk.h and epa.h come near the direction: to rounding where both bodies have corners; where one is
// round, by points of it. What meets there, a point, a line or a circle, then says it exactly
// (Newton's method for circles), and is taken where it proves itself: the planes are farther apart,
// and the two points lie on them, over each other.
#pragma once

#include "collide/convex.h"

typedef struct ConvexGap {
    Vec3 normal;    // unit, from the first to the second
    double gap;     // [m]
    Vec3 direction; // the normal, as long as the axes made it
    Vec3 on_first;  // nearest points, on the surfaces; of several that are as near, one
    Vec3 on_second;
    uint32_t corner[2];  // 1 + the vertex that is nearest; 0: something else, or several
    uint32_t feature[2]; // of what has corners, as convex.h has it; else CONVEX_ROUND
    bool is_proven;      // the points are on both bodies and on the planes across the normal
} ConvexGap;

// false: they are farther apart than `reach`.
bool convex_gap(const Convex pair[2], double reach, ConvexGap *gap);

// Where nothing has proven the nearest points, looks for them: not before somebody asks for them.
void convex_gap_settle(const Convex pair[2], ConvexGap *gap);

// How far apart the planes are that hold the two along a unit vector.
double convex_separation(const Convex pair[2], Vec3 normal);
