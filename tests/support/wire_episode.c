// SPDX-License-Identifier: MIT
#include "support/wire_episode.h"

#include "base/hash.h"
#include "log/format/chunk.h"
#include "log/mend_chain.h"
#include "log/format/entries.h"
#include "run/worlds/input.h"

#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = SERVER_FOLDER_BYTES + 32 };

// ---- the depot

void wire_depot_restart(WireDepot *depot, const char *options) {
    char line[512];
    snprintf(line, sizeof(line), "--db %s/episodes.db %s", depot->folder, options);
    depot->server = server_start(line);
    depot->client = wire_open(depot->server->address[0]);
}

void wire_depot_open(WireDepot *depot, const char *options) {
    server_make_folder(depot->folder);
    wire_depot_restart(depot, options);
}

void wire_depot_stop(WireDepot *depot) {
    if (depot->server != NULL) {
        wire_close(depot->client);
        server_stop(depot->server);
        depot->server = NULL;
    }
}

void wire_depot_close(WireDepot *depot) {
    wire_depot_stop(depot);
    server_remove_folder(depot->folder);
}

// ---- calls

Moreau__V1__EpisodeStart wire_start_call(uint64_t world) {
    Moreau__V1__EpisodeStart call = MOREAU__V1__EPISODE_START__INIT;
    call.has_world = 1;
    call.world = world;
    return call;
}

WireEpisode wire_record(WireClient *client, const Moreau__V1__EpisodeStart *call) {
    const Moreau__V1__Reply *reply = wire_accept(client, call);
    WireEpisode episode;
    ck_assert_uint_eq(strlen(reply->episode_start->episode), WIRE_EPISODE_ID_BYTES - 1);
    memcpy(episode.id, reply->episode_start->episode, WIRE_EPISODE_ID_BYTES);
    return episode;
}

const Moreau__V1__EpisodeInfo *wire_stop_recording(WireClient *client, uint64_t world) {
    Moreau__V1__EpisodeStop call = MOREAU__V1__EPISODE_STOP__INIT;
    call.has_world = 1;
    call.world = world;
    return wire_accept(client, &call)->episode_stop->episode;
}

const Moreau__V1__EpisodeInfo *wire_describe(WireClient *client, const char *episode) {
    Moreau__V1__EpisodeDescribe call = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    call.episode = (char *)episode;
    return wire_accept(client, &call)->episode_describe->episode;
}

uint64_t wire_wide_world(WireClient *client) {
    static double pose[7 * WIRE_WIDE_FIXED];
    static Moreau__V1__Body__Kind kind[WIRE_WIDE_FIXED];
    for (size_t i = 0; i < WIRE_WIDE_FIXED; i++) {
        pose[7 * i + 3] = 1.0;
        kind[i] = MOREAU__V1__BODY__KIND__STATIC;
    }
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1;
    add.world = world;
    add.n_pose = (size_t)7 * WIRE_WIDE_FIXED;
    add.pose = pose;
    add.n_kind = WIRE_WIDE_FIXED;
    add.kind = kind;
    wire_accept(client, &add);
    return world;
}

Moreau__V1__Reply *wire_await(WireClient *client, uint64_t id, WireSeen *seen, void *context) {
    for (;;) {
        Moreau__V1__Reply *reply = wire_receive(client);
        ck_assert_msg(reply != NULL, "the server closed the connection instead of answering");
        if (reply->id != id) {
            continue;
        }
        if (!reply->event) {
            return reply;
        }
        wire_expect(reply, MOREAU__V1__STATUS__CODE__OK, NULL);
        if (seen != NULL) {
            seen(reply, context);
        }
    }
}

Moreau__V1__Reply *wire_stream(WireClient *client, const void *call, WireSeen *seen,
                               void *context) {
    return wire_await(client, wire_submit(client, call), seen, context);
}

// ---- the file

static sqlite3 *open_file(const WireDepot *depot) {
    char path[PATH_BYTES];
    sqlite3 *db;
    ck_assert_msg(depot->server == NULL, "the server still has the file");
    snprintf(path, sizeof(path), "%s/episodes.db", depot->folder);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

void wire_depot_sql(const WireDepot *depot, const char *sql) {
    sqlite3 *db = open_file(depot);
    char *why = NULL;
    int result = sqlite3_exec(db, sql, NULL, NULL, &why);
    ck_assert_msg(result == SQLITE_OK, "%s: %s", sql, why);
    sqlite3_close(db);
}

int64_t wire_depot_number(const WireDepot *depot, const char *sql) {
    sqlite3 *db = open_file(depot);
    sqlite3_stmt *statement;
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    ck_assert_msg(sqlite3_step(statement) == SQLITE_ROW, "no row: %s", sql);
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
}

int64_t wire_depot_chunk(const WireDepot *depot, int kind, int index) {
    char sql[128];
    snprintf(sql, sizeof(sql), "SELECT id FROM chunk WHERE kind = %d ORDER BY id LIMIT 1 OFFSET %d",
             kind, index);
    return wire_depot_number(depot, sql);
}

static void add_entries(Hash *hash, const void *bytes, size_t byte_count, uint64_t *count) {
    Chunk chunk;
    Entry entry;
    Error error = {0};
    size_t at = 0;
    ck_assert_msg(chunk_open(bytes, byte_count, NULL, &chunk, &error) == STATUS_OK, "%s",
                  error.message);
    while (entry_next(chunk.body, chunk.body_bytes, &at, &entry, &error)) {
        // how many equal orders share an entry depends on when it was written
        uint8_t *input = malloc(entry.input_bytes);
        ck_assert_ptr_nonnull(input);
        memcpy(input, entry.input, entry.input_bytes);
        if (input_kind((InputBytes){input, entry.input_bytes}) == INPUT_STEP) {
            input_set_steps(input, 1);
        }
        for (uint32_t i = 0; i < entry.hash_count; i++) {
            uint64_t state = entry_hash(&entry, i);
            hash_add(hash, input, entry.input_bytes);
            hash_add(hash, &state, sizeof(state));
            ++*count;
        }
        free(input);
    }
    ck_assert_int_eq(error.status, STATUS_OK);
}

uint64_t wire_depot_history(const WireDepot *depot, int64_t recording, uint64_t *count) {
    sqlite3 *db = open_file(depot);
    sqlite3_stmt *statement;
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT bytes FROM chunk WHERE kind = 2 AND recording = ? "
                                        "ORDER BY id",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    sqlite3_bind_int64(statement, 1, recording);
    Hash hash;
    hash_init(&hash, 0);
    *count = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        add_entries(&hash, sqlite3_column_blob(statement, 0),
                    (size_t)sqlite3_column_bytes(statement, 0), count);
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return hash_value(&hash);
}

static void write_bytes(sqlite3 *db, int64_t chunk, const uint8_t *bytes, size_t count) {
    sqlite3_stmt *statement;
    ck_assert_int_eq(
        sqlite3_prepare_v2(db, "UPDATE chunk SET bytes = ? WHERE id = ?", -1, &statement, NULL),
        SQLITE_OK);
    sqlite3_bind_blob(statement, 1, bytes, (int)count, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, chunk);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_finalize(statement);
}

void wire_depot_flip(const WireDepot *depot, int64_t chunk, long at, bool seal) {
    sqlite3 *db = open_file(depot);
    sqlite3_stmt *statement;
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT bytes, recording FROM chunk WHERE id = ?", -1,
                                        &statement, NULL),
                     SQLITE_OK);
    sqlite3_bind_int64(statement, 1, chunk);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    size_t count = (size_t)sqlite3_column_bytes(statement, 0);
    uint8_t *bytes = malloc(count + 1);
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, sqlite3_column_blob(statement, 0), count);
    bytes[at < 0 ? (long)count + at : at] ^= 1;
    int64_t recording = sqlite3_column_int64(statement, 1);
    sqlite3_finalize(statement);
    write_bytes(db, chunk, bytes, count);
    if (seal) {
        mend_chain(db, recording);
    }
    free(bytes);
    sqlite3_close(db);
}
void wire_depot_age(const WireDepot *depot, uint64_t dynamics_version) {
    enum { AT_VERSION = CHUNK_HEADER_BYTES + 48 }; // log/format/definition.h
    sqlite3 *db = open_file(depot);
    sqlite3_stmt *statement;
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT id, bytes, recording FROM chunk WHERE kind = 6 "
                                        "ORDER BY id LIMIT 1",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    size_t count = (size_t)sqlite3_column_bytes(statement, 1);
    uint8_t *bytes = malloc(count);
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, sqlite3_column_blob(statement, 1), count);
    put_u64(bytes, AT_VERSION, dynamics_version);
    int64_t chunk = sqlite3_column_int64(statement, 0);
    int64_t recording = sqlite3_column_int64(statement, 2);
    sqlite3_finalize(statement);
    write_bytes(db, chunk, bytes, count);
    mend_chain(db, recording);
    free(bytes);
    char sql[96];
    snprintf(sql, sizeof(sql), "UPDATE recording SET dynamics_version = %llu WHERE id = %lld",
             (unsigned long long)dynamics_version, (long long)recording);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

void wire_expect_verified(WireClient *client, const char *episode, uint64_t steps) {
    Moreau__V1__EpisodeVerify call = MOREAU__V1__EPISODE_VERIFY__INIT;
    call.episode = (char *)episode;
    const Moreau__V1__Reply *reply = wire_stream(client, &call, NULL, NULL);
    wire_expect(reply, MOREAU__V1__STATUS__CODE__OK, NULL);
    const Moreau__V1__EpisodeVerifyReply *verdict = reply->episode_verify;
    ck_assert_msg(verdict->verified, "%s",
                  verdict->n_differences > 0 ? verdict->differences[0]->message
                                             : "not verified, and no difference");
    ck_assert_uint_eq(verdict->steps, steps);
    ck_assert_uint_eq(verdict->n_differences, 0);
}
