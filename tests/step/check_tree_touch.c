// SPDX-License-Identifier: MIT
// A tree of joints that touches itself.
#include "step/step.h"

#include "support/lab.h"
#include "support/suite.h"

#include <math.h>

// A body slides along z on another, which is so far below it when it is at 0.
static void add_slider(Lab *lab, uint32_t below, uint32_t above, double distance) {
    const uint32_t kind = JOINT_SLIDER;
    const uint64_t a = lab->world->body_id[below], b = lab->world->body_id[above];
    double here[7], there[7];
    pose_store(here, (Pose){vec3(0, 0, 0), quat_identity()});
    pose_store(there, (Pose){vec3(0, 0, -distance), quat_identity()});
    const uint8_t axes = joint_kind_axes(JOINT_SLIDER);
    const JointColumns columns = {.count = 1,
                                  .axis_count = joint_axis_count(axes),
                                  .position_count = joint_position_count(axes),
                                  .kind = &kind,
                                  .body_a = &a,
                                  .body_b = &b,
                                  .frame_a = here,
                                  .frame_b = there};
    lab_joints(lab, &columns);
}

// Two balls of one tree, on a rail with a third body between them that touches nothing, meet: the
// contact knows the tree once, as problems want it, and afterwards they go on together.
START_TEST(a_tree_that_touches_itself_feels_it_once) {
    const SolverSettings solver = solver_default((SolverKind)_i);
    Lab lab = lab_create(0.0, 5e-3);
    step_set_solver(&lab.world->settings, &solver);
    const Id ball =
        lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.2, 0, 0), lab_material(&lab, 0.3, 0.0));
    const double inertia[6] = {0.01, 0.01, 0.01, 0, 0, 0};
    for (int i = 0; i < 3; i++) {
        lab_body(&lab, i == 1 ? 0 : ball, BODY_DYNAMIC,
                 (Pose){vec3(0, 0, 0.205 * i), quat_identity()}, NULL, 1.0 + 0.5 * i, inertia);
    }
    add_slider(&lab, 0, 1, 0.205);
    add_slider(&lab, 1, 2, 0.205);
    lab.world->joint_velocity[1] = -1.0;
    uint32_t steps = 0;
    do {
        lab_step(&lab, 1);
        ck_assert_uint_lt(++steps, 20);
    } while (lab.report.contact_count == 0 || lab.stepper->impulse[0] < 0.1);
    Error error = {0};
    ck_assert_msg(problem_check(&lab.stepper->problem, &lab.scratch, &error) == STATUS_OK, "%s: %s",
                  error.field, error.message);
    ck_assert(lab.report.certificate.converged);
    const double lower = lab_velocity(&lab, 0).z, upper = lab_velocity(&lab, 2).z;
    ck_assert_double_eq_tol(lower + 2.0 * upper, -2.0, 1e-9);
    ck_assert_double_eq_tol(lab_velocity(&lab, 1).z, 0.0, 1e-9);
    // contacts of sap and compliant give way: their springs need some steps
    const bool is_soft = _i == SOLVER_SAP || _i == SOLVER_COMPLIANT;
    ck_assert_double_eq_tol(upper - lower, 0.0, is_soft ? 2e-2 : 1e-6);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_touch(void) {
    TCase *tcase = tcase_create("touch");
    tcase_add_loop_test(tcase, a_tree_that_touches_itself_feels_it_once, 0, SOLVER_COUNT);
    return tcase;
}

SUITE_MAIN("step/tree_touch", case_touch)
