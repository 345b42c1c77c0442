// SPDX-License-Identifier: MIT
// Seams: where solids lie side by side, as tiles of a floor do, the faces between them are not
// surface. A box that slides over the seam would be stopped by the next tile's side, a ball would
// hop over its edge; but neither can be reached, for the tile at hand is in the way.
//
// Such a face is hidden from the other primitive of a contact: it can neither be touched itself nor
// lean a contact at its edge towards itself. Whether it is hidden is known in two steps:
//
//     covered    at every point of the contact another solid lies before it
//     no lip     along the plane in which that solid holds the other primitive off, the face does
//                not rise above that solid there: what follows the solid's surface clears the face
//
// In a bond of bricks it takes two solids to cover a third one's face: each point may have a cover
// of its own. Between the points nothing is asked. Both primitives are convex: where the other one
// is held off at two points, all that is between these is over the line from one to the other, and
// the face's rim is as straight; and what hangs down between them would be a point of the contact
// itself, as its deepest.
//
// Lips of no more than seam_step are none: they are mounted, and the overlap that this makes is
// removed as every other. Without the second step the floor of a room would be hidden by its wall
// from a body that flies into the corner.
//
// A box whose faces are hidden goes on behind them (seam_extend). A hull or a surface cannot: what
// it would do by a hidden face it does not do at all, as the solid at hand holds the other one.
// Pure.
#pragma once

#include "collide/narrow.h"

// The height of a lip that is mounted, between primitives of which the smaller has this size [m]:
// 1e-3 of its largest half edge or of its radius.
double seam_step(const Primitive *a, const Primitive *b);

// A point of a contact, on the surface of the box that is asked about, in the box's axes.
typedef struct SeamPoints {
    uint32_t count;
    Vec3 point[MANIFOLD_ROOM];
    Vec3 outward; // the contact's normal, out of the box
} SeamPoints;

// Bodies that touch over an area, none of which another solid can be in: the contact of all that
// rests, and no seam's.
bool seam_is_none(const Manifold *manifold, double step);

// Those of a box (or of anything: none) that is side 0 (a) or 1 (b) of the manifold, at its pose.
SeamPoints seam_points(const Manifold *manifold, const Pose *pose, int side);

enum { SEAM_FACES_MAX = 8 };

// A face of a solid, in its axes. Of a box its number is 2 axis + (1: the positive side). Of a
// surface it is all triangles of one face around a triangle, of which it has one's number, or,
// where that face ends in nothing, its edges there in one direction, as if a side went down from
// them.
typedef struct SeamFace {
    uint32_t number;
    Vec3 normal;     // outwards
    uint32_t around; // of a surface: the triangle
    bool is_rim;     // of a surface: edges
} SeamFace;

// Faces that the normal leans towards and all the points lie on, the first of them; how many.
// `step` is seam_step's.
uint32_t seam_faces(const Primitive *solid, const SeamPoints *points, double step,
                    SeamFace face[SEAM_FACES_MAX]);

// The same of a surface, for a contact on that side of one of its triangles: faces around it.
uint32_t seam_surface_faces(const Mesh *mesh, uint32_t triangle, int side, const SeamPoints *points,
                            double step, SeamFace face[SEAM_FACES_MAX]);

// Whether all the points lie within so much of a triangle's rim, beyond which the surface falls
// away, or ends.
bool seam_surface_is_rim(const Mesh *mesh, uint32_t triangle, int side, const SeamPoints *points,
                         double depth);

// The triangles of a surface that a place, in its frame, is on or next to, or under by no more than
// a depth, or, where it is solid, by any: one after the other, of each face the first.
enum { SEAM_NEAR_MAX = 1024 }; // triangles that are looked at between two looks at the tree

typedef struct SeamSearch {
    const Mesh *mesh;
    Vec3 place;
    double step, depth;
    uint32_t face; // that was found last; MESH_NONE: none yet
    uint32_t next, count;
    bool is_over; // there are no more than those
    uint64_t key[SEAM_NEAR_MAX];
} SeamSearch;

void seam_search_begin(SeamSearch *search, const Mesh *mesh, Vec3 place, double step, double depth);

bool seam_search_next(SeamSearch *search, uint32_t *triangle);

// false: no search at a place between the two corners finds anything.
bool seam_search_finds(const Mesh *mesh, Vec3 low, Vec3 high, double depth);

// Whether all the points lie on the box itself, and none beyond a face of it (seam_extend).
bool seam_is_on(const Primitive *box, const SeamPoints *points, double step);

// The place before a face of that normal, next to a point on it, in the solid's axes.
Vec3 seam_before(const SeamPoints *points, uint32_t i, Vec3 normal, double step);

// At which of the places, in the world, the solid is or is next to: 1 << place.
uint32_t seam_covers(const Primitive *solid, const Pose *pose, const Vec3 *place, uint32_t count,
                     double step);

// How far a face rises above a plane, both in the solid's axes, over the given point of the face
// [m]. Along a way that the plane is hardly inclined to, only near the point: the cover's own plane
// may lean a little towards a seam of its own, and a long face would seem to rise at its far end.
double seam_rise(const Primitive *solid, const SeamFace *face, Vec3 point, Vec3 plane_normal,
                 Vec3 plane_point, double step);

// How much higher than the point a corner lies over such a plane, as far as that goes on [m].
double seam_corner_rise(Vec3 corner, Vec3 point, Vec3 plane_normal, double step);

// The most of the corners of a surface's face.
double seam_surface_rise(const Mesh *mesh, const SeamFace *face, Vec3 point, Vec3 plane_normal,
                         double step);

// A box that goes on behind its hidden faces by a length, as if the neighbours were part of it:
// nothing is near to those faces then, and all else is where it was. `faces`: bits, 1 << number.
void seam_extend(uint32_t faces, double length, Primitive *box, Pose *pose);
