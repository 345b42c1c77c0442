// SPDX-License-Identifier: MIT
// Sentences that replies carry are UTF-8, whatever they are made of.
#include "base/status.h"

#include "base/utf8.h"
#include "support/suite.h"

#include <string.h>

static bool is_utf8(const char *text) {
    return utf8_count((const uint8_t *)text, strlen(text)) == strlen(text);
}

START_TEST(a_name_of_any_bytes_is_told) {
    Error error;
    ck_assert_int_eq(error_set(&error, STATUS_NOT_FOUND, "na\xffme",
                               "%s is \xe2\x82\xac not there.", "b\xfe\xc2.db"),
                     STATUS_NOT_FOUND);
    ck_assert_str_eq(error.message, "b??.db is \xe2\x82\xac not there.");
    ck_assert_str_eq(error.field, "na?me");
}
END_TEST

// At whatever byte they end.
START_TEST(what_is_cut_within_a_character_ends_before_it) {
    char text[sizeof(((Error *)NULL)->message) + 64];
    for (size_t first = 0; first < 4; first++) {
        Error error;
        memset(text, 'a', first);
        for (size_t i = first; i + 3 < sizeof(text); i += 3) {
            memcpy(text + i, "\xe2\x82\xac", 4);
        }
        error_set(&error, STATUS_INVALID_ARGUMENT, text, "%s", text);
        ck_assert_uint_eq(strlen(error.message), sizeof(error.message) - 1);
        ck_assert_uint_eq(strlen(error.field), sizeof(error.field) - 1);
        ck_assert(is_utf8(error.message) && is_utf8(error.field));
        ck_assert_int_eq(memcmp(error.message, text, sizeof(error.message) - 4), 0);
    }
}
END_TEST

static TCase *case_status(void) {
    TCase *tcase = tcase_create("status");
    tcase_add_test(tcase, a_name_of_any_bytes_is_told);
    tcase_add_test(tcase, what_is_cut_within_a_character_ends_before_it);
    return tcase;
}

SUITE_MAIN("base/status", case_status)
