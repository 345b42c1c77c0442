// SPDX-License-Identifier: MIT
// Requests out, answers in: ids, the wait for one answer, and the queue of those that came
// meanwhile. An event is an answer after which more will come: it leaves its request under way.
#include "client.h"

#include <stdlib.h>
#include <string.h>

enum { VARINT_BYTES_MAX = 10, ID_TAG = 1 << 3, DEADLINE_TAG = 2 << 3 };

static size_t put_varint(uint8_t *out, uint64_t value) {
    size_t count = 0;
    while (value >= 0x80) {
        out[count++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    out[count++] = (uint8_t)value;
    return count;
}

// A connection that is lost is opened anew, which takes an id of its own: so that of a request is
// taken after this.
static MoreauStatus need_connection(MoreauClient *client) {
    if (client->fd >= 0) {
        return MOREAU_OK;
    }
    return resume_is_possible(client) ? resume_connection(client, -1) : client_fail_lost(client);
}

// Room for a frame of `body_bytes` in client->out; the length of a frame has 32 bits.
static MoreauStatus begin_frame(MoreauClient *client, size_t body_bytes) {
    error_clear(&client->error);
    if (body_bytes > UINT32_MAX) {
        return client_fail(client, MOREAU_RESOURCE_EXHAUSTED, NULL,
                           "a request of %zu bytes does not fit a frame; send it in parts",
                           body_bytes);
    }
    if (!bytes_reserve(&client->out, FRAME_HEADER_BYTES + body_bytes)) {
        return client_fail(client, MOREAU_RESOURCE_EXHAUSTED, NULL,
                           "no memory for a request of %zu bytes", body_bytes);
    }
    wire_put_header(client->out.data + client->out.count, body_bytes);
    client->out.count += FRAME_HEADER_BYTES;
    return MOREAU_OK;
}

// Sends the frame that begin_frame began and is now complete.
static MoreauStatus end_frame(MoreauClient *client, size_t body_bytes, uint64_t *id) {
    Bytes *out = &client->out;
    out->count += body_bytes;
    size_t frame_bytes = FRAME_HEADER_BYTES + body_bytes;
    MoreauStatus status = resume_remember(client, client->id_last + 1,
                                          out->data + out->count - frame_bytes, frame_bytes);
    if (status != MOREAU_OK) {
        out->count -= frame_bytes;
        return status;
    }
    *id = ++client->id_last;
    return resume_flush(client);
}

static MoreauStatus post_message(MoreauClient *client, Moreau__V1__Request *request, uint64_t *id) {
    MoreauStatus status = need_connection(client);
    if (status != MOREAU_OK) {
        return status;
    }
    request->has_id = 1;
    request->id = client->id_last + 1;
    request->has_deadline_ms = client->deadline_ms > 0;
    request->deadline_ms = client->deadline_ms;
    status = begin_frame(client, moreau__v1__request__get_packed_size(request));
    if (status != MOREAU_OK) {
        return status;
    }
    return end_frame(client,
                     moreau__v1__request__pack(request, client->out.data + client->out.count), id);
}

// Of two values of a field the last one counts, so the client's id and deadline are simply
// appended.
static MoreauStatus post_bytes(MoreauClient *client, const void *body, size_t count, uint64_t *id) {
    MoreauStatus status = need_connection(client);
    if (status != MOREAU_OK) {
        return status;
    }
    uint8_t tail[2 * (1 + VARINT_BYTES_MAX)];
    size_t tail_count = 0;
    tail[tail_count++] = ID_TAG;
    tail_count += put_varint(tail + tail_count, client->id_last + 1);
    if (client->deadline_ms > 0) {
        tail[tail_count++] = DEADLINE_TAG;
        tail_count += put_varint(tail + tail_count, client->deadline_ms);
    }
    status = begin_frame(client, count + tail_count);
    if (status != MOREAU_OK) {
        return status;
    }
    if (count > 0) {
        memcpy(client->out.data + client->out.count, body, count);
    }
    memcpy(client->out.data + client->out.count + count, tail, tail_count);
    return end_frame(client, count + tail_count, id);
}

// Whether an answer is to a submitted request, which is forgotten when no more will come. false: it
// is late, or an event of a call that was given up, and nobody waits for it.
static bool take_flight(MoreauClient *client, const MoreauReply *reply) {
    Asked *asked = asked_find(&client->flight, moreau_reply_id(reply));
    if (asked != NULL && !moreau_reply_is_event(reply)) {
        asked_forget(&client->flight, asked);
    }
    return asked != NULL;
}

static MoreauStatus reserve_flight(MoreauClient *client) {
    return asked_reserve(&client->flight)
               ? MOREAU_OK
               : client_fail(client, MOREAU_RESOURCE_EXHAUSTED, NULL, "no memory for a request");
}

static void push_ready(MoreauClient *client, MoreauReply *reply) {
    reply->next = NULL;
    if (client->ready_last != NULL) {
        client->ready_last->next = reply;
    } else {
        client->ready_first = reply;
    }
    client->ready_last = reply;
    client->ready_final_count += moreau_reply_is_event(reply) ? 0 : 1;
}

static MoreauReply *pop_ready(MoreauClient *client) {
    MoreauReply *reply = client->ready_first;
    client->ready_first = reply->next;
    if (client->ready_first == NULL) {
        client->ready_last = NULL;
    }
    client->ready_final_count -= moreau_reply_is_event(reply) ? 0 : 1;
    return reply;
}

// An answer to request 0 says that the server could not read what we sent, and closes.
static MoreauStatus lose_by_server(MoreauClient *client, MoreauReply *reply) {
    MoreauError error;
    MoreauStatus status = moreau_reply_status(reply, &error);
    moreau_reply_free(reply);
    status =
        client_lose(client, status != MOREAU_OK ? status : MOREAU_DATA_LOSS, "%s", error.message);
    client->error.from_server = true;
    return status;
}

// The next answer, whosever it is; not the server's last word, which ends the connection.
static MoreauStatus receive(MoreauClient *client, int64_t give_up_ms, MoreauReply **reply) {
    MoreauStatus status = resume_receive(client, give_up_ms, reply);
    return status == MOREAU_OK && moreau_reply_id(*reply) == 0 ? lose_by_server(client, *reply)
                                                               : status;
}

// An answer that another call has come by.
static void keep_for_later(MoreauClient *client, MoreauReply *reply) {
    if (take_flight(client, reply)) {
        push_ready(client, reply);
    } else {
        moreau_reply_free(reply);
    }
}

// Before another request is sent: only so many answers can be asked for again.
static MoreauStatus await_room(MoreauClient *client) {
    int timeout_ms = client->reply_timeout_ms > 0 ? client->reply_timeout_ms : -1;
    int64_t give_up_ms = client_give_up_ms(timeout_ms);
    while (resume_is_full(client)) {
        MoreauReply *reply;
        MoreauStatus status = receive(client, give_up_ms, &reply);
        if (status != MOREAU_OK) {
            return status;
        }
        keep_for_later(client, reply);
    }
    return MOREAU_OK;
}

static MoreauStatus send_message(MoreauClient *client, Moreau__V1__Request *request, uint64_t *id) {
    MoreauStatus status = await_room(client);
    return status == MOREAU_OK ? post_message(client, request, id) : status;
}

static MoreauStatus send_bytes(MoreauClient *client, const void *body, size_t count, uint64_t *id) {
    MoreauStatus status = await_room(client);
    return status == MOREAU_OK ? post_bytes(client, body, count, id) : status;
}

static Moreau__V1__Request make_cancel(Moreau__V1__Cancel *cancel, uint64_t id) {
    moreau__v1__cancel__init(cancel);
    cancel->has_request = 1;
    cancel->request = id;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_CANCEL;
    request.cancel = cancel;
    return request;
}

// Sends a Cancel whose own answer nobody waits for. It is for a request under way, and takes in no
// answers: that one's may be among them.
static MoreauStatus send_cancel(MoreauClient *client, uint64_t id) {
    Moreau__V1__Cancel cancel;
    Moreau__V1__Request request = make_cancel(&cancel, id);
    uint64_t cancel_id;
    return post_message(client, &request, &cancel_id);
}

// Hands out an event; the first refusal cancels the request, and later events are dropped.
static MoreauStatus take_event(MoreauClient *client, MoreauReply *event, CallEvents *events) {
    MoreauStatus status = MOREAU_OK;
    if (events->proc != NULL && !events->proc(events->context, event)) {
        events->proc = NULL;
        status = send_cancel(client, moreau_reply_id(event));
    }
    moreau_reply_free(event);
    return status;
}

// No further event came in time: the server need not go on for nobody. Returns why we gave up.
static MoreauStatus give_up_stream(MoreauClient *client, uint64_t id) {
    MoreauError error = client->error;
    MoreauStatus status = send_cancel(client, id);
    if (status == MOREAU_OK) {
        client->error = error;
    }
    return client->error.status;
}

// Waits for the answer to `id`. Answers to submitted requests are kept, late ones are dropped.
static MoreauStatus await(MoreauClient *client, uint64_t id, CallEvents events,
                          MoreauReply **result) {
    int timeout_ms = client->reply_timeout_ms > 0 ? client->reply_timeout_ms : -1;
    int64_t give_up_ms = client_give_up_ms(timeout_ms);
    bool is_stream = false;
    for (;;) {
        MoreauReply *reply;
        MoreauStatus status = receive(client, give_up_ms, &reply);
        if (status != MOREAU_OK) {
            bool is_late = status == MOREAU_DEADLINE_EXCEEDED && is_stream;
            return is_late ? give_up_stream(client, id) : status;
        }
        uint64_t answered = moreau_reply_id(reply);
        if (answered == id && moreau_reply_is_event(reply)) {
            status = take_event(client, reply, &events);
            if (status != MOREAU_OK) {
                return status;
            }
            give_up_ms = client_give_up_ms(timeout_ms);
            is_stream = true;
        } else if (answered == id) {
            *result = reply;
            return moreau_reply_status(reply, &client->error);
        } else {
            keep_for_later(client, reply);
        }
    }
}

MoreauStatus call_events(MoreauClient *client, Moreau__V1__Request *request,
                         Moreau__V1__Reply__ResultCase expected, CallEvents events,
                         MoreauReply **reply) {
    *reply = NULL;
    uint64_t id;
    MoreauStatus status = send_message(client, request, &id);
    if (status == MOREAU_OK) {
        status = await(client, id, events, reply);
    }
    if (status != MOREAU_OK) {
        return status;
    }
    if (*reply == NULL || (*reply)->message->result_case != expected) {
        client_fail(client, MOREAU_INTERNAL, NULL,
                    "the server's answer does not hold the result that was asked for");
        return MOREAU_INTERNAL;
    }
    return MOREAU_OK;
}

MoreauStatus call_message(MoreauClient *client, Moreau__V1__Request *request,
                          Moreau__V1__Reply__ResultCase expected, MoreauReply **reply) {
    return call_events(client, request, expected, (CallEvents){0}, reply);
}

MoreauStatus call_submit(MoreauClient *client, Moreau__V1__Request *request, uint64_t *id) {
    MoreauStatus status = reserve_flight(client);
    if (status == MOREAU_OK) {
        status = send_message(client, request, id);
    }
    if (status == MOREAU_OK) {
        asked_add(&client->flight, *id, NULL, 0);
    }
    return status;
}

MoreauStatus moreau_call(MoreauClient *client, const void *request, size_t count,
                         MoreauReply **reply) {
    return moreau_call_events(client, request, count, NULL, NULL, reply);
}

MoreauStatus moreau_call_events(MoreauClient *client, const void *request, size_t count,
                                MoreauEventProc *proc, void *context, MoreauReply **reply) {
    *reply = NULL;
    uint64_t id;
    MoreauStatus status = send_bytes(client, request, count, &id);
    return status == MOREAU_OK ? await(client, id, (CallEvents){proc, context}, reply) : status;
}

MoreauStatus moreau_submit(MoreauClient *client, const void *request, size_t count, uint64_t *id) {
    MoreauStatus status = reserve_flight(client);
    if (status == MOREAU_OK) {
        status = send_bytes(client, request, count, id);
    }
    if (status == MOREAU_OK) {
        asked_add(&client->flight, *id, NULL, 0);
    }
    return status;
}

MoreauStatus moreau_receive(MoreauClient *client, int timeout_ms, MoreauReply **result) {
    *result = NULL;
    error_clear(&client->error);
    if (client->ready_first != NULL) {
        *result = pop_ready(client);
        return MOREAU_OK;
    }
    if (client->flight.count == 0) {
        return client_fail(client, MOREAU_FAILED_PRECONDITION, NULL,
                           "no submitted request waits for an answer");
    }
    int64_t give_up_ms = client_give_up_ms(timeout_ms);
    for (;;) {
        MoreauReply *reply;
        MoreauStatus status = receive(client, give_up_ms, &reply);
        if (status != MOREAU_OK) {
            return status;
        }
        if (take_flight(client, reply)) {
            *result = reply;
            return MOREAU_OK;
        }
        moreau_reply_free(reply);
    }
}

MoreauStatus moreau_cancel(MoreauClient *client, uint64_t id, bool *found) {
    Moreau__V1__Cancel cancel;
    Moreau__V1__Request request = make_cancel(&cancel, id);
    MoreauReply *reply;
    MoreauStatus status = call_message(client, &request, MOREAU__V1__REPLY__RESULT_CANCEL, &reply);
    if (status == MOREAU_OK && found != NULL) {
        *found = reply->message->cancel->found != 0;
    }
    moreau_reply_free(reply);
    return status;
}
