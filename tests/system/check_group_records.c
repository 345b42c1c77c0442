// SPDX-License-Identifier: MIT
// Groups that are recorded: what is in the file does not depend on lanes, every finished episode of
// every world is a row that is verified and shown alone, and nothing that was changed is called
// verified.
#include "support/machine.h"
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"

#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { WORLDS = 100, SEEN = WIRE_GROUP_SEEN }; // two ranges: 64 and 36 worlds

static float action_of(uint64_t world, uint64_t step) {
    const uint64_t mixed = (world * 2654435761u + step * 40503u) >> 3;
    return (float)(mixed % 2001) / 1000.0f - 1.0f;
}

// ---- a learner

typedef struct Learner {
    WireClient *client;
    uint64_t group;
    uint32_t worlds;
    uint64_t step, finished;
    double earned[WORLDS];
    uint32_t return_world[WORLDS]; // to be sent with the next call
    double return_sum[WORLDS];
    size_t return_count;
    float seen[600][SEEN]; // of one world, step by step
    uint32_t watched;
    char recording[WIRE_EPISODE_ID_BYTES];
} Learner;

// One call makes it and says what it is to be.
static Learner learn(WireClient *client, uint32_t worlds, bool returns,
                     Moreau__V1__Group__Autoreset autoreset) {
    Learner learner = {.client = client, .worlds = worlds, .watched = worlds - 1};
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    char *labels[] = {"learning"};
    record.name = "balance";
    record.n_labels = 1, record.labels = labels;
    record.has_returns = 1, record.returns = returns;
    Moreau__V1__GroupCreate *call = wire_group_create_call(worlds);
    call->record = &record;
    call->has_autoreset = 1, call->autoreset = autoreset;
    const Moreau__V1__GroupCreateReply *reply = wire_accept(client, call)->group_create;
    learner.group = reply->group;
    ck_assert_uint_eq(strlen(reply->recording), WIRE_EPISODE_ID_BYTES - 1);
    memcpy(learner.recording, reply->recording, WIRE_EPISODE_ID_BYTES);
    return learner;
}

// Each step is worth one, as in Gymnasium: so a return is a length.
static void keep(Learner *learner, const Moreau__V1__GroupStepReply *reply) {
    memcpy(learner->seen[learner->step], reply->observation + (size_t)learner->watched * SEEN,
           sizeof(learner->seen[0]));
    for (size_t i = 0; i < reply->n_final_world; i++) {
        learner->return_world[i] = reply->final_world[i];
        learner->return_sum[i] = (double)reply->final_length[i];
    }
    learner->return_count = reply->n_final_world;
    learner->finished += reply->n_final_world;
}

static void play(Learner *learner, uint64_t steps, bool returns) {
    for (uint64_t k = 0; k < steps; k++) {
        float action[WORLDS];
        for (uint32_t i = 0; i < learner->worlds; i++) {
            action[i] = action_of(i, learner->step);
        }
        Moreau__V1__GroupStep call = wire_group_step_call(learner->group, action, learner->worlds);
        if (returns) {
            call.n_return_world = call.n_return_sum = learner->return_count;
            call.return_world = learner->return_world;
            call.return_sum = learner->return_sum;
        }
        learner->step++;
        keep(learner, wire_accept(learner->client, &call)->group_step);
    }
}

// Calls go ahead of their replies, on one range and on the other in turn: the later may be over
// before the earlier.
static void rush(Learner *learner, uint64_t steps) {
    enum { WAVE = 8, FIRST = 64, BYTES = (WORLDS + 7) / 8 };
    for (uint64_t k = 0; k < steps; k += WAVE) {
        for (uint64_t i = 0; i < WAVE; i++) {
            uint8_t mask[BYTES] = {0};
            float action[WORLDS];
            const size_t first = i % 2 == 0 ? 0 : FIRST, last = i % 2 == 0 ? FIRST : WORLDS;
            for (size_t world = first; world < last; world++) {
                mask[world / 8] |= (uint8_t)(1u << world % 8);
                action[world - first] = action_of(world, learner->step + k + i);
            }
            Moreau__V1__GroupStep call = wire_group_step_call(learner->group, action, last - first);
            call.has_mask = 1, call.mask = (ProtobufCBinaryData){sizeof(mask), mask};
            wire_submit(learner->client, &call);
        }
        for (uint64_t i = 0; i < WAVE; i++) {
            const Moreau__V1__Reply *reply = wire_receive(learner->client);
            wire_expect(reply, CODE(OK), NULL);
            learner->finished += reply->group_step->n_final_world;
        }
    }
}

static void end(Learner *learner, bool returns) {
    Moreau__V1__GroupDestroy call = MOREAU__V1__GROUP_DESTROY__INIT;
    call.has_group = 1, call.group = learner->group;
    if (returns) {
        call.n_return_world = call.n_return_sum = learner->return_count;
        call.return_world = learner->return_world;
        call.return_sum = learner->return_sum;
    }
    wire_accept(learner->client, &call);
}

static Learner train(WireClient *client, uint32_t worlds, uint64_t steps, bool returns,
                     Moreau__V1__Group__Autoreset autoreset) {
    Learner learner = learn(client, worlds, returns, autoreset);
    keep(&learner, wire_group_reset(client, learner.group));
    play(&learner, steps, returns);
    end(&learner, returns);
    return learner;
}

static const Moreau__V1__EpisodeListReply *list(WireClient *client, const char *recording,
                                                uint64_t first, uint64_t count) {
    Moreau__V1__EpisodeList call = MOREAU__V1__EPISODE_LIST__INIT;
    call.recording = (char *)recording;
    call.has_first = call.has_count = 1;
    call.first = first, call.count = count;
    return wire_accept(client, &call)->episode_list;
}

// ---- the file

static sqlite3 *open_file(const WireDepot *depot) {
    char path[256];
    sqlite3 *db;
    snprintf(path, sizeof(path), "%s/episodes.db", depot->folder);
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    return db;
}

// A hash of all columns of all rows.
static uint64_t hash_of(const WireDepot *depot, const char *sql, uint64_t *rows) {
    sqlite3 *db = open_file(depot);
    sqlite3_stmt *statement;
    uint64_t hash = 14695981039346656037u;
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(db));
    *rows = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        ++*rows;
        for (int k = 0; k < sqlite3_column_count(statement); k++) {
            const uint8_t *bytes = sqlite3_column_blob(statement, k);
            const int count = sqlite3_column_bytes(statement, k);
            for (int i = 0; i < count; i++) {
                hash = (hash ^ bytes[i]) * 1099511628211u;
            }
        }
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return hash;
}

// Chunks are cut where time says as well: what stands in them one behind the other does not.
static const char calls_sql[] =
    "SELECT substr(bytes, 193) FROM chunk WHERE kind = 2 ORDER BY first_world, sequence";
static const char episodes_sql[] =
    "SELECT number, world_index, first_step, last_step, state, simulated_s, seed, turn, length, "
    "return_sum, unconverged FROM episode ORDER BY number";

START_TEST(the_file_is_the_same_for_any_number_of_lanes) {
    static const char *const options[] = {"--workers 1", "--workers 2", "--workers 4"};
    uint64_t calls[3], episodes[3], chunk_count, row_count, finished = 0;
    for (int i = 0; i < 3; i++) {
        WireDepot depot;
        wire_depot_open(&depot, options[i]);
        Learner learner =
            learn(depot.client, WORLDS, true, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
        keep(&learner, wire_group_reset(depot.client, learner.group));
        play(&learner, 200, true);
        const uint64_t told = learner.finished - learner.return_count;
        rush(&learner, 160);
        learner.return_count = 0; // of those nobody tells the return
        end(&learner, true);
        finished = learner.finished;
        wire_depot_stop(&depot);
        calls[i] = hash_of(&depot, calls_sql, &chunk_count);
        episodes[i] = hash_of(&depot, episodes_sql, &row_count);
        ck_assert_uint_ge(chunk_count, 2);
        ck_assert_uint_ge(row_count, finished); // and what the end cut short
        ck_assert_uint_eq(calls[i], calls[0]);
        ck_assert_uint_eq(episodes[i], episodes[0]);
        ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(*) FROM episode WHERE state = 1 "
                                                   "AND return_sum = length"),
                         (int64_t)told);
        ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(*) FROM recording WHERE state = 1 "
                                                   "AND world_count = 100 AND world_range = 64"),
                         1);
        wire_depot_close(&depot);
    }
    ck_assert_uint_gt(finished, (uint64_t)5 * WORLDS);
}
END_TEST

// ---- alone

static WireDepot depot;

static void set_up(void) {
    wire_depot_open(&depot, "--workers 2");
}

static void tear_down(void) {
    wire_depot_close(&depot);
}

static void verify_all(const char *recording, uint64_t stride) {
    const uint64_t total = list(depot.client, recording, 0, 1)->total;
    ck_assert_uint_gt(total, 0);
    for (uint64_t i = 0; i < total; i += stride) {
        const Moreau__V1__EpisodeInfo *info = list(depot.client, recording, i, 1)->episodes[0];
        ck_assert_uint_gt(info->steps, 0);
        ck_assert_double_le(fabs(info->simulated - 0.02 * (double)info->steps), 1e-9);
        wire_expect_verified(depot.client, info->episode, info->steps);
    }
}

START_TEST(every_episode_is_verified_alone) {
    const Learner learner = train(depot.client, 64, 100, false, (Moreau__V1__Group__Autoreset)_i);
    verify_all(learner.recording, 5);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 1");
    verify_all(learner.recording, 50);
}
END_TEST

// The only world of a group is one of a group all the same.
START_TEST(a_group_of_one_world_is_recorded_as_any) {
    const Learner learner =
        train(depot.client, 1, 100, true, MOREAU__V1__GROUP__AUTORESET__SAME_STEP);
    ck_assert_uint_ge(list(depot.client, learner.recording, 0, 1)->total, learner.finished);
    verify_all(learner.recording, 1);
}
END_TEST

// No key-frame says so: the group's template does.
// What nobody has looked at is not told as none.
START_TEST(figures_that_nobody_keeps_are_absent) {
    const Learner learner =
        train(depot.client, 2, 60, false, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    const Moreau__V1__EpisodeListReply *all = list(depot.client, learner.recording, 0, 10000);
    ck_assert_uint_gt(all->n_episodes, 0);
    for (size_t i = 0; i < all->n_episodes; i++) {
        const Moreau__V1__EpisodeInfo *info = all->episodes[i];
        ck_assert(!info->has_worst_own && !info->has_worst_penetration);
        ck_assert(!info->has_contacts_max && !info->has_hardest_impact && !info->has_energy_gain);
        ck_assert(info->has_unconverged_steps);
    }
}
END_TEST

START_TEST(an_episode_knows_what_its_bodies_are_called) {
    const Learner learner =
        train(depot.client, 2, 50, false, MOREAU__V1__GROUP__AUTORESET__SAME_STEP);
    Moreau__V1__EpisodeDescribe describe = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    describe.episode = (char *)learner.recording; // the first of its episodes
    describe.has_names = describe.names = 1;
    const Moreau__V1__EpisodeDescribeReply *reply =
        wire_accept(depot.client, &describe)->episode_describe;
    ck_assert_uint_eq(reply->n_names, 2);
    ck_assert_str_eq(reply->names[0], "cart");
    ck_assert_str_eq(reply->names[1], "pole");
}
END_TEST

// Of the watched world's last episode: the cart is where the client saw it, step by step.
START_TEST(an_episode_is_shown_as_the_client_saw_it) {
    const Learner learner =
        train(depot.client, WORLDS, 200, false, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    const Moreau__V1__EpisodeListReply *all = list(depot.client, learner.recording, 0, 10000);
    int shown = 0;
    uint64_t begun = 0;
    for (size_t i = all->n_episodes; i > 0; i--) { // the newest is the first
        const Moreau__V1__EpisodeInfo *info = all->episodes[i - 1];
        if (info->world_index != learner.watched ||
            info->state != MOREAU__V1__EPISODE__STATE__COMPLETE) {
            continue;
        }
        ck_assert_uint_eq(info->turn, (uint64_t)shown);
        Moreau__V1__EpisodeRead call = MOREAU__V1__EPISODE_READ__INIT;
        call.episode = info->episode;
        const Moreau__V1__EpisodeFrames *frames =
            wire_accept(depot.client, &call)->episode_read->frames;
        ck_assert_uint_eq(frames->n_step, info->steps + 1);
        for (size_t k = 0; k <= info->steps; k++) {
            ck_assert_uint_eq(frames->step[k], k);
            ck_assert_float_eq((float)frames->pose[(size_t)2 * 7 * k], learner.seen[begun + k][0]);
        }
        begun += info->steps + 1; // the call behind the last begins the next
        shown++;
    }
    ck_assert_int_gt(shown, 3);
}
END_TEST

// ---- all that a learner may do

static uint64_t reset_some(Learner *learner, uint64_t seed, const double *values) {
    uint8_t mask[(WORLDS + 7) / 8] = {0};
    mask[0] = 0x81, mask[9] = 2; // 0, 7, 73
    uint64_t seeds[3] = {seed, seed + 1, seed + 2};
    Moreau__V1__GroupReset call = wire_group_reset_call(learner->group);
    call.has_mask = 1, call.mask = (ProtobufCBinaryData){sizeof(mask), mask};
    call.n_seed = seed > 0 ? 3 : 0, call.seed = seeds;
    call.n_values = values == NULL ? 0 : 12, call.values = (double *)values;
    wire_accept(learner->client, &call);
    return 3;
}

static void step_some(Learner *learner, float first) {
    uint8_t mask[(WORLDS + 7) / 8] = {0};
    mask[0] = 0x81, mask[9] = 2;
    float action[3] = {first, 0.5f, -0.5f};
    Moreau__V1__GroupStep call = wire_group_step_call(learner->group, action, 3);
    call.has_mask = 1, call.mask = (ProtobufCBinaryData){sizeof(mask), mask};
    learner->finished += wire_accept(learner->client, &call)->group_step->n_final_world;
}

static void send_all(Learner *learner) {
    float action[WORLDS];
    for (uint32_t i = 0; i < WORLDS; i++) {
        action[i] = action_of(i, learner->step);
    }
    Moreau__V1__GroupSend call = MOREAU__V1__GROUP_SEND__INIT;
    call.has_group = 1, call.group = learner->group;
    call.n_action = WORLDS, call.action = action;
    wire_accept(learner->client, &call);
    Moreau__V1__GroupReceive receive = MOREAU__V1__GROUP_RECEIVE__INIT;
    receive.has_group = 1, receive.group = learner->group;
    learner->finished += wire_accept(learner->client, &receive)->group_step->n_final_world;
    learner->step++;
}

START_TEST(seeds_starts_masks_refusals_and_sent_worlds_are_recorded) {
    static const double values[12] = {0.01, 0.1, 0.02, 0.2, -0.01, 0, 0, 0, 0.03, 0, 0.1, 0.5};
    Learner learner = learn(depot.client, WORLDS, false, MOREAU__V1__GROUP__AUTORESET__SAME_STEP);
    wire_group_reset(depot.client, learner.group);
    play(&learner, 20, false);
    for (int i = 0; i < 60; i++) {
        step_some(&learner, i % 5 == 0 ? NAN : 0.25f);
        if (i % 20 == 19) {
            send_all(&learner);
            reset_some(&learner, i == 19 ? 77 : 0, i == 39 ? values : NULL);
        }
    }
    play(&learner, 20, false);
    end(&learner, false);
    ck_assert_uint_gt(list(depot.client, learner.recording, 0, 1)->total, learner.finished);
    verify_all(learner.recording, 2);
}
END_TEST

// ---- what is not as it was

static bool is_verified(const char *episode) {
    Moreau__V1__EpisodeVerify call = MOREAU__V1__EPISODE_VERIFY__INIT;
    call.episode = (char *)episode;
    const Moreau__V1__Reply *reply = wire_stream(depot.client, &call, NULL, NULL);
    return reply->status == NULL || reply->status->code == MOREAU__V1__STATUS__CODE__OK
               ? reply->episode_verify->verified
               : false;
}

// An episode of a world, by its number among those of that world.
static void find(const char *recording, uint64_t world, uint64_t turn,
                 char episode[WIRE_EPISODE_ID_BYTES]) {
    const Moreau__V1__EpisodeListReply *all = list(depot.client, recording, 0, 10000);
    for (size_t i = 0; i < all->n_episodes; i++) {
        if (all->episodes[i]->world_index == world && all->episodes[i]->turn == turn) {
            memcpy(episode, all->episodes[i]->episode, WIRE_EPISODE_ID_BYTES);
            return;
        }
    }
    ck_abort_msg("world %llu has no episode %llu", (unsigned long long)world,
                 (unsigned long long)turn);
}

// Bytes of the first calls of the first range, with a checksum that was made right: hashes, actions
// and sets of worlds are all found by stepping, of that range alone.
START_TEST(a_byte_that_was_changed_is_found) {
    const Learner learner =
        train(depot.client, WORLDS, 60, false, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    char mine[WIRE_EPISODE_ID_BYTES], other[WIRE_EPISODE_ID_BYTES];
    find(learner.recording, 3, 0, mine);
    find(learner.recording, 70, 0, other);
    ck_assert(is_verified(mine) && is_verified(other));
    wire_depot_stop(&depot);
    const int64_t chunk = wire_depot_number(
        &depot, "SELECT id FROM chunk WHERE kind = 2 AND first_world = 0 ORDER BY sequence");
    // behind the reset (entry, head, sets; 64 hashes), the first step's action of world 3, in the
    // highest byte but one; or the hash behind the reset
    const long reset = 192 + 24 + 72 + 64 * 8L;
    wire_depot_flip(&depot, chunk, _i % 2 == 0 ? reset + 24 + 72 + 4 * 3L + 2 : 192 + 96 + 8 * 3L,
                    _i >= 2);
    wire_depot_restart(&depot, "--workers 2");
    ck_assert(!is_verified(mine));
    ck_assert(is_verified(other));
}
END_TEST

// The calls fill more than one chunk of each range.
START_TEST(calls_that_are_gone_are_missed) {
    const Learner learner =
        train(depot.client, WORLDS, 250, false, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    char early[WIRE_EPISODE_ID_BYTES], late[WIRE_EPISODE_ID_BYTES], other[WIRE_EPISODE_ID_BYTES];
    find(learner.recording, 3, 0, early);
    find(learner.recording, 3, 7, late);
    find(learner.recording, 70, 7, other);
    ck_assert(is_verified(early) && is_verified(late));
    wire_depot_stop(&depot);
    wire_depot_sql(&depot,
                   "DELETE FROM chunk WHERE kind = 2 AND first_world = 0 AND first_step = 0");
    wire_depot_restart(&depot, "--workers 2");
    ck_assert(!is_verified(early));
    ck_assert(!is_verified(late)); // it is there, but what came before it is not
    ck_assert(is_verified(other));
    Moreau__V1__EpisodeRead call = MOREAU__V1__EPISODE_READ__INIT;
    call.episode = early;
    wire_refuse(depot.client, &call, CODE(DATA_LOSS), NULL);
}
END_TEST

// Its steps do not fit between the calls that its row says: it is never verified, and whoever asks
// for its frames is told.
START_TEST(a_row_whose_calls_are_others_is_answered) {
    static const char *const wrong[] = {"first_step - 1", "0", "'abc'", "last_step - 1"};
    const Learner learner =
        train(depot.client, WORLDS, 60, false, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    char mine[WIRE_EPISODE_ID_BYTES], other[WIRE_EPISODE_ID_BYTES];
    find(learner.recording, 3, 1, mine);
    find(learner.recording, 4, 1, other);
    wire_depot_stop(&depot);
    char text[160];
    snprintf(text, sizeof(text),
             "UPDATE episode SET last_step = %s WHERE world_index = 3 AND turn = 1", wrong[_i]);
    wire_depot_sql(&depot, text);
    wire_depot_restart(&depot, "--workers 2");
    Moreau__V1__EpisodeRead call = MOREAU__V1__EPISODE_READ__INIT;
    call.episode = mine;
    wire_refuse(depot.client, &call, CODE(DATA_LOSS), NULL);
    ck_assert(!is_verified(mine));
    ck_assert(is_verified(other));
}
END_TEST

// What a damaged row has for a name is no text of the protocol: clients would refuse the list.
START_TEST(a_name_that_is_no_text_is_listed) {
    const Learner learner =
        train(depot.client, 2, 60, false, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    wire_depot_stop(&depot);
    wire_depot_sql(&depot, "UPDATE recording SET name = CAST(x'62ff6c' AS TEXT)");
    wire_depot_restart(&depot, "--workers 2");
    const Moreau__V1__EpisodeListReply *all = list(depot.client, learner.recording, 0, 10000);
    ck_assert_uint_gt(all->n_episodes, 0);
    ck_assert_str_eq(all->episodes[0]->name, "b?l");
    char mine[WIRE_EPISODE_ID_BYTES];
    find(learner.recording, 1, 0, mine);
    ck_assert(!is_verified(mine));
}
END_TEST

// ---- ends

// How many are in the file: those of the first batches come within a second or two.
static uint64_t wait_for_rows(const Learner *learner) {
    uint64_t total = 0;
    for (int i = 0; i < PATIENCE_MS / 10 && total <= WORLDS; i++) {
        server_sleep_ms(10);
        total = list(depot.client, learner->recording, 0, 1)->total;
    }
    ck_assert_uint_gt(total, WORLDS);
    return total;
}

START_TEST(a_killed_server_keeps_what_was_finished) {
    Learner learner = learn(depot.client, WORLDS, false, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    wire_group_reset(depot.client, learner.group);
    play(&learner, 400, false); // a batch of rows, and a chunk of calls of each range
    const uint64_t before = wait_for_rows(&learner);
    kill(depot.server->pid, SIGKILL);
    ck_assert_int_eq(server_wait(depot.server, PATIENCE_MS), -1);
    server_free(depot.server);
    wire_close(depot.client);
    depot.server = NULL;
    wire_depot_restart(&depot, "--workers 2");
    const Moreau__V1__EpisodeListReply *all = list(depot.client, learner.recording, 0, 10000);
    ck_assert_uint_ge(all->total, before);
    verify_all(learner.recording, 40);
    train(depot.client, 2, 60, false, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    wire_depot_stop(&depot);
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT state FROM recording WHERE id = 1"), 3);
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT state FROM recording WHERE id = 2"), 1);
}
END_TEST

// Writes one after the other into `bytes`; returns how many.
static size_t pack_frame(const Moreau__V1__Request *request, uint8_t *bytes) {
    const size_t size = moreau__v1__request__pack(request, bytes + 4);
    bytes[0] = bytes[1] = 0;
    bytes[2] = (uint8_t)(size >> 8), bytes[3] = (uint8_t)size;
    return 4 + size;
}

// Both are read in one turn: the destruction is cancelled before a lane has it. It has begun, and
// the log owes it an answer: it waits for that one.
START_TEST(a_destruction_that_is_cancelled_is_done_all_the_same) {
    enum { TIMES = 10 };
    for (int i = 0; i < TIMES; i++) {
        Learner learner =
            learn(depot.client, WORLDS, false, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
        wire_group_reset(depot.client, learner.group);
        play(&learner, 5, false);
        Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
        Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
        Moreau__V1__Request first = wire_request(&destroy), second = wire_request(&cancel);
        destroy.has_group = 1, destroy.group = learner.group;
        first.has_id = second.has_id = 1;
        first.id = 1000000 + 2 * (uint64_t)i, second.id = first.id + 1;
        cancel.has_request = 1, cancel.request = first.id;
        uint8_t bytes[256];
        const size_t count = pack_frame(&first, bytes);
        ck_assert(wire_send_bytes(depot.client, bytes, count + pack_frame(&second, bytes + count)));
        for (int k = 0; k < 2; k++) {
            const Moreau__V1__Reply *reply = wire_receive(depot.client);
            ck_assert_ptr_nonnull(reply);
            wire_expect(reply, CODE(OK), NULL);
        }
    }
    wire_depot_stop(&depot);
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(*) FROM recording WHERE state = 1"),
                     TIMES);
}
END_TEST

START_TEST(rows_are_made_again_from_the_chunks) {
    const Learner learner =
        train(depot.client, WORLDS, 60, true, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    uint64_t count, after;
    wire_depot_stop(&depot);
    const uint64_t rows = hash_of(&depot, episodes_sql, &count);
    wire_depot_sql(&depot,
                   "DELETE FROM episode WHERE number % 3 = 1; UPDATE episode SET length = 5, "
                   "return_sum = 1000 WHERE number = 2");
    char options[256], said[4096];
    snprintf(options, sizeof(options), "--recover %s/episodes.db", depot.folder);
    server_refusal(options, said, sizeof(said));
    ck_assert_uint_eq(hash_of(&depot, episodes_sql, &after), rows);
    ck_assert_uint_eq(after, count);
    wire_depot_restart(&depot, "--workers 2");
    verify_all(learner.recording, 40);
}
END_TEST

START_TEST(an_episode_is_deleted_and_the_others_stay) {
    const Learner learner =
        train(depot.client, WORLDS, 60, false, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    char mine[WIRE_EPISODE_ID_BYTES];
    find(learner.recording, 3, 0, mine);
    const uint64_t total = list(depot.client, learner.recording, 0, 1)->total;
    Moreau__V1__EpisodeDelete call = MOREAU__V1__EPISODE_DELETE__INIT;
    call.episode = mine;
    wire_accept(depot.client, &call);
    ck_assert_uint_eq(list(depot.client, learner.recording, 0, 1)->total, total - 1);
    verify_all(learner.recording, 60);
}
END_TEST

START_TEST(what_cannot_be_recorded_is_refused) {
    WireClient *client = depot.client;
    uint32_t world[2] = {0, 1};
    double sum[2] = {1.0, 2.0};
    float action[2] = {0};
    Learner plain = learn(client, 2, false, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    Learner kept = learn(client, 2, true, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    Moreau__V1__GroupStep call = wire_group_step_call(plain.group, action, 2);
    call.n_return_world = 1, call.return_world = world;
    call.n_return_sum = 1, call.return_sum = sum;
    wire_refuse(client, &call, CODE(FAILED_PRECONDITION), "return_sum");
    call.group = kept.group;
    call.n_return_sum = 2;
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "return_sum");
    call.n_return_world = 2, world[1] = 2;
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "return_world[1]");
    world[1] = 1, sum[1] = NAN;
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "return_sum[1]");
    sum[1] = 2.0;
    wire_accept(client, &call); // of episodes that are not: dropped
    Moreau__V1__EpisodeList all = MOREAU__V1__EPISODE_LIST__INIT;
    all.recording = "12";
    wire_refuse(client, &all, CODE(INVALID_ARGUMENT), "recording");

    ServerProcess *server = server_start("");
    client = wire_open(server->address[0]);
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    Moreau__V1__GroupCreate *create = wire_group_create_call(2);
    create->record = &record;
    wire_refuse(client, create, CODE(FAILED_PRECONDITION), "record");
    wire_close(client);
    server_stop(server);
}
END_TEST

// Each call that may bring returns, to a group that is recorded without them, and to one that is
// not recorded.
START_TEST(returns_that_nobody_keeps_are_refused) {
    WireClient *client = depot.client;
    uint32_t world = 0;
    double sum = 1.0;
    float action = 0.0F;
    const uint64_t group =
        _i == 0 ? wire_group(client, 1)
                : learn(client, 1, false, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP).group;
#define WITH_RETURNS(call)                                                                         \
    call.n_return_world = 1, call.return_world = &world, call.n_return_sum = 1,                    \
    call.return_sum = &sum
    Moreau__V1__GroupReset reset = wire_group_reset_call(group);
    WITH_RETURNS(reset);
    wire_refuse(client, &reset, CODE(FAILED_PRECONDITION), "return_sum");
    wire_group_reset(client, group);
    Moreau__V1__GroupStep step = wire_group_step_call(group, &action, 1);
    WITH_RETURNS(step);
    wire_refuse(client, &step, CODE(FAILED_PRECONDITION), "return_sum");
    Moreau__V1__GroupSend send = MOREAU__V1__GROUP_SEND__INIT;
    send.has_group = 1, send.group = group;
    send.n_action = 1, send.action = &action;
    WITH_RETURNS(send);
    wire_refuse(client, &send, CODE(FAILED_PRECONDITION), "return_sum");
    Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
    destroy.has_group = 1, destroy.group = group;
    WITH_RETURNS(destroy);
    wire_refuse(client, &destroy, CODE(FAILED_PRECONDITION), "return_sum");
#undef WITH_RETURNS
    wire_group_step(client, group, &action, 1); // it is still there
}
END_TEST

static TCase *case_records(void) {
    TCase *tcase = tcase_create("records");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, every_episode_is_verified_alone, 0, 2);
    tcase_add_test(tcase, a_group_of_one_world_is_recorded_as_any);
    tcase_add_test(tcase, figures_that_nobody_keeps_are_absent);
    tcase_add_test(tcase, an_episode_knows_what_its_bodies_are_called);
    tcase_add_test(tcase, an_episode_is_shown_as_the_client_saw_it);
    tcase_add_test(tcase, seeds_starts_masks_refusals_and_sent_worlds_are_recorded);
    tcase_add_loop_test(tcase, a_byte_that_was_changed_is_found, 0, 4);
    tcase_add_test(tcase, calls_that_are_gone_are_missed);
    tcase_add_loop_test(tcase, a_row_whose_calls_are_others_is_answered, 0, 4);
    tcase_add_test(tcase, a_name_that_is_no_text_is_listed);
    tcase_add_test(tcase, a_killed_server_keeps_what_was_finished);
    tcase_add_test(tcase, a_destruction_that_is_cancelled_is_done_all_the_same);
    tcase_add_test(tcase, rows_are_made_again_from_the_chunks);
    tcase_add_test(tcase, an_episode_is_deleted_and_the_others_stay);
    tcase_add_test(tcase, what_cannot_be_recorded_is_refused);
    tcase_add_loop_test(tcase, returns_that_nobody_keeps_are_refused, 0, 2);
    return tcase;
}

static TCase *case_lanes(void) {
    TCase *tcase = tcase_create("lanes");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, the_file_is_the_same_for_any_number_of_lanes);
    return tcase;
}

SUITE_MAIN("system/group_records", case_lanes, case_records)
