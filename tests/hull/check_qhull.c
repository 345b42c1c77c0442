// SPDX-License-Identifier: MIT
// Hulls that Qhull builds: all of them pass the check of forms from outside, hold their points, and
// are what the slow way of the tests finds.
#include "hull/qhull.h"
#include "support/campaign.h"
#include "support/hull_build.h"
#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

static const QhullNames names = {"hull.points", "hull.vertices_max"};

static const Hull *build(const Vec3 *point, size_t count, uint32_t vertices_max) {
    QhullForm *built = malloc(sizeof(QhullForm));
    Error error = {0};
    if (qhull_build(point, count, vertices_max, &names, built, &error) != STATUS_OK) {
        ck_abort_msg("%s: %s", error.field, error.message);
    }
    const HullNames of_form = {"points", "faces"};
    const size_t corners = built->face_first[built->form.face_count];
    ck_assert_int_eq(hull_check(&built->form, corners, &of_form, NULL), STATUS_OK);
    const Hull *hull = hull_open(&built->form, malloc(hull_bytes(&built->form)));
    free(built);
    return hull;
}

static double farthest_out(const Hull *hull, const Vec3 *point, size_t count) {
    double out = -HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        out = fmax(out, hull_outside(hull, point[i]));
    }
    return out;
}

START_TEST(clouds_have_the_hull_that_the_slow_way_finds) {
    Dice dice = {3001};
    int merged = 0;
    for (int i = 0, campaign = campaign_count(40); i < campaign; i++) {
        Vec3 point[60];
        const uint32_t count = 4 + (uint32_t)(56.0 * dice_unit(&dice));
        const double scale = pow(10.0, dice_between(&dice, -5.0, 5.0));
        for (uint32_t k = 0; k < count; k++) {
            point[k] = i % 2 == 0 ? dice_vec(&dice, -scale, scale)
                                  : vec3_scale(scale, dice_direction(&dice));
        }
        const Hull *hull = build(point, count, 0), *slow = hull_of_points(point, count);
        ck_assert_uint_eq(hull->vertex_count, slow->vertex_count);
        // a face so small that it is in the plane of another, by chance
        const bool is_merged = hull->face_count < slow->face_count;
        ck_assert_uint_le(hull->face_count, slow->face_count);
        ck_assert_double_eq_tol(hull->mass.volume, slow->mass.volume,
                                (is_merged ? 1e-5 : 1e-13) * slow->mass.volume);
        ck_assert_double_le(farthest_out(hull, point, count), (is_merged ? 4e-6 : 1e-14) * scale);
        merged += is_merged;
        hull_free(hull);
        hull_free(slow);
    }
    ck_assert_int_le(merged, 1 + campaign_count(40) / 20);
}
END_TEST

// Ten thousand points are taken, also where most of them are inside.
START_TEST(large_clouds_are_held) {
    Dice dice = {3002};
    Vec3 *point = malloc(QHULL_POINTS_MAX * sizeof(Vec3));
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < QHULL_POINTS_MAX; k++) {
            point[k] = i == 0   ? dice_vec(&dice, -1.0, 1.0)
                       : i == 1 ? vec3(0.1 * (double)(k / 100), 0.1 * (double)(k % 100),
                                       0.1 * (double)(k % 7))
                                : vec3_scale(dice_unit(&dice), dice_direction(&dice));
        }
        const Hull *hull = build(point, QHULL_POINTS_MAX, 0);
        ck_assert_double_le(farthest_out(hull, point, QHULL_POINTS_MAX), 1e-5);
        hull_free(hull);
    }
    free(point);
}
END_TEST

START_TEST(faces_in_one_plane_are_one) {
    Dice dice = {3003};
    for (int i = 0, campaign = campaign_count(100); i < campaign; i++) {
        // a box of many points, turned; then as floats have them
        const Quat turn = dice_quat(&dice);
        const Vec3 half = dice_vec(&dice, 0.2, 1.0);
        Vec3 point[8 + 60];
        for (uint32_t k = 0; k < 68; k++) {
            Vec3 p = dice_vec(&dice, -1.0, 1.0);
            const int axis = (int)(k % 3);
            p = k < 8 ? vec3((k & 1u) != 0 ? 1.0 : -1.0, (k & 2u) != 0 ? 1.0 : -1.0,
                             (k & 4u) != 0 ? 1.0 : -1.0)
                      : vec3(axis == 0 ? 1.0 : p.x, axis == 1 ? 1.0 : p.y, axis == 2 ? 1.0 : p.z);
            p = quat_rotate(turn, vec3(half.x * p.x, half.y * p.y, half.z * p.z));
            point[k] = i % 2 == 0 ? p : vec3((float)p.x, (float)p.y, (float)p.z);
        }
        const Hull *hull = build(point, 68, 0);
        ck_assert_uint_eq(hull->vertex_count, 8);
        ck_assert_uint_eq(hull->face_count, 6);
        const double volume = 8.0 * half.x * half.y * half.z;
        ck_assert_double_eq_tol(hull->mass.volume, volume, 4e-6 * volume);
        ck_assert_double_le(farthest_out(hull, point, 68), 2e-6);
        hull_free(hull);
    }
}
END_TEST

// Prisms of float coordinates: their ends have many corners, and their sides four.
START_TEST(prisms_of_floats_keep_their_faces) {
    Dice dice = {3004};
    for (uint32_t sides = 3; sides <= 52; sides += sides < 20 ? 1 : 16) {
        const Hull *prism = hull_of_prism(sides, 0.5, 0.3);
        const Quat turn = dice_quat(&dice);
        Vec3 point[HULL_VERTICES_MAX];
        for (uint32_t k = 0; k < prism->vertex_count; k++) {
            const Vec3 p = quat_rotate(turn, prism->point[k]);
            point[k] = vec3((float)p.x, (float)p.y, (float)p.z);
        }
        const Hull *hull = build(point, prism->vertex_count, 0);
        ck_assert_uint_eq(hull->vertex_count, prism->vertex_count);
        ck_assert_uint_eq(hull->face_count, prism->face_count);
        hull_free(hull);
        hull_free(prism);
    }
}
END_TEST

// Machined parts as files of triangles have them: rings of corners around fillets, in millimetres
// and floats, more of them than a hull may have. Which faces lie in one plane, and which are
// slivers, only their roundings say.
START_TEST(parts_of_floats_with_fillets_are_built) {
    enum { SIDES = 48, RINGS = 14 };
    Dice dice = {3011};
    for (int i = 0, campaign = campaign_count(20); i < campaign; i++) {
        Vec3 point[SIDES * RINGS];
        const Quat turn = dice_quat(&dice);
        const double radius = dice_between(&dice, 20.0, 60.0),
                     high = dice_between(&dice, 5.0, 80.0);
        const double fillet = dice_between(&dice, 0.5, 5.0), cone = dice_between(&dice, 0.8, 1.0);
        for (uint32_t k = 0; k < SIDES * RINGS; k++) {
            const uint32_t ring = k / SIDES;
            const double around = 2.0 * acos(-1.0) * (k % SIDES) / SIDES;
            const double bend = 0.5 * acos(-1.0) * (ring % (RINGS / 2)) / (RINGS / 2 - 1);
            const double out = (ring < RINGS / 2 ? 1.0 : cone) * radius + fillet * cos(bend);
            const double z = (ring < RINGS / 2 ? -1.0 : 1.0) * (high + fillet * sin(bend));
            const Vec3 p = quat_rotate(turn, vec3(out * cos(around), out * sin(around), z));
            point[k] = vec3_scale(1e-3, vec3((float)p.x, (float)p.y, (float)p.z));
        }
        const Hull *hull = build(point, SIDES * RINGS, 256);
        ck_assert_uint_le(hull->vertex_count, 256);
        hull_free(hull);
    }
}
END_TEST

START_TEST(vertices_max_keeps_those_that_matter) {
    Dice dice = {3005};
    Vec3 point[2000];
    for (uint32_t k = 0; k < 2000; k++) {
        point[k] = dice_direction(&dice);
    }
    double before = 0.0;
    for (uint32_t most = 4; most <= HULL_VERTICES_MAX; most *= 2) {
        const Hull *hull = build(point, 2000, most);
        ck_assert_uint_eq(hull->vertex_count, most);
        ck_assert_double_gt(hull->mass.volume, before);
        before = hull->mass.volume;
        hull_free(hull);
    }
    ck_assert_double_gt(before, 4.0); // of 4.19
}
END_TEST

START_TEST(the_same_points_have_the_same_form) {
    Dice dice = {3006};
    Vec3 point[300];
    for (uint32_t k = 0; k < 300; k++) {
        point[k] = dice_vec(&dice, -1.0, 1.0);
    }
    const Hull *one = build(point, 300, 0), *other = build(point, 300, 0);
    const HullForm form = hull_form(one);
    const size_t head = sizeof(Hull);
    ck_assert_int_eq(
        memcmp((const char *)one + head, (const char *)other + head, hull_bytes(&form) - head), 0);
    for (uint32_t f = 0; f < one->face_count; f++) { // each from its first corner on, in order
        for (uint32_t i = one->face_first[f] + 1; i < one->face_first[f + 1]; i++) {
            ck_assert_uint_gt(one->corner[i], one->corner[one->face_first[f]]);
        }
        ck_assert(f == 0 || one->corner[one->face_first[f]] >= one->corner[one->face_first[f - 1]]);
    }
    hull_free(one);
    hull_free(other);
}
END_TEST

static void assert_refused(const Vec3 *point, size_t count, uint32_t vertices_max,
                           const char *field, const char *part) {
    QhullForm *built = malloc(sizeof(QhullForm));
    Error error = {0};
    ck_assert_int_eq(qhull_build(point, count, vertices_max, &names, built, &error),
                     STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, part) != NULL, "%s", error.message);
    free(built);
}

START_TEST(what_has_no_hull_is_refused) {
    Dice dice = {3007};
    Vec3 *point = calloc(QHULL_POINTS_MAX + 1, sizeof(Vec3));
    for (size_t k = 0; k <= QHULL_POINTS_MAX; k++) {
        point[k] = dice_direction(&dice);
    }
    assert_refused(point, 3, 0, "hull.points", "4 to 10000 points, not of 3");
    assert_refused(point, QHULL_POINTS_MAX + 1, 0, "hull.points", "not of 10001");
    assert_refused(point, 300, 0, "hull.vertices_max", "more than 256 corners");
    assert_refused(point, 100, 3, "hull.vertices_max", "4 to 256 corners, not 3");
    assert_refused(point, 100, 257, "hull.vertices_max", "not 257");
    Vec3 flat[100];
    for (int kind = 0; kind < 3; kind++) {
        for (size_t k = 0; k < 100; k++) {
            const Vec3 p = point[k];
            flat[k] = kind == 0   ? vec3(0.3, 0.7 * (double)(k % 4 == 0), 0.2)
                      : kind == 1 ? vec3(p.x, 2.0 * p.x, -p.x)
                                  : vec3(p.x, p.y, p.x + 0.3 * p.y);
        }
        assert_refused(flat, 100, 0, "hull.points", kind == 2 ? "in a plane" : "in a line");
    }
    for (size_t k = 0; k < 100; k++) {
        flat[k] = vec3(1.0, 2.0, 3.0);
    }
    assert_refused(flat, 100, 0, "hull.points", "at least 1e-06 m long");
    for (int axis = 0; axis < 3; axis++) {
        const double wrong[] = {NAN, INFINITY, -1e7};
        const Vec3 kept = point[7];
        point[7] = vec3(axis == 0 ? wrong[0] : kept.x, axis == 1 ? wrong[1] : kept.y,
                        axis == 2 ? wrong[2] : kept.z);
        assert_refused(point, 10, 0, "hull.points[7]", "numbers between");
        point[7] = kept;
    }
    free(point);
}
END_TEST

// Whatever is nearly flat, in line, on a grid or doubled: a hull or a sentence, and no leak.
START_TEST(awkward_points_end_in_a_hull_or_in_a_sentence) {
    Dice dice = {3008};
    QhullForm *form = malloc(sizeof(QhullForm));
    int built = 0;
    const int campaign = campaign_count(3000);
    for (int i = 0; i < campaign; i++) {
        Vec3 point[64];
        const uint32_t count = 4 + (uint32_t)(60.0 * dice_unit(&dice));
        const double noise = i % 3 == 0 ? 0.0 : pow(10.0, dice_between(&dice, -16.0, -3.0));
        const double height = pow(10.0, dice_between(&dice, -8.0, 0.0));
        const Quat turn = dice_quat(&dice);
        for (uint32_t k = 0; k < count; k++) {
            const Vec3 p = dice_vec(&dice, 0.0, 4.0);
            const Vec3 grid = vec3(floor(p.x), floor(p.y), height * floor(p.z));
            point[k] = vec3_add(quat_rotate(turn, grid), dice_vec(&dice, -noise, noise));
        }
        Error error = {0};
        const Status status = qhull_build(point, count, 0, &names, form, &error);
        ck_assert(status == STATUS_OK || status == STATUS_INVALID_ARGUMENT);
        built += status == STATUS_OK;
        if (status == STATUS_OK) {
            const Hull *hull = hull_open(&form->form, malloc(hull_bytes(&form->form)));
            ck_assert_double_le(farthest_out(hull, point, count), 4e-5); // of a size of 6
            hull_free(hull);
        } else {
            ck_assert_uint_gt(strlen(error.message), 20);
        }
    }
    ck_assert_int_gt(built, campaign / 2);
    free(form);
}
END_TEST

static TCase *case_build(void) {
    TCase *tcase = tcase_create("build");
    tcase_add_test(tcase, clouds_have_the_hull_that_the_slow_way_finds);
    tcase_add_test(tcase, large_clouds_are_held);
    tcase_add_test(tcase, faces_in_one_plane_are_one);
    tcase_add_test(tcase, prisms_of_floats_keep_their_faces);
    tcase_add_test(tcase, parts_of_floats_with_fillets_are_built);
    tcase_add_test(tcase, vertices_max_keeps_those_that_matter);
    tcase_add_test(tcase, the_same_points_have_the_same_form);
    tcase_add_test(tcase, what_has_no_hull_is_refused);
    tcase_add_test(tcase, awkward_points_end_in_a_hull_or_in_a_sentence);
    return tcase;
}

SUITE_MAIN("hull/qhull", case_build)
