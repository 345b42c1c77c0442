// SPDX-License-Identifier: MIT
// Two bodies of one tree with nothing between them, a joint of coordinates that leaves all free,
// are two bodies: what the one does is nothing to the other. Its coordinates turn with the first
// body, and where that turns by a radian in a step, no velocity product of first order says what
// becomes of them: the energy of what there is must be no more for it.
#include "step/step.h"

#include "support/lab.h"
#include "support/suite.h"

#include <math.h>

#define TIME_STEP (1.0 / 240) // [s]
#define MOMENT    0.02        // of the first body, about its z [kg m^2]

// Radians that it turns by in a step: resolved, hardly resolved, and not at all.
static const double turns[] = {0.01, 0.1, 0.3, 0.7, 1.4, 2.9};
enum { TURNS = sizeof(turns) / sizeof(turns[0]), STEPS = 300, FIRST = 0, SECOND = 1 };

static void join_freely(Lab *lab) {
    const uint32_t kind = JOINT_FREE;
    const uint64_t a = lab->world->body_id[FIRST], b = lab->world->body_id[SECOND];
    const Vec3 apart = vec3_sub(lab_position(lab, SECOND), lab_position(lab, FIRST));
    const double frame_a[7] = {apart.x, apart.y, apart.z, 1.0, 0.0, 0.0, 0.0};
    const JointColumns columns = {.count = 1,
                                  .axis_count = 6,
                                  .position_count = 7,
                                  .kind = &kind,
                                  .body_a = &a,
                                  .body_b = &b,
                                  .frame_a = frame_a};
    lab_joints(lab, &columns);
}

// The first body spins about its z; the second flies by itself.
static Lab make_pair(Integrator integrator, Rotation rotation, double h, double spin, Vec3 second) {
    Lab lab = lab_create(0.0, h);
    lab.world->settings.integrator = (uint8_t)integrator;
    lab.world->settings.rotation = (uint8_t)rotation;
    const double inertia[6] = {0.011, 0.017, MOMENT, 0.0, 0.0, 0.0},
                 round[6] = {0.01, 0.01, 0.01, 0.0, 0.0, 0.0};
    const double turning[6] = {0.0, 0.0, 0.0, 0.0, 0.0, spin},
                 moving[6] = {second.x, second.y, second.z, 0.0, 0.0, 0.0};
    const Pose at = {{0.0, 0.0, 0.0}, quat_identity()}, there = {{0.3, 0.4, 0.2}, quat_identity()};
    lab_body(&lab, 0, BODY_DYNAMIC, at, turning, 2.0, inertia);
    lab_body(&lab, 0, BODY_DYNAMIC, there, moving, 0.7, round);
    join_freely(&lab);
    return lab;
}

// The growth of energies that is granted. A step of a turn t makes errors of t at once, which the
// next one takes back: half of the energy, for ever, and not for each step. With velocity products
// of the begin, explicit, a body that flies by itself has in the turning plane u' = (1 - 2it) u +
// t^2 q, q' = q + u', whose eigenvalues are 1 - it + t^2/2 +- sqrt(-i t^3): a gain of sqrt(t^3/2) +
// t^2 in every step, as documented, up to where the tree is thrown.
static double granted(Rotation rotation, double turn, int steps) {
    const bool gains = rotation == ROTATION_EXPLICIT && turn <= 0.1;
    const double rate = gains ? sqrt(0.5 * turn * turn * turn) + turn * turn : 0.0;
    return 1.5 * exp(2.0 * rate * steps);
}

static double most_energy(Lab *lab, int steps) {
    double most = 0.0;
    for (int i = 0; i < steps; i++) {
        lab_step(lab, 1);
        most = fmax(most, lab->report.energy.after);
    }
    return most;
}

START_TEST(what_turns_gains_nothing_of_what_flies_apart) {
    const double turn = turns[_i % TURNS];
    const Rotation rotation = (Rotation)(_i / TURNS % ROTATION_COUNT);
    const Integrator integrator = (Integrator)(_i / TURNS / ROTATION_COUNT);
    const Vec3 speed = vec3(0.4, -0.3, 0.2);
    Lab lab = make_pair(integrator, rotation, TIME_STEP, turn / TIME_STEP, speed);
    const double spinning = 0.5 * MOMENT * turn * turn / (TIME_STEP * TIME_STEP),
                 begun = spinning + 0.35 * vec3_dot(speed, speed);
    const double most = most_energy(&lab, STEPS);
    ck_assert_msg(most <= granted(rotation, turn, STEPS) * begun, "%g J of %g", most, begun);
    lab_destroy(&lab);
}
END_TEST

// One body, whose joint to the world leaves all free, half a metre from its centre of mass: what
// its coordinates say of that centre turns with it, as of a second body.
static Lab make_lone(Integrator integrator, Rotation rotation, double spin) {
    Lab lab = lab_create(0.0, TIME_STEP);
    lab.world->settings.integrator = (uint8_t)integrator;
    lab.world->settings.rotation = (uint8_t)rotation;
    const double inertia[6] = {MOMENT, MOMENT, MOMENT, 0.0, 0.0, 0.0},
                 frame_b[7] = {0.3, 0.4, 0.2, 1.0, 0.0, 0.0, 0.0},
                 turning[6] = {0.1, 0.0, 0.0, 0.0, 0.0, spin};
    const Pose at = {{0.0, 0.0, 0.0}, quat_identity()};
    lab_body(&lab, 0, BODY_DYNAMIC, at, turning, 2.0, inertia);
    const uint32_t kind = JOINT_FREE;
    const uint64_t b = lab.world->body_id[FIRST];
    const JointColumns columns = {.count = 1,
                                  .axis_count = 6,
                                  .position_count = 7,
                                  .kind = &kind,
                                  .body_b = &b,
                                  .frame_b = frame_b};
    lab_joints(&lab, &columns);
    return lab;
}

START_TEST(what_turns_beside_its_joint_gains_nothing) {
    static const double faster[] = {0.01, 0.1, 0.3, 0.7, 1.4, 2.9, 70.0};
    enum { FASTER = sizeof(faster) / sizeof(faster[0]) };
    const double turn = faster[_i % FASTER];
    const Rotation rotation = (Rotation)(_i / FASTER % ROTATION_COUNT);
    const Integrator integrator = (Integrator)(_i / FASTER / ROTATION_COUNT);
    Lab lab = make_lone(integrator, rotation, turn / TIME_STEP);
    const double begun = 0.5 * MOMENT * turn * turn / (TIME_STEP * TIME_STEP) + 0.01;
    const double most = most_energy(&lab, STEPS);
    ck_assert_msg(most <= granted(rotation, turn, STEPS) * begun, "%g J of %g", most, begun);
    lab_destroy(&lab);
}
END_TEST

// A torque on the one that was at rest: what it turns with is known, and the other rests.
START_TEST(a_blow_on_the_one_throws_none) {
    const double turn = turns[_i % TURNS];
    const Rotation rotation = (Rotation)(_i / TURNS % ROTATION_COUNT);
    const Integrator integrator = (Integrator)(_i / TURNS / ROTATION_COUNT);
    Lab lab = make_pair(integrator, rotation, TIME_STEP, 0.0, vec3(0.0, 0.0, 0.0));
    const double spin = turn / TIME_STEP, torque = MOMENT * spin / TIME_STEP;
    const double wrench[6] = {0.0, 0.0, 0.0, 0.0, 0.0, torque};
    lab_step_pushed(&lab, FIRST, wrench);
    const double given = 0.5 * MOMENT * spin * spin;
    const double most = fmax(lab.report.energy.after, most_energy(&lab, STEPS));
    ck_assert_msg(most <= granted(rotation, turn, STEPS) * given, "%g J of %g", most, given);
    lab_destroy(&lab);
}
END_TEST

// A motor of rows between the first body and the world, which turns it as it is told at once, and
// from then on.
static void drive(Lab *lab, double spin) {
    const uint32_t kind = JOINT_HINGE, as_rows = 1;
    const uint64_t b = lab->world->body_id[FIRST];
    const double damping = 1e6;
    const JointColumns columns = {.count = 1,
                                  .axis_count = 1,
                                  .position_count = 1,
                                  .kind = &kind,
                                  .as_rows = &as_rows,
                                  .body_b = &b,
                                  .drive_damping = &damping,
                                  .target_velocity = &spin};
    lab_joints(lab, &columns);
}

// A row gives what no free motion knew of. Of integrators by which a drive is a motor: explicit
// takes it as a force of the begin.
START_TEST(a_motor_at_the_one_throws_none) {
    const double turn = turns[_i % TURNS];
    const Rotation rotation = (Rotation)(_i / TURNS % ROTATION_COUNT);
    const Integrator driving[] = {INTEGRATOR_SYMPLECTIC, INTEGRATOR_IMPLICIT, INTEGRATOR_MIDPOINT};
    const Integrator integrator = driving[_i / TURNS / ROTATION_COUNT];
    Lab lab = make_pair(integrator, rotation, TIME_STEP, 0.0, vec3(0.0, 0.0, 0.0));
    const double spin = turn / TIME_STEP;
    drive(&lab, spin);
    const double given = 0.5 * MOMENT * spin * spin, most = most_energy(&lab, STEPS);
    ck_assert_msg(most <= granted(rotation, turn, STEPS) * given, "%g J of %g", most, given);
    lab_destroy(&lab);
}
END_TEST

// A hinge at rest along gravity: of what gravity does along it roundings are left, which shrink no
// more, and nothing else is there to count beside. It is no tree that turns too far: what a motor
// gives it, it has. Along 40 axes, none of which is one of the world's.
START_TEST(a_hinge_along_gravity_has_what_it_is_given) {
    const double n = _i + 1.0;
    const Quat turn = quat_normalize((Quat){1.0, 0.3 / n, -0.1 * n, 0.7 - 0.03 * n});
    Lab lab = lab_create(0.0, TIME_STEP);
    lab.world->settings.gravity = quat_rotate(turn, vec3(0.0, 0.0, -9.81));
    const double inertia[6] = {0.011, 0.017, MOMENT, 0.001, 0.002, -0.003}, spin = 14.0,
                 frame[7] = {0.0, 0.0, 0.0, turn.w, turn.x, turn.y, turn.z},
                 frame_b[7] = {0.3, 0.4, 0.2, 1.0, 0.0, 0.0, 0.0}, damping = 1e9;
    const Pose at = {quat_rotate(turn, vec3(-0.3, -0.4, -0.2)), turn};
    lab_body(&lab, 0, BODY_DYNAMIC, at, NULL, 2.0, inertia);
    const uint32_t kind = JOINT_HINGE;
    const uint64_t b = lab.world->body_id[FIRST];
    for (uint32_t as_rows = 0; as_rows < 2; as_rows++) {
        const JointColumns columns = {.count = 1,
                                      .axis_count = 1,
                                      .position_count = 1,
                                      .kind = &kind,
                                      .as_rows = &as_rows,
                                      .body_b = &b,
                                      .frame_a = frame,
                                      .frame_b = frame_b,
                                      .drive_damping = as_rows == 1 ? &damping : NULL,
                                      .target_velocity = as_rows == 1 ? &spin : NULL};
        lab_joints(&lab, &columns);
    }
    lab_step(&lab, 1);
    // it gives way by I w/(h d) = 2e-7 of what it is to have
    ck_assert_double_eq_tol(lab.world->joint_velocity[0], spin, 1e-6 * spin);
    lab_destroy(&lab);
}
END_TEST

// Where the turn is resolved, the one that rests drifts by the error of the scheme, which is of
// first order: half the step, half the way. At 0.02 rad a step and half a metre away, ten turns.
static double drift(double h, int steps) {
    Lab lab = make_pair(INTEGRATOR_SYMPLECTIC, ROTATION_MIDPOINT, h, 5.0, vec3(0.0, 0.0, 0.0));
    const Vec3 begun = lab_position(&lab, SECOND);
    lab_step(&lab, steps);
    const double way = vec3_norm(vec3_sub(lab_position(&lab, SECOND), begun));
    lab_destroy(&lab);
    return way;
}

START_TEST(what_rests_beside_a_turning_body_rests) {
    const double coarse = drift(0.004, 300), fine = drift(0.002, 600);
    ck_assert_msg(coarse < 0.1 && fine < 0.6 * coarse, "%g m, and %g", coarse, fine);
}
END_TEST

static TCase *case_apart(void) {
    TCase *tcase = tcase_create("apart");
    tcase_add_loop_test(tcase, what_turns_gains_nothing_of_what_flies_apart, 0,
                        TURNS * ROTATION_COUNT * INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, what_turns_beside_its_joint_gains_nothing, 0,
                        (TURNS + 1) * ROTATION_COUNT * INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, a_blow_on_the_one_throws_none, 0,
                        TURNS * ROTATION_COUNT * INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, a_motor_at_the_one_throws_none, 0, TURNS * ROTATION_COUNT * 3);
    tcase_add_loop_test(tcase, a_hinge_along_gravity_has_what_it_is_given, 0, 40);
    tcase_add_test(tcase, what_rests_beside_a_turning_body_rests);
    return tcase;
}

SUITE_MAIN("step/tree_apart", case_apart)
