// SPDX-License-Identifier: MIT
#include "collide/surface.h"

#include "base/assert.h"
#include "world/shape.h"

#include <math.h>

// of the ball: how much farther the points of a contact are, which may be a hair beside a body
static const double slack_part = 1e-3;
// of the farthest that x may be: what is as good as behind a normal (surface.c), with room
static const double lean_slack = 1e-6;
// radii of the ball: where bodies overlap, x may be on the other side of p
enum { DEEP_RADII = 3 };

bool surface_path_read(const Mover *surface, const Mover *other, const Approach *approach,
                       SurfacePath *path) {
    ASSERT(approach->duration > 0.0);
    const Vec3 arm = vec3_sub(primitive_center(other->primitive, *other->pose), other->center);
    const Vec3 way = vec3_scale(approach->duration, other->velocity);
    const double radius =
        vec3_norm(arm) + primitive_rows[other->primitive->kind].reach(other->primitive);
    if (vec3_dot(surface->velocity, surface->velocity) > 0.0 ||
        vec3_dot(surface->spin, surface->spin) > 0.0 ||
        !(vec3_dot(way, way) > 4.0 * radius * radius) || !isfinite(vec3_dot(way, way))) {
        return false;
    }
    const Mat3 axes = quat_to_mat3(surface->pose->orientation);
    path->from = mat3_tmul_vec(axes, vec3_sub(other->center, surface->pose->position));
    path->way = mat3_tmul_vec(axes, way);
    path->radius = radius * (1.0 + slack_part);
    path->beyond = approach->reach;
    return true;
}

// What of the way is in question, as shares of it.
typedef struct Stretch {
    const SurfacePath *path;
    const Vec3 *corner; // three, of the triangle
    double farthest;    // of anything there from anything of the triangle [m]
    double low, high;
} Stretch;

static Stretch all_of(const SurfacePath *path, const Vec3 corner[3], double size) {
    const Vec3 from = vec3_sub(path->from, corner[0]), to = vec3_add(from, path->way);
    return (Stretch){.path = path,
                     .corner = corner,
                     .farthest = size + path->radius + fmax(vec3_norm(from), vec3_norm(to)),
                     .high = 1.0};
}

// Keeps what is no farther along an axis than the triangle's farthest corner, and so much.
static bool keep_behind(Stretch *stretch, Vec3 axis, double slack) {
    ASSERT(slack >= 0.0);
    const Vec3 *corner = stretch->corner;
    const double most =
        fmax(vec3_dot(axis, corner[0]), fmax(vec3_dot(axis, corner[1]), vec3_dot(axis, corner[2])));
    const double allowed = most + slack * vec3_norm(axis) - vec3_dot(axis, stretch->path->from);
    const double along = vec3_dot(axis, stretch->path->way);
    if (along > 0.0) {
        stretch->high = fmin(stretch->high, allowed / along);
    } else if (along < 0.0) {
        stretch->low = fmax(stretch->low, allowed / along);
    } else if (allowed < 0.0) {
        stretch->high = -1.0;
    }
    return stretch->low <= stretch->high;
}

// The same of an axis along which a contact's normal does not lean.
static bool keep_leaning(Stretch *stretch, Vec3 axis) {
    return keep_behind(stretch, axis,
                       DEEP_RADII * stretch->path->radius + lean_slack * stretch->farthest);
}

static bool nears_face(Stretch stretch, Vec3 normal, double beyond) {
    ASSERT(beyond >= 0.0);
    const Vec3 *corner = stretch.corner;
    const double slack = stretch.path->radius + beyond + lean_slack * stretch.farthest;
    bool is_near = true;
    for (uint32_t i = 0; i < 3 && is_near; i++) {
        const Vec3 out = vec3_cross(vec3_sub(corner[i == 2 ? 0 : i + 1], corner[i]), normal);
        is_near = keep_behind(&stretch, out, slack);
    }
    return is_near;
}

// Its edge from a corner to its next: between its ends, and behind both triangles.
static bool nears_edge(const Mesh *mesh, Stretch stretch, uint32_t triangle, uint32_t i) {
    ASSERT(i < 3);
    const Vec3 from = stretch.corner[i], along = vec3_sub(stretch.corner[i == 2 ? 0 : i + 1], from);
    const double square = vec3_dot(along, along);
    if (mesh_is_inner(mesh, triangle, i) || !keep_leaning(&stretch, along) ||
        !keep_leaning(&stretch, vec3_neg(along))) {
        return false;
    }
    const uint32_t beyond = mesh_beyond(mesh, triangle, i);
    bool is_near = true;
    for (uint32_t k = 0; k < 2 && is_near; k++) {
        const uint32_t of = k == 0 ? triangle : beyond;
        for (uint32_t m = 0; m < 3 && of != MESH_NONE && is_near; m++) {
            const Vec3 to = vec3_sub(mesh_corner(mesh, of, m), from);
            const Vec3 inward = vec3_add_scaled(to, -vec3_dot(to, along) / square, along);
            is_near = keep_leaning(&stretch, inward);
        }
    }
    return is_near;
}

// One of its corners: behind all triangles around.
static bool nears_corner(const Mesh *mesh, Stretch stretch, uint32_t triangle, uint32_t i) {
    ASSERT(i < 3);
    uint32_t own[GRID_RING_MAX];
    const uint32_t *ring;
    const uint32_t count = mesh_ring(mesh, mesh_corner_number(mesh, triangle, i), own, &ring);
    bool is_near = true;
    for (uint32_t k = 0; k < count && is_near; k++) {
        for (uint32_t m = 0; m < 3 && is_near; m++) {
            is_near =
                keep_leaning(&stretch, vec3_sub(mesh_corner(mesh, ring[k], m), stretch.corner[i]));
        }
    }
    return is_near;
}

bool surface_path_nears(const Mesh *mesh, const SurfacePath *path, uint32_t triangle, int side) {
    ASSERT(triangle < mesh->triangle_count && (side == 1 || side == -1));
    const Vec3 corner[3] = {mesh_corner(mesh, triangle, 0), mesh_corner(mesh, triangle, 1),
                            mesh_corner(mesh, triangle, 2)};
    const double size =
        fmax(vec3_norm(vec3_sub(corner[1], corner[0])), vec3_norm(vec3_sub(corner[2], corner[0])));
    const Vec3 normal = vec3_scale(side, mesh_normal(mesh, triangle));
    const Stretch all = all_of(path, corner, size);
    if (nears_face(all, mesh_normal(mesh, triangle), fmin(path->beyond, size))) {
        return true;
    }
    Stretch over = all;
    bool is_near = false;
    const bool is_over = keep_leaning(&over, vec3_neg(normal));
    for (uint32_t i = 0; i < 3 && is_over && !is_near; i++) {
        is_near = nears_edge(mesh, over, triangle, i) || nears_corner(mesh, over, triangle, i);
    }
    return is_near;
}
