// SPDX-License-Identifier: MIT
// A motor's parts add up to what it gives, at every speed, whatever is asked of it.
#include "world/motor.h"

#include "support/lab.h"
#include "support/suite.h"

enum { ASKS = 20000, RATES = 50 };

static double part_force(const MotorPart *part, double rate) {
    const double force = part->slope * (part->zero - rate);
    return part->slope == 0.0 ? 0.0 : fmin(fmax(force, part->low), part->high);
}

// What the header says, written otherwise.
static double wanted(const MotorAsk *ask, double rate) {
    const double asked = ask->force - ask->slope * rate;
    const double forth = ask->speed == 0.0
                             ? ask->most
                             : fmin(ask->most, ask->stall * fmax(0.0, 1.0 - rate / ask->speed)),
                 back = ask->speed == 0.0
                            ? ask->most
                            : fmin(ask->most, ask->stall * fmax(0.0, 1.0 + rate / ask->speed));
    return fmax(fmin(asked, forth), -back);
}

static double size(uint64_t *seed) {
    return pow(10.0, lab_random(seed, -3.0, 3.0));
}

static MotorAsk make_ask(uint64_t *seed) {
    const double stall = size(seed);
    const bool has_slope = lab_random(seed, 0.0, 1.0) < 0.8,
               has_speed = lab_random(seed, 0.0, 1.0) < 0.9 || !has_slope,
               is_less = lab_random(seed, 0.0, 1.0) < 0.5;
    return (MotorAsk){.force = size(seed) * (lab_random(seed, 0.0, 1.0) < 0.5 ? -1.0 : 1.0),
                      .slope = has_slope ? size(seed) : 0.0,
                      .most = is_less ? stall * lab_random(seed, 0.0, 1.0) : stall,
                      .stall = stall,
                      .speed = has_speed ? size(seed) : 0.0};
}

// Forces are rounded by parts of what the motor is able to; rates by 1e-16 of what stands in the
// lines, which slopes make forces of.
static void expect(const MotorAsk *ask, double rate) {
    MotorPart parts[MOTOR_PARTS];
    double sum = 0.0, steep = ask->speed > 0.0 ? ask->stall / ask->speed : 0.0;
    int count = 0;
    motor_parts(ask, parts);
    for (int i = 0; i < MOTOR_PARTS; i++) {
        const bool is_there = parts[i].slope > 0.0;
        ck_assert(!is_there ||
                  (parts[i].low <= 0.0 && parts[i].high >= 0.0 && parts[i].high > parts[i].low));
        count += is_there;
        sum += part_force(&parts[i], rate);
    }
    const double lines =
        ask->stall + fabs(ask->force) + (ask->slope + steep) * (fabs(rate) + ask->speed);
    ck_assert_int_le(count, 3);
    ck_assert_msg(fabs(sum - wanted(ask, rate)) <= 1e-13 * lines,
                  "asked %g - %g v of %g, %g at %g: %.17g for %.17g at %g", ask->force, ask->slope,
                  ask->most, ask->stall, ask->speed, sum, wanted(ask, rate), rate);
    ck_assert_double_eq_tol(motor_force(ask, rate), wanted(ask, rate), 1e-15 * lines);
}

START_TEST(parts_add_up_to_what_a_motor_gives) {
    uint64_t seed = 30 + (uint64_t)_i;
    for (int i = 0; i < ASKS; i++) {
        const MotorAsk ask = make_ask(&seed);
        const double zero = ask.slope > 0.0 ? ask.force / ask.slope : 0.0;
        for (int k = 0; k < RATES; k++) { // about where lines meet, too
            const double span = k % 2 == 0 ? ask.speed : fabs(zero);
            expect(&ask, span * lab_random(&seed, -2.0, 2.0));
        }
        expect(&ask, 0.0);
        expect(&ask, ask.speed);
        expect(&ask, zero);
    }
}
END_TEST

START_TEST(nothing_is_left_at_the_no_load_speed) {
    const MotorAsk ask = {.force = 1e9, .most = 3.0, .stall = 4.0, .speed = 20.0};
    ck_assert_double_eq(motor_force(&ask, 20.0), 0.0);
    ck_assert_double_eq(motor_force(&ask, 25.0), 0.0);
    ck_assert_double_eq(motor_force(&ask, 10.0), 2.0);
    ck_assert_double_eq(motor_force(&ask, 0.0), 3.0);
    ck_assert_double_eq(motor_force(&ask, -30.0), 3.0); // it brakes with all it has
}
END_TEST

static TCase *case_motor_parts(void) {
    TCase *tcase = tcase_create("motor parts");
    tcase_add_loop_test(tcase, parts_add_up_to_what_a_motor_gives, 0, 4);
    tcase_add_test(tcase, nothing_is_left_at_the_no_load_speed);
    return tcase;
}

SUITE_MAIN("world/motor_parts", case_motor_parts)
