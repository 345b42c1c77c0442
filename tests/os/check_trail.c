// SPDX-License-Identifier: MIT
// A file of lines that turns over: no line is torn or lost in between, and a disk that takes
// nothing costs bounded memory, is said once, and is tried again.
#include "os/trail.h"

#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[128];

static void set_up(void) {
    snprintf(folder, sizeof(folder), "/tmp/moreau-trail-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/audit", folder);
}

static void tear_down(void) {
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static Trail *open_trail(const char *where, uint64_t bytes_max) {
    Trail *trail = NULL;
    Error error = {0};
    ck_assert_msg(trail_open(&trail, where, bytes_max, &error) == STATUS_OK, "%s", error.message);
    return trail;
}

static void add(Trail *trail, int number) {
    char line[64];
    const int length = snprintf(line, sizeof(line), "line %06d of the trail\n", number);
    trail_add(trail, line, (size_t)length);
}

static TrailNews put(Trail *trail, uint64_t now_ns, uint64_t *lost) {
    const char *why = "";
    const TrailNews news = trail_write(trail, now_ns, lost, &why);
    ck_assert(news != TRAIL_FAILS || why[0] != '\0');
    return news;
}

// Reads a file's lines, which must count on from *next.
static void read_on(const char *name, int *next) {
    FILE *file = fopen(name, "r");
    char line[64], wanted[64];
    ck_assert_msg(file != NULL, "%s", name);
    while (fgets(line, sizeof(line), file) != NULL) {
        snprintf(wanted, sizeof(wanted), "line %06d of the trail\n", (*next)++);
        ck_assert_str_eq(line, wanted);
    }
    fclose(file);
}

START_TEST(it_turns_over_between_lines_and_the_oldest_goes) {
    enum { BYTES_MAX = 4096, LINES = 2000 };
    Trail *trail = open_trail(path, BYTES_MAX);
    uint64_t lost;
    for (int i = 0; i < LINES; i++) {
        add(trail, i);
        if (i % 7 == 0) {
            ck_assert_int_eq(put(trail, 1, &lost), TRAIL_NOTHING_NEW);
        }
    }
    trail_close(trail);
    char name[160];
    struct stat info;
    int next = -1;
    for (int i = TRAIL_OLDER; i >= 0; i--) {
        snprintf(name, sizeof(name), i > 0 ? "%s.%d" : "%s", path, i);
        ck_assert_msg(stat(name, &info) == 0, "%s is missing", name);
        ck_assert_int_le(info.st_size, BYTES_MAX);
        ck_assert_uint_eq(info.st_mode & 0777, 0600);
        FILE *file = fopen(name, "r");
        int first;
        ck_assert_int_eq(fscanf(file, "line %d", &first), 1);
        fclose(file);
        ck_assert(next < 0 || first == next);
        next = first;
        read_on(name, &next);
    }
    ck_assert_int_eq(next, LINES);
    snprintf(name, sizeof(name), "%s.%d", path, TRAIL_OLDER + 1);
    ck_assert_int_ne(stat(name, &info), 0);
}
END_TEST

START_TEST(it_goes_on_with_what_is_there) {
    int next = 0;
    for (int i = 0; i < 3; i++) {
        Trail *trail = open_trail(path, 1 << 20);
        add(trail, i);
        trail_close(trail);
    }
    read_on(path, &next);
    ck_assert_int_eq(next, 3);
}
END_TEST

START_TEST(a_disk_that_is_full_is_said_once_and_tried_again) {
    const uint64_t second = 1000000000u;
    Trail *trail = open_trail("/dev/full", 4096);
    uint64_t lost = 1;
    add(trail, 0);
    ck_assert(trail_is_due(trail, second));
    ck_assert_int_eq(put(trail, second, &lost), TRAIL_FAILS);
    ck_assert_uint_eq(lost, 0);
    ck_assert(!trail_is_due(trail, second + second / 2));
    ck_assert(trail_is_due(trail, 2 * second));
    ck_assert_int_eq(put(trail, 2 * second, &lost), TRAIL_NOTHING_NEW);
    const int lines = 100000; // more than may wait
    for (int i = 1; i < lines; i++) {
        add(trail, i);
    }
    ck_assert_int_eq(put(trail, 3 * second, &lost), TRAIL_NOTHING_NEW);
    ck_assert_uint_gt(lost, 10000);
    ck_assert_uint_lt(lost, (uint64_t)lines - 30000);
    trail_close(trail);
}
END_TEST

START_TEST(what_cannot_be_written_is_refused_in_a_sentence) {
    Trail *trail = NULL;
    Error error = {0};
    char nowhere[160];
    snprintf(nowhere, sizeof(nowhere), "%s/no/audit", folder);
    ck_assert_int_eq(trail_open(&trail, nowhere, 4096, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "audit-file");
    ck_assert_ptr_nonnull(strstr(error.message, "No such file"));
    ck_assert_int_eq(trail_open(&trail, folder, 4096, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "directory"));
}
END_TEST

static TCase *case_trail(void) {
    TCase *tcase = tcase_create("trail");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, it_turns_over_between_lines_and_the_oldest_goes);
    tcase_add_test(tcase, it_goes_on_with_what_is_there);
    tcase_add_test(tcase, a_disk_that_is_full_is_said_once_and_tried_again);
    tcase_add_test(tcase, what_cannot_be_written_is_refused_in_a_sentence);
    return tcase;
}

SUITE_MAIN("os/trail", case_trail)
