// SPDX-License-Identifier: MIT
// A motor on one hinge, by coordinates or by rows, bounded or not, in generic orientation: the
// closed form of its rate in every step, stiff or soft, under every solver and every integrator by
// which a drive is one, and its work, which is all the energy there is. A damper is such a motor
// to rest.
#include "step/trees/spring.h"
#include "step/step.h"

#include "support/lab.h"
#include "support/suite.h"

#include <math.h>

#define TIME_STEP (1.0 / 240) // [s]
#define MOMENT    0.02        // of the body about the hinge, which goes through its centre [kg m^2]

static const double turns[] = {0.01, 0.1, 0.3, 1.0}; // of the target, in a step [rad]

// h d/MOMENT: resolved; where midpoint comes to the target at once; beyond; a motor.
static const double slowings[] = {0.3, 2.0, 5.0, 1e6};

static const Integrator integrators[] = {INTEGRATOR_SYMPLECTIC, INTEGRATOR_IMPLICIT,
                                         INTEGRATOR_MIDPOINT};

// A bounded drive of coordinates is a row; unbounded it is part of the mass; of rows, a row.
typedef enum Kind { BOUNDED, UNBOUNDED, OF_ROWS, BESIDE_COORDINATES, KINDS } Kind;

enum {
    TURNS = sizeof(turns) / sizeof(turns[0]),
    SLOWINGS = sizeof(slowings) / sizeof(slowings[0]),
    INTEGRATORS = sizeof(integrators) / sizeof(integrators[0]),
    CASES = KINDS * INTEGRATORS * SOLVER_COUNT,
    STEPS = 20
};

typedef struct Motor {
    bool is_rows, is_bounded;
    double damper, drive, target;
} Motor;

static void add_motor(Lab *lab, Pose where, const Motor *motor) {
    const uint32_t kind = JOINT_HINGE, as_rows = motor->is_rows;
    const uint64_t b = lab->world->body_id[0];
    const double effort = motor->is_bounded ? 1e12 : HUGE_VAL;
    double frame_a[7];
    pose_store(frame_a, where);
    const JointColumns columns = {.count = 1,
                                  .axis_count = 1,
                                  .position_count = 1,
                                  .kind = &kind,
                                  .as_rows = &as_rows,
                                  .body_b = &b,
                                  .frame_a = frame_a,
                                  .damping = &motor->damper,
                                  .drive_damping = &motor->drive,
                                  .target_velocity = &motor->target,
                                  .effort_max = &effort};
    lab_joints(lab, &columns);
}

// At rest, or turning by `spin`.
static Lab make_hinge(int which, double spin, Motor motor) {
    const SolverSettings solver = solver_default((SolverKind)(which % SOLVER_COUNT));
    const Kind kind = (Kind)(which / SOLVER_COUNT / INTEGRATORS);
    Lab lab = lab_create(0.0, TIME_STEP);
    step_set_solver(&lab.world->settings, &solver);
    lab.world->settings.integrator = (uint8_t)integrators[which / SOLVER_COUNT % INTEGRATORS];
    const Pose where = {vec3(0.3, -0.2, 0.1), quat_normalize((Quat){0.3, -0.5, 0.7, 0.2})};
    const double inertia[6] = {0.011, 0.017, MOMENT, 0.0, 0.0, 0.0};
    const Vec3 turning = quat_rotate(where.orientation, vec3(0.0, 0.0, spin));
    const double velocity[6] = {0.0, 0.0, 0.0, turning.x, turning.y, turning.z};
    lab_body(&lab, 0, BODY_DYNAMIC, where, velocity, 2.0, inertia);
    if (kind == BESIDE_COORDINATES) {
        const Motor none = {false, false, 0.0, 0.0, 0.0};
        add_motor(&lab, where, &none);
    }
    motor.is_rows = kind == OF_ROWS || kind == BESIDE_COORDINATES;
    motor.is_bounded = kind == BOUNDED;
    add_motor(&lab, where, &motor);
    return lab;
}

// What a step leaves of a rate that is off.
static double left_of(int which, double slowing) {
    const Integrator integrator = integrators[which / SOLVER_COUNT % INTEGRATORS];
    const double share = integrator != INTEGRATOR_MIDPOINT ? 1.0
                         : slowing <= 2.0                  ? 0.5
                                                           : 1.0 - 1.0 / slowing;
    return (1.0 - (1.0 - share) * slowing) / (1.0 + share * slowing);
}

static double rate_of(const Lab *lab) {
    return lab->world->joint_velocity[lab->world->joint[lab->world->joint_count - 1].axis_first];
}

// Solvers end 1e-6 of V off at most, and each step what the one before left. Springs of sap and
// compliant are stiff to no less than that.
static void follow(int which, double turn, double slowing, bool is_damper) {
    const double target = turn / TIME_STEP, d = slowing * MOMENT / TIME_STEP;
    const Motor motor = {.damper = is_damper ? d : 0.0,
                         .drive = is_damper ? 0.0 : d,
                         .target = is_damper ? 0.0 : target};
    Lab lab = make_hinge(which, is_damper ? target : 0.0, motor);
    const double left = left_of(which, slowing), goal = is_damper ? 0.0 : target;
    double off = is_damper ? target : -target;
    for (int i = 0; i < STEPS; i++) {
        lab_step(&lab, 1);
        off *= left;
        const StepEnergy *energy = &lab.report.energy;
        const double rate = rate_of(&lab), held = 0.5 * MOMENT * rate * rate;
        ck_assert_msg(fabs(rate - goal - off) <= 1e-5 * target, "step %d: %.9g for %.9g rad/s", i,
                      rate, goal + off);
        ck_assert_double_eq_tol(energy->after, held, 1e-5 * MOMENT * target * target);
        const double work = is_damper ? energy->applied : energy->drive;
        ck_assert_double_eq_tol(work, energy->after - energy->before,
                                1e-5 * MOMENT * target * target);
    }
    lab_destroy(&lab);
}

START_TEST(a_motor_turns_by_its_closed_form) {
    for (int i = 0; i < TURNS * SLOWINGS; i++) {
        follow(_i, turns[i % TURNS], slowings[i / TURNS], false);
    }
}
END_TEST

START_TEST(a_damper_ends_by_its_closed_form) {
    for (int i = 0; i < TURNS * SLOWINGS; i++) {
        follow(_i, turns[i % TURNS], slowings[i / TURNS], true);
    }
}
END_TEST

START_TEST(midpoint_takes_a_damper_halfway_as_far_as_it_resolves_it) {
    for (int i = 0; i <= 100; i++) {
        const double slowing = 0.1 * i, share = damper_share(INTEGRATOR_MIDPOINT, slowing);
        const double left = (1.0 - (1.0 - share) * slowing) / (1.0 + share * slowing);
        ck_assert_double_ge(share, 0.5);
        ck_assert_double_le(share, 1.0);
        ck_assert_double_eq_tol(left, slowing < 2.0 ? (2.0 - slowing) / (2.0 + slowing) : 0.0,
                                1e-15);
    }
    ck_assert_double_eq(damper_share(INTEGRATOR_MIDPOINT, NAN), 1.0);
    ck_assert_double_eq(damper_share(INTEGRATOR_MIDPOINT, HUGE_VAL), 1.0);
}
END_TEST

static TCase *case_motor(void) {
    TCase *tcase = tcase_create("motor");
    tcase_add_loop_test(tcase, a_motor_turns_by_its_closed_form, 0, CASES);
    tcase_add_loop_test(tcase, a_damper_ends_by_its_closed_form, 0, CASES);
    tcase_add_test(tcase, midpoint_takes_a_damper_halfway_as_far_as_it_resolves_it);
    return tcase;
}

SUITE_MAIN("step/motor", case_motor)
