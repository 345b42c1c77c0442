// SPDX-License-Identifier: MIT
// The centre of a body's mass moved within the body: what a person sees stays where it is, and from
// then on it moves as a body with that centre, by closed forms, turned as no axis is.
#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <math.h>
#include <string.h>

#define PI      3.14159265358979323846
#define GRAVITY 9.81
#define MASS    1.3 // [kg]

static const double moments[6] = {0.4, 0.3, 0.2, 0.02, -0.03, 0.01};
static const double round_moments[6] = {0.3, 0.3, 0.3, 0.0, 0.0, 0.0};

static Pose askew(void) {
    return (Pose){vec3(0.3, -0.2, 0.7), quat_normalize((Quat){0.53, 0.21, -0.6, 0.4})};
}

static void move_center(Lab *lab, uint32_t body, Vec3 center) {
    double three[3];
    Error error = {0};
    vec3_store(three, center);
    ck_assert_msg(world_move_center(lab->world, body, three, &error) == STATUS_OK, "%s: %s",
                  error.field, error.message);
}

static Pose origin_of(const Lab *lab, uint32_t body) {
    double pose[7];
    world_body_pose(lab->world, body, pose);
    return pose_load(pose);
}

static void expect_near(Vec3 is, Vec3 wanted, double tolerance) {
    ck_assert_double_le(vec3_norm(vec3_sub(is, wanted)), tolerance);
}

// ---- a pendulum

// Hangs on the world by a hinge about the z axis of its frame, which goes through its origin; its
// centre of mass is to lie so deep under it. As rows: the same hinge.
static Lab pendulum(bool as_rows, double depth, double angle) {
    Lab lab = lab_create(0.0, 1e-3);
    WorldSettings settings = lab.world->settings;
    settings.integrator = as_rows ? INTEGRATOR_MIDPOINT : INTEGRATOR_RK4;
    settings.gravity = quat_rotate(askew().orientation, vec3(0.0, -GRAVITY, 0.0));
    world_set_settings(lab.world, &settings);
    const Pose turn = {vec3(0.0, 0.0, 0.0),
                       quat_normalize((Quat){cos(0.5 * angle), 0.0, 0.0, sin(0.5 * angle)})};
    const Pose hung = pose_compose(askew(), turn);
    lab_body(&lab, 0, BODY_DYNAMIC, hung, NULL, MASS, moments);
    const uint32_t kind = JOINT_HINGE, rows = as_rows;
    const uint64_t none = 0, body = 1;
    double frame[7];
    pose_store(frame, askew());
    const JointColumns joints = {.count = 1,
                                 .axis_count = 1,
                                 .position_count = 1,
                                 .kind = &kind,
                                 .as_rows = &rows,
                                 .body_a = &none,
                                 .body_b = &body,
                                 .frame_a = frame};
    lab_joints(&lab, &joints);
    move_center(&lab, 0, vec3(0.0, -depth, 0.15)); // 0.15 along the axis changes nothing
    return lab;
}

// A quarter of 2 pi sqrt(J/(m g l))/agm(1, cos(angle/2)), J about the axis.
static double quarter(double depth, double angle) {
    double a = 1.0, b = cos(0.5 * angle);
    for (int i = 0; i < 8; i++) {
        const double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    const double about = moments[2] + MASS * depth * depth;
    return 0.5 * PI * sqrt(about / (MASS * GRAVITY * depth)) / a;
}

START_TEST(a_pendulum_swings_as_deep_as_its_centre_hangs) {
    const bool as_rows = _i % 2;
    const double depth = _i / 2 ? 0.8 : 0.05, angle = 1.1;
    Lab lab = pendulum(as_rows, depth, angle);
    const double wanted = quarter(depth, angle), h = lab.world->settings.time_step;
    double before = angle, now = angle;
    int steps = 0;
    while (now > 0.0 && steps < 10000) {
        before = now;
        lab_step(&lab, 1);
        steps++;
        now = lab.world->joint_position[0];
    }
    // linear between two steps: next to the lowest point nothing accelerates. What rows hold is
    // moved by the velocity of a step's end, and so up to half a step ahead
    const double is = h * (steps - 1 + before / (before - now));
    ck_assert_double_eq_tol(is, wanted, as_rows ? 0.5 * h : 2e-8 * wanted);
    expect_near(origin_of(&lab, 0).position, askew().position, as_rows ? 1e-4 : 1e-8);
    lab_destroy(&lab);
}
END_TEST

// ---- a free body

#define SPIN 3.0

// Its centre goes straight on, and what was its origin goes around it.
START_TEST(a_body_turns_about_its_new_centre) {
    Lab lab = lab_create(0.0, 1e-3);
    const Vec3 axis = quat_rotate(quat_normalize((Quat){0.2, -0.7, 0.3, 0.5}), vec3(0.0, 0.0, 1.0));
    const Vec3 center = vec3(0.3, -0.1, 0.25), drift = vec3(0.4, -0.5, 0.6);
    double velocity[6];
    vec3_store(velocity, drift);
    vec3_store(velocity + 3, vec3_scale(SPIN, axis));
    lab_body(&lab, 0, BODY_DYNAMIC, askew(), velocity, MASS, round_moments);
    move_center(&lab, 0, center);
    expect_near(origin_of(&lab, 0).position, askew().position, 1e-15);
    const Vec3 arm = quat_rotate(askew().orientation, center);
    const Vec3 speed = vec3_add(drift, vec3_cross(vec3_scale(SPIN, axis), arm));
    expect_near(lab_velocity(&lab, 0), speed, 1e-15); // no point of it moves otherwise
    const int steps = 1000;
    lab_step(&lab, steps);
    const double time = steps * 1e-3, half = 0.5 * SPIN * time;
    const Vec3 part = vec3_scale(sin(half), axis);
    const Vec3 turned = quat_rotate((Quat){cos(half), part.x, part.y, part.z}, arm);
    const Vec3 wanted =
        vec3_add(askew().position, vec3_add(vec3_add_scaled(arm, time, speed), vec3_neg(turned)));
    expect_near(lab_velocity(&lab, 0), speed, 1e-13);
    // the rotation update is behind by (h w)^2/12 of an angle, along an arm of 0.4 m
    expect_near(origin_of(&lab, 0).position, wanted, 1e-6);
    expect_near(lab_position(&lab, 0),
                vec3_add_scaled(vec3_add(askew().position, arm), time, speed), 1e-12);
    lab_destroy(&lab);
}
END_TEST

// ---- what is seen

// A floating root with a box, on which a link hangs by a hinge, and a ball held to that by rows.
static Lab hung(void) {
    Lab lab = lab_create(GRAVITY, 1e-3);
    const Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.2, 0.3), 0);
    const double velocity[3][6] = {
        {0.3, 0.1, -0.2, 1.0, 2.0, -1.0}, {0}, {0.1, 0.2, 0.3, 0.5, -0.4, 0.6}};
    for (int i = 0; i < 3; i++) {
        const Pose at = pose_compose(askew(), (Pose){vec3(0.7 * i, 0.0, 0.1), quat_identity()});
        lab_body(&lab, box, BODY_DYNAMIC, at, velocity[i], 1.0 + i, NULL);
    }
    const uint32_t kind[2] = {JOINT_HINGE, JOINT_BALL}, rows[2] = {0, 1};
    const uint64_t a[2] = {1, 2}, b[2] = {2, 3};
    const double frame_a[14] = {0.35, 0.0, 0.0, 0.5, 0.5, -0.5, 0.5, 0.35, 0.1, 0.0, 1, 0, 0, 0};
    const double frame_b[14] = {-0.35, 0.0, 0.0, 0.5, 0.5, -0.5, 0.5, -0.35, 0.1, 0.0, 1, 0, 0, 0};
    const double rates[4] = {1.5, 0.0, 0.0, 0.0};
    const JointColumns joints = {.count = 2,
                                 .axis_count = 4,
                                 .position_count = 5,
                                 .kind = kind,
                                 .as_rows = rows,
                                 .body_a = a,
                                 .body_b = b,
                                 .frame_a = frame_a,
                                 .frame_b = frame_b,
                                 .velocity = rates};
    lab_joints(&lab, &joints);
    return lab;
}

static const Vec3 places[3] = {{0.05, -0.1, 0.2}, {-0.1, 0.15, 0.05}, {0.02, 0.07, -0.25}};

// The velocity of what lies at the body's origin.
static Vec3 origin_velocity(const Lab *lab, uint32_t body) {
    return vec3_add(lab_velocity(lab, body),
                    vec3_cross(lab_spin(lab, body),
                               vec3_sub(origin_of(lab, body).position, lab_position(lab, body))));
}

START_TEST(what_is_seen_of_a_body_stays) {
    Lab lab = hung(), same = hung();
    for (uint32_t i = 0; i < 3; i++) {
        move_center(&lab, i, places[i]);
        ck_assert_double_gt(vec3_norm(vec3_sub(lab_position(&lab, i), lab_position(&same, i))),
                            0.1);
    }
    for (uint32_t i = 0; i < 3; i++) { // some roundings of numbers of 1
        expect_near(origin_of(&lab, i).position, origin_of(&same, i).position, 1e-15);
        expect_near(origin_velocity(&lab, i), origin_velocity(&same, i), 1e-14);
        expect_near(lab_spin(&lab, i), lab_spin(&same, i), 1e-15);
    }
    for (size_t k = 0; k < 2; k++) {
        for (int side = 0; side < 2; side++) {
            expect_near(world_joint_frame(lab.world, &lab.world->joint[k], side).position,
                        world_joint_frame(same.world, &same.world->joint[k], side).position, 1e-15);
        }
    }
    for (size_t k = 0; k < 5; k++) {
        ck_assert_double_eq_tol(lab.world->joint_position[k], same.world->joint_position[k], 1e-15);
    }
    lab_destroy(&lab);
    lab_destroy(&same);
}
END_TEST

// Made with its centres where they are, or with them moved there: one body.
START_TEST(it_goes_on_as_what_was_made_so) {
    Lab lab = hung(), back = hung();
    for (uint32_t i = 0; i < 3; i++) {
        move_center(&lab, i, places[i]);
        move_center(&back, i, vec3(0.9, 0.8, 0.7));
        move_center(&back, i, places[i]);
    }
    lab_step(&lab, 200);
    lab_step(&back, 200);
    for (uint32_t i = 0; i < 3; i++) { // roundings, which a swing makes more of
        expect_near(lab_position(&lab, i), lab_position(&back, i), 1e-12);
    }
    lab_restore(&lab); // a snapshot tells all of it
    World *copy = lab_copy(&lab);
    ck_assert_uint_eq(snapshot_hash(copy), snapshot_hash(lab.world));
    world_destroy(copy);
    lab_destroy(&lab);
    lab_destroy(&back);
}
END_TEST

// A reset's way: the state of a world whose centres lie elsewhere.
START_TEST(a_state_is_copied_by_origins) {
    Lab lab = hung(), from = hung(), anew = hung();
    lab_step(&from, 50);
    for (uint32_t i = 0; i < 3; i++) {
        move_center(&lab, i, places[i]);
    }
    lab_step(&lab, 70);
    ck_assert(world_copy_state(lab.world, from.world));
    for (uint32_t i = 0; i < 3; i++) {
        expect_near(origin_of(&lab, i).position, origin_of(&from, i).position, 1e-15);
        expect_near(origin_velocity(&lab, i), origin_velocity(&from, i), 1e-14);
    }
    // and as one whose centres are moved only now, to the bit
    ck_assert(world_copy_state(anew.world, from.world));
    stepper_reset(anew.stepper);
    stepper_reset(lab.stepper);
    for (uint32_t i = 0; i < 3; i++) {
        move_center(&anew, i, places[i]);
    }
    ck_assert_uint_eq(snapshot_hash(anew.world), snapshot_hash(lab.world));
    lab_step(&lab, 30);
    lab_step(&anew, 30);
    ck_assert_uint_eq(snapshot_hash(anew.world), snapshot_hash(lab.world));
    lab_destroy(&lab);
    lab_destroy(&from);
    lab_destroy(&anew);
}
END_TEST

// A box that sleeps on ground, whose weight is put beside its face, falls over.
START_TEST(who_sleeps_wakes_and_falls_over) {
    Lab lab = lab_create(GRAVITY, 0.01);
    WorldSettings settings = lab.world->settings;
    settings.sleep_speed = 1e-3;
    world_set_settings(lab.world, &settings);
    lab_ground(&lab, 0);
    const Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.2), 0);
    const Quat turn = quat_normalize((Quat){0.9, 0.0, 0.0, 0.3}); // about the ground's normal
    const uint32_t body =
        lab_body(&lab, box, BODY_DYNAMIC, (Pose){vec3(0.0, 0.0, 0.2), turn}, NULL, MASS, NULL);
    lab_step(&lab, 200);
    ck_assert_uint_ne(lab.world->sleep->island[body], SLEEP_AWAKE);
    move_center(&lab, body, vec3(0.0, 0.0, -0.1)); // still over its face
    ck_assert_uint_eq(lab.world->sleep->island[body], SLEEP_AWAKE);
    lab_step(&lab, 200);
    expect_near(origin_of(&lab, body).position, vec3(0.0, 0.0, 0.2), 1e-4);
    ck_assert_uint_ne(lab.world->sleep->island[body], SLEEP_AWAKE);
    move_center(&lab, body, vec3(0.15, 0.0, 0.0)); // beside it
    lab_step(&lab, 200);
    ck_assert_double_eq_tol(origin_of(&lab, body).position.z, 0.1, 1e-3);
    lab_destroy(&lab);
}
END_TEST

START_TEST(what_is_no_centre_is_refused) {
    Lab lab = hung();
    Error error = {0};
    const uint32_t held = lab_body(&lab, 0, BODY_KINEMATIC, askew(), NULL, 0.0, NULL);
    const double bad[2][3] = {{0.0, NAN, 0.0}, {0.0, 0.0, 2e9}}, fine[3] = {0.1, 0.0, 0.0};
    const uint64_t hash = snapshot_hash(lab.world);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(world_move_center(lab.world, 0, bad[i], &error), STATUS_INVALID_ARGUMENT);
    }
    ck_assert_str_eq(error.field, "center_of_mass[2]");
    ck_assert_int_eq(world_move_center(lab.world, held, fine, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "kinematic"));
    ck_assert_uint_eq(snapshot_hash(lab.world), hash);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_center(void) {
    TCase *tcase = tcase_create("center");
    tcase_add_loop_test(tcase, a_pendulum_swings_as_deep_as_its_centre_hangs, 0, 4);
    tcase_add_test(tcase, a_body_turns_about_its_new_centre);
    tcase_add_test(tcase, what_is_seen_of_a_body_stays);
    tcase_add_test(tcase, it_goes_on_as_what_was_made_so);
    tcase_add_test(tcase, a_state_is_copied_by_origins);
    tcase_add_test(tcase, who_sleeps_wakes_and_falls_over);
    tcase_add_test(tcase, what_is_no_centre_is_refused);
    return tcase;
}

SUITE_MAIN("step/center", case_center)
