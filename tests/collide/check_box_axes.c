// SPDX-License-Identifier: MIT
// Axes side by side are what they are one by one, to the bit: no vector may take a sum in another
// order.
#include "collide/box/box_axes.h"

#include "collide/geometry.h"
#include "support/campaign.h"
#include "support/suite.h"

static Box random_box(Dice *dice, Quat turn) {
    const Mat3 r = quat_to_mat3(turn);
    const Vec3 half = dice_vec(dice, 0.01, 2.0);
    return (Box){.center = dice_vec(dice, -2.0, 2.0),
                 .axis = {r.c0, r.c1, r.c2},
                 .half = {half.x, half.y, half.z}};
}

static double half_along(const Box *box, Vec3 n) {
    double extent = 0.0;
    for (int i = 0; i < 3; i++) {
        extent += box->half[i] * fabs(vec3_dot(box->axis[i], n));
    }
    return extent;
}

// By the formulas of box_axes.h, a number at a time.
static double face_by_hand(const Box box[2], Vec3 offset, int side, int axis) {
    double extent = box[side].half[axis];
    for (int j = 0; j < 3; j++) {
        extent +=
            box[1 - side].half[j] * fabs(vec3_dot(box[side].axis[axis], box[1 - side].axis[j]));
    }
    return fabs(vec3_dot(box[side].axis[axis], offset)) - extent;
}

static double edge_by_hand(const Box box[2], const BoxAxes *axes, int i, int j) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    const double p = axes->R[i1][j], q = axes->R[i2][j], squared = p * p + q * q;
    if (squared < 1e-12) {
        return -HUGE_VAL;
    }
    const double extent = box[0].half[i1] * fabs(q) + box[0].half[i2] * fabs(p) +
                          box[1].half[j1] * fabs(axes->R[i][j2]) +
                          box[1].half[j2] * fabs(axes->R[i][j1]);
    return (fabs(axes->t[0][i2] * p - axes->t[0][i1] * q) - extent) / sqrt(squared);
}

static void assert_by_hand(const Box box[2], Vec3 offset, const BoxAxes *axes) {
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq(axes->t[0][i], vec3_dot(box[0].axis[i], offset));
        ck_assert_double_eq(axes->t[1][i], vec3_dot(box[1].axis[i], offset));
        ck_assert_double_eq(axes->face[0][i], face_by_hand(box, offset, 0, i));
        ck_assert_double_eq(axes->face[1][i], face_by_hand(box, offset, 1, i));
        for (int j = 0; j < 3; j++) {
            ck_assert_double_eq(axes->R[i][j], vec3_dot(box[0].axis[i], box[1].axis[j]));
            ck_assert_double_eq(axes->edge[i][j], edge_by_hand(box, axes, i, j));
        }
    }
}

// One of three pairs lies along axes of the other: edges that span none.
START_TEST(axes_are_what_they_are_one_by_one) {
    Dice dice = {71};
    int spanless = 0;
    for (int k = 0, campaign = campaign_count(3000); k < campaign; k++) {
        const Quat turn = dice_quat(&dice);
        const Box box[2] = {random_box(&dice, turn),
                            random_box(&dice, k % 3 == 0 ? turn : dice_quat(&dice))};
        const Vec3 offset = vec3_sub(box[1].center, box[0].center);
        BoxAxes axes;
        ck_assert(box_axes_find(box, offset, 100.0, &axes));
        assert_by_hand(box, offset, &axes);
        spanless += axes.edge[0][0] == -HUGE_VAL;
    }
    ck_assert_int_gt(spanless, 0);
}
END_TEST

// What stands on two edges parts boxes by as much as they reach along it, which rounding bears to
// 1e-9 of their sizes as long as the edges are not nearly parallel.
START_TEST(edges_part_by_what_boxes_reach_along_them) {
    Dice dice = {72};
    for (int k = 0, campaign = campaign_count(1000); k < campaign; k++) {
        const Box box[2] = {random_box(&dice, dice_quat(&dice)),
                            random_box(&dice, dice_quat(&dice))};
        const Vec3 offset = vec3_sub(box[1].center, box[0].center);
        BoxAxes axes;
        ck_assert(box_axes_find(box, offset, 100.0, &axes));
        for (int i = 0; i < 9; i++) {
            const Vec3 across = vec3_cross(box[0].axis[i / 3], box[1].axis[i % 3]);
            const double sine = vec3_norm(across);
            if (sine > 0.01) {
                const Vec3 n = vec3_scale(1.0 / sine, across);
                const double apart =
                    fabs(vec3_dot(n, offset)) - half_along(&box[0], n) - half_along(&box[1], n);
                ck_assert_double_eq_tol(axes.edge[i / 3][i % 3], apart, 1e-9);
                ck_assert_double_eq_tol(axes.sine[i / 3][i % 3], sine, 1e-9);
            }
        }
    }
}
END_TEST

// Exactly where a face knows it, and at the reach itself not yet.
START_TEST(who_is_farther_than_the_reach_is_told_by_a_face) {
    Dice dice = {73};
    int far = 0;
    for (int k = 0, campaign = campaign_count(3000); k < campaign; k++) {
        const Box box[2] = {random_box(&dice, dice_quat(&dice)),
                            random_box(&dice, dice_quat(&dice))};
        const Vec3 offset = vec3_sub(box[1].center, box[0].center);
        double most = -HUGE_VAL;
        for (int i = 0; i < 6; i++) {
            most = fmax(most, face_by_hand(box, offset, i / 3, i % 3));
        }
        BoxAxes axes;
        ck_assert_int_eq(box_axes_find(box, offset, 0.0, &axes), !(most > 0.0));
        if (most > 0.0) {
            far++;
            ck_assert(box_axes_find(box, offset, most, &axes));
            ck_assert(!box_axes_find(box, offset, nextafter(most, 0.0), &axes));
        }
    }
    ck_assert_int_gt(far, 0);
}
END_TEST

static TCase *case_axes(void) {
    TCase *c = tcase_create("axes");
    tcase_add_test(c, axes_are_what_they_are_one_by_one);
    tcase_add_test(c, edges_part_by_what_boxes_reach_along_them);
    tcase_add_test(c, who_is_farther_than_the_reach_is_told_by_a_face);
    return c;
}

SUITE_MAIN("collide/box_axes", case_axes)
