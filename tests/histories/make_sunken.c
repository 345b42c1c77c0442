// SPDX-License-Identifier: MIT
// What is sunk in a surface is pushed out by which of its triangles, of a box or a hull by which of
// its faces: where several would do, roundings must not choose. Histories of every day come there
// once in millions of deeds.
#include "histories/make_sunken.h"

#include "base/assert.h"
#include "histories/make_pieces.h"
#include "histories/variant.h"
#include "step/stages.h"

#include <math.h>

// A triangle of a surface, or of a face, where it lies.
typedef struct Spot {
    Vec3 corner[3];
    Vec3 normal;
} Spot;

static void spot_of_surface(Make *make, const Mesh *mesh, Spot *spot) {
    const uint32_t triangle = make_roll(make, mesh->triangle_count);
    for (uint32_t i = 0; i < 3; i++) {
        spot->corner[i] = mesh_corner(mesh, triangle, i);
    }
    spot->normal = mesh_normal(mesh, triangle);
}

static void spot_of_hull(Make *make, const Hull *hull, Spot *spot) {
    const uint32_t face = make_roll(make, hull->face_count);
    const uint32_t first = hull->face_first[face], count = hull->face_first[face + 1] - first;
    const uint32_t from = make_roll(make, count);
    for (uint32_t i = 0; i < 3; i++) {
        spot->corner[i] = hull->point[hull->corner[first + (from + i) % count]];
    }
    spot->normal = vec3_cross(vec3_sub(spot->corner[1], spot->corner[0]),
                              vec3_sub(spot->corner[2], spot->corner[0]));
}

static void spot_of_box(Make *make, Vec3 half, Spot *spot) {
    const double sign = make_chance(make, 50) ? 1.0 : -1.0;
    const uint32_t axis = make_roll(make, 3);
    double at[3] = {0.0, 0.0, 0.0};
    at[axis] = sign;
    spot->normal = vec3_load(at);
    for (uint32_t i = 0; i < 3; i++) {
        at[(axis + 1) % 3] = i == 0 ? 1.0 : -1.0;
        at[(axis + 2) % 3] = i == 2 ? 1.0 : -1.0;
        spot->corner[i] = vec3(half.x * at[0], half.y * at[1], half.z * at[2]);
    }
}

// Of a part that has faces.
static bool spot_of(Make *make, uint32_t body, Spot *spot) {
    const World *world = make->world;
    const Shape *shape = world_body_shape(world, body);
    if (shape == NULL || shape->primitive_count == 0) {
        return false;
    }
    const Primitive *primitive =
        &world->primitive[shape->primitive_first + make_roll(make, shape->primitive_count)];
    if (primitive_is_surface(primitive->kind)) {
        spot_of_surface(make, primitive->geometry->mesh, spot);
    } else if (primitive->kind == PRIMITIVE_HULL && make_chance(make, 50)) {
        spot_of_hull(make, primitive->geometry->hull, spot);
    } else if (primitive->kind == PRIMITIVE_BOX && make_chance(make, 50)) {
        spot_of_box(make, primitive->size, spot);
    } else {
        return false;
    }
    const Pose pose = variant_part_pose(world, body, primitive);
    for (uint32_t i = 0; i < 3; i++) {
        spot->corner[i] = pose_apply(pose, spot->corner[i]);
    }
    spot->normal = quat_rotate(pose.orientation, spot->normal);
    return true;
}

static bool any_spot(Make *make, Spot *spot) {
    bool is_found = false;
    for (uint32_t tries = 0; tries < 8 && !is_found && make->world->body_count > 0; tries++) {
        is_found = spot_of(make, make_roll(make, make->world->body_count), spot);
    }
    return is_found;
}

// Of a triangle: inside, on an edge or at a corner.
static Vec3 any_place(Make *make, const Spot *spot) {
    double share[3] = {make_uniform(make, 0.0, 1.0), make_uniform(make, 0.0, 1.0),
                       make_uniform(make, 0.0, 1.0)};
    const uint32_t how = make_roll(make, 4);
    for (uint32_t k = 0; k < how && k < 2; k++) {
        share[k] = 0.0;
    }
    const double sum = share[0] + share[1] + share[2];
    const uint32_t first = make_roll(make, 3);
    Vec3 place = vec3(0.0, 0.0, 0.0);
    for (uint32_t k = 0; k < 3; k++) {
        place = vec3_add_scaled(place, share[k] / sum, spot->corner[(first + k) % 3]);
    }
    return place;
}

// The x axis along an edge, z along the normal.
static Quat frame_of(Make *make, const Spot *spot) {
    const uint32_t i = make_roll(make, 3);
    const Vec3 edge = vec3_sub(spot->corner[(i + 1) % 3], spot->corner[i]);
    const Vec3 z = vec3_scale(1.0 / vec3_norm(spot->normal), spot->normal);
    const Quat up = stage_facing(z);
    const Vec3 x = quat_rotate(up, vec3(1.0, 0.0, 0.0));
    const double angle = atan2(vec3_dot(z, vec3_cross(x, edge)), vec3_dot(x, edge));
    return quat_mul(up, pieces_about_z(angle));
}

bool make_sunken_pose(Make *make, uint64_t shape, Pose *pose) {
    Spot spot;
    PieceBox box;
    const double angle = make_chance(make, 30) ? 0.0 : make_uniform(make, -M_PI, M_PI);
    const Quat turn = quat_normalize(quat_mul(pieces_about_z(angle), make_turn(make)));
    if (!any_spot(make, &spot) || !pieces_box(make->world, shape, turn, &box)) {
        return false;
    }
    const Quat frame = frame_of(make, &spot);
    const double tall = box.high.z - box.low.z, wide = box.high.x - box.low.x;
    const double slip = make_chance(make, 40) ? 0.0 : 0.6;
    const double depth = make_chance(make, 30)   ? make_magnitude(make, 1e-9, 1e-2)
                         : make_chance(make, 70) ? make_uniform(make, 0.0, 0.6) * tall
                                                 : -make_uniform(make, 0.0, 0.05) * tall;
    const Vec3 up = vec3(make_uniform(make, -slip, slip) * wide,
                         make_uniform(make, -slip, slip) * wide, -box.low.z - depth);
    pose->position = vec3_add(any_place(make, &spot), quat_rotate(frame, up));
    pose->orientation = quat_normalize(quat_mul(frame, turn));
    return true;
}

Deed make_sunken_deed(Make *make) {
    static Input (*const makers[])(Make *) = {
        make_bodies, make_remove, make_shapes, make_geometries, make_set, make_joints, make_step};
    enum { BODIES_MOST = 8, WEIGHTS = 92 };
    static const uint32_t weights[] = {40, 30, 4, 2, 4, 6, 6};
    if (make_chance(make, 35)) {
        return (Deed){.kind = DEED_TURN, .slot = make_roll(make, HISTORY_SEEDS)};
    }
    uint32_t rolled = make_roll(make, WEIGHTS), at = 0;
    for (; rolled >= weights[at]; at++) {
        rolled -= weights[at];
    }
    at = at == 0 && make->world->body_count > BODIES_MOST ? 1 : at;
    return (Deed){.kind = DEED_INPUT, .input = makers[at](make)};
}
