// SPDX-License-Identifier: MIT
#include "bench/overlap.h"

#include "support/lab.h"
#include "support/suite.h"

#include <math.h>

enum { SPHERE_COUNT = 60 };

static Pose upright(double x, double y, double z) {
    return (Pose){.position = vec3(x, y, z), .orientation = quat_identity()};
}

static Overlap measure(Lab *lab, const double *pose) {
    Overlap overlap = {0};
    ck_assert(overlap_add(lab->world, pose, &lab->scratch, &overlap));
    return overlap;
}

static void add_depth(Overlap *overlap, double depth) {
    if (depth >= 0.0) {
        overlap->sum += depth;
        overlap->touching += 1.0;
        overlap->deepest = fmax(overlap->deepest, depth);
    }
}

// Every pair, by the closed form: r + s - |p - q|, and r - z for the floor.
static Overlap count_by_hand(const double *radius, const Vec3 *position) {
    Overlap overlap = {0};
    for (int i = 0; i < SPHERE_COUNT; i++) {
        add_depth(&overlap, radius[i] - position[i].z);
        for (int k = 0; k < i; k++) {
            double apart = vec3_norm(vec3_sub(position[i], position[k]));
            add_depth(&overlap, radius[i] + radius[k] - apart);
        }
    }
    return overlap;
}

// The bodies of the world stay at one place: only the poses that are handed over count.
START_TEST(spheres_overlap_as_the_closed_form_says) {
    Lab lab = lab_create(0.0, 0.01);
    lab_ground(&lab, 0);
    double radius[SPHERE_COUNT], pose[7 * (SPHERE_COUNT + 1)];
    Vec3 position[SPHERE_COUNT];
    uint64_t seed = (uint64_t)_i + 1;
    pose_store(pose, upright(0.0, 0.0, 0.0));
    for (int i = 0; i < SPHERE_COUNT; i++) {
        radius[i] = lab_random(&seed, 0.05, i % 10 == 0 ? 0.5 : 0.1); // some cover many others
        position[i] = vec3(lab_random(&seed, 0.0, 1.0), lab_random(&seed, 0.0, 1.0),
                           lab_random(&seed, 0.0, 1.0));
        Id shape = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(radius[i], 0.0, 0.0), 0);
        lab_body(&lab, shape, BODY_DYNAMIC, upright(0.0, 0.0, 5.0), NULL, 1.0, NULL);
        pose_store(pose + 7 * ((size_t)i + 1),
                   upright(position[i].x, position[i].y, position[i].z));
    }
    Overlap expected = count_by_hand(radius, position), overlap = measure(&lab, pose);
    ck_assert_double_gt(expected.touching, 10.0);
    ck_assert_double_eq(overlap.touching, expected.touching);
    // sums of some hundred depths of up to 1 m, in another order
    ck_assert_double_eq_tol(overlap.sum, expected.sum, 1e-12);
    ck_assert_double_eq_tol(overlap.deepest, expected.deepest, 1e-15);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_box_sinks_with_four_corners) {
    Lab lab = lab_create(0.0, 0.01);
    lab_ground(&lab, 0);
    Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.2, 0.1, 0.1), 0);
    lab_body(&lab, box, BODY_DYNAMIC, upright(0.0, 0.0, 0.1 - 0.001), NULL, 1.0, NULL);
    Overlap overlap = measure(&lab, lab.world->pose);
    ck_assert_double_eq(overlap.touching, 4.0);
    ck_assert_double_eq_tol(overlap.sum, 0.004, 1e-15); // rounding of coordinates of 0.1 m
    ck_assert_double_eq_tol(overlap.deepest, 0.001, 1e-15);
    lab_destroy(&lab);
}
END_TEST

START_TEST(what_is_apart_does_not_overlap) {
    Lab lab = lab_create(0.0, 0.01);
    lab_ground(&lab, 0);
    lab_ground(&lab, 0); // two that stand still are no pair
    Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), 0);
    lab_body(&lab, box, BODY_DYNAMIC, upright(0.0, 0.0, 0.1001), NULL, 1.0, NULL);
    lab_body(&lab, box, BODY_DYNAMIC, upright(0.0, 0.0, 0.3002), NULL, 1.0, NULL);
    Overlap overlap = measure(&lab, lab.world->pose);
    ck_assert_double_eq(overlap.touching, 0.0);
    ck_assert_double_eq(overlap.deepest, 0.0);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_overlap(void) {
    TCase *tcase = tcase_create("overlap");
    tcase_add_loop_test(tcase, spheres_overlap_as_the_closed_form_says, 0, 20);
    tcase_add_test(tcase, a_box_sinks_with_four_corners);
    tcase_add_test(tcase, what_is_apart_does_not_overlap);
    return tcase;
}

SUITE_MAIN("bench/overlap", case_overlap)
