// SPDX-License-Identifier: MIT
#include "api/api.h"

#include "api/audit.h"
#include "api/live.h"
#include "api/request.h"
#include "api/session.h"
#include "base/assert.h"
#include "os/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void on_live_news(uv_async_t *async) {
    live_take_news(async->data);
}

Status api_create(Api **api, const ApiDef *def, Error *error) {
    Api *made = aligned_alloc(CACHE_LINE_BYTES, sizeof(*made));
    if (made == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while starting.");
    }
    *made = (Api){.def = *def, .started_ns = clock_now_ns()};
    int failed = uv_random(NULL, NULL, &made->instance, sizeof(made->instance), 0, NULL);
    failed = failed == 0 ? uv_async_init(def->loop, &made->live_async, on_live_news) : failed;
    if (failed != 0) {
        free(made);
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "The machine gives no random numbers, or the loop takes no handle: %s.",
                         uv_strerror(failed));
    }
    made->live_async.data = made;
    farm_tell(def->farm, live_group_goes, made);
    *api = made;
    return STATUS_OK;
}

void api_stop(Api *api) {
    ASSERT(api->request_count == 0);
    ASSERT(!api->is_stopped);
    api->is_stopped = true;
    for (Session *session = api->first_session; session != NULL; session = session->next) {
        session_stop(session);
    }
}

static void on_live_closed(uv_handle_t *handle) {
    session_close_all(handle->data);
}

void api_close(Api *api, void (*closed)(void *context), void *context) {
    ASSERT(api->is_stopped);
    ASSERT(api->closed == NULL);
    api->closed = closed;
    api->closed_context = context;
    // one more, so that an api without sessions ends by the same path
    Session *last = calloc(1, sizeof(*last));
    if (last != NULL) {
        last->api = api;
        uv_timer_init(api->def.loop, &last->grace);
        last->grace.data = last;
        last->next = api->first_session;
        api->first_session = last;
    }
    live_close_all(api);
    uv_close((uv_handle_t *)&api->live_async, on_live_closed);
}

void api_set_peers(Api *api, void *context) {
    api->peer_context = context;
}

void api_set_http(Api *api, const char *address) {
    api->http = address;
}

void api_set_db(Api *api, const char *path) {
    api->db = path;
}

void api_peer_opened(Api *api, Peer peer) {
    report_line(api->def.report, REPORT_DEBUG, "connected", "connection=%" PRIu64 " peer=%s",
                peer.calls->number(peer.handle), peer.calls->name(peer.handle));
}

void api_peer_frame(Api *api, Peer peer, uint64_t received_ns, const uint8_t *body,
                    size_t body_bytes) {
    ASSERT(!api->is_stopped);
    request_receive(api, peer, received_ns, body, body_bytes);
}

void api_peer_malformed(Api *api, Peer peer, const char *why) {
    report_line(api->def.report, REPORT_WARN, "malformed",
                "connection=%" PRIu64 " peer=%s why=\"%s\"", peer.calls->number(peer.handle),
                peer.calls->name(peer.handle), why);
    Error error;
    error_set(&error, STATUS_INVALID_ARGUMENT, "", "%s The connection is closed.", why);
    Request request = {.api = api, .peer = peer, .received_ns = clock_now_ns()};
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    peer.calls->request_begin(peer.handle);
    request_reply(&request, NULL, &reply, &error);
}

size_t api_write_refusal(const Api *api, const char *why, uint8_t *frame, size_t capacity) {
    Moreau__V1__Status status = MOREAU__V1__STATUS__INIT;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    status.has_code = status.has_recoverable = 1;
    status.code = MOREAU__V1__STATUS__CODE__RESOURCE_EXHAUSTED;
    status.recoverable = 1;
    status.message = (char *)why;
    reply.status = &status;
    size_t bytes = moreau__v1__reply__get_packed_size(&reply);
    ASSERT(PEER_HEADER_BYTES + bytes <= capacity);
    api->def.peers->header(frame, bytes);
    moreau__v1__reply__pack(&reply, frame + PEER_HEADER_BYTES);
    return PEER_HEADER_BYTES + bytes;
}

void api_peer_drained(Api *api, Peer peer) {
    (void)api;
    const Session *session = peer.calls->data(peer.handle);
    for (Request *request = session == NULL ? NULL : session->first_request; request != NULL;
         request = request->next) {
        if (request->drained != NULL) {
            request->drained(request);
        }
    }
}

void api_peer_closed(Api *api, Peer peer) {
    Session *session = peer.calls->data(peer.handle);
    report_line(api->def.report, REPORT_DEBUG, "disconnected", "connection=%" PRIu64,
                peer.calls->number(peer.handle));
    if (session != NULL) {
        session_leave(session);
    }
}

void api_cancel_all(Api *api) {
    for (Session *session = api->first_session; session != NULL; session = session->next) {
        session_stop_requests(session);
    }
}

bool api_write_audit(Api *api) {
    audit_write(api);
    return api->def.audit != NULL && (trail_waits(api->def.audit) || api->request_count > 0);
}

void api_review(Api *api) {
    for (Session *session = api->first_session; session != NULL; session = session->next) {
        session_review(session);
    }
}

void api_begin_drain(Api *api) {
    api->is_draining = true;
    for (Session *session = api->first_session; session != NULL; session = session->next) {
        if (peer_is_none(session->peer)) {
            session_stop_requests(session);
        }
        for (Request *request = session->first_request; request != NULL; request = request->next) {
            if (request->stopped != NULL) {
                request_cancel(request);
            }
        }
    }
}

uint64_t api_request_count(const Api *api) {
    return api->request_count;
}

ApiFigures api_figures(const Api *api) {
    ApiFigures figures = {
        .unconverged_steps = atomic_load_explicit(&api->unconverged_steps, memory_order_relaxed),
        .faulted_steps = atomic_load_explicit(&api->faulted_steps, memory_order_relaxed),
        .live_frames = api->live_frames,
        .live_skipped = api->live_skipped,
        .subscriptions = api->subscription_count,
        .kept_bytes = api->kept_bytes,
        .player_bytes = atomic_load_explicit(&api->player_bytes, memory_order_relaxed)};
    memcpy(figures.answered, api->answered, sizeof(figures.answered));
    return figures;
}
