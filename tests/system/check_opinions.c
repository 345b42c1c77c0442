// SPDX-License-Identifier: MIT
// Second opinions on groups over sockets: calls that wait for them, whoever goes while some are
// under way, and that none is left out. (What they say: solve/check_opinion, clients/python.)
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"
#include "support/wire_world.h"

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { WORLDS = 24, FALLING = 20, JUDGED_STEPS = 5, SENT_STEPS = 4 };

// Piles of balls and boxes, of whose steps all are solved again.
static uint64_t piles(WireClient *client, uint32_t lag, bool is_recorded) {
    const WireWorld world = wire_world(client, FALLING, 7, MOREAU__V1__WORLD__LIFETIME__SESSION);
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
    opinion.has_share = opinion.has_lag = 1;
    opinion.share = 1.0, opinion.lag = lag;
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    Moreau__V1__GroupCreate call = MOREAU__V1__GROUP_CREATE__INIT;
    call.has_world = call.has_count = call.has_step_limit = 1;
    call.world = world.id, call.count = WORLDS, call.step_limit = 5;
    call.n_action = call.n_observation = 1;
    call.action = action, call.observation = observation;
    call.opinion = &opinion;
    call.record = is_recorded ? &record : NULL;
    const uint64_t group = wire_accept(client, &call)->group_create->group;
    wire_destroy(client, world.id);
    return group;
}

static Moreau__V1__GroupOpinions opinions_call(uint64_t group) {
    Moreau__V1__GroupOpinions call = MOREAU__V1__GROUP_OPINIONS__INIT;
    call.has_group = 1, call.group = group;
    return call;
}

static void submit_steps(WireClient *client, uint64_t group, int count) {
    float action[WORLDS] = {0};
    const Moreau__V1__GroupStep step = wire_group_step_call(group, action, WORLDS);
    for (int i = 0; i < count; i++) {
        wire_submit(client, &step);
    }
}

static void expect_opinions(const Moreau__V1__GroupOpinionColumns *columns, uint64_t step) {
    ck_assert_ptr_nonnull(columns);
    ck_assert_uint_eq(columns->n_world, WORLDS);
    for (uint32_t i = 0; i < WORLDS; i++) {
        ck_assert_uint_eq(columns->world[i], i);
        ck_assert_uint_eq(columns->step[i], step);
    }
}

// Calls go ahead of their replies, and each waits until the one before it is judged.
START_TEST(calls_in_a_row_wait_for_each_other) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t group = piles(client, 1, false);
    wire_group_reset(client, group);
    submit_steps(client, group, JUDGED_STEPS);
    for (uint64_t i = 0; i < JUDGED_STEPS; i++) {
        const Moreau__V1__Reply *reply = wire_receive(client);
        wire_expect(reply, CODE(OK), NULL);
        ck_assert(i > 0 || reply->group_step->opinions == NULL);
        if (i > 0) {
            expect_opinions(reply->group_step->opinions, i);
        }
    }
    const Moreau__V1__GroupOpinions ask = opinions_call(group);
    const Moreau__V1__GroupOpinionsReply *rest = wire_accept(client, &ask)->group_opinions;
    expect_opinions(rest->opinions, JUDGED_STEPS);
    ck_assert(rest->left == 0 && rest->lost == 0);
    const Moreau__V1__StatsReply *stats = wire_stats(client, false);
    ck_assert_uint_eq(stats->opinions, (uint64_t)JUDGED_STEPS * WORLDS);
    ck_assert_uint_eq(stats->opinions_waiting, 0);
    wire_close(client);
    server_stop(server);
}
END_TEST

// Asked for piece by piece, and by one who gave up.
START_TEST(a_wait_that_is_cancelled_loses_nothing) {
    ServerProcess *server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t group = piles(client, 100, false);
    Moreau__V1__GroupOpinions ask = opinions_call(group);
    wire_group_reset(client, group);
    submit_steps(client, group, SENT_STEPS);
    const uint64_t asked = wire_submit(client, &ask);
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1, cancel.request = asked;
    wire_submit(client, &cancel);
    for (int i = 0; i < SENT_STEPS + 2; i++) { // it may have been too late
        const Moreau__V1__Reply *reply = wire_receive(client);
        ck_assert(reply->status->code == CODE(OK) ||
                  (reply->id == asked && reply->status->code == CODE(CANCELLED)));
    }
    uint64_t left = (uint64_t)SENT_STEPS * WORLDS;
    ask.has_count = 1, ask.count = 10;
    while (left > 0) {
        const Moreau__V1__GroupOpinionsReply *reply = wire_accept(client, &ask)->group_opinions;
        if (reply->opinions == NULL || reply->opinions->n_world == 0) {
            break; // the one that was cancelled had them all
        }
        left -= reply->opinions->n_world;
        ck_assert_uint_eq(reply->left, left);
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

// Neither is an opinion due behind a look, nor told by it; and what is left is so of the calls
// before, however many come behind.
START_TEST(a_look_is_no_call_that_opinions_are_due_behind) {
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    const uint64_t group = piles(client, 2, false);
    Moreau__V1__GroupRead look = MOREAU__V1__GROUP_READ__INIT;
    look.has_group = 1, look.group = group;
    wire_group_reset(client, group);
    for (uint64_t i = 0; i < JUDGED_STEPS; i++) {
        submit_steps(client, group, 1);
        const Moreau__V1__Reply *reply = wire_receive(client);
        wire_expect(reply, CODE(OK), NULL);
        ck_assert(i > 1 || reply->group_step->opinions == NULL);
        if (i > 1) {
            expect_opinions(reply->group_step->opinions, i - 1);
        }
        for (uint64_t k = 0; k < 2; k++) {
            ck_assert_ptr_null(wire_accept(client, &look)->group_step->opinions);
        }
    }
    Moreau__V1__GroupOpinions ask = opinions_call(group);
    ask.has_count = 1, ask.count = 10;
    const uint64_t asked = wire_submit(client, &ask);
    submit_steps(client, group, SENT_STEPS);
    for (int i = 0; i < SENT_STEPS + 1; i++) {
        const Moreau__V1__Reply *reply = wire_receive(client);
        wire_expect(reply, CODE(OK), NULL);
        ck_assert(reply->id != asked || reply->group_opinions->left == 2 * WORLDS - 10);
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

// A group goes, its client goes, the server goes: while opinions are under way. What is recorded is
// whole.
START_TEST(whoever_goes_leaves_nothing_behind) {
    WireDepot depot;
    wire_depot_open(&depot, "--workers 2");
    const uint64_t before = wire_stats(depot.client, false)->world_bytes;
    for (int i = 0; i < 2; i++) {
        const uint64_t group = piles(depot.client, 1024, i == 1);
        wire_group_reset(depot.client, group);
        submit_steps(depot.client, group, 6);
        Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
        destroy.has_group = 1, destroy.group = group;
        wire_submit(depot.client, &destroy);
        for (int k = 0; k < 7; k++) {
            wire_expect(wire_receive(depot.client), CODE(OK), NULL);
        }
    }
    while (wire_stats(depot.client, false)->world_bytes > before) {
        server_sleep_ms(5);
    }
    // of the second: each world has one of 5 steps, all of which were judged
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    const Moreau__V1__EpisodeListReply *episodes = wire_accept(depot.client, &list)->episode_list;
    ck_assert_uint_eq(episodes->n_episodes, WORLDS);
    for (size_t i = 0; i < episodes->n_episodes; i++) {
        ck_assert_uint_eq(episodes->episodes[i]->steps, 5);
        ck_assert_uint_eq(episodes->episodes[i]->opinions, 5);
    }
    const uint64_t group = piles(depot.client, 1024, true);
    wire_group_reset(depot.client, group);
    submit_steps(depot.client, group, 6);
    for (int k = 0; k < 6; k++) {
        wire_expect(wire_receive(depot.client), CODE(OK), NULL);
    }
    wire_depot_stop(&depot); // which waits until it has ended well
    wire_depot_restart(&depot, "--workers 2");
    episodes = wire_accept(depot.client, &list)->episode_list;
    ck_assert_uint_ge(episodes->n_episodes, WORLDS);
    for (size_t i = 0; i < episodes->n_episodes; i++) {
        ck_assert_int_ne(episodes->episodes[i]->state, MOREAU__V1__EPISODE__STATE__INTERRUPTED);
    }
    wire_depot_close(&depot);
}
END_TEST

static TCase *case_opinions(void) {
    TCase *tcase = tcase_create("opinions");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, calls_in_a_row_wait_for_each_other);
    tcase_add_test(tcase, a_wait_that_is_cancelled_loses_nothing);
    tcase_add_test(tcase, a_look_is_no_call_that_opinions_are_due_behind);
    tcase_add_test(tcase, whoever_goes_leaves_nothing_behind);
    return tcase;
}

SUITE_MAIN("system/opinions", case_opinions)
