// SPDX-License-Identifier: MIT
// kill -9 while several worlds are recorded under load, at twenty moments from a seed: nothing that
// was committed is lost, every episode verifies up to where it was cut, and says `interrupted`.
#include "support/machine.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_episode.h"
#include "support/wire_world.h"

#include "support/campaign.h"
#include "support/lab.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

enum { WORLDS = 3, STEPS_PER_CALL = 5, WAVE = 16 };

// Starts recording; its id goes to `episode`.
static void record(WireClient *client, uint64_t world, Moreau__V1__Episode__Content content,
                   char episode[WIRE_EPISODE_ID_BYTES]) {
    Moreau__V1__EpisodeStart call = wire_start_call(world);
    call.has_content = 1;
    call.content = content;
    memcpy(episode, wire_record(client, &call).id, WIRE_EPISODE_ID_BYTES);
}

static const Moreau__V1__EpisodeListReply *list_episodes(WireClient *client) {
    Moreau__V1__EpisodeList call = MOREAU__V1__EPISODE_LIST__INIT;
    return wire_accept(client, &call)->episode_list;
}

typedef struct Committed {
    int64_t chunks, bytes, episodes;
} Committed;

static int64_t ask(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement;
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(db));
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

// What somebody who looks at the file sees: that is committed.
static Committed look(const char *path) {
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    Committed committed = {.chunks = ask(db, "SELECT count(*) FROM chunk"),
                           .bytes = ask(db, "SELECT total(length(bytes)) FROM chunk"),
                           .episodes = ask(db, "SELECT count(*) FROM episode")};
    sqlite3_close(db);
    return committed;
}

// Sends waves of steps without waiting in between; a whole episode is recorded on the way.
static void load(WireClient *client, const char *path, uint64_t random_ms, char complete[],
                 Committed *committed) {
    uint64_t world[WORLDS];
    char episode[WIRE_EPISODE_ID_BYTES];
    for (int i = 0; i < WORLDS; i++) {
        world[i] =
            wire_world(client, 15, 100 + (uint64_t)i, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
        record(client, world[i], MOREAU__V1__EPISODE__CONTENT__FRAMES, i == 0 ? complete : episode);
    }
    double until_ms = server_now_ms() + (double)random_ms;
    bool stopped = false;
    do {
        for (int k = 0; k < WAVE; k++) {
            for (int i = 0; i < WORLDS; i++) {
                Moreau__V1__WorldStep step = wire_step_call(&world[i], STEPS_PER_CALL);
                wire_submit(client, &step);
            }
        }
        for (int k = 0; k < WAVE * WORLDS; k++) {
            ck_assert_ptr_nonnull(wire_receive(client));
        }
        if (!stopped) {
            wire_stop_recording(client, world[0]);
            stopped = true;
        }
        *committed = look(path);
    } while (server_now_ms() < until_ms);
    for (int k = 0; k < WAVE; k++) { // and it dies with work under way
        Moreau__V1__WorldStep step = wire_step_call(&world[1 + k % 2], STEPS_PER_CALL);
        wire_submit(client, &step);
    }
}

static void expect_whole(WireClient *client, const char *complete, size_t *interrupted) {
    const Moreau__V1__EpisodeListReply *list = list_episodes(client);
    for (size_t i = 0; i < list->n_episodes; i++) {
        const Moreau__V1__EpisodeInfo *info = list->episodes[i];
        bool is_complete = strcmp(info->episode, complete) == 0;
        ck_assert_int_ne(info->state, MOREAU__V1__EPISODE__STATE__RECORDING);
        if (is_complete) {
            ck_assert_int_eq(info->state, MOREAU__V1__EPISODE__STATE__COMPLETE);
            ck_assert_uint_eq(info->steps, WAVE * STEPS_PER_CALL);
        }
        *interrupted += info->state == MOREAU__V1__EPISODE__STATE__INTERRUPTED;
        wire_expect_verified(client, info->episode, info->steps);
    }
}

START_TEST(a_killed_server_loses_nothing_committed) {
    char folder[SERVER_FOLDER_BYTES], path[128], options[256];
    server_make_folder(folder);
    snprintf(path, sizeof(path), "%s/episodes.db", folder);
    snprintf(options, sizeof(options), "--workers 2 --db %s", path);
    uint64_t seed = 20261;
    for (int i = 0; i < campaign_count(20); i++) {
        char complete[WIRE_EPISODE_ID_BYTES];
        Committed committed, after;
        ServerProcess *server = server_start(options);
        WireClient *client = wire_open(server->address[0]);
        load(client, path, (uint64_t)lab_random(&seed, 0.0, 150.0), complete, &committed);
        server_sleep_ms((unsigned)lab_random(&seed, 0.0, 30.0));
        kill(server->pid, SIGKILL);
        ck_assert_int_eq(server_wait(server, PATIENCE_MS), -1);
        server_free(server);
        wire_close(client);

        server = server_start(options);
        after = look(path);
        ck_assert_int_ge(after.chunks, committed.chunks);
        ck_assert_int_ge(after.bytes, committed.bytes);
        ck_assert_int_ge(after.episodes, committed.episodes);
        client = wire_open(server->address[0]);
        size_t interrupted = 0;
        expect_whole(client, complete, &interrupted);
        ck_assert_uint_eq(interrupted, WORLDS - 1);

        // so that the next round lists its own alone
        const Moreau__V1__EpisodeListReply *list = list_episodes(client);
        for (size_t k = 0; k < list->n_episodes; k++) {
            Moreau__V1__EpisodeDelete call = MOREAU__V1__EPISODE_DELETE__INIT;
            call.episode = list->episodes[k]->episode;
            wire_accept(client, &call);
        }
        ck_assert_int_eq(look(path).chunks, 0);
        wire_close(client);
        server_stop(server);
    }
    server_remove_folder(folder);
}
END_TEST

static TCase *case_kill(void) {
    TCase *tcase = tcase_create("kill");
    tcase_set_timeout(tcase, 280.0);
    tcase_add_test(tcase, a_killed_server_loses_nothing_committed);
    return tcase;
}

SUITE_MAIN("system/kill", case_kill)
