// SPDX-License-Identifier: MIT The same inputs give the same bits, whatever the number of lanes,
// however the steps are cut into calls, and whoever sends them. Sixteen worlds of falling boxes and
// spheres, each from a seed of its own, take 300 steps under every plan; their state hashes, step
// for step where plans meet, must agree with those of the plainest plan: one lane, one client, one
// call after the other. So must those of a large world, whose step idle lanes help with, while
// others come and need them.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <stdio.h>
#include <stdlib.h>

enum { WORLDS = 16, BODIES = 6, STEPS = 300, CLIENTS = 4 };

typedef struct Run {
    ServerProcess *server;
    WireClient *client[CLIENTS];
    uint64_t world[WORLDS];
} Run;

// Out of which a tower falls in part.
static void set_bounds(WireClient *client, uint64_t world) {
    double lower[3] = {-0.25, -0.25, -1.0}, upper[3] = {0.25, 0.25, 9.0};
    Moreau__V1__Bounds bounds = MOREAU__V1__BOUNDS__INIT;
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    bounds.n_lower = bounds.n_upper = 3;
    bounds.lower = lower;
    bounds.upper = upper;
    settings.bounds = &bounds;
    set.has_world = 1;
    set.world = world;
    set.settings = &settings;
    wire_accept(client, &set);
}

static uint64_t count_removed(WireClient *client, uint64_t world) {
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = world;
    return wire_accept(client, &get)->world_get->removed;
}

static void begin(Run *run, unsigned workers) {
    char options[64];
    snprintf(options, sizeof(options), "--workers %u", workers);
    run->server = server_start(options);
    for (int i = 0; i < CLIENTS; i++) {
        run->client[i] = wire_open(run->server->address[0]);
    }
    for (uint64_t i = 0; i < WORLDS; i++) {
        WireClient *owner = run->client[i % CLIENTS];
        run->world[i] =
            wire_world(owner, BODIES, 1000 + i, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
        if (i % 2 == 1) {
            set_bounds(owner, run->world[i]);
        }
    }
}

static void end(Run *run, uint64_t hash[WORLDS]) {
    uint64_t removed = 0;
    for (int i = 0; i < WORLDS; i++) {
        removed += count_removed(run->client[0], run->world[i]);
        ck_assert_uint_eq(wire_step_count(run->client[0], run->world[i]), STEPS);
        hash[i] = wire_hash(run->client[0], run->world[i]);
    }
    ck_assert_uint_gt(removed, WORLDS / 2); // some bodies left, of every other world
    for (int i = 0; i < CLIENTS; i++) {
        wire_close(run->client[i]);
    }
    server_stop(run->server);
}

// How many lanes have stepped.
static unsigned lanes_used(const Run *run) {
    const Moreau__V1__StatsReply *stats = wire_stats(run->client[0], false);
    unsigned used = 0;
    uint64_t steps = 0;
    for (size_t i = 0; i < stats->n_lane_steps; i++) {
        used += stats->lane_steps[i] > 0;
        steps += stats->lane_steps[i];
    }
    ck_assert_uint_eq(steps, (uint64_t)WORLDS * STEPS);
    return used;
}

// ---- plans

static void step_all_in_batches(Run *run) {
    static const uint64_t parts[] = {1, 99, 150, 50};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        Moreau__V1__WorldStep step = wire_step_call(run->world, parts[i]);
        step.n_worlds = WORLDS;
        const Moreau__V1__Reply *reply = wire_accept(run->client[i % CLIENTS], &step);
        ck_assert_uint_eq(reply->world_step->n_failures, 0);
    }
}

static void step_one_by_one(Run *run) {
    for (int i = 0; i < WORLDS; i++) {
        wire_step(run->client[0], run->world[i], STEPS);
    }
}

// Every client sends single steps of its own worlds without waiting, with a batch of its worlds in
// between; the replies are read at the end.
static void step_mixed(Run *run) {
    enum { ROUNDS = 20, SINGLE = 5, TOGETHER = 10, SHARE = WORLDS / CLIENTS };
    ck_assert_int_eq(ROUNDS * (SINGLE + TOGETHER), STEPS);
    for (int round = 0; round < ROUNDS; round++) {
        for (int c = 0; c < CLIENTS; c++) {
            uint64_t mine[SHARE];
            for (int k = 0; k < SHARE; k++) {
                mine[k] = run->world[c + CLIENTS * k];
                for (int i = 0; i < SINGLE; i++) {
                    Moreau__V1__WorldStep one = wire_step_call(&mine[k], 1);
                    wire_submit(run->client[c], &one);
                }
            }
            Moreau__V1__WorldStep all = wire_step_call(mine, TOGETHER);
            all.n_worlds = SHARE;
            wire_submit(run->client[c], &all);
        }
        for (int c = 0; c < CLIENTS; c++) {
            for (int i = 0; i < SHARE * SINGLE + 1; i++) {
                const Moreau__V1__Reply *reply = wire_receive(run->client[c]);
                ck_assert_ptr_nonnull(reply);
                wire_expect(reply, MOREAU__V1__STATUS__CODE__OK, NULL);
            }
        }
    }
}

typedef struct Plan {
    unsigned workers;
    void (*step)(Run *run);
} Plan;

static const Plan plans[] = {
    {1, step_one_by_one}, // what the others are held against
    {1, step_all_in_batches}, {1, step_mixed},          {2, step_all_in_batches},
    {2, step_mixed},          {7, step_all_in_batches}, {7, step_mixed},
};

static void carry_out(const Plan *plan, uint64_t hash[WORLDS]) {
    Run run;
    begin(&run, plan->workers);
    plan->step(&run);
    unsigned used = lanes_used(&run);
    // else the comparison would say nothing about lanes
    ck_assert_uint_ge(used, plan->workers >= 2 ? 2 : 1);
    ck_assert_uint_le(used, 2 * plan->workers); // with the long lanes, as a busy machine is slow
    end(&run, hash);
}

START_TEST(every_plan_ends_in_the_same_bits) {
    uint64_t expected[WORLDS], hash[WORLDS];
    carry_out(&plans[0], expected);
    carry_out(&plans[_i], hash);
    for (int i = 0; i < WORLDS; i++) {
        ck_assert_msg(hash[i] == expected[i], "world %d: %016llx, not %016llx", i,
                      (unsigned long long)hash[i], (unsigned long long)expected[i]);
        for (int k = 0; k < i; k++) {
            ck_assert_uint_ne(hash[i], hash[k]); // other seeds, other worlds
        }
    }
}
END_TEST

// A deadline cuts a call wherever the clock says; the steps that were done are the same steps.
START_TEST(steps_cut_short_by_a_deadline_are_the_same_steps) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    uint64_t cut = wire_world(client, BODIES, 5, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    uint64_t whole = wire_world(client, BODIES, 5, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    for (int i = 0; i < 5; i++) {
        Moreau__V1__WorldStep step = wire_step_call(&cut, UINT64_C(1000000000));
        wire_expect(wire_call_within(client, &step, 7), MOREAU__V1__STATUS__CODE__DEADLINE_EXCEEDED,
                    NULL);
    }
    uint64_t steps = wire_step_count(client, cut);
    ck_assert_uint_gt(steps, 0);
    wire_step(client, whole, steps);
    ck_assert_uint_eq(wire_hash(client, cut), wire_hash(client, whole));
    wire_close(client);
    server_stop(server);
}
END_TEST

// ---- a large world

enum { SIDE = 7, PILE = SIDE * SIDE * SIDE, PILE_CALLS = 4 };
static const uint64_t pile_steps[PILE_CALLS] = {1, 9, 20, 10};

// Boxes and spheres in a cube, each layer a little aside of the one below: it falls apart.
static uint64_t add_pile(WireClient *client) {
    uint64_t world = wire_world(client, 0, 1, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    double *pose = calloc(PILE, 7 * sizeof(double));
    uint64_t *shape = calloc(PILE, sizeof(uint64_t));
    ck_assert(pose != NULL && shape != NULL);
    for (int i = 0; i < PILE; i++) {
        int layer = i / (SIDE * SIDE);
        double *at = pose + 7 * (size_t)i;
        at[0] = 0.205 * (i % SIDE) + 0.03 * layer;
        at[1] = 0.205 * (i / SIDE % SIDE) + 0.002 * (i % 5);
        at[2] = 0.1 + 0.19 * layer;
        at[3] = 1.0;
        shape[i] = 2 + (uint64_t)(i % 2);
    }
    Moreau__V1__WorldAddBodies bodies = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    bodies.has_world = 1;
    bodies.world = world;
    bodies.n_pose = (size_t)7 * PILE;
    bodies.pose = pose;
    bodies.n_shape = PILE;
    bodies.shape = shape;
    wire_accept(client, &bodies);
    free(pose);
    free(shape);
    return world;
}

// The hash after each call. `others`: meanwhile another client steps small worlds, now and then.
static void step_pile(unsigned workers, bool others, uint64_t hash[PILE_CALLS]) {
    char options[64];
    snprintf(options, sizeof(options), "--workers %u", workers);
    ServerProcess *server = server_start(options);
    WireClient *client = wire_open(server->address[0]), *other = wire_open(server->address[0]);
    uint64_t pile = add_pile(client), small[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        small[i] = wire_small_world(other);
    }
    for (int i = 0; i < PILE_CALLS; i++) {
        Moreau__V1__WorldStep step = wire_step_call(&pile, pile_steps[i]);
        wire_submit(client, &step);
        for (int round = 0; others && round < 20; round++) {
            Moreau__V1__WorldStep brief = wire_step_call(small, 3);
            brief.n_worlds = CLIENTS;
            wire_accept(other, &brief);
        }
        const Moreau__V1__Reply *reply = wire_receive(client);
        ck_assert_ptr_nonnull(reply);
        wire_expect(reply, MOREAU__V1__STATUS__CODE__OK, NULL);
        hash[i] = wire_hash(client, pile);
    }
    wire_close(other);
    wire_close(client);
    server_stop(server);
}

START_TEST(a_large_world_ends_in_the_same_bits_whoever_helps) {
    static const unsigned workers[] = {2, 3, 7};
    uint64_t expected[PILE_CALLS], hash[PILE_CALLS];
    step_pile(1, false, expected); // nobody can help
    for (int i = 0; i < 3; i++) {
        step_pile(workers[i], true, hash);
        for (int k = 0; k < PILE_CALLS; k++) {
            ck_assert_uint_eq(hash[k], expected[k]);
            ck_assert(k == 0 || hash[k] != hash[k - 1]);
        }
    }
}
END_TEST

static TCase *case_lanes(void) {
    TCase *tcase = tcase_create("lanes");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, every_plan_ends_in_the_same_bits, 0,
                        (int)(sizeof(plans) / sizeof(plans[0])));
    tcase_add_test(tcase, a_large_world_ends_in_the_same_bits_whoever_helps);
    tcase_add_test(tcase, steps_cut_short_by_a_deadline_are_the_same_steps);
    return tcase;
}

SUITE_MAIN("system/determinism", case_lanes)
