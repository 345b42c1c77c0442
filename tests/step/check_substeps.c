// SPDX-License-Identifier: MIT
// Steps that are divided: contacts found once, and the law in substeps.
#include "step/snapshot/snapshot.h"
#include "base/bytes.h"
#include "step/trees/tree.h"
#include "support/heap.h"
#include "support/lab.h"
#include "support/suite.h"

#include <float.h>
#include <math.h>

#define TIME_STEP (1.0 / 240.0)
#define GRAVITY   9.81

static const Quat generic = {0.66, -0.21, 0.53, 0.487};

static Pose turned(double x, double y, double z) {
    return (Pose){.position = vec3(x, y, z), .orientation = quat_normalize(generic)};
}

static void assert_near(Vec3 a, Vec3 b, double tolerance) {
    for (int axis = 0; axis < 3; axis++) {
        ck_assert_double_eq_tol(vec3_get(a, axis), vec3_get(b, axis), tolerance);
    }
}

static Vec3 momentum(const Lab *lab) {
    Vec3 sum = vec3(0.0, 0.0, 0.0);
    for (uint32_t i = 0; i < lab->world->body_count; i++) {
        sum = vec3_add_scaled(sum, lab->world->mass[i].mass, lab_velocity(lab, i));
    }
    return sum;
}

static Vec3 angular_momentum(const Lab *lab) {
    Vec3 sum = vec3(0.0, 0.0, 0.0);
    for (uint32_t i = 0; i < lab->world->body_count; i++) {
        const BodyMass *mass = &lab->world->mass[i];
        const Mat3 turn = quat_to_mat3(lab_orientation(lab, i));
        sum = vec3_add(
            sum, vec3_scale(mass->mass, vec3_cross(lab_position(lab, i), lab_velocity(lab, i))));
        sum = vec3_add(sum, sym3_mul_vec(tree_body_inertia(mass, &turn), lab_spin(lab, i)));
    }
    return sum;
}

// A body that nothing touches falls as it does in as many steps of that length: to the bit, for the
// law is the same.
START_TEST(free_flight_is_that_of_so_many_steps) {
    const uint32_t substeps = (uint32_t)_i;
    Lab lab = lab_create(GRAVITY, TIME_STEP), small = lab_create(GRAVITY, TIME_STEP / substeps);
    const double velocity[6] = {1.0, -2.0, 3.0, 4.0, 5.0, -6.0};
    for (int k = 0; k < 2; k++) {
        Lab *of = k == 0 ? &lab : &small;
        const Id box = lab_shape(of, PRIMITIVE_BOX, vec3(0.1, 0.2, 0.3), 0);
        lab_body(of, box, BODY_DYNAMIC, turned(0.0, 0.0, 10.0), velocity, 2.0, NULL);
        // what could touch it, far away: steps without it look for no contacts
        lab_body(of, box, BODY_DYNAMIC, turned(0.0, 9.0, 10.0), velocity, 2.0, NULL);
    }
    lab_divide(&lab, substeps);
    lab_step(&lab, 20);
    lab_step(&small, 20 * (int)substeps);
    ck_assert(bytes_are_same(lab.world->pose, small.world->pose, 14 * sizeof(double)));
    ck_assert(bytes_are_same(lab.world->velocity, small.world->velocity, 12 * sizeof(double)));
    ck_assert_uint_eq(lab.world->step, 20);
    // 20 additions of 1/240 by compensated summation
    ck_assert_double_eq_tol(lab.world->time.value, 20 * TIME_STEP, 1e-17);
    lab_destroy(&lab);
    lab_destroy(&small);
}
END_TEST

// A ball that falls on the ground is stopped when it gets there, not a whole step earlier: what is
// missing to h = v^2/2g is of the substep.
START_TEST(a_ball_lands_in_the_substep_in_which_it_arrives) {
    const uint32_t substeps = (uint32_t)_i;
    const double radius = 0.1, speed = 3.0, begin = radius + 0.63 * speed * TIME_STEP;
    Lab lab = lab_create(0.0, TIME_STEP);
    lab_ground(&lab, 0);
    const double velocity[6] = {0.0, 0.0, -speed, 0.0, 0.0, 0.0};
    const Id ball =
        lab_shape(&lab, PRIMITIVE_SPHERE, vec3(radius, 0.0, 0.0), lab_material(&lab, 0.0, 1.0));
    const uint32_t body =
        lab_body(&lab, ball, BODY_DYNAMIC, turned(0.0, 0.0, begin), velocity, 2.0, NULL);
    lab_divide(&lab, substeps);
    lab_step(&lab, 1);
    // it turns round with the substep in which its gap would close, before it has closed
    const double h = TIME_STEP / substeps, before = floor(0.63 * substeps);
    ck_assert_double_eq_tol(lab_velocity(&lab, body).z, speed, 1e-9);
    ck_assert_double_eq_tol(lab_position(&lab, body).z,
                            begin + speed * h * ((double)substeps - 2.0 * before), 1e-9);
    // the impulse of the whole step, 2 m v, and how fast it came
    ck_assert_uint_eq(lab.stepper->contact_count, 1);
    ck_assert_double_eq_tol(lab.stepper->impulse[0], 2.0 * 2.0 * speed, 1e-9);
    ck_assert_double_eq_tol(stepper_approach(lab.stepper, 0), -speed, 1e-12);
    lab_destroy(&lab);
}
END_TEST

// What rests is borne by the impulse of the whole step, m g h, and stays.
START_TEST(a_box_at_rest_is_borne_for_all_of_the_step) {
    Lab lab = lab_create(GRAVITY, TIME_STEP);
    lab_ground(&lab, 0);
    const Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), lab_material(&lab, 0.5, 0));
    const Pose upright = {.position = vec3(0.0, 0.0, 0.1), .orientation = quat_identity()};
    const uint32_t body = lab_body(&lab, box, BODY_DYNAMIC, upright, NULL, 3.0, NULL);
    lab_divide(&lab, 4);
    lab_set(&lab, "tolerance", 1e-10);
    for (int step = 0; step < 50; step++) {
        lab_step(&lab, 1);
        double sum = 0.0;
        for (uint32_t i = 0; i < lab.stepper->contact_count; i++) {
            sum += lab.stepper->impulse[3 * (size_t)i];
        }
        ck_assert_double_eq_tol(sum, 3.0 * GRAVITY * TIME_STEP, 1e-8); // 1e-10 of V, in N s
        ck_assert(lab.report.certificate.converged);
        // E1 - E0 is what the book says it is
        const StepEnergy *e = &lab.report.energy;
        ck_assert_double_eq_tol(
            e->after - e->before,
            e->contact + e->row + e->applied + e->drive + e->scheme + e->unexplained, 1e-12);
    }
    assert_near(lab_position(&lab, body), upright.position, 1e-9);
    lab_destroy(&lab);
}
END_TEST

// Two bodies that hit each other and slide keep momentum, and angular momentum but for what the
// undivided step loses too: about where the two meet.
static void meet(Lab *lab, PrimitiveKind kind, uint32_t substeps) {
    const Id shape = lab_shape(lab, kind, vec3(0.1, 0.15, 0.12), lab_material(lab, 0.4, 0.3));
    const double a[6] = {1.0, 0.3, -0.2, 3.0, 2.0, -4.0}, b[6] = {-2.0, 0.1, 0.3, -1.0, 6.0, 2.0};
    lab_body(lab, shape, BODY_DYNAMIC, turned(0.0, 0.0, 0.0), a, 2.0, NULL);
    lab_body(lab, shape, BODY_DYNAMIC,
             (Pose){vec3(0.33, 0.02, 0.03), quat_normalize((Quat){0.9, 0.1, 0.3, 0.2})}, b, 1.0,
             NULL);
    lab_divide(lab, substeps);
}

START_TEST(two_that_meet_keep_their_momentum) {
    const PrimitiveKind kinds[] = {PRIMITIVE_SPHERE, PRIMITIVE_BOX, PRIMITIVE_CAPSULE};
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        Lab lab = lab_create(0.0, TIME_STEP);
        meet(&lab, kinds[k], (uint32_t)_i);
        const Vec3 p = momentum(&lab), l = angular_momentum(&lab);
        bool has_met = false;
        for (int step = 0; step < 60; step++) {
            lab_step(&lab, 1);
            for (uint32_t i = 0; i < lab.stepper->contact_count; i++) {
                has_met = has_met || lab.stepper->impulse[3 * (size_t)i] > 0.0;
            }
        }
        ck_assert(has_met);
        assert_near(momentum(&lab), p, 1e-13);
        // r x p of an impulse of 2 N s whose two sides are as far apart as they come in a substep
        // before they touch, 3 m/s x 1/240 s / n
        assert_near(angular_momentum(&lab), l, 2.0 * 3.0 * TIME_STEP / _i);
        lab_destroy(&lab);
    }
}
END_TEST

// A box slides across a plank that turns under it, on ground without friction: what the two do to
// each other, in every substep, leaves their angular momentum about the upright axis as it is. Arms
// that stayed where they were would lose v mu m g h^2 / 3 a step, 1e-3 in all.
START_TEST(what_slides_keeps_the_angular_momentum) {
    Lab lab = lab_create(GRAVITY, TIME_STEP);
    lab_ground(&lab, lab_material(&lab, 0.0, 0.0));
    const Id rough = lab_material(&lab, 0.5, 0.0);
    const Id plank = lab_shape(&lab, PRIMITIVE_BOX, vec3(1.0, 1.0, 0.05), rough),
             box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.07, 0.05), rough);
    const double turns[6] = {0, 0, 0, 0, 0, 5.0}, slides[6] = {-2.0, 0.5, 0, 0, 0, 3.0};
    const Quat turn = quat_normalize((Quat){0.9, 0.0, 0.0, 0.4});
    lab_body(&lab, plank, BODY_DYNAMIC, (Pose){vec3(0.0, 0.0, 0.05), turn}, turns, 2.0, NULL);
    lab_body(&lab, box, BODY_DYNAMIC, (Pose){vec3(0.6, 0.3, 0.15), turn}, slides, 1.0, NULL);
    lab_divide(&lab, (uint32_t)_i);
    lab_set(&lab, "tolerance", 1e-10);
    const double before = angular_momentum(&lab).z;
    lab_step(&lab, 24);
    ck_assert_double_gt(lab_velocity(&lab, 2).x, -1.95); // it is held back
    ck_assert_double_eq_tol(angular_momentum(&lab).z, before, 1e-6);
    lab_destroy(&lab);
}
END_TEST

// A ball that rolls goes on rolling: the point on which it stands goes with it, and does not turn.
START_TEST(a_ball_rolls_on_as_fast) {
    Lab lab = lab_create(GRAVITY, TIME_STEP);
    lab_ground(&lab, 0);
    const PrimitiveKind kind = _i == 0 ? PRIMITIVE_SPHERE : PRIMITIVE_CAPSULE;
    const double radius = 0.1, speed = 2.0;
    const Id ball = lab_shape(&lab, kind, vec3(radius, 0.3, 0.0), lab_material(&lab, 0.5, 0.0));
    const double velocity[6] = {speed, 0.0, 0.0, 0.0, speed / radius, 0.0};
    const Pose lying = {vec3(0.0, 0.0, radius), quat_normalize((Quat){1.0, 1.0, 0.0, 0.0})};
    const uint32_t body = lab_body(&lab, ball, BODY_DYNAMIC, lying, velocity, 2.0, NULL);
    lab_divide(&lab, 4);
    lab_set(&lab, "tolerance", 1e-10);
    lab_step(&lab, 480);
    // 2 s, in which a point that lags by half a substep would gain a fifth
    ck_assert_double_eq_tol(lab_velocity(&lab, body).x, speed, 1e-6);
    ck_assert_double_eq_tol(lab_position(&lab, body).x, 2.0 * speed, 1e-5);
    ck_assert_double_eq_tol(lab_position(&lab, body).z, radius, 1e-6);
    lab_destroy(&lab);
}
END_TEST

// How far the bodies of a heap are from where small steps of many sweeps bring them, in the mean.
static double distance(const Lab *a, const Lab *b) {
    double sum = 0.0;
    for (uint32_t i = 0; i < a->world->body_count; i++) {
        sum += vec3_norm(vec3_sub(lab_position(a, i), lab_position(b, i)));
    }
    return sum / a->world->body_count;
}

// Boxes on edge, which fall over.
static Lab dominoes(double time_step) {
    Lab lab = lab_create(GRAVITY, time_step);
    lab_ground(&lab, 0);
    const Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.02, 0.1, 0.2), lab_material(&lab, 0.4, 0));
    for (int i = 0; i < 8; i++) {
        const double push[6] = {0.0, 0.0, 0.0, 0.0, i == 0 ? 3.0 : 0.0, 0.0};
        const Pose pose = {vec3(0.15 * i, 0.0, 0.2), quat_identity()};
        lab_body(&lab, box, BODY_DYNAMIC, pose, push, 1.0, NULL);
    }
    return lab;
}

START_TEST(places_come_nearer_to_the_truth) {
    Lab truth = dominoes(TIME_STEP / 16.0), whole = dominoes(TIME_STEP), fine = dominoes(TIME_STEP);
    lab_divide(&fine, 4);
    lab_step(&truth, 16 * 72);
    lab_step(&whole, 72);
    lab_step(&fine, 72);
    const double undivided = distance(&whole, &truth), divided = distance(&fine, &truth);
    ck_assert_double_gt(undivided, 1e-4); // dominoes do fall
    ck_assert_double_lt(divided, 0.5 * undivided);
    lab_destroy(&truth);
    lab_destroy(&whole);
    lab_destroy(&fine);
}
END_TEST

// Snapshots, in every step of a heap that is divided, go on to the same bits.
START_TEST(restoring_after_every_step_changes_no_bit) {
    Lab lab = heap_create(7, 40), other = heap_create(7, 40);
    lab_divide(&lab, 4);
    lab_divide(&other, 4);
    for (int step = 0; step < 60; step++) {
        lab_step(&lab, 1);
        lab_step(&other, 1);
        lab_restore(&other);
        ck_assert_uint_eq(snapshot_hash(lab.world), snapshot_hash(other.world));
    }
    ck_assert_uint_eq(other.world->settings.substeps, 4);
    lab_destroy(&lab);
    lab_destroy(&other);
}
END_TEST

// A body that hangs by a joint of rows, which breaks at `share` of its weight.
static Lab hang(double share) {
    Lab lab = lab_create(GRAVITY, TIME_STEP);
    const double inertia[6] = {0.1, 0.1, 0.1, 0.0, 0.0, 0.0};
    const uint32_t body =
        lab_body(&lab, 0, BODY_DYNAMIC, turned(0.3, -0.2, 0.5), NULL, 2.0, inertia);
    const uint32_t kind = JOINT_FIXED, as_rows = 1;
    const uint64_t a = 0, b = lab.world->body_id[body];
    double here[7], origin[7];
    pose_store(here, turned(0.3, -0.2, 0.5));
    pose_store(origin, (Pose){vec3(0.0, 0.0, 0.0), quat_identity()});
    const double force = share * 2.0 * GRAVITY;
    const JointColumns columns = {.count = 1,
                                  .kind = &kind,
                                  .as_rows = &as_rows,
                                  .body_a = &a,
                                  .body_b = &b,
                                  .frame_a = here,
                                  .frame_b = origin,
                                  .break_force = &force};
    lab_joints(&lab, &columns);
    lab_set(&lab, "tolerance", 1e-10);
    lab_divide(&lab, 5);
    return lab;
}

// By what it carries in all of the step, not in a fifth of it.
START_TEST(a_joint_breaks_by_what_it_carries_in_the_step) {
    Lab holds = hang(1.001), breaks = hang(0.999);
    lab_step(&holds, 5);
    ck_assert_uint_eq(holds.world->joint_count, 1);
    lab_step(&breaks, 1);
    ck_assert_uint_eq(breaks.report.broken_count, 1);
    ck_assert_uint_eq(breaks.world->joint_count, 0);
    lab_destroy(&holds);
    lab_destroy(&breaks);
}
END_TEST

// What rests for sleep_time falls asleep after as many steps as undivided ones, and wakes when it
// is hit.
START_TEST(what_rests_falls_asleep_and_wakes) {
    uint64_t slept_at[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        Lab lab = lab_create(GRAVITY, TIME_STEP);
        lab_ground(&lab, 0);
        const Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), 0);
        for (int i = 0; i < 3; i++) {
            const Pose pose = {vec3(0.0, 0.0, 0.1 + 0.2 * i), quat_identity()};
            lab_body(&lab, box, BODY_DYNAMIC, pose, NULL, 1.0, NULL);
        }
        lab.world->settings.sleep_speed = 0.05;
        lab.world->settings.sleep_time = 0.2;
        lab_divide(&lab, k == 0 ? 1 : 4);
        while (lab.report.asleep_count < 3) {
            lab_step(&lab, 1);
            slept_at[k]++;
            ck_assert_uint_lt(slept_at[k], 200);
        }
        const double velocity[6] = {0.0, 0.0, -2.0, 0.0, 0.0, 0.0};
        const Pose above = {vec3(0.01, 0.02, 0.75), quat_identity()};
        lab_body(&lab, box, BODY_DYNAMIC, above, velocity, 1.0, NULL);
        lab_step(&lab, 30);
        ck_assert_uint_eq(lab.report.asleep_count, 0);
        lab_destroy(&lab);
    }
    ck_assert_uint_eq(slept_at[0], slept_at[1]);
}
END_TEST

// A step of which a later substep cannot be told has not happened.
START_TEST(a_step_that_fails_midway_has_not_happened) {
    Lab lab = hang(100.0);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
    const uint32_t far = lab_body(&lab, ball, BODY_DYNAMIC, turned(5.0, 0.0, 0.0), NULL, 1.0, NULL);
    lab_step(&lab, 3);
    // in the first substeps a float holds where it is, at the end of the fifth none does
    const double limit = (double)FLT_MAX;
    lab.world->pose[7 * (size_t)far] = limit - 4.5 / 5.0 * 3.3e38 * TIME_STEP;
    lab.world->velocity[6 * (size_t)far] = 3.3e38;
    lab.world->bodies_moved = true;
    const uint64_t hash = snapshot_hash(lab.world);
    const StepInput input = {.time_step = TIME_STEP};
    Error error = {0};
    ck_assert_int_eq(
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error),
        STATUS_FAILED_PRECONDITION);
    ck_assert(lab.world->faulted);
    ck_assert_uint_eq(lab.stepper->fault.body, lab.world->body_id[far]);
    ck_assert_str_eq(lab.stepper->fault.quantity, "pose");
    lab.world->faulted = false;
    ck_assert_uint_eq(snapshot_hash(lab.world), hash);
    lab_destroy(&lab);
}
END_TEST

// A pile at rest, from nothing and of too few sweeps: what is left open in the last of the solves,
// solved alone, as the wire hands problems over, is told over the scale of its own time, and by the
// step over |g| h of all of it; whether it converged is the same. Undivided, both are one.
START_TEST(a_certificate_is_told_over_the_whole_step) {
    const uint32_t substeps = (uint32_t)_i;
    Lab lab = lab_create(GRAVITY, TIME_STEP);
    lab_ground(&lab, 0);
    const Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), 0);
    for (int i = 0; i < 20; i++) {
        const Pose pose = {vec3(0.0, 0.0, 0.1 + 0.2 * i), quat_identity()};
        lab_body(&lab, box, BODY_DYNAMIC, pose, NULL, 1.0, NULL);
    }
    lab_divide(&lab, substeps);
    WorldSettings settings = lab.world->settings;
    settings.effort = WORLD_FAST;
    world_set_settings(lab.world, &settings);
    lab_step(&lab, 1);
    const Certificate *whole = &lab.report.certificate;
    ck_assert(!whole->converged);
    ContactProblem problem = lab.stepper->problem;
    problem.told_over = 0.0;
    SolveResult alone;
    ck_assert_int_eq(
        solver_solve(&lab.stepper->solver, &problem, &(Context){0}, &lab.scratch, &alone, NULL),
        STATUS_OK);
    // |g| h of its own, and what of the pile moves by what was left open before
    const double scale = GRAVITY * TIME_STEP, own = alone.certificate.scale;
    ck_assert_double_eq_tol(whole->scale, scale, 1e-15);
    ck_assert(own >= scale / substeps - 1e-15 && (substeps == 1 || own < 0.8 * scale));
    ck_assert(!alone.certificate.converged);
    for (int k = 0; k < CERTIFICATE_ENTRY_COUNT; k++) {
        if (k == CERTIFICATE_MOM || k == CERTIFICATE_CONE) {
            continue; // over impulses
        }
        const double last = alone.certificate.velocity[k];
        ck_assert_double_eq_tol(alone.certificate.entry[k], last / own, 1e-12);
        ck_assert_double_ge(whole->velocity[k], last); // the worst of all of them
        ck_assert_double_eq_tol(whole->entry[k], whole->velocity[k] / scale, 1e-12);
        ck_assert(substeps > 1 ||
                  (whole->entry[k] == alone.certificate.entry[k] && whole->velocity[k] == last));
    }
    lab_destroy(&lab);
}
END_TEST

static TCase *case_substeps(void) {
    TCase *tcase = tcase_create("substeps");
    tcase_add_loop_test(tcase, free_flight_is_that_of_so_many_steps, 1, 17);
    tcase_add_loop_test(tcase, a_ball_lands_in_the_substep_in_which_it_arrives, 1, 17);
    tcase_add_test(tcase, a_box_at_rest_is_borne_for_all_of_the_step);
    tcase_add_loop_test(tcase, two_that_meet_keep_their_momentum, 1, 9);
    tcase_add_loop_test(tcase, what_slides_keeps_the_angular_momentum, 1, 9);
    tcase_add_loop_test(tcase, a_ball_rolls_on_as_fast, 0, 2);
    tcase_add_loop_test(tcase, a_certificate_is_told_over_the_whole_step, 1, 5);
    tcase_add_test(tcase, places_come_nearer_to_the_truth);
    tcase_add_test(tcase, a_joint_breaks_by_what_it_carries_in_the_step);
    tcase_add_test(tcase, what_rests_falls_asleep_and_wakes);
    tcase_add_test(tcase, a_step_that_fails_midway_has_not_happened);
    tcase_add_test(tcase, restoring_after_every_step_changes_no_bit);
    return tcase;
}

SUITE_MAIN("step/substeps", case_substeps)
