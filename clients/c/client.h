// SPDX-License-Identifier: MIT
// Inside libmoreau: the connection, its buffers, and what is under way on it. Not installed.
//
// The socket never blocks: every wait is a poll with a time to give up. While a request is being
// written, arriving bytes are read too, so that a server which stops reading until its answers are
// taken cannot stand still together with its client.
#pragma once

#include "asked.h"
#include "moreau.h"

#include "moreau.pb-c.h"

#include <sys/types.h>

#define PROTOCOL_MAJOR 1u
#define PROTOCOL_MINOR 0u

enum { FRAME_HEADER_BYTES = 4 };

typedef struct Bytes {
    uint8_t *data; // owned
    size_t first;  // what is before was used up
    size_t count;  // bytes in use, from the start of data
    size_t capacity;
} Bytes;

struct MoreauReply {
    MoreauReply *next;          // in MoreauClient.ready
    Moreau__V1__Reply *message; // owned
    uint8_t *bytes;             // owned
    size_t byte_count;
};

// What resume.c knows.
typedef struct Secure Secure; // secure.c

typedef struct Resume {
    bool is_active;       // lost connections are taken up again
    AskedList unanswered; // with their frames, for the case that they must be repeated
    size_t count_max;     // of them: the server's limit
    bool is_away;         // the connection is lost
    unsigned attempts;    // in vain, one after the other
    int64_t lost_ms;      // when the first of these began
    int64_t next_ms;      // not before then is the next one
    int64_t wait_ms;      // after the next one
    int64_t connected_ms; // when the last one was successful
} Resume;

struct MoreauClient {
    int fd;      // -1: lost
    Secure *tls; // owned; NULL: plain
    char *address;
    MoreauOptions options; // its strings owned
    Resume resume;
    uint32_t deadline_ms;
    int reply_timeout_ms;
    uint64_t id_last;
    Bytes in, out;
    AskedList flight;                      // submitted and not yet answered to the end
    MoreauReply *ready_first, *ready_last; // answers that came while another was awaited
    size_t ready_final_count;              // of them, without events
    MoreauReply *greeting;                 // owned; holds the Welcome
    MoreauError error;
    MoreauError lost; // why fd is -1
};

// [ms] of a clock that never goes back
int64_t client_now_ms(void);

// The moment [ms] to give up; -1, never, for a negative timeout.
int64_t client_give_up_ms(int timeout_ms);

// Fills client->error with a failure of our own and returns `status`.
MoreauStatus client_fail(MoreauClient *client, MoreauStatus status, const char *field,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

// The connection is of no use any more: closes the socket, keeps the reason.
MoreauStatus client_lose(MoreauClient *client, MoreauStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The same failure again, on every call after the loss.
MoreauStatus client_fail_lost(MoreauClient *client);

// Connects and greets within connect_timeout_ms. `session` is to be resumed; Nullable.
MoreauStatus client_open(MoreauClient *client, const char *session, MoreauReply **greeting);

// error_* works on any MoreauError.
void error_clear(MoreauError *error);
void error_from_status(MoreauError *error, const Moreau__V1__Status *status);

// A column of a reply, handed out only when it has its `items` entries: the caller may index it
// without asking. NULL otherwise.
#define COLUMN(message, name, items)                                                               \
    ((message)->n_##name >= (items) && (items) > 0 ? (message)->name : NULL)

// A Nullable column of the caller's: `stride` numbers per item, or none at all.
#define PUT_COLUMN(message, name, column, items)                                                   \
    ((message).n_##name = (column) != NULL ? (items) : 0, (message).name = (void *)(column))

// ---- secure.c
// TLS by OpenSSL, 1.3 alone. Whom a server must be is settled before the first byte of ours goes
// out, so that no token reaches anybody else; what is wrong with a certificate is said in a
// sentence.

// "tls://host:port"; *rest is what stands behind that.
bool secure_is_asked(const char *address, const char **rest);

// Shakes hands over client->fd, which is lost when that fails.
MoreauStatus secure_open(MoreauClient *client, int64_t give_up_ms);

// As recv() and send() on a socket that never blocks; SECURE_LOST: the connection is, and the
// client knows why.
enum { SECURE_LOST = -2 };
ssize_t secure_receive(MoreauClient *client, void *bytes, size_t count);
ssize_t secure_send(MoreauClient *client, const void *bytes, size_t count);
// Bytes that were read from the socket and not taken yet.
size_t secure_pending(const MoreauClient *client);

// The connection's; and what is kept for the next one. `client->tls` may be NULL.
void secure_close(MoreauClient *client);
void secure_deinit(MoreauClient *client);

// ---- address.c
// Opens a connected, non-blocking socket. On failure `error` says why and the result is -1.
int address_connect(const char *address, int64_t give_up_ms, MoreauError *error);

// ---- wire.c
bool bytes_reserve(Bytes *bytes, size_t more);

void wire_put_header(uint8_t header[FRAME_HEADER_BYTES], size_t body_bytes);

// Forgets the frame of which only a piece is in client->in.
void wire_drop_piece(MoreauClient *client);

// Writes what is in client->out. Reads meanwhile.
MoreauStatus wire_flush(MoreauClient *client);

// The next whole frame, taken out of client->in into a new reply.
MoreauStatus wire_await_frame(MoreauClient *client, int64_t give_up_ms, MoreauReply **reply);

// A whole frame is already there.
bool wire_has_frame(const MoreauClient *client);

// ---- resume.c
// From here on lost connections are taken up again, if the options say so.
void resume_start(MoreauClient *client);
void resume_deinit(MoreauClient *client);

// Whether so many requests are unanswered that no other one may be sent.
bool resume_is_full(const MoreauClient *client);

// Keeps a copy of a frame that is about to be sent.
MoreauStatus resume_remember(MoreauClient *client, uint64_t id, const uint8_t *frame,
                             size_t frame_bytes);

// Whether a lost connection may come back.
bool resume_is_possible(const MoreauClient *client);

// Takes the connection up again, and repeats what is unanswered. DEADLINE_EXCEEDED: not yet.
MoreauStatus resume_connection(MoreauClient *client, int64_t give_up_ms);

// wire_await_frame and wire_flush for a connection that may be lost meanwhile.
MoreauStatus resume_receive(MoreauClient *client, int64_t give_up_ms, MoreauReply **reply);
MoreauStatus resume_flush(MoreauClient *client);

// ---- call.c
// Sends `request` with a new id and the client's deadline, and waits for its answer. The status is
// the answer's; OK only with a result of kind `expected`. *reply as in moreau_call.
MoreauStatus call_message(MoreauClient *client, Moreau__V1__Request *request,
                          Moreau__V1__Reply__ResultCase expected, MoreauReply **reply);

// The same for a request that is answered by events first. `proc` NULL: they are dropped.
typedef struct CallEvents {
    MoreauEventProc *proc;
    void *context;
} CallEvents;
MoreauStatus call_events(MoreauClient *client, Moreau__V1__Request *request,
                         Moreau__V1__Reply__ResultCase expected, CallEvents events,
                         MoreauReply **reply);
MoreauStatus call_submit(MoreauClient *client, Moreau__V1__Request *request, uint64_t *id);

// ---- reply.c
// The columns of a list of contacts; a column that is too short is NULL.
void reply_read_contacts(const Moreau__V1__WorldContactsReply *got, MoreauContacts *contacts);

// ---- settings.c
// Settings as a message. The parameter message is allocated: settings_deinit.
MoreauStatus settings_init(MoreauClient *client, const MoreauSettings *settings,
                           Moreau__V1__WorldSettings *message);
void settings_deinit(Moreau__V1__WorldSettings *message);
