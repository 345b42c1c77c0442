// SPDX-License-Identifier: MIT
// Long steps, many steps and failing steps, over real sockets: a deadline, a cancel or a client
// that vanishes stops the work between two steps; a bad world in a batch fails alone; lanes are
// shared.
#include "support/machine.h"
#include "support/server_figures.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name
#define BILLION    UINT64_C(1000000000)

static ServerProcess *server;
static WireClient *client;

static void start_with(const char *options) {
    server = server_start(options);
    client = wire_open(server->address[0]);
}

static void start_one_lane(void) {
    start_with("--workers 1 --session-grace-ms 100");
}

static void start_two_lanes(void) {
    start_with("--workers 2");
}

static void start_narrow(void) {
    start_with("--workers 1 --frame-bytes-max 8K --requests-max 4");
}

static void stop(void) {
    wire_close(client);
    server_stop(server);
}

static void submit_cancel(uint64_t id) {
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1;
    cancel.request = id;
    wire_submit(client, &cancel);
}

// ---- stopping

// 200 ms are asked for; ten times as much allows for the sanitizers, more for a busy machine
enum { DEADLINE_MS = 200, LATE_MS = 2000 };

START_TEST(a_billion_steps_with_a_deadline_stop_on_time_and_say_how_far_they_came) {
    uint64_t world = wire_small_world(client);
    wire_step(client, world, 3);
    Moreau__V1__WorldStep step = wire_step_call(&world, BILLION);
    MachineTicks begun = machine_look(server->pid);
    double begun_ms = server_now_ms();
    const Moreau__V1__Reply *reply = wire_call_within(client, &step, DEADLINE_MS);
    double took_ms = server_now_ms() - begun_ms;
    wire_expect(reply, CODE(DEADLINE_EXCEEDED), "deadline_ms");
    ck_assert_double_ge(took_ms, DEADLINE_MS - 1);
    ck_assert_double_lt(took_ms, LATE_MS * machine_slowdown(&begun));
    const Moreau__V1__WorldStepReply *result = reply->world_step;
    ck_assert_int_eq(reply->result_case, MOREAU__V1__REPLY__RESULT_WORLD_STEP);
    ck_assert_uint_gt(result->steps_done[0], 0);
    ck_assert_uint_lt(result->steps_done[0], BILLION);
    ck_assert_uint_eq(result->step[0], 3 + result->steps_done[0]);
    ck_assert_uint_eq(wire_step_count(client, world), result->step[0]);
    wire_step(client, world, 1);
}
END_TEST

START_TEST(a_deadline_stops_every_world_of_a_batch) {
    uint64_t worlds[] = {wire_small_world(client), wire_small_world(client),
                         wire_small_world(client)};
    Moreau__V1__WorldStep step = wire_step_call(worlds, BILLION);
    step.n_worlds = 3;
    const Moreau__V1__Reply *reply = wire_call_within(client, &step, DEADLINE_MS);
    wire_expect(reply, CODE(DEADLINE_EXCEEDED), NULL);
    ck_assert_uint_eq(reply->world_step->n_failures, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_gt(reply->world_step->steps_done[i], 0);
        ck_assert_uint_eq(reply->world_step->failures[i]->world, worlds[i]);
        ck_assert_uint_eq(reply->world_step->failures[i]->step, reply->world_step->step[i]);
        ck_assert_uint_eq(wire_step_count(client, worlds[i]), reply->world_step->step[i]);
    }
}
END_TEST

START_TEST(a_cancel_stops_a_billion_steps_between_two) {
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, BILLION);
    uint64_t id = wire_submit(client, &step);
    server_sleep_ms(100);
    submit_cancel(id);
    bool stopped = false, found = false;
    for (int i = 0; i < 2; i++) {
        const Moreau__V1__Reply *reply = wire_receive(client);
        ck_assert_ptr_nonnull(reply);
        if (reply->id != id) {
            found = reply->cancel->found;
            continue;
        }
        stopped = true;
        wire_expect(reply, CODE(CANCELLED), NULL);
        ck_assert_uint_gt(reply->world_step->steps_done[0], 0);
        ck_assert_uint_eq(wire_step_count(client, world), reply->world_step->step[0]);
    }
    ck_assert(stopped && found);
}
END_TEST

START_TEST(a_cancel_of_what_is_not_under_way_finds_nothing) {
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1;
    cancel.request = 4711;
    ck_assert(!wire_accept(client, &cancel)->cancel->found);
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    cancel.request = wire_accept(client, &step)->id;
    ck_assert(!wire_accept(client, &cancel)->cancel->found);
}
END_TEST

START_TEST(a_client_that_vanishes_leaves_its_lane_and_its_worlds) {
    WireClient *ghost = wire_open(server->address[0]);
    uint64_t world = wire_small_world(ghost), mine = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, BILLION);
    wire_submit(ghost, &step);
    server_sleep_ms(50);
    wire_close(ghost);
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    while (wire_stats(client, false)->world_count > 1) {
        ck_assert_msg(server_now_ms() < give_up_ms, "the world of a client that is gone stays");
        server_sleep_ms(10);
    }
    wire_step(client, mine, 10);
    // the only lane steps no more
    uint64_t steps = wire_stats(client, false)->steps;
    server_sleep_ms(50);
    ck_assert_uint_eq(wire_stats(client, false)->steps, steps);
}
END_TEST

// ---- failing

enum { BATCH = 8, BAD = 5, STEPS = 20 };

// A body so light, a force so large and steps so long that in the third of them it is farther away
// than a float can say: the world faults.
static void make_faulted(uint64_t world) {
    double pose[7] = {0.0, 0.0, 100.0, 1.0, 0.0, 0.0, 0.0};
    double mass = 1e-18, inertia[6] = {1e-18, 1e-18, 1e-18, 0.0, 0.0, 0.0};
    Moreau__V1__WorldAddBodies bodies = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    bodies.has_world = 1;
    bodies.world = world;
    bodies.n_pose = 7, bodies.pose = pose;
    bodies.n_mass = 1, bodies.mass = &mass;
    bodies.n_inertia = 6, bodies.inertia = inertia;
    wire_accept(client, &bodies);
    uint64_t body = 5;
    double wrench[6] = {1e18, 0, 0, 0, 0, 0};
    Moreau__V1__WorldStep step = wire_step_call(&world, 10);
    step.n_wrench_body = 1, step.wrench_body = &body;
    step.n_wrench = 6, step.wrench = wrench;
    step.has_time_step = 1, step.time_step = 10;
    const Moreau__V1__WorldStepReply *result =
        wire_fail(client, &step, CODE(FAILED_PRECONDITION), NULL)->world_step;
    ck_assert_uint_eq(result->n_steps_done, 1);
}

static void expect_others_done(const Moreau__V1__Reply *reply, const uint64_t worlds[BATCH]) {
    wire_expect(reply, CODE(OK), NULL);
    const Moreau__V1__WorldStepReply *result = reply->world_step;
    ck_assert_uint_eq(result->n_steps_done, BATCH);
    ck_assert_uint_eq(result->n_failures, 1);
    ck_assert_uint_eq(result->failures[0]->world, worlds[BAD]);
    for (size_t i = 0; i < BATCH; i++) {
        ck_assert_uint_eq(result->steps_done[i], i == BAD ? 0 : STEPS);
    }
}

START_TEST(an_unknown_world_in_a_batch_fails_alone) {
    uint64_t worlds[BATCH];
    for (size_t i = 0; i < BATCH; i++) {
        worlds[i] = i == BAD ? UINT64_C(0xdead00000001) : wire_small_world(client);
    }
    Moreau__V1__WorldStep step = wire_step_call(worlds, STEPS);
    step.n_worlds = BATCH;
    step.has_hashes = step.hashes = 1;
    const Moreau__V1__Reply *reply = wire_call(client, &step);
    expect_others_done(reply, worlds);
    ck_assert_int_eq(reply->world_step->failures[0]->code, CODE(NOT_FOUND));
    for (size_t i = 1; i < BATCH; i++) { // all began alike, and went the same way
        ck_assert(i == BAD || reply->world_step->hash[i] == reply->world_step->hash[0]);
    }
}
END_TEST

START_TEST(a_faulted_world_in_a_batch_fails_alone_until_it_is_set) {
    uint64_t worlds[BATCH];
    for (size_t i = 0; i < BATCH; i++) {
        worlds[i] = wire_small_world(client);
    }
    make_faulted(worlds[BAD]);
    ck_assert_uint_eq(wire_stats(client, false)->faulted_worlds, 1);
    uint64_t before = wire_hash(client, worlds[BAD]);
    Moreau__V1__WorldStep step = wire_step_call(worlds, STEPS);
    step.n_worlds = BATCH;
    const Moreau__V1__Reply *reply = wire_call(client, &step);
    expect_others_done(reply, worlds);
    ck_assert_int_eq(reply->world_step->failures[0]->code, CODE(FAILED_PRECONDITION));
    ck_assert_uint_eq(wire_hash(client, worlds[BAD]), before);
    // one step was not finite; those refused because of it were never tried
    ck_assert_uint_eq(wire_stats(client, false)->faulted_steps, 1);

    uint64_t ids[] = {2, 3, 4, 5};
    double pose[28] = {[2] = 1, [3] = 1, [9] = 2, [10] = 1, [16] = 3, [17] = 1, [23] = 4, [24] = 1},
           velocity[24] = {0};
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1, set.world = worlds[BAD];
    set.n_ids = 4, set.ids = ids;
    set.n_pose = 28, set.pose = pose;
    set.n_velocity = 24, set.velocity = velocity;
    wire_accept(client, &set);
    wire_step(client, worlds[BAD], STEPS);
}
END_TEST

START_TEST(a_batch_in_which_all_fail_is_as_one_in_which_some_do) {
    uint64_t worlds[] = {wire_small_world(client), UINT64_C(0xdead00000001), 0};
    make_faulted(worlds[0]);
    uint64_t before = wire_hash(client, worlds[0]);
    for (size_t count = 1; count <= 3; count++) { // one world is a batch like any other
        Moreau__V1__WorldStep step = wire_step_call(worlds, STEPS);
        step.n_worlds = count;
        step.has_poses = step.poses = 1;
        step.has_hashes = step.hashes = 1;
        const Moreau__V1__WorldStepReply *result = wire_accept(client, &step)->world_step;
        ck_assert_uint_eq(result->n_failures, count);
        ck_assert_uint_eq(result->n_steps_done, count);
        ck_assert_uint_eq(result->hash[0], before);
        for (size_t i = 0; i < count; i++) {
            ck_assert_uint_eq(result->steps_done[i], 0);
            ck_assert_uint_eq(result->failures[i]->world, worlds[i]);
            ck_assert_int_eq(result->failures[i]->code,
                             i == 0 ? CODE(FAILED_PRECONDITION) : CODE(NOT_FOUND));
        }
    }
    // one that is not there, and no other
    Moreau__V1__WorldStep step = wire_step_call(worlds + 1, STEPS);
    const Moreau__V1__WorldStepReply *result = wire_accept(client, &step)->world_step;
    ck_assert_uint_eq(result->n_failures, 1);
    ck_assert_int_eq(result->failures[0]->code, CODE(NOT_FOUND));
    Moreau__V1__WorldHash hash = MOREAU__V1__WORLD_HASH__INIT;
    hash.n_worlds = 1, hash.worlds = worlds + 1;
    const Moreau__V1__WorldHashReply *hashes = wire_accept(client, &hash)->world_hash;
    ck_assert_uint_eq(hashes->n_failures, 1);
    ck_assert_int_eq(hashes->failures[0]->code, CODE(NOT_FOUND));
}
END_TEST

START_TEST(hashes_of_a_batch_tell_of_worlds_that_are_not_there) {
    uint64_t worlds[] = {wire_small_world(client), UINT64_C(0xdead00000001),
                         wire_small_world(client)};
    wire_step(client, worlds[2], STEPS);
    Moreau__V1__WorldHash hash = MOREAU__V1__WORLD_HASH__INIT;
    hash.n_worlds = 3, hash.worlds = worlds;
    const Moreau__V1__WorldHashReply *result = wire_accept(client, &hash)->world_hash;
    ck_assert_uint_eq(result->n_hash, 3);
    ck_assert_uint_eq(result->n_step, 3);
    ck_assert_uint_eq(result->hash[0], wire_hash(client, worlds[0]));
    ck_assert_uint_eq(result->hash[1] | result->step[1], 0);
    ck_assert_uint_eq(result->hash[2], wire_hash(client, worlds[2]));
    ck_assert_uint_eq(result->step[2], STEPS);
    ck_assert_uint_eq(result->n_failures, 1);
    ck_assert_uint_eq(result->failures[0]->world, worlds[1]);
    ck_assert_int_eq(result->failures[0]->code, CODE(NOT_FOUND));
}
END_TEST

// What is wrong with the call itself is its status, however many worlds there are.
START_TEST(a_fault_of_the_call_steps_no_world) {
    uint64_t worlds[] = {wire_small_world(client), wire_small_world(client)}, body = 2;
    uint64_t before = wire_hash(client, worlds[0]);
    double wrench[6] = {1e300};
    Moreau__V1__WorldStep step = wire_step_call(worlds, 1);
    step.n_worlds = 2;
    step.has_time_step = 1, step.time_step = 1e9;
    ck_assert_int_eq(wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "time_step")->result_case,
                     MOREAU__V1__REPLY__RESULT__NOT_SET);
    uint32_t shares[] = {0, 1};
    step.has_time_step = 0;
    step.n_wrench_count = 2, step.wrench_count = shares;
    step.n_wrench_body = 1, step.wrench_body = &body;
    step.n_wrench = 6, step.wrench = wrench;
    wire_refuse(client, &step, CODE(INVALID_ARGUMENT), "wrench[0]");
    ck_assert_uint_eq(wire_hash(client, worlds[0]), before);
    ck_assert_uint_eq(wire_step_count(client, worlds[1]), 0);
}
END_TEST

// An empty world has no columns to copy; the sanitizers look at how none are copied.
// Bodies that fly, and touch nothing.
static uint64_t make_swarm(size_t count) {
    double *pose = calloc(count, 7 * sizeof(double)), *mass = calloc(count, sizeof(double));
    double *inertia = calloc(count, 6 * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        pose[7 * i + 3] = mass[i] = 1.0;
        inertia[6 * i] = inertia[6 * i + 1] = inertia[6 * i + 2] = 1.0;
    }
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1, add.world = wire_accept(client, &create)->world_create->world;
    add.n_pose = 7 * count, add.pose = pose;
    add.n_mass = count, add.mass = mass;
    add.n_inertia = 6 * count, add.inertia = inertia;
    wire_accept(client, &add);
    free(pose);
    free(mass);
    free(inertia);
    return add.world;
}

// What batches borrow comes back: else the poses that are copied would stay, 112 MB of them.
START_TEST(batches_use_the_same_memory_again) {
    enum { BATCHES = 1000, BODIES = 2000, GROWTH_BYTES = 32 << 20 };
    uint64_t worlds[] = {make_swarm(BODIES), wire_small_world(client)}, before = 0;
    Moreau__V1__WorldStep step = wire_step_call(worlds, 1);
    step.n_worlds = 2;
    step.has_poses = step.poses = 1;
    for (int i = 0; i < BATCHES; i++) {
        wire_accept(client, &step);
        if (i == BATCHES / 20) { // everything has its size
            before = server_resident_bytes(server->pid);
        }
    }
    ck_assert_uint_lt(server_resident_bytes(server->pid), before + GROWTH_BYTES);
}
END_TEST

START_TEST(empty_worlds_have_no_poses_and_no_velocities) {
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    uint64_t worlds[2];
    for (size_t i = 0; i < 2; i++) {
        worlds[i] = wire_accept(client, &create)->world_create->world;
    }
    Moreau__V1__WorldStep step = wire_step_call(worlds, STEPS);
    step.has_poses = step.poses = step.has_velocities = step.velocities = 1;
    for (size_t count = 1; count <= 2; count++) {
        step.n_worlds = count;
        const Moreau__V1__WorldStepReply *result = wire_accept(client, &step)->world_step;
        ck_assert_uint_eq(result->n_failures, 0);
        ck_assert_uint_eq(result->n_body_count, count);
        ck_assert_uint_eq(result->n_pose + result->n_velocity, 0);
        ck_assert_uint_eq(result->step[0], count * STEPS);
    }
}
END_TEST

// Calls whose memory would lie where that of a call under way did, were that given back too soon.
static void step_pairs_with_poses(int times) {
    uint64_t pair[] = {wire_small_world(client), wire_small_world(client)};
    Moreau__V1__WorldStep step = wire_step_call(pair, 1);
    step.n_worlds = 2;
    step.has_poses = step.poses = 1;
    for (int i = 0; i < times; i++) {
        wire_accept(client, &step);
    }
}

static void expect_poses_of(uint64_t world, const double *pose, size_t count) {
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = world;
    const Moreau__V1__WorldGetReply *now = wire_accept(client, &get)->world_get;
    ck_assert_uint_eq(now->n_pose, count);
    ck_assert_mem_eq(now->pose, pose, count * sizeof(double));
}

START_TEST(a_world_that_is_done_long_before_the_others_is_shown_as_it_was) {
    uint64_t worlds[] = {wire_small_world(client), wire_small_world(client)};
    Moreau__V1__WorldStep endless = wire_step_call(&worlds[1], BILLION);
    uint64_t endless_id = wire_submit(client, &endless);
    Moreau__V1__WorldStep both = wire_step_call(worlds, 1);
    both.n_worlds = 2;
    both.has_poses = both.poses = 1;
    uint64_t both_id = wire_submit(client, &both);
    step_pairs_with_poses(20);
    submit_cancel(endless_id);
    const Moreau__V1__Reply *reply;
    do {
        reply = wire_receive(client);
        ck_assert_ptr_nonnull(reply);
    } while (reply->id != both_id);
    wire_expect(reply, CODE(OK), NULL);
    const Moreau__V1__WorldStepReply *result = reply->world_step;
    ck_assert_uint_eq(result->n_body_count, 2);
    expect_poses_of(worlds[0], result->pose, 7 * result->body_count[0]);
    expect_poses_of(worlds[1], result->pose + 7 * result->body_count[0], 7 * result->body_count[1]);
}
END_TEST

// ---- sharing

START_TEST(short_steps_get_through_while_others_run_a_billion) {
    enum { HOGS = 4, ROUNDS = 50 };
    uint64_t mine = wire_small_world(client);
    WireClient *hog[HOGS];
    for (int i = 0; i < HOGS; i++) {
        hog[i] = wire_open(server->address[0]);
        uint64_t world = wire_small_world(hog[i]);
        Moreau__V1__WorldStep step = wire_step_call(&world, BILLION);
        wire_submit(hog[i], &step);
    }
    MachineTicks begun = machine_look(server->pid);
    double begun_ms = server_now_ms();
    for (int i = 0; i < ROUNDS; i++) {
        wire_step(client, mine, 1);
    }
    // each round waits for at most the slices of the others, 2 ms each; four times that is allowed
    double took_ms = server_now_ms() - begun_ms, limit_ms = 4.0 * 2.0 * HOGS * ROUNDS + 1000;
    ck_assert_double_lt(took_ms, limit_ms * machine_slowdown(&begun));
    for (int i = 0; i < HOGS; i++) {
        wire_close(hog[i]);
    }
}
END_TEST

// ---- order

static Moreau__V1__WorldAddBodies one_more_body(uint64_t world) {
    static double pose[] = {3, 0, 3, 1, 0, 0, 0};
    static uint64_t shape = 2;
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1, add.world = world;
    add.n_pose = 7, add.pose = pose;
    add.n_shape = 1, add.shape = &shape;
    return add;
}

START_TEST(pipelined_calls_on_a_world_are_done_in_their_order) {
    enum { ROUNDS = 10 };
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, 2);
    Moreau__V1__WorldAddBodies add = one_more_body(world);
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1, get.world = world;
    for (int i = 0; i < ROUNDS; i++) {
        wire_submit(client, &step);
        wire_submit(client, &get);
        wire_submit(client, &add);
        wire_submit(client, &get);
    }
    uint64_t id = 0;
    for (uint64_t i = 0; i < 4 * ROUNDS; i++) {
        const Moreau__V1__Reply *reply = wire_receive(client);
        ck_assert_ptr_nonnull(reply);
        wire_expect(reply, CODE(OK), NULL);
        ck_assert_uint_gt(reply->id, id);
        id = reply->id;
        if (i % 2 == 1) {
            ck_assert_uint_eq(reply->world_get->step, 2 * (i / 4 + 1));
            ck_assert_uint_eq(reply->world_get->total, 4 + (i + 1) / 4);
        }
    }
}
END_TEST

START_TEST(a_burst_of_ten_thousand_steps_is_answered_in_order) {
    enum { BURST = 10000 };
    uint64_t world = wire_small_world(client), first = 0;
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    step.has_reports = 1;
    step.reports = 0;
    for (uint64_t i = 0; i < BURST; i++) {
        uint64_t id = wire_submit(client, &step);
        first = i == 0 ? id : first;
    }
    for (uint64_t i = 0; i < BURST; i++) {
        const Moreau__V1__Reply *reply = wire_receive(client);
        ck_assert_ptr_nonnull(reply);
        wire_expect(reply, CODE(OK), NULL);
        ck_assert_uint_eq(reply->id, first + i);
        ck_assert_uint_eq(reply->world_step->step[0], i + 1);
    }
}
END_TEST

// Several worlds on one connection, so that their jobs pass from lane to lane: the answers of each
// world keep their order all the same.
START_TEST(answers_of_each_world_keep_their_order_between_lanes) {
    enum { WORLDS = 5, ROUNDS = 40, EACH = 40 };
    uint64_t world[WORLDS], next[WORLDS] = {0}, first[WORLDS * EACH];
    for (int i = 0; i < WORLDS; i++) {
        world[i] = wire_small_world(client);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WORLDS * EACH; i++) {
            Moreau__V1__WorldStep step = wire_step_call(&world[i % WORLDS], 1);
            first[i] = wire_submit(client, &step);
        }
        for (int i = 0; i < WORLDS * EACH; i++) {
            const Moreau__V1__Reply *reply = wire_receive(client);
            ck_assert_ptr_nonnull(reply);
            wire_expect(reply, CODE(OK), NULL);
            uint64_t which = (reply->id - first[0]) % WORLDS;
            ck_assert_uint_eq(reply->world_step->step[0], ++next[which]);
        }
    }
}
END_TEST

START_TEST(no_more_requests_are_taken_up_than_the_limit) {
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, BILLION);

    for (int i = 0; i < 4; i++) { // --requests-max
        wire_submit(client, &step);
    }
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    wire_submit(client, &ping);
    ck_assert(!wire_waits(client, 300)); // the Ping waits in the socket: it is not even read
    WireClient *other = wire_open(server->address[0]);
    wire_ping(other);
    wire_close(other);
}
END_TEST

// ---- ranges

enum { MANY_BODIES = 200 }; // 13 doubles each: some 20 KB, more than the frame of 8 KiB

static uint64_t big_world(void) {
    Moreau__V1__World__Lifetime lifetime = MOREAU__V1__WORLD__LIFETIME__SESSION;
    uint64_t world = wire_world(client, 30, 1, lifetime).id;
    for (int i = 31; i < MANY_BODIES; i++) {
        Moreau__V1__WorldAddBodies add = one_more_body(world);
        add.pose[0] = 3.0 + 0.15 * i; // close to each other, so that there are many contacts
        add.pose[2] = 0.099;
        wire_accept(client, &add);
    }
    wire_step(client, world, 1);
    return world;
}

START_TEST(a_reply_beyond_a_frame_names_the_range_and_ranges_work) {
    uint64_t world = big_world(), total = MANY_BODIES, seen = 0;
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1, get.world = world;
    const Moreau__V1__Reply *reply = wire_refuse(client, &get, CODE(RESOURCE_EXHAUSTED), "count");
    ck_assert_ptr_nonnull(strstr(reply->status->message, "frame-bytes-max"));
    get.has_first = get.has_count = 1;
    for (get.count = 47; seen < total; seen += reply->world_get->n_ids) {
        get.first = seen;
        reply = wire_accept(client, &get);
        ck_assert_uint_eq(reply->world_get->total, total);
        ck_assert_uint_eq(reply->world_get->n_ids, total - seen < 47 ? total - seen : 47);
        ck_assert_uint_eq(reply->world_get->n_pose, 7 * reply->world_get->n_ids);
        ck_assert_uint_eq(reply->world_get->ids[0], seen + 1);
    }
    ck_assert_uint_eq(seen, total);
}
END_TEST

START_TEST(contacts_too_are_read_by_range) {
    uint64_t world = big_world();
    Moreau__V1__WorldContacts get = MOREAU__V1__WORLD_CONTACTS__INIT;
    get.has_world = 1, get.world = world;
    wire_refuse(client, &get, CODE(RESOURCE_EXHAUSTED), "count");
    get.has_first = get.has_count = 1;
    get.count = 20;
    uint64_t seen = 0, total = 1;
    while (seen < total) {
        get.first = seen;
        const Moreau__V1__WorldContactsReply *contacts = wire_accept(client, &get)->world_contacts;
        total = contacts->total;
        ck_assert_uint_gt(contacts->n_body_a, 0);
        ck_assert_uint_eq(contacts->n_frame, 9 * contacts->n_body_a);
        seen += contacts->n_body_a;
    }
    ck_assert_uint_eq(seen, total);
    ck_assert_uint_gt(total, MANY_BODIES / 2);
}
END_TEST

static TCase *case_one_lane(void) {
    TCase *tcase = tcase_create("one lane");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start_one_lane, stop);
    tcase_add_test(tcase, a_billion_steps_with_a_deadline_stop_on_time_and_say_how_far_they_came);
    tcase_add_test(tcase, a_cancel_stops_a_billion_steps_between_two);
    tcase_add_test(tcase, a_cancel_of_what_is_not_under_way_finds_nothing);
    tcase_add_test(tcase, a_client_that_vanishes_leaves_its_lane_and_its_worlds);
    tcase_add_test(tcase, short_steps_get_through_while_others_run_a_billion);
    return tcase;
}

static TCase *case_two_lanes(void) {
    TCase *tcase = tcase_create("two lanes");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start_two_lanes, stop);
    tcase_add_test(tcase, a_deadline_stops_every_world_of_a_batch);
    tcase_add_test(tcase, an_unknown_world_in_a_batch_fails_alone);
    tcase_add_test(tcase, a_faulted_world_in_a_batch_fails_alone_until_it_is_set);
    tcase_add_test(tcase, a_batch_in_which_all_fail_is_as_one_in_which_some_do);
    tcase_add_test(tcase, hashes_of_a_batch_tell_of_worlds_that_are_not_there);
    tcase_add_test(tcase, a_fault_of_the_call_steps_no_world);
    tcase_add_test(tcase, batches_use_the_same_memory_again);
    tcase_add_test(tcase, empty_worlds_have_no_poses_and_no_velocities);
    tcase_add_test(tcase, a_world_that_is_done_long_before_the_others_is_shown_as_it_was);
    tcase_add_test(tcase, pipelined_calls_on_a_world_are_done_in_their_order);
    tcase_add_test(tcase, answers_of_each_world_keep_their_order_between_lanes);
    tcase_add_test(tcase, a_burst_of_ten_thousand_steps_is_answered_in_order);
    return tcase;
}

static TCase *case_narrow(void) {
    TCase *tcase = tcase_create("narrow");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start_narrow, stop);
    tcase_add_test(tcase, no_more_requests_are_taken_up_than_the_limit);
    tcase_add_test(tcase, a_reply_beyond_a_frame_names_the_range_and_ranges_work);
    tcase_add_test(tcase, contacts_too_are_read_by_range);
    return tcase;
}

SUITE_MAIN("system/steps", case_one_lane, case_two_lanes, case_narrow)
