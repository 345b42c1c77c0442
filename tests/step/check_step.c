// SPDX-License-Identifier: MIT
// What the laws of mechanics demand of a step, whatever the numbers: conservation, energy, rest,
// refusal of what is not finite.
#include "step/step.h"

#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

static Pose at(double x, double y, double z) {
    return (Pose){.position = vec3(x, y, z), .orientation = quat_identity()};
}

// ---- conservation

typedef struct Momentum {
    Vec3 linear, angular;
    double scale_linear, scale_angular; // sums of magnitudes: what rounding is relative to
} Momentum;

static Momentum total_momentum(const Lab *lab) {
    Momentum total = {0};
    for (uint32_t i = 0; i < lab->world->body_count; i++) {
        const BodyMass *mass = &lab->world->mass[i];
        Sym3 inertia = mass->is_round
                           ? mass->inertia
                           : sym3_rotate(quat_to_mat3(lab_orientation(lab, i)), mass->inertia);
        Vec3 p = vec3_scale(mass->mass, lab_velocity(lab, i));
        Vec3 l =
            vec3_add(vec3_cross(lab_position(lab, i), p), sym3_mul_vec(inertia, lab_spin(lab, i)));
        total.linear = vec3_add(total.linear, p);
        total.angular = vec3_add(total.angular, l);
        total.scale_linear += vec3_norm(p);
        total.scale_angular += vec3_norm(l);
    }
    return total;
}

// A cloud in empty space, everything flying towards the middle and spinning.
static Lab make_cluster(PrimitiveKind kind) {
    Lab lab = lab_create(0.0, 1.0 / 240.0);
    Id material = lab_material(&lab, 0.4, 0.3);
    uint64_t seed = 7;
    for (int i = 0; i < 60; i++) {
        double r = lab_random(&seed, 0.1, 0.3);
        Vec3 size = kind == PRIMITIVE_SPHERE ? vec3(r, 0.0, 0.0) : vec3(r, 0.7 * r, 0.5 * r);
        Pose pose = at(lab_random(&seed, -2.0, 2.0), lab_random(&seed, -2.0, 2.0),
                       lab_random(&seed, -2.0, 2.0));
        pose.orientation =
            quat_normalize((Quat){lab_random(&seed, 0.1, 1.0), lab_random(&seed, -1.0, 1.0),
                                  lab_random(&seed, -1.0, 1.0), lab_random(&seed, -1.0, 1.0)});
        double velocity[6];
        vec3_store(velocity, vec3_add(vec3_scale(-2.0, pose.position), vec3(0.3, -0.1, 0.2)));
        for (int k = 3; k < 6; k++) {
            velocity[k] = lab_random(&seed, -3.0, 3.0);
        }
        lab_body(&lab, lab_shape(&lab, kind, size, material), BODY_DYNAMIC, pose, velocity, 0.0,
                 NULL);
    }
    return lab;
}

START_TEST(spheres_in_empty_space_keep_their_momentum) {
    Lab lab = make_cluster(PRIMITIVE_SPHERE);
    // about where they are now; along an approach it is about where they meet
    lab.world->settings.contact_plane = CONTACT_PLANE_START;
    Momentum before = total_momentum(&lab);
    uint32_t contacts = 0;
    for (int i = 0; i < 480; i++) {
        lab_step(&lab, 1);
        contacts += lab.report.contact_count;
    }
    ck_assert_uint_gt(contacts, 1000); // they did collide
    Momentum after = total_momentum(&lab);
    // equal and opposite impulses at a common point: only rounding is left, and the demand is 1e-12
    // of the whole
    ck_assert_double_lt(vec3_norm(vec3_sub(after.linear, before.linear)),
                        1e-12 * before.scale_linear);
    ck_assert_double_lt(vec3_norm(vec3_sub(after.angular, before.angular)),
                        1e-12 * before.scale_angular);
    lab_destroy(&lab);
}
END_TEST

START_TEST(boxes_in_empty_space_keep_their_linear_momentum) {
    Lab lab = make_cluster(PRIMITIVE_BOX);
    Momentum before = total_momentum(&lab);
    lab_step(&lab, 480);
    Momentum after = total_momentum(&lab);
    ck_assert_double_lt(vec3_norm(vec3_sub(after.linear, before.linear)),
                        1e-12 * before.scale_linear);
    lab_destroy(&lab);
}
END_TEST

// ---- energy

START_TEST(the_energy_book_balances) {
    Lab lab = make_cluster(PRIMITIVE_BOX);
    lab.world->settings.gravity = vec3(0.5, 0.0, -9.81);
    Id floor = lab_shape(&lab, PRIMITIVE_PLANE, vec3(0.0, 0.0, 0.0), 0);
    lab_body(&lab, floor, BODY_STATIC, at(0.0, 0.0, -2.5), NULL, 0.0, NULL);
    for (int i = 0; i < 240; i++) {
        lab_step(&lab, 1);
        const StepEnergy *energy = &lab.report.energy;
        double scale = fabs(energy->before) + fabs(energy->after) + fabs(energy->contact) +
                       fabs(energy->scheme);
        // every term is a sum of 60 bodies' products: a few hundred roundings
        ck_assert_double_lt(fabs(energy->unexplained), 1e-12 * scale);
    }
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_thrown_body_flies_the_parabola_of_the_scheme) {
    Lab lab = lab_create(9.81, 0.01);
    double velocity[6] = {1.0, 2.0, 3.0, 0.0, 0.0, 0.0};
    uint32_t ball = lab_body(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0),
                             BODY_DYNAMIC, at(0.0, 0.0, 5.0), velocity, 2.0, NULL);
    lab_step(&lab, 100);
    // symplectic Euler: z_n = z_0 + n h v_0 - g h^2 n (n + 1)/2, exactly
    double z = 5.0 + 3.0 - 9.81 * 1e-4 * 100.0 * 101.0 / 2.0;
    ck_assert_double_eq_tol(lab_position(&lab, ball).z, z, 1e-12);
    ck_assert_double_eq_tol(lab_position(&lab, ball).x, 1.0, 1e-13);
    // its own first-order error per step is -m g^2 h^2/2 (certificate.md)
    ck_assert_double_eq_tol(lab.report.energy.scheme, -2.0 * 9.81 * 9.81 * 1e-4 / 2.0, 1e-12);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_wrench_accelerates_and_its_work_is_booked) {
    Lab lab = lab_create(0.0, 0.01);
    uint32_t box = lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.5, 0.5, 0.5), 0),
                            BODY_DYNAMIC, at(0.0, 0.0, 0.0), NULL, 6.0, NULL);
    double wrench[6] = {12.0, 0.0, 0.0, 0.0, 0.0, 2.0};
    StepInput input = {.time_step = 0.01, .wrench_count = 1, .wrench_body = &box, .wrench = wrench};
    Error error = {0};
    ck_assert_int_eq(
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error),
        STATUS_OK);
    // v = h F/m; a cube of side 1 m and 6 kg has the inertia m/6 = 1 kg m^2
    ck_assert_double_eq_tol(lab_velocity(&lab, box).x, 0.02, 1e-15);
    ck_assert_double_eq_tol(lab_spin(&lab, box).z, 0.02, 1e-15);
    ck_assert_double_eq_tol(lab.report.energy.applied,
                            lab.report.energy.after - lab.report.energy.before, 1e-16);
    lab_destroy(&lab);
}
END_TEST

// ---- contact

START_TEST(a_ball_bounces_by_its_restitution) {
    Lab lab = lab_create(0.0, 0.01);
    Id rubber = lab_material(&lab, 0.0, 0.5);
    lab_ground(&lab, 0);
    double velocity[6] = {0.0, 0.0, -2.0, 0.0, 0.0, 0.0};
    uint32_t ball = lab_body(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), rubber),
                             BODY_DYNAMIC, at(0.0, 0.0, 0.105), velocity, 1.0, NULL);
    lab_step(&lab, 1);
    ck_assert_double_eq_tol(lab_velocity(&lab, ball).z, 1.0, 1e-14); // e v
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_conveyor_carries_a_box_to_its_own_speed) {
    Lab lab = lab_create(9.81, 0.005);
    Id belt_shape = lab_shape(&lab, PRIMITIVE_BOX, vec3(20.0, 1.0, 0.1), 0);
    double moving[6] = {0.5, 0.0, 0.0, 0.0, 0.0, 0.0};
    lab_body(&lab, belt_shape, BODY_KINEMATIC, at(0.0, 0.0, -0.1), moving, 0.0, NULL);
    uint32_t box = lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), 0),
                            BODY_DYNAMIC, at(0.0, 0.0, 0.1), NULL, 1.0, NULL);
    // mu g = 4.9 m/s^2 brings it to 0.5 m/s in 0.1 s
    lab_step(&lab, 10);
    ck_assert_double_lt(lab_velocity(&lab, box).x, 0.3);
    lab_step(&lab, 90);
    // converged to e_own 1e-6 of V, V about 0.5 m/s
    ck_assert_double_eq_tol(lab_velocity(&lab, box).x, 0.5, 1e-5);
    lab_destroy(&lab);
}
END_TEST

// The gate: ten boxes stand for a minute, no box moving more than 1 mm or turning more than 1e-3
// rad after the first second.
START_TEST(a_stack_of_ten_boxes_stands_for_a_minute) {
    enum { BOXES = 10, STEPS_PER_SECOND = 240 };
    Lab lab = lab_create(9.81, 1.0 / STEPS_PER_SECOND);
    lab.world->settings.margin = settings_default().margin;
    lab_ground(&lab, 0);
    Id shape = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), 0);
    for (int i = 0; i < BOXES; i++) {
        lab_body(&lab, shape, BODY_DYNAMIC, at(0.0, 0.0, 0.1 + 0.2 * i), NULL, 0.0, NULL);
    }
    lab_step(&lab, STEPS_PER_SECOND);
    double settled[7 * (BOXES + 1)];
    memcpy(settled, lab.world->pose, sizeof(settled));
    for (int second = 1; second < 60; second++) {
        lab_step(&lab, STEPS_PER_SECOND);
        for (uint32_t i = 1; i <= BOXES; i++) {
            Pose then = pose_load(settled + 7 * (size_t)i),
                 now = pose_load(lab.world->pose + 7 * (size_t)i);
            Quat back = {then.orientation.w, -then.orientation.x, -then.orientation.y,
                         -then.orientation.z};
            Quat turn = quat_mul(back, now.orientation);
            double angle =
                2.0 * vec3_norm(vec3(turn.x, turn.y, turn.z)); // small: the sine is the angle
            ck_assert_double_lt(vec3_norm(vec3_sub(now.position, then.position)), 1e-3);
            ck_assert_double_lt(angle, 1e-3);
        }
    }
    lab_destroy(&lab);
}
END_TEST

// Without a margin the contacts of a stack at rest have gaps of a few nanometres on both sides of
// zero: none may be lost, and the noise of the gaps must not keep the solver busy (without `touch`
// it takes about 90 sweeps a step, with it about 15).
START_TEST(a_stack_at_rest_keeps_its_contacts_and_needs_few_sweeps) {
    enum { BOXES = 10, STEPS = 480 };
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    lab_ground(&lab, 0);
    Id shape = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), 0);
    for (int i = 0; i < BOXES; i++) {
        lab_body(&lab, shape, BODY_DYNAMIC, at(0.0, 0.0, 0.1 + 0.2 * i), NULL, 0.0, NULL);
    }
    lab_step(&lab, 480);
    uint32_t sweeps = 0;
    for (int i = 0; i < STEPS; i++) {
        lab_step(&lab, 1);
        ck_assert_uint_eq(lab.report.contact_count, 4 * BOXES);
        sweeps += lab.report.iterations;
    }
    ck_assert_uint_lt(sweeps, 40 * STEPS);
    lab_destroy(&lab);
}
END_TEST

// Boxes of equal mass, and each ten times as heavy as the one below: nothing moves, so every step
// must find that out. The sweeps alone need thousands, and what they leave shakes the tower.
START_TEST(a_tower_stands_still_from_its_first_step) {
    static const struct {
        int boxes;
        double growth;
    } towers[] = {{20, 1.0}, {5, 10.0}};
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    lab_set(&lab, "friction", _i % 2);
    lab_ground(&lab, 0);
    Id shape = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), 0);
    double mass = 0.1;
    int boxes = towers[_i / 2].boxes;
    for (int i = 0; i < boxes; i++) {
        lab_body(&lab, shape, BODY_DYNAMIC, at(0.0, 0.0, 0.1 + 0.2 * i), NULL, mass, NULL);
        mass *= towers[_i / 2].growth;
    }
    for (int step = 0; step < 120; step++) {
        lab_step(&lab, 1);
        ck_assert(lab.report.certificate.converged);
        // the tolerance, 1e-6 of g h, and what it grows to along twenty boxes
        for (uint32_t i = 1; i <= (uint32_t)boxes; i++) {
            ck_assert_double_lt(vec3_norm(lab_velocity(&lab, i)), 1e-6);
        }
    }
    lab_destroy(&lab);
}
END_TEST

// A box that lies on another, turned by half a right angle: they share an octagon, and its weight
// stands between one of the corners and the chord over that. Four of the eight cannot hold it at
// each of them: it would tip over the chord until another four are lower, and back.
START_TEST(a_box_leans_on_any_corner_of_what_it_shares_with_the_box_below) {
    const double turn = 0.25 * acos(-1.0), half = 0.1, mass = 8.0, gravity = 9.81;
    const double angle = (0.5 + _i) * turn, out = 0.85 * half / cos(0.5 * turn);
    const double wrench[6] = {
        0.0, 0.0, 0.0, -mass * gravity * out * sin(angle), mass * gravity * out * cos(angle), 0.0};
    Lab lab = lab_create(gravity, 1.0 / 240.0);
    Id shape = lab_shape(&lab, PRIMITIVE_BOX, vec3(half, half, half), 0);
    lab_body(&lab, shape, BODY_STATIC, at(0.0, 0.0, -half), NULL, 0.0, NULL);
    Pose pose = at(0.0, 0.0, half);
    pose.orientation = (Quat){cos(0.5 * turn), 0.0, 0.0, sin(0.5 * turn)};
    uint32_t box = lab_body(&lab, shape, BODY_DYNAMIC, pose, NULL, mass, NULL);
    for (int step = 0; step < 480; step++) {
        lab_step_pushed(&lab, box, wrench);
        ck_assert(lab.report.certificate.converged);
        ck_assert_uint_eq(lab.report.contact_count, 8);
        // what the tolerance, 1e-6 of g h, leaves
        ck_assert_double_lt(vec3_norm(lab_velocity(&lab, box)), 1e-7);
        ck_assert_double_lt(vec3_norm(lab_spin(&lab, box)), 1e-6);
    }
    ck_assert_double_lt(vec3_norm(vec3_sub(lab_position(&lab, box), pose.position)), 1e-8);
    lab_destroy(&lab);
}
END_TEST

// Ten boxes fall on one another, none straight above the next: corners that bear little would slide
// under an equal share of the friction, which the others can bear.
START_TEST(a_crooked_stack_falls_together_and_stands) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    lab_set(&lab, "friction", _i);
    lab_ground(&lab, 0);
    Id shape = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), 0);
    for (int i = 0; i < 10; i++) {
        Pose pose = at(0.03 * (i % 2), 0.02 * (i % 3), 0.12 + 0.25 * i);
        lab_body(&lab, shape, BODY_DYNAMIC, pose, NULL, 8.0, NULL);
    }
    uint32_t unconverged = 0;
    for (int step = 0; step < 300; step++) {
        lab_step(&lab, 1);
        unconverged += lab.report.certificate.converged ? 0 : 1;
    }
    ck_assert_uint_le(unconverged, 3); // of sweeps alone, some forty
    ck_assert_double_lt(vec3_norm(lab_velocity(&lab, 10)), 1e-6);
    lab_destroy(&lab);
}
END_TEST

// ---- refusal

// Half a turn's vector is w h/2, whose square would overflow: the orientation could not be
// normalised, and no snapshot of it could be read.
START_TEST(a_step_that_would_leave_no_orientation_has_not_happened) {
    Lab lab = lab_create(0.0, 1.0);
    const double inertia[6] = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0};
    const double spin[6] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0};
    uint32_t body = lab_body(&lab, 0, BODY_DYNAMIC, at(0.0, 0.0, 1.0), NULL, 1.0, inertia);
    memcpy(lab.world->velocity + 6 * (size_t)body, spin, sizeof(spin));
    StepInput input = {.time_step = 1e160};
    Error error = {0};
    ck_assert_int_eq(
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error),
        STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "the pose of body 1"));
    ck_assert(lab.world->faulted);
    lab_destroy(&lab);
}
END_TEST

// 3.4e38 is the largest float: replies in single precision could not say it.
START_TEST(a_step_whose_state_no_float_would_hold_has_not_happened) {
    Lab lab = lab_create(0.0, 1.0);
    uint32_t body = lab_body(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0),
                             BODY_DYNAMIC, at(0.0, 0.0, 1.0), NULL, 1.0, NULL);
    lab.world->velocity[6 * (size_t)body + 2] = 4e38;
    StepInput input = {.time_step = 1.0};
    Error error = {0};
    ck_assert_int_eq(
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error),
        STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "the velocity of body 1"));
    ck_assert(lab.world->faulted);
    ck_assert_uint_eq(lab.world->step, 0);
    lab_destroy(&lab);
}
END_TEST

// A float holds the velocity, but not where it leads to in ten seconds.
START_TEST(a_step_that_leads_beyond_the_floats_has_not_happened) {
    Lab lab = lab_create(0.0, 1.0);
    uint32_t body = lab_body(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0),
                             BODY_DYNAMIC, at(0.0, 0.0, 1.0), NULL, 1.0, NULL);
    lab.world->velocity[6 * (size_t)body + 2] = 3e38;
    StepInput input = {.time_step = 10.0};
    Error error = {0};
    ck_assert_int_eq(
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error),
        STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "the pose of body 1"));
    ck_assert_str_eq(lab.stepper->fault.quantity, "pose");
    ck_assert_uint_eq(lab.stepper->fault.body, 1);
    ck_assert_uint_eq(lab.stepper->fault.step, 1);
    lab_destroy(&lab);
}
END_TEST

// What holds 1e42 kg against gravity for 1/240 s is 4e40 N s; the state itself is a ball's at rest.
START_TEST(a_step_whose_impulse_no_float_would_hold_has_not_happened) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    lab_ground(&lab, 0);
    uint32_t ball = lab_body(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0),
                             BODY_DYNAMIC, at(0.0, 0.0, 0.1), NULL, 1.0, NULL);
    lab.world->mass[ball].mass = 1e42;
    StepInput input = {.time_step = 1.0 / 240.0};
    Error error = {0};
    ck_assert_int_eq(
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error),
        STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "the contact impulse of body 2"));
    ck_assert(lab.world->faulted);
    lab_destroy(&lab);
}
END_TEST

// The state would be finite, its kinetic energy would not: 1e300 kg at 1e9 m/s.
START_TEST(a_step_whose_report_would_not_be_finite_has_not_happened) {
    Lab lab = lab_create(0.0, 1.0);
    const double speed[6] = {0.0, 0.0, 1e9, 0.0, 0.0, 0.0};
    uint32_t body = lab_body(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0),
                             BODY_DYNAMIC, at(0.0, 0.0, 1.0), speed, 1.0, NULL);
    lab.world->mass[body].mass = 1e300;
    uint64_t hash = snapshot_hash(lab.world);
    StepInput input = {.time_step = 1.0};
    Error error = {0};
    ck_assert_int_eq(
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error),
        STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "Step 1 was undone: the energy before the step"));
    ck_assert(lab.world->faulted);
    lab.world->faulted = false;
    ck_assert_uint_eq(snapshot_hash(lab.world), hash);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_step_that_would_not_be_finite_has_not_happened) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    uint32_t ball = lab_body(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0),
                             BODY_DYNAMIC, at(0.0, 0.0, 1.0), NULL, 1.0, NULL);
    lab_step(&lab, 3);
    uint64_t hash = snapshot_hash(lab.world);
    double wrench[6] = {1e308, 1e308, 0.0, 0.0, 0.0, 0.0};
    StepInput input = {
        .time_step = 10.0, .wrench_count = 1, .wrench_body = &ball, .wrench = wrench};
    Error error = {0};
    ck_assert_int_eq(
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error),
        STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "Step 4 "));
    ck_assert_ptr_nonnull(strstr(error.message, "body 1"));
    ck_assert(lab.world->faulted);
    lab.world->faulted = false;
    ck_assert_uint_eq(snapshot_hash(lab.world), hash); // all else is as it was
    lab_destroy(&lab);
}
END_TEST

static bool always(void *context) {
    (void)context;
    return true;
}

START_TEST(a_step_that_is_given_up_has_not_happened_and_leaves_nothing_to_look_at) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    lab_set(&lab, "tolerance", 1e-15); // many sweeps: the solver asks after some
    lab_ground(&lab, 0);
    Id shape = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), 0);
    for (int i = 0; i < 5; i++) {
        lab_body(&lab, shape, BODY_DYNAMIC, at(0.01 * i, 0.0, 0.1 + 0.2 * i), NULL, 0.0, NULL);
    }
    lab_step(&lab, 2);
    ck_assert(lab.stepper->has_last);
    uint64_t hash = snapshot_hash(lab.world);
    Stop stop = {.asked = always};
    StepInput input = {.time_step = 1.0 / 240.0, .context.stop = &stop};
    Error error = {0};
    ck_assert_int_eq(
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error),
        STATUS_ABORTED);
    ck_assert_uint_eq(snapshot_hash(lab.world), hash);
    ck_assert(!lab.stepper->has_last); // its contacts have no impulses
    lab_step(&lab, 1);
    ck_assert(lab.stepper->has_last);
    lab_destroy(&lab);
}
END_TEST

// Some hundred balls in one place are candidates by the hundred thousand: what comes to be asked
// first is the broad phase.
START_TEST(a_step_that_is_given_up_in_the_broad_phase_has_not_happened) {
    Lab lab = lab_create(9.81, 1.0 / 240.0), straight = lab_create(9.81, 1.0 / 240.0);
    Lab *labs[2] = {&lab, &straight};
    for (int k = 0; k < 2; k++) {
        lab_set(labs[k], "max_iterations", 1.0);
        Id shape = lab_shape(labs[k], PRIMITIVE_SPHERE, vec3(0.5, 0.0, 0.0), 0);
        for (int i = 0; i < 800; i++) {
            lab_body(labs[k], shape, BODY_DYNAMIC, at(0.001 * i, 0.0, 1.0), NULL, 1.0, NULL);
        }
    }
    uint64_t hash = snapshot_hash(lab.world);
    Stop stop = {.asked = always};
    StepInput input = {.time_step = 1.0 / 240.0, .context.stop = &stop};
    Error error = {0};
    ck_assert_int_eq(
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error),
        STATUS_ABORTED);
    ck_assert_uint_eq(lab.report.contact_count, 0); // it did not come to them
    ck_assert_uint_eq(snapshot_hash(lab.world), hash);
    lab_step(&lab, 1);
    lab_step(&straight, 1);
    ck_assert_uint_eq(snapshot_hash(lab.world), snapshot_hash(straight.world));
    lab_destroy(&lab);
    lab_destroy(&straight);
}
END_TEST

START_TEST(a_step_fits_into_little_memory_or_says_so) {
    // every limit from nothing up to enough: each run either succeeds or fails cleanly and leaves
    // the world as it was
    bool succeeded = false;
    for (size_t limit = 4096; !succeeded; limit += 4096) {
        ck_assert_uint_lt(limit, 1u << 24);
        Lab lab = make_cluster(PRIMITIVE_SPHERE);
        uint64_t hash = snapshot_hash(lab.world);
        Arena tight;
        arena_init(&tight, limit);
        StepInput input = {.time_step = 1.0 / 240.0};
        Error error = {0};
        Status status =
            stepper_run(lab.stepper, lab.world, &input, &tight, NULL, &lab.report, &error);
        if (status == STATUS_OK) {
            succeeded = true;
        } else {
            ck_assert_int_eq(status, STATUS_RESOURCE_EXHAUSTED);
            ck_assert_uint_eq(snapshot_hash(lab.world), hash);
        }
        arena_deinit(&tight);
        lab_destroy(&lab);
    }
}
END_TEST

START_TEST(an_empty_world_steps) {
    Lab lab = lab_create(9.81, 0.01);
    lab_step(&lab, 10);
    ck_assert_uint_eq(lab.world->step, 10);
    ck_assert_double_eq(lab.world->time.value, 0.1); // ten times 0.01 as a double, rounded once
    ck_assert(lab.report.certificate.converged);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_worlds_time_is_its_number_of_steps) {
    Lab lab = lab_create(0.0, 0.1);
    lab_step(&lab, 100000);
    // 1e5 times the double nearest to 0.1, which is 5.55e-18 more, is nearest to 10000
    ck_assert_double_eq(lab.world->time.value, 10000.0);
    ck_assert_double_eq_tol(lab.world->time.rest, 5.55e-13, 1e-14);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_laws(void) {
    TCase *tcase = tcase_create("laws");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_test(tcase, spheres_in_empty_space_keep_their_momentum);
    tcase_add_test(tcase, boxes_in_empty_space_keep_their_linear_momentum);
    tcase_add_test(tcase, the_energy_book_balances);
    tcase_add_test(tcase, a_thrown_body_flies_the_parabola_of_the_scheme);
    tcase_add_test(tcase, a_wrench_accelerates_and_its_work_is_booked);
    tcase_add_test(tcase, a_ball_bounces_by_its_restitution);
    tcase_add_test(tcase, a_conveyor_carries_a_box_to_its_own_speed);
    tcase_add_test(tcase, an_empty_world_steps);
    tcase_add_test(tcase, a_worlds_time_is_its_number_of_steps);
    return tcase;
}

static TCase *case_stack(void) {
    TCase *tcase = tcase_create("stack");
    tcase_set_timeout(tcase, 280.0);
    tcase_add_test(tcase, a_stack_of_ten_boxes_stands_for_a_minute);
    tcase_add_loop_test(tcase, a_tower_stands_still_from_its_first_step, 0, 4);
    tcase_add_loop_test(tcase, a_box_leans_on_any_corner_of_what_it_shares_with_the_box_below, 0,
                        8);
    tcase_add_loop_test(tcase, a_crooked_stack_falls_together_and_stands, 0, 2);
    tcase_add_test(tcase, a_stack_at_rest_keeps_its_contacts_and_needs_few_sweeps);
    return tcase;
}

static TCase *case_refusal(void) {
    TCase *tcase = tcase_create("refusal");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_test(tcase, a_step_whose_state_no_float_would_hold_has_not_happened);
    tcase_add_test(tcase, a_step_that_leads_beyond_the_floats_has_not_happened);
    tcase_add_test(tcase, a_step_whose_impulse_no_float_would_hold_has_not_happened);
    tcase_add_test(tcase, a_step_whose_report_would_not_be_finite_has_not_happened);
    tcase_add_test(tcase, a_step_that_would_not_be_finite_has_not_happened);
    tcase_add_test(tcase, a_step_that_is_given_up_has_not_happened_and_leaves_nothing_to_look_at);
    tcase_add_test(tcase, a_step_that_is_given_up_in_the_broad_phase_has_not_happened);
    tcase_add_test(tcase, a_step_that_would_leave_no_orientation_has_not_happened);
    tcase_add_test(tcase, a_step_fits_into_little_memory_or_says_so);
    return tcase;
}

SUITE_MAIN("step/step", case_laws, case_stack, case_refusal)
