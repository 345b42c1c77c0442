// SPDX-License-Identifier: MIT
#include "support/wire_crowd.h"

#include "support/net_client.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEADER_BYTES = 4, REPLY_BYTES_MAX = 20 << 20 };

uint8_t *wire_crowd_frame(const void *call, uint64_t id, size_t *count) {
    Moreau__V1__Request request = wire_request(call);
    request.has_id = 1;
    request.id = id;
    size_t size = moreau__v1__request__get_packed_size(&request);
    uint8_t *bytes = malloc(HEADER_BYTES + size);
    ck_assert_ptr_nonnull(bytes);
    for (int i = 0; i < HEADER_BYTES; i++) {
        bytes[i] = (uint8_t)(size >> (24 - 8 * i));
    }
    moreau__v1__request__pack(&request, bytes + HEADER_BYTES);
    *count = HEADER_BYTES + size;
    return bytes;
}

bool wire_crowd_push(int fd, const void *bytes, size_t count) {
    return send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)count;
}

bool wire_crowd_call(int fd, const void *call, uint64_t id) {
    size_t count;
    uint8_t *bytes = wire_crowd_frame(call, id, &count);
    bool sent = wire_crowd_push(fd, bytes, count);
    free(bytes);
    return sent;
}

bool wire_crowd_read(int fd, size_t replies) {
    uint8_t *reply = malloc(REPLY_BYTES_MAX);
    ck_assert_ptr_nonnull(reply);
    bool is_open = true;
    for (size_t i = 0; i < replies && is_open; i++) {
        is_open = net_client_receive_frame(fd, reply, REPLY_BYTES_MAX) >= 0;
    }
    free(reply);
    return is_open;
}

static void greet(int fd) {
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = 1;
    hello.client = (char *)"crowd";
    ck_assert(wire_crowd_call(fd, &hello, 1));
}

void wire_crowd_join(Crowd *crowd, const char *address, size_t count, bool greets, bool narrow) {
    ck_assert_uint_le(crowd->count + count, CROWD_MAX);
    size_t first = crowd->count;
    for (size_t i = 0; i < count; i++) {
        int fd = narrow ? net_client_connect_narrow(address) : net_client_connect(address);
        ck_assert_msg(fd >= 0, "%s refuses connection %zu", address, crowd->count + 1);
        crowd->fd[crowd->count++] = fd;
        if (greets) {
            greet(fd);
        }
    }
    for (size_t i = first; i < crowd->count && greets; i++) {
        ck_assert_msg(wire_crowd_read(crowd->fd[i], 1), "connection %zu is not welcome", i + 1);
    }
}

int wire_crowd_member(const char *address) {
    Crowd crowd = {0};
    wire_crowd_join(&crowd, address, 1, true, false);
    return crowd.fd[0];
}

void wire_crowd_vanish(Crowd *crowd) {
    static const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    for (size_t i = 0; i < crowd->count; i++) {
        setsockopt(crowd->fd[i], SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    }
    wire_crowd_leave(crowd);
}

void wire_crowd_leave(Crowd *crowd) {
    for (size_t i = 0; i < crowd->count; i++) {
        close(crowd->fd[i]);
    }
    crowd->count = 0;
}
