// SPDX-License-Identifier: MIT
#include "step/joints/commands.h"

#include "base/assert.h"
#include "base/decay.h"
#include "world/motor.h"
#include "world/world_commands.h"

#include <string.h>

enum { COMMAND_BYTES = COMMAND_NUMBERS * sizeof(double) };

// Numbers of the commands that act, of all axes one after the other. NULL: memory ends.
static double *take_memory(StepState *state, size_t count) {
    const World *world = state->world;
    double *numbers =
        arena_take_array(state->scratch, world->joint_axis_count, COMMAND_NUMBERS * sizeof(double));
    state->under_way = arena_take_array(state->scratch, count, sizeof(double));
    state->is_under_way = arena_take_zeroed(state->scratch, world->joint_axis_count, sizeof(bool));
    if (numbers == NULL || state->under_way == NULL || state->is_under_way == NULL) {
        return NULL;
    }
    state->command = (StepCommands){.target = numbers,
                                    .target_velocity = numbers + world->joint_axis_count,
                                    .effort = numbers + 2 * world->joint_axis_count};
    return numbers;
}

// Goes from `from` towards `to`, and never beyond.
static double approach(double from, double to, double share) {
    const double there = from + share * (to - from);
    const bool is_beyond = to > from ? there > to : there < to;
    return is_beyond ? to : there;
}

// By value: in a mirror nothing is a zero with a sign.
static bool are_equal(const double *a, const double *b, size_t count) {
    bool are = true;
    for (size_t i = 0; i < count; i++) {
        are = are && a[i] == b[i];
    }
    return are;
}

// Takes what is under way along an axis a step further, and the command out of it; whether that
// goes on by itself. `command` is what is given, and becomes what acts.
static bool take_further(const JointAxis *axis, double h, const double *old, double *new,
                         double command[COMMAND_NUMBERS]) {
    const size_t delay = (size_t)axis->delay_steps, lag = axis->lag_time > 0.0 ? 1 : 0;
    const double *queue = old + COMMAND_NUMBERS * lag;
    double *queued = new + COMMAND_NUMBERS *lag;
    bool goes_on = false;
    if (delay > 0) {
        memcpy(queued, queue + COMMAND_NUMBERS, (delay - 1) * COMMAND_BYTES);
        memcpy(queued + COMMAND_NUMBERS * (delay - 1), command, COMMAND_BYTES);
        memcpy(command, queue, COMMAND_BYTES);
        goes_on = !are_equal(queue, queued, delay * COMMAND_NUMBERS);
    }
    if (lag > 0) {
        const double share = decay_share(h / axis->lag_time);
        for (int i = 0; i < COMMAND_NUMBERS; i++) {
            command[i] = share < 1.0 ? approach(old[i], command[i], share) : command[i];
            new[i] = command[i];
        }
        goes_on = goes_on || !are_equal(old, new, COMMAND_NUMBERS);
    }
    return goes_on;
}

static bool move_commands(StepState *state) {
    const World *world = state->world;
    double *numbers = take_memory(state, state->under_way_count);
    if (numbers == NULL) {
        return false;
    }
    size_t first = 0;
    for (size_t i = 0; i < world->joint_axis_count; i++) {
        double command[COMMAND_NUMBERS] = {world->joint_target[i], world->joint_target_velocity[i],
                                           world->joint_effort[i]};
        const size_t count = joint_axis_under_way(&world->joint_axis[i]);
        if (count > 0) {
            state->is_under_way[i] =
                take_further(&world->joint_axis[i], state->input->time_step,
                             world->joint_under_way + first, state->under_way + first, command);
        }
        first += count;
        for (size_t k = 0; k < COMMAND_NUMBERS; k++) {
            numbers[k * world->joint_axis_count + i] = command[k];
        }
    }
    ASSERT(first == state->under_way_count);
    return true;
}

static bool has_motors(const World *world) {
    bool has = false;
    for (size_t i = 0; i < world->joint_axis_count; i++) {
        has = has || motor_is(&world->joint_axis[i]);
    }
    return has;
}

// Motors are rows, but for those that are a force and no more; explicit ones see the axes.
static bool feed_motors(StepState *state) {
    const World *world = state->world;
    double *fed = arena_take_array(state->scratch, world->joint_axis_count, sizeof(double));
    if (fed == NULL) {
        return false;
    }
    for (size_t i = 0; i < world->joint_axis_count; i++) {
        const JointAxis *axis = &world->joint_axis[i];
        const double effort = state->command.effort[i];
        const MotorAsk ask = {.force = effort, .most = motor_most(axis)};
        fed[i] = !motor_is(axis) ? effort : motor_is_force(axis) ? motor_force(&ask, 0.0) : 0.0;
    }
    state->command.fed = fed;
    return true;
}

bool commands_begin(StepState *state) {
    const World *world = state->world;
    state->command = (StepCommands){.target = world->joint_target,
                                    .target_velocity = world->joint_target_velocity,
                                    .effort = world->joint_effort};
    state->under_way_count = world_under_way_count(world);
    if (state->under_way_count > 0 && !move_commands(state)) {
        return false;
    }
    state->command.fed = state->command.effort;
    return world->settings.integrator == INTEGRATOR_EXPLICIT || !has_motors(world) ||
           feed_motors(state);
}

void commands_commit(StepState *state) {
    World *world = state->world;
    if (state->under_way_count > 0) {
        memcpy(world->joint_under_way, state->under_way, state->under_way_count * sizeof(double));
    }
}

bool commands_are_under_way(const StepState *state, const Joint *joint) {
    bool are = false;
    for (uint32_t k = 0; state->is_under_way != NULL && k < joint_axis_count(joint->axes); k++) {
        are = are || state->is_under_way[joint->axis_first + k];
    }
    return are;
}
