// SPDX-License-Identifier: MIT
#include "collide/narrow.h"

#include "collide/geometry.h"
#include "support/campaign.h"
#include "support/suite.h"

// Sizes are about 1 m. Rounding of positions, rotations and projections of that size stays below
// 1e-13; the bound asked for is 1e-9 of the size.
static const double tolerance = 1e-9;

static double smallest_gap(const Manifold *manifold) {
    double gap = HUGE_VAL;
    for (uint32_t i = 0; i < manifold->count; i++) {
        gap = fmin(gap, manifold->point[i].gap);
    }
    return gap;
}

static void assert_sound(const Manifold *manifold, double reach) {
    ck_assert_uint_le(manifold->count, MANIFOLD_POINT_MAX);
    if (manifold->count > 0) {
        ck_assert_double_eq_tol(vec3_norm(manifold->normal), 1.0, 1e-14);
    }
    for (uint32_t i = 0; i < manifold->count; i++) {
        ck_assert(vec3_is_finite(manifold->point[i].position));
        ck_assert_double_le(manifold->point[i].gap, reach);
        for (uint32_t j = 0; j < i; j++) {
            ck_assert_uint_ne(manifold->point[i].feature, manifold->point[j].feature);
        }
    }
}

START_TEST(boxes_that_are_apart_know_their_true_distance) {
    Dice dice = {0x9e3779b97f4a7c15u + (uint64_t)_i};
    int apart = 0, single = 0;
    while (apart < 5000) {
        Primitive a = dice_box(&dice), b = dice_box(&dice);
        Pose pose_a = dice_pose(&dice, 1.5), pose_b = dice_pose(&dice, 1.5);
        if (best_separation(&a, pose_a, &b, pose_b) <= 0.0) {
            continue;
        }
        apart++;
        double distance = box_box_distance(&a, pose_a, &b, pose_b);
        Manifold manifold;
        narrow_collide(&a, pose_a, &b, pose_b, 100.0, &manifold);
        assert_sound(&manifold, 100.0);
        ck_assert_uint_ge(manifold.count, 1);
        ck_assert_double_eq_tol(smallest_gap(&manifold), distance, tolerance);

        // the plane that the normal stands on separates the boxes by exactly the distance
        ck_assert_double_eq_tol(separation_along(&a, pose_a, &b, pose_b, manifold.normal), distance,
                                tolerance);
        single += manifold.count == 1;

        // just out of reach there is nothing, just within there is something
        narrow_collide(&a, pose_a, &b, pose_b,
                       distance - 2.0 * tolerance > 0.0 ? distance - 2.0 * tolerance : 0.0,
                       &manifold);
        ck_assert(manifold.count == 0 || distance < 2.0 * tolerance);
        narrow_collide(&a, pose_a, &b, pose_b, distance + tolerance, &manifold);
        ck_assert_uint_ge(manifold.count, 1);
    }
    ck_assert_int_gt(single, campaign_count(1000)); // corners and edges were met too
}
END_TEST

START_TEST(a_single_point_lies_midway_between_the_two_surfaces) {
    Dice dice = {77};
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        Primitive a = dice_box(&dice), b = dice_box(&dice);
        Pose pose_a = dice_pose(&dice, 1.5), pose_b = dice_pose(&dice, 1.5);
        Manifold manifold;
        narrow_collide(&a, pose_a, &b, pose_b, 1.0, &manifold);
        if (manifold.count != 1 || manifold.point[0].gap <= 0.0) {
            continue;
        }
        Vec3 p = manifold.point[0].position;
        double half = 0.5 * manifold.point[0].gap;
        ck_assert_double_eq_tol(point_box_distance(p, &a, pose_a), half, tolerance);
        ck_assert_double_eq_tol(point_box_distance(p, &b, pose_b), half, tolerance);
        Vec3 on_b = vec3_add_scaled(p, half, manifold.normal);
        ck_assert_double_eq_tol(point_box_distance(on_b, &b, pose_b), 0.0, tolerance);
    }
}
END_TEST

START_TEST(the_depth_of_an_overlap_is_the_least_of_all_directions) {
    Dice dice = {4711 + (uint64_t)_i};
    for (int overlapping = 0; overlapping < 2000;) {
        Primitive a = dice_box(&dice), b = dice_box(&dice);
        Pose pose_a = dice_pose(&dice, 0.7), pose_b = dice_pose(&dice, 0.7);
        double separation = best_separation(&a, pose_a, &b, pose_b);
        if (separation > 0.0) {
            continue;
        }
        overlapping++;
        Manifold manifold;
        narrow_collide(&a, pose_a, &b, pose_b, 0.01, &manifold);
        assert_sound(&manifold, 0.01);
        ck_assert_uint_ge(manifold.count, 1);

        // edges give way to faces within 1e-9 of the size, which is below 4
        ck_assert_double_eq_tol(smallest_gap(&manifold), separation, 4.0 * tolerance);
        ck_assert_double_eq_tol(separation_along(&a, pose_a, &b, pose_b, manifold.normal),
                                separation, 4.0 * tolerance);
        for (int k = 0; k < 30; k++) {
            Vec3 n = dice_direction(&dice);
            ck_assert_double_le(separation_along(&a, pose_a, &b, pose_b, n),
                                separation + 4.0 * tolerance);
        }
    }
}
END_TEST

// All but feature ids is the same, bit for bit.
static void assert_mirrored(const Manifold *ab, const Manifold *ba) {
    ck_assert_uint_eq(ab->count, ba->count);
    for (uint32_t i = 0; i < ab->count; i++) {
        ck_assert_double_eq(ab->point[i].gap, ba->point[i].gap);
        ck_assert_double_eq(ab->point[i].position.x, ba->point[i].position.x);
        ck_assert_double_eq(ab->point[i].position.y, ba->point[i].position.y);
        ck_assert_double_eq(ab->point[i].position.z, ba->point[i].position.z);
    }
    if (ab->count > 0) {
        ck_assert_double_eq(ab->normal.x, -ba->normal.x);
        ck_assert_double_eq(ab->normal.y, -ba->normal.y);
        ck_assert_double_eq(ab->normal.z, -ba->normal.z);
    }
}

START_TEST(swapping_the_boxes_turns_the_normal_and_nothing_else) {
    Dice dice = {12};
    for (int i = 0, campaign = campaign_count(5000); i < campaign; i++) {
        Primitive a = dice_box(&dice), b = i % 3 == 0 ? a : dice_box(&dice);
        Pose pose_a = dice_pose(&dice, 1.0), pose_b = dice_pose(&dice, 1.0);
        if (i % 2 == 0) {
            pose_b.orientation = pose_a.orientation;
        }
        Manifold ab, ba;
        narrow_collide(&a, pose_a, &b, pose_b, 0.5, &ab);
        narrow_collide(&b, pose_b, &a, pose_a, 0.5, &ba);
        assert_mirrored(&ab, &ba);
    }
}
END_TEST

// The direction that orders two boxes is blind to this offset: its products cancel exactly.
START_TEST(boxes_that_only_their_places_tell_apart_are_swapped_alike) {
    Dice dice = {31};
    Primitive cube = make_box(vec3(0.5, 0.5, 0.5));
    for (int i = 0, campaign = campaign_count(1000); i < campaign; i++) {
        Pose pose_a = {vec3(0.0, 0.0, 0.0), dice_quat(&dice)};
        Pose pose_b = {vec3(0.6137, -0.3719, 0.0), pose_a.orientation};
        Manifold ab, ba;
        narrow_collide(&cube, pose_a, &cube, pose_b, 0.5, &ab);
        narrow_collide(&cube, pose_b, &cube, pose_a, 0.5, &ba);
        ck_assert_uint_ge(ab.count, 1);
        assert_mirrored(&ab, &ba);
    }
}
END_TEST

START_TEST(a_rigid_motion_of_both_moves_the_manifold_along) {
    Dice dice = {13};
    for (int i = 0, campaign = campaign_count(5000); i < campaign; i++) {
        Primitive a = dice_box(&dice), b = dice_box(&dice);
        Pose pose_a = dice_pose(&dice, 1.0), pose_b = dice_pose(&dice, 1.0),
             motion = dice_pose(&dice, 10.0);
        Manifold here, there;
        narrow_collide(&a, pose_a, &b, pose_b, 0.5, &here);
        narrow_collide(&a, pose_compose(motion, pose_a), &b, pose_compose(motion, pose_b), 0.5,
                       &there);
        // a point may pass the reach by a rounding; and the order of two equally good quadrangles
        // may turn
        if (fabs(smallest_gap(&here) - 0.5) < 1e-9) {
            continue;
        }
        ck_assert_int_eq(here.count > 0, there.count > 0);
        if (here.count == 0) {
            continue;
        }
        ck_assert_double_eq_tol(smallest_gap(&here), smallest_gap(&there), 1e-9);
        Vec3 turned = quat_rotate(motion.orientation, here.normal);
        ck_assert_double_le(vec3_norm(vec3_sub(turned, there.normal)), 1e-6);
        if (here.count == 1 && there.count == 1) {
            Vec3 moved = pose_apply(motion, here.point[0].position);
            ck_assert_double_le(vec3_norm(vec3_sub(moved, there.point[0].position)), 1e-6);
        }
    }
}
END_TEST

// gaps of a cube of half edge 0.5 whose centre is `height` over that of another, turned about the
// vertical
static const struct {
    double height, cosine, x;
    uint32_t corners;
} lying[] = {
    {1.0, 1.0, 0.0, 4},      {1.001, 1.0, 0.0, 4},
    {0.999, 1.0, 0.0, 4},    {1.0, 0.8, 0.0, 8},
    {1.002, 0.8, 0.3, 6},    {0.99, 0.6, -0.4, 5},
    {1.3, 1.0, 0.7, 4},      {1.0, 1.0, 1e-9, 4},
    {1.0, 1.0 - 1e-9, 0, 4}, {1.05, 0.70710678118654757, 0.1, 8},
};

START_TEST(a_face_on_a_face_gives_all_corners_of_what_they_share_with_the_gap_there) {
    Primitive cube = make_box(vec3(0.5, 0.5, 0.5));
    Pose above = {vec3(lying[_i].x, 0.0, lying[_i].height), quat_about_z(lying[_i].cosine)};
    Manifold manifold;
    narrow_collide(&cube, pose_at(0.0, 0.0, 0.0), &cube, above, 0.5, &manifold);
    assert_sound(&manifold, 0.5);
    ck_assert_uint_eq(manifold.count, lying[_i].corners);
    ck_assert_double_eq_tol(manifold.normal.z, 1.0, 1e-12);
    for (uint32_t i = 0; i < manifold.count; i++) {
        ck_assert_double_eq_tol(manifold.point[i].gap, lying[_i].height - 1.0, 1e-12);
        ck_assert_double_eq_tol(manifold.point[i].position.z, 0.5 * lying[_i].height, 1e-12);
        // on both faces, but for the slop of 1e-4 of a half edge
        ck_assert_double_le(fabs(manifold.point[i].position.x), 0.5 + 5e-5);
        ck_assert_double_le(fabs(manifold.point[i].position.y), 0.5 + 5e-5);
    }
}
END_TEST

static bool is_same_set(const Manifold *one, const Manifold *other) {
    if (one->count != other->count) {
        return false;
    }
    for (uint32_t i = 0; i < one->count; i++) {
        bool is_there = false;
        for (uint32_t j = 0; j < other->count; j++) {
            is_there = is_there || one->point[i].feature == other->point[j].feature;
        }
        if (!is_there) {
            return false;
        }
    }
    return true;
}

// What a solver leaves of a resting box: gaps and tilts of rounding to tolerance size.
START_TEST(features_of_a_resting_box_stay_while_it_trembles) {
    static const double size[] = {1e-13, 1e-11, 1e-9, 1e-8, 1e-7};
    double tremble = size[_i % 5];
    Primitive cube = make_box(vec3(0.5, 0.5, 0.5)), slab = make_box(vec3(5.0, 5.0, 0.5));
    const Primitive *ground = _i / 5 == 1 ? &slab : &cube;
    Dice dice = {99};
    Manifold first = {0};
    for (int i = 0, campaign = campaign_count(2000); i < campaign; i++) {
        Quat q = {1.0, dice_between(&dice, -tremble, tremble),
                  dice_between(&dice, -tremble, tremble), dice_between(&dice, -tremble, tremble)};
        Pose below = pose_at(0.0, 0.0, 0.0);
        Quat yaw = _i / 5 == 2 ? quat_about_z(0.8)
                               : quat_identity(); // an octagon of eight equally low points
        Pose above = {vec3_add(vec3(0.0, 0.0, 1.0), dice_vec(&dice, -tremble, tremble)),
                      quat_mul(quat_normalize(q), yaw)};
        Manifold manifold;
        narrow_collide(ground, below, &cube, above, 0.01, &manifold);
        assert_sound(&manifold, 0.01);
        ck_assert_uint_eq(manifold.count, _i / 5 == 2 ? 8 : 4);
        if (i == 0) {
            first = manifold;
        }
        ck_assert(is_same_set(&first, &manifold));
    }
}
END_TEST

// Seen from the tilted cube's face, the plate's far rim sinks by its length times the tilt, some 7
// cm; the cube itself is less than 2 mm deep.
START_TEST(a_tilted_cube_at_the_rim_of_a_wide_plate_is_no_deeper_than_it_is) {
    Primitive plate = make_box(vec3(50.0, 50.0, 0.5)), cube = make_box(vec3(0.5, 0.5, 0.5));
    Pose below = pose_at(0.0, 0.0, 0.0);
    Dice dice = {5};
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        Quat tilt = {1.0, dice_between(&dice, -5e-4, 5e-4), dice_between(&dice, -5e-4, 5e-4), 0.0};
        Quat yaw = {1.0, 0.0, 0.0, dice_between(&dice, -1.0, 1.0)};
        double side = i % 2 == 0 ? 49.8 : -49.8, along = dice_between(&dice, -5.0, 5.0);
        Pose above = {vec3(side, along, dice_between(&dice, 0.999, 1.001)),
                      quat_mul(quat_normalize(tilt), quat_normalize(yaw))};
        Manifold manifold;
        narrow_collide(&plate, below, &cube, above, 0.01, &manifold);
        ck_assert_uint_ge(manifold.count, 1);

        // parallel faces: within the angle, 1.42e-3, times the width of the overlap, below 1.5 m
        double separation = best_separation(&plate, below, &cube, above);
        ck_assert_double_eq_tol(smallest_gap(&manifold), separation, 1.5 * 1.42e-3);
    }
}
END_TEST

START_TEST(pillars_that_meet_at_a_corner_touch_where_both_are) {
    // a tall and a short one, corner to corner, turned by less than what counts as parallel: the
    // directions that are best may be those that are left to the faces
    Primitive tall = make_box(vec3(0.5, 0.5, 2.5)), low = make_box(vec3(0.5, 0.5, 1.0));
    Dice dice = {0x2545f4914f6cdd1du};
    for (int i = 0, campaign = campaign_count(1000); i < campaign; i++) {
        Vec3 v = dice_vec(&dice, -3e-4, 3e-4);
        Pose at = pose_at(0.0, 0.0, 0.0), beside = pose_at(1.0, 1.0, 0.0);
        at.orientation = quat_normalize((Quat){1.0, v.x, v.y, v.z});
        v = dice_vec(&dice, -3e-4, 3e-4);
        beside.orientation = quat_normalize((Quat){1.0, v.x, v.y, v.z});
        beside.position = vec3_add(beside.position, dice_vec(&dice, -1e-3, 1e-3));
        Manifold manifold;
        narrow_collide(&tall, at, &low, beside, 0.1, &manifold);
        ck_assert_uint_ge(manifold.count, 1);
        for (uint32_t j = 0; j < manifold.count; j++) {
            // half of the gap from either, and beside a face by no more than the slop, 1e-4 of
            // half an edge, in both of its directions: sqrt(2) < 1.5
            double limit = hypot(0.5 * manifold.point[j].gap, 1.5 * 0.5e-4) + tolerance;
            Vec3 point = manifold.point[j].position;
            ck_assert_double_le(point_box_distance(point, &tall, at), limit);
            ck_assert_double_le(point_box_distance(point, &low, beside), limit);
        }
        // the angle of parallel faces, 1.42e-3, times the low one's diagonal, 2.45 m
        double separation = best_separation(&tall, at, &low, beside);
        double distance = separation > 0.0 ? box_box_distance(&tall, at, &low, beside) : separation;
        ck_assert_double_eq_tol(smallest_gap(&manifold), distance, 1.42e-3 * 2.45);
    }
}
END_TEST

START_TEST(crossed_edges_touch_in_one_point) {
    // two bars, each on its edge, crossed; s is sin and cos of 45 degrees halved for the quaternion
    double c = sqrt(0.5 * (1.0 + sqrt(0.5))), s = sqrt(0.5 * (1.0 - sqrt(0.5)));
    Primitive along_x = make_box(vec3(2.0, 0.5, 0.5)), along_y = make_box(vec3(0.5, 2.0, 0.5));
    double gap = 0.01 * (double)(_i - 1);
    Pose below = {vec3(0.0, 0.0, 0.0), {c, s, 0.0, 0.0}};
    Pose above = {vec3(0.3, -0.2, sqrt(2.0) + gap), {c, 0.0, s, 0.0}};
    Manifold manifold;
    narrow_collide(&along_x, below, &along_y, above, 0.1, &manifold);
    ck_assert_uint_eq(manifold.count, 1);
    ck_assert_double_eq_tol(manifold.normal.z, 1.0, 1e-12);
    ck_assert_double_eq_tol(manifold.point[0].gap, gap, 1e-12);
    ck_assert_double_eq_tol(manifold.point[0].position.x, 0.3, 1e-12);
    ck_assert_double_eq_tol(manifold.point[0].position.y, 0.0, 1e-12);
    ck_assert_double_eq_tol(manifold.point[0].position.z, 0.5 * (sqrt(2.0) + gap), 1e-12);
}
END_TEST

// A bar on its edge, across a cube and beyond it on both sides: whichever way it leans by a hair,
// it touches where it comes onto the face and where it leaves it.
START_TEST(an_edge_along_a_face_touches_at_both_ends) {
    static const double size[] = {0.0, 1e-9, 1e-6, 1e-4, 5e-4};
    Primitive cube = make_box(vec3(0.5, 0.5, 0.5)), bar = make_box(vec3(2.0, 0.3, 0.3));
    Pose below = pose_at(0.0, 0.0, 0.0);
    Dice dice = {101};
    Manifold first = {0};
    for (int i = 0, campaign = campaign_count(2000); i < campaign; i++) {
        const double lean = dice_between(&dice, -size[_i], size[_i]);
        Quat q = quat_normalize((Quat){1.0, 0.0, 0.5 * lean, 0.0});
        Quat roll = {cos(0.45), sin(0.45), 0.0, 0.0};
        const double gap = dice_between(&dice, -1e-3, 1e-3);
        Vec3 at =
            vec3(dice_between(&dice, -0.5, 0.5), 0.1, 0.5 + 0.3 * (cos(0.9) + sin(0.9)) + gap);
        Manifold manifold;
        narrow_collide(&cube, below, &bar, (Pose){at, quat_mul(q, roll)}, 0.01, &manifold);
        assert_sound(&manifold, 0.01);
        ck_assert_uint_eq(manifold.count, 2);
        ck_assert_double_eq_tol(fabs(manifold.point[0].position.x), 0.5, 1e-3);
        ck_assert_double_eq_tol(fabs(manifold.point[1].position.x), 0.5, 1e-3);
        if (i == 0) {
            first = manifold;
        }
        ck_assert(is_same_set(&first, &manifold));
    }
}
END_TEST

START_TEST(degenerate_positions_still_give_a_normal) {
    Primitive cube = make_box(vec3(0.5, 0.5, 0.5)), needle = make_box(vec3(1e-6, 1e-6, 10.0));
    const Pose poses[] = {pose_at(0.0, 0.0, 0.0), pose_at(1.0, 1.0, 1.0),
                          pose_at(1.0, 1.0, 0.0), pose_at(1.0, 0.0, 0.0),
                          pose_at(1e6, 0.0, 0.0), pose_at(1e6 + 1.0, 0.0, 1e-12)};
    const Primitive *shapes[] = {&cube, &needle};
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            for (int k = 0; k < 4; k++) {
                Manifold manifold;
                narrow_collide(shapes[k / 2], poses[i], shapes[k % 2], poses[j], 0.2, &manifold);
                assert_sound(&manifold, 0.2);
            }
        }
    }
}
END_TEST

static TCase *case_distance(void) {
    TCase *tcase = tcase_create("distance");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, boxes_that_are_apart_know_their_true_distance, 0, 5);
    tcase_add_test(tcase, a_single_point_lies_midway_between_the_two_surfaces);
    tcase_add_loop_test(tcase, the_depth_of_an_overlap_is_the_least_of_all_directions, 0, 3);
    return tcase;
}

static TCase *case_symmetry(void) {
    TCase *tcase = tcase_create("symmetry");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, swapping_the_boxes_turns_the_normal_and_nothing_else);
    tcase_add_test(tcase, boxes_that_only_their_places_tell_apart_are_swapped_alike);
    tcase_add_test(tcase, a_rigid_motion_of_both_moves_the_manifold_along);
    return tcase;
}

static TCase *case_contact(void) {
    TCase *tcase = tcase_create("contact");
    tcase_add_loop_test(tcase,
                        a_face_on_a_face_gives_all_corners_of_what_they_share_with_the_gap_there, 0,
                        (int)(sizeof(lying) / sizeof(lying[0])));
    tcase_add_loop_test(tcase, features_of_a_resting_box_stay_while_it_trembles, 0, 15);
    tcase_add_test(tcase, a_tilted_cube_at_the_rim_of_a_wide_plate_is_no_deeper_than_it_is);
    tcase_add_test(tcase, pillars_that_meet_at_a_corner_touch_where_both_are);
    tcase_add_loop_test(tcase, crossed_edges_touch_in_one_point, 0, 3);
    tcase_add_loop_test(tcase, an_edge_along_a_face_touches_at_both_ends, 0, 5);
    tcase_add_test(tcase, degenerate_positions_still_give_a_normal);
    return tcase;
}

SUITE_MAIN("collide/box_box", case_distance, case_symmetry, case_contact)
