// SPDX-License-Identifier: MIT
#include "world/world_commands.h"

#include "base/array.h"
#include "base/assert.h"
#include "world/range.h"

#include <stdlib.h>
#include <string.h>

enum { COMMAND_BYTES = COMMAND_NUMBERS * sizeof(double) };

size_t world_count_under_way(const JointAxis *axes, size_t count) {
    size_t numbers = 0;
    for (size_t i = 0; i < count; i++) {
        numbers += joint_axis_under_way(&axes[i]);
    }
    return numbers;
}

bool world_has_actuators(const World *world) {
    for (size_t i = 0; i < world->joint_axis_count; i++) {
        const JointAxis *axis = &world->joint_axis[i];
        if (axis->stall_effort > 0.0 || axis->lag_time > 0.0 || axis->delay_steps > 0.0) {
            return true;
        }
    }
    return false;
}

static Status out_of_memory(const World *world, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "The memory budget of %zu bytes (option --memory-bytes-max) is used up by "
                     "commands of joints under way: ask for shorter delays.",
                     world->limits.bytes_max);
}

Status world_reserve_under_way(World *world, size_t count, Error *error) {
    size_t capacity = world->joint_under_way_capacity;
    if (count <= capacity) {
        return STATUS_OK;
    }
    const size_t most = world->limits.bytes_max / sizeof(double), more = count - capacity;
    if (count > UINT32_MAX / 2 || more > most ||
        world_bytes(world) / sizeof(double) > most - more ||
        !ARRAY_RESERVE(world->joint_under_way, capacity, count)) {
        return out_of_memory(world, error);
    }
    world->joint_under_way_capacity = (uint32_t)capacity;
    return STATUS_OK;
}

static void read_command(const World *world, size_t axis, double command[COMMAND_NUMBERS]) {
    command[0] = world->joint_target[axis];
    command[1] = world->joint_target_velocity[axis];
    command[2] = world->joint_effort[axis];
}

// What an axis would have under way had it had its command for ever.
static void fill(const World *world, size_t axis, double *numbers) {
    double command[COMMAND_NUMBERS];
    read_command(world, axis, command);
    const size_t count = joint_axis_under_way(&world->joint_axis[axis]) / COMMAND_NUMBERS;
    for (size_t i = 0; i < count; i++) {
        memcpy(numbers + COMMAND_NUMBERS * i, command, COMMAND_BYTES);
    }
}

void world_start_commands(World *world, size_t count) {
    const size_t first = world->joint_axis_count;
    size_t at = 0;
    if (world->joint_under_way_capacity > 0) {
        at = world_count_under_way(world->joint_axis, first);
    }
    for (size_t i = first; i < first + count; i++) {
        const size_t numbers = joint_axis_under_way(&world->joint_axis[i]);
        ASSERT(at + numbers <= world->joint_under_way_capacity);
        if (numbers > 0) {
            fill(world, i, world->joint_under_way + at);
            at += numbers;
        }
    }
}

// One axis, which was like `was` and had these numbers under way.
static void carry(const World *world, size_t axis, const JointAxis *was, const double *had,
                  double *has) {
    const JointAxis *is = &world->joint_axis[axis];
    const size_t then = (size_t)was->delay_steps, now = (size_t)is->delay_steps;
    const double *queue = had + (was->lag_time > 0.0 ? COMMAND_NUMBERS : 0);
    double command[COMMAND_NUMBERS];
    read_command(world, axis, command);
    const double *next = then > 0 ? queue : command; // comes out of the delay that was
    if (is->lag_time > 0.0) {
        memcpy(has, was->lag_time > 0.0 ? had : next, COMMAND_BYTES);
        has += COMMAND_NUMBERS;
    }
    for (size_t i = 0; i < now; i++) { // from the youngest on
        const double *from = i < then ? queue + COMMAND_NUMBERS * (then - 1 - i) : next;
        memcpy(has + COMMAND_NUMBERS * (now - 1 - i), from, COMMAND_BYTES);
    }
}

void world_carry_commands(World *world, const JointAxis *axes, const double *under_way) {
    ASSERT(under_way == NULL || under_way != world->joint_under_way);
    size_t had = 0, has = 0;
    for (size_t i = 0; i < world->joint_axis_count; i++) {
        const size_t count = joint_axis_under_way(&world->joint_axis[i]);
        if (count > 0) {
            // of an axis that had none there are no numbers, and none are read
            const double *numbers = under_way == NULL ? world->joint_under_way : under_way + had;
            carry(world, i, &axes[i], numbers, world->joint_under_way + has);
        }
        had += joint_axis_under_way(&axes[i]);
        has += count;
    }
    ASSERT(has <= world->joint_under_way_capacity);
}

bool world_commands_are_sound(const World *world) {
    static const RangeKind ranges[COMMAND_NUMBERS] = {RANGE_JOINT_POSITION, RANGE_JOINT_VELOCITY,
                                                      RANGE_JOINT_EFFORT};
    const size_t count = world_count_under_way(world->joint_axis, world->joint_axis_count);
    bool are = count <= world->joint_under_way_capacity;
    for (size_t i = 0; are && i < count; i++) {
        are = range_holds(ranges[i % COMMAND_NUMBERS], world->joint_under_way[i]);
    }
    return are;
}

// No axis has more under way than one whose delay is the longest that is given.
static size_t most_more(const JointUpdate *update) {
    const double *delay = update->number[JOINT_DELAY_STEPS];
    size_t more = 0;
    for (size_t i = 0; i < update->axis_count; i++) {
        more += COMMAND_NUMBERS * (1 + (delay == NULL ? 0 : (size_t)delay[i]));
    }
    return more;
}

Status world_keep_commands(World *world, const JointUpdate *update, CommandsBefore *before,
                           Error *error) {
    *before = (CommandsBefore){NULL, NULL};
    if ((update->number[JOINT_LAG_TIME] == NULL && update->number[JOINT_DELAY_STEPS] == NULL) ||
        world->joint_axis_count == 0) {
        return STATUS_OK;
    }
    const size_t had = world_under_way_count(world);
    Status status = world_reserve_under_way(world, had + most_more(update), error);
    if (status != STATUS_OK) {
        return status;
    }
    const size_t axes = world->joint_axis_count * sizeof(JointAxis), numbers = had * sizeof(double);
    before->axis = malloc(axes + numbers);
    if (before->axis == NULL) {
        return out_of_memory(world, error);
    }
    memcpy(before->axis, world->joint_axis, axes);
    if (numbers > 0) {
        before->under_way = (double *)(void *)(before->axis + world->joint_axis_count);
        memcpy(before->under_way, world->joint_under_way, numbers);
    }
    return STATUS_OK;
}

void world_move_commands(World *world, CommandsBefore *before) {
    if (before->axis != NULL) {
        world_carry_commands(world, before->axis, before->under_way);
        free(before->axis);
        *before = (CommandsBefore){NULL, NULL};
    }
}
