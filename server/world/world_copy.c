// SPDX-License-Identifier: MIT
// The state of one world put into another that was made like it: what a reset costs a world that is
// reset every few hundred steps.
#include "base/array.h"
#include "base/assert.h"
#include "world/sleep.h"
#include "world/world_commands.h"

#include <string.h>

static void copy(void *to, const void *from, size_t count, size_t bytes) {
    if (count > 0) { // without items there may be no array
        memcpy(to, from, count * bytes);
    }
}

// false: memory ends.
static bool reserve(World *to, const World *from) {
    return ARRAY_RESERVE(to->memory, to->memory_capacity, from->memory_count) &&
           ARRAY_RESERVE(to->joint_memory, to->joint_memory_capacity, from->joint_memory_count);
}

static bool copy_sleep(World *to, const World *from) {
    if (from->sleep == NULL) {
        sleep_forget(to);
        return true;
    }
    if (!sleep_open(to) || to->sleep == NULL || !sleep_reserve(to, from->sleep->memory_count)) {
        return from->body_count == 0;
    }
    WorldSleep *sleep = to->sleep;
    const WorldSleep *of = from->sleep;
    for (uint32_t i = of->count; i < sleep->count; i++) { // bodies that it has not met yet
        sleep->island[i] = SLEEP_AWAKE;
        sleep->rest[i] = 0.0;
    }
    sleep->asleep_count = of->asleep_count;
    copy(sleep->island, of->island, of->count, sizeof(uint32_t));
    copy(sleep->rest, of->rest, of->count, sizeof(double));
    copy(sleep->memory, of->memory, of->memory_count, sizeof(ContactMemory));
    sleep->memory_count = of->memory_count;
    return true;
}

bool world_is_alike(const World *a, const World *b) {
    return a->body_count == b->body_count && a->joint_count == b->joint_count;
}

// Of the same joints, whose lags and delays may be others.
static void copy_commands(World *to, const World *from) {
    if (to->joint_under_way_capacity > 0) {
        world_carry_commands(to, from->joint_axis, from->joint_under_way);
    }
}

bool world_copy_state(World *to, const World *from) {
    ASSERT(world_is_alike(to, from) && to->joint_axis_count == from->joint_axis_count);
    if (!reserve(to, from) || !copy_sleep(to, from)) {
        return false;
    }
    to->step = from->step;
    to->time = from->time;
    to->faulted = from->faulted;
    to->solver_failures = from->solver_failures;
    to->solver_wait = from->solver_wait;
    copy(to->pose, from->pose, from->body_count, 7 * sizeof(double));
    copy(to->velocity, from->velocity, from->body_count, 6 * sizeof(double));
    copy(to->joint_velocity, from->joint_velocity, from->joint_axis_count, sizeof(double));
    copy(to->joint_target, from->joint_target, from->joint_axis_count, sizeof(double));
    copy(to->joint_target_velocity, from->joint_target_velocity, from->joint_axis_count,
         sizeof(double));
    copy(to->joint_effort, from->joint_effort, from->joint_axis_count, sizeof(double));
    copy_commands(to, from);
    copy(to->joint_position, from->joint_position, from->joint_position_count, sizeof(double));
    copy(to->memory, from->memory, from->memory_count, sizeof(ContactMemory));
    to->memory_count = from->memory_count;
    copy(to->joint_memory, from->joint_memory, from->joint_memory_count, sizeof(JointMemory));
    to->joint_memory_count = from->joint_memory_count;
    if (from->geometry_count > 0) {
        world_copy_worn(to, from);
    }
    world_keep_origins(to, from);
    to->bodies_moved = true; // collision caches are stale
    return true;
}
