// SPDX-License-Identifier: MIT
#include "api/api.h"

#include "api/request.h"
#include "api/session.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdlib.h>

Status api_create(Api **api, const ApiDef *def, Error *error) {
    Api *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while starting.");
    }
    made->def = *def;
    made->started_ns = clock_now_ns();
    *api = made;
    return STATUS_OK;
}

void api_close(Api *api, void (*closed)(void *context), void *context) {
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
    session_close_all(api);
}

void api_set_net(Api *api, Net *net) {
    api->net = net;
}

static void on_opened(void *context, Connection *connection) {
    const Api *api = context;
    report_line(api->def.report, REPORT_DEBUG, "connected", "connection=%" PRIu64 " peer=%s",
                connection_number(connection), connection_peer(connection));
}

static void on_frame(void *context, Connection *connection, const uint8_t *body,
                     size_t body_bytes) {
    request_receive(context, connection, body, body_bytes);
}

// A frame that cannot be read ends its connection alone; the reply says why.
static void on_malformed(void *context, Connection *connection, const char *why) {
    Api *api = context;
    report_line(api->def.report, REPORT_WARN, "malformed",
                "connection=%" PRIu64 " peer=%s why=\"%s\"", connection_number(connection),
                connection_peer(connection), why);
    Error error;
    error_set(&error, STATUS_INVALID_ARGUMENT, "", "%s The connection is closed.", why);
    Request request = {.api = api, .connection = connection, .received_ns = clock_now_ns()};
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    connection_request_begin(connection);
    request_reply(&request, NULL, &reply, &error);
}

static void on_closed(void *context, Connection *connection) {
    const Api *api = context;
    Session *session = connection_data(connection);
    report_line(api->def.report, REPORT_DEBUG, "disconnected", "connection=%" PRIu64,
                connection_number(connection));
    if (session != NULL) {
        session_leave(session);
    }
}

NetHandlers api_handlers(void) {
    return (NetHandlers){
        .opened = on_opened, .frame = on_frame, .malformed = on_malformed, .closed = on_closed};
}

void api_cancel_all(Api *api) {
    for (Session *session = api->first_session; session != NULL; session = session->next) {
        for (Request *request = session->first_request; request != NULL; request = request->next) {
            atomic_store_explicit(&request->cancelled, true, memory_order_relaxed);
        }
    }
}

uint64_t api_request_count(const Api *api) {
    return api->request_count;
}
