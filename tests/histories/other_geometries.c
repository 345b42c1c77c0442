// SPDX-License-Identifier: MIT
#include "histories/other_geometries.h"

#include "base/assert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What a geometry becomes: by this map, in a frame that primitives turn back by this.
typedef struct Other {
    const Geometry *geometry; // owned until it is worn
    Quat back;
} Other;

static Mat3 map_of(const OtherWay *way) {
    const double by = way->is_mirrored ? -way->size : way->size;
    const Mat3 turn = quat_to_mat3(way->turn);
    return (Mat3){vec3_scale(by, turn.c0), vec3_scale(by, turn.c1), vec3_scale(by, turn.c2)};
}

static Quat turned_back(const OtherWay *way) {
    return (Quat){way->turn.w, -way->turn.x, -way->turn.y, -way->turn.z};
}

// In a mirror faces are seen from the other side: their corners go round the other way.
static void put_corners(const uint32_t *from, uint32_t count, const OtherWay *way, uint32_t *to) {
    const uint32_t start = way->dice == NULL ? 0 : (uint32_t)dice_roll(way->dice, count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = way->is_mirrored ? count + 1 - i : i;
        to[i] = from[(start + at) % count];
    }
}

static Status other_hull(const Geometry *from, const OtherWay *way, Other *other, Error *error) {
    const Hull *hull = from->hull;
    const Mat3 map = map_of(way);
    const HullNames names = {"points", "faces"};
    Vec3 point[HULL_VERTICES_MAX];
    uint32_t corner[HULL_CORNERS_MAX];
    for (uint32_t i = 0; i < hull->vertex_count; i++) {
        point[i] = mat3_mul_vec(map, hull->point[i]);
    }
    for (uint32_t f = 0; f < hull->face_count; f++) {
        const uint32_t first = hull->face_first[f];
        put_corners(hull->corner + first, hull->face_first[f + 1] - first, way, corner + first);
    }
    HullForm form = hull_form(hull);
    form.point = point;
    form.corner = corner;
    other->back = turned_back(way);
    return geometry_of_hull(from->shelf, &form, hull->face_first[hull->face_count], &names,
                            &other->geometry, error);
}

static Status other_mesh(const Geometry *from, const OtherWay *way, Other *other, Error *error) {
    static const MeshNames names = {"points", "triangles", "patches"};
    MeshForm form = geometry_mesh_form(from);
    const Mat3 map = map_of(way);
    Vec3 *point = calloc(form.point_count, sizeof(*point));
    uint32_t *corner = calloc(3 * (size_t)form.triangle_count, sizeof(*corner));
    uint8_t *patch = calloc(form.triangle_count, sizeof(*patch));
    ASSERT(point != NULL && corner != NULL && patch != NULL);
    for (uint32_t i = 0; i < form.point_count; i++) {
        point[i] = mat3_mul_vec(map, form.point[i]);
    }
    for (uint32_t i = 0; i < form.triangle_count; i++) { // each behind any of those before
        const size_t last = 3 * (size_t)i;
        const size_t at = way->dice == NULL ? last : 3 * (size_t)dice_roll(way->dice, i + 1);
        memcpy(corner + last, corner + at, 3 * sizeof(*corner));
        put_corners(form.corner + last, 3, way, corner + at);
        patch[i] = patch[at / 3];
        patch[at / 3] = form.patch == NULL ? 0 : form.patch[i];
    }
    form.point = point;
    form.corner = corner;
    form.patch = patch;
    other->back = turned_back(way);
    const Status status = geometry_of_mesh(from->shelf, &form, &names, &other->geometry, error);
    free(point);
    free(corner);
    free(patch);
    return status;
}

// Where a cell's diagonal runs is not to be chosen: of mirrors only the one that exchanges x and y
// leaves it there. To be where the point's mirror has it it is turned by half about the line
// between x and -y, which takes (x, y, z) to (-y, -x, -z).
static Status other_heights(const Geometry *from, const OtherWay *way, Other *other, Error *error) {
    static const MeshNames names = {"heights", "spacing", "patches"};
    const HeightForm form = geometry_height_form(from);
    HeightForm made = form;
    double *height = calloc(heights_points(&form), sizeof(*height));
    uint8_t *patch = calloc(heights_cells(&form), sizeof(*patch));
    ASSERT(height != NULL && patch != NULL);
    if (way->is_mirrored) {
        made.columns = form.rows;
        made.rows = form.columns;
    }
    for (int axis = 0; axis < 2; axis++) {
        made.spacing[axis] = way->size * form.spacing[way->is_mirrored ? 1 - axis : axis];
    }
    for (uint32_t k = 0; k < heights_points(&form); k++) {
        const uint32_t column = k % form.columns, row = k / form.columns;
        height[way->is_mirrored ? column * form.rows + row : k] = way->size * form.height[k];
    }
    for (uint32_t k = 0; form.patch != NULL && k < heights_cells(&form); k++) {
        const uint32_t column = k % (form.columns - 1), row = k / (form.columns - 1);
        patch[way->is_mirrored ? column * (form.rows - 1) + row : k] = form.patch[k];
    }
    made.height = height;
    made.patch = patch;
    const double half = sqrt(0.5);
    other->back = way->is_mirrored ? (Quat){0.0, half, -half, 0.0} : quat_identity();
    const Status status = geometry_of_heights(from->shelf, &made, &names, &other->geometry, error);
    free(height);
    free(patch);
    return status;
}

static bool make_other(const Geometry *from, const OtherWay *way, Other *other) {
    Error error = {0};
    switch (from->kind) {
    case GEOMETRY_HULL:
        return other_hull(from, way, other, &error) == STATUS_OK;
    case GEOMETRY_MESH:
        return other_mesh(from, way, other, &error) == STATUS_OK;
    case GEOMETRY_HEIGHT_FIELD:
        return other_heights(from, way, other, &error) == STATUS_OK;
    }
    return false;
}

static void wear(World *world, size_t at, const Other *other) {
    WorldGeometry *own = &world->geometry[at];
    geometry_drop(own->geometry);
    own->geometry = other->geometry;
    memcpy(own->digest, other->geometry->digest, sizeof(own->digest));
    for (size_t i = 0; i < world->primitive_count; i++) {
        Primitive *primitive = &world->primitive[i];
        if (primitive->geometry_number == at + 1) {
            Quat *turn = &primitive->local.orientation;
            primitive->geometry = other->geometry;
            *turn = other->back.w == 1.0 ? *turn : quat_normalize(quat_mul(*turn, other->back));
        }
    }
}

bool other_geometries(World *world, const OtherWay *way) {
    bool may_be = true;
    Other *made = calloc(world->geometry_count + 1, sizeof(*made));
    ASSERT(made != NULL);
    for (size_t i = 0; i < world->geometry_count && may_be; i++) {
        may_be = make_other(world->geometry[i].geometry, way, &made[i]);
    }
    for (size_t i = 0; i < world->geometry_count; i++) {
        if (may_be) {
            wear(world, i, &made[i]);
        } else {
            geometry_drop(made[i].geometry);
        }
    }
    free(made);
    return may_be;
}
