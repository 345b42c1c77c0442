// SPDX-License-Identifier: MIT
// Free motion under every integrator and rotation: what is conserved, closed forms, orders, and
// what a step of a thousand turns does.
#include "step/step.h"

#include "solve/dense/dense.h"
#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

enum { HERTZ = 240, SECONDS = 10 };

static Lab make_lab(double gravity, double h, Integrator integrator, Rotation rotation) {
    Lab lab = lab_create(gravity, h);
    lab.world->settings.integrator = (uint8_t)integrator;
    lab.world->settings.rotation = (uint8_t)rotation;
    return lab;
}

// The brick of the scenes: 0.1 x 0.2 x 0.4 m, 8 kg.
static uint32_t add_brick(Lab *lab, Pose pose, Vec3 velocity, Vec3 spin) {
    double packed[6];
    vec3_store(packed, velocity);
    vec3_store(packed + 3, spin);
    return lab_body(lab, lab_shape(lab, PRIMITIVE_BOX, vec3(0.05, 0.1, 0.2), 0), BODY_DYNAMIC, pose,
                    packed, 8.0, NULL);
}

static Pose tilted(void) {
    return (Pose){.orientation = quat_normalize((Quat){0.9, 0.3, -0.2, 0.4})};
}

static Sym3 inertia_now(const Lab *lab, uint32_t body) {
    return sym3_rotate(quat_to_mat3(lab_orientation(lab, body)), lab->world->mass[body].inertia);
}

static Vec3 angular_momentum(const Lab *lab, uint32_t body) {
    return sym3_mul_vec(inertia_now(lab, body), lab_spin(lab, body));
}

static double spin_energy(const Lab *lab, uint32_t body) {
    return 0.5 * vec3_dot(lab_spin(lab, body), angular_momentum(lab, body));
}

// ---- the mass of a step

static const double shares[] = {1.0, 1e-6, 1e-12, 1e-15, 1e-18}; // of the long moments

// Of the inverse, an entry is right to rounding, 4e-16 of a long moment, over the least moment that
// a step takes, 1e-12 of the trace: to 2e-4; and the product has some twenty such entries.
#define INVERTED 1e-2

START_TEST(a_needle_has_a_mass_that_can_be_inverted_wherever_it_points) {
    const double inertia[6] = {1.0, 1.0, shares[_i], 0.0, 0.0, 0.0};
    uint64_t seed = 7;
    for (int turn = 0; turn < 100; turn++) {
        Lab lab = make_lab(0.0, 1.0 / HERTZ, INTEGRATOR_SYMPLECTIC, ROTATION_MIDPOINT);
        Quat q = {lab_random(&seed, -1.0, 1.0), lab_random(&seed, -1.0, 1.0),
                  lab_random(&seed, -1.0, 1.0), lab_random(&seed, -1.0, 1.0)};
        lab_body(&lab, 0, BODY_DYNAMIC, (Pose){.orientation = quat_normalize(q)}, NULL, 1.0,
                 inertia);
        lab_step(&lab, 1);
        const FreeMass *mass = &lab.stepper->problem.free[0];
        Sym3 i = mass->inverse_inertia;
        const double inverse[9] = {i.xx, i.xy, i.xz, i.xy, i.yy, i.yz, i.xz, i.yz, i.zz};
        double factor[9];
        ck_assert(dense_factor(3, inverse, 0.0, factor));
        const Vec3 unit[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
        for (int k = 0; k < 3; k++) {
            Vec3 back = sym3_mul_vec(mass->inertia, sym3_mul_vec(i, unit[k]));
            ck_assert_double_le(vec3_norm(vec3_sub(back, unit[k])), INVERTED);
        }
        lab_destroy(&lab);
    }
}
END_TEST

// ---- what neither gains nor loses

// Some 2,400 steps of a few dozen roundings each, most of which cancel: 1e-11 is what the product
// promises.
#define KEPT 1e-11

// About its middle axis, and a little beside it: it turns over, again and again.
START_TEST(a_flipping_body_keeps_its_energy_and_momentum) {
    Lab lab = make_lab(0.0, 1.0 / HERTZ, INTEGRATOR_MIDPOINT, ROTATION_MIDPOINT);
    Pose pose = tilted();
    Mat3 axes = quat_to_mat3(pose.orientation);
    Vec3 spin = vec3_add(vec3_scale(10.0, axes.c1), vec3_scale(0.01, axes.c0));
    uint32_t body = add_brick(&lab, pose, vec3(0.0, 0.0, 0.0), spin);
    double energy = spin_energy(&lab, body);
    Vec3 momentum = angular_momentum(&lab, body);
    int flips = 0;
    double side = 1.0;
    for (int i = 0; i < SECONDS * HERTZ; i++) {
        lab_step(&lab, 1);
        ck_assert_double_eq_tol(spin_energy(&lab, body), energy, KEPT * energy);
        Vec3 change = vec3_sub(angular_momentum(&lab, body), momentum);
        ck_assert_double_lt(vec3_norm(change), KEPT * vec3_norm(momentum));
        double about = vec3_dot(quat_to_mat3(lab_orientation(&lab, body)).c1, lab_spin(&lab, body));
        flips += about * side < -5.0;
        side = about * side < -5.0 ? -side : side;
    }
    ck_assert_int_ge(flips, 3);
    lab_destroy(&lab);
}
END_TEST

static const double brick_spins[] = {10.0, 50.0, 400.0};

// A half radian per step used to be far too much; at 400 rad/s it turns by more than that.
START_TEST(a_fast_brick_neither_gains_nor_faults) {
    Integrator integrator = (Integrator)(_i % INTEGRATOR_COUNT);
    double rate = brick_spins[_i / INTEGRATOR_COUNT];
    Lab lab = make_lab(0.0, 1.0 / HERTZ, integrator, ROTATION_MIDPOINT);
    Vec3 spin = vec3_scale(rate / sqrt(14.0), vec3(1.0, 2.0, 3.0));
    uint32_t body = add_brick(&lab, tilted(), vec3(0.0, 0.0, 0.0), spin);
    double energy = spin_energy(&lab, body), length = vec3_norm(angular_momentum(&lab, body));
    for (int i = 0; i < SECONDS * HERTZ; i++) {
        lab_step(&lab, 1);
        ck_assert_double_eq_tol(spin_energy(&lab, body), energy, KEPT * energy);
        ck_assert_double_eq_tol(vec3_norm(angular_momentum(&lab, body)), length, KEPT * length);
    }
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_cloud_of_bodies_keeps_its_energy) {
    Lab lab = make_lab(0.0, 1.0 / HERTZ, (Integrator)_i, ROTATION_MIDPOINT);
    uint64_t seed = 5;
    for (int i = 0; i < 200; i++) {
        Vec3 size = vec3(lab_random(&seed, 0.05, 0.5), lab_random(&seed, 0.05, 0.5),
                         lab_random(&seed, 0.05, 0.5));
        double velocity[6];
        for (int k = 0; k < 6; k++) {
            velocity[k] = lab_random(&seed, k < 3 ? -1.0 : -20.0, k < 3 ? 1.0 : 20.0);
        }
        Pose pose = {.position = vec3(100.0 * i, 0.0, 0.0), .orientation = tilted().orientation};
        lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, size, 0), BODY_DYNAMIC, pose, velocity, 0.0,
                 NULL);
    }
    lab_step(&lab, 1);
    double energy = lab.report.energy.before;
    lab_step(&lab, SECONDS * HERTZ - 1);
    ck_assert_double_eq_tol(lab.report.energy.after, energy, KEPT * energy);
    lab_destroy(&lab);
}
END_TEST

// The papers' torque: the reason why it is not the default.
START_TEST(the_explicit_torque_gains_and_the_book_names_it) {
    Lab lab = make_lab(0.0, 1.0 / HERTZ, INTEGRATOR_SYMPLECTIC, ROTATION_EXPLICIT);
    Vec3 spin = vec3(1.0, 6.0, 8.0);
    Pose pose = {.orientation = quat_identity()};
    uint32_t body = add_brick(&lab, pose, vec3(0.0, 0.0, 0.0), spin);
    double energy = spin_energy(&lab, body), booked = 0.0;
    for (int i = 0; i < SECONDS * HERTZ; i++) {
        lab_step(&lab, 1);
        booked += lab.report.energy.scheme;
        ck_assert_double_lt(fabs(lab.report.energy.unexplained), 1e-13 * lab.report.energy.after);
    }
    double gain = spin_energy(&lab, body) - energy;
    ck_assert_double_gt(gain, 1.5 * energy);
    ck_assert_double_eq_tol(booked, gain, 1e-10 * gain);

    // five times as fast, it does not live for ten seconds
    StepInput input = {.time_step = 1.0 / HERTZ};
    Error error = {0};
    Status status = STATUS_OK;
    double fast[6] = {0.0, 0.0, 0.0, 5.0, 30.0, 40.0};
    memcpy(lab.world->velocity, fast, sizeof(fast));
    for (int i = 0; i < SECONDS * HERTZ && status == STATUS_OK; i++) {
        status =
            stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error);
    }
    ck_assert_int_eq(status, STATUS_FAILED_PRECONDITION);
    lab_destroy(&lab);
}
END_TEST

// 1e9 rad/s is the fastest that a client may ask for, 10 s the longest step: nothing of such a
// rotation is resolved, and still it must gain nothing and come to an end.
START_TEST(no_spin_is_too_fast_to_keep_its_energy) {
    uint64_t seed = 77;
    for (int i = 0; i < 400; i++) {
        Lab lab = make_lab(0.0, i % 2 == 0 ? 10.0 : 1e-3, (Integrator)(i % 4), ROTATION_MIDPOINT);
        double rate = pow(10.0, lab_random(&seed, 0.0, 9.0));
        Vec3 spin =
            vec3_scale(rate, vec3(lab_random(&seed, -1.0, 1.0), lab_random(&seed, -1.0, 1.0),
                                  lab_random(&seed, -1.0, 1.0)));
        uint32_t body = add_brick(&lab, tilted(), vec3(0.0, 0.0, 0.0), spin);
        double energy = spin_energy(&lab, body);
        lab_step(&lab, 10);
        // the torque's rounding, in 64 rad at most, for ten steps
        ck_assert_double_eq_tol(spin_energy(&lab, body), energy, 1e-12 * energy);
        lab_destroy(&lab);
    }
}
END_TEST

// ---- closed forms

// What a body without contacts does in n steps under a force: x = n h v + a h^2 n (n + s)/2, with s
// of the integrator.
START_TEST(a_thrown_body_flies_the_parabola_of_its_integrator) {
    static const double shift[INTEGRATOR_COUNT] = {1.0, -1.0, 1.0, 0.0};
    enum { STEPS = 100 };
    double h = 0.01, force = 6.0, mass = 2.0;
    Lab lab = make_lab(9.81, h, (Integrator)_i, ROTATION_MIDPOINT);
    double velocity[6] = {1.0, 2.0, 3.0, 0.0, 0.0, 0.0};
    uint32_t ball =
        lab_body(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0), BODY_DYNAMIC,
                 (Pose){.orientation = quat_identity()}, velocity, mass, NULL);
    double wrench[6] = {force, 0.0, 0.0, 0.0, 0.0, 0.0};
    StepInput input = {.time_step = h, .wrench_count = 1, .wrench_body = &ball, .wrench = wrench};
    Error error = {0};
    for (int i = 0; i < STEPS; i++) {
        ck_assert_int_eq(
            stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error),
            STATUS_OK);
    }
    double squares = h * h * STEPS * (STEPS + shift[_i]) / 2.0; // t^2/2 exactly for the mean
    ck_assert_double_eq_tol(lab_position(&lab, ball).x, 1.0 + force / mass * squares, 1e-12);
    ck_assert_double_eq_tol(lab_position(&lab, ball).z, 3.0 - 9.81 * squares, 1e-12);
    ck_assert_double_eq_tol(lab_velocity(&lab, ball).z, 3.0 - 9.81 * h * STEPS, 1e-13);
    // the error of a step in the potential, m (g^2) h^2/2, of either sign or none
    ck_assert_double_eq_tol(lab.report.energy.scheme, -shift[_i] * mass * 9.81 * 9.81 * h * h / 2.0,
                            1e-12);
    lab_destroy(&lab);
}
END_TEST

START_TEST(implicit_is_symplectic_where_forces_do_not_depend_on_the_state) {
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        Lab lab = make_lab(9.81, 1.0 / HERTZ, k == 0 ? INTEGRATOR_SYMPLECTIC : INTEGRATOR_IMPLICIT,
                           ROTATION_MIDPOINT);
        lab_ground(&lab, 0);
        Pose pose = tilted();
        pose.position.z = 0.5;
        add_brick(&lab, pose, vec3(1.0, 0.0, 0.0), vec3(3.0, -2.0, 5.0));
        lab_step(&lab, 200);
        lab.world->settings.integrator = INTEGRATOR_SYMPLECTIC;
        hash[k] = snapshot_hash(lab.world);
        lab_destroy(&lab);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

// A torque that stands still in the world changes the angular momentum by h T in every step, also
// of a body that tumbles under it.
START_TEST(a_torque_is_the_change_of_the_angular_momentum) {
    Lab lab = make_lab(0.0, 1.0 / HERTZ, INTEGRATOR_MIDPOINT, ROTATION_MIDPOINT);
    uint32_t body = add_brick(&lab, tilted(), vec3(0.0, 0.0, 0.0), vec3(4.0, -7.0, 5.0));
    double wrench[6] = {0.0, 0.0, 0.0, 0.3, -0.2, 0.1};
    StepInput input = {
        .time_step = 1.0 / HERTZ, .wrench_count = 1, .wrench_body = &body, .wrench = wrench};
    Vec3 momentum = angular_momentum(&lab, body);
    Error error = {0};
    double work = 0.0, energy = spin_energy(&lab, body);
    for (int i = 1; i <= HERTZ; i++) {
        ck_assert_int_eq(
            stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error),
            STATUS_OK);
        Vec3 wanted = vec3_add_scaled(momentum, (double)i / HERTZ, vec3_load(wrench + 3));
        Vec3 off = vec3_sub(angular_momentum(&lab, body), wanted);
        ck_assert_double_lt(vec3_norm(off), KEPT * vec3_norm(momentum));
        work += lab.report.energy.applied;
        ck_assert_double_lt(fabs(lab.report.energy.scheme), 1e-13 * energy);
    }
    ck_assert_double_eq_tol(spin_energy(&lab, body) - energy, work, KEPT * energy);
    lab_destroy(&lab);
}
END_TEST

// ---- orders, against a solution by other means

// Orientation of a free body under a constant torque: L(t) = L0 + T t in the world, so that only
// dq/dt = (0, I(q)^-1 L) q/2 is left; the classical Runge-Kutta method with steps that leave
// nothing that matters here.
static Quat rate_of(Quat q, Sym3 inverse, Vec3 momentum) {
    Quat unit = quat_normalize(q);
    Vec3 w = sym3_mul_vec(sym3_rotate(quat_to_mat3(unit), inverse), momentum);
    return quat_mul((Quat){0.0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z}, q);
}

static Quat quat_add_scaled(Quat a, double s, Quat b) {
    return (Quat){a.w + s * b.w, a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static Quat reference_orientation(Quat q, Sym3 inertia, Vec3 momentum, Vec3 torque, double time) {
    enum { STEPS = 20000 };
    Sym3 inverse = sym3_inverse(inertia);
    double h = time / STEPS;
    for (int i = 0; i < STEPS; i++) {
        Vec3 l0 = vec3_add_scaled(momentum, i * h, torque),
             l1 = vec3_add_scaled(momentum, (i + 0.5) * h, torque),
             l2 = vec3_add_scaled(momentum, (i + 1) * h, torque);
        Quat k1 = rate_of(q, inverse, l0);
        Quat k2 = rate_of(quat_add_scaled(q, 0.5 * h, k1), inverse, l1);
        Quat k3 = rate_of(quat_add_scaled(q, 0.5 * h, k2), inverse, l1);
        Quat k4 = rate_of(quat_add_scaled(q, h, k3), inverse, l2);
        q = quat_add_scaled(q, h / 6.0, k1);
        q = quat_add_scaled(q, h / 3.0, k2);
        q = quat_add_scaled(q, h / 3.0, k3);
        q = quat_normalize(quat_add_scaled(q, h / 6.0, k4));
    }
    return q;
}

typedef struct Scheme {
    Integrator integrator;
    Rotation rotation;
    int order;
} Scheme;

static const Scheme schemes[] = {
    {INTEGRATOR_SYMPLECTIC, ROTATION_MIDPOINT, 1}, {INTEGRATOR_EXPLICIT, ROTATION_MIDPOINT, 1},
    {INTEGRATOR_IMPLICIT, ROTATION_MIDPOINT, 1},   {INTEGRATOR_MIDPOINT, ROTATION_MIDPOINT, 2},
    {INTEGRATOR_SYMPLECTIC, ROTATION_EXPLICIT, 1}, {INTEGRATOR_EXPLICIT, ROTATION_EXPLICIT, 1},
    {INTEGRATOR_IMPLICIT, ROTATION_IMPLICIT, 1},
};

START_TEST(every_scheme_has_its_order) {
    const Scheme *scheme = &schemes[_i];
    double error[2];
    for (int k = 0; k < 2; k++) {
        int steps = 800 << k;
        double h = 1.0 / steps;
        Lab lab = make_lab(0.0, h, scheme->integrator, scheme->rotation);
        uint32_t body = add_brick(&lab, tilted(), vec3(0.0, 0.0, 0.0), vec3(2.0, -3.0, 1.5));
        double wrench[6] = {0.0, 0.0, 0.0, 0.2, -0.1, 0.3};
        StepInput input = {
            .time_step = h, .wrench_count = 1, .wrench_body = &body, .wrench = wrench};
        Quat wanted =
            reference_orientation(lab_orientation(&lab, body), lab.world->mass[body].inertia,
                                  angular_momentum(&lab, body), vec3_load(wrench + 3), 1.0);
        Error failure = {0};
        for (int i = 0; i < steps; i++) {
            ck_assert_int_eq(stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL,
                                         &lab.report, &failure),
                             STATUS_OK);
        }
        Quat got = lab_orientation(&lab, body);
        Quat back = {wanted.w, -wanted.x, -wanted.y, -wanted.z};
        Quat turn = quat_mul(got, back);
        error[k] = 2.0 * vec3_norm(vec3(turn.x, turn.y, turn.z));
        ck_assert_double_lt(error[k], 0.1); // the same motion at all
        lab_destroy(&lab);
    }
    double order = log2(error[0] / error[1]);
    // the next order's part of the error is some per cent at such steps
    ck_assert_msg(fabs(order - scheme->order) < 0.1, "order %g: %g, %g", order, error[0], error[1]);
}
END_TEST

// ---- with contacts

// What lies or rolls does so under every integrator: the mean of equal velocities is that velocity.
START_TEST(what_lies_still_lies_under_every_integrator) {
    Lab lab = make_lab(9.81, 1.0 / HERTZ, (Integrator)_i, ROTATION_MIDPOINT);
    lab_ground(&lab, 0);
    Pose pose = {.position = vec3(0.0, 0.0, 0.2), .orientation = quat_identity()};
    uint32_t body = add_brick(&lab, pose, vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0));
    lab_step(&lab, HERTZ);
    // tolerance 1e-6 of g h, for a second
    ck_assert_double_lt(vec3_norm(vec3_sub(lab_position(&lab, body), pose.position)), 1e-7);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_mass(void) {
    TCase *tcase = tcase_create("mass");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, a_needle_has_a_mass_that_can_be_inverted_wherever_it_points, 0,
                        sizeof(shares) / sizeof(shares[0]));
    return tcase;
}

static TCase *case_kept(void) {
    TCase *tcase = tcase_create("kept");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_test(tcase, a_flipping_body_keeps_its_energy_and_momentum);
    tcase_add_loop_test(tcase, a_fast_brick_neither_gains_nor_faults, 0, 3 * INTEGRATOR_COUNT);
    tcase_add_loop_test(tcase, a_cloud_of_bodies_keeps_its_energy, 0, INTEGRATOR_COUNT);
    tcase_add_test(tcase, the_explicit_torque_gains_and_the_book_names_it);
    tcase_add_test(tcase, no_spin_is_too_fast_to_keep_its_energy);
    tcase_add_test(tcase, a_torque_is_the_change_of_the_angular_momentum);
    return tcase;
}

static TCase *case_forms(void) {
    TCase *tcase = tcase_create("forms");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, a_thrown_body_flies_the_parabola_of_its_integrator, 0,
                        INTEGRATOR_COUNT);
    tcase_add_test(tcase, implicit_is_symplectic_where_forces_do_not_depend_on_the_state);
    tcase_add_loop_test(tcase, every_scheme_has_its_order, 0, sizeof(schemes) / sizeof(schemes[0]));
    tcase_add_loop_test(tcase, what_lies_still_lies_under_every_integrator, 0, INTEGRATOR_COUNT);
    return tcase;
}

SUITE_MAIN("step/rotation", case_mass, case_kept, case_forms)
