// SPDX-License-Identifier: MIT
// A box and a capsule: the box and the capsule's axis, a segment, first. Where they are apart gjk.c
// finds their nearest points; where the axis is in the box six directions, those of the faces and
// those across an edge and the axis, tell how it leaves it the shortest way. All in the box's axes,
// around its centre.
#include "base/assert.h"
#include "collide/capsule.h"
#include "collide/gjk.h"
#include "collide/narrow_parts.h"

// Axes that come nearer than this part of the sizes are in the box: rounding has turned the
// direction to the nearest point.
static const double inside_part = 1e-8;
// Squared sine below which an edge and the axis have no direction across both.
static const double across_squared_min = 1e-12;
// of the sizes: an edge must know better by this, or the face is taken
static const double face_preference = 1e-9;
// sine of the angle below which a direction lies in a face
static const double lean_max = CAPSULE_ASIDE_PART;
// of the sizes: an axis that is out of the box by this is over the face all the same
static const double slop_part = 2.0 * 1e-8;
// of the axis: shorter lines are one point
static const double stretch_part = 1e-6;

typedef struct Meeting {
    Vec3 half;
    Axis axis;
    double size;       // of the box and the axis
    Vec3 normal;       // from the box to the axis
    Vec3 nearest;      // on the axis
    double distance;   // of it; negative inside
    bool is_over_edge; // inside: the way out is across an edge of the box
} Meeting;

static GjkPoint support_corner(const void *body, Vec3 direction) {
    const Vec3 *half = body;
    bool x = direction.x >= 0.0, y = direction.y >= 0.0, z = direction.z >= 0.0;
    return (GjkPoint){
        .position = vec3(x ? half->x : -half->x, y ? half->y : -half->y, z ? half->z : -half->z),
        .vertex = (x ? 1u : 0u) | (y ? 2u : 0u) | (z ? 4u : 0u)};
}

static GjkPoint support_end(const void *body, Vec3 direction) {
    const Axis *axis = body;
    bool is_up = vec3_dot(axis->direction, direction) >= 0.0;
    return (GjkPoint){.position = axis_point(axis, is_up ? axis->half : -axis->half),
                      .vertex = is_up ? 1 : 0};
}

static Vec3 unit(int i) {
    return vec3(i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0);
}

// How far the axis is out of the box along a unit vector, which is turned so that it is farther.
static double separation(const Meeting *meeting, Vec3 *n) {
    Vec3 h = meeting->half;
    double along = vec3_dot(*n, meeting->axis.center);
    *n = along < 0.0 ? vec3_neg(*n) : *n;
    double box = fabs(n->x) * h.x + fabs(n->y) * h.y + fabs(n->z) * h.z;
    double axis = fabs(vec3_dot(*n, meeting->axis.direction)) * meeting->axis.half;
    return fabs(along) - box - axis;
}

// The place on the axis that is nearest to the box's edge along `i` on the normal's side.
static double nearest_to_edge(const Meeting *meeting, int i, Vec3 n) {
    ASSERT(i >= 0 && i < 3);
    const Axis *axis = &meeting->axis;
    Vec3 corner = support_corner(&meeting->half, n).position, edge = unit(i);
    Vec3 w = vec3_sub(corner, axis->center), across = vec3_cross(axis->direction, edge);
    double along = vec3_dot(vec3_cross(w, edge), across) / vec3_dot(across, across);
    return clamp_to(along, axis->half);
}

// The stretch of the axis over the feature that the normal stands on: a face, or an edge, along
// whose directions it does not lean. false: over a corner, or none.
static bool find_stretch(const Meeting *meeting, double along[2]) {
    const Axis *axis = &meeting->axis;
    bool is_along = false;
    along[0] = -axis->half;
    along[1] = axis->half;
    for (int i = 0; i < 3; i++) {
        double center = vec3_get(axis->center, i), slope = vec3_get(axis->direction, i);
        double half = vec3_get(meeting->half, i) + slop_part * meeting->size;
        if (fabs(vec3_get(meeting->normal, i)) > lean_max) {
            continue;
        }
        is_along = true;
        if (fabs(center) + fabs(slope) * axis->half > half && slope != 0.0) {
            double one = (-half - center) / slope, other = (half - center) / slope;
            along[0] = fmax(along[0], fmin(one, other));
            along[1] = fmin(along[1], fmax(one, other));
        } else if (fabs(center) > half) {
            return false; // beside it
        }
    }
    return is_along && along[1] - along[0] >= stretch_part * axis->half;
}

// The axis is in the box.
static void find_way_out(Meeting *meeting) {
    const Axis *axis = &meeting->axis;
    meeting->distance = -HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        Vec3 n = unit(i);
        double out = separation(meeting, &n);
        if (out > meeting->distance) {
            meeting->distance = out;
            meeting->normal = n;
        }
    }
    // the deeper end, or where the axis comes out beside the face
    double along[2];
    find_stretch(meeting, along);
    bool is_low_deeper = vec3_dot(meeting->normal, axis->direction) > 0.0;
    meeting->nearest = axis_point(axis, is_low_deeper ? along[0] : along[1]);
    double of_faces = meeting->distance + face_preference * meeting->size;
    for (int i = 0; i < 3; i++) {
        Vec3 n = vec3_cross(unit(i), axis->direction);
        double squared = vec3_dot(n, n);
        if (squared < across_squared_min) {
            continue;
        }
        n = vec3_scale(1.0 / sqrt(squared), n);
        double out = separation(meeting, &n);
        if (out > of_faces && out > meeting->distance) {
            meeting->distance = out;
            meeting->normal = n;
            meeting->is_over_edge = true;
            meeting->nearest = axis_point(axis, nearest_to_edge(meeting, i, n));
        }
    }
}

static void meet(Meeting *meeting) {
    const Axis *axis = &meeting->axis;
    GjkResult result =
        gjk_distance((GjkBody){support_corner, &meeting->half}, (GjkBody){support_end, axis},
                     vec3_norm(axis->center) > 0.0 ? axis->center : unit(2));
    if (result.is_apart && result.distance > inside_part * meeting->size) {
        meeting->normal = result.normal;
        meeting->nearest = result.point_b;
        meeting->distance = result.distance;
    } else {
        find_way_out(meeting);
    }
}

// How far a point of the axis is out of the box, along the normal. false: it is out beside it.
static bool distance_at(const Meeting *meeting, double radius, Vec3 point, double *distance) {
    if (meeting->distance < 0.0) {
        Vec3 n = meeting->normal; // a face's
        *distance =
            vec3_dot(n, point) - (fabs(n.x) * meeting->half.x + fabs(n.y) * meeting->half.y +
                                  fabs(n.z) * meeting->half.z);
        return true;
    }
    Vec3 offset = vec3_sub(point, vec3_clamp_to(point, meeting->half));
    *distance = vec3_dot(meeting->normal, offset);
    return capsule_is_along(offset, meeting->normal, radius);
}

static void add_point(const Meeting *meeting, double radius, Vec3 on_axis, double gap,
                      uint32_t feature, Manifold *manifold) {
    ASSERT(manifold->count < MANIFOLD_POINT_MAX);
    manifold->point[manifold->count++] = (ManifoldPoint){
        .position = vec3_add_scaled(on_axis, -(radius + 0.5 * gap), meeting->normal),
        .gap = gap,
        .feature = feature};
}

// true: the axis lies along the box, and all within reach has been added.
static bool add_line(const Meeting *meeting, double radius, double reach, Manifold *manifold) {
    double along[2], distance[2];
    if (meeting->is_over_edge || !find_stretch(meeting, along)) {
        return false;
    }
    const Vec3 end[2] = {axis_point(&meeting->axis, along[0]),
                         axis_point(&meeting->axis, along[1])};
    if (!distance_at(meeting, radius, end[0], &distance[0]) ||
        !distance_at(meeting, radius, end[1], &distance[1]) ||
        !capsule_holds_nearest(distance, meeting->distance, meeting->size)) {
        return false;
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (distance[i] - radius <= reach) {
            add_point(meeting, radius, end[i], distance[i] - radius, CAPSULE_LOW + i, manifold);
        }
    }
    return true;
}

void box_capsule(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b,
                 double reach, Manifold *manifold) {
    ASSERT(a->kind == PRIMITIVE_BOX && b->kind == PRIMITIVE_CAPSULE);
    double radius = b->size.x;
    Vec3 offset = vec3_sub(pose_b->position, pose_a->position);
    double size = vec3_norm(a->size) + b->size.y, limit = size + radius + reach;
    if (vec3_dot(offset, offset) > limit * limit) {
        return;
    }
    Mat3 axes = quat_to_mat3(pose_a->orientation);
    Axis axis = capsule_axis(b, pose_b);
    Meeting meeting = {.half = a->size,
                       .axis = {.center = mat3_tmul_vec(axes, offset),
                                .direction = mat3_tmul_vec(axes, axis.direction),
                                .half = axis.half},
                       .size = size};
    meet(&meeting);
    if (meeting.distance - radius > reach) {
        return;
    }
    if (!add_line(&meeting, radius, reach, manifold)) {
        add_point(&meeting, radius, meeting.nearest, meeting.distance - radius, CAPSULE_NEAREST,
                  manifold);
    }
    manifold->normal = mat3_mul_vec(axes, meeting.normal);
    for (uint32_t i = 0; i < manifold->count; i++) {
        manifold->point[i].position =
            vec3_add(pose_a->position, mat3_mul_vec(axes, manifold->point[i].position));
    }
}
