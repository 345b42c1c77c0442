// SPDX-License-Identifier: MIT
// Sending. The queue is a list of chunks; bytes are appended to the last one while it has room, so
// that many small frames to a slow peer make few chunks.
#include "net/connection_parts.h"

#include "base/assert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { CHUNK_BYTES = 16384 }; // the least; a longer rest gets a chunk of its own length
enum { CHUNKS_PER_WRITE = 16 };

struct OutputChunk {
    OutputChunk *next;
    size_t begin, end, capacity; // bytes[begin..end) wait
    uint8_t bytes[];
};

// Under the mutex. false: no memory, and the queue is as it was.
static bool append(Output *output, const uint8_t *bytes, size_t count) {
    OutputChunk *tail = output->tail;
    size_t room = tail == NULL ? 0 : tail->capacity - tail->end;
    size_t first = count < room ? count : room;
    OutputChunk *chunk = NULL;
    if (count > first) {
        size_t capacity = count - first > CHUNK_BYTES ? count - first : CHUNK_BYTES;
        chunk = malloc(sizeof(*chunk) + capacity);
        if (chunk == NULL) {
            return false;
        }
        *chunk = (OutputChunk){.end = count - first, .capacity = capacity};
        memcpy(chunk->bytes, bytes + first, count - first);
    }
    if (first > 0) {
        memcpy(tail->bytes + tail->end, bytes, first);
        tail->end += first;
    }
    if (chunk != NULL) {
        *(tail == NULL ? &output->head : &tail->next) = chunk;
        output->tail = chunk;
    }
    return true;
}

static OutputChunk *take_head(Output *output) {
    OutputChunk *chunk = output->head;
    ASSERT(chunk != NULL);
    output->head = chunk->next;
    if (output->head == NULL) {
        output->tail = NULL;
    }
    return chunk;
}

static void remove_head(Output *output) {
    free(take_head(output));
}

void output_drop(Connection *connection) {
    while (connection->output.head != NULL) {
        remove_head(&connection->output);
    }
    net_hold(connection->net, atomic_exchange(&connection->unsent_bytes, 0), 0);
    while (connection->left.head != NULL) {
        remove_head(&connection->left);
    }
    net_hold(connection->net, atomic_exchange(&connection->left_bytes, 0), 0);
}

bool output_leave(Connection *connection, const uint8_t *bytes, size_t count) {
    if (!append(&connection->left, bytes, count)) {
        return false;
    }
    atomic_fetch_add(&connection->left_bytes, count);
    net_hold(connection->net, 0, count);
    return true;
}

bool output_take_left(Connection *connection, LeftBytes *left) {
    if (connection->left.head == NULL) {
        return false;
    }
    ASSERT(connection->is_sending); // and is who takes
    OutputChunk *chunk = take_head(&connection->left);
    *left = (LeftBytes){chunk, chunk->bytes + chunk->begin, chunk->end - chunk->begin};
    atomic_fetch_sub(&connection->left_bytes, left->count);
    return true;
}

void output_free_left(Connection *connection, const LeftBytes *left) {
    net_hold(connection->net, left->count, 0);
    free(left->chunk);
}

static bool would_block(int error_number) {
    return error_number == EAGAIN || error_number == EWOULDBLOCK;
}

// Straight into the socket. The number of bytes that it took, or -1 when it is broken. Under the
// mutex.
static ssize_t send_now(Connection *connection, const uint8_t *bytes, size_t count) {
    ssize_t sent;
    do {
        sent = send(connection->fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) {
        return would_block(errno) ? 0 : -1;
    }
    atomic_fetch_add_explicit(&connection->net->bytes_out, (uint64_t)sent, memory_order_relaxed);
    return sent;
}

bool output_push(Connection *connection, const uint8_t *bytes, size_t count) {
    size_t sent = 0;
    bool was_empty = connection->output.head == NULL;
    if (was_empty) {
        ssize_t result = send_now(connection, bytes, count);
        if (result < 0) {
            connection->is_broken = true;
            connection->takes_output = false;
            return true;
        }
        sent = (size_t)result;
    }
    if (sent == count) {
        return false;
    }
    if (!append(&connection->output, bytes + sent, count - sent)) {
        connection->is_broken = true; // a reply cannot be left out: the stream would be torn
        connection->takes_output = false;
        return true;
    }
    atomic_fetch_add(&connection->unsent_bytes, count - sent);
    net_hold(connection->net, 0, count - sent);
    // otherwise the loop knows that bytes wait
    return was_empty || net_holds_too_much(connection->net);
}

void connection_send(Connection *connection, const uint8_t *bytes, size_t count) {
    uv_mutex_lock(&connection->mutex);
    bool wakes = connection->takes_output && count > 0 &&
                 (connection->tls == NULL ? output_push(connection, bytes, count)
                                          : secure_send(connection, bytes, count));
    uv_mutex_unlock(&connection->mutex);
    if (wakes) {
        net_wake(connection->net, connection);
    }
}

// Takes `count` written bytes off the queue.
static void consume(Connection *connection, size_t count) {
    ASSERT(count <= atomic_load(&connection->unsent_bytes));
    atomic_fetch_sub(&connection->unsent_bytes, count);
    net_hold(connection->net, count, 0);
    while (count > 0) {
        OutputChunk *head = connection->output.head;
        size_t part = head->end - head->begin;
        if (part > count) {
            head->begin += count;
            return;
        }
        count -= part;
        remove_head(&connection->output);
    }
}

// One system call. The number of bytes taken, 0 when the socket is full, -1 when it is broken.
// Under the mutex.
static ssize_t write_once(Connection *connection) {
    struct iovec parts[CHUNKS_PER_WRITE];
    struct msghdr message = {.msg_iov = parts};
    for (OutputChunk *chunk = connection->output.head;
         chunk != NULL && message.msg_iovlen < CHUNKS_PER_WRITE; chunk = chunk->next) {
        parts[message.msg_iovlen++] =
            (struct iovec){chunk->bytes + chunk->begin, chunk->end - chunk->begin};
    }
    ssize_t sent = sendmsg(connection->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
        return would_block(errno) || errno == EINTR ? 0 : -1;
    }
    atomic_fetch_add_explicit(&connection->net->bytes_out, (uint64_t)sent, memory_order_relaxed);
    consume(connection, (size_t)sent);
    return sent;
}

OutputResult output_write(Connection *connection, bool *progressed) {
    ASSERT(connection->state != CONNECTION_CLOSED);
    OutputResult result = OUTPUT_EMPTY;
    *progressed = false;
    // Mostly there is nothing, and the mutex may be held by a lane inside its system call, whose
    // peer has answered already: the loop does not wait for it. What it leaves, it wakes the loop
    // for.
    bool awaits = connection->tls != NULL && connection->state == CONNECTION_WRITING_LAST;
    if (atomic_load(&connection->unsent_bytes) == 0 && !atomic_load(&connection->is_broken) &&
        !awaits) {
        return OUTPUT_EMPTY;
    }
    uv_mutex_lock(&connection->mutex);
    if (connection->is_broken) {
        result = OUTPUT_FAILED;
    } else if (connection->output.head != NULL) {
        ssize_t sent = write_once(connection);
        *progressed = sent > 0;
        result = sent < 0                          ? OUTPUT_FAILED
                 : connection->output.head == NULL ? OUTPUT_EMPTY
                                                   : OUTPUT_WAITS;
    }
    if (result == OUTPUT_EMPTY && awaits && connection->is_sending) {
        connection->is_awaited = true; // who is between two records of the last frame wakes us
        result = OUTPUT_WAITS;
    }
    uv_mutex_unlock(&connection->mutex);
    return result;
}
