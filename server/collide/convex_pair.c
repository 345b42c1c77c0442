// SPDX-License-Identifier: MIT
// Two bounded primitives of which one has no closed form with the other. convex_gap.h says how far
// they are apart and along which normal; where that is a face's, what lies over the face are the
// points (facet_meet.h), and where two lines lie side by side, their ends; else it is one point.
// Symmetric under swapping: two of one kind are put in an order of their own first.
#include "base/assert.h"
#include "collide/convex_gap.h"
#include "collide/facet_meet.h"
#include "collide/narrow_parts.h"

// 1 - cosine of the angle below which a facet lies flat on another: as between boxes (box_box.c)
static const double parallel_part = 1e-6;
// of the sizes: how far above the nearest point the points of a face may all be
static const double bound_part = 1e-9;
// Below this sine the two rest on each other, and a normal may be off by as much: what is lowest is
// perhaps beside the face.
static const double resting_sine = 1e-6;
// of the smaller size: how far out a point of a flat face may be, as long as its height says
// nothing else by as much as `bound_part` of it
static const double slop_part = 1e-4;
// of the smaller radius: how far beside the normal the ends of two lines may lie; the square of it,
// halved, is what they then are too low
static const double aside_part = 3e-5;

enum {
    FEATURE_FACE = 1u << 16, // + reference body << 15 | its facet << 12 | the other's << 9 | point
    FEATURE_LINES = 2u << 16,
    FEATURE_NEAR = 3u << 16, // + corner of the first << 4 | corner of the second
};

static void set_nearest(const ConvexGap *gap, double reach, Manifold *manifold) {
    manifold->normal = gap->normal;
    manifold->count = gap->gap <= reach ? 1 : 0;
    manifold->point[0] =
        (ManifoldPoint){.position = vec3_scale(0.5, vec3_add(gap->on_first, gap->on_second)),
                        .gap = gap->gap,
                        .feature = FEATURE_NEAR | gap->corner[0] << 4 | gap->corner[1]};
}

// `normal` is the manifold's.
static void set_points(const MeetPoints *points, Vec3 normal, double side, uint32_t feature,
                       Manifold *manifold) {
    ASSERT(points->count <= MANIFOLD_POINT_MAX);
    manifold->normal = normal;
    manifold->count = points->count;
    for (uint32_t i = 0; i < points->count; i++) {
        const MeetPoint *point = &points->point[i];
        // midway between the point, which is on the incident body, and the reference
        manifold->point[i] =
            (ManifoldPoint){.position = vec3_add_scaled(point->position, side * point->gap, normal),
                            .gap = point->gap,
                            .feature = feature | point->label};
    }
}

static bool is_flat(const Facet *facet, Vec3 outward) {
    return facet->kind != FACET_LINE && vec3_dot(facet->normal, outward) >= 1.0 - parallel_part;
}

// The sine of the angle between what lies on a face and the face.
static double incline(const Facet *on, const Facet *lying) {
    if (lying->kind == FACET_LINE) {
        const Vec3 d = vec3_sub(lying->point[1], lying->point[0]);
        const double length = vec3_norm(d);
        return length > 0.0 ? fabs(vec3_dot(on->normal, d)) / length : 1.0;
    }
    return vec3_norm(vec3_cross(on->normal, lying->normal));
}

static double lowest_gap(const MeetPoints *points) {
    double lowest = HUGE_VAL;
    for (uint32_t i = 0; i < points->count; i++) {
        lowest = fmin(lowest, points->point[i].gap);
    }
    return lowest;
}

// false: what is nearest is not over the face.
static bool set_face(const Convex pair[2], const ConvexGap *gap, double reach, Manifold *manifold) {
    const Facet facet[2] = {convex_facet(&pair[0], gap->normal),
                            convex_facet(&pair[1], vec3_neg(gap->normal))};
    const bool is_first = is_flat(&facet[0], gap->normal);
    const bool is_second = is_flat(&facet[1], vec3_neg(gap->normal));
    if (!is_first && !is_second) {
        return false;
    }
    const int reference = is_first ? 0 : 1;
    const Facet *on = &facet[reference], *lying = &facet[1 - reference];
    const double sizes = pair[0].size + pair[1].size;
    const bool are_flat = is_first && is_second;
    const double least = fmin(pair[0].size, pair[1].size);
    MeetPoints points;
    const Vec3 up = reference == 0 ? gap->normal : vec3_neg(gap->normal);
    const double sine = incline(on, lying);
    const double slop =
        are_flat ? fmin(slop_part, bound_part / fmax(sine, bound_part)) : bound_part;
    facet_meet(on, lying, up, slop * least, &points);
    const double slack = sine < resting_sine ? 2.0 * sine + bound_part : 0.1 * bound_part;
    const double bound = gap->gap + slack * sizes;
    if (points.count == 0 || lowest_gap(&points) > bound) {
        return false;
    }
    facet_reduce(&points, up, reach, are_flat ? bound_part * least : 0.0);
    const uint32_t feature =
        FEATURE_FACE | (uint32_t)reference << 15 | on->number << 12 | lying->number << 9;
    set_points(&points, gap->normal, reference == 0 ? -0.5 : 0.5, feature, manifold);
    return true;
}

// false: no two lines lie side by side there.
static bool set_lines(const Convex pair[2], const ConvexGap *gap, double reach,
                      Manifold *manifold) {
    Facet line[2];
    if (!convex_line(&pair[0], gap->normal, &line[0]) ||
        !convex_line(&pair[1], vec3_neg(gap->normal), &line[1])) {
        return false;
    }
    double radius = HUGE_VAL; // edges have none, and two edges are never side by side for long
    for (int side = 0; side < 2; side++) {
        const double own =
            fmax(pair[side].radius, convex_has_corners(&pair[side]) ? 0.0 : pair[side].half.x);
        radius = own > 0.0 ? fmin(radius, own) : radius;
    }
    MeetPoints points;
    facet_meet_lines(&line[0], &line[1], gap->normal, aside_part * radius, &points);
    const double sizes = pair[0].size + pair[1].size;
    if (points.count == 0 || lowest_gap(&points) > gap->gap + bound_part * sizes) {
        return false;
    }
    facet_reduce(&points, gap->normal, reach, 0.0);
    set_points(&points, gap->normal, -0.5, FEATURE_LINES, manifold);
    return true;
}

static void collide_convex(const Convex pair[2], double reach, Manifold *manifold) {
    ConvexGap gap;
    if (!convex_gap(pair, reach, &gap)) {
        return;
    }
    if (!set_face(pair, &gap, reach, manifold) && !set_lines(pair, &gap, reach, manifold)) {
        set_nearest(&gap, reach, manifold);
    }
}

void convex_convex(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b,
                   double reach, Manifold *manifold) {
    ASSERT(a->kind <= b->kind && manifold->count == 0);
    const bool is_swapped = a->kind == b->kind && pair_order(a, pose_a, b, pose_b) < 0.0;
    const Primitive *of[2] = {is_swapped ? b : a, is_swapped ? a : b};
    const Pose *at[2] = {is_swapped ? pose_b : pose_a, is_swapped ? pose_a : pose_b};
    const Vec3 origin = at[0]->position;
    const Convex pair[2] = {convex_read(of[0], at[0], origin), convex_read(of[1], at[1], origin)};
    const double limit = pair[0].size + pair[1].size + reach;
    if (vec3_dot(pair[1].center, pair[1].center) > limit * limit) {
        return;
    }
    collide_convex(pair, reach, manifold);
    for (uint32_t i = 0; i < manifold->count; i++) {
        manifold->point[i].position = vec3_add(manifold->point[i].position, origin);
    }
    if (is_swapped && manifold->count > 0) {
        manifold->normal = vec3_neg(manifold->normal);
    }
}

// A half-space, and what of a primitive lies on it: a cap's lowest places, or the ends of its side.
void plane_convex(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b,
                  double reach, Manifold *manifold) {
    ASSERT(a->kind == PRIMITIVE_PLANE && manifold->count == 0);
    const Vec3 up = quat_to_mat3(pose_a->orientation).c2;
    const Vec3 origin = pose_b->position;
    const double height = vec3_dot(up, vec3_sub(origin, pose_a->position));
    const Convex convex = convex_read(b, pose_b, origin);
    if (height - convex.size > reach) {
        return;
    }
    const Facet ground = {.kind = FACET_POLYGON, .normal = up, .center = vec3_scale(-height, up)};
    const Facet lying = convex_facet(&convex, vec3_neg(up));
    MeetPoints points;
    facet_meet(&ground, &lying, up, 0.0, &points);
    facet_reduce(&points, up, reach, bound_part * convex.size);
    set_points(&points, up, -0.5, FEATURE_FACE | lying.number << 9, manifold);
    for (uint32_t i = 0; i < manifold->count; i++) {
        manifold->point[i].position = vec3_add(manifold->point[i].position, origin);
    }
}
