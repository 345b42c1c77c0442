// SPDX-License-Identifier: MIT
#include "histories/other_hulls.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

// In a mirror faces are seen from the other side: their corners go round the other way.
static void put_corners(const Hull *hull, bool is_mirrored, Dice *dice, uint32_t *corner) {
    for (uint32_t f = 0; f < hull->face_count; f++) {
        const uint32_t first = hull->face_first[f], count = hull->face_first[f + 1] - first;
        const uint32_t start = dice == NULL ? 0 : (uint32_t)dice_roll(dice, count);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t from = is_mirrored ? count + 1 - i : i;
            corner[first + i] = hull->corner[first + (start + from) % count];
        }
    }
}

static const Geometry *make_other(const Geometry *from, Mat3 map, Dice *dice) {
    const Hull *hull = from->hull;
    ASSERT(hull != NULL); // no history makes another kind
    Vec3 point[HULL_VERTICES_MAX];
    uint32_t corner[HULL_CORNERS_MAX];
    const bool is_mirrored = vec3_dot(vec3_cross(map.c0, map.c1), map.c2) < 0.0;
    for (uint32_t i = 0; i < hull->vertex_count; i++) {
        point[i] = mat3_mul_vec(map, hull->point[i]);
    }
    put_corners(hull, is_mirrored, dice, corner);
    HullForm form = hull_form(hull);
    form.point = point;
    form.corner = corner;
    const HullNames names = {"points", "faces"};
    const Geometry *made;
    Error error = {0};
    const Status status = geometry_of_hull(from->shelf, &form, hull->face_first[hull->face_count],
                                           &names, &made, &error);
    return status == STATUS_OK ? made : NULL;
}

static void wear(World *world, size_t at, const Geometry *made) {
    WorldGeometry *own = &world->geometry[at];
    geometry_drop(own->geometry);
    own->geometry = made;
    memcpy(own->digest, made->digest, sizeof(own->digest));
    for (size_t i = 0; i < world->primitive_count; i++) {
        if (world->primitive[i].geometry_number == at + 1) {
            world->primitive[i].geometry = made;
        }
    }
}

bool other_hulls(World *world, Mat3 map, Dice *dice) {
    bool are_hulls = true;
    const Geometry **made = calloc(world->geometry_count + 1, sizeof(*made));
    ASSERT(made != NULL);
    for (size_t i = 0; i < world->geometry_count && are_hulls; i++) {
        made[i] = make_other(world->geometry[i].geometry, map, dice);
        are_hulls = made[i] != NULL;
    }
    for (size_t i = 0; i < world->geometry_count; i++) {
        if (are_hulls) {
            wear(world, i, made[i]);
        } else {
            geometry_drop(made[i]);
        }
    }
    free(made);
    return are_hulls;
}
