// SPDX-License-Identifier: MIT
#include "collide/seam.h"

#include "base/assert.h"

// see the header
static const double step_part = 1e-3;
// in steps: how far before a face its cover is looked for
static const double before_steps = 4.0;
// sine from which on a normal leans towards a face: rounding, with room
static const double lean_min = 1e-9;
// sine below which a plane does not climb along a face: faces that rest on each other are so
// parallel
static const double slope_min = 2e-3;

double seam_step(const Primitive *a, const Primitive *b) {
    return step_part * fmin(primitive_face(a), primitive_face(b));
}

bool seam_is_none(const Manifold *manifold, double step) {
    ASSERT(manifold->count <= MANIFOLD_ROOM && step > 0.0);
    if (manifold->count < 3) {
        return false;
    }
    for (uint32_t i = 0; i < manifold->count; i++) {
        if (fabs(manifold->point[i].gap) > step) {
            return false;
        }
    }
    Vec3 p = vec3_sub(manifold->point[1].position, manifold->point[0].position);
    Vec3 q = vec3_sub(manifold->point[2].position, manifold->point[0].position);
    Vec3 across = vec3_cross(p, q);
    double least = 2.0 * before_steps * step;
    double longer = fmax(vec3_dot(p, p), vec3_dot(q, q));
    // the triangle is nowhere narrower than the reach of seam_before, twice
    return vec3_dot(across, across) > least * least * longer;
}

SeamPoints seam_points(const Manifold *manifold, const Pose *pose, int side) {
    ASSERT(side == 0 || side == 1);
    ASSERT(manifold->count <= MANIFOLD_ROOM);
    Mat3 axes = quat_to_mat3(pose->orientation);
    Vec3 outward = side == 0 ? manifold->normal : vec3_neg(manifold->normal);
    SeamPoints points = {.count = manifold->count, .outward = mat3_tmul_vec(axes, outward)};
    for (uint32_t i = 0; i < manifold->count; i++) {
        // the manifold's point is midway between the surfaces
        const ManifoldPoint *point = &manifold->point[i];
        Vec3 on_surface = vec3_add_scaled(point->position, -0.5 * point->gap, outward);
        points.point[i] = mat3_tmul_vec(axes, vec3_sub(on_surface, pose->position));
    }
    return points;
}

static double face_sign(int face) {
    return (face & 1) != 0 ? 1.0 : -1.0;
}

static Vec3 along_axis(int axis, double length) {
    ASSERT(axis >= 0 && axis < 3);
    return vec3(axis == 0 ? length : 0.0, axis == 1 ? length : 0.0, axis == 2 ? length : 0.0);
}

uint32_t seam_faces(const Primitive *box, const SeamPoints *points, double step) {
    uint32_t faces = 0;
    for (int face = 0; primitive_rows[box->kind].has_seams && face < 6; face++) {
        int axis = face / 2;
        double sign = face_sign(face), half = vec3_get(box->size, axis);
        bool is_leant_on = sign * vec3_get(points->outward, axis) > lean_min;
        for (uint32_t i = 0; is_leant_on && i < points->count; i++) {
            is_leant_on = sign * vec3_get(points->point[i], axis) >= half - step;
        }
        faces |= is_leant_on ? 1u << face : 0u;
    }
    return faces;
}

bool seam_is_on(const Primitive *box, const SeamPoints *points, double step) {
    ASSERT(points->count <= MANIFOLD_ROOM && step > 0.0);
    for (uint32_t i = 0; i < points->count; i++) {
        const Vec3 p = points->point[i];
        if (fabs(p.x) > box->size.x + step || fabs(p.y) > box->size.y + step ||
            fabs(p.z) > box->size.z + step) {
            return false;
        }
    }
    return true;
}

Vec3 seam_before(const SeamPoints *points, uint32_t i, int face, double step) {
    ASSERT(i < points->count && face >= 0 && face < 6);
    return vec3_add(points->point[i], along_axis(face / 2, before_steps * step * face_sign(face)));
}

uint32_t seam_covers(const Primitive *solid, const Pose *pose, const Vec3 *place, uint32_t count,
                     double step) {
    ASSERT(count <= 32);
    const PrimitiveRow *row = &primitive_rows[solid->kind];
    if (row->covers == NULL) {
        return 0;
    }
    Mat3 axes = quat_to_mat3(pose->orientation);
    uint32_t covered = 0;
    for (uint32_t i = 0; i < count; i++) {
        Vec3 p = mat3_tmul_vec(axes, vec3_sub(place[i], pose->position));
        covered |= row->covers(solid, p, step) ? 1u << i : 0u;
    }
    return covered;
}

double seam_rise(const Primitive *box, int face, Vec3 point, Vec3 plane_normal, Vec3 plane_point,
                 double step) {
    ASSERT(primitive_rows[box->kind].has_seams && face >= 0 && face < 6);
    double rise = vec3_dot(plane_normal, vec3_sub(point, plane_point));
    for (int axis = 0; axis < 3; axis++) {
        double slope = vec3_get(plane_normal, axis);
        if (axis == face / 2 || fabs(slope) < slope_min) {
            continue;
        }
        double way = vec3_get(box->size, axis) - (slope > 0.0 ? 1.0 : -1.0) * vec3_get(point, axis);
        bool is_steep = fabs(slope) > 0.5;
        rise += fabs(slope) * (is_steep ? way : fmin(way, 2.0 * before_steps * step));
    }
    return rise;
}

void seam_extend(uint32_t faces, double length, Primitive *box, Pose *pose) {
    ASSERT(faces >> 6 == 0 && length >= 0.0);
    Mat3 axes = quat_to_mat3(pose->orientation);
    const Vec3 axis[3] = {axes.c0, axes.c1, axes.c2};
    for (int face = 0; faces >> face != 0; face++) {
        if ((faces >> face & 1u) != 0) {
            box->size = vec3_add(box->size, along_axis(face / 2, 0.5 * length));
            pose->position =
                vec3_add_scaled(pose->position, 0.5 * length * face_sign(face), axis[face / 2]);
        }
    }
}
