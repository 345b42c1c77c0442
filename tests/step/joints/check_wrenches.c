// SPDX-License-Identifier: MIT
// What joints carry in a step, by coordinates and by rows, under every integrator, against what
// statics and a pendulum say: weights of all that hangs below, moments of beams, the pull of a
// swing, what efforts, limits and friction hold, what a support takes off them.
#include "step/joints/wrenches.h"

#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

#define GRAVITY 9.81
#define MASS    2.0

// Every test is of both ways to hold a joint and of all integrators, in undivided steps and in
// steps of three substeps.
enum { WAYS = 2, DIVISIONS = 2, CASES = DIVISIONS * WAYS * INTEGRATOR_COUNT };

// Statics come out of one linear system: rounding by coordinates, the solver's tolerance by rows.
#define STILL 1e-9

static bool is_rows(int index) {
    return index / (int)INTEGRATOR_COUNT % WAYS == 1;
}

static Lab make_lab(int index, double h) {
    Lab lab = lab_create(GRAVITY, h);
    lab.world->settings.integrator = (uint8_t)(index % (int)INTEGRATOR_COUNT);
    lab.world->settings.substeps = index / (WAYS * (int)INTEGRATOR_COUNT) == 1 ? 3 : 1;
    lab_set(&lab, "tolerance", 1e-12);
    return lab;
}

// z to y, and nothing turned.
static const Quat about_y = {0.70710678118654752, -0.70710678118654752, 0.0, 0.0};
static const Quat upright = {1.0, 0.0, 0.0, 0.0};

static uint32_t add_body(Lab *lab, Vec3 at) {
    const double inertia[6] = {0.1, 0.1, 0.1, 0.0, 0.0, 0.0};
    return lab_body(lab, 0, BODY_DYNAMIC, (Pose){at, upright}, NULL, MASS, inertia);
}

// What acts along the one axis of a joint that has any.
typedef struct Hold {
    double low, friction, effort;
} Hold;

static const Hold nothing = {-HUGE_VAL, 0.0, 0.0};

enum { AXES_MAX = 3 };

// Between two bodies that are not turned, or the world (-1) and one, at an anchor of the world.
static void add_joint(Lab *lab, int way, JointKind kind, int parent, uint32_t child, Vec3 anchor,
                      Hold hold) {
    const uint32_t kinds = kind, as_rows = is_rows(way);
    const uint64_t a = parent < 0 ? 0 : lab->world->body_id[parent], b = lab->world->body_id[child];
    double frame_a[7], frame_b[7], low[AXES_MAX], friction[AXES_MAX], effort[AXES_MAX];
    for (int k = 0; k < AXES_MAX; k++) {
        low[k] = hold.low, friction[k] = hold.friction, effort[k] = hold.effort;
    }
    const Vec3 from = parent < 0 ? vec3(0.0, 0.0, 0.0) : lab_position(lab, (uint32_t)parent);
    const Quat turn = kind == JOINT_SLIDER ? upright : about_y;
    pose_store(frame_a, (Pose){vec3_sub(anchor, from), turn});
    pose_store(frame_b, (Pose){vec3_sub(anchor, lab_position(lab, child)), turn});
    const uint8_t axes = joint_kind_axes(kind);
    const JointColumns columns = {.count = 1,
                                  .axis_count = joint_axis_count(axes),
                                  .position_count = joint_position_count(axes),
                                  .kind = &kinds,
                                  .as_rows = &as_rows,
                                  .body_a = &a,
                                  .body_b = &b,
                                  .frame_a = frame_a,
                                  .frame_b = frame_b,
                                  .low = low,
                                  .friction = friction,
                                  .effort = effort};
    lab_joints(lab, &columns);
}

typedef struct Wrench {
    Vec3 force, torque;
} Wrench;

static Wrench wrench_of(Lab *lab, uint32_t joint) {
    double all[6 * 8];
    Error error;
    const Status status = joint_wrenches(lab->stepper, lab->world, &lab->scratch, all, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    return (Wrench){vec3_load(all + 6 * (size_t)joint), vec3_load(all + 6 * (size_t)joint + 3)};
}

static void expect(Wrench found, Vec3 force, Vec3 torque, double tolerance) {
    for (int k = 0; k < 3; k++) {
        ck_assert_double_eq_tol(vec3_get(found.force, k), vec3_get(force, k), tolerance);
        ck_assert_double_eq_tol(vec3_get(found.torque, k), vec3_get(torque, k), tolerance);
    }
}

static const Vec3 none = {0.0, 0.0, 0.0};

START_TEST(a_chain_at_rest_carries_all_that_hangs_below) {
    enum { LINKS = 5 };
    Lab lab = make_lab(_i, 0.004);
    for (uint32_t i = 0; i < LINKS; i++) {
        add_body(&lab, vec3(0.0, 0.0, -0.5 - i));
        add_joint(&lab, _i, i % 2 == 0 ? JOINT_HINGE : JOINT_BALL, (int)i - 1, i,
                  vec3(0.0, 0.0, -(double)i), nothing);
    }
    lab_step(&lab, 3);
    for (uint32_t i = 0; i < LINKS; i++) {
        expect(wrench_of(&lab, i), vec3(0.0, 0.0, (LINKS - i) * MASS * GRAVITY), none, STILL);
    }
    lab_destroy(&lab);
}
END_TEST

// A beam of length 2 along x, held at the origin.
START_TEST(a_fixed_beam_carries_its_moment) {
    Lab lab = make_lab(_i, 0.004);
    const uint32_t beam = add_body(&lab, vec3(1.0, 0.0, 0.0));
    add_joint(&lab, _i, JOINT_FIXED, -1, beam, none, nothing);
    lab_step(&lab, 2);
    expect(wrench_of(&lab, 0), vec3(0.0, 0.0, MASS * GRAVITY), vec3(0.0, -MASS * GRAVITY, 0.0),
           STILL);
    lab_destroy(&lab);
}
END_TEST

// The same beam on a hinge; the moment comes from what acts along its axis.
static const Hold holds[] = {{-HUGE_VAL, 0.0, -MASS *GRAVITY},
                             {-HUGE_VAL, 100.0, 0.0},
                             {-HUGE_VAL, 4.0, -MASS *GRAVITY + 4.0}};

START_TEST(what_acts_along_an_axis_is_carried) {
    for (size_t k = 0; k < sizeof(holds) / sizeof(holds[0]); k++) {
        Lab lab = make_lab(_i, 0.004);
        const uint32_t beam = add_body(&lab, vec3(1.0, 0.0, 0.0));
        add_joint(&lab, _i, JOINT_HINGE, -1, beam, none, holds[k]);
        lab_step(&lab, 2);
        expect(wrench_of(&lab, 0), vec3(0.0, 0.0, MASS * GRAVITY), vec3(0.0, -MASS * GRAVITY, 0.0),
               STILL);
        lab_destroy(&lab);
    }
}
END_TEST

// A limit: the beam hangs on a hinge from the other side, where gravity turns it down.
START_TEST(a_limit_carries_what_it_stops) {
    Lab lab = make_lab(_i, 0.004);
    const uint32_t beam = add_body(&lab, vec3(-1.0, 0.0, 0.0));
    add_joint(&lab, _i, JOINT_HINGE, -1, beam, none, (Hold){0.0, 0.0, 0.0});
    lab_step(&lab, 2);
    expect(wrench_of(&lab, 0), vec3(0.0, 0.0, MASS * GRAVITY), vec3(0.0, MASS * GRAVITY, 0.0),
           STILL);
    lab_destroy(&lab);
}
END_TEST

static Id smooth_shape(Lab *lab, PrimitiveKind kind, Vec3 size) {
    return lab_shape(lab, kind, size, lab_material(lab, 0.0, 0.0));
}

// A beam on a hinge and a round support at three quarters of its length: N 3/2 = m g.
START_TEST(a_support_takes_its_share) {
    Lab lab = make_lab(_i, 0.004);
    const double inertia[6] = {0.1, 1.0, 1.0, 0.0, 0.0, 0.0};
    const uint32_t beam =
        lab_body(&lab, smooth_shape(&lab, PRIMITIVE_BOX, vec3(1.0, 0.1, 0.1)), BODY_DYNAMIC,
                 (Pose){vec3(1.0, 0.0, 0.0), upright}, NULL, MASS, inertia);
    lab_body(&lab, smooth_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0)), BODY_STATIC,
             (Pose){vec3(1.5, 0.0, -0.2), upright}, NULL, 0.0, NULL);
    add_joint(&lab, _i, JOINT_HINGE, -1, beam, none, nothing);
    lab_step(&lab, 3);
    ck_assert_uint_eq(lab.report.contact_count, 1);
    expect(wrench_of(&lab, 0), vec3(0.0, 0.0, MASS * GRAVITY / 3.0), none, 1e-6);
    lab_destroy(&lab);
}
END_TEST

// A ball that rests on the ground, guided: the slider has nothing to carry. And one upon a beam
// that is fixed: it carries both.
START_TEST(contacts_are_counted_from_below_and_above) {
    Lab lab = make_lab(_i, 0.004);
    lab_ground(&lab, lab_material(&lab, 0.0, 0.0));
    const Id box = smooth_shape(&lab, PRIMITIVE_BOX, vec3(0.5, 0.5, 0.5)),
             ball = smooth_shape(&lab, PRIMITIVE_SPHERE, vec3(0.5, 0.0, 0.0));
    const double inertia[6] = {0.1, 0.1, 0.1, 0.0, 0.0, 0.0};
    const uint32_t guided = lab_body(&lab, ball, BODY_DYNAMIC, (Pose){vec3(0.0, 0.0, 0.5), upright},
                                     NULL, MASS, inertia),
                   beam = lab_body(&lab, box, BODY_DYNAMIC, (Pose){vec3(5.0, 0.0, 2.5), upright},
                                   NULL, MASS, inertia);
    lab_body(&lab, smooth_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0)), BODY_DYNAMIC,
             (Pose){vec3(5.25, 0.0, 3.1), upright}, NULL, 3.0, inertia);
    add_joint(&lab, _i, JOINT_SLIDER, -1, guided, vec3(0.0, 0.0, 0.5), nothing);
    add_joint(&lab, _i, JOINT_FIXED, -1, beam, vec3(4.0, 0.0, 2.5), nothing);
    lab_step(&lab, 3);
    expect(wrench_of(&lab, 0), none, none, 1e-6);
    expect(wrench_of(&lab, 1), vec3(0.0, 0.0, (MASS + 3.0) * GRAVITY),
           vec3(0.0, -(MASS * 1.0 + 3.0 * 1.25) * GRAVITY, 0.0), 1e-6);
    lab_destroy(&lab);
}
END_TEST

// A rod of rows, a metre long, holds the far end of a beam on a hinge from above: half of it. The
// implicit schemes feel its weight where it would have fallen to, g h^2 = 1.6e-4 m away: off by the
// square of that.
START_TEST(a_rod_takes_its_share_of_a_tree) {
    Lab lab = make_lab(_i, 0.004);
    const uint32_t beam = add_body(&lab, vec3(1.0, 0.0, 0.0)), kind = JOINT_DISTANCE;
    add_joint(&lab, _i, JOINT_HINGE, -1, beam, none, nothing);
    const uint64_t a = 0, b = lab.world->body_id[beam];
    double frame_a[7], frame_b[7];
    pose_store(frame_a, (Pose){vec3(2.0, 0.0, 1.0), upright});
    pose_store(frame_b, (Pose){vec3(1.0, 0.0, 0.0), upright});
    lab_joints(&lab, &(JointColumns){.count = 1,
                                     .kind = &kind,
                                     .body_a = &a,
                                     .body_b = &b,
                                     .frame_a = frame_a,
                                     .frame_b = frame_b});
    lab_step(&lab, 3);
    const Vec3 half = vec3(0.0, 0.0, MASS * GRAVITY / 2.0);
    expect(wrench_of(&lab, 0), half, none, 1e-6);
    expect(wrench_of(&lab, 1), half, none, 1e-6);
    lab_destroy(&lab);
}
END_TEST

// Two beams to either side of their hinges, which a gear turns alike: each holds the other.
START_TEST(a_gear_is_part_of_what_it_couples) {
    Lab lab = make_lab(_i, 0.004);
    const uint32_t kind = JOINT_GEAR;
    const uint64_t joint_a = 1, joint_b = 2;
    const double ratio = 1.0;
    for (int side = 0; side < 2; side++) {
        const Vec3 hinge = vec3(10.0 * side, 0.0, 0.0);
        const uint32_t beam = add_body(&lab, vec3_add(hinge, vec3(1.0 - 2.0 * side, 0.0, 0.0)));
        add_joint(&lab, _i, JOINT_HINGE, -1, beam, hinge, nothing);
    }
    lab_joints(
        &lab,
        &(JointColumns){
            .count = 1, .kind = &kind, .joint_a = &joint_a, .joint_b = &joint_b, .ratio = &ratio});
    lab_step(&lab, 3);
    const Vec3 weight = vec3(0.0, 0.0, MASS * GRAVITY), moment = vec3(0.0, MASS * GRAVITY, 0.0);
    expect(wrench_of(&lab, 0), weight, vec3_neg(moment), STILL);
    expect(wrench_of(&lab, 1), weight, moment, STILL);
    expect(wrench_of(&lab, 2), none, none, 0x1p-1000);
    lab_destroy(&lab);
}
END_TEST

// ---- a swing

#define LENGTH 1.0
#define TIME   0.5
#define MOMENT (MASS * LENGTH * LENGTH + 0.1)

// Angle from below and rate of a pendulum let go at 1 rad, by the classical Runge-Kutta method,
// which at these steps is exact to rounding.
static void swing(double time, double *angle, double *rate) {
    enum { STEPS = 2000 };
    const double h = time / STEPS, g = MASS * GRAVITY * LENGTH / MOMENT;
    double q = 1.0, w = 0.0;
    for (int i = 0; i < STEPS; i++) {
        const double q1 = w, w1 = -g * sin(q), q2 = w + 0.5 * h * w1,
                     w2 = -g * sin(q + 0.5 * h * q1), q3 = w + 0.5 * h * w2,
                     w3 = -g * sin(q + 0.5 * h * q2), q4 = w + h * w3, w4 = -g * sin(q + h * q3);
        q += h / 6.0 * (q1 + 2.0 * q2 + 2.0 * q3 + q4);
        w += h / 6.0 * (w1 + 2.0 * w2 + 2.0 * w3 + w4);
    }
    *angle = q;
    *rate = w;
}

// m g cos + m l w^2 along the rod, and what turns the body across it.
static Vec3 pull_of_swing(double time) {
    double q, w;
    swing(time, &q, &w);
    const Vec3 rod = vec3(sin(q), 0.0, -cos(q)), across = vec3(cos(q), 0.0, sin(q));
    const double turn = -MASS * GRAVITY * LENGTH * sin(q) / MOMENT;
    const Vec3 force = vec3_scale(-MASS * (GRAVITY * cos(q) + LENGTH * w * w), rod);
    return vec3_add_scaled(force, MASS * (LENGTH * turn + GRAVITY * sin(q)), across);
}

// How far off the mean of the last step to TIME is.
static double error_of_swing(int index, double h) {
    Lab lab = make_lab(index, h);
    const uint32_t bob = add_body(&lab, vec3(LENGTH * sin(1.0), 0.0, -LENGTH * cos(1.0)));
    add_joint(&lab, index, JOINT_HINGE, -1, bob, none, nothing);
    lab_step(&lab, (int)(TIME / h + 0.5));
    const Wrench found = wrench_of(&lab, 0);
    // nothing holds the axis; by rows it is free but for what the solver leaves
    // but stages have another mean than the one that is told: to their order; and of substeps it is
    // told as at the begin of the step, a torque that changes by 20 N m/s
    const bool is_staged = integrator_is_staged(lab.world->settings.integrator) && !is_rows(index),
               is_divided = lab.world->settings.substeps > 1 && !is_rows(index);
    ck_assert_double_eq_tol(found.torque.y, 0.0,
                            is_divided  ? 25.0 * h
                            : is_staged ? 10.0 * h * h
                                        : STILL);
    lab_destroy(&lab);
    return vec3_norm(vec3_sub(found.force, pull_of_swing(TIME - 0.5 * h)));
}

// Half the step, half the error. A quarter under midpoint by coordinates, and where the velocity
// after a step moves positions by it, as in a leapfrog: it is that of half a step before, and so
// the mean force of a step is that of its middle. (For free bodies, which rows join, `implicit` is
// the same. Trees in substeps are told as at the begin of the step.)
START_TEST(a_swing_pulls_with_its_weight_and_its_speed) {
    const int integrator = _i % (int)INTEGRATOR_COUNT;
    const bool is_divided = _i >= WAYS * (int)INTEGRATOR_COUNT && !is_rows(_i);
    const bool is_second = (integrator == INTEGRATOR_SYMPLECTIC && !is_divided) ||
                           integrator_is_staged((uint8_t)integrator) ||
                           integrator == (is_rows(_i) ? INTEGRATOR_IMPLICIT : INTEGRATOR_MIDPOINT);
    const double coarse = error_of_swing(_i, 0.002), fine = error_of_swing(_i, 0.001),
                 ratio = fine / coarse, expected = is_second ? 0.25 : 0.5;
    // 0.1 of the ratio is what the next order has of it at this step; the size of the error: a
    // pull of 45 N that changes by 100 N/s
    ck_assert_double_eq_tol(ratio, expected, 0.1 * expected + 0.02);
    ck_assert_double_lt(fine, is_second ? 1e-3 : 0.5);
}
END_TEST

START_TEST(without_a_step_nothing_is_told) {
    Lab lab = make_lab(0, 0.004);
    add_body(&lab, vec3(0.0, 0.0, -1.0));
    add_joint(&lab, 0, JOINT_HINGE, -1, 0, none, nothing);
    double wrench[6];
    Error error;
    ck_assert_int_eq(joint_wrenches(lab.stepper, lab.world, &lab.scratch, wrench, &error),
                     STATUS_FAILED_PRECONDITION);
    ck_assert_str_eq(error.field, "joint_wrenches");
    lab_step(&lab, 1);
    expect(wrench_of(&lab, 0), vec3(0.0, 0.0, MASS * GRAVITY), none, STILL);
    stepper_forget_wrenches(lab.stepper);
    ck_assert_int_eq(joint_wrenches(lab.stepper, lab.world, &lab.scratch, wrench, &error),
                     STATUS_FAILED_PRECONDITION);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_wrenches(void) {
    TCase *tcase = tcase_create("wrenches");
    tcase_add_loop_test(tcase, a_chain_at_rest_carries_all_that_hangs_below, 0, CASES);
    tcase_add_loop_test(tcase, a_fixed_beam_carries_its_moment, 0, CASES);
    tcase_add_loop_test(tcase, what_acts_along_an_axis_is_carried, 0, CASES);
    tcase_add_loop_test(tcase, a_limit_carries_what_it_stops, 0, CASES);
    tcase_add_loop_test(tcase, a_support_takes_its_share, 0, CASES);
    tcase_add_loop_test(tcase, contacts_are_counted_from_below_and_above, 0, CASES);
    tcase_add_loop_test(tcase, a_rod_takes_its_share_of_a_tree, 0, CASES);
    tcase_add_loop_test(tcase, a_gear_is_part_of_what_it_couples, 0, CASES);
    tcase_add_loop_test(tcase, a_swing_pulls_with_its_weight_and_its_speed, 0, CASES);
    tcase_add_test(tcase, without_a_step_nothing_is_told);
    return tcase;
}

SUITE_MAIN("step/joint_wrenches", case_wrenches)
