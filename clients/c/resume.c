// SPDX-License-Identifier: MIT
// A connection that comes back: every request is remembered until its last answer is read, and sent
// again, as it was, when a lost connection has been opened anew and its session resumed. The server
// knows by the ids what it has done already.
#include "client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void resume_start(MoreauClient *client) {
    uint64_t limit;
    client->resume.is_active = client->options.reconnect.attempts > 0;
    client->resume.count_max =
        moreau_limit(client, "requests-max", &limit) && limit < SIZE_MAX ? (size_t)limit : SIZE_MAX;
}

void resume_deinit(MoreauClient *client) {
    asked_deinit(&client->resume.unanswered);
}

bool resume_is_possible(const MoreauClient *client) {
    // other reasons, say an answer that is too large, would come again
    return client->resume.is_active && client->fd < 0 && client->lost.status == MOREAU_UNAVAILABLE;
}

// ---- what is unanswered

bool resume_is_full(const MoreauClient *client) {
    const Resume *resume = &client->resume;
    return resume->is_active && resume->unanswered.count >= resume->count_max;
}

MoreauStatus resume_remember(MoreauClient *client, uint64_t id, const uint8_t *frame,
                             size_t frame_bytes) {
    Resume *resume = &client->resume;
    if (!resume->is_active) {
        return MOREAU_OK;
    }
    uint8_t *copy = malloc(frame_bytes);
    if (copy == NULL || !asked_reserve(&resume->unanswered)) {
        free(copy);
        return client_fail(client, MOREAU_RESOURCE_EXHAUSTED, NULL,
                           "no memory for a request of %zu bytes", frame_bytes);
    }
    memcpy(copy, frame, frame_bytes);
    asked_add(&resume->unanswered, id, copy, frame_bytes);
    return MOREAU_OK;
}

static void settle(MoreauClient *client, const MoreauReply *reply) {
    Resume *resume = &client->resume;
    if (!resume->is_active) {
        return; // a greeting is not yet proof of anything
    }
    resume->attempts = 0; // the connection is of use
    Asked *asked = asked_find(&resume->unanswered, moreau_reply_id(reply));
    if (asked != NULL && moreau_reply_is_event(reply)) {
        asked->has_events = true;
    } else if (asked != NULL) {
        asked_forget(&resume->unanswered, asked);
    }
}

// ---- the connection

// Puts an answer where those of the server come in: the stream it would have ended is cut.
static bool end_stream(MoreauClient *client, uint64_t id) {
    Moreau__V1__Status status = MOREAU__V1__STATUS__INIT;
    status.has_code = status.has_recoverable = status.recoverable = 1;
    status.code = MOREAU__V1__STATUS__CODE__UNAVAILABLE;
    status.message = (char *)"The connection was lost between two events, and is back: ask again, "
                             "from where the events ended.";
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.has_id = 1;
    reply.id = id;
    reply.status = &status;
    size_t count = moreau__v1__reply__get_packed_size(&reply);
    if (!bytes_reserve(&client->in, FRAME_HEADER_BYTES + count)) {
        return false;
    }
    wire_put_header(client->in.data + client->in.count, count);
    moreau__v1__reply__pack(&reply, client->in.data + client->in.count + FRAME_HEADER_BYTES);
    client->in.count += FRAME_HEADER_BYTES + count;
    return true;
}

static bool repeat(MoreauClient *client, const Asked *asked) {
    if (!bytes_reserve(&client->out, asked->frame_bytes)) {
        return false;
    }
    memcpy(client->out.data + client->out.count, asked->frame, asked->frame_bytes);
    client->out.count += asked->frame_bytes;
    return true;
}

// Queues everything that is unanswered for sending.
static MoreauStatus repeat_all(MoreauClient *client) {
    AskedList *list = &client->resume.unanswered;
    for (size_t i = list->first, end = list->end; i < end; i++) {
        Asked *asked = &list->item[i];
        if (asked->is_over) {
            continue;
        }
        if (!(asked->has_events ? end_stream(client, asked->id) : repeat(client, asked))) {
            return client_lose(client, MOREAU_RESOURCE_EXHAUSTED,
                               "no memory to repeat %zu requests", list->count);
        }
        if (asked->has_events) {
            asked_forget(list, asked);
        }
    }
    return wire_flush(client);
}

// One attempt: whole answers that came before the loss are still good.
static MoreauStatus connect_again(MoreauClient *client) {
    Resume *resume = &client->resume;
    Bytes arrived = client->in;
    client->in = (Bytes){0};
    client->out.first = client->out.count = 0;
    MoreauReply *greeting;
    resume->is_active = false; // the greeting itself is not repeated
    MoreauStatus status = client_open(client, moreau_session(client), &greeting);
    resume->is_active = true;
    moreau_reply_free(greeting);
    free(client->in.data); // a server says nothing more before it is asked
    client->in = arrived;
    if (status != MOREAU_OK) {
        MoreauError why = client->error;
        client_lose(client, status, "%s", why.message);
        client->error = why;
        return status;
    }
    wire_drop_piece(client);
    resume->is_away = false;
    resume->connected_ms = client_now_ms();
    return repeat_all(client);
}

static void begin_absence(MoreauClient *client) {
    Resume *resume = &client->resume;
    const MoreauReconnect *def = &client->options.reconnect;
    int64_t now_ms = client_now_ms();
    if (resume->is_away) {
        return;
    }
    resume->is_away = true;
    if (now_ms - resume->connected_ms > def->wait_ms_max) {
        resume->attempts = 0; // it held for a while
    }
    if (resume->attempts == 0) {
        resume->lost_ms = resume->next_ms = now_ms;
        resume->wait_ms = def->wait_ms;
    }
}

// Sleeps until the next attempt; false: that is after `give_up_ms`.
static bool await_attempt(const Resume *resume, int64_t give_up_ms) {
    bool is_late = give_up_ms >= 0 && give_up_ms < resume->next_ms;
    int64_t left_ms = (is_late ? give_up_ms : resume->next_ms) - client_now_ms();
    struct timespec pause = {.tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000};
    while (left_ms > 0 && nanosleep(&pause, &pause) != 0 && errno == EINTR) {
    }
    return !is_late;
}

static bool may_try(const MoreauClient *client) {
    const MoreauReconnect *def = &client->options.reconnect;
    const Resume *resume = &client->resume;
    return resume->attempts < def->attempts &&
           (def->total_ms <= 0 || resume->next_ms < resume->lost_ms + def->total_ms);
}

// The server says that it will not have us: no such session, another token, another protocol. What
// it could not read was cut off, and may arrive the next time.
static bool is_final(const MoreauError *why) {
    return why->from_server &&
           (why->status == MOREAU_NOT_FOUND || why->status == MOREAU_UNAUTHENTICATED ||
            why->status == MOREAU_FAILED_PRECONDITION);
}

MoreauStatus resume_connection(MoreauClient *client, int64_t give_up_ms) {
    Resume *resume = &client->resume;
    const MoreauReconnect *def = &client->options.reconnect;
    const MoreauError loss = client->lost; // may be the server's last word
    MoreauError why = loss;
    begin_absence(client);
    while (may_try(client)) {
        if (!await_attempt(resume, give_up_ms)) {
            client->lost.status = MOREAU_UNAVAILABLE; // of an attempt
            return client_fail(client, MOREAU_DEADLINE_EXCEEDED, NULL,
                               "the connection to %s was lost, and is not back in time",
                               client->address);
        }
        resume->attempts++;
        resume->next_ms = client_now_ms() + resume->wait_ms;
        resume->wait_ms =
            2 * resume->wait_ms < def->wait_ms_max ? 2 * resume->wait_ms : def->wait_ms_max;
        if (connect_again(client) == MOREAU_OK) {
            error_clear(&client->error);
            return MOREAU_OK;
        }
        why = client->error;
        if (is_final(&why)) {
            break;
        }
        begin_absence(client);
    }
    resume->is_active = false;
    return client_lose(client, MOREAU_UNAVAILABLE,
                       "the connection to %s was lost (%s), and its session is given up after %u "
                       "attempts: %s",
                       client->address, loss.message, resume->attempts, why.message);
}

MoreauStatus resume_receive(MoreauClient *client, int64_t give_up_ms, MoreauReply **reply) {
    for (;;) {
        MoreauStatus status = wire_await_frame(client, give_up_ms, reply);
        if (status == MOREAU_OK && (moreau_reply_id(*reply) != 0 || !client->resume.is_active)) {
            settle(client, *reply);
            return MOREAU_OK;
        }
        if (status == MOREAU_OK) {
            // what the server could not read was cut off on its way
            MoreauError error;
            moreau_reply_status(*reply, &error);
            moreau_reply_free(*reply);
            status = client_lose(client, MOREAU_UNAVAILABLE, "%s", error.message);
        }
        if (!resume_is_possible(client)) {
            return status;
        }
        status = resume_connection(client, give_up_ms);
        if (status != MOREAU_OK) {
            return status;
        }
    }
}

MoreauStatus resume_flush(MoreauClient *client) {
    MoreauStatus status = wire_flush(client);
    return status != MOREAU_OK && resume_is_possible(client) ? resume_connection(client, -1)
                                                             : status;
}
