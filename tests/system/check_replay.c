// SPDX-License-Identifier: MIT
// EpisodeRead and EpisodeReplay over real sockets: frames are the states that the live world
// showed, bit for bit, stored or stepped again; streams keep order, pace and manners.
#include "support/machine.h"
#include "support/suite.h"
#include "support/wire_episode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { STEPS = 60, BODIES = 5, POSE = 7 * BODIES, VELOCITY = 6 * BODIES };

// What the live world showed after each step.
typedef struct Seen {
    double pose[STEPS + 1][POSE], velocity[STEPS + 1][VELOCITY], time[STEPS + 1];
    Moreau__V1__WorldContactsReply *contacts[STEPS + 1]; // the client's; NULL: before any step
} Seen;

static WireDepot depot;
static WireClient *client;
static WireEpisode episode;
static Seen live;

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2 --session-grace-ms 100");
    client = depot.client;
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

// An episode of STEPS steps, of a world that has taken some before.
static void record(Moreau__V1__Episode__Content content, uint64_t stride) {
    uint64_t world = wire_world(client, BODIES - 1, 3, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    wire_step(client, world, 5);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_content = start.has_stride = start.has_keyframe_steps = 1;
    start.content = content;
    start.stride = stride;
    start.keyframe_steps = 25;
    episode = wire_record(client, &start);
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = world;
    const Moreau__V1__WorldGetReply *first = wire_accept(client, &get)->world_get;
    ck_assert_uint_eq(first->n_pose, POSE);
    memcpy(live.pose[0], first->pose, sizeof(live.pose[0]));
    memcpy(live.velocity[0], first->velocity, sizeof(live.velocity[0]));
    live.time[0] = first->time;
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    step.has_poses = step.has_velocities = 1;
    step.poses = step.velocities = 1;
    Moreau__V1__WorldContacts contacts = MOREAU__V1__WORLD_CONTACTS__INIT;
    contacts.has_world = 1;
    contacts.world = world;
    for (int i = 1; i <= STEPS; i++) {
        const Moreau__V1__WorldStepReply *reply = wire_accept(client, &step)->world_step;
        ck_assert_uint_eq(reply->n_pose, POSE);
        memcpy(live.pose[i], reply->pose, sizeof(live.pose[i]));
        memcpy(live.velocity[i], reply->velocity, sizeof(live.velocity[i]));
        live.time[i] = reply->time[0];
        live.contacts[i] = wire_accept(client, &contacts)->world_contacts;
    }
    wire_stop_recording(client, world);
}

static void record_inputs(void) {
    open_depot();
    record(MOREAU__V1__EPISODE__CONTENT__INPUTS, 1);
}

// Fails unless frame `index` of a message is what the live world showed.
static void expect_live(const Moreau__V1__EpisodeFrames *frames, size_t index) {
    uint64_t step = frames->step[index];
    ck_assert_uint_le(step, STEPS);
    ck_assert_uint_eq(frames->world_step[index], step + 5);
    ck_assert_uint_eq(frames->body_count[index], BODIES);
    ck_assert_mem_eq(&frames->time[index], &live.time[step], sizeof(double));
    ck_assert_mem_eq(frames->pose + POSE * index, live.pose[step], sizeof(live.pose[0]));
    ck_assert_mem_eq(frames->velocity + VELOCITY * index, live.velocity[step],
                     sizeof(live.velocity[0]));
}

static Moreau__V1__EpisodeRead read_call(void) {
    Moreau__V1__EpisodeRead call = MOREAU__V1__EPISODE_READ__INIT;
    call.episode = episode.id;
    return call;
}

static const Moreau__V1__EpisodeFrames *read_frames(const Moreau__V1__EpisodeRead *call) {
    const Moreau__V1__EpisodeFrames *frames = wire_accept(client, call)->episode_read->frames;
    ck_assert_uint_eq(frames->n_world_step, frames->n_step);
    ck_assert_uint_eq(frames->n_time, frames->n_step);
    ck_assert_uint_eq(frames->n_stored, frames->n_step);
    return frames;
}

// ---- read

typedef struct Recorded {
    Moreau__V1__Episode__Content content;
    uint64_t stride;
    bool again;
} Recorded;

static const Recorded recorded[] = {
    {MOREAU__V1__EPISODE__CONTENT__INPUTS, 1, false},
    {MOREAU__V1__EPISODE__CONTENT__FRAMES, 1, false},
    {MOREAU__V1__EPISODE__CONTENT__FRAMES, 7, false},
    {MOREAU__V1__EPISODE__CONTENT__FRAMES, 1, true},
    {MOREAU__V1__EPISODE__CONTENT__CONTACTS, 1, false},
    {MOREAU__V1__EPISODE__CONTENT__CONTACTS, 7, false},
};

START_TEST(frames_are_what_the_live_world_showed_bit_for_bit) {
    const Recorded *row = &recorded[_i];
    record(row->content, row->stride);
    Moreau__V1__EpisodeRead call = read_call();
    call.has_again = 1;
    call.again = row->again;
    const Moreau__V1__EpisodeFrames *frames = read_frames(&call);
    ck_assert_uint_eq(frames->n_step, STEPS + 1);
    ck_assert_uint_eq(frames->n_ids, BODIES);
    ck_assert_uint_eq(frames->n_contact_count, 0);
    for (size_t i = 0; i < frames->n_step; i++) {
        ck_assert_uint_eq(frames->step[i], i);
        expect_live(frames, i);
        bool has_stored = row->content != MOREAU__V1__EPISODE__CONTENT__INPUTS && !row->again;
        ck_assert_int_eq(frames->stored[i], has_stored && i % row->stride == 0);
    }
}
END_TEST

START_TEST(contacts_are_what_the_live_world_showed_bit_for_bit) {
    const Recorded *row = &recorded[_i];
    record(row->content, row->stride);
    Moreau__V1__EpisodeRead call = read_call();
    call.has_contacts = call.has_again = 1;
    call.contacts = 1;
    call.again = row->again;
    const Moreau__V1__EpisodeFrames *frames = read_frames(&call);
    ck_assert_uint_eq(frames->n_contact_count, STEPS + 1);
    const Moreau__V1__WorldContactsReply *all = frames->contacts;
    size_t at = 0;
    for (size_t i = 1; i <= STEPS; i++) {
        const Moreau__V1__WorldContactsReply *one = live.contacts[i];
        size_t n = frames->contact_count[i];
        ck_assert_uint_eq(n, one->n_gap);
        ck_assert(n == 0 || memcmp(all->body_a + at, one->body_a, 8 * n) == 0);
        ck_assert(n == 0 || memcmp(all->body_b + at, one->body_b, 8 * n) == 0);
        ck_assert(n == 0 || memcmp(all->feature + at, one->feature, 8 * n) == 0);
        ck_assert(n == 0 || memcmp(all->point + 3 * at, one->point, 24 * n) == 0);
        ck_assert(n == 0 || memcmp(all->frame + 9 * at, one->frame, 72 * n) == 0);
        ck_assert(n == 0 || memcmp(all->gap + at, one->gap, 8 * n) == 0);
        ck_assert(n == 0 || memcmp(all->impulse + 3 * at, one->impulse, 24 * n) == 0);
        ck_assert(n == 0 || memcmp(all->velocity + 3 * at, one->velocity, 24 * n) == 0);
        ck_assert(n == 0 || memcmp(all->friction + at, one->friction, 8 * n) == 0);
        at += n;
    }
    ck_assert_uint_gt(at, STEPS); // they do touch
    ck_assert_uint_eq(at, all->n_gap);
    ck_assert_uint_eq(all->total, at);
}
END_TEST

START_TEST(contacts_at_a_key_frame_are_there_when_it_is_read_alone) {
    // a key-frame holds a state; its contacts are those of the step that led to it
    Moreau__V1__EpisodeRead call = read_call();
    call.has_first = call.has_count = call.has_contacts = 1;
    call.contacts = 1;
    call.first = 50;
    call.count = 1;
    const Moreau__V1__EpisodeFrames *frames = read_frames(&call);
    const Moreau__V1__WorldContactsReply *one = live.contacts[50];
    expect_live(frames, 0);
    ck_assert_uint_gt(one->n_gap, 0);
    ck_assert_uint_eq(frames->contacts->n_gap, one->n_gap);
    ck_assert_mem_eq(frames->contacts->impulse, one->impulse, 24 * one->n_gap);
}
END_TEST

START_TEST(a_range_with_a_stride_has_the_frames_that_were_asked_for) {
    Moreau__V1__EpisodeRead call = read_call();
    call.has_first = call.has_count = call.has_stride = 1;
    call.first = 24; // around the key-frame at 25
    call.count = 3;
    call.stride = 13;
    const Moreau__V1__EpisodeFrames *frames = read_frames(&call);
    ck_assert_uint_eq(frames->n_step, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(frames->step[i], 24 + 13 * i);
        expect_live(frames, i);
    }
    call.count = 1000; // more than there are
    ck_assert_uint_eq(read_frames(&call)->n_step, 3);
    call.count = 0;
    ck_assert_uint_eq(read_frames(&call)->n_step, 0);
    call.first = STEPS;
    call.count = 1;
    call.stride = UINT64_MAX;
    frames = read_frames(&call);
    ck_assert_uint_eq(frames->n_step, 1);
    expect_live(frames, 0);
}
END_TEST

START_TEST(columns_that_are_not_wanted_are_not_sent) {
    Moreau__V1__EpisodeRead call = read_call();
    call.has_poses = call.has_velocities = call.has_single = 1;
    call.poses = 0;
    call.velocities = 1;
    call.single = 1;
    const Moreau__V1__EpisodeFrames *frames = read_frames(&call);
    ck_assert_uint_eq(frames->n_pose + frames->n_pose_single + frames->n_velocity, 0);
    ck_assert_uint_eq(frames->n_velocity_single, (size_t)VELOCITY * (STEPS + 1));
    for (size_t i = 0; i < VELOCITY; i++) {
        ck_assert(frames->velocity_single[(size_t)VELOCITY * STEPS + i] ==
                  (float)live.velocity[STEPS][i]);
    }
}
END_TEST

START_TEST(bodies_that_come_later_have_their_ids) {
    uint64_t world = wire_small_world(client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_content = 1;
    start.content =
        _i == 0 ? MOREAU__V1__EPISODE__CONTENT__INPUTS : MOREAU__V1__EPISODE__CONTENT__FRAMES;
    episode = wire_record(client, &start);
    wire_step(client, world, 2);
    double pose[7] = {0.0, 0.0, 5.0, 1.0, 0.0, 0.0, 0.0};
    uint64_t shape = 2;
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1;
    add.world = world;
    add.n_pose = 7;
    add.pose = pose;
    add.n_shape = 1;
    add.shape = &shape;
    wire_accept(client, &add);
    wire_step(client, world, 2);
    wire_stop_recording(client, world);
    Moreau__V1__EpisodeRead call = read_call();
    const Moreau__V1__EpisodeFrames *frames = read_frames(&call);
    const uint64_t counts[] = {4, 4, 4, 5, 5}, ids[] = {1, 2, 3, 4, 1, 2, 3, 4, 5};
    ck_assert_uint_eq(frames->n_body_count, 5);
    ck_assert_mem_eq(frames->body_count, counts, sizeof(counts));
    ck_assert_uint_eq(frames->n_ids, 9);
    ck_assert_mem_eq(frames->ids, ids, sizeof(ids));
    ck_assert_uint_eq(frames->n_ids_count, 5);
    ck_assert_mem_eq(frames->ids_count, ((uint64_t[]){4, 0, 0, 5, 0}), 5 * sizeof(uint64_t));
    ck_assert_uint_eq(frames->n_pose, (size_t)7 * (4 + 4 + 4 + 5 + 5));
}
END_TEST

START_TEST(what_does_not_fit_into_a_reply_says_how_much_does) {
    wire_depot_stop(&depot);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--frame-bytes-max 8K");
    client = depot.client;
    Moreau__V1__EpisodeRead call = read_call();
    const Moreau__V1__Reply *reply = wire_refuse(client, &call, CODE(RESOURCE_EXHAUSTED), "count");
    unsigned fits = 0;
    const char *told = strstr(reply->status->message, "which is ");
    ck_assert_ptr_nonnull(told);
    ck_assert_int_eq(sscanf(told, "which is %u", &fits), 1);
    ck_assert_uint_gt(fits, 1);
    // one less, as the reply has a head of its own
    call.has_count = 1;
    call.count = fits - 1;
    ck_assert_uint_eq(read_frames(&call)->n_step, fits - 1);
}
END_TEST

START_TEST(an_episode_of_another_dynamics_version_is_read_where_it_is_stored) {
    record(MOREAU__V1__EPISODE__CONTENT__FRAMES, 10);
    wire_depot_stop(&depot);
    wire_depot_age(&depot, 4711);
    wire_depot_restart(&depot, "--workers 1");
    client = depot.client;
    Moreau__V1__EpisodeRead call = read_call();
    call.has_stride = 1;
    call.stride = 10;
    const Moreau__V1__EpisodeFrames *frames = read_frames(&call);
    ck_assert_uint_eq(frames->n_step, STEPS / 10 + 1);
    ck_assert(frames->stored[1]);
    call.stride = 5;
    const Moreau__V1__Reply *reply = wire_refuse(client, &call, CODE(FAILED_PRECONDITION), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "4711"));
}
END_TEST

START_TEST(a_damaged_frame_is_not_shown_but_can_be_stepped) {
    record(MOREAU__V1__EPISODE__CONTENT__FRAMES, 1);
    wire_depot_stop(&depot);
    wire_depot_flip(&depot, wire_depot_chunk(&depot, 3, 0), -100, false);
    wire_depot_restart(&depot, "--workers 1");
    client = depot.client;
    Moreau__V1__EpisodeRead call = read_call();
    wire_refuse(client, &call, CODE(DATA_LOSS), NULL);
    call.has_again = call.again = 1;
    const Moreau__V1__EpisodeFrames *frames = read_frames(&call);
    ck_assert_uint_eq(frames->n_step, STEPS + 1);
    expect_live(frames, STEPS);
}
END_TEST

START_TEST(bad_reads_are_refused_by_name) {
    Moreau__V1__EpisodeRead call = read_call();
    call.episode = NULL;
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "episode");
    call.episode = (char *)"nobody";
    wire_refuse(client, &call, CODE(NOT_FOUND), "episode");
    call = read_call();
    call.has_stride = 1;
    call.stride = 0;
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "stride");
}
END_TEST

// ---- replay

typedef struct Stream {
    uint64_t frames, next, stride;
    bool compares;
    double first_ms, last_ms; // when the first and the last event came
} Stream;

static void see_frames(const Moreau__V1__Reply *event, void *context) {
    Stream *stream = context;
    ck_assert_int_eq(event->result_case, MOREAU__V1__REPLY__RESULT_EPISODE_FRAMES);
    const Moreau__V1__EpisodeFrames *frames = event->episode_frames;
    ck_assert_uint_gt(frames->n_step, 0);
    ck_assert_uint_eq(frames->n_ids, frames->body_count[0]);
    for (size_t i = 0; i < frames->n_step; i++) {
        ck_assert_uint_eq(frames->step[i], stream->next);
        if (stream->compares) {
            expect_live(frames, i);
        }
        stream->next += stream->stride;
        stream->frames++;
    }
    stream->last_ms = server_now_ms();
    stream->first_ms = stream->first_ms > 0.0 ? stream->first_ms : stream->last_ms;
}

static Moreau__V1__EpisodeReplay replay_call(double speed) {
    Moreau__V1__EpisodeReplay call = MOREAU__V1__EPISODE_REPLAY__INIT;
    call.episode = episode.id;
    call.has_speed = 1;
    call.speed = speed;
    return call;
}

static const double speeds[] = {0.0, 1e6, 20.0};

START_TEST(a_replay_shows_every_frame_in_order) {
    Moreau__V1__EpisodeReplay call = replay_call(speeds[_i]);
    Stream stream = {.stride = 1, .compares = true};
    const Moreau__V1__Reply *reply = wire_stream(client, &call, see_frames, &stream);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_uint_eq(stream.frames, STEPS + 1);
    ck_assert_uint_eq(reply->episode_replay->frames, STEPS + 1);
    ck_assert_uint_eq(reply->episode_replay->last_step, STEPS);
}
END_TEST

START_TEST(a_replay_goes_through_short_frames_of_the_protocol) {
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--frame-bytes-max 8K");
    client = depot.client;
    Moreau__V1__EpisodeReplay call = replay_call(0.0);
    Stream stream = {.stride = 1, .compares = true};
    wire_expect(wire_stream(client, &call, see_frames, &stream), CODE(OK), NULL);
    ck_assert_uint_eq(stream.frames, STEPS + 1);
}
END_TEST

START_TEST(a_replay_from_the_middle_with_a_stride) {
    Moreau__V1__EpisodeReplay call = replay_call(0.0);
    call.has_first = call.has_last = call.has_stride = 1;
    call.first = 11;
    call.last = 50;
    call.stride = 9;
    Stream stream = {.next = 11, .stride = 9, .compares = true};
    wire_expect(wire_stream(client, &call, see_frames, &stream), CODE(OK), NULL);
    ck_assert_uint_eq(stream.frames, 5); // 11 20 29 38 47
}
END_TEST

// Frame by frame what lived, from the last to the first: as stored, as stepped, of every step, and
// in strides that begin at the end.
static const struct {
    bool again, contacts;
    uint64_t first, last, stride, frames;
} backwards[] = {
    {false, false, 0, STEPS, 1, STEPS + 1},
    {true, false, 0, STEPS, 1, STEPS + 1},
    {true, true, 0, STEPS, 1, STEPS + 1},
    {true, false, 11, 50, 9, 5}, // 50 41 32 23 14
    {true, true, 7, 7, 1, 1},
};

typedef struct Backward {
    uint64_t next, stride, frames;
    bool contacts;
} Backward;

static void see_backward(const Moreau__V1__Reply *event, void *context) {
    Backward *backward = context;
    const Moreau__V1__EpisodeFrames *frames = event->episode_frames;
    size_t contacts = 0;
    for (size_t i = 0; i < frames->n_step; i++) {
        ck_assert_uint_eq(frames->step[i], backward->next);
        expect_live(frames, i);
        if (backward->contacts) {
            const Moreau__V1__WorldContactsReply *lived = live.contacts[backward->next];
            size_t count = backward->next == 0 ? 0 : lived->n_gap;
            ck_assert_uint_eq(frames->contact_count[i], count);
            ck_assert(count == 0 || memcmp(frames->contacts->impulse + 3 * contacts, lived->impulse,
                                           3 * count * sizeof(double)) == 0);
            contacts += count;
        }
        backward->frames++;
        backward->next -= backward->stride;
    }
}

START_TEST(a_replay_goes_backward) {
    Moreau__V1__EpisodeReplay call = replay_call(0.0);
    call.has_first = call.has_last = call.has_stride = call.has_backward = 1;
    call.first = backwards[_i].first;
    call.last = backwards[_i].last;
    call.stride = backwards[_i].stride;
    call.backward = 1;
    call.has_again = call.again = backwards[_i].again;
    call.has_contacts = call.contacts = backwards[_i].contacts;
    Backward backward = {.next = call.last, .stride = call.stride, .contacts = call.contacts};
    const Moreau__V1__Reply *reply = wire_stream(client, &call, see_backward, &backward);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_uint_eq(backward.frames, backwards[_i].frames);
    ck_assert_uint_eq(reply->episode_replay->last_step,
                      call.last - (backward.frames - 1) * call.stride);
}
END_TEST

START_TEST(a_replay_takes_the_time_that_the_world_took) {
    // 60 steps of 1/240 s at twice their speed: 125 ms between the first frame and the last, which
    // the first may be late by; half of it leaves room for a busy machine
    Moreau__V1__EpisodeReplay call = replay_call(2.0);
    Stream stream = {.stride = 1, .compares = true};
    Backward backward = {.next = STEPS, .stride = 1};
    call.has_backward = call.backward = _i == 1;
    double begun_ms = server_now_ms();
    wire_expect(_i == 1 ? wire_stream(client, &call, see_backward, &backward)
                        : wire_stream(client, &call, see_frames, &stream),
                CODE(OK), NULL);
    ck_assert_double_ge(server_now_ms() - begun_ms, 124.0);
    ck_assert_uint_eq(stream.frames + backward.frames, STEPS + 1);
}
END_TEST

START_TEST(a_slow_replay_can_be_cancelled_between_two_frames) {
    Moreau__V1__EpisodeReplay call = replay_call(1e-6); // the second frame is due after an hour
    uint64_t id = wire_submit(client, &call);
    Stream stream = {.stride = 1, .compares = true};
    see_frames(wire_receive(client), &stream);
    ck_assert_uint_eq(stream.frames, 1); // and it does not wait for the second
    wire_ping(client);
    while (wire_stats(client, false)->player_bytes == 0) { // counted right after the frame is sent
        server_sleep_ms(1);
    }
    const Moreau__V1__StatsReply *stats = wire_stats(client, false);
    ck_assert_uint_lt(stats->player_bytes, stats->world_bytes);
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1;
    cancel.request = id;
    wire_submit(client, &cancel);
    const Moreau__V1__Reply *reply = wire_await(client, id, see_frames, &stream);
    wire_expect(reply, CODE(CANCELLED), NULL);
    ck_assert_uint_eq(reply->episode_replay->frames, 1);
    ck_assert_uint_eq(stream.frames, 1);
    while (wire_stats(client, false)->player_bytes > 0) { // given back behind the reply
        server_sleep_ms(1);
    }
}
END_TEST

START_TEST(a_deadline_ends_a_slow_replay) {
    Moreau__V1__EpisodeReplay call = replay_call(1e-6);
    Moreau__V1__Request request = wire_request(&call);
    request.has_deadline_ms = 1;
    request.deadline_ms = 50;
    uint64_t id = wire_submit_request(client, &request);
    Stream stream = {.stride = 1};
    wire_expect(wire_await(client, id, see_frames, &stream), CODE(DEADLINE_EXCEEDED),
                "deadline_ms");
}
END_TEST

START_TEST(a_server_that_is_told_to_end_ends_replays) {
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--drain-timeout-ms 600000"); // longer than PATIENCE_MS
    WireClient *other = wire_open(depot.server->address[0]);
    Moreau__V1__EpisodeReplay call = replay_call(1e-6);
    uint64_t id = wire_submit(other, &call);
    ck_assert(wire_receive(other)->event);
    wire_depot_stop(&depot);
    wire_expect(wire_await(other, id, NULL, NULL), CODE(CANCELLED), NULL);
    wire_close(other);
}
END_TEST

START_TEST(a_client_that_vanishes_leaves_nothing_behind) {
    WireClient *ghost = wire_open(depot.server->address[0]);
    Moreau__V1__EpisodeReplay call = replay_call(1e-6);
    wire_submit(ghost, &call);
    ck_assert(wire_receive(ghost)->event);
    call = replay_call(0.0);
    wire_submit(ghost, &call);
    wire_close(ghost);
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    while (wire_stats(client, false)->connections > 1) {
        ck_assert_msg(server_now_ms() < give_up_ms, "the connection stays");
        server_sleep_ms(5);
    }
    wire_depot_stop(&depot); // would wait for a request that does not end
}
END_TEST

// 31 MB of frames, far more than sockets hold, of which nothing is read until no more is sent.
enum { LONG_STEPS = 500 };

static uint64_t replay_to_nobody(WireClient *slow) {
    enum { STATS_BYTES = 1000 }; // the answer to the question counts, too
    uint64_t world = wire_wide_world(client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_content = 1;
    start.content = MOREAU__V1__EPISODE__CONTENT__FRAMES;
    episode = wire_record(client, &start);
    wire_step(client, world, LONG_STEPS);
    wire_stop_recording(client, world);
    uint64_t before = wire_stats(client, false)->bytes_out;
    Moreau__V1__EpisodeReplay call = replay_call(0.0);
    uint64_t id = wire_submit(slow, &call);
    uint64_t sent = 0, last;
    do {
        last = sent;
        server_sleep_ms(100);
        sent = wire_stats(client, false)->bytes_out - before;
    } while (sent < STATS_BYTES || sent - last > STATS_BYTES);
    ck_assert_uint_lt(sent, (uint64_t)LONG_STEPS * WIRE_WIDE_FRAME_BYTES / 2);
    return id;
}

START_TEST(a_client_that_reads_late_gets_every_frame) {
    WireClient *slow = wire_open(depot.server->address[0]);
    uint64_t id = replay_to_nobody(slow);
    Stream stream = {.stride = 1};
    wire_expect(wire_await(slow, id, see_frames, &stream), CODE(OK), NULL);
    ck_assert_uint_eq(stream.frames, LONG_STEPS + 1);
    wire_close(slow);
}
END_TEST

START_TEST(what_a_client_does_not_take_is_not_piled_up_for_it) {
    WireClient *slow = wire_open(depot.server->address[0]);
    uint64_t id = replay_to_nobody(slow);
    // what has not been read from the file yet is gone with the episode
    Moreau__V1__EpisodeDelete gone = MOREAU__V1__EPISODE_DELETE__INIT;
    gone.episode = episode.id;
    wire_accept(client, &gone);
    Stream stream = {.stride = 1};
    const Moreau__V1__Reply *reply = wire_await(slow, id, see_frames, &stream);
    ck_assert_int_ne(reply->status->code, CODE(OK));
    ck_assert_uint_gt(strlen(reply->status->message), 10);
    ck_assert_uint_eq(reply->episode_replay->frames, stream.frames);
    ck_assert_uint_lt(stream.frames, LONG_STEPS);
    wire_close(slow);
}
END_TEST

START_TEST(an_episode_deleted_during_its_replay_ends_it_with_a_sentence) {
    Moreau__V1__EpisodeReplay call = replay_call(0.25); // a second long
    uint64_t id = wire_submit(client, &call);
    ck_assert(wire_receive(client)->event);
    WireClient *other = wire_open(depot.server->address[0]);
    Moreau__V1__EpisodeDelete gone = MOREAU__V1__EPISODE_DELETE__INIT;
    gone.episode = episode.id;
    wire_accept(other, &gone);
    wire_close(other);
    // what the player holds already may be shown to the end
    const Moreau__V1__Reply *reply = wire_await(client, id, NULL, NULL);
    ck_assert(reply->status->code == CODE(OK) || reply->status->code == CODE(NOT_FOUND) ||
              reply->status->code == CODE(DATA_LOSS));
    wire_ping(client);
}
END_TEST

START_TEST(two_replays_run_beside_each_other_and_beside_steps) {
    Moreau__V1__EpisodeReplay call = replay_call(1.0);
    uint64_t id = wire_submit(client, &call);
    WireClient *other = wire_open(depot.server->address[0]);
    Stream mine = {.stride = 1, .compares = true}, others = {.stride = 1, .compares = true};
    wire_expect(wire_stream(other, &call, see_frames, &others), CODE(OK), NULL);
    uint64_t world = wire_small_world(other);
    wire_step(other, world, 100);
    wire_expect(wire_await(client, id, see_frames, &mine), CODE(OK), NULL);
    ck_assert_uint_eq(mine.frames, others.frames);
    wire_close(other);
}
END_TEST

START_TEST(bad_replays_are_refused_by_name) {
    const double bad[] = {-1.0, 1.1e6, -0.001};
    for (size_t i = 0; i < 3; i++) {
        Moreau__V1__EpisodeReplay call = replay_call(bad[i]);
        wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "speed");
    }
    Moreau__V1__EpisodeReplay call = replay_call(0.0);
    call.has_stride = 1;
    call.stride = 0;
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "stride");
    call = replay_call(0.0);
    call.has_first = call.has_last = 1;
    call.first = 5;
    call.last = 4;
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "last");
    call.last = STEPS + 1;
    wire_refuse(client, &call, CODE(OUT_OF_RANGE), "last");
    call = replay_call(0.0);
    call.has_first = 1;
    call.first = STEPS + 1;
    wire_refuse(client, &call, CODE(OUT_OF_RANGE), "first");
    call.episode = (char *)"nobody";
    wire_refuse(client, &call, CODE(NOT_FOUND), "episode");
}
END_TEST

static TCase *case_recorded(void) {
    TCase *tcase = tcase_create("recorded");
    int count = (int)(sizeof(recorded) / sizeof(recorded[0]));
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_loop_test(tcase, frames_are_what_the_live_world_showed_bit_for_bit, 0, count);
    tcase_add_loop_test(tcase, contacts_are_what_the_live_world_showed_bit_for_bit, 0, count);
    tcase_add_loop_test(tcase, bodies_that_come_later_have_their_ids, 0, 2);
    tcase_add_test(tcase, an_episode_of_another_dynamics_version_is_read_where_it_is_stored);
    tcase_add_test(tcase, a_damaged_frame_is_not_shown_but_can_be_stepped);
    tcase_add_test(tcase, a_client_that_reads_late_gets_every_frame);
    tcase_add_test(tcase, what_a_client_does_not_take_is_not_piled_up_for_it);
    return tcase;
}

static TCase *case_read(void) {
    TCase *tcase = tcase_create("read");
    tcase_add_checked_fixture(tcase, record_inputs, close_depot);
    tcase_add_test(tcase, contacts_at_a_key_frame_are_there_when_it_is_read_alone);
    tcase_add_test(tcase, a_range_with_a_stride_has_the_frames_that_were_asked_for);
    tcase_add_test(tcase, columns_that_are_not_wanted_are_not_sent);
    tcase_add_test(tcase, what_does_not_fit_into_a_reply_says_how_much_does);
    tcase_add_test(tcase, bad_reads_are_refused_by_name);
    return tcase;
}

static TCase *case_replay(void) {
    TCase *tcase = tcase_create("replay");
    tcase_add_checked_fixture(tcase, record_inputs, close_depot);
    tcase_add_loop_test(tcase, a_replay_shows_every_frame_in_order, 0, 3);
    tcase_add_test(tcase, a_replay_goes_through_short_frames_of_the_protocol);
    tcase_add_test(tcase, a_replay_from_the_middle_with_a_stride);
    tcase_add_loop_test(tcase, a_replay_goes_backward, 0,
                        (int)(sizeof(backwards) / sizeof(backwards[0])));
    tcase_add_loop_test(tcase, a_replay_takes_the_time_that_the_world_took, 0, 2);
    tcase_add_test(tcase, a_slow_replay_can_be_cancelled_between_two_frames);
    tcase_add_test(tcase, a_deadline_ends_a_slow_replay);
    tcase_add_test(tcase, a_server_that_is_told_to_end_ends_replays);
    tcase_add_test(tcase, a_client_that_vanishes_leaves_nothing_behind);
    tcase_add_test(tcase, an_episode_deleted_during_its_replay_ends_it_with_a_sentence);
    tcase_add_test(tcase, two_replays_run_beside_each_other_and_beside_steps);
    tcase_add_test(tcase, bad_replays_are_refused_by_name);
    return tcase;
}

SUITE_MAIN("system/replay", case_recorded, case_read, case_replay)
