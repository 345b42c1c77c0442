// SPDX-License-Identifier: MIT
// The list of a group's episodes, forged by somebody who knows the format: chunks, checksums, seal
// and rows are all made right again. What the calls say they are not.
#include "log/format/definition.h"
#include "log/mend_chain.h"
#include "support/server_shell.h"
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"

#include <math.h>
#include <stdio.h>

enum { WORLDS = 8, STEPS = 120, RECORDS_MAX = 200, CUT = 8 };

static WireDepot depot;

static void set_up(void) {
    wire_depot_open(&depot, "--workers 2");
}

static void tear_down(void) {
    wire_depot_close(&depot);
}

static float action_of(uint64_t world, uint64_t step) {
    const uint64_t mixed = (world * 2654435761u + step * 40503u) >> 3;
    return (float)(mixed % 2001) / 1000.0f - 1.0f;
}

static void train(Moreau__V1__Group__Autoreset autoreset) {
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    record.name = "balance";
    Moreau__V1__GroupCreate *call = wire_group_create_call(WORLDS);
    call->record = &record;
    call->has_autoreset = 1, call->autoreset = autoreset;
    const uint64_t group = wire_accept(depot.client, call)->group_create->group;
    wire_group_reset(depot.client, group);
    for (uint64_t step = 0; step < STEPS; step++) {
        float action[WORLDS];
        for (uint64_t i = 0; i < WORLDS; i++) {
            action[i] = action_of(i, step);
        }
        Moreau__V1__GroupStep steps = wire_group_step_call(group, action, WORLDS);
        wire_accept(depot.client, &steps);
        if (step == STEPS / 2) { // which cuts all off
            wire_group_reset(depot.client, group);
        }
    }
    Moreau__V1__GroupDestroy end = MOREAU__V1__GROUP_DESTROY__INIT;
    end.has_group = 1, end.group = group;
    wire_accept(depot.client, &end);
}

// ---- the forger

typedef struct Episodes {
    EpisodeRecord record[RECORDS_MAX];
    size_t count;
} Episodes;

typedef void Forge(Episodes *episodes);

static sqlite3_stmt *prepare(sqlite3 *db, const char *text) {
    sqlite3_stmt *statement;
    ck_assert_msg(sqlite3_prepare_v2(db, text, -1, &statement, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(db));
    return statement;
}

// All records into the first chunk of them: the others are emptied.
static void read_all(sqlite3 *db, Episodes *episodes) {
    sqlite3_stmt *rows = prepare(db, "SELECT bytes FROM chunk WHERE kind = 8 ORDER BY sequence");
    episodes->count = 0;
    while (sqlite3_step(rows) == SQLITE_ROW) {
        Chunk chunk;
        EpisodesChunk part;
        Error error;
        ck_assert_int_eq(chunk_open(sqlite3_column_blob(rows, 0),
                                    (size_t)sqlite3_column_bytes(rows, 0), NULL, &chunk, &error),
                         STATUS_OK);
        ck_assert_int_eq(episodes_open(&chunk, &part, &error), STATUS_OK);
        for (size_t i = 0; i < part.count; i++) {
            ck_assert_uint_lt(episodes->count, RECORDS_MAX);
            episodes_get(&part, i, &episodes->record[episodes->count++]);
        }
    }
    sqlite3_finalize(rows);
}

// The first so many of what is left go into this chunk, as many as it had; all into the last.
static void write_all(sqlite3 *db, const Episodes *episodes) {
    sqlite3_stmt *rows =
        prepare(db, "SELECT id, bytes FROM chunk WHERE kind = 8 ORDER BY sequence");
    sqlite3_stmt *update = prepare(db, "UPDATE chunk SET bytes = ?2 WHERE id = ?1");
    const int64_t chunks = wire_depot_number(&depot, "SELECT count(*) FROM chunk WHERE kind = 8");
    size_t done = 0;
    for (int64_t i = 1; sqlite3_step(rows) == SQLITE_ROW; i++) {
        Chunk chunk;
        EpisodesChunk part;
        Error error;
        const uint8_t *old = sqlite3_column_blob(rows, 1);
        chunk_open(old, (size_t)sqlite3_column_bytes(rows, 1), NULL, &chunk, &error);
        episodes_open(&chunk, &part, &error);
        const size_t left = episodes->count - done;
        const size_t count = i == chunks || part.count > left ? left : part.count;
        const EpisodeRecord *from = episodes->record + done;
        // who shortens an episode does not know what it gained: an older server said nothing of it
        const bool knows = count == 0 || from[0].figures.has_gain;
        const uint32_t version = knows ? part.version : (uint32_t)CHUNK_FORMAT_LAUNCHES;
        const size_t bytes = episodes_write(done, from, count, version, NULL);
        uint8_t *made = malloc(CHUNK_HEADER_BYTES + bytes);
        memcpy(made, old, CHUNK_HEADER_BYTES);
        made[8] = (uint8_t)version;
        episodes_write(done, from, count, version, made + CHUNK_HEADER_BYTES);
        put_u64(made, MEND_AT_BODY_BYTES, bytes);
        sqlite3_bind_int64(update, 1, sqlite3_column_int64(rows, 0));
        sqlite3_bind_blob(update, 2, made, (int)(CHUNK_HEADER_BYTES + bytes), SQLITE_STATIC);
        ck_assert_int_eq(sqlite3_step(update), SQLITE_DONE);
        sqlite3_reset(update);
        free(made);
        done += count;
    }
    sqlite3_finalize(rows);
    sqlite3_finalize(update);
}

static void forge(Forge *how) {
    char path[256], options[300], said[4096];
    sqlite3 *db;
    static Episodes episodes;
    snprintf(path, sizeof(path), "%s/episodes.db", depot.folder);
    wire_depot_stop(&depot);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    read_all(db, &episodes);
    how(&episodes);
    write_all(db, &episodes);
    mend_chain(db, 1);
    ck_assert_int_eq(sqlite3_exec(db, "DELETE FROM episode", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    snprintf(options, sizeof(options), "--recover %s", path); // makes the rows what they say
    server_refusal(options, said, sizeof(said));
    ck_assert_uint_eq((uint64_t)wire_depot_number(&depot, "SELECT count(*) FROM episode"),
                      episodes.count);
    wire_depot_restart(&depot, "--workers 2");
}

// How many of all episodes are not verified.
static size_t find_all(void) {
    size_t found = 0;
    Moreau__V1__EpisodeList call = MOREAU__V1__EPISODE_LIST__INIT;
    call.has_first = call.has_count = 1;
    call.count = 1;
    uint64_t total = 1;
    for (uint64_t i = 0; i < total; i++) {
        char id[WIRE_EPISODE_ID_BYTES];
        call.first = i;
        const Moreau__V1__EpisodeListReply *list = wire_accept(depot.client, &call)->episode_list;
        total = list->total;
        snprintf(id, sizeof(id), "%s", list->episodes[0]->episode);
        Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
        verify.episode = id;
        const Moreau__V1__Reply *reply = wire_stream(depot.client, &verify, NULL, NULL);
        wire_expect(reply, MOREAU__V1__STATUS__CODE__OK, NULL);
        found += reply->episode_verify->n_differences > 0;
    }
    ck_assert_uint_gt(total, WORLDS);
    return found;
}

static EpisodeRecord *find_long(Episodes *episodes) {
    for (size_t i = 0; i < episodes->count; i++) {
        EpisodeRecord *record = &episodes->record[i];
        if (record->state == RECORDING_COMPLETE && record->length > 17) {
            return record;
        }
    }
    ck_abort_msg("no episode is long");
    return NULL;
}

static void forget_gains(Episodes *episodes) {
    for (size_t i = 0; i < episodes->count; i++) {
        episodes->record[i].figures.has_gain = 0;
    }
}

static void shorten(EpisodeRecord *record, uint64_t length) {
    record->last_step -= record->length - length;
    record->time *= (double)length / (double)record->length;
    record->length = length;
    record->figures.unconverged_steps = 0;
}

static void leave_alone(Episodes *episodes) {
    ck_assert_uint_gt(episodes->count, 0);
}

static void cut(Episodes *episodes) {
    forget_gains(episodes);
    shorten(find_long(episodes), CUT);
}

static void cut_at_a_hash(Episodes *episodes) {
    EpisodeRecord *record = find_long(episodes);
    forget_gains(episodes);
    shorten(record, 16);
    record->state = RECORDING_WORLD_DESTROYED;
}

static void double_one(Episodes *episodes) {
    episodes->record[episodes->count] = *find_long(episodes);
    episodes->count++;
}

static void leave_out(Episodes *episodes) {
    EpisodeRecord *record = find_long(episodes);
    const size_t at = (size_t)(record - episodes->record);
    memmove(record, record + 1, (episodes->count - at - 1) * sizeof(*record));
    episodes->count--;
}

static void move_end(Episodes *episodes) {
    find_long(episodes)->last_step++;
}

// To where it is what another one is that begins alike.
static void move_to_another(Episodes *episodes) {
    EpisodeRecord *record = find_long(episodes);
    const uint32_t world = record->world == 0 ? 1 : 0;
    record->world = world;
}

// By the least that a number can be changed.
static void hide_gain(Episodes *episodes) {
    Gain *gain = &find_long(episodes)->figures.gain;
    gain->sum = nextafter(gain->sum, HUGE_VAL);
}

static Forge *const forgeries[] = {cut,      cut_at_a_hash,   double_one, leave_out,
                                   move_end, move_to_another, hide_gain};
enum { FORGERY_COUNT = sizeof(forgeries) / sizeof(forgeries[0]) };

START_TEST(what_was_not_forged_is_verified) {
    train((Moreau__V1__Group__Autoreset)_i);
    forge(leave_alone);
    ck_assert_uint_eq(find_all(), 0);
}
END_TEST

START_TEST(a_forged_list_is_not_verified) {
    train(_i < FORGERY_COUNT ? MOREAU__V1__GROUP__AUTORESET__NEXT_STEP
                             : MOREAU__V1__GROUP__AUTORESET__SAME_STEP);
    forge(forgeries[_i % FORGERY_COUNT]);
    ck_assert_uint_gt(find_all(), 0);
}
END_TEST

static TCase *case_forged(void) {
    TCase *tcase = tcase_create("forged");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, what_was_not_forged_is_verified, 0, 3);
    tcase_add_loop_test(tcase, a_forged_list_is_not_verified, 0, 2 * FORGERY_COUNT);
    return tcase;
}

SUITE_MAIN("system/group_forged", case_forged)
