// SPDX-License-Identifier: MIT
// A mesh while it is derived: what mesh.c, mesh_tree.c and mesh_grid.c write of it; and what of
// asking it trees and grids have in common.
#pragma once

#include "geometry/block.h"
#include "geometry/mesh.h"

#include <math.h>

typedef struct MeshDraft {
    Mesh *mesh; // its pointers are those below
    Vec3 *point;
    MeshNode *node;
    uint32_t *corner, *beyond, *face, *ring_first, *ring, *order;
} MeshDraft;

// Nodes of a tree over so many triangles, at most: a leaf that is split has at least two children
// with one each.
static inline size_t mesh_nodes_max(size_t triangle_count) {
    return 2 * triangle_count - 1;
}

// Fills order, node and the count of nodes.
void mesh_build_tree(MeshDraft *draft);

// ---- keys of triangles, the smallest that there is room for, the largest of them on top

typedef struct MeshKeys {
    uint64_t *key;
    uint32_t count, count_max;
} MeshKeys;

void mesh_offer(MeshKeys *keys, uint64_t key);

static inline float mesh_round_down(double x) {
    const float near = (float)x;
    return (double)near > x ? nextafterf(near, -HUGE_VALF) : near;
}

static inline float mesh_round_up(double x) {
    return -mesh_round_down(-x);
}

// ---- rays

typedef struct MeshWay {
    Vec3 origin, way, inverse;
} MeshWay;

// The first that was met.
typedef struct MeshHit {
    double fraction; // HUGE_VAL: none
    uint32_t triangle;
} MeshHit;

// Of a way in the plane of a side 0 times infinity is no number, and the side is none: corners of
// triangles may lie in that plane, as those of a height field do.
static inline void mesh_pass_axis(double origin, double inverse, double low, double high,
                                  double *in, double *out) {
    const bool is_back = inverse < 0.0;
    const double near = ((is_back ? high : low) - origin) * inverse,
                 far = ((is_back ? low : high) - origin) * inverse;
    *in = near > *in ? near : *in;
    *out = far < *out ? far : *out;
}

static inline bool mesh_passes(Vec3 low, Vec3 high, const MeshWay *way, double reach) {
    static const double slack = 1e-12; // roundings of the fractions, and more
    double in = 0.0, out = reach;
    mesh_pass_axis(way->origin.x, way->inverse.x, low.x, high.x, &in, &out);
    mesh_pass_axis(way->origin.y, way->inverse.y, low.y, high.y, &in, &out);
    mesh_pass_axis(way->origin.z, way->inverse.z, low.z, high.z, &in, &out);
    return in <= out + slack * (1.0 + fabs(out));
}

// The way's side of an edge, as six times a volume: of the neighbour it is the same but for the
// sign, to the bit, so that no ray goes between the two.
static inline double mesh_side_of(Vec3 way, Vec3 a, Vec3 b) {
    return vec3_dot(way, vec3_cross(a, b));
}

// Takes a triangle of those corners, where the way meets it before the hit, or there and it comes
// first.
static inline void mesh_meet(Vec3 p, Vec3 q, Vec3 r, uint32_t triangle, bool is_two_sided,
                             const MeshWay *way, MeshHit *hit) {
    const Vec3 a = vec3_sub(p, way->origin), b = vec3_sub(q, way->origin),
               c = vec3_sub(r, way->origin);
    const double ab = mesh_side_of(way->way, a, b), bc = mesh_side_of(way->way, b, c),
                 ca = mesh_side_of(way->way, c, a);
    const bool is_before = ab <= 0.0 && bc <= 0.0 && ca <= 0.0;
    const bool is_behind = ab >= 0.0 && bc >= 0.0 && ca >= 0.0;
    if (!(is_before || (is_behind && is_two_sided))) {
        return;
    }
    const Vec3 n = vec3_cross(vec3_sub(q, p), vec3_sub(r, p)); // as mesh_normal has it
    const Vec3 normal = vec3_scale(1.0 / vec3_norm(n), n);
    const double fall = vec3_dot(normal, way->way);
    if (fall == 0.0 || (!is_two_sided && fall > 0.0)) {
        return;
    }
    const double entry = vec3_dot(normal, a) / fall;
    if (entry >= 0.0 && entry <= 1.0 &&
        (entry < hit->fraction || (entry == hit->fraction && triangle < hit->triangle))) {
        hit->fraction = entry;
        hit->triangle = triangle;
    }
}

// ---- height fields

typedef struct GridDraft {
    uint64_t *joined;
    uint32_t *joined_before, *joined_face;
    GridBlock *level[GRID_LEVELS_MAX];
} GridDraft;

// Lays out what a grid keeps, of so many triangles that are of another's face; with no memory it
// only counts. And fills it, with the face of each triangle.
void grid_lay_out(Grid *grid, GridDraft *draft, size_t joined_count, Block *block);
void grid_fill(const Grid *grid, GridDraft *draft, const uint32_t *face);

// As mesh_near and mesh_enters ask.
typedef struct GridNear {
    Vec3 low, high;
    uint64_t after;
    bool is_first;
    MeshKeys *keys;
} GridNear;
void grid_near(const Grid *grid, const GridNear *near);
void grid_enters(const Grid *grid, const MeshWay *way, MeshHit *hit);
