// SPDX-License-Identifier: MIT
#include "collide/narrow.h"

#include "base/assert.h"
#include "collide/narrow_parts.h"

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
    [PRIMITIVE_SPHERE][PRIMITIVE_CYLINDER] = sphere_cylinder,
    [PRIMITIVE_BOX][PRIMITIVE_CYLINDER] = convex_convex,
    [PRIMITIVE_PLANE][PRIMITIVE_CYLINDER] = plane_convex,
    [PRIMITIVE_CAPSULE][PRIMITIVE_CYLINDER] = convex_convex,
    [PRIMITIVE_CYLINDER][PRIMITIVE_CYLINDER] = convex_convex,
    [PRIMITIVE_SPHERE][PRIMITIVE_HULL] = convex_convex,
    [PRIMITIVE_BOX][PRIMITIVE_HULL] = convex_convex,
    [PRIMITIVE_PLANE][PRIMITIVE_HULL] = plane_convex,
    [PRIMITIVE_CAPSULE][PRIMITIVE_HULL] = convex_convex,
    [PRIMITIVE_CYLINDER][PRIMITIVE_HULL] = convex_convex,
    [PRIMITIVE_HULL][PRIMITIVE_HULL] = convex_convex,
};

bool narrow_has(PrimitiveKind a, PrimitiveKind b) {
    ASSERT(a < PRIMITIVE_COUNT && b < PRIMITIVE_COUNT);
    return table[a < b ? a : b][a < b ? b : a] != NULL;
}

#ifdef MOREAU_VALIDATE
// What the header promises of a manifold, but for the rounding of a distance. Numbers that have
// left the doubles are a fault's, found where the step looks for it. Orientations are unit to 1e-9,
// of a body and of its primitive in it, and a normal that they turn to as much four times over.
static bool is_manifold(const Manifold *manifold, double farthest) {
    const double squared = vec3_dot(manifold->normal, manifold->normal);
    bool is_right = manifold->count <= MANIFOLD_POINT_MAX;
    is_right = is_right && (manifold->count == 0 || !(fabs(squared - 1.0) > 1e-8));
    for (uint32_t i = 0; is_right && i < manifold->count; i++) {
        is_right = !(manifold->point[i].gap > farthest);
        for (uint32_t k = 0; k < i; k++) {
            is_right = is_right && manifold->point[i].feature != manifold->point[k].feature;
        }
    }
    return is_right;
}

static double farthest_gap(const Primitive *a, const Pose *pose_a, const Primitive *b,
                           const Pose *pose_b, double reach) {
    const double apart = vec3_norm(vec3_sub(pose_b->position, pose_a->position));
    return reach + 1e-12 * (apart + primitive_span(a) + primitive_span(b));
}
#endif

void narrow_collide_at(const Primitive *a, const Pose *pose_a, const Primitive *b,
                       const Pose *pose_b, double reach, Manifold *manifold) {
    ASSERT(a->kind < PRIMITIVE_COUNT && b->kind < PRIMITIVE_COUNT);
    ASSERT(reach >= 0.0);
    manifold->count = 0;
    bool is_swapped = a->kind > b->kind;
    NarrowProc *collide = is_swapped ? table[b->kind][a->kind] : table[a->kind][b->kind];
    if (collide == NULL) {
        return;
    }
    if (!is_swapped) {
        collide(a, pose_a, b, pose_b, reach, manifold);
        VALIDATE(is_manifold(manifold, farthest_gap(a, pose_a, b, pose_b, reach)));
        return;
    }
    collide(b, pose_b, a, pose_a, reach, manifold);
    if (manifold->count > 0) {
        manifold->normal = vec3_neg(manifold->normal);
    }
    VALIDATE(is_manifold(manifold, farthest_gap(a, pose_a, b, pose_b, reach)));
}
