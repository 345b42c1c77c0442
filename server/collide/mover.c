// SPDX-License-Identifier: MIT
#include "collide/mover.h"

#include "base/assert.h"

Pose approach_pose(const Mover *mover, double time) {
    ASSERT(mover->pose != NULL && time >= 0.0);
    Vec3 offset = vec3_sub(mover->pose->position, mover->center);
    Quat turn = quat_turn(quat_identity(), mover->spin, time);
    Vec3 center = vec3_add_scaled(mover->center, time, mover->velocity);
    return (Pose){vec3_add(center, quat_rotate(turn, offset)),
                  quat_mul(turn, mover->pose->orientation)};
}
