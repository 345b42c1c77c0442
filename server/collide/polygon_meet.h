// SPDX-License-Identifier: MIT
// Where two faces with corners lie over each other: the one cut by the other (Sutherland and
// Hodgman 1974), and the points of that, or the four that hold a body best. Any number of corners.
#pragma once

#include "collide/convex.h"
#include "collide/narrow.h"

// What of a face a point is: places around the face. Two points of one meeting differ in it.
typedef enum PolygonPart {
    POLYGON_FACE = 0,
    POLYGON_EDGE = 1 << 16,   // + corner that it begins at
    POLYGON_CORNER = 2 << 16, // + corner
} PolygonPart;

typedef struct PolygonPoint {
    Vec3 position;    // on the face that lies on the other
    double gap;       // above that [m]
    uint32_t part[2]; // of the face that bears, of the one that lies on it
} PolygonPoint;

typedef struct PolygonPoints {
    double lowest; // of all, also of those that are not kept; HUGE_VAL: there are none
    uint32_t count;
    PolygonPoint point[MANIFOLD_POINT_MAX];
} PolygonPoints;

typedef struct PolygonLimits {
    double slop;  // how far out a corner of the lying face may be and count as in [m]
    double reach; // what is higher is dropped [m]
    double tie; // points that are no higher than the lowest by this are as low [m]; above 0, as of
                // faces that rest on each other: up to eight points all stay (clip.h)
} PolygonLimits;

// `up` is the normal of the two bodies, unit, from the bearing face to the other. A bearing face
// without corners is all of its plane.
void polygon_meet(const Facet *bearing, const Facet *lying, Vec3 up, const PolygonLimits *limits,
                  PolygonPoints *points);

// What of a hull's or a box's face such a part is, as convex.h has features.
uint32_t polygon_feature(const Facet *facet, uint32_t part);
