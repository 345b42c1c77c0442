// SPDX-License-Identifier: MIT
// How an episode begins: the template's state, and noise on it.
#include "base/gaussian.h"
#include "run/groups/group.h"

#include "base/assert.h"
#include "base/trig.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while an episode began: raise --memory-bytes-max.");
}

// ---- noise

// A number for each column of the noise, in their order.
static void draw(const Group *group, uint32_t i, double *values) {
    const GroupWorld *world = &group->world[i];
    Philox stream = philox_stream(world->seed, group->first_world + i, world->episode);
    for (uint32_t c = 0; c < group->noise.channel_count; c++) {
        const Channel *channel = &group->noise.channel[c];
        const NoiseDef *drawn = &group->drawn[c];
        const uint32_t end = channel->column_first + channel->column_count;
        for (uint32_t k = channel->column_first; k < end; k++) {
            if (drawn->kind == NOISE_UNIFORM) {
                const double u = philox_uniform(&stream);
                values[k] = drawn->low + (drawn->high - drawn->low) * u;
            } else {
                values[k] = drawn->mean + drawn->deviation * gaussian_draw(&stream);
            }
        }
    }
}

// The turn of a rotation vector.
static Quat turn_by(Vec3 vector) {
    const double angle = vec3_norm(vector);
    const SinCos half = trig_sin_cos(0.5 * angle);
    const Vec3 part = vec3_scale(angle > 0.0 ? half.sin / angle : 0.5, vector);
    return (Quat){half.cos, part.x, part.y, part.z};
}

static void add_numbers(double *to, const double added[3], size_t count) {
    for (size_t i = 0; i < count; i++) {
        to[i] += added[i];
    }
}

// Adds to a body's pose and velocity.
static void disturb_body(ChannelKind kind, const double added[3], double pose[7],
                         double velocity[6]) {
    if (kind == CHANNEL_BODY_POSITION) {
        add_numbers(pose, added, 3);
    } else if (kind == CHANNEL_BODY_VELOCITY) {
        add_numbers(velocity, added, 3);
    } else if (kind == CHANNEL_BODY_SPIN) {
        add_numbers(velocity + 3, added, 3);
    } else {
        Pose turned = pose_load(pose);
        turned.orientation = quat_mul(turn_by(vec3_load(added)), turned.orientation);
        pose_store(pose, turned);
    }
}

// Adds to a joint's positions, of which there is a number per axis, but of three turns.
static void disturb_joint(uint8_t axes, const double *added, double *position) {
    const uint32_t moves = joint_axis_count(axes & JOINT_MOVES);
    const bool is_ball = (axes & JOINT_TURNS) == JOINT_TURNS;
    add_numbers(position, added, is_ball ? moves : joint_axis_count(axes));
    if (is_ball) {
        double *q = position + moves;
        const Quat turned =
            quat_mul((Quat){q[0], q[1], q[2], q[3]}, turn_by(vec3_load(added + moves)));
        q[0] = turned.w;
        q[1] = turned.x;
        q[2] = turned.y;
        q[3] = turned.z;
    }
}

// What a channel adds, number by number: zero where it has no column.
static void spread(const Layout *noise, const Channel *channel, const double *values,
                   double added[JOINT_AXES_MAX]) {
    memset(added, 0, JOINT_AXES_MAX * sizeof(*added));
    const uint32_t end = channel->column_first + channel->column_count;
    for (uint32_t k = channel->column_first; k < end; k++) {
        const Column *column = &noise->column[k];
        added[column->number] = column->scale * values[k] + column->offset;
    }
}

// So many further, rounded down.
static Status wear_other(World *world, uint32_t body, double added, Error *error) {
    uint32_t primitive;
    const bool has_one = world_find_worn(world, body, &primitive);
    ASSERT(has_one);
    const uint32_t index = world->primitive[primitive].geometry_number - 1;
    return group_wear(world, body, world->geometry[index].id + floor(added), error);
}

// One channel after the other, through the functions by which anybody sets a world's state.
static Status disturb_by(World *world, const Channel *channel, const double added[JOINT_AXES_MAX],
                         Error *error) {
    if (channel->kind == CHANNEL_BODY_GEOMETRY) {
        return wear_other(world, channel->body, added[0], error);
    }
    if (channel->body != JOINT_NO_BODY) {
        double pose[7], velocity[6];
        world_body_pose(world, channel->body, pose);
        memcpy(velocity, world->velocity + 6 * (size_t)channel->body, sizeof(velocity));
        disturb_body(channel->kind, added, pose, velocity);
        const bool is_pose =
            channel->kind == CHANNEL_BODY_POSITION || channel->kind == CHANNEL_BODY_ROTATION;
        const BodyUpdate update = {.count = 1,
                                   .id = &world->body_id[channel->body],
                                   .pose = is_pose ? pose : NULL,
                                   .velocity = is_pose ? NULL : velocity};
        return world_update_bodies(world, &update, error);
    }
    const Joint *joint = &world->joint[channel->joint];
    const bool is_position = channel->kind == CHANNEL_JOINT_POSITION;
    const uint32_t axes = joint_axis_count(joint->axes),
                   positions = joint_position_count(joint->axes);
    double numbers[JOINT_POSITION_MAX];
    if (is_position) {
        memcpy(numbers, world->joint_position + joint->position_first, positions * sizeof(double));
        disturb_joint(joint->axes, added, numbers);
    } else {
        memcpy(numbers, world->joint_velocity + joint->axis_first, axes * sizeof(double));
        add_numbers(numbers, added, axes);
    }
    const JointUpdate update = {.count = 1,
                                .id = &joint->id,
                                .axis_count = axes,
                                .position_count = positions,
                                .position = is_position ? numbers : NULL,
                                .velocity = is_position ? NULL : numbers};
    return world_update_joints(world, &update, error);
}

static Status disturb(Group *group, uint32_t i, const double *values, Arena *scratch,
                      Error *error) {
    const Layout *noise = &group->noise;
    const ArenaMark mark = arena_mark(scratch);
    double *drawn = arena_take_array(scratch, noise->column_count, sizeof(double));
    if (drawn == NULL) {
        return out_of_memory(error);
    }
    if (values == NULL) {
        draw(group, i, drawn);
        values = drawn;
    }
    Status status = STATUS_OK;
    for (uint32_t c = 0; status == STATUS_OK && c < noise->channel_count; c++) {
        double added[JOINT_AXES_MAX];
        spread(noise, &noise->channel[c], values, added);
        status = disturb_by(group->world[i].world, &noise->channel[c], added, error);
    }
    if (status != STATUS_OK) { // its numbers are no world's, whoever gave them
        snprintf(error->field, sizeof(error->field), "%s", values == drawn ? "noise" : "values");
    }
    arena_reset_to(scratch, mark);
    return status;
}

// ---- the template's state

// A world that has lost bodies or joints is made anew.
static Status remake(Group *group, uint32_t i, Arena *scratch, Error *error) {
    const GroupWorld *world = &group->world[i];
    const Input input = {
        .kind = INPUT_RESTORE,
        .restore = {.snapshot = group->snapshot, .snapshot_bytes = group->snapshot_bytes}};
    Status status = apply_change(world->world, world->stepper, &input, scratch, NULL, NULL, error);
    return STATUS_THEN(status, group_set_parameters(group, i, false, error));
}

static Status restore(Group *group, uint32_t i, Arena *scratch, Error *error) {
    const GroupWorld *world = &group->world[i];
    if (!world_is_alike(world->world, group->template)) {
        const ArenaMark mark = arena_mark(scratch);
        Status status = remake(group, i, scratch, error);
        arena_reset_to(scratch, mark);
        return status;
    }
    stepper_reset(world->stepper);
    return world_copy_state(world->world, group->template) ? STATUS_OK : out_of_memory(error);
}

Status group_begin_episode(Group *group, uint32_t i, const double *values, Arena *scratch,
                           Error *error) {
    ASSERT(i < group->count);
    ASSERT(group->world[i].world != NULL);
    GroupWorld *world = &group->world[i];
    Status status = restore(group, i, scratch, error);
    world->is_running = world->has_felt = false;
    status = STATUS_THEN(status, group_set_parameters(group, i, true, error));
    status = STATUS_THEN_IF(status, group->noise.column_count > 0,
                            disturb(group, i, values, scratch, error));
    world->length = world->doubtful = 0;
    group_begin_sensors(group, world);
    world->begun = world->world->time.value;
    memset(world->action, 0, group->action.column_count * sizeof(double));
    world->is_running = status == STATUS_OK;
    return status;
}
