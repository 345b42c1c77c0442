// SPDX-License-Identifier: MIT
// Subscribe to a world of a group over real sockets: what is seen is what the learner was told, to
// the bit; the learner's arrays are those of a group that nobody watches; and whoever watches has a
// last word, whatever ends the group, also in the middle of a call.
#include "support/campaign.h"
#include "support/server_figures.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_group.h"
#include "support/wire_live.h"
#include "support/wire_world.h"

#include <stdio.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { WORLDS = 40, SEEN = WIRE_GROUP_SEEN };

static ServerProcess *server;
static WireClient *client, *viewer;

static void open_server(const char *options) {
    server = server_start(options);
    client = wire_open(server->address[0]);
    viewer = wire_open(server->address[0]);
}

static void close_server(void) {
    wire_close(viewer);
    wire_close(client);
    server_stop(server);
}

static Moreau__V1__Subscribe watch_call(uint64_t group, uint64_t index) {
    Moreau__V1__Subscribe call = MOREAU__V1__SUBSCRIBE__INIT;
    call.has_group = call.has_index = call.has_frames_per_second = 1;
    call.group = group;
    call.index = index;
    call.frames_per_second = 0.0;
    return call;
}

static float action_of(uint64_t world, uint64_t step) {
    const uint64_t mixed = (world * 2654435761u + step * 40503u) >> 3;
    return (float)(mixed % 2001) / 1000.0f - 1.0f;
}

static const Moreau__V1__GroupStepReply *step_group(uint64_t group, uint64_t step) {
    float action[WORLDS];
    for (uint64_t i = 0; i < WORLDS; i++) {
        action[i] = action_of(i, step);
    }
    return wire_group_step(client, group, action, WORLDS);
}

// The cart's place stands in the observation, as a float.
static void expect_cart(const Moreau__V1__LiveFrame *frame, float place) {
    ck_assert_uint_eq(frame->frames->n_pose, 14); // of cart and pole
    ck_assert_float_eq((float)frame->frames->pose[0], place);
}

static uint64_t make_group(Moreau__V1__Group__Autoreset autoreset) {
    Moreau__V1__GroupCreate *call = wire_group_create_call(WORLDS);
    call->has_autoreset = 1, call->autoreset = autoreset;
    return wire_accept(client, call)->group_create->group;
}

// ---- what is seen

// Through many episodes, in each mode, one frame for each call: the state that the learner is told
// of, its episode and the step in it, as counted from what the replies say has ended.
START_TEST(a_frame_is_what_the_learner_was_told_to_the_bit) {
    enum { STEPS = 150, WATCHED = 17 };
    const Moreau__V1__Group__Autoreset mode = (Moreau__V1__Group__Autoreset)_i;
    open_server("--workers 2");
    const uint64_t group = make_group(mode);
    Moreau__V1__Subscribe call = watch_call(group, WATCHED);
    call.has_joints = call.joints = 1;
    wire_submit(viewer, &call);
    const Moreau__V1__LiveFrame *frame = wire_live_next(viewer);
    ck_assert(!frame->has_episode);
    ck_assert_uint_eq(frame->scene->n_bodies, 2);
    ck_assert_uint_eq(frame->frames->n_ids, 2);
    const Moreau__V1__GroupStepReply *reply = wire_group_reset(client, group);
    uint64_t episode = 0, length = 0;
    bool is_over = false;
    for (uint64_t step = 0; step <= STEPS; step++) {
        const float *row = reply->observation + (size_t)SEEN * WATCHED;
        frame = wire_live_next(viewer);
        expect_cart(frame, row[0]);
        ck_assert_float_eq((float)frame->frames->joint_position[0], row[0]);
        ck_assert_float_eq((float)frame->frames->joint_velocity[1], row[3]);
        ck_assert_uint_eq(frame->episode, episode);
        ck_assert_uint_eq(frame->episode_step, length);
        ck_assert_int_eq(frame->episode_over, is_over);
        ck_assert_uint_eq(frame->skipped, 0);
        ck_assert_ptr_null(frame->scene);
        // a report belongs to a step; behind a reset there is none
        ck_assert_int_eq(frame->reports != NULL, length > 0);
        if (is_over && mode == MOREAU__V1__GROUP__AUTORESET__DISABLED) {
            reply = wire_group_reset(client, group);
            episode++, length = 0, is_over = false;
            continue;
        }
        reply = step_group(group, step);
        length = is_over ? 0 : length + 1;
        episode += is_over;
        is_over = false;
        for (size_t i = 0; i < reply->n_final_world; i++) {
            if (reply->final_world[i] == WATCHED) {
                ck_assert_uint_eq(reply->final_episode[i], episode);
                ck_assert_uint_eq(reply->final_length[i], length);
                is_over = mode != MOREAU__V1__GROUP__AUTORESET__SAME_STEP;
                episode += !is_over;
                length = is_over ? length : 0;
            }
        }
    }
    ck_assert_uint_gt(episode, 2);
    close_server();
}
END_TEST

START_TEST(so_many_steps_of_the_group_lie_between_two_frames) {
    open_server("--workers 2");
    const uint64_t group = make_group(MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    Moreau__V1__Subscribe call = watch_call(group, WORLDS - 1);
    call.has_every = 1, call.every = 10;
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    wire_group_reset(client, group); // is seen at once, as every change that is no step
    ck_assert_uint_eq(wire_live_next(viewer)->episode_step, 0);
    for (uint64_t step = 1; step <= 10; step++) {
        step_group(group, step);
    }
    ck_assert_uint_eq(wire_live_next(viewer)->episode_step, 10);
    // steps of other worlds are none of it
    uint8_t mask[WORLDS / 8] = {0xff, 0xff, 0xff, 0xff, 0x7f};
    float action[WORLDS] = {0};
    Moreau__V1__GroupStep others = wire_group_step_call(group, action, WORLDS - 1);
    others.has_mask = 1, others.mask = (ProtobufCBinaryData){sizeof(mask), mask};
    for (int i = 0; i < 10; i++) {
        wire_accept(client, &others);
    }
    for (uint64_t step = 1; step <= 9; step++) {
        step_group(group, step);
    }
    ck_assert(!wire_waits(viewer, 50));
    step_group(group, 10);
    wire_live_next(viewer);
    close_server();
}
END_TEST

// Why a row failed is told, also where the world stands as it stood.
START_TEST(a_row_that_failed_says_why) {
    open_server("--workers 2");
    const uint64_t group = make_group(MOREAU__V1__GROUP__AUTORESET__DISABLED);
    Moreau__V1__Subscribe call = watch_call(group, 3);
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    step_group(group, 0);
    const Moreau__V1__LiveFrame *frame = wire_live_next(viewer);
    ck_assert_ptr_nonnull(frame->failure);
    ck_assert_int_eq(frame->failure->code, CODE(FAILED_PRECONDITION)); // no episode goes on
    ck_assert_uint_eq(frame->failure->world, 3);
    ck_assert(!frame->has_episode);
    wire_group_reset(client, group);
    ck_assert_ptr_null(wire_live_next(viewer)->failure);
    float action[WORLDS] = {0};
    action[3] = 0.0f / 0.0f;
    wire_group_step(client, group, action, WORLDS);
    frame = wire_live_next(viewer);
    ck_assert_int_eq(frame->failure->code, CODE(INVALID_ARGUMENT));
    ck_assert_str_eq(frame->failure->field, "action[0]");
    ck_assert_uint_eq(frame->episode_step, 0);
    ck_assert(!frame->faulted);
    action[3] = 0.0f;
    wire_group_step(client, group, action, WORLDS);
    frame = wire_live_next(viewer);
    ck_assert_ptr_null(frame->failure);
    ck_assert_uint_eq(frame->episode_step, 1);
    close_server();
}
END_TEST

// Bodies that leave the bounds end an episode, and are there again in the next one.
START_TEST(what_a_world_lost_comes_back_with_its_next_episode) {
    open_server("--workers 2");
    Moreau__V1__GroupCreate *make = wire_group_create_call(WORLDS);
    double low[3] = {-100.0, -100.0, -100.0}, high[3] = {2.3, 100.0, 100.0};
    Moreau__V1__Bounds bounds = MOREAU__V1__BOUNDS__INIT;
    bounds.n_lower = bounds.n_upper = 3;
    bounds.lower = low, bounds.upper = high;
    make->scene->settings->bounds = &bounds;
    make->n_bounds = 0;
    const uint64_t group = wire_accept(client, make)->group_create->group;
    Moreau__V1__Subscribe call = watch_call(group, 0);
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    wire_group_reset(client, group);
    ck_assert_uint_eq(wire_live_next(viewer)->frames->n_ids, 0); // as in the frame before
    float action[WORLDS];
    for (int i = 0; i < WORLDS; i++) {
        action[i] = 1.0f; // to the right, and out
    }
    const Moreau__V1__LiveFrame *frame;
    do {
        wire_group_step(client, group, action, WORLDS);
        frame = wire_live_next(viewer);
    } while (!frame->episode_over);
    ck_assert_uint_lt(frame->frames->body_count[0], 2);
    ck_assert_uint_eq(frame->frames->n_ids, frame->frames->body_count[0]);
    wire_group_step(client, group, action, WORLDS);
    frame = wire_live_next(viewer);
    ck_assert_uint_eq(frame->episode, 1);
    ck_assert_uint_eq(frame->frames->body_count[0], 2);
    ck_assert_uint_eq(frame->frames->n_ids, 2);
    ck_assert_ptr_nonnull(frame->scene);
    ck_assert_uint_eq(frame->scene->n_bodies, 2);
    close_server();
}
END_TEST

// Whatever the number of lanes, and with three who watch, one of whom never reads.
START_TEST(arrays_are_the_same_with_and_without_watchers) {
    enum { STEPS = 120, WATCHED = 3 };
    static float seen[2][STEPS][WORLDS * SEEN];
    static const char *const options[] = {"--workers 1", "--workers 2", "--workers 4"};
    open_server(options[_i]);
    for (int with = 0; with < 2; with++) {
        WireClient *other[WATCHED];
        const uint64_t group = make_group(MOREAU__V1__GROUP__AUTORESET__SAME_STEP);
        for (uint64_t i = 0; with && i < WATCHED; i++) {
            Moreau__V1__Subscribe call = watch_call(group, 7 * i);
            call.has_contacts = call.contacts = call.has_joints = call.joints = 1;
            other[i] = wire_open(server->address[0]);
            wire_submit(other[i], &call);
            wire_live_next(other[i]);
        }
        wire_group_reset(client, group);
        for (uint64_t step = 0; step < STEPS; step++) {
            const Moreau__V1__GroupStepReply *reply = step_group(group, step);
            memcpy(seen[with][step], reply->observation, sizeof(seen[with][step]));
            for (int i = 0; with && i < WATCHED - 1; i++) {
                wire_live_next(other[i]);
            }
        }
        for (int i = 0; with && i < WATCHED; i++) {
            wire_close(other[i]);
        }
    }
    ck_assert_mem_eq(seen[0], seen[1], sizeof(seen[0]));
    close_server();
}
END_TEST

// ---- how it ends

static void destroy_group(uint64_t group) {
    Moreau__V1__GroupDestroy call = MOREAU__V1__GROUP_DESTROY__INIT;
    call.has_group = 1, call.group = group;
    wire_accept(client, &call);
}

static void expect_last_word(WireClient *of, uint64_t group, const char *why) {
    char text[128];
    snprintf(text, sizeof(text), "Group %llu is gone: %s.", (unsigned long long)group, why);
    ck_assert_str_eq(wire_live_end(of, CODE(NOT_FOUND), "group")->status->message, text);
}

START_TEST(whoever_watches_is_told_why_the_group_went) {
    open_server("--workers 2 --session-grace-ms 50");
    uint64_t group = make_group(MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    Moreau__V1__Subscribe call = watch_call(group, 0), second = watch_call(group, 1);
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    destroy_group(group);
    expect_last_word(viewer, group, "it was destroyed");
    wire_refuse(viewer, &call, CODE(NOT_FOUND), "group");

    Moreau__V1__GroupCreate *make = wire_group_create_call(WORLDS);
    make->has_idle_timeout_s = 1, make->idle_timeout_s = 1.0;
    make->has_lifetime = 1, make->lifetime = MOREAU__V1__WORLD__LIFETIME__SERVER;
    group = wire_accept(client, make)->group_create->group;
    call.group = group;
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    expect_last_word(viewer, group, "no call came for as long as its idle_timeout_s says");

    group = make_group(MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    call.group = second.group = group;
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    wire_submit(viewer, &second);
    wire_live_next(viewer);
    wire_close(client);
    expect_last_word(viewer, group, "the session of its client is over");
    expect_last_word(viewer, group, "the session of its client is over");
    client = wire_open(server->address[0]);
    close_server();
}
END_TEST

// The calls under way go on meanwhile, and are carried out to their end.
START_TEST(a_group_may_go_in_the_middle_of_a_watched_step) {
    open_server("--workers 2");
    Moreau__V1__GroupCreate *make = wire_group_create_call(WORLDS);
    make->has_substeps = 1, make->substeps = 3000;
    make->n_bounds = 0;
    const uint64_t group = wire_accept(client, make)->group_create->group;
    wire_group_reset(client, group);
    Moreau__V1__Subscribe call = watch_call(group, 5);
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    float action[WORLDS] = {0};
    const Moreau__V1__GroupStep step = wire_group_step_call(group, action, WORLDS);
    Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
    destroy.has_group = 1, destroy.group = group;
    wire_submit(client, &step);
    wire_submit(client, &destroy);
    expect_last_word(viewer, group, "it was destroyed");
    for (int i = 0; i < 2; i++) {
        wire_expect(wire_receive(client), CODE(OK), NULL);
    }
    close_server();
}
END_TEST

START_TEST(what_is_wrong_with_it_is_told) {
    open_server("--workers 1");
    const uint64_t group = make_group(MOREAU__V1__GROUP__AUTORESET__NEXT_STEP);
    Moreau__V1__Subscribe call = watch_call(group, WORLDS);
    wire_refuse(viewer, &call, CODE(INVALID_ARGUMENT), "index");
    call.index = UINT64_MAX;
    wire_refuse(viewer, &call, CODE(INVALID_ARGUMENT), "index");
    call.index = 0;
    call.group = group + 1;
    wire_refuse(viewer, &call, CODE(NOT_FOUND), "group");
    call.group = group;
    call.has_every = 1, call.every = 0;
    wire_refuse(viewer, &call, CODE(INVALID_ARGUMENT), "every");
    call.every = 1;
    const WireWorld world = wire_world(client, 1, 1, MOREAU__V1__WORLD__LIFETIME__SESSION);
    call.has_world = 1, call.world = world.id;
    wire_refuse(viewer, &call, CODE(INVALID_ARGUMENT), "group");
    call.has_group = 0;
    wire_refuse(viewer, &call, CODE(INVALID_ARGUMENT), "index");
    call.has_index = 0;
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    close_server();
}
END_TEST

// ---- many, and at the same time

// A group of one wide world, whose frames would fill any socket.
static uint64_t wide_group(uint32_t bodies) {
    const WireWorld template = wire_world(client, bodies, 1, MOREAU__V1__WORLD__LIFETIME__SESSION);
    Moreau__V1__GroupChannel push = MOREAU__V1__GROUP_CHANNEL__INIT,
                             seen = MOREAU__V1__GROUP_CHANNEL__INIT, *pushes = &push, *sees = &seen;
    push.has_kind = seen.has_kind = 1;
    push.kind = MOREAU__V1__GROUP_CHANNEL__KIND__BODY_FORCE;
    seen.kind = MOREAU__V1__GROUP_CHANNEL__KIND__BODY_POSITION;
    push.body = seen.body = "#2";
    Moreau__V1__GroupCreate make = MOREAU__V1__GROUP_CREATE__INIT;
    make.has_world = make.has_count = 1;
    make.world = template.id, make.count = 1;
    make.n_action = make.n_observation = 1;
    make.action = &pushes, make.observation = &sees;
    return wire_accept(client, &make)->group_create->group;
}

// Who does not read gets the latest when he does, and keeps no memory until then.
START_TEST(who_never_reads_holds_up_nobody) {
    enum { SILENT = 20, WIDE = 2000, STEPS = 150 };
    open_server("--workers 2");
    const uint64_t group = wide_group(WIDE);
    WireClient *silent[SILENT];
    Moreau__V1__Subscribe call = watch_call(group, 0);
    call.has_velocities = call.velocities = 1;
    call.has_scene = 1, call.scene = 0;
    for (int i = 0; i < SILENT; i++) {
        silent[i] = wire_open(server->address[0]);
        wire_submit(silent[i], &call);
    }
    wire_submit(viewer, &call);
    wire_live_next(viewer);
    wire_group_reset(client, group);
    wire_live_next(viewer);
    float action[3] = {0};
    for (int i = 0; i < STEPS; i++) {
        wire_group_step(client, group, action, 3);
        wire_live_next(viewer); // so every step makes a frame
    }
    // a frame is 13 doubles of each body: a queue without a bound would hold so many of them
    const uint64_t queued = (uint64_t)SILENT * STEPS * 104 * WIDE;
    ck_assert_uint_lt(server_peak_bytes(server->pid), queued / 4);
    uint64_t frames = 1;
    while (wire_live_next(silent[0])->episode_step < STEPS) {
        frames++;
    }
    ck_assert_uint_lt(frames, STEPS / 2);
    for (int i = 0; i < SILENT; i++) {
        wire_close(silent[i]);
    }
    close_server();
}
END_TEST

// Subscriptions come and go by the hundred while the group steps, on whichever world; nothing of
// them stays.
START_TEST(many_come_and_go_while_it_steps) {
    const int rounds = campaign_count(150);
    open_server("--workers 4");
    const uint64_t group = make_group(MOREAU__V1__GROUP__AUTORESET__SAME_STEP);
    wire_group_reset(client, group);
    float action[WORLDS] = {0};
    const Moreau__V1__GroupStep step = wire_group_step_call(group, action, WORLDS);
    int cancelled = 0;
    for (int i = 0; i < rounds; i++) {
        Moreau__V1__Subscribe call = watch_call(group, (uint64_t)i * 7 % WORLDS);
        Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
        wire_submit(client, &step);
        cancel.has_request = 1;
        cancel.request = wire_submit(viewer, &call);
        wire_submit(viewer, &call);
        wire_submit(viewer, &cancel);
        cancel.request++;
        wire_submit(viewer, &cancel);
        for (int replies = 0; replies < 4;) {
            const Moreau__V1__Reply *reply = wire_receive(viewer);
            cancelled += !reply->event && reply->status->code == CODE(CANCELLED);
            replies += !reply->event;
        }
        wire_expect(wire_receive(client), CODE(OK), NULL);
    }
    ck_assert_int_eq(cancelled / 2, rounds); // each of the two
    destroy_group(group);
    const double give_up_ms = server_now_ms() + 60000.0;
    while (wire_stats(client, false)->world_bytes > 0) {
        ck_assert_double_lt(server_now_ms(), give_up_ms);
        server_sleep_ms(2);
    }
    close_server();
}
END_TEST

// Steps, looks, subscriptions and the end of the group meet at every moment.
START_TEST(groups_end_under_those_who_watch) {
    enum { VIEWERS = 3 };
    const int rounds = campaign_count(60);
    open_server("--workers 4");
    WireClient *other[VIEWERS];
    for (int i = 0; i < VIEWERS; i++) {
        other[i] = wire_open(server->address[0]);
    }
    float action[WORLDS] = {0};
    for (int round = 0; round < rounds; round++) {
        const uint64_t group = make_group(MOREAU__V1__GROUP__AUTORESET__SAME_STEP);
        wire_group_reset(client, group);
        Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
        destroy.has_group = 1, destroy.group = group;
        for (uint64_t i = 0; i < VIEWERS; i++) {
            const Moreau__V1__Subscribe call = watch_call(group, i * (uint64_t)(round % 2));
            wire_submit(other[i], &call);
            if (round % 3 == 0) {
                wire_live_next(other[i]);
            }
        }
        const Moreau__V1__GroupStep step = wire_group_step_call(group, action, WORLDS);
        const int steps = round % 7;
        for (int i = 0; i < steps; i++) {
            wire_submit(client, &step);
        }
        wire_submit(client, &destroy);
        for (int i = 0; i <= steps; i++) {
            wire_expect(wire_receive(client), CODE(OK), NULL);
        }
        for (int i = 0; i < VIEWERS; i++) {
            wire_live_end(other[i], CODE(NOT_FOUND), "group");
        }
    }
    for (int i = 0; i < VIEWERS; i++) {
        wire_close(other[i]);
    }
    close_server();
}
END_TEST

static TCase *case_seen(void) {
    TCase *tcase = tcase_create("what is seen");
    tcase_add_loop_test(tcase, a_frame_is_what_the_learner_was_told_to_the_bit, 0, 3);
    tcase_add_test(tcase, so_many_steps_of_the_group_lie_between_two_frames);
    tcase_add_test(tcase, a_row_that_failed_says_why);
    tcase_add_test(tcase, what_a_world_lost_comes_back_with_its_next_episode);
    tcase_add_loop_test(tcase, arrays_are_the_same_with_and_without_watchers, 0, 3);
    return tcase;
}

static TCase *case_end(void) {
    TCase *tcase = tcase_create("how it ends");
    tcase_add_test(tcase, whoever_watches_is_told_why_the_group_went);
    tcase_add_test(tcase, a_group_may_go_in_the_middle_of_a_watched_step);
    tcase_add_test(tcase, what_is_wrong_with_it_is_told);
    return tcase;
}

static TCase *case_many(void) {
    TCase *tcase = tcase_create("many at the same time");
    tcase_add_test(tcase, who_never_reads_holds_up_nobody);
    tcase_add_test(tcase, many_come_and_go_while_it_steps);
    tcase_add_test(tcase, groups_end_under_those_who_watch);
    return tcase;
}

SUITE_MAIN("system/live groups", case_seen, case_end, case_many)
