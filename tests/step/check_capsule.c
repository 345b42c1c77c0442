// SPDX-License-Identifier: MIT
// Capsules in the world: rolling and resting against closed forms, and what fast ones and piles do.
#include "step/step.h"

#include "collide/geometry.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>

enum { HERTZ = 240 };

static const double gravity = 9.81;
static const double radius = 0.1, half = 0.3; // of most capsules [m]
static const Quat lying = {0.70710678118654752, 0.0, 0.70710678118654752, 0.0}; // axis along x

static uint32_t add_capsule(Lab *lab, Id material, Pose pose, const double velocity[6]) {
    Id shape = lab_shape(lab, PRIMITIVE_CAPSULE, vec3(radius, half, 0.0), material);
    return lab_body(lab, shape, BODY_DYNAMIC, pose, velocity, 10.0, NULL);
}

// Inertia about the axis over m r^2.
static double roll_share(const Lab *lab, uint32_t body) {
    const BodyMass *mass = &lab->world->mass[body];
    return mass->inertia.zz / (mass->mass * radius * radius);
}

static double energy(const Lab *lab, uint32_t body) {
    const BodyMass *mass = &lab->world->mass[body];
    Vec3 v = lab_velocity(lab, body), w = lab_spin(lab, body);
    Sym3 inertia = sym3_rotate(quat_to_mat3(lab_orientation(lab, body)), mass->inertia);
    return mass->mass * (0.5 * vec3_dot(v, v) + gravity * lab_position(lab, body).z) +
           0.5 * vec3_dot(w, sym3_mul_vec(inertia, w));
}

// What a capsule lies on.
typedef enum Bed { BED_PLANE, BED_BOX, BED_GROOVE, BED_COUNT } Bed;

// Its height when it lies there.
static double make_bed(Lab *lab, Bed bed, Id material) {
    if (bed == BED_PLANE) {
        lab_ground(lab, material);
        return radius;
    }
    if (bed == BED_BOX) {
        lab_body(lab, lab_shape(lab, PRIMITIVE_BOX, vec3(1.0, 1.0, 0.25), material), BODY_STATIC,
                 pose_at(0.0, 0.0, -0.25), NULL, 0.0, NULL);
        return radius;
    }
    Id shape = lab_shape(lab, PRIMITIVE_CAPSULE, vec3(0.2, 0.25, 0.0), material);
    for (int side = -1; side <= 1; side += 2) {
        lab_body(lab, shape, BODY_STATIC, (Pose){vec3(0.05, 0.2 * side, 0.0), lying}, NULL, 0.0,
                 NULL);
    }
    return sqrt(0.3 * 0.3 - 0.2 * 0.2); // centres 0.3 m apart, 0.2 m to the side
}

// Two points hold it: nothing moves but by what the solver leaves, 1e-6 of g h per step at most.
START_TEST(a_capsule_that_lies_stays) {
    Lab lab = lab_create(gravity, 1.0 / HERTZ);
    Id material = lab_material(&lab, 0.5, 0.0);
    double height = make_bed(&lab, (Bed)_i, material);
    uint32_t body = add_capsule(&lab, material, (Pose){vec3(0.0, 0.0, height), lying}, NULL);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.stepper->contact_count, _i == BED_GROOVE ? 4 : 2);
    lab_step(&lab, 2 * HERTZ);
    double allowed = 1e-6 * gravity / HERTZ * 2.0;
    ck_assert_double_le(vec3_norm(vec3_sub(lab_position(&lab, body), vec3(0.0, 0.0, height))),
                        allowed);
    ck_assert_double_le(vec3_norm(lab_velocity(&lab, body)), 1e-6 * gravity / HERTZ);
    ck_assert(lab.report.certificate.converged);
    lab_destroy(&lab);
}
END_TEST

// On its end it stands, in exact balance.
START_TEST(a_capsule_stands_on_its_end) {
    Lab lab = lab_create(gravity, 1.0 / HERTZ);
    Id material = lab_material(&lab, 0.5, 0.0);
    make_bed(&lab, (Bed)_i, material);
    uint32_t body = add_capsule(&lab, material, pose_at(0.0, 0.0, radius + half), NULL);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.stepper->contact_count, 1);
    lab_step(&lab, HERTZ);
    ck_assert_double_eq_tol(lab_position(&lab, body).z, radius + half, 1e-7);
    ck_assert_double_eq_tol(quat_to_mat3(lab_orientation(&lab, body)).c2.z, 1.0, 1e-12);
    lab_destroy(&lab);
}
END_TEST

// Tipped, it falls over and comes to lie, and has on no step more energy than before but by what
// symplectic Euler does to a fall: m g h v per step, v at most sqrt(2 g 0.4 m) at its centre.
START_TEST(a_capsule_that_is_tipped_comes_to_lie) {
    Lab lab = lab_create(gravity, 1.0 / HERTZ);
    Id material = lab_material(&lab, 0.5, 0.0);
    make_bed(&lab, (Bed)_i, material);
    Quat tipped = quat_normalize((Quat){1.0, 0.0, 0.05, 0.0});
    uint32_t body =
        add_capsule(&lab, material, (Pose){vec3(0.0, 0.0, radius + half), tipped}, NULL);
    double before = energy(&lab, body);
    double noise = 10.0 * gravity / HERTZ * sqrt(2.0 * gravity * (radius + half)) / HERTZ;
    for (int i = 0; i < 5 * HERTZ; i++) {
        lab_step(&lab, 1);
        double after = energy(&lab, body);
        ck_assert_double_le(after, before + noise);
        before = after;
    }
    ck_assert_double_eq_tol(lab_position(&lab, body).z, radius, 1e-4);
    ck_assert_double_le(fabs(quat_to_mat3(lab_orientation(&lab, body)).c2.z), 1e-4);
    lab_destroy(&lab);
}
END_TEST

// Thrown along without spin it slides until it rolls, at v / (1 + I / (m r^2)) whatever the
// friction.
START_TEST(a_sliding_capsule_comes_to_roll) {
    Lab lab = lab_create(gravity, 1.0 / HERTZ);
    Id material = lab_material(&lab, 0.3, 0.0);
    double height = make_bed(&lab, (Bed)_i, material);
    const double velocity[6] = {0.0, 0.5, 0.0, 0.0, 0.0, 0.0};
    uint32_t body = add_capsule(&lab, material, (Pose){vec3(0.0, -0.5, height), lying}, velocity);
    lab_step(&lab, HERTZ);
    double rolling = 0.5 / (1.0 + roll_share(&lab, body));
    // the certificate's tolerance, of velocities of metres per second, over as many steps
    ck_assert_double_eq_tol(lab_velocity(&lab, body).y, rolling, 1e-5);
    ck_assert_double_eq_tol(lab_spin(&lab, body).x, -rolling / radius, 1e-4);
    lab_destroy(&lab);
}
END_TEST

// Down a slope of 10 degrees: g sin / (1 + I / (m r^2)). Symplectic Euler: t + h for t in the way.
START_TEST(a_capsule_rolls_down_a_slope) {
    const double sine = 0.17364817766693033, cosine = 0.98480775301220806;
    Lab lab = lab_create(gravity, 1.0 / HERTZ);
    lab.world->settings.gravity = vec3(0.0, gravity * sine, -gravity * cosine);
    Id material = lab_material(&lab, 0.5, 0.0);
    make_bed(&lab, BED_PLANE, material);
    uint32_t body = add_capsule(&lab, material, (Pose){vec3(0.0, 0.0, radius), lying}, NULL);
    lab_step(&lab, HERTZ);
    double acceleration = gravity * sine / (1.0 + roll_share(&lab, body));
    double way = 0.5 * acceleration * (1.0 + 1.0 / HERTZ);
    ck_assert_double_eq_tol(lab_velocity(&lab, body).y, acceleration, 1e-5 * acceleration);
    ck_assert_double_eq_tol(lab_position(&lab, body).y, way, 1e-5 * way);
    lab_destroy(&lab);
}
END_TEST

// Over the seams of a floor of tiles as over one slab: without friction nothing holds it back.
START_TEST(a_capsule_slides_over_tiles) {
    Lab lab = lab_create(gravity, 1.0 / HERTZ);
    Id material = lab_material(&lab, 0.0, 0.0);
    Id tile = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.25, 0.25, 0.1), material);
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 4; k++) {
            lab_body(&lab, tile, BODY_STATIC, pose_at(0.5 * i, 0.5 * k - 0.75, -0.1), NULL, 0.0,
                     NULL);
        }
    }
    const double velocity[6] = {2.0, 0.1, 0.0, 0.0, 0.0, 0.0};
    // along its axis and askew
    Quat askew = quat_mul(quat_normalize((Quat){1.0, 0.0, 0.0, 0.2 * _i}), lying);
    uint32_t body = add_capsule(&lab, material, (Pose){vec3(0.2, 0.0, radius), askew}, velocity);
    for (int i = 0; i < HERTZ; i++) {
        lab_step(&lab, 1);
        ck_assert_double_eq_tol(lab_velocity(&lab, body).x, 2.0, 1e-5);
        ck_assert_double_eq_tol(lab_velocity(&lab, body).y, 0.1, 1e-5);
        ck_assert_double_eq_tol(lab_position(&lab, body).z, radius, 1e-5);
    }
    lab_destroy(&lab);
}
END_TEST

// However it spins, its centre does not come through: a ball of half its radius inside holds it.
START_TEST(a_fast_capsule_does_not_go_through) {
    uint64_t seed = 41;
    for (int i = 0; i < 100; i++) {
        Lab lab = lab_create(gravity, 1.0 / HERTZ);
        Id material = lab_material(&lab, 0.5, 0.0);
        make_bed(&lab, (Bed)(i % 2), material); // plane, or box
        double spin = 1000.0;
        const double velocity[6] = {0.0,
                                    0.0,
                                    -lab_random(&seed, 100.0, 1000.0),
                                    lab_random(&seed, -spin, spin),
                                    lab_random(&seed, -spin, spin),
                                    lab_random(&seed, -spin, spin)};
        Quat q = {lab_random(&seed, -1.0, 1.0), lab_random(&seed, -1.0, 1.0),
                  lab_random(&seed, -1.0, 1.0), lab_random(&seed, -1.0, 1.0)};
        uint32_t body =
            add_capsule(&lab, material, (Pose){vec3(0.0, 0.0, 2.0), quat_normalize(q)}, velocity);
        for (int k = 0; k < 20; k++) {
            lab_step(&lab, 1);
            Vec3 p = lab_position(&lab, body);
            ck_assert(p.z > 0.0 || fabs(p.x) > 0.9 || fabs(p.y) > 0.9);
        }
        lab_destroy(&lab);
    }
}
END_TEST

enum { PILE = 24 };

// Poured into a trough they come to rest, and none is in another by more than a thousandth of a
// metre, the margin.
START_TEST(a_pile_of_capsules_comes_to_rest) {
    Lab lab = lab_create(gravity, 1.0 / HERTZ);
    lab.world->settings.margin = 1e-3;
    Id material = lab_material(&lab, 0.4, 0.0);
    make_bed(&lab, BED_PLANE, material);
    Id wall = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.7, 0.1, 1.0), material);
    for (int k = 0; k < 4; k++) {
        Quat turn = k < 2 ? quat_identity() : quat_about_z(0.0);
        double out = k % 2 == 0 ? 0.7 : -0.7;
        lab_body(&lab, wall, BODY_STATIC,
                 (Pose){vec3(k < 2 ? 0.0 : out, k < 2 ? out : 0.0, 1.0), turn}, NULL, 0.0, NULL);
    }
    uint32_t first = lab.world->body_count;
    uint64_t seed = 42;
    for (uint32_t i = 0; i < PILE; i++) {
        Quat q = {lab_random(&seed, -1.0, 1.0), lab_random(&seed, -1.0, 1.0),
                  lab_random(&seed, -1.0, 1.0), lab_random(&seed, -1.0, 1.0)};
        Vec3 place =
            vec3(lab_random(&seed, -0.1, 0.1), lab_random(&seed, -0.1, 0.1), 0.5 + 0.9 * i);
        add_capsule(&lab, material, (Pose){place, quat_normalize(q)}, NULL);
    }
    lab_step(&lab, 8 * HERTZ);
    Primitive capsule = make_capsule(radius, half);
    for (uint32_t i = 0; i < PILE; i++) {
        Pose pose = {lab_position(&lab, first + i), lab_orientation(&lab, first + i)};
        Vec3 p = capsule_end(&capsule, pose, -1.0), q = capsule_end(&capsule, pose, 1.0);
        ck_assert_double_ge(fmin(p.z, q.z), radius - 1e-3);
        ck_assert_double_le(vec3_norm(lab_velocity(&lab, first + i)), 0.05);
        for (uint32_t k = 0; k < i; k++) {
            Pose other = {lab_position(&lab, first + k), lab_orientation(&lab, first + k)};
            ck_assert_double_ge(segment_distance(p, q, capsule_end(&capsule, other, -1.0),
                                                 capsule_end(&capsule, other, 1.0)),
                                2.0 * radius - 1e-3);
        }
    }
    lab_destroy(&lab);
}
END_TEST

static TCase *case_capsule(void) {
    TCase *tcase = tcase_create("capsule");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_capsule_that_lies_stays, 0, BED_COUNT);
    tcase_add_loop_test(tcase, a_capsule_stands_on_its_end, 0, BED_GROOVE);
    tcase_add_loop_test(tcase, a_capsule_that_is_tipped_comes_to_lie, 0, BED_GROOVE);
    tcase_add_loop_test(tcase, a_sliding_capsule_comes_to_roll, 0, BED_GROOVE);
    tcase_add_test(tcase, a_capsule_rolls_down_a_slope);
    tcase_add_loop_test(tcase, a_capsule_slides_over_tiles, 0, 3);
    tcase_add_test(tcase, a_fast_capsule_does_not_go_through);
    tcase_add_test(tcase, a_pile_of_capsules_comes_to_rest);
    return tcase;
}

SUITE_MAIN("step/capsule", case_capsule)
