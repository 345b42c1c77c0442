// SPDX-License-Identifier: MIT
// Surfaces: what is refused and how it is said, what is derived, and what the tree finds against
// looking at all triangles.
#include "geometry/geometry.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

static const MeshNames names = {"mesh.points", "mesh.triangles", "mesh.patches"};

enum { POINTS_MAX = 600, TRIANGLES_MAX = 1200 };

typedef struct Draft {
    Vec3 point[POINTS_MAX];
    uint32_t corner[3 * TRIANGLES_MAX];
    MeshForm form;
} Draft;

// A grid of cells with corners anywhere, which lies flat or in hills.
static void draft_grid(Draft *draft, uint32_t side, double hills) {
    uint64_t seed = side;
    uint32_t *corner = draft->corner;
    for (uint32_t k = 0; k < (side + 1) * (side + 1); k++) {
        draft->point[k] = vec3(k % (side + 1) + lab_random(&seed, -0.3, 0.3),
                               (double)(k / (side + 1)) + lab_random(&seed, -0.3, 0.3),
                               hills * lab_random(&seed, -1.0, 1.0));
    }
    for (uint32_t k = 0; k < side * side; k++) {
        const uint32_t low = k / side * (side + 1) + k % side, high = low + side + 2;
        const uint32_t cell[6] = {low, low + 1, high, low, high, low + side + 1};
        memcpy(corner, cell, sizeof(cell));
        corner += 6;
    }
    draft->form = (MeshForm){
        draft->point, (side + 1) * (side + 1), draft->corner, 2 * side * side, false, NULL};
}

static const Geometry *open_draft(GeometryShelf *shelf, const Draft *draft) {
    const Geometry *geometry = NULL;
    Error error = {0};
    ck_assert_msg(geometry_of_mesh(shelf, &draft->form, &names, &geometry, &error) == STATUS_OK,
                  "%s: %s", error.field, error.message);
    return geometry;
}

static void assert_refused(const Draft *draft, const char *field, const char *part) {
    GeometryShelf *shelf = geometry_shelf_create();
    const Geometry *geometry = NULL;
    Error error = {0};
    ck_assert_int_eq(geometry_of_mesh(shelf, &draft->form, &names, &geometry, &error),
                     STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, part) != NULL, "%s", error.message);
    ck_assert_uint_eq(geometry_shelf_bytes(shelf), 0);
    geometry_shelf_destroy(shelf);
}

// ---- what is refused

START_TEST(numbers_are_judged) {
    static Draft draft;
    draft_grid(&draft, 4, 0.2);
    draft.form.point_count = 2;
    assert_refused(&draft, "mesh.points", "3 to 1048576 points, not 2");
    draft_grid(&draft, 4, 0.2);
    draft.form.triangle_count = 0;
    assert_refused(&draft, "mesh.triangles", "not 0");
    draft_grid(&draft, 4, 0.2);
    draft.point[7].y = NAN;
    assert_refused(&draft, "mesh.points[7]", "between");
    draft.point[7].y = 2e6;
    assert_refused(&draft, "mesh.points[7]", "between");
    draft_grid(&draft, 4, 0.2);
    draft.corner[10] = 25;
    assert_refused(&draft, "mesh.triangles[10]", "no point 25");
    draft_grid(&draft, 4, 0.2);
    draft.corner[1] = draft.corner[0];
    assert_refused(&draft, "mesh.triangles[0]", "sliver");
    draft_grid(&draft, 4, 0.2);
    for (uint32_t i = 0; i < draft.form.point_count; i++) {
        draft.point[i] = vec3_scale(1e-8, draft.point[i]);
    }
    assert_refused(&draft, "mesh.points", "at least 1e-06 m");
}
END_TEST

START_TEST(what_looks_to_both_sides_must_say_so) {
    static Draft draft;
    draft_grid(&draft, 4, 0.2);
    const uint32_t moved = draft.corner[3];
    draft.corner[3] = draft.corner[4];
    draft.corner[4] = moved;
    assert_refused(&draft, "mesh.triangles", "first triangle 0");
    draft.form.is_two_sided = true;
    GeometryShelf *shelf = geometry_shelf_create();
    geometry_drop(open_draft(shelf, &draft));
    // a third triangle at an edge
    draft_grid(&draft, 4, 0.2);
    uint32_t *added = draft.corner + 3 * (size_t)draft.form.triangle_count++;
    added[0] = draft.corner[0];
    added[1] = draft.corner[2];
    added[2] = 24;
    assert_refused(&draft, "mesh.triangles", "two others or more");
    draft.form.is_two_sided = true;
    geometry_drop(open_draft(shelf, &draft));
    geometry_shelf_destroy(shelf);
}
END_TEST

START_TEST(height_fields_are_judged) {
    static const MeshNames of_heights = {"height_field.heights", "height_field.spacing",
                                         "height_field.patches"};
    double height[12] = {0.0};
    const struct {
        HeightForm form;
        int spoilt;
        double by;
        const char *field, *part;
    } cases[] = {
        {{1, 12, {1.0, 1.0}, height, NULL}, -1, 0.0, "height_field.heights", "not 1 x 12"},
        {{2048, 1024, {1.0, 1.0}, height, NULL}, -1, 0.0, "height_field.heights", "2048 x 1024"},
        {{4, 3, {1.0, 0.0}, height, NULL}, -1, 0.0, "height_field.spacing[1]", "at least 1e-06 m"},
        {{4, 3, {4e5, 1.0}, height, NULL}, -1, 0.0, "height_field.spacing[0]", "at most 1e+06 m"},
        {{4, 3, {1.0, 1.0}, height, NULL}, 5, INFINITY, "height_field.heights[5]", "between"},
        {{4, 3, {0.1, 0.1}, height, NULL}, 5, 1e6, "height_field.spacing", "slivers"},
    };
    GeometryShelf *shelf = geometry_shelf_create();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const Geometry *geometry = NULL;
        Error error = {0};
        memset(height, 0, sizeof(height));
        if (cases[i].spoilt >= 0) {
            height[cases[i].spoilt] = cases[i].by;
        }
        ck_assert_int_eq(geometry_of_heights(shelf, &cases[i].form, &of_heights, &geometry, &error),
                         STATUS_INVALID_ARGUMENT);
        ck_assert_str_eq(error.field, cases[i].field);
        ck_assert_msg(strstr(error.message, cases[i].part) != NULL, "%s", error.message);
    }
    geometry_shelf_destroy(shelf);
}
END_TEST

// ---- what is derived

START_TEST(what_lies_in_one_plane_is_one_face) {
    static Draft draft;
    GeometryShelf *shelf = geometry_shelf_create();
    draft_grid(&draft, 8, 0.0);
    const Geometry *flat = open_draft(shelf, &draft);
    for (uint32_t t = 0; t < flat->mesh->triangle_count; t++) {
        ck_assert_uint_eq(mesh_face(flat->mesh, t), 0);
    }
    draft_grid(&draft, 8, 0.3);
    const Geometry *hilly = open_draft(shelf, &draft);
    for (uint32_t t = 0; t < hilly->mesh->triangle_count; t++) {
        ck_assert_uint_eq(mesh_face(hilly->mesh, t), t);
    }
    geometry_drop(flat);
    geometry_drop(hilly);
    geometry_shelf_destroy(shelf);
}
END_TEST

// Each triangle with corners of its own, as files of triangles without names have them: the same
// neighbours.
START_TEST(points_at_one_place_are_one) {
    static Draft joined, apart;
    draft_grid(&joined, 5, 0.2);
    apart = joined;
    apart.form = (MeshForm){apart.point,  3 * joined.form.triangle_count,
                            apart.corner, joined.form.triangle_count,
                            false,        NULL};
    for (uint32_t k = 0; k < apart.form.point_count; k++) {
        apart.point[k] = joined.point[joined.corner[k]];
        apart.corner[k] = k;
    }
    GeometryShelf *shelf = geometry_shelf_create();
    const Geometry *one = open_draft(shelf, &joined), *other = open_draft(shelf, &apart);
    ck_assert_mem_eq(one->mesh->beyond, other->mesh->beyond,
                     3 * (size_t)joined.form.triangle_count * sizeof(uint32_t));
    geometry_drop(one);
    geometry_drop(other);
    geometry_shelf_destroy(shelf);
}
END_TEST

START_TEST(an_edge_has_one_number_from_both_sides) {
    static Draft draft;
    draft_grid(&draft, 6, 0.2);
    GeometryShelf *shelf = geometry_shelf_create();
    const Geometry *geometry = open_draft(shelf, &draft);
    const Mesh *mesh = geometry->mesh;
    uint32_t shared = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        for (uint32_t i = 0; i < 3; i++) {
            const uint32_t other = mesh->beyond[3 * t + i];
            if (other == MESH_NONE) {
                continue;
            }
            shared++;
            bool is_found = false;
            for (uint32_t k = 0; k < 3; k++) {
                is_found = is_found || (mesh->beyond[3 * other + k] == t &&
                                        mesh_edge(mesh, other, k) == mesh_edge(mesh, t, i));
            }
            ck_assert(is_found);
        }
    }
    ck_assert_uint_eq(shared, 2 * (3 * 6 * 6 - 2 * 6)); // all edges but those around it
    geometry_drop(geometry);
    geometry_shelf_destroy(shelf);
}
END_TEST

START_TEST(bytes_are_read_back) {
    static Draft draft;
    draft_grid(&draft, 6, 0.2);
    GeometryShelf *shelf = geometry_shelf_create(), *other = geometry_shelf_create();
    const double height[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.7};
    const HeightForm heights = {3, 2, {0.5, 0.25}, height, NULL};
    const Geometry *made[2] = {open_draft(shelf, &draft), NULL};
    ck_assert_int_eq(geometry_of_heights(shelf, &heights, &names, &made[1], NULL), STATUS_OK);
    for (int k = 0; k < 2; k++) {
        const Geometry *read = NULL;
        ck_assert_int_eq(geometry_open(other, made[k]->bytes, made[k]->byte_count, "", &read, NULL),
                         STATUS_OK);
        ck_assert_mem_eq(read->digest, made[k]->digest, SHA256_BYTES);
        ck_assert_int_eq(read->kind, made[k]->kind);
        // cut at any place, or longer, they are none
        for (size_t cut = 0; cut < made[k]->byte_count; cut += 8) {
            const Geometry *none = NULL;
            Error error = {0};
            ck_assert_int_eq(geometry_open(other, made[k]->bytes, cut, "", &none, &error),
                             STATUS_INVALID_ARGUMENT);
        }
        geometry_drop(read);
        geometry_drop(made[k]);
    }
    geometry_shelf_destroy(shelf);
    geometry_shelf_destroy(other);
}
END_TEST

// Bytes with patches are of version 2; without any, or with all 0, of version 1, as they have been.
START_TEST(patches_are_read_back) {
    static Draft draft;
    draft_grid(&draft, 6, 0.2);
    GeometryShelf *shelf = geometry_shelf_create(), *other = geometry_shelf_create();
    uint8_t patch[72] = {0}, cell[5] = {0, 0, 7, 0, 1};
    const double height[12] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.7};
    const HeightForm heights = {6, 2, {0.5, 0.25}, height, cell};
    const Geometry *plain = open_draft(shelf, &draft), *made[2];
    draft.form.patch = patch;
    made[0] = open_draft(shelf, &draft);
    ck_assert_ptr_eq(made[0], plain);
    ck_assert_int_eq(plain->bytes[4], 1);
    geometry_drop(made[0]);
    patch[71] = 3;
    made[0] = open_draft(shelf, &draft);
    ck_assert_int_eq(geometry_of_heights(shelf, &heights, &names, &made[1], NULL), STATUS_OK);
    ck_assert_uint_eq(mesh_patch(made[0]->mesh, 71), 3);
    ck_assert_uint_eq(mesh_patch(made[1]->mesh, 4), 7);
    ck_assert_uint_eq(mesh_patch(made[1]->mesh, 9), 1);
    for (int k = 0; k < 2; k++) {
        const Geometry *read = NULL;
        Error error = {0};
        uint8_t bytes[8192];
        const size_t count = made[k]->byte_count, last = k == 0 ? count - 1 : count - 8 + 4;
        ck_assert_uint_le(count, sizeof(bytes));
        memcpy(bytes, made[k]->bytes, count);
        ck_assert_int_eq(bytes[4], 2);
        ck_assert_int_eq(geometry_open(other, bytes, count, "", &read, NULL), STATUS_OK);
        ck_assert_mem_eq(read->digest, made[k]->digest, SHA256_BYTES);
        bytes[last] = MESH_PATCHES_MAX;
        ck_assert_int_eq(geometry_open(other, bytes, count, "x", &read, &error),
                         STATUS_INVALID_ARGUMENT);
        ck_assert_str_eq(error.field, k == 0 ? "x.patches[71]" : "x.patches[4]");
        bytes[last] = bytes[count - 6] = 0; // of none: that is version 1's
        ck_assert_int_eq(geometry_open(other, bytes, count, "", &read, &error),
                         STATUS_INVALID_ARGUMENT);
        bytes[4] = 1;
        ck_assert_int_eq(geometry_open(other, bytes, count, "", &read, &error),
                         STATUS_INVALID_ARGUMENT);
        geometry_drop(read);
        geometry_drop(made[k]);
    }
    geometry_drop(plain);
    geometry_shelf_destroy(shelf);
    geometry_shelf_destroy(other);
}
END_TEST

// ---- the tree

START_TEST(the_tree_finds_what_all_boxes_say) {
    static Draft draft;
    draft_grid(&draft, 20, 0.4);
    GeometryShelf *shelf = geometry_shelf_create();
    const Geometry *geometry = open_draft(shelf, &draft);
    const Mesh *mesh = geometry->mesh;
    uint64_t seed = 5;
    for (int round = 0; round < 300; round++) {
        const Vec3 middle = vec3(lab_random(&seed, -2.0, 22.0), lab_random(&seed, -2.0, 22.0),
                                 lab_random(&seed, -1.0, 1.0));
        const double half = lab_random(&seed, 0.0, 3.0);
        const Vec3 low = vec3_sub(middle, vec3(half, half, half)),
                   high = vec3_add(middle, vec3(half, half, half));
        uint32_t found = 0;
        uint64_t key[16], after = 0, before = 0;
        bool is_first = true;
        uint32_t count;
        do { // in parts
            count = mesh_near(mesh, low, high, after, is_first, key, 16);
            for (uint32_t i = 0; i < count; i++) {
                ck_assert(found == 0 || key[i] > before);
                before = key[i];
                found++;
            }
            after = count > 0 ? key[count - 1] : after;
            is_first = false;
        } while (count == 16);
        uint32_t all = 0;
        for (uint32_t t = 0; t < mesh->triangle_count; t++) {
            const Vec3 a = mesh_corner(mesh, t, 0), b = mesh_corner(mesh, t, 1),
                       c = mesh_corner(mesh, t, 2);
            const Vec3 from = vec3_min(a, vec3_min(b, c)), to = vec3_max(a, vec3_max(b, c));
            all += from.x <= high.x && from.y <= high.y && from.z <= high.z && to.x >= low.x &&
                   to.y >= low.y && to.z >= low.z;
        }
        ck_assert_uint_eq(found, all);
    }
    geometry_drop(geometry);
    geometry_shelf_destroy(shelf);
}
END_TEST

// The nearest of all triangles that the way goes through, each asked by the way's place among its
// sides in the triangle's own coordinates.
static double slow_entry(const Mesh *mesh, Vec3 origin, Vec3 way) {
    double first = HUGE_VAL;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const Vec3 a = mesh_corner(mesh, t, 0), u = vec3_sub(mesh_corner(mesh, t, 1), a),
                   v = vec3_sub(mesh_corner(mesh, t, 2), a), n = vec3_cross(u, v);
        const double fall = vec3_dot(n, way), at = vec3_dot(n, vec3_sub(a, origin)) / fall;
        const Vec3 p = vec3_sub(vec3_add_scaled(origin, at, way), a);
        const double nn = vec3_dot(n, n), s = vec3_dot(n, vec3_cross(p, v)) / nn,
                     r = vec3_dot(n, vec3_cross(u, p)) / nn;
        if (fall < 0.0 && at >= 0.0 && at <= 1.0 && s >= 0.0 && r >= 0.0 && s + r <= 1.0) {
            first = fmin(first, at);
        }
    }
    return first;
}

START_TEST(rays_meet_the_nearest_triangle) {
    static Draft draft;
    draft_grid(&draft, 20, 0.6);
    GeometryShelf *shelf = geometry_shelf_create();
    const Geometry *geometry = open_draft(shelf, &draft);
    uint64_t seed = 9;
    uint32_t met = 0;
    for (int round = 0; round < 3000; round++) {
        const Vec3 from = vec3(lab_random(&seed, 0.0, 20.0), lab_random(&seed, 0.0, 20.0),
                               lab_random(&seed, -1.0, 3.0));
        const Vec3 way = vec3(lab_random(&seed, -9.0, 9.0), lab_random(&seed, -9.0, 9.0),
                              lab_random(&seed, -3.0, 1.0));
        double fraction;
        uint32_t triangle;
        const bool is_met = mesh_enters(geometry->mesh, from, way, &fraction, &triangle);
        const double slow = slow_entry(geometry->mesh, from, way);
        ck_assert_int_eq(is_met, slow <= 1.0);
        ck_assert(!is_met || fabs(fraction - slow) < 1e-12);
        met += is_met ? 1 : 0;
    }
    ck_assert_uint_gt(met, 500);
    geometry_drop(geometry);
    geometry_shelf_destroy(shelf);
}
END_TEST

// Straight down through points and edges, where roundings decide which of two it is: always one.
START_TEST(no_ray_goes_between_two_triangles) {
    static Draft draft;
    draft_grid(&draft, 20, 0.6);
    GeometryShelf *shelf = geometry_shelf_create();
    const Geometry *geometry = open_draft(shelf, &draft);
    const Mesh *mesh = geometry->mesh;
    uint64_t seed = 13;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        for (uint32_t i = 0; i < 3; i++) {
            if (mesh->beyond[3 * t + i] == MESH_NONE) {
                continue;
            }
            const double part = lab_random(&seed, 0.05, 0.95);
            const Vec3 p = mesh_corner(mesh, t, i), q = mesh_corner(mesh, t, (i + 1) % 3);
            const Vec3 on = vec3_add_scaled(p, part, vec3_sub(q, p));
            const Vec3 way = vec3(lab_random(&seed, -0.3, 0.3), lab_random(&seed, -0.3, 0.3), -5.0);
            double fraction;
            uint32_t triangle;
            ck_assert(mesh_enters(mesh, vec3_add_scaled(on, -0.7, way), way, &fraction, &triangle));
            ck_assert_double_le(fraction, 0.7 + 1e-12);
        }
    }
    geometry_drop(geometry);
    geometry_shelf_destroy(shelf);
}
END_TEST

// Upright ways through the points of a straight grid, and in the planes of its lines. Sides of
// the tree's boxes are there, too, and a way along one is in both boxes, not in none.
START_TEST(no_upright_ray_goes_between_two_boxes) {
    enum { SIDE = 20 };
    static Draft draft;
    draft_grid(&draft, SIDE, 0.6);
    for (uint32_t k = 0; k < (SIDE + 1) * (SIDE + 1); k++) {
        draft.point[k].x = k % (SIDE + 1);
        draft.point[k].y = (double)(k / (SIDE + 1));
    }
    GeometryShelf *shelf = geometry_shelf_create();
    const Geometry *geometry = open_draft(shelf, &draft);
    static const Vec3 ways[] = {{0, 0, -5}, {-0.0, 0, -5}, {0, -0.0, -5}, {0.3, 0, -5}};
    for (uint32_t k = 0; k < SIDE * SIDE * sizeof(ways) / sizeof(ways[0]); k++) {
        const uint32_t cell = k % (SIDE * SIDE);
        const Vec3 way = ways[k / (SIDE * SIDE)];
        const Vec3 from = vec3(cell % SIDE + (k % 3 == 0 ? 0.25 : 0.0),
                               (double)(cell / SIDE) + (k % 3 == 1 ? 0.25 : 0.0), 4.0);
        double fraction;
        uint32_t triangle;
        const double slow = slow_entry(geometry->mesh, from, way);
        const bool is_met = mesh_enters(geometry->mesh, from, way, &fraction, &triangle);
        // beside the grid nothing is; in its outermost lines its own roundings decide
        if (slow <= 1.0) {
            ck_assert(is_met && fabs(fraction - slow) < 1e-12);
        }
    }
    geometry_drop(geometry);
    geometry_shelf_destroy(shelf);
}
END_TEST

static TCase *case_mesh(void) {
    TCase *tcase = tcase_create("mesh");
    tcase_add_test(tcase, numbers_are_judged);
    tcase_add_test(tcase, what_looks_to_both_sides_must_say_so);
    tcase_add_test(tcase, height_fields_are_judged);
    tcase_add_test(tcase, what_lies_in_one_plane_is_one_face);
    tcase_add_test(tcase, points_at_one_place_are_one);
    tcase_add_test(tcase, an_edge_has_one_number_from_both_sides);
    tcase_add_test(tcase, bytes_are_read_back);
    tcase_add_test(tcase, patches_are_read_back);
    tcase_add_test(tcase, the_tree_finds_what_all_boxes_say);
    tcase_add_test(tcase, rays_meet_the_nearest_triangle);
    tcase_add_test(tcase, no_ray_goes_between_two_triangles);
    tcase_add_test(tcase, no_upright_ray_goes_between_two_boxes);
    return tcase;
}

SUITE_MAIN("geometry/mesh", case_mesh)
