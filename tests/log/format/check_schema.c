// SPDX-License-Identifier: MIT
// Which files are a log: every file that is none is refused with a sentence that says why, and
// stays as it was.
#include "log/format/schema.h"

#include "log/log_file.h"
#include "support/suite.h"

#include <sys/stat.h>

static LogFile file;

static void set_up(void) {
    file = file_make();
}

static void tear_down(void) {
    file_remove(&file);
}

static void write_file(const char *path, const void *bytes, size_t count) {
    FILE *out = fopen(path, "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(bytes, 1, count, out), count);
    fclose(out);
}

static size_t read_file(const char *path, uint8_t **bytes) {
    FILE *in = fopen(path, "rb");
    ck_assert_ptr_nonnull(in);
    fseek(in, 0, SEEK_END);
    size_t count = (size_t)ftell(in);
    rewind(in);
    *bytes = malloc(count + 1);
    ck_assert_uint_eq(fread(*bytes, 1, count, in), count);
    fclose(in);
    return count;
}

static void make_log(void) {
    Log *log = file_open(&file);
    record(log, 1, 20, 5000);
    log_close(log);
}

// Refused for writing and for reading, and not a byte of it changed.
static void check_refused(const char *path, Status expected, const char *words) {
    for (int reads = 0; reads < 2; reads++) {
        sqlite3 *db = NULL;
        Error error = {0};
        Status status = reads == 1 ? schema_open_reader(path, &db, &error)
                                   : schema_open(path, false, &db, &error);
        ck_assert_msg(status == expected, "reads %d: %d, %s", reads, status, error.message);
        ck_assert_msg(strstr(error.message, words) != NULL, "%s", error.message);
        ck_assert_ptr_null(db);
    }
}

START_TEST(a_new_file_is_marked_as_ours) {
    if (_i == 1) {
        write_file(file.path, "", 0); // an empty file is a new one
    }
    sqlite3 *db = NULL;
    Error error = {0};
    ck_assert_int_eq(schema_open(file.path, false, &db, &error), STATUS_OK);
    ck_assert_str_eq(sql_on(db,
                            "PRAGMA application_id; PRAGMA user_version; PRAGMA page_size; "
                            "PRAGMA journal_mode; PRAGMA synchronous; PRAGMA wal_autocheckpoint"),
                     "1297044053\n11\n32768\nwal\n1\n0\n");
    sqlite3_close(db);
    ck_assert_int_eq(schema_open(file.path, true, &db, &error), STATUS_OK);
    ck_assert_str_eq(sql_on(db, "PRAGMA synchronous"), "2\n");
    sqlite3_close(db);
}
END_TEST

// To SQLite, or to some of its builds, they are no files.
static const char *const strange_names[] = {":memory:", "file:a.db?mode=memory", "file::memory:"};

START_TEST(a_name_is_that_of_a_file) {
    const char *name = strange_names[_i];
    ck_assert_int_eq(chdir(file.folder), 0);
    sqlite3 *db = NULL;
    Error error = {0};
    ck_assert_msg(schema_open(name, false, &db, &error) == STATUS_OK, "%s", error.message);
    sqlite3_close(db);
    struct stat info;
    ck_assert_int_eq(stat(name, &info), 0);
    ck_assert_int_gt(info.st_size, 0);
    ck_assert_msg(schema_open_reader(name, &db, &error) == STATUS_OK, "%s", error.message);
    sqlite3_close(db);
}
END_TEST

START_TEST(a_reader_reads_and_nothing_else) {
    make_log();
    sqlite3 *db = NULL;
    Error error = {0};
    ck_assert_int_eq(schema_open_reader(file.path, &db, &error), STATUS_OK);
    ck_assert_str_eq(sql_on(db, "SELECT count(*) FROM chunk; PRAGMA mmap_size"), "23\n0\n");
    ck_assert_int_eq(sqlite3_exec(db, "DELETE FROM chunk", NULL, NULL, NULL), SQLITE_READONLY);
    ck_assert_int_eq(sqlite3_wal_checkpoint(db, NULL), SQLITE_OK);
    sqlite3_close(db);
}
END_TEST

START_TEST(a_reader_never_checkpoints) {
    Log *log = file_open(&file);
    record(log, 1, 20, 5000);
    // a copy of what a killed server leaves, where this reader is alone
    uint8_t *bytes;
    char from[600], copy[600], copy_log[600];
    snprintf(from, sizeof(from), "%s-wal", file.path);
    snprintf(copy, sizeof(copy), "%s/copy.db", file.folder);
    snprintf(copy_log, sizeof(copy_log), "%s/copy.db-wal", file.folder);
    size_t count = read_file(file.path, &bytes);
    write_file(copy, bytes, count);
    free(bytes);
    size_t log_count = read_file(from, &bytes);
    write_file(copy_log, bytes, log_count);
    free(bytes);
    log_close(log);

    sqlite3 *db = NULL;
    Error error = {0};
    ck_assert_int_eq(schema_open_reader(copy, &db, &error), STATUS_OK);
    ck_assert_str_eq(sql_on(db, "SELECT count(*) FROM chunk"), "23\n");
    sqlite3_close(db);
    uint8_t *after;
    ck_assert_uint_eq(read_file(copy, &after), count);
    free(after);
    ck_assert_uint_eq(read_file(copy_log, &after), log_count);
    free(after);
}
END_TEST

START_TEST(paths_that_lead_nowhere_are_refused) {
    char path[600];
    snprintf(path, sizeof(path), "%s/none/log.db", file.folder);
    check_refused(path, STATUS_NOT_FOUND, "folder");
    check_refused(file.folder, STATUS_INVALID_ARGUMENT, "is a folder");
    write_file(file.path, "x", 1);
    snprintf(path, sizeof(path), "%s/log.db", file.path);
    check_refused(path, STATUS_INVALID_ARGUMENT, "no folder");
    check_refused("/dev/null", STATUS_INVALID_ARGUMENT, "no ordinary file");
    sqlite3 *db = NULL;
    Error error;
    snprintf(path, sizeof(path), "%s/missing.db", file.folder);
    ck_assert_int_eq(schema_open_reader(path, &db, &error), STATUS_NOT_FOUND);
}
END_TEST

START_TEST(what_may_not_be_written_is_refused) {
    bool is_root = geteuid() == 0; // whom permissions do not bind
    if (is_root) {
        ck_assert_int_eq(seteuid(65534), 0);
    }
    char folder[300], path[600];
    snprintf(folder, sizeof(folder), "/tmp/moreau-schema-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/log.db", folder);
    sqlite3 *db = NULL;
    Error error = {0};
    write_file(path, "", 0);
    ck_assert_int_eq(chmod(path, 0400), 0);
    ck_assert_int_eq(schema_open(path, false, &db, &error), STATUS_PERMISSION_DENIED);
    ck_assert_ptr_nonnull(strstr(error.message, "cannot be written"));
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(chmod(folder, 0500), 0);
    ck_assert_int_eq(schema_open(path, false, &db, &error), STATUS_PERMISSION_DENIED);
    ck_assert_ptr_nonnull(strstr(error.message, "folder"));
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(is_root ? seteuid(0) : 0, 0);
}
END_TEST

START_TEST(other_files_are_refused_unchanged) {
    static const char text[] = "Dear diary, today I have not been a database, and I am well.\n";
    static const uint8_t zeros[70000];
    const struct {
        const void *bytes;
        size_t count;
    } others[] = {{text, 1},    {zeros, 1},
                  {text, 5},    {text, sizeof(text)},
                  {zeros, 100}, {zeros, sizeof(zeros)}};
    write_file(file.path, others[_i].bytes, others[_i].count);
    check_refused(file.path, STATUS_INVALID_ARGUMENT, "no SQLite database");
    uint8_t *after;
    ck_assert_uint_eq(read_file(file.path, &after), others[_i].count);
    ck_assert_mem_eq(after, others[_i].bytes, others[_i].count);
    free(after);
}
END_TEST

START_TEST(databases_of_others_are_refused) {
    sql(&file, "CREATE TABLE mail(body TEXT)");
    check_refused(file.path, STATUS_INVALID_ARGUMENT, "another program");
    sql(&file, "PRAGMA application_id = 77; DROP TABLE mail");
    check_refused(file.path, STATUS_INVALID_ARGUMENT, "another program");
    ck_assert_str_eq(sql(&file, "PRAGMA journal_mode; SELECT count(*) FROM sqlite_schema"),
                     "delete\n0\n");
}
END_TEST

START_TEST(a_newer_version_is_named) {
    make_log();
    sql(&file, "PRAGMA user_version = 12");
    check_refused(file.path, STATUS_FAILED_PRECONDITION, "version 12");
    check_refused(file.path, STATUS_FAILED_PRECONDITION, "version 11:");
    sql(&file, "DROP TABLE label"); // which newer files may have no more
    check_refused(file.path, STATUS_FAILED_PRECONDITION, "version 12");
}
END_TEST

START_TEST(a_file_of_schema_1_is_refused_with_a_sentence) {
    make_log();
    sql(&file, "PRAGMA user_version = 1");
    check_refused(file.path, STATUS_FAILED_PRECONDITION, "too old: it has version 1");
    check_refused(file.path, STATUS_FAILED_PRECONDITION, "before the first release");
}
END_TEST

START_TEST(missing_tables_are_damage) {
    make_log();
    sql(&file, "DROP TABLE label");
    check_refused(file.path, STATUS_DATA_LOSS, "without its tables");
}
END_TEST

// Cut anywhere: in the header, in the first page, between pages, in the last page.
START_TEST(a_file_that_was_cut_short_is_refused) {
    make_log();
    uint8_t *bytes;
    size_t count = read_file(file.path, &bytes);
    const size_t cuts[] = {150, 5000, 32768, 3 * 32768, count - 32768, count - 100};
    write_file(file.path, bytes, cuts[_i]);
    check_refused(file.path, STATUS_DATA_LOSS, "--recover");
    uint8_t *after;
    ck_assert_uint_eq(read_file(file.path, &after), cuts[_i]);
    ck_assert_mem_eq(after, bytes, cuts[_i]);
    free(after);
    free(bytes);
}
END_TEST

START_TEST(any_bytes_give_an_error_or_a_database) {
    make_log();
    uint8_t *bytes;
    size_t count = read_file(file.path, &bytes);
    uint64_t random = 88172645463325252u + (uint64_t)_i;
    for (int round = 0; round < 30; round++) {
        uint8_t *changed = malloc(count);
        memcpy(changed, bytes, count);
        for (int i = 0; i < 40; i++) { // xorshift64: mostly in the first page, which is read first
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            size_t at = i % 2 == 0 ? random % 4096 : random % count;
            changed[at] = (uint8_t)(random >> 32);
        }
        write_file(file.path, changed, count);
        free(changed);
        sqlite3 *db = NULL;
        Error error = {0};
        Status status = schema_open_reader(file.path, &db, &error);
        ck_assert(status == STATUS_OK || error.message[0] != '\0');
        sqlite3_close(db);
        db = NULL;
        status = schema_open(file.path, false, &db, &error);
        ck_assert(status == STATUS_OK || error.message[0] != '\0');
        sqlite3_close(db);
        file_count(&file, true);
    }
    free(bytes);
}
END_TEST

START_TEST(sqlite_errors_are_sentences) {
    const struct {
        int code;
        Status status;
        const char *words;
    } errors[] = {{SQLITE_FULL, STATUS_RESOURCE_EXHAUSTED, "the disk is full"},
                  {SQLITE_CORRUPT, STATUS_DATA_LOSS, "--recover"},
                  {SQLITE_NOTADB, STATUS_DATA_LOSS, "--recover"},
                  {SQLITE_READONLY, STATUS_UNAVAILABLE, "permission"},
                  {SQLITE_BUSY, STATUS_UNAVAILABLE, "another program"},
                  {SQLITE_NOMEM, STATUS_RESOURCE_EXHAUSTED, "memory"},
                  {SQLITE_CANTOPEN, STATUS_UNAVAILABLE, "unable to open"}};
    sqlite3 *db = sql_open(file.path);
    Error error = {0};
    ck_assert_int_eq(schema_error(db, errors[_i].code, "writing an episode", &error),
                     errors[_i].status);
    ck_assert_ptr_nonnull(strstr(error.message, errors[_i].words));
    ck_assert_ptr_nonnull(strstr(error.message, "writing an episode"));
    ck_assert_ptr_nonnull(strstr(error.message, file.path));
    sqlite3_close(db);
}
END_TEST

static TCase *make_case(const char *name) {
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    return tcase;
}

static TCase *case_open(void) {
    TCase *tcase = make_case("open");
    tcase_add_loop_test(tcase, a_new_file_is_marked_as_ours, 0, 2);
    tcase_add_loop_test(tcase, a_name_is_that_of_a_file, 0,
                        sizeof(strange_names) / sizeof(strange_names[0]));
    tcase_add_test(tcase, a_reader_reads_and_nothing_else);
    tcase_add_test(tcase, a_reader_never_checkpoints);
    tcase_add_test(tcase, paths_that_lead_nowhere_are_refused);
    tcase_add_test(tcase, what_may_not_be_written_is_refused);
    return tcase;
}

static TCase *case_refuse(void) {
    TCase *tcase = make_case("refuse");
    tcase_add_loop_test(tcase, other_files_are_refused_unchanged, 0, 6);
    tcase_add_test(tcase, databases_of_others_are_refused);
    tcase_add_test(tcase, a_newer_version_is_named);
    tcase_add_test(tcase, a_file_of_schema_1_is_refused_with_a_sentence);
    tcase_add_test(tcase, missing_tables_are_damage);
    tcase_add_loop_test(tcase, a_file_that_was_cut_short_is_refused, 0, 6);
    tcase_add_loop_test(tcase, any_bytes_give_an_error_or_a_database, 0, 4);
    tcase_add_loop_test(tcase, sqlite_errors_are_sentences, 0, 7);
    return tcase;
}

SUITE_MAIN("log/schema", case_open, case_refuse)
