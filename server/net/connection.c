// SPDX-License-Identifier: MIT
// A connection's life on the loop thread: opening, reading and cutting frames, pausing and
// resuming, closing.
//
// Why pausing loses no wake: the loop says that it pauses, then looks at the counts again; who ends
// a request counts it, then looks whether the loop pauses. In one order or the other, one of
// the two sees what the other did (all are sequentially consistent).
#include "net/connection.h"

#include "base/assert.h"
#include "os/clock.h"
#include "net/frame.h"
#include "net/connection_parts.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LINGER_MS = 1000
}; // for the peer to take the last bytes; after an error nobody waits longer for good manners

// One read takes at most so much of a long frame; then it is the others' turn.
enum { LONG_READ_BYTES = 4 * READ_BYTES };
// Frames of one connection are taken for about so long, too.
enum { TURN_NS = 1000000 };
// The clock is read after so many bytes of them: some hundred small requests, or one large one.
enum { LOOK_BYTES = 16384 };

// ---- memory

void connection_drop_input(Connection *connection) {
    net_hold(connection->net, connection->input_capacity, 0);
    free(connection->input);
    connection->input = NULL;
    connection->input_bytes = 0;
    connection->input_capacity = 0;
}

static void free_connection(Connection *connection) {
    Net *net = connection->net;
    net_unwake(net, connection);
    uv_mutex_destroy(&connection->mutex);
    secure_free(connection);
    connection_drop_input(connection);
    free(connection);
    net_forget(net);
}

void connection_retain(Connection *connection) {
    ASSERT(connection->reference_count > 0);
    connection->reference_count++;
}

void connection_release(Connection *connection) {
    ASSERT(connection->reference_count > 0);
    if (--connection->reference_count == 0) {
        free_connection(connection);
    }
}

// ---- closing

static void on_handle_closed(uv_handle_t *handle) {
    Connection *connection = handle->data;
    if (--connection->handle_count > 0) {
        return;
    }
    const Net *net = connection->net;
    net->def.handlers.closed(net->def.context, connection);
    connection_release(connection);
}

// `next` stays, so that whoever walks the list may close the connections it passes.
static void unlink_connection(Connection *connection) {
    Net *net = connection->net;
    *(connection->previous == NULL ? &net->first : &connection->previous->next) = connection->next;
    if (connection->next != NULL) {
        connection->next->previous = connection->previous;
    }
    net->open_count--;
}

void connection_close(Connection *connection) {
    if (connection->state == CONNECTION_CLOSED) {
        return;
    }
    connection->state = CONNECTION_CLOSED;
    unlink_connection(connection);
    secure_leave(connection);

    // from here on no other thread touches the socket
    uv_mutex_lock(&connection->mutex);
    int fd = connection->fd;
    connection->fd = -1;
    connection->takes_output = false;
    output_drop(connection);
    uv_mutex_unlock(&connection->mutex);
    if (!connection->is_parsing && !connection->is_at_work) {
        // else it goes when what is being taken from it has been
        connection_drop_input(connection);
    }

    uv_close((uv_handle_t *)&connection->poll, on_handle_closed);
    uv_close((uv_handle_t *)&connection->write_timer, on_handle_closed);
    uv_close((uv_handle_t *)&connection->patience_timer, on_handle_closed);
    close(fd); // after uv_close, which still takes it out of the set that the loop watches
}

void connection_close_after_write(Connection *connection) {
    if (connection->state != CONNECTION_OPEN && connection->state != CONNECTION_REJECTED) {
        return;
    }
    connection->state = CONNECTION_WRITING_LAST;
    uv_timer_stop(&connection->patience_timer);
    uv_mutex_lock(&connection->mutex);
    connection->takes_output = false;
    uv_mutex_unlock(&connection->mutex);
    connection_attend(connection);
}

static void on_write_timeout(uv_timer_t *timer) {
    Connection *connection = timer->data;
    Net *net = connection->net;
    if (connection->state != CONNECTION_LINGERING) {
        net->slow_count++;
        report_line(net->def.report, REPORT_WARN, "connection_slow",
                    "connection=%llu peer=%s unsent_bytes=%zu",
                    (unsigned long long)connection->number, connection->peer,
                    atomic_load(&connection->unsent_bytes));
    }
    connection_close(connection);
}

// The last byte is in the socket. Closing now, with bytes of the peer unread, would reset the
// connection and take our last bytes away from the peer: so our side is shut, and the peer's end,
// or the timer, closes.
static void finish_writing(Connection *connection) {
    ASSERT(connection->state == CONNECTION_WRITING_LAST);
    ASSERT(atomic_load(&connection->unsent_bytes) == 0);
    secure_end(connection);
    if (!connection->is_lingerer || shutdown(connection->fd, SHUT_WR) != 0) {
        connection_close(connection);
        return;
    }
    connection->state = CONNECTION_LINGERING;
    uv_timer_start(&connection->write_timer, on_write_timeout, LINGER_MS, 0);
}

// The last word to a peer that is not listened to any more.
static void end_rejected(Connection *connection) {
    const NetDef *def = &connection->net->def;
    if (def->handlers.malformed != NULL) {
        def->handlers.malformed(def->context, connection, connection->rejected_why);
    }
    connection_close_after_write(connection);
}

static void on_hello_timeout(uv_timer_t *timer) {
    Connection *connection = timer->data;
    ASSERT(connection->state == CONNECTION_OPEN);
    report_line(connection->net->def.report, REPORT_WARN, "connection_silent",
                "connection=%llu peer=%s", (unsigned long long)connection->number,
                connection->peer);
    if (secure_is_shaking(connection)) { // nothing can be said yet
        connection_close(connection);
        return;
    }
    connection->rejected_why = "No Hello came in time (option --hello-timeout-ms).";
    end_rejected(connection);
}

// ---- reading

static uint32_t count_under_way(const Connection *connection) {
    uint32_t under_way = connection->begun_count - atomic_load(&connection->ended_count);
    ASSERT(under_way <= INT32_MAX); // none ends that did not begin
    return under_way;
}

static bool is_over_limits(const Connection *connection) {
    const NetDef *def = &connection->net->def;
    return connection->is_held || count_under_way(connection) >= def->requests_max ||
           atomic_load(&connection->unsent_bytes) > def->unsent_bytes_max;
}

// May another frame be taken up? When not, whoever changes that wakes the loop.
static bool may_take(Connection *connection) {
    if (!is_over_limits(connection)) {
        return true;
    }
    atomic_store(&connection->is_paused, true);
    if (is_over_limits(connection)) {
        return false;
    }
    atomic_store(&connection->is_paused, false);
    return true;
}

// What is under way takes too long, or its answers are not taken.
static void on_rejected_timeout(uv_timer_t *timer) {
    Connection *connection = timer->data;
    ASSERT(connection->state == CONNECTION_REJECTED);
    if (atomic_load(&connection->unsent_bytes) > 0) {
        on_write_timeout(timer);
    } else {
        end_rejected(connection);
    }
}

void connection_reject(Connection *connection, const char *why) {
    if (connection->state != CONNECTION_OPEN) {
        return;
    }
    const NetDef *def = &connection->net->def;
    report_line(def->report, REPORT_WARN, "frame_malformed", "connection=%llu peer=%s why=\"%s\"",
                (unsigned long long)connection->number, connection->peer, why);
    connection->state = CONNECTION_REJECTED;
    connection->rejected_why = why;
    // who ends the last request after this look sees that the connection is paused
    atomic_store(&connection->is_paused, true);
    if (count_under_way(connection) == 0) {
        end_rejected(connection);
    } else {
        uv_timer_start(&connection->patience_timer, on_rejected_timeout, def->write_timeout_ms, 0);
    }
}

// A browser, or what asks for pages, at the wrong port: it is answered in its own words.
void connection_redirect_http(Connection *connection) {
    static const char answer[] =
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
        "This port speaks the protocol of moreau.proto, not HTTP. The pages are at the address "
        "of the option --http.\n";
    report_line(connection->net->def.report, REPORT_WARN, "http_at_protocol_port",
                "connection=%llu peer=%s", (unsigned long long)connection->number,
                connection->peer);
    connection_send(connection, (const uint8_t *)answer, sizeof(answer) - 1);
    connection_close_after_write(connection);
}

static void refuse_length(Connection *connection, const uint8_t *header) {
    if (connection->begun_count == 0 && frame_is_http(header)) {
        connection_redirect_http(connection);
    } else if (connection->begun_count == 0 && tls_begins(header, FRAME_HEADER_BYTES)) {
        connection_reject(connection, "This address speaks no TLS (option --tls-cert).");
    } else {
        connection_reject(connection,
                          "The frame is longer than the limit (option --frame-bytes-max).");
    }
}

// Hands up the whole frames at the start of `bytes`, as long as the limits allow. Returns how many
// bytes they were.
static size_t take_frames(Connection *connection, const uint8_t *bytes, size_t count) {
    Net *net = connection->net;
    uint64_t received_ns = clock_now_ns();
    size_t used = 0;
    size_t looked_at = 0;
    connection->is_parsing = true;
    while (connection->state == CONNECTION_OPEN && net->is_reading && may_take(connection)) {
        if (used - looked_at >= LOOK_BYTES && used < count) {
            looked_at = used;
            if (clock_now_ns() - received_ns > TURN_NS) {
                atomic_store(&connection->is_paused, true);
                net_wake(net, connection);
                break;
            }
        }
        Frame frame = {0};
        FrameState state =
            frame_decode(bytes + used, count - used, net->def.frame_bytes_max, &frame);
        if (state == FRAME_TOO_LONG) {
            refuse_length(connection, bytes + used);
        }
        if (state != FRAME_WHOLE) {
            break;
        }
        used += FRAME_HEADER_BYTES + frame.body_bytes;
        connection->frame_end = used;
        net->def.handlers.frame(net->def.context, connection, received_ns, frame.body,
                                frame.body_bytes);
    }
    connection->is_parsing = false;
    return used;
}

// The buffer grows by doubling as bytes arrive, so that announcing a long frame costs its sender
// more than us.
static bool reserve_input(Connection *connection, size_t capacity) {
    if (capacity <= connection->input_capacity) {
        return true;
    }
    uint8_t *input = realloc(connection->input, capacity);
    if (input == NULL) {
        report_line(connection->net->def.report, REPORT_ERROR, "connection_memory",
                    "connection=%llu bytes=%zu", (unsigned long long)connection->number, capacity);
        connection_close(connection);
        return false;
    }
    net_hold(connection->net, connection->input_capacity, capacity);
    connection->input = input;
    connection->input_capacity = capacity;
    if (net_holds_too_much(connection->net)) {
        net_wake(connection->net, connection);
    }
    return true;
}

// Keeps bytes that were read into the shared buffer and not used.
static void keep_rest(Connection *connection, const uint8_t *bytes, size_t count) {
    if (count > 0 && connection->state == CONNECTION_OPEN && reserve_input(connection, count)) {
        memcpy(connection->input, bytes, count);
        connection->input_bytes = count;
    }
}

bool connection_add_input(Connection *connection, const uint8_t *bytes, size_t count) {
    if (!reserve_input(connection, connection->input_bytes + count)) {
        return false;
    }
    memcpy(connection->input + connection->input_bytes, bytes, count);
    connection->input_bytes += count;
    return true;
}

// Takes frames out of the connection's own buffer, which goes when it is empty.
void connection_take_input(Connection *connection) {
    if (connection->input_bytes == 0) {
        return;
    }
    size_t used = take_frames(connection, connection->input, connection->input_bytes);
    if (connection->is_held) {
        used = 0; // the last frame took the memory along; what stands here now is not used
    }
    connection->input_bytes -= used;
    if (connection->input_bytes == 0 || connection->state != CONNECTION_OPEN) {
        connection_drop_input(connection);
    } else if (used > 0) {
        memmove(connection->input, connection->input + used, connection->input_bytes);
    }
}

// How many bytes to read behind the piece of a frame that is there already: its rest, in parts, and
// a little of what comes after, which is moved when the frame is kept. 0: memory ended.
static size_t reserve_read(Connection *connection) {
    Frame frame = {0};
    size_t piece = connection->input_bytes;
    frame_decode(connection->input, piece, connection->net->def.frame_bytes_max, &frame);
    size_t whole = FRAME_HEADER_BYTES + frame.body_bytes, rest = whole > piece ? whole - piece : 0,
           count = rest + READ_BYTES;
    count = count < LONG_READ_BYTES ? count : LONG_READ_BYTES;
    size_t wanted = piece + count;
    if (wanted > connection->input_capacity && wanted < 2 * piece) {
        wanted = 2 * piece < whole + READ_BYTES ? 2 * piece : whole + READ_BYTES;
    }
    return reserve_input(connection, wanted) ? count : 0;
}

void connection_cut(Connection *connection) {
    ASSERT(!connection->is_parsing);
    if (connection->state != CONNECTION_OPEN || atomic_load(&connection->unsent_bytes) > 0 ||
        secure_is_shaking(connection)) {
        connection_close(connection);
        return;
    }
    connection_drop_input(connection);
    connection->rejected_why = "What all connections hold together is more than a quarter of the "
                               "memory budget (option --memory-bytes-max), and this one most.";
    end_rejected(connection);
}

// The peer is gone, or will not hear more than what is written already: what is under way is not
// waited for.
static void end_input(Connection *connection) {
    ASSERT(connection->state == CONNECTION_OPEN);
    connection->is_lingerer = false; // nothing more can come from the peer
    if (connection->input_bytes > 0) {
        connection->rejected_why = "The stream ended inside a frame.";
        end_rejected(connection);
    } else {
        connection_close_after_write(connection);
    }
}

static ssize_t receive(Connection *connection, uint8_t *bytes, size_t room) {
    if (connection->tls != NULL) {
        return secure_receive(connection, bytes, room);
    }
    ssize_t count = recv(connection->fd, bytes, room, MSG_DONTWAIT);
    connection->net->bytes_in += count > 0 ? (uint64_t)count : 0;
    return count;
}

static void read_input(Connection *connection) {
    Net *net = connection->net;
    bool has_piece = connection->input_bytes > 0;
    size_t room = has_piece ? reserve_read(connection) : READ_BYTES;
    if (room == 0) {
        return;
    }
    uint8_t *target = has_piece ? connection->input + connection->input_bytes : net->read_buffer;
    ssize_t count = receive(connection, target, room);
    if (count == 0) {
        end_input(connection);
    } else if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        connection_close(connection);
    }
    if (count <= 0) {
        return;
    }
    if (has_piece) {
        connection->input_bytes += (size_t)count;
        connection_take_input(connection);
    } else {
        size_t used = take_frames(connection, target, (size_t)count);
        keep_rest(connection, target + used, (size_t)count - used);
    }
}

// Throws away what a peer still sends to a connection that lingers.
static void discard_input(Connection *connection) {
    ssize_t count = recv(connection->fd, connection->net->read_buffer, READ_BYTES, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        connection_close(connection);
    }
}

// ---- what the loop does when something happened

static int wanted_events(const Connection *connection) {
    int events = 0;
    if (connection->state == CONNECTION_LINGERING) {
        events |= UV_READABLE;
    } else if (connection->state == CONNECTION_REJECTED || connection->shaking == SHAKING_WAITS ||
               connection->shaking == SHAKING_WORKS) {
        events |= UV_DISCONNECT;
    } else if (connection->state == CONNECTION_OPEN) {
        // who is not read is still watched, so that its requests can be cancelled when it goes
        events |= connection->net->is_reading && !connection->is_deaf ? UV_READABLE : UV_DISCONNECT;
    }
    if (atomic_load(&connection->unsent_bytes) > 0) {
        events |= UV_WRITABLE;
    }
    return events;
}

// The socket failed: its peer has reset it, which is no news, or is not there any more.
static void lose(Connection *connection) {
    int why = 0;
    socklen_t bytes = sizeof(why);
    getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &why, &bytes);
    if (why == ETIMEDOUT || why == EHOSTUNREACH || why == ENETUNREACH) {
        report_line(connection->net->def.report, REPORT_WARN, "connection_vanished",
                    "connection=%llu peer=%s why=\"%s\"", (unsigned long long)connection->number,
                    connection->peer, strerror(why));
    }
    connection_close(connection);
}

static void on_poll(uv_poll_t *poll, int status, int events) {
    Connection *connection = poll->data;
    if (status < 0) {
        lose(connection);
        return;
    }
    if (connection->state == CONNECTION_LINGERING) {
        discard_input(connection);
        return;
    }
    if ((events & UV_DISCONNECT) != 0 && (events & UV_READABLE) == 0) {
        connection_close(connection);
        return;
    }
    if ((events & UV_READABLE) != 0 && connection->shaking == SHAKING_READS) {
        secure_greet(connection);
    } else if ((events & UV_READABLE) != 0 && connection->state == CONNECTION_OPEN &&
               !secure_is_shaking(connection)) {
        // only now, as most pauses end before the next byte comes
        connection->is_deaf = atomic_load(&connection->is_paused);
        if (!connection->is_deaf) {
            read_input(connection);
        }
    }
    connection_attend(connection);
}

static void watch(Connection *connection) {
    int events = wanted_events(connection);
    if (events != connection->poll_events) {
        connection->poll_events = events;
        uv_poll_start(&connection->poll, events, on_poll);
    }
}

// The write timer runs while bytes wait and begins anew whenever the peer takes some.
static void time_output(Connection *connection, OutputResult result, bool progressed) {
    uint64_t timeout_ms = connection->net->def.write_timeout_ms;
    bool is_running = uv_is_active((uv_handle_t *)&connection->write_timer) != 0;
    if (result == OUTPUT_WAITS && (progressed || !is_running) && timeout_ms > 0) {
        uv_timer_start(&connection->write_timer, on_write_timeout, timeout_ms, 0);
    } else if (result == OUTPUT_EMPTY && is_running) {
        uv_timer_stop(&connection->write_timer);
    }
}

static void tell_drained(Connection *connection) {
    const NetDef *def = &connection->net->def;
    if (def->handlers.drained != NULL) {
        def->handlers.drained(def->context, connection);
    }
}

void connection_attend(Connection *connection) {
    bool is_writing = connection->state == CONNECTION_OPEN ||
                      connection->state == CONNECTION_REJECTED ||
                      connection->state == CONNECTION_WRITING_LAST;
    if (is_writing) {
        bool progressed = false;
        OutputResult result = output_write(connection, &progressed);
        if (result == OUTPUT_FAILED) {
            connection_close(connection);
            return;
        }
        time_output(connection, result, progressed);
        if (result == OUTPUT_EMPTY && connection->state == CONNECTION_WRITING_LAST) {
            finish_writing(connection);
        }
        if (result == OUTPUT_EMPTY && progressed && connection->state == CONNECTION_OPEN) {
            tell_drained(connection);
        }
    }
    if (connection->state == CONNECTION_REJECTED && count_under_way(connection) == 0) {
        end_rejected(connection);
        return; // which has attended to it
    }
    bool resumes = connection->state == CONNECTION_OPEN && connection->net->is_reading &&
                   !connection->is_parsing && atomic_load(&connection->is_paused) &&
                   !is_over_limits(connection);
    if (resumes) {
        atomic_store(&connection->is_paused, false);
        connection->is_deaf = false;
        connection_take_input(connection);
    }
    if (connection->is_ended && connection->state == CONNECTION_OPEN && !connection->is_parsing &&
        !atomic_load(&connection->is_paused)) {
        end_input(connection);
        return; // which has attended to it
    }
    if (connection->state != CONNECTION_CLOSED) {
        watch(connection);
    }
}

// ---- opening

// The handles that cannot fail; on failure of the one that can, the socket is still the caller's.
static bool init_handles(Connection *connection, int fd) {
    Net *net = connection->net;
    if (uv_poll_init(net->loop, &connection->poll, fd) != 0) {
        return false;
    }
    uv_timer_init(net->loop, &connection->write_timer);
    uv_timer_init(net->loop, &connection->patience_timer);
    connection->poll.data = connection;
    connection->write_timer.data = connection;
    connection->patience_timer.data = connection;
    connection->handle_count = 3;
    return true;
}

static void link_connection(Connection *connection) {
    Net *net = connection->net;
    connection->next = net->first;
    if (net->first != NULL) {
        net->first->previous = connection;
    }
    net->first = connection;
    net->open_count++;
    net->memory_count++;
    connection->number = ++net->last_number;
}

// How long what a peer does not acknowledge may be on its way. Not where a client may be slow for
// longer, as this counts the time as well in which it is there and its window shut. (A Unix socket
// takes no such option.)
static void limit_silence(int fd, uint64_t write_timeout_ms) {
    unsigned limit_ms = write_timeout_ms <= VANISHED_MS ? 1000 * KEEPALIVE_S : 0;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof(limit_ms));
}

void connection_open(Net *net, int fd, const char *peer, bool is_viewer) {
    ASSERT(fd >= 0);
    if (net->is_closing || net->open_count >= net->def.connections_max) {
        net_refuse(net, fd, peer, NET_REFUSAL_FULL);
        return;
    }
    Connection *connection = aligned_alloc(CACHE_LINE_BYTES, sizeof(*connection));
    if (connection == NULL) {
        net_refuse(net, fd, peer, NET_REFUSAL_MEMORY);
        return;
    }
    *connection = (Connection){.net = net};
    if (!init_handles(connection, fd)) {
        free(connection);
        net_refuse(net, fd, peer, NET_REFUSAL_DESCRIPTORS);
        return;
    }
    uv_mutex_init(&connection->mutex);
    connection->fd = fd;
    connection->is_lingerer = true;
    connection->is_viewer = is_viewer;
    connection->reference_count = 1;
    strncpy(connection->peer, peer, sizeof(connection->peer) - 1);
    connection->shaking =
        secure_applies(net, fd, &connection->rate_key) ? SHAKING_READS : SHAKING_NOT;
    connection->takes_output = connection->shaking == SHAKING_NOT;
    link_connection(connection);
    limit_silence(fd, net->def.write_timeout_ms);

    net->def.handlers.opened(net->def.context, connection);
    if (connection->state == CONNECTION_OPEN && net->def.hello_timeout_ms > 0) {
        uv_timer_start(&connection->patience_timer, on_hello_timeout, net->def.hello_timeout_ms, 0);
    }
    connection_attend(connection);
}

// ---- the owner's

void connection_set_data(Connection *connection, void *data) {
    connection->data = data;
}

void *connection_data(const Connection *connection) {
    return connection->data;
}

const char *connection_peer(const Connection *connection) {
    return connection->peer;
}

uint64_t connection_number(const Connection *connection) {
    return connection->number;
}

bool connection_is_viewer(const Connection *connection) {
    return connection->is_viewer;
}

size_t connection_unsent_bytes(const Connection *connection) {
    return atomic_load(&connection->unsent_bytes);
}

void connection_stay_fresh(Connection *connection) {
    int bytes = CONNECTION_FRESH_BYTES;
    if (connection->state != CONNECTION_CLOSED) {
        setsockopt(connection->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof(bytes));
    }
}

void connection_authenticate(Connection *connection) {
    if (connection->state == CONNECTION_OPEN) {
        uv_timer_stop(&connection->patience_timer);
    }
}

void *connection_keep_frame(Connection *connection) {
    size_t end = connection->frame_end, rest = connection->input_bytes - end;
    ASSERT(connection->is_parsing && !connection->is_held);
    ASSERT(end > FRAME_HEADER_BYTES + CONNECTION_SHORT_BYTES && end <= connection->input_bytes);
    uint8_t *memory = connection->input, *input = NULL;
    if (rest > 0) {
        input = malloc(rest);
        if (input == NULL) {
            return NULL;
        }
        memcpy(input, memory + end, rest);
    }
    connection->kept_bytes = connection->input_capacity;
    net_hold(connection->net, 0, rest);
    connection->input = input;
    connection->input_bytes = connection->input_capacity = rest;
    connection->is_held = true;
    atomic_store(&connection->is_paused, true);
    return memory;
}

bool connection_go_on(Connection *connection) {
    ASSERT(connection->is_held);
    connection->is_held = false;
    net_hold(connection->net, connection->kept_bytes, 0);
    connection->kept_bytes = 0;
    if (connection->state == CONNECTION_CLOSED) {
        return false;
    }
    net_wake(connection->net, connection);
    return true;
}

void connection_request_begin(Connection *connection) {
    ASSERT(connection->reference_count > 0);
    connection->begun_count++;
}

void connection_request_end(Connection *connection, uint32_t count) {
    ASSERT(count > 0);
    atomic_fetch_add(&connection->ended_count, count);
    if (atomic_load(&connection->is_paused)) {
        net_wake(connection->net, connection);
    }
}
