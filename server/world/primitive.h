// SPDX-License-Identifier: MIT
// What kinds of primitives there are, and all that is particular to one: a row each, which checks,
// masses, both phases of collision, scenes and messages read. A new kind is a line of
// PRIMITIVE_MAP, a row in primitive.c, a field of that name in ScenePrimitive of the proto, and its
// pairs in collide/narrow.c.
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

// The number in snapshots, in inputs and on the wire is the place in this list. The lower name is
// the scene's key.
#define PRIMITIVE_MAP(X)                                                                           \
    X(SPHERE, sphere)     /* size.x: radius */                                                     \
    X(BOX, box)           /* size: half extents */                                                 \
    X(PLANE, plane)       /* half-space below local z = 0; on static bodies only */                \
    X(CAPSULE, capsule)   /* size.x: radius; size.y: half length of its axis, which is local z */  \
    X(CYLINDER, cylinder) /* as a capsule, without its ends */

#define X(upper, lower) PRIMITIVE_##upper,
typedef enum PrimitiveKind { PRIMITIVE_MAP(X) PRIMITIVE_COUNT } PrimitiveKind;
#undef X

typedef struct PrimitiveSize {
    const char *name; // of the field in its scene message
    int range;        // RangeKind
} PrimitiveSize;

// Lengths are in m, and of the primitive about its own origin. Functions are NULL where a kind has
// no such thing; what has no volume is unbounded, and has no extent, reach or thickness either.
typedef struct PrimitiveRow {
    const char *name;                         // as on the wire: SPHERE
    const char *key;                          // of a scene: sphere
    uint32_t size_count;                      // how many of the three sizes count
    PrimitiveSize size[3];                    // what each of them is
    bool is_list;                             // they are one list there, called as the first
    double (*volume)(Vec3 size);              // [m^3]
    Vec3 (*gyration)(Vec3 size);              // principal inertia per mass about the centre [m^2]
    Vec3 (*extent)(Vec3 size, Mat3 rotation); // half the bounding box when turned
    double (*reach)(Vec3 size);               // of the farthest point
    double (*thickness)(Vec3 size);           // radius of the largest ball inside
    double (*length)(Vec3 size);              // half of the longest way through it, along its axes
    double (*face)(Vec3 size);                // half of how far it goes on across its contacts
    // how far the points are that its turning moves: not those of a ball
    double (*arm)(Vec3 size);
    // whether a point is in it, or farther out than `slack` from no face. NULL: it has no faces
    bool (*covers)(Vec3 size, Vec3 point, double slack);
    bool has_seams; // its flat faces may go on in those of others (collide/seam.h)
} PrimitiveRow;

extern const PrimitiveRow primitive_rows[PRIMITIVE_COUNT];

static inline bool primitive_is_unbounded(PrimitiveKind kind) {
    return primitive_rows[kind].volume == NULL;
}
