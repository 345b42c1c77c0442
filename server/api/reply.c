// SPDX-License-Identifier: MIT
// Replies: packed where they are made. On a lane they are gathered in its outbox and written when
// the lane's turn ends, so that pipelined requests of one connection share a write; on the loop
// they go out at once.
#include "api/audit.h"
#include "api/kept.h"

#include "wire/wire.h"
#include "base/array.h"
#include "os/clock.h"

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTBOX_FLUSH_BYTES = 1 << 16 }; // about what a socket takes at once

typedef struct Outbox {
    Peer peer; // whose replies are being gathered; kept alive by their requests, which
               // finish after the turn
    uint8_t *bytes;
    size_t used, capacity;
    uint32_t ended; // requests answered in it
} Outbox;

static void flush(Outbox *outbox) {
    if (peer_is_none(outbox->peer)) {
        return;
    }
    outbox->peer.calls->send(outbox->peer.handle, outbox->bytes, outbox->used);
    if (outbox->ended > 0) {
        outbox->peer.calls->request_end(outbox->peer.handle, outbox->ended);
        outbox->ended = 0;
    }
    outbox->peer = (Peer){0};
    outbox->used = 0;
    if (outbox->capacity > 64 * (size_t)OUTBOX_FLUSH_BYTES) {
        free(outbox->bytes); // one huge reply must not hold its memory for ever
        outbox->bytes = NULL;
        outbox->capacity = 0;
    }
}

void api_lane_turn_ended(Lane *lane, void *context) {
    (void)context;
    if (lane->outbox != NULL) {
        flush(lane->outbox);
    }
}

void api_lane_left(Lane *lane, void *context) {
    (void)context;
    Outbox *outbox = lane->outbox;
    if (outbox != NULL) {
        free(outbox->bytes);
        free(outbox);
        lane->outbox = NULL;
    }
}

static void fill_status(const Request *request, const Error *error, Moreau__V1__Status *status) {
    status->has_code = 1;
    status->code = (Moreau__V1__Status__Code)error->status;
    status->message = (char *)error->message;
    if (error->field[0] != '\0') {
        status->field = (char *)error->field;
    }
    if (request->world != NULL) {
        status->has_world = 1;
        status->world = request->world->id;
    }
    status->has_recoverable = 1;
    status->recoverable = status_is_recoverable(error->status);
}

static Outbox *open_outbox(Lane *lane, Peer peer) {
    if (lane->outbox == NULL) {
        lane->outbox = calloc(1, sizeof(Outbox));
    }
    Outbox *outbox = lane->outbox;
    if (outbox != NULL && outbox->peer.handle != peer.handle) {
        flush(outbox);
        outbox->peer = peer;
    }
    return outbox;
}

// Where a frame of at most `body_bytes_max` is to be written: in the outbox of the lane or, without
// a lane, in the loop's buffer. NULL: memory ended.
static uint8_t *open_frame(Request *request, Lane *lane, size_t body_bytes_max) {
    size_t bytes = PEER_HEADER_BYTES + body_bytes_max;
    if (lane == NULL) {
        Api *api = request->api;
        return ARRAY_RESERVE(api->buffer, api->buffer_capacity, bytes) ? api->buffer : NULL;
    }
    Outbox *outbox = open_outbox(lane, request->peer);
    if (outbox == NULL || !ARRAY_RESERVE(outbox->bytes, outbox->capacity, outbox->used + bytes)) {
        return NULL;
    }
    return outbox->bytes + outbox->used;
}

// What stands there, behind room for its header, is a reply: gathers it, or sends it at once.
static void close_frame(Request *request, Lane *lane, uint8_t *frame, size_t body_bytes,
                        bool is_last) {
    const PeerCalls *calls = request->peer.calls;
    calls->header(frame, body_bytes);
    if (is_last) {
        kept_store(request, frame, PEER_HEADER_BYTES + body_bytes);
    }
    if (lane == NULL) {
        calls->send(request->peer.handle, frame, PEER_HEADER_BYTES + body_bytes);
        if (is_last) {
            calls->request_end(request->peer.handle, 1);
        }
        return;
    }
    Outbox *outbox = lane->outbox;
    outbox->used += PEER_HEADER_BYTES + body_bytes;
    outbox->ended += is_last;
    if (outbox->used >= OUTBOX_FLUSH_BYTES) {
        flush(outbox);
    }
}

// ---- the head that all replies share

// id, status with an error's texts, server_ns, event, and the head of the result
enum { REPLY_HEAD_BYTES_MAX = 8 * (size_t)WIRE_HEAD_BYTES_MAX + sizeof(Error) };

static uint8_t *write_status(const Request *request, const Error *error, uint8_t *at) {
    if (error->status == STATUS_OK) {
        at = wire_head(at, 2, 2);
        return wire_number(at, 1, STATUS_OK);
    }
    Moreau__V1__Status status = MOREAU__V1__STATUS__INIT;
    fill_status(request, error, &status);
    at = wire_head(at, 2, moreau__v1__status__get_packed_size(&status));
    return at + moreau__v1__status__pack(&status, at);
}

static uint8_t *write_head(Request *request, const Error *error, uint8_t *at) {
    request->server_ns = clock_now_ns() - request->received_ns;
    at = wire_number(at, 1, request->id);
    at = write_status(request, error, at);
    return wire_number(at, 3, request->server_ns);
}

// ---- results that protobuf-c packs

// It packs the result only: packing what stands around it as well, it would move the result once
// more, to make room for its length.
typedef struct Packing {
    const ProtobufCMessage *result; // NULL: none
    size_t result_bytes, head_bytes;
    uint8_t head[REPLY_HEAD_BYTES_MAX];
} Packing;

// Returns the bytes of the whole reply.
static size_t begin_packing(Request *request, const Moreau__V1__Reply *reply, bool is_event,
                            const Error *error, Packing *packing) {
    uint8_t *at = write_head(request, error, packing->head);
    if (is_event) {
        at = wire_number(at, 4, 1);
    }
    packing->result = NULL;
    packing->result_bytes = 0;
    if (reply->result_case != MOREAU__V1__REPLY__RESULT__NOT_SET) {
        // every member of the oneof is a pointer at the same place
        packing->result = (const ProtobufCMessage *)(const void *)reply->pong;
        packing->result_bytes = protobuf_c_message_get_packed_size(packing->result);
        at = wire_head(at, reply->result_case, packing->result_bytes);
    }
    packing->head_bytes = (size_t)(at - packing->head);
    return packing->head_bytes + packing->result_bytes;
}

static bool post(Request *request, Lane *lane, const Packing *packing, bool is_last) {
    size_t size = packing->head_bytes + packing->result_bytes;
    uint8_t *frame = open_frame(request, lane, size);
    if (frame == NULL) {
        return false;
    }
    uint8_t *body = frame + PEER_HEADER_BYTES;
    memcpy(body, packing->head, packing->head_bytes);
    if (packing->result != NULL) {
        protobuf_c_message_pack(packing->result, body + packing->head_bytes);
    }
    close_frame(request, lane, frame, size, is_last);
    return true;
}

static Status refuse_event(const Request *request, size_t size, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "One event would be %zu bytes, a frame holds %zu (option "
                     "--frame-bytes-max): ask for fewer columns.",
                     size, request->api->def.frame_bytes_max);
}

Status request_event(Request *request, Lane *lane, const Moreau__V1__Reply *reply, Error *error) {
    Packing packing;
    size_t size = begin_packing(request, reply, true, &(Error){0}, &packing);
    if (size > request->api->def.frame_bytes_max) {
        return refuse_event(request, size, error);
    }
    if (!post(request, lane, &packing, false)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while sending.");
    }
    return STATUS_OK;
}

// The request's id is its client's again.
static void mark_answered(Request *request) {
    request_uncount(request); // before its client can know
    atomic_store_explicit(&request->answered, true, memory_order_release);
}

// No memory for the reply: the client would wait for ever, so its connection ends.
static void drop_client(Request *request) {
    request->peer.calls->request_end(request->peer.handle, 1);
    request->client_gone = true;
}

static void blame_length(const Request *request, size_t size, Error *error) {
    error_set(error, STATUS_RESOURCE_EXHAUSTED, "count",
              "The reply would be %zu bytes, a frame holds %zu (option --frame-bytes-max): ask for "
              "a range with `first` and `count`, for fewer worlds, or for fewer columns.",
              size, request->api->def.frame_bytes_max);
}

Status request_refuse_length(const Request *request, size_t bytes, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Nothing was done: the reply could be %zu bytes, a frame holds %zu (option "
                     "--frame-bytes-max); ask for less at a time, or for fewer columns.",
                     bytes, request->api->def.frame_bytes_max);
}

// What was stopped because its right was taken says so.
static const Error *explain(const Request *request, const Error *error, Error *denied) {
    if (error->status != STATUS_CANCELLED ||
        !atomic_load_explicit(&request->is_denied, memory_order_relaxed)) {
        return error;
    }
    error_set(denied, STATUS_PERMISSION_DENIED, "",
              "The right to %s was taken from this token meanwhile. %s", request->command->name,
              error->message);
    return denied;
}

void request_reply(Request *request, Lane *lane, const Moreau__V1__Reply *reply,
                   const Error *error) {
    static const Moreau__V1__Reply without_result = MOREAU__V1__REPLY__INIT;
    Packing packing;
    Error denied;
    error = explain(request, error, &denied);
    request->status = error->status;
    if (error->status == STATUS_OK) {
        audit_gather(request, reply);
    }
    size_t size = begin_packing(request, reply, false, error, &packing);
    if (size > request->api->def.frame_bytes_max) {
        Error too_long;
        blame_length(request, size, &too_long);
        request->status = too_long.status;
        begin_packing(request, &without_result, false, &too_long, &packing);
    }
    mark_answered(request);
    if (!post(request, lane, &packing, true)) {
        drop_client(request);
    }
}

// ---- written by hand

static void reply_without_result(Request *request, Lane *lane, const Error *error) {
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    request_reply(request, lane, &reply, error);
}

Status request_event_written(Request *request, Lane *lane, const ReplyBody *body, Error *error) {
    size_t size_max = request->api->def.frame_bytes_max;
    uint8_t *frame = open_frame(request, lane, REPLY_HEAD_BYTES_MAX + body->bytes_max);
    if (frame == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while sending.");
    }
    uint8_t *at = write_head(request, &(Error){0}, frame + PEER_HEADER_BYTES);
    at = wire_number(at, 4, 1);
    uint8_t *begin = wire_part_begin(at, body->field, body->bytes_max);
    at = wire_part_end(begin, body->bytes_max, body->write(begin, body->context));
    size_t size = (size_t)(at - frame) - PEER_HEADER_BYTES;
    if (size > size_max) {
        return refuse_event(request, size, error);
    }
    close_frame(request, lane, frame, size, false);
    return STATUS_OK;
}

void request_reply_written(Request *request, Lane *lane, const ReplyBody *body,
                           const Error *error) {
    size_t size_max = request->api->def.frame_bytes_max;
    Error no_reply, denied;
    error = explain(request, error, &denied);
    uint8_t *frame = open_frame(request, lane, REPLY_HEAD_BYTES_MAX + body->bytes_max);
    if (frame == NULL) {
        error_set(&no_reply, STATUS_RESOURCE_EXHAUSTED, "worlds",
                  "The call was carried out, but the reply does not fit into a frame (option "
                  "--frame-bytes-max), or into memory: ask for fewer worlds or columns.");
        reply_without_result(request, lane, &no_reply);
        return;
    }
    uint8_t *at = write_head(request, error, frame + PEER_HEADER_BYTES);
    uint8_t *begin = wire_part_begin(at, body->field, body->bytes_max);
    at = wire_part_end(begin, body->bytes_max, body->write(begin, body->context));
    size_t size = (size_t)(at - frame) - PEER_HEADER_BYTES;
    if (size > size_max) {
        blame_length(request, size, &no_reply);
        reply_without_result(request, lane, &no_reply);
        return;
    }
    request->status = error->status;
    mark_answered(request);
    close_frame(request, lane, frame, size, true);
}
