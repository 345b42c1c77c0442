// SPDX-License-Identifier: MIT
// Seams of surfaces (seam.h): which faces a contact on a ridge may lean to, where a rim is, and on
// what a place lies.
#include "collide/seam.h"

#include "base/assert.h"
#include "collide/surface.h"

#include <math.h>

// sine from which on a normal leans towards a face: rounding, with room
static const double lean_min = 1e-9;

typedef struct Collector {
    const SeamPoints *points;
    double step;
    SeamFace *face;
    uint32_t count;
} Collector;

static bool all_lie_on(const SeamPoints *points, Vec3 normal, Vec3 corner, double step) {
    for (uint32_t i = 0; i < points->count; i++) {
        if (vec3_dot(normal, vec3_sub(points->point[i], corner)) < -step) {
            return false;
        }
    }
    return true;
}

// A face has one normal, and its rims in one direction are one.
static bool is_same(const Mesh *mesh, const SeamFace *a, const SeamFace *b) {
    static const double same = 1.0 - 1e-12;
    return a->is_rim == b->is_rim && mesh_face(mesh, a->number) == mesh_face(mesh, b->number) &&
           (!a->is_rim || vec3_dot(a->normal, b->normal) >= same);
}

static void offer(Collector *to, const Mesh *mesh, const SeamFace *face, Vec3 corner) {
    if (to->count == SEAM_FACES_MAX || vec3_dot(face->normal, to->points->outward) <= lean_min ||
        !all_lie_on(to->points, face->normal, corner, to->step)) {
        return;
    }
    for (uint32_t i = 0; i < to->count; i++) {
        if (is_same(mesh, &to->face[i], face)) {
            return;
        }
    }
    to->face[to->count++] = *face;
}

// Unit, in the triangle's plane, out of it over the edge from a corner to its next.
static Vec3 edge_outward(const Mesh *mesh, uint32_t triangle, uint32_t i) {
    ASSERT(triangle < mesh->triangle_count && i < 3);
    const Vec3 along =
        vec3_sub(mesh_corner(mesh, triangle, (i + 1) % 3), mesh_corner(mesh, triangle, i));
    const Vec3 out = vec3_cross(along, mesh_normal(mesh, triangle));
    return vec3_scale(1.0 / vec3_norm(out), out);
}

static SeamFace rim_of(const Mesh *mesh, uint32_t triangle, uint32_t i, uint32_t around) {
    return (SeamFace){.number = triangle,
                      .normal = edge_outward(mesh, triangle, i),
                      .around = around,
                      .is_rim = true};
}

static void offer_triangle(Collector *to, const Mesh *mesh, uint32_t triangle, int side,
                           uint32_t around) {
    const SeamFace face = {.number = triangle,
                           .normal = vec3_scale(side, mesh_normal(mesh, triangle)),
                           .around = around};
    offer(to, mesh, &face, mesh_corner(mesh, triangle, 0));
    for (uint32_t i = 0; i < 3; i++) {
        if (mesh_beyond(mesh, triangle, i) == MESH_NONE) {
            const SeamFace rim = rim_of(mesh, triangle, i, around);
            offer(to, mesh, &rim, mesh_corner(mesh, triangle, i));
        }
    }
}

uint32_t seam_surface_faces(const Mesh *mesh, uint32_t triangle, int side, const SeamPoints *points,
                            double step, SeamFace face[SEAM_FACES_MAX]) {
    ASSERT(triangle < mesh->triangle_count && (side == 1 || side == -1));
    Collector to = {points, step, face, 0};
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t corner = mesh_corner_number(mesh, triangle, i);
        uint32_t own[GRID_RING_MAX];
        const uint32_t *ring;
        const uint32_t count = mesh_ring(mesh, corner, own, &ring);
        for (uint32_t k = 0; k < count; k++) {
            offer_triangle(&to, mesh, ring[k], side, triangle);
        }
    }
    return to.count;
}

// Of a triangle what belongs to the face.
static double triangle_rise(const Mesh *mesh, uint32_t triangle, const SeamFace *face, Vec3 point,
                            Vec3 plane_normal, double step) {
    ASSERT(triangle < mesh->triangle_count);
    double rise = 0.0;
    for (uint32_t i = 0; i < 3; i++) {
        bool is_of_face = mesh_face(mesh, triangle) == mesh_face(mesh, face->number);
        if (face->is_rim) {
            const bool is_end = is_of_face && mesh_beyond(mesh, triangle, i) == MESH_NONE;
            const SeamFace rim = is_end ? rim_of(mesh, triangle, i, face->around) : *face;
            is_of_face = is_end && is_same(mesh, &rim, face);
        }
        const uint32_t next = i == 2 ? 0 : i + 1;
        for (uint32_t end = 0; is_of_face && end < 2; end++) {
            const Vec3 corner = mesh_corner(mesh, triangle, end == 0 ? i : next);
            rise = fmax(rise, seam_corner_rise(corner, point, plane_normal, step));
        }
    }
    return rise;
}

double seam_surface_rise(const Mesh *mesh, const SeamFace *face, Vec3 point, Vec3 plane_normal,
                         double step) {
    ASSERT(face->around < mesh->triangle_count && step > 0.0);
    double rise = 0.0;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t own[GRID_RING_MAX];
        const uint32_t *ring;
        const uint32_t count =
            mesh_ring(mesh, mesh_corner_number(mesh, face->around, i), own, &ring);
        for (uint32_t k = 0; k < count; k++) {
            rise = fmax(rise, triangle_rise(mesh, ring[k], face, point, plane_normal, step));
        }
    }
    return rise;
}

bool seam_surface_is_rim(const Mesh *mesh, uint32_t triangle, int side, const SeamPoints *points,
                         double depth) {
    ASSERT(points->count > 0 && depth > 0.0);
    for (uint32_t i = 0; i < 3; i++) {
        if (surface_falls(mesh, triangle, i, side) &&
            all_lie_on(points, edge_outward(mesh, triangle, i), mesh_corner(mesh, triangle, i),
                       depth)) {
            return true;
        }
    }
    return false;
}

static bool is_at(const Mesh *mesh, uint32_t triangle, Vec3 place, double step, double depth) {
    ASSERT(triangle < mesh->triangle_count);
    const double above =
        vec3_dot(mesh_normal(mesh, triangle), vec3_sub(place, mesh_corner(mesh, triangle, 0)));
    if (above > step || (above < -depth && !mesh->is_solid_below)) {
        return false;
    }
    for (uint32_t i = 0; i < 3; i++) {
        const Vec3 from = vec3_sub(place, mesh_corner(mesh, triangle, i));
        if (vec3_dot(edge_outward(mesh, triangle, i), from) > step) {
            return false;
        }
    }
    return true;
}

void seam_search_begin(SeamSearch *search, const Mesh *mesh, Vec3 place, double step,
                       double depth) {
    ASSERT(step > 0.0 && depth >= step);
    search->mesh = mesh;
    search->place = place;
    search->step = step;
    search->depth = depth;
    search->face = MESH_NONE;
    search->next = search->count = 0;
    search->is_over = false;
}

// What lies so near to a box, as mesh_near has it; what is solid is whatever is above it.
static uint32_t list_near(const Mesh *mesh, Vec3 low, Vec3 high, double depth, uint64_t after,
                          bool is_first, uint64_t *key, uint32_t count_max) {
    const Vec3 around = vec3(depth, depth, depth);
    Vec3 top = vec3_add(high, around);
    top.z = mesh->is_solid_below ? HUGE_VAL : top.z;
    return mesh_near(mesh, vec3_sub(low, around), top, after, is_first, key, count_max);
}

bool seam_search_finds(const Mesh *mesh, Vec3 low, Vec3 high, double depth) {
    ASSERT(depth > 0.0);
    uint64_t key[1];
    return list_near(mesh, low, high, depth, 0, true, key, 1) > 0;
}

// The next ones near the place. false: there are none.
static bool look_on(SeamSearch *search) {
    ASSERT(search->next == search->count && search->count <= SEAM_NEAR_MAX);
    const uint64_t after = search->count > 0 ? search->key[search->count - 1] : 0;
    search->count = search->is_over
                        ? 0
                        : list_near(search->mesh, search->place, search->place, search->depth,
                                    after, search->count == 0, search->key, SEAM_NEAR_MAX);
    search->is_over = search->count < SEAM_NEAR_MAX;
    search->next = 0;
    return search->count > 0;
}

bool seam_search_next(SeamSearch *search, uint32_t *triangle) {
    while (search->next < search->count || look_on(search)) {
        const uint64_t key = search->key[search->next++];
        const uint32_t face = (uint32_t)(key >> 32);
        if (face != search->face &&
            is_at(search->mesh, (uint32_t)key, search->place, search->step, search->depth)) {
            search->face = face;
            *triangle = (uint32_t)key;
            return true;
        }
    }
    return false;
}
