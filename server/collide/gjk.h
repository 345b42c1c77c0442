// SPDX-License-Identifier: MIT
// The closest points of two convex bodies that are apart, by the algorithm of Gilbert, Johnson and
// Keerthi (1988): the Minkowski difference a - b is explored by support points until no further one
// is nearer to the origin than the simplex at hand.
//
// A body is anything that can name its farthest point along a direction. For polytopes the answer
// is exact to rounding: points agree to about 1e-15 of the bodies' size. Give points relative to an
// origin near the bodies.
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct GjkPoint {
    Vec3 position;
    uint32_t vertex; // below 32; names the point on its body as long as the body has corners
} GjkPoint;

// The point of a body that is farthest along a direction, which need not be a unit vector.
typedef GjkPoint GjkSupport(const void *body, Vec3 direction);

typedef struct GjkBody {
    GjkSupport *support;
    const void *body; // borrowed
} GjkBody;

typedef struct GjkResult {
    bool is_apart;         // false: they touch or overlap, and nothing below is set
    double distance;       // > 0
    Vec3 normal;           // unit, from a to b
    Vec3 point_a, point_b; // closest points
    uint32_t corners_a;    // one bit for each vertex that spans the closest point
    uint32_t corners_b;
} GjkResult;

// `toward` is a guess at the direction from a to b; any non-zero vector is right, a good one saves
// rounds.
GjkResult gjk_distance(GjkBody a, GjkBody b, Vec3 toward);
