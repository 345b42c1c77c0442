// SPDX-License-Identifier: MIT
// The care that a server takes of its file while it serves: what it deletes by its rules of
// retention and what it keeps, and backups.
#include "support/server_shell.h"
#include "support/suite.h"
#include "support/wire_episode.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

static WireDepot depot;
static WireClient *client;

static void open_depot(const char *options) {
    wire_depot_open(&depot, options);
    client = depot.client;
}

static void reopen_depot(const char *options) {
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, options);
    client = depot.client;
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

static void record(const char *name, uint64_t steps) {
    uint64_t world = wire_small_world(client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.name = (char *)name;
    wire_record(client, &start);
    wire_step(client, world, steps);
    wire_stop_recording(client, world);
}

static void pin(const char *episode) {
    Moreau__V1__EpisodePin call = MOREAU__V1__EPISODE_PIN__INIT;
    call.episode = (char *)episode;
    wire_accept(client, &call);
}

static bool is_there(const char *episode) {
    Moreau__V1__EpisodeDescribe call = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    call.episode = (char *)episode;
    const Moreau__V1__Reply *reply = wire_call(client, &call);
    if (reply->status->code != CODE(OK)) {
        wire_expect(reply, CODE(NOT_FOUND), "episode");
    }
    return reply->status->code == CODE(OK);
}

static void await_gone(const char *episode) {
    while (is_there(episode)) { // the suite's timeout ends it
        server_sleep_ms(5);
    }
}

// ---- retention

START_TEST(what_ended_days_ago_goes_and_the_pinned_stays) {
    server_begin_shim("MOREAU_DAYS_AGO", "40");
    open_depot("--workers 1");
    server_end_shim();
    unsetenv("MOREAU_DAYS_AGO");
    record("old", 30);
    record("kept", 30);
    pin("kept");
    reopen_depot("--workers 1");
    record("new", 30);
    reopen_depot("--workers 1 --keep-days 41");
    ck_assert(is_there("old") && is_there("kept"));
    reopen_depot("--workers 1 --keep-days 39");
    await_gone("old");
    wire_expect_verified(client, "kept", 30);
    wire_expect_verified(client, "new", 30);
    char *log = server_read(depot.server, "log");
    const char *line = strstr(log, "retention_deleted");
    ck_assert_msg(line != NULL, "%s", log);
    ck_assert_ptr_nonnull(strstr(line, "episodes=1 why=\"it ended more than 39 days ago\""));
    free(log);
}
END_TEST

START_TEST(what_is_being_read_or_recorded_stays) {
    open_depot("--workers 2 --keep-episodes 1");
    uint64_t world = wire_small_world(client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.name = (char *)"open";
    wire_record(client, &start);
    record("read", 300);
    Moreau__V1__EpisodeReplay replay = MOREAU__V1__EPISODE_REPLAY__INIT;
    replay.episode = (char *)"read";
    replay.has_speed = replay.has_again = 1;
    replay.speed = 0.001; // longer than the test
    replay.again = 1;
    WireClient *reader = wire_open(depot.server->address[0]);
    uint64_t id = wire_submit(reader, &replay);
    ck_assert(wire_receive(reader)->event);
    record("second", 10);
    record("third", 10);
    await_gone("second");
    ck_assert(is_there("read") && is_there("third"));
    wire_step(client, world, 10); // and is written while others go
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1;
    cancel.request = id;
    wire_submit(reader, &cancel);
    wire_expect(wire_await(reader, id, NULL, NULL), CODE(CANCELLED), NULL);
    await_gone("read");
    wire_close(reader);
    ck_assert_uint_eq(wire_stop_recording(client, world)->steps, 10);
    await_gone("third"); // which was begun later, and ended before
    wire_expect_verified(client, "open", 10);
}
END_TEST

START_TEST(the_tool_pins) {
    open_depot("--workers 1");
    const char *address = depot.server->address[0];
    char said[4096];
    record("fall", 10);
    json_t *one = server_shell_json(address, "moreau episodes fall --pin --json", 0);
    ck_assert(json_is_true(json_object_get(one, "pinned")));
    json_decref(one);
    ck_assert_int_eq(server_shell(address, "moreau episodes", said, sizeof(said)), 0);
    ck_assert_ptr_nonnull(strstr(said, "complete, pinned"));
    ck_assert_int_eq(
        server_shell(address, "moreau episodes --delete fall 2>&1", said, sizeof(said)), 1);
    ck_assert_ptr_nonnull(strstr(said, "--unpin"));
    ck_assert_int_eq(server_shell(address, "moreau episodes fall --unpin", said, sizeof(said)), 0);
    ck_assert_ptr_nonnull(strstr(said, "unpinned episode"));
    ck_assert_int_eq(server_shell(address, "moreau episodes --pin 2>&1", said, sizeof(said)), 2);
    ck_assert_int_eq(
        server_shell(address, "moreau episodes fall --pin --unpin 2>&1", said, sizeof(said)), 2);
    ck_assert_int_eq(server_shell(address, "moreau episodes --delete fall", said, sizeof(said)), 0);
}
END_TEST

START_TEST(rules_that_cannot_be_meant_are_refused) {
    static const char *const wrong[][2] = {
        {"--db @/x.db --keep-bytes 10", "1 MiB at least"},
        {"--keep-days 3", "--db FILE"},
        {"--db @/x.db --keep-days -1", "keep-days takes"},
        {"--db @/x.db --keep-episodes many", "keep-episodes takes"},
    };
    char said[1024];
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_int_ne(server_refusal(wrong[i][0], said, sizeof(said)), 0);
        ck_assert_msg(strstr(said, wrong[i][1]) != NULL, "%s", said);
    }
}
END_TEST

static TCase *case_retention(void) {
    TCase *tcase = tcase_create("retention");
    tcase_add_checked_fixture(tcase, NULL, close_depot);
    tcase_add_test(tcase, what_ended_days_ago_goes_and_the_pinned_stays);
    tcase_add_test(tcase, what_is_being_read_or_recorded_stays);
    tcase_add_test(tcase, the_tool_pins);
    return tcase;
}

// ---- backups

static char folder[SERVER_FOLDER_BYTES]; // of backups

static void make_folder(void) {
    server_make_folder(folder);
}

static void remove_folder(void) {
    server_remove_folder(folder);
}

static void open_with_backups(void) {
    char options[128];
    snprintf(options, sizeof(options), "--workers 2 --backup-dir %s", folder);
    open_depot(options);
}

typedef struct Progress {
    uint64_t done, total;
} Progress;

static void see_progress(const Moreau__V1__Reply *event, void *context) {
    Progress *progress = context;
    ck_assert_int_eq(event->result_case, MOREAU__V1__REPLY__RESULT_BACKUP_PROGRESS);
    progress->done = event->backup_progress->bytes_done;
    progress->total = event->backup_progress->bytes_total;
    ck_assert_uint_le(progress->done, progress->total);
}

// A world whose frames are a long write.
static uint64_t record_wide(const char *name, uint64_t steps) {
    uint64_t world = wire_wide_world(client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.name = (char *)name;
    start.has_content = 1;
    start.content = MOREAU__V1__EPISODE__CONTENT__FRAMES;
    wire_record(client, &start);
    wire_step(client, world, steps);
    return world;
}

START_TEST(a_backup_of_a_server_that_records_is_a_log_of_its_own) {
    open_with_backups();
    record("before", 100);
    uint64_t world = record_wide("open", 200);
    while (wire_describe(client, "open")->steps < 100) { // it is in the file
        server_sleep_ms(5);
    }
    WireClient *other = wire_open(depot.server->address[0]);
    Moreau__V1__WorldStep step = wire_step_call(&world, 300);
    uint64_t stepping = wire_submit(other, &step);
    Moreau__V1__EpisodeBackup call = MOREAU__V1__EPISODE_BACKUP__INIT;
    call.name = (char *)"episodes.db";
    Progress progress = {0};
    const Moreau__V1__Reply *reply = wire_stream(client, &call, see_progress, &progress);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_str_eq(reply->episode_backup->name, "episodes.db");
    ck_assert_uint_gt(reply->episode_backup->bytes, 100 * WIRE_WIDE_FRAME_BYTES);
    wire_refuse(client, &call, CODE(ALREADY_EXISTS), "name");
    wire_expect(wire_await(other, stepping, NULL, NULL), CODE(OK), NULL);
    wire_close(other);
    ck_assert_uint_eq(wire_stop_recording(client, world)->steps, 500);
    wire_expect_verified(client, "open", 500);
    close_depot();

    char options[160];
    snprintf(options, sizeof(options), "--workers 2 --db %s/episodes.db", folder);
    ServerProcess *server = server_start(options);
    client = wire_open(server->address[0]);
    wire_expect_verified(client, "before", 100);
    const Moreau__V1__EpisodeInfo *open = wire_describe(client, "open");
    ck_assert_int_eq(open->state, MOREAU__V1__EPISODE__STATE__INTERRUPTED);
    ck_assert_uint_ge(open->steps, 100);
    wire_expect_verified(client, "open", open->steps);
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(the_tool_makes_backups) {
    open_with_backups();
    const char *address = depot.server->address[0];
    char said[2048];
    record("fall", 20);
    json_t *made = server_shell_json(address, "moreau backup night.db --json", 0);
    ck_assert_str_eq(json_string_value(json_object_get(made, "name")), "night.db");
    json_decref(made);
    ck_assert_int_eq(server_shell(address, "moreau backup night.db 2>&1", said, sizeof(said)), 1);
    ck_assert_msg(strstr(said, "is there already") != NULL, "%s", said);
    ck_assert_int_eq(
        server_shell(address, "moreau backup night.db --overwrite", said, sizeof(said)), 0);
    ck_assert_msg(strstr(said, "backed up") != NULL, "%s", said);
    ck_assert_int_eq(server_shell(address, "moreau backup ../x 2>&1", said, sizeof(said)), 1);
    reopen_depot("--workers 1"); // without a folder
    ck_assert_int_eq(
        server_shell(depot.server->address[0], "moreau backup x.db 2>&1", said, sizeof(said)), 1);
    ck_assert_msg(strstr(said, "--backup-dir") != NULL, "%s", said);
    close_depot();
}
END_TEST

// It was cancelled, or done before: there is never half of it.
START_TEST(a_server_that_stops_leaves_a_whole_backup_or_none) {
    open_with_backups();
    wire_stop_recording(client, record_wide("fall", 500));
    Moreau__V1__EpisodeBackup call = MOREAU__V1__EPISODE_BACKUP__INIT;
    call.name = (char *)"half.db";
    uint64_t id = wire_submit(client, &call);
    if (_i == 0) {
        Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
        cancel.has_request = 1;
        cancel.request = id;
        wire_submit(client, &cancel);
        const Moreau__V1__Reply *reply = wire_await(client, id, NULL, NULL);
        ck_assert(reply->status->code == CODE(CANCELLED) || reply->status->code == CODE(OK));
    }
    close_depot(); // exit status 0
    char line[128], said[256], path[128];
    snprintf(line, sizeof(line), "ls -A %s", folder);
    server_shell("", line, said, sizeof(said));
    ck_assert_msg(said[0] == '\0' || strcmp(said, "half.db\n") == 0, "%s", said);
    snprintf(path, sizeof(path), "%s/half.db", folder);
    sqlite3 *db;
    sqlite3_stmt *rows;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK) {
        ck_assert_int_eq(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &rows, NULL),
                         SQLITE_OK);
        ck_assert_int_eq(sqlite3_step(rows), SQLITE_ROW);
        ck_assert_str_eq((const char *)sqlite3_column_text(rows, 0), "ok");
        sqlite3_finalize(rows);
    }
    sqlite3_close(db);
}
END_TEST

static TCase *case_backups(void) {
    TCase *tcase = tcase_create("backups");
    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_add_test(tcase, a_backup_of_a_server_that_records_is_a_log_of_its_own);
    tcase_add_test(tcase, the_tool_makes_backups);
    tcase_add_loop_test(tcase, a_server_that_stops_leaves_a_whole_backup_or_none, 0, 2);
    return tcase;
}

static TCase *case_options(void) {
    TCase *tcase = tcase_create("options");
    tcase_add_test(tcase, rules_that_cannot_be_meant_are_refused);
    return tcase;
}

SUITE_MAIN("system/care", case_retention, case_backups, case_options)
