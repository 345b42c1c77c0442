// SPDX-License-Identifier: MIT
#include "bench/rods.h"

#include "bench/bench.h"

#include <math.h>

void rods_add(Scene *scene, uint32_t count, double angle, bool as_rows) {
    const double length = RODS_LENGTH / count, mass = length,
                 across = mass * length * length / 12.0;
    const double inertia[6] = {across, across, 1e-3 * across, 0.0, 0.0, 0.0};
    const double root = sqrt(0.5);
    for (uint32_t i = 0; i < count; i++) {
        const double way = (i + 0.5) * length;
        const double pose[7] = {way * sin(angle),  0.0, -way * cos(angle), cos(0.5 * angle), 0.0,
                                -sin(0.5 * angle), 0.0};
        const double upper[7] = {0.0, 0.0, i == 0 ? 0.0 : -0.5 * length, root, root, 0.0, 0.0},
                     lower[7] = {0.0, 0.0, 0.5 * length, root, root, 0.0, 0.0};
        const BodyColumns body = {.count = 1, .pose = pose, .mass = &mass, .inertia = inertia};
        const uint32_t kind = JOINT_HINGE, rows = as_rows;
        const uint64_t a = i, b = i + 1; // ids: 0 is the world
        const JointColumns joint = {.count = 1,
                                    .axis_count = 1,
                                    .position_count = 1,
                                    .kind = &kind,
                                    .body_a = &a,
                                    .body_b = &b,
                                    .frame_a = upper,
                                    .frame_b = lower,
                                    .as_rows = &rows};
        Id id;
        Error error;
        if (world_add_bodies(scene->world, &body, &id, &error) != STATUS_OK ||
            world_add_joints(scene->world, &joint, &id, &error) != STATUS_OK) {
            bench_fail("%s", error.message);
        }
    }
}
