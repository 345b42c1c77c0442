// SPDX-License-Identifier: MIT
// The solver of a live world, changed while it is recorded: each of the five in turn. What was
// recorded is what happened, wherever one begins to read, play or verify it.
#include "support/suite.h"
#include "support/wire_episode.h"

#include <stdio.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { FALLING = 8, BODIES = FALLING + 1, POSE = 7 * BODIES, VELOCITY = 6 * BODIES };

// So many steps of each solver; key frames fall before, at and behind the changes.
enum { TURN = 24, TURNS = 11, STEPS = TURN * TURNS, KEYFRAME_STEPS = 8, LANDING = 90 };

static const char *const solvers[] = {"mdp", "lcp", "ccp", "sap", "compliant"};
enum { SOLVERS = sizeof(solvers) / sizeof(solvers[0]) };

static WireDepot depot;
static WireEpisode episode;

// What the live world showed after each step.
static double pose[STEPS + 1][POSE], velocity[STEPS + 1][VELOCITY];

static void see(uint64_t world, uint64_t step) {
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = world;
    const Moreau__V1__WorldGetReply *reply = wire_accept(depot.client, &get)->world_get;
    ck_assert_uint_eq(reply->n_pose, POSE);
    memcpy(pose[step], reply->pose, sizeof(pose[step]));
    memcpy(velocity[step], reply->velocity, sizeof(velocity[step]));
}

static void set_solver(uint64_t world, const char *solver) {
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    settings.solver = (char *)solver;
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1;
    set.world = world;
    set.settings = &settings;
    wire_accept(depot.client, &set);
}

// Every solver twice, the first a third time; by then everything lies on each other.
static void record(Moreau__V1__Episode__Content content) {
    uint64_t world = wire_world(depot.client, FALLING, 5, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    wire_step(depot.client, world, LANDING);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_content = start.has_keyframe_steps = 1;
    start.content = content;
    start.keyframe_steps = KEYFRAME_STEPS;
    episode = wire_record(depot.client, &start);
    see(world, 0);
    for (uint64_t step = 0; step < STEPS; step++) {
        if (step % TURN == 0) {
            set_solver(world, solvers[step / TURN % SOLVERS]);
        }
        wire_step(depot.client, world, 1);
        see(world, step + 1);
    }
    ck_assert_uint_eq(wire_stop_recording(depot.client, world)->steps, STEPS);
}

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 1");
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

static void expect_range_verified(uint64_t first, uint64_t last) {
    Moreau__V1__EpisodeVerify call = MOREAU__V1__EPISODE_VERIFY__INIT;
    call.episode = episode.id;
    call.has_first = call.has_last = 1;
    call.first = first;
    call.last = last;
    const Moreau__V1__Reply *reply = wire_stream(depot.client, &call, NULL, NULL);
    wire_expect(reply, CODE(OK), NULL);
    const Moreau__V1__EpisodeVerifyReply *result = reply->episode_verify;
    ck_assert_msg(result->verified, "from %llu: %s", (unsigned long long)first,
                  result->n_differences > 0 ? result->differences[0]->message : "");
    ck_assert_uint_eq(result->steps, last - first);
}

static void expect_frames(const Moreau__V1__EpisodeFrames *frames, uint64_t first, size_t count) {
    ck_assert_uint_eq(frames->n_step, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t step = first + i;
        ck_assert_uint_eq(frames->step[i], step);
        ck_assert_mem_eq(frames->pose + POSE * i, pose[step], sizeof(pose[step]));
        ck_assert_mem_eq(frames->velocity + VELOCITY * i, velocity[step], sizeof(velocity[step]));
    }
}

static const Moreau__V1__Episode__Content contents[] = {
    MOREAU__V1__EPISODE__CONTENT__INPUTS,
    MOREAU__V1__EPISODE__CONTENT__FRAMES,
    MOREAU__V1__EPISODE__CONTENT__CONTACTS,
};

START_TEST(an_episode_of_five_solvers_verifies) {
    record(contents[_i]);
    wire_expect_verified(depot.client, episode.id, STEPS);
    // the solvers differ, or nothing here would be shown
    uint64_t world = wire_world(depot.client, FALLING, 5, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    wire_step(depot.client, world, LANDING);
    wire_step(depot.client, world, TURN);
    static double changed[POSE];
    memcpy(changed, pose[2 * TURN], sizeof(changed));
    wire_step(depot.client, world, TURN);
    see(world, 2 * TURN);
    ck_assert_mem_ne(pose[2 * TURN], changed, sizeof(changed));
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 3");
    wire_expect_verified(depot.client, episode.id, STEPS);
}
END_TEST

// ... and to every step of it: the key frame that is next before it is a state under one solver,
// that begins where another ended.
START_TEST(it_verifies_from_every_key_frame) {
    record(MOREAU__V1__EPISODE__CONTENT__INPUTS);
    for (uint64_t first = 0; first < STEPS; first += KEYFRAME_STEPS) {
        expect_range_verified(first, STEPS);
    }
    for (uint64_t change = TURN; change < STEPS; change += TURN) {
        expect_range_verified(change - 1, change + 1);
        expect_range_verified(change, change + 1);
        expect_range_verified(change + 1, change + 2);
    }
}
END_TEST

START_TEST(frames_around_every_change_are_found_bit_for_bit) {
    record(contents[_i]);
    Moreau__V1__EpisodeRead call = MOREAU__V1__EPISODE_READ__INIT;
    call.episode = episode.id;
    call.has_first = call.has_count = call.has_again = 1;
    call.again = 1;
    for (uint64_t change = 0; change < STEPS; change += TURN) {
        uint64_t from = change < 2 ? 0 : change - 2;
        call.first = from;
        call.count = change + 3 - from;
        expect_frames(wire_accept(depot.client, &call)->episode_read->frames, from,
                      (size_t)call.count);
        call.count = 1; // and each alone
        for (call.first = from; call.first < change + 3; call.first++) {
            expect_frames(wire_accept(depot.client, &call)->episode_read->frames, call.first, 1);
        }
    }
}
END_TEST

typedef struct Played {
    uint64_t next;
} Played;

static void see_frames(const Moreau__V1__Reply *event, void *context) {
    Played *played = context;
    const Moreau__V1__EpisodeFrames *frames = event->episode_frames;
    expect_frames(frames, played->next, frames->n_step);
    played->next += frames->n_step;
}

START_TEST(a_replay_goes_over_every_change) {
    record(MOREAU__V1__EPISODE__CONTENT__INPUTS);
    static const uint64_t starts[] = {0, 1, TURN - 1, TURN, TURN + 1, 4 * TURN + 5};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        Moreau__V1__EpisodeReplay call = MOREAU__V1__EPISODE_REPLAY__INIT;
        call.episode = episode.id;
        call.has_speed = call.has_first = 1;
        call.speed = 0.0;
        call.first = starts[i];
        Played played = {starts[i]};
        wire_expect(wire_stream(depot.client, &call, see_frames, &played), CODE(OK), NULL);
        ck_assert_uint_eq(played.next, STEPS + 1);
    }
}
END_TEST

// A change that is refused changes nothing, and is nothing that happened: a parameter of another
// solver, one that is out of its range, a solver that there is not.
START_TEST(a_change_that_is_refused_is_no_part_of_the_episode) {
    uint64_t world = wire_world(depot.client, FALLING, 5, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    episode = wire_record(depot.client, &start);
    set_solver(world, "sap");
    wire_step(depot.client, world, 10);
    uint64_t hash = wire_hash(depot.client, world);
    Moreau__V1__LcpParameters lcp = MOREAU__V1__LCP_PARAMETERS__INIT;
    lcp.has_directions = 1;
    lcp.directions = 12;
    Moreau__V1__CcpParameters ccp = MOREAU__V1__CCP_PARAMETERS__INIT;
    ccp.has_compliance = 1;
    ccp.compliance = -1.0;
    Moreau__V1__SolverParameters parameters = MOREAU__V1__SOLVER_PARAMETERS__INIT;
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1;
    set.world = world;
    set.settings = &settings;
    settings.solver = (char *)"magic";
    wire_refuse(depot.client, &set, CODE(INVALID_ARGUMENT), "settings.solver");
    settings.parameters = &parameters;
    parameters.lcp = &lcp;
    settings.solver = (char *)"ccp";
    wire_refuse(depot.client, &set, CODE(INVALID_ARGUMENT), "settings.parameters");
    parameters.lcp = NULL;
    parameters.ccp = &ccp;
    wire_refuse(depot.client, &set, CODE(INVALID_ARGUMENT), "settings.parameters.ccp.compliance");
    ck_assert_uint_eq(wire_hash(depot.client, world), hash);
    wire_step(depot.client, world, 10);
    wire_stop_recording(depot.client, world);
    wire_expect_verified(depot.client, episode.id, 20);
}
END_TEST

static TCase *case_switch(void) {
    TCase *tcase = tcase_create("switch");
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_loop_test(tcase, an_episode_of_five_solvers_verifies, 0, 3);
    tcase_add_test(tcase, it_verifies_from_every_key_frame);
    tcase_add_loop_test(tcase, frames_around_every_change_are_found_bit_for_bit, 0, 3);
    tcase_add_test(tcase, a_replay_goes_over_every_change);
    tcase_add_test(tcase, a_change_that_is_refused_is_no_part_of_the_episode);
    return tcase;
}

SUITE_MAIN("system/switch", case_switch)
