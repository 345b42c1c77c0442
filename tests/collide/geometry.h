// SPDX-License-Identifier: MIT
// Random geometry and slow obvious references for the tests of collide/. Nothing here shares code
// with what it judges but base/vec.h.
#pragma once

#include "base/vec.h"
#include "world/shape.h"

#include <stdint.h>

typedef struct Dice {
    uint64_t state; // not zero
} Dice;

static inline double dice_unit(Dice *dice) {
    dice->state ^= dice->state << 13;
    dice->state ^= dice->state >> 7;
    dice->state ^= dice->state << 17;
    return (double)(dice->state >> 11) * 0x1p-53;
}

static inline double dice_between(Dice *dice, double low, double high) {
    return low + (high - low) * dice_unit(dice);
}

static inline Vec3 dice_vec(Dice *dice, double low, double high) {
    double x = dice_between(dice, low, high), y = dice_between(dice, low, high);
    return vec3(x, y, dice_between(dice, low, high));
}

// uniform over all turns: a point of the four-dimensional ball, pushed out to the sphere
static inline Quat dice_quat(Dice *dice) {
    for (;;) {
        Vec3 v = dice_vec(dice, -1.0, 1.0);
        Quat q = {dice_between(dice, -1.0, 1.0), v.x, v.y, v.z};
        double norm = quat_norm(q);
        if (norm > 0.1 && norm < 1.0) {
            return quat_normalize(q);
        }
    }
}

static inline Vec3 dice_direction(Dice *dice) {
    return quat_rotate(dice_quat(dice), vec3(0.0, 0.0, 1.0));
}

static inline Pose dice_pose(Dice *dice, double spread) {
    Vec3 position = dice_vec(dice, -spread, spread);
    return (Pose){position, dice_quat(dice)};
}

static inline Primitive make_sphere(double radius) {
    return (Primitive){.kind = PRIMITIVE_SPHERE,
                       .size = vec3(radius, 0.0, 0.0),
                       .local = {{0}, quat_identity()},
                       .density = 1000.0};
}

static inline Primitive make_box(Vec3 half) {
    return (Primitive){
        .kind = PRIMITIVE_BOX, .size = half, .local = {{0}, quat_identity()}, .density = 1000.0};
}

static inline Primitive make_plane(void) {
    return (Primitive){.kind = PRIMITIVE_PLANE, .local = {{0}, quat_identity()}, .density = 1000.0};
}

static inline Primitive make_capsule(double radius, double half_length) {
    return (Primitive){.kind = PRIMITIVE_CAPSULE,
                       .size = vec3(radius, half_length, 0.0),
                       .local = {{0}, quat_identity()},
                       .density = 1000.0};
}

static inline Primitive make_cylinder(double radius, double half_length) {
    return (Primitive){.kind = PRIMITIVE_CYLINDER,
                       .size = vec3(radius, half_length, 0.0),
                       .local = {{0}, quat_identity()},
                       .density = 1000.0};
}

static inline Vec3 capsule_end(const Primitive *capsule, Pose pose, double sign) {
    return pose_apply(pose, vec3(0.0, 0.0, sign * capsule->size.y));
}

// half extents that differ by a factor of up to ten
static inline Primitive dice_box(Dice *dice) {
    return make_box(dice_vec(dice, 0.1, 1.0));
}

static inline Pose pose_at(double x, double y, double z) {
    return (Pose){vec3(x, y, z), quat_identity()};
}

// turned by `angle` about z, exactly where sqrt is
static inline Quat quat_about_z(double cosine) {
    return (Quat){sqrt(0.5 * (1.0 + cosine)), 0.0, 0.0, sqrt(0.5 * (1.0 - cosine))};
}

static inline Vec3 box_corner(const Primitive *box, Pose pose, unsigned corner) {
    Vec3 local = vec3((corner & 1u) != 0 ? box->size.x : -box->size.x,
                      (corner & 2u) != 0 ? box->size.y : -box->size.y,
                      (corner & 4u) != 0 ? box->size.z : -box->size.z);
    return pose_apply(pose, local);
}

static inline double reference_clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

// Distance of a point from a box; 0 inside.
static inline double point_box_distance(Vec3 point, const Primitive *box, Pose pose) {
    Vec3 local = mat3_tmul_vec(quat_to_mat3(pose.orientation), vec3_sub(point, pose.position));
    Vec3 h = box->size;
    Vec3 nearest = vec3(reference_clamp(local.x, -h.x, h.x), reference_clamp(local.y, -h.y, h.y),
                        reference_clamp(local.z, -h.z, h.z));
    return vec3_norm(vec3_sub(local, nearest));
}

static inline double point_segment_distance(Vec3 x, Vec3 p, Vec3 q) {
    Vec3 d = vec3_sub(q, p);
    double squared = vec3_dot(d, d); // 0: so short that the square of its length is no number
    double s = reference_clamp(vec3_dot(vec3_sub(x, p), d) / squared, 0.0, 1.0);
    s = squared > 0.0 ? s : 0.0;
    return vec3_norm(vec3_sub(x, vec3_add_scaled(p, s, d)));
}

// Either both nearest points are inside the segments, or one of them is an end. Whatever rounding
// does to nearly parallel segments, all that is compared are distances of points that are on them.
static inline double segment_distance(Vec3 p0, Vec3 p1, Vec3 q0, Vec3 q1) {
    double best = point_segment_distance(p0, q0, q1);
    best = fmin(best, point_segment_distance(p1, q0, q1));
    best = fmin(best, point_segment_distance(q0, p0, p1));
    best = fmin(best, point_segment_distance(q1, p0, p1));
    Vec3 u = vec3_sub(p1, p0), v = vec3_sub(q1, q0), w = vec3_sub(p0, q0);
    double uu = vec3_dot(u, u), uv = vec3_dot(u, v), vv = vec3_dot(v, v);
    double determinant = uu * vv - uv * uv;
    if (determinant > 0.0) {
        double s = (uv * vec3_dot(v, w) - vv * vec3_dot(u, w)) / determinant;
        Vec3 inside = vec3_add_scaled(p0, reference_clamp(s, 0.0, 1.0), u);
        best = fmin(best, point_segment_distance(inside, q0, q1));
    }
    return best;
}

// Distance of two boxes that are apart: two convex polytopes are nearest at a corner of one of them
// or at two edges.
static inline double box_box_distance(const Primitive *a, Pose pose_a, const Primitive *b,
                                      Pose pose_b) {
    Vec3 corner_a[8], corner_b[8];
    double best = HUGE_VAL;
    for (unsigned i = 0; i < 8; i++) {
        corner_a[i] = box_corner(a, pose_a, i);
        corner_b[i] = box_corner(b, pose_b, i);
        best = fmin(best, point_box_distance(corner_a[i], b, pose_b));
        best = fmin(best, point_box_distance(corner_b[i], a, pose_a));
    }
    for (unsigned i = 0; i < 24; i++) {
        unsigned i0 = i % 8, i1 = i0 | 1u << i / 8;
        for (unsigned j = 0; j < 24 && i0 != i1; j++) {
            unsigned j0 = j % 8, j1 = j0 | 1u << j / 8;
            if (j0 != j1) {
                best = fmin(
                    best, segment_distance(corner_a[i0], corner_a[i1], corner_b[j0], corner_b[j1]));
            }
        }
    }
    return best;
}

// Distance of a segment and a box that are apart: they are nearest at an end of the segment, or at
// an edge of the box.
static inline double segment_box_distance(Vec3 p, Vec3 q, const Primitive *box, Pose pose) {
    double best = fmin(point_box_distance(p, box, pose), point_box_distance(q, box, pose));
    for (unsigned i = 0; i < 24; i++) {
        unsigned from = i % 8, to = from | 1u << i / 8;
        if (from != to) {
            best = fmin(best, segment_distance(p, q, box_corner(box, pose, from),
                                               box_corner(box, pose, to)));
        }
    }
    return best;
}

// The greatest separation of a segment and a box over the directions that a face of their
// difference can have; negative: they overlap by as much.
static inline double segment_box_separation(Vec3 p, Vec3 q, const Primitive *box, Pose pose) {
    Mat3 r = quat_to_mat3(pose.orientation);
    const Vec3 axis[3] = {r.c0, r.c1, r.c2};
    double best = -HUGE_VAL;
    for (int i = 0; i < 6; i++) {
        Vec3 n = i < 3 ? axis[i] : vec3_cross(axis[i - 3], vec3_sub(q, p));
        double length = vec3_norm(n);
        if (!(length > fmax(1e-9 * vec3_norm(vec3_sub(q, p)), 1e-140))) {
            continue; // also of a segment so short that squares of its length are no numbers
        }
        n = vec3_scale(1.0 / length, n);
        double high = -HUGE_VAL, low = HUGE_VAL;
        for (unsigned k = 0; k < 8; k++) {
            double at = vec3_dot(n, vec3_sub(box_corner(box, pose, k), pose.position));
            high = fmax(high, at);
            low = fmin(low, at);
        }
        double at_p = vec3_dot(n, vec3_sub(p, pose.position));
        double at_q = vec3_dot(n, vec3_sub(q, pose.position));
        best = fmax(best, fmax(fmin(at_p, at_q) - high, low - fmax(at_p, at_q)));
    }
    return best;
}

// How far two boxes are apart along a unit vector that points from a to b; negative: they overlap
// by that much.
static inline double separation_along(const Primitive *a, Pose pose_a, const Primitive *b,
                                      Pose pose_b, Vec3 n) {
    double highest_a = -HUGE_VAL, lowest_b = HUGE_VAL;
    for (unsigned i = 0; i < 8; i++) {
        highest_a =
            fmax(highest_a, vec3_dot(n, vec3_sub(box_corner(a, pose_a, i), pose_a.position)));
        lowest_b = fmin(lowest_b, vec3_dot(n, vec3_sub(box_corner(b, pose_b, i), pose_a.position)));
    }
    return lowest_b - highest_a;
}

// The greatest separation over the fifteen axes, both ways.
static inline double best_separation(const Primitive *a, Pose pose_a, const Primitive *b,
                                     Pose pose_b) {
    Mat3 ra = quat_to_mat3(pose_a.orientation), rb = quat_to_mat3(pose_b.orientation);
    const Vec3 axis_a[3] = {ra.c0, ra.c1, ra.c2}, axis_b[3] = {rb.c0, rb.c1, rb.c2};
    Vec3 candidate[15];
    int count = 0;
    for (int i = 0; i < 3; i++) {
        candidate[count++] = axis_a[i];
        candidate[count++] = axis_b[i];
        for (int j = 0; j < 3; j++) {
            Vec3 n = vec3_cross(axis_a[i], axis_b[j]);
            if (vec3_norm(n) > 1e-12) {
                candidate[count++] = vec3_scale(1.0 / vec3_norm(n), n);
            }
        }
    }
    double best = -HUGE_VAL;
    for (int i = 0; i < count; i++) {
        best = fmax(best, separation_along(a, pose_a, b, pose_b, candidate[i]));
        best = fmax(best, separation_along(a, pose_a, b, pose_b, vec3_neg(candidate[i])));
    }
    return best;
}
