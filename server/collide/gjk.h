// SPDX-License-Identifier: MIT
// The closest points of two convex bodies that are apart, by the algorithm of Gilbert, Johnson and
// Keerthi (1988): the Minkowski difference a - b is explored by support points until no further one
// is nearer to the origin than the simplex at hand.
//
// A body is anything that can name its farthest point along a direction. For polytopes the answer
// is exact to rounding: points agree to about 1e-15 of the bodies' size, and so does the normal,
// also where a nearer simplex is nearer by less than a rounding. Give points relative to an
// origin near the bodies.
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct GjkPoint {
    Vec3 position;
    uint32_t vertex; // names the point on its body as long as the body has corners
} GjkPoint;

// The point of a body that is farthest along a direction, which need not be a unit vector.
typedef GjkPoint GjkSupport(const void *body, Vec3 direction);

typedef struct GjkBody {
    GjkSupport *support;
    const void *body; // borrowed
} GjkBody;

// A support point of the difference a - b, and the points of the two that make it.
typedef struct GjkVertex {
    Vec3 w; // a - b
    GjkPoint a, b;
    double weight; // barycentric, of the point nearest to the origin
} GjkVertex;

// What the search ended with: where the two are apart, the vertices that span the closest point
// (one to three); else some of which the hull holds the origin (one to four), without weights.
typedef struct GjkSimplex {
    GjkVertex vertex[4];
    int count;
} GjkSimplex;

typedef struct GjkResult {
    bool is_apart;         // false: they touch or overlap, and nothing below is set
    bool is_far;           // then nothing below is set either
    double distance;       // > 0
    Vec3 normal;           // unit, from a to b
    Vec3 point_a, point_b; // closest points
    uint32_t corners_a;    // 1 << vertex % 32 for each vertex that spans the closest point
    uint32_t corners_b;
} GjkResult;

GjkVertex gjk_vertex(const GjkBody *a, const GjkBody *b, Vec3 direction);

// `toward` is a guess at the direction from a to b; any non-zero vector is right, a good one saves
// rounds.
GjkResult gjk_distance(GjkBody a, GjkBody b, Vec3 toward);

// When a search ends: where a support point would bring the two nearer by less than `progress` of
// their squared distance: some roundings, 1e-14, as above; or more, where round bodies would take
// many rounds and somebody else knows the rest. And where a plane is found that parts them by more
// than `far` (HUGE_VAL: never).
typedef struct GjkEnd {
    double progress, far;
} GjkEnd;

// The same, with what the search ended with; of what is far, nothing.
GjkResult gjk_search(GjkBody a, GjkBody b, Vec3 toward, const GjkEnd *end, GjkSimplex *simplex);
