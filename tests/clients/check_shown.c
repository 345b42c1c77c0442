// SPDX-License-Identifier: MIT
// Text of others on a terminal: what it does there, and how many columns it takes.
#include "cli/text/shown.h"

#include "cli/shown_message.h"

#include "moreau.pb-c.h"
#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text, *shown;
} escapes[] = {
    {"plain", "plain"},
    {"caf\u00e9 \u6f22\u5b57", "caf\u00e9 \u6f22\u5b57"},
    {"\033[2Jgone", "\\x1b[2Jgone"},
    {"a\nb\rc\td\a", "a\\x0ab\\x0dc\\x09d\\x07"},
    {"\x7f", "\\x7f"},
    {"\xc2\x9b"
     "2J",
     "\\x9b2J"},                // CSI in one character
    {"a\u202eb", "a\\u202eb"},  // what follows would be read from right to left
    {"\u2028", "\\u2028"},      // a line of its own
    {"\xff\xc3", "\\xff\\xc3"}, // no character at all
    {"\xc0\x9b", "\\xc0\\x9b"}, // ESC, in too many bytes
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
};

START_TEST(what_steers_a_terminal_is_shown_and_does_nothing) {
    char out[64];
    ck_assert_str_eq(shown_text(escapes[_i].text, out, sizeof(out)), escapes[_i].shown);
}
END_TEST

START_TEST(what_has_no_room_is_cut_between_characters) {
    char out[8];
    ck_assert_str_eq(shown_text("abcdef\u00e9", out, sizeof(out)), "abcdef");
    ck_assert_str_eq(shown_text("abcde\033", out, sizeof(out)), "abcde");
    ck_assert_str_eq(shown_text(NULL, out, sizeof(out)), "");
}
END_TEST

static const struct {
    const char *text;
    unsigned columns;
    const char *shown;
} columns[] = {
    {"abc", 5, "abc  "},
    {"abcdef", 5, "abcd\u2026"},
    {"\u6f22\u5b57", 5, "\u6f22\u5b57 "},
    {"\u6f22\u5b57\u6f22", 5, "\u6f22\u5b57\u2026"},
    {"\u6f22\u5b57\u6f22", 4, "\u6f22\u2026 "}, // two columns would not fit
    {"e\u0301te\u0301", 3, "e\u0301te\u0301"},
    {"e\u0301te\u0301s", 3, "e\u0301t\u2026"}, // no accent without its letter
    {"\U0001F469\u200D\U0001F680x", 3, "\U0001F469\u200D\U0001F680x"},
    {"\U0001F469\u200D\U0001F680xy", 3, "\U0001F469\u200D\U0001F680\u2026"},
    {"\U0001F44D\U0001F3FDab", 3, "\U0001F44D\U0001F3FD\u2026"},
    {"\U0001F1E9\U0001F1EA\U0001F1EB\U0001F1F7", 3, "\U0001F1E9\U0001F1EA\u2026"}, // two flags
    {"\033\033", 5, "\\x1b\u2026"},
    {"", 3, "   "},
    {"abc", 0, "\u2026"},
};

START_TEST(a_column_is_as_wide_as_it_looks) {
    char out[SHOWN_COLUMN_BYTES];
    shown_column(columns[_i].text, columns[_i].columns, out);
    if (columns[_i].columns > 0) {
        ck_assert_str_eq(out, columns[_i].shown);
        ck_assert_uint_eq(shown_width(out), columns[_i].columns);
    }
}
END_TEST

static char *copy(const char *text) {
    return strcpy(malloc(strlen(text) + 1), text);
}

START_TEST(a_message_shows_all_its_strings) {
    Moreau__V1__Reply *reply = malloc(sizeof(*reply));
    Moreau__V1__WorldListReply *list = malloc(sizeof(*list));
    Moreau__V1__WorldInfo *info = malloc(sizeof(*info));
    moreau__v1__reply__init(reply);
    moreau__v1__world_list_reply__init(list);
    moreau__v1__world_info__init(info);
    info->name = copy("\033]0;mine\a");
    info->solver = copy("mdp");
    list->n_worlds = 1;
    list->worlds = malloc(sizeof(*list->worlds));
    list->worlds[0] = info;
    reply->result_case = MOREAU__V1__REPLY__RESULT_WORLD_LIST;
    reply->world_list = list;
    shown_message(&reply->base);
    ck_assert_str_eq(info->name, "\\x1b]0;mine\\x07");
    ck_assert_str_eq(info->solver, "mdp");
    moreau__v1__reply__free_unpacked(reply, NULL);
}
END_TEST

static TCase *case_texts(void) {
    TCase *tcase = tcase_create("texts");
    tcase_add_loop_test(tcase, what_steers_a_terminal_is_shown_and_does_nothing, 0,
                        sizeof(escapes) / sizeof(escapes[0]));
    tcase_add_test(tcase, what_has_no_room_is_cut_between_characters);
    tcase_add_loop_test(tcase, a_column_is_as_wide_as_it_looks, 0,
                        sizeof(columns) / sizeof(columns[0]));
    tcase_add_test(tcase, a_message_shows_all_its_strings);
    return tcase;
}

SUITE_MAIN("clients/shown", case_texts)
