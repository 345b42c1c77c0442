// SPDX-License-Identifier: MIT
// Any bytes as two primitives: what the narrow phase says of them is what slow references say, and
// is the same, turned around, when they are swapped.
//
// Bytes become numbers that meet often: a multiple of 1/16, times a power of two now and then, plus
// something small, down to the smallest doubles. All lies in the ranges that the server accepts.
// References see the pair from a's centre, as everything that is not a position does.
#include "collide/capsule.h"
#include "collide/narrow.h"

#include "base/assert.h"
#include "collide/geometry.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

// What distances shrink to whose squares are no numbers any more [m].
static const double vanishing = 1e-140;
// Rounding of sums of a few dozen terms, as a part of the largest.
static const double rounding = 1e-14;
// box_box: edges give way to faces, and points count as on a face, within 1e-9 of the size
static const double box_rounding = 4e-9;
// box_box: the angle below which faces are parallel, the sine below which edges are, also an edge
// and a capsule's axis (with room for the rounding of both), and how far out a corner of such a
// face may be
static const double face_angle = 1.42e-3;
static const double edge_angle = 1.01e-6;
static const double slop_part = 1e-4;
// box_box: points of a face may be higher than the axes' bound by this part of the gap
static const double bound_slack = 1e-6;

// Of boxes, and of a box and a capsule, the shortest edge beside the pair's size: below it doubles
// do not tell a box's faces from each other, and an answer must be sound, but no more.
static const double thin_part = 1e-4;
// … and beside the distance from the world's origin: faces are placed by world coordinates.
static const double place_part = 1e-9;

// capsule: axes that are nearer than this part of the sizes cross, with room
static const double crossing_part = 4e-8;

static const double size_max = 1e6, position_max = 1e9, reach_max = 1e6;

typedef struct Bytes {
    const uint8_t *next;
    size_t left;
} Bytes;

typedef struct Pair {
    Primitive a, b;
    Pose pose_a, pose_b;
    double reach;
} Pair;

// How exact an answer must be.
typedef struct Bounds {
    double gap;        // of gaps
    double separation; // of the whole bodies along the normal
    double slop;       // by how much a point may lie beside a face
} Bounds;

// ---- bytes to primitives

// Zeros when there are none left.
static uint8_t take_byte(Bytes *bytes) {
    if (bytes->left == 0) {
        return 0;
    }
    bytes->left--;
    return *bytes->next++;
}

static double take_number(Bytes *bytes, double limit) {
    double coarse = (double)(int8_t)take_byte(bytes) / 16.0;
    int scale = take_byte(bytes);
    double fine = (double)(int8_t)take_byte(bytes);
    int depth = take_byte(bytes);
    double number = ldexp(coarse, scale < 0x80 ? 0 : scale % 64 - 32) +
                    ldexp(fine, -3 - (depth < 0xc0 ? depth % 64 : 17 * (depth - 0xc0)));
    return number < -limit ? -limit : number > limit ? limit : number;
}

static double take_positive(Bytes *bytes, double limit) {
    double number = fabs(take_number(bytes, limit));
    return number > 0.0 ? number : 1.0;
}

static Vec3 take_vec(Bytes *bytes, double limit) {
    double x = take_number(bytes, limit), y = take_number(bytes, limit);
    return vec3(x, y, take_number(bytes, limit));
}

static Quat normalize_or_identity(Quat q) {
    double norm = quat_norm(q);
    return norm > 1e-3 ? quat_normalize(q) : quat_identity();
}

// As `other`, nearly as it, along axes and diagonals, or any.
static Quat take_turn(Bytes *bytes, Quat other) {
    uint8_t way = take_byte(bytes);
    if (way % 4 == 0) {
        return other;
    }
    if (way % 4 == 1) {
        int part[4];
        for (int i = 0, code = way / 4; i < 4; i++, code /= 3) {
            part[i] = code % 3 - 1;
        }
        return normalize_or_identity(
            (Quat){(double)part[0], (double)part[1], (double)part[2], (double)part[3]});
    }
    double w = way % 4 == 2 ? 1.0 : take_number(bytes, 1.0);
    Vec3 v = take_vec(bytes, 1.0);
    if (way % 4 == 2) {
        v = vec3_scale(ldexp(1.0, -(way / 4)), v);
    }
    return normalize_or_identity(quat_mul((Quat){w, v.x, v.y, v.z}, other));
}

static Primitive take_primitive(Bytes *bytes, int kind) {
    if (kind == PRIMITIVE_PLANE) {
        return make_plane();
    }
    double x = take_positive(bytes, size_max);
    if (kind == PRIMITIVE_SPHERE) {
        return make_sphere(x);
    }
    double y = take_positive(bytes, size_max);
    if (kind == PRIMITIVE_CAPSULE) {
        return make_capsule(x, y);
    }
    if (kind == PRIMITIVE_CYLINDER) {
        return make_cylinder(x, y);
    }
    return make_box(vec3(x, y, take_positive(bytes, size_max)));
}

static Pair take_pair(Bytes *bytes) {
    static const int kinds[14][2] = {
        {PRIMITIVE_BOX, PRIMITIVE_BOX},           {PRIMITIVE_SPHERE, PRIMITIVE_BOX},
        {PRIMITIVE_BOX, PRIMITIVE_PLANE},         {PRIMITIVE_SPHERE, PRIMITIVE_SPHERE},
        {PRIMITIVE_SPHERE, PRIMITIVE_PLANE},      {PRIMITIVE_SPHERE, PRIMITIVE_CAPSULE},
        {PRIMITIVE_BOX, PRIMITIVE_CAPSULE},       {PRIMITIVE_CAPSULE, PRIMITIVE_PLANE},
        {PRIMITIVE_CAPSULE, PRIMITIVE_CAPSULE},   {PRIMITIVE_SPHERE, PRIMITIVE_CYLINDER},
        {PRIMITIVE_BOX, PRIMITIVE_CYLINDER},      {PRIMITIVE_CAPSULE, PRIMITIVE_CYLINDER},
        {PRIMITIVE_CYLINDER, PRIMITIVE_CYLINDER}, {PRIMITIVE_PLANE, PRIMITIVE_CYLINDER}};
    const int *kind = kinds[take_byte(bytes) % 14];
    Pair pair = {.a = take_primitive(bytes, kind[0]), .b = take_primitive(bytes, kind[1])};
    pair.reach = fabs(take_number(bytes, reach_max));
    pair.pose_a.orientation = take_turn(bytes, quat_identity());
    pair.pose_b.orientation = take_turn(bytes, pair.pose_a.orientation);
    pair.pose_b.position = take_vec(bytes, position_max);
    pair.pose_a.position = take_vec(bytes, position_max);
    return pair;
}

// ---- references: a's centre is the origin

static double size_of(const Primitive *primitive) {
    switch (primitive->kind) {
    case PRIMITIVE_BOX:
        return vec3_norm(primitive->size);
    case PRIMITIVE_CAPSULE:
        return primitive->size.x + primitive->size.y;
    default:
        return primitive->size.x;
    }
}

static double middle_of(Vec3 v) {
    return fmax(fmin(v.x, v.y), fmin(fmax(v.x, v.y), v.z));
}

static Vec3 up_of(Pose plane) {
    return quat_rotate(plane.orientation, vec3(0.0, 0.0, 1.0));
}

// Of a point from the surface of a box; negative inside.
static double signed_box_distance(Vec3 point, const Primitive *box, Pose pose) {
    double outside = point_box_distance(point, box, pose);
    if (outside > 0.0) {
        return outside;
    }
    Vec3 local = mat3_tmul_vec(quat_to_mat3(pose.orientation), vec3_sub(point, pose.position));
    double x = fabs(local.x) - box->size.x, y = fabs(local.y) - box->size.y;
    return fmax(fmax(x, y), fabs(local.z) - box->size.z);
}

// How far a point is outside of a primitive; 0 inside.
static double distance_outside(Vec3 point, const Primitive *primitive, Pose pose) {
    Vec3 d = vec3_sub(point, pose.position);
    switch (primitive->kind) {
    case PRIMITIVE_SPHERE:
        return fmax(0.0, vec3_norm(d) - primitive->size.x);
    case PRIMITIVE_BOX:
        return point_box_distance(point, primitive, pose);
    case PRIMITIVE_CAPSULE:
        return fmax(0.0, point_segment_distance(point, capsule_end(primitive, pose, -1.0),
                                                capsule_end(primitive, pose, 1.0)) -
                             primitive->size.x);
    default:
        return fmax(0.0, vec3_dot(up_of(pose), d));
    }
}

// The farthest coordinate of a primitive along a unit vector.
static double farthest_along(const Primitive *primitive, Pose pose, Vec3 n) {
    if (primitive->kind == PRIMITIVE_SPHERE) {
        return vec3_dot(n, pose.position) + primitive->size.x;
    }
    if (primitive->kind == PRIMITIVE_PLANE) {
        // the direction must be the plane's own; along any other there is no end
        return vec3_dot(n, up_of(pose)) > 1.0 - rounding ? vec3_dot(n, pose.position) : HUGE_VAL;
    }
    if (primitive->kind == PRIMITIVE_CAPSULE) {
        return fmax(vec3_dot(n, capsule_end(primitive, pose, -1.0)),
                    vec3_dot(n, capsule_end(primitive, pose, 1.0))) +
               primitive->size.x;
    }
    if (primitive->kind == PRIMITIVE_CYLINDER) {
        const Vec3 d = mat3_tmul_vec(quat_to_mat3(pose.orientation), n);
        return vec3_dot(n, pose.position) + primitive->size.x * hypot(d.x, d.y) +
               primitive->size.y * fabs(d.z);
    }
    double farthest = -HUGE_VAL;
    for (unsigned i = 0; i < 8; i++) {
        farthest = fmax(farthest, vec3_dot(n, box_corner(primitive, pose, i)));
    }
    return farthest;
}

// Of a capsule, the second or both, from what is no plane.
static double signed_capsule_distance(const Pair *pair) {
    const Primitive *a = &pair->a, *b = &pair->b;
    Vec3 p = capsule_end(b, pair->pose_b, -1.0), q = capsule_end(b, pair->pose_b, 1.0);
    if (a->kind == PRIMITIVE_BOX) {
        double separation = segment_box_separation(p, q, a, pair->pose_a);
        return (separation > 0.0 ? segment_box_distance(p, q, a, pair->pose_a) : separation) -
               b->size.x;
    }
    double distance = a->kind == PRIMITIVE_CAPSULE
                          ? segment_distance(capsule_end(a, pair->pose_a, -1.0),
                                             capsule_end(a, pair->pose_a, 1.0), p, q)
                          : point_segment_distance(pair->pose_a.position, p, q);
    return distance - a->size.x - b->size.x;
}

// Distance, or minus the depth of the overlap along the direction in which it is least.
static double signed_distance(const Pair *pair) {
    const Primitive *a = &pair->a, *b = &pair->b;
    Vec3 offset = vec3_sub(pair->pose_b.position, pair->pose_a.position);
    if (b->kind == PRIMITIVE_PLANE) {
        return -farthest_along(a, pair->pose_a, vec3_neg(up_of(pair->pose_b))) -
               vec3_dot(up_of(pair->pose_b), pair->pose_b.position);
    }
    if (b->kind == PRIMITIVE_CAPSULE) {
        return signed_capsule_distance(pair);
    }
    if (a->kind == PRIMITIVE_BOX) {
        double separation = best_separation(a, pair->pose_a, b, pair->pose_b);
        return separation > 0.0 ? box_box_distance(a, pair->pose_a, b, pair->pose_b) : separation;
    }
    return b->kind == PRIMITIVE_BOX
               ? signed_box_distance(pair->pose_a.position, b, pair->pose_b) - a->size.x
               : vec3_norm(offset) - a->size.x - b->size.x;
}

// ---- how exact

// The largest angle between an axis of a box and one of another, or that of a capsule, that is
// below a limit; 0: there is none.
static double largest_angle_below(const Pair *pair, double limit) {
    Mat3 ra = quat_to_mat3(pair->pose_a.orientation), rb = quat_to_mat3(pair->pose_b.orientation);
    const Vec3 a[3] = {ra.c0, ra.c1, ra.c2}, b[3] = {rb.c0, rb.c1, rb.c2};
    double largest = 0.0;
    for (int i = pair->b.kind == PRIMITIVE_CAPSULE ? 6 : 0; i < 9; i++) {
        double sine = vec3_norm(vec3_cross(a[i % 3], b[i / 3]));
        largest = sine < limit ? fmax(largest, sine) : largest;
    }
    return largest;
}

static double shortest_edge(const Primitive *box) {
    return fmin(box->size.x, fmin(box->size.y, box->size.z));
}

static double place_of(const Pair *pair) {
    return vec3_norm(pair->pose_a.position) + vec3_norm(pair->pose_b.position);
}

// Is there a reference for how far the two are apart?
static bool is_judged(const Pair *pair) {
    const Primitive *a = &pair->a, *b = &pair->b;
    bool is_of_edges = b->kind == PRIMITIVE_BOX || b->kind == PRIMITIVE_CAPSULE;
    if (a->kind != PRIMITIVE_BOX || !is_of_edges) {
        return true;
    }
    double shortest = shortest_edge(a);
    shortest = b->kind == PRIMITIVE_BOX ? fmin(shortest, shortest_edge(b)) : shortest;
    return shortest >= thin_part * (size_of(a) + size_of(b)) &&
           shortest >= place_part * place_of(pair);
}

// Is a unit vector a face's normal of both boxes, as parallel faces are?
static bool is_on_axes(const Pair *pair, Vec3 n) {
    bool on_both = true;
    for (int side = 0; side < 2; side++) {
        Mat3 r = quat_to_mat3(side == 0 ? pair->pose_a.orientation : pair->pose_b.orientation);
        double x = vec3_norm(vec3_cross(r.c0, n)), y = vec3_norm(vec3_cross(r.c1, n));
        on_both = on_both && fmin(fmin(x, y), vec3_norm(vec3_cross(r.c2, n))) < face_angle;
    }
    return on_both;
}

// The sine between a direction and the nearest axis of either box.
static double off_axes(const Pair *pair, Vec3 n) {
    double least = 1.0;
    for (int side = 0; side < 2; side++) {
        Mat3 r = quat_to_mat3(side == 0 ? pair->pose_a.orientation : pair->pose_b.orientation);
        least = fmin(least, vec3_norm(vec3_cross(r.c0, n)));
        least = fmin(least, vec3_norm(vec3_cross(r.c1, n)));
        least = fmin(least, vec3_norm(vec3_cross(r.c2, n)));
    }
    return least;
}

// An axis that is so near to the other one, or to a box, that rounding has turned the direction
// from there: 1e-8 of the sizes counts as touching, and above that the direction turns by the
// rounding of the nearest points, of their place as well, seen from the other ends of both. An end
// of a line lies beside the normal by 0.02 of the radius.
static void allow_for_axis(const Pair *pair, double distance, Bounds *bounds) {
    double size = size_of(&pair->a) + size_of(&pair->b);
    double radii = pair->b.size.x + (pair->a.kind == PRIMITIVE_BOX ? 0.0 : pair->a.size.x);
    double apart = fmax(fabs(distance + radii), crossing_part * size);
    bounds->gap += crossing_part * size;
    if (pair->a.kind == PRIMITIVE_BOX && distance <= -pair->b.size.x) {
        // in the box, and the way out across an edge and the axis is none
        double width = 2.0 * fmin(size_of(&pair->a), size_of(&pair->b));
        bounds->gap += width * largest_angle_below(pair, edge_angle);
    }
    bounds->separation = bounds->gap + rounding * (size + place_of(pair)) * (size / apart);
    bounds->slop = CAPSULE_ASIDE_PART * pair->b.size.x;
}

static Bounds find_bounds(const Pair *pair, double distance, const Manifold *manifold) {
    const Primitive *a = &pair->a, *b = &pair->b;
    double size = size_of(a) + size_of(b);
    Bounds bounds = {.gap = vanishing + rounding * (size + place_of(pair))};
    if (a->kind == PRIMITIVE_BOX && b->kind == PRIMITIVE_BOX) {
        // gaps tilt over the width of the overlap; a box that is in deeper than its own middle may
        // leave by either side, which the whole length can decide
        double length = 2.0 * fmax(size_of(a), size_of(b));
        bool is_deep = -distance > fmin(shortest_edge(a), shortest_edge(b));
        double width = is_deep ? length : 2.0 * fmin(size_of(a), size_of(b));
        bounds.gap += box_rounding * size + bound_slack * fabs(distance);
        if (distance > 0.0 && manifold->count <= 1) {
            // gjk: rounding turns the direction of a long triangle's nearest point
            double thin = size / fmin(shortest_edge(a), shortest_edge(b));
            bounds.gap += rounding * size * thin * (size / distance);
        }
        if (distance <= 0.0) {
            bounds.gap += width * largest_angle_below(pair, edge_angle);
        }
        bounds.separation = bounds.gap;
        if (manifold->count > 1 && off_axes(pair, manifold->normal) > rounding) {
            // an edge along a face, by the normal of two edges: 1 - cosine of the angle to the face
            // is up to 1e-6, of what lies between the two and of the way along the edge
            bounds.gap += 2e-6 * (size + fabs(distance));
        }
        if (manifold->count != 1 || is_on_axes(pair, manifold->normal)) {
            // what lies beyond the overlap counts for the whole bodies, but is in no gap
            double angle = largest_angle_below(pair, face_angle);
            bounds.gap += width * angle;
            bounds.separation += length * angle;
            bounds.slop = slop_part * fmax(middle_of(a->size), middle_of(b->size));
        }
    }
    if (a->kind == PRIMITIVE_BOX && distance > 0.0) {
        // gjk: of two that are far apart, squares of the distance tell what is nearest
        bounds.gap += rounding * distance * (distance / size);
    }
    if (b->kind == PRIMITIVE_CAPSULE) {
        allow_for_axis(pair, distance, &bounds);
    }
    bounds.separation = fmax(bounds.separation, bounds.gap);
    return bounds;
}

// ---- what must hold

static double smallest_gap(const Manifold *manifold) {
    double smallest = HUGE_VAL;
    for (uint32_t i = 0; i < manifold->count; i++) {
        smallest = fmin(smallest, manifold->point[i].gap);
    }
    return smallest;
}

static void judge_shape(const Manifold *manifold, double reach) {
    ASSERT(manifold->count <= MANIFOLD_POINT_MAX);
    ASSERT(manifold->count == 0 || fabs(vec3_norm(manifold->normal) - 1.0) <= rounding);
    for (uint32_t i = 0; i < manifold->count; i++) {
        ASSERT(vec3_is_finite(manifold->point[i].position));
        ASSERT(isfinite(manifold->point[i].gap) && manifold->point[i].gap <= reach);
        for (uint32_t j = 0; j < i; j++) {
            ASSERT(manifold->point[i].feature != manifold->point[j].feature);
        }
    }
}

static bool is_zero(Vec3 v) {
    return v.x == 0.0 && v.y == 0.0 && v.z == 0.0;
}

// The same bits, but for feature ids and the normal's sign. Centres that coincide give no direction
// to turn around.
static void judge_mirrored(const Pair *pair, const Manifold *ab, const Manifold *ba) {
    Vec3 offset = vec3_sub(pair->pose_b.position, pair->pose_a.position);
    bool is_turned = vec3_norm(offset) > vanishing;
    ASSERT(ab->count == ba->count);
    for (uint32_t i = 0; i < ab->count; i++) {
        ASSERT(ab->point[i].gap == ba->point[i].gap);
        ASSERT(!is_turned || is_zero(vec3_sub(ab->point[i].position, ba->point[i].position)));
    }
    ASSERT(ab->count == 0 || !is_turned || is_zero(vec3_add(ab->normal, ba->normal)));
}

// Gaps: the smallest is the distance, and the plane that the normal stands on separates the two by
// it.
static void judge_gaps(const Pair *near, double distance, const Manifold *manifold,
                       const Bounds *bounds) {
    double gap = smallest_gap(manifold);
    double separation = -farthest_along(&near->b, near->pose_b, vec3_neg(manifold->normal)) -
                        farthest_along(&near->a, near->pose_a, manifold->normal);
    ASSERT(gap <= distance + bounds->gap);
    // a point beside a face may be farther away than the face's plane is
    double farther = gap > 0.0 ? hypot(gap, 1.5 * bounds->slop) : gap;
    ASSERT(distance <= farther + bounds->gap);
    ASSERT(fabs(gap - separation) <= bounds->separation);
}

// Points: midway between the two surfaces.
static void judge_points(const Pair *near, const Manifold *manifold, Vec3 origin,
                         const Bounds *bounds) {
    for (uint32_t i = 0; i < manifold->count; i++) {
        Vec3 point = vec3_sub(manifold->point[i].position, origin);
        double limit = hypot(0.5 * manifold->point[i].gap, 1.5 * bounds->slop) + bounds->gap;
        ASSERT(distance_outside(point, &near->a, near->pose_a) <= limit);
        ASSERT(distance_outside(point, &near->b, near->pose_b) <= limit);
    }
}

// A cylinder's gap is the distance of the planes across the normal; there is no other reference
// here (check_convex.c asks the rest). Bodies so unlike in size, or so far apart, are not asked
// about that rounding of the one is the other.
static void judge_cylinder(const Pair *near, const Manifold *manifold) {
    const double a = near->a.kind == PRIMITIVE_PLANE ? 0.0 : vec3_norm(near->a.size);
    const double size = a + vec3_norm(near->b.size), apart = vec3_norm(near->pose_b.position);
    double least = fmin(near->b.size.x, near->b.size.y);
    least = near->a.kind == PRIMITIVE_BOX ? fmin(least, shortest_edge(&near->a)) : least;
    if (manifold->count == 0 || least < 1e-5 * size || apart > 10.0 * size) {
        return;
    }
    const Vec3 n = near->a.kind == PRIMITIVE_PLANE ? up_of(near->pose_a) : manifold->normal;
    const double separation = -farthest_along(&near->b, near->pose_b, vec3_neg(n)) -
                              farthest_along(&near->a, near->pose_a, n);
    ASSERT(fabs(smallest_gap(manifold) - separation) <= 1e-7 * (size + apart));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    Bytes input = {bytes, count};
    Pair pair = take_pair(&input);
    Manifold manifold, mirrored;
    narrow_collide(&pair.a, pair.pose_a, &pair.b, pair.pose_b, pair.reach, &manifold);
    judge_shape(&manifold, pair.reach);
    narrow_collide(&pair.b, pair.pose_b, &pair.a, pair.pose_a, pair.reach, &mirrored);
    judge_mirrored(&pair, &manifold, &mirrored);

    Pair near = pair;
    near.pose_a.position = vec3(0.0, 0.0, 0.0);
    near.pose_b.position = vec3_sub(pair.pose_b.position, pair.pose_a.position);
    if (pair.b.kind == PRIMITIVE_CYLINDER) {
        judge_cylinder(&near, &manifold);
        return 0;
    }
    if (!is_judged(&pair)) {
        return 0;
    }
    double distance = signed_distance(&near);
    Bounds bounds = find_bounds(&pair, distance, &manifold);
    if (manifold.count == 0) {
        // nothing within reach; a point beside a face may make it farther
        ASSERT(distance >= pair.reach - bounds.gap - 1.5 * bounds.slop);
        return 0;
    }
    judge_gaps(&near, distance, &manifold, &bounds);
    judge_points(&near, &manifold, pair.pose_a.position, &bounds);
    return 0;
}
