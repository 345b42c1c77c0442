// SPDX-License-Identifier: MIT
// A lab whose ground lies in no axis's way: what is said in the ground's axes is placed, and seen,
// turned.
#pragma once

#include "support/lab.h"

#include <math.h>

static const double gravity = 9.81;

// Where the ground is z = 0, turned as anything.
static inline Pose base_pose(void) {
    return (Pose){vec3(0.3, -0.2, 0.7), quat_normalize((Quat){0.53, 0.21, -0.6, 0.4})};
}

static inline Pose placed(Vec3 position, Quat orientation) {
    return pose_compose(base_pose(), (Pose){position, orientation});
}

static inline Vec3 turned(Vec3 v) {
    return quat_rotate(base_pose().orientation, v);
}

// In the ground's axes.
static inline Vec3 seen(Vec3 v) {
    return mat3_tmul_vec(quat_to_mat3(base_pose().orientation), v);
}

static inline Vec3 seen_position(const Lab *lab, uint32_t body) {
    return seen(vec3_sub(lab_position(lab, body), base_pose().position));
}

// Gravity leans by an angle towards y.
static inline Lab leaning_lab(double sine, int hertz) {
    Lab lab = lab_create(gravity, 1.0 / hertz);
    const double cosine = sqrt(1.0 - sine * sine);
    lab.world->settings.gravity = turned(vec3(0.0, gravity * sine, -gravity * cosine));
    return lab;
}
