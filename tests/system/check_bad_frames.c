// SPDX-License-Identifier: MIT
// Frames that no client should send, over real sockets: each is answered with a sentence or ends
// its connection alone; a second client, connected all the while, notices nothing.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

static ServerProcess *server;
static WireClient *witness; // must come to no harm

static void start_plain(void) {
    server = server_start("--workers 1 --frame-bytes-max 64K");
    witness = wire_open(server->address[0]);
}

static void stop_server(void) {
    wire_ping(witness);
    wire_close(witness);
    server_stop(server);
}

// ---- frames

// A whole Ping with its header; returns the length.
static size_t write_ping(uint8_t *frame, uint64_t id) {
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    Moreau__V1__Request request = wire_request(&ping);
    request.has_id = 1;
    request.id = id;
    size_t size = moreau__v1__request__pack(&request, frame + 4);
    memset(frame, 0, 4);
    frame[3] = (uint8_t)size;
    return 4 + size;
}

START_TEST(a_frame_cut_at_any_byte_harms_nobody) {
    uint8_t frame[64];
    size_t size = write_ping(frame, 7);
    for (size_t cut = 0; cut < size; cut++) {
        WireClient *client = wire_open(server->address[0]);
        wire_send_bytes(client, frame, cut);
        wire_shut(client);
        for (const Moreau__V1__Reply *reply; (reply = wire_receive(client)) != NULL;) {
            wire_expect(reply, CODE(INVALID_ARGUMENT), NULL); // it may say that the frame is cut
        }
        wire_close(client);
    }
    wire_ping(witness);
}
END_TEST

START_TEST(a_frame_that_arrives_byte_by_byte_is_a_frame) {
    uint8_t frame[64];
    size_t size = write_ping(frame, 7);
    WireClient *client = wire_open(server->address[0]);
    for (size_t i = 0; i < size; i++) {
        ck_assert(wire_send_bytes(client, frame + i, 1));
    }
    const Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_uint_eq(reply->id, 7);
    wire_close(client);
}
END_TEST

START_TEST(an_empty_frame_is_a_request_without_a_call) {
    WireClient *client = wire_open(server->address[0]);
    ck_assert(wire_send_frame(client, "", 0));
    const Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, CODE(INVALID_ARGUMENT), NULL);
    wire_ping(client);
    wire_close(client);
}
END_TEST

// lengths above the limit of 64 KiB: just above, and the largest there is
static const uint8_t oversize[][4] = {
    {0, 1, 0, 1}, {0x7f, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xff}};

START_TEST(a_length_above_the_limit_is_refused_before_its_bytes) {
    WireClient *client = wire_open(server->address[0]);
    ck_assert(wire_send_bytes(client, oversize[_i], 4));
    const Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, CODE(INVALID_ARGUMENT), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "frame-bytes-max"));
    wire_expect_end(client);
    wire_close(client);
    wire_ping(witness);
}
END_TEST

START_TEST(garbage_after_a_good_frame_spares_the_good_one) {
    uint8_t bytes[80];
    size_t size = write_ping(bytes, 7);
    memset(bytes + size, 0xee, 16);
    WireClient *client = wire_open(server->address[0]);
    ck_assert(wire_send_bytes(client, bytes, size + 16));
    const Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_ptr_nonnull(reply);
    ck_assert_uint_eq(reply->id, 7);
    wire_expect(reply, CODE(OK), NULL);
    reply = wire_receive(client);
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, CODE(INVALID_ARGUMENT), NULL);
    wire_expect_end(client);
    wire_close(client);
}
END_TEST

// No protobuf: a wire type that does not exist, a length beyond the end, an endless varint, a field
// number of zero.
static const struct {
    size_t count;
    uint8_t bytes[12];
} malformed[] = {
    {2, {0x0f, 0x01}},
    {3, {0x5a, 0x7f, 0x00}},
    {11, {0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
    {2, {0x00, 0x00}},
    {5, {0xb2, 0x02, 0x02, 0x08, 0x80}}, // world_get, its world cut off
};

START_TEST(malformed_bytes_are_named_and_end_their_connection_alone) {
    WireClient *client = wire_open(server->address[0]);
    ck_assert(wire_send_frame(client, malformed[_i].bytes, malformed[_i].count));
    const Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, CODE(INVALID_ARGUMENT), NULL);
    ck_assert_uint_eq(reply->id, 0); // it could not be read that far
    wire_expect_end(client);
    wire_close(client);
    wire_ping(witness);
}
END_TEST

static const struct {
    const char *name;
    size_t count;
    uint8_t bytes[12];
} last_words[] = {{"a length beyond the limit", 4, {0x7f, 0xff, 0xff, 0xff}},
                  {"a frame that is no message", 6, {0, 0, 0, 2, 0x0f, 0x01}}};

START_TEST(requests_before_garbage_are_answered_before_it) {
    enum { STEPS = 20 };
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client);
    uint64_t id[STEPS];
    Moreau__V1__WorldStep step = wire_step_call(&world, 50);
    for (int i = 0; i < STEPS; i++) {
        id[i] = wire_submit(client, &step);
    }
    ck_assert(wire_send_bytes(client, last_words[_i].bytes, last_words[_i].count));
    for (int i = 0; i < STEPS; i++) {
        const Moreau__V1__Reply *reply = wire_receive(client);
        ck_assert_msg(reply != NULL, "after %s reply %d is missing", last_words[_i].name, i);
        wire_expect(reply, CODE(OK), NULL);
        ck_assert_uint_eq(reply->id, id[i]);
    }
    const Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, CODE(INVALID_ARGUMENT), NULL);
    ck_assert_uint_eq(reply->id, 0);
    wire_expect_end(client);
    wire_close(client);
}
END_TEST

// ---- requests

START_TEST(an_unknown_call_is_named_and_the_connection_lives) {
    // id 5; field 199, a message of no bytes
    static const uint8_t body[] = {0x08, 5, 0xba, 0x0c, 0};
    WireClient *client = wire_open(server->address[0]);
    ck_assert(wire_send_frame(client, body, sizeof(body)));
    const Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, CODE(UNIMPLEMENTED), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "199"));
    ck_assert_uint_eq(reply->id, 5);
    wire_ping(client);
    wire_close(client);
}
END_TEST

START_TEST(unknown_fields_beside_a_known_call_are_ignored) {
    // id 6, ping, field 1999 of type varint
    static const uint8_t body[] = {0x08, 6, 0x5a, 0, 0xf8, 0x7c, 1};
    WireClient *client = wire_open(server->address[0]);
    ck_assert(wire_send_frame(client, body, sizeof(body)));
    const Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, CODE(OK), NULL);
    wire_close(client);
}
END_TEST

START_TEST(a_request_without_a_call_is_refused) {
    WireClient *client = wire_open(server->address[0]);
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    uint64_t id = wire_submit_request(client, &request);
    const Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_ptr_nonnull(reply);
    ck_assert_uint_eq(reply->id, id);
    wire_expect(reply, CODE(INVALID_ARGUMENT), NULL);
    wire_ping(client);
    wire_close(client);
}
END_TEST

START_TEST(an_id_in_flight_cannot_be_used_again) {
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, UINT64_C(1000000000));
    Moreau__V1__Request long_request = wire_request(&step);
    long_request.has_id = 1;
    long_request.id = 77;
    wire_submit_request(client, &long_request);
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    Moreau__V1__Request again = wire_request(&ping);
    again.has_id = 1;
    again.id = 77;
    wire_submit_request(client, &again);
    const Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, CODE(ALREADY_EXISTS), "id");
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1;
    cancel.request = 77;
    wire_submit(client, &cancel);
    // the answer of Cancel and that of what it stopped come in either order
    bool stopped = false, found = false;
    for (int i = 0; i < 2; i++) {
        reply = wire_receive(client);
        ck_assert_ptr_nonnull(reply);
        if (reply->id == 77) {
            wire_expect(reply, CODE(CANCELLED), NULL);
            stopped = true;
        } else {
            found = reply->cancel->found;
        }
    }
    ck_assert(stopped && found);
    // and once it is answered the id is free
    wire_submit_request(client, &again);
    reply = wire_receive(client);
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, CODE(OK), NULL);
    wire_close(client);
}
END_TEST

static const char *const no_utf8[] = {"\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80",
                                      "ab\xe2\x82"};

START_TEST(text_that_is_no_utf8_is_refused_by_name) {
    WireClient *client = wire_open(server->address[0]);
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.name = (char *)(uintptr_t)no_utf8[_i];
    wire_refuse(client, &create, CODE(INVALID_ARGUMENT), "name");
    Moreau__V1__SceneBody body = MOREAU__V1__SCENE_BODY__INIT;
    Moreau__V1__SceneBody *bodies[] = {&body};
    Moreau__V1__Scene scene = MOREAU__V1__SCENE__INIT;
    body.name = create.name;
    scene.n_bodies = 1;
    scene.bodies = bodies;
    create.name = NULL;
    create.scene = &scene;
    wire_refuse(client, &create, CODE(INVALID_ARGUMENT), "scene.bodies[0].name");
    ck_assert_uint_eq(wire_stats(client, false)->world_count, 0);
    wire_close(client);
}
END_TEST

START_TEST(a_text_that_is_too_long_is_refused_by_name) {
    char name[257];
    memset(name, 'x', sizeof(name) - 1);
    name[256] = '\0';
    WireClient *client = wire_open(server->address[0]);
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.name = name;
    wire_refuse(client, &create, CODE(INVALID_ARGUMENT), "name");
    name[255] = '\0';
    wire_accept(client, &create);
    wire_close(client);
}
END_TEST

// The dearest message there is: each of its parts takes two bytes on the wire and hundreds in
// memory.
START_TEST(many_tiny_parts_take_bounded_memory) {
    enum { PARTS = 16000 };
    static uint8_t body[2 * PARTS + 16];
    size_t used = 0, scene_bytes = 2 * PARTS, create_bytes = scene_bytes + 4;
    const uint8_t head[] = {0x08,
                            9,
                            0xf2,
                            0x01,
                            (uint8_t)(create_bytes | 0x80),
                            (uint8_t)(create_bytes >> 7 | 0x80),
                            (uint8_t)(create_bytes >> 14),
                            0x2a,
                            (uint8_t)(scene_bytes | 0x80),
                            (uint8_t)(scene_bytes >> 7 | 0x80),
                            (uint8_t)(scene_bytes >> 14)};
    memcpy(body, head, sizeof(head));
    used = sizeof(head);
    for (int i = 0; i < PARTS; i++) {
        body[used++] = 0x2a; // Scene.bodies, an empty message
        body[used++] = 0;
    }
    WireClient *client = wire_open(server->address[0]);
    ck_assert(wire_send_frame(client, body, used));
    const Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, CODE(RESOURCE_EXHAUSTED), NULL);
    ck_assert_uint_eq(reply->id, 9); // the client knows which one
    ck_assert_uint_eq(wire_stats(client, false)->world_count, 0);
    wire_close(client);
}
END_TEST

// ---- the greeting

START_TEST(every_call_before_hello_is_refused) {
    WireClient *client = wire_connect(server->address[0]);
    const ProtobufCMessageDescriptor *request = &moreau__v1__request__descriptor;
    for (unsigned i = 0; i < request->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &request->fields[i];
        if (field->type != PROTOBUF_C_TYPE_MESSAGE || strcmp(field->name, "hello") == 0) {
            continue;
        }
        const ProtobufCMessageDescriptor *call = field->descriptor;
        max_align_t memory[64];
        ck_assert_uint_le(call->sizeof_message, sizeof(memory));
        call->message_init((ProtobufCMessage *)(void *)memory);
        wire_refuse(client, memory, CODE(FAILED_PRECONDITION), NULL);
    }
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = 1;
    wire_accept(client, &hello);
    wire_ping(client);
    wire_close(client);
}
END_TEST

START_TEST(a_second_hello_is_refused_and_the_session_stays) {
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client);
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = 1;
    wire_refuse(client, &hello, CODE(FAILED_PRECONDITION), NULL);
    wire_step(client, world, 1);
    wire_close(client);
}
END_TEST

START_TEST(another_major_is_refused_with_both_versions) {
    WireClient *client = wire_connect(server->address[0]);
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = hello.has_protocol_minor = 1;
    hello.protocol_major = 42;
    hello.protocol_minor = 3;
    const Moreau__V1__Reply *reply =
        wire_refuse(client, &hello, CODE(FAILED_PRECONDITION), "protocol_major");
    ck_assert_ptr_nonnull(strstr(reply->status->message, "42.3"));
    ck_assert_ptr_nonnull(strstr(reply->status->message, "1.0"));
    wire_expect_end(client);
    wire_close(client);
}
END_TEST

START_TEST(any_minor_is_welcome) {
    WireClient *client = wire_connect(server->address[0]);
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = hello.has_protocol_minor = 1;
    hello.protocol_major = 1;
    hello.protocol_minor = 4000000000u;
    wire_accept(client, &hello);
    wire_close(client);
}
END_TEST

static const char *const tokens[] = {NULL,           "",      "secre", "secret ", "Secret",
                                     "secretsecret", "secret"};

START_TEST(only_the_right_token_opens) {
    char folder[SERVER_FOLDER_BYTES], options[128];
    server_make_folder(folder);
    server_write(folder, "token", "secret\n");
    snprintf(options, sizeof(options), "--workers 1 --token-file %s/token", folder);
    ServerProcess *guarded = server_start(options);
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        WireClient *client = wire_connect(guarded->address[0]);
        Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
        hello.has_protocol_major = 1;
        hello.protocol_major = 1;
        hello.token = (char *)(uintptr_t)tokens[i];
        if (tokens[i] != NULL && strcmp(tokens[i], "secret") == 0) {
            wire_accept(client, &hello);
            wire_ping(client);
        } else {
            const Moreau__V1__Reply *reply =
                wire_refuse(client, &hello, CODE(UNAUTHENTICATED), "token");
            ck_assert_ptr_null(strstr(reply->status->message, "secret")); // it must not tell
            wire_expect_end(client);
        }
        wire_close(client);
    }
    server_stop(guarded);
    server_remove_folder(folder);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static TCase *case_frames(void) {
    TCase *tcase = tcase_create("frames");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start_plain, stop_server);
    tcase_add_test(tcase, a_frame_cut_at_any_byte_harms_nobody);
    tcase_add_test(tcase, a_frame_that_arrives_byte_by_byte_is_a_frame);
    tcase_add_test(tcase, an_empty_frame_is_a_request_without_a_call);
    tcase_add_loop_test(tcase, a_length_above_the_limit_is_refused_before_its_bytes, 0,
                        COUNT(oversize));
    tcase_add_test(tcase, garbage_after_a_good_frame_spares_the_good_one);
    tcase_add_loop_test(tcase, malformed_bytes_are_named_and_end_their_connection_alone, 0,
                        COUNT(malformed));
    tcase_add_loop_test(tcase, requests_before_garbage_are_answered_before_it, 0,
                        COUNT(last_words));
    return tcase;
}

static TCase *case_requests(void) {
    TCase *tcase = tcase_create("requests");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start_plain, stop_server);
    tcase_add_test(tcase, an_unknown_call_is_named_and_the_connection_lives);
    tcase_add_test(tcase, unknown_fields_beside_a_known_call_are_ignored);
    tcase_add_test(tcase, a_request_without_a_call_is_refused);
    tcase_add_test(tcase, an_id_in_flight_cannot_be_used_again);
    tcase_add_loop_test(tcase, text_that_is_no_utf8_is_refused_by_name, 0, COUNT(no_utf8));
    tcase_add_test(tcase, a_text_that_is_too_long_is_refused_by_name);
    tcase_add_test(tcase, many_tiny_parts_take_bounded_memory);
    return tcase;
}

static TCase *case_greeting(void) {
    TCase *tcase = tcase_create("greeting");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start_plain, stop_server);
    tcase_add_test(tcase, every_call_before_hello_is_refused);
    tcase_add_test(tcase, a_second_hello_is_refused_and_the_session_stays);
    tcase_add_test(tcase, another_major_is_refused_with_both_versions);
    tcase_add_test(tcase, any_minor_is_welcome);
    tcase_add_test(tcase, only_the_right_token_opens);
    return tcase;
}

SUITE_MAIN("system/bad_frames", case_frames, case_requests, case_greeting)
