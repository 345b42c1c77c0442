// SPDX-License-Identifier: MIT
// Recovery: what a killed server left, chunks that rotted, files that are cut short or scribbled
// over, each made from a sound file.
#include "log/recovery/recover.h"

#include "log/format/schema.h"
#include "log/log_file.h"
#include "support/suite.h"

#include <sys/stat.h>
#include <sys/wait.h>

enum { PAGE_BYTES = 32768 };

static LogFile file, recovered;
static char said[1 << 16]; // what recover_file wrote

static void set_up(void) {
    file = file_make();
    recovered = file;
    snprintf(recovered.path, sizeof(recovered.path), "%s/log.db.recovered", file.folder);
}

static void tear_down(void) {
    file_remove(&file);
}

static Status recover(Error *error) {
    memset(said, 0, sizeof(said));
    FILE *out = fmemopen(said, sizeof(said) - 1, "w");
    ck_assert_ptr_nonnull(out);
    *error = (Error){0};
    Status status = recover_file(file.path, out, error);
    fclose(out);
    return status;
}

// Three recordings of twenty chunks and a key-frame each.
static void make_log(void) {
    Log *log = file_open(&file);
    for (uint64_t i = 1; i <= 3; i++) {
        RecordingDef def = def_of(i);
        def.label = (const char *const[]){"kept"};
        def.label_count = 1;
        record_def(log, &def, 20, 9000);
    }
    log_close(log);
}

static long file_bytes(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (long)info.st_size : -1;
}

static void overwrite(long at, int value, size_t count) {
    FILE *bytes = fopen(file.path, "r+b");
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(fseek(bytes, at, SEEK_SET), 0);
    while (count-- > 0) {
        fputc(value, bytes);
    }
    fclose(bytes);
}

static bool has_said(const char *words) {
    return strstr(said, words) != NULL;
}

START_TEST(a_sound_file_stays_sound) {
    make_log();
    Error error;
    // what no chunk says stays, also where the rows are made anew
    sql(&file, "UPDATE recording SET namespace = 'lab' WHERE id = 2");
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(recover(&error) == STATUS_OK, "%s", error.message);
        ck_assert_msg(has_said("3 episodes, 0 of them interrupted just now, 0 made right; 69 "
                               "chunks, 0 of them damaged"),
                      "%s", said);
    }
    ck_assert_int_eq(file_count(&file, false), 1);
    ck_assert_int_eq(count_sound_chunks(&file), 63);
    ck_assert_str_eq(sql(&file, "SELECT id, namespace FROM recording WHERE namespace IS NOT NULL"),
                     "2|lab\n");
}
END_TEST

// A log whose process is gone: its write-ahead log holds everything.
static void leave_open(void) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        Log *log = file_open(&file);
        RecordingDef def = def_of(1);
        LogRecording *recording = begin(log, &def);
        for (uint64_t i = 0; i < 30; i++) {
            put(log, recording, CHUNK_INPUTS, i, i + 1, 5000);
        }
        put(log, recording, CHUNK_GAP, 30, 37, 0);
        while (log_figures(log).rows < 32) { // and the definition
            usleep(1000);
        }
        _exit(0);
    }
    int result;
    ck_assert_int_eq(waitpid(child, &result, 0), child);
    ck_assert_int_eq(result, 0);
}

START_TEST(a_killed_server_s_file_becomes_one_file) {
    leave_open();
    ck_assert_int_eq(file_count(&file, false), 5);
    Error error;
    ck_assert_msg(recover(&error) == STATUS_OK, "%s", error.message);
    ck_assert(has_said("Recording aa000000010000000000000000000000 was open: interrupted at its "
                       "step 37."));
    ck_assert_int_eq(file_count(&file, false), 1);
    ck_assert_str_eq(sql(&file, "PRAGMA journal_mode; SELECT state, steps, chunks FROM episodes"),
                     "delete\ninterrupted|37|33\n");
    ck_assert_int_eq(count_sound_chunks(&file), 31);
}
END_TEST

START_TEST(a_torn_write_ahead_log_loses_its_end_alone) {
    leave_open();
    char wal[600];
    snprintf(wal, sizeof(wal), "%s-wal", file.path);
    long whole = file_bytes(wal);
    ck_assert_int_eq(truncate(wal, whole - 5000), 0);
    Error error;
    Status status = recover(&error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    int count = count_sound_chunks(&file);
    ck_assert_int_lt(count, 31);
    ck_assert_str_eq(sql(&file, "SELECT state FROM episodes"), "interrupted\n");
}
END_TEST

// A program that changes the file in rollback mode and dies in the middle.
START_TEST(a_hot_journal_is_rolled_back) {
    make_log();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db = sql_open(file.path);
        // a cache of a page writes its changes into the file before anything is committed
        sql_on(db, "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE; "
                   "UPDATE chunk SET written_ns = 7, bytes = zeroblob(length(bytes))");
        _exit(0);
    }
    int result;
    ck_assert_int_eq(waitpid(child, &result, 0), child);
    char journal[600];
    snprintf(journal, sizeof(journal), "%s-journal", file.path);
    ck_assert_int_gt(file_bytes(journal), 0);
    Error error;
    ck_assert_msg(recover(&error) == STATUS_OK, "%s\n%.1000s", error.message, said);
    ck_assert_int_eq(count_sound_chunks(&file), 63);
    ck_assert_int_eq(file_count(&file, false), 1);
}
END_TEST

// Nobody finds them any more; recovery gives them their rows again, as they were.
static const char *const orphanings[] = {
    "DELETE FROM episode WHERE recording = 2", "DELETE FROM recording WHERE id = 2",
    "DELETE FROM recording; DELETE FROM episode; DELETE FROM label",
    "UPDATE recording SET uid = zeroblob(16) WHERE id = 2",
    "UPDATE episode SET recording = 9 WHERE recording = 2"};

START_TEST(orphans_get_their_rows_again) {
    make_log();
    char before[ANSWER_BYTES];
    static const char all[] = "SELECT episode, name, labels, state, steps, simulated_s, begun_utc, "
                              "worst_own, chunks FROM episodes ORDER BY episode";
    snprintf(before, sizeof(before), "%s", sql(&file, all));
    sql(&file, orphanings[_i]);
    Error error;
    ck_assert_msg(recover(&error) == STATUS_OK, "%s\n%.1000s", error.message, said);
    ck_assert(has_said("are right again") || has_said("is right again"));
    const char *after = sql(&file, all);
    ck_assert_ptr_nonnull(strstr(after, "complete"));
    for (char *line = strtok(before, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        ck_assert_msg(strstr(after, line) != NULL, "%s is not in %s", line, after);
    }
}
END_TEST

START_TEST(damaged_chunks_are_named) {
    make_log();
    sql(&file, "UPDATE chunk SET bytes = CAST(substr(bytes, 1, 5000) || x'00' || substr(bytes, "
               "5002) AS BLOB) WHERE id = 7");
    sql(&file, "UPDATE chunk SET first_step = 11 WHERE id = 9");
    sql(&file, "UPDATE chunk SET bytes = (SELECT bytes FROM chunk WHERE id = 30) WHERE id = 10");
    sql(&file, "UPDATE chunk SET bytes = x'' WHERE id = 12");
    Error error;
    ck_assert_int_eq(recover(&error), STATUS_DATA_LOSS);
    ck_assert_ptr_nonnull(strstr(error.message, "2 chunks"));
    ck_assert_msg(has_said("Chunk 7 is damaged: its checksum is wrong"), "%s", said);
    ck_assert(has_said("Chunk 9 (inputs): its row was wrong and is right again."));
    ck_assert(has_said("Chunk 10 (inputs) was there twice.") ||
              has_said("Chunk 30 (inputs) was there twice."));
    ck_assert(has_said("Chunk 12 is damaged"));
    ck_assert(!has_said("Chunk 8 "));
    ck_assert_int_eq(file_bytes(recovered.path), -1);
}
END_TEST

START_TEST(a_file_cut_short_is_copied_as_far_as_it_goes) {
    make_log();
    long whole = file_bytes(file.path);
    long cut = whole * (_i + 1) / 5 / PAGE_BYTES * PAGE_BYTES;
    ck_assert_int_eq(truncate(file.path, cut), 0);
    Error error;
    ck_assert_int_eq(recover(&error), STATUS_DATA_LOSS);
    ck_assert_msg(has_said("can be read goes into"), "%s", said);
    ck_assert_int_eq(file_bytes(file.path), cut); // as it was
    ck_assert_str_eq(sql(&recovered, "PRAGMA integrity_check; PRAGMA journal_mode"),
                     "ok\ndelete\n");
    int count = count_sound_chunks(&recovered);
    ck_assert_int_lt(count, 63);
    // whatever is left can be opened and gone on with
    snprintf(file.path, sizeof(file.path), "%s", recovered.path);
    Log *log = file_open(&file);
    record(log, 9, 2, 100);
    log_close(log);
    ck_assert_int_eq(count_sound_chunks(&file), count + 3);
}
END_TEST

// Which rows a page holds is SQLite's affair; what is lost must be about one page's worth.
START_TEST(a_scribbled_page_costs_what_is_on_it) {
    make_log();
    long pages = file_bytes(file.path) / PAGE_BYTES;
    // from behind the roots of the tables: the first of them are small and hold everything
    long page = pages - 1 - _i;
    overwrite(page * PAGE_BYTES, 0xa5, PAGE_BYTES);
    Error error;
    ck_assert_int_eq(recover(&error), STATUS_DATA_LOSS);
    bool is_copied = file_bytes(recovered.path) > 0;
    int count = count_sound_chunks(is_copied ? &recovered : &file);
    ck_assert_msg(count >= 63 - 8 && count < 63, "%d: %s", count, said);
    if (is_copied) {
        ck_assert_str_eq(sql(&recovered, "PRAGMA integrity_check"), "ok\n");
        ck_assert_str_eq(sql(&recovered, "SELECT count(*), group_concat(DISTINCT labels), "
                                         "group_concat(DISTINCT state) FROM episodes"),
                         _i == 0 ? "3|kept|complete,interrupted\n" : "3|kept|complete\n");
    }
}
END_TEST

// The page of one small table: its rows are made again from what others say.
static long root_of(const char *table) {
    char text[128];
    snprintf(text, sizeof(text), "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
    return atol(sql(&file, text)) - 1;
}

START_TEST(lost_recordings_and_episodes_are_made_again) {
    make_log();
    overwrite(root_of(_i == 0 ? "recording" : "episode") * PAGE_BYTES, 0xa5, PAGE_BYTES);
    Error error;
    ck_assert_int_eq(recover(&error), STATUS_DATA_LOSS);
    ck_assert_str_eq(sql(&recovered, "PRAGMA integrity_check"), "ok\n");
    ck_assert_int_eq(count_sound_chunks(&recovered), 63);
    ck_assert_str_eq(sql(&recovered, "SELECT DISTINCT name, steps, state, chunks FROM episodes"),
                     "fall|200|complete|23\n");
    ck_assert_int_eq(file_count(&file, false), 2);
}
END_TEST

START_TEST(what_is_no_log_or_in_use_is_left_alone) {
    Error error;
    ck_assert_int_eq(recover(&error), STATUS_NOT_FOUND);
    ck_assert_int_eq(file_count(&file, false), 0);
    FILE *text = fopen(file.path, "w");
    fputs("just a text", text);
    fclose(text);
    ck_assert_int_eq(recover(&error), STATUS_INVALID_ARGUMENT);
    ck_assert_int_eq(file_count(&file, true), 1);

    Log *log = file_open(&file);
    ck_assert_int_eq(recover(&error), STATUS_FAILED_PRECONDITION);
    log_close(log);

    make_log();
    ck_assert_int_eq(truncate(file.path, 4 * PAGE_BYTES), 0);
    FILE *there = fopen(recovered.path, "w");
    fclose(there);
    ck_assert_int_eq(recover(&error), STATUS_ALREADY_EXISTS);
    ck_assert_int_eq(file_bytes(recovered.path), 0);
}
END_TEST

static void expect_newer_is_left_alone(void) {
    const long bytes = file_bytes(file.path);
    Error error;
    ck_assert_int_eq(recover(&error), STATUS_FAILED_PRECONDITION);
    char newer[32], known[32];
    snprintf(newer, sizeof(newer), "version %d ", SCHEMA_VERSION + 1);
    snprintf(known, sizeof(known), "version %d:", SCHEMA_VERSION);
    ck_assert_msg(strstr(error.message, newer) != NULL, "%s", error.message);
    ck_assert_msg(strstr(error.message, known) != NULL, "%s", error.message);
    ck_assert_int_eq(file_count(&file, false), 1);
    ck_assert_int_eq(file_bytes(file.path), bytes);
}

// Also where its tables are damaged: what its rows and chunks mean is not known here.
START_TEST(a_newer_version_is_left_alone) {
    make_log();
    char newer[48];
    snprintf(newer, sizeof(newer), "PRAGMA user_version = %d", SCHEMA_VERSION + 1);
    sql(&file, newer);
    expect_newer_is_left_alone();
    overwrite(100, 0xff, 8); // the header of the tree that has the names of the tables
    expect_newer_is_left_alone();
}
END_TEST

// One of which there is a format, too; what it says is not known any more.
START_TEST(a_version_that_is_too_old_is_left_alone) {
    make_log();
    sql(&file, "PRAGMA user_version = 1");
    const long bytes = file_bytes(file.path);
    Error error;
    ck_assert_int_eq(recover(&error), STATUS_FAILED_PRECONDITION);
    ck_assert_msg(strstr(error.message, "too old") != NULL, "%s", error.message);
    ck_assert_int_eq(file_count(&file, false), 1);
    ck_assert_int_eq(file_bytes(file.path), bytes);
}
END_TEST

// The mark of a version that no release wrote is one that was damaged.
START_TEST(a_version_from_before_all_others_is_damage) {
    make_log();
    sql(&file, "PRAGMA user_version = 0");
    Error error;
    ck_assert_int_eq(recover(&error), STATUS_DATA_LOSS);
    ck_assert_int_eq(file_count(&file, false), 2);
    ck_assert_int_eq(count_sound_chunks(&recovered), 63);
}
END_TEST

START_TEST(any_damage_ends_with_an_answer) {
    make_log();
    uint64_t random = 88172645463325252u + (uint64_t)_i * 1000003u;
    for (int i = 0; i < 60; i++) { // xorshift64
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        long at = (long)(random % (uint64_t)(file_bytes(file.path) - 100)) + 100;
        overwrite(at, (int)(random >> 56), 1 + random % 64);
    }
    Error error;
    Status status = recover(&error);
    ck_assert_int_ne(status, STATUS_OK);
    ck_assert_msg(status == STATUS_DATA_LOSS, "%d %s", status, error.message);
}
END_TEST

static TCase *make_case(const char *name) {
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    return tcase;
}

static TCase *case_mend(void) {
    TCase *tcase = make_case("mend");
    tcase_add_test(tcase, a_sound_file_stays_sound);
    tcase_add_test(tcase, a_killed_server_s_file_becomes_one_file);
    tcase_add_test(tcase, a_torn_write_ahead_log_loses_its_end_alone);
    tcase_add_test(tcase, a_hot_journal_is_rolled_back);
    tcase_add_loop_test(tcase, orphans_get_their_rows_again, 0,
                        (int)(sizeof(orphanings) / sizeof(orphanings[0])));
    tcase_add_test(tcase, damaged_chunks_are_named);
    tcase_add_test(tcase, what_is_no_log_or_in_use_is_left_alone);
    tcase_add_test(tcase, a_newer_version_is_left_alone);
    tcase_add_test(tcase, a_version_that_is_too_old_is_left_alone);
    tcase_add_test(tcase, a_version_from_before_all_others_is_damage);
    return tcase;
}

static TCase *case_salvage(void) {
    TCase *tcase = make_case("salvage");
    tcase_add_loop_test(tcase, a_file_cut_short_is_copied_as_far_as_it_goes, 0, 4);
    tcase_add_loop_test(tcase, a_scribbled_page_costs_what_is_on_it, 0, 3);
    tcase_add_loop_test(tcase, lost_recordings_and_episodes_are_made_again, 0, 2);
    tcase_add_loop_test(tcase, any_damage_ends_with_an_answer, 0, 20);
    return tcase;
}

SUITE_MAIN("log/recover", case_mend, case_salvage)
