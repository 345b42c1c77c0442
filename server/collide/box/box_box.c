// SPDX-License-Identifier: MIT
// Two boxes: fifteen separating axes (Gottschalk, Lin and Manocha 1996) say how far they are apart
// or how deep they overlap; the best axis says which features meet.
//
//     a face's normal   the other box's facing face is clipped against it: up to four points, or
//                       up to eight where the faces are parallel
//     an edge x edge    one point between the two edges; where one of them lies along a face of the
//                       other box, that face
//     neither           the boxes are apart and their nearest features are corners or edges beyond
//                       the faces: the axes know only a lower bound of the distance then, and
//                       gjk.c finds the points
//
// Faces that are parallel within `parallel_part` are what resting boxes have. Between such faces
// the reference is chosen by an order that noise cannot turn, edges along the faces are not asked
// but left to them, and corners that are out by a hair count as in: the same features meet from
// step to step. The price is at most the angle, 1.4e-3, times the width of the overlap in the
// depth; gaps along the faces' normal are exact, and so is everything between faces that are not
// parallel. Symmetric under swapping: the boxes are put in an order of their own first. `R` is the
// second box's axes seen from the first.
#include "base/assert.h"
#include "collide/box/box_axes.h"
#include "collide/box/clip.h"
#include "collide/gjk.h"
#include "collide/narrow_parts.h"

#include <stddef.h>

// 1 - cosine of the angle below which two directions are parallel: 1.4e-3 rad
static const double parallel_part = 1e-6;
// of the boxes' size: what rounding does to a separation, with room
static const double rounding_part = 1e-9;
// of the gap: how far above the axes' bound the points of a face may be and still be the nearest
static const double bound_slack = 1e-6;
// of the reference face's shorter half edge: how far out a corner of a parallel face may be
static const double slop_part = 1e-4;

enum {
    FEATURE_FACE = 1u << 16, // + reference box << 15 | its face << 11 | incident face << 7 | point
    FEATURE_EDGE = 2u << 16, // + edge of a << 4 | edge of b
    FEATURE_NEAR = 3u << 16, // + corners of a << 8 | corners of b
};

// Two boxes in their order, as the axes see them.
typedef struct BoxPair {
    Box box[2];
    uint32_t caller[2]; // 0: the caller's a
    Vec3 offset;        // from the first centre to the second
    double size;        // sum of the half diagonals
    BoxAxes axes;
} BoxPair;

typedef struct Face {
    uint32_t box;
    int axis;
    double separation;
    bool is_parallel; // to a face of the other box
} Face;

typedef struct Edges {
    int axis[2];
    Vec3 normal; // from the first box to the second
    double separation;
    double left_to_face; // the greatest separation along edges that are the faces' business
    bool is_found;
} Edges;

static Box read_box(const Primitive *primitive, const Pose *pose, const Mat3 *axes) {
    Vec3 half = primitive->size;
    return (Box){.center = pose->position,
                 .axis = {axes->c0, axes->c1, axes->c2},
                 .half = {half.x, half.y, half.z}};
}

static bool is_parallel(double cosine) {
    return fabs(cosine) >= 1.0 - parallel_part;
}

// The face of one box from which the other is farthest.
static Face find_face(const BoxPair *pair, uint32_t box) {
    ASSERT(box < 2);
    const double *separation = pair->axes.face[box];
    Face best = {.box = box, .axis = 0, .separation = -HUGE_VAL};
    for (int i = 0; i < 3; i++) {
        if (separation[i] > best.separation) {
            best.axis = i;
            best.separation = separation[i];
        }
    }
    return best;
}

// Whether a face is parallel to one of the other box.
static bool has_parallel(const BoxPair *pair, const Face *face) {
    ASSERT(face->axis >= 0 && face->axis < 3);
    const int i = face->axis;
    const double(*R)[BOX_LANES] = pair->axes.R;
    return face->box == 0 ? is_parallel(R[i][0]) || is_parallel(R[i][1]) || is_parallel(R[i][2])
                          : is_parallel(R[0][i]) || is_parallel(R[1][i]) || is_parallel(R[2][i]);
}

// Normal of a reference face, out of its own box and towards the other.
static Vec3 face_normal(const BoxPair *pair, const Face *face) {
    Vec3 axis = pair->box[face->box].axis[face->axis];
    // the offset points from the first box to the second
    bool is_up = (pair->axes.t[face->box][face->axis] >= 0.0) == (face->box == 0);
    return is_up ? axis : vec3_neg(axis);
}

// The cosine between what stands on two edges and the face's normal, but for its sign.
static double edges_to_face(const BoxPair *pair, const Face *face, int i, int j) {
    const int own = face->box == 0 ? i : j;
    if (own == face->axis) {
        return 0.0;
    }
    const int third = 3 - own - face->axis;
    return (face->box == 0 ? pair->axes.R[third][j] : pair->axes.R[i][third]) /
           pair->axes.sine[i][j];
}

// The pair of edges along whose common normal the boxes are farthest apart.
static Edges find_edges(const BoxPair *pair) {
    const double(*edge)[BOX_LANES] = pair->axes.edge, most = pair->axes.edge_most;
    Edges best = {.separation = most, .left_to_face = -HUGE_VAL, .is_found = most > -HUGE_VAL};
    const int i = edge[0][0] == most || edge[0][1] == most || edge[0][2] == most   ? 0
                  : edge[1][0] == most || edge[1][1] == most || edge[1][2] == most ? 1
                                                                                   : 2;
    best.axis[0] = i;
    best.axis[1] = edge[i][0] == most ? 0 : edge[i][1] == most ? 1 : 2;
    return best;
}

// The same between parallel faces: edges whose normal is the faces' are the faces' business.
static Edges find_edges_beside(const BoxPair *pair, const Face *face) {
    ASSERT(face->is_parallel);
    Edges best = {.separation = -HUGE_VAL, .left_to_face = -HUGE_VAL, .is_found = false};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double separation = pair->axes.edge[i][j];
            if (separation > -HUGE_VAL && is_parallel(edges_to_face(pair, face, i, j))) {
                best.left_to_face = fmax(best.left_to_face, separation);
            } else if (separation > best.separation) {
                best.axis[0] = i;
                best.axis[1] = j;
                best.separation = separation;
                best.is_found = true;
            }
        }
    }
    return best;
}

// Of edges that were found, once it is sure that they come within reach.
static void set_normal(const BoxPair *pair, Edges *edges) {
    ASSERT(edges->is_found);
    const int *axis = edges->axis;
    const Vec3 n = vec3_cross(pair->box[0].axis[axis[0]], pair->box[1].axis[axis[1]]);
    const bool is_up = pair->axes.along[axis[0]][axis[1]] >= 0.0;
    edges->normal = vec3_scale((is_up ? 1.0 : -1.0) / vec3_norm(n), n);
}

// The middle of the edge along `axis` that lies farthest along n, and its number: axis and the
// signs of the other two coordinates.
static Vec3 support_edge(const Box *box, int axis, Vec3 n, uint32_t *number) {
    ASSERT(axis >= 0 && axis < 3);
    Vec3 middle = box->center;
    *number = (uint32_t)axis * 4;
    for (int k = 1; k <= 2; k++) {
        int other = (axis + k) % 3;
        bool is_up = vec3_dot(n, box->axis[other]) >= 0.0;
        middle =
            vec3_add_scaled(middle, is_up ? box->half[other] : -box->half[other], box->axis[other]);
        *number |= is_up ? (uint32_t)k : 0u;
    }
    return middle;
}

// The contact between two edges; false where their nearest points are not both on the edges.
static bool set_edge_point(const BoxPair *pair, const Edges *edges, double reach,
                           Manifold *manifold) {
    ASSERT(edges->is_found);
    ASSERT(pair->caller[0] + pair->caller[1] == 1);
    const Box *first = &pair->box[0], *second = &pair->box[1];
    uint32_t number[2];
    Vec3 p = support_edge(first, edges->axis[0], edges->normal, &number[0]);
    Vec3 q = support_edge(second, edges->axis[1], vec3_neg(edges->normal), &number[1]);
    Vec3 u = first->axis[edges->axis[0]], v = second->axis[edges->axis[1]];

    // p + s u and q + r v are nearest where their difference stands on both directions
    Vec3 d = vec3_sub(q, p);
    double c = pair->axes.R[edges->axis[0]][edges->axis[1]];
    double sine_squared = 1.0 - c * c;
    double du = vec3_dot(d, u), dv = vec3_dot(d, v);
    double s = (du - c * dv) / sine_squared;
    double r = (c * du - dv) / sine_squared;
    double slack = rounding_part * pair->size;
    if (edges->separation > 0.0 && (fabs(s) > first->half[edges->axis[0]] + slack ||
                                    fabs(r) > second->half[edges->axis[1]] + slack)) {
        return false;
    }
    if (edges->separation > reach) {
        return true;
    }
    Vec3 on_first = vec3_add_scaled(p, s, u), on_second = vec3_add_scaled(q, r, v);
    uint32_t of_a = number[pair->caller[0]], of_b = number[1 - pair->caller[0]];
    manifold->normal = edges->normal;
    manifold->count = 1;
    manifold->point[0] = (ManifoldPoint){.position = vec3_scale(0.5, vec3_add(on_first, on_second)),
                                         .gap = edges->separation,
                                         .feature = FEATURE_EDGE | of_a << 4 | of_b};
    return true;
}

// What a face manifold is built in: the reference face's centre and directions, and the other box's
// facing face.
typedef struct FaceBasis {
    Vec3 origin, normal, x, y;
    double half_x, half_y;
    uint32_t reference; // face: 2 axis + (0 or 1)
    uint32_t incident;
} FaceBasis;

// The other box's face that looks at the reference face most, and its corners in the basis.
static void read_incident(const Box *other, FaceBasis *basis, ClipPolygon *polygon) {
    int facing = 0;
    double cosine[3];
    for (int i = 0; i < 3; i++) {
        cosine[i] = vec3_dot(other->axis[i], basis->normal);
        facing = fabs(cosine[i]) > fabs(cosine[facing]) ? i : facing;
    }
    ASSERT(facing < 3);
    bool is_up = cosine[facing] < 0.0; // the face on the positive side looks down on the reference
    basis->incident = 2u * (uint32_t)facing + (is_up ? 1u : 0u);

    int i = (facing + 1) % 3, j = (facing + 2) % 3;
    double half = is_up ? other->half[facing] : -other->half[facing];
    Vec3 center =
        vec3_sub(vec3_add_scaled(other->center, half, other->axis[facing]), basis->origin);
    const Vec3 x = vec3_scale(other->half[i], other->axis[i]),
               y = vec3_scale(other->half[j], other->axis[j]);
    const Vec3 right = vec3_add(center, x), left = vec3_sub(center, x);
    // around the face: ++ -+ -- +-
    const Vec3 corner[4] = {vec3_add(right, y), vec3_add(left, y), vec3_sub(left, y),
                            vec3_sub(right, y)};
    polygon->count = 4;
    for (uint32_t k = 0; k < 4; k++) {
        polygon->point[k] = (ClipPoint){.position = vec3(vec3_dot(corner[k], basis->x),
                                                         vec3_dot(corner[k], basis->y),
                                                         vec3_dot(corner[k], basis->normal)),
                                        .feature = k,
                                        .edge = k};
    }
}

static FaceBasis make_frame(const BoxPair *pair, const Face *face) {
    const Box *box = &pair->box[face->box];
    int i = (face->axis + 1) % 3, j = (face->axis + 2) % 3;
    Vec3 normal = face_normal(pair, face);
    bool is_up = vec3_dot(normal, box->axis[face->axis]) > 0.0;
    return (FaceBasis){
        .origin = vec3_add_scaled(box->center, box->half[face->axis], normal),
        .normal = normal,
        .x = box->axis[i],
        .y = box->axis[j],
        .half_x = box->half[i],
        .half_y = box->half[j],
        .reference = 2u * (uint32_t)face->axis + (is_up ? 1u : 0u),
    };
}

static double lowest_height(const ClipPolygon *polygon) {
    double lowest = HUGE_VAL;
    for (uint32_t i = 0; i < polygon->count; i++) {
        double z = polygon->point[i].position.z;
        lowest = z < lowest ? z : lowest;
    }
    return lowest;
}

static void set_face_points(const BoxPair *pair, const Face *face, const FaceBasis *basis,
                            const ClipPolygon *polygon, Manifold *manifold) {
    ASSERT(polygon->count <= MANIFOLD_POINT_MAX);
    ASSERT(basis->reference < 6 && basis->incident < 6);
    uint32_t kind = FEATURE_FACE | pair->caller[face->box] << 15 | basis->reference << 11 |
                    basis->incident << 7;
    manifold->normal = face->box == 0 ? basis->normal : vec3_neg(basis->normal);
    manifold->count = polygon->count;
    for (uint32_t i = 0; i < polygon->count; i++) {
        // midway between the point and the face below it
        Vec3 p = polygon->point[i].position;
        Vec3 position = vec3_add_scaled(basis->origin, p.x, basis->x);
        position = vec3_add_scaled(position, p.y, basis->y);
        position = vec3_add_scaled(position, 0.5 * p.z, basis->normal);
        manifold->point[i] = (ManifoldPoint){
            .position = position, .gap = p.z, .feature = kind | polygon->point[i].feature};
    }
}

// The contact of a face; false where the nearest points of the two boxes are not on it.
static bool set_face(const BoxPair *pair, const Face *face, double reach, Manifold *manifold) {
    FaceBasis basis = make_frame(pair, face);
    ClipPolygon polygon;
    read_incident(&pair->box[1 - face->box], &basis, &polygon);
    double shorter = basis.half_x < basis.half_y ? basis.half_x : basis.half_y;
    double slop = face->is_parallel ? slop_part * shorter : rounding_part * shorter;
    clip_rectangle(&polygon, basis.half_x, basis.half_y, slop);

    double bound =
        face->separation + bound_slack * fabs(face->separation) + rounding_part * pair->size;
    if (polygon.count == 0 || (!face->is_parallel && lowest_height(&polygon) > bound)) {
        return false;
    }
    clip_drop_high(&polygon, reach);
    if (!face->is_parallel) {
        clip_reduce(&polygon);
    }
    set_face_points(pair, face, &basis, &polygon, manifold);
    return true;
}

static GjkPoint support_box(const void *body, Vec3 direction) {
    const Box *box = body;
    GjkPoint point = {.position = box->center, .vertex = 0};
    for (int i = 0; i < 3; i++) {
        bool is_up = vec3_dot(direction, box->axis[i]) >= 0.0;
        point.position =
            vec3_add_scaled(point.position, is_up ? box->half[i] : -box->half[i], box->axis[i]);
        point.vertex |= is_up ? 1u << i : 0u;
    }
    return point;
}

// The nearest points of boxes that are apart, wherever they are.
static bool set_nearest(const BoxPair *pair, double reach, Manifold *manifold) {
    // around the first centre, so that boxes far from the world's origin lose nothing
    Box near[2] = {pair->box[0], pair->box[1]};
    near[0].center = vec3(0.0, 0.0, 0.0);
    near[1].center = pair->offset;
    GjkResult result = gjk_distance((GjkBody){support_box, &near[0]},
                                    (GjkBody){support_box, &near[1]}, pair->offset);
    if (!result.is_apart) {
        return false;
    }
    if (result.distance > reach) {
        return true;
    }
    const uint32_t corners[2] = {result.corners_a, result.corners_b};
    Vec3 middle = vec3_scale(0.5, vec3_add(result.point_a, result.point_b));
    manifold->normal = result.normal;
    manifold->count = 1;
    manifold->point[0] = (ManifoldPoint){
        .position = vec3_add(pair->box[0].center, middle),
        .gap = result.distance,
        .feature = FEATURE_NEAR | corners[pair->caller[0]] << 8 | corners[1 - pair->caller[0]],
    };
    return true;
}

// What is left when rounding denies the other ways: the other box's corner that is deepest below
// the face.
static void set_corner(const BoxPair *pair, const Face *face, double reach, Manifold *manifold) {
    ASSERT(face->axis >= 0 && face->axis < 3);
    if (face->separation > reach) {
        return;
    }
    FaceBasis basis = make_frame(pair, face);
    GjkPoint corner = support_box(&pair->box[1 - face->box], vec3_neg(basis.normal));
    manifold->normal = face->box == 0 ? basis.normal : vec3_neg(basis.normal);
    manifold->count = 1;
    manifold->point[0] = (ManifoldPoint){
        .position = vec3_add_scaled(corner.position, -0.5 * face->separation, basis.normal),
        .gap = face->separation,
        .feature = FEATURE_NEAR | corner.vertex,
    };
}

// Do edges know better than the faces? Where boxes overlap, the nearest points of two edges are on
// the edges only when no direction at all knows a smaller depth, so those left to a face count too.
// Between boxes that are apart, set_edge_point looks where the points are.
static bool is_edge_best(const Edges *edges, double of_faces) {
    return edges->is_found && edges->separation > of_faces &&
           (edges->separation > 0.0 || edges->separation > edges->left_to_face);
}

// The face that one of two edges lies along, and crosses where it ends; NULL: none. To the edges'
// axis it is its deeper end that touches, and noise would turn that from step to step.
static const Face *find_face_along(const BoxPair *pair, const Edges *edges, const Face *face,
                                   const Face *other) {
    ASSERT(edges->is_found && face->box != other->box);
    return is_parallel(vec3_dot(edges->normal, face_normal(pair, face)))    ? face
           : is_parallel(vec3_dot(edges->normal, face_normal(pair, other))) ? other
                                                                            : NULL;
}

// Its points there take the place of the edges' one, which stays as deep as it is.
static void spread_along(const BoxPair *pair, const Edges *edges, const Face *along, double reach,
                         Manifold *manifold) {
    FaceBasis basis = make_frame(pair, along);
    ClipPolygon polygon;
    read_incident(&pair->box[1 - along->box], &basis, &polygon);
    double shorter = basis.half_x < basis.half_y ? basis.half_x : basis.half_y;
    clip_rectangle(&polygon, basis.half_x, basis.half_y, slop_part * shorter);
    clip_drop_high(&polygon, reach);
    if (polygon.count == 0) {
        return;
    }
    const double lowest = lowest_height(&polygon);
    set_face_points(pair, along, &basis, &polygon, manifold);
    manifold->normal = edges->normal;
    for (uint32_t i = 0; i < manifold->count; i++) {
        manifold->point[i].gap += edges->separation - lowest;
    }
}

static bool set_edges(const BoxPair *pair, const Edges *edges, const Face *face, const Face *other,
                      double reach, Manifold *manifold) {
    if (!set_edge_point(pair, edges, reach, manifold)) {
        return false;
    }
    const Face *along = find_face_along(pair, edges, face, other);
    if (along != NULL && manifold->count > 0) {
        spread_along(pair, edges, along, reach, manifold);
    }
    return true;
}

static void collide_pair(const BoxPair *pair, double reach, Manifold *manifold) {
    ASSERT(manifold->count == 0 && reach >= 0.0);
    Face face = find_face(pair, 0), other = find_face(pair, 1);
    if (!is_parallel(pair->axes.R[face.axis][other.axis]) && other.separation > face.separation) {
        const Face first = face;
        face = other;
        other = first;
    }
    face.is_parallel = has_parallel(pair, &face);
    const double most = pair->axes.edge_most;
    if (most > reach && !face.is_parallel) {
        return; // no axis may be longer than the reach: the distance is at least that
    }

    // of two parallel faces the chosen one may see far ends of the other box sink below it
    const double of_faces =
        (face.separation > other.separation ? face.separation : other.separation) +
        rounding_part * pair->size;
    Edges edges = {.is_found = false}; // mostly no edge is better, whichever are the faces'
    if (most > of_faces || most > reach) {
        edges = face.is_parallel ? find_edges_beside(pair, &face) : find_edges(pair);
        if (edges.is_found && edges.separation > reach) {
            return;
        }
    }
    bool is_set;
    if (is_edge_best(&edges, of_faces)) {
        set_normal(pair, &edges);
        is_set = set_edges(pair, &edges, &face, &other, reach, manifold);
    } else {
        is_set = set_face(pair, &face, reach, manifold);
    }
    if (!is_set && !set_nearest(pair, reach, manifold)) {
        set_corner(pair, &face, reach, manifold);
    }
}

void box_box(const Primitive *a, const Pose *pose_a, const Primitive *b, const Pose *pose_b,
             double reach, Manifold *manifold) {
    ASSERT(a->kind == PRIMITIVE_BOX && b->kind == PRIMITIVE_BOX);
    BoxPair pair;
    pair.size = vec3_norm(a->size) + vec3_norm(b->size);
    pair.offset = vec3_sub(pose_b->position, pose_a->position);
    double limit = pair.size + reach;
    if (vec3_dot(pair.offset, pair.offset) > limit * limit) {
        return;
    }
    const Mat3 axes_a = quat_to_mat3(pose_a->orientation),
               axes_b = quat_to_mat3(pose_b->orientation);
    const bool is_swapped = pair_order_seen(a, pose_a, &axes_a, b, pose_b, &axes_b) < 0.0;
    pair.box[is_swapped ? 1 : 0] = read_box(a, pose_a, &axes_a);
    pair.box[is_swapped ? 0 : 1] = read_box(b, pose_b, &axes_b);
    pair.caller[0] = is_swapped ? 1 : 0;
    pair.caller[1] = is_swapped ? 0 : 1;
    pair.offset = vec3_sub(pair.box[1].center, pair.box[0].center);
    if (!box_axes_find(pair.box, pair.offset, reach, &pair.axes)) {
        return;
    }
    collide_pair(&pair, reach, manifold);
    if (is_swapped && manifold->count > 0) {
        manifold->normal = vec3_neg(manifold->normal);
    }
}
