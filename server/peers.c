// SPDX-License-Identifier: MIT
#include "peers.h"

#include "net/frame.h"

#include <assert.h>

static_assert((int)PEER_HEADER_BYTES == (int)FRAME_HEADER_BYTES, "both speak of the same frames");
static_assert((int)PEER_SHORT_BYTES >= (int)CONNECTION_SHORT_BYTES, "what is longer can be kept");

// ---- api → net

static void send_bytes(void *handle, const uint8_t *bytes, size_t count) {
    connection_send(handle, bytes, count);
}

static void end_requests(void *handle, uint32_t count) {
    connection_request_end(handle, count);
}

static void begin_request(void *handle) {
    connection_request_begin(handle);
}

static void retain(void *handle) {
    connection_retain(handle);
}

static void release(void *handle) {
    connection_release(handle);
}

static void close_now(void *handle) {
    connection_close(handle);
}

static void close_after_write(void *handle) {
    connection_close_after_write(handle);
}

static void reject(void *handle, const char *why) {
    connection_reject(handle, why);
}

static void authenticate(void *handle) {
    connection_authenticate(handle);
}

static void set_data(void *handle, void *data) {
    connection_set_data(handle, data);
}

static void *get_data(const void *handle) {
    return connection_data(handle);
}

static bool is_viewer(const void *handle) {
    return connection_is_viewer(handle);
}

static bool get_user(const void *handle, uint32_t *uid) {
    return connection_user(handle, uid);
}

static const char *get_name(const void *handle) {
    return connection_peer(handle);
}

static uint64_t get_number(const void *handle) {
    return connection_number(handle);
}

static size_t get_unsent(const void *handle) {
    return connection_unsent_bytes(handle);
}

static void stay_fresh(void *handle) {
    connection_stay_fresh(handle);
}

static void *keep_frame(void *handle) {
    return connection_keep_frame(handle);
}

static bool go_on(void *handle) {
    return connection_go_on(handle);
}

static PeerFigures get_figures(void *context) {
    NetStats stats = net_stats(context);
    return (PeerFigures){.connection_count = stats.connection_count,
                         .slow_count = stats.slow_count,
                         .bytes_in = stats.bytes_in,
                         .bytes_out = stats.bytes_out};
}

static const PeerCalls calls = {
    .send = send_bytes,
    .request_end = end_requests,
    .header = frame_header,
    .request_begin = begin_request,
    .retain = retain,
    .release = release,
    .close = close_now,
    .close_after_write = close_after_write,
    .reject = reject,
    .authenticate = authenticate,
    .set_data = set_data,
    .data = get_data,
    .is_viewer = is_viewer,
    .user = get_user,
    .name = get_name,
    .number = get_number,
    .unsent = get_unsent,
    .stay_fresh = stay_fresh,
    .keep_frame = keep_frame,
    .go_on = go_on,
    .figures = get_figures,
};

const PeerCalls *peers_calls(void) {
    return &calls;
}

// ---- net → api

static Peer peer_of(Connection *connection) {
    return (Peer){.calls = &calls, .handle = connection};
}

static void on_opened(void *context, Connection *connection) {
    api_peer_opened(context, peer_of(connection));
}

static void on_frame(void *context, Connection *connection, uint64_t received_ns,
                     const uint8_t *body, size_t body_bytes) {
    api_peer_frame(context, peer_of(connection), received_ns, body, body_bytes);
}

static void on_malformed(void *context, Connection *connection, const char *why) {
    api_peer_malformed(context, peer_of(connection), why);
}

static size_t on_refused(void *context, NetRefusal refusal, uint8_t frame[NET_REFUSAL_BYTES_MAX]) {
    static const char *const sentences[] = {
        [NET_REFUSAL_FULL] = "The server has as many connections as it may (option "
                             "--connections-max): try again later.",
        [NET_REFUSAL_DESCRIPTORS] = "The server has no file descriptor left for another connection "
                                    "(its limit is that of the system): try again later.",
        [NET_REFUSAL_MEMORY] = "Memory ended while taking up the connection: try again later."};
    return api_write_refusal(context, sentences[refusal], frame, NET_REFUSAL_BYTES_MAX);
}

static void on_drained(void *context, Connection *connection) {
    api_peer_drained(context, peer_of(connection));
}

static void on_closed(void *context, Connection *connection) {
    api_peer_closed(context, peer_of(connection));
}

NetHandlers peers_handlers(void) {
    return (NetHandlers){.opened = on_opened,
                         .frame = on_frame,
                         .malformed = on_malformed,
                         .refused = on_refused,
                         .drained = on_drained,
                         .closed = on_closed};
}
