// SPDX-License-Identifier: MIT
// What befalls a server that records: a file it cannot use, a disk that is full or slow, worlds and
// clients that vanish. It says what is wrong, lives, and lets the others go on; what it said was
// stored is stored.
#include "support/machine.h"
#include "support/server_process.h"
#include "support/server_shell.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"
#include "support/wire_world.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

static char folder[SERVER_FOLDER_BYTES];

static void make_folder(void) {
    server_make_folder(folder);
}

static void remove_folder(void) {
    server_remove_folder(folder);
}

static ServerProcess *start_on(const char *name) {
    char options[256];
    snprintf(options, sizeof(options), "--workers 2 --session-grace-ms 0 --db %s/%s", folder, name);
    return server_start(options);
}

// ---- files it cannot use

// Starts recording; its id goes to `episode`.
static void record(WireClient *client, uint64_t world, Moreau__V1__Episode__Content content,
                   char episode[WIRE_EPISODE_ID_BYTES]) {
    Moreau__V1__EpisodeStart call = wire_start_call(world);
    call.has_content = 1;
    call.content = content;
    memcpy(episode, wire_record(client, &call).id, WIRE_EPISODE_ID_BYTES);
}

static void run_sql(const char *name, const char *sql) {
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

// A file that a server made, with an episode in it.
static void make_episodes(const char *name) {
    ServerProcess *server = start_on(name);
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client);
    char episode[WIRE_EPISODE_ID_BYTES];
    record(client, world, MOREAU__V1__EPISODE__CONTENT__FRAMES, episode);
    wire_step(client, world, 200);
    wire_stop_recording(client, world);
    wire_close(client);
    server_stop(server);
}

static void expect_refusal(const char *name, const char *word) {
    char options[256], said[1024];
    snprintf(options, sizeof(options), "--db %s/%s", folder, name);
    int status = server_refusal(options, said, sizeof(said));
    ck_assert_msg(status == 1, "%s: status %d, said: %s", name, status, said);
    ck_assert_msg(strstr(said, name) != NULL && strstr(said, word) != NULL, "%s: %s", name, said);
}

START_TEST(a_file_that_cannot_be_used_is_refused_with_a_sentence) {
    server_write(folder, "text.db", "These are the notes of a person, and no database at all.\n");
    run_sql("foreign.db", "CREATE TABLE shopping(item TEXT)");
    make_episodes("newer.db");
    run_sql("newer.db", "PRAGMA user_version = 99");
    make_episodes("short.db");
    char path[128];
    snprintf(path, sizeof(path), "%s/short.db", folder);
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq(truncate(path, info.st_size / 2), 0);
    snprintf(path, sizeof(path), "%s/folder.db", folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);

    expect_refusal("text.db", "database");
    expect_refusal("foreign.db", "another program");
    expect_refusal("newer.db", "99");
    expect_refusal("short.db", "--recover");
    expect_refusal("folder.db", "is a folder");
    expect_refusal("missing/folder/e.db", "folder");
    char said[1024];
    ck_assert_int_eq(server_refusal("--db /proc/e.db", said, sizeof(said)), 1);
    ck_assert_ptr_nonnull(strstr(said, "/proc/e.db"));
}
END_TEST

START_TEST(a_second_server_on_the_same_file_is_refused) {
    ServerProcess *server = start_on("one.db");
    expect_refusal("one.db", "another");
    WireClient *client = wire_open(server->address[0]);
    wire_ping(client);
    wire_close(client);
    server_stop(server);
    server = start_on("one.db"); // it is free again
    server_stop(server);
}
END_TEST

static const Moreau__V1__Reply *refuse_stop(WireClient *client, uint64_t world) {
    Moreau__V1__EpisodeStop call = MOREAU__V1__EPISODE_STOP__INIT;
    call.has_world = 1;
    call.world = world;
    return wire_refuse(client, &call, CODE(DATA_LOSS), NULL);
}

// Somebody moves it away, and back again when everybody has noticed.
START_TEST(a_file_that_goes_away_while_serving_ends_its_episodes_and_says_so) {
    char path[128], other[128], episode[WIRE_EPISODE_ID_BYTES], next[WIRE_EPISODE_ID_BYTES];
    snprintf(path, sizeof(path), "%s/gone.db", folder);
    snprintf(other, sizeof(other), "%s/elsewhere.db", folder);
    ServerProcess *server = start_on("gone.db");
    WireClient *client = wire_open(server->address[0]);
    uint64_t recorded = wire_small_world(client), free_world = wire_small_world(client);
    record(client, recorded, MOREAU__V1__EPISODE__CONTENT__FRAMES, episode);
    wire_step(client, recorded, 1000);
    while (wire_describe(client, episode)->steps < 500) { // a part of it is in the file
        server_sleep_ms(10);
    }
    bool is_kept = _i == 0;
    ck_assert_int_eq(is_kept ? rename(path, other) : unlink(path), 0);
    wire_step(client, recorded, 1000); // goes on, unrecorded
    const Moreau__V1__Reply *reply = refuse_stop(client, recorded);
    ck_assert_msg(strstr(reply->status->message, "gone.db was deleted or moved") != NULL, "%s",
                  reply->status->message);
    Moreau__V1__EpisodeStart start = wire_start_call(free_world);
    reply = wire_refuse(client, &start, CODE(DATA_LOSS), NULL);
    ck_assert_msg(strstr(reply->status->message, "gone.db was deleted or moved") != NULL, "%s",
                  reply->status->message);
    ck_assert_uint_eq(wire_step_count(client, recorded), 2000);
    wire_step(client, free_world, 1);
    if (is_kept) { // put back, it is as good as before
        ck_assert_int_eq(rename(other, path), 0);
        const Moreau__V1__EpisodeInfo *info = wire_describe(client, episode);
        for (int i = 0; info->state == MOREAU__V1__EPISODE__STATE__RECORDING; i++) {
            ck_assert_int_lt(i, 500); // it is marked within seconds
            server_sleep_ms(10);
            info = wire_describe(client, episode);
        }
        ck_assert_int_eq(info->state, MOREAU__V1__EPISODE__STATE__INTERRUPTED);
        ck_assert_msg(strstr(info->why, "deleted or moved") != NULL, "%s", info->why);
        wire_expect_verified(client, episode, info->steps);
        record(client, free_world, MOREAU__V1__EPISODE__CONTENT__INPUTS, next);
        wire_step(client, free_world, 100);
        wire_stop_recording(client, free_world);
        wire_expect_verified(client, next, 100);
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(without_a_file_recording_is_refused_by_naming_the_option) {
    ServerProcess *server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]);
    Moreau__V1__EpisodeStart call = MOREAU__V1__EPISODE_START__INIT;
    call.has_world = 1;
    call.world = wire_small_world(client);
    const Moreau__V1__Reply *reply = wire_refuse(client, &call, CODE(FAILED_PRECONDITION), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "--db"));
    wire_step(client, call.world, 10);
    wire_close(client);
    server_stop(server);
}
END_TEST

// ---- disks

static void tell_disk(const char *word, bool on) {
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, word);
    if (on) {
        server_write(folder, word, "");
    } else {
        unlink(path);
    }
}

static ServerProcess *start_on_bad_disk(void) {
    server_begin_shim("MOREAU_BAD_DISK", folder);
    ServerProcess *server = start_on("disk.db");
    server_end_shim();
    return server;
}

START_TEST(a_full_disk_ends_the_episode_and_nothing_else) {
    ServerProcess *server = start_on_bad_disk();
    WireClient *client = wire_open(server->address[0]);
    uint64_t recorded = wire_small_world(client), free_world = wire_small_world(client);
    char first[WIRE_EPISODE_ID_BYTES], second[WIRE_EPISODE_ID_BYTES];
    record(client, recorded, MOREAU__V1__EPISODE__CONTENT__FRAMES, first);
    wire_step(client, recorded, 1000);
    while (wire_describe(client, first)->steps < 500) { // a part of it is on the disk
        server_sleep_ms(10);
    }
    tell_disk("full", true);
    wire_step(client, recorded, 5000); // goes on, unrecorded
    wire_step(client, free_world, 100);
    Moreau__V1__EpisodeStop stop = MOREAU__V1__EPISODE_STOP__INIT;
    stop.has_world = 1;
    stop.world = recorded;
    const Moreau__V1__Reply *reply = wire_refuse(client, &stop, CODE(RESOURCE_EXHAUSTED), NULL);
    ck_assert_msg(strstr(reply->status->message, "full") != NULL, "%s", reply->status->message);
    ck_assert_uint_eq(wire_step_count(client, recorded), 6000);

    // a recording that cannot begin says so
    Moreau__V1__EpisodeStart start = MOREAU__V1__EPISODE_START__INIT;
    start.has_world = 1;
    start.world = free_world;
    wire_refuse(client, &start, CODE(RESOURCE_EXHAUSTED), NULL);
    wire_step(client, free_world, 1);

    // and when there is room again, everything works again
    tell_disk("full", false);
    record(client, recorded, MOREAU__V1__EPISODE__CONTENT__INPUTS, second);
    wire_step(client, recorded, 300);
    ck_assert_uint_eq(wire_stop_recording(client, recorded)->steps, 300);
    wire_expect_verified(client, second, 300);
    const Moreau__V1__EpisodeInfo *info = wire_describe(client, first);
    for (int i = 0; info->state == MOREAU__V1__EPISODE__STATE__RECORDING; i++) {
        ck_assert_int_lt(i, 500); // it is marked within seconds
        server_sleep_ms(10);
        info = wire_describe(client, first);
    }
    ck_assert_int_eq(info->state, MOREAU__V1__EPISODE__STATE__INTERRUPTED);
    ck_assert_msg(strstr(info->why, "full") != NULL, "%s", info->why);
    ck_assert_uint_ge(info->steps, 500);
    wire_expect_verified(client, first, info->steps);
    wire_close(client);
    server_stop(server);
}
END_TEST

static const Moreau__V1__GroupInfo *list_group(WireClient *client, uint64_t group) {
    Moreau__V1__GroupList call = MOREAU__V1__GROUP_LIST__INIT;
    const Moreau__V1__GroupListReply *list = wire_accept(client, &call)->group_list;
    size_t i = 0;
    while (i < list->n_groups && list->groups[i]->group != group) {
        i++;
    }
    ck_assert_uint_lt(i, list->n_groups);
    return list->groups[i];
}

static void expect_full(const char *why) {
    ck_assert_ptr_nonnull(why);
    ck_assert_msg(strstr(why, "full") != NULL, "%s", why);
}

START_TEST(a_learner_is_told_that_its_group_is_not_recorded_any_more) {
    enum { WORLDS = 3 };
    ServerProcess *server = start_on_bad_disk();
    WireClient *client = wire_open(server->address[0]);
    const uint64_t other = wire_group(client, WORLDS); // not recorded
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    Moreau__V1__GroupCreate *create = wire_group_create_call(WORLDS);
    create->record = &record;
    const uint64_t group = wire_accept(client, create)->group_create->group;
    float action[WORLDS] = {0.1f, 0.2f, 0.3f};
    ck_assert_ptr_null(wire_group_step(client, group, action, WORLDS)->recording_ended);
    ck_assert_ptr_null(list_group(client, group)->recording_ended);
    tell_disk("full", true);
    // what waits is handed over within a second or two; steps go on
    while (list_group(client, group)->recording_ended == NULL) {
        wire_group_step(client, group, action, WORLDS);
        server_sleep_ms(10);
    }
    const Moreau__V1__GroupInfo *info = list_group(client, group);
    expect_full(info->recording_ended);
    ck_assert_ptr_nonnull(info->recording);
    expect_full(wire_group_step(client, group, action, WORLDS)->recording_ended);
    expect_full(wire_group_reset(client, group)->recording_ended);
    Moreau__V1__GroupSend send = MOREAU__V1__GROUP_SEND__INIT;
    send.has_group = 1, send.group = group;
    send.n_action = WORLDS, send.action = action;
    wire_accept(client, &send);
    Moreau__V1__GroupReceive receive = MOREAU__V1__GROUP_RECEIVE__INIT;
    receive.has_group = 1, receive.group = group;
    expect_full(wire_accept(client, &receive)->group_step->recording_ended);
    ck_assert_ptr_null(wire_group_step(client, other, action, WORLDS)->recording_ended);
    ck_assert_ptr_null(list_group(client, other)->recording_ended);
    char said[2048];
    ck_assert_int_eq(server_shell(server->address[0], "moreau worlds", said, sizeof(said)), 0);
    ck_assert_msg(strstr(said, "  not recorded any more: ") != NULL, "%s", said);
    expect_full(said);
    Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
    destroy.has_group = 1, destroy.group = group;
    expect_full(wire_refuse(client, &destroy, CODE(RESOURCE_EXHAUSTED), NULL)->status->message);
    wire_close(client);
    server_stop(server);
}
END_TEST

// When Stop has answered, kill -9 a moment later must find the episode complete.
START_TEST(stop_answers_when_the_rows_are_on_the_disk) {
    ServerProcess *server = start_on_bad_disk();
    WireClient *client = wire_open(server->address[0]), *other = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client), free_world = wire_small_world(other);
    char episode[WIRE_EPISODE_ID_BYTES];
    record(client, world, MOREAU__V1__EPISODE__CONTENT__FRAMES, episode);
    wire_step(client, world, 700);
    tell_disk("slow", true);
    Moreau__V1__EpisodeStop stop = MOREAU__V1__EPISODE_STOP__INIT;
    stop.has_world = 1;
    stop.world = world;
    double begun_ms = server_now_ms();
    wire_submit(client, &stop);
    unsigned others = 0;
    while (!wire_waits(client, 0)) { // others are served meanwhile
        wire_step(other, free_world, 1);
        others++;
    }
    // the sync takes 300 ms by the shim's own clock, so this is no race
    ck_assert(server_now_ms() - begun_ms >= 290.0);
    ck_assert_uint_gt(others, 10);
    wire_expect(wire_receive(client), CODE(OK), NULL);
    kill(server->pid, SIGKILL);
    ck_assert_int_eq(server_wait(server, PATIENCE_MS), -1);
    server_free(server);
    wire_close(client);
    wire_close(other);
    tell_disk("slow", false);

    server = start_on("disk.db");
    client = wire_open(server->address[0]);
    const Moreau__V1__EpisodeInfo *info = wire_describe(client, episode);
    ck_assert_int_eq(info->state, MOREAU__V1__EPISODE__STATE__COMPLETE);
    ck_assert_uint_eq(info->steps, 700);
    wire_expect_verified(client, episode, 700);
    wire_close(client);
    server_stop(server);
}
END_TEST

// Calls on a world that are refused for what they say, one of them with its plan already made, have
// their turn behind its recording's end, which waits for the disk; those on another world do not.
START_TEST(a_refusal_waits_behind_a_recording_that_waits_for_the_disk) {
    ServerProcess *server = start_on_bad_disk();
    WireClient *client = wire_open(server->address[0]), *other = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client), free_world = wire_small_world(other);
    char episode[WIRE_EPISODE_ID_BYTES];
    record(client, world, MOREAU__V1__EPISODE__CONTENT__INPUTS, episode);
    wire_step(client, world, 50);
    tell_disk("slow", true);
    Moreau__V1__EpisodeStop stop = MOREAU__V1__EPISODE_STOP__INIT;
    stop.has_world = 1, stop.world = world;
    double short_pose[3] = {0};
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1, set.world = world;
    set.n_pose = 3, set.pose = short_pose;
    Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    clone.has_world = 1, clone.world = world;
    clone.has_count = 1, clone.count = 65536; // no room for so many beside them
    Moreau__V1__SnapshotClone none = clone;
    none.count = 0;
    const Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    Moreau__V1__WorldStep odd = step;
    odd.n_joint_effort = 3, odd.joint_effort = short_pose; // of no joints
    Moreau__V1__EpisodeStop both = stop;
    both.episode = episode;
    Moreau__V1__GroupCreate group = MOREAU__V1__GROUP_CREATE__INIT;
    group.has_world = 1, group.world = world;
    group.has_count = 1, group.count = 0;
    const double begun_ms = server_now_ms();
    const uint64_t id[] = {wire_submit(client, &stop),  wire_submit(client, &set),
                           wire_submit(client, &clone), wire_submit(client, &none),
                           wire_submit(client, &odd),   wire_submit(client, &both),
                           wire_submit(client, &group), wire_submit(client, &step)};
    set.world = free_world;
    wire_refuse(other, &set, CODE(INVALID_ARGUMENT), "pose");
    ck_assert(!wire_waits(client, 0));
    const Moreau__V1__Status__Code code[] = {CODE(OK),
                                             CODE(INVALID_ARGUMENT),
                                             CODE(RESOURCE_EXHAUSTED),
                                             CODE(INVALID_ARGUMENT),
                                             CODE(INVALID_ARGUMENT),
                                             CODE(INVALID_ARGUMENT),
                                             CODE(INVALID_ARGUMENT),
                                             CODE(OK)};
    for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++) {
        const Moreau__V1__Reply *reply = wire_receive(client);
        ck_assert_uint_eq(reply->id, id[i]);
        ck_assert_int_eq(reply->status->code, code[i]);
        ck_assert(server_now_ms() - begun_ms >= 290.0); // by the shim's own clock
    }
    tell_disk("slow", false);
    wire_expect_verified(client, episode, 50);
    wire_close(client);
    wire_close(other);
    server_stop(server);
}
END_TEST

// ---- worlds and clients

static const Moreau__V1__EpisodeInfo *await_end(WireClient *client, const char *episode) {
    const Moreau__V1__EpisodeInfo *info = wire_describe(client, episode);
    for (int i = 0; info->state == MOREAU__V1__EPISODE__STATE__RECORDING; i++) {
        ck_assert_int_lt(i, 1000);
        server_sleep_ms(10);
        info = wire_describe(client, episode);
    }
    return info;
}

START_TEST(a_world_destroyed_while_it_is_recorded_closes_its_episode) {
    ServerProcess *server = start_on("worlds.db");
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client);
    char episode[WIRE_EPISODE_ID_BYTES];
    record(client, world, MOREAU__V1__EPISODE__CONTENT__INPUTS, episode);
    wire_step(client, world, 123);
    wire_destroy(client, world);
    const Moreau__V1__EpisodeInfo *info = await_end(client, episode);
    ck_assert_int_eq(info->state, MOREAU__V1__EPISODE__STATE__WORLD_DESTROYED);
    ck_assert_uint_eq(info->steps, 123);
    wire_expect_verified(client, episode, 123);
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(a_client_that_vanishes_in_the_middle_leaves_a_whole_episode) {
    ServerProcess *server = start_on("worlds.db");
    WireClient *client = wire_open(server->address[0]), *other = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client);
    char episode[WIRE_EPISODE_ID_BYTES];
    record(client, world, MOREAU__V1__EPISODE__CONTENT__FRAMES, episode);
    Moreau__V1__WorldStep step = wire_step_call(&world, UINT64_C(1000000000));
    wire_submit(client, &step);
    while (wire_describe(other, episode)->steps < 1000) {
        server_sleep_ms(10);
    }
    wire_close(client); // its step stops, and after the grace time (none here) its worlds go
    const Moreau__V1__EpisodeInfo *info = await_end(other, episode);
    ck_assert_int_eq(info->state, MOREAU__V1__EPISODE__STATE__WORLD_DESTROYED);
    ck_assert_uint_ge(info->steps, 1000);
    wire_expect_verified(other, episode, info->steps);
    wire_close(other);
    server_stop(server);
}
END_TEST

START_TEST(a_server_told_to_stop_while_it_records_leaves_one_whole_file) {
    ServerProcess *server = start_on("worlds.db");
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client);
    char episode[WIRE_EPISODE_ID_BYTES];
    record(client, world, MOREAU__V1__EPISODE__CONTENT__FRAMES, episode);
    wire_step(client, world, 456);
    server_stop(server);
    wire_close(client);

    char path[160];
    static const char *const leftovers[] = {"-wal", "-shm", "-journal"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/worlds.db%s", folder, leftovers[i]);
        ck_assert_msg(access(path, F_OK) != 0, "%s is left", path);
    }
    // one that any SQLite reads where it cannot write, as on a read-only medium
    sqlite3 *db;
    sqlite3_stmt *statement;
    snprintf(path, sizeof(path), "file:%s/worlds.db?immutable=1", folder);
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT steps, state, all_converged FROM episodes", -1,
                                        &statement, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    ck_assert_int_eq(sqlite3_column_int(statement, 0), 456);
    ck_assert_str_eq((const char *)sqlite3_column_text(statement, 1), "world_destroyed");
    sqlite3_finalize(statement);
    sqlite3_close(db);

    server = start_on("worlds.db");
    client = wire_open(server->address[0]);
    wire_expect_verified(client, episode, 456);
    wire_close(client);
    server_stop(server);
}
END_TEST

static TCase *make_case(const char *name) {
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_set_timeout(tcase, 120.0);
    return tcase;
}

static TCase *case_files(void) {
    TCase *tcase = make_case("files");
    tcase_add_test(tcase, a_file_that_cannot_be_used_is_refused_with_a_sentence);
    tcase_add_test(tcase, a_second_server_on_the_same_file_is_refused);
    tcase_add_loop_test(tcase, a_file_that_goes_away_while_serving_ends_its_episodes_and_says_so, 0,
                        2);
    tcase_add_test(tcase, without_a_file_recording_is_refused_by_naming_the_option);
    return tcase;
}

static TCase *case_disks(void) {
    TCase *tcase = make_case("disks");
    tcase_add_test(tcase, a_full_disk_ends_the_episode_and_nothing_else);
    tcase_add_test(tcase, a_learner_is_told_that_its_group_is_not_recorded_any_more);
    tcase_add_test(tcase, stop_answers_when_the_rows_are_on_the_disk);
    tcase_add_test(tcase, a_refusal_waits_behind_a_recording_that_waits_for_the_disk);
    return tcase;
}

static TCase *case_worlds(void) {
    TCase *tcase = make_case("worlds and clients");
    tcase_add_test(tcase, a_world_destroyed_while_it_is_recorded_closes_its_episode);
    tcase_add_test(tcase, a_client_that_vanishes_in_the_middle_leaves_a_whole_episode);
    tcase_add_test(tcase, a_server_told_to_stop_while_it_records_leaves_one_whole_file);
    return tcase;
}

SUITE_MAIN("system/misfortune", case_files, case_disks, case_worlds)
