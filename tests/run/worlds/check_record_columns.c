// SPDX-License-Identifier: MIT
// The columns in which contacts are told: a range of them is that part of all, column by column, so
// that a reader who asks in parts sees what one who asks at once does.
#include "run/worlds/record_columns.h"

#include "support/lab.h"
#include "support/suite.h"

#include <string.h>

enum { BALLS = 6, BALL_ALONE = 1 };

// Balls of 1, 2, 3 … kg at rest on the ground, 1 m apart: a contact each, with an impulse of its
// own.
static Lab lay_balls(void) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    lab_ground(&lab, 0);
    const Id ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), 0);
    for (int i = 0; i < BALLS; i++) {
        const Pose pose = {vec3(i, 0.5 * i, 0.1), quat_identity()};
        lab_body(&lab, ball, BODY_DYNAMIC, pose, NULL, 1.0 + i, NULL);
    }
    lab_step(&lab, 1);
    ck_assert_uint_eq(lab.stepper->contact_count, BALLS);
    return lab;
}

static ContactList list(const Lab *lab, size_t first, size_t count, Arena *arena) {
    ContactList contacts;
    Error error = {0};
    ck_assert_int_eq(
        contacts_list(lab->world, lab->stepper, 1, first, count, arena, &contacts, &error),
        STATUS_OK);
    ck_assert_uint_eq(contacts.count, count);
    return contacts;
}

// `width` numbers of a contact, `first` contacts further on in the whole.
static void expect_part(const double *part, const double *whole, size_t first, size_t count,
                        size_t width) {
    ck_assert_mem_eq(part, whole + width * first, count * width * sizeof(double));
}

// Every range that begins behind the first contact, and ends before or with the last.
START_TEST(a_range_is_that_part_of_all_contacts) {
    Lab lab = lay_balls();
    Arena arena;
    arena_init(&arena, (size_t)1 << 24);
    const ContactList all = list(&lab, 0, BALLS, &arena);
    for (size_t first = 1; first < BALLS; first++) {
        const size_t count = _i == BALL_ALONE ? 1 : BALLS - first;
        const ContactList part = list(&lab, first, count, &arena);
        ck_assert_mem_eq(part.body_a, all.body_a + first, count * sizeof(uint64_t));
        ck_assert_mem_eq(part.body_b, all.body_b + first, count * sizeof(uint64_t));
        ck_assert_mem_eq(part.feature, all.feature + first, count * sizeof(uint64_t));
        expect_part(part.point, all.point, first, count, 3);
        expect_part(part.frame, all.frame, first, count, 9);
        expect_part(part.gap, all.gap, first, count, 1);
        expect_part(part.velocity, all.velocity, first, count, 3);
        expect_part(part.impulse, all.impulse, first, count, 3);
        expect_part(part.friction, all.friction, first, count, 1);
    }
    arena_deinit(&arena);
    lab_destroy(&lab);
}
END_TEST

// What rests is carried: the impulse listed beside a ball is its weight of one step, m g h. A
// solver may be off by its tolerance, 1e-6 of |g| h, in velocity.
START_TEST(an_impulse_stands_beside_its_own_body) {
    Lab lab = lay_balls();
    Arena arena;
    arena_init(&arena, (size_t)1 << 24);
    const double fall = 9.81 / 240.0;
    for (size_t first = 0; first < BALLS; first++) {
        const ContactList one = list(&lab, first, 1, &arena);
        const Id body = one.body_a[0] > one.body_b[0] ? one.body_a[0] : one.body_b[0];
        const double mass = (double)(body - 1); // the ground is body 1, then 1 kg, 2 kg …
        ck_assert_double_eq_tol(one.impulse[0], mass * fall, 1e-6 * mass * fall);
    }
    arena_deinit(&arena);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_contacts(void) {
    TCase *tcase = tcase_create("contacts");
    tcase_add_loop_test(tcase, a_range_is_that_part_of_all_contacts, 0, 2);
    tcase_add_test(tcase, an_impulse_stands_beside_its_own_body);
    return tcase;
}

SUITE_MAIN("run/record_columns", case_contacts)
