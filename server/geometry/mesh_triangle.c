// SPDX-License-Identifier: MIT
#include "geometry/mesh.h"

#include "base/assert.h"

// Of every triangle alike; edge i goes from corner i.
static const uint32_t face_first[3] = {0, 3, 6};
static const uint32_t corner[6] = {0, 1, 2, 0, 2, 1};
static const uint16_t corner_edge[6] = {0, 1, 2, 2, 1, 0};
static const HullEdge edges[3] = {{{0, 1}, {0, 1}}, {{1, 2}, {0, 1}}, {{2, 0}, {0, 1}}};
static const uint32_t neighbour_first[4] = {0, 2, 4, 6};
static const uint16_t neighbour[6] = {1, 2, 2, 0, 0, 1};
static const uint16_t neighbour_edge[6] = {0, 2, 1, 0, 2, 1};
static const uint16_t neighbour_face[6] = {0, 1, 0, 1, 0, 1};

static const double sliver_part = 1e-3; // of the triangle's height

// `read` has its points.
static void derive(const Mesh *mesh, Vec3 normal, MeshTriangle *read) {
    Vec3 sum = vec3(0.0, 0.0, 0.0);
    double reach = 0.0, longest = 0.0;
    for (uint32_t i = 0; i < 3; i++) {
        sum = vec3_add(sum, read->point[i]);
        reach = fmax(reach, vec3_norm(read->point[i]));
    }
    const Vec3 center = vec3_scale(1.0 / 3.0, sum);
    read->normal[0] = normal;
    read->normal[1] = vec3_neg(normal);
    double height = -HUGE_VAL, depth = -HUGE_VAL, mass_reach = 0.0;
    for (uint32_t i = 0; i < 3; i++) {
        height = fmax(height, vec3_dot(normal, read->point[i]));
        depth = fmax(depth, -vec3_dot(normal, read->point[i]));
        mass_reach = fmax(mass_reach, vec3_norm(vec3_sub(read->point[i], center)));
        longest = fmax(longest, vec3_norm(vec3_sub(read->point[(i + 1) % 3], read->point[i])));
        read->edge[i] = edges[i];
    }
    read->offset[0] = height;
    read->offset[1] = depth;
    // the largest circle in it: its area over half of what is around it, which is at most 3 longest
    const double twice_area = vec3_norm(vec3_cross(vec3_sub(read->point[1], read->point[0]),
                                                   vec3_sub(read->point[2], read->point[0])));
    read->hull = (Hull){.vertex_count = 3,
                        .face_count = 2,
                        .edge_count = 3,
                        .point = read->point,
                        .face_first = face_first,
                        .corner = corner,
                        .corner_edge = corner_edge,
                        .normal = read->normal,
                        .offset = read->offset,
                        .edge = read->edge,
                        .neighbour_first = neighbour_first,
                        .neighbour = neighbour,
                        .neighbour_edge = neighbour_edge,
                        .neighbour_face = neighbour_face,
                        .low = mesh->low, // its sizes are those of all of the surface
                        .high = mesh->high,
                        .mass = {.center = center},
                        .mass_reach = mass_reach,
                        .inner_radius = twice_area / (3.0 * longest),
                        .reach = reach};
}

void mesh_read_triangle(const Mesh *mesh, uint32_t triangle, MeshTriangle *read) {
    ASSERT(triangle < mesh->triangle_count);
    for (uint32_t i = 0; i < 3; i++) {
        read->point[i] = mesh_corner(mesh, triangle, i);
    }
    derive(mesh, mesh_normal(mesh, triangle), read);
}

void mesh_read_edge(const Mesh *mesh, uint32_t triangle, uint32_t i, MeshTriangle *read) {
    ASSERT(triangle < mesh->triangle_count && i < 3);
    const Vec3 a = mesh_corner(mesh, triangle, i), b = mesh_corner(mesh, triangle, (i + 1) % 3);
    const Vec3 middle = vec3_scale(0.5, vec3_add(a, b));
    read->point[0] = a;
    read->point[1] = b;
    read->point[2] = vec3_add_scaled(middle, sliver_part,
                                     vec3_sub(mesh_corner(mesh, triangle, (i + 2) % 3), middle));
    derive(mesh, mesh_normal(mesh, triangle), read);
}
