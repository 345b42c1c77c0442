// SPDX-License-Identifier: MIT
#include "base/vec.h"

#include "support/suite.h"

#include <stdint.h>

// Everything here is of size one: a few roundings of 1e-16.
static const double tolerance = 1e-14;

static uint64_t state = 12345;

static double roll(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-52 - 1.0;
}

static Vec3 roll_vec(void) {
    double x = roll(), y = roll();
    return vec3(x, y, roll());
}

static Quat roll_quat(void) {
    Vec3 v = roll_vec();
    return quat_normalize((Quat){roll() + 2.0, v.x, v.y, v.z});
}

static void assert_equal(Vec3 actual, Vec3 expected) {
    ck_assert_double_le(vec3_norm(vec3_sub(actual, expected)), tolerance);
}

START_TEST(the_cross_product_stands_on_both_and_obeys_lagrange) {
    for (int i = 0; i < 1000; i++) {
        Vec3 a = roll_vec(), b = roll_vec(), c = vec3_cross(a, b);
        ck_assert_double_eq_tol(vec3_dot(a, c), 0.0, tolerance);
        ck_assert_double_eq_tol(vec3_dot(b, c), 0.0, tolerance);
        double ab = vec3_dot(a, b);
        ck_assert_double_eq_tol(vec3_dot(c, c), vec3_dot(a, a) * vec3_dot(b, b) - ab * ab,
                                tolerance);
    }
    assert_equal(vec3_cross(vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0)), vec3(0.0, 0.0, 1.0));
}
END_TEST

static void assert_right_handed(Vec3 n) {
    Vec3 t1, t2;
    vec3_tangents(n, &t1, &t2);
    ck_assert_double_eq_tol(vec3_norm(t1), 1.0, tolerance);
    ck_assert_double_eq_tol(vec3_dot(n, t1), 0.0, tolerance);
    assert_equal(vec3_cross(n, t1), t2);
}

START_TEST(tangents_make_a_right_handed_frame) {
    for (int i = 0; i < 1000; i++) {
        Vec3 n = roll_vec();
        assert_right_handed(vec3_scale(1.0 / vec3_norm(n), n));
    }
    for (int axis = 0; axis < 3; axis++) {
        Vec3 n = vec3(axis == 0, axis == 1, axis == 2);
        assert_right_handed(n);
        assert_right_handed(vec3_neg(n));
    }
}
END_TEST

START_TEST(quaternions_turn_as_their_matrices_do) {
    for (int i = 0; i < 1000; i++) {
        Quat p = roll_quat(), q = roll_quat();
        Vec3 v = roll_vec();
        ck_assert_double_eq_tol(vec3_norm(quat_rotate(p, v)), vec3_norm(v), tolerance);
        assert_equal(quat_rotate(quat_mul(p, q), v), quat_rotate(p, quat_rotate(q, v)));
        Mat3 m = quat_to_mat3(p);
        assert_equal(mat3_tmul_vec(m, mat3_mul_vec(m, v)), v);
        assert_equal(vec3_cross(m.c0, m.c1), m.c2);
    }
    // a quarter turn about z takes x to y
    assert_equal(quat_rotate((Quat){sqrt(0.5), 0.0, 0.0, sqrt(0.5)}, vec3(1.0, 0.0, 0.0)),
                 vec3(0.0, 1.0, 0.0));
}
END_TEST

START_TEST(a_composed_pose_applies_the_inner_first) {
    for (int i = 0; i < 1000; i++) {
        Pose outer = {roll_vec(), roll_quat()}, inner = {roll_vec(), roll_quat()};
        Vec3 p = roll_vec();
        assert_equal(pose_apply(pose_compose(outer, inner), p),
                     pose_apply(outer, pose_apply(inner, p)));
    }
}
END_TEST

START_TEST(packed_poses_come_back) {
    const double packed[7] = {1.0, 2.0, 3.0, 0.5, -0.5, 0.5, -0.5};
    double again[7];
    pose_store(again, pose_load(packed));
    ck_assert_mem_eq(packed, again, sizeof(packed));
    ck_assert_double_eq(pose_load(packed).orientation.w, 0.5);
}
END_TEST

START_TEST(a_tensor_turned_acts_as_turned) {
    for (int i = 0; i < 1000; i++) {
        Sym3 m = {roll() + 4.0, roll() + 4.0, roll() + 4.0, roll(), roll(), roll()};
        Mat3 r = quat_to_mat3(roll_quat());
        Vec3 v = roll_vec();
        assert_equal(sym3_mul_vec(sym3_rotate(r, m), v),
                     mat3_mul_vec(r, sym3_mul_vec(m, mat3_tmul_vec(r, v))));
        // rows of 3 or more against at most 2 beside it: eigenvalues of 1 to 7 (Gershgorin)
        ck_assert_double_eq_tol(
            vec3_norm(vec3_sub(sym3_mul_vec(sym3_inverse(m), sym3_mul_vec(m, v)), v)), 0.0,
            100.0 * tolerance);
    }
}
END_TEST

START_TEST(what_is_not_finite_is_told) {
    ck_assert(vec3_is_finite(vec3(1.0, -1e308, 0.0)));
    ck_assert(!vec3_is_finite(vec3((double)NAN, 0.0, 0.0)));
    ck_assert(!vec3_is_finite(vec3(0.0, HUGE_VAL, 0.0)));
    ck_assert(!vec3_is_finite(vec3(0.0, 0.0, -HUGE_VAL)));
}
END_TEST

static TCase *case_vec(void) {
    TCase *tcase = tcase_create("vec");
    tcase_add_test(tcase, the_cross_product_stands_on_both_and_obeys_lagrange);
    tcase_add_test(tcase, tangents_make_a_right_handed_frame);
    tcase_add_test(tcase, quaternions_turn_as_their_matrices_do);
    tcase_add_test(tcase, a_composed_pose_applies_the_inner_first);
    tcase_add_test(tcase, packed_poses_come_back);
    tcase_add_test(tcase, a_tensor_turned_acts_as_turned);
    tcase_add_test(tcase, what_is_not_finite_is_told);
    return tcase;
}

SUITE_MAIN("base/vec", case_vec)
