// SPDX-License-Identifier: MIT
// Replies: packed where they are made. On a lane they are gathered in its outbox and written when
// the lane's turn ends, so that pipelined requests of one connection share a write; on the loop
// they go out at once.
#include "api/kept.h"

#include "base/array.h"
#include "base/clock.h"

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <stdlib.h>

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
    for (; outbox->ended > 0; outbox->ended--) {
        outbox->peer.calls->request_end(outbox->peer.handle);
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
    status->code = (Moreau__V1__StatusCode)error->status;
    if (error->status == STATUS_OK) {
        return;
    }
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

// Appends a frame to `bytes` (grown when needed). false: memory ended.
static bool append_frame(Peer peer, const Moreau__V1__Reply *reply, size_t size, uint8_t **bytes,
                         size_t *used, size_t *capacity) {
    if (!array_reserve((void **)bytes, capacity, *used + PEER_HEADER_BYTES + size, 1)) {
        return false;
    }
    peer.calls->header(*bytes + *used, size);
    *used += PEER_HEADER_BYTES;
    *used += moreau__v1__reply__pack(reply, *bytes + *used);
    return true;
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

// The reply itself, in the outbox of the lane or straight to the connection.
static bool post(Request *request, Lane *lane, const Moreau__V1__Reply *reply, size_t size) {
    bool is_last = !reply->event;
    Api *api = request->api;
    if (lane == NULL) {
        size_t used = 0;
        if (!append_frame(request->peer, reply, size, &api->buffer, &used, &api->buffer_capacity)) {
            return false;
        }
        request->peer.calls->send(request->peer.handle, api->buffer, used);
        if (is_last) {
            kept_store(request, api->buffer, used);
            request->peer.calls->request_end(request->peer.handle);
        }
        return true;
    }
    Outbox *outbox = open_outbox(lane, request->peer);
    if (outbox == NULL || !append_frame(request->peer, reply, size, &outbox->bytes, &outbox->used,
                                        &outbox->capacity)) {
        return false;
    }
    if (is_last) {
        size_t frame_bytes = PEER_HEADER_BYTES + size;
        kept_store(request, outbox->bytes + outbox->used - frame_bytes, frame_bytes);
        outbox->ended++;
    }
    if (outbox->used >= OUTBOX_FLUSH_BYTES) {
        flush(outbox);
    }
    return true;
}

static void address(const Request *request, Moreau__V1__Status *status, Moreau__V1__Reply *reply) {
    reply->has_id = 1;
    reply->id = request->message == NULL ? 0 : request->message->id;
    reply->status = status;
    reply->has_server_ns = 1;
    reply->server_ns = clock_now_ns() - request->received_ns;
}

Status request_event(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    Moreau__V1__Status status = MOREAU__V1__STATUS__INIT;
    fill_status(request, &(Error){0}, &status);
    address(request, &status, reply);
    reply->has_event = reply->event = 1;
    size_t size = moreau__v1__reply__get_packed_size(reply);
    if (size > request->api->def.frame_bytes_max) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "One event would be %zu bytes, a frame holds %zu (option "
                         "--frame-bytes-max): ask for fewer columns.",
                         size, request->api->def.frame_bytes_max);
    }
    if (!post(request, lane, reply, size)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while sending.");
    }
    return STATUS_OK;
}

void request_reply(Request *request, Lane *lane, Moreau__V1__Reply *reply, const Error *error) {
    Moreau__V1__Status status = MOREAU__V1__STATUS__INIT;
    fill_status(request, error, &status);
    address(request, &status, reply);
    request->server_ns = reply->server_ns;
    request->status = error->status;
    size_t size = moreau__v1__reply__get_packed_size(reply);
    Error too_long;
    if (size > request->api->def.frame_bytes_max) {
        error_set(&too_long, STATUS_RESOURCE_EXHAUSTED, "count",
                  "The reply would be %zu bytes, a frame holds %zu (option --frame-bytes-max): ask "
                  "for a range with `first` and "
                  "`count`, for fewer worlds, or for fewer columns.",
                  size, request->api->def.frame_bytes_max);
        fill_status(request, &too_long, &status);
        request->status = too_long.status;
        reply->result_case = MOREAU__V1__REPLY__RESULT__NOT_SET;
        size = moreau__v1__reply__get_packed_size(reply);
    }
    atomic_store_explicit(&request->answered, true, memory_order_release);
    if (!post(request, lane, reply, size)) {
        // no memory for the reply: the client would wait for ever, so its connection ends
        request->peer.calls->request_end(request->peer.handle);
        request->client_gone = true;
    }
}
