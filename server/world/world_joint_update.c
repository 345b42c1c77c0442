// SPDX-License-Identifier: MIT
// The numbers of a world's joints, set from outside.
#include "base/assert.h"
#include "base/bytes.h"
#include "world/range.h"
#include "world/sleep.h"
#include "world/world_commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Status check_columns(const JointUpdate *update, Error *error) {
    const RangeColumn ranges[] = {
        {RANGE_JOINT_VELOCITY, update->velocity, "joint_velocity"},
        {RANGE_JOINT_POSITION, update->target, "joint_target"},
        {RANGE_JOINT_VELOCITY, update->target_velocity, "joint_target_velocity"},
        {RANGE_JOINT_EFFORT, update->effort, "joint_effort"},
    };
    return range_check_columns(ranges, 4, update->axis_count, error);
}

static bool has_state(const JointUpdate *update) {
    return update->position != NULL || update->velocity != NULL;
}

static bool has_numbers(const JointUpdate *update) {
    bool has_any = false;
    for (int n = 0; n < JOINT_NUMBER_COUNT; n++) {
        has_any = has_any || update->number[n] != NULL;
    }
    return has_any;
}

// An axis as it would be, from entry `at` of the columns.
static JointAxis merge_axis(const JointUpdate *update, size_t at, JointAxis axis) {
    for (int n = 0; n < JOINT_NUMBER_COUNT; n++) {
        if (update->number[n] != NULL) {
            *joint_axis_number(&axis, (JointNumber)n) = update->number[n][at];
        }
    }
    return axis;
}

// Positions and velocities of rows are those of their bodies.
static Status blame_rows(const JointUpdate *update, size_t i, const Joint *joint, Error *error) {
    char field[64];
    snprintf(field, sizeof(field), "joints[%zu]", i);
    return error_set(error, STATUS_INVALID_ARGUMENT, field,
                     "Joint %llu (%s) is held by rows: its %s is that of its bodies, so set their "
                     "pose and velocity.",
                     (unsigned long long)joint->id, joint->name == NULL ? "nameless" : joint->name,
                     update->position != NULL ? "position" : "velocity");
}

// Those of one joint, whose entries begin at `first`.
static Status check_numbers(const World *world, const JointUpdate *update, const Joint *joint,
                            size_t first, Error *error) {
    const uint32_t count = joint_axis_count(joint->axes);
    Status status = STATUS_OK;
    for (uint32_t k = 0; status == STATUS_OK && k < count && has_numbers(update) &&
                         first + count <= update->axis_count;
         k++) {
        const JointAxis axis =
            merge_axis(update, first + k, world->joint_axis[joint->axis_first + k]);
        status = joint_axis_check(&axis, joint->is_rows, "joint_", first + k, error);
    }
    return status;
}

Status world_check_joint_update(const World *world, const JointUpdate *update, Error *error) {
    size_t axes = 0, positions = 0;
    Status once = world_check_once(update->id, update->count, "joints", error);
    if (once != STATUS_OK) {
        return once;
    }
    for (size_t i = 0; i < update->count; i++) {
        uint32_t index;
        if (!world_find_joint(world, update->id[i], &index)) {
            char field[64];
            snprintf(field, sizeof(field), "joints[%zu]", i);
            return world_blame_joint(world, update->id[i], field, error);
        }
        const Joint *joint = &world->joint[index];
        if (joint->is_rows && has_state(update)) {
            return blame_rows(update, i, joint, error);
        }
        if (update->position != NULL &&
            positions + joint_position_count(joint->axes) <= update->position_count) {
            Status status = world_check_joint_position(joint->axes, update->position + positions,
                                                       "joint_position", positions, error);
            if (status != STATUS_OK) {
                return status;
            }
        }
        Status status = check_numbers(world, update, joint, axes, error);
        if (status != STATUS_OK) {
            return status;
        }
        axes += joint_axis_count(joint->axes);
        positions += joint_position_count(joint->axes);
    }
    const bool has_axes = update->velocity != NULL || update->target != NULL ||
                          update->target_velocity != NULL || update->effort != NULL ||
                          has_numbers(update);
    if (has_axes && axes != update->axis_count) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "joints",
                         "These joints have %zu free axes; each column has a number for each, not "
                         "%zu.",
                         axes, update->axis_count);
    }
    if (update->position != NULL && positions != update->position_count) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "joint_position",
                         "The positions of these joints are %zu numbers (one per free axis, and "
                         "four of three turns), not %zu.",
                         positions, update->position_count);
    }
    return check_columns(update, error);
}

static bool differ(const double *given, const double *kept, size_t count) {
    return given != NULL && count > 0 && !bytes_are_same(given, kept, count * sizeof(double));
}

// Whether any number of a joint becomes another; `first`: its entries in the columns.
static bool changes(const World *world, const JointUpdate *update, const Joint *joint,
                    size_t first) {
    const uint32_t count = joint_axis_count(joint->axes);
    const size_t at = joint->axis_first;
    bool does = has_state(update);
    if (count > 0 && !does) {
        does = differ(update->target == NULL ? NULL : update->target + first,
                      world->joint_target + at, count) ||
               differ(update->target_velocity == NULL ? NULL : update->target_velocity + first,
                      world->joint_target_velocity + at, count) ||
               differ(update->effort == NULL ? NULL : update->effort + first,
                      world->joint_effort + at, count);
    }
    for (uint32_t k = 0; k < count && !does; k++) {
        const JointAxis axis = merge_axis(update, first + k, world->joint_axis[at + k]);
        does = !bytes_are_same(&axis, &world->joint_axis[at + k], sizeof(axis));
    }
    return does;
}

static size_t count_ends(const World *world, const JointUpdate *update) {
    size_t count = 0;
    for (size_t i = 0; i < update->count; i++) {
        uint32_t index = 0;
        world_find_joint(world, update->id[i], &index);
        count += world_joint_end_count(&world->joint[index]);
    }
    return count;
}

// The islands of what hangs on these joints wake, where their numbers become others.
static void disturb(World *world, const JointUpdate *update) {
    uint32_t *bodies =
        world->sleep == NULL ? NULL : calloc(count_ends(world, update) + 1, sizeof(uint32_t));
    size_t count = 0, axes = 0;
    for (size_t i = 0; bodies != NULL && i < update->count; i++) {
        uint32_t index = 0;
        world_find_joint(world, update->id[i], &index);
        const Joint *joint = &world->joint[index];
        const uint32_t ends =
            changes(world, update, joint, axes) ? world_joint_end_count(joint) : 0;
        for (uint32_t k = 0; k < ends; k++) {
            const uint32_t body = world_joint_end(world, joint, k);
            if (body != JOINT_NO_BODY && world->kind[body] == BODY_DYNAMIC) {
                bodies[count++] = body;
            }
        }
        axes += joint_axis_count(joint->axes);
    }
    if (world->sleep != NULL && bodies == NULL) {
        sleep_wake_all(world); // more than need to, which is always right
    } else if (count > 0) {
        sleep_disturb(world, bodies, count, has_state(update));
    }
    free(bodies);
}

static void set(double *kept, const double *given, size_t count) {
    if (given != NULL && count > 0) {
        memcpy(kept, given, count * sizeof(double));
    }
}

Status world_update_joints(World *world, const JointUpdate *update, Error *error) {
    CommandsBefore before;
    Status status = world_check_joint_update(world, update, error);
    status = STATUS_THEN(status, world_keep_commands(world, update, &before, error));
    if (status != STATUS_OK) {
        return status;
    }
    disturb(world, update);
    size_t axes = 0, positions = 0;
    for (size_t i = 0; i < update->count; i++) {
        uint32_t index = 0;
        bool found = world_find_joint(world, update->id[i], &index);
        ASSERT(found);
        const Joint *joint = &world->joint[index];
        const uint32_t axis_count = joint_axis_count(joint->axes);
        const size_t first = joint->axis_first;
        const struct {
            double *kept;
            const double *given;
        } columns[] = {{world->joint_velocity, update->velocity},
                       {world->joint_target, update->target},
                       {world->joint_target_velocity, update->target_velocity},
                       {world->joint_effort, update->effort}};
        for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
            if (columns[k].given != NULL) {
                set(columns[k].kept + first, columns[k].given + axes, axis_count);
            }
        }
        for (uint32_t k = 0; k < axis_count; k++) {
            world->joint_axis[first + k] =
                merge_axis(update, axes + k, world->joint_axis[first + k]);
        }
        if (update->position != NULL) {
            double *position = world->joint_position + joint->position_first;
            set(position, update->position + positions, joint_position_count(joint->axes));
            world_normalize_joint_position(joint->axes, position);
        }
        axes += axis_count;
        positions += joint_position_count(joint->axes);
    }
    world_move_commands(world, &before);
    world->definition_is_hashed = world->definition_is_hashed && !has_numbers(update);
    if (has_state(update) && update->count > 0) {
        world_settle_joints(world);
        world->faulted = false;
    }
    if (update->position != NULL && update->count > 0) {
        world->memory_count = 0; // of contacts elsewhere; a cold start is always right
        world->bodies_moved = true;
    }
    return STATUS_OK;
}
