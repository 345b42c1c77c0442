// SPDX-License-Identifier: MIT
// Pairs with capsules, against distances of segments found by brute force, and at rest.
#include "collide/capsule.h"

#include "collide/geometry.h"
#include "collide/narrow.h"
#include "support/campaign.h"
#include "support/suite.h"

// Coordinates of a few metres: some roundings of 1e-15.
static const double tolerance = 1e-13;
// What the one normal of a line does to its farther gap, as capsule.h has it: (0.02)^2 / 2 of the
// radii, which are 1 m at most here.
static const double line_tolerance = 4e-4;

static Primitive dice_capsule(Dice *dice) {
    double radius = dice_between(dice, 0.05, 0.5);
    return make_capsule(radius, dice_between(dice, 0.1, 1.0));
}

static double lowest_gap(const Manifold *manifold) {
    double lowest = HUGE_VAL;
    for (uint32_t i = 0; i < manifold->count; i++) {
        lowest = fmin(lowest, manifold->point[i].gap);
    }
    return lowest;
}

// A capsule's surface is where its axis is a radius away.
static double capsule_distance(Vec3 point, const Primitive *capsule, Pose pose) {
    return point_segment_distance(point, capsule_end(capsule, pose, -1.0),
                                  capsule_end(capsule, pose, 1.0)) -
           capsule->size.x;
}

START_TEST(a_sphere_meets_the_nearest_point_of_the_axis) {
    Dice dice = {31};
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        Primitive sphere = make_sphere(dice_between(&dice, 0.01, 0.5)),
                  capsule = dice_capsule(&dice);
        Pose pose_a = dice_pose(&dice, 1.0), pose_b = dice_pose(&dice, 1.0);
        double gap = capsule_distance(pose_a.position, &capsule, pose_b) - sphere.size.x;
        Manifold manifold;
        narrow_collide(&sphere, pose_a, &capsule, pose_b, 0.2, &manifold);
        ck_assert_uint_eq(manifold.count, gap <= 0.2 ? 1 : 0);
        if (manifold.count == 1) {
            ck_assert_double_eq_tol(manifold.point[0].gap, gap, tolerance);
            Vec3 middle =
                vec3_add_scaled(pose_a.position, sphere.size.x + 0.5 * gap, manifold.normal);
            ck_assert_double_le(vec3_norm(vec3_sub(manifold.point[0].position, middle)), tolerance);
            ck_assert_double_eq_tol(
                capsule_distance(vec3_add_scaled(middle, 0.5 * gap, manifold.normal), &capsule,
                                 pose_b),
                0.0, tolerance);
        }
    }
}
END_TEST

START_TEST(a_sphere_on_the_axis_leaves_across_it) {
    Primitive sphere = make_sphere(0.1), capsule = make_capsule(0.2, 1.0);
    Manifold manifold;
    narrow_collide(&sphere, pose_at(0.0, 0.0, 0.5), &capsule, pose_at(0.0, 0.0, 0.0), 0.0,
                   &manifold);
    ck_assert_uint_eq(manifold.count, 1);
    ck_assert_double_eq_tol(manifold.point[0].gap, -0.3, tolerance);
    ck_assert_double_eq_tol(manifold.normal.z, 0.0, tolerance);
    ck_assert_double_eq_tol(vec3_norm(manifold.normal), 1.0, tolerance);
}
END_TEST

START_TEST(a_plane_is_touched_by_both_ends) {
    Dice dice = {32};
    Primitive plane = make_plane();
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        Primitive capsule = dice_capsule(&dice);
        Pose pose = dice_pose(&dice, 1.0), ground = dice_pose(&dice, 1.0);
        Vec3 up = quat_rotate(ground.orientation, vec3(0.0, 0.0, 1.0));
        Manifold manifold;
        narrow_collide(&capsule, pose, &plane, ground, 0.3, &manifold);
        uint32_t found = 0;
        for (uint32_t end = 0; end < 2; end++) {
            Vec3 center = capsule_end(&capsule, pose, end == 0 ? -1.0 : 1.0);
            double gap = vec3_dot(up, vec3_sub(center, ground.position)) - capsule.size.x;
            if (gap > 0.3) {
                continue;
            }
            ck_assert_uint_lt(found, manifold.count);
            const ManifoldPoint *point = &manifold.point[found++];
            ck_assert_uint_eq(point->feature, CAPSULE_LOW + end);
            ck_assert_double_eq_tol(point->gap, gap, tolerance);
            ck_assert_double_le(vec3_norm(vec3_add(manifold.normal, up)), tolerance);
            Vec3 middle = vec3_add_scaled(center, -(capsule.size.x + 0.5 * gap), up);
            ck_assert_double_le(vec3_norm(vec3_sub(point->position, middle)), tolerance);
        }
        ck_assert_uint_eq(manifold.count, found);
    }
}
END_TEST

// What holds of the manifold of a pair whose axes are so far apart.
static void judge(const Primitive *a, Pose pose_a, const Primitive *b, Pose pose_b, double distance,
                  double reach, const Manifold *manifold) {
    double gap = distance - b->size.x - (a->kind == PRIMITIVE_CAPSULE ? a->size.x : 0.0);
    if (gap > reach) {
        ck_assert_uint_eq(manifold->count, 0);
        return;
    }
    ck_assert_uint_ge(manifold->count, 1);
    ck_assert_uint_le(manifold->count, 2);
    ck_assert_double_eq_tol(vec3_norm(manifold->normal), 1.0, tolerance);
    // axes are told apart to 1e-8 of their lengths where they cross
    ck_assert_double_eq_tol(lowest_gap(manifold), gap, 1e-7);
    for (uint32_t k = 0; k < manifold->count; k++) {
        const ManifoldPoint *point = &manifold->point[k];
        // midway between the surfaces along the normal: of the balls about the axes' points there,
        // which in a capsule that leans are in it
        Vec3 on_b = vec3_add_scaled(point->position, 0.5 * point->gap, manifold->normal);
        Vec3 on_a = vec3_add_scaled(point->position, -0.5 * point->gap, manifold->normal);
        double from_b = capsule_distance(on_b, b, pose_b);
        double from_a = a->kind == PRIMITIVE_CAPSULE ? capsule_distance(on_a, a, pose_a)
                                                     : point_box_distance(on_a, a, pose_a);
        // of an end of a line: by 0.02 of the radius it lies beside the normal
        ck_assert_double_le(from_b, line_tolerance);
        ck_assert_double_le(from_a, a->kind == PRIMITIVE_CAPSULE ? line_tolerance : 0.02);
        if (point->gap == lowest_gap(manifold)) {
            ck_assert_double_ge(from_b, -line_tolerance);
        }
    }
    if (manifold->count == 2) {
        ck_assert_uint_ne(manifold->point[0].feature, manifold->point[1].feature);
    }
}

START_TEST(two_capsules_are_as_far_apart_as_their_axes) {
    Dice dice = {33};
    int lines = 0, deep = 0;
    for (int i = 0, campaign = campaign_count(50000); i < campaign; i++) {
        Primitive a = dice_capsule(&dice), b = dice_capsule(&dice);
        Pose pose_a = dice_pose(&dice, 1.0), pose_b = dice_pose(&dice, 1.0);
        if (i % 4 == 0) { // nearly parallel, either way round
            Quat tremble = {1.0, dice_between(&dice, -1e-2, 1e-2), dice_between(&dice, -1e-2, 1e-2),
                            0.3};
            pose_b.orientation = quat_normalize(quat_mul(pose_a.orientation, tremble));
        }
        double distance =
            segment_distance(capsule_end(&a, pose_a, -1.0), capsule_end(&a, pose_a, 1.0),
                             capsule_end(&b, pose_b, -1.0), capsule_end(&b, pose_b, 1.0));
        double reach = dice_between(&dice, 0.0, 0.3);
        Manifold manifold;
        narrow_collide(&a, pose_a, &b, pose_b, reach, &manifold);
        judge(&a, pose_a, &b, pose_b, distance, reach, &manifold);
        lines += manifold.count == 2;
        deep += manifold.count > 0 && lowest_gap(&manifold) < 0.0;
    }
    ck_assert_int_gt(lines, campaign_count(200));
    ck_assert_int_gt(deep, campaign_count(2000));
}
END_TEST

START_TEST(a_box_is_as_far_from_a_capsule_as_from_its_axis) {
    Dice dice = {34};
    int lines = 0, deep = 0, inside = 0;
    for (int i = 0, campaign = campaign_count(50000); i < campaign; i++) {
        Primitive box = dice_box(&dice), capsule = dice_capsule(&dice);
        Pose pose_a = dice_pose(&dice, 0.7), pose_b = dice_pose(&dice, 0.7);
        if (i % 4 == 0) { // nearly along an edge and two faces
            Quat tremble = {1.0, dice_between(&dice, -1e-2, 1e-2), dice_between(&dice, -1e-2, 1e-2),
                            0.3};
            pose_b.orientation = quat_normalize(quat_mul(pose_a.orientation, tremble));
        }
        Vec3 p = capsule_end(&capsule, pose_b, -1.0), q = capsule_end(&capsule, pose_b, 1.0);
        double distance = segment_box_separation(p, q, &box, pose_a);
        inside += distance < 0.0;
        distance = distance > 0.0 ? segment_box_distance(p, q, &box, pose_a) : distance;
        double reach = dice_between(&dice, 0.0, 0.3);
        Manifold manifold;
        narrow_collide(&box, pose_a, &capsule, pose_b, reach, &manifold);
        judge(&box, pose_a, &capsule, pose_b, distance, reach, &manifold);
        lines += manifold.count == 2;
        deep += manifold.count > 0 && lowest_gap(&manifold) < 0.0;
    }
    ck_assert_int_gt(lines, campaign_count(200));
    ck_assert_int_gt(deep, campaign_count(2000));
    ck_assert_int_gt(inside, campaign_count(2000));
}
END_TEST

// Two that lie side by side, shifted along: the line is what both have of it, whatever trembles.
START_TEST(parallel_capsules_rest_on_the_two_ends_of_their_line) {
    Dice dice = {35};
    Primitive a = make_capsule(0.1, 0.5), b = make_capsule(0.2, 0.4);
    for (int i = 0, campaign = campaign_count(2000); i < campaign; i++) {
        double way = i % 2 == 0 ? 0.0 : 1.0; // head to head, head to tail
        Quat tremble = {1.0 - way, dice_between(&dice, -1e-6, 1e-6) + way,
                        dice_between(&dice, -1e-6, 1e-6), dice_between(&dice, -1e-6, 1e-6)};
        Pose below = pose_at(0.0, 0.0, 0.0),
             above = {vec3(0.3 + dice_between(&dice, -1e-6, 1e-6), 0.0, 0.3),
                      quat_normalize(tremble)};
        Manifold manifold;
        narrow_collide(&a, below, &b, above, 0.01, &manifold);
        ck_assert_uint_eq(manifold.count, 2);
        ck_assert_double_eq_tol(manifold.normal.x, 1.0, 1e-5);
        // from -0.1 (the upper one's lower end) to 0.5 (the lower one's upper end), 0.1 out
        for (uint32_t k = 0; k < 2; k++) {
            ck_assert_uint_eq(manifold.point[k].feature, CAPSULE_LOW + k);
            ck_assert_double_eq_tol(manifold.point[k].gap, 0.0, 1e-5);
            ck_assert_double_eq_tol(manifold.point[k].position.x, 0.1, 1e-5);
            ck_assert_double_eq_tol(manifold.point[k].position.z, k == 0 ? -0.1 : 0.5, 1e-5);
        }
    }
}
END_TEST

// On a box: the line ends with the face, or with the axis.
START_TEST(a_capsule_that_lies_on_a_box_has_the_two_ends_of_its_line) {
    Dice dice = {36};
    Primitive box = make_box(vec3(1.0, 1.0, 0.5)), capsule = make_capsule(0.1, 0.7);
    const double half_turn = sqrt(0.5);
    for (int i = 0, campaign = campaign_count(2000); i < campaign; i++) {
        Quat tremble = {half_turn, dice_between(&dice, -1e-6, 1e-6), half_turn,
                        dice_between(&dice, -1e-6, 1e-6)}; // z to x
        double out = 0.4 * (i % 3);
        Pose pose = {vec3(out, 0.2, 0.6 + dice_between(&dice, -1e-6, 1e-6)),
                     quat_normalize(tremble)};
        Manifold manifold;
        narrow_collide(&box, pose_at(0.0, 0.0, 0.0), &capsule, pose, 0.01, &manifold);
        ck_assert_uint_eq(manifold.count, 2);
        ck_assert_double_eq_tol(manifold.normal.z, 1.0, 1e-9);
        const double end[2] = {out - 0.7, fmin(out + 0.7, 1.0)};
        for (uint32_t k = 0; k < 2; k++) {
            ck_assert_uint_eq(manifold.point[k].feature, CAPSULE_LOW + k);
            ck_assert_double_eq_tol(manifold.point[k].gap, 0.0, 1e-5);
            ck_assert_double_eq_tol(manifold.point[k].position.x, end[k], 1e-5);
            ck_assert_double_eq_tol(manifold.point[k].position.z, 0.5, 1e-5);
        }
    }
}
END_TEST

START_TEST(a_capsule_inside_a_box_leaves_by_the_nearest_way) {
    Primitive box = make_box(vec3(1.0, 2.0, 3.0)), capsule = make_capsule(0.1, 0.5);
    Manifold manifold;
    narrow_collide(&box, pose_at(0.0, 0.0, 0.0), &capsule, pose_at(0.8, 0.0, 0.3), 0.0, &manifold);
    ck_assert_uint_eq(manifold.count, 2);
    ck_assert_double_eq_tol(manifold.normal.x, 1.0, tolerance);
    ck_assert_double_eq_tol(lowest_gap(&manifold), -0.3, tolerance);

    // across an edge: the axis lies at 45 degrees in x and y and cuts the corner off at 0.1
    Quat lying = quat_normalize((Quat){sqrt(0.5), -0.5, -0.5, 0.0}); // z to (-1, 1, 0) / sqrt 2
    double inner = 0.1 / sqrt(2.0);
    Pose pose = {vec3(1.0 - inner, 2.0 - inner, 0.0), lying};
    Vec3 along = quat_rotate(lying, vec3(0.0, 0.0, 1.0));
    ck_assert_double_eq_tol(fabs(along.x + along.y), 0.0, tolerance);
    narrow_collide(&box, pose_at(0.0, 0.0, 0.0), &capsule, pose, 0.0, &manifold);
    ck_assert_uint_eq(manifold.count, 1);
    ck_assert_double_eq_tol(manifold.normal.x, sqrt(0.5), tolerance);
    ck_assert_double_eq_tol(manifold.normal.y, sqrt(0.5), tolerance);
    ck_assert_double_eq_tol(manifold.point[0].gap, -0.2, tolerance);
}
END_TEST

START_TEST(capsules_whose_axes_cross_part_across_both) {
    Primitive capsule = make_capsule(0.1, 0.5);
    Pose lying = {vec3(0.2, 0.0, 0.1), {sqrt(0.5), 0.0, sqrt(0.5), 0.0}}; // along x
    Manifold manifold;
    narrow_collide(&capsule, pose_at(0.0, 0.0, 0.0), &capsule, lying, 0.0, &manifold);
    ck_assert_uint_eq(manifold.count, 1);
    ck_assert_double_eq_tol(fabs(manifold.normal.y), 1.0, tolerance);
    ck_assert_double_eq_tol(manifold.point[0].gap, -0.2, tolerance);
    // on one spot
    narrow_collide(&capsule, pose_at(0.0, 0.0, 0.0), &capsule, pose_at(0.0, 0.0, 0.0), 0.0,
                   &manifold);
    ck_assert_uint_eq(manifold.count, 2);
    ck_assert_double_eq_tol(manifold.normal.z, 0.0, tolerance);
    ck_assert_double_eq_tol(lowest_gap(&manifold), -0.2, tolerance);
}
END_TEST

static double nearest_point(const Manifold *manifold, Vec3 place) {
    double nearest = HUGE_VAL;
    for (uint32_t i = 0; i < manifold->count; i++) {
        nearest = fmin(nearest, vec3_norm(vec3_sub(manifold->point[i].position, place)));
    }
    return nearest;
}

// Of two that are all but parallel either sees the other end before itself; and which of two of one
// size is the first turns round in a mirror.
START_TEST(capsules_of_one_size_end_where_they_do_in_a_mirror) {
    Dice dice = {71};
    int lines = 0;
    for (int i = 0, campaign = campaign_count(2000); i < campaign; i++) {
        Primitive capsule = dice_capsule(&dice);
        Pose pose[2];
        for (int k = 0; k < 2; k++) {
            Vec3 turn = dice_vec(&dice, -5e-3, 5e-3);
            pose[k] = (Pose){dice_vec(&dice, -5e-3, 5e-3),
                             quat_normalize((Quat){1.0, turn.x, turn.y, turn.z})};
        }
        Manifold here, there;
        narrow_collide(&capsule, pose[0], &capsule, pose[1], 0.0, &here);
        pose[0].position = vec3_neg(pose[0].position);
        pose[1].position = vec3_neg(pose[1].position);
        narrow_collide(&capsule, pose[0], &capsule, pose[1], 0.0, &there);
        ck_assert_uint_eq(here.count, there.count);
        lines += here.count == 2;
        for (uint32_t k = 0; k < here.count; k++) {
            ck_assert_double_le(nearest_point(&there, vec3_neg(here.point[k].position)), 1e-10);
        }
    }
    ck_assert_int_gt(lines, 100);
}
END_TEST

static TCase *case_capsule(void) {
    TCase *tcase = tcase_create("capsule");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_sphere_meets_the_nearest_point_of_the_axis);
    tcase_add_test(tcase, a_sphere_on_the_axis_leaves_across_it);
    tcase_add_test(tcase, a_plane_is_touched_by_both_ends);
    tcase_add_test(tcase, two_capsules_are_as_far_apart_as_their_axes);
    tcase_add_test(tcase, a_box_is_as_far_from_a_capsule_as_from_its_axis);
    tcase_add_test(tcase, parallel_capsules_rest_on_the_two_ends_of_their_line);
    tcase_add_test(tcase, a_capsule_that_lies_on_a_box_has_the_two_ends_of_its_line);
    tcase_add_test(tcase, a_capsule_inside_a_box_leaves_by_the_nearest_way);
    tcase_add_test(tcase, capsules_whose_axes_cross_part_across_both);
    tcase_add_test(tcase, capsules_of_one_size_end_where_they_do_in_a_mirror);
    return tcase;
}

SUITE_MAIN("collide/capsule", case_capsule)
