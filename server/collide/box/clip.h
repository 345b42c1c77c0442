// SPDX-License-Identifier: MIT
// A quadrilateral cut by a rectangle, and the resulting points, or four of them.
// Coordinates: x and y in the rectangle's plane, from its centre; z the height above it.
#pragma once

#include "base/vec.h"

#include <stdint.h>

enum { CLIP_POINT_MAX = 8 }; // four corners, and one more for each side that cuts

typedef struct ClipPoint {
    Vec3 position;
    uint32_t feature; // below 128, one of a kind: a vertex as given, or an edge cut by a side
    uint32_t edge;    // label of the edge that leaves the point: 0 .. 3 as given, 4 .. 7 a side
} ClipPoint;

typedef struct ClipPolygon {
    uint32_t count;
    ClipPoint point[CLIP_POINT_MAX]; // in order around the polygon
} ClipPolygon;

// Cuts the polygon's four points, whose features are below 8 and whose edges are 0 .. 3, by |x| <=
// half_x and |y| <= half_y. A vertex that lies outside by no more than `slop` stays as it is, so
// that rounding does not make other features of aligned edges.
void clip_rectangle(ClipPolygon *polygon, double half_x, double half_y, double slop);

// Drops what is higher than `reach`.
void clip_drop_high(ClipPolygon *polygon, double reach);

// Keeps the lowest point and the three others that span the largest area with it. Not for faces
// that rest on each other: there the lowest changes with the noise, and the four leave out up to a
// third of the area, where a body's weight may stand.
void clip_reduce(ClipPolygon *polygon);
