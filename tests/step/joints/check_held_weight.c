// SPDX-License-Identifier: MIT
// Gravity compensation as importers say it: a joint of rows that leaves everything free pushes at
// the centre of a body's mass with a share of its weight. It is of the gravity that there was:
// where that changes later, bodies are accelerated by the difference, wherever the centre lies.
#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <math.h>

#define STEP 0.004

enum { BODIES = 2, STEPS = 50 };

static const double masses[BODIES] = {1.3, 4.0}, shares[BODIES] = {1.0, 0.25};
static const double moments[6] = {0.3, 0.3, 0.3, 0.0, 0.0, 0.0};

static Vec3 gravity(void) {
    return vec3(1.7, -4.0, -8.8);
}

static void set_gravity(Lab *lab, Vec3 g) {
    WorldSettings settings = lab->world->settings;
    settings.gravity = g;
    world_set_settings(lab->world, &settings);
}

static void hold(Lab *lab, uint32_t body, Vec3 center) {
    const uint32_t kind = JOINT_FREE, as_rows = 1;
    double effort[6] = {0.0}, frame_a[7], frame_b[7], three[3];
    const Pose at = {center, quat_identity()}, here = {.orientation = quat_identity()};
    vec3_store(effort, vec3_scale(-shares[body] * masses[body], gravity()));
    vec3_store(three, center);
    ck_assert_int_eq(world_move_center(lab->world, body, three, NULL), STATUS_OK);
    pose_store(frame_a, here);
    pose_store(frame_b, at);
    lab_joints(lab, &(JointColumns){.count = 1,
                                    .axis_count = 6,
                                    .position_count = 7,
                                    .kind = &kind,
                                    .as_rows = &as_rows,
                                    .body_b = &lab->world->body_id[body],
                                    .frame_a = frame_a,
                                    .frame_b = frame_b,
                                    .effort = effort});
}

// Turned, and with a centre beside their origins; the second turns on.
static Lab make_held(SolverKind kind) {
    Lab lab = lab_create(0.0, STEP);
    WorldSettings settings = lab.world->settings;
    const SolverSettings solver = solver_default(kind);
    step_set_solver(&settings, &solver);
    settings.sleep_speed = 0.02;
    settings.sleep_time = 0.1;
    world_set_settings(lab.world, &settings);
    set_gravity(&lab, gravity());
    for (uint32_t i = 0; i < BODIES; i++) {
        const Pose pose = {vec3(0.4 - 3.0 * i, 1.0, 0.3),
                           quat_normalize((Quat){0.53, 0.21 + i, -0.6, 0.4})};
        const double velocity[6] = {0.0, 0.0, 0.0, 0.9 * i, -0.4 * i, 0.7 * i};
        lab_body(&lab, 0, BODY_DYNAMIC, pose, velocity, masses[i], moments);
        hold(&lab, i, vec3(0.1, -0.2 * i, 0.05));
    }
    return lab;
}

// Behind what was held under one gravity, and then so long under another: to rounding, some tens of
// it a step.
static void expect_speeds(const Lab *lab, const Vec3 first[BODIES], Vec3 later, int steps) {
    const Vec3 whirl = vec3(0.9, -0.4, 0.7);
    for (uint32_t i = 0; i < BODIES; i++) {
        Vec3 speed = vec3_add_scaled(first[i], STEPS * STEP * (1.0 - shares[i]), gravity());
        speed = vec3_add_scaled(speed, steps * STEP, later);
        speed = vec3_add_scaled(speed, -shares[i] * steps * STEP, gravity());
        ck_assert_double_le(vec3_norm(vec3_sub(lab_velocity(lab, i), speed)), 1e-12);
        ck_assert_double_le(vec3_norm(vec3_sub(lab_spin(lab, i), vec3_scale(i, whirl))), 1e-12);
    }
}

START_TEST(what_is_held_is_held_against_the_gravity_that_there_was) {
    Lab lab = make_held((SolverKind)_i), twin = make_held((SolverKind)_i);
    const Vec3 first[BODIES] = {lab_velocity(&lab, 0), lab_velocity(&lab, 1)};
    lab_step(&lab, STEPS);
    lab_step(&twin, STEPS);
    expect_speeds(&lab, first, gravity(), 0);
    ck_assert_uint_eq(sleep_count(lab.world), 0); // who is pushed at stays awake, as by a wrench
    const Vec3 later = vec3(-2.0, 0.5, 3.0);
    set_gravity(&lab, later);
    lab_restore(&twin);
    set_gravity(&twin, later);
    for (int i = 1; i <= STEPS; i++) {
        lab_step(&lab, 1);
        lab_step(&twin, 1);
        if (i % 7 == 0) {
            lab_restore(&twin);
        }
        expect_speeds(&lab, first, later, i);
        ck_assert_uint_eq(snapshot_hash(lab.world), snapshot_hash(twin.world));
        ck_assert_double_eq_tol(lab.report.energy.unexplained, 0.0, 1e-11);
    }
    // without the joints it falls as all do
    const Vec3 before = lab_velocity(&lab, 0);
    const uint32_t joints[BODIES] = {0, 1};
    world_remove_joints(lab.world, joints, BODIES);
    lab_step(&lab, STEPS);
    ck_assert_double_le(vec3_norm(vec3_sub(vec3_sub(lab_velocity(&lab, 0), before),
                                           vec3_scale(STEPS * STEP, later))),
                        1e-12);
    lab_destroy(&lab);
    lab_destroy(&twin);
}
END_TEST

static TCase *case_held_weight(void) {
    TCase *tcase = tcase_create("held weight");
    tcase_add_loop_test(tcase, what_is_held_is_held_against_the_gravity_that_there_was, 0,
                        SOLVER_COUNT);
    return tcase;
}

SUITE_MAIN("step/held_weight", case_held_weight)
