// SPDX-License-Identifier: MIT
#include "collide/gjk.h"

#include "collide/geometry.h"
#include "support/campaign.h"
#include "support/suite.h"

// Bodies of one metre: the promise is 1e-15 of the size; some hundred roundings are allowed.
static const double tolerance = 1e-13;

typedef struct PlacedBox {
    Primitive box;
    Pose pose;
} PlacedBox;

static GjkPoint support_placed_box(const void *body, Vec3 direction) {
    const PlacedBox *placed = body;
    GjkPoint best = {.vertex = 0};
    double farthest = -HUGE_VAL;
    for (unsigned corner = 0; corner < 8; corner++) {
        Vec3 p = box_corner(&placed->box, placed->pose, corner);
        if (vec3_dot(p, direction) > farthest) {
            farthest = vec3_dot(p, direction);
            best = (GjkPoint){.position = p, .vertex = corner};
        }
    }
    return best;
}

static GjkPoint support_point(const void *body, Vec3 direction) {
    (void)direction;
    return (GjkPoint){.position = *(const Vec3 *)body, .vertex = 0};
}

START_TEST(a_point_and_a_box_have_the_distance_of_clamping) {
    Dice dice = {41};
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        PlacedBox placed = {dice_box(&dice), dice_pose(&dice, 1.0)};
        Vec3 point = dice_vec(&dice, -2.0, 2.0);
        double expected = point_box_distance(point, &placed.box, placed.pose);
        GjkResult result =
            gjk_distance((GjkBody){support_point, &point}, (GjkBody){support_placed_box, &placed},
                         dice_direction(&dice));
        ck_assert_int_eq(result.is_apart, expected > 0.0);
        if (result.is_apart) {
            ck_assert_double_eq_tol(result.distance, expected, tolerance);
            Vec3 reached = vec3_add_scaled(result.point_a, result.distance, result.normal);
            ck_assert_double_le(vec3_norm(vec3_sub(reached, result.point_b)), tolerance);
            ck_assert_uint_eq(result.corners_a, 1);
        }
    }
}
END_TEST

START_TEST(two_boxes_have_the_distance_of_their_nearest_features) {
    Dice dice = {42};
    int apart = 0;
    for (int i = 0, campaign = campaign_count(10000); i < campaign; i++) {
        PlacedBox a = {dice_box(&dice), dice_pose(&dice, 1.2)},
                  b = {dice_box(&dice), dice_pose(&dice, 1.2)};
        double separation = best_separation(&a.box, a.pose, &b.box, b.pose);
        if (fabs(separation) < 1e-9) {
            continue; // touching to rounding: either answer is right
        }
        GjkResult result =
            gjk_distance((GjkBody){support_placed_box, &a}, (GjkBody){support_placed_box, &b},
                         vec3_sub(b.pose.position, a.pose.position));
        ck_assert_int_eq(result.is_apart, separation > 0.0);
        if (!result.is_apart) {
            continue;
        }
        apart++;
        ck_assert_double_eq_tol(result.distance, box_box_distance(&a.box, a.pose, &b.box, b.pose),
                                tolerance);
        ck_assert_double_eq_tol(vec3_norm(result.normal), 1.0, tolerance);
        ck_assert_double_le(point_box_distance(result.point_a, &a.box, a.pose), tolerance);
        ck_assert_double_le(point_box_distance(result.point_b, &b.box, b.pose), tolerance);
    }
    ck_assert_int_gt(apart, campaign_count(2000));
}
END_TEST

START_TEST(parallel_faces_are_as_far_apart_as_they_are) {
    Dice dice = {43};
    for (int i = 0, campaign = campaign_count(2000); i < campaign; i++) {
        double gap = i % 2 == 0 ? dice_between(&dice, 0.0, 1e-6) : dice_between(&dice, 0.0, 1.0);
        PlacedBox a = {make_box(vec3(0.5, 0.5, 0.5)), pose_at(0.0, 0.0, 0.0)};
        PlacedBox b = {make_box(vec3(0.5, 0.5, 0.5)),
                       pose_at(dice_between(&dice, -0.9, 0.9), 0.0, 1.0 + gap)};
        GjkResult result =
            gjk_distance((GjkBody){support_placed_box, &a}, (GjkBody){support_placed_box, &b},
                         vec3_sub(b.pose.position, a.pose.position));
        ck_assert(result.is_apart || gap < tolerance);
        if (result.is_apart) {
            ck_assert_double_eq_tol(result.distance, gap, tolerance);
        }
    }
}
END_TEST

// Beside the diagonal of a face, which is an edge of the triangles of the search: nearer than over
// the diagonal by the square of what it is beside it, less than a rounding; the normal is turned by
// that itself.
START_TEST(beside_a_diagonal_the_normal_is_the_faces) {
    Dice dice = {44};
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        PlacedBox placed = {dice_box(&dice), pose_at(0.0, 0.0, 0.0)};
        const Vec3 half = placed.box.size;
        const double along = dice_between(&dice, -0.9, 0.9);
        const double beside = pow(10.0, dice_between(&dice, -10.0, -6.0));
        Vec3 point = vec3(along * half.x + beside, along * half.y,
                          half.z + pow(10.0, dice_between(&dice, -2.0, 0.0)));
        Vec3 toward = dice_direction(&dice);
        GjkResult result = gjk_distance((GjkBody){support_placed_box, &placed},
                                        (GjkBody){support_point, &point}, toward);
        ck_assert(result.is_apart);
        // the height of the least, 0.01, by which roundings of the size turn it
        ck_assert_double_le(vec3_norm(vec3_sub(result.normal, vec3(0.0, 0.0, 1.0))),
                            100.0 * tolerance);
        ck_assert_double_eq_tol(result.point_a.x, point.x, tolerance);
        ck_assert_double_eq_tol(result.point_a.y, point.y, tolerance);
    }
}
END_TEST

// Whoever asks no more than whether two are farther apart than that is told it early, and of those
// that are not the same to the last bit.
START_TEST(a_plane_that_parts_two_by_more_ends_the_search) {
    Dice dice = {45};
    int far = 0, near = 0;
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        PlacedBox a = {dice_box(&dice), dice_pose(&dice, 1.2)},
                  b = {dice_box(&dice), dice_pose(&dice, 1.2)};
        const GjkBody of_a = {support_placed_box, &a}, of_b = {support_placed_box, &b};
        const Vec3 toward = vec3_sub(b.pose.position, a.pose.position);
        const GjkResult all = gjk_distance(of_a, of_b, toward);
        const double distance = all.is_apart ? all.distance : 0.0;
        const GjkEnd end = {.progress = 1e-14,
                            .far = i % 3 == 0
                                       ? dice_between(&dice, 0.0, 1.0)
                                       : distance + pow(10.0, dice_between(&dice, -9.0, -1.0)) *
                                                        (i % 3 == 1 ? 1.0 : -1.0)};
        if (!(end.far >= 0.0)) {
            continue;
        }
        GjkSimplex simplex;
        const GjkResult result = gjk_search(of_a, of_b, toward, &end, &simplex);
        // as near as the squares of both are told apart
        ck_assert(!result.is_far || distance > end.far - tolerance);
        ck_assert(result.is_far || distance < end.far + 1e-7);
        if (!result.is_far) {
            ck_assert_int_eq(result.is_apart, all.is_apart);
            ck_assert_mem_eq(&result.distance, &all.distance, sizeof(double));
            ck_assert_mem_eq(&result.normal, &all.normal, sizeof(Vec3));
            ck_assert_mem_eq(&result.point_a, &all.point_a, sizeof(Vec3));
            ck_assert_mem_eq(&result.point_b, &all.point_b, sizeof(Vec3));
        }
        far += result.is_far;
        near += !result.is_far;
    }
    ck_assert_int_gt(far, campaign_count(2000));
    ck_assert_int_gt(near, campaign_count(2000));
}
END_TEST

static TCase *case_gjk(void) {
    TCase *tcase = tcase_create("gjk");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_point_and_a_box_have_the_distance_of_clamping);
    tcase_add_test(tcase, two_boxes_have_the_distance_of_their_nearest_features);
    tcase_add_test(tcase, parallel_faces_are_as_far_apart_as_they_are);
    tcase_add_test(tcase, beside_a_diagonal_the_normal_is_the_faces);
    tcase_add_test(tcase, a_plane_that_parts_two_by_more_ends_the_search);
    return tcase;
}

SUITE_MAIN("collide/gjk", case_gjk)
