// SPDX-License-Identifier: MIT
// Deep overlaps leave at a bounded speed, under every solver, and the report says so.
#include "step/step.h"

#include "support/lab.h"
#include "support/suite.h"

#include <math.h>

// A box of side 1 m that stands half in the ground.
static Lab sink_box(SolverKind solver, double recovery_speed, uint32_t *box) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    SolverSettings settings = solver_default(solver);
    step_set_solver(&lab.world->settings, &settings);
    lab.world->settings.recovery_speed = recovery_speed;
    lab_ground(&lab, 0);
    *box = lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.5, 0.5, 0.5), 0), BODY_DYNAMIC,
                    (Pose){.orientation = quat_identity()}, NULL, 0.0, NULL);
    return lab;
}

// What the first step leaves with: the bound, of which laws that give way take R gamma. Of
// compliant R = 1 / (h^2 K) with K = 1e9. Of sap's near-rigid law, with W of a corner of this box,
// whose contact point lies halfway into the overlap, (m |W|_F)^2 = 39.28125; R = |W|_F / 3 / (2
// pi)^2, and each of the four carries gamma = m (v + g h) / 4.
static double leaving_speed(const Lab *lab, SolverKind solver) {
    double bound = lab->world->settings.recovery_speed;
    double share = solver == SOLVER_SAP         ? sqrt(39.28125) / 3.0 / (16.0 * M_PI * M_PI)
                   : solver == SOLVER_COMPLIANT ? 240.0 * 240.0 / 1e9 * (1000.0 / 4.0)
                                                : 0.0;
    return (bound - share * 9.81 / 240.0) / (1.0 + share);
}

START_TEST(half_a_metre_leaves_at_the_bound_and_no_faster) {
    double speed = settings_default().recovery_speed;
    uint32_t box;
    Lab lab = sink_box((SolverKind)_i, speed, &box);
    double highest = 0.0;
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.report.recovery_count, 4);
    // velocities are held to 1e-6, and 60 steps of ccp come to some of it
    ck_assert_double_eq_tol(lab_velocity(&lab, box).z, leaving_speed(&lab, (SolverKind)_i),
                            1e-5 * speed);
    for (int i = 0; i < 480; i++) {
        lab_step(&lab, 1);
        ck_assert_double_lt(lab_velocity(&lab, box).z, speed * (1.0 + 1e-5));
        highest = fmax(highest, lab_position(&lab, box).z);
    }
    ck_assert_uint_eq(lab.report.recovery_count, 0);
    // the last of the overlap, 21 mm, leaves by shares: it comes to rest and flies nowhere
    ck_assert_double_lt(highest, 0.5 + speed * speed / (2.0 * 9.81));
    ck_assert_double_eq_tol(lab_position(&lab, box).z, 0.5, 1e-3);
    lab_destroy(&lab);
}
END_TEST

START_TEST(without_the_bound_it_is_thrown) {
    uint32_t box;
    Lab lab = sink_box((SolverKind)_i, 1e9, &box);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.report.recovery_count, 0);
    ck_assert_double_gt(lab_velocity(&lab, box).z, 20.0);
    lab_destroy(&lab);
}
END_TEST

// 0.2 of 10 mm in 1/240 s are 0.48 m/s: the bound is for what nobody meant.
START_TEST(an_everyday_overlap_leaves_as_the_solver_has_it) {
    uint32_t box;
    Lab lab = sink_box(SOLVER_MDP, settings_default().recovery_speed, &box);
    lab.world->pose[7 * (size_t)box + 2] = 0.49;
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.report.recovery_count, 0);
    ck_assert_double_eq_tol(lab_velocity(&lab, box).z, 0.48, 1e-5);
    lab_destroy(&lab);
}
END_TEST

// A ball that comes fast and deep bounces by its restitution, which no bound holds back.
START_TEST(a_bounce_is_no_recovery) {
    Lab lab = lab_create(0.0, 1.0 / 240.0);
    Id rubber = lab_material(&lab, 0.0, 0.5);
    lab_ground(&lab, 0);
    double velocity[6] = {0.0, 0.0, -40.0, 0.0, 0.0, 0.0};
    uint32_t ball =
        lab_body(&lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), rubber), BODY_DYNAMIC,
                 (Pose){.position = vec3(0.0, 0.0, 0.05), .orientation = quat_identity()}, velocity,
                 1.0, NULL);
    lab_step(&lab, 1);
    ck_assert_double_eq_tol(lab_velocity(&lab, ball).z, 20.0, 1e-12);
    ck_assert_uint_eq(lab.report.recovery_count, 0);
    lab_destroy(&lab);
}
END_TEST

// Half a metre, of which the bias makes recovery_speed, and a nanometre, of which it makes nothing:
// what a spring sees of both is the gap as it is, exactly, as all numbers are short.
START_TEST(a_springs_force_is_of_the_true_gap) {
    const double gaps[2] = {-0.5, 0x1p-30};
    Material soft = material_default();
    soft.stiffness = 1024.0;
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    Id material = 0;
    Error error = {0};
    ck_assert_int_eq(world_add_materials(lab.world, &soft, 1, &material, &error), STATUS_OK);
    lab_ground(&lab, material);
    Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(1.0, 0.0, 0.0), material);
    Pose pose = {.position = vec3(0.0, 0.0, 1.0 + gaps[_i]), .orientation = quat_identity()};
    lab_body(&lab, ball, BODY_DYNAMIC, pose, NULL, 0.0, NULL);
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.report.contact_count, 1);
    const ProblemContact *contact = &lab.stepper->problem_contact[0];
    const ContactLaw *law = &lab.stepper->law[0];
    ck_assert_double_eq(contact->gap, gaps[_i]);
    ck_assert(isfinite(law->stiffness) && law->stiffness > 0.0);
    ck_assert_double_eq(law->force, -law->stiffness * gaps[_i]);
    // while the bias is bounded
    ck_assert_double_eq(contact->bias, _i == 0 ? -lab.world->settings.recovery_speed : 0.0);
    lab_destroy(&lab);
}
END_TEST

// A body half a metre from where a joint of rows has its anchor, or beyond the limit of a slider of
// coordinates, comes back at the bound, less by the little that laws which give way take of it: of
// sap's R = w / 4 pi^2, a fortieth.
START_TEST(joints_bring_back_at_the_bound_as_well) {
    const SolverKind kind = (SolverKind)(_i % SOLVER_COUNT);
    const bool is_limit = _i >= SOLVER_COUNT;
    const SolverSettings settings = solver_default(kind);
    Lab lab = lab_create(0.0, 1.0 / 240.0);
    step_set_solver(&lab.world->settings, &settings);
    const double inertia[6] = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0};
    uint32_t body =
        lab_body(&lab, 0, BODY_DYNAMIC, (Pose){.orientation = quat_identity()}, NULL, 1.0, inertia);
    const uint32_t joint = is_limit ? JOINT_SLIDER : JOINT_BALL, as_rows = !is_limit;
    const uint64_t world = 0, id_of_body = lab.world->body_id[body];
    const double above[7] = {0.0, 0.0, is_limit ? 0.0 : 0.5, 1.0, 0.0, 0.0, 0.0};
    const double here[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    const double low[3] = {is_limit ? 0.5 : -HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    const uint8_t axes = joint_kind_axes((JointKind)joint);
    const JointColumns columns = {.count = 1,
                                  .axis_count = joint_axis_count(axes),
                                  .position_count = joint_position_count(axes),
                                  .kind = &joint,
                                  .body_a = &world,
                                  .body_b = &id_of_body,
                                  .frame_a = above,
                                  .frame_b = here,
                                  .as_rows = &as_rows,
                                  .low = low};
    lab_joints(&lab, &columns);
    const double bound = lab.world->settings.recovery_speed;
    for (int i = 0; i < 60; i++) {
        lab_step(&lab, 1);
        ck_assert(lab.report.certificate.converged);
        // each step may miss by the solver's tolerance, 1e-6, and the next begins there
        ck_assert_double_le(lab_velocity(&lab, body).z, bound * (1.0 + 1e-4));
        ck_assert_double_ge(lab_velocity(&lab, body).z, 0.95 * bound);
    }
    lab_destroy(&lab);
}
END_TEST

static TCase *case_recovery(void) {
    TCase *tcase = tcase_create("recovery");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, half_a_metre_leaves_at_the_bound_and_no_faster, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, without_the_bound_it_is_thrown, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, joints_bring_back_at_the_bound_as_well, 0, 2 * SOLVER_COUNT);
    tcase_add_test(tcase, an_everyday_overlap_leaves_as_the_solver_has_it);
    tcase_add_test(tcase, a_bounce_is_no_recovery);
    tcase_add_loop_test(tcase, a_springs_force_is_of_the_true_gap, 0, 2);
    return tcase;
}

SUITE_MAIN("step/recovery", case_recovery)
