// SPDX-License-Identifier: MIT
// The C client library on calls that are answered by events, on frames, episodes and snapshots,
// against a scripted peer.
#include "clients/fake_peer.h"
#include "support/suite.h"

#include "moreau.h"

#include <string.h>

enum { REPLY_TIMEOUT_MS = 150, SNAPSHOT_BYTES = 9 << 20 };

static MoreauClient *connect_to(const FakePeer *peer) {
    MoreauClient *client;
    MoreauError error;
    MoreauStatus status = moreau_connect(peer->address, NULL, &client, &error);
    ck_assert_msg(status == MOREAU_OK, "%s", error.message);
    return client;
}

// ---- scripts

static void send_progress(FakePeer *peer, uint64_t id, uint64_t done) {
    Moreau__V1__EpisodeProgress progress = MOREAU__V1__EPISODE_PROGRESS__INIT;
    progress.has_steps_done = progress.has_steps_total = 1;
    progress.steps_done = done;
    progress.steps_total = 100;
    Moreau__V1__Reply event = MOREAU__V1__REPLY__INIT;
    event.has_event = event.event = 1;
    event.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_PROGRESS;
    event.episode_progress = &progress;
    fake_send(peer, &event, id);
}

static void send_verified(FakePeer *peer, uint64_t id) {
    Moreau__V1__EpisodeDifference difference = MOREAU__V1__EPISODE_DIFFERENCE__INIT;
    difference.has_step = 1;
    difference.step = 12;
    difference.quantity = (char *)"position.x";
    Moreau__V1__EpisodeDifference *differences[] = {&difference};
    Moreau__V1__EpisodeVerifyReply result = MOREAU__V1__EPISODE_VERIFY_REPLY__INIT;
    result.has_verified = result.has_steps = 1;
    result.steps = 100;
    result.n_differences = 1;
    result.differences = differences;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_VERIFY;
    reply.episode_verify = &result;
    fake_send(peer, &reply, id);
}

// Two streams at once, and pings between their events.
static void mix_streams(FakePeer *peer) {
    fake_welcome(peer, 1);
    Moreau__V1__Request *request[3];
    for (size_t i = 0; i < 3; i++) {
        request[i] = fake_receive(peer);
    }
    send_progress(peer, request[0]->id, 1);
    send_progress(peer, request[1]->id, 2);
    send_progress(peer, request[0]->id, 3);
    fake_send_pong(peer, request[2]->id, request[2]->ping->payload);
    send_verified(peer, request[0]->id);
    send_progress(peer, request[1]->id, 4);
    send_verified(peer, request[1]->id);
    for (size_t i = 0; i < 3; i++) {
        moreau__v1__request__free_unpacked(request[i], NULL);
    }
    moreau__v1__request__free_unpacked(fake_receive(peer), NULL);
}

// Three events, and the end at once; or, with a context, only when a Cancel has come.
static void stream_progress(FakePeer *peer) {
    bool *is_cancelled = peer->context;
    fake_welcome(peer, 1);
    Moreau__V1__Request *request = fake_receive(peer);
    for (uint64_t done = 1; done <= 3; done++) {
        send_progress(peer, request->id, 10 * done);
    }
    if (is_cancelled != NULL) {
        Moreau__V1__Request *cancel = fake_receive(peer);
        *is_cancelled = cancel != NULL && cancel->call_case == MOREAU__V1__REQUEST__CALL_CANCEL &&
                        cancel->cancel->request == request->id;
        if (cancel != NULL) {
            moreau__v1__request__free_unpacked(cancel, NULL);
        }
        fake_send_status(peer, request->id, MOREAU__V1__STATUS__CODE__CANCELLED, NULL, "as asked");
    } else {
        send_verified(peer, request->id);
    }
    moreau__v1__request__free_unpacked(request, NULL);
    while ((request = fake_receive(peer)) != NULL) {
        if (request->call_case == MOREAU__V1__REQUEST__CALL_PING) {
            fake_send_pong(peer, request->id, request->ping->payload);
        }
        moreau__v1__request__free_unpacked(request, NULL);
    }
}

// ---- events

static void submit_verify(MoreauClient *client, uint64_t *id) {
    Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_VERIFY;
    request.episode_verify = &verify;
    uint8_t bytes[64];
    size_t count = moreau__v1__request__pack(&request, bytes);
    ck_assert_int_eq(moreau_submit(client, bytes, count, id), MOREAU_OK);
}

START_TEST(events_go_to_the_request_they_answer) {
    FakePeer peer;
    fake_start(&peer, mix_streams, NULL);
    MoreauClient *client = connect_to(&peer);
    uint64_t id[2];
    submit_verify(client, &id[0]);
    submit_verify(client, &id[1]);
    // the blocking call finds its answer behind events of others, which stay in order
    uint64_t echo = 0;
    ck_assert_int_eq(moreau_ping(client, 77, &echo), MOREAU_OK);
    ck_assert_uint_eq(echo, 77);
    static const struct {
        size_t request;
        bool is_event;
        size_t in_flight; // afterwards
    } expected[] = {{0, true, 2},  {1, true, 2}, {0, true, 2},
                    {0, false, 1}, {1, true, 1}, {1, false, 0}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        MoreauReply *reply;
        ck_assert_int_eq(moreau_receive(client, 5000, &reply), MOREAU_OK);
        ck_assert_uint_eq(moreau_reply_id(reply), id[expected[i].request]);
        ck_assert_int_eq(moreau_reply_is_event(reply), expected[i].is_event);
        ck_assert_uint_eq(moreau_in_flight(client), expected[i].in_flight);
        moreau_reply_free(reply);
    }
    MoreauReply *none;
    ck_assert_int_eq(moreau_receive(client, 0, &none), MOREAU_FAILED_PRECONDITION);
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

typedef struct Watch {
    uint64_t last;
    size_t calls, stop_after; // stop_after 0: never
} Watch;

static bool watch_progress(void *context, uint64_t steps_done, uint64_t steps_total) {
    Watch *watch = context;
    ck_assert_uint_eq(steps_total, 100);
    ck_assert_uint_gt(steps_done, watch->last);
    watch->last = steps_done;
    return ++watch->calls != watch->stop_after;
}

START_TEST(verify_shows_progress_and_then_the_differences) {
    FakePeer peer;
    fake_start(&peer, stream_progress, NULL);
    MoreauClient *client = connect_to(&peer);
    MoreauVerify verify = moreau_verify_default();
    verify.episode = "3f2a";
    Watch watch = {0};
    MoreauReply *reply;
    MoreauVerification result;
    ck_assert_int_eq(
        moreau_episode_verify(client, &verify, watch_progress, &watch, &reply, &result), MOREAU_OK);
    ck_assert_uint_eq(watch.calls, 3);
    ck_assert(!result.verified);
    ck_assert_uint_eq(result.steps, 100);
    ck_assert_uint_eq(result.difference_count, 1);
    MoreauDifference difference;
    ck_assert(moreau_reply_difference(reply, 0, &difference));
    ck_assert_uint_eq(difference.step, 12);
    ck_assert_str_eq(difference.quantity, "position.x");
    ck_assert_str_eq(difference.message, "");
    ck_assert(!moreau_reply_difference(reply, 1, &difference));
    moreau_reply_free(reply);
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

START_TEST(who_wants_no_more_events_gets_none_and_the_call_ends) {
    bool is_cancelled = false;
    FakePeer peer;
    fake_start(&peer, stream_progress, &is_cancelled);
    MoreauClient *client = connect_to(&peer);
    MoreauVerify verify = moreau_verify_default();
    Watch watch = {.stop_after = 2};
    MoreauReply *reply;
    MoreauVerification result;
    ck_assert_int_eq(
        moreau_episode_verify(client, &verify, watch_progress, &watch, &reply, &result),
        MOREAU_CANCELLED);
    ck_assert_uint_eq(watch.calls, 2);
    moreau_reply_free(reply);
    ck_assert_int_eq(moreau_ping(client, 5, NULL), MOREAU_OK); // the connection is as before
    moreau_disconnect(client);
    fake_stop(&peer);
    ck_assert(is_cancelled);
}
END_TEST

START_TEST(a_stream_that_falls_silent_is_cancelled) {
    bool is_cancelled = false;
    FakePeer peer;
    fake_start(&peer, stream_progress, &is_cancelled);
    MoreauClient *client = connect_to(&peer);
    moreau_set_reply_timeout(client, REPLY_TIMEOUT_MS);
    MoreauVerify verify = moreau_verify_default();
    Watch watch = {0};
    MoreauReply *reply;
    MoreauVerification result;
    ck_assert_int_eq(
        moreau_episode_verify(client, &verify, watch_progress, &watch, &reply, &result),
        MOREAU_DEADLINE_EXCEEDED);
    ck_assert_ptr_null(reply);
    ck_assert_uint_eq(watch.calls, 3);
    moreau_set_reply_timeout(client, 0);
    ck_assert_int_eq(moreau_ping(client, 5, NULL), MOREAU_OK); // its late end is dropped
    moreau_disconnect(client);
    fake_stop(&peer);
    ck_assert(is_cancelled);
}
END_TEST

static TCase *case_events(void) {
    TCase *tcase = tcase_create("events");
    tcase_add_test(tcase, events_go_to_the_request_they_answer);
    tcase_add_test(tcase, verify_shows_progress_and_then_the_differences);
    tcase_add_test(tcase, who_wants_no_more_events_gets_none_and_the_call_ends);
    tcase_add_test(tcase, a_stream_that_falls_silent_is_cancelled);
    return tcase;
}

// ---- frames

// Three frames of 1, 2 and 2 bodies; poses hold 100 step + body in x; the last frame touches.
typedef struct Columns {
    uint64_t step[3], bodies[3], ids[5], ids_count[3], contact_count[3], body_a[1], body_b[1];
    double time[3], pose[35], velocity[30], gap[1];
    // a hinge and a ball, of which the ball breaks behind the second frame
    uint64_t joints[3], joints_count[3], joint_count[3], axis_count[3], position_count[3];
    uint32_t joint_axes[3];
    double joint_position[11], joint_velocity[9];
    Moreau__V1__WorldContactsReply contacts;
    Moreau__V1__EpisodeFrames frames;
} Columns;

static void fill_columns(Columns *columns, bool ids_each) {
    static const uint64_t sparse[] = {4, 4, 9};
    static const uint64_t dense[] = {4, 4, 9, 6, 9};
    static const uint64_t bodies[] = {1, 2, 2};
    *columns = (Columns){.contact_count = {0, 0, 1}, .body_a = {4}, .body_b = {9}, .gap = {-0.5}};
    size_t first = 0;
    for (size_t i = 0; i < 3; i++) {
        columns->step[i] = i + 1;
        columns->bodies[i] = bodies[i];
        for (size_t b = 0; b < bodies[i]; b++, first++) {
            columns->pose[7 * first] = 100.0 * (double)(i + 1) + (double)b;
            columns->velocity[6 * first] = -columns->pose[7 * first];
        }
    }
    memcpy(columns->ids_count, (uint64_t[]){1, 2, ids_each ? 2 : 0}, sizeof(columns->ids_count));
    memcpy(columns->ids, ids_each ? dense : sparse, ids_each ? sizeof(dense) : sizeof(sparse));
    moreau__v1__world_contacts_reply__init(&columns->contacts);
    columns->contacts.n_body_a = columns->contacts.n_body_b = columns->contacts.n_gap = 1;
    columns->contacts.body_a = columns->body_a;
    columns->contacts.body_b = columns->body_b;
    columns->contacts.gap = columns->gap;
    Moreau__V1__EpisodeFrames *frames = &columns->frames;
    moreau__v1__episode_frames__init(frames);
    frames->n_step = frames->n_time = frames->n_body_count = frames->n_contact_count = 3;
    frames->step = columns->step;
    frames->time = columns->time;
    frames->body_count = columns->bodies;
    frames->contact_count = columns->contact_count;
    frames->contacts = &columns->contacts;
    frames->n_ids = ids_each ? 5 : 3;
    frames->ids = columns->ids;
    frames->n_ids_count = 3;
    frames->ids_count = columns->ids_count;
    frames->n_pose = 35;
    frames->pose = columns->pose;
    frames->n_velocity = 30;
    frames->velocity = columns->velocity;
}

static void fill_joints(Columns *columns) {
    static const uint64_t counts[3] = {2, 2, 1}, listed[3] = {2, 0, 1}, axes[3] = {4, 4, 1},
                          positions[3] = {5, 5, 1}, ids[3] = {3, 8, 3};
    static const uint32_t free_axes[3] = {1 << 5, 7 << 3, 1 << 5};
    memcpy(columns->joint_count, counts, sizeof(counts));
    memcpy(columns->joints_count, listed, sizeof(listed));
    memcpy(columns->axis_count, axes, sizeof(axes));
    memcpy(columns->position_count, positions, sizeof(positions));
    memcpy(columns->joints, ids, sizeof(ids));
    memcpy(columns->joint_axes, free_axes, sizeof(free_axes));
    for (int i = 0; i < 11; i++) {
        columns->joint_position[i] = i;
    }
    for (int i = 0; i < 9; i++) {
        columns->joint_velocity[i] = -i;
    }
    Moreau__V1__EpisodeFrames *frames = &columns->frames;
    frames->n_joint_count = frames->n_joints_count = frames->n_joint_axis_count =
        frames->n_joint_position_count = frames->n_joints = frames->n_joint_axes = 3;
    frames->joint_count = columns->joint_count;
    frames->joints_count = columns->joints_count;
    frames->joint_axis_count = columns->axis_count;
    frames->joint_position_count = columns->position_count;
    frames->joints = columns->joints;
    frames->joint_axes = columns->joint_axes;
    frames->n_joint_position = 11, frames->joint_position = columns->joint_position;
    frames->n_joint_velocity = 9, frames->joint_velocity = columns->joint_velocity;
}

// Answers one read with the columns of the context.
static void answer_read(FakePeer *peer) {
    Columns *columns = peer->context;
    fake_welcome(peer, 1);
    Moreau__V1__Request *request = fake_receive(peer);
    Moreau__V1__EpisodeReadReply read = MOREAU__V1__EPISODE_READ_REPLY__INIT;
    read.frames = &columns->frames;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_READ;
    reply.episode_read = &read;
    fake_send(peer, &reply, request->id);
    moreau__v1__request__free_unpacked(request, NULL);
    moreau__v1__request__free_unpacked(fake_receive(peer), NULL);
}

START_TEST(frames_are_walked_one_by_one) {
    static const uint64_t ids[2][3][2] = {{{4}, {4, 9}, {4, 9}}, {{4}, {4, 9}, {6, 9}}};
    Columns columns;
    fill_columns(&columns, _i == 1);
    FakePeer peer;
    fake_start(&peer, answer_read, &columns);
    MoreauClient *client = connect_to(&peer);
    MoreauFrameQuery query = moreau_frame_query_default();
    query.episode = "3f2a";
    MoreauReply *reply;
    MoreauFrames frames;
    ck_assert_int_eq(moreau_episode_read(client, &query, 3, &reply, &frames), MOREAU_OK);
    ck_assert_uint_eq(frames.count, 3);
    MoreauFrame frame;
    for (size_t i = 0; i < 3; i++) {
        ck_assert(moreau_next_frame(&frames, &frame));
        ck_assert_uint_eq(frame.step, i + 1);
        ck_assert_uint_eq(frame.body_count, columns.bodies[i]);
        ck_assert_mem_eq(frame.ids, ids[_i][i], frame.body_count * sizeof(uint64_t));
        for (size_t b = 0; b < frame.body_count; b++) {
            ck_assert(frame.pose[7 * b] == 100.0 * (double)(i + 1) + (double)b);
            ck_assert(frame.velocity[6 * b] == -frame.pose[7 * b]);
        }
        ck_assert_ptr_null(frame.pose_single);
        ck_assert_uint_eq(frame.contacts.count, i == 2);
    }
    ck_assert(frame.contacts.gap[0] == -0.5 && frame.contacts.body_b[0] == 9);
    ck_assert_ptr_null(frame.contacts.point);
    ck_assert(!moreau_next_frame(&frames, &frame));
    moreau_reply_free(reply);
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

START_TEST(joints_of_frames_are_cut_out_of_all) {
    Columns columns;
    fill_columns(&columns, false);
    fill_joints(&columns);
    FakePeer peer;
    fake_start(&peer, answer_read, &columns);
    MoreauClient *client = connect_to(&peer);
    MoreauFrameQuery query = moreau_frame_query_default();
    query.episode = "3f2a";
    query.joints = true;
    MoreauReply *reply;
    MoreauFrames frames;
    ck_assert_int_eq(moreau_episode_read(client, &query, 3, &reply, &frames), MOREAU_OK);
    for (size_t i = 0; i < 3; i++) {
        MoreauFrame frame;
        ck_assert(moreau_next_frame(&frames, &frame));
        ck_assert_uint_eq(frame.joint_count, columns.joint_count[i]);
        ck_assert_uint_eq(frame.joint_axis_count, columns.axis_count[i]);
        ck_assert_uint_eq(frame.joints[0], 3);
        ck_assert_uint_eq(frame.joint_axes[0], 1 << 5);
        ck_assert_double_eq(frame.joint_position[0], 5.0 * (double)i);
        ck_assert_double_eq(frame.joint_velocity[0], -4.0 * (double)i);
        ck_assert_ptr_null(frame.joint_effort);
    }
    moreau_reply_free(reply);
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

// What a server of ours never sends: no column may be read beyond its end.
START_TEST(columns_that_do_not_fit_are_refused) {
    Columns columns;
    fill_columns(&columns, _i == 9);
    fill_joints(&columns);
    Moreau__V1__EpisodeFrames *frames = &columns.frames;
    size_t *const shortened[] = {&frames->n_pose,
                                 &frames->n_velocity,
                                 &frames->n_ids,
                                 &frames->n_time,
                                 &frames->n_body_count,
                                 &frames->n_contact_count,
                                 &columns.contacts.n_body_a,
                                 &frames->n_ids_count};
    if (_i < 8) {
        (*shortened[_i])--;
    } else if (_i == 8) {
        columns.ids_count[1] = 1; // fewer than its bodies
    } else if (_i == 9) {
        memcpy(columns.bodies, (uint64_t[]){UINT64_MAX, 4, 2}, sizeof(columns.bodies)); // 5 in all
    } else if (_i == 10) {
        columns.contact_count[0] = UINT64_MAX;
    } else if (_i == 11) {
        frames->contacts = NULL;
    } else if (_i == 12) {
        columns.joints_count[1] = 1; // fewer than its joints
    } else if (_i == 13) {
        columns.axis_count[0] = UINT64_MAX;
    } else {
        frames->n_joint_position--;
    }
    FakePeer peer;
    fake_start(&peer, answer_read, &columns);
    MoreauClient *client = connect_to(&peer);
    MoreauFrameQuery query = moreau_frame_query_default();
    MoreauReply *reply;
    MoreauFrames got;
    ck_assert_int_eq(moreau_episode_read(client, &query, MOREAU_ALL, &reply, &got),
                     MOREAU_INTERNAL);
    MoreauFrame frame;
    ck_assert(!moreau_next_frame(&got, &frame));
    moreau_reply_free(reply);
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

// The same columns as two events.
static void answer_replay(FakePeer *peer) {
    Columns *columns = peer->context;
    fake_welcome(peer, 1);
    Moreau__V1__Request *request = fake_receive(peer);
    Moreau__V1__Reply event = MOREAU__V1__REPLY__INIT;
    event.has_event = event.event = 1;
    event.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_FRAMES;
    event.episode_frames = &columns->frames;
    fake_send(peer, &event, request->id);
    fake_send(peer, &event, request->id);
    Moreau__V1__EpisodeReplayReply replay = MOREAU__V1__EPISODE_REPLAY_REPLY__INIT;
    replay.has_frames = 1;
    replay.frames = request->episode_replay->last;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_REPLAY;
    reply.episode_replay = &replay;
    fake_send(peer, &reply, request->id);
    moreau__v1__request__free_unpacked(request, NULL);
    moreau__v1__request__free_unpacked(fake_receive(peer), NULL);
}

static bool sum_steps(void *context, const MoreauFrame *frame) {
    *(uint64_t *)context += frame->step;
    return true;
}

START_TEST(a_replay_hands_out_every_frame) {
    Columns columns;
    fill_columns(&columns, false);
    FakePeer peer;
    fake_start(&peer, answer_replay, &columns);
    MoreauClient *client = connect_to(&peer);
    MoreauFrameQuery query = moreau_frame_query_default();
    uint64_t sum = 0;
    uint64_t frames = 0;
    ck_assert_int_eq(moreau_episode_replay(client, &query, 6, 0.0, sum_steps, &sum, &frames),
                     MOREAU_OK);
    ck_assert_uint_eq(sum, 2 * (1 + 2 + 3));
    ck_assert_uint_eq(frames, 6);
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

START_TEST(a_submitted_replay_is_received_event_by_event) {
    Columns columns;
    fill_columns(&columns, false);
    FakePeer peer;
    fake_start(&peer, answer_replay, &columns);
    MoreauClient *client = connect_to(&peer);
    MoreauFrameQuery query = moreau_frame_query_default();
    uint64_t id;
    ck_assert_int_eq(moreau_submit_replay(client, &query, 6, 0.0, &id), MOREAU_OK);
    for (size_t i = 0; i < 3; i++) {
        MoreauReply *reply;
        MoreauFrames frames;
        ck_assert_int_eq(moreau_receive(client, 5000, &reply), MOREAU_OK);
        ck_assert_int_eq(moreau_reply_frames(reply, &frames), i < 2);
        ck_assert_uint_eq(frames.count, i < 2 ? 3 : 0);
        moreau_reply_free(reply);
    }
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

static TCase *case_frames(void) {
    TCase *tcase = tcase_create("frames");
    tcase_add_loop_test(tcase, frames_are_walked_one_by_one, 0, 2);
    tcase_add_test(tcase, joints_of_frames_are_cut_out_of_all);
    tcase_add_loop_test(tcase, columns_that_do_not_fit_are_refused, 0, 15);
    tcase_add_test(tcase, a_replay_hands_out_every_frame);
    tcase_add_test(tcase, a_submitted_replay_is_received_event_by_event);
    return tcase;
}

// ---- recording

static void answer_episodes(FakePeer *peer) {
    Moreau__V1__Request **seen = peer->context;
    fake_welcome(peer, 1);
    *seen = fake_receive(peer);
    Moreau__V1__EpisodeStartReply start = MOREAU__V1__EPISODE_START_REPLY__INIT;
    start.episode = (char *)"3f2a91bc00112233445566778899aabb";
    Moreau__V1__EpisodeInfo info = MOREAU__V1__EPISODE_INFO__INIT;
    info.episode = start.episode;
    info.has_steps = info.has_state = 1;
    info.steps = 720;
    info.state = MOREAU__V1__EPISODE__STATE__INTERRUPTED;
    Moreau__V1__EpisodeInfo *rows[] = {&info, &info};
    Moreau__V1__EpisodeListReply list = MOREAU__V1__EPISODE_LIST_REPLY__INIT;
    list.has_total = 1;
    list.total = 9;
    list.n_episodes = 2;
    list.episodes = rows;
    Moreau__V1__EpisodeStopReply stop = MOREAU__V1__EPISODE_STOP_REPLY__INIT;
    stop.episode = &info;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    if ((*seen)->call_case == MOREAU__V1__REQUEST__CALL_EPISODE_START) {
        reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_START;
        reply.episode_start = &start;
    } else if ((*seen)->call_case == MOREAU__V1__REQUEST__CALL_EPISODE_LIST) {
        reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_LIST;
        reply.episode_list = &list;
    } else {
        reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_STOP;
        reply.episode_stop = &stop;
    }
    fake_send(peer, &reply, (*seen)->id);
    moreau__v1__request__free_unpacked(fake_receive(peer), NULL);
}

START_TEST(record_start_says_what_to_record) {
    Moreau__V1__Request *seen = NULL;
    FakePeer peer;
    fake_start(&peer, answer_episodes, &seen);
    MoreauClient *client = connect_to(&peer);
    const char *const labels[] = {"night", "test"};
    MoreauRecord record = moreau_record_default();
    record.world = 8;
    record.labels = labels;
    record.label_count = 2;
    record.content = MOREAU_CONTENT_CONTACTS;
    record.stride = 5;
    record.has_seed = true;
    record.seed = UINT64_MAX;
    char episode[MOREAU_EPISODE_ID_BYTES];
    ck_assert_int_eq(moreau_record_start(client, &record, episode), MOREAU_OK);
    ck_assert_str_eq(episode, "3f2a91bc00112233445566778899aabb");
    moreau_disconnect(client);
    fake_stop(&peer);
    const Moreau__V1__EpisodeStart *start = seen->episode_start;
    ck_assert(start->world == 8 && start->name == NULL && start->n_labels == 2);
    ck_assert_str_eq(start->labels[1], "test");
    ck_assert_int_eq(start->content, MOREAU__V1__EPISODE__CONTENT__CONTACTS);
    ck_assert(start->stride == 5 && start->seed == UINT64_MAX && !start->has_keyframe_steps);
    moreau__v1__request__free_unpacked(seen, NULL);
}
END_TEST

START_TEST(record_stop_tells_what_was_recorded) {
    Moreau__V1__Request *seen = NULL;
    FakePeer peer;
    fake_start(&peer, answer_episodes, &seen);
    MoreauClient *client = connect_to(&peer);
    MoreauReply *reply;
    MoreauEpisode info;
    bool by_name = _i == 1;
    ck_assert_int_eq(
        moreau_record_stop(client, by_name ? 0 : 8, by_name ? "3f2a" : NULL, &reply, &info),
        MOREAU_OK);
    ck_assert(info.steps == 720 && info.state == MOREAU_EPISODE_INTERRUPTED);
    ck_assert_str_eq(info.why, "");
    ck_assert_str_eq(info.name, "");
    moreau_reply_free(reply);
    moreau_disconnect(client);
    fake_stop(&peer);
    ck_assert_int_eq(seen->episode_stop->has_world, !by_name);
    ck_assert_int_eq(seen->episode_stop->episode != NULL, by_name);
    moreau__v1__request__free_unpacked(seen, NULL);
}
END_TEST

START_TEST(a_list_asks_only_for_what_the_filter_says) {
    Moreau__V1__Request *seen = NULL;
    FakePeer peer;
    fake_start(&peer, answer_episodes, &seen);
    MoreauClient *client = connect_to(&peer);
    MoreauEpisodeFilter filter = moreau_episode_filter_default();
    if (_i == 1) {
        filter.label = "night";
        filter.state = MOREAU_EPISODE_RECORDING;
        filter.since = 1e9;
    }
    MoreauReply *reply;
    size_t count;
    uint64_t total;
    ck_assert_int_eq(moreau_episode_list(client, &filter, &reply, &count, &total), MOREAU_OK);
    ck_assert(count == 2 && total == 9);
    MoreauEpisode info;
    ck_assert(moreau_reply_episode(reply, 1, &info) && info.steps == 720);
    ck_assert(!moreau_reply_episode(reply, 2, &info));
    moreau_reply_free(reply);
    moreau_disconnect(client);
    fake_stop(&peer);
    const Moreau__V1__EpisodeList *list = seen->episode_list;
    ck_assert(list->has_state == (_i == 1) && list->has_since == (_i == 1) && !list->has_until);
    ck_assert((list->label != NULL) == (_i == 1) && list->name == NULL);
    moreau__v1__request__free_unpacked(seen, NULL);
}
END_TEST

static TCase *case_recording(void) {
    TCase *tcase = tcase_create("recording");
    tcase_add_test(tcase, record_start_says_what_to_record);
    tcase_add_loop_test(tcase, record_stop_tells_what_was_recorded, 0, 2);
    tcase_add_loop_test(tcase, a_list_asks_only_for_what_the_filter_says, 0, 2);
    return tcase;
}

// ---- snapshots

// A server that keeps one snapshot.
typedef struct FakeStore {
    uint8_t *data;
    size_t bytes, received;
    size_t parts, dropped;
    size_t refuse_part; // 0: none
    bool sends_short;   // parts of at most a million bytes, whatever is asked for
} FakeStore;

static void take_part(FakePeer *peer, FakeStore *store, const Moreau__V1__Request *request) {
    const Moreau__V1__SnapshotUpload *part = request->snapshot_upload;
    bool fits = part->first == store->received && part->has_snapshot == (store->parts > 0) &&
                part->has_total == (store->parts == 0) &&
                part->first + part->data.len <= SNAPSHOT_BYTES;
    if (++store->parts == store->refuse_part || !fits) {
        fake_send_status(peer, request->id, MOREAU__V1__STATUS__CODE__RESOURCE_EXHAUSTED, "data",
                         "no room for more");
        return;
    }
    memcpy(store->data + part->first, part->data.data, part->data.len);
    store->received += part->data.len;
    Moreau__V1__SnapshotUploadReply took = MOREAU__V1__SNAPSHOT_UPLOAD_REPLY__INIT;
    took.has_snapshot = took.has_complete = 1;
    took.snapshot = 6;
    took.complete = store->received == SNAPSHOT_BYTES;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_UPLOAD;
    reply.snapshot_upload = &took;
    fake_send(peer, &reply, request->id);
}

static void give_part(FakePeer *peer, FakeStore *store, const Moreau__V1__Request *request) {
    const Moreau__V1__SnapshotRead *asked = request->snapshot_read;
    size_t count = (size_t)asked->count;
    count = store->sends_short && count > 1000000 ? 1000000 : count;
    store->parts++;
    Moreau__V1__SnapshotReadReply read = MOREAU__V1__SNAPSHOT_READ_REPLY__INIT;
    read.has_data = read.has_total = 1;
    read.data = (ProtobufCBinaryData){count, store->data + asked->first};
    read.total = store->bytes;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_READ;
    reply.snapshot_read = &read;
    fake_send(peer, &reply, request->id);
}

static void keep_snapshot(FakePeer *peer) {
    FakeStore *store = peer->context;
    fake_welcome(peer, 1);
    Moreau__V1__Request *request;
    while ((request = fake_receive(peer)) != NULL) {
        if (request->call_case == MOREAU__V1__REQUEST__CALL_SNAPSHOT_UPLOAD) {
            take_part(peer, store, request);
        } else if (request->call_case == MOREAU__V1__REQUEST__CALL_SNAPSHOT_READ) {
            give_part(peer, store, request);
        } else {
            store->dropped++;
            Moreau__V1__SnapshotDropReply drop = MOREAU__V1__SNAPSHOT_DROP_REPLY__INIT;
            Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
            reply.result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_DROP;
            reply.snapshot_drop = &drop;
            fake_send(peer, &reply, request->id);
        }
        moreau__v1__request__free_unpacked(request, NULL);
    }
}

static uint8_t *make_bytes(void) {
    uint8_t *data = malloc(SNAPSHOT_BYTES);
    for (size_t i = 0; i < SNAPSHOT_BYTES; i++) {
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    return data;
}

START_TEST(a_snapshot_goes_up_in_parts) {
    uint8_t *data = make_bytes();
    FakeStore store = {.data = calloc(SNAPSHOT_BYTES, 1)};
    FakePeer peer;
    fake_start(&peer, keep_snapshot, &store);
    MoreauClient *client = connect_to(&peer);
    uint64_t snapshot = 0;
    ck_assert_int_eq(moreau_snapshot_upload(client, data, SNAPSHOT_BYTES, &snapshot), MOREAU_OK);
    ck_assert_uint_eq(snapshot, 6);
    moreau_disconnect(client);
    fake_stop(&peer);
    ck_assert_uint_gt(store.parts, 1);
    ck_assert_mem_eq(store.data, data, SNAPSHOT_BYTES);
    ck_assert_uint_eq(store.dropped, 0);
    free(store.data);
    free(data);
}
END_TEST

START_TEST(a_snapshot_that_does_not_go_up_leaves_nothing) {
    uint8_t *data = make_bytes();
    FakeStore store = {.data = calloc(SNAPSHOT_BYTES, 1), .refuse_part = 2};
    FakePeer peer;
    fake_start(&peer, keep_snapshot, &store);
    MoreauClient *client = connect_to(&peer);
    uint64_t snapshot = 0;
    ck_assert_int_eq(moreau_snapshot_upload(client, data, SNAPSHOT_BYTES, &snapshot),
                     MOREAU_RESOURCE_EXHAUSTED);
    ck_assert_str_eq(moreau_error(client)->message, "no room for more");
    moreau_disconnect(client);
    fake_stop(&peer);
    ck_assert_uint_eq(store.dropped, 1);
    free(store.data);
    free(data);
}
END_TEST

START_TEST(a_snapshot_comes_down_in_parts) {
    FakeStore store = {.data = make_bytes(), .bytes = SNAPSHOT_BYTES, .sends_short = _i == 1};
    uint8_t *data = calloc(SNAPSHOT_BYTES, 1);
    FakePeer peer;
    fake_start(&peer, keep_snapshot, &store);
    MoreauClient *client = connect_to(&peer);
    ck_assert_int_eq(moreau_snapshot_download(client, 6, data, SNAPSHOT_BYTES), MOREAU_OK);
    ck_assert_uint_gt(store.parts, _i == 1 ? 9 : 1);
    ck_assert_mem_eq(store.data, data, SNAPSHOT_BYTES);
    // another size than the caller has room for
    ck_assert_int_eq(moreau_snapshot_download(client, 6, data, SNAPSHOT_BYTES - 1),
                     MOREAU_OUT_OF_RANGE);
    moreau_disconnect(client);
    fake_stop(&peer);
    free(store.data);
    free(data);
}
END_TEST

static TCase *case_snapshots(void) {
    TCase *tcase = tcase_create("snapshots");
    tcase_add_test(tcase, a_snapshot_goes_up_in_parts);
    tcase_add_test(tcase, a_snapshot_that_does_not_go_up_leaves_nothing);
    tcase_add_loop_test(tcase, a_snapshot_comes_down_in_parts, 0, 2);
    return tcase;
}

SUITE_MAIN("clients/events", case_events, case_frames, case_recording, case_snapshots)
