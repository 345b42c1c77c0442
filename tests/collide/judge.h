// SPDX-License-Identifier: MIT
// What two bodies are to each other, by the plain words of it: how far each goes, what is outside
// of it, how far apart planes are that hold both. Nothing of the narrow phase is asked.
#pragma once

#include "collide/geometry.h"
#include "collide/narrow.h"
#include "geometry/geometry.h"

// How far a primitive goes along a unit vector, from a point near it.
static inline double judge_farthest(const Primitive *p, Pose pose, Vec3 n, Vec3 from) {
    const Vec3 d = mat3_tmul_vec(quat_to_mat3(pose.orientation), n);
    const double center = vec3_dot(n, vec3_sub(pose.position, from));
    double most = -HUGE_VAL;
    switch (p->kind) {
    case PRIMITIVE_SPHERE:
        return center + p->size.x;
    case PRIMITIVE_BOX:
        return center + fabs(d.x) * p->size.x + fabs(d.y) * p->size.y + fabs(d.z) * p->size.z;
    case PRIMITIVE_CAPSULE:
        return center + p->size.x + fabs(d.z) * p->size.y;
    case PRIMITIVE_CYLINDER:
        return center + sqrt(d.x * d.x + d.y * d.y) * p->size.x + fabs(d.z) * p->size.y;
    case PRIMITIVE_HULL:
        for (uint32_t i = 0; i < p->geometry->hull->vertex_count; i++) {
            most = fmax(most, vec3_dot(d, p->geometry->hull->point[i]));
        }
        return center + most;
    case PRIMITIVE_MESH: // check_surface.c
    case PRIMITIVE_HEIGHT_FIELD:
    case PRIMITIVE_PLANE:
    case PRIMITIVE_COUNT:
        break;
    }
    return HUGE_VAL;
}

static inline double judge_separation(const Primitive p[2], const Pose pose[2], Vec3 n) {
    const Vec3 from = pose[0].position;
    return -judge_farthest(&p[1], pose[1], vec3_neg(n), from) -
           judge_farthest(&p[0], pose[0], n, from);
}

// How far a point is out of a primitive; 0 on its surface or, but for what is round about, inside.
static inline double judge_outside(const Primitive *p, Pose pose, Vec3 point) {
    const Vec3 x = mat3_tmul_vec(quat_to_mat3(pose.orientation), vec3_sub(point, pose.position));
    const double across = sqrt(x.x * x.x + x.y * x.y);
    switch (p->kind) {
    case PRIMITIVE_SPHERE:
        return vec3_norm(x) - p->size.x;
    case PRIMITIVE_BOX:
        return point_box_distance(point, p, pose);
    case PRIMITIVE_CAPSULE:
        return point_segment_distance(x, vec3(0.0, 0.0, -p->size.y), vec3(0.0, 0.0, p->size.y)) -
               p->size.x;
    case PRIMITIVE_CYLINDER:
        return hypot(fmax(across - p->size.x, 0.0), fmax(fabs(x.z) - p->size.y, 0.0));
    case PRIMITIVE_HULL:
        return hull_outside(p->geometry->hull, x);
    case PRIMITIVE_MESH: // check_surface.c
    case PRIMITIVE_HEIGHT_FIELD:
    case PRIMITIVE_PLANE:
    case PRIMITIVE_COUNT:
        break;
    }
    return HUGE_VAL;
}

static inline double judge_sizes(const Primitive p[2]) {
    return primitive_rows[p[0].kind].reach(&p[0]) + primitive_rows[p[1].kind].reach(&p[1]);
}

static inline double judge_lowest(const Manifold *manifold) {
    double gap = HUGE_VAL;
    for (uint32_t i = 0; i < manifold->count; i++) {
        gap = fmin(gap, manifold->point[i].gap);
    }
    return gap;
}

// How far the points of a manifold are out of one of the two at most, each a half gap off.
static inline double judge_farthest_out(const Primitive p[2], const Pose pose[2],
                                        const Manifold *manifold) {
    double out = 0.0;
    for (uint32_t i = 0; i < manifold->count; i++) {
        const ManifoldPoint *point = &manifold->point[i];
        const Vec3 half = vec3_scale(0.5 * point->gap, manifold->normal);
        out = fmax(out, judge_outside(&p[0], pose[0], vec3_sub(point->position, half)));
        out = fmax(out, judge_outside(&p[1], pose[1], vec3_add(point->position, half)));
    }
    return out;
}
