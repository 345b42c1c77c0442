// SPDX-License-Identifier: MIT
// How SQLite goes about what it is asked: along an index or by ids, however long the file. The
// statements are those that a writer and a reader have prepared, and those that lists of episodes
// are made of, as a reader runs them.
#include "log/log_file.h"
#include "log/reader/parts.h"
#include "log/writer/parts.h"
#include "support/suite.h"

enum { PLAN_BYTES = 4096 };
enum { PLANS_MAX = 4 };

static LogFile file;

static void set_up(void) {
    file = file_make();
    Log *log = file_open(&file);
    record(log, 1, 2, 100);
    record(log, 2, 2, 100);
    log_close(log);
    // the second is what every list asks for
    sql(&file, "UPDATE recording SET uid = x'01000000000000000000000000000000', name = 'xy', "
               "solver = 'x', client = 'x', events = 1 WHERE id = 2;"
               "UPDATE episode SET state = 3, return_sum = 1.0, return_doubtful = 0.5 WHERE "
               "recording = 2;"
               "INSERT INTO label VALUES('x', 2);"
               "INSERT INTO touch_body VALUES(2, 1, 'x');"
               "INSERT INTO touch VALUES(2, 1, 1, 2, 2, 0.1, 0.1, 0.1, 1)");
}

static void tear_down(void) {
    file_remove(&file);
}

// One line per loop, behind one another.
static void explain(sqlite3 *db, const char *sql, char plan[PLAN_BYTES]) {
    char text[2 * PLAN_BYTES];
    sqlite3_stmt *statement;
    plan[0] = '\0';
    ck_assert_int_lt(snprintf(text, sizeof(text), "EXPLAIN QUERY PLAN %s", sql), sizeof(text));
    ck_assert_msg(sqlite3_prepare_v2(db, text, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
                  sqlite3_errmsg(db));
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const size_t used = strlen(plan);
        snprintf(plan + used, PLAN_BYTES - used, "%s; ",
                 (const char *)sqlite3_column_text(statement, 3));
    }
    sqlite3_finalize(statement);
}

// A constant row, a pragma, rows that are handed over, and what another line says already are no
// tables of the file.
static bool scans(const char *plan) {
    for (const char *at = plan; (at = strstr(at, "SCAN ")) != NULL; at++) {
        const char *virtual = strstr(at, " VIRTUAL TABLE ");
        const bool is_virtual = virtual != NULL && virtual < strchr(at, ';');
        if (strncmp(at, "SCAN CONSTANT", strlen("SCAN CONSTANT")) != 0 &&
            strncmp(at, "SCAN (", strlen("SCAN (")) != 0 && !is_virtual) {
            return true;
        }
    }
    return false;
}

// Recordings without an episode are looked for once, at a start.
START_TEST(what_the_log_does_is_never_the_work_of_all_rows) {
    Writer writer;
    Error error = {0};
    char plan[PLAN_BYTES];
    int scan_count = 0;
    ck_assert_int_eq(writer_open(&writer, file.path, false, &error), STATUS_OK);
    for (int i = 0; i < WRITER_STATEMENT_COUNT; i++) {
        explain(writer.db, sqlite3_sql(writer.statement[i]), plan);
        scan_count += scans(plan);
        ck_assert_msg(i == READ_ORPHAN || !scans(plan), "%s\n%s", sqlite3_sql(writer.statement[i]),
                      plan);
        ck_assert_msg(strstr(plan, "ORDER BY") == NULL, "%s\n%s", sqlite3_sql(writer.statement[i]),
                      plan);
    }
    ck_assert_int_eq(scan_count, 1);
    explain(writer.db, sqlite3_sql(writer_get(&writer, READ_ENDED)), plan);
    ck_assert_ptr_nonnull(strstr(plan, "recording_by_end"));
    writer_close(&writer);
}
END_TEST

START_TEST(what_a_reader_has_prepared_is_never_the_work_of_all_rows) {
    LogReader *reader;
    Error error = {0};
    char plan[PLAN_BYTES];
    ck_assert_int_eq(log_reader_open(file.path, &reader, &error), STATUS_OK);
    for (int i = 0; i < READER_STATEMENT_COUNT; i++) {
        explain(reader->db, sqlite3_sql(reader->statement[i]), plan);
        ck_assert_msg(!scans(plan), "%s\n%s", sqlite3_sql(reader->statement[i]), plan);
    }
    log_reader_close(reader);
}
END_TEST

// ---- lists

typedef struct Asked {
    char sql[PLANS_MAX][PLAN_BYTES];
    size_t count;
} Asked;

static int note_statement(unsigned type, void *context, void *statement, void *text) {
    (void)text;
    Asked *asked = context;
    const char *sql = sqlite3_sql(statement);
    if (type == SQLITE_TRACE_STMT && strstr(sql, "FROM") != NULL && asked->count < PLANS_MAX) {
        snprintf(asked->sql[asked->count++], PLAN_BYTES, "%s", sql);
    }
    return 0;
}

#define OF_RECORDING "SEARCH e USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"

static const uint8_t second_uid[UID_BYTES] = {1};
static const TouchFilter of_x = {
    .body = {.name = "x"}, .before = UINT64_MAX, .impulse_above = -1.0, .speed_above = -1.0};

// What a list is asked for, and how its rows are found, in the order that they are wanted in.
static const struct {
    EpisodeFilter filter;
    const char *first, *then; // Nullable
} lists[] = {
    {{.state = -1}, "SCAN e; ", NULL}, // by id, the newest first
    {{.state = -1, .recording = second_uid}, OF_RECORDING, NULL},
    {{.state = -1, .label = "x"}, "SEARCH l USING PRIMARY KEY (label=?)", OF_RECORDING},
    {{.state = -1, .label = "x", .name = "y"},
     "SEARCH l USING PRIMARY KEY (label=?)",
     OF_RECORDING},
    {{.state = -1, .client = "x"},
     "SEARCH r USING COVERING INDEX recording_by_client (client=?)",
     OF_RECORDING},
    {{.state = -1, .name = "x"}, "SCAN r; ", OF_RECORDING}, // a part of a name has no index
    {{.state = -1, .solver = "x"}, "SCAN r; ", OF_RECORDING},
    {{.state = -1, .touch_count = 1, .touch = &of_x},
     "SEARCH r USING INTEGER PRIMARY KEY (rowid=?)",
     OF_RECORDING},
    {{.state = -1, .since_ns = 1}, "SEARCH e USING COVERING INDEX episode_by_time", NULL},
    {{.state = -1, .until_ns = INT64_MAX, .name = "x"},
     "SEARCH e USING COVERING INDEX episode_by_time",
     NULL},
    {{.state = RECORDING_INTERRUPTED}, "SEARCH e USING COVERING INDEX episode_by_state", NULL},
    {{.state = RECORDING_INTERRUPTED, .client = "x"},
     "SEARCH e USING COVERING INDEX episode_by_state",
     "SEARCH r USING INTEGER PRIMARY KEY (rowid=?)"},
    {{.state = -1, .is_by_doubt = true}, "SCAN e USING INDEX episode_by_doubt", NULL},
};

START_TEST(a_list_goes_along_what_narrows_it_and_is_not_sorted) {
    LogReader *reader;
    EpisodeRows rows;
    Arena arena;
    Error error = {0};
    char plan[PLAN_BYTES];
    Asked asked = {.count = 0};
    EpisodeFilter filter = lists[_i].filter;
    filter.count = 10;
    arena_init(&arena, 1 << 20);
    ck_assert_int_eq(log_reader_open(file.path, &reader, &error), STATUS_OK);
    sqlite3_trace_v2(reader->db, SQLITE_TRACE_STMT, note_statement, &asked);
    ck_assert_msg(log_reader_list(reader, &filter, &arena, &rows, &error) == STATUS_OK, "%s",
                  error.message);
    sqlite3_trace_v2(reader->db, 0, NULL, NULL);
    size_t found = 0; // behind how many there are
    while (found < asked.count && strstr(asked.sql[found], "ORDER BY") == NULL) {
        found++;
    }
    ck_assert_uint_lt(found, asked.count);
    explain(reader->db, asked.sql[found], plan);
    const char *then = strstr(plan, lists[_i].first);
    ck_assert_msg(then != NULL, "%s\n%s", asked.sql[found], plan);
    ck_assert_msg(lists[_i].then == NULL || strstr(then + 1, lists[_i].then) != NULL, "%s\n%s",
                  asked.sql[found], plan);
    ck_assert_msg(strstr(plan, "TEMP B-TREE") == NULL, "%s\n%s", asked.sql[found], plan);
    log_reader_close(reader);
    arena_deinit(&arena);
}
END_TEST

static TCase *case_plans(void) {
    TCase *tcase = tcase_create("plans");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, what_the_log_does_is_never_the_work_of_all_rows);
    tcase_add_test(tcase, what_a_reader_has_prepared_is_never_the_work_of_all_rows);
    tcase_add_loop_test(tcase, a_list_goes_along_what_narrows_it_and_is_not_sorted, 0,
                        (int)(sizeof(lists) / sizeof(lists[0])));
    return tcase;
}

SUITE_MAIN("log/plans", case_plans)
