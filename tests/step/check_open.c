// SPDX-License-Identifier: MIT
// What a step says of the islands that its solver left open.
#include "solve/mdp/mdp.h"
#include "solve/solver.h"
#include "support/lab.h"
#include "support/suite.h"

// A tower that is not solved by one sweep, or a box that slides, and a ball far away, whichever was
// made first.
typedef struct Yard {
    Lab lab;
    uint32_t first, end; // bodies of the tower
} Yard;

enum { FLOORS = 6 };

static void add_ball(Lab *lab) {
    const double velocity[6] = {0.3, 0.0, -1.0};
    Id ball = lab_shape(lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
    lab_body(lab, ball, BODY_DYNAMIC,
             (Pose){.position = vec3(9.0, 0.0, 0.1), .orientation = quat_identity()}, velocity, 0.0,
             NULL);
}

static Yard yard_create(bool ball_first, uint32_t floors) {
    Yard yard = {.lab = lab_create(9.81, 1.0 / 240.0)};
    Lab *lab = &yard.lab;
    const double velocity[6] = {floors == 1 ? 0.5 : 0.0};
    lab_ground(lab, 0);
    if (ball_first) {
        add_ball(lab);
    }
    Id box = lab_shape(lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), 0);
    yard.first = lab->world->body_count;
    for (uint32_t i = 0; i < floors; i++) {
        Pose pose = {.position = vec3(0.01 * (i % 2), 0.0, 0.1 + 0.2 * i),
                     .orientation = quat_identity()};
        lab_body(lab, box, BODY_DYNAMIC, pose, velocity, 0.0, NULL);
    }
    yard.end = lab->world->body_count;
    if (!ball_first) {
        add_ball(lab);
    }
    return yard;
}

static bool is_of_tower(const Yard *yard, Id id) {
    bool is_of = false;
    for (uint32_t i = yard->first; i < yard->end; i++) {
        is_of = is_of || yard->lab.world->body_id[i] == id;
    }
    return is_of;
}

START_TEST(an_island_that_is_not_solved_is_named) {
    uint32_t floors = _i / 2 == 0 ? FLOORS : 1;
    Yard yard = yard_create(_i % 2 == 1, floors);
    lab_set(&yard.lab, "method", MDP_GAUSS_SEIDEL);
    lab_set(&yard.lab, "max_iterations", 1);
    lab_step(&yard.lab, 1);
    const StepOpen *open = &yard.lab.report.open;
    ck_assert(!yard.lab.report.certificate.converged);
    ck_assert_uint_eq(open->islands, 2);
    ck_assert_uint_eq(open->islands_open, 1);
    ck_assert(is_of_tower(&yard, open->body));
    ck_assert_uint_eq(open->contacts, (uintmax_t)4 * floors);
    ck_assert_uint_eq(open->reason, END_ITERATIONS);
    ck_assert_double_eq(open->residual, yard.lab.report.certificate.entry[CERTIFICATE_OWN]);
    lab_destroy(&yard.lab);
}
END_TEST

START_TEST(a_step_that_is_solved_has_nothing_to_name) {
    Yard yard = yard_create(_i == 1, FLOORS);
    lab_step(&yard.lab, 1);
    const StepOpen *open = &yard.lab.report.open;
    ck_assert(yard.lab.report.certificate.converged);
    ck_assert_uint_eq(open->islands, 2);
    ck_assert_uint_eq(open->islands_open, 0);
    ck_assert_uint_eq(open->body, 0);
    ck_assert_uint_eq(open->reason, END_CONVERGED);
    lab_destroy(&yard.lab);
}
END_TEST

// The budget of a step counts, and is no state: with too small a one every step is left open, and
// with enough the same world is solved from the next step on.
START_TEST(a_budget_is_a_steps_own) {
    Yard yard = yard_create(false, FLOORS);
    lab_set(&yard.lab, "max_iterations", 2);
    lab_set(&yard.lab, "tolerance", 1e-12);
    lab_set(&yard.lab, "budget", 1e5);
    for (int i = 0; i < 3; i++) {
        lab_step(&yard.lab, 1);
        ck_assert_uint_eq(yard.lab.report.open.reason, END_BUDGET);
    }
    lab_set(&yard.lab, "budget", 1e8);
    lab_step(&yard.lab, 1);
    ck_assert(yard.lab.report.certificate.converged);
    lab_destroy(&yard.lab);
}
END_TEST

// However small it is, and whoever solves: no step fails for it.
START_TEST(a_budget_fails_no_step) {
    Yard yard = yard_create(false, FLOORS);
    const SolverSettings solver = solver_default((SolverKind)_i);
    step_set_solver(&yard.lab.world->settings, &solver);
    lab_set(&yard.lab, "tolerance", 1e-12);
    lab_set(&yard.lab, "budget", 1e4);
    uint32_t ended = 0;
    for (int i = 0; i < 10; i++) {
        lab_step(&yard.lab, 1);
        ended += yard.lab.report.open.reason == END_BUDGET;
    }
    ck_assert_uint_gt(ended, 0);
    lab_destroy(&yard.lab);
}
END_TEST

static TCase *case_open(void) {
    TCase *tcase = tcase_create("open");
    tcase_add_loop_test(tcase, an_island_that_is_not_solved_is_named, 0, 4);
    tcase_add_loop_test(tcase, a_step_that_is_solved_has_nothing_to_name, 0, 2);
    tcase_add_test(tcase, a_budget_is_a_steps_own);
    tcase_add_loop_test(tcase, a_budget_fails_no_step, SOLVER_MDP + 1, SOLVER_COUNT);
    return tcase;
}

SUITE_MAIN("step/open", case_open)
