// SPDX-License-Identifier: MIT
// Where two facets lie over each other: the points that bear a body on another. Discs are circles:
// a cap bears at places of its rim, at its lowest first, and where a face's edges cut it.
#pragma once

#include "collide/convex.h"
#include "collide/narrow.h"

enum { MEET_POINT_MAX = 2 * HULL_VERTICES_MAX + 8 }; // a cap on a hull's face; boxes need some ten

// A label from here on: + 2 * an edge of the polygon + (0: where it begins or comes in, 1: where it
// goes out). Below: + 0, 1 of a line's ends, then a rim's.
enum { MEET_END = 34, MEET_EDGE = 64 };

typedef struct MeetPoint {
    Vec3 position;  // on the incident facet
    double gap;     // above the reference [m]
    uint32_t label; // one of a kind; below 512 but for hulls, MEET_EDGE and above
    bool is_corner; // of the polygon, where the edge of its label begins; an end of the line
} MeetPoint;

typedef struct MeetPoints {
    uint32_t count;
    MeetPoint point[MEET_POINT_MAX];
} MeetPoints;

// The facets of a reference, a polygon or a disc, and of what lies on it, along the normal of the
// two bodies, from the reference to the other. `slop` is how far outside a facet counts as on it
// [m].
void facet_meet(const Facet *reference, const Facet *incident, Vec3 normal, double slop,
                MeetPoints *points);

// How far a point is outside a polygon or a disc, seen along n [m].
double facet_outside(const Facet *facet, Vec3 n, Vec3 point);

// Of two lines nearly side by side, in what both have: the two ends. None where one of them has
// more than `aside_max` beside the normal to the other [m].
void facet_meet_lines(const Facet *first, const Facet *second, Vec3 normal, double aside_max,
                      MeetPoints *points);

// Drops what is higher than `reach`, then keeps the lowest point and three that span much with it.
// Points within `tie` of the lowest count as equally low.
void facet_reduce(MeetPoints *points, Vec3 normal, double reach, double tie);
