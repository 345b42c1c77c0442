// SPDX-License-Identifier: MIT
// Bounded primitives as the general pairs see them (convex_pair.c): a convex core, and all that
// lies within a radius of it. A core can name its farthest point along a direction, and the facet
// that looks there most: what it rests on.
#pragma once

#include "collide/gjk.h"
#include "geometry/hull.h"
#include "world/shape.h"

enum { FACET_POINT_MAX = 4, CONVEX_NEIGHBOURS_MAX = 8 };

typedef enum ConvexKind {
    CONVEX_SPHERE,
    CONVEX_BOX,
    CONVEX_CAPSULE,
    CONVEX_CYLINDER,
    CONVEX_HULL,
} ConvexKind;

typedef struct Convex {
    ConvexKind kind;
    Vec3 center;   // of the core's own frame, from the pair's origin [m]
    Mat3 axes;     // the core's, in the world
    Vec3 half;     // of the core [m]: a box's half extents; else x: radius across, z: half length
    double radius; // around the core [m]
    Vec3 middle;   // a point inside, from the pair's origin [m]
    double size;   // of the farthest point from the middle [m]
    const Hull *hull; // borrowed; NULL: another kind
} Convex;

// `origin` is near the pair, so that bodies far from the world's origin lose nothing.
Convex convex_read(const Primitive *primitive, const Pose *pose, Vec3 origin);
Convex convex_of_hull(const Hull *hull, const Pose *pose, Vec3 origin);

// Of the core; a GjkSupport. Vertices of a box have a bit for each axis, those of a hull are its.
GjkPoint convex_support(const void *convex, Vec3 direction);

// The point of the body, surface and inside, that is nearest to another.
Vec3 convex_nearest(const Convex *convex, Vec3 point);

// A corner of a box or a hull, by its number.
Vec3 convex_corner(const Convex *convex, uint32_t vertex);

// The other end of the edges at a corner, those first that are most across a unit vector.
uint32_t convex_neighbours(const Convex *convex, uint32_t vertex, Vec3 direction,
                           uint32_t *neighbour, uint32_t count_max);

// What of a body touches, as long as that touches: of a hull its vertex, edge or face by index; of
// a box, a vertex as convex_support has it, its lower vertex << 2 | axis, 2 * axis + (1: the
// positive side); of what is round, whatever its pairs tell apart.
enum {
    CONVEX_VERTEX = 1 << 28,
    CONVEX_EDGE = 2 << 28,
    CONVEX_FACE = 3 << 28,
    CONVEX_ROUND = 4 << 28,
    CONVEX_KINDS = 7 << 28, // all bits of these
};

// The edge of two vertices; if it is none, the face that looks most along a unit vector.
uint32_t convex_feature_between(const Convex *convex, uint32_t a, uint32_t b, Vec3 direction);

// A core whose surface is flat between corners.
static inline bool convex_has_corners(const Convex *convex) {
    return convex->kind == CONVEX_BOX || convex->kind == CONVEX_HULL;
}

typedef enum FacetKind {
    FACET_LINE,    // two points: the line of a round side, or an edge
    FACET_POLYGON, // corners, around the normal; none: all of the plane
    FACET_DISC,
} FacetKind;

// Part of a surface that can bear: flat, or a line along it.
typedef struct Facet {
    FacetKind kind;
    Vec3 normal; // unit, out of the body; of a line: the direction that was asked for
    Vec3 center; // on it
    uint32_t count;
    Vec3 point[FACET_POINT_MAX]; // but of a hull's face: facet_point
    Vec3 x, y;                   // of a disc: unit vectors of the body in its plane
    double radius;               // of a disc [m]
    uint32_t number;             // on its body: below 8, but for a hull's
    const Convex *of;            // the hull of a face, borrowed; else NULL
} Facet;

// A corner, or an end.
static inline Vec3 facet_point(const Facet *facet, uint32_t i) {
    if (facet->of == NULL) {
        return facet->point[i];
    }
    const Hull *hull = facet->of->hull;
    return convex_corner(facet->of, hull->corner[hull->face_first[facet->number] + i]);
}

// The one that looks most along a unit vector, on the surface. Of a hull: of those at the vertex
// that is farthest there.
Facet convex_facet(const Convex *convex, Vec3 direction);

// What a corner of a polygon is, and the edge from it to the next, as features have it.
uint32_t facet_vertex(const Facet *facet, uint32_t i);
uint32_t facet_edge(const Facet *facet, uint32_t i);

// The line on which something can lie that comes along a unit vector: the side of a cylinder or a
// capsule that is across it, or an edge. false: a face, a rim or a corner looks there.
bool convex_line(const Convex *convex, Vec3 direction, Facet *line);

// sine of the angle below which a facet counts as across a direction
#define CONVEX_ACROSS 1.4e-3
