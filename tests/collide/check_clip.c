// SPDX-License-Identifier: MIT
#include "collide/box/clip.h"

#include "collide/geometry.h"
#include "support/campaign.h"
#include "support/suite.h"

static ClipPolygon make_polygon(Vec3 center, double half_x, double half_y, Quat turn) {
    static const double sign[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    ClipPolygon polygon = {.count = 4};
    for (uint32_t i = 0; i < 4; i++) {
        Vec3 corner = quat_rotate(turn, vec3(sign[i][0] * half_x, sign[i][1] * half_y, 0.0));
        polygon.point[i] =
            (ClipPoint){.position = vec3_add(center, corner), .feature = i, .edge = i};
    }
    return polygon;
}

static double polygon_area(const ClipPolygon *polygon) {
    double twice = 0.0;
    for (uint32_t i = 0; i < polygon->count; i++) {
        Vec3 p = polygon->point[i].position, q = polygon->point[(i + 1) % polygon->count].position;
        twice += p.x * q.y - p.y * q.x;
    }
    return 0.5 * fabs(twice);
}

static void assert_features_differ(const ClipPolygon *polygon) {
    for (uint32_t i = 0; i < polygon->count; i++) {
        ck_assert_uint_lt(polygon->point[i].feature, 128);
        for (uint32_t k = 0; k < i; k++) {
            ck_assert_uint_ne(polygon->point[i].feature, polygon->point[k].feature);
        }
    }
}

// A corner of a cell counts as common where it lies in both: the area by counting cells of 1/200.
static double counted_area(Vec3 center, double half_x, double half_y, Quat turn) {
    enum { CELL_COUNT = 200 };
    Mat3 axes = quat_to_mat3(turn);
    int inside = 0;
    for (int i = 0; i < CELL_COUNT; i++) {
        for (int k = 0; k < CELL_COUNT; k++) {
            Vec3 p =
                vec3(-1.0 + (2.0 * i + 1.0) / CELL_COUNT, -1.0 + (2.0 * k + 1.0) / CELL_COUNT, 0.0);
            Vec3 local = mat3_tmul_vec(axes, vec3_sub(p, center));
            inside += fabs(local.x) <= half_x && fabs(local.y) <= half_y;
        }
    }
    return 4.0 * inside / (CELL_COUNT * CELL_COUNT);
}

START_TEST(what_is_left_is_what_both_cover) {
    Dice dice = {51};
    for (int i = 0, campaign = campaign_count(300); i < campaign; i++) {
        double half_x = dice_between(&dice, 0.2, 1.5), half_y = dice_between(&dice, 0.2, 1.5);
        Vec3 center = vec3(dice_between(&dice, -1.5, 1.5), dice_between(&dice, -1.5, 1.5), 0.0);
        Quat turn = quat_about_z(dice_between(&dice, -1.0, 1.0));
        ClipPolygon polygon = make_polygon(center, half_x, half_y, turn);
        clip_rectangle(&polygon, 1.0, 1.0, 0.0);
        assert_features_differ(&polygon);
        for (uint32_t k = 0; k < polygon.count; k++) {
            ck_assert_double_le(fabs(polygon.point[k].position.x), 1.0 + 1e-12);
            ck_assert_double_le(fabs(polygon.point[k].position.y), 1.0 + 1e-12);
        }
        // the outline, at most 8 long, passes through at most 8 * 100 * 2 cells of 1e-4, wrong by
        // half of each on average at worst
        ck_assert_double_eq_tol(polygon_area(&polygon), counted_area(center, half_x, half_y, turn),
                                0.04);
    }
}
END_TEST

START_TEST(corners_within_the_slop_stay_themselves) {
    Dice dice = {52};
    for (int i = 0, campaign = campaign_count(1000); i < campaign; i++) {
        Vec3 center = dice_vec(&dice, -1e-6, 1e-6);
        ClipPolygon polygon = make_polygon(center, 1.0, 1.0, quat_identity());
        clip_rectangle(&polygon, 1.0, 1.0, 1e-5);
        ck_assert_uint_eq(polygon.count, 4);
        for (uint32_t k = 0; k < 4; k++) {
            ck_assert_uint_eq(polygon.point[k].feature, k);
        }
    }
}
END_TEST

START_TEST(the_four_kept_hold_the_lowest_and_the_largest_area) {
    Dice dice = {53};
    for (int i = 0, campaign = campaign_count(1000); i < campaign; i++) {
        // a square turned by about 45 degrees in a square: eight corners
        Quat turn = quat_about_z(dice_between(&dice, 0.6, 0.8));
        ClipPolygon polygon = make_polygon(vec3(0.0, 0.0, 0.0), 1.15, 1.15, turn);
        for (uint32_t k = 0; k < 4; k++) {
            polygon.point[k].position.z = dice_between(&dice, -0.1, 0.1);
        }
        clip_rectangle(&polygon, 1.0, 1.0, 0.0);
        ClipPolygon all = polygon;
        clip_reduce(&polygon);
        ck_assert_uint_eq(polygon.count, 4);
        assert_features_differ(&polygon);
        double lowest = HUGE_VAL, kept = HUGE_VAL;
        for (uint32_t k = 0; k < all.count; k++) {
            lowest = fmin(lowest, all.point[k].position.z);
        }
        for (uint32_t k = 0; k < 4; k++) {
            kept = fmin(kept, polygon.point[k].position.z);
        }
        ck_assert_double_eq(kept, lowest);
        ck_assert_double_ge(polygon_area(&polygon),
                            0.6 * polygon_area(&all)); // four of eight: at least every second one
    }
}
END_TEST

static bool has_place(const ClipPolygon *polygon, Vec3 place) {
    bool has = false;
    for (uint32_t i = 0; i < polygon->count; i++) {
        has = has || vec3_norm(vec3_sub(polygon->point[i].position, place)) <= 1e-12;
    }
    return has;
}

// Of equally low corners it is the area that chooses, and not where the polygon begins.
START_TEST(the_four_kept_are_those_of_the_mirror) {
    Dice dice = {59};
    for (int i = 0, campaign = campaign_count(1000); i < campaign; i++) {
        Vec3 center = vec3(dice_between(&dice, -0.2, 0.2), dice_between(&dice, -0.2, 0.2), 0.0);
        ClipPolygon polygon =
            make_polygon(center, 1.15, 1.05, quat_about_z(dice_between(&dice, 0.1, 1.4)));
        clip_rectangle(&polygon, 1.0, 1.1, 0.0);
        ClipPolygon mirrored = {.count = polygon.count};
        for (uint32_t k = 0; k < polygon.count; k++) {
            mirrored.point[k] = polygon.point[(2 * polygon.count - 3 - k) % polygon.count];
            mirrored.point[k].position.x *= -1.0;
        }
        clip_reduce(&polygon);
        clip_reduce(&mirrored);
        ck_assert_uint_eq(polygon.count, mirrored.count);
        for (uint32_t k = 0; k < polygon.count; k++) {
            Vec3 place = polygon.point[k].position;
            ck_assert(has_place(&mirrored, vec3(-place.x, place.y, place.z)));
        }
    }
}
END_TEST

START_TEST(what_is_out_of_reach_goes) {
    ClipPolygon polygon = make_polygon(vec3(0.0, 0.0, 0.5), 0.5, 0.5, quat_identity());
    polygon.point[2].position.z = 0.1;
    clip_rectangle(&polygon, 1.0, 1.0, 0.0);
    clip_drop_high(&polygon, 0.2);
    ck_assert_uint_eq(polygon.count, 1);
    ck_assert_uint_eq(polygon.point[0].feature, 2);
    clip_drop_high(&polygon, 0.0);
    ck_assert_uint_eq(polygon.count, 0);
}
END_TEST

static TCase *case_clip(void) {
    TCase *tcase = tcase_create("clip");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, what_is_left_is_what_both_cover);
    tcase_add_test(tcase, corners_within_the_slop_stay_themselves);
    tcase_add_test(tcase, the_four_kept_hold_the_lowest_and_the_largest_area);
    tcase_add_test(tcase, the_four_kept_are_those_of_the_mirror);
    tcase_add_test(tcase, what_is_out_of_reach_goes);
    return tcase;
}

SUITE_MAIN("collide/clip", case_clip)
