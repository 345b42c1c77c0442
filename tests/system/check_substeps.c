// SPDX-License-Identifier: MIT
// Substeps from end to end: who asks for none or for too many hears what is allowed; and a world
// that is divided, this way and that while it is recorded, verifies, forks, and goes on from its
// snapshot, its clones and on other servers with the same bits, as a group does that learns.
#include "support/suite.h"
#include "support/wire_compare.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"
#include "support/wire_snapshot.h"

#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { BODIES = 8, TURN = 25, STEPS = 4 * TURN, KEYFRAME_STEPS = 10 };

static WireDepot depot;
static WireEpisode episode;
static uint64_t hash[STEPS + 1]; // of the world that was recorded

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2");
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

static Moreau__V1__WorldSettings divided(uint32_t substeps) {
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    settings.has_substeps = 1;
    settings.substeps = substeps;
    return settings;
}

static Moreau__V1__WorldSet set_call(uint64_t world, Moreau__V1__WorldSettings *settings) {
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1, set.world = world;
    set.settings = settings;
    return set;
}

static void divide(WireClient *client, uint64_t world, uint32_t substeps) {
    Moreau__V1__WorldSettings settings = divided(substeps);
    const Moreau__V1__WorldSet set = set_call(world, &settings);
    wire_accept(client, &set);
}

static uint32_t substeps_of(WireClient *client, uint64_t world) {
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1, get.world = world;
    const Moreau__V1__WorldSettings *settings = wire_accept(client, &get)->world_get->settings;
    ck_assert(settings->has_substeps);
    return settings->substeps;
}

static uint64_t heap_world(WireClient *client) {
    return wire_world(client, BODIES, 5, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
}

// ---- what is allowed

START_TEST(none_and_too_many_are_refused) {
    const uint32_t substeps = (const uint32_t[]){0, 17, UINT32_MAX}[_i];
    const uint64_t world = heap_world(depot.client);
    wire_step(depot.client, world, 10);
    const uint64_t before = wire_hash(depot.client, world);
    Moreau__V1__WorldSettings settings = divided(substeps);
    const Moreau__V1__WorldSet set = set_call(world, &settings);
    const Moreau__V1__Reply *reply =
        wire_refuse(depot.client, &set, CODE(INVALID_ARGUMENT), "settings.substeps");
    const char *said = reply->status->message;
    ck_assert_msg(strstr(said, ">= 1 and <= 16") != NULL, "%s", said);
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.settings = &settings;
    wire_refuse(depot.client, &create, CODE(INVALID_ARGUMENT), "settings.substeps");
    ck_assert_uint_eq(wire_hash(depot.client, world), before);
    ck_assert_uint_eq(substeps_of(depot.client, world), 1);
}
END_TEST

START_TEST(a_world_has_what_it_was_created_with) {
    Moreau__V1__WorldSettings settings = divided(16);
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.settings = &settings;
    const uint64_t world = wire_accept(depot.client, &create)->world_create->world;
    ck_assert_uint_eq(substeps_of(depot.client, world), 16);
    divide(depot.client, world, 3);
    ck_assert_uint_eq(substeps_of(depot.client, world), 3);
}
END_TEST

// ---- what is recorded

// Undivided, then divided one way and another, and undivided again.
static void record(void) {
    static const uint32_t substeps[STEPS / TURN] = {1, 4, 3, 1};
    const uint64_t world = heap_world(depot.client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_keyframe_steps = 1;
    start.keyframe_steps = KEYFRAME_STEPS;
    episode = wire_record(depot.client, &start);
    hash[0] = wire_hash(depot.client, world);
    for (uint64_t step = 0; step < STEPS; step++) {
        if (step % TURN == 0 && step > 0) {
            divide(depot.client, world, substeps[step / TURN]);
        }
        wire_step(depot.client, world, 1);
        hash[step + 1] = wire_hash(depot.client, world);
    }
    ck_assert_uint_eq(wire_stop_recording(depot.client, world)->steps, STEPS);
}

START_TEST(an_episode_in_which_it_changes_verifies) {
    record();
    wire_expect_verified(depot.client, episode.id, STEPS);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 3");
    wire_expect_verified(depot.client, episode.id, STEPS);
}
END_TEST

// Wherever it is forked, and after a restart, it goes on as the world did: until that was told to
// be another.
START_TEST(a_fork_goes_on_as_the_world_did) {
    static const uint64_t from[] = {TURN + 3, 2 * TURN + 1, STEPS - 22};
    record();
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 1");
    for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
        Moreau__V1__EpisodeFork call = MOREAU__V1__EPISODE_FORK__INIT;
        call.episode = episode.id;
        call.has_step = 1, call.step = from[i];
        const Moreau__V1__EpisodeForkReply *fork = wire_accept(depot.client, &call)->episode_fork;
        const uint64_t world = fork->world;
        ck_assert_uint_eq(fork->hash, hash[from[i]]);
        for (uint64_t step = from[i] + 1; step <= from[i] + 20; step++) {
            wire_step(depot.client, world, 1);
            ck_assert_uint_eq(wire_hash(depot.client, world), hash[step]);
        }
    }
}
END_TEST

// What is not divided moves otherwise: behind a fork that is told so, and as a variant.
START_TEST(undivided_it_would_have_been_another_world) {
    record();
    WireCompare asked;
    wire_compare_ask(&asked, episode.id, 3, STEPS);
    asked.settings[1].solver = "sap";
    asked.settings[2] = divided(8);
    const Moreau__V1__EpisodeCompareReply *reply = wire_compare(depot.client, &asked);
    ck_assert(!reply->runs[1]->has_hash_step); // as recorded, to the bit
    ck_assert_str_eq(reply->runs[2]->solver, "sap");
    for (size_t i = 2; i < 4; i++) {
        ck_assert_ptr_null(reply->runs[i]->ended);
        ck_assert_uint_eq(reply->runs[i]->steps, STEPS);
        ck_assert(reply->runs[i]->has_hash_step);
    }
    asked.settings[2] = divided(17);
    wire_refuse(depot.client, &asked.call, CODE(INVALID_ARGUMENT), "variants[2].settings.substeps");
}
END_TEST

// ---- snapshots

static uint64_t take(WireClient *client, uint64_t world) {
    Moreau__V1__SnapshotTake call = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    call.has_world = 1, call.world = world;
    return wire_accept(client, &call)->snapshot_take->snapshot;
}

static uint64_t restore(WireClient *client, uint64_t world, uint64_t snapshot) {
    Moreau__V1__SnapshotRestore call = MOREAU__V1__SNAPSHOT_RESTORE__INIT;
    call.has_world = call.has_snapshot = 1;
    call.world = world, call.snapshot = snapshot;
    return wire_accept(client, &call)->snapshot_restore->hash;
}

START_TEST(snapshots_and_clones_are_divided_too) {
    const uint64_t world = heap_world(depot.client);
    divide(depot.client, world, 5);
    wire_step(depot.client, world, 40);
    const uint64_t snapshot = take(depot.client, world), before = wire_hash(depot.client, world);
    Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    clone.has_world = 1, clone.world = world;
    clone.has_count = 1, clone.count = 1;
    const uint64_t twin = wire_accept(depot.client, &clone)->snapshot_clone->worlds[0];
    const WireBytes bytes = wire_snapshot_read(depot.client, snapshot, 1000);
    ServerProcess *there = server_start("--workers 1");
    WireClient *client = wire_open(there->address[0]);
    const uint64_t other = heap_world(client);
    ck_assert_uint_eq(restore(client, other, wire_snapshot_upload(client, bytes, 777)), before);
    ck_assert_uint_eq(substeps_of(client, other), 5);
    ck_assert_uint_eq(substeps_of(depot.client, twin), 5);
    wire_step(depot.client, world, 20);
    wire_step(depot.client, twin, 20);
    wire_step(client, other, 20);
    const uint64_t after = wire_hash(depot.client, world);
    ck_assert_uint_eq(wire_hash(depot.client, twin), after);
    ck_assert_uint_eq(wire_hash(client, other), after);
    divide(depot.client, world, 1);
    wire_step(depot.client, world, 5);
    ck_assert_uint_eq(restore(depot.client, world, snapshot), before);
    ck_assert_uint_eq(substeps_of(depot.client, world), 5);
    wire_step(depot.client, world, 20);
    ck_assert_uint_eq(wire_hash(depot.client, world), after);
    free(bytes.data);
    wire_close(client);
    server_stop(there);
}
END_TEST

// ---- groups

enum { WORLDS = 24, GROUP_STEPS = 120, SUBSTEPS = 4 };

typedef struct Table {
    float seen[GROUP_STEPS + 1][WORLDS][WIRE_GROUP_SEEN];
    uint64_t ended;
} Table;

static void keep(Table *table, size_t step, const Moreau__V1__GroupStepReply *reply) {
    ck_assert_uint_eq(reply->n_observation, (size_t)WORLDS * WIRE_GROUP_SEEN);
    memcpy(table->seen[step], reply->observation, sizeof(table->seen[step]));
    table->ended += reply->n_final_world;
}

static void play(uint64_t group, Table *table) {
    keep(table, 0, wire_group_reset(depot.client, group));
    for (size_t step = 0; step < GROUP_STEPS; step++) {
        float action[WORLDS];
        for (size_t i = 0; i < WORLDS; i++) {
            action[i] = (float)((i * 7 + step * 3) % 5) / 2.0f - 1.0f;
        }
        keep(table, step + 1, wire_group_step(depot.client, group, action, WORLDS));
    }
}

// Carts and poles touch nothing, so a step in substeps is as many steps: a group whose worlds are
// divided sees what one sees that takes as many steps of its worlds, to the bit, over all ends of
// episodes and what begins anew; and what is recorded of it verifies.
START_TEST(the_worlds_of_a_group_are_divided_and_stay_so) {
    static Table divides, steps;
    Moreau__V1__GroupRecord recorded = MOREAU__V1__GROUP_RECORD__INIT;
    recorded.has_keyframe_steps = 1, recorded.keyframe_steps = 30;
    Moreau__V1__GroupCreate *call = wire_group_create_call(WORLDS);
    call->scene->settings->has_substeps = 1;
    call->scene->settings->substeps = SUBSTEPS;
    call->record = &recorded;
    const Moreau__V1__GroupCreateReply *reply = wire_accept(depot.client, call)->group_create;
    const uint64_t group = reply->group;
    char recording[WIRE_EPISODE_ID_BYTES];
    memcpy(recording, reply->recording, sizeof(recording));
    play(group, &divides);
    call->scene->settings->substeps = 1;
    call->scene->settings->time_step /= SUBSTEPS;
    call->has_substeps = 1, call->substeps = SUBSTEPS;
    call->record = NULL;
    play(wire_accept(depot.client, call)->group_create->group, &steps);
    ck_assert_mem_eq(divides.seen, steps.seen, sizeof(steps.seen));
    ck_assert_uint_eq(divides.ended, steps.ended);
    ck_assert_uint_ge(steps.ended, WORLDS); // and begun again

    Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
    destroy.has_group = 1, destroy.group = group;
    wire_accept(depot.client, &destroy);
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    list.recording = recording;
    const Moreau__V1__EpisodeListReply *listed = wire_accept(depot.client, &list)->episode_list;
    ck_assert_uint_ge(listed->n_episodes, WORLDS);
    char id[WORLDS][WIRE_EPISODE_ID_BYTES];
    uint64_t length[WORLDS];
    for (size_t i = 0; i < WORLDS; i++) {
        memcpy(id[i], listed->episodes[i]->episode, sizeof(id[i]));
        length[i] = listed->episodes[i]->steps;
    }
    for (size_t i = 0; i < WORLDS; i++) {
        wire_expect_verified(depot.client, id[i], length[i]);
    }
}
END_TEST

static TCase *case_substeps(void) {
    TCase *tcase = tcase_create("substeps");
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, none_and_too_many_are_refused, 0, 3);
    tcase_add_test(tcase, a_world_has_what_it_was_created_with);
    tcase_add_test(tcase, an_episode_in_which_it_changes_verifies);
    tcase_add_test(tcase, a_fork_goes_on_as_the_world_did);
    tcase_add_test(tcase, undivided_it_would_have_been_another_world);
    tcase_add_test(tcase, snapshots_and_clones_are_divided_too);
    tcase_add_test(tcase, the_worlds_of_a_group_are_divided_and_stay_so);
    return tcase;
}

SUITE_MAIN("system/substeps", case_substeps)
