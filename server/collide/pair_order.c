// SPDX-License-Identifier: MIT
#include "collide/narrow_parts.h"

#include <math.h>
#include <stddef.h>

// Scenes built on axes and diagonals are not aligned with it.
static const Vec3 direction = {0.3719, 0.6137, 1.0};
// of the distance: what both see of each other is as good as the same
static const double same_part = 1e-3;

// What nobody's way of looking changes: the larger one is the first.
static double compare_sizes(Vec3 a, Vec3 b) {
    if (a.x == b.x && a.y == b.y && a.z == b.z) {
        return 0.0; // most of what lies on each other is of one size
    }
    const double order[] = {vec3_dot(a, a) - vec3_dot(b, b), b.x - a.x, b.y - a.y, b.z - a.z};
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (order[i] != 0.0) {
            return order[i];
        }
    }
    return 0.0;
}

static double compare_poses(const Pose *a, const Pose *b, Vec3 offset) {
    const double order[] = {
        vec3_dot(direction, offset),         b->orientation.w - a->orientation.w,
        b->orientation.x - a->orientation.x, b->orientation.y - a->orientation.y,
        b->orientation.z - a->orientation.z, b->position.x - a->position.x,
        b->position.y - a->position.y,
    };
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (order[i] != 0.0) {
            return order[i];
        }
    }
    return 0.0;
}

double pair_order_seen(const Primitive *a, const Pose *pose_a, const Mat3 *axes_a,
                       const Primitive *b, const Pose *pose_b, const Mat3 *axes_b) {
    const double by_size = compare_sizes(a->size, b->size);
    if (by_size != 0.0) {
        return by_size;
    }
    const Vec3 offset = vec3_sub(pose_b->position, pose_a->position);
    const Vec3 turned =
        vec3_add(mat3_mul_vec(*axes_a, direction), mat3_mul_vec(*axes_b, direction));
    const double seen = vec3_dot(turned, offset);
    return fabs(seen) > same_part * vec3_norm(offset) ? seen
                                                      : compare_poses(pose_a, pose_b, offset);
}

double pair_order(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b) {
    const Mat3 axes_a = quat_to_mat3(pose_a->orientation),
               axes_b = quat_to_mat3(pose_b->orientation);
    return pair_order_seen(a, pose_a, &axes_a, b, pose_b, &axes_b);
}
