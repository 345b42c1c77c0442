// SPDX-License-Identifier: MIT
// A network peer for client tests: a thread that accepts one connection on a local port and speaks
// frames, as a script says. A script is a function that runs on that thread with the connected
// socket; the helpers below read requests and write replies.
#pragma once

#include "moreau.pb-c.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct FakePeer FakePeer;
typedef void FakePeerScript(FakePeer *peer);

struct FakePeer {
    int listener, fd;
    char address[64];
    pthread_t thread;
    FakePeerScript *script;
    void *context;
    size_t requests;       // read so far
    uint64_t requests_max; // how many may wait at once, as the greeting says; 0: it says nothing
};

static inline bool fake_read(int fd, void *bytes, size_t count) {
    size_t done = 0;
    while (done < count) {
        ssize_t got = recv(fd, (char *)bytes + done, count - done, 0);
        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static inline void fake_write(int fd, const void *bytes, size_t count) {
    size_t done = 0;
    while (done < count) {
        ssize_t put = send(fd, (const char *)bytes + done, count - done, MSG_NOSIGNAL);
        if (put <= 0) {
            return;
        }
        done += (size_t)put;
    }
}

// The next request; NULL when the client has gone. Freed with moreau__v1__request__free_unpacked.
static inline Moreau__V1__Request *fake_receive(FakePeer *peer) {
    uint8_t header[4];
    if (!fake_read(peer->fd, header, sizeof(header))) {
        return NULL;
    }
    size_t count =
        (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3];
    uint8_t *body = malloc(count + 1);
    Moreau__V1__Request *request = NULL;
    if (fake_read(peer->fd, body, count)) {
        request = moreau__v1__request__unpack(NULL, count, body);
        peer->requests++;
    }
    free(body);
    return request;
}

static inline void fake_send_header(FakePeer *peer, size_t count) {
    uint8_t header[4] = {(uint8_t)(count >> 24), (uint8_t)(count >> 16), (uint8_t)(count >> 8),
                         (uint8_t)count};
    fake_write(peer->fd, header, sizeof(header));
}

static inline void fake_send(FakePeer *peer, Moreau__V1__Reply *reply, uint64_t id) {
    reply->has_id = 1;
    reply->id = id;
    size_t count = moreau__v1__reply__get_packed_size(reply);
    uint8_t *body = malloc(count + 1);
    moreau__v1__reply__pack(reply, body);
    fake_send_header(peer, count);
    fake_write(peer->fd, body, count);
    free(body);
}

static inline void fake_send_status(FakePeer *peer, uint64_t id, Moreau__V1__Status__Code code,
                                    const char *field, const char *message) {
    Moreau__V1__Status status = MOREAU__V1__STATUS__INIT;
    status.has_code = 1;
    status.code = code;
    status.field = (char *)field;
    status.message = (char *)message;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.status = &status;
    fake_send(peer, &reply, id);
}

static inline void fake_send_pong(FakePeer *peer, uint64_t id, uint64_t payload) {
    Moreau__V1__Pong pong = MOREAU__V1__PONG__INIT;
    pong.has_payload = 1;
    pong.payload = payload;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_PONG;
    reply.pong = &pong;
    fake_send(peer, &reply, id);
}

// Answers Hello as a server of protocol `major` that takes everyone.
static inline bool fake_welcome(FakePeer *peer, uint32_t major) {
    Moreau__V1__Request *request = fake_receive(peer);
    if (request == NULL) {
        return false;
    }
    uint64_t id = request->id;
    bool is_hello = request->call_case == MOREAU__V1__REQUEST__CALL_HELLO;
    moreau__v1__request__free_unpacked(request, NULL);
    Moreau__V1__Limit limit = MOREAU__V1__LIMIT__INIT, requests = MOREAU__V1__LIMIT__INIT;
    limit.name = (char *)"frame_bytes";
    limit.has_value = requests.has_value = 1;
    limit.value = 16777216;
    requests.name = (char *)"requests-max";
    requests.value = peer->requests_max;
    Moreau__V1__Limit *limits[] = {&limit, &requests};
    Moreau__V1__Welcome welcome = MOREAU__V1__WELCOME__INIT;
    welcome.server_version = (char *)"9.8.7";
    welcome.session = (char *)"session-1";
    welcome.has_protocol_major = 1;
    welcome.protocol_major = major;
    welcome.n_limits = peer->requests_max > 0 ? 2 : 1;
    welcome.limits = limits;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_WELCOME;
    reply.welcome = &welcome;
    fake_send(peer, &reply, id);
    return is_hello;
}

static inline void *fake_run(void *context) {
    FakePeer *peer = context;
    peer->fd = accept(peer->listener, NULL, NULL);
    if (peer->fd >= 0) {
        int on = 1; // header and body are two writes
        setsockopt(peer->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        peer->script(peer);
        close(peer->fd);
    }
    return NULL;
}

static inline void fake_start(FakePeer *peer, FakePeerScript *script, void *context) {
    *peer = (FakePeer){.listener = socket(AF_INET, SOCK_STREAM, 0),
                       .fd = -1,
                       .script = script,
                       .context = context};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(address);
    if (bind(peer->listener, (struct sockaddr *)&address, bytes) != 0 ||
        listen(peer->listener, 1) != 0 ||
        getsockname(peer->listener, (struct sockaddr *)&address, &bytes) != 0) {
        abort();
    }
    snprintf(peer->address, sizeof(peer->address), "127.0.0.1:%u", ntohs(address.sin_port));
    pthread_create(&peer->thread, NULL, fake_run, peer);
}

// Waits for the script's end; the client must have disconnected.
static inline void fake_stop(FakePeer *peer) {
    pthread_join(peer->thread, NULL);
    close(peer->listener);
}
