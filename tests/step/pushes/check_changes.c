// SPDX-License-Identifier: MIT
// Who pushes is taken away between two steps, or moves on whatever is in its way: those whom it has
// pushed go on as they are, and go through nobody.
#include "support/shot_row.h"
#include "support/suite.h"

static const PrimitiveKind kinds[] = {PRIMITIVE_BOX, PRIMITIVE_SPHERE};
enum { KINDS = 2, CASES = KINDS * SHOT_ROW_TURNS };

static ShotRow numbered(int number, double room) {
    ShotRow row = shot_row_default();
    row.kind = kinds[number % KINDS];
    row.turn = number / KINDS;
    row.room = room;
    return row;
}

static void remove_body(ShotRowLab *of, uint32_t body) {
    world_remove_bodies(of->lab.world, &body, 1);
}

// The row flies on with what it has, and each hits the wall, which is far, by itself.
START_TEST(a_row_flies_on_without_who_has_pushed_it) {
    ShotRow row = numbered(_i, 0.3);
    row.restitution = 0.5; // so that it leaves the shot
    ShotRowLab of = shot_row_create(&row);
    shot_row_shoot(&of);
    lab_step(&of.lab, 1);
    const double after = shot_row_speed_after(&row, 0.0);
    shot_row_check_speed(&of, after);
    remove_body(&of, of.shot);
    of.shot = UINT32_MAX;
    lab_step(&of.lab, 1);
    shot_row_check_speed(&of, after);
    for (int i = 0; i < 8; i++) {
        lab_step(&of.lab, 1);
        shot_row_check_order(&of, SHOT_ROW_SLOW);
    }
    ck_assert_double_lt(shot_row_speed(&of, of.first + row.count - 1), 0.0); // it has bounced
    lab_destroy(&of.lab);
}
END_TEST

// Before it has hit anybody: nobody is looked for any more, and nobody moves.
START_TEST(a_shot_that_is_taken_away_in_time_does_nothing) {
    ShotRow row = numbered(_i, 0.05);
    row.gap = 0.15; // two steps
    ShotRowLab of = shot_row_create(&row);
    shot_row_sleep(&of);
    shot_row_shoot(&of);
    lab_step(&of.lab, 1);
    remove_body(&of, of.shot);
    of.shot = UINT32_MAX;
    lab_step(&of.lab, 3);
    shot_row_check_speed(&of, 0.0);
    ck_assert_uint_eq(of.lab.report.asleep_count, row.count);
    lab_destroy(&of.lab);
}
END_TEST

// The wall that stopped a row goes, and a shot behind it sends all of it through where it was.
START_TEST(a_row_goes_where_a_wall_was) {
    const ShotRow row = numbered(_i, 0.05);
    ShotRowLab of = shot_row_create(&row);
    shot_row_shoot(&of);
    lab_step(&of.lab, 4);
    shot_row_check_order(&of, SHOT_ROW_NOISE);
    const uint32_t last = of.first + row.count - 1;
    const double wall = shot_row_place(&of, of.wall);
    remove_body(&of, of.shot); // the last, and then the one before it
    remove_body(&of, of.wall);
    of.row.room = 0.0;
    of.row.gap = -0.04; // before the first, which has moved by 5 cm
    shot_row_shoot(&of);
    lab_step(&of.lab, 4);
    shot_row_check_speed(&of, shot_row_speed_after(&row, 0.0));
    shot_row_check_order(&of, SHOT_ROW_NOISE);
    ck_assert_double_gt(shot_row_place(&of, last), wall);
    lab_destroy(&of.lab);
}
END_TEST

// What is moved pushes as if it had no end of mass; and on, into others that lie before the row.
START_TEST(a_mover_takes_rows_along_at_its_own_speed) {
    ShotRow row = numbered(_i, 0.0);
    row.shot_kind = BODY_KINEMATIC;
    ShotRowLab of = shot_row_create(&row);
    const double pitch = 2.0 * row.half, behind = pitch * row.count + 0.02;
    const uint32_t second = shot_row_add(&of, vec3(behind, 0.0, 0.0));
    shot_row_add(&of, vec3(behind + pitch, 0.0, 0.0));
    shot_row_shoot(&of);
    const uint32_t last = of.first + row.count - 1;
    for (int i = 0; i < 5; i++) {
        lab_step(&of.lab, 1);
        shot_row_check_order(&of, SHOT_ROW_NOISE);
        ck_assert_double_ge(shot_row_place(&of, second) - shot_row_place(&of, last),
                            pitch - SHOT_ROW_NOISE);
        ck_assert_double_ge(shot_row_place(&of, second + 1) - shot_row_place(&of, second),
                            pitch - SHOT_ROW_NOISE);
    }
    shot_row_check_speed(&of, row.speed);
    ck_assert_double_eq_tol(shot_row_speed(&of, second + 1), row.speed, 1e-4);
    lab_destroy(&of.lab);
}
END_TEST

static TCase *case_changes(void) {
    TCase *tcase = tcase_create("changes");
    tcase_add_loop_test(tcase, a_row_flies_on_without_who_has_pushed_it, 0, CASES);
    tcase_add_loop_test(tcase, a_shot_that_is_taken_away_in_time_does_nothing, 0, CASES);
    tcase_add_loop_test(tcase, a_row_goes_where_a_wall_was, 0, CASES);
    tcase_add_loop_test(tcase, a_mover_takes_rows_along_at_its_own_speed, 0, CASES);
    return tcase;
}

SUITE_MAIN("step/pushes/changes", case_changes)
