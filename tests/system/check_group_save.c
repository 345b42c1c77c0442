// SPDX-License-Identifier: MIT
// Groups that are saved between two calls and gone on with on another server: every row, opinion
// and recording is as on the one that they were made on. What is damaged, of another kind, or not
// back from a GroupSend, is refused, and nothing is left of it.
#include "base/hash.h"
#include "support/machine.h"
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"
#include "support/wire_snapshot.h"
#include "support/wire_world.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

// Four ranges: 64, 64, 64 and 8 worlds.
enum { WORLDS = 200, NUMBERS = WORLDS * WIRE_GROUP_SEEN, CALLS = 120, MOVED = 50, PART = 10000 };

static Moreau__V1__GroupSave save_call(uint64_t group) {
    Moreau__V1__GroupSave call = MOREAU__V1__GROUP_SAVE__INIT;
    call.has_group = 1, call.group = group;
    return call;
}

static uint64_t save(WireClient *client, uint64_t group, uint64_t calls) {
    const Moreau__V1__GroupSave call = save_call(group);
    const Moreau__V1__GroupSaveReply *reply = wire_accept(client, &call)->group_save;
    ck_assert_uint_eq(reply->calls, calls);
    return reply->snapshot;
}

static Moreau__V1__GroupCreate saved_call(uint64_t snapshot) {
    Moreau__V1__GroupCreate call = MOREAU__V1__GROUP_CREATE__INIT;
    call.has_saved = 1, call.saved = snapshot;
    return call;
}

static void drop(WireClient *client, uint64_t snapshot) {
    Moreau__V1__SnapshotDrop call = MOREAU__V1__SNAPSHOT_DROP__INIT;
    call.has_snapshot = 1, call.snapshot = snapshot;
    wire_accept(client, &call);
}

static void destroy(WireClient *client, uint64_t group) {
    Moreau__V1__GroupDestroy call = MOREAU__V1__GROUP_DESTROY__INIT;
    call.has_group = 1, call.group = group;
    wire_accept(client, &call);
}

// ---- a learner, whose actions follow from the number of its call

static const Moreau__V1__GroupStepReply *act(WireClient *client, uint64_t group, uint64_t call) {
    static float action[WORLDS];
    for (uint32_t i = 0; i < WORLDS; i++) {
        const uint64_t mixed = (i * 2654435761u + call * 40503u) >> 3;
        action[i] = (float)(mixed % 2001) / 1000.0f - 1.0f;
    }
    const Moreau__V1__GroupStepReply *reply = wire_group_step(client, group, action, WORLDS);
    ck_assert_uint_eq(reply->n_observation, NUMBERS);
    return reply;
}

// An empty column is none.
static void expect_same_bytes(const void *a, const void *b, size_t count) {
    if (count > 0) {
        ck_assert_mem_eq(a, b, count);
    }
}

static void expect_same(const Moreau__V1__GroupStepReply *a, const Moreau__V1__GroupStepReply *b) {
    ck_assert_mem_eq(a->observation, b->observation, sizeof(float) * NUMBERS);
    ck_assert_uint_eq(a->terminated.len, b->terminated.len);
    ck_assert_uint_eq(a->truncated.len, b->truncated.len);
    ck_assert_uint_eq(a->n_final_world, b->n_final_world);
    ck_assert_uint_eq(a->n_final_observation, b->n_final_observation);
    expect_same_bytes(a->terminated.data, b->terminated.data, a->terminated.len);
    expect_same_bytes(a->truncated.data, b->truncated.data, a->truncated.len);
    expect_same_bytes(a->final_world, b->final_world, sizeof(uint32_t) * a->n_final_world);
    expect_same_bytes(a->final_observation, b->final_observation,
                      sizeof(float) * a->n_final_observation);
    ck_assert_uint_eq(a->n_failures, b->n_failures);
}

static Moreau__V1__GroupCreate *create_call(Moreau__V1__Group__Autoreset autoreset) {
    Moreau__V1__GroupCreate *call = wire_group_create_call(WORLDS);
    call->has_autoreset = call->has_seed = call->has_first_world = 1;
    call->autoreset = autoreset, call->seed = 5, call->first_world = 1000;
    return call;
}

static const char *const workers[] = {"--workers 1", "--workers 3"};

// Back and forth, and each time from where the other stands. Episodes end in all ways of resets.
START_TEST(a_saved_group_goes_on_elsewhere_in_every_bit) {
    ServerProcess *server[] = {server_start(workers[_i % 2]), server_start(workers[1 - _i % 2])};
    WireClient *client[] = {wire_open(server[0]->address[0]), wire_open(server[1]->address[0])};
    const Moreau__V1__GroupCreate *create = create_call((Moreau__V1__Group__Autoreset)(_i / 2));
    const uint64_t straight = wire_accept(client[0], create)->group_create->group;
    uint64_t moved = wire_accept(client[0], create)->group_create->group;
    int at = 0;
    wire_group_reset(client[0], straight);
    wire_group_reset(client[0], moved);
    for (uint64_t call = 1; call < CALLS; call++) {
        if (call % MOVED == 7) {
            const uint64_t before = save(client[at], moved, call);
            WireBytes bytes = wire_snapshot_read(client[at], before, PART);
            drop(client[at], before);
            destroy(client[at], moved);
            at = 1 - at;
            const uint64_t snapshot = wire_snapshot_upload(client[at], bytes, PART);
            const Moreau__V1__GroupCreate again = saved_call(snapshot);
            const Moreau__V1__GroupCreateReply *reply =
                wire_accept(client[at], &again)->group_create;
            ck_assert_uint_eq(reply->count, WORLDS);
            ck_assert_uint_eq(reply->resumed->step, call);
            ck_assert_ptr_null(reply->resumed->recording);
            ck_assert_uint_eq(reply->resumed->autoreset, create->autoreset);
            moved = reply->group;
            drop(client[at], snapshot);
            // what it is, and where it stands, is what was brought
            const uint64_t after = save(client[at], moved, call);
            WireBytes same = wire_snapshot_read(client[at], after, PART);
            ck_assert_uint_eq(same.count, bytes.count);
            ck_assert_mem_eq(same.data, bytes.data, bytes.count);
            drop(client[at], after);
            free(bytes.data);
            free(same.data);
        }
        expect_same(act(client[at], moved, call), act(client[0], straight, call));
    }
    wire_close(client[0]);
    wire_close(client[1]);
    server_stop(server[0]);
    server_stop(server[1]);
}
END_TEST

// ---- what is on its way to who is told of it

enum { LATE = 5, LATE_CALLS = 40 };

// The cart's place, and that of LATE calls ago; the pole's angle and rate with noise, biases that
// walk, and delays that each episode draws.
static Moreau__V1__GroupCreate *late_call(Moreau__V1__Group__Autoreset autoreset) {
    static Moreau__V1__GroupChannel seen[WIRE_GROUP_SEEN];
    Moreau__V1__GroupCreate *call = create_call(autoreset);
    for (int i = 0; i < WIRE_GROUP_SEEN; i++) {
        seen[i] = *call->observation[i == 1 ? 0 : i]; // others are noise's, too
        call->observation[i] = &seen[i];
    }
    seen[1].has_delay = 1, seen[1].delay = LATE;
    for (int i = 2; i < WIRE_GROUP_SEEN; i++) {
        seen[i].has_noise_deviation = seen[i].has_bias_deviation = seen[i].has_bias_walk = 1;
        seen[i].noise_deviation = 0.1, seen[i].bias_deviation = 0.2, seen[i].bias_walk = 0.3;
        seen[i].has_delay = seen[i].has_delay_max = 1;
        seen[i].delay = 1, seen[i].delay_max = 9;
    }
    return call;
}

static bool is_set(ProtobufCBinaryData bits, uint32_t i) {
    return bits.len > 0 && (bits.data[i / 8] >> i % 8 & 1) != 0;
}

// Of who has not begun anew since the first call: what is late is what was told then.
static void expect_late(const float *row[LATE_CALLS], uint64_t call, const bool *has_ended) {
    const uint64_t before = call < LATE ? 0 : call - LATE;
    for (uint32_t i = 0; i < WORLDS; i++) {
        if (!has_ended[i]) {
            ck_assert_float_eq(row[call][WIRE_GROUP_SEEN * i + 1],
                               row[before][WIRE_GROUP_SEEN * i]);
        }
    }
}

// A save of delays under way, and of their first rows: of its clones one does as the group itself
// does, and is told the same, another does otherwise, and disturbs nobody; and who comes of it
// later still begins where it was taken.
START_TEST(clones_of_a_save_are_told_what_was_on_its_way) {
    static const uint64_t saves[] = {1, 3, 11};
    static float told[LATE_CALLS][NUMBERS];
    const float *row[LATE_CALLS];
    bool has_ended[WORLDS] = {false}, is_other = false;
    const uint64_t saved_at = saves[_i % 3];
    ServerProcess *server = server_start(workers[_i % 2]);
    WireClient *client = wire_open(server->address[0]);
    const Moreau__V1__GroupCreate *create = late_call((Moreau__V1__Group__Autoreset)(_i / 3));
    const uint64_t straight = wire_accept(client, create)->group_create->group;
    uint64_t snapshot = 0, clone[2] = {0, 0};
    memcpy(told[0], wire_group_reset(client, straight)->observation, sizeof(told[0]));
    row[0] = told[0];
    for (uint64_t call = 1; call < LATE_CALLS; call++) {
        if (call == saved_at) {
            snapshot = save(client, straight, call);
            const Moreau__V1__GroupCreate again = saved_call(snapshot);
            clone[0] = wire_accept(client, &again)->group_create->group;
            clone[1] = wire_accept(client, &again)->group_create->group;
        }
        const Moreau__V1__GroupStepReply *reply = act(client, straight, call);
        memcpy(told[call], reply->observation, sizeof(told[call]));
        row[call] = told[call];
        for (uint32_t i = 0; i < WORLDS; i++) {
            has_ended[i] = has_ended[i] || is_set(reply->terminated, i);
        }
        expect_late(row, call, has_ended);
        if (call >= saved_at) {
            expect_same(act(client, clone[0], call), reply);
            const Moreau__V1__GroupStepReply *other = act(client, clone[1], call + LATE_CALLS);
            is_other = is_other || memcmp(other->observation, told[call], sizeof(told[call])) != 0;
        }
    }
    ck_assert(is_other);
    const Moreau__V1__GroupCreate again = saved_call(snapshot);
    const uint64_t last = wire_accept(client, &again)->group_create->group;
    for (uint64_t call = saved_at; call < LATE_CALLS; call++) {
        ck_assert_mem_eq(act(client, last, call)->observation, told[call], sizeof(told[call]));
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

// ---- second opinions

// Piles of balls, of whose steps half are solved again and told three calls later.
static uint64_t piles(WireClient *client, uint32_t worlds) {
    enum { LAG = 3 };
    const WireWorld world = wire_world(client, 12, 7, MOREAU__V1__WORLD__LIFETIME__SESSION);
    wire_step(client, world.id, 60);
    Moreau__V1__GroupChannel push = MOREAU__V1__GROUP_CHANNEL__INIT,
                             seen = MOREAU__V1__GROUP_CHANNEL__INIT;
    push.has_kind = seen.has_kind = push.has_body_id = seen.has_body_id = push.has_axes = 1;
    push.kind = MOREAU__V1__GROUP_CHANNEL__KIND__BODY_FORCE;
    seen.kind = MOREAU__V1__GROUP_CHANNEL__KIND__BODY_POSITION;
    push.body_id = seen.body_id = 2;
    push.axes = 1;
    Moreau__V1__GroupChannel *action[] = {&push}, *observation[] = {&seen};
    Moreau__V1__GroupOpinion opinion = MOREAU__V1__GROUP_OPINION__INIT;
    opinion.has_share = opinion.has_lag = opinion.has_doubt = 1;
    opinion.share = 0.5, opinion.lag = LAG, opinion.doubt = 0.0;
    Moreau__V1__GroupCreate call = MOREAU__V1__GROUP_CREATE__INIT;
    call.has_world = call.has_count = call.has_step_limit = 1;
    call.world = world.id, call.count = worlds, call.step_limit = 9;
    call.n_action = call.n_observation = 1;
    call.action = action, call.observation = observation;
    call.opinion = &opinion;
    const uint64_t group = wire_accept(client, &call)->group_create->group;
    wire_destroy(client, world.id);
    return group;
}

static void expect_same_opinions(const Moreau__V1__GroupOpinionColumns *a,
                                 const Moreau__V1__GroupOpinionColumns *b, size_t *told) {
    ck_assert_int_eq(a == NULL, b == NULL);
    if (a != NULL) {
        ck_assert_uint_eq(a->n_world, b->n_world);
        expect_same_bytes(a->world, b->world, sizeof(uint32_t) * a->n_world);
        expect_same_bytes(a->step, b->step, sizeof(uint64_t) * a->n_world);
        expect_same_bytes(a->gap, b->gap, sizeof(double) * a->n_world);
        *told += a->n_world;
    }
}

START_TEST(opinions_come_with_the_call_they_would_have_come_with) {
    enum { PILES = 20, STEPS = 16, SAVED_BEFORE = 7 };
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t straight = piles(client, PILES);
    uint64_t moved = 0;
    float action[PILES] = {0};
    size_t told = 0;
    wire_group_reset(client, straight);
    for (uint64_t call = 1; call <= STEPS; call++) {
        if (call == SAVED_BEFORE) {
            const uint64_t snapshot = save(client, straight, call);
            const Moreau__V1__GroupCreate again = saved_call(snapshot);
            const Moreau__V1__GroupCreateReply *reply = wire_accept(client, &again)->group_create;
            moved = reply->group;
            // bad certificates of this episode so far, as nothing is exact to the bit
            ck_assert_uint_eq(reply->resumed->n_doubtful, PILES);
            uint64_t doubtful = 0;
            for (size_t i = 0; i < PILES; i++) {
                ck_assert_uint_le(reply->resumed->doubtful[i], call - 1);
                doubtful += reply->resumed->doubtful[i];
            }
            ck_assert_uint_gt(doubtful, 0);
        }
        const Moreau__V1__GroupStepReply *one = wire_group_step(client, straight, action, PILES);
        if (moved != 0) {
            const Moreau__V1__GroupStepReply *other = wire_group_step(client, moved, action, PILES);
            ck_assert_mem_eq(other->observation, one->observation, sizeof(float) * PILES * 3);
            expect_same_opinions(other->opinions, one->opinions, &told);
        }
    }
    ck_assert_uint_gt(told, PILES); // of calls before the move among them
    wire_close(client);
    server_stop(server);
}
END_TEST

// ---- recordings

// The other one was recorded, or was not: then there is no parent, and all the same its episodes
// are those of the saved group from where they were.
START_TEST(a_recording_of_a_saved_group_knows_its_parent) {
    const bool was_recorded = _i == 0;
    WireDepot depot;
    wire_depot_open(&depot, "--workers 2");
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    Moreau__V1__GroupCreate *create = create_call(MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    create->record = was_recorded ? &record : NULL;
    const Moreau__V1__GroupCreateReply *first = wire_accept(depot.client, create)->group_create;
    const uint64_t group = first->group;
    char parent[WIRE_EPISODE_ID_BYTES] = "", recording[WIRE_EPISODE_ID_BYTES];
    if (was_recorded) {
        memcpy(parent, first->recording, sizeof(parent));
    }
    wire_group_reset(depot.client, group);
    for (uint64_t call = 1; call < MOVED; call++) {
        act(depot.client, group, call);
    }
    const uint64_t snapshot = save(depot.client, group, MOVED);
    destroy(depot.client, group);
    Moreau__V1__GroupCreate again = saved_call(snapshot);
    again.record = &record;
    const Moreau__V1__GroupCreateReply *second = wire_accept(depot.client, &again)->group_create;
    ck_assert_str_eq(was_recorded ? second->resumed->recording : "", parent);
    memcpy(recording, second->recording, sizeof(recording));
    const uint64_t moved = second->group;
    for (uint64_t call = MOVED; call < CALLS; call++) {
        act(depot.client, moved, call);
    }
    destroy(depot.client, moved);
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    list.recording = recording;
    list.has_count = 1, list.count = 10000;
    const Moreau__V1__EpisodeListReply *all = wire_accept(depot.client, &list)->episode_list;
    size_t begun_before = 0;
    for (size_t i = 0; i < all->n_episodes; i++) {
        const Moreau__V1__EpisodeInfo *info = all->episodes[i];
        if (info->parent != NULL && info->parent[0] != '\0') {
            ck_assert_str_eq(info->parent, parent);
            begun_before++;
        }
        // the newest are first: those that had begun before are among the last
        if (i % 20 == 0 || i + 40 >= all->n_episodes) {
            wire_expect_verified(depot.client, info->episode, info->steps);
        }
    }
    ck_assert_int_eq(begun_before > 0, was_recorded);
    wire_depot_close(&depot);
}
END_TEST

// Returns of what ended in the call before.
typedef struct Told {
    uint32_t world[WORLDS];
    double sum[WORLDS];
    size_t count;
} Told;

static double return_of(uint32_t world) {
    return 0.5 + world;
}

static void act_and_tell(uint64_t group, uint64_t call, WireClient *client, Told *told) {
    static float action[WORLDS];
    Moreau__V1__GroupStep step = wire_group_step_call(group, action, WORLDS);
    action[call % WORLDS] = 1.0f;
    step.n_return_world = step.n_return_sum = told->count;
    step.return_world = told->world, step.return_sum = told->sum;
    const Moreau__V1__GroupStepReply *reply = wire_accept(client, &step)->group_step;
    told->count = reply->n_final_world;
    for (size_t i = 0; i < told->count; i++) {
        told->world[i] = reply->final_world[i];
        told->sum[i] = return_of(reply->final_world[i]);
    }
}

// Where the server is killed right behind the reply: all that has a return, and no more.
START_TEST(what_a_save_was_told_outlives_its_server) {
    WireDepot depot;
    wire_depot_open(&depot, workers[_i]);
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    record.has_returns = record.returns = 1;
    Moreau__V1__GroupCreate *create = create_call(MOREAU__V1__GROUP__AUTORESET__SAME_STEP);
    create->record = &record;
    const uint64_t group = wire_accept(depot.client, create)->group_create->group;
    Told told = {.count = 0};
    size_t taken = 0;
    wire_group_reset(depot.client, group);
    for (uint64_t call = 1; call < CALLS || told.count == 0; call++) {
        taken += told.count;
        act_and_tell(group, call, depot.client, &told);
    }
    save(depot.client, group, CALLS);
    kill(depot.server->pid, SIGKILL);
    ck_assert_int_eq(server_wait(depot.server, 60000), -1);
    server_free(depot.server);
    wire_close(depot.client);
    wire_depot_restart(&depot, workers[_i]);
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    list.has_count = 1, list.count = 10000;
    const Moreau__V1__EpisodeListReply *all = wire_accept(depot.client, &list)->episode_list;
    ck_assert_uint_gt(taken, WORLDS);
    ck_assert_uint_eq(all->n_episodes, taken);
    for (size_t i = 0; i < taken; i++) {
        const Moreau__V1__EpisodeInfo *info = all->episodes[i];
        ck_assert_double_eq(info->return_sum, return_of((uint32_t)info->world_index));
    }
    char newest[WIRE_EPISODE_ID_BYTES];
    const uint64_t steps = all->episodes[0]->steps;
    memcpy(newest, all->episodes[0]->episode, sizeof(newest));
    wire_expect_verified(depot.client, newest, steps);
    wire_depot_close(&depot);
}
END_TEST

// ---- what is refused

START_TEST(what_was_sent_is_received_before) {
    ServerProcess *server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t group = wire_group(client, 3);
    float action[3] = {0};
    wire_group_reset(client, group);
    Moreau__V1__GroupSend send = MOREAU__V1__GROUP_SEND__INIT;
    send.has_group = 1, send.group = group;
    send.n_action = 3, send.action = action;
    wire_accept(client, &send);
    const Moreau__V1__GroupSave call = save_call(group);
    wire_refuse(client, &call, CODE(FAILED_PRECONDITION), "group");
    Moreau__V1__GroupReceive receive = MOREAU__V1__GROUP_RECEIVE__INIT;
    receive.has_group = receive.has_count = 1, receive.group = group, receive.count = 3;
    // sent behind a Receive that waits, it waits as well
    wire_submit(client, &receive);
    wire_submit(client, &call);
    wire_expect(wire_receive(client), CODE(OK), NULL);
    const Moreau__V1__Reply *saved = wire_receive(client);
    wire_expect(saved, CODE(OK), NULL);
    ck_assert_uint_eq(saved->group_save->calls, 2);
    Moreau__V1__GroupSave nobody = save_call(group + 1);
    wire_refuse(client, &nobody, CODE(NOT_FOUND), "group");
    wire_close(client);
    server_stop(server);
}
END_TEST

// Saves count for the memory budget; one that finds no room leaves nothing, and dropped ones all.
START_TEST(saves_are_held_by_the_memory_budget) {
    enum { SAVES_MAX = 4000 };
    ServerProcess *server = server_start("--workers 2 --memory-bytes-max 33554432");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t group = wire_group(client, WORLDS);
    wire_group_reset(client, group);
    const uint64_t before = wire_stats(client, false)->world_bytes;
    static uint64_t snapshot[SAVES_MAX];
    size_t count = 0;
    const Moreau__V1__GroupSave call = save_call(group);
    for (bool has_room = true; has_room && count < SAVES_MAX;) {
        const Moreau__V1__Reply *reply = wire_call(client, &call);
        has_room = reply->status->code == CODE(OK);
        if (has_room) {
            snapshot[count++] = reply->group_save->snapshot;
        } else {
            ck_assert_int_eq(reply->status->code, CODE(RESOURCE_EXHAUSTED));
        }
    }
    ck_assert_uint_gt(count, 10);
    ck_assert_uint_lt(count, SAVES_MAX);
    while (count > 0) {
        drop(client, snapshot[--count]);
    }
    while (wire_stats(client, false)->world_bytes > before) {
        server_sleep_ms(5);
    }
    save(client, group, 1);
    wire_close(client);
    server_stop(server);
}
END_TEST

static void reseal(WireBytes bytes) {
    const size_t covered = bytes.count - sizeof(uint64_t);
    const uint64_t checksum = hash_bytes(bytes.data, covered, 0);
    memcpy(bytes.data + covered, &checksum, sizeof(checksum));
}

static void refuse_upload(WireClient *client, WireBytes bytes, Moreau__V1__Status__Code code) {
    const Moreau__V1__SnapshotUpload part = wire_snapshot_part_call(bytes, 0, bytes.count, 0);
    wire_refuse(client, &part, code, NULL);
}

// A damaged one does not even arrive; one that somebody sealed again is judged when it is used: it
// makes a group, or none, and the server lives.
START_TEST(damaged_bytes_are_refused) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t group = wire_group(client, 5);
    wire_group_reset(client, group);
    const uint64_t snapshot = save(client, group, 1);
    WireBytes bytes = wire_snapshot_read(client, snapshot, PART);
    const uint64_t before = wire_stats(client, false)->world_bytes;
    size_t refused = 0;
    const size_t stride = bytes.count / 400 + 1;
    for (size_t i = 0; i < bytes.count - sizeof(uint64_t); i += stride) {
        const uint8_t flip = (uint8_t)(1u << i % 8);
        bytes.data[i] ^= flip;
        if (i < 8) {
            refuse_upload(client, bytes, CODE(INVALID_ARGUMENT));
        } else if (i >= 16) {
            refuse_upload(client, bytes, CODE(DATA_LOSS));
            reseal(bytes);
            const uint64_t changed = wire_snapshot_upload(client, bytes, bytes.count);
            const Moreau__V1__GroupCreate again = saved_call(changed);
            const Moreau__V1__Reply *reply = wire_call(client, &again);
            if (reply->status->code == CODE(OK)) {
                destroy(client, reply->group_create->group);
            } else {
                refused++;
            }
            drop(client, changed);
        }
        bytes.data[i] ^= flip;
        reseal(bytes);
    }
    ck_assert_uint_gt(refused, 50);
    while (wire_stats(client, false)->world_bytes > before) {
        server_sleep_ms(5);
    }
    free(bytes.data);
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(other_versions_and_other_things_are_named) {
    ServerProcess *server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t group = wire_group(client, 5);
    wire_group_reset(client, group);
    const uint64_t snapshot = save(client, group, 1);
    WireBytes bytes = wire_snapshot_read(client, snapshot, PART);
    bytes.data[8]++; // the dynamics version
    reseal(bytes);
    refuse_upload(client, bytes, CODE(FAILED_PRECONDITION));
    free(bytes.data);
    Moreau__V1__GroupCreate again = saved_call(snapshot);
    again.has_count = 1, again.count = 5;
    wire_refuse(client, &again, CODE(INVALID_ARGUMENT), "count");
    again = saved_call(snapshot);
    again.recording = "abcd";
    wire_refuse(client, &again, CODE(INVALID_ARGUMENT), "recording");
    again = saved_call(snapshot + 100);
    wire_refuse(client, &again, CODE(NOT_FOUND), "saved");
    // a world's snapshot is no group, and a group none of a world
    const WireWorld world = wire_world(client, 3, 7, MOREAU__V1__WORLD__LIFETIME__SESSION);
    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1, take.world = world.id;
    again = saved_call(wire_accept(client, &take)->snapshot_take->snapshot);
    wire_refuse(client, &again, CODE(INVALID_ARGUMENT), "saved");
    const uint64_t hash = wire_hash(client, world.id);
    Moreau__V1__SnapshotRestore restore = MOREAU__V1__SNAPSHOT_RESTORE__INIT;
    restore.has_world = restore.has_snapshot = 1;
    restore.world = world.id, restore.snapshot = snapshot;
    wire_refuse(client, &restore, CODE(INVALID_ARGUMENT), NULL);
    ck_assert_uint_eq(wire_hash(client, world.id), hash);
    wire_close(client);
    server_stop(server);
}
END_TEST

static TCase *case_group_save(void) {
    TCase *tcase = tcase_create("group save");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, a_saved_group_goes_on_elsewhere_in_every_bit, 0, 6);
    tcase_add_loop_test(tcase, clones_of_a_save_are_told_what_was_on_its_way, 0, 9);
    tcase_add_test(tcase, opinions_come_with_the_call_they_would_have_come_with);
    tcase_add_loop_test(tcase, a_recording_of_a_saved_group_knows_its_parent, 0, 2);
    tcase_add_loop_test(tcase, what_a_save_was_told_outlives_its_server, 0, 2);
    tcase_add_test(tcase, what_was_sent_is_received_before);
    tcase_add_test(tcase, saves_are_held_by_the_memory_budget);
    tcase_add_test(tcase, damaged_bytes_are_refused);
    tcase_add_test(tcase, other_versions_and_other_things_are_named);
    return tcase;
}

SUITE_MAIN("system/group_save", case_group_save)
