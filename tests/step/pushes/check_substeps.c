// SPDX-License-Identifier: MIT
// A row that a fast body hits, in a step that is divided: what is in the way of those who are
// thrown is found for all of the step, and what they end with is what an undivided one gives.
#include "support/shot_row.h"
#include "support/suite.h"

static const uint32_t substeps[] = {1, 2, 3, 5, 8};
static const uint32_t counts[] = {1, 4, 7};
enum { SUBSTEPS = 5, COUNTS = 3, CASES = SUBSTEPS * COUNTS };

static ShotRowLab shoot(int number, int turn, double restitution, double room) {
    ShotRow row = shot_row_default();
    row.kind = number % 2 == 0 ? PRIMITIVE_BOX : PRIMITIVE_SPHERE;
    row.count = counts[number / SUBSTEPS];
    row.turn = turn;
    row.restitution = restitution;
    row.room = room;
    ShotRowLab of = shot_row_create(&row);
    lab_divide(&of.lab, substeps[number % SUBSTEPS]);
    shot_row_shoot(&of);
    return of;
}

// The law is of the gaps at the end of a substep: who is hit in it leaves with the same velocity.
START_TEST(a_row_leaves_as_in_an_undivided_step) {
    for (int k = 0; k < 2 * SHOT_ROW_TURNS; k++) {
        ShotRowLab of = shoot(_i, k / 2, 0.5 * (k % 2), 0.0);
        lab_step(&of.lab, 2);
        shot_row_check_order(&of, SHOT_ROW_NOISE);
        shot_row_check_speed(&of, shot_row_speed_after(&of.row, 0.0));
        lab_destroy(&of.lab);
    }
}
END_TEST

START_TEST(a_row_stays_before_a_thin_wall) {
    for (int k = 0; k < SHOT_ROW_TURNS; k++) {
        ShotRowLab of = shoot(_i, k, 0.0, 0.05);
        for (int i = 0; i < 4; i++) {
            lab_step(&of.lab, 1);
            shot_row_check_order(&of, SHOT_ROW_NOISE);
        }
        shot_row_check_speed(&of, 0.0);
        lab_destroy(&of.lab);
    }
}
END_TEST

static TCase *case_substeps(void) {
    TCase *tcase = tcase_create("substeps");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, a_row_leaves_as_in_an_undivided_step, 0, CASES);
    tcase_add_loop_test(tcase, a_row_stays_before_a_thin_wall, 0, CASES);
    return tcase;
}

SUITE_MAIN("step/pushes/substeps", case_substeps)
