// SPDX-License-Identifier: MIT
// What the files of this room share: the insides of Net and Connection.
//
//   net.c         the set of connections, waking the loop
//   connection.c  life, reading, when to poll for what
//   output.c      sending, the queue of bytes the socket did not take
//   secure.c      TLS between a connection's socket and its frames
//   listener.c    accepting
//   address.c     the text of an address
//   user.c        who is at the other end of a Unix socket
//   tls/          OpenSSL
//
// Threads: everything belongs to the loop thread but what stands under a connection's mutex, the
// atomics, and the list of woken connections (wake_mutex). The two mutexes are never held together.
#pragma once

#include "base/cache.h"
#include "net/connection.h"
#include "net/tls/rate.h"
#include "net/tls/stream.h"

#include <assert.h>
#include <stdbool.h>
#include <sys/socket.h>

enum { READ_BYTES = 65536 };    // one read; shared by all connections
enum { PEER_NAME_BYTES = 128 }; // what address_print writes

// A peer that says nothing is probed after so long, then so often in such intervals, and then given
// up.
enum { KEEPALIVE_IDLE_S = 14, KEEPALIVE_INTERVAL_S = 5, KEEPALIVE_COUNT = 3 };
enum { KEEPALIVE_S = KEEPALIVE_IDLE_S + KEEPALIVE_COUNT * KEEPALIVE_INTERVAL_S };
static_assert(1000 * KEEPALIVE_S < VANISHED_MS, "with time to spare for a late timer");

typedef struct OutputChunk OutputChunk;

// Bytes that the socket did not take. Under the connection's mutex.
typedef struct Output {
    OutputChunk *head, *tail; // owned
} Output;

typedef enum ConnectionState {
    CONNECTION_OPEN,
    CONNECTION_REJECTED,     // reads nothing, and waits for the requests under way
    CONNECTION_WRITING_LAST, // writes what is queued, reads nothing
    CONNECTION_LINGERING, // has shut its side down and waits for the peer's end, so that the last
                          // bytes arrive
    CONNECTION_CLOSED
} ConnectionState;

// How far a connection's TLS has got.
typedef enum Shaking {
    SHAKING_NOT,   // it has none, or its hands are shaken
    SHAKING_READS, // … until a record is whole
    SHAKING_WAITS, // … for its turn
    SHAKING_WORKS
} Shaking;

struct Connection {
    Net *net;
    Connection *previous, *next; // among the open ones
    uint64_t number;
    void *data;
    char peer[PEER_NAME_BYTES];
    ConnectionState state;
    uint32_t reference_count; // one of them is the socket's
    uint32_t handle_count;    // not yet closed
    int poll_events;          // what uv_poll watches for now
    bool is_viewer;
    bool is_lingerer; // the peer may still be sending: linger before the close
    bool is_deaf;     // paused, and bytes came: the socket is not watched for more
    bool is_parsing;  // inside take_frames, which must not be entered again
    bool is_held;     // from connection_keep_frame to connection_go_on
    uv_poll_t poll;
    uv_timer_t write_timer;    // runs only while something is queued, or while lingering
    uv_timer_t patience_timer; // for Hello; then, once rejected, for what is under way
    const char *rejected_why;  // why there is no further frame; borrowed

    // bytes of frames that are not whole, or wait because the connection is paused; NULL when there
    // are none
    uint8_t *input;
    size_t input_bytes, input_capacity;
    size_t frame_end;  // in `input`: of the frame being handed up
    size_t kept_bytes; // of the memory that went with a kept one

    uint32_t begun_count; // requests taken up, modulo 2^32

    // under TLS (secure.c)
    Shaking shaking;
    Connection *shaking_next; // of those that wait
    uint64_t rate_key;        // of its machine
    TlsInput greeting;        // while hands are shaken: of `input`, what is not used yet
    TlsResult shaken;         // what came of it
    bool is_at_work;          // on a lane, which alone has `tls`, `greeting` and `shaken`
    bool is_ended;            // the peer has said that nothing more comes
    size_t tls_bytes;         // counted among what is held

    // shared with other threads, in cache lines of their own
    _Alignas(CACHE_LINE_BYTES) _Atomic uint32_t
        ended_count; // … and answered: the difference is under way
    atomic_bool
        is_paused; // has bytes or may have, and waits for requests to end or output to be written
    uv_mutex_t mutex;
    int fd; // -1: closed. Under the mutex for every thread but the loop's, which alone changes it
    bool takes_output; // false: bytes are dropped. Under the mutex
    Output output;     // under the mutex
    TlsStream *tls;    // NULL: plain, or nothing has come. Under the mutex once hands are shaken
    bool is_sending;   // somebody is, and has the mutex or is between two records
    bool is_awaited;   // by the loop, to be done with that
    bool wakes_loop;   // what is being sent wants it
    uint8_t *gathered; // records of whoever is sending, kept back; NULL: they go at once
    size_t gathered_bytes;
    Output left; // bytes of others for whoever is sending
    _Atomic size_t left_bytes;
    atomic_bool wants_mutex; // the loop
    atomic_bool is_broken;   // the socket or the memory failed while sending; the loop closes. Set
                             // under the mutex
    _Atomic size_t unsent_bytes; // in `output`; changed under the mutex

    // under net->wake_mutex
    bool is_woken; // in one of the two lists
    Connection *woken_next;
};

struct Net {
    NetDef def;
    uv_loop_t *loop;
    uv_async_t async;
    uv_mutex_t wake_mutex;
    Connection *woken;    // connections with something for the loop to look at …
    Connection *attended; // … and those that it is going through
    Connection *first;    // open connections
    uint32_t open_count;
    uint64_t memory_count; // connections whose memory is not yet free
    uint64_t last_number;
    uint64_t slow_count, refused_count;
    TlsRate rate;
    uv_timer_t rate_timer;                    // looks at those who wait
    Connection *shaking_first, *shaking_last; // who wait for their turn
    uint32_t shaking_count;                   // whose hands are being shaken
    bool is_beginning;                        // inside secure_begin_waiting
    uint64_t handshake_count, handshake_failed_count;
    uint64_t failure_said_ns; // when one was last in the log; 0: never
    uint64_t bytes_in;
    _Atomic uint64_t bytes_out;
    _Atomic size_t held_bytes; // what connections hold, of all together (held_bytes in net.c)
    bool is_reading;
    bool is_closing;
    void (*closed)(void *context);
    void *closed_context;
    uint32_t handle_count; // not yet closed
    uint8_t read_buffer[READ_BYTES];
    uint8_t record_buffer[READ_BYTES];
};

// ---- net.c

// Any thread: has the loop look at a connection (connection_attend).
void net_wake(Net *net, Connection *connection);
void net_unwake(Net *net, Connection *connection);

// A connection's memory is free.
void net_forget(Net *net);

// Any thread: a connection holds so much more, or less.
void net_hold(Net *net, size_t before, size_t after);
bool net_holds_too_much(const Net *net);

// Closes a socket that was accepted but cannot be served, tells its peer, and counts it.
void net_refuse(Net *net, int fd, const char *peer, NetRefusal refusal);

// ---- connection.c

// Takes over an accepted socket, also when it fails.
void connection_open(Net *net, int fd, const char *peer, bool is_viewer);

// Ends a connection that holds more than the others when all hold too much: nothing is held any
// more, and it is told so unless bytes to it wait already.
void connection_cut(Connection *connection);

// For TLS: more bytes behind those that are there (false: memory ended, and it is closed), none any
// more, frames out of them, and the answer to a browser.
bool connection_add_input(Connection *connection, const uint8_t *bytes, size_t count);
void connection_drop_input(Connection *connection);
void connection_take_input(Connection *connection);
void connection_redirect_http(Connection *connection);

// Does whatever is due: closes what broke, writes, reads on, watches for the right events.
void connection_attend(Connection *connection);

// ---- output.c

typedef enum OutputResult { OUTPUT_EMPTY, OUTPUT_WAITS, OUTPUT_FAILED } OutputResult;

// Writes from the queue what the socket takes. Loop thread. *progressed: it took something.
OutputResult output_write(Connection *connection, bool *progressed);

// Under the mutex.
void output_drop(Connection *connection);

// Bytes for the socket, now or behind what waits; under the mutex. True: the loop must be woken.
bool output_push(Connection *connection, const uint8_t *bytes, size_t count);

// Frames that were left behind because somebody else is sending, in the order they came; all under
// the mutex.
typedef struct LeftBytes {
    OutputChunk *chunk;
    const uint8_t *bytes;
    size_t count;
} LeftBytes;
bool output_leave(Connection *connection, const uint8_t *bytes, size_t count); // false: no memory
bool output_take_left(Connection *connection, LeftBytes *left);                // false: none
void output_free_left(Connection *connection, const LeftBytes *left);

// ---- secure.c

// Whether what a socket brings is to be under TLS; *key: by which its machine's rate is counted.
bool secure_applies(const Net *net, int fd, uint64_t *key);

// The peer of a socket that is about to be closed before TLS began learns that much.
void secure_refuse(int fd);

// Has hands not been shaken yet?
bool secure_is_shaking(const Connection *connection);

// The socket can be read while hands are shaken.
void secure_greet(Connection *connection);

// As recv(): bytes, 0 at the end, or -1 and errno EAGAIN when there are none, also where the
// connection was ended because records were none. `room` ≥ READ_BYTES.
ssize_t secure_receive(Connection *connection, uint8_t *bytes, size_t room);

// Under the mutex, but free in between. True: the loop must be woken.
bool secure_send(Connection *connection, const uint8_t *bytes, size_t count);

// Says that nothing more comes. Loop thread.
void secure_end(Connection *connection);

// With the connection's memory.
void secure_free(Connection *connection);

// Loop thread: those whose rate lets them are shaken hands with.
void secure_begin_waiting(Net *net);
// A connection that is closed waits no more.
void secure_leave(Connection *connection);
