// SPDX-License-Identifier: MIT
// Spheres against everything: one point, one feature. Sphere-sphere and sphere-plane are the hot
// pairs of every pile.
#include "base/assert.h"
#include "collide/narrow_parts.h"

// Distances whose square is no longer a normal number give no direction; for a centre that is so
// near to a box, the surface is as good a place.
static const double squared_min = 1e-290;

// The one point of a sphere: it stays the same feature while the sphere rolls over faces, edges and
// corners, so that the impulse of a rolling contact is kept.
static void set_point(Manifold *manifold, Vec3 normal, Vec3 position, double gap) {
    manifold->normal = normal;
    manifold->point[0] = (ManifoldPoint){.position = position, .gap = gap, .feature = 0};
    manifold->count = 1;
}

void sphere_sphere(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b,
                   double reach, Manifold *manifold) {
    ASSERT(a->kind == PRIMITIVE_SPHERE && b->kind == PRIMITIVE_SPHERE);
    Vec3 ca = pose_a->position, cb = pose_b->position;
    double ra = a->size.x, rb = b->size.x;
    Vec3 d = vec3_sub(cb, ca);
    double squared = vec3_dot(d, d);
    double limit = ra + rb + reach;
    if (squared > limit * limit) {
        return;
    }

    // centres that coincide have no direction: up, whatever the order of the two
    double distance = sqrt(squared);
    Vec3 n = squared > squared_min ? vec3_scale(1.0 / distance, d) : vec3(0.0, 0.0, 1.0);

    // midway between ca + ra n and cb - rb n, written so that swapping the spheres gives the same
    // bits
    Vec3 twice = vec3_add(vec3_add(ca, cb), vec3_scale(ra - rb, n));
    set_point(manifold, n, vec3_scale(0.5, twice), distance - (ra + rb));
}

void sphere_plane(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b,
                  double reach, Manifold *manifold) {
    ASSERT(a->kind == PRIMITIVE_SPHERE && b->kind == PRIMITIVE_PLANE);
    Quat q = pose_b->orientation;
    Vec3 up = vec3(2.0 * (q.x * q.z + q.w * q.y), 2.0 * (q.y * q.z - q.w * q.x),
                   1.0 - 2.0 * (q.x * q.x + q.y * q.y));
    Vec3 c = pose_a->position;
    double height = vec3_dot(up, vec3_sub(c, pose_b->position));
    double gap = height - a->size.x;
    if (gap > reach) {
        return;
    }
    set_point(manifold, vec3_neg(up), vec3_add_scaled(c, -0.5 * (height + a->size.x), up), gap);
}

// The centre is in the box: leave through the nearest face, the first of equally near ones.
static Vec3 face_normal(Vec3 c, Vec3 half, double *depth) {
    static const Vec3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    int nearest = 0;
    *depth = half.x - fabs(c.x);
    for (int axis = 1; axis < 3; axis++) {
        double distance = vec3_get(half, axis) - fabs(vec3_get(c, axis));
        if (distance < *depth) {
            *depth = distance;
            nearest = axis;
        }
    }
    return vec3_scale(vec3_get(c, nearest) < 0.0 ? -1.0 : 1.0, axes[nearest]);
}

void sphere_box(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b,
                double reach, Manifold *manifold) {
    ASSERT(a->kind == PRIMITIVE_SPHERE && b->kind == PRIMITIVE_BOX);
    Mat3 rotation = quat_to_mat3(pose_b->orientation);
    Vec3 c = mat3_tmul_vec(rotation, vec3_sub(pose_a->position, pose_b->position));
    Vec3 half = b->size;
    double radius = a->size.x;

    // from the box's nearest point to the centre, in box axes
    Vec3 d = vec3_sub(c, vec3_clamp_to(c, half));
    double squared = vec3_dot(d, d);
    double limit = radius + reach;
    if (squared > limit * limit) {
        return;
    }
    Vec3 out;
    double distance; // of the centre from the surface; negative inside
    if (squared > squared_min) {
        distance = sqrt(squared);
        out = vec3_scale(1.0 / distance, d);
    } else {
        out = face_normal(c, half, &distance);
        distance = -distance;
    }

    // midway between the sphere's nearest point, c - radius out, and the box's, c - distance out
    Vec3 n = mat3_mul_vec(rotation, out);
    Vec3 position = vec3_add_scaled(pose_a->position, -0.5 * (radius + distance), n);
    set_point(manifold, vec3_neg(n), position, distance - radius);
}
