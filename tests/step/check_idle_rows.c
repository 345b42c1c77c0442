// SPDX-License-Identifier: MIT
// Rows of joints that what is held already leaves nothing to move: a second hinge on a hinge's
// axis, a ball on it, a hinge that closes a universal joint. Turned by any rotation their Jacobians
// are the rounding of their levers, and whoever takes that for a lever throws the bodies about.
#include "step/step.h"

#include "support/lab.h"
#include "support/suite.h"

#include <math.h>

#define TIME_STEP (1.0 / 240) // [s]

enum { STEPS = 240 };

// A rotation about nothing special.
static const Quat generic = {0.66, -0.21, 0.53, 0.487};

static Quat whole_turn(bool is_turned) {
    return is_turned ? quat_normalize(generic) : quat_identity();
}

static void set_solver(Lab *lab, SolverKind kind, double tolerance) {
    const SolverSettings solver = solver_default(kind);
    step_set_solver(&lab->world->settings, &solver);
    lab_set(lab, "tolerance", tolerance);
}

// A joint of a body with the world, whose frames are where `frame` is when the body is at `body`.
typedef struct Held {
    JointKind kind;
    bool as_rows;
    Pose frame;
    double damping[3], target[3], effort_max[3]; // of its drive, per axis
} Held;

static Pose inverse(Pose pose) {
    const Quat q = pose.orientation, back = {q.w, -q.x, -q.y, -q.z};
    return (Pose){vec3_neg(quat_rotate(back, pose.position)), back};
}

static void hold(Lab *lab, uint32_t body, const Held *held) {
    const uint32_t kind = held->kind, as_rows = held->as_rows;
    const uint64_t b = lab->world->body_id[body];
    double here[7], there[7];
    pose_store(here, held->frame);
    pose_store(there,
               pose_compose(inverse(pose_load(lab->world->pose + 7 * (size_t)body)), held->frame));
    const uint8_t axes = joint_kind_axes(held->kind);
    const JointColumns columns = {.count = 1,
                                  .axis_count = joint_axis_count(axes),
                                  .position_count = joint_position_count(axes),
                                  .kind = &kind,
                                  .as_rows = &as_rows,
                                  .body_b = &b,
                                  .frame_a = here,
                                  .frame_b = there,
                                  .drive_damping = held->damping,
                                  .target_velocity = held->target,
                                  .effort_max = held->effort_max};
    lab_joints(lab, &columns);
}

// ---- a door

typedef enum Second { SECOND_NONE, SECOND_HINGE, SECOND_BALL } Second;

// A door of 20 kg whose hinges lie on one axis, z of a world that is turned whole, at `away` from
// its origin. It moves at `speed` [rad/s]; gravity that leans pulls it round, the other along its
// axis.
typedef struct Door {
    Second second;
    bool first_as_rows, is_turned, is_leaning;
    double away;  // [m]
    double speed; // [rad/s]
    double off;   // of the second joint's axis [rad]
} Door;

static Pose door_frame(const Door *door, double height, double off) {
    const Quat turn = whole_turn(door->is_turned), lean = {1.0, 0.5 * off, 0.0, 0.0};
    const Vec3 from = vec3(door->away, -0.7 * door->away, height);
    return (Pose){quat_rotate(turn, from), quat_normalize(quat_mul(turn, lean))};
}

static Lab make_door(SolverKind solver, const Door *door) {
    Lab lab = lab_create(0.0, TIME_STEP);
    set_solver(&lab, solver, 1e-10);
    const Quat turn = whole_turn(door->is_turned);
    const Vec3 down = door->is_leaning ? vec3(0.3, 4.0, -9.0) : vec3(0.0, 0.0, -9.81);
    lab.world->settings.gravity = quat_rotate(turn, down);
    const Vec3 arm = quat_rotate(turn, vec3(0.4, 0.0, 0.05));
    const Pose at = {vec3_add(door_frame(door, 0.0, 0.0).position, arm), turn};
    const Vec3 spin = quat_rotate(turn, vec3(0.0, 0.0, door->speed)), speed = vec3_cross(spin, arm);
    const double velocity[6] = {speed.x, speed.y, speed.z, spin.x, spin.y, spin.z};
    const double inertia[6] = {6.0, 7.0, 1.5, 0.0, 0.0, 0.0};
    const uint32_t body = lab_body(&lab, 0, BODY_DYNAMIC, at, velocity, 20.0, inertia);
    const Held first = {
        .kind = JOINT_HINGE, .as_rows = door->first_as_rows, .frame = door_frame(door, -0.8, 0.0)};
    hold(&lab, body, &first);
    if (door->second != SECOND_NONE) {
        const Held second = {.kind = door->second == SECOND_HINGE ? JOINT_HINGE : JOINT_BALL,
                             .as_rows = true,
                             .frame = door_frame(door, 0.9, door->off)};
        hold(&lab, body, &second);
    }
    return lab;
}

// The door's angle and speed about its axis after a second.
typedef struct Swing {
    double angle, speed;
    uint32_t idle;
} Swing;

static Swing swing(SolverKind solver, const Door *door) {
    Lab lab = make_door(solver, door);
    for (int i = 0; i < STEPS; i++) {
        lab_step(&lab, 1);
        ck_assert_msg(lab.report.certificate.converged, "step %d", i);
    }
    const Swing swing = {lab.world->joint_position[0], lab.world->joint_velocity[0],
                         lab.report.idle_count};
    lab_destroy(&lab);
    return swing;
}

// What rows that can move nothing leave is the door on its one hinge; they are told of: all five of
// the hinge, all three of the ball.
START_TEST(a_second_joint_on_the_axis_changes_nothing) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    const int rest = _i / SOLVER_COUNT;
    Door door = {.second = rest % 2 == 0 ? SECOND_HINGE : SECOND_BALL,
                 .is_turned = (rest / 2) % 2 == 1,
                 .is_leaning = (rest / 4) % 2 == 1,
                 .speed = (rest / 8) % 2 == 1 ? 1.5 : 0.0,
                 .away = rest / 16 == 1 ? 1000.0 : 0.0};
    const Swing twice = swing(solver, &door);
    ck_assert_uint_eq(twice.idle, door.second == SECOND_HINGE ? 5 : 3);
    door.second = SECOND_NONE;
    const Swing once = swing(solver, &door);
    ck_assert_uint_eq(once.idle, 0);
    ck_assert_double_eq_tol(twice.angle, once.angle, 1e-12);
    ck_assert_double_eq_tol(twice.speed, once.speed, 1e-12);
    if (!door.is_leaning) { // nothing turns it
        ck_assert_double_eq_tol(twice.speed, door.speed, 1e-12);
    }
}
END_TEST

// An axis that is off by the seventh digit, as files have it, is no lever either: turning by 1.5
// rad opens the second hinge by 3e-7 m.
START_TEST(an_axis_that_is_off_in_the_seventh_digit_turns) {
    const SolverKind solver = (SolverKind)_i;
    Door door = {.second = SECOND_HINGE, .is_turned = true, .speed = 1.5, .off = 2e-7};
    const Swing swung = swing(solver, &door);
    ck_assert_uint_eq(swung.idle, 5);
    ck_assert_double_eq_tol(swung.speed, door.speed, 1e-12);
}
END_TEST

// The same of a door that only rows hold: a loop of one body. Nothing stops it, nothing makes it
// faster, as what the second hinge says is to rounding what the first one says.
START_TEST(an_axis_of_rows_that_is_off_in_the_seventh_digit_turns) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    Door door = {.second = _i < SOLVER_COUNT ? SECOND_HINGE : SECOND_BALL,
                 .first_as_rows = true,
                 .is_turned = true,
                 .speed = 1.5,
                 .off = 2e-7};
    const Swing twice = swing(solver, &door);
    ck_assert_uint_eq(twice.idle, 0);
    door.second = SECOND_NONE;
    const Swing once = swing(solver, &door);
    ck_assert_double_eq_tol(twice.angle, once.angle, 1e-5);
    ck_assert_double_eq_tol(twice.speed, once.speed, 1e-5);
}
END_TEST

// Two hinges that are both rows share what they bear: no row is idle by itself, and what is
// dependent is the solver's to share. sap and compliant give way by their springs, of which there
// are two: some h^2 g of a door's width in each step.
START_TEST(a_door_on_two_hinges_of_rows_swings_as_on_one) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    const int rest = _i / SOLVER_COUNT;
    Door door = {.second = rest % 2 == 0 ? SECOND_HINGE : SECOND_BALL,
                 .first_as_rows = true,
                 .is_turned = true,
                 .is_leaning = (rest / 2) % 2 == 1,
                 .speed = rest / 4 == 1 ? 1.5 : 0.0};
    const Swing twice = swing(solver, &door);
    ck_assert_uint_eq(twice.idle, 0);
    door.second = SECOND_NONE;
    const Swing once = swing(solver, &door);
    const bool is_soft = solver == SOLVER_SAP || solver == SOLVER_COMPLIANT;
    ck_assert_double_eq_tol(twice.angle, once.angle, is_soft ? 1e-5 : 1e-9);
    ck_assert_double_eq_tol(twice.speed, once.speed, is_soft ? 1e-5 : 1e-9);
}
END_TEST

// ---- a universal joint that a hinge closes

// A motor of 10 N m turns 1.5 kg m^2 about x, the first axis of a universal joint, and is to come
// to 2 rad/s; hinges leave x.
typedef struct Closed {
    bool is_turned, universal_as_rows;
    int hinge_count;
    double aside; // of the hinges, along x [m]
    double tolerance;
} Closed;

static const double motor_damping = 1000.0, motor_effort = 10.0, motor_inertia = 1.5,
                    motor_speed = 2.0;

static Lab make_closed(SolverKind solver, const Closed *closed) {
    Lab lab = lab_create(0.0, TIME_STEP);
    set_solver(&lab, solver, closed->tolerance);
    const Quat turn = whole_turn(closed->is_turned), to_x = {sqrt(0.5), 0.0, sqrt(0.5), 0.0};
    const double inertia[6] = {motor_inertia, 2.0, 2.5, 0.0, 0.0, 0.0};
    const Pose at = {quat_rotate(turn, vec3(0.3, 0.0, 0.0)), turn};
    const uint32_t body = lab_body(&lab, 0, BODY_DYNAMIC, at, NULL, 3.0, inertia);
    const Held universal = {.kind = JOINT_UNIVERSAL,
                            .as_rows = closed->universal_as_rows,
                            .frame = {vec3(0.0, 0.0, 0.0), turn},
                            .damping = {motor_damping, 0.0, 0.0},
                            .target = {motor_speed, 0.0, 0.0},
                            .effort_max = {motor_effort, HUGE_VAL, HUGE_VAL}};
    hold(&lab, body, &universal);
    for (int i = 0; i < closed->hinge_count; i++) {
        const Vec3 anchor = vec3(closed->aside - 1.3 * i, 0.0, 0.0);
        const Held hinge = {.kind = JOINT_HINGE,
                            .as_rows = true,
                            .frame = {quat_rotate(turn, anchor), quat_mul(turn, to_x)}};
        hold(&lab, body, &hinge);
    }
    return lab;
}

// As the motor's damper, implicit, brings it there, and no faster than its effort lets it. Only one
// row of a hinge has something to hold, where the universal joint is of coordinates: that the
// second axis does not turn. What each step leaves of that is the tolerance, of 2 rad/s.
START_TEST(a_motor_turns_a_universal_joint_that_a_hinge_closes) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    const int rest = _i / SOLVER_COUNT;
    const Closed closed = {.is_turned = rest % 2 == 1,
                           .universal_as_rows = (rest / 2) % 2 == 1,
                           .aside = (rest / 4) % 2 == 1 ? 0.7 : 0.0,
                           .hinge_count = 1 + (rest / 8) % 2,
                           .tolerance = rest / 16 == 1 ? 1e-6 : 1e-10};
    Lab lab = make_closed(solver, &closed);
    const double soft = TIME_STEP * motor_damping / motor_inertia, off = 100.0 * closed.tolerance;
    double speed = 0.0;
    for (int i = 0; i < STEPS; i++) {
        lab_step(&lab, 1);
        speed = fmin(speed + TIME_STEP * motor_effort / motor_inertia,
                     (speed + soft * motor_speed) / (1.0 + soft));
        ck_assert_msg(lab.report.certificate.converged, "step %d: %g", i,
                      lab.report.certificate.entry[CERTIFICATE_OWN]);
        ck_assert_double_eq_tol(lab.world->joint_velocity[0], speed, off);
        ck_assert_double_eq_tol(lab.world->joint_position[1], 0.0, off);
        if (!closed.universal_as_rows) {
            ck_assert_uint_eq(lab.report.row_count, 2); // and the motor's
            ck_assert_uint_eq(lab.report.idle_count, 5 * (uint32_t)closed.hinge_count - 1);
        }
    }
    lab_destroy(&lab);
}
END_TEST

// ---- a universal joint whose axes are parallel

// Nothing says about which axis they are to be brought apart, or all but nothing: that is asked for
// with a speed of recovery, 1 rad/s, and a ninth more at most, however little tells the axis.
START_TEST(parallel_axes_of_a_universal_joint_are_brought_apart_calmly) {
    const SolverKind solver = (SolverKind)(_i % SOLVER_COUNT);
    const double off = _i / SOLVER_COUNT == 0 ? 0.0 : pow(10.0, -1.0 - 2.0 * (_i / SOLVER_COUNT));
    Lab lab = lab_create(0.0, TIME_STEP);
    set_solver(&lab, solver, 1e-10);
    const double inertia[6] = {0.3, 0.2, 0.1, 0.0, 0.0, 0.0};
    const Quat turn = whole_turn(true), quarter = {sqrt(0.5), 0.0, 0.0, -sqrt(0.5)},
               lean = {1.0, 0.0, 0.0, 0.5 * off};
    const uint32_t body =
        lab_body(&lab, 0, BODY_DYNAMIC, (Pose){{0.0, 0.0, 0.0}, turn}, NULL, 2.0, inertia);
    const uint32_t kind = JOINT_UNIVERSAL, as_rows = 1;
    const uint64_t b = lab.world->body_id[body];
    double here[7], there[7];
    pose_store(here, (Pose){{0.0, 0.0, 0.0}, turn});
    pose_store(there, (Pose){{0.0, 0.0, 0.0}, quat_normalize(quat_mul(lean, quarter))});
    const JointColumns columns = {.count = 1,
                                  .axis_count = 2,
                                  .position_count = 2,
                                  .kind = &kind,
                                  .as_rows = &as_rows,
                                  .body_b = &b,
                                  .frame_a = here,
                                  .frame_b = there};
    lab_joints(&lab, &columns);
    for (int i = 0; i < STEPS; i++) {
        lab_step(&lab, 1);
        const double spin = vec3_norm(lab_spin(&lab, body));
        ck_assert_msg(spin <= 1.0 / 0.9 + 1e-3, "%g off, step %d: %g rad/s", off, i, spin);
    }
    lab_destroy(&lab);
}
END_TEST

// ---- at the origin of all places

// Nothing there is far from anything, so that what rounding of places is told by is the bodies
// alone: an end that is 4e-17 m beside its hinge's axis is on it, and has no lever.
START_TEST(a_distance_from_the_axis_of_what_hangs_at_the_origin_throws_nobody) {
    Lab lab = lab_create(0.0, TIME_STEP);
    set_solver(&lab, (SolverKind)_i, 1e-10);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
    const Pose origin = {{0}, quat_identity()};
    const uint32_t a = lab_body(&lab, ball, BODY_DYNAMIC, origin, NULL, 1.0, NULL),
                   b = lab_body(&lab, ball, BODY_DYNAMIC, origin, NULL, 1.0, NULL);
    const Held universal = {.kind = JOINT_UNIVERSAL, .frame = origin},
               hinge = {.kind = JOINT_HINGE, .frame = origin};
    hold(&lab, a, &universal);
    hold(&lab, b, &hinge);
    const uint32_t kind = JOINT_DISTANCE;
    const uint64_t ids[2] = {lab.world->body_id[a], lab.world->body_id[b]};
    const double frame_a[7] = {3.1e-17, 0.0, 0.0, 1.0}, frame_b[7] = {0.0, -4.2e-17, 0.0, 1.0},
                 length = 1.0;
    lab_joints(&lab, &(JointColumns){.count = 1,
                                     .kind = &kind,
                                     .body_a = &ids[0],
                                     .body_b = &ids[1],
                                     .frame_a = frame_a,
                                     .frame_b = frame_b,
                                     .length = &length});
    lab_step(&lab, 10);
    for (int k = 0; k < 6; k++) {
        ck_assert_double_eq(lab.world->velocity[6 * (size_t)a + (size_t)k], 0.0);
        ck_assert_double_eq(lab.world->velocity[6 * (size_t)b + (size_t)k], 0.0);
    }
    lab_destroy(&lab);
}
END_TEST

static TCase *case_idle(void) {
    TCase *tcase = tcase_create("idle rows");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, a_second_joint_on_the_axis_changes_nothing, 0, 32 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, an_axis_that_is_off_in_the_seventh_digit_turns, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, an_axis_of_rows_that_is_off_in_the_seventh_digit_turns, 0,
                        2 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_door_on_two_hinges_of_rows_swings_as_on_one, 0, 8 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_motor_turns_a_universal_joint_that_a_hinge_closes, 0,
                        32 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, parallel_axes_of_a_universal_joint_are_brought_apart_calmly, 0,
                        8 * SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_distance_from_the_axis_of_what_hangs_at_the_origin_throws_nobody,
                        0, SOLVER_COUNT);
    return tcase;
}

SUITE_MAIN("step/idle_rows", case_idle)
