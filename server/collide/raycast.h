// SPDX-License-Identifier: MIT
// What rays meet first in a world, as its bodies stand now. Nothing of the world is changed, and
// nothing that a step keeps is used: some rays look at every primitive, many build a tree of their
// own.
#pragma once

#include "base/arena.h"
#include "base/stop.h"
#include "collide/boxtree.h"
#include "collide/ray.h"
#include "world/world.h"

typedef struct RayHit {
    uint32_t body;      // its index; UINT32_MAX: it meets nothing, and the rest is zero
    uint32_t primitive; // its place in the body's shape
    double fraction;    // of the ray's way, in [0, 1]
    Vec3 point, normal; // world; the normal is unit, out of the surface
} RayHit;

// Rays through one world, until `raycast_end`; the world must not change meanwhile.
typedef struct RayCast {
    const World *world;
    struct RayPlaced *placed; // [count] of the scratch, bounded ones first; NULL: memory ended
    uint32_t bounded, count;
    BoxTree tree; // empty: all are looked at
    Arena *scratch;
    ArenaMark mark;
    size_t looks; // at boxes and primitives so far
} RayCast;

// For about so many rays. Where memory ends, or `stop` (Nullable) asks for it, they look at the
// world itself, which takes longer and says the same.
void raycast_begin(RayCast *cast, const World *world, size_t rays, const Stop *stop,
                   Arena *scratch);

// Of two that are met at once the body with the lower index is told.
void raycast_ray(RayCast *cast, const Ray *ray, RayHit *hit);

// `scratch` is as it was.
void raycast_end(RayCast *cast);

// All of them; `hit` has room for `count`. ABORTED where `stop` (Nullable) asks for it.
Status raycast_run(const World *world, const Ray *ray, size_t count, const Stop *stop,
                   Arena *scratch, RayHit *hit);
