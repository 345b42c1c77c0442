// SPDX-License-Identifier: MIT
// A primitive of a body that moves freely for a while.
#pragma once

#include "world/primitive.h"

// A primitive on a moving body. It turns as the step turns bodies (quat_turn).
typedef struct Mover {
    const Primitive *primitive; // borrowed
    const Pose *pose;           // borrowed; of the primitive, now
    Vec3 center;                // of the body's mass, now [m]
    Vec3 velocity, spin;        // [m/s], [rad/s]; world axes
} Mover;

typedef struct Approach {
    double duration; // of the motion [s]
    double reach;    // as narrow.h has it; >= what the two may come nearer in that time
} Approach;

// Where the mover's primitive is at a time of its free motion.
Pose approach_pose(const Mover *mover, double time);
