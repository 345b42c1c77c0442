// SPDX-License-Identifier: MIT
// Height fields, which keep no triangles, against the mesh of their triangles: all that is asked of
// either is the same, to the bit, and takes a byte or little more a height beside the heights.
#include "geometry/geometry.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const MeshNames names = {"heights", "spacing", "patches"};

// A height field and the mesh of its triangles.
typedef struct Both {
    GeometryShelf *shelf;
    const Geometry *geometry[2];
    const Mesh *grid, *mesh;
    Vec3 half;
} Both;

typedef enum Relief { RELIEF_ROUGH, RELIEF_STAIRS, RELIEF_BLOCKS, RELIEF_FLAT, RELIEFS } Relief;

static double relief_at(Relief relief, uint32_t column, uint64_t *seed) {
    switch (relief) {
    case RELIEF_ROUGH:
        return lab_random(seed, -0.5, 0.5);
    case RELIEF_STAIRS:
        return 0.1 * floor(column / 5.0);
    case RELIEF_BLOCKS:
        return lab_random(seed, 0.0, 1.0) < 0.5 ? 0.0 : 0.2;
    default:
        return 0.0;
    }
}

static Both both_of(uint32_t columns, uint32_t rows, Relief relief, uint64_t *seed) {
    const uint32_t points = columns * rows;
    double *height = calloc(points, sizeof(*height));
    Vec3 *point = calloc(points, sizeof(*point));
    uint32_t *corner = calloc(6 * (size_t)points, sizeof(*corner)), *at = corner;
    ck_assert(height != NULL && point != NULL && corner != NULL);
    const HeightForm form = {
        columns, rows, {lab_random(seed, 0.05, 2.0), lab_random(seed, 0.05, 2.0)}, height, NULL};
    Both both = {.shelf = geometry_shelf_create(),
                 .half = vec3(0.5 * (columns - 1.0) * form.spacing[0],
                              0.5 * (rows - 1.0) * form.spacing[1], 1.0)};
    for (uint32_t k = 0; k < points; k++) {
        height[k] = relief_at(relief, k % columns, seed);
        point[k] = vec3(k % columns * form.spacing[0] - both.half.x,
                        k / columns * form.spacing[1] - both.half.y, height[k]);
    }
    for (uint32_t k = 0; k + columns < points; k++) {
        if (k % columns + 1 < columns) {
            const uint32_t high = k + columns + 1, cell[6] = {k, k + 1, high, k, high, k + columns};
            memcpy(at, cell, sizeof(cell));
            at += 6;
        }
    }
    const MeshForm triangles = {point, points, corner, heights_triangles(&form), false, NULL};
    Error error = {0};
    ck_assert_msg(geometry_of_heights(both.shelf, &form, &names, &both.geometry[0], &error) ==
                          STATUS_OK &&
                      geometry_of_mesh(both.shelf, &triangles, &names, &both.geometry[1], &error) ==
                          STATUS_OK,
                  "%s", error.message);
    both.grid = both.geometry[0]->mesh;
    both.mesh = both.geometry[1]->mesh;
    free(height);
    free(point);
    free(corner);
    return both;
}

static void both_drop(Both *both) {
    geometry_drop(both->geometry[0]);
    geometry_drop(both->geometry[1]);
    geometry_shelf_destroy(both->shelf);
}

static Both both_any(int round, uint64_t *seed) {
    const uint32_t side = round % 5 == 0 ? 90 : 14;
    const uint32_t columns = 2 + (uint32_t)lab_random(seed, 0.0, side),
                   rows = 2 + (uint32_t)lab_random(seed, 0.0, side);
    return both_of(columns, rows, (Relief)(round % RELIEFS), seed);
}

static void same_place(Vec3 a, Vec3 b) {
    ck_assert_mem_eq(&a, &b, sizeof(a));
}

START_TEST(its_triangles_are_those_of_the_mesh) {
    uint64_t seed = 11 + (uint64_t)_i;
    Both both = both_any(_i, &seed);
    const Mesh *a = both.grid, *b = both.mesh;
    ck_assert_uint_eq(a->triangle_count, b->triangle_count);
    for (uint32_t t = 0; t < a->triangle_count; t++) {
        ck_assert_uint_eq(mesh_face(a, t), mesh_face(b, t));
        for (uint32_t i = 0; i < 3; i++) {
            same_place(mesh_corner(a, t, i), mesh_corner(b, t, i));
            ck_assert_uint_eq(mesh_corner_number(a, t, i), mesh_corner_number(b, t, i));
            ck_assert_uint_eq(mesh_beyond(a, t, i), mesh_beyond(b, t, i));
            ck_assert_uint_eq(mesh_edge(a, t, i), mesh_edge(b, t, i));
        }
        same_place(mesh_normal(a, t), mesh_normal(b, t));
    }
    for (uint32_t k = 0; k < a->point_count; k++) {
        uint32_t own[2][GRID_RING_MAX];
        const uint32_t *ring[2];
        const uint32_t count = mesh_ring(a, k, own[0], &ring[0]);
        ck_assert_uint_eq(count, mesh_ring(b, k, own[1], &ring[1]));
        ck_assert_mem_eq(ring[0], ring[1], count * sizeof(uint32_t));
        same_place(mesh_point(a, k), mesh_point(b, k));
    }
    same_place(a->low, b->low);
    same_place(a->high, b->high);
    both_drop(&both);
}
END_TEST

// Boxes of all sizes, some of them just as large as their cells, some as all of it; in parts.
START_TEST(the_same_is_near) {
    uint64_t seed = 23 + (uint64_t)_i;
    Both both = both_any(_i, &seed);
    for (int i = 0; i < 2000; i++) {
        Vec3 at = vec3(lab_random(&seed, -1.1, 1.1) * both.half.x,
                       lab_random(&seed, -1.1, 1.1) * both.half.y, lab_random(&seed, -1.0, 1.0));
        Vec3 half = vec3(lab_random(&seed, 0.0, 1.5), lab_random(&seed, 0.0, 1.5),
                         lab_random(&seed, 0.0, 0.5));
        if (i % 5 == 0) {
            at = mesh_point(both.grid, (uint32_t)lab_random(&seed, 0.0, both.grid->point_count));
            half = vec3(i % 2 == 0 ? 0.0 : both.grid->grid.spacing[0], 0.0, i % 3 == 0 ? 0.0 : 0.1);
        }
        half = i % 97 == 0 ? vec3(1e3, 1e3, 0.01) : half;
        const Vec3 low = vec3_sub(at, half);
        Vec3 high = vec3_add(at, half);
        high.z = i % 7 == 0 ? HUGE_VAL : high.z;
        uint64_t key[2][64], after = 0;
        uint32_t count = 64;
        for (bool is_first = true; count == 64; is_first = false, after = key[0][63]) {
            count = mesh_near(both.grid, low, high, after, is_first, key[0], 64);
            ck_assert_uint_eq(count, mesh_near(both.mesh, low, high, after, is_first, key[1], 64));
            ck_assert_mem_eq(key[0], key[1], count * sizeof(uint64_t));
        }
    }
    both_drop(&both);
}
END_TEST

// Any ray: straight down through points and along lines, level, far, short and long.
static void any_ray(const Both *both, int i, uint64_t *seed, Vec3 *from, Vec3 *way) {
    const Vec3 half = both->half;
    const Vec3 to =
        mesh_point(both->grid, (uint32_t)lab_random(seed, 0.0, both->grid->point_count));
    *from = vec3(lab_random(seed, -1.2, 1.2) * half.x, lab_random(seed, -1.2, 1.2) * half.y,
                 lab_random(seed, -1.0, 3.0));
    *way = vec3(lab_random(seed, -1.0, 1.0) * half.x, lab_random(seed, -1.0, 1.0) * half.y,
                lab_random(seed, -4.0, 1.0));
    if (i % 3 == 0) {
        *way = vec3(0.0, 0.0, -5.0);
    }
    if (i % 7 == 0) {
        *from = vec3(to.x, to.y, to.z + 2.0);
        *way = vec3(0.0, 0.0, -4.0);
    }
    way->x = i % 11 == 0 ? 0.0 : way->x;
    way->y = i % 13 == 0 ? -0.0 : way->y;
    *way = i % 17 == 0 ? vec3_scale(1e3, *way) : *way;
    if (i % 19 == 0) {
        *way = vec3_scale(1.5, vec3_sub(to, *from));
    }
    if (i % 23 == 0) {
        *from = vec3_scale(1e4, *from);
        *way = vec3_scale(1.00001, vec3_sub(to, *from));
    }
}

START_TEST(rays_meet_the_same) {
    uint64_t seed = 31 + (uint64_t)_i;
    Both both = both_any(_i, &seed);
    int met = 0;
    for (int i = 1; i < 4000; i++) {
        Vec3 from, way;
        any_ray(&both, i, &seed, &from, &way);
        double fraction[2];
        uint32_t triangle[2];
        const bool is_met = mesh_enters(both.grid, from, way, &fraction[0], &triangle[0]);
        ck_assert_int_eq(is_met, mesh_enters(both.mesh, from, way, &fraction[1], &triangle[1]));
        ck_assert_uint_eq(triangle[0], triangle[1]);
        ck_assert(fraction[0] == fraction[1]);
        met += is_met;
    }
    ck_assert_int_gt(met, 300);
    both_drop(&both);
}
END_TEST

// Straight down through a point, and along the sides of the tree's boxes: no ray passes there. Of a
// point at 0 and a way without x the place in a box was 0 times infinity, and so was missed.
START_TEST(no_ray_falls_between_boxes) {
    uint64_t seed = 41;
    Both both = both_of(17, 17, RELIEF_FLAT, &seed);
    for (uint32_t k = 0; k < both.grid->point_count; k++) {
        const Vec3 at = mesh_point(both.grid, k);
        double fraction;
        uint32_t triangle;
        const Vec3 above = vec3(at.x, at.y, 1.0), down = vec3(0.0, 0.0, -2.0);
        ck_assert(mesh_enters(both.grid, above, down, &fraction, &triangle));
        ck_assert(mesh_enters(both.mesh, above, down, &fraction, &triangle));
        ck_assert_double_eq_tol(fraction, 0.5, 1e-15);
    }
    both_drop(&both);
}
END_TEST

// Of 500 x 500 heights: a rough one has a bit and a rank of its triangles, and blocks; of one in
// stairs each triangle names its face besides. A mesh of them takes some 260 bytes a point.
START_TEST(a_height_takes_little_more_than_itself) {
    uint64_t seed = 43;
    const Relief relief[2] = {RELIEF_ROUGH, RELIEF_STAIRS};
    for (int i = 0; i < 2; i++) {
        Both both = both_of(500, 500, relief[i], &seed);
        const double besides =
            (double)(both.geometry[0]->memory_bytes - both.geometry[0]->byte_count);
        ck_assert_double_le(besides / (500.0 * 500.0), i == 0 ? 1.2 : 9.2);
        both_drop(&both);
    }
}
END_TEST

static TCase *case_grid(void) {
    TCase *tcase = tcase_create("grid");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, its_triangles_are_those_of_the_mesh, 0, 24);
    tcase_add_loop_test(tcase, the_same_is_near, 0, 24);
    tcase_add_loop_test(tcase, rays_meet_the_same, 0, 24);
    tcase_add_test(tcase, no_ray_falls_between_boxes);
    tcase_add_test(tcase, a_height_takes_little_more_than_itself);
    return tcase;
}

SUITE_MAIN("geometry/grid", case_grid)
