// SPDX-License-Identifier: MIT
// Capsules, closed forms: the bodies within a radius of an axis, a segment along local z. Against a
// sphere the nearest point of the axis; against a plane the axis' two ends; against another capsule
// the nearest points of the two axes, or, where these lie side by side, the two ends of the stretch
// over which they do, so that capsules rest on each other.
#include "collide/capsule.h"

#include "base/assert.h"
#include "collide/narrow_parts.h"

// Squared distances below this are no normal numbers: they give no direction.
static const double squared_min = 1e-290;
// What is nearer to an axis than this part of the lengths is on it: rounding has turned the
// direction from there.
static const double crossing_part = 1e-8;
// Squared sine below which two axes have no direction across both.
static const double parallel_squared = 1e-14;
// of the half lengths: overlaps of two axes shorter than this are one point
static const double stretch_part = 1e-6;

Axis capsule_axis(const Primitive *capsule, const Pose *pose) {
    ASSERT(capsule->kind == PRIMITIVE_CAPSULE);
    const Mat3 axes = quat_to_mat3(pose->orientation);
    return (Axis){
        .center = pose->position, .direction = axes.c2, .across = axes.c0, .half = capsule->size.y};
}

static double nearest_along(const Axis *axis, Vec3 point) {
    double along = vec3_dot(axis->direction, vec3_sub(point, axis->center));
    return clamp_to(along, axis->half);
}

void sphere_capsule(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b,
                    double reach, Manifold *manifold) {
    ASSERT(a->kind == PRIMITIVE_SPHERE && manifold->count == 0);
    Axis axis = capsule_axis(b, pose_b);
    Vec3 nearest = axis_point(&axis, nearest_along(&axis, pose_a->position));
    Vec3 d = vec3_sub(nearest, pose_a->position);
    double squared = vec3_dot(d, d), limit = a->size.x + b->size.x + reach;
    if (squared > limit * limit) {
        return;
    }
    double distance = sqrt(squared), gap = distance - (a->size.x + b->size.x);
    if (gap > reach) {
        return; // a rounding farther than the squares say
    }
    bool is_apart = squared > squared_min && distance > crossing_part * axis.half;
    Vec3 n = is_apart ? vec3_scale(1.0 / distance, d) : axis.across;
    manifold->normal = n;
    manifold->point[manifold->count++] =
        (ManifoldPoint){.position = vec3_add_scaled(pose_a->position, a->size.x + 0.5 * gap, n),
                        .gap = gap,
                        .feature = CAPSULE_NEAREST};
}

void plane_capsule(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b,
                   double reach, Manifold *manifold) {
    ASSERT(a->kind == PRIMITIVE_PLANE && manifold->count == 0);
    Axis axis = capsule_axis(b, pose_b);
    Vec3 up = quat_to_mat3(pose_a->orientation).c2;
    double radius = b->size.x;
    manifold->normal = up;
    for (uint32_t end = 0; end < 2; end++) {
        Vec3 center = axis_point(&axis, end == 0 ? -axis.half : axis.half);
        double height = vec3_dot(up, vec3_sub(center, pose_a->position));
        if (height - radius <= reach) {
            manifold->point[manifold->count++] =
                (ManifoldPoint){.position = vec3_add_scaled(center, -0.5 * (height + radius), up),
                                .gap = height - radius,
                                .feature = CAPSULE_LOW + end};
        }
    }
}

// ---- two capsules

// A point on each of two axes.
typedef struct Link {
    Vec3 on_first, offset; // offset: from there to the point on the second
    double squared;        // length of the offset
} Link;

static Link link_at(const Axis axis[2], double s, double t) {
    Vec3 on_first = axis_point(&axis[0], s);
    Vec3 offset = vec3_sub(axis_point(&axis[1], t), on_first);
    return (Link){on_first, offset, vec3_dot(offset, offset)};
}

// From a place of one axis to the nearest of the other.
static Link link_from(const Axis axis[2], int side, double along) {
    ASSERT(side == 0 || side == 1);
    double other = nearest_along(&axis[1 - side], axis_point(&axis[side], along));
    return side == 0 ? link_at(axis, along, other) : link_at(axis, other, along);
}

static void take_nearer(Link *best, Link other) {
    if (other.squared < best->squared) {
        *best = other;
    }
}

// Both nearest points lie inside, or one of them is an end. What rounding does to axes that are
// nearly parallel does no harm: all that is compared are distances of points on the axes.
static Link nearest_link(const Axis axis[2]) {
    Link best = link_from(axis, 0, -axis[0].half);
    take_nearer(&best, link_from(axis, 0, axis[0].half));
    take_nearer(&best, link_from(axis, 1, -axis[1].half));
    take_nearer(&best, link_from(axis, 1, axis[1].half));
    Vec3 u = axis[0].direction, v = axis[1].direction;
    Vec3 across = vec3_cross(u, v), w = vec3_sub(axis[1].center, axis[0].center);
    double squared = vec3_dot(across, across);
    if (squared > parallel_squared) {
        double s = vec3_dot(vec3_cross(w, v), across) / squared;
        take_nearer(&best, link_from(axis, 0, clamp_to(s, axis[0].half)));
    }
    return best;
}

// From the first to the second.
static Vec3 link_normal(const Axis axis[2], const Link *link) {
    double crossing = crossing_part * (axis[0].half + axis[1].half);
    if (link->squared > crossing * crossing && link->squared > squared_min) {
        return vec3_scale(1.0 / sqrt(link->squared), link->offset);
    }
    Vec3 across = vec3_cross(axis[0].direction, axis[1].direction);
    double squared = vec3_dot(across, across);
    Vec3 n = squared > parallel_squared ? vec3_scale(1.0 / sqrt(squared), across) : axis[0].across;
    return vec3_dot(n, vec3_sub(axis[1].center, axis[0].center)) < 0.0 ? vec3_neg(n) : n;
}

// Where the second axis ends along the first: the lower end first.
typedef struct Ends {
    double along[2]; // on the first axis
    double own[2];   // on the second
} Ends;

static Ends find_ends(const Axis axis[2]) {
    double cosine = vec3_dot(axis[0].direction, axis[1].direction);
    double middle = vec3_dot(axis[0].direction, vec3_sub(axis[1].center, axis[0].center));
    double half = fabs(cosine) * axis[1].half;
    double low = cosine < 0.0 ? axis[1].half : -axis[1].half;
    return (Ends){.along = {middle - half, middle + half}, .own = {low, -low}};
}

// Whether a stretch of the first axis lies beside the second.
static bool has_stretch(const Axis axis[2], const Ends *ends) {
    double low = fmax(ends->along[0], -axis[0].half), high = fmin(ends->along[1], axis[0].half);
    return high - low >= stretch_part * fmin(axis[0].half, axis[1].half);
}

// How far up the second axis' centre lies from the first's, along the direction midway between
// them, as long as either axis is along it.
static double middle_between(const Axis axis[2]) {
    const double cosine = vec3_dot(axis[0].direction, axis[1].direction);
    const Vec3 second = cosine < 0.0 ? vec3_neg(axis[1].direction) : axis[1].direction;
    const Vec3 offset = vec3_sub(axis[1].center, axis[0].center);
    return vec3_dot(vec3_add(axis[0].direction, second), offset) / (1.0 + fabs(cosine));
}

// The links at the ends of the stretch over which the axes lie side by side. false: they do not;
// an axis that stands on another sees that as a stretch, which does not see the same of it. Which
// of two axes ends first is asked along what lies midway between them, as each sees the other
// foreshortened: the answer is the same whichever is the first.
static bool find_stretch(const Axis axis[2], Vec3 n, double radius, Link link[2]) {
    const Axis swapped[2] = {axis[1], axis[0]};
    const Ends ends = find_ends(axis), others = find_ends(swapped);
    if (!has_stretch(axis, &ends) || !has_stretch(swapped, &others)) {
        return false;
    }
    const double middle = middle_between(axis);
    link[0] = middle - axis[1].half > -axis[0].half ? link_from(axis, 1, ends.own[0])
                                                    : link_from(axis, 0, -axis[0].half);
    link[1] = middle + axis[1].half < axis[0].half ? link_from(axis, 1, ends.own[1])
                                                   : link_from(axis, 0, axis[0].half);
    return capsule_is_along(link[0].offset, n, radius) &&
           capsule_is_along(link[1].offset, n, radius);
}

// Midway between the two surfaces, as either sees it.
static void add_link(const Link *link, const double radius[2], double gap, uint32_t feature,
                     Manifold *manifold) {
    ASSERT(manifold->count < MANIFOLD_POINT_MAX);
    const Vec3 middle = vec3_add_scaled(link->on_first, 0.5, link->offset);
    manifold->point[manifold->count++] = (ManifoldPoint){
        .position = vec3_add_scaled(middle, 0.5 * (radius[0] - radius[1]), manifold->normal),
        .gap = gap,
        .feature = feature};
}

static void collide_capsules(const Axis axis[2], const double radius[2], double reach,
                             Manifold *manifold) {
    Link nearest = nearest_link(axis);
    double radii = radius[0] + radius[1], limit = radii + reach;
    if (nearest.squared > limit * limit) {
        return;
    }
    Vec3 n = manifold->normal = link_normal(axis, &nearest);
    double gap = vec3_dot(n, nearest.offset) - radii;
    Link link[2];
    if (find_stretch(axis, n, fmin(radius[0], radius[1]), link)) {
        const double gaps[2] = {vec3_dot(n, link[0].offset) - radii,
                                vec3_dot(n, link[1].offset) - radii};
        if (capsule_holds_nearest(gaps, gap, radii + axis[0].half + axis[1].half)) {
            for (uint32_t end = 0; end < 2; end++) {
                if (gaps[end] <= reach) {
                    add_link(&link[end], radius, gaps[end], CAPSULE_LOW + end, manifold);
                }
            }
            return;
        }
    }
    if (gap <= reach) {
        add_link(&nearest, radius, gap, CAPSULE_NEAREST, manifold);
    }
}

void capsule_capsule(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b,
                     double reach, Manifold *manifold) {
    bool is_swapped = pair_order(a, pose_a, b, pose_b) < 0.0;
    const Primitive *first = is_swapped ? b : a, *second = is_swapped ? a : b;
    const Pose *pose[2] = {is_swapped ? pose_b : pose_a, is_swapped ? pose_a : pose_b};
    // around the first, so that capsules far from the world's origin lose nothing
    Axis axis[2] = {capsule_axis(first, pose[0]), capsule_axis(second, pose[1])};
    Vec3 origin = axis[0].center;
    axis[1].center = vec3_sub(axis[1].center, origin);
    axis[0].center = vec3(0.0, 0.0, 0.0);
    const double radius[2] = {first->size.x, second->size.x};
    double limit = axis[0].half + axis[1].half + radius[0] + radius[1] + reach;
    if (vec3_dot(axis[1].center, axis[1].center) > limit * limit) {
        return;
    }
    collide_capsules(axis, radius, reach, manifold);
    for (uint32_t i = 0; i < manifold->count; i++) {
        manifold->point[i].position = vec3_add(manifold->point[i].position, origin);
    }
    if (is_swapped && manifold->count > 0) {
        manifold->normal = vec3_neg(manifold->normal);
    }
}
