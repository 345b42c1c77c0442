// SPDX-License-Identifier: MIT
// Who did what to which world: a line for each call that changes something, whatever came of it,
// and nothing that would open a door.
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"
#include "support/wire_snapshot.h"
#include "support/wire_tokens.h"
#include "support/wire_world.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

static const WirePerson people[] = {{"alice", "watch,step namespace=lab"}, {"bob", "watch"}};

static char folder[SERVER_FOLDER_BYTES];

// The lines of a call, once there are so many; a new reference.
static json_t *lines_of(const ServerProcess *server, const char *call, size_t count) {
    for (int tries = 0;; tries++) {
        json_t *lines = json_array();
        char *text = server_read(server, "audit"), *rest = NULL;
        for (char *line = strtok_r(text, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            json_t *object = json_loads(line, 0, NULL);
            ck_assert_msg(object != NULL, "%s", line);
            if (strcmp(json_string_value(json_object_get(object, "call")), call) == 0) {
                json_array_append(lines, object);
            }
            json_decref(object);
        }
        free(text);
        if (json_array_size(lines) == count) {
            return lines;
        }
        json_decref(lines);
        ck_assert_msg(tries < 300, "there are not %zu lines of %s", count, call);
        server_sleep_ms(10);
    }
}

static void expect_text(const json_t *line, const char *key, const char *wanted) {
    ck_assert_str_eq(json_string_value(json_object_get(line, key)), wanted);
}

static json_int_t number(const json_t *line, const char *key) {
    ck_assert_msg(json_is_integer(json_object_get(line, key)), "no %s", key);
    return json_integer_value(json_object_get(line, key));
}

START_TEST(each_changing_call_has_its_line) {
    ServerProcess *server = wire_tokens_start(people, 2, "--audit-file @/audit", folder);
    WireClient *alice = wire_open_as(server, "alice"), *bob = wire_open_as(server, "bob");
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.name = (char *)(uintptr_t) "a \"name\"\n";
    uint64_t world = wire_accept(alice, &create)->world_create->world;
    wire_step(alice, world, 3);
    wire_hash(alice, world); // changes nothing
    const Moreau__V1__WorldList list = MOREAU__V1__WORLD_LIST__INIT;
    ck_assert_str_eq(wire_accept(alice, &list)->world_list->worlds[0]->token, "alice");
    wire_destroy(alice, world);
    wire_refuse(alice,
                &(Moreau__V1__WorldStep){
                    .base = PROTOBUF_C_MESSAGE_INIT(&moreau__v1__world_step__descriptor)},
                CODE(INVALID_ARGUMENT), NULL);
    wire_refuse(bob, &create, CODE(PERMISSION_DENIED), NULL);
    json_t *lines = lines_of(server, "WorldCreate", 2);
    const json_t *line = json_array_get(lines, 0);
    expect_text(line, "token", "alice");
    expect_text(line, "namespace", "lab");
    expect_text(line, "status", "OK");
    expect_text(line, "name", "a \"name\"\n");
    ck_assert_int_eq(number(line, "made"), (json_int_t)world);
    ck_assert_int_gt(number(line, "session"), 0);
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(line, "time")), "T"));
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(line, "peer")), "127.0.0.1"));
    line = json_array_get(lines, 1);
    expect_text(line, "token", "bob");
    expect_text(line, "status", "PERMISSION_DENIED");
    json_decref(lines);
    lines = lines_of(server, "WorldStep", 2);
    line = json_array_get(lines, 0);
    ck_assert_int_eq(number(line, "steps"), 3);
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(line, "worlds"), 0)),
                     (json_int_t)world);
    expect_text(json_array_get(lines, 1), "status", "INVALID_ARGUMENT");
    json_decref(lines);
    lines = lines_of(server, "WorldDestroy", 1);
    ck_assert_int_eq(number(json_array_get(lines, 0), "world"), (json_int_t)world);
    json_decref(lines);
    json_decref(lines_of(server, "WorldHash", 0));
    const char *const files[] = {"audit", "log"};
    for (int i = 0; i < 2; i++) {
        char *text = server_read(server, files[i]);
        ck_assert_ptr_nonnull(strstr(text, "alice"));
        ck_assert_ptr_null(strstr(text, "-secret"));
        free(text);
    }
    wire_close(alice);
    wire_close(bob);
    server_stop(server);
    server_remove_folder(folder);
}
END_TEST

// A list of many worlds is counted, and its line stays short.
START_TEST(a_long_list_is_cut_and_counted) {
    ServerProcess *server = wire_tokens_start(people, 2, "--audit-file @/audit", folder);
    WireClient *alice = wire_open_as(server, "alice");
    enum { WORLDS = 40 };
    uint64_t worlds[WORLDS];
    for (int i = 0; i < WORLDS; i++) {
        worlds[i] = wire_small_world(alice);
    }
    Moreau__V1__WorldStep step = wire_step_call(worlds, 1);
    step.n_worlds = WORLDS;
    wire_accept(alice, &step);
    json_t *lines = lines_of(server, "WorldStep", 1);
    const json_t *line = json_array_get(lines, 0);
    ck_assert_uint_eq(json_array_size(json_object_get(line, "worlds")), 16);
    ck_assert_int_eq(number(line, "worlds_count"), WORLDS);
    json_decref(lines);
    wire_close(alice);
    server_stop(server);
    server_remove_folder(folder);
}
END_TEST

// Ids that nobody asked for: those that the reply brought.
START_TEST(what_was_made_is_named) {
    const WirePerson maker[] = {{"carol", "watch,step,record"}};
    ServerProcess *server = wire_tokens_start(maker, 1, "--audit-file @/audit --db @/db", folder);
    WireClient *carol = wire_open_as(server, "carol");
    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1, take.world = wire_small_world(carol);
    const uint64_t snapshot = wire_accept(carol, &take)->snapshot_take->snapshot;
    Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    clone.has_snapshot = clone.has_count = 1, clone.snapshot = snapshot, clone.count = 20;
    const uint64_t first = wire_accept(carol, &clone)->snapshot_clone->worlds[0];
    const Moreau__V1__EpisodeStart start = wire_start_call(first);
    char uid[64], recording[64];
    snprintf(uid, sizeof(uid), "%s", wire_accept(carol, &start)->episode_start->episode);
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    Moreau__V1__GroupCreate *create = wire_group_create_call(2);
    create->record = &record;
    const Moreau__V1__GroupCreateReply *made = wire_accept(carol, create)->group_create;
    const uint64_t group = made->group;
    snprintf(recording, sizeof(recording), "%s", made->recording);
    json_t *lines = lines_of(server, "SnapshotTake", 1);
    ck_assert_int_eq(number(json_array_get(lines, 0), "made_snapshot"), (json_int_t)snapshot);
    json_decref(lines);
    lines = lines_of(server, "SnapshotClone", 1);
    const json_t *line = json_array_get(lines, 0), *worlds = json_object_get(line, "made_worlds");
    ck_assert_int_eq(number(line, "snapshot"), (json_int_t)snapshot);
    ck_assert_uint_eq(json_array_size(worlds), 16);
    ck_assert_int_eq(json_integer_value(json_array_get(worlds, 0)), (json_int_t)first);
    ck_assert_int_eq(number(line, "made_worlds_count"), 20);
    json_decref(lines);
    lines = lines_of(server, "EpisodeStart", 1);
    expect_text(json_array_get(lines, 0), "made_episode", uid);
    json_decref(lines);
    lines = lines_of(server, "GroupCreate", 1);
    ck_assert_int_eq(number(json_array_get(lines, 0), "made_group"), (json_int_t)group);
    expect_text(json_array_get(lines, 0), "made_recording", recording);
    json_decref(lines);
    wire_close(carol);
    server_stop(server);
    server_remove_folder(folder);
}
END_TEST

START_TEST(a_full_disk_stops_nobody_and_is_said) {
    ServerProcess *server = wire_tokens_start(people, 2, "--audit-file /dev/full", folder);
    WireClient *alice = wire_open_as(server, "alice");
    uint64_t world = wire_small_world(alice);
    for (int i = 0; i < 20; i++) {
        wire_step(alice, world, 10);
    }
    ck_assert_uint_eq(wire_step_count(alice, world), 200);
    char *log = server_read(server, "log");
    const char *said = strstr(log, "audit_failed");
    ck_assert_ptr_nonnull(said);
    ck_assert_ptr_nonnull(strstr(said, "No space left"));
    ck_assert_ptr_null(strstr(said + 1, "audit_failed"));
    free(log);
    wire_close(alice);
    server_stop(server);
    server_remove_folder(folder);
}
END_TEST

// Without tokens it says who asked as far as that is known; a file that cannot be is refused.
START_TEST(it_is_there_without_tokens_too) {
    char said[512];
    ServerProcess *server = server_start("--audit-file @/audit");
    WireClient *client = wire_open(server->address[0]);
    wire_small_world(client);
    json_t *lines = lines_of(server, "WorldCreate", 1);
    ck_assert_ptr_null(json_object_get(json_array_get(lines, 0), "token"));
    json_decref(lines);
    wire_close(client);
    server_stop(server);
    ck_assert_int_ne(server_refusal("--audit-file /no/such/folder", said, sizeof(said)), 0);
    ck_assert_msg(strstr(said, "cannot be written") != NULL, "%s", said);
}
END_TEST

START_TEST(a_file_that_is_none_is_refused_and_one_that_all_may_read_is_warned_of) {
    char said[512], options[200], path[128];
    server_make_folder(folder);
    snprintf(options, sizeof(options), "--audit-file %s", folder);
    ck_assert_int_eq(server_refusal(options, said, sizeof(said)), 1);
    ck_assert_msg(strstr(said, "cannot be written") != NULL, "%s", said);
    snprintf(path, sizeof(path), "%s/pipe", folder); // which nobody reads
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    snprintf(options, sizeof(options), "--audit-file %s", path);
    ck_assert_int_eq(server_refusal(options, said, sizeof(said)), 1);
    ck_assert_msg(strstr(said, "cannot be written") != NULL, "%s", said);
    server_write(folder, "audit", "{}\n");
    snprintf(path, sizeof(path), "%s/audit", folder);
    ck_assert_int_eq(chmod(path, 0644), 0);
    snprintf(options, sizeof(options), "--audit-file %s", path);
    ServerProcess *server = server_start(options);
    char *log = server_read(server, "log");
    ck_assert_msg(strstr(log, " warn audit_exposed ") != NULL, "%s", log);
    free(log);
    server_stop(server);
    server_remove_folder(folder);
}
END_TEST

static TCase *case_audit(void) {
    TCase *tcase = tcase_create("audit");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, each_changing_call_has_its_line);
    tcase_add_test(tcase, a_long_list_is_cut_and_counted);
    tcase_add_test(tcase, what_was_made_is_named);
    tcase_add_test(tcase, a_full_disk_stops_nobody_and_is_said);
    tcase_add_test(tcase, a_file_that_is_none_is_refused_and_one_that_all_may_read_is_warned_of);
    tcase_add_test(tcase, it_is_there_without_tokens_too);
    return tcase;
}

SUITE_MAIN("system/audit", case_audit)
