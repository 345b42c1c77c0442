// SPDX-License-Identifier: MIT
// The directions along which two bodies with corners can be held apart the farthest, or leave each
// other the shortest way: normals of the faces of both, and normals of two edges whose arcs of
// directions cross on the sphere of all (Gregorius, "The separating axis test", 2013). All of them
// are asked: exact, however thin or deep; its time goes as the product of the faces and edges.
#pragma once

#include "collide/convex.h"

typedef struct ConvexAxis {
    Vec3 normal;           // unit, from the first to the second
    double separation;     // of the cores
    int face_of;           // 0, 1: the side whose face it is; -1: two edges
    uint32_t vertex[2][2]; // of the edges of each side, their ends
    Vec3 edge[2][2];       // where those are
} ConvexAxis;

// Cores, without the radius around them. One has corners; the other too, or it is a point or a
// segment.
ConvexAxis convex_axes_find(const Convex pair[2]);
