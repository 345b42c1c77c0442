// SPDX-License-Identifier: MIT
// How a frame becomes a request. A short one is unpacked and judged on the loop thread, at once. A
// long one on a lane, which its memory is handed to; its connection, and no other, waits until then
// (so the order of its frames holds), and the loop goes on with what depends on who else is there:
// the session, the id, the world.
//
//   short   read ─► count memory ─► admit ─► check ─► dispatch
//   long    reserve memory ─► lane: read, check, judge ─► count memory ─► admit ─► dispatch
//
// A long frame whose connection is lost meanwhile has not been received: nobody is answered, and a
// client that comes back sends it again.
#include "wire/codec.h"
#include "api/kept.h"
#include "api/request.h"
#include "api/session.h"
#include "base/hash.h"
#include "wire/step_codec.h"
#include "wire/wire.h"

#include <inttypes.h>
#include <stdlib.h>

// Unpacking takes at most so many times the frame, and a little. A message of many small parts (a
// scene) takes about ten times its bytes; packed columns take at most eight.
enum { UNPACK_MULTIPLE = 64, UNPACK_BYTES_MIN = 65536 };

static size_t unpack_bytes_max(size_t body_bytes) {
    return UNPACK_BYTES_MIN + UNPACK_MULTIPLE * body_bytes;
}

// Of the memory budget, requests under way take at most one part in so many.
enum { REQUEST_MEMORY_SHARE = 4 };

// What a frame longer than PEER_SHORT_BYTES needs beside its request, until it is unpacked.
struct LongFrame {
    void *memory; // owned, until then
    const uint8_t *body;
    size_t body_bytes;
    uint64_t content; // a hash of the body
    Error error;      // why it was not unpacked, or is no message that may be
    Error said;       // numbers that are none, and the like
    Error judged;     // by its command
};

// ---- what the bytes say; any thread

static const char no_request[] = "The frame is no message Request of moreau.v1.";

static Status refuse_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "The requests under way take more than a quarter of the memory budget "
                     "(option --memory-bytes-max): wait for "
                     "replies, or send smaller parts.");
}

// The id in a frame that is not unpacked, so that its client knows which one is refused: read from
// the first fields, which are all that an honest one has.
static uint64_t peek_id(const uint8_t *body, size_t body_bytes) {
    enum { FIELDS_MAX = 16 };
    WireCursor source = {.at = body, .end = body + body_bytes};
    uint64_t id = 0;
    for (int i = 0; i < FIELDS_MAX && source.at < source.end && !source.failed; i++) {
        uint64_t key = wire_read_varint(&source);
        if ((key & 7) == WIRE_BYTES) {
            wire_read_part(&source);
        } else if ((key & 7) != WIRE_VARINT) {
            break;
        } else {
            uint64_t value = wire_read_varint(&source);
            id = key == (1 << 3 | WIRE_VARINT) && !source.failed ? value : id;
        }
    }
    return id;
}

static Status unpack(Request *request, const uint8_t *body, size_t body_bytes, Error *error) {
    request->message = step_codec_unpack(&request->arena, body, body_bytes);
    if (request->message != NULL) {
        request->is_checked = true;
        return STATUS_OK;
    }
    bool exhausted;
    request->message = (Moreau__V1__Request *)(void *)codec_unpack(
        &moreau__v1__request__descriptor, &request->arena, body, body_bytes, &exhausted);
    if (request->message != NULL) {
        return STATUS_OK;
    }
    if (exhausted) {
        request->id = peek_id(body, body_bytes);
        return request->arena.limit_bytes < unpack_bytes_max(body_bytes)
                   ? refuse_memory(error)
                   : error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                               "Unpacked, this frame of %zu bytes takes more than %d times its "
                               "size, which no option changes: send fewer, larger parts.",
                               body_bytes, UNPACK_MULTIPLE);
    }
    return error_set(error, STATUS_INVALID_ARGUMENT, "", "%s", no_request);
}

static Status find_call(Request *request, Error *error) {
    const Moreau__V1__Request *message = request->message;
    if (message->call_case == MOREAU__V1__REQUEST__CALL__NOT_SET) {
        if (message->base.n_unknown_fields > 0) {
            return error_set(
                error, STATUS_UNIMPLEMENTED, "",
                "This server knows no call with the number %u (Describe lists those it knows).",
                message->base.unknown_fields[0].tag);
        }
        return error_set(error, STATUS_INVALID_ARGUMENT, "", "The request carries no call.");
    }
    request->command = command_find(message->call_case);
    if (request->command == NULL) {
        return error_set(error, STATUS_UNIMPLEMENTED, "",
                         "This server knows no call with the number %d.", (int)message->call_case);
    }
    return STATUS_OK;
}

static Status check(const Request *request, Error *error) {
    return request->is_checked || request->command->flags & COMMAND_ANY_NUMBER
               ? STATUS_OK
               : codec_check((const ProtobufCMessage *)(const void *)request_call(request), error);
}

// ---- memory

static size_t part_of_each(const Api *api, size_t bytes) {
    return bytes / (1 + api->def.peers->figures(api->peer_context).connection_count);
}

static size_t requests_limit(const Api *api) {
    return api->def.memory_bytes_max / REQUEST_MEMORY_SHARE;
}

static size_t held_by(const Session *session) {
    return session == NULL ? 0 : session->request_bytes;
}

static void count(Request *request, Session *session, size_t bytes) {
    request->counted_bytes = bytes;
    request->counted_by = session;
    request->api->request_bytes += bytes;
    if (session != NULL) {
        session->request_bytes += bytes;
    }
}

// Many large requests under way at once must not take the memory of the worlds. When they would,
// those are refused whose session has more than its part, not whoever comes next.
static Status count_memory(Request *request, Error *error) {
    Api *api = request->api;
    Session *session = request->peer.calls->data(request->peer.handle);
    size_t bytes = request->arena.total_bytes, limit = requests_limit(api);
    bool is_crowded = bytes > limit || api->request_bytes > limit - bytes;
    if (is_crowded && bytes + held_by(session) > part_of_each(api, limit)) {
        return refuse_memory(error);
    }
    count(request, session, bytes);
    return STATUS_OK;
}

// The same rule before a frame is unpacked: it may take the room that is left, or what its session
// has not used of its part, at most the multiple; and that is counted until it is unpacked. (The
// frame itself is counted by who received it.)
static Status reserve_memory(Request *request, Session *session, size_t body_bytes, Error *error) {
    const Api *api = request->api;
    size_t limit = requests_limit(api), part = part_of_each(api, limit), held = held_by(session);
    size_t room = limit > api->request_bytes ? limit - api->request_bytes : 0;
    size_t unused = part > held ? part - held : 0;
    room = room > unused ? room : unused;
    if (room < body_bytes) {
        return refuse_memory(error);
    }
    if (room < request->arena.limit_bytes) {
        request->arena.limit_bytes = room;
    }
    count(request, session, request->arena.limit_bytes);
    return STATUS_OK;
}

// ---- admission; loop thread

// Where nothing is kept, ids need only differ while they are in flight.
static Status admit_id(Session *session, uint64_t id, Error *error) {
    if (id > session->id_highest) {
        session->id_highest = id;
    } else if (request_find(session, id) != NULL) {
        return error_set(error, STATUS_ALREADY_EXISTS, "id",
                         "Request %" PRIu64
                         " of this connection is still under way: ids in flight must differ.",
                         id);
    }
    return STATUS_OK;
}

// `content`: a hash of the frame, where the session is resumable.
static Status admit(Request *request, uint64_t content, Error *error) {
    Session *session = request->peer.calls->data(request->peer.handle);
    bool is_hello = request->command->field == MOREAU__V1__REQUEST__CALL_HELLO;
    if (session == NULL && !is_hello) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "",
                         "The first request of a connection is Hello; this was %s.",
                         request->command->name);
    }
    if (session != NULL && is_hello) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "",
                         "This connection has said Hello already.");
    }
    if (request->peer.calls->is_viewer(request->peer.handle) &&
        request->command->flags & (COMMAND_MUTATES | COMMAND_CHANGES)) {
        return error_set(error, STATUS_PERMISSION_DENIED, "",
                         "A viewer (the WebSocket of --http) may look and change nothing, and %s "
                         "does: connect to an address of --listen.",
                         request->command->name);
    }
    if (session != NULL) {
        if (request_check_rights(request, error) != STATUS_OK) {
            return error->status;
        }
        // what asks for nothing but that others end, or that somebody is there, is not counted
        if (request->command->rights != RIGHTS_NONE &&
            use_check_requests(session->use, error) != STATUS_OK) {
            return error->status;
        }
        Status status = session->is_resumable ? kept_admit(session, request, content, error)
                                              : admit_id(session, request->id, error);
        if (status != STATUS_OK) {
            return status;
        }
        request_link(session, request);
    }
    return STATUS_OK;
}

// Reads the head of what was unpacked.
static void read_head(Request *request) {
    request->id = request->message->id;
    // from here on the arena also holds what the answer is made of, a few times a frame at most
    request->arena.limit_bytes += 8 * request->api->def.frame_bytes_max;
    if (request->message->has_deadline_ms) {
        request->deadline_ns =
            request->received_ns + (uint64_t)request->message->deadline_ms * 1000000u;
    }
}

// No message: what came before it is answered first, api_peer_malformed then says why.
static void reject(Request *request) {
    Peer peer = request->peer;
    request->status = STATUS_INVALID_ARGUMENT;
    peer.calls->request_end(peer.handle, 1);
    peer.calls->reject(peer.handle, no_request);
    request_finish(request);
}

static void refuse_frame(Request *request, const Error *error) {
    if (error->status == STATUS_INVALID_ARGUMENT) {
        reject(request);
    } else {
        request_end(request, error);
    }
}

// `said`, Nullable: why it is refused for what it says, in its turn.
static void go_on(Request *request, const Error *said, const Error *judged) {
    if (said != NULL && request->session == NULL) {
        request_end(request, said); // a Hello: nothing came before it
    } else if (said != NULL && request->repeats == NULL) {
        request_refuse(request, said);
    } else if (request->command->field == MOREAU__V1__REQUEST__CALL_HELLO) {
        session_greet(request);
    } else if (request->repeats != NULL) {
        kept_answer(request);
    } else {
        request_dispatch(request, judged);
    }
}

// ---- long frames

static void judge(Request *request, LongFrame *frame) {
    if (find_call(request, &frame->error) == STATUS_OK &&
        check(request, &frame->said) == STATUS_OK && request->command->judge != NULL) {
        request->command->judge(request, &frame->judged);
    }
}

static JobOutcome unpack_on_lane(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    LongFrame *frame = request->frame;
    lane_end_turn(lane);
    if (!request_should_stop(request, NULL) &&
        unpack(request, frame->body, frame->body_bytes, &frame->error) == STATUS_OK) {
        read_head(request);
        judge(request, frame);
        frame->content = hash_bytes(frame->body, frame->body_bytes, 0);
    }
    free(frame->memory);
    frame->memory = NULL;
    job->urgent = true; // its connection waits for the loop
    return JOB_DONE;
}

// What was reserved becomes what is used.
static void recount(Request *request) {
    Session *session = request->counted_by;
    size_t reserved = request->counted_bytes;
    request->api->request_bytes -= reserved;
    if (session != NULL) {
        session->request_bytes -= reserved;
    }
    count(request, session, request->arena.total_bytes);
}

// Why what was unpacked is not carried out; OK: it is.
static Status refusal(Request *request, const LongFrame *frame, bool is_here, Error *error) {
    if (!is_here) {
        return error_set(error, STATUS_CANCELLED, "", "The connection was lost.");
    }
    if (request->api->is_draining || request->message == NULL) {
        return error_set(error, STATUS_UNAVAILABLE, "",
                         "The server is being stopped; nothing was done of this request.");
    }
    if (request->command != NULL && admit(request, frame->content, error) != STATUS_OK) {
        return error->status;
    }
    if (frame->error.status != STATUS_OK) {
        *error = frame->error;
    } else {
        request_should_stop(request, error);
    }
    return error->status;
}

static void on_unpacked(Job *job) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    LongFrame *frame = request->frame;
    Error error;
    error_clear(&error);
    if (request->session != NULL) {
        request_unlink(request); // until it is admitted, as any other
    }
    bool is_here = request->peer.calls->go_on(request->peer.handle);
    recount(request);
    if (is_here && request->message == NULL && frame->error.status != STATUS_OK) {
        refuse_frame(request, &frame->error);
    } else if (refusal(request, frame, is_here, &error) != STATUS_OK) {
        request_end(request, &error);
    } else {
        go_on(request, frame->said.status == STATUS_OK ? NULL : &frame->said, &frame->judged);
    }
    free(frame);
}

static Status keep_frame(Request *request, LongFrame *frame, Error *error) {
    Session *session = request->peer.calls->data(request->peer.handle);
    request->id = peek_id(frame->body, frame->body_bytes);
    if (reserve_memory(request, session, frame->body_bytes, error) != STATUS_OK) {
        return error->status;
    }
    frame->memory = request->peer.calls->keep_frame(request->peer.handle);
    if (frame->memory == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while receiving.");
    }
    if (session != NULL) {
        request_link(session, request);
    }
    return STATUS_OK;
}

static void receive_long(Request *request, const uint8_t *body, size_t body_bytes) {
    Error error;
    error_clear(&error);
    LongFrame *frame = calloc(1, sizeof(*frame));
    if (frame == NULL) {
        error_set(&error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while receiving.");
        request_end(request, &error);
        return;
    }
    frame->body = body;
    frame->body_bytes = body_bytes;
    if (keep_frame(request, frame, &error) != STATUS_OK) {
        free(frame);
        request_end(request, &error);
        return;
    }
    request->frame = frame;
    request->is_long = true;
    strand_init_long(&request->strand); // it cannot be interrupted
    request->job = (Job){.work = unpack_on_lane, .done = on_unpacked};
    pool_submit(request->api->def.pool, &request->strand, request_share(request), &request->job);
}

// ---- all frames

static void receive_short(Request *request, const uint8_t *body, size_t body_bytes) {
    Error error;
    error_clear(&error);
    if (unpack(request, body, body_bytes, &error) != STATUS_OK) {
        refuse_frame(request, &error);
        return;
    }
    read_head(request);
    const Session *session = request->peer.calls->data(request->peer.handle);
    uint64_t content =
        session != NULL && session->is_resumable ? hash_bytes(body, body_bytes, 0) : 0;
    if (count_memory(request, &error) != STATUS_OK || find_call(request, &error) != STATUS_OK ||
        admit(request, content, &error) != STATUS_OK) {
        request_end(request, &error);
        return;
    }
    go_on(request, check(request, &error) == STATUS_OK ? NULL : &error, NULL);
}

void request_receive(Api *api, Peer peer, uint64_t received_ns, const uint8_t *body,
                     size_t body_bytes) {
    Request *request = request_begin(api, peer, received_ns);
    if (request == NULL) {
        peer.calls->close(peer.handle);
        return;
    }
    request->arena.limit_bytes = unpack_bytes_max(body_bytes);
    if (body_bytes > PEER_SHORT_BYTES) {
        receive_long(request, body, body_bytes);
    } else {
        receive_short(request, body, body_bytes);
    }
}
