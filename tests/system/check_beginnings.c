// SPDX-License-Identifier: MIT
// What a recording says of how it begins, forged by somebody who knows the format: chunks,
// checksums, seal and rows are all made right again. The first key-frame, or a group's template,
// says something else.
#include "log/format/definition.h"
#include "log/mend_chain.h"
#include "support/server_shell.h"
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"

#include <ctype.h>
#include <stdio.h>

enum { STEPS = 60, BYTES_MAX = 1 << 20 };

static WireDepot depot;

static void set_up(void) {
    wire_depot_open(&depot, "--workers 2");
}

static void tear_down(void) {
    wire_depot_close(&depot);
}

static void record_world(void) {
    const uint64_t world = wire_world(depot.client, 4, 7, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    wire_step(depot.client, world, 5);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    wire_record(depot.client, &start);
    wire_step(depot.client, world, STEPS);
    wire_stop_recording(depot.client, world);
}

static void record_group(void) {
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    record.name = "balance";
    Moreau__V1__GroupCreate *call = wire_group_create_call(2);
    call->record = &record;
    const uint64_t group = wire_accept(depot.client, call)->group_create->group;
    wire_group_reset(depot.client, group);
    for (int step = 0; step < STEPS; step++) {
        float action[2] = {0.5f, -0.5f};
        Moreau__V1__GroupStep steps = wire_group_step_call(group, action, 2);
        wire_accept(depot.client, &steps);
    }
    Moreau__V1__GroupDestroy end = MOREAU__V1__GROUP_DESTROY__INIT;
    end.has_group = 1, end.group = group;
    wire_accept(depot.client, &end);
}

// ---- the forger

static size_t forge_definition(const Chunk *chunk, uint8_t *body, void (*edit)(RecordingDef *)) {
    Arena arena;
    RecordingDef def;
    Error error;
    arena_init(&arena, BYTES_MAX);
    ck_assert_int_eq(definition_read(chunk, &arena, &def, &error), STATUS_OK);
    edit(&def);
    const size_t bytes = definition_write(&def, NULL);
    ck_assert_uint_lt(bytes, BYTES_MAX);
    definition_write(&def, body);
    arena_deinit(&arena);
    return bytes;
}

static void add_body(RecordingDef *def) {
    def->body_count++;
}

static void add_step(RecordingDef *def) {
    def->world_step++;
}

static void begin_later(RecordingDef *def) {
    def->world_time += 1.0;
}

static void step_longer(RecordingDef *def) {
    def->time_step *= 2.0;
}

static void solve_otherwise(RecordingDef *def) {
    def->solver = strcmp(def->solver, "pgs") == 0 ? "mdp" : "pgs";
}

static void leave_alone(RecordingDef *def) {
    ck_assert_uint_gt(def->body_count, 0);
}

static void (*const edits[])(RecordingDef *) = {add_body, add_step, begin_later, step_longer,
                                                solve_otherwise};
enum { EDIT_COUNT = sizeof(edits) / sizeof(edits[0]) };

// A digit of the scene is another one; the first, one in the middle and the last.
static size_t forge_scene(const Chunk *chunk, uint8_t *body, int which) {
    size_t digits[3] = {0}, count = 0;
    memcpy(body, chunk->body, chunk->body_bytes);
    for (size_t i = 0; i < chunk->body_bytes; i++) {
        if (isdigit(body[i])) {
            digits[0] = count == 0 ? i : digits[0];
            digits[1] = i < chunk->body_bytes / 2 ? i : digits[1];
            digits[2] = i;
            count++;
        }
    }
    ck_assert_uint_gt(count, 3);
    body[digits[which]] = body[digits[which]] == '5' ? '6' : '5';
    return chunk->body_bytes;
}

static void forge(int kind, void (*edit)(RecordingDef *), int which) {
    static uint8_t made[CHUNK_HEADER_BYTES + BYTES_MAX];
    char path[256], options[300], said[4096], text[128];
    sqlite3 *db;
    sqlite3_stmt *row, *update;
    Chunk chunk;
    Error error;
    snprintf(path, sizeof(path), "%s/episodes.db", depot.folder);
    wire_depot_stop(&depot);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    snprintf(text, sizeof(text), "SELECT id, bytes FROM chunk WHERE kind = %d ORDER BY sequence",
             kind);
    ck_assert_int_eq(sqlite3_prepare_v2(db, text, -1, &row, NULL), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_prepare_v2(db, "UPDATE chunk SET bytes = ?2 WHERE id = ?1", -1, &update, NULL),
        SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(row), SQLITE_ROW);
    const uint8_t *old = sqlite3_column_blob(row, 1);
    ck_assert_int_eq(chunk_open(old, (size_t)sqlite3_column_bytes(row, 1), NULL, &chunk, &error),
                     STATUS_OK);
    memcpy(made, old, CHUNK_HEADER_BYTES);
    const size_t bytes = kind == CHUNK_SCENE
                             ? forge_scene(&chunk, made + CHUNK_HEADER_BYTES, which)
                             : forge_definition(&chunk, made + CHUNK_HEADER_BYTES, edit);
    put_u64(made, MEND_AT_BODY_BYTES, bytes);
    sqlite3_bind_int64(update, 1, sqlite3_column_int64(row, 0));
    sqlite3_bind_blob(update, 2, made, (int)(CHUNK_HEADER_BYTES + bytes), SQLITE_STATIC);
    ck_assert_int_eq(sqlite3_step(update), SQLITE_DONE);
    sqlite3_finalize(row);
    sqlite3_finalize(update);
    mend_chain(db, 1);
    sqlite3_close(db);
    snprintf(options, sizeof(options), "--recover %s", path); // makes the rows what they say
    server_refusal(options, said, sizeof(said));
    wire_depot_restart(&depot, "--workers 2");
}

// How many things are found in the first episode, twice: also whoever asks again is told.
static size_t find_all(void) {
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    char id[WIRE_EPISODE_ID_BYTES];
    size_t found[2];
    snprintf(id, sizeof(id), "%s",
             wire_accept(depot.client, &list)->episode_list->episodes[0]->episode);
    for (int i = 0; i < 2; i++) {
        Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
        verify.episode = id;
        const Moreau__V1__Reply *reply = wire_stream(depot.client, &verify, NULL, NULL);
        wire_expect(reply, MOREAU__V1__STATUS__CODE__OK, NULL);
        found[i] = reply->episode_verify->n_differences;
    }
    ck_assert_uint_eq(found[0], found[1]);
    return found[0];
}

static void record(bool of_group) {
    if (of_group) {
        record_group();
    } else {
        record_world();
    }
}

START_TEST(what_was_not_forged_is_verified) {
    record(_i == 1);
    forge(CHUNK_DEFINITION, leave_alone, 0);
    ck_assert_uint_eq(find_all(), 0);
}
END_TEST

START_TEST(a_forged_definition_is_not_verified) {
    record(_i >= EDIT_COUNT);
    forge(CHUNK_DEFINITION, edits[_i % EDIT_COUNT], 0);
    ck_assert_uint_gt(find_all(), 0);
}
END_TEST

START_TEST(a_forged_scene_is_not_verified) {
    record(_i >= 3);
    forge(CHUNK_SCENE, NULL, _i % 3);
    ck_assert_uint_gt(find_all(), 0);
}
END_TEST

static TCase *case_beginnings(void) {
    TCase *tcase = tcase_create("beginnings");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, what_was_not_forged_is_verified, 0, 2);
    tcase_add_loop_test(tcase, a_forged_definition_is_not_verified, 0, 2 * EDIT_COUNT);
    tcase_add_loop_test(tcase, a_forged_scene_is_not_verified, 0, 6);
    return tcase;
}

SUITE_MAIN("system/beginnings", case_beginnings)
