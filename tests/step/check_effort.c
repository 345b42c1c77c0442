// SPDX-License-Identifier: MIT
// The effort of a world: what rests borrows, and the world then owes for some steps, which is part
// of its state.
#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

enum { HIGH = 70 };
#define GRAVITY   9.81
#define TIME_STEP (1.0 / 240.0)

static void set_effort(Lab *lab, WorldEffort effort) {
    WorldSettings settings = lab->world->settings;
    settings.effort = (uint8_t)effort;
    world_set_settings(lab->world, &settings);
}

// A pile of boxes as wide as high, too many to be solved at once: from nothing a hundred sweeps do
// not carry its weight down.
static Lab wall(void) {
    Lab lab = lab_create(GRAVITY, TIME_STEP);
    Id material = lab_material(&lab, 0.6, 0.0);
    lab_ground(&lab, material);
    Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.05), material);
    for (int i = 0; i < HIGH; i++) {
        Pose pose = {.position = vec3(0.0, 0.0, 0.05 + 0.1 * i), .orientation = quat_identity()};
        lab_body(&lab, box, BODY_DYNAMIC, pose, NULL, 0.0, NULL);
    }
    return lab;
}

// Also where every step has four solves, of which the first borrows: what it has borrowed is the
// step's.
START_TEST(what_rests_borrows_once_and_then_stays_solved) {
    const uint32_t substeps = _i == 0 ? 1 : 4;
    Lab lab = wall();
    set_effort(&lab, WORLD_BALANCED);
    lab_divide(&lab, substeps);
    lab_step(&lab, 1);
    ck_assert(lab.report.has_borrowed);
    uint32_t owed = lab.report.owed_steps;
    ck_assert_uint_ge(owed, 1);
    ck_assert(lab.report.certificate.converged);
    for (int i = 1; i <= 40; i++) {
        lab_step(&lab, 1);
        ck_assert(lab.report.certificate.converged);
        ck_assert(!lab.report.has_borrowed);
        owed -= owed > 0;
        ck_assert_uint_eq(lab.report.owed_steps, owed);
        ck_assert_uint_le(lab.report.iterations, 2 * substeps);
    }
    lab_destroy(&lab);
}
END_TEST

START_TEST(what_is_owed_is_state) {
    Lab lab = wall();
    set_effort(&lab, WORLD_BALANCED);
    lab_step(&lab, 1);
    uint32_t owed = lab.report.owed_steps;
    ck_assert_uint_ge(owed, 1);
    World *copy = lab_copy(&lab);
    ck_assert_uint_eq(copy->solver_wait, owed);
    ck_assert_uint_eq(snapshot_hash(copy), snapshot_hash(lab.world));
    world_destroy(copy);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_fast_effort_ends_after_eight_sweeps) {
    Lab lab = wall();
    set_effort(&lab, WORLD_FAST);
    for (int i = 0; i < 20; i++) {
        lab_step(&lab, 1);
        ck_assert_uint_le(lab.report.iterations, 8);
        ck_assert(!lab.report.has_borrowed);
    }
    // what it leaves open is some leaning and sinking, by hairs
    Vec3 top = lab_position(&lab, HIGH);
    ck_assert_double_lt(hypot(top.x, top.y), 1e-2);
    ck_assert_double_gt(top.z, 0.1 * HIGH - 0.05 - 0.05);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_effort(void) {
    TCase *tcase = tcase_create("effort");
    tcase_add_loop_test(tcase, what_rests_borrows_once_and_then_stays_solved, 0, 2);
    tcase_add_test(tcase, what_is_owed_is_state);
    tcase_add_test(tcase, a_fast_effort_ends_after_eight_sweeps);
    return tcase;
}

SUITE_MAIN("step/effort", case_effort)
