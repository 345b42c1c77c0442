// SPDX-License-Identifier: MIT
#include "collide/narrow.h"

#include "base/assert.h"
#include "collide/pairs.h"

#include <stddef.h>

// the smaller kind first; the other half is reached by swapping
static NarrowProc *const table[PRIMITIVE_COUNT][PRIMITIVE_COUNT] = {
    [PRIMITIVE_SPHERE][PRIMITIVE_SPHERE] = sphere_sphere,
    [PRIMITIVE_SPHERE][PRIMITIVE_BOX] = sphere_box,
    [PRIMITIVE_SPHERE][PRIMITIVE_PLANE] = sphere_plane,
    [PRIMITIVE_BOX][PRIMITIVE_BOX] = box_box,
    [PRIMITIVE_BOX][PRIMITIVE_PLANE] = box_plane,
    [PRIMITIVE_SPHERE][PRIMITIVE_CAPSULE] = sphere_capsule,
    [PRIMITIVE_BOX][PRIMITIVE_CAPSULE] = box_capsule,
    [PRIMITIVE_PLANE][PRIMITIVE_CAPSULE] = plane_capsule,
    [PRIMITIVE_CAPSULE][PRIMITIVE_CAPSULE] = capsule_capsule,
};

bool narrow_has(PrimitiveKind a, PrimitiveKind b) {
    return table[a < b ? a : b][a < b ? b : a] != NULL;
}

void narrow_collide_at(const Primitive *a, const Pose *pose_a, const Primitive *b,
                       const Pose *pose_b, double reach, Manifold *manifold) {
    manifold->count = 0;
    bool is_swapped = a->kind > b->kind;
    NarrowProc *collide = is_swapped ? table[b->kind][a->kind] : table[a->kind][b->kind];
    if (collide == NULL) {
        return;
    }
    if (!is_swapped) {
        collide(a, pose_a, b, pose_b, reach, manifold);
        return;
    }
    collide(b, pose_b, a, pose_a, reach, manifold);
    if (manifold->count > 0) {
        manifold->normal = vec3_neg(manifold->normal);
    }
}
