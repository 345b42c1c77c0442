// SPDX-License-Identifier: MIT
// How large the numbers of a world's state are.
#include "world/world.h"

#include <string.h>

// Bodies may be set so far away and so fast, and joints may hold them; steps take them beyond.
static const double tame = 4e9;

bool world_is_tame(const World *world) {
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (!numbers_are_within(world->pose + 7 * (size_t)i, 3, tame) ||
            !numbers_are_within(world->velocity + 6 * (size_t)i, 6, tame)) {
            return false;
        }
    }
    return true;
}

static Status blame(const char *what, Id id, Error *error) {
    return error_set(error, STATUS_FAILED_PRECONDITION, "",
                     "Joints place what they hold, and of %s %llu pose or velocity would be beyond "
                     "3.4e38, the largest float, as bodies are farther away than 1e9 m or faster "
                     "than 1e9 m/s here: bring them back first.",
                     what, (unsigned long long)id);
}

// Of rows what they measure, before it is limited to what can be told.
static void numbers_of(const World *world, const Joint *joint, double *position, double *rates) {
    memcpy(position, world->joint_position + joint->position_first,
           joint_position_count(joint->axes) * sizeof(double));
    memcpy(rates, world->joint_velocity + joint->axis_first,
           joint_axis_count(joint->axes) * sizeof(double));
    if (joint->is_rows && joint->axes != 0) {
        world_measure_joint(world, joint, position, rates);
    }
}

Status world_check_numbers(const World *world, Error *error) {
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (!numbers_fit_float(world->pose + 7 * (size_t)i, 7) ||
            !numbers_fit_float(world->velocity + 6 * (size_t)i, 6)) {
            return blame("body", world->body_id[i], error);
        }
    }
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        double position[JOINT_POSITION_MAX], rates[JOINT_AXES_MAX];
        numbers_of(world, joint, position, rates);
        if (!numbers_fit_float(position, joint_position_count(joint->axes)) ||
            !numbers_fit_float(rates, joint_axis_count(joint->axes))) {
            return blame("joint", joint->id, error);
        }
    }
    return STATUS_OK;
}
