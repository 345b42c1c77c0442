// SPDX-License-Identifier: MIT
// Rows that sleep, and are hit by a fast body: who is pushed wakes, in the step in which it is, and
// who is thrown at others wakes them and goes through nobody; who is far away sleeps on.
#include "support/shot_row.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <string.h>

static const PrimitiveKind kinds[] = {PRIMITIVE_BOX, PRIMITIVE_SPHERE};
enum { KINDS = 2, MORE = 3, STEPS = 6 };

// A row, behind it after `room` another one, and one far beside it.
typedef struct Yard {
    ShotRowLab of;
    uint32_t second, far;
} Yard;

static uint32_t add_more(ShotRowLab *of, Vec3 at) {
    const uint32_t first = of->lab.world->body_count;
    for (int i = 0; i < MORE; i++) {
        shot_row_add(of, vec3_add(at, vec3(2.0 * of->row.half * i, 0.0, 0.0)));
    }
    return first;
}

static Yard make_yard(int number, double room, bool has_second, bool sleeps) {
    ShotRow row = shot_row_default();
    row.kind = kinds[number % KINDS];
    row.turn = number / KINDS;
    row.room = has_second ? 0.0 : room;
    Yard yard = {.of = shot_row_create(&row)};
    const double behind = 2.0 * row.half * row.count + room;
    yard.second = has_second ? add_more(&yard.of, vec3(behind, 0.0, 0.0)) : UINT32_MAX;
    yard.far = add_more(&yard.of, vec3(0.0, 3.0, 0.0));
    if (sleeps) {
        shot_row_sleep(&yard.of);
    }
    shot_row_shoot(&yard.of);
    return yard;
}

static uint32_t asleep_of(const ShotRowLab *of, uint32_t first, uint32_t count) {
    uint32_t asleep = 0;
    for (uint32_t i = first; i < first + count; i++) {
        asleep += sleep_is_asleep(of->lab.world, i);
    }
    return asleep;
}

// At the wall, in the step in which the shot comes; they lie there as a row that was awake does.
START_TEST(a_row_that_sleeps_wakes_and_stays_before_the_wall) {
    Yard yard = make_yard(_i, 0.05, false, true), awake = make_yard(_i, 0.05, false, false);
    ShotRowLab *of = &yard.of;
    double far[7 * MORE];
    memcpy(far, of->lab.world->pose + 7 * (size_t)yard.far, sizeof(far));
    for (int i = 0; i < STEPS; i++) {
        lab_step(&of->lab, 1);
        lab_step(&awake.of.lab, 1);
        shot_row_check_order(of, SHOT_ROW_NOISE);
        ck_assert_uint_eq(asleep_of(of, of->first, of->row.count), 0);
        ck_assert_uint_eq(asleep_of(of, yard.far, MORE), MORE);
        for (uint32_t body = of->first; body < of->first + of->row.count; body++) {
            ck_assert_double_eq_tol(shot_row_place(of, body), shot_row_place(&awake.of, body),
                                    SHOT_ROW_NOISE);
        }
    }
    shot_row_check_speed(of, 0.0);
    ck_assert_mem_eq(far, of->lab.world->pose + 7 * (size_t)yard.far, sizeof(far));
    lab_destroy(&of->lab);
    lab_destroy(&awake.of.lab);
}
END_TEST

// A second row that sleeps is what the first is thrown at: all are one then, and fly on together.
START_TEST(a_row_wakes_the_one_that_it_is_thrown_at) {
    const double room = 0.02;
    Yard yard = make_yard(_i, room, true, true);
    ShotRowLab *of = &yard.of;
    const uint32_t last = of->first + of->row.count - 1;
    for (int i = 0; i < STEPS; i++) {
        lab_step(&of->lab, 1);
        shot_row_check_order(of, SHOT_ROW_NOISE);
        const double apart = shot_row_place(of, yard.second) - shot_row_place(of, last);
        ck_assert_double_ge(apart, 2.0 * of->row.half - SHOT_ROW_NOISE);
        ck_assert_uint_eq(asleep_of(of, of->first, of->row.count), 0);
        ck_assert_uint_eq(asleep_of(of, yard.second, MORE), 0); // it is less than a step's way
        ck_assert_uint_eq(asleep_of(of, yard.far, MORE), MORE);
        const Vec3 lost =
            vec3_sub(shot_row_turned(of, vec3(of->row.shot_mass * of->row.speed, 0, 0)),
                     shot_row_momentum(of));
        ck_assert_double_le(vec3_norm(lost), 1e-13 * of->row.shot_mass * of->row.speed);
    }
    const double after = shot_row_speed_after(&of->row, MORE * of->row.mass);
    shot_row_check_speed(of, after);
    for (uint32_t i = 0; i < MORE; i++) {
        ck_assert_double_eq_tol(shot_row_speed(of, yard.second + i), after, 1e-4);
    }
    lab_destroy(&of->lab);
}
END_TEST

// What the row does not come to in a step sleeps until it does.
START_TEST(who_is_out_of_reach_sleeps_until_it_is_hit) {
    Yard yard = make_yard(_i, 0.3, true, true);
    ShotRowLab *of = &yard.of;
    const uint32_t last = of->first + of->row.count - 1;
    bool is_hit = false;
    for (int i = 0; i < 8; i++) {
        const double gap =
            shot_row_place(of, yard.second) - shot_row_place(of, last) - 2.0 * of->row.half;
        const double way = shot_row_speed(of, last) / of->row.hertz;
        lab_step(&of->lab, 1);
        is_hit = is_hit || (i > 0 && gap < way);
        ck_assert_uint_eq(asleep_of(of, yard.second, MORE), is_hit ? 0 : MORE);
    }
    ck_assert(is_hit);
    shot_row_check_speed(of, shot_row_speed_after(&of->row, MORE * of->row.mass));
    lab_destroy(&of->lab);
}
END_TEST

static TCase *case_sleepers(void) {
    TCase *tcase = tcase_create("sleepers");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, a_row_that_sleeps_wakes_and_stays_before_the_wall, 0,
                        KINDS * SHOT_ROW_TURNS);
    tcase_add_loop_test(tcase, a_row_wakes_the_one_that_it_is_thrown_at, 0, KINDS * SHOT_ROW_TURNS);
    tcase_add_loop_test(tcase, who_is_out_of_reach_sleeps_until_it_is_hit, 0,
                        KINDS * SHOT_ROW_TURNS);
    return tcase;
}

SUITE_MAIN("step/pushes/sleepers", case_sleepers)
