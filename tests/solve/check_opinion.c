// SPDX-License-Identifier: MIT
// A second opinion on a step: none where the step was right, under every model, and the closed form
// where a model is known to be wrong.
#include "solve/opinion.h"
#include "solve/solver.h"

#include "step/step.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <stdlib.h>

// What is seen of a step, judged.
typedef struct Judged {
    StepWitness witness;
    OpinionCase kept;
    void *memory;
} Judged;

static void see(StepWitness *witness, const ContactProblem *problem, const SolveResult *result) {
    Judged *judged = (Judged *)(void *)witness;
    judged->memory = malloc(opinion_bytes(problem) + 1);
    opinion_keep(&judged->kept, problem, result, judged->memory);
}

static Opinion judge_step(Lab *lab, double tolerance) {
    Judged judged = {.witness = {.see = see}};
    StepInput input = {.time_step = lab->world->settings.time_step, .witness = &judged.witness};
    Error error = {0};
    Opinion opinion;
    ck_assert_int_eq(
        stepper_run(lab->stepper, lab->world, &input, &lab->scratch, NULL, &lab->report, &error),
        STATUS_OK);
    ck_assert_int_eq(
        opinion_give(&judged.kept, tolerance, &lab->context, &lab->scratch, &opinion, &error),
        STATUS_OK);
    free(judged.memory);
    return opinion;
}

static void set_solver(Lab *lab, SolverKind kind) {
    const SolverSettings solver = solver_default(kind);
    step_set_solver(&lab->world->settings, &solver);
}

static const double gravity = 9.81, step = 0.01;

// A box of 1 kg and 1 x 1 x 0.2 m that slides along x, touching the ground.
static Lab sliding_box(SolverKind kind, double mu, double speed) {
    Lab lab = lab_create(gravity, step);
    const Id material = lab_material(&lab, mu, 0.0);
    const Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.5, 0.5, 0.1), material);
    const double velocity[6] = {speed};
    lab_ground(&lab, material);
    lab_body(&lab, box, BODY_DYNAMIC,
             (Pose){.position = vec3(0.0, 0.0, 0.1), .orientation = quat_identity()}, velocity, 1.0,
             NULL);
    set_solver(&lab, kind);
    return lab;
}

// Convex friction gives a contact that slides a normal velocity of mu times its slip: with the
// impulse L along (-mu, 1), v = (s - mu L, L - g h) and L - g h = mu (s - mu L). Coulomb's has
// L = g h. They are (L - g h)(-mu, 1) apart, of V = |(s, -g h)|, in every corner alike.
START_TEST(a_convex_cone_is_as_far_off_as_it_launches) {
    const double mu = 0.1 + 0.2 * _i, s = 2.0, fall = gravity * step;
    Lab lab = sliding_box(SOLVER_CCP, mu, s);
    lab_set(&lab, "tolerance", 1e-10);
    const Opinion opinion = judge_step(&lab, 1e-10);
    const double lifted = (fall + mu * s) / (1.0 + mu * mu) - fall;
    const double expected = lifted * sqrt(1.0 + mu * mu) / sqrt(s * s + fall * fall);
    ck_assert_double_le(opinion.residual, 1e-10);
    // both are solved to 1e-10 of V, and what is left of either is no larger than some of that
    ck_assert_double_le(fabs(opinion.gap - expected), 1e-7);
    ck_assert_double_ge(opinion.gap, 0.05);
    lab_destroy(&lab);
}
END_TEST

// Coulomb's own, to the tolerance of either.
START_TEST(exact_friction_has_no_gap) {
    Lab lab = sliding_box(SOLVER_MDP, 0.5, 2.0);
    lab_set(&lab, "tolerance", 1e-9);
    for (int i = 0; i < 60; i++) { // slides, and comes to rest
        const Opinion opinion = judge_step(&lab, 1e-8);
        ck_assert_double_le(opinion.residual, 1e-8);
        ck_assert_double_le(opinion.gap, 1e-7);
    }
    lab_destroy(&lab);
}
END_TEST

// A box that rests, and was pushed a little into the ground: a soft model holds it by its spring,
// and a rigid one takes the overlap back. Neither is wrong.
START_TEST(softness_is_no_gap) {
    Lab lab = sliding_box((SolverKind)_i, 0.5, 0.0);
    lab.world->pose[7 + 2] = 0.0999;
    lab.world->bodies_moved = true;
    for (int i = 0; i < 20; i++) {
        const Opinion opinion = judge_step(&lab, 1e-8);
        // solvers stop at 1e-6 of V, of residuals of their own
        ck_assert_msg(opinion.gap <= 1e-4, "%s, step %d: %g", solver_get((SolverKind)_i)->name, i,
                      opinion.gap);
    }
    lab_destroy(&lab);
}
END_TEST

// One sweep of the plainest kind does not hold a tower.
START_TEST(what_is_left_unsolved_is_a_gap) {
    Lab lab = lab_create(gravity, step);
    const Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), 0);
    lab_ground(&lab, 0);
    for (int i = 0; i < 6; i++) {
        const Pose pose = {.position = vec3(0.0, 0.0, 0.1 + 0.2 * i),
                           .orientation = quat_identity()};
        lab_body(&lab, box, BODY_DYNAMIC, pose, NULL, 1.0, NULL);
    }
    const Opinion good = judge_step(&lab, 1e-8);
    lab_set(&lab, "method", 0.0); // gauss_seidel
    lab_set(&lab, "max_iterations", 1.0);
    lab_set(&lab, "warm_start", 0.0);
    const Opinion poor = judge_step(&lab, 1e-8);
    ck_assert_double_le(good.gap, 1e-4);
    ck_assert_double_ge(poor.gap, 0.05);
    ck_assert_double_le(poor.residual, 1e-8);
    lab_destroy(&lab);
}
END_TEST

START_TEST(nothing_that_touches_has_no_gap) {
    Lab lab = sliding_box(SOLVER_CCP, 0.5, 2.0);
    lab.world->pose[7 + 2] = 5.0;
    lab.world->bodies_moved = true;
    const Opinion opinion = judge_step(&lab, 1e-8);
    ck_assert_double_eq(opinion.gap, 0.0);
    ck_assert_double_eq(opinion.residual, 0.0);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_opinion(void) {
    TCase *tcase = tcase_create("opinion");
    tcase_add_loop_test(tcase, a_convex_cone_is_as_far_off_as_it_launches, 0, 3);
    tcase_add_test(tcase, exact_friction_has_no_gap);
    tcase_add_loop_test(tcase, softness_is_no_gap, 0, SOLVER_COUNT);
    tcase_add_test(tcase, what_is_left_unsolved_is_a_gap);
    tcase_add_test(tcase, nothing_that_touches_has_no_gap);
    return tcase;
}

SUITE_MAIN("solve/opinion", case_opinion)
