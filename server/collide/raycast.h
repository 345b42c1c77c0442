// SPDX-License-Identifier: MIT
// What rays meet first in a world, as its bodies stand now. Nothing of the world is changed, and
// nothing that a step keeps is used: some rays look at every primitive, many build a tree of their
// own.
#pragma once

#include "base/arena.h"
#include "base/stop.h"
#include "collide/ray.h"
#include "world/world.h"

typedef struct RayHit {
    uint32_t body;      // its index; UINT32_MAX: it meets nothing, and the rest is zero
    uint32_t primitive; // its place in the body's shape
    double fraction;    // of the ray's way, in [0, 1]
    Vec3 point, normal; // world; the normal is unit, out of the surface
} RayHit;

// `hit` has room for `count`. Of two that are met at once the body with the lower index is told.
// ABORTED where `stop` (Nullable) asks for it, RESOURCE_EXHAUSTED where memory ends; `scratch` is
// as it was afterwards.
Status raycast_run(const World *world, const Ray *ray, size_t count, const Stop *stop,
                   Arena *scratch, RayHit *hit);
