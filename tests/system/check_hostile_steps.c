// SPDX-License-Identifier: MIT
// Hostile and unlucky clients, as in check_hostile.c: one row per way to keep the lanes busy. A
// step and a solve cannot be interrupted, and there are more of these than lanes.
#include "support/machine.h"
#include "support/suite.h"
#include "support/wire_crowd.h"
#include "support/wire_episode.h"
#include "support/wire_siege.h"

#include <stdio.h>

enum { CALL_MS = 700 }; // how long it goes on

// Bodies at one place: every one touches every other, so that pairs and contacts grow with the
// square of their number. A step takes some hundredths of a second with 150 of them, seconds with
// 600 (180,000 contacts), and more memory than there is with 6,000.
static uint64_t make_heap(WireClient *client, size_t bodies) {
    enum { BODIES_MAX = 6000 };
    static double pose[7 * BODIES_MAX];
    static uint64_t shape[BODIES_MAX];
    for (size_t i = 0; i < bodies; i++) {
        pose[7 * i + 2] = 5.0 + 1e-6 * (double)i;
        pose[7 * i + 3] = 1.0;
        shape[i] = 2;
    }
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1;
    add.world = world;
    add.n_pose = 7 * bodies;
    add.pose = pose;
    add.n_shape = bodies;
    add.shape = shape;
    wire_accept(client, &add);
    return world;
}

// ---- steps

// Its worlds go with it, in the middle of what they do.
static void vanish(WireClient *client) {
    server_sleep_ms(CALL_MS);
    wire_close(client);
}

// A call for each heap, at once.
static void step_and_vanish(Siege *siege, size_t heaps, size_t bodies, uint64_t steps) {
    enum { HEAPS_MAX = 64 };
    WireClient *client = wire_open(siege->address);
    uint64_t worlds[HEAPS_MAX];
    for (size_t i = 0; i < heaps; i++) {
        worlds[i] = make_heap(client, bodies);
    }
    for (size_t i = 0; i < heaps; i++) {
        Moreau__V1__WorldStep step = wire_step_call(&worlds[i], steps);
        wire_submit(client, &step);
    }
    vanish(client);
}

static void step_heaps(Siege *siege) {
    enum { HEAPS = 6 };
    step_and_vanish(siege, HEAPS, 600, 1);
}

static void step_heaps_larger_than_memory(Siege *siege) {
    enum { HEAPS = 4 };
    WireClient *client = wire_open(siege->address);
    for (size_t i = 0; i < HEAPS; i++) {
        uint64_t world = make_heap(client, 6000);
        Moreau__V1__WorldStep step = wire_step_call(&world, 1);
        wire_fail(client, &step, MOREAU__V1__STATUS__CODE__RESOURCE_EXHAUSTED, NULL);
    }
    wire_close(client);
}

// Each step alone is nothing that a lane would put aside, and there are many.
static void step_heaps_that_are_not_large(Siege *siege) {
    enum { HEAPS = 40 };
    step_and_vanish(siege, HEAPS, 60, 1000);
}

// One call, as a farm makes it.
static void step_a_thousand_worlds(Siege *siege) {
    enum { WORLDS = 1000 };
    WireClient *client = wire_open(siege->address);
    Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    clone.has_world = clone.has_count = 1;
    clone.world = wire_small_world(client);
    clone.count = WORLDS;
    static uint64_t worlds[WORLDS];
    const Moreau__V1__SnapshotCloneReply *clones = wire_accept(client, &clone)->snapshot_clone;
    ck_assert_uint_eq(clones->n_worlds, WORLDS);
    for (size_t i = 0; i < WORLDS; i++) {
        worlds[i] = clones->worlds[i];
    }
    Moreau__V1__WorldStep step = wire_step_call(worlds, 100000000);
    step.n_worlds = WORLDS;
    wire_submit(client, &step);
    vanish(client);
}

// ---- solves

static void solve_without_end(Siege *siege) {
    enum { SOLVES = 8 };
    WireClient *client = wire_open(siege->address);
    uint64_t world = make_heap(client, 150);
    wire_step(client, world, 1);
    Moreau__V1__Problem ask = MOREAU__V1__PROBLEM__INIT;
    ask.has_world = 1;
    ask.world = world;
    Moreau__V1__MdpParameters mdp = MOREAU__V1__MDP_PARAMETERS__INIT;
    mdp.has_tolerance = mdp.has_max_iterations = 1;
    mdp.tolerance = 1e-15;
    mdp.max_iterations = 1000000;
    Moreau__V1__SolverParameters parameters = MOREAU__V1__SOLVER_PARAMETERS__INIT;
    parameters.mdp = &mdp;
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.problem = wire_accept(client, &ask)->problem->problem;
    solve.parameters = &parameters;
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, SOLVES, true, false);
    for (size_t i = 0; i < crowd.count; i++) {
        wire_crowd_call(crowd.fd[i], &solve, 2);
    }
    server_sleep_ms(CALL_MS);
    wire_crowd_leave(&crowd);
    wire_close(client);
}

// ---- episodes

static void record_a_heap(Siege *siege) {
    WireClient *client = wire_open(siege->address);
    uint64_t world = make_heap(client, 150);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    WireEpisode episode = wire_record(client, &start);
    wire_step(client, world, 20);
    wire_stop_recording(client, world);
    wire_destroy(client, world);
    snprintf(siege->episode, sizeof(siege->episode), "%s", episode.id);
    wire_close(client);
    server_sleep_ms(CALL_MS); // its session ends
}

// Those who list and read episodes are no more held up than those who step.
static void step_a_recorded_heap_again(Siege *siege) {
    enum { CLIENTS = 8 };
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, CLIENTS, true, false);
    Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
    Moreau__V1__EpisodeReplay replay = MOREAU__V1__EPISODE_REPLAY__INIT;
    verify.episode = replay.episode = siege->episode;
    for (size_t i = 0; i < crowd.count; i++) {
        wire_crowd_call(crowd.fd[i], i % 2 == 0 ? (void *)&verify : (void *)&replay, 2);
    }
    double until_ms = server_now_ms() + CALL_MS;
    double longest_ms = 0.0;
    MachineTicks begun = machine_look(siege->server->pid);
    while (server_now_ms() < until_ms) {
        double call_ms = server_now_ms();
        ck_assert_uint_eq(wire_describe(siege->client, siege->episode)->steps, 20);
        call_ms = server_now_ms() - call_ms;
        longest_ms = call_ms > longest_ms ? call_ms : longest_ms;
    }
    ck_assert_double_le(longest_ms, SIEGE_CALL_MS_MAX * machine_slowdown(&begun));
    wire_crowd_leave(&crowd);
}

static const SiegeRow rows[] = {
    {.name = "six heaps, seconds a step", .abuse = step_heaps},
    {.name = "heaps larger than memory",
     .options = "--memory-bytes-max 64M",
     .abuse = step_heaps_larger_than_memory,
     .peak_bytes = 200 << 20},
    {.name = "forty heaps, a thousand steps each", .abuse = step_heaps_that_are_not_large},
    {.name = "a thousand worlds in one call", .abuse = step_a_thousand_worlds},
    {.name = "eight solves without end", .abuse = solve_without_end},
    {.name = "a recorded heap verified and replayed",
     .prepare = record_a_heap,
     .abuse = step_a_recorded_heap_again},
};

static TCase *case_abuses(void) {
    return siege_case(rows, sizeof(rows) / sizeof(rows[0]));
}

SUITE_MAIN("system/hostile_steps", case_abuses)
