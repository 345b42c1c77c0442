// SPDX-License-Identifier: MIT
// The server's log: one line is one event, whatever a client is called.
#include "os/report.h"

#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The line that is written about `name`, without its time.
static char *line_about(const char *name) {
    static char text[4096];
    char path[] = "/tmp/moreau-report-XXXXXX";
    Report report;
    Error error;
    close(mkstemp(path));
    ck_assert_int_eq(report_open(&report, REPORT_INFO, path, &error), STATUS_OK);
    report_line(&report, REPORT_INFO, "made", "name=%s", name);
    report_close(&report);
    FILE *file = fopen(path, "r");
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    unlink(path);
    return strstr(text, "made ");
}

START_TEST(a_name_neither_forges_a_line_nor_steers_a_terminal) {
    ck_assert_str_eq(line_about("plain"), "made name=plain\n");
    ck_assert_str_eq(line_about("a\nb\033[2J\x7f"), "made name=a\\x0ab\\x1b[2J\\x7f\n");
    ck_assert_str_eq(line_about("\xc2\x9b"
                                "2J \u00e9"),
                     "made name=\\x9b2J \u00e9\n");
}
END_TEST

START_TEST(a_long_one_is_cut_between_characters) {
    char name[3000];
    for (size_t i = 0; i < sizeof(name) - 1; i++) {
        name[i] = i % 2 == 0 ? '\xc3' : '\xa9';
    }
    name[sizeof(name) - 1] = '\0';
    for (size_t shift = 0; shift < 2; shift++) {
        const char *line = line_about(name + 2 - 2 * shift);
        const size_t count = strlen(line);
        ck_assert_uint_gt(count, 900);
        ck_assert_int_eq(line[count - 1], '\n');
        ck_assert_int_eq(line[count - 2], '\xa9');
    }
}
END_TEST

static TCase *case_lines(void) {
    TCase *tcase = tcase_create("lines");
    tcase_add_test(tcase, a_name_neither_forges_a_line_nor_steers_a_terminal);
    tcase_add_test(tcase, a_long_one_is_cut_between_characters);
    return tcase;
}

SUITE_MAIN("os/report", case_lines)
