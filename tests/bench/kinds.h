// SPDX-License-Identifier: MIT
// One primitive of every kind, a quarter of a metre about its middle, and ground of each kind that
// there is, all level at z = 0; pairs of them that lie so far from each other, turned anyhow.
#pragma once

#include "bench/scene.h"

enum { KIND_SOLIDS = 5, KIND_GROUNDS = 3 };
extern const PrimitiveKind kind_solid[KIND_SOLIDS];
extern const PrimitiveKind kind_ground[KIND_GROUNDS];

// Ground that has an end reaches so far from its middle along x and y, in triangles of a cell of
// that side [m].
#define KIND_GROUND_HALF 17.0
#define KIND_GROUND_CELL 0.25

// The corners of the hull: an icosahedron's.
enum { KIND_HULL_POINTS = 12 };
extern Vec3 kind_hull_point[KIND_HULL_POINTS];

// As it lies about its own origin; valid as long as the program runs.
Primitive kind_primitive(PrimitiveKind kind);
Id kind_shape(Scene *scene, PrimitiveKind kind);

static inline bool kind_is_ground(PrimitiveKind kind) {
    return kind == PRIMITIVE_PLANE || primitive_is_surface(kind);
}

// Where the two of a pair are; a ground lies where it is made.
typedef struct KindPair {
    Pose a, b;
    Vec3 away; // from a to b, unit: b was moved along it until the gap was the wanted one
} KindPair;

// The same for the same seed. `gap` < 0: so deep in each other.
KindPair kind_pair(PrimitiveKind a, PrimitiveKind b, double gap, uint64_t *seed);
