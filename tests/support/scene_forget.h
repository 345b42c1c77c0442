// SPDX-License-Identifier: MIT
// A world as what its scene makes begins: for tests that step both.
#pragma once

#include "base/arena.h"
#include "base/assert.h"
#include "world/sleep.h"
#include "world/world_commands.h"

// What no scene says: impulses, commands under way, sleep, patience, a fault, steps and time.
static inline void scene_forget(World *world, Arena *arena) {
    if (world_under_way_count(world) > 0) { // as of axes that had none
        const JointAxis *none = arena_take_zeroed(arena, world->joint_axis_count, sizeof(*none));
        ASSERT(none != NULL);
        world_carry_commands(world, none, NULL);
    }
    sleep_close(world);
    world->memory_count = world->joint_memory_count = 0;
    world->solver_failures = world->solver_wait = 0;
    world->faulted = false;
    world->step = 0;
    world->time = (Sum){0};
    world->bodies_moved = true;
}
