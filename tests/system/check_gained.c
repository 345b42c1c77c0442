// SPDX-License-Identifier: MIT
// What energy an episode gained from nothing is told by its row: of a world and of a group's, of
// one whose server was killed, of one that goes on in another recording; and where nothing gained,
// that is told as well. The cart hangs on an undamped spring, with which integrator explicit gains
// w^2 h^2 of the energy in each step.
#include "support/machine.h"
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { WORLDS = 70 }; // two ranges: 64 and 6

static WireDepot depot;

static void set_up(void) {
    wire_depot_open(&depot, "--workers 2");
}

static void tear_down(void) {
    wire_depot_close(&depot);
}

static bool gains(int which) {
    return which % 2 == 1;
}

// 15 rad/s: 0.3 in a step.
static void add_spring(Moreau__V1__Scene *scene, int which) {
    static double stiffness = 247.0, rest = 0.3;
    scene->settings->has_integrator = 1;
    scene->settings->integrator = gains(which) ? MOREAU__V1__INTEGRATOR__KIND__EXPLICIT
                                               : MOREAU__V1__INTEGRATOR__KIND__SYMPLECTIC;
    scene->joints[0]->n_stiffness = scene->joints[0]->n_rest = 1;
    scene->joints[0]->stiffness = &stiffness;
    scene->joints[0]->rest = &rest;
}

// ---- of a world

static uint64_t pole_world(int which) {
    Moreau__V1__WorldCreate call = MOREAU__V1__WORLD_CREATE__INIT;
    call.scene = wire_group_create_call(1)->scene;
    add_spring(call.scene, which);
    return wire_accept(depot.client, &call)->world_create->world;
}

// Records a world that takes `steps` at once; what its report says.
static double play(uint64_t world, uint64_t steps, WireEpisode *episode) {
    const Moreau__V1__EpisodeStart start = wire_start_call(world);
    *episode = wire_record(depot.client, &start);
    const Moreau__V1__WorldStep call = wire_step_call(&world, steps);
    const Moreau__V1__StepReports *reports = wire_accept(depot.client, &call)->world_step->reports;
    return reports->n_gained == 0 ? 0.0 : reports->gained[0];
}

// A chunk of inputs is closed after a second: then the sum is of two sums, rounded otherwise.
static void expect_gained(const Moreau__V1__EpisodeInfo *info, int which, double expected) {
    ck_assert(info->has_gained);
    ck_assert(gains(which) == (expected > 0.0));
    ck_assert_double_le(fabs(info->gained - expected), 1e-12 * fabs(expected));
}

START_TEST(an_episode_of_a_world_tells_what_it_gained) {
    enum { STEPS = 20 };
    const uint64_t world = pole_world(_i);
    WireEpisode episode;
    const double told = play(world, STEPS, &episode);
    expect_gained(wire_stop_recording(depot.client, world), _i, told);
    wire_expect_verified(depot.client, episode.id, STEPS);
    wire_depot_stop(&depot); // whoever edits the row is found out
    wire_depot_sql(&depot, "UPDATE episode SET gain = 1.0");
    wire_depot_restart(&depot, "");
    Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
    verify.episode = episode.id;
    const Moreau__V1__Reply *reply = wire_stream(depot.client, &verify, NULL, NULL);
    ck_assert_uint_gt(reply->episode_verify->n_differences, 0);
}
END_TEST

START_TEST(an_episode_that_a_kill_ended_tells_what_it_gained) {
    enum { STEPS = 20 };
    const uint64_t world = pole_world(_i);
    WireEpisode episode;
    const double told = play(world, STEPS, &episode);
    while (wire_describe(depot.client, episode.id)->steps < STEPS) { // its chunk is closed
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    expect_gained(wire_describe(depot.client, episode.id), _i, told);
    kill(depot.server->pid, SIGKILL);
    ck_assert_int_eq(server_wait(depot.server, PATIENCE_MS), -1);
    server_free(depot.server);
    wire_close(depot.client);
    depot.server = NULL;
    wire_depot_restart(&depot, "");
    const Moreau__V1__EpisodeInfo *info = wire_describe(depot.client, episode.id);
    ck_assert_int_eq(info->state, MOREAU__V1__EPISODE__STATE__INTERRUPTED);
    expect_gained(info, _i, told);
}
END_TEST

START_TEST(of_an_older_servers_episode_nothing_is_known) {
    const uint64_t world = pole_world(1);
    WireEpisode episode;
    play(world, 10, &episode);
    wire_stop_recording(depot.client, world);
    wire_depot_stop(&depot);
    wire_depot_sql(&depot, "UPDATE episode SET gain = NULL, gain_scale = NULL, gain_step = NULL;"
                           "UPDATE chunk SET gain = NULL, gain_scale = NULL, gain_step = NULL");
    wire_depot_restart(&depot, "");
    ck_assert(!wire_describe(depot.client, episode.id)->has_gained);
}
END_TEST

// ---- of groups

static Moreau__V1__GroupCreate *group_call(int which) {
    static Moreau__V1__GroupRecord record;
    moreau__v1__group_record__init(&record);
    record.name = "balance";
    record.has_keyframe_steps = 1, record.keyframe_steps = 40;
    Moreau__V1__GroupCreate *call = wire_group_create_call(WORLDS);
    call->record = &record;
    add_spring(call->scene, which);
    call->has_substeps = 1, call->substeps = 3;
    return call;
}

static void step_group(uint64_t group, uint64_t from, uint64_t to) {
    for (uint64_t k = from; k < to; k++) {
        float action[WORLDS];
        for (uint64_t i = 0; i < WORLDS; i++) {
            action[i] = (float)((i * 2654435761u + k * 40503u) >> 3 & 1023) / 512.0f - 1.0f;
        }
        const Moreau__V1__GroupStepReply *reply =
            wire_group_step(depot.client, group, action, WORLDS);
        ck_assert_uint_eq(reply->n_failures, 0);
    }
}

static void destroy(uint64_t group) {
    Moreau__V1__GroupDestroy call = MOREAU__V1__GROUP_DESTROY__INIT;
    call.has_group = 1, call.group = group;
    wire_accept(depot.client, &call);
}

START_TEST(an_episode_of_a_group_tells_what_it_gained) {
    Moreau__V1__GroupCreate *create = group_call(_i);
    create->has_autoreset = 1, create->autoreset = (Moreau__V1__Group__Autoreset)(_i / 2);
    const uint64_t group = wire_accept(depot.client, create)->group_create->group;
    wire_group_reset(depot.client, group);
    step_group(group, 0, 60);
    destroy(group);
    const Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    const Moreau__V1__EpisodeListReply *all = wire_accept(depot.client, &list)->episode_list;
    ck_assert_uint_gt(all->n_episodes, WORLDS);
    char some[12][WIRE_EPISODE_ID_BYTES];
    uint64_t steps[12];
    size_t count = 0;
    for (size_t i = 0; i < all->n_episodes; i++) {
        const Moreau__V1__EpisodeInfo *info = all->episodes[i];
        ck_assert(info->has_gained);
        ck_assert_msg((info->gained > 0.0) == gains(_i), "%g", info->gained);
        if (i % (all->n_episodes / 12 + 1) == 0) {
            memcpy(some[count], info->episode, WIRE_EPISODE_ID_BYTES);
            steps[count++] = info->steps;
        }
    }
    for (size_t i = 0; i < count; i++) {
        wire_expect_verified(depot.client, some[i], steps[i]);
    }
}
END_TEST

// A number of the rows of episodes that began first in their worlds, of recordings 1, …
static double sum_of(const char *what) {
    char sql[300];
    snprintf(sql, sizeof(sql), "SELECT CAST(round(1e9 * total(%s)) AS INTEGER) FROM episode", what);
    return 1e-9 * (double)wire_depot_number(&depot, sql);
}

// Behind so many steps there are hashes, and that far an episode is told that nothing ended.
enum { HASHED = 64, ALL = 96 };

// As one recording, or as two of which the second goes on where the first was destroyed. What the
// scale of the second is follows from its own steps.
START_TEST(an_episode_that_goes_on_tells_what_it_gains_there) {
    double sum[2], most[2];
    for (int parts = 1; parts <= 2; parts++) {
        Moreau__V1__GroupCreate *create = group_call(1);
        create->n_bounds = 0; // nothing ends an episode
        const Moreau__V1__GroupCreateReply *made = wire_accept(depot.client, create)->group_create;
        uint64_t group = made->group;
        char recording[WIRE_EPISODE_ID_BYTES];
        memcpy(recording, made->recording, WIRE_EPISODE_ID_BYTES);
        wire_group_reset(depot.client, group);
        step_group(group, 0, HASHED);
        if (parts == 2) {
            destroy(group);
            Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
            Moreau__V1__GroupCreate resume = MOREAU__V1__GROUP_CREATE__INIT;
            resume.recording = recording;
            resume.record = &record;
            const Moreau__V1__GroupCreateReply *resumed =
                wire_accept(depot.client, &resume)->group_create;
            ck_assert_uint_eq(resumed->resumed->step, HASHED + 1);
            group = resumed->group;
            memcpy(recording, resumed->recording, WIRE_EPISODE_ID_BYTES);
        }
        step_group(group, HASHED, ALL);
        destroy(group);
        wire_expect_verified(depot.client, recording, parts == 2 ? ALL - HASHED : ALL);
        wire_depot_stop(&depot);
        sum[parts - 1] = sum_of("gain");
        most[parts - 1] = sum_of("gain_step");
        ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(*) FROM episode"), parts * WORLDS);
        ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(gain) FROM episode"),
                         parts * WORLDS);
        tear_down();
        set_up();
    }
    // of some thousand terms, each rounded to 1e-16 of the sum, and told in nanojoules
    ck_assert_double_gt(sum[0], 1.0);
    ck_assert_double_eq_tol(sum[1], sum[0], 1e-12 * sum[0] + 1e-8);
    ck_assert_double_ge(most[1], most[0]); // the largest of each part
}
END_TEST

static TCase *case_gained(void) {
    TCase *tcase = tcase_create("gained");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, an_episode_of_a_world_tells_what_it_gained, 0, 2);
    tcase_add_loop_test(tcase, an_episode_that_a_kill_ended_tells_what_it_gained, 0, 2);
    tcase_add_test(tcase, of_an_older_servers_episode_nothing_is_known);
    tcase_add_loop_test(tcase, an_episode_of_a_group_tells_what_it_gained, 0, 4);
    tcase_add_test(tcase, an_episode_that_goes_on_tells_what_it_gains_there);
    return tcase;
}

SUITE_MAIN("system/gained", case_gained)
