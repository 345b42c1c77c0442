// SPDX-License-Identifier: MIT
// Sleeping over real sockets: who sleeps is told, settings come and go, and a recording in which
// bodies fall asleep and wake verifies without a word of it.
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_world.h"

#include <string.h>

enum { STACK = 4, SETTLE_STEPS = 240 };

static WireDepot depot;

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2");
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

static void set_settings(uint64_t world, Moreau__V1__WorldSettings *settings) {
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1;
    set.world = world;
    set.settings = settings;
    wire_accept(depot.client, &set);
}

static void set_sleep(uint64_t world, double speed) {
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    settings.has_sleep_speed = 1;
    settings.sleep_speed = speed;
    set_settings(world, &settings);
}

static void add_body(uint64_t world, uint64_t shape, double x, double z, double speed) {
    double pose[7] = {x, 0.0, z, 1.0, 0.0, 0.0, 0.0}, velocity[6] = {speed, 0, 0, 0, 0, 0};
    Moreau__V1__WorldAddBodies bodies = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    bodies.has_world = 1;
    bodies.world = world;
    bodies.n_pose = 7;
    bodies.pose = pose;
    bodies.n_velocity = 6;
    bodies.velocity = velocity;
    bodies.n_shape = 1;
    bodies.shape = &shape;
    wire_accept(depot.client, &bodies);
}

static void throw_ball(uint64_t world) {
    add_body(world, 2, -0.5, 0.2, 5.0);
}

static uint64_t make_world(void) {
    uint64_t world = wire_world(depot.client, 0, 1, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    for (int i = 0; i < STACK; i++) {
        add_body(world, 3, 0.0, 0.06 + 0.12 * i, 0.0);
    }
    return world;
}

static const Moreau__V1__WorldGetReply *get(uint64_t world) {
    Moreau__V1__WorldGet call = MOREAU__V1__WORLD_GET__INIT;
    call.has_world = 1;
    call.world = world;
    return wire_accept(depot.client, &call)->world_get;
}

// As the report of the last step says.
static uint32_t step(uint64_t world, uint64_t steps) {
    Moreau__V1__WorldStep call = wire_step_call(&world, steps);
    const Moreau__V1__StepReports *reports = wire_accept(depot.client, &call)->world_step->reports;
    return reports->n_asleep == 0 ? 0 : reports->asleep[0];
}

START_TEST(who_sleeps_is_told) {
    uint64_t world = make_world();
    const Moreau__V1__WorldGetReply *got = get(world);
    ck_assert_double_eq(got->settings->sleep_speed, 0.0); // off
    ck_assert_double_eq(got->settings->sleep_time, 0.5);
    ck_assert_uint_eq(got->n_asleep, 0);
    ck_assert_uint_eq(step(world, SETTLE_STEPS), 0);

    set_sleep(world, 0.05);
    got = get(world);
    ck_assert_double_eq(got->settings->sleep_speed, 0.05);
    ck_assert_uint_eq(got->n_asleep, STACK + 1);
    ck_assert(!got->asleep[1]);
    ck_assert_uint_eq(step(world, SETTLE_STEPS), STACK);
    got = get(world);
    ck_assert(!got->asleep[0]); // the ground does not sleep: it has nothing to wake for
    for (int i = 1; i <= STACK; i++) {
        ck_assert(got->asleep[i]);
    }
    throw_ball(world);
    ck_assert_uint_eq(step(world, 40), 0);
    set_sleep(world, 0.0);
    ck_assert_uint_eq(step(world, 1000), 0);
    ck_assert_uint_eq(get(world)->n_asleep, 0);
}
END_TEST

START_TEST(what_was_recorded_verifies_with_its_sleep) {
    uint64_t world = make_world();
    set_sleep(world, 0.05);
    wire_step(depot.client, world, 60); // some of the time at rest is in the first snapshot
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_content = start.has_stride = start.has_keyframe_steps = 1;
    start.content = (Moreau__V1__Episode__Content)_i;
    start.stride = 7;
    start.keyframe_steps = 40;
    WireEpisode episode = wire_record(depot.client, &start);
    ck_assert_uint_eq(step(world, SETTLE_STEPS), STACK);
    throw_ball(world);
    ck_assert_uint_eq(step(world, 40), 0);
    uint64_t steps = SETTLE_STEPS + 40;
    for (; step(world, 20) < STACK; steps += 20) {
        ck_assert_uint_lt(steps, 5000);
    }
    ck_assert_uint_eq(wire_stop_recording(depot.client, world)->steps, steps + 20);
    wire_expect_verified(depot.client, episode.id, steps + 20);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 7");
    wire_expect_verified(depot.client, episode.id, steps + 20);
}
END_TEST

static TCase *case_sleep(void) {
    TCase *tcase = tcase_create("sleep");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_test(tcase, who_sleeps_is_told);
    tcase_add_loop_test(tcase, what_was_recorded_verifies_with_its_sleep,
                        MOREAU__V1__EPISODE__CONTENT__INPUTS,
                        MOREAU__V1__EPISODE__CONTENT__CONTACTS + 1);
    return tcase;
}

SUITE_MAIN("system/sleep", case_sleep)
