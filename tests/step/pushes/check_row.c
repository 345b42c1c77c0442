// SPDX-License-Identifier: MIT
// A row that a fast body hits: all of it is pushed in one step, as far as it reaches, and whom the
// last one is thrown at is met, however thin it is. By closed forms.
#include "support/shot_row.h"
#include "support/suite.h"

#include <math.h>

static const PrimitiveKind kinds[] = {PRIMITIVE_BOX, PRIMITIVE_SPHERE};
static const uint32_t counts[] = {1, 2, 3, 4, 5, 8, 12};
static const double restitutions[] = {0.0, 0.5, 1.0};
enum { KINDS = 2, COUNTS = sizeof(counts) / sizeof(counts[0]) };

static ShotRowLab shoot_at(const ShotRow *row) {
    ShotRowLab of = shot_row_create(row);
    shot_row_shoot(&of);
    return of;
}

// Momentum as it was, to rounding.
static void check_momentum(const ShotRowLab *of) {
    const double had = of->row.shot_mass * of->row.speed;
    const Vec3 off = vec3_sub(shot_row_momentum(of), shot_row_turned(of, vec3(had, 0.0, 0.0)));
    ck_assert_double_le(vec3_norm(off), 1e-13 * had);
}

static ShotRow numbered(int number, double restitution, int turn) {
    ShotRow row = shot_row_default();
    row.kind = kinds[number % KINDS];
    row.count = counts[number / KINDS];
    row.restitution = restitution;
    row.turn = turn;
    return row;
}

// Newton's law of those that touch: of the first the shot bounces, the others go as one.
START_TEST(a_row_leaves_as_the_law_says) {
    for (int k = 0; k < 3 * SHOT_ROW_TURNS; k++) {
        ShotRow row = numbered(_i, restitutions[k / SHOT_ROW_TURNS], k % SHOT_ROW_TURNS);
        row.room = 0.0;
        ShotRowLab of = shoot_at(&row);
        const double after = shot_row_speed_after(&row, 0.0);
        for (int i = 0; i < (row.restitution > 0.0 ? 2 : 5); i++) {
            lab_step(&of.lab, 1);
            check_momentum(&of);
            if (row.restitution > 0.0) {
                shot_row_check_speed(&of, after);
                ck_assert_double_eq_tol(shot_row_speed(&of, of.shot),
                                        after - row.restitution * row.speed, 1e-4);
            }
            shot_row_check_order(&of, SHOT_ROW_NOISE);
        }
        shot_row_check_speed(&of, after); // what does not bounce has closed its gap before
        lab_destroy(&of.lab);
    }
}
END_TEST

// The wall stops all of it, without a bounce: it lies before it, and each before the next.
START_TEST(a_row_stays_before_a_thin_wall) {
    static const double rooms[] = {0.03, 0.05, 0.07};
    for (int k = 0; k < 3 * SHOT_ROW_TURNS; k++) {
        ShotRow row = numbered(_i, 0.0, k % SHOT_ROW_TURNS);
        row.room = rooms[k / SHOT_ROW_TURNS];
        ShotRowLab of = shoot_at(&row);
        for (int i = 0; i < 5; i++) {
            lab_step(&of.lab, 1);
            shot_row_check_order(&of, SHOT_ROW_NOISE);
        }
        shot_row_check_speed(&of, 0.0);
        ck_assert_double_eq_tol(shot_row_place(&of, of.wall) -
                                    shot_row_place(&of, of.first + row.count - 1),
                                row.half + row.wall_half, 1e-6);
        lab_destroy(&of.lab);
    }
}
END_TEST

// What bounces comes back, and goes through nobody.
START_TEST(a_row_that_bounces_stays_before_a_thin_wall) {
    for (int k = 0; k < SHOT_ROW_TURNS; k++) {
        const ShotRow row = numbered(_i, 0.5, k);
        ShotRowLab of = shoot_at(&row);
        for (int i = 0; i < 8; i++) {
            lab_step(&of.lab, 1);
            shot_row_check_order(&of, SHOT_ROW_SLOW);
        }
        lab_destroy(&of.lab);
    }
}
END_TEST

// Some gaps a step: who is pushed pushes the next in the same step, and that one the one behind it.
START_TEST(a_bullet_takes_up_all_that_is_in_its_way) {
    for (int k = 0; k < SHOT_ROW_TURNS; k++) {
        ShotRow row = numbered(_i, 0.0, k);
        row.between = 0.015;
        row.shot_mass = 10.0; // so that none of them is slow
        row.room = 0.0;
        ShotRowLab of = shoot_at(&row);
        for (int i = 0; i < 10; i++) {
            lab_step(&of.lab, 1);
            check_momentum(&of);
            shot_row_check_order(&of, SHOT_ROW_NOISE);
        }
        shot_row_check_speed(&of, shot_row_speed_after(&row, 0.0));
        lab_destroy(&of.lab);
    }
}
END_TEST

// Newton's cradle, its balls farther apart than they come in a step: each hands on all that it has.
START_TEST(a_cradle_hands_on_all_that_it_gets) {
    for (int k = 0; k < SHOT_ROW_TURNS; k++) {
        ShotRow row = numbered(_i, 1.0, k);
        row.between = 0.1;
        row.room = 0.0;
        row.shot_mass = row.mass;
        ShotRowLab of = shoot_at(&row);
        lab_step(&of.lab, 3 * (int)row.count + 2);
        check_momentum(&of);
        for (uint32_t i = 0; i + 1 < row.count; i++) {
            ck_assert_double_eq_tol(shot_row_speed(&of, of.first + i), 0.0, 1e-4);
        }
        ck_assert_double_eq_tol(shot_row_speed(&of, of.first + row.count - 1), row.speed, 1e-4);
        lab_destroy(&of.lab);
    }
}
END_TEST

static TCase *case_row(void) {
    TCase *tcase = tcase_create("row");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, a_row_leaves_as_the_law_says, 0, KINDS * COUNTS);
    tcase_add_loop_test(tcase, a_row_stays_before_a_thin_wall, 0, KINDS * COUNTS);
    tcase_add_loop_test(tcase, a_row_that_bounces_stays_before_a_thin_wall, 0, KINDS * COUNTS);
    tcase_add_loop_test(tcase, a_bullet_takes_up_all_that_is_in_its_way, 0, KINDS * COUNTS);
    tcase_add_loop_test(tcase, a_cradle_hands_on_all_that_it_gets, 0, KINDS * COUNTS);
    return tcase;
}

SUITE_MAIN("step/pushes/row", case_row)
