// SPDX-License-Identifier: MIT
// Vectors, quaternions and 3x3 matrices in doubles, by value and inline: what geometry and solvers
// are written in. Every function computes in one fixed order, so that the same inputs give the same
// bits everywhere.
#pragma once

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Vec3 {
    double x, y, z;
} Vec3;

// unit quaternions turn body axes into world axes
typedef struct Quat {
    double w, x, y, z;
} Quat;

// columns, as images of the unit vectors: m v = v.x c0 + v.y c1 + v.z c2
typedef struct Mat3 {
    Vec3 c0, c1, c2;
} Mat3;

// symmetric: xx yy zz xy xz yz
typedef struct Sym3 {
    double xx, yy, zz, xy, xz, yz;
} Sym3;

// where a body or a primitive is
typedef struct Pose {
    Vec3 position;
    Quat orientation;
} Pose;

static inline Vec3 vec3(double x, double y, double z) {
    return (Vec3){x, y, z};
}

static inline Vec3 vec3_add(Vec3 a, Vec3 b) {
    return vec3(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline Vec3 vec3_sub(Vec3 a, Vec3 b) {
    return vec3(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline Vec3 vec3_neg(Vec3 a) {
    return vec3(-a.x, -a.y, -a.z);
}

static inline Vec3 vec3_scale(double s, Vec3 a) {
    return vec3(s * a.x, s * a.y, s * a.z);
}

// a + s b
static inline Vec3 vec3_add_scaled(Vec3 a, double s, Vec3 b) {
    return vec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

static inline double vec3_dot(Vec3 a, Vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline Vec3 vec3_cross(Vec3 a, Vec3 b) {
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline Vec3 vec3_min(Vec3 a, Vec3 b) {
    return vec3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}

static inline Vec3 vec3_max(Vec3 a, Vec3 b) {
    return vec3(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}

static inline double vec3_norm(Vec3 a) {
    return sqrt(vec3_dot(a, a));
}

static inline bool vec3_is_finite(Vec3 a) {
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

// Whether no number exceeds the bound or is NaN. Without branches, for long columns; by several at
// a time, for the short ones of each step.
static inline bool numbers_are_within(const double *numbers, size_t count, double bound) {
    bool within = true;
#pragma GCC unroll 8
    for (size_t i = 0; i < count; i++) {
        within &= fabs(numbers[i]) <= bound;
    }
    return within;
}

static inline bool numbers_are_finite(const double *numbers, size_t count) {
    return numbers_are_within(numbers, count, DBL_MAX);
}

// Whether a float, which holds no more than 3.4e38, can say each of the numbers, if less exactly.
static inline bool numbers_fit_float(const double *numbers, size_t count) {
    return numbers_are_within(numbers, count, (double)FLT_MAX);
}

// Into [-limit, limit].
static inline double clamp_to(double value, double limit) {
    return value < -limit ? -limit : value > limit ? limit : value;
}

// Into the box of these half extents.
static inline Vec3 vec3_clamp_to(Vec3 a, Vec3 half) {
    return vec3(clamp_to(a.x, half.x), clamp_to(a.y, half.y), clamp_to(a.z, half.z));
}

static inline double vec3_get(Vec3 a, int axis) {
    return axis == 0 ? a.x : axis == 1 ? a.y : a.z;
}

// v* in x, y, z order from three packed doubles, and back
static inline Vec3 vec3_load(const double *packed) {
    return vec3(packed[0], packed[1], packed[2]);
}

static inline void vec3_store(double *packed, Vec3 a) {
    packed[0] = a.x;
    packed[1] = a.y;
    packed[2] = a.z;
}

// Two unit vectors that make a right-handed frame (n, t1, t2 = n x t1) with the unit vector n. A
// pure function of n, continuous but for n.z = 0 passing from + to - (Duff and others 2017,
// "Building an orthonormal basis, revisited").
static inline void vec3_tangents(Vec3 n, Vec3 *t1, Vec3 *t2) {
    double sign = n.z >= 0.0 ? 1.0 : -1.0;
    double a = -1.0 / (sign + n.z);
    double b = n.x * n.y * a;
    *t1 = vec3(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *t2 = vec3(b, sign + n.y * n.y * a, -n.y);
}

static inline Vec3 mat3_mul_vec(Mat3 m, Vec3 v) {
    return vec3(m.c0.x * v.x + m.c1.x * v.y + m.c2.x * v.z,
                m.c0.y * v.x + m.c1.y * v.y + m.c2.y * v.z,
                m.c0.z * v.x + m.c1.z * v.y + m.c2.z * v.z);
}

// transpose(m) v
static inline Vec3 mat3_tmul_vec(Mat3 m, Vec3 v) {
    return vec3(vec3_dot(m.c0, v), vec3_dot(m.c1, v), vec3_dot(m.c2, v));
}

static inline Vec3 sym3_mul_vec(Sym3 m, Vec3 v) {
    return vec3(m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z,
                m.xz * v.x + m.yz * v.y + m.zz * v.z);
}

// r m transpose(r): a tensor in body axes, seen in world axes
static inline Sym3 sym3_rotate(Mat3 r, Sym3 m) {
    // columns of m transpose(r) are m applied to the rows of r
    Vec3 row_x = vec3(r.c0.x, r.c1.x, r.c2.x);
    Vec3 row_y = vec3(r.c0.y, r.c1.y, r.c2.y);
    Vec3 row_z = vec3(r.c0.z, r.c1.z, r.c2.z);
    Vec3 mx = sym3_mul_vec(m, row_x);
    Vec3 my = sym3_mul_vec(m, row_y);
    Vec3 mz = sym3_mul_vec(m, row_z);
    return (Sym3){vec3_dot(row_x, mx), vec3_dot(row_y, my), vec3_dot(row_z, mz),
                  vec3_dot(row_x, my), vec3_dot(row_x, mz), vec3_dot(row_y, mz)};
}

static inline double sym3_determinant(Sym3 m) {
    return m.xx * (m.yy * m.zz - m.yz * m.yz) - m.xy * (m.xy * m.zz - m.yz * m.xz) +
           m.xz * (m.xy * m.yz - m.yy * m.xz);
}

// m must be invertible
static inline Sym3 sym3_inverse(Sym3 m) {
    double s = 1.0 / sym3_determinant(m);
    return (Sym3){s * (m.yy * m.zz - m.yz * m.yz), s * (m.xx * m.zz - m.xz * m.xz),
                  s * (m.xx * m.yy - m.xy * m.xy), s * (m.xz * m.yz - m.xy * m.zz),
                  s * (m.xy * m.yz - m.xz * m.yy), s * (m.xy * m.xz - m.xx * m.yz)};
}

static inline Quat quat_identity(void) {
    return (Quat){1.0, 0.0, 0.0, 0.0};
}

static inline Quat quat_mul(Quat a, Quat b) {
    return (Quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                  a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static inline double quat_norm(Quat q) {
    return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}

// q must not be zero
static inline Quat quat_normalize(Quat q) {
    double s = 1.0 / quat_norm(q);
    return (Quat){s * q.w, s * q.x, s * q.y, s * q.z};
}

// Where an orientation comes to by a spin w [rad/s], in world axes, within a time: the product's
// one rotation update (Cayley), normalise((1, t w/2) q).
static inline Quat quat_turn(Quat q, Vec3 w, double time) {
    if (w.x == 0.0 && w.y == 0.0 && w.z == 0.0) {
        return q;
    }
    double half = 0.5 * time;
    return quat_normalize(quat_mul((Quat){1.0, half * w.x, half * w.y, half * w.z}, q));
}

static inline Mat3 quat_to_mat3(Quat q) {
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (Mat3){vec3(1.0 - 2.0 * (yy + zz), 2.0 * (xy + wz), 2.0 * (xz - wy)),
                  vec3(2.0 * (xy - wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz + wx)),
                  vec3(2.0 * (xz + wy), 2.0 * (yz - wx), 1.0 - 2.0 * (xx + yy))};
}

static inline Vec3 quat_rotate(Quat q, Vec3 v) {
    return mat3_mul_vec(quat_to_mat3(q), v);
}

// A vector that is carried along by that rotation.
static inline Vec3 vec3_turn(Vec3 v, Vec3 w, double time) {
    Vec3 a = vec3_scale(0.5 * time, w);
    Vec3 across = vec3_cross(a, v);
    return vec3_add_scaled(v, 2.0 / (1.0 + vec3_dot(a, a)),
                           vec3_add(across, vec3_cross(a, across)));
}

// Where a point or a pose given in `outer` lies in the frame that `outer` is given in.
static inline Vec3 pose_apply(Pose outer, Vec3 point) {
    return vec3_add(outer.position, quat_rotate(outer.orientation, point));
}

static inline Pose pose_compose(Pose outer, Pose inner) {
    return (Pose){pose_apply(outer, inner.position),
                  quat_mul(outer.orientation, inner.orientation)};
}

// pose columns of the wire: x y z, w x y z
static inline Pose pose_load(const double *packed) {
    return (Pose){vec3_load(packed), {packed[3], packed[4], packed[5], packed[6]}};
}

static inline void pose_store(double *packed, Pose pose) {
    vec3_store(packed, pose.position);
    packed[3] = pose.orientation.w;
    packed[4] = pose.orientation.x;
    packed[5] = pose.orientation.y;
    packed[6] = pose.orientation.z;
}
