// SPDX-License-Identifier: MIT
// Power is lost at any change of the file while a log begins, or begins again, or is settled: the
// header of the database changes there under a rollback journal, and whatever part of what was not
// synced comes to the disk (simulate/disk.h), the next start finds the log as it was or as it
// becomes. The write-ahead log itself is log/wal/check_mark's.
#include "log/writer/writer.h"

#include "log/log_file.h"
#include "simulate/disk.h"
#include "simulate/schedule.h"
#include "support/suite.h"

#include <sys/wait.h>

// A beginning changes files 60 times before it is settled, most of them in the write-ahead log; a
// later life 20 times. Among these seeds one takes a header that counts a page to the disk, and of
// the page, whose sum is of every 200th byte, all but its beginning.
enum { SEED_FIRST = 205, SEED_END = 277, OPERATIONS = 24, EXIT_LOST = 71 };

static LogFile file;
static uint64_t operation_last; // at which the power goes

// The disk asks for these where time is simulated, which it is not here.
void schedule_note(uint64_t what) {
    (void)what;
}

void schedule_sleep(uint64_t ns) {
    (void)ns;
}

static void at_operation(uint64_t operation) {
    if (operation == operation_last) {
        disk_lose_power();
        _exit(EXIT_LOST);
    }
}

static void set_up(void) {
    file = file_make();
}

static void tear_down(void) {
    file_remove(&file);
}

// In a process of its own, which the power ends at some change of the file, or which is done first.
static int live_until(uint64_t seed, uint64_t operation) {
    const pid_t child = fork();
    if (child == 0) {
        Writer writer = {0};
        Error error = {0};
        operation_last = operation;
        disk_begin(seed, at_operation);
        const bool is_done = writer_open(&writer, file.path, false, &error) == STATUS_OK &&
                             writer_settle(&writer, &error) == STATUS_OK;
        fputs(error.message, stderr);
        _exit(is_done ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void live(void) {
    ck_assert_int_eq(live_until(0, 0), 0);
}

// Two lives, of which the power ends the first; returns how often it did.
static int live_on(uint64_t seed) {
    const int end = live_until(seed, 1 + seed % OPERATIONS);
    ck_assert(end == EXIT_LOST || end == 0);
    ck_assert_msg(live_until(0, 0) == 0, "seed %d", (int)seed);
    ck_assert_str_eq(sql(&file, "PRAGMA integrity_check"), "ok\n");
    return end == EXIT_LOST;
}

START_TEST(a_log_that_was_cut_off_while_it_was_made_is_made_at_the_next_start) {
    int cut_off = 0;
    for (uint64_t seed = SEED_FIRST; seed < SEED_END; seed++) {
        cut_off += live_on(seed);
        file_count(&file, true);
    }
    ck_assert_int_eq(cut_off, SEED_END - SEED_FIRST);
}
END_TEST

START_TEST(what_is_in_a_log_is_there_whenever_its_next_life_was_cut_off) {
    live();
    sql(&file, "INSERT INTO deletion VALUES (1, x'00', 0, 0)");
    int cut_off = 0;
    for (uint64_t seed = SEED_FIRST; seed < SEED_END; seed++) {
        cut_off += live_on(seed);
        ck_assert_str_eq(sql(&file, "SELECT count(*) FROM deletion"), "1\n");
    }
    ck_assert_int_gt(cut_off, (SEED_END - SEED_FIRST) / 2);
}
END_TEST

// What nobody of us made keeps its refusal.
START_TEST(a_file_of_zeros_is_no_log) {
    static const uint8_t zeros[32768];
    const int fd = open(file.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ck_assert_int_eq(write(fd, zeros, sizeof(zeros)), (ssize_t)sizeof(zeros));
    close(fd);
    Writer writer = {0};
    Error error = {0};
    ck_assert_int_eq(writer_open(&writer, file.path, false, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "is no SQLite database"));
}
END_TEST

static TCase *case_power(void) {
    TCase *tcase = tcase_create("power");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_log_that_was_cut_off_while_it_was_made_is_made_at_the_next_start);
    tcase_add_test(tcase, what_is_in_a_log_is_there_whenever_its_next_life_was_cut_off);
    tcase_add_test(tcase, a_file_of_zeros_is_no_log);
    return tcase;
}

SUITE_MAIN("log/power", case_power)
