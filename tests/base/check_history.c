// SPDX-License-Identifier: MIT
#include "base/history.h"

#include "support/suite.h"

#include <float.h>
#include <math.h>

enum { ROOM = 8 };

// However many iterations: each number kept is of the iteration that its place says, none is
// missing but the last ones that a stride does not reach, and at least half of the room is used.
START_TEST(every_number_kept_is_of_its_iteration) {
    double value[ROOM];
    IterationHistory history;
    history_init(&history, value, ROOM);
    for (uint64_t iteration = 1; iteration <= 1000; iteration++) {
        history_note(&history, iteration, (double)iteration);
        ck_assert_uint_eq(history.count, iteration / history.stride);
        ck_assert_uint_le(history.count, ROOM);
        ck_assert(history.stride == 1 || history.count >= ROOM / 2);
        for (size_t i = 0; i < history.count; i++) {
            ck_assert(value[i] == (double)((i + 1) * history.stride));
        }
    }
    ck_assert_uint_eq(history.stride, 128);
}
END_TEST

START_TEST(of_parts_the_largest_is_kept) {
    double value[ROOM];
    IterationHistory history;
    history_init(&history, value, ROOM);
    const double parts[3][3] = {{3.0, 2.0, 1.0}, {4.0, 1.0, 0.5}, {1.0, 5.0, 1.0}};
    for (int part = 0; part < 3; part++) {
        for (uint64_t i = 0; i < 3; i++) {
            history_note(&history, i + 1, parts[part][i]);
        }
    }
    ck_assert_uint_eq(history.count, 3);
    ck_assert(value[0] == 4.0 && value[1] == 5.0 && value[2] == 1.0);
}
END_TEST

START_TEST(what_is_not_finite_is_the_largest_number) {
    double value[ROOM];
    IterationHistory history;
    history_init(&history, value, ROOM);
    history_note(&history, 1, NAN);
    history_note(&history, 2, HUGE_VAL);
    history_note(&history, 3, 1.0);
    ck_assert(value[0] == DBL_MAX && value[1] == DBL_MAX && value[2] == 1.0);
}
END_TEST

static TCase *case_history(void) {
    TCase *tcase = tcase_create("history");
    tcase_add_test(tcase, every_number_kept_is_of_its_iteration);
    tcase_add_test(tcase, of_parts_the_largest_is_kept);
    tcase_add_test(tcase, what_is_not_finite_is_the_largest_number);
    return tcase;
}

SUITE_MAIN("base/history", case_history)
