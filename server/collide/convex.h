// SPDX-License-Identifier: MIT
// Bounded primitives as the general pairs see them (convex_pair.c): a convex core, and all that
// lies within a radius of it. A core can name its farthest point along a direction, and the facet
// that looks there most: what it rests on.
#pragma once

#include "collide/gjk.h"
#include "world/shape.h"

enum { FACET_POINT_MAX = 4 };

typedef struct Convex {
    PrimitiveKind kind;
    Vec3 center;   // from the pair's origin [m]
    Mat3 axes;     // the core's, in the world
    Vec3 half;     // of the core [m]: a box's half extents; else x: radius across, z: half length
    double radius; // around the core [m]
    double size;   // of the farthest point from the centre [m]
} Convex;

// `origin` is near the pair, so that bodies far from the world's origin lose nothing.
Convex convex_read(const Primitive *primitive, const Pose *pose, Vec3 origin);

// Of the core; a GjkSupport. Vertices of a box have a bit for each axis.
GjkPoint convex_support(const void *convex, Vec3 direction);

// The point of the body, surface and inside, that is nearest to another.
Vec3 convex_nearest(const Convex *convex, Vec3 point);

// A corner of a box, by its number.
Vec3 convex_corner(const Convex *convex, uint32_t vertex);

// A core whose surface is flat between corners.
static inline bool convex_has_corners(const Convex *convex) {
    return convex->kind == PRIMITIVE_BOX;
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
    Vec3 point[FACET_POINT_MAX];
    Vec3 x, y;       // of a disc: unit vectors of the body in its plane
    double radius;   // of a disc [m]
    uint32_t number; // on its body, below 8
} Facet;

// The one that looks most along a unit vector, on the surface.
Facet convex_facet(const Convex *convex, Vec3 direction);

// The line on which something can lie that comes along a unit vector: the side of a cylinder or a
// capsule that is across it, or an edge. false: a face, a rim or a corner looks there.
bool convex_line(const Convex *convex, Vec3 direction, Facet *line);

// sine of the angle below which a facet counts as across a direction
#define CONVEX_ACROSS 1.4e-3
