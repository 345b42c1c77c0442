// SPDX-License-Identifier: MIT
// Histories of calls (tests/histories/), each legal: none may end the server, and whatever stands
// between two calls of one is a whole world. There its own snapshot is taken back, with the same
// hash, and the world of it answers the next call as this one does; a refused call has changed
// nothing; and the scene of the world that its scene makes is the same text, and both go on alike.
//
// A history is a list of calls as `moreau call` takes them, {"world_step": {"steps": 3}}, their
// world left out: all but the first, which makes it, are of that world. "refused" beside a call is
// the field that its refusal blames.
#include "cli/json/read.h"
#include "cli/json/write.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORIES_MAX = 64, NAME_BYTES = 128, STEPS_AFTER = 20 };

static char names[HISTORIES_MAX][NAME_BYTES];
static int name_count;
static WireClient *client;

static int compare_names(const void *a, const void *b) {
    return strcmp(a, b);
}

static void list_histories(void) {
    DIR *folder = opendir(MOREAU_SOURCE_DIR "/tests/histories");
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        const char *end = strstr(entry->d_name, ".json");
        if (end != NULL && name_count < HISTORIES_MAX) {
            snprintf(names[name_count++], NAME_BYTES, "%.*s", (int)(end - entry->d_name),
                     entry->d_name);
        }
    }
    closedir(folder);
    qsort(names, (size_t)name_count, NAME_BYTES, compare_names);
}

// ---- calls

// The message of an entry, of that world; freed with protobuf_c_message_free_unpacked.
static ProtobufCMessage *read_call(const JsonText *json, json_t *entry, uint64_t world) {
    const char *method = NULL, *key;
    json_t *value, *body = NULL;
    json_object_foreach(entry, key, value) {
        if (strcmp(key, "refused") != 0) {
            method = key, body = value;
        }
    }
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(&moreau__v1__request__descriptor, method);
    ck_assert_msg(field != NULL, "no call is named %s", method);
    if (strcmp(method, "world_step") == 0) {
        json_object_set_new(body, "worlds", json_pack("[I]", (json_int_t)world));
    } else if (strcmp(method, "world_create") != 0) {
        json_object_set_new(body, "world", json_integer((json_int_t)world));
    }
    JsonError error = {0};
    ProtobufCMessage *message = json_read_message(json, body, method, field->descriptor, &error);
    ck_assert_msg(message != NULL, "%s", error.message);
    return message;
}

static const Moreau__V1__Status *say(const JsonText *json, json_t *entry, uint64_t world) {
    ProtobufCMessage *message = read_call(json, entry, world);
    const Moreau__V1__Status *status = wire_call(client, message)->status;
    protobuf_c_message_free_unpacked(message, NULL);
    return status;
}

// ---- what stands

static uint64_t bytes_of(uint64_t world) {
    const Moreau__V1__StatsReply *stats = wire_stats(client, true);
    for (size_t i = 0; i < stats->n_worlds; i++) {
        if (stats->worlds[i] == world) {
            return stats->bytes_of_world[i];
        }
    }
    return 0;
}

static const Moreau__V1__Scene *scene_of(uint64_t world) {
    Moreau__V1__WorldScene call = MOREAU__V1__WORLD_SCENE__INIT;
    call.has_world = 1, call.world = world;
    return wire_accept(client, &call)->world_scene->scene;
}

// As text, but for its name, which is its world's own; the caller frees it.
static char *text_of(const Moreau__V1__Scene *scene) {
    json_t *json = json_write_message(&scene->base);
    json_object_del(json, "name");
    char *text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(json);
    return text;
}

static void step(uint64_t world) {
    const Moreau__V1__WorldStep call = wire_step_call(&world, STEPS_AFTER);
    wire_accept(client, &call); // it may fault: so does its like
}

static void expect_alike(const char *at, uint64_t a, uint64_t b) {
    ck_assert_msg(wire_hash(client, a) == wire_hash(client, b), "%s: the hashes differ", at);
}

// A world of a world's own snapshot.
static uint64_t make_twin(const char *at, uint64_t world) {
    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1, take.world = world;
    const uint64_t snapshot = wire_accept(client, &take)->snapshot_take->snapshot;
    Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    clone.has_snapshot = 1, clone.snapshot = snapshot;
    const Moreau__V1__Reply *reply = wire_call(client, &clone);
    ck_assert_msg(reply->status->code == MOREAU__V1__STATUS__CODE__OK, "%s: %s", at,
                  reply->status->message);
    const uint64_t twin = reply->snapshot_clone->worlds[0];
    Moreau__V1__SnapshotDrop drop = MOREAU__V1__SNAPSHOT_DROP__INIT;
    drop.has_snapshot = 1, drop.snapshot = snapshot;
    wire_accept(client, &drop);
    expect_alike(at, world, twin);
    return twin;
}

// Says where two texts part.
static void expect_same_text(const char *at, const char *a, const char *b) {
    size_t same = 0;
    while (a[same] != '\0' && a[same] == b[same]) {
        same++;
    }
    const size_t from = same < 200 ? 0 : same - 200;
    ck_assert_msg(a[same] == b[same], "%s: after %.*s\n%.200s\nis\n%.200s", at, (int)(same - from),
                  a + from, a + same, b + same);
}

static uint64_t make_of_scene(const char *at, const Moreau__V1__Scene *scene, char **text) {
    Moreau__V1__Scene nameless = *scene;
    nameless.name = NULL;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.scene = &nameless;
    const Moreau__V1__Reply *reply = wire_call(client, &create);
    ck_assert_msg(reply->status->code == MOREAU__V1__STATUS__CODE__OK, "%s: %s", at,
                  reply->status->message);
    const uint64_t world = reply->world_create->world;
    *text = text_of(scene_of(world));
    return world;
}

// The scene of a world makes a world of the same scene; and so does that one's.
static void check_scene(const char *at, uint64_t world) {
    char *text = text_of(scene_of(world)), *first_text, *second_text;
    const uint64_t first = make_of_scene(at, scene_of(world), &first_text);
    const uint64_t second = make_of_scene(at, scene_of(first), &second_text);
    expect_same_text(at, text, first_text);
    expect_same_text(at, first_text, second_text);
    expect_alike(at, first, second);
    step(first);
    step(second);
    expect_alike(at, first, second);
    wire_destroy(client, first);
    wire_destroy(client, second);
    free(text);
    free(first_text);
    free(second_text);
}

// ---- a history

// One call of it, to the world and to the world of its own snapshot.
static void play_call(const char *at, const JsonText *json, json_t *entry, uint64_t world) {
    const char *refused = json_string_value(json_object_get(entry, "refused"));
    const uint64_t twin = make_twin(at, world);
    char *scene = text_of(scene_of(world));
    const uint64_t hash = wire_hash(client, world), bytes = bytes_of(world);
    const Moreau__V1__Status *status = say(json, entry, world), *of_twin = say(json, entry, twin);
    const bool is_refused = status->code != MOREAU__V1__STATUS__CODE__OK;
    ck_assert_msg(is_refused == (refused != NULL), "%s: %s", at, status->message);
    ck_assert_int_eq(status->code, of_twin->code);
    if (is_refused) {
        char *after = text_of(scene_of(world));
        ck_assert_str_eq(status->field, refused);
        ck_assert_msg(wire_hash(client, world) == hash, "%s: the hash has changed", at);
        expect_same_text(at, scene, after);
        ck_assert_msg(bytes_of(world) == bytes, "%s: of %llu bytes are %llu", at,
                      (unsigned long long)bytes, (unsigned long long)bytes_of(world));
        free(after);
    }
    expect_alike(at, world, twin);
    wire_destroy(client, twin);
    free(scene);
}

static uint64_t begin(const JsonText *json) {
    ProtobufCMessage *create = read_call(json, json_array_get(json->root, 0), 0);
    const uint64_t world = wire_accept(client, create)->world_create->world;
    protobuf_c_message_free_unpacked(create, NULL);
    return world;
}

START_TEST(a_legal_history_breaks_nothing) {
    ServerProcess *server = server_start("--workers 1");
    client = wire_open(server->address[0]);
    char path[512], at[256];
    JsonText json;
    JsonError error = {0};
    snprintf(path, sizeof(path), MOREAU_SOURCE_DIR "/tests/histories/%s.json", names[_i]);
    ck_assert_msg(json_text_load(&json, path, &error), "%s", error.message);
    const uint64_t world = begin(&json);
    for (size_t i = 1; i < json_array_size(json.root); i++) {
        snprintf(at, sizeof(at), "%s, call %zu", names[_i], i);
        play_call(at, &json, json_array_get(json.root, i), world);
        check_scene(at, world);
    }
    const uint64_t twin = make_twin(names[_i], world);
    step(world);
    step(twin);
    expect_alike(names[_i], world, twin);
    json_text_free(&json);
    wire_close(client);
    server_stop(server);
}
END_TEST

static TCase *case_histories(void) {
    list_histories();
    TCase *tcase = tcase_create("histories");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_legal_history_breaks_nothing, 0, name_count);
    return tcase;
}

SUITE_MAIN("system/histories", case_histories)
