// SPDX-License-Identifier: MIT
#include "collide/mover.h"

#include "base/assert.h"

Pose approach_pose(const Mover *mover, double time) {
    ASSERT(mover->pose != NULL && time >= 0.0);
    Vec3 offset = vec3_sub(mover->pose->position, mover->center);
    const Vec3 w = mover->spin;
    const double half = 0.5 * time;
    // quat_turn of no turn
    Quat turn = w.x == 0.0 && w.y == 0.0 && w.z == 0.0
                    ? quat_identity()
                    : quat_normalize((Quat){1.0, half * w.x, half * w.y, half * w.z});
    Vec3 at = vec3_add_scaled(mover->center, time, mover->velocity);
    if (offset.x != 0.0 || offset.y != 0.0 || offset.z != 0.0) { // no body's one primitive
        at = vec3_add(at, quat_rotate(turn, offset));
    }
    return (Pose){at, quat_mul(turn, mover->pose->orientation)};
}
