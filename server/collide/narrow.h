// SPDX-License-Identifier: MIT
// The narrow phase: where two convex primitives touch or nearly touch. One table of primitive
// pairs, one file per pair or algorithm.
//
// A result is a manifold: a unit normal from a to b and up to eight points with their gaps
// (negative: overlap), each midway between the two surfaces along the normal, and each with a
// feature id that stays the same while the same features touch (a vertex of a on a face of b, an
// edge of a on an edge of b, …), so that impulses find their way to the next step. All points of a
// manifold are different features. Pure functions of their arguments, and symmetric: swapping a and
// b turns the normal around and changes nothing else but the feature ids.
// Pairs with a hull tell in their lower half what of the smaller kind touches, in the upper what of
// the other one.
#pragma once

#include "base/vec.h"
#include "world/shape.h"

enum {
    MANIFOLD_SPREAD = 4,    // points, of those that are not equally low
    MANIFOLD_POINT_MAX = 8, // where two rectangles lie on each other
    MANIFOLD_ROOM = 9,      // approach.h may add one
};

typedef struct ManifoldPoint {
    Vec3 position;    // world [m]
    double gap;       // [m]
    uint64_t feature; // different for the points of one manifold
} ManifoldPoint;

typedef struct Manifold {
    Vec3 normal; // unit, world, from a to b
    uint32_t count;
    ManifoldPoint point[MANIFOLD_ROOM];
} Manifold;

// The points with gap <= reach, none (count 0) when the primitives are farther apart. `pose_*` are
// the primitives' own poses in the world. reach >= 0, finite.
void narrow_collide_at(const Primitive *a, const Pose *pose_a, const Primitive *b,
                       const Pose *pose_b, double reach, Manifold *manifold);

// The same for poses that are at hand as values.
static inline void narrow_collide(const Primitive *a, Pose pose_a, const Primitive *b, Pose pose_b,
                                  double reach, Manifold *manifold) {
    narrow_collide_at(a, &pose_a, b, &pose_b, reach, manifold);
}

// false: this pair of kinds has no narrow phase (two planes); such pairs never touch
bool narrow_has(PrimitiveKind a, PrimitiveKind b);
