// SPDX-License-Identifier: MIT
// Connections: bytes in, frames up; frames down, bytes out. Knows no message.
//
// The loop thread owns a connection: it reads, cuts frames, and calls `frame` for each. Replies may
// come from any thread through connection_send: when nothing waits to be written the bytes go
// straight into the socket from the calling thread (one wake less); what the socket does not take
// is queued and written by the loop. A connection has one small lock for exactly this, held only
// around a non-blocking write.
//
// Under TLS a connection is what it is without (secure.c): hands are shaken elsewhere, a few at a
// time, within the hello timeout; then frames come and go as ever, and the records' making and
// reading stands under the same lock.
//
// A long frame can be kept: its memory is handed over instead of copied, and the connection waits,
// alone, until whoever works on it says go on.
//
// Backpressure, both ways: a connection is not read while `requests_max` requests are under way, or
// while more than `unsent_bytes_max` wait to be written. A client that does not take bytes for
// `write_timeout_ms` is cut and counted. When all connections together hold more than
// `held_bytes_max`, because many do not read or stop in the middle of frames, those that hold most
// are cut until they do not.
//
// Whoever sends a frame that is none (too long, or rejected by the owner: connection_reject) is not
// read any more; the requests before it have `write_timeout_ms` to be answered, then `malformed`
// may send why, then the connection closes.
//
// A TCP peer that vanished without a word, its machine or its network gone, is found within
// VANISHED_MS: probes go out when it is silent, and what it does not acknowledge counts as long.
// (With a write timeout above VANISHED_MS a client may be that slow, so what is on its way to a
// vanished one is given up by the system's own, longer patience.)
//
// Life: `opened`, any number of `frame`, `closed` (no frame after it), then, when the last
// reference is released, the memory goes. Closing is idempotent and may start from anywhere on the
// loop thread.
#pragma once

#include "os/report.h"
#include "base/status.h"
#include "net/tls/identity.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

enum { VANISHED_MS = 30000 };

typedef struct Net Net;
typedef struct Connection Connection;

// Why: there are connections_max already, or descriptors or memory ended.
typedef enum NetRefusal {
    NET_REFUSAL_FULL,
    NET_REFUSAL_DESCRIPTORS,
    NET_REFUSAL_MEMORY
} NetRefusal;
enum { NET_REFUSAL_BYTES_MAX = 512 };

typedef struct NetHandlers {
    void (*opened)(void *context, Connection *connection);
    // One whole frame, borrowed during the call (but see connection_keep_frame). received_ns
    // (clock_now_ns): when it was taken up, the same for all that came in one read.
    void (*frame)(void *context, Connection *connection, uint64_t received_ns, const uint8_t *body,
                  size_t body_bytes);
    // A frame announced more than the limit, arrived cut off, or was rejected, and what came before
    // it is answered: the last chance to send an error before the close. Nullable.
    void (*malformed)(void *context, Connection *connection, const char *why);
    // A socket that was accepted is about to be closed unserved: writes the frame that tells its
    // peer why, and returns its bytes. Nullable.
    size_t (*refused)(void *context, NetRefusal refusal, uint8_t frame[NET_REFUSAL_BYTES_MAX]);
    // All that was sent and had to wait is written. Nullable.
    void (*drained)(void *context, Connection *connection);
    // The peer is gone or was cut. Requests under way may still call connection_send; their bytes
    // are dropped.
    void (*closed)(void *context, Connection *connection);
} NetHandlers;

// TLS, of all sockets but Unix ones, which do not leave the machine.
typedef struct NetTls {
    TlsIdentity *identity;     // the net's from net_create on, also when that fails; NULL: plain
    uint64_t handshakes_per_s; // of one machine; 0: any
    // Has `work` called elsewhere and then `done` on the loop thread. False: it cannot, and neither
    // is called.
    bool (*run)(void *context, void (*work)(void *argument), void (*done)(void *argument),
                void *argument);
    void *context;
} NetTls;

typedef struct NetDef {
    size_t frame_bytes_max;
    uint32_t connections_max;
    uint32_t requests_max;   // in flight per connection
    size_t unsent_bytes_max; // per connection
    size_t held_bytes_max;   // of all connections together, unsent and unfinished frames; 0: any
    uint64_t write_timeout_ms;
    uint64_t hello_timeout_ms; // a connection that connection_authenticate was not called for in
                               // this time is told so and closed; 0: never
    NetTls tls;
    NetHandlers handlers;
    void *context;
    const Report *report;
} NetDef;

typedef struct NetStats {
    uint64_t connection_count; // open now
    uint64_t slow_count;       // cut since the start
    uint64_t refused_count;    // above connections_max
    uint64_t bytes_in, bytes_out;
    uint64_t handshake_count, handshake_failed_count; // of TLS, since the start
} NetStats;

Status net_create(Net **net, uv_loop_t *loop, const NetDef *def, Error *error);

// Closes every connection; calls `closed` when the last is gone and the memory is free. Listeners
// must be closed first.
void net_close(Net *net, void (*closed)(void *context), void *context);

// Reads no more frames from anyone; what is under way goes on, and replies are written. For
// draining.
void net_stop_reading(Net *net);

NetStats net_stats(const Net *net);

// Of a net with an identity: what connects from now on sees this one, which becomes the net's.
void net_set_identity(Net *net, TlsIdentity *identity);

// Bytes waiting to be written on all connections. Loop thread.
size_t net_unsent_bytes(Net *net);

// Takes over a socket that is connected already, also when it fails. `is_viewer`: whoever is at its
// other end may look, and nothing else, which is its owner's to enforce.
void net_adopt(Net *net, int fd, const char *peer, bool is_viewer);
// Whose process is at the other end of a Unix socket. false: it comes another way, or is a viewer.
bool connection_user(const Connection *connection, uint32_t *uid);
bool connection_is_viewer(const Connection *connection);

// What the owner hangs on a connection. Loop thread sets it in `opened`, before any other thread
// sees the connection.
void connection_set_data(Connection *connection, void *data);
void *connection_data(const Connection *connection);
const char *connection_peer(const Connection *connection);    // "127.0.0.1:51234" or "unix"
uint64_t connection_number(const Connection *connection);     // 1, 2, 3 … for logs
size_t connection_unsent_bytes(const Connection *connection); // waiting to be written; any thread

// Loop thread: what is sent from now on gets old in the connection's own queue alone, whose length
// is known, and not in the system's as well, which holds at most FRESH_BYTES that are not on their
// way. (Of a Unix socket the system decides.)
enum { CONNECTION_FRESH_BYTES = 65536 };
void connection_stay_fresh(Connection *connection);

// Ends the hello timeout.
void connection_authenticate(Connection *connection);

// Loop thread. References keep the memory, not the socket.
void connection_retain(Connection *connection);
void connection_release(Connection *connection);

// A request was taken up (loop thread), or `count` of them were answered (any thread). While
// requests_max are under way nothing is read.
void connection_request_begin(Connection *connection);
void connection_request_end(Connection *connection, uint32_t count);

// Frames with bodies of at most so many bytes may stand in memory that all connections share.
enum { CONNECTION_SHORT_BYTES = 65536 };

// In the handler `frame`, of a longer frame whose work outlasts the call: the memory that it stands
// in becomes the caller's, who frees it; the body stays where it is, and no further frame is handed
// up before connection_go_on. NULL: memory ended, and nothing is kept.
void *connection_keep_frame(Connection *connection);

// Loop thread: that memory is free, and the frames behind the one that was kept are handed up,
// soon. False: the connection was closed meanwhile.
bool connection_go_on(Connection *connection);

// Any thread, with a reference held. Writes or queues `count` bytes, which are whole frames with
// their headers; the bytes are the caller's again on return. Bytes to a closed connection are
// dropped.
void connection_send(Connection *connection, const uint8_t *bytes, size_t count);

// Loop thread: takes no more frames, lets the requests under way be answered, calls `malformed` and
// closes. `why` is a sentence that lives as long as the process.
void connection_reject(Connection *connection, const char *why);

// Loop thread: writes what is queued, then closes. For a last error message.
void connection_close_after_write(Connection *connection);
void connection_close(Connection *connection);
