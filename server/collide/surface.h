// SPDX-License-Identifier: MIT
// Where a convex primitive touches a surface (geometry/mesh.h). Triangle by triangle, each seen as
// a hull of two faces, and told what it really is to the other one:
//
//     a corner or an edge    if the plane of the contact leaves all triangles around it behind: a
//                            ridge or a peak. What rises over that plane is nearer, and touches
//                            itself
//     a face                 else, along the normal of all triangles that lie in one plane with it,
//                            at what of the other one is over the triangle. Edges between triangles
//                            of one face, and in a hollow, are nobody's: points on them are left
//                            out
//
// So a floor of ten thousand triangles is a plane to all that lies, slides or rolls on it.
// Pure. Normals are from the surface to the other one.
#pragma once

#include "collide/convex_pair.h"
#include "collide/mover.h"
#include "geometry/mesh.h"

enum { SURFACE_POINT_MAX = 48 }; // of a face, before they are reduced to a manifold's

typedef struct Surface {
    const Mesh *mesh;
    const Primitive *other; // bounded, with a volume
} Surface;

typedef struct SurfacePose {
    Pose mesh, other;
} SurfacePose;

// On which side of a face, seen from its first triangle, the middle of the other one is: 1 or -1,
// as its normal has it; 0: it is behind what has one side, and not there to be pushed. `is_below`:
// the middle is in what is solid.
int surface_side(const Surface *surface, const SurfacePose *pose, uint32_t face, bool *is_below);

// The two as convex bodies, wherever they touch: what is nearest. No points: farther apart than
// `reach`.
void surface_meet(const Surface *surface, const SurfacePose *pose, const MeshTriangle *read,
                  double reach, ConvexManifold *manifold);

// The one point of it that is nearest.
void surface_meet_nearest(const Surface *surface, const SurfacePose *pose, const MeshTriangle *read,
                          ConvexManifold *manifold);

// A triangle, or its sliver at the edge from a corner to its next, as it was met.
typedef struct SurfacePiece {
    uint32_t triangle;
    uint32_t edge; // SURFACE_WHOLE: all of it
    const MeshTriangle *read;
} SurfacePiece;
enum { SURFACE_WHOLE = 3 };

// ---- ridges and peaks (surface_ridge.c)

// Whether that is a ridge's or a peak's, and then its points alone, the first feature of each as
// the mesh has it; `taken`: which corners of the triangle it has, 1 << corner. false: it is the
// face's to say, or, of a sliver, nobody's.
bool surface_is_ridge(const Surface *surface, const SurfacePose *pose, SurfacePiece piece, int side,
                      ConvexManifold *manifold, uint32_t *taken);

// The patch of the ridge or peak at those corners of a triangle: of those around it the lowest.
uint32_t surface_ridge_patch(const Mesh *mesh, uint32_t triangle, uint32_t taken);

// Of the triangles around a point of the mesh the lowest patch.
uint32_t surface_patch_around(const Mesh *mesh, uint32_t point);

// Whether the surface falls away beyond the edge from a corner to its next, seen from that side, or
// ends there: it may be a ridge.
bool surface_falls(const Mesh *mesh, uint32_t triangle, uint32_t i, int side);

// Whether a contact on a ridge, of that normal, is so nearly the face's that what leans on the
// ridge soon lies on the face: what is over the rest of it is held then, too.
bool surface_is_beside(const Mesh *mesh, const SurfacePose *pose, uint32_t triangle, int side,
                       Vec3 normal);

// Whether a contact of that normal is none of that side of a triangle of a mesh with two sides: it
// leans on a corner or an edge, and leaves by the other side. What lies on a face, and comes over
// its rim, has its middle behind what falls away there, and is in front of it all the same.
bool surface_is_turned_away(const Mesh *mesh, const SurfacePose *pose, uint32_t triangle, int side,
                            Vec3 normal);

// Points of a face, no two with the same features.
typedef struct SurfacePoints {
    Vec3 normal;
    uint32_t count;
    ConvexPoint point[SURFACE_POINT_MAX];
    uint8_t patch[SURFACE_POINT_MAX]; // of the triangle that it is over; of several the lowest
} SurfacePoints;

// The normal of a face on a side, in the world.
Vec3 surface_normal(const Surface *surface, const SurfacePose *pose, uint32_t face, int side);

// Corners of a triangle, 1 << corner. What is on the edge between two of the first is a ridge's of
// its own; what is at one of the second is a ridge's of any triangle around.
typedef struct SurfaceTaken {
    uint32_t edge, corner;
} SurfaceTaken;

// Adds what of the other one is over a triangle of the face, with gaps up to `reach`, but for what
// is `taken`.
void surface_add_face(const Surface *surface, const SurfacePose *pose, uint32_t triangle,
                      const MeshTriangle *read, int side, SurfaceTaken taken, double reach,
                      SurfacePoints *points);

// Those that bear: at most a manifold's, the lowest first and then those farthest from all kept.
void surface_reduce(SurfacePoints *points);

// ---- ways (surface_path.c)

// What moves far in a step reaches as far all around, and asks for all triangles there, though it
// comes near few of them. Whatever it is to a triangle on its way (surface.h), the place x where it
// is touched lies over a place p of that triangle, x = p + s n, along a normal n of the contact:
//
//     a face     n is the triangle's: x is between the planes across it at its edges, or as far
//                beyond them as a face goes on in a hollow
//     a ridge    n stands on an edge, and leaves behind the triangles on both sides of it
//     a peak     n leaves all triangles around a corner behind
//
// A ridge's and a peak's is on the triangle's side that is met. Each of these is some planes that x
// is behind. The way is that of a ball: its middle goes straight
// on, so that each plane leaves a stretch of it; where nothing is left of the way, nobody can be
// there at any time. Of the triangles that a way passes most are told so by a few planes, and need
// not be met.

// The way of a ball around the moving one, in the mesh's frame.
typedef struct SurfacePath {
    Vec3 from, way;
    double radius;
    double beyond; // [m]
} SurfacePath;

// false: nothing can be said so, of a surface that moves, or as the other one moves no farther than
// it is large.
bool surface_path_read(const Mover *surface, const Mover *other, const Approach *approach,
                       SurfacePath *path);

// false: none of the other's contacts on its way is of that side (1, -1) of the triangle.
bool surface_path_nears(const Mesh *mesh, const SurfacePath *path, uint32_t triangle, int side);
