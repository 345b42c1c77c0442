// SPDX-License-Identifier: MIT
// Surfaces of triangles: what stands still for others to move on. A form comes from outside, from a
// snapshot or a log, and is judged; who is whose neighbour, which triangles lie in one plane and a
// tree of boxes over them are derived once. A height field is such a surface too, made of its
// heights (geometry/grid.h).
//
// A triangle looks to where its corners go counter-clockwise. One-sided, it pushes to that side
// alone, and whoever has its middle behind it is not there to be pushed; two-sided, to the side on
// which that middle is. Below a height field all is solid, to below its lowest point by its size:
// it pushes up whatever has its middle in it.
//
// Lengths are in m and in the mesh's own frame. What is told by its size, the diagonal of its
// bounding box, or by an edge:
//
//     1e-6    of a triangle's longest edge: how high it is over that at least, so that roundings
//             turn its normal by less than that
//     1e-10   of the size, and a sine of 1e-8: triangles that hang together, no corner of which is
//             farther off the plane of the first, nor turned by more, are one face: who slides
//             across the edges between them feels none
//
// Triangles are of patches, which wear materials of their own (world/primitive.h); a face may have
// several.
//
// Points at the same place are one, under the number of the first of them. Read-only once derived;
// any number of threads.
#pragma once

#include "base/status.h"
#include "base/vec.h"
#include "geometry/grid.h"
#include "geometry/hull.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MESH_POINTS_MAX = 1 << 20,
    MESH_TRIANGLES_MAX = 1 << 21,
    HEIGHTS_SIDE_MIN = 2, // columns, and rows
    MESH_RING_MAX = 512,  // triangles at a point
    MESH_LEAF_MAX = 4,
    MESH_PATCHES_MAX = 8, // numbered from 0
};
#define MESH_NONE           UINT32_MAX
#define MESH_SIZE_MIN       1e-6 // its longest side along an axis [m]
#define MESH_COORDINATE_MAX 1e6  // [m]

// As it is given and kept; borrowed.
typedef struct MeshForm {
    const Vec3 *point;
    uint32_t point_count;
    const uint32_t *corner; // three of each triangle, which name points
    uint32_t triangle_count;
    bool is_two_sided;
    const uint8_t *patch; // of each triangle; NULL: all are of patch 0
} MeshForm;

// Heights over a grid in x and y, whose middle is the origin: row after row, in each along x. Each
// of its cells is two triangles, which have the diagonal from the lowest corner in common.
typedef struct HeightForm {
    uint32_t columns, rows;
    double spacing[2]; // along x, along y [m]
    const double *height;
    const uint8_t *patch; // of each cell, row after row; NULL: all are of patch 0
} HeightForm;

// What errors call the columns: "mesh.points", "mesh.triangles", "mesh.patches"; of a height field
// "…heights", "…spacing" and "…patches".
typedef struct MeshNames {
    const char *points;
    const char *triangles;
    const char *patches;
} MeshNames;

// Boxes in preorder: on to the next where the box is met, to `skip` where it is not.
typedef struct MeshNode {
    float low[3], high[3]; // rounded outwards
    uint32_t skip;         // the next node that is not below this one
    uint32_t first;        // of a leaf, in `order`
    uint32_t count;        // triangles; 0: not a leaf
} MeshNode;

// What is in lists is of a mesh; of a height field it follows from its grid: the functions below
// ask either.
typedef struct Mesh {
    uint32_t point_count, triangle_count, node_count;
    bool is_two_sided, is_solid_below;
    Grid grid;
    const Vec3 *point;
    const uint32_t *corner;     // three of each triangle, of points that are one the first
    const uint32_t *beyond;     // the triangle beyond the edge from each corner to its next
    const uint32_t *face;       // of each triangle: the first of those that lie in one plane
    const uint32_t *ring_first; // of each point, in `ring`; one more than points
    const uint32_t *ring;       // triangles that have it as a corner
    const uint32_t *order;      // triangles as the leaves have them
    const MeshNode *node;
    const uint8_t *patch; // of each triangle, or of each two; NULL: all are of patch 0
    uint32_t patch_share; // how many triangles have one number there
    Vec3 low, high;       // of the bounding box
    double floor;         // how far down, in z, it is solid; where it is not low.z [m]
    double reach;         // of the point farthest from the frame's origin, of what is solid too [m]
} Mesh;

// Judges the numbers of a form. `corner` holds three numbers for each triangle; nothing else of it
// is believed.
Status mesh_check(const MeshForm *form, const MeshNames *names, Error *error);
Status mesh_check_heights(const HeightForm *form, const MeshNames *names, Error *error);

// What a mesh takes, which begins with the Mesh; and deriving it there, of numbers that were
// judged.
// `memory` is aligned as malloc does. Of the form its patches, of a height field its heights, are
// borrowed on. It may still be refused: for how its triangles hang together, or as memory ends for
// what deriving needs meanwhile.
size_t mesh_bytes(uint32_t point_count, uint32_t triangle_count);
Status mesh_open(const MeshForm *form, const MeshNames *names, void *memory, Error *error);
// Memory of its own, with how much it is.
Status mesh_make_heights(const HeightForm *form, const MeshNames *names, Mesh **mesh, size_t *bytes,
                         Error *error);

static inline uint32_t heights_points(const HeightForm *form) {
    return form->columns * form->rows;
}
static inline uint32_t heights_cells(const HeightForm *form) {
    return (form->columns - 1) * (form->rows - 1);
}
static inline uint32_t heights_triangles(const HeightForm *form) {
    return 2 * heights_cells(form);
}

static inline bool mesh_is_grid(const Mesh *mesh) {
    return mesh->grid.height != NULL;
}

static inline Vec3 mesh_point(const Mesh *mesh, uint32_t point) {
    if (mesh_is_grid(mesh)) {
        const uint32_t row = point / mesh->grid.columns;
        return grid_point(&mesh->grid, point - row * mesh->grid.columns, row);
    }
    return mesh->point[point];
}

// Which point a corner is: of points that are one the first.
static inline uint32_t mesh_corner_number(const Mesh *mesh, uint32_t triangle, uint32_t i) {
    return mesh_is_grid(mesh) ? grid_corner_number(&mesh->grid, triangle, i)
                              : mesh->corner[3 * (size_t)triangle + i];
}

static inline Vec3 mesh_corner(const Mesh *mesh, uint32_t triangle, uint32_t i) {
    return mesh_is_grid(mesh) ? grid_corner(&mesh->grid, triangle, i)
                              : mesh->point[mesh->corner[3 * (size_t)triangle + i]];
}

// The triangle beyond the edge from a corner to its next; MESH_NONE: there is none, or several.
static inline uint32_t mesh_beyond(const Mesh *mesh, uint32_t triangle, uint32_t i) {
    return mesh_is_grid(mesh) ? grid_beyond(&mesh->grid, triangle, i)
                              : mesh->beyond[3 * (size_t)triangle + i];
}

// The first of the triangles that lie in one plane with it, and hang together.
static inline uint32_t mesh_face(const Mesh *mesh, uint32_t triangle) {
    return mesh_is_grid(mesh) ? grid_face(&mesh->grid, triangle) : mesh->face[triangle];
}

// The triangles at a point, in their order, which may stand in `own`. Returns how many.
static inline uint32_t mesh_ring(const Mesh *mesh, uint32_t point, uint32_t own[GRID_RING_MAX],
                                 const uint32_t **ring) {
    if (mesh_is_grid(mesh)) {
        *ring = own;
        return grid_ring(&mesh->grid, point, own);
    }
    *ring = mesh->ring + mesh->ring_first[point];
    return mesh->ring_first[point + 1] - mesh->ring_first[point];
}

static inline uint32_t mesh_patch(const Mesh *mesh, uint32_t triangle) {
    return mesh->patch == NULL ? 0 : mesh->patch[triangle / mesh->patch_share];
}

// Unit, to where it looks.
Vec3 mesh_normal(const Mesh *mesh, uint32_t triangle);

// One number for the edge from a corner to its next, the same from both sides.
uint32_t mesh_edge(const Mesh *mesh, uint32_t triangle, uint32_t i);

// Whether the edge from a corner to its next is inside a face: nobody feels it.
static inline bool mesh_is_inner(const Mesh *mesh, uint32_t triangle, uint32_t i) {
    const uint32_t other = mesh_beyond(mesh, triangle, i);
    return other != MESH_NONE && mesh_face(mesh, other) == mesh_face(mesh, triangle);
}

// Triangles whose boxes meet one, in the mesh's frame: the `count_max` first of those that come
// after `after` in the order of faces, and in each of triangles; sorted so. The key is face << 32 |
// triangle. Returns how many.
uint32_t mesh_near(const Mesh *mesh, Vec3 low, Vec3 high, uint64_t after, bool is_first,
                   uint64_t *key, uint32_t count_max);

// Where the way from a point, in the mesh's frame, meets it first: the fraction of the way, in
// [0, 1], and the triangle. One-sided triangles are met from before alone.
bool mesh_enters(const Mesh *mesh, Vec3 origin, Vec3 way, double *fraction, uint32_t *triangle);

// A triangle as a hull of two faces, the first of which looks where the triangle does: what all
// that asks hulls asks of it too. It holds pointers into itself: not to be copied.
typedef struct MeshTriangle {
    Hull hull;
    Vec3 point[3], normal[2];
    double offset[2];
    HullEdge edge[3];
} MeshTriangle;

void mesh_read_triangle(const Mesh *mesh, uint32_t triangle, MeshTriangle *read);

// The sliver of a triangle at the edge from a corner to its next, which are its first two corners
// and its first edge: what is nearest of it is the edge's, whatever of the triangle is nearer.
void mesh_read_edge(const Mesh *mesh, uint32_t triangle, uint32_t i, MeshTriangle *read);
