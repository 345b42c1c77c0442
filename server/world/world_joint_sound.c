// SPDX-License-Identifier: MIT
// Whether joints that came with a snapshot can be: what adding them would have let pass.
#include "world/range.h"
#include "world/world_commands.h"
#include "world/world.h"

#include <math.h>

static bool is_within(RangeKind kind, double value, double none) {
    return value == none || range_holds(kind, value);
}

static bool axis_is_sound(const JointAxis *axis, bool is_rows) {
    return is_within(RANGE_JOINT_POSITION, axis->low, -HUGE_VAL) &&
           is_within(RANGE_JOINT_POSITION, axis->high, HUGE_VAL) && axis->low <= axis->high &&
           range_holds(RANGE_JOINT_STIFFNESS, axis->stiffness) &&
           range_holds(RANGE_JOINT_POSITION, axis->rest) &&
           range_holds(RANGE_JOINT_DAMPING, axis->damping) &&
           range_holds(RANGE_JOINT_FRICTION, axis->friction) &&
           range_holds(RANGE_JOINT_ARMATURE, axis->armature) &&
           range_holds(RANGE_JOINT_STIFFNESS, axis->drive_stiffness) &&
           range_holds(RANGE_JOINT_DAMPING, axis->drive_damping) &&
           is_within(RANGE_JOINT_EFFORT_MAX, axis->effort_max, HUGE_VAL) &&
           range_holds(RANGE_JOINT_STALL_EFFORT, axis->stall_effort) &&
           is_within(RANGE_JOINT_NO_LOAD_SPEED, axis->no_load_speed, 0.0) &&
           (axis->no_load_speed == 0.0 || axis->stall_effort > 0.0) &&
           range_holds(RANGE_JOINT_LAG_TIME, axis->lag_time) &&
           range_holds(RANGE_JOINT_DELAY_STEPS, axis->delay_steps) &&
           axis->delay_steps == floor(axis->delay_steps) &&
           !(is_rows && (axis->armature != 0.0 || axis->stall_effort != 0.0));
}

static bool is_held(const World *world, uint32_t body) {
    return body == JOINT_NO_BODY || world->kind[body] != BODY_DYNAMIC;
}

static bool gear_is_sound(const World *world, const Joint *joint) {
    return joint->coupling_count == 0 && joint->partner[0] != joint->partner[1] &&
           joint_axis_count(world->joint[joint->partner[0]].axes) == 1 &&
           joint_axis_count(world->joint[joint->partner[1]].axes) == 1;
}

static bool tendon_is_sound(const World *world, const Joint *joint) {
    return joint->partner[0] == JOINT_NONE && joint->partner[1] == JOINT_NONE &&
           joint->coupling_count > 0 && joint->coupling_first < world->coupling_count &&
           joint->coupling_count <= world->coupling_count - joint->coupling_first;
}

// Of what a gear or a tendon couples: joints before it, which have bodies.
static bool couplings_are_sound(const World *world, size_t index) {
    const Joint *joint = &world->joint[index];
    const bool is_tendon = joint->kind == JOINT_TENDON;
    if (joint->body[0] != JOINT_NO_BODY || joint->body[1] != JOINT_NO_BODY ||
        (is_tendon && !tendon_is_sound(world, joint))) {
        return false;
    }
    for (uint32_t i = 0; i < world_coupling_count(joint); i++) {
        const Coupling of = world_coupling(world, joint, i);
        if (of.joint >= index || joint_couples(&world->joint[of.joint]) ||
            !joint_has_number(world->joint[of.joint].axes, of.axis) ||
            !range_holds(RANGE_JOINT_COEFFICIENT, of.coefficient) ||
            (is_tendon && of.owner != index)) {
            return false;
        }
    }
    return is_tendon || gear_is_sound(world, joint);
}

static bool ends_are_sound(const World *world, size_t index) {
    const Joint *joint = &world->joint[index];
    if (joint_couples(joint)) {
        return couplings_are_sound(world, index);
    }
    const uint32_t a = joint->body[0], b = joint->body[1];
    return joint->partner[0] == JOINT_NONE && joint->partner[1] == JOINT_NONE &&
           joint->coupling_count == 0 && (a == JOINT_NO_BODY || a < world->body_count) &&
           b < world->body_count && a != b && !(is_held(world, a) && is_held(world, b)) &&
           (joint->is_rows || !is_held(world, b));
}

static bool frame_is_sound(const Pose *frame) {
    double packed[7];
    pose_store(packed, *frame);
    // a frame and a centre of mass, each within the range of positions; unit up to rounding
    return numbers_are_within(packed, 3, 2e9) && fabs(quat_norm(frame->orientation) - 1.0) < 1e-9;
}

static bool kind_is_sound(const Joint *joint) {
    if (joint->kind >= JOINT_KIND_COUNT || joint->axes >= 1 << JOINT_AXES_MAX) {
        return false;
    }
    return joint->kind == JOINT_GENERIC ? joint->axes != 0
                                        : joint->axes == joint_kind_axes((JointKind)joint->kind);
}

bool world_joint_is_sound(const World *world, size_t index) {
    const Joint *joint = &world->joint[index];
    if (!kind_is_sound(joint) || !ends_are_sound(world, index) ||
        !frame_is_sound(&joint->frame[0]) || !frame_is_sound(&joint->frame[1]) ||
        (joint_kind_is_rows((JointKind)joint->kind) && !joint->is_rows) ||
        !range_holds(RANGE_JOINT_RATIO, joint->ratio) ||
        !range_holds(RANGE_JOINT_LENGTH, joint->length) ||
        !is_within(RANGE_JOINT_BREAK, joint->break_force, HUGE_VAL) ||
        !is_within(RANGE_JOINT_BREAK, joint->break_torque, HUGE_VAL)) {
        return false;
    }
    const bool may_break = joint->break_force < HUGE_VAL || joint->break_torque < HUGE_VAL;
    if (may_break && !joint->is_rows) {
        return false;
    }
    for (uint32_t k = 0; k < joint_axis_count(joint->axes); k++) {
        if (!axis_is_sound(&world->joint_axis[joint->axis_first + k], joint->is_rows)) {
            return false;
        }
    }
    return true;
}

bool world_joints_are_sound(const World *world) {
    Id last = 0;
    for (size_t i = 0; i < world->joint_count; i++) {
        const Id id = world->joint[i].id;
        if (id <= last || id >= world->joint_id_next || !world_joint_is_sound(world, i)) {
            return false;
        }
        last = id;
    }
    return true;
}

bool world_joint_state_is_sound(const World *world) {
    const size_t axes = world->joint_axis_count;
    if (!numbers_fit_float(world->joint_position, world->joint_position_count) ||
        !numbers_fit_float(world->joint_velocity, axes)) {
        return false;
    }
    for (size_t i = 0; i < axes; i++) {
        if (!range_holds(RANGE_JOINT_POSITION, world->joint_target[i]) ||
            !range_holds(RANGE_JOINT_VELOCITY, world->joint_target_velocity[i]) ||
            !range_holds(RANGE_JOINT_EFFORT, world->joint_effort[i])) {
            return false;
        }
    }
    if (!world_commands_are_sound(world)) {
        return false;
    }
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        if ((joint->axes & JOINT_TURNS) == JOINT_TURNS) {
            const double *q = world->joint_position + joint->position_first +
                              joint_axis_count(joint->axes & JOINT_MOVES);
            const double norm = quat_norm((Quat){q[0], q[1], q[2], q[3]});
            if (!(fabs(norm - 1.0) < 1e-9)) {
                return false;
            }
        }
    }
    return true;
}
