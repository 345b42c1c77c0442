// SPDX-License-Identifier: MIT
// Convex hulls in their built form: points, and faces that name them, flat and counter-clockwise
// seen from outside. A form comes from outside, from a snapshot or a log, and is judged in bounded
// time; what collisions and masses ask of it is derived once. Nothing here builds a hull of points.
//
// Lengths are in m and in the hull's own frame, whose origin may be anywhere, also outside. What is
// near enough is told by the hull's size, the diagonal of its bounding box:
//
//     1e-9    how far points may be in front of a face, or a face's corners off its plane: what the
//             narrow phase takes for touching, and it is a million roundings
//     1e-6    of a face's longest edge: how high the face is over it at least, so that roundings
//             turn its normal by less than that. And how thick the hull is at least
//     1e-10   two faces with an edge in common whose corners are no farther off the other's plane
//             lie in one: they are to be given as one, or their edge would be felt
//
// Vertices, faces and edges have indices that stay: those of the form, and edges in the order in
// which the faces come to them. Read-only once derived; any number of threads.
#pragma once

#include "base/status.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HULL_VERTICES_MAX = 256,
    HULL_FACES_MAX = 2 * HULL_VERTICES_MAX - 4,
    HULL_EDGES_MAX = 3 * HULL_VERTICES_MAX - 6,
    HULL_CORNERS_MAX = 2 * HULL_EDGES_MAX, // of all faces
};
#define HULL_SIZE_MIN       1e-6 // its longest side along an axis [m]
#define HULL_COORDINATE_MAX 1e6  // [m]

// As it is given and kept; borrowed.
typedef struct HullForm {
    const Vec3 *point;
    uint32_t point_count;
    // face f has the corners corner[face_first[f]] up to corner[face_first[f + 1]], which name
    // points: one more number than faces, from 0 to how many corners there are
    const uint32_t *face_first;
    uint32_t face_count;
    const uint32_t *corner;
} HullForm;

// What errors call the two columns: "hull.points", "hull.faces".
typedef struct HullNames {
    const char *points;
    const char *faces;
} HullNames;

typedef struct HullEdge {
    uint16_t vertex[2]; // from the first to the second in the first face
    uint16_t face[2];
} HullEdge;

// Of uniform density.
typedef struct HullMass {
    double volume; // [m^3]
    Vec3 center;
    Sym3 gyration; // inertia per mass about the centre, in the hull's axes [m^2]
} HullMass;

typedef struct Hull {
    uint32_t vertex_count, face_count, edge_count;
    const Vec3 *point;
    const uint32_t *face_first;
    const uint32_t *corner;
    const uint16_t *corner_edge; // the edge that goes from that corner to the face's next
    const Vec3 *normal;          // of each face: unit, outwards
    const double *offset;        // of its plane: no point is farther along the normal
    const HullEdge *edge;
    const uint32_t *neighbour_first; // of each vertex, in `neighbour`; one more than vertices
    const uint16_t *neighbour;       // along an edge: counter-clockwise seen from outside
    const uint16_t *neighbour_edge;  // that edge
    const uint16_t *neighbour_face;  // the face between that and the neighbour that comes next
    uint16_t start[8];               // where a search begins, by the signs of the direction
    Vec3 low, high;                  // of the bounding box
    HullMass mass;
    double mass_reach;   // of the point farthest from that centre [m]
    double inner_radius; // of a ball about the centre of mass that is inside, a large one [m]
    double reach;        // of the point farthest from the frame's origin [m]
} Hull;

// Judges a form, in bounded time whatever is in it: a millisecond at most. `corner_count` is how
// many `corner` holds; `face_first` holds one number more than there are faces. Nothing else of it
// is believed.
Status hull_check(const HullForm *form, size_t corner_count, const HullNames *names, Error *error);

// What a hull of a form that was judged takes; it begins with the Hull.
size_t hull_bytes(const HullForm *form);

// Derives it there, of a form that was judged. `memory` is aligned as malloc does. Nothing of the
// form is borrowed on.
const Hull *hull_open(const HullForm *form, void *memory);

// The form again, of memory of the hull's.
static inline HullForm hull_form(const Hull *hull) {
    return (HullForm){.point = hull->point,
                      .point_count = hull->vertex_count,
                      .face_first = hull->face_first,
                      .face_count = hull->face_count,
                      .corner = hull->corner};
}

// The vertex farthest along a direction, which need not be unit. Of those that are as far the same
// one always.
uint32_t hull_support(const Hull *hull, Vec3 direction);

// The face at a vertex that looks most along a direction: of several the first of its round.
uint32_t hull_face_at(const Hull *hull, uint32_t vertex, Vec3 direction);

// The edge of two vertices; HULL_EDGES_MAX: none.
uint32_t hull_edge_between(const Hull *hull, uint32_t a, uint32_t b);

// The box around it in other axes, which `rotation` turns its own into.
void hull_bounds(const Hull *hull, Mat3 rotation, Vec3 *low, Vec3 *high);

// How far its farthest point is from a point.
double hull_reach(const Hull *hull, Vec3 from);

// Where the way from a point, in the hull's frame, comes into it: the fraction of the way, in
// [0, 1], and the face. false: it does not, or begins inside.
bool hull_enters(const Hull *hull, Vec3 origin, Vec3 way, double *fraction, uint32_t *face);

// How far a point is in front of the face that it is farthest in front of; negative inside.
double hull_outside(const Hull *hull, Vec3 point);
