// SPDX-License-Identifier: MIT
// What is another namespace's does not exist: every call that names something, on what is one's
// own, another's, and nobody's, the last two of which get the same answer, to the letter. The table
// of them stands in server/access/README.md; MOREAU_TABLE=FILE writes it anew.
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"
#include "support/wire_tokens.h"
#include "support/wire_world.h"

#include <ctype.h>
#include <inttypes.h>
#include <protobuf-c/protobuf-c.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { DEADLINE_MS = 400, UID_BYTES_TEXT = 33 };

static const WirePerson people[] = {
    {"alice", "watch,step,record,delete namespace=alpha"},
    {"bob", "watch,step,record,delete namespace=beta"},
    {"carol", "watch,step,record,delete namespace=alpha"},
    {"root", "admin"},
};

static char folder[SERVER_FOLDER_BYTES];
static ServerProcess *server;

static void set_up(void) {
    server = wire_tokens_start(people, 4, "--db @/db --workers 2", folder);
}

static void tear_down(void) {
    server_stop(server);
    server_remove_folder(folder);
}

// ---- what there is to name

typedef struct Things {
    uint64_t world, group, snapshot;
    char episode[UID_BYTES_TEXT];
} Things;

static const Things nobodys = {1000000, 1000000, 1000000, "00112233445566778899aabbccddeeff"};

static void make(WireClient *client, Things *things) {
    things->world = wire_world(client, 3, 1, MOREAU__V1__WORLD__LIFETIME__SERVER).id;
    Moreau__V1__EpisodeStart start = wire_start_call(things->world);
    start.name = (char *)(uintptr_t) "fall";
    const Moreau__V1__Reply *reply = wire_accept(client, &start);
    snprintf(things->episode, sizeof(things->episode), "%s", reply->episode_start->episode);
    wire_step(client, things->world, 5);
    wire_stop_recording(client, things->world);
    wire_step(client, things->world, 1);
    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1, take.world = things->world;
    things->snapshot = wire_accept(client, &take)->snapshot_take->snapshot;
    things->group = wire_group(client, 2);
}

// ---- a call that names one

typedef union Call {
    ProtobufCMessage message;
    char room[1024];
} Call;

static uint64_t *id_of(Things *things, const char *field) {
    return strncmp(field, "world", 5) == 0                                 ? &things->world
           : strcmp(field, "group") == 0                                   ? &things->group
           : strcmp(field, "snapshot") == 0 || strcmp(field, "saved") == 0 ? &things->snapshot
                                                                           : NULL;
}

// Of a field that names something; the things must outlive the call. false: it names nothing.
static bool name_it(Call *call, const ProtobufCFieldDescriptor *field, Things *things) {
    char *at = call->room + field->offset;
    uint64_t *id = id_of(things, field->name);
    if (strcmp(field->name, "episode") == 0 || strcmp(field->name, "recording") == 0) {
        if (field->type == PROTOBUF_C_TYPE_STRING) {
            *(char **)(void *)at = things->episode;
            return true;
        }
        return false;
    }
    if (id == NULL || field->type != PROTOBUF_C_TYPE_UINT64) {
        return false;
    }
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        *(size_t *)(void *)(call->room + field->quantifier_offset) = 1;
        *(uint64_t **)(void *)at = id;
    } else {
        *(protobuf_c_boolean *)(void *)(call->room + field->quantifier_offset) = 1;
        *(uint64_t *)(void *)at = *id;
    }
    return true;
}

// What else a call needs before it looks for what it names.
static void complete(Call *call, const char *name, const char *field, Things *own) {
    if (strcmp(name, "SnapshotRestore") == 0) {
        Moreau__V1__SnapshotRestore *restore = (Moreau__V1__SnapshotRestore *)(void *)call;
        const bool names_world = strcmp(field, "world") == 0;
        restore->has_world = restore->has_snapshot = 1;
        restore->world = names_world ? restore->world : own->world;
        restore->snapshot = names_world ? own->snapshot : restore->snapshot;
    } else if (strcmp(name, "SnapshotUpload") == 0) {
        static uint8_t byte;
        Moreau__V1__SnapshotUpload *upload = (Moreau__V1__SnapshotUpload *)(void *)call;
        upload->has_data = 1;
        upload->data = (ProtobufCBinaryData){.len = 1, .data = &byte};
    } else if (strcmp(name, "EpisodeCompare") == 0) {
        static Moreau__V1__EpisodeVariant variant, *variants = &variant;
        moreau__v1__episode_variant__init(&variant);
        Moreau__V1__EpisodeCompare *compare = (Moreau__V1__EpisodeCompare *)(void *)call;
        compare->n_variants = 1, compare->variants = &variants;
    } else if (strcmp(name, "WorldStep") == 0) {
        Moreau__V1__WorldStep *step = (Moreau__V1__WorldStep *)(void *)call;
        step->has_steps = 1, step->steps = 1;
    } else if (strcmp(name, "GroupCreate") == 0) {
        Moreau__V1__GroupCreate *group = (Moreau__V1__GroupCreate *)(void *)call;
        if (strcmp(field, "world") == 0) {
            const Moreau__V1__GroupCreate *wanted = wire_group_create_call(2);
            const uint64_t world = group->world;
            *group = *wanted;
            group->scene = NULL;
            group->has_world = 1, group->world = world;
        }
    } else if (strcmp(name, "WorldRayCast") == 0) {
        static uint64_t count = 1;
        static double origin[3] = {0.0, 0.0, 5.0}, way[3] = {0.0, 0.0, -9.0};
        Moreau__V1__WorldRayCast *cast = (Moreau__V1__WorldRayCast *)(void *)call;
        cast->n_count = 1, cast->count = (void *)&count;
        cast->n_origin = cast->n_way = 3;
        cast->origin = origin, cast->way = way;
    }
}

typedef struct Answer {
    Moreau__V1__Status__Code code;
    char text[512]; // with what was named taken out
} Answer;

// A batch is answered world by world.
static const Moreau__V1__Status *status_of(const Moreau__V1__Reply *reply) {
    if (reply->status->code != CODE(OK)) {
        return reply->status;
    }
    if (reply->result_case == MOREAU__V1__REPLY__RESULT_WORLD_STEP &&
        reply->world_step->n_failures > 0) {
        return reply->world_step->failures[0];
    }
    if (reply->result_case == MOREAU__V1__REPLY__RESULT_WORLD_HASH &&
        reply->world_hash->n_failures > 0) {
        return reply->world_hash->failures[0];
    }
    if (reply->result_case == MOREAU__V1__REPLY__RESULT_WORLD_RAY_CAST &&
        reply->world_ray_cast->n_failures > 0) {
        return reply->world_ray_cast->failures[0];
    }
    return reply->status;
}

static void take_out(const char *from, const Things *things, char *text, size_t capacity) {
    size_t used = 0;
    while (*from != '\0' && used + 2 < capacity) {
        if (strncmp(from, things->episode, strlen(things->episode)) == 0) {
            from += strlen(things->episode);
            text[used++] = '#';
        } else if (isdigit((unsigned char)*from)) {
            from += strspn(from, "0123456789");
            text[used++] = '#';
        } else {
            text[used++] = *from++;
        }
    }
    text[used] = '\0';
}

static Answer ask(WireClient *client, const ProtobufCFieldDescriptor *call_field,
                  const ProtobufCFieldDescriptor *field, Things *named, Things *own) {
    const ProtobufCMessageDescriptor *descriptor = call_field->descriptor;
    Call call;
    Answer answer;
    protobuf_c_message_init(descriptor, &call);
    ck_assert(name_it(&call, field, named));
    complete(&call, descriptor->short_name, field->name, own);
    const Moreau__V1__Status *status = status_of(wire_call_within(client, &call, DEADLINE_MS));
    answer.code = status->code;
    take_out(status->message != NULL ? status->message : "", named, answer.text,
             sizeof(answer.text));
    return answer;
}

// ---- the table

// EpisodeList's is a filter, EpisodeTouches' bodies are no worlds, and so on: what merely narrows.
static bool is_named(const char *call, const char *field) {
    return strcmp(call, "EpisodeList") != 0 &&
           (strcmp(field, "world") == 0 || strcmp(field, "worlds") == 0 ||
            strcmp(field, "group") == 0 || strcmp(field, "snapshot") == 0 ||
            strcmp(field, "saved") == 0 || strcmp(field, "episode") == 0 ||
            (strcmp(field, "recording") == 0 && strcmp(call, "GroupCreate") == 0));
}

typedef void EachCase(const ProtobufCFieldDescriptor *call, const ProtobufCFieldDescriptor *field,
                      void *context);

static void for_each_case(EachCase *each, void *context) {
    const ProtobufCMessageDescriptor *request = &moreau__v1__request__descriptor;
    for (unsigned i = 0; i < request->n_fields; i++) {
        const ProtobufCFieldDescriptor *call = &request->fields[i];
        const ProtobufCMessageDescriptor *message = call->descriptor;
        if ((call->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0) {
            continue;
        }
        for (unsigned k = 0; k < message->n_fields; k++) {
            Call empty;
            Things things = nobodys;
            protobuf_c_message_init(message, &empty);
            if (is_named(message->short_name, message->fields[k].name) &&
                name_it(&empty, &message->fields[k], &things)) {
                each(call, &message->fields[k], context);
            }
        }
    }
}

typedef struct Trial {
    WireClient *alice, *bob, *root;
    Things bobs;
    FILE *table;
    size_t cases;
} Trial;

static const char *code_name(Moreau__V1__Status__Code code) {
    return protobuf_c_enum_descriptor_get_value(&moreau__v1__status__code__descriptor, (int)code)
        ->name;
}

// What belongs to alice, seen by herself, by the server's admin, and by bob.
static void try_case(const ProtobufCFieldDescriptor *call, const ProtobufCFieldDescriptor *field,
                     void *context) {
    Trial *trial = context;
    const char *name = ((const ProtobufCMessageDescriptor *)call->descriptor)->short_name;
    Things alices, nothing = nobodys;
    make(trial->alice, &alices);
    const uint64_t hash = wire_hash(trial->alice, alices.world);
    const Answer anothers = ask(trial->bob, call, field, &alices, &trial->bobs),
                 none = ask(trial->bob, call, field, &nothing, &trial->bobs);
    ck_assert_msg(none.code == CODE(NOT_FOUND), "%s by %s: nobody's is %s (%s)", name, field->name,
                  code_name(none.code), none.text);
    ck_assert_msg(anothers.code == none.code && strcmp(anothers.text, none.text) == 0,
                  "%s by %s: another's is %s (%s), nobody's %s (%s)", name, field->name,
                  code_name(anothers.code), anothers.text, code_name(none.code), none.text);
    ck_assert_uint_eq(wire_hash(trial->alice, alices.world), hash);
    const Answer own = ask(trial->alice, call, field, &alices, &alices);
    ck_assert_msg(own.code != CODE(NOT_FOUND) && own.code != CODE(PERMISSION_DENIED),
                  "%s by %s: one's own is %s (%s)", name, field->name, code_name(own.code),
                  own.text);
    make(trial->alice, &alices);
    const Answer admins = ask(trial->root, call, field, &alices, &alices);
    ck_assert_msg(admins.code == own.code, "%s by %s: for admin it is %s (%s), for its owner %s",
                  name, field->name, code_name(admins.code), admins.text, code_name(own.code));
    fprintf(trial->table, "| `%s` | `%s` | found | %s | %s |\n", name, field->name,
            code_name(anothers.code), code_name(none.code));
    trial->cases++;
}

static char *read_page(void) {
    FILE *page = fopen(MOREAU_SOURCE_DIR "/server/access/README.md", "r");
    ck_assert_ptr_nonnull(page);
    char *text = calloc(1, 1 << 16);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_gt(fread(text, 1, (1 << 16) - 1, page), 0);
    fclose(page);
    return text;
}

START_TEST(what_is_anothers_is_nobodys_to_the_letter) {
    Trial trial = {.alice = wire_open_as(server, "alice"),
                   .bob = wire_open_as(server, "bob"),
                   .root = wire_open_as(server, "root")};
    char *table = NULL;
    size_t bytes = 0;
    trial.table = open_memstream(&table, &bytes);
    make(trial.bob, &trial.bobs);
    for_each_case(try_case, &trial);
    fclose(trial.table);
    ck_assert_uint_ge(trial.cases, 40);
    const char *path = getenv("MOREAU_TABLE");
    if (path != NULL) {
        FILE *out = fopen(path, "w");
        ck_assert_ptr_nonnull(out);
        fputs(table, out);
        fclose(out);
    }
    char *page = read_page();
    ck_assert_msg(strstr(page, table) != NULL,
                  "server/access/README.md holds another table than\n%s", table);
    free(page);
    free(table);
    wire_close(trial.alice);
    wire_close(trial.bob);
    wire_close(trial.root);
}
END_TEST

// ---- lists, totals, names

static void expect_counts(WireClient *client, uint64_t worlds, uint64_t groups, uint64_t episodes) {
    const Moreau__V1__WorldList world_list = MOREAU__V1__WORLD_LIST__INIT;
    const Moreau__V1__GroupList group_list = MOREAU__V1__GROUP_LIST__INIT;
    const Moreau__V1__EpisodeList episode_list = MOREAU__V1__EPISODE_LIST__INIT;
    const Moreau__V1__Reply *reply = wire_accept(client, &world_list);
    ck_assert_uint_eq(reply->world_list->n_worlds, worlds);
    ck_assert_uint_eq(reply->world_list->total, worlds);
    reply = wire_accept(client, &group_list);
    ck_assert_uint_eq(reply->group_list->n_groups, groups);
    ck_assert_uint_eq(reply->group_list->total, groups);
    reply = wire_accept(client, &episode_list);
    ck_assert_uint_eq(reply->episode_list->n_episodes, episodes);
    ck_assert_uint_eq(reply->episode_list->total, episodes);
    const Moreau__V1__StatsReply *stats = wire_stats(client, true);
    ck_assert_uint_eq(stats->world_count, worlds);
    ck_assert_uint_eq(stats->n_worlds, worlds);
    ck_assert_uint_eq(stats->groups, groups);
    ck_assert_uint_eq(stats->group_worlds, 2 * groups);
}

START_TEST(lists_and_totals_tell_of_ones_own) {
    WireClient *alice = wire_open_as(server, "alice"), *bob = wire_open_as(server, "bob"),
               *carol = wire_open_as(server, "carol"), *root = wire_open_as(server, "root");
    Things things;
    make(alice, &things);
    make(alice, &things);
    make(bob, &things);
    expect_counts(alice, 2, 2, 2);
    expect_counts(carol, 2, 2, 2); // of the same namespace
    expect_counts(bob, 1, 1, 1);
    expect_counts(root, 3, 3, 3);
    const Moreau__V1__StatsReply *stats = wire_stats(bob, false);
    ck_assert_uint_eq(stats->bodies, 4);
    ck_assert(!stats->has_requests && !stats->has_bytes_in && !stats->has_connections);
    ck_assert(wire_stats(root, false)->has_requests);
    wire_close(alice);
    wire_close(bob);
    wire_close(carol);
    wire_close(root);
}
END_TEST

START_TEST(a_name_is_taken_in_one_namespace_alone) {
    WireClient *alice = wire_open_as(server, "alice"), *bob = wire_open_as(server, "bob"),
               *carol = wire_open_as(server, "carol");
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.name = (char *)(uintptr_t) "same";
    wire_accept(alice, &create);
    wire_accept(bob, &create);
    wire_refuse(carol, &create, CODE(ALREADY_EXISTS), "name");
    wire_close(alice);
    wire_close(bob);
    wire_close(carol);
}
END_TEST

// By name, by the first digits of its id, and after a restart: it is in the file whose it is.
START_TEST(an_episode_is_found_in_its_namespace_alone) {
    WireClient *alice = wire_open_as(server, "alice"), *bob = wire_open_as(server, "bob");
    Things alices, bobs;
    make(alice, &alices);
    make(bob, &bobs);
    char name[64], digits[UID_BYTES_TEXT];
    snprintf(name, sizeof(name), "%s", wire_describe(alice, alices.episode)->name);
    snprintf(digits, sizeof(digits), "%.8s", alices.episode);
    Moreau__V1__EpisodeDescribe describe = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    describe.episode = digits;
    wire_refuse(bob, &describe, CODE(NOT_FOUND), "episode");
    wire_accept(alice, &describe);
    describe.episode = name; // bob's has the same
    ck_assert_str_eq(wire_accept(alice, &describe)->episode_describe->episode->episode,
                     alices.episode);
    ck_assert_str_eq(wire_accept(bob, &describe)->episode_describe->episode->episode, bobs.episode);
    wire_close(alice);
    wire_close(bob);
}
END_TEST

// Whoever may write the file gives an episode to whom he wants: that is not sealed.
START_TEST(whose_it_is_can_be_written_in_the_file) {
    WireClient *alice = wire_open_as(server, "alice"), *bob = wire_open_as(server, "bob");
    Things alices;
    make(alice, &alices);
    char path[300];
    sqlite3 *db;
    snprintf(path, sizeof(path), "%s/db", server->folder);
    Moreau__V1__EpisodeDescribe describe = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    describe.episode = alices.episode;
    wire_refuse(bob, &describe, CODE(NOT_FOUND), "episode");
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    ck_assert_int_eq(
        sqlite3_exec(db, "UPDATE recording SET namespace = 'beta' WHERE namespace = 'alpha'", NULL,
                     NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    wire_accept(bob, &describe);
    wire_refuse(alice, &describe, CODE(NOT_FOUND), "episode");
    wire_close(alice);
    wire_close(bob);
}
END_TEST

static TCase *case_spaces(void) {
    TCase *tcase = tcase_create("spaces");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, what_is_anothers_is_nobodys_to_the_letter);
    tcase_add_test(tcase, lists_and_totals_tell_of_ones_own);
    tcase_add_test(tcase, a_name_is_taken_in_one_namespace_alone);
    tcase_add_test(tcase, whose_it_is_can_be_written_in_the_file);
    tcase_add_test(tcase, an_episode_is_found_in_its_namespace_alone);
    return tcase;
}

SUITE_MAIN("system/spaces", case_spaces)
