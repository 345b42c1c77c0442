// SPDX-License-Identifier: MIT
// What the pairs with capsules share: the axis, the names of its features, and when a capsule lies
// along something.
//
// A capsule that lies along a plane, a face, an edge or another capsule touches it in a line, and
// rests on the two ends of that line. Each end is a point of the axis and the nearest point to it
// of what it lies on; its gap is taken along the manifold's one normal. So the line counts only
// while both ends lie off along that normal, but for a part of the (smaller) radius: there the
// price of the one normal is 2e-4 of the radius in the farther gap, and the smallest gap is exact.
// A point is that of the ball about its place on the axis: a capsule is all of these balls, and is
// over a plane when those of its ends are.
#pragma once

#include "base/vec.h"
#include "world/shape.h"

#include <stdbool.h>

enum {
    CAPSULE_NEAREST = 0, // one point, wherever it is
    CAPSULE_LOW = 1,     // + 1 for the upper end of a line, along the axis of the capsule
};

typedef struct Axis {
    Vec3 center, direction; // unit
    Vec3 across;            // to it: where nothing else tells a direction, as good as any
    double half;            // [m]
} Axis;

Axis capsule_axis(const Primitive *capsule, const Pose *pose);

static inline Vec3 axis_point(const Axis *axis, double along) {
    return vec3_add_scaled(axis->center, along, axis->direction);
}

// of the radius: how far beside the normal an end of a line may lie
#define CAPSULE_ASIDE_PART 0.02

// Whether an offset goes along the normal, forwards or backwards.
static inline bool capsule_is_along(Vec3 offset, Vec3 n, double radius) {
    Vec3 beside = vec3_add_scaled(offset, -vec3_dot(n, offset), n);
    double allowed = CAPSULE_ASIDE_PART * radius;
    return vec3_dot(beside, beside) <= allowed * allowed;
}

// Whether one of the two ends is as near as the nearest point of all, but for rounding.
static inline bool capsule_holds_nearest(const double gaps[2], double nearest, double size) {
    return fmin(gaps[0], gaps[1]) <= nearest + 1e-12 * size;
}
