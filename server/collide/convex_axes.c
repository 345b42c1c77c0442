// SPDX-License-Identifier: MIT
#include "collide/convex_axes.h"

#include "base/assert.h"

// squared sine below which two edges span no axis: their cross product has lost half its digits
static const double edge_sine_squared_min = 1e-12;

enum { BOX_VERTICES = 8, BOX_FACES = 6, BOX_EDGES = 12 };

// In the body's own axes.
typedef struct Solid {
    const Convex *convex;
    const Vec3 *point, *normal;
    const HullEdge *edge;
    uint32_t face_count, edge_count;
    Vec3 box_point[BOX_VERTICES];
} Solid;

static const Vec3 box_normal[BOX_FACES] = {{-1.0, 0.0, 0.0}, {1.0, 0.0, 0.0},  {0.0, -1.0, 0.0},
                                           {0.0, 1.0, 0.0},  {0.0, 0.0, -1.0}, {0.0, 0.0, 1.0}};
static const HullEdge box_edge[BOX_EDGES] = {
    {{0, 1}, {2, 4}}, {{2, 3}, {3, 4}}, {{4, 5}, {2, 5}}, {{6, 7}, {3, 5}},
    {{0, 2}, {0, 4}}, {{1, 3}, {1, 4}}, {{4, 6}, {0, 5}}, {{5, 7}, {1, 5}},
    {{0, 4}, {0, 2}}, {{1, 5}, {1, 2}}, {{2, 6}, {0, 3}}, {{3, 7}, {1, 3}},
};

static void read_solid(const Convex *convex, Solid *solid) {
    ASSERT(convex->kind != CONVEX_CYLINDER);
    solid->convex = convex;
    solid->face_count = solid->edge_count = 0;
    if (!convex_has_corners(convex)) {
        return;
    }
    if (convex->kind == CONVEX_HULL) {
        const Hull *hull = convex->hull;
        solid->point = hull->point;
        solid->normal = hull->normal;
        solid->edge = hull->edge;
        solid->face_count = hull->face_count;
        solid->edge_count = hull->edge_count;
        return;
    }
    const Vec3 half = convex->half;
    for (uint32_t i = 0; i < BOX_VERTICES; i++) {
        solid->box_point[i] =
            vec3((i & 1u) != 0 ? half.x : -half.x, (i & 2u) != 0 ? half.y : -half.y,
                 (i & 4u) != 0 ? half.z : -half.z);
    }
    solid->point = solid->box_point;
    solid->normal = box_normal;
    solid->edge = box_edge;
    solid->face_count = BOX_FACES;
    solid->edge_count = BOX_EDGES;
}

static Vec3 place(const Convex *convex, Vec3 local) {
    return vec3_add(convex->center, mat3_mul_vec(convex->axes, local));
}

static void try_faces(const Convex pair[2], const Solid *solid, int side, ConvexAxis *best) {
    ASSERT(side == 0 || side == 1);
    for (uint32_t f = 0; f < solid->face_count; f++) {
        const Vec3 out = mat3_mul_vec(solid->convex->axes, solid->normal[f]);
        const Vec3 n = side == 0 ? out : vec3_neg(out);
        const Vec3 a = convex_support(&pair[0], n).position;
        const Vec3 b = convex_support(&pair[1], vec3_neg(n)).position;
        const double separation = vec3_dot(n, vec3_sub(b, a));
        if (separation > best->separation) {
            *best = (ConvexAxis){.normal = n, .separation = separation, .face_of = side};
        }
    }
}

// ---- edges, in the world's axes

typedef struct Arcs {
    const Solid *first, *second;
    Vec3 facing[HULL_FACES_MAX];   // normals of the second, turned around
    double beyond[HULL_FACES_MAX]; // which side of the first's arc each of them is on
} Arcs;

// Where its ends are.
static void place_edge(const Solid *solid, const HullEdge *edge, Vec3 end[2]) {
    for (int i = 0; i < 2; i++) {
        end[i] = place(solid->convex, solid->point[edge->vertex[i]]);
    }
}

// Two edges whose arcs cross, `outward` out of the first: is their normal better?
static bool try_edges(const Vec3 p[2], const Vec3 q[2], Vec3 outward, ConvexAxis *best) {
    const Vec3 u = vec3_sub(p[1], p[0]), v = vec3_sub(q[1], q[0]), across = vec3_cross(u, v);
    const double squared = vec3_dot(across, across);
    if (!(squared > edge_sine_squared_min * vec3_dot(u, u) * vec3_dot(v, v))) {
        return false;
    }
    const double sign = vec3_dot(across, outward) >= 0.0 ? 1.0 : -1.0;
    const Vec3 n = vec3_scale(sign / sqrt(squared), across);
    const double separation = vec3_dot(n, vec3_sub(q[0], p[0]));
    if (!(separation > best->separation)) {
        return false;
    }
    *best = (ConvexAxis){
        .normal = n, .separation = separation, .face_of = -1, .edge = {{p[0], p[1]}, {q[0], q[1]}}};
    return true;
}

static void try_arc(Arcs *arcs, const HullEdge *edge, ConvexAxis *best) {
    const Solid *first = arcs->first, *second = arcs->second;
    const Vec3 a = mat3_mul_vec(first->convex->axes, first->normal[edge->face[0]]);
    const Vec3 b = mat3_mul_vec(first->convex->axes, first->normal[edge->face[1]]);
    const Vec3 across = vec3_cross(b, a);
    for (uint32_t f = 0; f < second->face_count; f++) {
        arcs->beyond[f] = vec3_dot(arcs->facing[f], across);
    }
    for (uint32_t i = 0; i < second->edge_count; i++) {
        const HullEdge *other = &second->edge[i];
        const double c_side = arcs->beyond[other->face[0]], d_side = arcs->beyond[other->face[1]];
        if (!(c_side * d_side < 0.0)) {
            continue;
        }
        const Vec3 c = arcs->facing[other->face[0]], d = arcs->facing[other->face[1]];
        const Vec3 own = vec3_cross(d, c);
        const double a_side = vec3_dot(a, own), b_side = vec3_dot(b, own);
        if (a_side * b_side < 0.0 && c_side * b_side > 0.0) {
            Vec3 p[2], q[2];
            place_edge(first, edge, p);
            place_edge(second, other, q);
            if (try_edges(p, q, vec3_add(a, b), best)) {
                best->vertex[0][0] = edge->vertex[0];
                best->vertex[0][1] = edge->vertex[1];
                best->vertex[1][0] = other->vertex[0];
                best->vertex[1][1] = other->vertex[1];
            }
        }
    }
}

// Edges of one side and the segment that is the other: its arc is all that is across it.
static void try_segment(const Solid *solid, int side, const Convex *segment, ConvexAxis *best) {
    ASSERT(side == 0 || side == 1);
    const Vec3 axis = segment->axes.c2;
    const Vec3 end[2] = {vec3_add_scaled(segment->center, -segment->half.z, axis),
                         vec3_add_scaled(segment->center, segment->half.z, axis)};
    for (uint32_t i = 0; i < solid->edge_count; i++) {
        const HullEdge *edge = &solid->edge[i];
        const Vec3 a = mat3_mul_vec(solid->convex->axes, solid->normal[edge->face[0]]);
        const Vec3 b = mat3_mul_vec(solid->convex->axes, solid->normal[edge->face[1]]);
        const Vec3 outward = vec3_add(a, b);
        Vec3 own[2];
        place_edge(solid, edge, own);
        if (vec3_dot(a, axis) * vec3_dot(b, axis) < 0.0 &&
            (side == 0 ? try_edges(own, end, outward, best)
                       : try_edges(end, own, vec3_neg(outward), best))) {
            best->vertex[side][0] = edge->vertex[0];
            best->vertex[side][1] = edge->vertex[1];
        }
    }
}

ConvexAxis convex_axes_find(const Convex pair[2]) {
    ASSERT(convex_has_corners(&pair[0]) || convex_has_corners(&pair[1]));
    Solid solid[2];
    read_solid(&pair[0], &solid[0]);
    read_solid(&pair[1], &solid[1]);
    ConvexAxis best = {.separation = -HUGE_VAL};
    try_faces(pair, &solid[0], 0, &best);
    try_faces(pair, &solid[1], 1, &best);
    for (int side = 0; side < 2; side++) {
        if (pair[1 - side].kind == CONVEX_CAPSULE) {
            try_segment(&solid[side], side, &pair[1 - side], &best);
        }
    }
    Arcs arcs;
    arcs.first = &solid[0];
    arcs.second = &solid[1];
    for (uint32_t f = 0; f < solid[1].face_count; f++) {
        arcs.facing[f] = vec3_neg(mat3_mul_vec(pair[1].axes, solid[1].normal[f]));
    }
    for (uint32_t i = 0; i < solid[0].edge_count; i++) {
        try_arc(&arcs, &solid[0].edge[i], &best);
    }
    return best;
}
