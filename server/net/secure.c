// SPDX-License-Identifier: MIT
// A connection under TLS: what stands between its socket and its frames.
//
//   socket ──► records ──► secure_receive ──► bytes, as if they had come from the socket
//   socket ◄── records ◄── secure_send    ◄── frames
//
// Hands are shaken on the owner's lanes, a few connections at a time, each machine at its rate; a
// peer whose records are not whole has nothing made for it yet. Until that is done the connection
// is not read but for it, and nothing is written.
//
// Afterwards the connection's mutex guards its stream, as reading and writing exclude each other. A
// long frame is sent a few records at a time, and the mutex is free in between, at once where the
// loop wants it; whose frames come meanwhile leaves them behind, and whoever is sending goes on
// with them.
#include "net/connection_parts.h"

#include "base/assert.h"
#include "net/frame.h"
#include "os/clock.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { HANDSHAKES_MAX = 64 };         // at once
enum { GREETING_BYTES_MAX = 131072 }; // a client's chain of certificates may be long
enum { LOOK_MS = 20 };                // at those whose rate does not let them yet
enum { RECORD_BYTES_MAX = TLS_RECORD_BYTES + TLS_RECORD_MORE_BYTES };
enum { GATHERED_BYTES = 4 * RECORD_BYTES_MAX };
enum { YIELDS_MAX = 16 }; // for the loop to take the mutex between two records
// Failures are said in lines of the log so often; the rest are counted.
#define LINE_NS UINT64_C(1000000000)

// ---- what is written

static void push(Connection *connection, const uint8_t *bytes, size_t count) {
    if (connection->fd >= 0 && !atomic_load(&connection->is_broken) &&
        output_push(connection, bytes, count)) {
        connection->wakes_loop = true;
    }
}

// Records of a stream. Under the mutex, but for those of a handshake, whose lane has none.
static void write_records(void *context, const uint8_t *bytes, size_t count) {
    Connection *connection = context;
    bool wakes = false;
    if (connection->is_at_work) {
        uv_mutex_lock(&connection->mutex);
        wakes = connection->fd >= 0 && !atomic_load(&connection->is_broken) &&
                output_push(connection, bytes, count);
        uv_mutex_unlock(&connection->mutex);
        if (wakes) {
            net_wake(connection->net, connection);
        }
    } else if (connection->gathered != NULL) {
        ASSERT(connection->gathered_bytes + count <= GATHERED_BYTES);
        memcpy(connection->gathered + connection->gathered_bytes, bytes, count);
        connection->gathered_bytes += count;
    } else {
        push(connection, bytes, count);
    }
}

// Records of a long frame go to the system several at once. Under the mutex, which is free only
// when none are kept back: the loop's own would overtake them.
static void flush_gathered(Connection *connection) {
    if (connection->gathered_bytes > 0) {
        push(connection, connection->gathered, connection->gathered_bytes);
        connection->gathered_bytes = 0;
    }
}

// Others have the mutex, and the loop, which may wait for it, gets it.
static void let_others_in(Connection *connection) {
    uv_mutex_unlock(&connection->mutex);
    for (int i = 0; i < YIELDS_MAX && atomic_load(&connection->wants_mutex); i++) {
        sched_yield();
    }
    uv_mutex_lock(&connection->mutex);
}

static void send_records(Connection *connection, const uint8_t *bytes, size_t count) {
    static _Thread_local uint8_t gathered[GATHERED_BYTES];
    bool is_free = true; // of records that are kept back
    for (size_t done = 0; done < count;) {
        size_t part = count - done < TLS_RECORD_BYTES ? count - done : TLS_RECORD_BYTES;
        if (done > 0 && is_free) {
            let_others_in(connection);
        }
        if (connection->fd < 0 || atomic_load(&connection->is_broken)) {
            return;
        }
        connection->gathered = count > TLS_RECORD_BYTES ? gathered : NULL;
        bool is_written = tls_stream_write(connection->tls, bytes + done, part);
        done += part;
        is_free = !is_written || done == count || atomic_load(&connection->wants_mutex) ||
                  GATHERED_BYTES - connection->gathered_bytes < RECORD_BYTES_MAX;
        if (is_free) {
            flush_gathered(connection);
            connection->gathered = NULL;
        }
        if (!is_written) {
            atomic_store(&connection->is_broken, true);
            connection->takes_output = false;
            connection->wakes_loop = true;
            return;
        }
    }
}

bool secure_send(Connection *connection, const uint8_t *bytes, size_t count) {
    ASSERT(connection->tls != NULL && count > 0);
    if (connection->is_sending) {
        if (!output_leave(connection, bytes, count)) {
            atomic_store(&connection->is_broken, true);
            connection->takes_output = false;
            return true;
        }
        return false;
    }
    connection->wakes_loop = false;
    connection->is_sending = true;
    send_records(connection, bytes, count);
    LeftBytes left;
    while (output_take_left(connection, &left)) {
        send_records(connection, left.bytes, left.count);
        output_free_left(connection, &left);
    }
    connection->is_sending = false;
    return connection->wakes_loop || connection->is_awaited;
}

void secure_end(Connection *connection) {
    uv_mutex_lock(&connection->mutex);
    if (connection->tls != NULL && !atomic_load(&connection->is_broken)) {
        tls_stream_end(connection->tls);
    }
    uv_mutex_unlock(&connection->mutex);
}

// ---- memory

static void count_memory(Connection *connection) {
    size_t bytes = connection->tls == NULL ? 0 : tls_stream_bytes(connection->tls);
    if (bytes != connection->tls_bytes) {
        net_hold(connection->net, connection->tls_bytes, bytes);
        connection->tls_bytes = bytes;
        if (net_holds_too_much(connection->net)) {
            net_wake(connection->net, connection);
        }
    }
}

void secure_free(Connection *connection) {
    tls_stream_free(connection->tls);
    connection->tls = NULL;
    net_hold(connection->net, connection->tls_bytes, 0);
    connection->tls_bytes = 0;
}

// ---- who has it

bool secure_applies(const Net *net, int fd, uint64_t *key) {
    struct sockaddr_storage address = {0};
    socklen_t bytes = sizeof(address);
    if (net->def.tls.identity == NULL) {
        return false;
    }
    // a peer that is gone again has no address, and its family is known by its end's being ours
    if (getpeername(fd, (struct sockaddr *)&address, &bytes) != 0) {
        bytes = sizeof(address);
        getsockname(fd, (struct sockaddr *)&address, &bytes);
    }
    *key = tls_rate_key(&address);
    return address.ss_family != AF_UNIX;
}

void secure_refuse(int fd) {
    // an alert, fatal, internal_error: what can be said before there are keys
    static const uint8_t alert[] = {21, 3, 3, 0, 2, 2, 80};
    ssize_t ignored = send(fd, alert, sizeof(alert), MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)ignored; // a peer that is gone already does not want to know
}

bool secure_is_shaking(const Connection *connection) {
    return connection->shaking != SHAKING_NOT;
}

// ---- what went wrong

static void report_failure(Connection *connection, const char *why) {
    Net *net = connection->net;
    const uint64_t now_ns = clock_now_ns();
    net->handshake_failed_count++;
    if (now_ns - net->failure_said_ns < LINE_NS && net->failure_said_ns != 0) {
        return;
    }
    net->failure_said_ns = now_ns;
    report_line(net->def.report, REPORT_WARN, "tls_failed",
                "connection=%llu peer=%s why=\"%s\" failed_count=%llu",
                (unsigned long long)connection->number, connection->peer, why,
                (unsigned long long)net->handshake_failed_count);
}

// What the stream wrote last says so to the peer.
static void fail(Connection *connection) {
    ASSERT(connection->tls != NULL && !connection->is_at_work);
    report_failure(connection, tls_stream_why(connection->tls));
    connection->shaking = SHAKING_NOT;
    connection_close_after_write(connection);
}

// Before that nothing of ours may go out.
static void begin_output(Connection *connection) {
    connection->shaking = SHAKING_NOT;
    uv_mutex_lock(&connection->mutex);
    connection->takes_output = true;
    uv_mutex_unlock(&connection->mutex);
}

// Someone who speaks no TLS is answered without it.
static void answer_plainly(Connection *connection) {
    begin_output(connection);
    report_failure(connection, "it speaks no TLS");
    if (connection->input_bytes >= FRAME_HEADER_BYTES && frame_is_http(connection->input)) {
        connection_redirect_http(connection);
    } else {
        connection_reject(connection, "This address speaks TLS alone: connect to it as "
                                      "tls://HOST:PORT.");
    }
}

// ---- what is read

static TlsResult read_record(Connection *connection, TlsInput *input, uint8_t *bytes, size_t room,
                             size_t *count) {
    atomic_store(&connection->wants_mutex, true);
    uv_mutex_lock(&connection->mutex);
    atomic_store(&connection->wants_mutex, false);
    TlsResult result = tls_stream_read(connection->tls, input, bytes, room, count);
    uv_mutex_unlock(&connection->mutex);
    return result;
}

// All of `input`; returns how many bytes came of it. A stream that fails ends the connection.
static size_t decrypt(Connection *connection, TlsInput *input, uint8_t *bytes, size_t room) {
    size_t done = 0;
    TlsResult result = TLS_WENT_ON;
    while (result == TLS_WENT_ON && done < room) {
        size_t count = 0;
        result = read_record(connection, input, bytes + done, room - done, &count);
        done += count;
    }
    count_memory(connection);
    if (result == TLS_FAILED) {
        fail(connection);
        done = 0;
    }
    ASSERT(done <= room && (input->count == 0 || result != TLS_WAITS));
    connection->is_ended = connection->is_ended || result == TLS_ENDED;
    return done;
}

// What is left of a socket's read for the record that stood half in the one before.
enum { RECORDS_READ_MAX = READ_BYTES - RECORD_BYTES_MAX };

ssize_t secure_receive(Connection *connection, uint8_t *bytes, size_t room) {
    Net *net = connection->net;
    ASSERT(room >= READ_BYTES);
    ssize_t count = recv(connection->fd, net->record_buffer, RECORDS_READ_MAX, MSG_DONTWAIT);
    if (count <= 0) {
        return count;
    }
    net->bytes_in += (uint64_t)count;
    TlsInput input = {net->record_buffer, (size_t)count};
    size_t done = decrypt(connection, &input, bytes, room);
    if (done == 0) {
        errno = EAGAIN;
        return -1;
    }
    return (ssize_t)done;
}

// What came with the last record of the handshake, and stands in `input`, is read as well.
static void take_records(Connection *connection) {
    Net *net = connection->net;
    uint8_t *records = connection->input;
    size_t count = connection->input_bytes, capacity = connection->input_capacity;
    connection->input = NULL;
    connection->input_bytes = connection->input_capacity = 0;
    for (size_t at = 0; at < count && connection->state == CONNECTION_OPEN;) {
        size_t part = count - at < RECORDS_READ_MAX ? count - at : RECORDS_READ_MAX;
        TlsInput input = {records + at, part};
        size_t done = decrypt(connection, &input, net->read_buffer, READ_BYTES);
        if (done > 0 && !connection_add_input(connection, net->read_buffer, done)) {
            break;
        }
        at += part;
    }
    net_hold(net, capacity, 0);
    free(records);
    if (connection->state == CONNECTION_OPEN) {
        connection_take_input(connection);
        connection_attend(connection);
    }
}

// ---- shaking hands

static void unlink_waiting(Connection *connection) {
    Net *net = connection->net;
    Connection **link = &net->shaking_first, *previous = NULL;
    while (*link != NULL && *link != connection) {
        previous = *link;
        link = &previous->shaking_next;
    }
    ASSERT(*link == connection);
    *link = connection->shaking_next;
    if (net->shaking_last == connection) {
        net->shaking_last = previous;
    }
    connection->shaking_next = NULL;
}

void secure_leave(Connection *connection) {
    if (connection->shaking == SHAKING_WAITS) {
        unlink_waiting(connection);
        connection->shaking = SHAKING_READS;
    }
}

static void work(void *argument) {
    Connection *connection = argument;
    connection->shaken = tls_stream_shake(connection->tls, &connection->greeting);
}

// What is left: bytes behind the last whole record, and behind the handshake.
static void take_rest(Connection *connection) {
    const size_t used = (size_t)(connection->greeting.bytes - connection->input);
    connection->greeting = (TlsInput){0};
    ASSERT(used <= connection->input_bytes);
    connection->input_bytes -= used;
    if (connection->input_bytes == 0) {
        connection_drop_input(connection);
    } else {
        memmove(connection->input, connection->input + used, connection->input_bytes);
    }
}

static void end_shaking(Connection *connection) {
    Net *net = connection->net;
    connection->shaking = SHAKING_READS;
    count_memory(connection);
    if (connection->shaken == TLS_WAITS) {
        take_rest(connection);
        connection_attend(connection);
        return;
    }
    if (connection->shaken != TLS_WENT_ON) {
        fail(connection);
        return;
    }
    net->handshake_count++;
    begin_output(connection);
    take_rest(connection);
    take_records(connection);
}

static void done(void *argument) {
    Connection *connection = argument;
    Net *net = connection->net;
    ASSERT(connection->is_at_work && net->shaking_count > 0);
    connection->is_at_work = false;
    net->shaking_count--;
    if (connection->state == CONNECTION_CLOSED) {
        if (connection->shaken == TLS_FAILED) { // and its peer has gone for that already
            report_failure(connection, tls_stream_why(connection->tls));
        }
        connection_drop_input(connection);
    } else {
        end_shaking(connection);
    }
    connection_release(connection);
    secure_begin_waiting(net);
}

static bool make_stream(Connection *connection) {
    if (connection->tls == NULL) {
        connection->tls =
            tls_stream_create(connection->net->def.tls.identity,
                              (TlsOutput){.write = write_records, .context = connection});
        count_memory(connection);
    }
    return connection->tls != NULL;
}

static void begin(Connection *connection) {
    Net *net = connection->net;
    const NetTls *tls = &net->def.tls;
    ASSERT(connection->shaking == SHAKING_WAITS && !connection->is_at_work);
    unlink_waiting(connection);
    connection->shaking = SHAKING_WORKS;
    if (!make_stream(connection)) {
        report_failure(connection, "no memory");
        connection_close(connection);
        return;
    }
    connection->greeting = (TlsInput){
        connection->input, tls_whole_records(connection->input, connection->input_bytes)};
    connection->is_at_work = true;
    connection_retain(connection);
    net->shaking_count++;
    if (!tls->run(tls->context, work, done, connection)) {
        connection->shaken = TLS_WAITS;
        connection_close(connection);
        done(connection);
    }
}

static void on_look(uv_timer_t *timer) {
    secure_begin_waiting(timer->data);
}

void secure_begin_waiting(Net *net) {
    if (net->is_beginning) {
        return; // whoever began goes on
    }
    net->is_beginning = true;
    const uint64_t now_ns = clock_now_ns();
    Connection *next = NULL;
    for (Connection *connection = net->shaking_first;
         connection != NULL && net->shaking_count < HANDSHAKES_MAX; connection = next) {
        next = connection->shaking_next;
        // who has begun is let to the end
        if (connection->tls != NULL || tls_rate_take(&net->rate, connection->rate_key, now_ns)) {
            begin(connection);
        }
    }
    net->is_beginning = false;
    const bool looks = net->shaking_first != NULL && net->shaking_count < HANDSHAKES_MAX;
    if (looks && !uv_is_active((uv_handle_t *)&net->rate_timer)) {
        uv_timer_start(&net->rate_timer, on_look, LOOK_MS, 0);
    }
}

static void wait_for_turn(Connection *connection) {
    Net *net = connection->net;
    connection->shaking = SHAKING_WAITS;
    connection->shaking_next = NULL;
    *(net->shaking_last == NULL ? &net->shaking_first : &net->shaking_last->shaking_next) =
        connection;
    net->shaking_last = connection;
    secure_begin_waiting(net);
}

void secure_greet(Connection *connection) {
    Net *net = connection->net;
    ASSERT(connection->shaking == SHAKING_READS);
    ssize_t count = recv(connection->fd, net->read_buffer, READ_BYTES, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        return;
    }
    if (count <= 0 || connection->input_bytes + (size_t)count > GREETING_BYTES_MAX) {
        connection_close(connection);
        return;
    }
    net->bytes_in += (uint64_t)count;
    if (!connection_add_input(connection, net->read_buffer, (size_t)count)) {
        return;
    }
    if (connection->tls == NULL && !tls_begins(connection->input, connection->input_bytes)) {
        answer_plainly(connection);
    } else if (tls_whole_records(connection->input, connection->input_bytes) > 0) {
        wait_for_turn(connection);
    }
}
