// SPDX-License-Identifier: MIT
// The commands of a joint's axis on their way to what follows them: its drive and what is fed
// forward. A command is a target, a target velocity and an effort. Each step it comes out of two
// things, one behind the other, and only that acts in the step (step/joints/commands.h):
//
//     delay   the command of `delay_steps` steps before
//     lag     y, which goes to what comes out of the delay, u, as y' = (u - y)/lag_time: in a step
//             of h, with u as it is in that step, y += (1 - exp(-h/lag_time)) (u - y)
//
// Under way, `joint_under_way` of the world, is for one axis after the other: y, where it has a
// lag, and the commands in its delay, the oldest first. Most axes have neither, and no numbers.
//
// A new joint has had its commands for ever. Where a lag or a delay is changed, what is under way
// stays: of a shorter delay the youngest, of a longer one the oldest again and again before them;
// a new lag begins at what comes out of the delay next.
#pragma once

#include "world/world.h"

enum { COMMAND_NUMBERS = 3 }; // target, target velocity, effort

// How many numbers an axis has under way.
static inline size_t joint_axis_under_way(const JointAxis *axis) {
    const size_t commands = (axis->lag_time > 0.0 ? 1 : 0) + (size_t)axis->delay_steps;
    return COMMAND_NUMBERS * commands;
}

size_t world_count_under_way(const JointAxis *axes, size_t count);

// Of all axes.
static inline size_t world_under_way_count(const World *world) {
    return world->joint_under_way_capacity == 0
               ? 0
               : world_count_under_way(world->joint_axis, world->joint_axis_count);
}

// Whether any axis has a motor, a lag or a delay.
bool world_has_actuators(const World *world);

// Room for so many numbers. RESOURCE_EXHAUSTED: the budget, or memory ends.
Status world_reserve_under_way(World *world, size_t count, Error *error);

// Of so many axes behind those that there are; there is room.
void world_start_commands(World *world, size_t count);

// What is under way along axes that were like `axes`, with these numbers, as the world's axes have
// it; there is room. The numbers are not the world's own.
void world_carry_commands(World *world, const JointAxis *axes, const double *under_way);

// Whether there is room for as much as the axes have, and it can be so.
bool world_commands_are_sound(const World *world);

// Where the numbers of joints are changed: what was under way, until they are. NULL: neither lags
// nor delays are given, or there is nothing to carry.
typedef struct CommandsBefore {
    JointAxis *axis; // owned, as what is under way behind them
    double *under_way;
} CommandsBefore;

Status world_keep_commands(World *world, const JointUpdate *update, CommandsBefore *before,
                           Error *error);
void world_move_commands(World *world, CommandsBefore *before);
