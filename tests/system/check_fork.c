// SPDX-License-Identifier: MIT
// Live worlds out of episodes: the same bits as those that went on, and recordings that know where
// they come from.
#include "log/format/chunk.h"
#include "support/suite.h"
#include "support/wire_episode.h"

#include <stdio.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { BODIES = 6, STEPS = 90, KEYFRAME_STEPS = 20 };

static WireDepot depot;
static WireEpisode episode;
static uint64_t before;          // the steps that the world had taken when it began
static uint64_t hash[STEPS + 1]; // of the world that was recorded, after each step

static uint64_t hash_of(uint64_t world) {
    Moreau__V1__WorldHash call = MOREAU__V1__WORLD_HASH__INIT;
    call.n_worlds = 1;
    call.worlds = &world;
    return wire_accept(depot.client, &call)->world_hash->hash[0];
}

// No step comes to what is asked for, and each spends its budget in vain, until the world tries
// less hard for some steps, and for more the next time: its state says so, too.
static void ask_too_much(uint64_t world) {
    Moreau__V1__MdpParameters mdp = MOREAU__V1__MDP_PARAMETERS__INIT;
    mdp.has_tolerance = 1, mdp.tolerance = 1e-15;
    mdp.has_budget = 1, mdp.budget = 1e6;
    Moreau__V1__SolverParameters parameters = MOREAU__V1__SOLVER_PARAMETERS__INIT;
    parameters.mdp = &mdp;
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    settings.parameters = &parameters;
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1, set.world = world;
    set.settings = &settings;
    wire_accept(depot.client, &set);
}

static void record(bool too_much) {
    const uint32_t bodies = too_much ? 2 * BODIES : BODIES;
    uint64_t world = wire_world(depot.client, bodies, 5, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    before = too_much ? 100 : 7;
    wire_step(depot.client, world, before); // an episode counts its own steps
    if (too_much) {
        ask_too_much(world);
    }
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_keyframe_steps = 1;
    start.keyframe_steps = KEYFRAME_STEPS;
    episode = wire_record(depot.client, &start);
    hash[0] = hash_of(world);
    for (uint64_t step = 1; step <= STEPS; step++) {
        wire_step(depot.client, world, 1);
        hash[step] = hash_of(world);
    }
    wire_stop_recording(depot.client, world);
}

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2");
    record(false);
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

static Moreau__V1__EpisodeFork fork_call(uint64_t step) {
    Moreau__V1__EpisodeFork call = MOREAU__V1__EPISODE_FORK__INIT;
    call.episode = episode.id;
    call.has_step = 1;
    call.step = step;
    return call;
}

static uint64_t fork_at(uint64_t step) {
    Moreau__V1__EpisodeFork call = fork_call(step);
    const Moreau__V1__EpisodeForkReply *fork = wire_accept(depot.client, &call)->episode_fork;
    ck_assert_str_eq(fork->parent, episode.id);
    ck_assert_uint_eq(fork->step, step);
    ck_assert_uint_eq(fork->world_step, step + before);
    ck_assert_uint_eq(fork->hash, hash[step]);
    return fork->world;
}

// At key-frames, beside them, at both ends.
START_TEST(a_fork_goes_on_as_the_world_did) {
    static const uint64_t steps[] = {0, 1, KEYFRAME_STEPS - 1, KEYFRAME_STEPS, 55, STEPS};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        uint64_t world = fork_at(steps[i]);
        for (uint64_t step = steps[i] + 1; step <= STEPS; step++) {
            wire_step(depot.client, world, 1);
            ck_assert_uint_eq(hash_of(world), hash[step]);
        }
    }
    Moreau__V1__EpisodeFork last = MOREAU__V1__EPISODE_FORK__INIT;
    last.episode = episode.id;
    ck_assert_uint_eq(wire_accept(depot.client, &last)->episode_fork->step, STEPS);
}
END_TEST

START_TEST(a_fork_tries_as_hard_as_the_world_did) {
    record(true);
    // most of them, from when the bodies lie on each other
    ck_assert_uint_gt(wire_describe(depot.client, episode.id)->unconverged_steps, STEPS / 2);
    for (uint64_t from = 0; from <= STEPS; from += 5) {
        uint64_t world = fork_at(from);
        for (uint64_t step = from + 1; step <= STEPS && step <= from + 10; step++) {
            wire_step(depot.client, world, 1);
            ck_assert_uint_eq(hash_of(world), hash[step]);
        }
        wire_destroy(depot.client, world);
    }
}
END_TEST

static const Moreau__V1__EpisodeInfo *record_some(uint64_t world, WireEpisode *child) {
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    *child = wire_record(depot.client, &start);
    wire_step(depot.client, world, 10);
    return wire_stop_recording(depot.client, world);
}

START_TEST(its_recordings_know_their_parent) {
    WireEpisode child;
    uint64_t world = fork_at(33);
    const Moreau__V1__EpisodeInfo *info = record_some(world, &child);
    ck_assert_str_eq(info->parent, episode.id);
    ck_assert_uint_eq(info->parent_step, 33);
    wire_expect_verified(depot.client, child.id, 10);

    // also when the server has been away; and they may be forked in turn
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "");
    info = wire_describe(depot.client, child.id);
    ck_assert_str_eq(info->parent, episode.id);
    ck_assert_uint_eq(info->parent_step, 33);
    Moreau__V1__EpisodeFork call = fork_call(5);
    call.episode = child.id;
    ck_assert_uint_eq(wire_accept(depot.client, &call)->episode_fork->hash, hash[38]);
}
END_TEST

START_TEST(what_is_made_of_something_else_has_no_parent) {
    WireEpisode child;
    uint64_t other = wire_world(depot.client, BODIES, 9, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1;
    take.world = other;
    uint64_t snapshot = wire_accept(depot.client, &take)->snapshot_take->snapshot;
    Moreau__V1__SnapshotRestore restore = MOREAU__V1__SNAPSHOT_RESTORE__INIT;
    restore.has_world = restore.has_snapshot = 1;
    restore.world = fork_at(33);
    restore.snapshot = snapshot;
    wire_accept(depot.client, &restore);
    ck_assert_ptr_null(record_some(restore.world, &child)->parent);
    ck_assert_ptr_null(record_some(other, &child)->parent);
}
END_TEST

static uint64_t count_worlds(void) {
    Moreau__V1__WorldList list = MOREAU__V1__WORLD_LIST__INIT;
    return wire_accept(depot.client, &list)->world_list->total;
}

START_TEST(what_cannot_be_forked_is_refused_and_makes_no_world) {
    uint64_t worlds = count_worlds();
    Moreau__V1__EpisodeFork call = fork_call(STEPS + 1);
    wire_refuse(depot.client, &call, CODE(OUT_OF_RANGE), "step");
    call = fork_call(1);
    call.episode = (char *)"nothing of that name";
    wire_refuse(depot.client, &call, CODE(NOT_FOUND), "episode");
    call = fork_call(1);
    call.has_idle_timeout_s = 1;
    call.idle_timeout_s = 0.5;
    wire_refuse(depot.client, &call, CODE(INVALID_ARGUMENT), "idle_timeout_s");
    call = fork_call(1);
    call.name = (char *)"twice";
    wire_accept(depot.client, &call);
    wire_refuse(depot.client, &call, CODE(ALREADY_EXISTS), "name");
    ck_assert_uint_eq(count_worlds(), worlds + 1);
}
END_TEST

// Behind a damaged key-frame and before damaged inputs what is sound is forked, and nothing else.
START_TEST(a_damaged_recording_is_forked_where_it_is_sound) {
    wire_depot_stop(&depot);
    wire_depot_flip(&depot, wire_depot_chunk(&depot, CHUNK_KEYFRAME, 2), -100, false);
    wire_depot_restart(&depot, "");
    fork_at(45);

    wire_depot_stop(&depot);
    wire_depot_flip(&depot, wire_depot_chunk(&depot, CHUNK_INPUTS, 0), -20, true);
    wire_depot_restart(&depot, "");
    Moreau__V1__EpisodeFork call = fork_call(KEYFRAME_STEPS - 1);
    wire_refuse(depot.client, &call, CODE(DATA_LOSS), "episode");
    fork_at(KEYFRAME_STEPS);
}
END_TEST

static TCase *case_fork(void) {
    TCase *tcase = tcase_create("fork");
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_test(tcase, a_fork_goes_on_as_the_world_did);
    tcase_add_test(tcase, a_fork_tries_as_hard_as_the_world_did);
    tcase_add_test(tcase, its_recordings_know_their_parent);
    tcase_add_test(tcase, what_is_made_of_something_else_has_no_parent);
    tcase_add_test(tcase, what_cannot_be_forked_is_refused_and_makes_no_world);
    tcase_add_test(tcase, a_damaged_recording_is_forked_where_it_is_sound);
    return tcase;
}

SUITE_MAIN("system/fork", case_fork)
