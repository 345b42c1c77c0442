// SPDX-License-Identifier: MIT
#include "client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define READ_BYTES_MIN ((size_t)64 << 10)

bool bytes_reserve(Bytes *bytes, size_t more) {
    if (bytes->capacity - bytes->count >= more) {
        return true;
    }
    // what was used up makes room first
    if (bytes->first > 0) {
        memmove(bytes->data, bytes->data + bytes->first, bytes->count - bytes->first);
        bytes->count -= bytes->first;
        bytes->first = 0;
        if (bytes->capacity - bytes->count >= more) {
            return true;
        }
    }
    size_t needed = bytes->count + more;
    size_t grown = bytes->capacity + bytes->capacity / 2;
    size_t capacity = grown > needed ? grown : needed;
    uint8_t *data = realloc(bytes->data, capacity);
    if (data == NULL) {
        return false;
    }
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

void wire_put_header(uint8_t header[FRAME_HEADER_BYTES], size_t body_bytes) {
    header[0] = (uint8_t)(body_bytes >> 24);
    header[1] = (uint8_t)(body_bytes >> 16);
    header[2] = (uint8_t)(body_bytes >> 8);
    header[3] = (uint8_t)body_bytes;
}

// The body length of the frame at `first`; false while its header is incomplete.
static bool announced_at(const Bytes *in, size_t first, size_t *body_bytes) {
    if (in->count - first < FRAME_HEADER_BYTES) {
        return false;
    }
    const uint8_t *header = in->data + first;
    *body_bytes =
        (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3];
    return true;
}

// That of the frame that starts client->in.
static bool announced(const MoreauClient *client, size_t *body_bytes) {
    return announced_at(&client->in, client->in.first, body_bytes);
}

void wire_drop_piece(MoreauClient *client) {
    Bytes *in = &client->in;
    size_t end = in->first, body_bytes;
    while (announced_at(in, end, &body_bytes) &&
           in->count - end - FRAME_HEADER_BYTES >= body_bytes) {
        end += FRAME_HEADER_BYTES + body_bytes;
    }
    in->count = end;
}

bool wire_has_frame(const MoreauClient *client) {
    size_t body_bytes;
    return announced(client, &body_bytes) &&
           client->in.count - client->in.first - FRAME_HEADER_BYTES >= body_bytes;
}

// What another protocol says first, taken for the header of a frame: of more than 1 GiB, which no
// server sends.
static bool begins(const MoreauClient *client, const char start[FRAME_HEADER_BYTES]) {
    const Bytes *in = &client->in;
    return in->count - in->first >= FRAME_HEADER_BYTES &&
           memcmp(in->data + in->first, start, FRAME_HEADER_BYTES) == 0;
}

// Another program's port. What came from it is no frame, and is forgotten.
static MoreauStatus check_protocol(MoreauClient *client) {
    static const struct {
        char start[FRAME_HEADER_BYTES + 1];
        const char *says;
    } others[] = {
        {"HTTP", "%s answers in HTTP: this is the server's http port (its option --http), where "
                 "the pages are; connect to an address of its --listen"},
        {"SSH-", "%s answers in SSH: to reach a server on that machine, run ssh -N -L "
                 "7667:127.0.0.1:7667 HOST and connect to 127.0.0.1:7667"},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (begins(client, others[i].start)) {
            client->in.first = client->in.count = 0;
            return client_lose(client, MOREAU_FAILED_PRECONDITION, others[i].says, client->address);
        }
    }
    return MOREAU_OK;
}

// The announced length is judged before its bytes are waited for.
static MoreauStatus check_length(MoreauClient *client) {
    size_t body_bytes;
    const MoreauStatus status = check_protocol(client);
    if (status != MOREAU_OK) {
        return status;
    }
    if (announced(client, &body_bytes) && body_bytes > client->options.reply_bytes_max) {
        client->in.first = 0; // nothing after this header can be read any more
        client->in.count = 0;
        return client_lose(
            client, MOREAU_RESOURCE_EXHAUSTED,
            "an answer of %zu bytes is above reply_bytes_max, %zu; the connection was "
            "closed",
            body_bytes, client->options.reply_bytes_max);
    }
    return MOREAU_OK;
}

static ssize_t receive(MoreauClient *client, void *bytes, size_t count) {
    return client->tls != NULL ? secure_receive(client, bytes, count)
                               : recv(client->fd, bytes, count, 0);
}

// Bytes that TLS has read from the socket and that nobody would be woken for.
static MoreauStatus take_pending(MoreauClient *client) {
    for (size_t pending; client->tls != NULL && (pending = secure_pending(client)) > 0;) {
        if (!bytes_reserve(&client->in, pending)) {
            return client_lose(client, MOREAU_RESOURCE_EXHAUSTED,
                               "no memory for an answer of %zu bytes", pending);
        }
        ssize_t count = receive(client, client->in.data + client->in.count, pending);
        if (count <= 0) {
            return count == SECURE_LOST ? client->error.status : MOREAU_OK;
        }
        client->in.count += (size_t)count;
    }
    return MOREAU_OK;
}

// Reads what the socket has, up to what the present frame needs and a piece more.
static MoreauStatus read_some(MoreauClient *client) {
    size_t room = READ_BYTES_MIN;
    size_t body_bytes;
    if (announced(client, &body_bytes)) {
        size_t there = client->in.count - client->in.first - FRAME_HEADER_BYTES;
        if (body_bytes > there && body_bytes - there > room) {
            room = body_bytes - there;
        }
    }
    if (!bytes_reserve(&client->in, room)) {
        return client_lose(client, MOREAU_RESOURCE_EXHAUSTED,
                           "no memory for an answer of %zu bytes", room);
    }
    ssize_t count = receive(client, client->in.data + client->in.count, room);
    if (count > 0) {
        client->in.count += (size_t)count;
        MoreauStatus status = take_pending(client);
        return status == MOREAU_OK ? check_length(client) : status;
    }
    if (count == SECURE_LOST) {
        return client->error.status;
    }
    if (count == 0) {
        return client_lose(client, MOREAU_UNAVAILABLE, "the server at %s closed the connection",
                           client->address);
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
        return MOREAU_OK;
    }
    return client_lose(client, MOREAU_UNAVAILABLE, "the connection to %s was lost: %s",
                       client->address, strerror(errno));
}

// Waits for `events`; *got is 0 when the time was over first.
static MoreauStatus wait_for(MoreauClient *client, short events, int64_t give_up_ms, short *got) {
    for (;;) {
        int wait_ms = -1;
        if (give_up_ms >= 0) {
            int64_t left_ms = give_up_ms - client_now_ms();
            wait_ms = left_ms > 0 ? (int)left_ms : 0;
        }
        struct pollfd entry = {client->fd, events, 0};
        int ready = poll(&entry, 1, wait_ms);
        if (ready >= 0) {
            *got = ready > 0 ? entry.revents : 0;
            return MOREAU_OK;
        }
        if (errno != EINTR) {
            return client_lose(client, MOREAU_UNAVAILABLE, "cannot wait for %s: %s",
                               client->address, strerror(errno));
        }
    }
}

MoreauStatus wire_flush(MoreauClient *client) {
    Bytes *out = &client->out;
    while (out->first < out->count) {
        const uint8_t *bytes = out->data + out->first;
        size_t left = out->count - out->first;
        ssize_t count = client->tls != NULL ? secure_send(client, bytes, left)
                                            : send(client->fd, bytes, left, MSG_NOSIGNAL);
        if (count == SECURE_LOST) {
            return client->error.status;
        }
        if (count > 0) {
            out->first += (size_t)count;
            continue;
        }
        if (errno == EINTR) {
            continue;
        }
        if (errno != EAGAIN && errno != EWOULDBLOCK) {
            break; // a refusal may have come before the close: it says more, so the reader decides
        }
        short got = 0;
        MoreauStatus status = wait_for(client, POLLIN | POLLOUT, -1, &got);
        if (status == MOREAU_OK && (got & POLLIN) != 0) {
            status = read_some(client);
        }
        if (status != MOREAU_OK) {
            if (wire_has_frame(client)) {
                break;
            }
            return status;
        }
    }
    out->first = 0;
    out->count = 0;
    return MOREAU_OK;
}

// Cuts the first frame out of client->in.
static MoreauStatus take_frame(MoreauClient *client, size_t body_bytes, MoreauReply **result) {
    MoreauReply *reply = calloc(1, sizeof(*reply));
    uint8_t *bytes = malloc(body_bytes > 0 ? body_bytes : 1);
    if (reply == NULL || bytes == NULL) {
        free(reply);
        free(bytes);
        return client_lose(client, MOREAU_RESOURCE_EXHAUSTED,
                           "no memory for an answer of %zu bytes", body_bytes);
    }
    Bytes *in = &client->in;
    memcpy(bytes, in->data + in->first + FRAME_HEADER_BYTES, body_bytes);
    in->first += FRAME_HEADER_BYTES + body_bytes;
    if (in->first == in->count) {
        in->first = 0;
        in->count = 0;
    }
    reply->bytes = bytes;
    reply->byte_count = body_bytes;
    reply->message = moreau__v1__reply__unpack(NULL, body_bytes, bytes);
    if (reply->message == NULL) {
        moreau_reply_free(reply);
        return client_lose(client, MOREAU_DATA_LOSS,
                           "what came from %s is no answer of a Moreau server", client->address);
    }
    *result = reply;
    return MOREAU_OK;
}

MoreauStatus wire_await_frame(MoreauClient *client, int64_t give_up_ms, MoreauReply **reply) {
    while (!wire_has_frame(client)) {
        if (client->fd < 0) {
            return client_fail_lost(client);
        }
        short got = 0;
        MoreauStatus status = wait_for(client, POLLIN, give_up_ms, &got);
        if (status == MOREAU_OK && got == 0) {
            return client_fail(client, MOREAU_DEADLINE_EXCEEDED, NULL,
                               "no answer came from %s in time", client->address);
        }
        if (status == MOREAU_OK) {
            status = read_some(client);
        }
        if (status != MOREAU_OK) {
            return status;
        }
    }
    size_t body_bytes = 0;
    announced(client, &body_bytes);
    return take_frame(client, body_bytes, reply);
}
