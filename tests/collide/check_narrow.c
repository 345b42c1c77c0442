// SPDX-License-Identifier: MIT
// Pairs with spheres and planes, and what holds for every pair of kinds.
#include "collide/narrow.h"

#include "collide/geometry.h"
#include "support/campaign.h"
#include "support/suite.h"

#include <string.h>

// Coordinates of a few metres: some roundings of 1e-15.
static const double tolerance = 1e-13;

static void assert_near(Vec3 actual, Vec3 expected, double allowed) {
    ck_assert_double_le(vec3_norm(vec3_sub(actual, expected)), allowed);
}

START_TEST(spheres_touch_midway_between_their_surfaces) {
    Dice dice = {21};
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        Primitive a = make_sphere(dice_between(&dice, 0.01, 1.0)),
                  b = make_sphere(dice_between(&dice, 0.01, 1.0));
        Pose pose_a = dice_pose(&dice, 1.0), pose_b = dice_pose(&dice, 1.0);
        double reach = dice_between(&dice, 0.0, 0.5);
        Vec3 d = vec3_sub(pose_b.position, pose_a.position);
        double gap = vec3_norm(d) - a.size.x - b.size.x;
        Manifold manifold;
        narrow_collide(&a, pose_a, &b, pose_b, reach, &manifold);
        ck_assert_uint_eq(manifold.count, gap <= reach ? 1 : 0);
        if (manifold.count == 0) {
            continue;
        }
        ck_assert_double_eq_tol(manifold.point[0].gap, gap, tolerance);
        ck_assert_double_eq_tol(vec3_dot(manifold.normal, d), vec3_norm(d), tolerance);
        assert_near(manifold.point[0].position,
                    vec3_add_scaled(pose_a.position, a.size.x + 0.5 * gap, manifold.normal),
                    tolerance);
    }
}
END_TEST

START_TEST(spheres_on_one_spot_part_upwards) {
    Primitive a = make_sphere(1.0), b = make_sphere(0.5);
    Manifold manifold;
    narrow_collide(&a, pose_at(1.0, 2.0, 3.0), &b, pose_at(1.0, 2.0, 3.0), 0.0, &manifold);
    ck_assert_uint_eq(manifold.count, 1);
    ck_assert_double_eq(manifold.point[0].gap, -1.5);
    assert_near(manifold.normal, vec3(0.0, 0.0, 1.0), 0.0);
}
END_TEST

// The squares of such distances are no normal numbers: they have a few digits, or none.
START_TEST(spheres_nearly_on_one_spot_have_a_unit_normal) {
    Primitive ball = make_sphere(1.0);
    for (int exponent = -300; exponent > -1074; exponent--) {
        double d = ldexp(1.0, exponent);
        Manifold manifold;
        narrow_collide(&ball, pose_at(0.0, 0.0, 0.0), &ball, pose_at(3.0 * d, 2.0 * d, d), 0.0,
                       &manifold);
        ck_assert_uint_eq(manifold.count, 1);
        ck_assert_double_eq_tol(vec3_norm(manifold.normal), 1.0, 1e-14);
    }
}
END_TEST

START_TEST(a_sphere_over_a_plane_touches_at_its_lowest_point) {
    Dice dice = {22};
    Primitive plane = make_plane();
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        Primitive sphere = make_sphere(dice_between(&dice, 0.01, 1.0));
        Pose pose = dice_pose(&dice, 2.0), ground = dice_pose(&dice, 2.0);
        Vec3 up = quat_rotate(ground.orientation, vec3(0.0, 0.0, 1.0));
        double gap = vec3_dot(up, vec3_sub(pose.position, ground.position)) - sphere.size.x;
        Manifold manifold;
        narrow_collide(&sphere, pose, &plane, ground, 0.3, &manifold);
        ck_assert_uint_eq(manifold.count, gap <= 0.3 ? 1 : 0);
        if (manifold.count == 1) {
            ck_assert_double_eq_tol(manifold.point[0].gap, gap, tolerance);
            assert_near(manifold.normal, vec3_neg(up), tolerance);
            assert_near(manifold.point[0].position,
                        vec3_add_scaled(pose.position, -(sphere.size.x + 0.5 * gap), up),
                        tolerance);
        }
    }
}
END_TEST

// The signed distance of a point from a box's surface, negative inside.
static double signed_distance(Vec3 point, const Primitive *box, Pose pose) {
    double outside = point_box_distance(point, box, pose);
    Vec3 local = mat3_tmul_vec(quat_to_mat3(pose.orientation), vec3_sub(point, pose.position));
    double inside = fmin(box->size.x - fabs(local.x),
                         fmin(box->size.y - fabs(local.y), box->size.z - fabs(local.z)));
    return outside > 0.0 ? outside : -inside;
}

START_TEST(a_sphere_meets_a_box_at_its_nearest_point_also_from_within) {
    Dice dice = {23};
    int inside = 0;
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        Primitive sphere = make_sphere(dice_between(&dice, 0.01, 0.5)), box = dice_box(&dice);
        Pose pose = dice_pose(&dice, 1.0), other = dice_pose(&dice, 0.5);
        double distance = signed_distance(pose.position, &box, other);
        double gap = distance - sphere.size.x;
        Manifold manifold;
        narrow_collide(&sphere, pose, &box, other, 0.2, &manifold);
        ck_assert_uint_eq(manifold.count, gap <= 0.2 ? 1 : 0);
        inside += distance < 0.0;
        if (manifold.count == 1) {
            ck_assert_double_eq_tol(manifold.point[0].gap, gap, tolerance);
            // along the normal the centre comes to the surface, and the point is half a gap off it
            Vec3 surface = vec3_add_scaled(pose.position, distance, manifold.normal);
            ck_assert_double_eq_tol(signed_distance(surface, &box, other), 0.0, tolerance);
            assert_near(manifold.point[0].position,
                        vec3_add_scaled(surface, -0.5 * gap, manifold.normal), tolerance);
        }
    }
    ck_assert_int_gt(inside, campaign_count(1000));
}
END_TEST

START_TEST(a_sphere_in_the_middle_of_a_box_leaves_by_the_nearest_face) {
    Primitive sphere = make_sphere(0.1), box = make_box(vec3(1.0, 0.5, 2.0));
    Manifold manifold;
    narrow_collide(&sphere, pose_at(0.0, 0.0, 0.0), &box, pose_at(0.0, 0.0, 0.0), 0.0, &manifold);
    ck_assert_uint_eq(manifold.count, 1);
    ck_assert_double_eq(fabs(manifold.normal.y), 1.0);
    ck_assert_double_eq_tol(manifold.point[0].gap, -0.6, tolerance);

    // on the surface to the last bit
    narrow_collide(&sphere, pose_at(1.0, 0.2, 0.0), &box, pose_at(0.0, 0.0, 0.0), 0.0, &manifold);
    assert_near(manifold.normal, vec3(-1.0, 0.0, 0.0), tolerance);
    ck_assert_double_eq_tol(manifold.point[0].gap, -0.1, tolerance);

    // so near to it that the square of the distance vanishes
    narrow_collide(&sphere, pose_at(0.0, 0.0, 2.0), &box, pose_at(0.0, 0.0, -1e-200), 0.0,
                   &manifold);
    assert_near(manifold.normal, vec3(0.0, 0.0, -1.0), tolerance);
}
END_TEST

static double height_over(Vec3 point, Pose ground) {
    return vec3_dot(quat_rotate(ground.orientation, vec3(0.0, 0.0, 1.0)),
                    vec3_sub(point, ground.position));
}

START_TEST(a_box_over_a_plane_stands_on_its_four_lowest_corners) {
    Dice dice = {24};
    Primitive plane = make_plane();
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        Primitive box = dice_box(&dice);
        Pose pose = dice_pose(&dice, 1.0), ground = dice_pose(&dice, 1.0);
        double height[8], sorted[8];
        for (unsigned corner = 0; corner < 8; corner++) {
            height[corner] = height_over(box_corner(&box, pose, corner), ground);
            unsigned place = corner;
            for (; place > 0 && sorted[place - 1] > height[corner]; place--) {
                sorted[place] = sorted[place - 1];
            }
            sorted[place] = height[corner];
        }
        Manifold manifold;
        narrow_collide(&box, pose, &plane, ground, 0.2, &manifold);
        uint32_t expected = 0;
        while (expected < 4 && sorted[expected] <= 0.2) {
            expected++;
        }
        ck_assert_uint_eq(manifold.count, expected);
        double sum = 0.0, sum_expected = 0.0;
        for (uint32_t k = 0; k < manifold.count; k++) {
            const ManifoldPoint *point = &manifold.point[k];
            ck_assert(k == 0 || point->feature > manifold.point[k - 1].feature);
            ck_assert_double_eq_tol(point->gap, height[point->feature], tolerance);
            Vec3 corner = box_corner(&box, pose, (uint32_t)point->feature);
            assert_near(point->position, vec3_add_scaled(corner, 0.5 * point->gap, manifold.normal),
                        tolerance);
            sum += point->gap;
            sum_expected += sorted[k];
        }
        ck_assert_double_eq_tol(sum, sum_expected, 4.0 * tolerance);
    }
}
END_TEST

START_TEST(a_box_that_lies_has_the_corners_of_its_face_while_it_trembles) {
    Dice dice = {25};
    Primitive plane = make_plane(), box = make_box(vec3(0.5, 0.5, 0.5));
    for (int i = 0, campaign = campaign_count(2000); i < campaign; i++) {
        Quat q = {1.0, dice_between(&dice, -1e-6, 1e-6), dice_between(&dice, -1e-6, 1e-6),
                  dice_between(&dice, -1.0, 1.0)};
        Pose pose = {vec3(0.0, 0.0, 0.5 + dice_between(&dice, -1e-6, 1e-6)), quat_normalize(q)};
        Manifold manifold;
        narrow_collide(&plane, pose_at(0.0, 0.0, 0.0), &box, pose, 5.0, &manifold);
        ck_assert_uint_eq(manifold.count, 4);
        for (uint32_t k = 0; k < 4; k++) {
            ck_assert_uint_eq(manifold.point[k].feature, k); // bit 2, up, is clear
        }
    }
}
END_TEST

static const PrimitiveKind kind_pairs[][2] = {
    {PRIMITIVE_SPHERE, PRIMITIVE_SPHERE},    {PRIMITIVE_SPHERE, PRIMITIVE_BOX},
    {PRIMITIVE_SPHERE, PRIMITIVE_PLANE},     {PRIMITIVE_BOX, PRIMITIVE_BOX},
    {PRIMITIVE_BOX, PRIMITIVE_PLANE},        {PRIMITIVE_SPHERE, PRIMITIVE_CAPSULE},
    {PRIMITIVE_BOX, PRIMITIVE_CAPSULE},      {PRIMITIVE_PLANE, PRIMITIVE_CAPSULE},
    {PRIMITIVE_CAPSULE, PRIMITIVE_CAPSULE},  {PRIMITIVE_SPHERE, PRIMITIVE_CYLINDER},
    {PRIMITIVE_BOX, PRIMITIVE_CYLINDER},     {PRIMITIVE_PLANE, PRIMITIVE_CYLINDER},
    {PRIMITIVE_CAPSULE, PRIMITIVE_CYLINDER}, {PRIMITIVE_CYLINDER, PRIMITIVE_CYLINDER},
};
enum { KIND_PAIR_COUNT = sizeof(kind_pairs) / sizeof(kind_pairs[0]) };

static Primitive dice_primitive(Dice *dice, PrimitiveKind kind) {
    switch (kind) {
    case PRIMITIVE_SPHERE:
        return make_sphere(dice_between(dice, 0.1, 1.0));
    case PRIMITIVE_BOX:
        return dice_box(dice);
    case PRIMITIVE_CAPSULE: {
        double radius = dice_between(dice, 0.1, 1.0);
        return make_capsule(radius, dice_between(dice, 0.1, 1.0));
    }
    case PRIMITIVE_CYLINDER: {
        double radius = dice_between(dice, 0.1, 1.0);
        return make_cylinder(radius, dice_between(dice, 0.1, 1.0));
    }
    default:
        return make_plane();
    }
}

START_TEST(swapping_turns_the_normal_and_changes_no_other_bit) {
    Dice dice = {26};
    for (int i = 0, campaign = campaign_count(5000); i < campaign; i++) {
        Primitive a = dice_primitive(&dice, kind_pairs[_i][0]),
                  b = dice_primitive(&dice, kind_pairs[_i][1]);
        Pose pose_a = dice_pose(&dice, 1.0), pose_b = dice_pose(&dice, 1.0);
        Manifold ab, ba;
        narrow_collide(&a, pose_a, &b, pose_b, 0.3, &ab);
        narrow_collide(&b, pose_b, &a, pose_a, 0.3, &ba);
        ck_assert_uint_eq(ab.count, ba.count);
        for (uint32_t k = 0; k < ab.count; k++) {
            ck_assert_double_eq(ab.point[k].gap, ba.point[k].gap);
            assert_near(ab.point[k].position, ba.point[k].position, 0.0);
            assert_near(ab.normal, vec3_neg(ba.normal), 0.0);
        }
    }
}
END_TEST

START_TEST(a_rigid_motion_moves_the_manifold_along) {
    Dice dice = {27};
    for (int i = 0, campaign = campaign_count(5000); i < campaign; i++) {
        Primitive a = dice_primitive(&dice, kind_pairs[_i][0]),
                  b = dice_primitive(&dice, kind_pairs[_i][1]);
        Pose pose_a = dice_pose(&dice, 1.0), pose_b = dice_pose(&dice, 1.0),
             motion = dice_pose(&dice, 3.0);
        Manifold here, there;
        narrow_collide(&a, pose_a, &b, pose_b, 100.0, &here);
        narrow_collide(&a, pose_compose(motion, pose_a), &b, pose_compose(motion, pose_b), 100.0,
                       &there);
        ck_assert_uint_ge(here.count, 1);
        // the deepest point and the normal; which of several equally good points are kept may
        // differ
        double deepest = HUGE_VAL, moved = HUGE_VAL;
        for (uint32_t k = 0; k < here.count; k++) {
            deepest = fmin(deepest, here.point[k].gap);
        }
        for (uint32_t k = 0; k < there.count; k++) {
            moved = fmin(moved, there.point[k].gap);
        }
        ck_assert_double_eq_tol(deepest, moved, 1e-9);
        assert_near(quat_rotate(motion.orientation, here.normal), there.normal, 1e-6);
    }
}
END_TEST

START_TEST(the_same_arguments_give_the_same_bytes) {
    Dice dice = {28};
    for (int i = 0, campaign = campaign_count(1000); i < campaign; i++) {
        Primitive a = dice_primitive(&dice, kind_pairs[_i][0]),
                  b = dice_primitive(&dice, kind_pairs[_i][1]);
        Pose pose_a = dice_pose(&dice, 1.0), pose_b = dice_pose(&dice, 1.0);
        Manifold one, two;
        memset(&one, 0x00, sizeof(one));
        memset(&two, 0xff, sizeof(two));
        narrow_collide(&a, pose_a, &b, pose_b, 0.3, &one);
        narrow_collide(&a, pose_a, &b, pose_b, 0.3, &two);
        ck_assert_uint_eq(one.count, two.count);
        for (uint32_t k = 0; k < one.count; k++) {
            ck_assert_mem_eq(&one.normal, &two.normal, sizeof(Vec3));
            ck_assert_mem_eq(&one.point[k].position, &two.point[k].position, sizeof(Vec3));
            ck_assert_mem_eq(&one.point[k].gap, &two.point[k].gap, sizeof(double));
            ck_assert_uint_eq(one.point[k].feature, two.point[k].feature);
        }
    }
}
END_TEST

// Surfaces have several planes at once: collide/surface.h.
START_TEST(every_pair_but_two_planes_has_a_narrow_phase) {
    for (int a = 0; a < PRIMITIVE_COUNT; a++) {
        for (int b = 0; b < PRIMITIVE_COUNT; b++) {
            bool is_planes = a == PRIMITIVE_PLANE && b == PRIMITIVE_PLANE;
            bool has_surface =
                primitive_is_surface((PrimitiveKind)a) || primitive_is_surface((PrimitiveKind)b);
            ck_assert_int_eq(narrow_has((PrimitiveKind)a, (PrimitiveKind)b),
                             !is_planes && !has_surface);
        }
    }
    Primitive plane = make_plane();
    Manifold manifold = {.count = 3};
    narrow_collide(&plane, pose_at(0.0, 0.0, 0.0), &plane, pose_at(0.0, 0.0, -1.0), 1.0, &manifold);
    ck_assert_uint_eq(manifold.count, 0);
}
END_TEST

static TCase *case_pairs(void) {
    TCase *tcase = tcase_create("pairs");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, spheres_touch_midway_between_their_surfaces);
    tcase_add_test(tcase, spheres_on_one_spot_part_upwards);
    tcase_add_test(tcase, spheres_nearly_on_one_spot_have_a_unit_normal);
    tcase_add_test(tcase, a_sphere_over_a_plane_touches_at_its_lowest_point);
    tcase_add_test(tcase, a_sphere_meets_a_box_at_its_nearest_point_also_from_within);
    tcase_add_test(tcase, a_sphere_in_the_middle_of_a_box_leaves_by_the_nearest_face);
    tcase_add_test(tcase, a_box_over_a_plane_stands_on_its_four_lowest_corners);
    tcase_add_test(tcase, a_box_that_lies_has_the_corners_of_its_face_while_it_trembles);
    return tcase;
}

static TCase *case_table(void) {
    TCase *tcase = tcase_create("table");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, swapping_turns_the_normal_and_changes_no_other_bit, 0,
                        KIND_PAIR_COUNT);
    tcase_add_loop_test(tcase, a_rigid_motion_moves_the_manifold_along, 0, KIND_PAIR_COUNT);
    tcase_add_loop_test(tcase, the_same_arguments_give_the_same_bytes, 0, KIND_PAIR_COUNT);
    tcase_add_test(tcase, every_pair_but_two_planes_has_a_narrow_phase);
    return tcase;
}

SUITE_MAIN("collide/narrow", case_pairs, case_table)
