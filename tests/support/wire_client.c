// SPDX-License-Identifier: MIT
#include "support/wire_client.h"

#include "support/machine.h"
#include "support/net_client.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FRAME_BYTES_MAX = 64 << 20, HEADER_BYTES = 4 };

struct WireClient {
    int fd;
    uint64_t id_last;
    Moreau__V1__Reply **reply; // owned
    size_t reply_count, reply_capacity;
};

// ---- life

WireClient *wire_connect(const char *address) {
    WireClient *client = calloc(1, sizeof(*client));
    ck_assert_ptr_nonnull(client);
    client->fd = net_client_connect(address);
    ck_assert_msg(client->fd >= 0, "%s refuses the connection", address);
    return client;
}

WireClient *wire_open(const char *address) {
    WireClient *client = wire_connect(address);
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = 1;
    hello.client = (char *)"test";
    wire_accept(client, &hello);
    return client;
}

void wire_close(WireClient *client) {
    for (size_t i = 0; i < client->reply_count; i++) {
        moreau__v1__reply__free_unpacked(client->reply[i], NULL);
    }
    free(client->reply);
    close(client->fd);
    free(client);
}

void wire_shut(WireClient *client) {
    shutdown(client->fd, SHUT_WR);
}

// ---- sending

bool wire_send_bytes(WireClient *client, const void *bytes, size_t count) {
    return net_client_write(client->fd, bytes, count);
}

bool wire_send_frame(WireClient *client, const void *body, size_t count) {
    return net_client_send_frame(client->fd, body, count);
}

Moreau__V1__Request wire_request(const void *call) {
    const ProtobufCMessage *message = call;
    const ProtobufCMessageDescriptor *descriptor = &moreau__v1__request__descriptor;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        if (descriptor->fields[i].descriptor == message->descriptor) {
            request.call_case = (Moreau__V1__Request__CallCase)descriptor->fields[i].id;
            request.ping = (Moreau__V1__Ping *)(uintptr_t)call; // all calls stand at one place
        }
    }
    ck_assert_msg(request.call_case != 0, "%s is no call", message->descriptor->name);
    return request;
}

uint64_t wire_submit_request(WireClient *client, Moreau__V1__Request *request) {
    if (!request->has_id) {
        request->has_id = 1;
        request->id = ++client->id_last;
    }
    size_t size = moreau__v1__request__get_packed_size(request);
    uint8_t *body = malloc(size + 1);
    ck_assert_ptr_nonnull(body);
    moreau__v1__request__pack(request, body);
    ck_assert_msg(wire_send_frame(client, body, size), "the server closed the connection");
    free(body);
    return request->id;
}

uint64_t wire_submit(WireClient *client, const void *call) {
    Moreau__V1__Request request = wire_request(call);
    return wire_submit_request(client, &request);
}

// ---- receiving

bool wire_waits(WireClient *client, int timeout_ms) {
    struct pollfd wait = {.fd = client->fd, .events = POLLIN};
    return poll(&wait, 1, timeout_ms) == 1;
}

static void keep(WireClient *client, Moreau__V1__Reply *reply) {
    if (client->reply_count == client->reply_capacity) {
        client->reply_capacity = 2 * client->reply_capacity + 16;
        client->reply = realloc(client->reply, client->reply_capacity * sizeof(*client->reply));
        ck_assert_ptr_nonnull(client->reply);
    }
    client->reply[client->reply_count++] = reply;
}

static uint32_t read_length(const uint8_t header[HEADER_BYTES]) {
    return (uint32_t)header[0] << 24 | (uint32_t)header[1] << 16 | (uint32_t)header[2] << 8 |
           header[3];
}

Moreau__V1__Reply *wire_receive(WireClient *client) {
    uint8_t header[HEADER_BYTES];
    ck_assert_msg(wire_waits(client, PATIENCE_MS), "no reply within %d ms", PATIENCE_MS);
    if (!net_client_read(client->fd, header, sizeof(header))) {
        return NULL;
    }
    uint32_t size = read_length(header);
    ck_assert_uint_le(size, FRAME_BYTES_MAX);
    uint8_t *body = malloc(size + 1);
    ck_assert_ptr_nonnull(body);
    ck_assert_msg(net_client_read(client->fd, body, size), "a reply was cut off");
    Moreau__V1__Reply *reply = moreau__v1__reply__unpack(NULL, size, body);
    free(body);
    ck_assert_msg(reply != NULL && reply->status != NULL, "this is no reply");
    keep(client, reply);
    return reply;
}

void wire_expect_end(WireClient *client) {
    const Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_msg(reply == NULL, "a reply came where the connection should have ended: %s",
                  reply == NULL ? "" : reply->status->message);
}

// ---- calls

Moreau__V1__Reply *wire_call_within(WireClient *client, const void *call, uint32_t deadline_ms) {
    Moreau__V1__Request request = wire_request(call);
    request.has_deadline_ms = deadline_ms > 0;
    request.deadline_ms = deadline_ms;
    uint64_t id = wire_submit_request(client, &request);
    for (;;) {
        Moreau__V1__Reply *reply = wire_receive(client);
        ck_assert_msg(reply != NULL, "the server closed the connection instead of answering");
        ck_assert_uint_eq(reply->id, id);
        if (!reply->event) { // on a busy machine any long call says how far it is
            return reply;
        }
    }
}

Moreau__V1__Reply *wire_call(WireClient *client, const void *call) {
    return wire_call_within(client, call, 0);
}

static void expect_status(const Moreau__V1__Status *status, Moreau__V1__Status__Code code,
                          const char *field) {
    const char *message = status->message == NULL ? "" : status->message;
    const char *blamed = status->field == NULL ? "" : status->field;
    ck_assert_msg(status->code == code, "status %d, not %d; field '%s': %s", status->code, code,
                  blamed, message);
    ck_assert_msg(field == NULL || strcmp(field, blamed) == 0, "blamed is '%s', not '%s': %s",
                  blamed, field, message);
    // what a person is told is a sentence
    ck_assert_msg(code == MOREAU__V1__STATUS__CODE__OK || strlen(message) > 10,
                  "the status says only '%s'", message);
}

void wire_expect(const Moreau__V1__Reply *reply, Moreau__V1__Status__Code code, const char *field) {
    expect_status(reply->status, code, field);
}

Moreau__V1__Reply *wire_refuse(WireClient *client, const void *call, Moreau__V1__Status__Code code,
                               const char *field) {
    Moreau__V1__Reply *reply = wire_call(client, call);
    wire_expect(reply, code, field);
    return reply;
}

Moreau__V1__Reply *wire_accept(WireClient *client, const void *call) {
    return wire_refuse(client, call, MOREAU__V1__STATUS__CODE__OK, NULL);
}

Moreau__V1__Reply *wire_fail(WireClient *client, const void *call, Moreau__V1__Status__Code code,
                             const char *field) {
    Moreau__V1__Reply *reply = wire_accept(client, call);
    bool is_step = reply->result_case == MOREAU__V1__REPLY__RESULT_WORLD_STEP;
    if (!is_step) {
        ck_assert_int_eq(reply->result_case, MOREAU__V1__REPLY__RESULT_WORLD_HASH);
    }
    size_t count = is_step ? reply->world_step->n_failures : reply->world_hash->n_failures;
    ck_assert_uint_eq(count, 1);
    expect_status(is_step ? reply->world_step->failures[0] : reply->world_hash->failures[0], code,
                  field);
    return reply;
}

void wire_ping(WireClient *client) {
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    ping.has_payload = 1;
    ping.payload = 0x1234567890abcdefu;
    const Moreau__V1__Reply *reply = wire_accept(client, &ping);
    ck_assert_int_eq(reply->result_case, MOREAU__V1__REPLY__RESULT_PONG);
    ck_assert_uint_eq(reply->pong->payload, ping.payload);
}
