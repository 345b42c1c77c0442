// SPDX-License-Identifier: MIT
// What kinds of primitives there are, and all that is particular to one: a row each, which checks,
// masses, both phases of collision, scenes and messages read. A new kind is a line of
// PRIMITIVE_MAP, a row in primitive.c, a field of that name in ScenePrimitive of the proto, and its
// pairs in collide/narrow.c.
#pragma once

#include "base/vec.h"
#include "geometry/geometry.h"

#include <stdbool.h>
#include <stdint.h>

// The number in snapshots, in inputs and on the wire is the place in this list. The lower name is
// the scene's key.
#define PRIMITIVE_MAP(X)                                                                           \
    X(SPHERE, sphere)     /* size.x: radius */                                                     \
    X(BOX, box)           /* size: half extents */                                                 \
    X(PLANE, plane)       /* half-space below local z = 0; on static bodies only */                \
    X(CAPSULE, capsule)   /* size.x: radius; size.y: half length of its axis, which is local z */  \
    X(CYLINDER, cylinder) /* as a capsule, without its ends */                                     \
    X(HULL, hull)         /* a geometry's convex polyhedron */                                     \
    X(MESH, mesh)         /* a geometry's triangles; on bodies that are not dynamic */             \
    X(HEIGHT_FIELD, height_field) /* as a mesh; solid below its heights */

#define X(upper, lower) PRIMITIVE_##upper,
typedef enum PrimitiveKind { PRIMITIVE_MAP(X) PRIMITIVE_COUNT } PrimitiveKind;
#undef X

typedef struct PrimitiveSize {
    const char *name; // of the field in its scene message
    int range;        // RangeKind
} PrimitiveSize;

enum { FOUNDATION_CELLS_MAX = 16384, FOUNDATION_FACE_COUNT = 6 };

// Springs and dampers on a face of a box, each in the middle of its cell, that bear it on planes
// and on boxes of static bodies in the place of its corners.
typedef struct Foundation {
    uint32_t face;     // 0: none; 1 + 2 axis, or, of the negative side, 2 + 2 axis
    uint32_t cells[2]; // along the two axes that follow the face's: y z, z x, x y
    double modulus;    // [Pa]
    double depth;      // [m]
    double damping;    // of each cell [N s/m]
} Foundation;

typedef struct Primitive {
    PrimitiveKind kind;
    uint32_t material; // index in its world
    Vec3 size;         // [m]
    Pose local;        // in the body; the orientation is a unit quaternion
    double density;    // [kg/m^3]
    Foundation foundation;
    uint32_t group;           // bits: the collision groups that it is in
    uint32_t mask;            // bits: those that it collides with
    uint32_t geometry_number; // 1 + its index in the world's geometries; 0: it wears none
    const Geometry *geometry; // held by the world
    // of patches 1, 2 … of a surface: 1 + a material's index; 0: `material`
    uint32_t patch_material[MESH_PATCHES_MAX - 1];
} Primitive;

// The material of one of its patches.
static inline uint32_t primitive_material(const Primitive *primitive, uint32_t patch) {
    const uint32_t own = patch == 0 ? 0 : primitive->patch_material[patch - 1];
    return own == 0 ? primitive->material : own - 1;
}

// Lengths are in m, and of the primitive about its own origin. Functions are NULL where a kind has
// no such thing: what is unbounded has no volume, extent, reach or thickness, and a surface has its
// bounds and its reach alone.
typedef struct PrimitiveRow {
    const char *name;                             // as on the wire: SPHERE
    const char *key;                              // of a scene: sphere
    uint32_t size_count;                          // how many of the three sizes count
    PrimitiveSize size[3];                        // what each of them is
    bool is_list;                                 // they are one list there, called as the first
    uint32_t geometry;                            // GeometryKind that it wears; 0: none
    double (*volume)(const Primitive *primitive); // [m^3]
    Vec3 (*center)(const Primitive *primitive);   // of mass; NULL: the origin
    Sym3 (*gyration)(const Primitive *primitive); // inertia per mass about the centre [m^2]
    // half the bounding box when turned; NULL: that is not about the origin, and `bounds` says it
    Vec3 (*extent)(const Primitive *primitive, Mat3 rotation);
    void (*bounds)(const Primitive *primitive, Mat3 rotation, Vec3 *low, Vec3 *high);
    double (*reach)(const Primitive *primitive);     // of the farthest point
    double (*thickness)(const Primitive *primitive); // radius of the largest ball inside
    double (*length)(const Primitive *primitive); // half of the longest way through, along its axes
    double (*face)(const Primitive *primitive);   // half of how far it goes on across its contacts
    // how far the points are that its turning moves: not those of a ball
    double (*arm)(const Primitive *primitive);
    // whether a point is in it, or farther out than `slack` from no face. NULL: it has no faces
    bool (*covers)(const Primitive *primitive, Vec3 point, double slack);
    bool has_seams; // its flat faces may go on in those of others (collide/seam.h)
} PrimitiveRow;

extern const PrimitiveRow primitive_rows[PRIMITIVE_COUNT];

static inline bool primitive_is_unbounded(PrimitiveKind kind) {
    return primitive_rows[kind].reach == NULL;
}

// Triangles, which have no inside to weigh.
static inline bool primitive_is_surface(PrimitiveKind kind) {
    return primitive_rows[kind].geometry == GEOMETRY_MESH ||
           primitive_rows[kind].geometry == GEOMETRY_HEIGHT_FIELD;
}
