// SPDX-License-Identifier: MIT
#include "run/groups/felt.h"

#include "base/assert.h"
#include "step/joints/wrenches.h"

#include <math.h>
#include <string.h>

// ---- contacts

// What a contact of the last step gave a body, per step.
typedef struct Push {
    Vec3 impulse, point;
    bool presses; // along its normal
} Push;

// Of contact i; `beside` 0: with any other. false: it is none of that body's.
static bool push_of(const FeltSource *source, uint32_t i, Id body, Id beside, Push *push) {
    ASSERT(i < source->stepper->contact_count);
    const Stepper *stepper = source->stepper;
    const StepContact *contact = &stepper->contact[i];
    const Id a = stepper_body_id(stepper, source->world, contact->a),
             b = stepper_body_id(stepper, source->world, contact->b);
    const bool is_a = a == body;
    if ((!is_a && b != body) || (beside != 0 && (is_a ? b : a) != beside)) {
        return false;
    }
    const ProblemContact *frame = &stepper->problem_contact[i];
    const double *impulse = stepper->impulse + 3 * (size_t)i;
    Vec3 along = vec3_scale(impulse[0], frame->normal);
    along = vec3_add_scaled(along, impulse[1], frame->tangent[0]);
    along = vec3_add_scaled(along, impulse[2], frame->tangent[1]);
    *push = (Push){.impulse = is_a ? vec3_neg(along) : along,
                   .point = contact->point,
                   .presses = impulse[0] > 0.0};
    return true;
}

// Force and torque of the contacts on a body, about its centre of mass; or whether there are any.
static void read_contacts(const FeltSource *source, ChannelKind kind, uint32_t body, Id beside,
                          double *x) {
    const Id id = source->world->body_id[body];
    const Vec3 center = pose_load(source->world->pose + 7 * (size_t)body).position;
    Vec3 force = {0}, torque = {0};
    bool is_touched = false;
    for (uint32_t i = 0; i < source->stepper->contact_count; i++) {
        Push push;
        if (push_of(source, i, id, beside, &push)) {
            force = vec3_add(force, push.impulse);
            torque = vec3_add(torque, vec3_cross(vec3_sub(push.point, center), push.impulse));
            is_touched = is_touched || push.presses;
        }
    }
    if (kind == CHANNEL_CONTACT) {
        x[0] = is_touched ? 1.0 : 0.0;
        return;
    }
    vec3_store(x, vec3_scale(1.0 / source->time_step, force));
    vec3_store(x + 3, vec3_scale(1.0 / source->time_step, torque));
}

// ---- accelerometers

// Halfway between two turns that are near each other.
static Quat halfway(Quat a, Quat b) {
    const double sign = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0.0 ? -1.0 : 1.0;
    return quat_normalize(
        (Quat){a.w + sign * b.w, a.x + sign * b.x, a.y + sign * b.y, a.z + sign * b.z});
}

// Acceleration less gravity of the point where it sits, f = a + α × r + ω × (ω × r) - g, with the
// body's mean acceleration over the step and its spin and axes halfway through.
static void read_specific_force(const FeltSource *source, const Channel *channel, uint32_t body,
                                double *x) {
    const World *world = source->world;
    double before[6];
    Quat turned;
    if (!stepper_motion_before(source->stepper, world, body, before, &turned)) {
        return;
    }
    const double *after = world->velocity + 6 * (size_t)body;
    const double rate = 1.0 / source->time_step;
    const Vec3 v = vec3_load(before), w = vec3_load(before + 3), w_after = vec3_load(after + 3);
    const Vec3 acceleration = vec3_scale(rate, vec3_sub(vec3_load(after), v)),
               turning = vec3_scale(rate, vec3_sub(w_after, w)),
               spin = vec3_scale(0.5, vec3_add(w, w_after));
    const Quat now = pose_load(world->pose + 7 * (size_t)body).orientation;
    const Mat3 axes = quat_to_mat3(halfway(turned, now));
    const Vec3 arm =
        mat3_mul_vec(axes, vec3_sub(channel->mount.position, world->mass[body].center));
    Vec3 force = vec3_sub(acceleration, world->settings.gravity);
    force = vec3_add(force, vec3_cross(turning, arm));
    force = vec3_add(force, vec3_cross(spin, vec3_cross(spin, arm)));
    vec3_store(x,
               mat3_tmul_vec(quat_to_mat3(channel->mount.orientation), mat3_tmul_vec(axes, force)));
}

// ---- joints

static Quat frame_turn(const World *world, const Joint *joint, int side) {
    const uint32_t body = joint->body[side];
    const Quat own = joint->frame[side].orientation;
    return body == JOINT_NO_BODY
               ? own
               : quat_mul(pose_load(world->pose + 7 * (size_t)body).orientation, own);
}

static Vec3 axis_of(Mat3 frame, int number) {
    return number == 0 ? frame.c0 : number == 1 ? frame.c1 : frame.c2;
}

// What a wrench at b's frame does along each free axis: the power of a unit rate.
static void read_torques(const World *world, const Joint *joint, const double *wrench, double *x) {
    const Mat3 a = quat_to_mat3(frame_turn(world, joint, 0)),
               b = quat_to_mat3(frame_turn(world, joint, 1));
    const Vec3 force = vec3_load(wrench), torque = vec3_load(wrench + 3);
    const uint32_t axes = joint_axis_count(joint->axes),
                   turns = joint_axis_count(joint->axes & JOINT_TURNS);
    for (uint32_t k = 0; k < axes; k++) {
        const int bit = joint_axis_bit(joint->axes, k);
        const bool is_turn = bit >= 3;
        // moves, and the first of two turns, are along axes of a's frame
        const bool is_of_a = !is_turn || (turns == 2 && k + 2 == axes);
        const Vec3 axis = axis_of(is_of_a ? a : b, bit % 3);
        x[k] = vec3_dot(is_turn ? torque : force, axis);
    }
}

static void read_joint(const World *world, ChannelKind kind, uint32_t index, const double *wrenches,
                       double *x) {
    ASSERT(index < world->joint_count);
    const Joint *joint = &world->joint[index];
    const double *wrench = wrenches + 6 * (size_t)index;
    if (kind == CHANNEL_JOINT_TORQUE) {
        read_torques(world, joint, wrench, x);
        return;
    }
    const Mat3 axes = quat_to_mat3(frame_turn(world, joint, 1));
    vec3_store(x, mat3_tmul_vec(axes, vec3_load(wrench)));
    vec3_store(x + 3, mat3_tmul_vec(axes, vec3_load(wrench + 3)));
}

// ---- all

Status felt_joint_wrenches(const FeltSource *source, const double **wrench, Error *error) {
    ASSERT(source->scratch != NULL);
    *wrench = NULL;
    double *made =
        arena_take_array(source->scratch, 6 * source->world->joint_count, sizeof(double));
    if (made == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while reading what joints carry: raise --memory-bytes-max.");
    }
    Error why = {0};
    const Status status =
        joint_wrenches(source->stepper, source->world, source->scratch, made, &why);
    if (status == STATUS_RESOURCE_EXHAUSTED) {
        *error = why;
        return status;
    }
    *wrench = status == STATUS_OK ? made : NULL; // nothing is known of a world's first moment
    return STATUS_OK;
}

static void read_channel(const Channel *channel, const FeltSource *source,
                         const double *joint_wrench, double *x) {
    ASSERT(source->time_step > 0.0);
    const World *world = source->world, *template = source->template;
    uint32_t index, beside;
    if (channel->joint != JOINT_NONE) {
        if (joint_wrench != NULL && layout_find_joint(world, template, channel->joint, &index)) {
            read_joint(world, channel->kind, index, joint_wrench, x);
        }
        return;
    }
    if (!layout_find_body(world, template, channel->body, &index)) {
        return;
    }
    if (channel->kind == CHANNEL_ACCELEROMETER) {
        read_specific_force(source, channel, index, x);
    } else if (channel->relative == JOINT_NO_BODY) {
        read_contacts(source, channel->kind, index, 0, x);
    } else if (layout_find_body(world, template, channel->relative, &beside)) {
        read_contacts(source, channel->kind, index, world->body_id[beside], x);
    }
}

void felt_read(const Layout *layout, const FeltSource *source, const double *joint_wrench,
               double *felt) {
    ASSERT(felt != NULL || layout->felt_count == 0);
    if (layout->felt_count == 0) {
        return;
    }
    memset(felt, 0, layout->felt_count * sizeof(double));
    for (uint32_t i = 0; source->stepper->has_last && i < layout->channel_count; i++) {
        const Channel *channel = &layout->channel[i];
        if (channel->felt_count > 0) {
            read_channel(channel, source, joint_wrench, felt + channel->felt_first);
        }
    }
    for (uint32_t k = 0; k < layout->felt_count; k++) {
        felt[k] = isfinite(felt[k]) ? felt[k] : 0.0; // beyond all numbers
    }
}
