// SPDX-License-Identifier: MIT
// Groups that go on from their recording: a server is killed in mid-training, and the next one
// makes the group again, in every bit as that of a server that nobody killed; what was damaged is
// gone around or named, and what cannot be gone on from is refused.
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

// Four ranges: 64, 64, 64 and 8 worlds.
enum { WORLDS = 200, RANGES = 4, SEEN = WIRE_GROUP_SEEN, NUMBERS = WORLDS * SEEN };
enum { CALLS = 240, KEYFRAME_STEPS = 40 };

static float action_of(uint64_t world, uint64_t call) {
    const uint64_t mixed = (world * 2654435761u + call * 40503u) >> 3;
    return (float)(mixed % 2001) / 1000.0f - 1.0f;
}

// ---- a learner: what it does depends on nothing but what it has seen

typedef struct Learner {
    WireClient *client;
    uint64_t group, call;  // calls done
    uint8_t ended[WORLDS]; // where a step begins nothing: by the last call
    bool must_reset;       // whether that is so
    char recording[WIRE_EPISODE_ID_BYTES];
    float seen[CALLS + 1][NUMBERS]; // behind each call
} Learner;

static Moreau__V1__GroupCreate *create_call(Moreau__V1__Group__Autoreset autoreset, bool bounded,
                                            uint64_t keyframe_steps) {
    static Moreau__V1__GroupRecord record;
    moreau__v1__group_record__init(&record);
    record.name = "balance";
    record.has_keyframe_steps = 1, record.keyframe_steps = keyframe_steps;
    Moreau__V1__GroupCreate *call = wire_group_create_call(WORLDS);
    call->record = &record;
    call->has_autoreset = 1, call->autoreset = autoreset;
    call->has_seed = 1, call->seed = 5;
    if (!bounded) {
        call->n_bounds = 0;
    }
    return call;
}

static Learner *begin(WireClient *client, const Moreau__V1__GroupCreate *create) {
    Learner *learner = calloc(1, sizeof(*learner));
    ck_assert_ptr_nonnull(learner);
    const Moreau__V1__GroupCreateReply *reply = wire_accept(client, create)->group_create;
    learner->client = client;
    learner->group = reply->group;
    learner->must_reset = create->autoreset == MOREAU__V1__GROUP__AUTORESET__DISABLED;
    memcpy(learner->recording, reply->recording, WIRE_EPISODE_ID_BYTES);
    return learner;
}

static Learner *learn(WireClient *client, Moreau__V1__Group__Autoreset autoreset, bool bounded) {
    return begin(client, create_call(autoreset, bounded, KEYFRAME_STEPS));
}

static void keep(Learner *learner, const Moreau__V1__GroupStepReply *reply) {
    ck_assert_uint_eq(reply->n_failures, 0);
    ck_assert_uint_eq(reply->n_observation, NUMBERS);
    memcpy(learner->seen[++learner->call], reply->observation, sizeof(learner->seen[0]));
    memset(learner->ended, 0, sizeof(learner->ended));
    for (size_t i = 0; learner->must_reset && i < reply->n_final_world; i++) {
        learner->ended[reply->final_world[i]] = 1;
    }
}

// Of worlds whose episode is over, where nothing else begins one: a call like others. The rest is
// seen as before.
static void reset_ended(Learner *learner) {
    uint8_t mask[(WORLDS + 7) / 8] = {0};
    uint32_t world[WORLDS];
    size_t count = 0;
    for (uint32_t i = 0; i < WORLDS; i++) {
        if (learner->ended[i]) {
            mask[i / 8] |= (uint8_t)(1u << i % 8);
            world[count++] = i;
        }
    }
    Moreau__V1__GroupReset call = wire_group_reset_call(learner->group);
    call.has_mask = 1, call.mask = (ProtobufCBinaryData){sizeof(mask), mask};
    const Moreau__V1__GroupStepReply *reply = wire_accept(learner->client, &call)->group_step;
    float *now = learner->seen[learner->call + 1];
    memcpy(now, learner->seen[learner->call], sizeof(learner->seen[0]));
    for (size_t i = 0; i < count; i++) {
        memcpy(now + (size_t)world[i] * SEEN, reply->observation + i * SEEN, SEEN * sizeof(float));
    }
    learner->call++;
    memset(learner->ended, 0, sizeof(learner->ended));
}

static void go_on(Learner *learner) {
    if (learner->call == 0) {
        keep(learner, wire_group_reset(learner->client, learner->group));
    } else if (memchr(learner->ended, 1, WORLDS) != NULL) {
        reset_ended(learner);
    } else {
        float action[WORLDS];
        for (uint32_t i = 0; i < WORLDS; i++) {
            action[i] = action_of(i, learner->call);
        }
        keep(learner, wire_group_step(learner->client, learner->group, action, WORLDS));
    }
}

static void play_to(Learner *learner, uint64_t call) {
    while (learner->call < call) {
        go_on(learner);
    }
}

static void destroy(WireClient *client, uint64_t group) {
    Moreau__V1__GroupDestroy call = MOREAU__V1__GROUP_DESTROY__INIT;
    call.has_group = 1, call.group = group;
    wire_accept(client, &call);
}

// ---- going on

static Moreau__V1__GroupCreate resume_call(const char *recording) {
    static Moreau__V1__GroupRecord record;
    moreau__v1__group_record__init(&record);
    record.has_keyframe_steps = 1, record.keyframe_steps = KEYFRAME_STEPS;
    Moreau__V1__GroupCreate call = MOREAU__V1__GROUP_CREATE__INIT;
    call.recording = (char *)recording;
    call.record = &record;
    return call;
}

static const float *read_rows(WireClient *client, uint64_t group) {
    Moreau__V1__GroupRead call = MOREAU__V1__GROUP_READ__INIT;
    call.has_group = 1, call.group = group;
    const Moreau__V1__GroupStepReply *reply = wire_accept(client, &call)->group_step;
    ck_assert_uint_eq(reply->n_observation, NUMBERS);
    ck_assert_uint_eq(reply->n_failures, 0);
    return reply->observation;
}

// One that stands where the other did behind a call, with what it knew then; it is freed.
static void check_same(const Learner *straight, WireClient *client, uint64_t group, uint64_t from,
                       uint64_t to) {
    Learner *again = calloc(1, sizeof(*again));
    ck_assert_ptr_nonnull(again);
    *again = (Learner){.client = client, .group = group, .must_reset = straight->must_reset};
    again->call = from;
    memcpy(again->seen[from], straight->seen[from], sizeof(again->seen[from]));
    ck_assert_mem_eq(read_rows(client, group), straight->seen[from], sizeof(straight->seen[0]));
    if (straight->must_reset) { // whose episode is over, the pole says
        for (uint32_t i = 0; i < WORLDS; i++) {
            const float *row = straight->seen[from] + (size_t)i * SEEN;
            again->ended[i] = fabsf(row[0]) > 2.4f || fabsf(row[2]) > 0.2095f;
        }
    }
    for (uint64_t call = from + 1; call <= to; call++) {
        go_on(again);
        ck_assert_msg(memcmp(again->seen[call], straight->seen[call], sizeof(again->seen[0])) == 0,
                      "behind call %llu, from %llu on, other numbers are seen",
                      (unsigned long long)call, (unsigned long long)from);
    }
    free(again);
}

// ---- a depot whose server is killed

static WireDepot depot;

static void kill_server(void) {
    kill(depot.server->pid, SIGKILL);
    ck_assert_int_eq(server_wait(depot.server, PATIENCE_MS), -1);
    server_free(depot.server);
    wire_close(depot.client);
    depot.server = NULL;
}

// Of the file that a server has open.
static uint64_t ask(const char *sql) {
    char path[256];
    sqlite3 *db;
    sqlite3_stmt *statement;
    snprintf(path, sizeof(path), "%s/episodes.db", depot.folder);
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(db));
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    const uint64_t number = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
}

// The first of its ranges ends with this call: no call left a world out.
static uint64_t stored_calls(int64_t recording) {
    char sql[256];
    snprintf(sql, sizeof(sql),
             "SELECT min(last) FROM (SELECT max(last_step) AS last FROM chunk WHERE kind = 2 AND "
             "recording = %lld GROUP BY first_world)",
             (long long)recording);
    return ask(sql);
}

static void verify_all(const char *recording, uint64_t stride) {
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    list.recording = (char *)recording;
    list.has_first = list.has_count = 1, list.count = 1;
    const uint64_t total = wire_accept(depot.client, &list)->episode_list->total;
    ck_assert_uint_gt(total, 0);
    for (list.first = 0; list.first < total; list.first += stride) {
        const Moreau__V1__EpisodeInfo *info =
            wire_accept(depot.client, &list)->episode_list->episodes[0];
        wire_expect_verified(depot.client, info->episode, info->steps);
    }
}

// The hash of a world's state behind an episode's last step.
static uint64_t last_hash(WireClient *client, const char *recording, uint64_t world,
                          uint64_t turn) {
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    list.recording = (char *)recording;
    list.has_count = 1, list.count = 100000;
    const Moreau__V1__EpisodeListReply *all = wire_accept(client, &list)->episode_list;
    for (size_t i = 0; i < all->n_episodes; i++) {
        const Moreau__V1__EpisodeInfo *info = all->episodes[i];
        if (info->world_index == world && info->turn == turn &&
            info->state == MOREAU__V1__EPISODE__STATE__COMPLETE) {
            Moreau__V1__EpisodeFork fork = MOREAU__V1__EPISODE_FORK__INIT;
            char episode[WIRE_EPISODE_ID_BYTES];
            memcpy(episode, info->episode, sizeof(episode));
            fork.episode = episode;
            return wire_accept(client, &fork)->episode_fork->hash;
        }
    }
    ck_abort_msg("world %llu has no episode %llu", (unsigned long long)world,
                 (unsigned long long)turn);
    return 0;
}

// The turn of the last episode of a world that has an end of its own; UINT64_MAX: none has.
static uint64_t last_turn(int64_t recording, uint64_t world) {
    char sql[256];
    snprintf(sql, sizeof(sql),
             "SELECT coalesce(max(turn), -1) FROM episode WHERE recording = %lld AND world_index = "
             "%llu AND "
             "state = 1",
             (long long)recording, (unsigned long long)world);
    return ask(sql);
}

// Until the file has something of each range behind its first calls: a thread of its own writes it.
static void await_calls(int64_t recording, uint64_t calls) {
    char sql[256];
    snprintf(sql, sizeof(sql),
             "SELECT count(DISTINCT first_world) FROM chunk WHERE kind = 2 AND recording = %lld "
             "AND last_step >= %llu",
             (long long)recording, (unsigned long long)calls);
    while (ask(sql) < RANGES) { // until the test's own time is over
        server_sleep_ms(10);
    }
}

static const char *const workers[] = {"--workers 1", "--workers 4"};

// Killed twice: the second recording is of a group that went on from the first.
START_TEST(a_killed_group_goes_on_in_every_bit) {
    enum { FIRST = 130, SECOND = 190 };
    const char *options = workers[_i % 2];
    wire_depot_open(&depot, options);
    Learner *straight = learn(depot.client, (Moreau__V1__Group__Autoreset)(_i / 2), true);
    play_to(straight, CALLS);
    destroy(depot.client, straight->group);
    Learner *killed = learn(depot.client, (Moreau__V1__Group__Autoreset)(_i / 2), true);
    play_to(killed, FIRST);
    await_calls(2, KEYFRAME_STEPS / 2);
    kill_server();
    wire_depot_restart(&depot, options);
    char recording[WIRE_EPISODE_ID_BYTES];
    memcpy(recording, killed->recording, sizeof(recording));
    uint64_t from = 0;
    const uint64_t ends[] = {SECOND, CALLS};
    for (int64_t part = 0; part < 2; part++) {
        Moreau__V1__GroupCreate call = resume_call(recording);
        const Moreau__V1__GroupCreateReply *reply = wire_accept(depot.client, &call)->group_create;
        const Moreau__V1__GroupResumed *resumed = reply->resumed;
        ck_assert_ptr_nonnull(resumed);
        ck_assert_str_eq(resumed->recording, recording);
        ck_assert_uint_eq(resumed->n_damage, 0);
        ck_assert_uint_eq(reply->count, WORLDS);
        if (!straight->must_reset) { // else ranges have calls that others have not
            ck_assert_uint_eq(resumed->step, stored_calls(2 + part));
        }
        ck_assert_uint_ge(resumed->step, KEYFRAME_STEPS / 2); // a key-frame ended its chunk
        const uint64_t group = reply->group;
        from += resumed->step;
        ck_assert_uint_le(from, part == 0 ? FIRST : SECOND);
        memcpy(recording, reply->recording, sizeof(recording));
        check_same(straight, depot.client, group, from, ends[part]);
        if (part == 0) {
            await_calls(3, KEYFRAME_STEPS / 2);
            kill_server();
            wire_depot_restart(&depot, workers[(_i + 1) % 2]);
        } else {
            destroy(depot.client, group);
        }
    }
    // episodes that began before the kills, and what they ended as
    ck_assert_uint_gt(ask("SELECT count(*) FROM episode WHERE recording = 4 AND parent IS NOT NULL "
                          "AND state = 1"),
                      0);
    verify_all(recording, 7);
    // of a world that balances for long no episode has ended since the server was killed last, and
    // when that was is the disk's matter
    uint32_t compared = 0;
    for (uint64_t world = 0; world < WORLDS; world += 18) {
        const uint64_t turn = last_turn(4, world);
        if (turn != UINT64_MAX) {
            ck_assert_uint_eq(last_hash(depot.client, recording, world, turn),
                              last_hash(depot.client, straight->recording, world, turn));
            compared++;
        }
    }
    ck_assert_uint_gt(compared, 0);
    free(straight);
    free(killed);
    wire_depot_close(&depot);
}
END_TEST

// ---- one that was ended in order, at any step of it; and where it is damaged

static Learner *whole;

static void set_up(void) {
    wire_depot_open(&depot, "--workers 2");
    whole = learn(depot.client, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP, true);
    play_to(whole, CALLS);
    destroy(depot.client, whole->group);
}

static void tear_down(void) {
    free(whole);
    wire_depot_close(&depot);
}

static const Moreau__V1__GroupCreateReply *resume_at(uint64_t step) {
    static Moreau__V1__GroupCreate call;
    call = resume_call(whole->recording);
    call.record = NULL;
    call.has_step = step != UINT64_MAX, call.step = step;
    return wire_accept(depot.client, &call)->group_create;
}

START_TEST(a_group_goes_on_from_any_call) {
    static const uint64_t steps[] = {0, 1, 9, 10, 39, 40, 41, 200, CALLS};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        const uint64_t step = steps[i];
        const Moreau__V1__GroupCreateReply *reply = resume_at(step);
        const uint64_t group = reply->group;
        ck_assert_uint_eq(reply->resumed->step, step);
        ck_assert_uint_eq(reply->resumed->calls_lost, CALLS - step);
        ck_assert_uint_eq(reply->resumed->episodes_untold, 0);
        // what was cut short by the end is behind the call as well, but for the last
        ck_assert_uint_eq(reply->resumed->episodes_lost > 0, step < CALLS);
        if (step > 0) {
            const uint64_t to = step + 30 < CALLS ? step + 30 : CALLS;
            check_same(whole, depot.client, group, step, to);
        }
        destroy(depot.client, group);
    }
    ck_assert_uint_eq(resume_at(UINT64_MAX)->resumed->step, CALLS);
}
END_TEST

static int64_t last_chunk(int kind, int first_world) {
    char sql[192];
    snprintf(sql, sizeof(sql),
             "SELECT id FROM chunk WHERE kind = %d AND first_world = %d ORDER BY sequence DESC "
             "LIMIT 1",
             kind, first_world);
    return wire_depot_number(&depot, sql);
}

static int64_t last_step_before(int64_t chunk) {
    char sql[96];
    snprintf(sql, sizeof(sql), "SELECT first_step FROM chunk WHERE id = %lld", (long long)chunk);
    return wire_depot_number(&depot, sql);
}

START_TEST(a_damaged_key_frame_is_gone_back_from) {
    wire_depot_stop(&depot);
    wire_depot_flip(&depot, last_chunk(1, 64), -100, false);
    wire_depot_restart(&depot, "--workers 2");
    const Moreau__V1__GroupCreateReply *reply = resume_at(UINT64_MAX);
    ck_assert_uint_eq(reply->resumed->step, CALLS); // the calls from the one before on are there
    ck_assert_uint_eq(reply->resumed->n_damage, 1);
    ck_assert_ptr_nonnull(strstr(reply->resumed->damage[0], "key-frame"));
    check_same(whole, depot.client, reply->group, CALLS, CALLS);
}
END_TEST

START_TEST(damaged_calls_are_gone_back_from) {
    wire_depot_stop(&depot);
    const int64_t chunk = last_chunk(2, 128);
    const uint64_t before = (uint64_t)last_step_before(chunk);
    wire_depot_flip(&depot, chunk, 300, false);
    wire_depot_restart(&depot, "--workers 2");
    const Moreau__V1__GroupCreateReply *reply = resume_at(UINT64_MAX);
    ck_assert_uint_eq(reply->resumed->step, before);
    ck_assert_uint_eq(reply->resumed->calls_lost, CALLS - before);
    ck_assert_uint_eq(reply->resumed->n_damage, 1);
    ck_assert_ptr_nonnull(strstr(reply->resumed->damage[0], "inputs"));
    check_same(whole, depot.client, reply->group, before, CALLS);
    Moreau__V1__GroupCreate call = resume_call(whole->recording);
    call.has_step = 1, call.step = CALLS;
    wire_refuse(depot.client, &call, CODE(DATA_LOSS), "step");
}
END_TEST

// No key-frame is left of a range: its calls lead there from the very first; and nothing does when
// that is gone as well.
START_TEST(without_key_frames_all_is_stepped_again) {
    wire_depot_stop(&depot);
    wire_depot_sql(&depot, "DELETE FROM chunk WHERE kind = 1 AND first_world = 64");
    wire_depot_restart(&depot, "--workers 2");
    const Moreau__V1__GroupCreateReply *reply = resume_at(UINT64_MAX);
    ck_assert_uint_eq(reply->resumed->step, CALLS);
    check_same(whole, depot.client, reply->group, CALLS, CALLS);
    wire_depot_stop(&depot);
    wire_depot_sql(&depot,
                   "DELETE FROM chunk WHERE kind = 2 AND first_world = 64 AND first_step = 0");
    wire_depot_restart(&depot, "--workers 2");
    Moreau__V1__GroupCreate call = resume_call(whole->recording);
    wire_refuse(depot.client, &call, CODE(DATA_LOSS), "recording");
}
END_TEST

// Hashes are compared on the way, and what a liar writes into a key-frame is not believed.
START_TEST(what_was_changed_is_not_gone_on_from) {
    wire_depot_stop(&depot);
    // of the last call on the range: its action of the last world
    wire_depot_flip(&depot, last_chunk(2, 0), -2, true);
    wire_depot_restart(&depot, "--workers 2");
    Moreau__V1__GroupCreate call = resume_call(whole->recording);
    wire_refuse(depot.client, &call, CODE(DATA_LOSS), "recording");
    wire_depot_stop(&depot);
    wire_depot_flip(&depot, last_chunk(1, 0), -2, true); // of a snapshot, which has a checksum
    wire_depot_restart(&depot, "--workers 2");
    wire_refuse(depot.client, &call, CODE(DATA_LOSS), "recording");
}
END_TEST

START_TEST(what_cannot_be_gone_on_from_is_refused) {
    WireClient *client = depot.client;
    Moreau__V1__GroupCreate call = resume_call("0123456789abcdef0123456789abcdef");
    wire_refuse(client, &call, CODE(NOT_FOUND), "recording");
    call.recording = "";
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "recording");
    call = resume_call(whole->recording);
    call.has_step = 1, call.step = CALLS + 1;
    wire_refuse(client, &call, CODE(OUT_OF_RANGE), "step");
    call.step = UINT64_MAX;
    wire_refuse(client, &call, CODE(OUT_OF_RANGE), "step");
    call.has_step = 0;
    call.has_count = 1;
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "count");
    call.has_count = 0;
    call.scene = wire_group_create_call(1)->scene;
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "scene");
    call.recording = NULL;
    call.has_step = 1;
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "step");
    call = resume_call(whole->recording);
    call.has_idle_timeout_s = 1, call.idle_timeout_s = 0.5;
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "idle_timeout_s");
    call.has_idle_timeout_s = 0;
    call.record->keyframe_steps = 0;
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "record.keyframe_steps");
    // a world's
    const uint64_t world = wire_world(client, 1, 7, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    const Moreau__V1__EpisodeStart start = wire_start_call(world);
    const WireEpisode episode = wire_record(client, &start);
    call = resume_call(episode.id);
    wire_refuse(client, &call, CODE(FAILED_PRECONDITION), "recording");
    // by a name that two have
    call = resume_call("balance");
    destroy(client, wire_accept(client, &call)->group_create->group);
    Learner *other = learn(client, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP, true);
    free(other);
    while (ask("SELECT count(*) FROM recording WHERE name = 'balance'") < 2) {
        server_sleep_ms(10);
    }
    call = resume_call("balance");
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "recording");
    wire_depot_stop(&depot);
    wire_depot_age(&depot, 7);
    wire_depot_restart(&depot, "");
    call = resume_call(whole->recording);
    wire_refuse(depot.client, &call, CODE(FAILED_PRECONDITION), "recording");

    ServerProcess *server = server_start("");
    client = wire_open(server->address[0]);
    call.record = NULL;
    wire_refuse(client, &call, CODE(FAILED_PRECONDITION), "recording");
    wire_close(client);
    server_stop(server);
}
END_TEST

// What is on the disk of one that is still being recorded; it goes on as well.
START_TEST(a_group_goes_on_twice_while_it_is_recorded) {
    Learner *live = learn(depot.client, MOREAU__V1__GROUP__AUTORESET__SAME_STEP, true);
    play_to(live, 100);
    Moreau__V1__GroupCreate call = resume_call(live->recording);
    call.record = NULL;
    const Moreau__V1__GroupCreateReply *reply;
    do { // its thread writes when it comes to it
        reply = wire_accept(depot.client, &call)->group_create;
    } while (reply->resumed->step < KEYFRAME_STEPS);
    const uint64_t group = reply->group, from = reply->resumed->step;
    play_to(live, 150);
    check_same(live, depot.client, group, from, 150);
    free(live);
}
END_TEST

// ---- calls that name some worlds alone

// Every range has another number of calls: which of them belong together the calls themselves say.
START_TEST(calls_on_some_worlds_are_counted_as_the_group_counts_them) {
    enum { BYTES = (WORLDS + 7) / 8, ROUNDS = 60 };
    Learner *learner =
        begin(depot.client, create_call(MOREAU__V1__GROUP__AUTORESET__NEXT_STEP, true, 4));
    play_to(learner, 1);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint8_t mask[BYTES] = {0};
        float action[WORLDS];
        // range 3 in every third call alone; nobody but range 0 in the last ten
        const size_t first = i % 3 == 2 && i < ROUNDS - 10 ? 192 : 0,
                     last = i % 3 == 2 && i < ROUNDS - 10 ? WORLDS
                            : i < ROUNDS - 10             ? 100
                                                          : 64;
        for (size_t world = first; world < last; world++) {
            mask[world / 8] |= (uint8_t)(1u << world % 8);
            action[world - first] = action_of(world, i);
        }
        Moreau__V1__GroupStep call = wire_group_step_call(learner->group, action, last - first);
        call.has_mask = 1, call.mask = (ProtobufCBinaryData){sizeof(mask), mask};
        wire_accept(depot.client, &call);
    }
    float seen[NUMBERS];
    memcpy(seen, read_rows(depot.client, learner->group), sizeof(seen));
    destroy(depot.client, learner->group);
    Moreau__V1__GroupCreate call = resume_call(learner->recording);
    const Moreau__V1__GroupCreateReply *reply = wire_accept(depot.client, &call)->group_create;
    ck_assert_uint_eq(reply->resumed->step, 1 + ROUNDS);
    ck_assert_mem_eq(read_rows(depot.client, reply->group), seen, sizeof(seen));
    // without the last calls of range 3, nothing behind the first of them counts: its ninth, which
    // was the group's 25th
    wire_depot_stop(&depot);
    wire_depot_sql(&depot, "DELETE FROM chunk WHERE recording = 2 AND kind IN (1, 2) AND "
                           "first_world = 192 AND last_step > 8");
    wire_depot_restart(&depot, "--workers 2");
    call = resume_call(learner->recording);
    reply = wire_accept(depot.client, &call)->group_create;
    ck_assert_uint_eq(reply->resumed->step, 24);
    ck_assert_uint_eq(reply->resumed->calls_lost, 1 + ROUNDS - 24);
    free(learner);
}
END_TEST

// A deadline that passed in the middle of the substeps of some worlds, before those of others: what
// it did to each is recorded.
START_TEST(a_step_that_a_deadline_cut_is_cut_again) {
    Moreau__V1__GroupCreate *create = create_call((Moreau__V1__Group__Autoreset)_i, true, 3);
    create->n_bounds = 0;
    create->has_substeps = 1, create->substeps = 20000;
    const Moreau__V1__GroupCreateReply *made = wire_accept(depot.client, create)->group_create;
    const uint64_t group = made->group;
    char recording[WIRE_EPISODE_ID_BYTES];
    memcpy(recording, made->recording, sizeof(recording));
    float action[WORLDS] = {0}, seen[NUMBERS];
    wire_group_reset(depot.client, group);
    const Moreau__V1__GroupStep step = wire_group_step_call(group, action, WORLDS);
    const Moreau__V1__Reply *reply = wire_call_within(depot.client, &step, 30);
    wire_expect(reply, CODE(DEADLINE_EXCEEDED), "deadline_ms");
    ck_assert_uint_gt(reply->group_step->n_final_world, 0); // cut in the middle
    ck_assert_uint_lt(reply->group_step->n_final_world, WORLDS);
    memcpy(seen, read_rows(depot.client, group), sizeof(seen));
    destroy(depot.client, group);
    Moreau__V1__GroupCreate call = resume_call(recording);
    const Moreau__V1__GroupCreateReply *again = wire_accept(depot.client, &call)->group_create;
    ck_assert_uint_eq(again->resumed->step, 2);
    ck_assert_mem_eq(read_rows(depot.client, again->group), seen, sizeof(seen));
}
END_TEST

// ---- episodes without an end

static void find_first(const char *recording, uint64_t world, char episode[WIRE_EPISODE_ID_BYTES],
                       uint64_t *steps) {
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    list.recording = (char *)recording;
    list.has_count = 1, list.count = 10000;
    const Moreau__V1__EpisodeListReply *all = wire_accept(depot.client, &list)->episode_list;
    for (size_t i = 0; i < all->n_episodes; i++) {
        if (all->episodes[i]->world_index == world) {
            memcpy(episode, all->episodes[i]->episode, WIRE_EPISODE_ID_BYTES);
            *steps = all->episodes[i]->steps;
            return;
        }
    }
    ck_abort_msg("world %llu has no episode", (unsigned long long)world);
}

static uint64_t fork_hash(const char *episode, uint64_t step) {
    Moreau__V1__EpisodeFork fork = MOREAU__V1__EPISODE_FORK__INIT;
    fork.episode = (char *)episode;
    fork.has_step = 1, fork.step = step;
    return wire_accept(depot.client, &fork)->episode_fork->hash;
}

static Moreau__V1__EpisodeVerifyReply verify(const char *episode) {
    Moreau__V1__EpisodeVerify call = MOREAU__V1__EPISODE_VERIFY__INIT;
    call.episode = (char *)episode;
    return *wire_stream(depot.client, &call, NULL, NULL)->episode_verify;
}

// Shown without its beginning, and proven with all of it.
START_TEST(a_long_episode_is_shown_from_its_key_frames) {
    Learner *learner = learn(depot.client, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP, false);
    play_to(learner, CALLS);
    destroy(depot.client, learner->group);
    char episode[WIRE_EPISODE_ID_BYTES];
    uint64_t steps;
    find_first(learner->recording, 3, episode, &steps);
    ck_assert_uint_eq(steps, 224); // its last hash: every 16 steps
    wire_expect_verified(depot.client, episode, steps);
    const uint64_t hash = fork_hash(episode, 200);
    wire_depot_stop(&depot);
    wire_depot_sql(&depot, "DELETE FROM chunk WHERE recording = 2 AND kind = 2 AND first_world = 0 "
                           "AND last_step <= 170");
    wire_depot_restart(&depot, "--workers 2");
    ck_assert_uint_eq(fork_hash(episode, 200), hash);
    ck_assert(!verify(episode).verified);
    free(learner);
}
END_TEST

// The checksums of chunk and snapshot are a liar's.
START_TEST(a_key_frame_that_lies_is_found) {
    Learner *learner = learn(depot.client, MOREAU__V1__GROUP__AUTORESET__NEXT_STEP, false);
    play_to(learner, CALLS);
    destroy(depot.client, learner->group);
    char episode[WIRE_EPISODE_ID_BYTES];
    uint64_t steps;
    find_first(learner->recording, 0, episode, &steps);
    wire_depot_stop(&depot);
    // behind the head the first world: is running, seed, episode, length, begun, an action
    const int64_t keyframe = wire_depot_number(
        &depot, "SELECT id FROM chunk WHERE recording = 2 AND kind = 1 AND first_world = 0");
    wire_depot_flip(&depot, keyframe, 192 + 32 + (_i == 0 ? 24 : 48), true);
    wire_depot_restart(&depot, "--workers 2");
    const Moreau__V1__EpisodeVerifyReply reply = verify(episode);
    ck_assert(!reply.verified);
    ck_assert_uint_ge(reply.n_differences, 1);
    ck_assert_ptr_nonnull(strstr(reply.differences[0]->message, "key-frame"));
    free(learner);
}
END_TEST

static TCase *case_killed(void) {
    TCase *tcase = tcase_create("killed");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, a_killed_group_goes_on_in_every_bit, 0, 6);
    return tcase;
}

static TCase *case_whole(void) {
    TCase *tcase = tcase_create("whole");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_group_goes_on_from_any_call);
    tcase_add_test(tcase, a_damaged_key_frame_is_gone_back_from);
    tcase_add_test(tcase, damaged_calls_are_gone_back_from);
    tcase_add_test(tcase, without_key_frames_all_is_stepped_again);
    tcase_add_test(tcase, what_was_changed_is_not_gone_on_from);
    tcase_add_test(tcase, what_cannot_be_gone_on_from_is_refused);
    tcase_add_test(tcase, a_group_goes_on_twice_while_it_is_recorded);
    tcase_add_test(tcase, calls_on_some_worlds_are_counted_as_the_group_counts_them);
    tcase_add_loop_test(tcase, a_step_that_a_deadline_cut_is_cut_again, 0, 3);
    tcase_add_test(tcase, a_long_episode_is_shown_from_its_key_frames);
    tcase_add_loop_test(tcase, a_key_frame_that_lies_is_found, 0, 2);
    return tcase;
}

SUITE_MAIN("system/group_resume", case_killed, case_whole)
