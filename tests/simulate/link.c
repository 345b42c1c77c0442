// SPDX-License-Identifier: MIT
#include "simulate/link.h"

#include "simulate/schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { HEADER_BYTES = 4, FRAME_BYTES_MAX = 64 << 20, READ_BYTES = 65536 };
static const uint64_t patience_ns = 90000000000u;

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr,
            "simulate: at %.6f s: ", (double)(schedule_now_ns() - schedule_begin_ns()) * 1e-9);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    _exit(EXIT_FAILURE);
}

// Room for `count` bytes, which the caller then owns.
static uint8_t *reserve(uint8_t *bytes, size_t *capacity, size_t count) {
    if (bytes == NULL || count > *capacity) {
        *capacity = 2 * count + 1024;
        bytes = realloc(bytes, *capacity);
    }
    if (bytes == NULL) {
        fail("no memory");
    }
    return bytes;
}

// ---- life

bool link_open(Link *link, const char *path, Dice *dice) {
    *link = (Link){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    link->dice = dice;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (link->fd < 0 || strlen(path) >= sizeof(address.sun_path)) {
        fail("no socket for %s", path);
    }
    memcpy(address.sun_path, path, strlen(path));
    while (connect(link->fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        if (errno != EAGAIN) {
            link_close(link);
            return false;
        }
        schedule_sleep(1000000);
    }
    schedule_point();
    return true;
}

void link_close(Link *link) {
    if (link->fd >= 0) {
        close(link->fd);
        link->fd = -1;
    }
    free(link->input);
    link->input = NULL;
    link->input_count = link->input_capacity = 0;
    schedule_point();
}

// ---- sending

// Half of the pieces are whole, the others of any size.
static size_t piece(Link *link, size_t count) {
    return dice_chance(link->dice, 50) ? count : 1 + (size_t)dice_roll(link->dice, count);
}

bool link_send(Link *link, const uint8_t *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = write(link->fd, bytes, piece(link, count));
        if (sent < 0 && errno == EAGAIN) {
            schedule_wait_fd(link->fd, POLLOUT, SCHEDULE_FOREVER);
            continue;
        }
        if (sent < 0) {
            return false;
        }
        bytes += sent;
        count -= (size_t)sent;
        schedule_point();
    }
    return true;
}

Moreau__V1__Request link_request(const void *call) {
    const ProtobufCMessage *message = call;
    const ProtobufCMessageDescriptor *descriptor = &moreau__v1__request__descriptor;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        if (descriptor->fields[i].descriptor == message->descriptor) {
            request.call_case = (Moreau__V1__Request__CallCase)descriptor->fields[i].id;
            request.ping = (Moreau__V1__Ping *)(uintptr_t)call; // all calls stand at one place
        }
    }
    return request;
}

void link_pack(LinkBytes *bytes, const Moreau__V1__Request *request) {
    size_t count = moreau__v1__request__get_packed_size(request);
    bytes->bytes = reserve(bytes->bytes, &bytes->capacity, bytes->count + HEADER_BYTES + count);
    uint8_t *at = bytes->bytes + bytes->count;
    for (size_t i = 0; i < HEADER_BYTES; i++) {
        at[i] = (uint8_t)(count >> (24 - 8 * i));
    }
    moreau__v1__request__pack(request, at + HEADER_BYTES);
    bytes->count += HEADER_BYTES + count;
}

// ---- receiving

static size_t frame_bytes(const Link *link) {
    const uint8_t *at = link->input;
    if (link->input_count < HEADER_BYTES) {
        return 0;
    }
    size_t count = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
    if (count > FRAME_BYTES_MAX) {
        fail("a reply of %zu bytes was announced", count);
    }
    return HEADER_BYTES + count;
}

static Moreau__V1__Reply *take_reply(Link *link) {
    size_t count = frame_bytes(link);
    if (count == 0 || link->input_count < count) {
        return NULL;
    }
    Moreau__V1__Reply *reply =
        moreau__v1__reply__unpack(NULL, count - HEADER_BYTES, link->input + HEADER_BYTES);
    if (reply == NULL || reply->status == NULL) {
        fail("%zu bytes came that are no reply", count);
    }
    link->input_count -= count;
    memmove(link->input, link->input + count, link->input_count);
    return reply;
}

LinkResult link_receive(Link *link, Moreau__V1__Reply **reply) {
    uint64_t until_ns = schedule_now_ns() + patience_ns;
    while ((*reply = take_reply(link)) == NULL) {
        link->input = reserve(link->input, &link->input_capacity, link->input_count + READ_BYTES);
        ssize_t count = read(link->fd, link->input + link->input_count, piece(link, READ_BYTES));
        if (count > 0) {
            link->input_count += (size_t)count;
        } else if (count == 0 || errno != EAGAIN) {
            return LINK_GONE;
        } else if (!schedule_wait_fd(link->fd, POLLIN, until_ns)) {
            return LINK_LATE;
        }
    }
    return LINK_REPLY;
}

bool link_wait(Link *link, uint64_t until_ns) {
    const size_t count = frame_bytes(link);
    return (count > 0 && link->input_count >= count) ||
           schedule_wait_fd(link->fd, POLLIN, until_ns);
}

Moreau__V1__Reply *link_ask(Link *link, const void *message, uint64_t id) {
    LinkBytes bytes = {0};
    Moreau__V1__Request request = link_request(message);
    request.has_id = 1;
    request.id = id;
    link_pack(&bytes, &request);
    LinkResult result = link_send(link, bytes.bytes, bytes.count) ? LINK_REPLY : LINK_GONE;
    free(bytes.bytes);
    Moreau__V1__Reply *reply = NULL;
    while (result == LINK_REPLY && reply == NULL) {
        result = link_receive(link, &reply);
        if (reply != NULL && reply->id != id) {
            fail("the answer to request %llu names %llu", (unsigned long long)id,
                 (unsigned long long)reply->id);
        }
        if (reply != NULL && reply->event) {
            moreau__v1__reply__free_unpacked(reply, NULL);
            reply = NULL;
        }
    }
    if (result == LINK_LATE) {
        fail("no answer to %s", ((const ProtobufCMessage *)message)->descriptor->name);
    }
    return reply;
}
