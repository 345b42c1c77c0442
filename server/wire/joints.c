// SPDX-License-Identifier: MIT
#include "wire/joints.h"

#include "world/world_commands.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define X(upper, axes, is_rows)                                                                    \
    static_assert((int)JOINT_##upper == (int)MOREAU__V1__JOINT__KIND__##upper,                     \
                  "kinds have the numbers of the wire");
JOINT_KIND_MAP(X)
#undef X
static_assert(sizeof(protobuf_c_boolean) == sizeof(uint32_t), "flags are read as u32");
static_assert(sizeof(Moreau__V1__Joint__Kind) == sizeof(uint32_t), "kinds are read as u32");

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while reading joints.");
}

// ---- in

static Status check_length(size_t length, size_t wanted, const char *name, const char *per,
                           Error *error) {
    return length == 0 || length == wanted
               ? STATUS_OK
               : error_set(error, STATUS_INVALID_ARGUMENT, name,
                           "Column %s has %zu entries; of these joints it has %zu (%s) or none.",
                           name, length, wanted, per);
}

static uint8_t free_axes(const Moreau__V1__WorldAddJoints *m, size_t i) {
    const JointKind kind = (JointKind)m->kind[i];
    const uint32_t given = i < m->n_axes ? m->axes[i] : 0;
    return kind == JOINT_GENERIC ? (uint8_t)(given & (JOINT_MOVES | JOINT_TURNS))
                                 : joint_kind_axes(kind);
}

typedef struct Length {
    size_t length, wanted;
    const char *name;
} Length;

static Status check_lengths(const Length *lengths, size_t count, const char *per, Error *error) {
    Status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        status = check_length(lengths[i].length, lengths[i].wanted, lengths[i].name, per, error);
    }
    return status;
}

static Status check_joint_columns(const Moreau__V1__WorldAddJoints *m, Error *error) {
    const size_t n = m->n_kind;
    const Length lengths[] = {
        {m->n_body_a, n, "body_a"},
        {m->n_body_b, n, "body_b"},
        {m->n_axes, n, "axes"},
        {m->n_frame_a, 7 * n, "frame_a"},
        {m->n_frame_b, 7 * n, "frame_b"},
        {m->n_as_rows, n, "as_rows"},
        {m->n_collides, n, "collides"},
        {m->n_joint_a, n, "joint_a"},
        {m->n_joint_b, n, "joint_b"},
        {m->n_coupled_count, n, "coupled_count"},
        {m->n_ratio, n, "ratio"},
        {m->n_length, n, "length"},
        {m->n_break_force, n, "break_force"},
        {m->n_break_torque, n, "break_torque"},
        {m->n_names, n, "names"},
    };
    return check_lengths(lengths, sizeof(lengths) / sizeof(lengths[0]),
                         "one per joint, 7 of a frame", error);
}

static Status check_coupling_columns(const Moreau__V1__WorldAddJoints *m, size_t n, Error *error) {
    const Length lengths[] = {
        {m->n_coupled, n, "coupled"},
        {m->n_coupled_axes, n, "coupled_axes"},
        {m->n_coefficients, n, "coefficients"},
    };
    return check_lengths(lengths, sizeof(lengths) / sizeof(lengths[0]),
                         "one per axis that a tendon couples", error);
}

static Status check_axis_columns(const Moreau__V1__WorldAddJoints *m, size_t n, size_t positions,
                                 Error *error) {
    const Length lengths[] = {
        {m->n_low, n, "low"},
        {m->n_high, n, "high"},
        {m->n_stiffness, n, "stiffness"},
        {m->n_rest, n, "rest"},
        {m->n_damping, n, "damping"},
        {m->n_friction, n, "friction"},
        {m->n_armature, n, "armature"},
        {m->n_drive_stiffness, n, "drive_stiffness"},
        {m->n_drive_damping, n, "drive_damping"},
        {m->n_effort_max, n, "effort_max"},
        {m->n_velocity, n, "velocity"},
        {m->n_target, n, "target"},
        {m->n_target_velocity, n, "target_velocity"},
        {m->n_effort, n, "effort"},
        {m->n_stall_effort, n, "stall_effort"},
        {m->n_no_load_speed, n, "no_load_speed"},
        {m->n_lag_time, n, "lag_time"},
        {m->n_delay_steps, n, "delay_steps"},
    };
    Status status =
        check_lengths(lengths, sizeof(lengths) / sizeof(lengths[0]), "one per free axis", error);
    return STATUS_THEN(status, check_length(m->n_position, positions, "position",
                                            "one per free axis, 4 of three turns", error));
}

static const double *column(size_t length, const double *values) {
    return length == 0 ? NULL : values;
}

// A column in which `none` says so. false: the arena ends.
static bool open_none(size_t length, const double *values, double none, Arena *arena,
                      const double **opened) {
    *opened = NULL;
    if (length == 0) {
        return true;
    }
    double *copy = arena_take_array(arena, length, sizeof(double));
    for (size_t i = 0; copy != NULL && i < length; i++) {
        copy[i] = values[i] == none ? copysign(HUGE_VAL, none) : values[i];
    }
    *opened = copy;
    return copy != NULL;
}

static void take_axis_columns(const Moreau__V1__WorldAddJoints *m, JointColumns *columns) {
    columns->stiffness = column(m->n_stiffness, m->stiffness);
    columns->rest = column(m->n_rest, m->rest);
    columns->damping = column(m->n_damping, m->damping);
    columns->friction = column(m->n_friction, m->friction);
    columns->armature = column(m->n_armature, m->armature);
    columns->drive_stiffness = column(m->n_drive_stiffness, m->drive_stiffness);
    columns->drive_damping = column(m->n_drive_damping, m->drive_damping);
    columns->stall_effort = column(m->n_stall_effort, m->stall_effort);
    columns->no_load_speed = column(m->n_no_load_speed, m->no_load_speed);
    columns->lag_time = column(m->n_lag_time, m->lag_time);
    columns->delay_steps = column(m->n_delay_steps, m->delay_steps);
    columns->velocity = column(m->n_velocity, m->velocity);
    columns->target = column(m->n_target, m->target);
    columns->target_velocity = column(m->n_target_velocity, m->target_velocity);
    columns->effort = column(m->n_effort, m->effort);
    columns->position = column(m->n_position, m->position);
}

Status joints_columns(const Moreau__V1__WorldAddJoints *m, Arena *arena, JointColumns *columns,
                      Error *error) {
    if (m->n_kind == 0 || m->n_kind > UINT32_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "kind", "Give at least one joint.");
    }
    size_t axes = 0, positions = 0;
    for (size_t i = 0; i < m->n_kind; i++) {
        axes += joint_axis_count(free_axes(m, i));
        positions += joint_position_count(free_axes(m, i));
    }
    size_t couplings = 0;
    for (size_t i = 0; i < m->n_coupled_count; i++) {
        couplings += m->coupled_count[i];
    }
    Status status = check_joint_columns(m, error);
    status = STATUS_THEN(status, check_coupling_columns(m, couplings, error));
    status = STATUS_THEN(status, check_axis_columns(m, axes, positions, error));
    if (status != STATUS_OK) {
        return status;
    }
    *columns = (JointColumns){
        .count = (uint32_t)m->n_kind,
        .axis_count = axes,
        .position_count = positions,
        .coupling_count = couplings,
        .kind = (const uint32_t *)(const void *)m->kind,
        .body_a = m->n_body_a > 0 ? m->body_a : NULL,
        .body_b = m->n_body_b > 0 ? m->body_b : NULL,
        .axes = m->n_axes > 0 ? m->axes : NULL,
        .frame_a = column(m->n_frame_a, m->frame_a),
        .frame_b = column(m->n_frame_b, m->frame_b),
        .as_rows = m->n_as_rows > 0 ? (const uint32_t *)m->as_rows : NULL,
        .collides = m->n_collides > 0 ? (const uint32_t *)m->collides : NULL,
        .joint_a = m->n_joint_a > 0 ? m->joint_a : NULL,
        .joint_b = m->n_joint_b > 0 ? m->joint_b : NULL,
        .coupled_count = couplings > 0 ? m->coupled_count : NULL,
        .coupled = m->n_coupled > 0 ? m->coupled : NULL,
        .coupled_axes = m->n_coupled_axes > 0 ? m->coupled_axes : NULL,
        .coefficients = column(m->n_coefficients, m->coefficients),
        .ratio = column(m->n_ratio, m->ratio),
        .length = column(m->n_length, m->length),
        .name = m->n_names > 0 ? (const char *const *)m->names : NULL,
    };
    take_axis_columns(m, columns);
    return open_none(m->n_low, m->low, -JOINTS_NONE, arena, &columns->low) &&
                   open_none(m->n_high, m->high, JOINTS_NONE, arena, &columns->high) &&
                   open_none(m->n_effort_max, m->effort_max, JOINTS_NONE, arena,
                             &columns->effort_max) &&
                   open_none(m->n_break_force, m->break_force, JOINTS_NONE, arena,
                             &columns->break_force) &&
                   open_none(m->n_break_torque, m->break_torque, JOINTS_NONE, arena,
                             &columns->break_torque)
               ? STATUS_OK
               : out_of_memory(error);
}

// ---- out

static double close_none(double value) {
    return isinf(value) ? copysign(JOINTS_NONE, value) : value;
}

static Id body_id(const World *world, uint32_t body) {
    return body == JOINT_NO_BODY ? 0 : world->body_id[body];
}

// From the origin, as it came in.
static void store_frame(const World *world, const Joint *joint, int side, double *frame) {
    Pose pose = joint->frame[side];
    if (joint->body[side] != JOINT_NO_BODY) {
        pose.position = vec3_add(pose.position, world->mass[joint->body[side]].center);
    }
    pose_store(frame, pose);
}

// A column of the message, with room for so many.
#define TAKE(member, count)                                                                        \
    ((m->member = arena_take_array(arena, (count), sizeof(*m->member))) != NULL &&                 \
     ((m->n_##member = (count)), true))

static bool take_joint_columns(Moreau__V1__WorldAddJoints *m, size_t n, Arena *arena) {
    return TAKE(kind, n) && TAKE(body_a, n) && TAKE(body_b, n) && TAKE(axes, n) &&
           TAKE(frame_a, 7 * n) && TAKE(frame_b, 7 * n) && TAKE(as_rows, n) && TAKE(collides, n) &&
           TAKE(joint_a, n) && TAKE(joint_b, n) && TAKE(ratio, n) && TAKE(length, n) &&
           TAKE(break_force, n) && TAKE(break_torque, n) && TAKE(names, n);
}

static bool take_axis_room(Moreau__V1__WorldAddJoints *m, size_t n, Arena *arena) {
    return TAKE(low, n) && TAKE(high, n) && TAKE(stiffness, n) && TAKE(rest, n) &&
           TAKE(damping, n) && TAKE(friction, n) && TAKE(armature, n) && TAKE(drive_stiffness, n) &&
           TAKE(drive_damping, n) && TAKE(effort_max, n);
}

// Where none has one, nothing is said.
static bool put_actuators(const World *world, Moreau__V1__WorldAddJoints *m, Arena *arena) {
    const size_t n = world->joint_axis_count;
    if (!world_has_actuators(world)) {
        return true;
    }
    if (!TAKE(stall_effort, n) || !TAKE(no_load_speed, n) || !TAKE(lag_time, n) ||
        !TAKE(delay_steps, n)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const JointAxis *axis = &world->joint_axis[i];
        m->stall_effort[i] = axis->stall_effort;
        m->no_load_speed[i] = axis->no_load_speed;
        m->lag_time[i] = axis->lag_time;
        m->delay_steps[i] = axis->delay_steps;
    }
    return true;
}

// Where there are no tendons, nothing is said.
static bool put_couplings(const World *world, Moreau__V1__WorldAddJoints *m, Arena *arena) {
    const size_t n = world->coupling_count;
    if (n == 0) {
        return true;
    }
    if (!TAKE(coupled_count, world->joint_count) || !TAKE(coupled, n) || !TAKE(coupled_axes, n) ||
        !TAKE(coefficients, n)) {
        return false;
    }
    for (size_t i = 0; i < world->joint_count; i++) {
        m->coupled_count[i] = world->joint[i].coupling_count;
    }
    for (size_t i = 0; i < n; i++) {
        m->coupled[i] = world->joint[world->coupling[i].joint].id;
        m->coupled_axes[i] = world->coupling[i].axis;
        m->coefficients[i] = world->coupling[i].coefficient;
    }
    return true;
}

static void put_joint(const World *world, size_t i, Moreau__V1__WorldAddJoints *m) {
    const Joint *joint = &world->joint[i];
    const bool is_gear = joint->kind == JOINT_GEAR;
    m->kind[i] = (Moreau__V1__Joint__Kind)joint->kind;
    m->body_a[i] = body_id(world, joint->body[0]);
    m->body_b[i] = body_id(world, joint->body[1]);
    m->axes[i] = joint->kind == JOINT_GENERIC ? joint->axes : 0;
    store_frame(world, joint, 0, m->frame_a + 7 * i);
    store_frame(world, joint, 1, m->frame_b + 7 * i);
    m->as_rows[i] = joint->is_rows;
    m->collides[i] = joint->collides;
    m->joint_a[i] = is_gear ? world->joint[joint->partner[0]].id : 0;
    m->joint_b[i] = is_gear ? world->joint[joint->partner[1]].id : 0;
    m->ratio[i] = joint->ratio;
    m->length[i] = joint->length;
    m->break_force[i] = close_none(joint->break_force);
    m->break_torque[i] = close_none(joint->break_torque);
    m->names[i] = joint->name == NULL ? (char *)"" : joint->name;
}

Moreau__V1__WorldAddJoints *joints_definition(const World *world, Arena *arena) {
    Moreau__V1__WorldAddJoints *m = arena_take(arena, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    moreau__v1__world_add_joints__init(m);
    if (!take_joint_columns(m, world->joint_count, arena) ||
        !take_axis_room(m, world->joint_axis_count, arena) || !put_actuators(world, m, arena) ||
        !put_couplings(world, m, arena)) {
        return NULL;
    }
    for (size_t i = 0; i < world->joint_count; i++) {
        put_joint(world, i, m);
    }
    for (size_t i = 0; i < world->joint_axis_count; i++) {
        const JointAxis *axis = &world->joint_axis[i];
        m->low[i] = close_none(axis->low);
        m->high[i] = close_none(axis->high);
        m->stiffness[i] = axis->stiffness;
        m->rest[i] = axis->rest;
        m->damping[i] = axis->damping;
        m->friction[i] = axis->friction;
        m->armature[i] = axis->armature;
        m->drive_stiffness[i] = axis->drive_stiffness;
        m->drive_damping[i] = axis->drive_damping;
        m->effort_max[i] = close_none(axis->effort_max);
    }
    return m;
}

bool joints_numbers(const World *world, Arena *arena, Moreau__V1__WorldGetReply *m) {
    const size_t axes = world->joint_axis_count;
    if (!TAKE(joints, world->joint_count) || !TAKE(joint_axes, world->joint_count)) {
        return false;
    }
    for (size_t i = 0; i < world->joint_count; i++) {
        m->joints[i] = world->joint[i].id;
        m->joint_axes[i] = world->joint[i].axes;
    }
    // packed straight from the world's own memory, which is this lane's until the reply is packed
    m->joint_position = world->joint_position;
    m->joint_velocity = world->joint_velocity;
    m->joint_target = world->joint_target;
    m->joint_target_velocity = world->joint_target_velocity;
    m->joint_effort = world->joint_effort;
    m->n_joint_position = world->joint_position_count;
    m->n_joint_velocity = m->n_joint_target = m->n_joint_target_velocity = m->n_joint_effort = axes;
    return true;
}
