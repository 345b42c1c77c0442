// SPDX-License-Identifier: MIT
// The C client library against a scripted peer: what a caller sees when the other side is right,
// slow, wrong or gone.
#include "clients/fake_peer.h"
#include "support/suite.h"

#include "moreau.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { PIPELINE_COUNT = 50, REPLY_TIMEOUT_MS = 150 };

static MoreauClient *connect_to(const FakePeer *peer) {
    MoreauClient *client;
    MoreauError error;
    MoreauStatus status = moreau_connect(peer->address, NULL, &client, &error);
    ck_assert_msg(status == MOREAU_OK, "%s", error.message);
    return client;
}

static void submit_ping(MoreauClient *client, uint64_t payload, uint64_t *id) {
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    ping.has_payload = 1;
    ping.payload = payload;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_PING;
    request.ping = &ping;
    request.has_id = 1;
    request.id = 77777; // to be replaced by the client's own
    uint8_t bytes[64];
    size_t count = moreau__v1__request__pack(&request, bytes);
    ck_assert_int_eq(moreau_submit(client, bytes, count, id), MOREAU_OK);
}

static uint64_t pong_of(const MoreauReply *reply) {
    size_t count;
    const void *bytes = moreau_reply_bytes(reply, &count);
    Moreau__V1__Reply *message = moreau__v1__reply__unpack(NULL, count, bytes);
    ck_assert_ptr_nonnull(message);
    ck_assert_int_eq(message->result_case, MOREAU__V1__REPLY__RESULT_PONG);
    uint64_t payload = message->pong->payload;
    moreau__v1__reply__free_unpacked(message, NULL);
    return payload;
}

// ---- scripts

static void answer_pings(FakePeer *peer) {
    fake_welcome(peer, 1);
    Moreau__V1__Request *request;
    while ((request = fake_receive(peer)) != NULL) {
        fake_send_pong(peer, request->id, request->ping->payload);
        moreau__v1__request__free_unpacked(request, NULL);
    }
}

// Takes all requests first and answers them in reverse.
static void answer_reversed(FakePeer *peer) {
    fake_welcome(peer, 1);
    Moreau__V1__Request *taken[PIPELINE_COUNT];
    size_t count = 0;
    while (count < PIPELINE_COUNT && (taken[count] = fake_receive(peer)) != NULL) {
        count++;
    }
    while (count-- > 0) {
        fake_send_pong(peer, taken[count]->id, taken[count]->ping->payload);
        moreau__v1__request__free_unpacked(taken[count], NULL);
    }
}

static void refuse_everything(FakePeer *peer) {
    fake_welcome(peer, 1);
    Moreau__V1__Request *request;
    while ((request = fake_receive(peer)) != NULL) {
        Moreau__V1__Status status = MOREAU__V1__STATUS__INIT;
        status.has_code = 1;
        status.code = MOREAU__V1__STATUS__CODE__NOT_FOUND;
        status.message = (char *)"there is no world 5";
        status.field = (char *)"worlds[0]";
        status.has_world = 1;
        status.world = 5;
        status.has_step = 1;
        status.step = 12;
        Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
        reply.status = &status;
        fake_send(peer, &reply, request->id);
        moreau__v1__request__free_unpacked(request, NULL);
    }
}

static void refuse_version(FakePeer *peer) {
    Moreau__V1__Request *request = fake_receive(peer);
    fake_send_status(peer, request->id, MOREAU__V1__STATUS__CODE__FAILED_PRECONDITION,
                     "protocol_major", "the server speaks protocol 2, the client protocol 1");
    moreau__v1__request__free_unpacked(request, NULL);
}

static void welcome_as_protocol_2(FakePeer *peer) {
    fake_welcome(peer, 2);
    moreau__v1__request__free_unpacked(fake_receive(peer), NULL);
}

static void close_after_welcome(FakePeer *peer) {
    fake_welcome(peer, 1);
}

static void close_inside_a_frame(FakePeer *peer) {
    fake_welcome(peer, 1);
    Moreau__V1__Request *request = fake_receive(peer);
    moreau__v1__request__free_unpacked(request, NULL);
    fake_send_header(peer, 100);
    fake_write(peer->fd, "cut off", 7);
}

static void announce_too_much(FakePeer *peer) {
    fake_welcome(peer, 1);
    Moreau__V1__Request *request = fake_receive(peer);
    moreau__v1__request__free_unpacked(request, NULL);
    fake_send_header(peer, (size_t)1 << 31);
    moreau__v1__request__free_unpacked(fake_receive(peer), NULL); // until the client has gone
}

static void send_rubbish(FakePeer *peer) {
    fake_welcome(peer, 1);
    Moreau__V1__Request *request = fake_receive(peer);
    moreau__v1__request__free_unpacked(request, NULL);
    fake_send_header(peer, 4);
    fake_write(peer->fd, "\xff\xff\xff\xff", 4);
    moreau__v1__request__free_unpacked(fake_receive(peer), NULL);
}

static void stay_silent(FakePeer *peer) {
    Moreau__V1__Request *request;
    while ((request = fake_receive(peer)) != NULL) {
        moreau__v1__request__free_unpacked(request, NULL);
    }
}

// Answers the first ping only when the second one comes.
static void answer_late(FakePeer *peer) {
    fake_welcome(peer, 1);
    Moreau__V1__Request *first = fake_receive(peer);
    Moreau__V1__Request *second = fake_receive(peer);
    fake_send_pong(peer, first->id, first->ping->payload);
    fake_send_pong(peer, second->id, second->ping->payload);
    moreau__v1__request__free_unpacked(first, NULL);
    moreau__v1__request__free_unpacked(second, NULL);
    moreau__v1__request__free_unpacked(fake_receive(peer), NULL);
}

static void blame_the_frame(FakePeer *peer) {
    fake_welcome(peer, 1);
    moreau__v1__request__free_unpacked(fake_receive(peer), NULL);
    fake_send_status(peer, 0, MOREAU__V1__STATUS__CODE__INVALID_ARGUMENT, NULL,
                     "this frame is no request");
}

// Reads nothing while it writes many answers: more than socket buffers hold, so a client that only
// writes would stand still.
static void answer_before_reading(FakePeer *peer) {
    enum { ANSWERS = 400, ANSWER_BYTES = 64 << 10 };
    fake_welcome(peer, 1);
    char *text = calloc(ANSWER_BYTES + 1, 1);
    memset(text, 'x', ANSWER_BYTES);
    for (int i = 0; i < ANSWERS; i++) {
        fake_send_status(peer, UINT64_MAX, MOREAU__V1__STATUS__CODE__OK, NULL,
                         text); // an id nobody waits for
    }
    free(text);
    Moreau__V1__Request *request;
    while ((request = fake_receive(peer)) != NULL) {
        fake_send_pong(peer, request->id, 1);
        moreau__v1__request__free_unpacked(request, NULL);
    }
}

static void copy_deadline(FakePeer *peer) {
    fake_welcome(peer, 1);
    Moreau__V1__Request *request;
    while ((request = fake_receive(peer)) != NULL) {
        fake_send_pong(peer, request->id, request->has_deadline_ms ? request->deadline_ms : 0);
        moreau__v1__request__free_unpacked(request, NULL);
    }
}

// Answers a step of two worlds in which the second fails, with columns.
static void answer_step(FakePeer *peer) {
    fake_welcome(peer, 1);
    Moreau__V1__Request *request = fake_receive(peer);
    uint64_t done[2] = {10, 3};
    double time[2] = {0.5, 0.15};
    uint64_t bodies[2] = {1, 0};
    double pose[7] = {1, 2, 3, 1, 0, 0, 0};
    double own[2] = {1e-9, 2e-3};
    Moreau__V1__CertificateColumns last = MOREAU__V1__CERTIFICATE_COLUMNS__INIT;
    last.n_e_own = 2;
    last.e_own = own;
    Moreau__V1__StepReports reports = MOREAU__V1__STEP_REPORTS__INIT;
    reports.last = &last;
    uint32_t idle[2] = {0, 4};
    uint64_t idle_steps[2] = {1, 7};
    reports.n_idle = reports.n_idle_steps = 2;
    reports.idle = idle;
    reports.idle_steps = idle_steps;
    Moreau__V1__Status failure = MOREAU__V1__STATUS__INIT;
    failure.has_code = failure.has_world = failure.has_step = 1;
    failure.code = MOREAU__V1__STATUS__CODE__ABORTED;
    failure.world = request->world_step->worlds[1];
    failure.step = 4;
    Moreau__V1__Status *failures[] = {&failure};
    Moreau__V1__WorldStepReply step = MOREAU__V1__WORLD_STEP_REPLY__INIT;
    step.n_steps_done = 2;
    step.steps_done = done;
    step.n_time = 2;
    step.time = time;
    step.n_body_count = 2;
    step.body_count = bodies;
    step.n_pose = 7;
    step.pose = pose;
    step.reports = &reports;
    step.n_failures = 1;
    step.failures = failures;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_STEP;
    reply.world_step = &step;
    fake_send(peer, &reply, request->id);
    moreau__v1__request__free_unpacked(request, NULL);
    moreau__v1__request__free_unpacked(fake_receive(peer), NULL);
}

// Keeps a copy of what the client sent, packed again, in the context.
static void capture_create(FakePeer *peer) {
    fake_welcome(peer, 1);
    Moreau__V1__Request *request = fake_receive(peer);
    *(Moreau__V1__Request **)peer->context = request;
    Moreau__V1__WorldCreateReply created = MOREAU__V1__WORLD_CREATE_REPLY__INIT;
    created.has_world = 1;
    created.world = 42;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_CREATE;
    reply.world_create = &created;
    fake_send(peer, &reply, request->id);
    moreau__v1__request__free_unpacked(fake_receive(peer), NULL);
}

static void capture_materials(FakePeer *peer) {
    fake_welcome(peer, 1);
    Moreau__V1__Request *request = fake_receive(peer);
    *(Moreau__V1__Request **)peer->context = request;
    uint64_t ids[2] = {1, 2};
    Moreau__V1__WorldAddReply added = MOREAU__V1__WORLD_ADD_REPLY__INIT;
    added.n_ids = 2;
    added.ids = ids;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_ADD;
    reply.world_add = &added;
    fake_send(peer, &reply, request->id);
    moreau__v1__request__free_unpacked(fake_receive(peer), NULL);
}

// ---- the connection

START_TEST(connecting_reads_the_greeting) {
    FakePeer peer;
    fake_start(&peer, answer_pings, NULL);
    MoreauClient *client = connect_to(&peer);
    uint64_t limit;
    ck_assert_str_eq(moreau_server_version(client), "9.8.7");
    ck_assert_str_eq(moreau_session(client), "session-1");
    ck_assert(moreau_limit(client, "frame_bytes", &limit));
    ck_assert_uint_eq(limit, 16777216);
    ck_assert(!moreau_limit(client, "nothing", &limit));
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

START_TEST(a_blocking_call_returns_its_answer) {
    FakePeer peer;
    fake_start(&peer, answer_pings, NULL);
    MoreauClient *client = connect_to(&peer);
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t echo = 0;
        ck_assert_int_eq(moreau_ping(client, UINT64_MAX - i, &echo), MOREAU_OK);
        ck_assert(echo == UINT64_MAX - i);
    }
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

static const struct {
    const char *text, *says;
} addresses[] = {
    {"", "host:port"},
    {"localhost", "host:port"},
    {"1.2.3.4:", "host:port"},
    {"::1:7667", "[v6]:port"},
    {":7667", "host:port"},
    {"unix:", "bytes"},
    {"localhost:http", "no number"},
    {"localhost:-1", "no number"},
    {"localhost:7667x", "no number"},
    {"localhost:99999", "end at 65535"},
    {"[::1]:65536", "end at 65535"},
    {"localhost:99999999999999999999999", "end at 65535"},
    {"localhost:0", "begin at 1"},
};

START_TEST(a_wrong_address_is_refused_with_the_forms) {
    MoreauClient *client;
    MoreauError error;
    MoreauStatus status = moreau_connect(addresses[_i].text, NULL, &client, &error);
    ck_assert_int_eq(status, MOREAU_INVALID_ARGUMENT);
    ck_assert_ptr_null(client);
    ck_assert_msg(strstr(error.message, addresses[_i].says) != NULL, "'%s' is not in: %s",
                  addresses[_i].says, error.message);
}
END_TEST

START_TEST(nobody_there_is_unavailable) {
    MoreauClient *client;
    MoreauError error;
    ck_assert_int_eq(moreau_connect("127.0.0.1:1", NULL, &client, &error), MOREAU_UNAVAILABLE);
    ck_assert(!error.from_server);
    ck_assert_int_eq(moreau_connect("unix:/nonexistent/socket", NULL, &client, &error),
                     MOREAU_UNAVAILABLE);
}
END_TEST

START_TEST(a_peer_that_does_not_greet_times_out) {
    FakePeer peer;
    fake_start(&peer, stay_silent, NULL);
    MoreauOptions options = moreau_options_default();
    options.connect_timeout_ms = REPLY_TIMEOUT_MS;
    MoreauClient *client;
    MoreauError error;
    ck_assert_int_eq(moreau_connect(peer.address, &options, &client, &error),
                     MOREAU_DEADLINE_EXCEEDED);
    fake_stop(&peer);
}
END_TEST

START_TEST(another_protocol_version_is_named) {
    FakePeer peer;
    fake_start(&peer, _i == 0 ? refuse_version : welcome_as_protocol_2, NULL);
    MoreauClient *client;
    MoreauError error;
    ck_assert_int_eq(moreau_connect(peer.address, NULL, &client, &error),
                     MOREAU_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "protocol 1"));
    ck_assert_ptr_nonnull(strstr(error.message, "protocol 2"));
    ck_assert_int_eq(error.from_server, _i == 0);
    fake_stop(&peer);
}
END_TEST

static void *serve_unix(void *context) {
    FakePeer *peer = context;
    peer->fd = accept(peer->listener, NULL, NULL);
    answer_pings(peer);
    close(peer->fd);
    return NULL;
}

START_TEST(a_unix_socket_works_like_a_port) {
    char directory[] = "/tmp/moreau-check-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", directory);
    FakePeer peer = {.listener = socket(AF_UNIX, SOCK_STREAM, 0)};
    ck_assert_int_eq(bind(peer.listener, (struct sockaddr *)&address, sizeof(address)), 0);
    ck_assert_int_eq(listen(peer.listener, 1), 0);
    pthread_create(&peer.thread, NULL, serve_unix, &peer);

    char text[160];
    snprintf(text, sizeof(text), "unix:%s", address.sun_path);
    MoreauClient *client;
    ck_assert_int_eq(moreau_connect(text, NULL, &client, NULL), MOREAU_OK);
    uint64_t echo = 0;
    ck_assert_int_eq(moreau_ping(client, 7, &echo), MOREAU_OK);
    ck_assert_uint_eq(echo, 7);
    moreau_disconnect(client);
    fake_stop(&peer);
    unlink(address.sun_path);
    rmdir(directory);
}
END_TEST

static TCase *case_connection(void) {
    TCase *tcase = tcase_create("connection");
    tcase_add_test(tcase, connecting_reads_the_greeting);
    tcase_add_test(tcase, a_blocking_call_returns_its_answer);
    tcase_add_loop_test(tcase, a_wrong_address_is_refused_with_the_forms, 0,
                        sizeof(addresses) / sizeof(addresses[0]));
    tcase_add_test(tcase, nobody_there_is_unavailable);
    tcase_add_test(tcase, a_peer_that_does_not_greet_times_out);
    tcase_add_loop_test(tcase, another_protocol_version_is_named, 0, 2);
    tcase_add_test(tcase, a_unix_socket_works_like_a_port);
    return tcase;
}

// ---- pipelining

START_TEST(pipelined_answers_come_as_they_arrive_with_their_ids) {
    FakePeer peer;
    fake_start(&peer, answer_reversed, NULL);
    MoreauClient *client = connect_to(&peer);
    uint64_t ids[PIPELINE_COUNT];
    for (uint64_t i = 0; i < PIPELINE_COUNT; i++) {
        submit_ping(client, 1000 + i, &ids[i]);
    }
    ck_assert_uint_eq(moreau_in_flight(client), PIPELINE_COUNT);
    for (size_t i = PIPELINE_COUNT; i-- > 0;) {
        MoreauReply *reply;
        ck_assert_int_eq(moreau_receive(client, -1, &reply), MOREAU_OK);
        ck_assert_uint_eq(moreau_reply_id(reply), ids[i]);
        ck_assert_uint_eq(pong_of(reply), 1000 + i);
        moreau_reply_free(reply);
    }
    ck_assert_uint_eq(moreau_in_flight(client), 0);
    MoreauReply *reply;
    ck_assert_int_eq(moreau_receive(client, 0, &reply), MOREAU_FAILED_PRECONDITION);
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

START_TEST(a_blocking_call_keeps_the_answers_of_submitted_ones) {
    FakePeer peer;
    fake_start(&peer, answer_pings, NULL);
    MoreauClient *client = connect_to(&peer);
    uint64_t ids[3];
    for (uint64_t i = 0; i < 3; i++) {
        submit_ping(client, 10 + i, &ids[i]);
    }
    uint64_t echo;
    ck_assert_int_eq(moreau_ping(client, 99, &echo), MOREAU_OK);
    ck_assert_uint_eq(echo, 99);
    ck_assert(moreau_has_received(client));
    for (uint64_t i = 0; i < 3; i++) {
        MoreauReply *reply;
        ck_assert_int_eq(moreau_receive(client, 0, &reply), MOREAU_OK);
        ck_assert_uint_eq(moreau_reply_id(reply), ids[i]);
        ck_assert_uint_eq(pong_of(reply), 10 + i);
        moreau_reply_free(reply);
    }
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

START_TEST(receiving_waits_no_longer_than_asked) {
    FakePeer peer;
    fake_start(&peer, answer_late, NULL);
    MoreauClient *client = connect_to(&peer);
    uint64_t first;
    uint64_t second;
    submit_ping(client, 1, &first);
    MoreauReply *reply;
    ck_assert_int_eq(moreau_receive(client, 30, &reply), MOREAU_DEADLINE_EXCEEDED);
    ck_assert_ptr_null(reply);
    submit_ping(client, 2, &second);
    ck_assert_int_eq(moreau_receive(client, -1, &reply), MOREAU_OK);
    ck_assert_uint_eq(moreau_reply_id(reply), first);
    moreau_reply_free(reply);
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

START_TEST(writing_does_not_wait_for_a_peer_that_writes) {
    FakePeer peer;
    fake_start(&peer, answer_before_reading, NULL);
    MoreauClient *client = connect_to(&peer);
    // one request larger than the socket buffers
    enum { BODIES = 400000 };
    double *pose = calloc((size_t)7 * BODIES, sizeof(*pose));
    MoreauBodies bodies = {.count = BODIES, .pose = pose};
    MoreauStatus status = moreau_world_add_bodies(client, 1, &bodies, NULL);
    ck_assert_int_eq(status, MOREAU_INTERNAL); // the peer answers with a pong
    free(pose);
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

static TCase *case_pipeline(void) {
    TCase *tcase = tcase_create("pipeline");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, pipelined_answers_come_as_they_arrive_with_their_ids);
    tcase_add_test(tcase, a_blocking_call_keeps_the_answers_of_submitted_ones);
    tcase_add_test(tcase, receiving_waits_no_longer_than_asked);
    tcase_add_test(tcase, writing_does_not_wait_for_a_peer_that_writes);
    return tcase;
}

// ---- failures

START_TEST(a_refusal_carries_field_world_and_step) {
    FakePeer peer;
    fake_start(&peer, refuse_everything, NULL);
    MoreauClient *client = connect_to(&peer);
    ck_assert_int_eq(moreau_ping(client, 1, NULL), MOREAU_NOT_FOUND);
    const MoreauError *error = moreau_error(client);
    ck_assert(error->from_server);
    ck_assert_str_eq(error->message, "there is no world 5");
    ck_assert_str_eq(error->field, "worlds[0]");
    ck_assert_uint_eq(error->world, 5);
    ck_assert_uint_eq(error->step, 12);
    ck_assert(moreau_is_connected(client));
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

// each script ruins the connection in its own way; every further call then says that it is lost
START_TEST(a_ruined_connection_says_so_now_and_later) {
    static const struct {
        FakePeerScript *script;
        MoreauStatus status;
    } cases[] = {
        {close_after_welcome, MOREAU_UNAVAILABLE},      {close_inside_a_frame, MOREAU_UNAVAILABLE},
        {announce_too_much, MOREAU_RESOURCE_EXHAUSTED}, {send_rubbish, MOREAU_DATA_LOSS},
        {blame_the_frame, MOREAU_INVALID_ARGUMENT},
    };
    FakePeer peer;
    fake_start(&peer, cases[_i].script, NULL);
    MoreauClient *client = connect_to(&peer);
    ck_assert_int_eq(moreau_ping(client, 1, NULL), cases[_i].status);
    ck_assert(!moreau_is_connected(client));
    ck_assert_int_eq(moreau_poll_fd(client), -1);
    ck_assert_int_eq(moreau_ping(client, 1, NULL), MOREAU_UNAVAILABLE);
    ck_assert_uint_gt(strlen(moreau_error(client)->message), 10);
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

START_TEST(a_late_answer_is_dropped_and_the_connection_lives) {
    FakePeer peer;
    fake_start(&peer, answer_late, NULL);
    MoreauClient *client = connect_to(&peer);
    moreau_set_reply_timeout(client, REPLY_TIMEOUT_MS);
    ck_assert_int_eq(moreau_ping(client, 1, NULL), MOREAU_DEADLINE_EXCEEDED);
    ck_assert(!moreau_error(client)->from_server);
    moreau_set_reply_timeout(client, 0);
    uint64_t echo = 0;
    ck_assert_int_eq(moreau_ping(client, 2, &echo), MOREAU_OK);
    ck_assert_uint_eq(echo, 2);
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

START_TEST(a_deadline_travels_with_each_request) {
    FakePeer peer;
    fake_start(&peer, copy_deadline, NULL);
    MoreauClient *client = connect_to(&peer);
    uint64_t echo;
    moreau_set_deadline(client, 300000);
    ck_assert_int_eq(moreau_ping(client, 1, &echo), MOREAU_OK);
    ck_assert_uint_eq(echo, 300000);
    // the same for a packed request
    uint64_t id;
    MoreauReply *reply;
    submit_ping(client, 1, &id);
    ck_assert_int_eq(moreau_receive(client, -1, &reply), MOREAU_OK);
    ck_assert_uint_eq(pong_of(reply), 300000);
    moreau_reply_free(reply);
    moreau_set_deadline(client, 0);
    ck_assert_int_eq(moreau_ping(client, 1, &echo), MOREAU_OK);
    ck_assert_uint_eq(echo, 0);
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

static TCase *case_failures(void) {
    TCase *tcase = tcase_create("failures");
    tcase_add_test(tcase, a_refusal_carries_field_world_and_step);
    tcase_add_loop_test(tcase, a_ruined_connection_says_so_now_and_later, 0, 5);
    tcase_add_test(tcase, a_late_answer_is_dropped_and_the_connection_lives);
    tcase_add_test(tcase, a_deadline_travels_with_each_request);
    return tcase;
}

// ---- worlds

START_TEST(a_step_hands_out_columns_and_failures) {
    FakePeer peer;
    fake_start(&peer, answer_step, NULL);
    MoreauClient *client = connect_to(&peer);
    uint64_t worlds[2] = {8, 9};
    MoreauStep step = moreau_step_default();
    step.worlds = worlds;
    step.world_count = 2;
    step.steps = 10;
    MoreauReply *reply;
    MoreauStepResult result;
    ck_assert_int_eq(moreau_world_step(client, &step, &reply, &result), MOREAU_OK);
    ck_assert_uint_eq(result.world_count, 2);
    ck_assert_uint_eq(result.steps_done[1], 3);
    ck_assert(result.time[0] == 0.5);
    ck_assert(result.pose[2] == 3.0);
    ck_assert(result.last.e_own[1] == 2e-3);
    ck_assert_uint_eq(result.idle[1], 4);
    ck_assert_uint_eq(result.idle_steps[1], 7);
    ck_assert_ptr_null(result.softened_steps); // none of any world
    ck_assert_ptr_null(result.velocity);       // not sent
    ck_assert_ptr_null(result.last.e_mom);     // not sent
    ck_assert_uint_eq(result.failure_count, 1);
    MoreauError failure;
    ck_assert(moreau_reply_failure(reply, 0, &failure));
    ck_assert_int_eq(failure.status, MOREAU_ABORTED);
    ck_assert_uint_eq(failure.world, 9);
    ck_assert_uint_eq(failure.step, 4);
    ck_assert(!moreau_reply_failure(reply, 1, &failure));
    moreau_disconnect(client);
    ck_assert(result.pose[0] == 1.0); // a reply outlives its client
    moreau_reply_free(reply);
    fake_stop(&peer);
}
END_TEST

START_TEST(settings_and_parameters_arrive_where_they_belong) {
    Moreau__V1__Request *seen = NULL;
    FakePeer peer;
    fake_start(&peer, capture_create, &seen);
    MoreauClient *client = connect_to(&peer);
    const MoreauParameter parameters[] = {
        {"tolerance", 1e-9}, {"friction", 1}, {"max_iterations", 77}};
    MoreauWorldDef def = moreau_world_def_default();
    def.name = "moon";
    def.settings.given = MOREAU_GRAVITY | MOREAU_TIME_STEP | MOREAU_INTEGRATOR | MOREAU_ROTATION |
                         MOREAU_RECOVERY_SPEED | MOREAU_BOUNDS | MOREAU_SLEEP_SPEED |
                         MOREAU_SLEEP_TIME;
    def.settings.sleep_speed = 0.02;
    def.settings.sleep_time = 1.5;
    def.settings.integrator = MOREAU_INTEGRATOR_IMPLICIT;
    def.settings.rotation = MOREAU_ROTATION_EXPLICIT;
    def.settings.recovery_speed = 3.5;
    def.settings.bounds_lower[1] = -4.0;
    def.settings.bounds_upper[2] = 5.0;
    def.settings.gravity[2] = -1.62;
    def.settings.time_step = 0.01;
    def.settings.solver = "mdp";
    def.settings.parameters = parameters;
    def.settings.parameter_count = 3;
    uint64_t world;
    ck_assert_int_eq(moreau_world_create(client, &def, &world), MOREAU_OK);
    ck_assert_uint_eq(world, 42);
    moreau_disconnect(client);
    fake_stop(&peer);
    const Moreau__V1__WorldSettings *settings = seen->world_create->settings;
    ck_assert_str_eq(seen->world_create->name, "moon");
    ck_assert_uint_eq(settings->n_gravity, 3);
    ck_assert(settings->gravity[2] == -1.62);
    ck_assert(settings->has_time_step && settings->time_step == 0.01);
    ck_assert(!settings->has_margin);
    ck_assert_int_eq(settings->integrator, MOREAU__V1__INTEGRATOR__KIND__IMPLICIT);
    ck_assert_int_eq(settings->rotation, MOREAU__V1__ROTATION__KIND__EXPLICIT);
    ck_assert(settings->has_recovery_speed && settings->recovery_speed == 3.5);
    ck_assert(settings->has_sleep_speed && settings->sleep_speed == 0.02);
    ck_assert(settings->has_sleep_time && settings->sleep_time == 1.5);
    ck_assert_uint_eq(settings->bounds->n_lower, 3);
    ck_assert_uint_eq(settings->bounds->n_upper, 3);
    ck_assert(settings->bounds->lower[1] == -4.0 && settings->bounds->upper[2] == 5.0);
    ck_assert(settings->parameters->mdp->tolerance == 1e-9);
    ck_assert_int_eq(settings->parameters->mdp->friction,
                     MOREAU__V1__MDP_PARAMETERS__FRICTION__COULOMB);
    ck_assert_uint_eq(settings->parameters->mdp->max_iterations, 77);
    ck_assert(!settings->parameters->mdp->has_warm_start);
    moreau__v1__request__free_unpacked(seen, NULL);
}
END_TEST

// Bounds of no size are an empty message, which takes those away that a world has.
START_TEST(bounds_of_no_size_are_none) {
    Moreau__V1__Request *seen = NULL;
    FakePeer peer;
    fake_start(&peer, capture_create, &seen);
    MoreauClient *client = connect_to(&peer);
    MoreauWorldDef def = moreau_world_def_default();
    def.settings.given = MOREAU_BOUNDS;
    uint64_t world;
    ck_assert_int_eq(moreau_world_create(client, &def, &world), MOREAU_OK);
    moreau_disconnect(client);
    fake_stop(&peer);
    const Moreau__V1__Bounds *bounds = seen->world_create->settings->bounds;
    ck_assert_ptr_nonnull(bounds);
    ck_assert_uint_eq(bounds->n_lower + bounds->n_upper, 0);
    moreau__v1__request__free_unpacked(seen, NULL);
}
END_TEST

START_TEST(settings_go_by_name_too) {
    Moreau__V1__Request *seen = NULL;
    FakePeer peer;
    fake_start(&peer, capture_create, &seen);
    MoreauClient *client = connect_to(&peer);
    const MoreauParameter others[] = {
        {"sleep_time", 2.5}, {"integrator", 3.0}, {"joint_projection", 1.0}, {"substeps", 4.0}};
    MoreauWorldDef def = moreau_world_def_default();
    def.settings.others = others;
    def.settings.other_count = 4;
    uint64_t world;
    ck_assert_int_eq(moreau_world_create(client, &def, &world), MOREAU_OK);
    moreau_disconnect(client);
    fake_stop(&peer);
    const Moreau__V1__WorldSettings *settings = seen->world_create->settings;
    ck_assert(settings->has_sleep_time && settings->sleep_time == 2.5);
    ck_assert(settings->has_integrator);
    ck_assert_int_eq(settings->integrator, MOREAU__V1__INTEGRATOR__KIND__MIDPOINT);
    ck_assert(settings->has_joint_projection && settings->joint_projection);
    ck_assert(settings->has_substeps && settings->substeps == 4);
    ck_assert(!settings->has_sleep_speed);
    moreau__v1__request__free_unpacked(seen, NULL);
}
END_TEST

START_TEST(a_setting_that_there_is_none_of_is_refused_before_it_is_sent) {
    FakePeer peer;
    fake_start(&peer, answer_pings, NULL);
    MoreauClient *client = connect_to(&peer);
    const MoreauParameter wrong[] = {
        {"sleep_tyme", 1.0}, {"gravity", 1.0}, {"solver", 1.0}, {"rotation", 0.5}};
    MoreauWorldDef def = moreau_world_def_default();
    def.settings.others = &wrong[_i];
    def.settings.other_count = 1;
    uint64_t world;
    ck_assert_int_eq(moreau_world_create(client, &def, &world), MOREAU_INVALID_ARGUMENT);
    ck_assert_str_eq(moreau_error(client)->field, wrong[_i].name);
    moreau_disconnect(client);
    fake_stop(&peer);
    ck_assert_uint_eq(peer.requests, 1); // the greeting
}
END_TEST

START_TEST(an_unknown_parameter_is_refused_before_it_is_sent) {
    FakePeer peer;
    fake_start(&peer, answer_pings, NULL);
    MoreauClient *client = connect_to(&peer);
    const MoreauParameter wrong[] = {
        {"tolerence", 1e-9}, {"max_iterations", 1.5}, {"max_iterations", -1}};
    MoreauWorldDef def = moreau_world_def_default();
    def.settings.solver = "mdp";
    def.settings.parameters = &wrong[_i];
    def.settings.parameter_count = 1;
    uint64_t world;
    ck_assert_int_eq(moreau_world_create(client, &def, &world), MOREAU_INVALID_ARGUMENT);
    ck_assert_str_eq(moreau_error(client)->field, wrong[_i].name);
    moreau_disconnect(client);
    fake_stop(&peer);
    ck_assert_uint_eq(peer.requests, 1); // the greeting
}
END_TEST

START_TEST(an_infinite_stiffness_is_left_out) {
    Moreau__V1__Request *seen = NULL;
    FakePeer peer;
    fake_start(&peer, capture_materials, &seen);
    MoreauClient *client = connect_to(&peer);
    const char *names[] = {"steel", "rubber"};
    double stiffness[] = {HUGE_VAL, 1e5};
    MoreauMaterials materials = {.count = 2, .name = names, .stiffness = stiffness};
    uint64_t ids[2];
    ck_assert_int_eq(moreau_world_add_materials(client, 1, &materials, ids), MOREAU_OK);
    ck_assert_uint_eq(ids[1], 2);
    moreau_disconnect(client);
    fake_stop(&peer);
    const Moreau__V1__WorldAddMaterials *add = seen->world_add_materials;
    ck_assert(!add->materials[0]->has_stiffness);
    ck_assert(add->materials[1]->has_stiffness && add->materials[1]->stiffness == 1e5);
    ck_assert(!add->materials[1]->has_friction);
    ck_assert_str_eq(add->materials[0]->name, "steel");
    moreau__v1__request__free_unpacked(seen, NULL);
}
END_TEST

static TCase *case_worlds(void) {
    TCase *tcase = tcase_create("worlds");
    tcase_add_test(tcase, a_step_hands_out_columns_and_failures);
    tcase_add_test(tcase, settings_and_parameters_arrive_where_they_belong);
    tcase_add_test(tcase, bounds_of_no_size_are_none);
    tcase_add_test(tcase, settings_go_by_name_too);
    tcase_add_loop_test(tcase, a_setting_that_there_is_none_of_is_refused_before_it_is_sent, 0, 4);
    tcase_add_loop_test(tcase, an_unknown_parameter_is_refused_before_it_is_sent, 0, 3);
    tcase_add_test(tcase, an_infinite_stiffness_is_left_out);
    return tcase;
}

SUITE_MAIN("clients/client", case_connection, case_pipeline, case_failures, case_worlds)
