// SPDX-License-Identifier: MIT
// Cylinders with all that is bounded, and the general pairs: every answer is judged by what it
// claims, with supports that are written here and nothing of the narrow phase.
#include "collide/judge.h"
#include "support/campaign.h"
#include "support/suite.h"

// Of the sizes of the two: gaps and witnesses.
static const double gap_tolerance = 1e-9;

static Primitive dice_primitive(Dice *dice, PrimitiveKind kind) {
    const double x = dice_between(dice, 0.1, 1.0), y = dice_between(dice, 0.1, 1.0);
    switch (kind) {
    case PRIMITIVE_SPHERE:
        return make_sphere(x);
    case PRIMITIVE_BOX:
        return dice_box(dice);
    case PRIMITIVE_CAPSULE:
        return make_capsule(0.5 * x, y);
    case PRIMITIVE_CYLINDER:
        return make_cylinder(x, y);
    case PRIMITIVE_HULL: // check_hull_pairs.c
    case PRIMITIVE_MESH: // check_surface.c
    case PRIMITIVE_HEIGHT_FIELD:
    case PRIMITIVE_PLANE:
    case PRIMITIVE_COUNT:
        break;
    }
    return make_plane();
}

static double size_of(const Primitive *p) {
    return primitive_rows[p->kind].reach(p);
}

static double lowest(const Manifold *manifold) {
    double gap = HUGE_VAL;
    for (uint32_t i = 0; i < manifold->count; i++) {
        gap = fmin(gap, manifold->point[i].gap);
    }
    return gap;
}

static const PrimitiveKind bounded[] = {PRIMITIVE_SPHERE, PRIMITIVE_BOX, PRIMITIVE_CAPSULE,
                                        PRIMITIVE_CYLINDER};

// How far the points of a manifold are out of one of the two at most, each a half gap off.
static double farthest_out(const Primitive p[2], const Pose pose[2], const Manifold *manifold) {
    double out = 0.0;
    for (uint32_t i = 0; i < manifold->count; i++) {
        const ManifoldPoint *point = &manifold->point[i];
        const Vec3 half = vec3_scale(0.5 * point->gap, manifold->normal);
        out = fmax(out, judge_outside(&p[0], pose[0], vec3_sub(point->position, half)));
        out = fmax(out, judge_outside(&p[1], pose[1], vec3_add(point->position, half)));
    }
    return out;
}

// The gap is how far apart the planes are that hold the two along the normal: then they are as far
// apart as these, at least. And all points lie on both, at the planes: then no farther.
static void prove(const Primitive p[2], const Pose pose[2], const Manifold *manifold,
                  double tolerance, double on_tolerance) {
    const double sizes = size_of(&p[0]) + size_of(&p[1]);
    ck_assert_uint_ge(manifold->count, 1);
    ck_assert_double_eq_tol(vec3_norm(manifold->normal), 1.0, 1e-12);
    ck_assert_double_eq_tol(lowest(manifold), judge_separation(p, pose, manifold->normal),
                            tolerance * sizes);
    ck_assert_double_le(farthest_out(p, pose, manifold), on_tolerance * sizes);
}

START_TEST(an_answer_proves_itself) {
    Dice dice = {901};
    for (size_t k = 0; k < 4; k++) {
        int found = 0;
        for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
            const Primitive p[2] = {dice_primitive(&dice, bounded[k]),
                                    dice_primitive(&dice, PRIMITIVE_CYLINDER)};
            const Pose pose[2] = {dice_pose(&dice, 1.0), dice_pose(&dice, 1.0)};
            Manifold manifold;
            narrow_collide(&p[0], pose[0], &p[1], pose[1], 10.0, &manifold);
            prove(p, pose, &manifold, gap_tolerance, gap_tolerance);
            found += lowest(&manifold) > 0.0;
        }
        ck_assert_int_gt(found, 100);
    }
}
END_TEST

// The least depth that many directions and a way downhill from the best of them find.
static double least_depth(Dice *dice, const Primitive p[2], const Pose pose[2]) {
    double best = -HUGE_VAL;
    Vec3 at = vec3(0.0, 0.0, 1.0);
    for (int i = 0; i < 400; i++) {
        const Vec3 n = dice_direction(dice);
        const double s = judge_separation(p, pose, n);
        at = s > best ? n : at;
        best = fmax(best, s);
    }
    for (double step = 0.1; step > 1e-9; step *= 0.7) {
        for (int i = 0; i < 6; i++) {
            Vec3 n = vec3_add_scaled(at, step, dice_direction(dice));
            n = vec3_scale(1.0 / vec3_norm(n), n);
            const double s = judge_separation(p, pose, n);
            at = s > best ? n : at;
            best = fmax(best, s);
        }
    }
    return best;
}

START_TEST(no_direction_knows_a_smaller_depth) {
    Dice dice = {902};
    for (size_t k = 0; k < 4; k++) {
        for (int i = 0, campaign = campaign_count(300); i < campaign; i++) {
            const Primitive p[2] = {dice_primitive(&dice, bounded[k]),
                                    dice_primitive(&dice, PRIMITIVE_CYLINDER)};
            const Pose pose[2] = {dice_pose(&dice, 0.5), dice_pose(&dice, 0.5)};
            Manifold manifold;
            narrow_collide(&p[0], pose[0], &p[1], pose[1], 10.0, &manifold);
            const double sizes = size_of(&p[0]) + size_of(&p[1]);
            // how deep the polytope is known, in convex_gap.c
            ck_assert_double_ge(lowest(&manifold), least_depth(&dice, p, pose) - 1e-6 * sizes);
        }
    }
}
END_TEST

// Sizes of which one may be a thousand times another, and bodies that overlap by all of them.
START_TEST(so_does_one_about_slivers_and_discs) {
    Dice dice = {903};
    for (int i = 0, campaign = campaign_count(40000); i < campaign; i++) {
        Primitive p[2] = {dice_primitive(&dice, bounded[i % 4]),
                          dice_primitive(&dice, PRIMITIVE_CYLINDER)};
        for (int side = 0; side < 2; side++) {
            p[side].size.x *= pow(10.0, dice_between(&dice, -3.0, 3.0));
            p[side].size.y *= pow(10.0, dice_between(&dice, -3.0, 3.0));
            p[side].size.z *= pow(10.0, dice_between(&dice, -3.0, 3.0));
        }
        const double sizes = size_of(&p[0]) + size_of(&p[1]);
        Pose pose[2] = {dice_pose(&dice, 1.0), dice_pose(&dice, 1.0)};
        pose[1].position =
            vec3_add_scaled(pose[0].position, dice_unit(&dice) * sizes, dice_direction(&dice));
        Manifold manifold;
        narrow_collide(&p[0], pose[0], &p[1], pose[1], 10.0 * sizes, &manifold);
        prove(p, pose, &manifold, gap_tolerance, gap_tolerance);
    }
}
END_TEST

static Quat dice_cube_turn(Dice *dice) {
    const double h = sqrt(0.5);
    const Quat quarter[4] = {
        {1.0, 0.0, 0.0, 0.0}, {h, h, 0.0, 0.0}, {h, 0.0, h, 0.0}, {h, 0.0, 0.0, h}};
    Quat q = quat_identity();
    for (int i = 0; i < 3; i++) {
        q = quat_mul(q, quarter[(int)(4.0 * dice_unit(dice))]);
    }
    return quat_normalize(q);
}

static double dice_quarters(Dice *dice, int count) {
    return 0.25 * (1.0 + floor(dice_unit(dice) * count));
}

// Axes across each other or along, sizes and places multiples of one length, all of it turned as
// anything, and off by a hair: faces, edges and rims then lie along each other in many ways at
// once.
// Where they do one inside the other, what is nearest is no place of its own, and the points may be
// off by 3e-3 of the sizes; of those that touch, by 1e-4.
START_TEST(bodies_on_a_grid_have_their_gap) {
    Dice dice = {904};
    int off = 0;
    const int campaign = campaign_count(40000);
    for (int i = 0; i < campaign; i++) {
        Primitive p[2] = {dice_primitive(&dice, bounded[i % 4]),
                          dice_primitive(&dice, PRIMITIVE_CYLINDER)};
        const Pose base = dice_pose(&dice, 1.0);
        Pose pose[2];
        for (int side = 0; side < 2; side++) {
            p[side].size =
                vec3(dice_quarters(&dice, 4), dice_quarters(&dice, 4), dice_quarters(&dice, 4));
            primitive_forget_sizes(&p[side]);
            const Vec3 at =
                vec3(dice_quarters(&dice, 7), dice_quarters(&dice, 7), dice_quarters(&dice, 7));
            pose[side] = pose_compose(base, (Pose){at, dice_cube_turn(&dice)});
            const double noise = i % 3 == 0 ? 1e-9 : 0.0;
            const Vec3 turn = dice_vec(&dice, -noise, noise);
            pose[side].position = vec3_add(pose[side].position, dice_vec(&dice, -noise, noise));
            pose[side].orientation = quat_normalize(
                quat_mul((Quat){1.0, turn.x, turn.y, turn.z}, pose[side].orientation));
        }
        Manifold manifold;
        narrow_collide(&p[0], pose[0], &p[1], pose[1], 10.0, &manifold);
        const bool is_deep = manifold.count > 0 && lowest(&manifold) < -0.1;
        prove(p, pose, &manifold, 4.0 * gap_tolerance, is_deep ? 3e-3 : 1e-4);
        off += farthest_out(p, pose, &manifold) > 1e-7;
    }
    ck_assert_int_le(off, 2 + campaign / 200);
}
END_TEST

START_TEST(swapped_they_are_the_same_to_the_bit) {
    Dice dice = {905};
    for (int i = 0, campaign = campaign_count(8000); i < campaign; i++) {
        const PrimitiveKind kind = i % 5 < 4 ? bounded[i % 5] : PRIMITIVE_PLANE;
        const Primitive p[2] = {dice_primitive(&dice, kind),
                                dice_primitive(&dice, PRIMITIVE_CYLINDER)};
        const Pose pose[2] = {dice_pose(&dice, 1.0), dice_pose(&dice, 1.0)};
        Manifold here, there;
        narrow_collide(&p[0], pose[0], &p[1], pose[1], 0.5, &here);
        narrow_collide(&p[1], pose[1], &p[0], pose[0], 0.5, &there);
        ck_assert_uint_eq(here.count, there.count);
        for (uint32_t k = 0; k < here.count; k++) {
            ck_assert(here.normal.x == -there.normal.x && here.normal.y == -there.normal.y &&
                      here.normal.z == -there.normal.z);
            ck_assert(here.point[k].gap == there.point[k].gap &&
                      vec3_norm(vec3_sub(here.point[k].position, there.point[k].position)) == 0.0);
        }
    }
}
END_TEST

// Where no more than a hundredth of the sizes overlaps, and features stay: nothing jumps.
START_TEST(a_pose_moved_by_a_nanometre_moves_no_point_by_a_micrometre) {
    Dice dice = {906};
    int compared = 0;
    for (int i = 0, campaign = campaign_count(20000); i < campaign; i++) {
        const Primitive p[2] = {dice_primitive(&dice, bounded[i % 4]),
                                dice_primitive(&dice, PRIMITIVE_CYLINDER)};
        const Pose pose[2] = {dice_pose(&dice, 0.7), dice_pose(&dice, 0.7)};
        Pose moved = pose[1];
        const Vec3 turn = dice_vec(&dice, -1e-9, 1e-9);
        moved.position = vec3_add(moved.position, dice_vec(&dice, -1e-9, 1e-9));
        moved.orientation =
            quat_normalize(quat_mul((Quat){1.0, turn.x, turn.y, turn.z}, moved.orientation));
        Manifold here, there;
        narrow_collide(&p[0], pose[0], &p[1], pose[1], 10.0, &here);
        narrow_collide(&p[0], pose[0], &p[1], moved, 10.0, &there);
        const double sizes = size_of(&p[0]) + size_of(&p[1]);
        bool is_same = here.count == there.count && lowest(&here) > -0.01 * sizes;
        for (uint32_t k = 0; is_same && k < here.count; k++) {
            is_same = here.point[k].feature == there.point[k].feature;
        }
        for (uint32_t k = 0; is_same && k < here.count; k++) {
            const Vec3 way = vec3_sub(here.point[k].position, there.point[k].position);
            ck_assert_double_le(vec3_norm(way), 1e-6);
        }
        compared += is_same;
    }
    ck_assert_int_gt(compared, campaign_count(20000) / 4);
}
END_TEST

// Standing, lying and tilted, on a plane, a box and another cylinder.
START_TEST(a_cylinder_rests_on_four_places_of_its_rim_or_on_two_ends_of_its_side) {
    const Primitive cylinder = make_cylinder(0.3, 0.5), plane = make_plane(),
                    box = make_box(vec3(1.0, 1.0, 0.5)), wide = make_cylinder(0.8, 0.5);
    const Primitive *const ground[3] = {&plane, &box, &wide};
    const double top[3] = {0.0, 0.5, 0.5};
    Dice dice = {907};
    for (int i = 0; i < 3 * 100; i++) {
        const Pose base = dice_pose(&dice, 1.0);
        const double angle = dice_between(&dice, 0.0, 6.28);
        const Quat about_z = {cos(0.5 * angle), 0.0, 0.0, sin(0.5 * angle)};
        const bool lies = i / 3 % 2 == 0;
        const Quat turn =
            lies ? quat_mul(about_z, (Quat){sqrt(0.5), sqrt(0.5), 0.0, 0.0}) : about_z;
        const double height = top[i % 3] + (lies ? 0.3 : 0.5) - 1e-4;
        const Pose pose = pose_compose(base, (Pose){vec3(0.02, 0.01, height), turn});
        Manifold manifold;
        narrow_collide(ground[i % 3], base, &cylinder, pose, 0.01, &manifold);
        ck_assert_uint_eq(manifold.count, lies ? 2 : 4);
        const Vec3 up = quat_rotate(base.orientation, vec3(0.0, 0.0, 1.0));
        ck_assert_double_le(vec3_norm(vec3_sub(manifold.normal, up)), 1e-9);
        Vec3 middle = vec3(0.0, 0.0, 0.0);
        for (uint32_t k = 0; k < manifold.count; k++) {
            ck_assert_double_eq_tol(manifold.point[k].gap, -1e-4, 1e-9);
            middle = vec3_add_scaled(middle, 1.0 / manifold.count, manifold.point[k].position);
        }
        const Vec3 under = vec3_sub(middle, pose.position);
        ck_assert_double_eq_tol(vec3_norm(under), lies ? 0.3 - 5e-5 : 0.5 - 5e-5, 1e-8);
    }
}
END_TEST

// A box in a cylinder's cap, one corner of its face beyond the rim: of three corners and two places
// of the rim those four stay that span most, also in a mirror, where they are found in another
// order.
START_TEST(of_five_places_four_span_what_all_do) {
    const Primitive box = make_box(vec3(0.16, 0.068, 0.1)), cylinder = make_cylinder(0.24, 0.1);
    const Vec3 corner = {-0.1484857, 0.0046110, 1.0264429};
    for (int i = 0; i < 2; i++) {
        const double sign = i == 0 ? 1.0 : -1.0;
        const Pose pose[2] = {
            {vec3(0.0, 0.0, sign * 0.9),
             quat_normalize((Quat){0.98972242, 0.03798935, 0.09897224, -0.09597308})},
            {vec3(sign * 0.053, sign * -0.044, sign * 0.91), {sqrt(0.5), -sqrt(0.5), 0.0, 0.0}}};
        Manifold manifold;
        narrow_collide(&box, pose[0], &cylinder, pose[1], 0.001, &manifold);
        ck_assert_uint_eq(manifold.count, 4);
        double nearest = HUGE_VAL;
        for (uint32_t k = 0; k < 4; k++) {
            const Vec3 off = vec3_sub(vec3_scale(sign, manifold.point[k].position), corner);
            nearest = fmin(nearest, vec3_norm(off));
            for (uint32_t m = 0; m < k; m++) { // the two at the rim are 0.03 m apart
                const Vec3 apart = vec3_sub(manifold.point[k].position, manifold.point[m].position);
                ck_assert_double_gt(vec3_norm(apart), 0.1);
            }
        }
        ck_assert_double_le(nearest, 1e-6);
    }
}
END_TEST

// A plate in the middle of a cylinder that is ten thousand times as thick, whose edges are off
// parallel by less than what counts as parallel: the depth is along what is across an edge and the
// axis, which the search does not end with, and no deeper than the points.
START_TEST(a_plate_in_a_cylinder_is_as_deep_as_its_points) {
    const double turn = 2.384185791015e-7; // half an angle [rad]
    for (int i = 0; i < 200; i++) {
        Dice dice = {(uint64_t)911 + (uint64_t)i};
        const double x = i == 0 ? 1.0 : dice_between(&dice, 0.5, 4.0);
        const double y = i == 0 ? 1.0 : dice_between(&dice, 0.5, 4.0);
        const Primitive pair[2] = {make_box(vec3(1.0, 0.00036645, 1.0)),
                                   make_cylinder(5.625, 5.625)};
        const Pose pose[2] = {
            {vec3(0.0, 0.0, 0.0), quat_normalize((Quat){1.0, turn * x, turn * y, turn})},
            {vec3(0.0, 0.0, 0.0), quat_normalize((Quat){1.0, 2.0 * turn, turn, turn})}};
        Manifold manifold;
        narrow_collide(&pair[0], pose[0], &pair[1], pose[1], 0.01, &manifold);
        ck_assert_uint_gt(manifold.count, 0);
        double deepest = HUGE_VAL;
        for (uint32_t k = 0; k < manifold.count; k++) {
            deepest = fmin(deepest, manifold.point[k].gap);
        }
        const double size = vec3_norm(pair[0].size) + vec3_norm(pair[1].size);
        ck_assert_double_eq_tol(deepest, judge_separation(pair, pose, manifold.normal),
                                1e-8 * size);
    }
}
END_TEST

// The same where the search ends with corners of other edges than the one that is nearest: the
// normal that those know leads there.
START_TEST(a_plate_in_a_cylinder_is_as_deep_whichever_corners_are_found) {
    Dice dice = {912};
    for (int i = 0; i < 2000; i++) {
        const double by = i == 0 ? 0.0 : 1e-7; // all else of the same, and the corners found
        const Vec3 half = {0.99999999997976374, 0.00036644935607910156, 1.0};
        const Primitive pair[2] = {make_box(vec3_add(half, dice_vec(&dice, 0.0, by))),
                                   make_cylinder(5.6250000149011612, 5.6250001676380634)};
        const Vec3 turn = dice_vec(&dice, -by, by);
        const Quat off = {-0.49999999999997158 + turn.x, -0.49999999999997158 - turn.x,
                          0.49999976158139248 + turn.y, 0.50000023841855068 + turn.z};
        const Pose pose[2] = {{vec3(0.0, 0.0, 0.0), {-0.5, -0.5, 0.5, 0.5}},
                              {vec3(0.0, 0.0, 0.0), quat_normalize(off)}};
        Manifold manifold;
        narrow_collide(&pair[0], pose[0], &pair[1], pose[1], 5.625, &manifold);
        prove(pair, pose, &manifold, gap_tolerance, gap_tolerance);
    }
}
END_TEST

static TCase *case_convex(void) {
    TCase *tcase = tcase_create("convex");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, an_answer_proves_itself);
    tcase_add_test(tcase, so_does_one_about_slivers_and_discs);
    tcase_add_test(tcase, bodies_on_a_grid_have_their_gap);
    tcase_add_test(tcase, no_direction_knows_a_smaller_depth);
    tcase_add_test(tcase, swapped_they_are_the_same_to_the_bit);
    tcase_add_test(tcase, a_pose_moved_by_a_nanometre_moves_no_point_by_a_micrometre);
    tcase_add_test(tcase, a_cylinder_rests_on_four_places_of_its_rim_or_on_two_ends_of_its_side);
    tcase_add_test(tcase, a_plate_in_a_cylinder_is_as_deep_as_its_points);
    tcase_add_test(tcase, a_plate_in_a_cylinder_is_as_deep_whichever_corners_are_found);
    tcase_add_test(tcase, of_five_places_four_span_what_all_do);
    return tcase;
}

SUITE_MAIN("collide/convex", case_convex)
