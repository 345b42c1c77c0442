// SPDX-License-Identifier: MIT
#include "collide/pairs.h"

#include <stddef.h>

double pair_order(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b) {
    const double order[] = {
        vec3_dot(vec3(0.3719, 0.6137, 1.0), vec3_sub(pose_b->position, pose_a->position)),
        b->size.x - a->size.x,
        b->size.y - a->size.y,
        b->size.z - a->size.z,
        pose_b->orientation.w - pose_a->orientation.w,
        pose_b->orientation.x - pose_a->orientation.x,
        pose_b->orientation.y - pose_a->orientation.y,
        pose_b->orientation.z - pose_a->orientation.z,
        pose_b->position.x - pose_a->position.x,
        pose_b->position.y - pose_a->position.y,
    };
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        if (order[i] != 0.0) {
            return order[i];
        }
    }
    return 0.0;
}
