// SPDX-License-Identifier: MIT
// What was probably meant.
#include "support/suite.h"

#include "cli/text/nearest.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {"run",    "solve",    "call",   "episodes", "replay",
                                    "verify", "snapshot", "worlds", "top",      "bench"};

static const struct {
    const char *typed, *hint;
} typos[] = {
    {"wrld", " (did you mean worlds?)"},    // left out
    {"replayy", " (did you mean replay?)"}, // added
    {"sovle", " (did you mean solve?)"},    // swapped
    {"erplya", " (did you mean replay?)"},  // twice: as four changes it would be too far
    {"vorify", " (did you mean verify?)"},  // changed
    {"WORLDS", " (did you mean worlds?)"},  // in another case
    {"rn", " (did you mean run?)"},
    {"shot", " (did you mean snapshot?)"}, // a part of it
    {"destroy", ""},
    {"x", ""},
    {"", ""},
};

START_TEST(a_name_that_is_near_is_offered) {
    Nearest nearest = {.typed = typos[_i].typed};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        nearest_offer(&nearest, names[i]);
    }
    char hint[NEAREST_HINT_BYTES];
    ck_assert_str_eq(nearest_hint(&nearest, hint), typos[_i].hint);
}
END_TEST

START_TEST(names_of_any_length_are_compared_or_left_alone) {
    static char typed[200], name[200];
    for (size_t count = 1; count < sizeof(typed); count++) {
        memset(typed, 'a', count);
        memset(name, 'a', count - 1);
        Nearest nearest = {.typed = typed};
        nearest_offer(&nearest, name);
        char hint[NEAREST_HINT_BYTES];
        ck_assert_uint_lt(strlen(nearest_hint(&nearest, hint)), NEAREST_HINT_BYTES);
        ck_assert_int_eq(hint[0] != '\0', count <= 64);
    }
}
END_TEST

static TCase *case_nearest(void) {
    TCase *tcase = tcase_create("nearest");
    tcase_add_loop_test(tcase, a_name_that_is_near_is_offered, 0, sizeof(typos) / sizeof(typos[0]));
    tcase_add_test(tcase, names_of_any_length_are_compared_or_left_alone);
    return tcase;
}

SUITE_MAIN("clients/nearest", case_nearest)
