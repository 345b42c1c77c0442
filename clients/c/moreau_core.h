// SPDX-License-Identifier: MIT
// The part of libmoreau that everything else stands on: how a call went, connections, answers, and
// any call of the protocol as packed bytes, waited for or pipelined. moreau.h says what holds for
// all of the library, and is what a program includes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MoreauClient MoreauClient;

// One answer of the server, with the memory of all columns read from it.
typedef struct MoreauReply MoreauReply;

// The canonical gRPC codes, with the same numbers.
typedef enum MoreauStatus {
    MOREAU_OK = 0,
    MOREAU_CANCELLED = 1,
    MOREAU_UNKNOWN = 2,
    MOREAU_INVALID_ARGUMENT = 3,
    MOREAU_DEADLINE_EXCEEDED = 4,
    MOREAU_NOT_FOUND = 5,
    MOREAU_ALREADY_EXISTS = 6,
    MOREAU_PERMISSION_DENIED = 7,
    MOREAU_RESOURCE_EXHAUSTED = 8,
    MOREAU_FAILED_PRECONDITION = 9,
    MOREAU_ABORTED = 10,
    MOREAU_OUT_OF_RANGE = 11,
    MOREAU_UNIMPLEMENTED = 12,
    MOREAU_INTERNAL = 13,
    MOREAU_UNAVAILABLE = 14,
    MOREAU_DATA_LOSS = 15,
    MOREAU_UNAUTHENTICATED = 16
} MoreauStatus;

// What went wrong, and where.
typedef struct MoreauError {
    MoreauStatus status;
    bool from_server;  // false: the library or the connection says so; no answer was received
    bool recoverable;  // the same request may succeed later
    uint64_t world;    // the world concerned; 0: none
    uint64_t step;     // the step concerned; 0: none
    char field[256];   // path of the offending field, "" when none is to blame
    char message[512]; // a sentence a person can act on
} MoreauError;

// The name of a status, as "INVALID_ARGUMENT".
const char *moreau_status_name(MoreauStatus status);

// Version of this library, as "0.1.0".
const char *moreau_version(void);

// ----------------------------------------------------------------------------------------
// connection

// Whether and how a lost connection is taken up again. It is then opened anew, the session resumed,
// and what has no answer repeated: the server does nothing twice, a call that was waiting goes on
// waiting, and pipelined answers come as if nothing had happened. Calls with events are the
// exception: one that was cut in the middle ends with UNAVAILABLE, and may be made again.
//
// The server goes on with what it has received, until its --session-grace-ms are over; so a client
// that only wants to leave cancels first. When the session is gone (the grace time is over, or the
// server was started anew) the call fails, and every further one, with UNAVAILABLE.
typedef struct MoreauReconnect {
    unsigned attempts; // in a row, the first of them at once; default 0: never reconnect
    int wait_ms;       // before the second, then twice as long each time; default 50
    int wait_ms_max;   // default 2,000
    int total_ms; // from the loss on; default 25,000, less than a server's grace time; 0: no limit
} MoreauReconnect;

typedef struct MoreauOptions {
    const char *client_name; // for logs; default ""
    const char *token;       // where the server demands one; default NULL
    // Of a server at tls://: what must be true of its certificate. By default its name is that of
    // the address, and an authority that this machine trusts has signed it. NULL: the default.
    const char *tls_ca;          // file in PEM: an authority in this file instead
    const char *tls_fingerprint; // "sha256:…" of the certificate itself, and nothing else (with
                                 // tls_ca: both); neither its name nor its dates matter then
    const char *tls_cert, *tls_key; // files in PEM: our own certificate, where the server wants one
    const char *resume;      // session of a lost connection, to take its worlds over; default NULL
    int connect_timeout_ms;  // for connecting and the greeting; default 10,000; 0: no limit
    int reply_timeout_ms;    // for a blocking call's next event or answer; default 0: no limit
    size_t reply_bytes_max;  // larger answers end the connection; default 256 MiB
    uint32_t protocol_major; // default: what this library speaks; for tests of the greeting
    MoreauReconnect reconnect; // default: none; moreau_connect itself tries once all the same
} MoreauOptions;

MoreauOptions moreau_options_default(void);

// Connects and greets. `address` is "host:port", "[v6]:port", either behind "tls://" where the
// server speaks TLS, or "unix:PATH". `options` and `error`
// are Nullable. On failure *client is NULL and `error` says why: a server that refuses the greeting
// (another protocol version, a wrong token) has from_server set, an unreachable one has status
// UNAVAILABLE or DEADLINE_EXCEEDED, and one that is not whom it should be UNAUTHENTICATED, before
// anything was said to it.
MoreauStatus moreau_connect(const char *address, const MoreauOptions *options,
                            MoreauClient **client, MoreauError *error);

// Closes the connection and frees the client. Nullable. Replies stay valid until moreau_reply_free.
void moreau_disconnect(MoreauClient *client);

// Why the last call on this client failed; status is MOREAU_OK after a success. Borrowed until the
// next call.
const MoreauError *moreau_error(const MoreauClient *client);

// False once the connection is lost, and will not be taken up again; every further call then fails
// with UNAVAILABLE.
bool moreau_is_connected(const MoreauClient *client);

// What the server said in its greeting. Borrowed until moreau_disconnect.
const char *moreau_session(const MoreauClient *client); // for MoreauOptions.resume
const char *moreau_server_version(const MoreauClient *client);
uint64_t moreau_dynamics_version(const MoreauClient *client);
const char *
moreau_server_http(const MoreauClient *client);           // HOST:PORT of its pages, behind https://
                                                          // under TLS; "": none
const char *moreau_server_db(const MoreauClient *client); // its file of episodes, there; "": none

// A limit of the server by name; false when it has none of that name.
bool moreau_limit(const MoreauClient *client, const char *name, uint64_t *value);

// For all requests from now on: the server stops work [ms] after receipt, between two steps, and
// answers DEADLINE_EXCEEDED with what was done. 0, the default: no deadline.
void moreau_set_deadline(MoreauClient *client, uint32_t deadline_ms);

// Changes MoreauOptions.reply_timeout_ms. A call that times out returns DEADLINE_EXCEEDED; its late
// answer is dropped and the connection stays usable.
void moreau_set_reply_timeout(MoreauClient *client, int timeout_ms);

// -------------------------------------------------------------------------------------------
// replies

// Frees a reply and every column read from it. Nullable.
void moreau_reply_free(MoreauReply *reply);

// Id of the request that is answered.
uint64_t moreau_reply_id(const MoreauReply *reply);

// True: an event, after which more answers to the same request will come.
bool moreau_reply_is_event(const MoreauReply *reply);

// How the call went; `error`, Nullable, gets the details.
MoreauStatus moreau_reply_status(const MoreauReply *reply, MoreauError *error);

// Time from receipt of the request to the start of encoding the reply, on the server [ns].
uint64_t moreau_reply_server_ns(const MoreauReply *reply);

// The answer as it came: one packed moreau.v1.Reply. Borrowed from the reply.
const void *moreau_reply_bytes(const MoreauReply *reply, size_t *count);

// --------------------------------------------------------------------------- any call, and
// pipelining

// Sends one packed moreau.v1.Request (its id and deadline are replaced by the client's) and waits
// for the answer. Returns the status of the answer. *reply is set whenever an answer came, also a
// failed one, and is then the caller's to free; otherwise NULL.
MoreauStatus moreau_call(MoreauClient *client, const void *request, size_t count,
                         MoreauReply **reply);

// What takes the events of a call as they come; `event` is borrowed until it returns. Must not call
// the client, but may call everything that reads a reply. false: no more, please; the request is
// cancelled and still answered, with status CANCELLED when that was in time.
typedef bool MoreauEventProc(void *context, const MoreauReply *event);

// moreau_call for calls with events; `proc` is Nullable: they are dropped.
MoreauStatus moreau_call_events(MoreauClient *client, const void *request, size_t count,
                                MoreauEventProc *proc, void *context, MoreauReply **reply);

// The same without waiting; but a client that reconnects has no more requests under way than the
// server's limit requests-max, and takes in answers until it may send. *id is the request's.
MoreauStatus moreau_submit(MoreauClient *client, const void *request, size_t count, uint64_t *id);

// The next answer to a submitted request, in order of arrival; waits at most `timeout_ms`, for ever
// when it is negative. MOREAU_OK means that an answer is there, which may be a failed one: see
// moreau_reply_status, or an event, which leaves its request under way: see moreau_reply_is_event.
// FAILED_PRECONDITION: nothing was submitted. DEADLINE_EXCEEDED: nothing came.
MoreauStatus moreau_receive(MoreauClient *client, int timeout_ms, MoreauReply **reply);

// Submitted requests whose (last) answers moreau_receive has not handed out.
size_t moreau_in_flight(const MoreauClient *client);

// Asks the server to end a submitted request between two steps. It is still answered, and events
// that were on their way still come. *found,
// Nullable: false when it had been answered already.
MoreauStatus moreau_cancel(MoreauClient *client, uint64_t id, bool *found);

// The socket, to be polled for reading by an event loop; -1 when the connection is lost. Poll only
// while moreau_has_received is false: answers that were read together wait in the client. A client
// that reconnects does so in moreau_receive, which then may wait longer than it was told to, by
// connect_timeout_ms; the socket is another one afterwards.
int moreau_poll_fd(const MoreauClient *client);
bool moreau_has_received(const MoreauClient *client);

#ifdef __cplusplus
}
#endif
