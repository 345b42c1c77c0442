// SPDX-License-Identifier: MIT
#include "world/joint.h"

#include "base/trig.h"

#define X(upper, axes, is_rows) {#upper, axes, is_rows},
const JointKindRow joint_kind_rows[JOINT_KIND_COUNT] = {JOINT_KIND_MAP(X)};
#undef X

// The turns of a joint: which axes they are about, in their order.
typedef struct Turns {
    int axis[3]; // 0 x, 1 y, 2 z
    uint32_t count;
} Turns;

static Turns turns_of(uint8_t axes) {
    Turns turns = {.count = 0};
    for (int axis = 0; axis < 3; axis++) {
        if (axes & (1 << (3 + axis))) {
            turns.axis[turns.count++] = axis;
        }
    }
    return turns;
}

static Vec3 unit(int axis) {
    return vec3(axis == 0, axis == 1, axis == 2);
}

// x cross y = z, x cross z = -y, y cross z = x: the third axis of two, and the sign.
static int third_axis(int first, int second) {
    return 3 - first - second;
}

static double third_sign(int first, int second) {
    return second - first == 2 ? -1.0 : 1.0;
}

static double quat_part(Quat q, int axis) {
    return axis == 0 ? q.x : axis == 1 ? q.y : q.z;
}

static Quat turn_about(int axis, double angle) {
    const SinCos half = trig_sin_cos(0.5 * angle);
    const Vec3 part = vec3_scale(half.sin, unit(axis));
    return (Quat){half.cos, part.x, part.y, part.z};
}

Pose joint_transform(uint8_t axes, const double *position) {
    Pose pose = {.orientation = quat_identity()};
    double *const moved[3] = {&pose.position.x, &pose.position.y, &pose.position.z};
    for (int axis = 0; axis < 3; axis++) {
        if (axes & (1 << axis)) {
            *moved[axis] = *position++;
        }
    }
    const Turns turns = turns_of(axes);
    if (turns.count == 3) {
        pose.orientation = (Quat){position[0], position[1], position[2], position[3]};
    } else if (turns.count > 0) {
        pose.orientation = turn_about(turns.axis[0], position[0]);
        if (turns.count == 2) {
            pose.orientation = quat_mul(pose.orientation, turn_about(turns.axis[1], position[1]));
        }
    }
    return pose;
}

// The angle about `axis` of the turn nearest to q among those about it. Of q = (w, v) the double
// angle is taken, so that q and -q are the same.
static double angle_about(Quat q, int axis) {
    const double v = quat_part(q, axis);
    return trig_atan2(2.0 * q.w * v, q.w * q.w - v * v);
}

// q = turn about i by alpha, then about j by beta, k = i cross j: w = ca cb, i: sa cb, j: ca sb,
// k: sa sb, with the sines and cosines of half the angles. So 2 (w i + j k) = sin alpha (cb^2 +
// sb^2), and so on; of a q that is no such product these are the angles of one close to it.
static void two_angles(Quat q, Turns turns, double angle[2]) {
    const double w = q.w, i = quat_part(q, turns.axis[0]), j = quat_part(q, turns.axis[1]);
    const double k = third_sign(turns.axis[0], turns.axis[1]) *
                     quat_part(q, third_axis(turns.axis[0], turns.axis[1]));
    angle[0] = trig_atan2(2.0 * (w * i + j * k), w * w + j * j - i * i - k * k);
    angle[1] = trig_atan2(2.0 * (w * j + i * k), w * w + i * i - j * j - k * k);
}

void joint_measure_position(uint8_t axes, Pose b_in_a, double *position) {
    for (int axis = 0; axis < 3; axis++) {
        if (axes & (1 << axis)) {
            *position++ = vec3_get(b_in_a.position, axis);
        }
    }
    const Turns turns = turns_of(axes);
    const Quat q = b_in_a.orientation;
    if (turns.count == 3) {
        const double s = (q.w < 0.0 ? -1.0 : 1.0) / quat_norm(q);
        position[0] = s * q.w;
        position[1] = s * q.x;
        position[2] = s * q.y;
        position[3] = s * q.z;
    } else if (turns.count == 2) {
        two_angles(q, turns, position);
    } else if (turns.count == 1) {
        position[0] = angle_about(q, turns.axis[0]);
    }
}

void joint_measure_velocity(uint8_t axes, Pose b_in_a, Vec3 velocity, Vec3 spin, double *rate) {
    for (int axis = 0; axis < 3; axis++) {
        if (axes & (1 << axis)) {
            *rate++ = vec3_get(velocity, axis);
        }
    }
    const Turns turns = turns_of(axes);
    if (turns.count == 3) {
        vec3_store(rate, mat3_tmul_vec(quat_to_mat3(b_in_a.orientation), spin));
    } else if (turns.count == 2) {
        // spin = alpha' i + beta' (j turned by alpha); the two are at right angles
        double angle[2];
        two_angles(b_in_a.orientation, turns, angle);
        const Vec3 second = quat_rotate(turn_about(turns.axis[0], angle[0]), unit(turns.axis[1]));
        rate[0] = vec3_get(spin, turns.axis[0]);
        rate[1] = vec3_dot(second, spin);
    } else if (turns.count == 1) {
        rate[0] = vec3_get(spin, turns.axis[0]);
    }
}

Vec3 joint_rotation_vector(Quat turn) {
    const double s = turn.w < 0.0 ? -1.0 : 1.0;
    const Vec3 v = vec3(s * turn.x, s * turn.y, s * turn.z);
    const double sine = vec3_norm(v); // of half the angle
    const double half = trig_atan2(sine, s * turn.w);
    return vec3_scale(sine > 0.0 ? 2.0 * half / sine : 2.0, v);
}
