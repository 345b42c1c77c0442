// SPDX-License-Identifier: MIT
// How hard a world's solver tries again what it has tried in vain.
#include "solve/mdp/mdp.h"
#include "solve/solver.h"
#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"

#include <string.h>

#define BUDGET 1e6

// A ball in a slit narrower than itself: each wall asks it to leave towards the other, which
// nothing does. The slit stays, so every step is in vain.
static Lab slit_create(void) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    Id wall = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 1.0, 9.0), 0);
    Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
    for (int side = -1; side <= 1; side += 2) {
        lab_body(&lab, wall, BODY_STATIC,
                 (Pose){.position = vec3(side * 0.195, 0.0, 0.0), .orientation = quat_identity()},
                 NULL, 0.0, NULL);
    }
    lab_body(&lab, ball, BODY_DYNAMIC, (Pose){.orientation = quat_identity()}, NULL, 0.0, NULL);
    lab_set(&lab, "budget", BUDGET);
    return lab;
}

static bool is_whole(const Lab *lab) {
    double budget = lab->stepper->solver.parameter[MDP_BUDGET];
    ck_assert(budget == BUDGET || budget == BUDGET / 32.0);
    return budget == BUDGET;
}

// After four steps in vain, waits of 1, 2, 4, … 64 and again 64, each between two whole efforts;
// whole steps, however often each is solved.
START_TEST(what_is_in_vain_is_tried_less_and_less_often) {
    static const int whole[] = {1, 2, 3, 4, 6, 9, 14, 23, 40, 73, 138, 203};
    Lab lab = slit_create();
    lab_divide(&lab, _i == 0 ? 1 : 3);
    size_t next = 0;
    for (int step = 1; step <= 203; step++) {
        lab_step(&lab, 1);
        ck_assert(!lab.report.certificate.converged);
        bool is_due = step == whole[next];
        ck_assert_msg(is_whole(&lab) == is_due, "step %d", step);
        next += is_due;
    }
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_step_that_was_not_in_vain_ends_it) {
    Lab lab = slit_create();
    lab_step(&lab, 8); // before the ninth, which is a whole effort
    // the slit is wide enough now
    lab.world->pose[0] -= 0.05;
    lab.world->bodies_moved = true;
    lab_step(&lab, 1);
    ck_assert(is_whole(&lab) && lab.report.certificate.converged);
    ck_assert_uint_eq(lab.world->solver_failures, 0);
    lab.world->pose[0] += 0.05;
    lab.world->bodies_moved = true;
    lab_step(&lab, 1);
    ck_assert(!lab.report.certificate.converged);
    lab_step(&lab, 1);
    ck_assert_msg(is_whole(&lab), "one step in vain is followed by a whole effort");
    lab_destroy(&lab);
}
END_TEST

START_TEST(other_settings_are_a_new_chance) {
    Lab lab = slit_create();
    lab_step(&lab, 15); // in a wait of 8
    ck_assert(!is_whole(&lab));
    lab_set(&lab, "tolerance", 1e-5);
    lab_step(&lab, 1);
    ck_assert(is_whole(&lab));
    lab_destroy(&lab);
}
END_TEST

// It is state: in the hash, and in what a world goes on from.
START_TEST(a_restored_world_waits_as_long) {
    Lab lab = slit_create(), other = slit_create();
    for (int i = 0; i < 40; i++) {
        lab_step(&lab, 1);
        lab_step(&other, 1);
        ck_assert_int_eq(is_whole(&lab), is_whole(&other));
        lab_restore(&other);
        ck_assert_uint_eq(snapshot_hash(lab.world), snapshot_hash(other.world));
    }
    uint64_t hash = snapshot_hash(lab.world);
    lab.world->solver_wait++;
    ck_assert_uint_ne(snapshot_hash(lab.world), hash);
    lab_destroy(&lab);
    lab_destroy(&other);
}
END_TEST

// What the step says that it was solved with gives its impulses.
START_TEST(the_same_problem_solved_alone_has_the_same_answer) {
    Lab lab = slit_create();
    Arena arena;
    arena_init(&arena, (size_t)1 << 26);
    for (int step = 1; step <= 12; step++) {
        lab_step(&lab, 1);
        const Stepper *stepper = lab.stepper;
        SolveResult result;
        arena_reset(&arena);
        ck_assert_int_eq(
            solver_solve(&stepper->solver, &stepper->problem, &(Context){0}, &arena, &result, NULL),
            STATUS_OK);
        size_t bytes = 3 * (size_t)stepper->problem.contact_count * sizeof(double);
        ck_assert_uint_gt(bytes, 0);
        ck_assert_mem_eq(result.answer.contact_impulse, stepper->impulse, bytes);
    }
    arena_deinit(&arena);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_patience(void) {
    TCase *tcase = tcase_create("patience");
    tcase_add_loop_test(tcase, what_is_in_vain_is_tried_less_and_less_often, 0, 2);
    tcase_add_test(tcase, a_step_that_was_not_in_vain_ends_it);
    tcase_add_test(tcase, other_settings_are_a_new_chance);
    tcase_add_test(tcase, a_restored_world_waits_as_long);
    tcase_add_test(tcase, the_same_problem_solved_alone_has_the_same_answer);
    return tcase;
}

SUITE_MAIN("step/patience", case_patience)
