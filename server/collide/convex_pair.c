// SPDX-License-Identifier: MIT
// Two bounded primitives of which one has no closed form with the other. convex_gap.h says how far
// they are apart and along which normal; where that is a face's, what lies over the face are the
// points (facet_meet.h), and where two lines lie side by side, their ends; else it is one point.
// Symmetric under swapping: two of one kind are put in an order of their own first.
#include "collide/convex_pair.h"

#include "base/assert.h"
#include "collide/convex_gap.h"
#include "collide/facet_meet.h"
#include "collide/narrow_parts.h"
#include "collide/polygon_meet.h"

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
// of the sizes: how much higher than the lowest point of a face is as low, as between boxes
static const double tie_part = 1e-6;
// of the smaller radius: how far beside the normal the ends of two lines may lie; the square of it,
// halved, is what they then are too low
static const double aside_part = 3e-5;

enum {
    FEATURE_FACE = 1u << 16, // + reference body << 15 | its facet << 12 | the other's << 9 | point
    FEATURE_LINES = 2u << 16,
    FEATURE_NEAR = 3u << 16, // + corner of the first << 4 | corner of the second
};

static bool has_hull(const Convex pair[2]) {
    return pair[0].kind == CONVEX_HULL || pair[1].kind == CONVEX_HULL;
}

static void set_nearest(const Convex pair[2], const ConvexGap *gap, double reach,
                        ConvexManifold *manifold) {
    manifold->normal = gap->normal;
    manifold->count = gap->gap <= reach ? 1 : 0;
    ConvexPoint *point = &manifold->point[0];
    *point = (ConvexPoint){.position = vec3_scale(0.5, vec3_add(gap->on_first, gap->on_second)),
                           .gap = gap->gap,
                           .feature = {gap->feature[0], gap->feature[1]}};
    if (!has_hull(pair)) {
        point->feature[0] = FEATURE_NEAR | gap->corner[0] << 4 | gap->corner[1];
    }
}

// Of a point of a disc or a line over a facet: what the label says of the one with corners, and of
// the other.
static void set_label_features(const Facet *polygon, uint32_t label, uint32_t number,
                               uint32_t *of_polygon, uint32_t *of_round) {
    const bool is_edge = label >= MEET_EDGE;
    *of_polygon = is_edge ? facet_edge(polygon, (label - MEET_EDGE) / 2)
                          : (uint32_t)CONVEX_FACE | polygon->number;
    *of_round = (uint32_t)CONVEX_ROUND | number << 8 | (is_edge ? MEET_EDGE + label % 2 : label);
}

// `normal` is the manifold's.
static void set_points(const MeetPoints *points, Vec3 normal, double side, uint32_t feature,
                       ConvexManifold *manifold) {
    ASSERT(points->count <= MANIFOLD_POINT_MAX);
    manifold->normal = normal;
    manifold->count = points->count;
    for (uint32_t i = 0; i < points->count; i++) {
        const MeetPoint *point = &points->point[i];
        // midway between the point, which is on the incident body, and the reference
        manifold->point[i] =
            (ConvexPoint){.position = vec3_add_scaled(point->position, side * point->gap, normal),
                          .gap = point->gap,
                          .feature = {feature | point->label, 0}};
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

// `up` is from the bearing face, which is of side `bearing`, to the other.
static void set_polygon_points(const PolygonPoints *points, const Facet facet[2], int bearing,
                               Vec3 up, ConvexManifold *manifold) {
    ASSERT(bearing == 0 || bearing == 1);
    manifold->normal = bearing == 0 ? up : vec3_neg(up);
    manifold->count = points->count;
    for (uint32_t i = 0; i < points->count; i++) {
        const PolygonPoint *from = &points->point[i];
        ConvexPoint *point = &manifold->point[i];
        point->position = vec3_add_scaled(from->position, -0.5 * from->gap, up);
        point->gap = from->gap;
        point->feature[bearing] = polygon_feature(&facet[bearing], from->part[0]);
        point->feature[1 - bearing] = polygon_feature(&facet[1 - bearing], from->part[1]);
    }
}

// How far a corner may be out of a face that it lies flat on: of how thick the thinner one is.
static double slop_of(const Convex pair[2]) {
    double thin = HUGE_VAL;
    for (int side = 0; side < 2; side++) {
        const Vec3 half = pair[side].half;
        thin = fmin(thin, pair[side].kind == CONVEX_HULL ? pair[side].hull->inner_radius
                                                         : fmin(half.x, fmin(half.y, half.z)));
    }
    return slop_part * thin;
}

// Two faces with corners, of which one at least looks along the normal. Where both do, they lie on
// each other as boxes do (box_box.c): along the normal of the first one's, whichever edges stand
// out a hair deeper. false: what is nearest is not over the face.
static bool set_polygons(const Convex pair[2], const ConvexGap *gap, const Facet facet[2],
                         int bearing, double reach, ConvexManifold *manifold) {
    const Facet *on = &facet[bearing], *lying = &facet[1 - bearing];
    const double sizes = pair[0].size + pair[1].size;
    const bool are_parallel = vec3_dot(on->normal, lying->normal) <= parallel_part - 1.0;
    const Vec3 up = are_parallel ? on->normal : bearing == 0 ? gap->normal : vec3_neg(gap->normal);
    const PolygonLimits limits = {.slop = are_parallel ? slop_of(pair) : bound_part * sizes,
                                  .reach = reach,
                                  .tie = are_parallel ? tie_part * sizes : 0.0};
    PolygonPoints points;
    polygon_meet(on, lying, up, &limits, &points);
    if (points.count == 0 || (!are_parallel && points.lowest > gap->gap + bound_part * sizes)) {
        return false;
    }
    set_polygon_points(&points, facet, bearing, up, manifold);
    return true;
}

// A point of a round body and a face with corners.
static void set_round_features(const Facet facet[2], const MeetPoints *points,
                               ConvexManifold *manifold) {
    const int side = facet[0].kind == FACET_POLYGON ? 0 : 1;
    for (uint32_t i = 0; i < manifold->count; i++) {
        uint32_t *feature = manifold->point[i].feature;
        set_label_features(&facet[side], points->point[i].label, facet[1 - side].number,
                           &feature[side], &feature[1 - side]);
    }
}

// false: what is nearest is not over the face.
static bool set_face(const Convex pair[2], const ConvexGap *gap, double reach,
                     ConvexManifold *manifold) {
    const Facet facet[2] = {convex_facet(&pair[0], gap->normal),
                            convex_facet(&pair[1], vec3_neg(gap->normal))};
    const bool is_first = is_flat(&facet[0], gap->normal);
    const bool is_second = is_flat(&facet[1], vec3_neg(gap->normal));
    if (!is_first && !is_second) {
        return false;
    }
    const int reference = is_first ? 0 : 1;
    const Facet *on = &facet[reference], *lying = &facet[1 - reference];
    if (on->kind == FACET_POLYGON && lying->kind == FACET_POLYGON) {
        return set_polygons(pair, gap, facet, reference, reach, manifold);
    }
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
    if (has_hull(pair)) {
        set_round_features(facet, &points, manifold);
    }
    return true;
}

// Of which one at least is round: two edges are side by side for no longer than noise has it.
// false: no two lines lie side by side there.
static bool set_lines(const Convex pair[2], const ConvexGap *gap, double reach,
                      ConvexManifold *manifold) {
    Facet line[2];
    if (convex_has_corners(&pair[0]) && convex_has_corners(&pair[1])) {
        return false;
    }
    if (!convex_line(&pair[0], gap->normal, &line[0]) ||
        !convex_line(&pair[1], vec3_neg(gap->normal), &line[1])) {
        return false;
    }
    double radius = HUGE_VAL; // edges have none
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
    for (uint32_t i = 0; has_hull(pair) && i < manifold->count; i++) {
        for (int side = 0; side < 2; side++) {
            manifold->point[i].feature[side] = pair[side].kind == CONVEX_HULL
                                                   ? (uint32_t)CONVEX_EDGE | line[side].number
                                                   : (uint32_t)CONVEX_ROUND | points.point[i].label;
        }
    }
    return true;
}

// A ball touches in one point, always the same, so that the impulse of what rolls is kept.
static void forget_features(ConvexManifold *manifold) {
    ASSERT(manifold->count <= 1);
    manifold->point[0].feature[0] = manifold->point[0].feature[1] = CONVEX_ROUND;
}

// What is asked for of what meets.
typedef enum Asked { ASKED_ALL, ASKED_NEAREST } Asked;

static void collide(const Convex pair[2], double reach, Asked asked, ConvexManifold *manifold) {
    ConvexGap gap;
    manifold->count = 0;
    const double limit = pair[0].size + pair[1].size + reach;
    const Vec3 offset = vec3_sub(pair[1].middle, pair[0].middle);
    if (vec3_dot(offset, offset) > limit * limit || !convex_gap(pair, reach, &gap)) {
        return;
    }
    const bool is_face = asked == ASKED_ALL && set_face(pair, &gap, reach, manifold);
    manifold->is_of_face = is_face;
    if (!is_face && (asked == ASKED_NEAREST || !set_lines(pair, &gap, reach, manifold))) {
        convex_gap_settle(pair, &gap);
        set_nearest(pair, &gap, reach, manifold);
    }
    if (pair[0].kind == CONVEX_SPHERE || pair[1].kind == CONVEX_SPHERE) {
        forget_features(manifold);
    }
}

void convex_collide(const Convex pair[2], double reach, ConvexManifold *manifold) {
    collide(pair, reach, ASKED_ALL, manifold);
}

// ---- an order of two

// Scenes built on axes and diagonals are not aligned with it, as pair_order.c has it.
static const Vec3 direction = {0.3719, 0.6137, 1.0};
// of the distance: what both see of each other is as good as the same
static const double same_part = 1e-3;

static double compare_vecs(Vec3 a, Vec3 b) {
    return a.x != b.x ? b.x - a.x : a.y != b.y ? b.y - a.y : b.z - a.z;
}

static double compare_forms(const Hull *a, const Hull *b) {
    if (a->mass.volume != b->mass.volume || a->vertex_count != b->vertex_count) {
        return a->mass.volume != b->mass.volume ? a->mass.volume - b->mass.volume
                                                : (double)a->vertex_count - b->vertex_count;
    }
    double order = a == b ? 0.0 : (double)a->face_count - b->face_count;
    for (uint32_t i = 0; order == 0.0 && a != b && i < a->vertex_count; i++) {
        order = compare_vecs(a->point[i], b->point[i]);
    }
    return order;
}

// First their forms, whatever they are called, then how they lie to each other, as pair_order has
// it.
static double order_hulls(const ConvexBody *a, const ConvexBody *b) {
    ASSERT(a->hull != NULL && b->hull != NULL);
    const double by_form = compare_forms(a->hull, b->hull);
    if (by_form != 0.0) {
        return by_form;
    }
    const Mat3 of_a = quat_to_mat3(a->pose->orientation), of_b = quat_to_mat3(b->pose->orientation);
    const Vec3 offset = vec3_sub(b->pose->position, a->pose->position);
    const Vec3 turned = vec3_add(mat3_mul_vec(of_a, direction), mat3_mul_vec(of_b, direction));
    const double seen = vec3_dot(turned, offset);
    if (fabs(seen) > same_part * vec3_norm(offset)) {
        return seen;
    }
    const double by_place = vec3_dot(direction, offset);
    const double by_first = compare_vecs(of_a.c0, of_b.c0);
    return by_place != 0.0 ? by_place : by_first != 0.0 ? by_first : compare_vecs(of_a.c1, of_b.c1);
}

static Convex read_body(const ConvexBody *body, Vec3 origin) {
    return body->hull != NULL ? convex_of_hull(body->hull, body->pose, origin)
                              : convex_read(body->primitive, body->pose, origin);
}

static bool is_of_one_kind(const ConvexBody body[2]) {
    return body[0].hull != NULL
               ? body[1].hull != NULL
               : body[1].hull == NULL && body[0].primitive->kind == body[1].primitive->kind;
}

// Whether the second is to come first: hulls after all else, others as their kinds say.
static bool is_second_first(const ConvexBody body[2]) {
    if (!is_of_one_kind(body)) {
        return body[1].hull == NULL &&
               (body[0].hull != NULL || body[0].primitive->kind > body[1].primitive->kind);
    }
    if (body[0].hull == NULL) {
        return pair_order(body[0].primitive, body[0].pose, body[1].primitive, body[1].pose) < 0.0;
    }
    return order_hulls(&body[0], &body[1]) < 0.0;
}

static void meet(const ConvexBody body[2], double reach, Asked asked, ConvexManifold *manifold) {
    const bool is_swapped = is_second_first(body);
    const ConvexBody *first = &body[is_swapped ? 1 : 0], *second = &body[is_swapped ? 0 : 1];
    const Vec3 origin = first->pose->position;
    const Convex pair[2] = {read_body(first, origin), read_body(second, origin)};
    collide(pair, reach, asked, manifold);
    for (uint32_t i = 0; i < manifold->count; i++) {
        ConvexPoint *point = &manifold->point[i];
        point->position = vec3_add(point->position, origin);
        if (is_swapped && has_hull(pair)) {
            const uint32_t feature = point->feature[0];
            point->feature[0] = point->feature[1];
            point->feature[1] = feature;
        }
    }
    if (is_swapped && manifold->count > 0) {
        manifold->normal = vec3_neg(manifold->normal);
    }
}

void convex_meet(const ConvexBody body[2], double reach, ConvexManifold *manifold) {
    meet(body, reach, ASKED_ALL, manifold);
}

void convex_meet_nearest(const ConvexBody body[2], ConvexManifold *manifold) {
    meet(body, HUGE_VAL, ASKED_NEAREST, manifold);
}

// The pairs' numbers are features in the lower half; what else the second one tells is above.
static void take_manifold(const ConvexManifold *from, Manifold *manifold) {
    ASSERT(from->count <= MANIFOLD_POINT_MAX);
    manifold->count = from->count;
    manifold->normal = from->normal;
    for (uint32_t i = 0; i < from->count; i++) {
        manifold->point[i] = (ManifoldPoint){.position = from->point[i].position,
                                             .gap = from->point[i].gap,
                                             .feature = (uint64_t)from->point[i].feature[1] << 32 |
                                                        from->point[i].feature[0]};
    }
}

static const Hull *hull_of(const Primitive *primitive) {
    return primitive->geometry == NULL ? NULL : primitive->geometry->hull;
}

void convex_convex(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b,
                   double reach, Manifold *manifold) {
    ASSERT(a->kind <= b->kind && manifold->count == 0);
    const ConvexBody body[2] = {{a, hull_of(a), pose_a}, {b, hull_of(b), pose_b}};
    ConvexManifold found;
    convex_meet(body, reach, &found);
    if (found.count > 0) {
        take_manifold(&found, manifold);
    }
}

// ---- a half-space

// Its lowest places, or the ends of its side, or its lowest corners.
static void rest_on(const Facet *ground, const Convex *convex, double reach,
                    ConvexManifold *manifold) {
    const Vec3 up = ground->normal;
    const Facet lying = convex_facet(convex, vec3_neg(up));
    if (lying.kind == FACET_POLYGON) {
        const Facet facet[2] = {*ground, lying};
        const PolygonLimits limits = {.reach = reach, .tie = tie_part * convex->size};
        PolygonPoints points;
        polygon_meet(ground, &lying, up, &limits, &points);
        set_polygon_points(&points, facet, 0, up, manifold);
        return;
    }
    MeetPoints points;
    facet_meet(ground, &lying, up, 0.0, &points);
    facet_reduce(&points, up, reach, bound_part * convex->size);
    set_points(&points, up, -0.5, FEATURE_FACE | lying.number << 9, manifold);
}

void convex_rest(Vec3 point, Vec3 up, const Convex *convex, double reach,
                 ConvexManifold *manifold) {
    VALIDATE(fabs(vec3_dot(up, up) - 1.0) < 1e-6);
    manifold->count = 0;
    const double height = vec3_dot(up, vec3_sub(convex->middle, point));
    if (height - convex->size > reach) {
        return;
    }
    const Facet ground = {.kind = FACET_POLYGON,
                          .normal = up,
                          .center = vec3_add_scaled(convex->middle, -height, up)};
    rest_on(&ground, convex, reach, manifold);
}

void plane_convex(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b,
                  double reach, Manifold *manifold) {
    ASSERT(a->kind == PRIMITIVE_PLANE && manifold->count == 0);
    const Vec3 up = quat_to_mat3(pose_a->orientation).c2;
    const Vec3 origin = pose_b->position;
    const Convex convex = convex_read(b, pose_b, origin);
    ConvexManifold found;
    convex_rest(vec3_sub(pose_a->position, origin), up, &convex, reach, &found);
    for (uint32_t i = 0; i < found.count; i++) {
        found.point[i].position = vec3_add(found.point[i].position, origin);
    }
    if (found.count > 0) {
        take_manifold(&found, manifold);
    }
}
