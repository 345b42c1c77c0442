// SPDX-License-Identifier: MIT
#include "api/session.h"

#include "api/describe.h"
#include "api/kept.h"
#include "base/assert.h"
#include "base/hex.h"
#include "os/clock.h"
#include "os/secret.h"
#include "run/groups/farm.h"
#include "run/groups/snapshot_store.h"
#include "step/snapshot/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORLDS_AT_ONCE = 256 }; // of a session that has ended, in one turn of the loop

enum { PROTOCOL_MAJOR = 1, PROTOCOL_MINOR = 0 };

// ---- who it is

static Token *find_token(const Api *api, const Peer *peer, const Moreau__V1__Hello *hello) {
    uint32_t uid;
    const bool is_local = peer->calls->user(peer->handle, &uid);
    return access_find(api->def.access, hello->token, is_local ? &uid : NULL);
}

bool session_is_current(const Session *session) {
    return session->held_version == session->held->version;
}

uint32_t session_rights(const Session *session) {
    const uint32_t rights = session_is_current(session) ? session->held->rights : RIGHTS_NONE;
    return rights & RIGHT_ADMIN ? RIGHTS_ALL : rights;
}

uint32_t session_space(const Session *session) {
    return session->held->space_number;
}

static uint32_t view_of(const Session *session) {
    return session_rights(session) & RIGHT_ADMIN ? SPACE_ALL : session_space(session);
}

void session_review(Session *session) {
    const uint32_t rights = session_rights(session);
    session->view = view_of(session);
    for (Request *request = session->first_request; request != NULL; request = request->next) {
        if (request->command != NULL && (request_rights(request) & ~rights) != 0) {
            request_deny(request);
        }
    }
}

static Status check_hello(const Api *api, const Peer *peer, const Moreau__V1__Hello *hello,
                          Error *error) {
    if (hello->protocol_major != PROTOCOL_MAJOR) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "protocol_major",
                         "The client speaks protocol %u.%u, this server %d.%d (moreau-server %s): "
                         "the majors must be equal.",
                         hello->protocol_major, hello->protocol_minor, PROTOCOL_MAJOR,
                         PROTOCOL_MINOR, api->def.version);
    }
    if (find_token(api, peer, hello) == NULL) {
        return error_set(error, STATUS_UNAUTHENTICATED, "token", "%s",
                         hello->token == NULL
                             ? "This server demands a token: --token-file on the command line."
                             : "The token is not this server's.");
    }
    bool takes_over = (hello->resume != NULL && hello->resume[0] != '\0') || hello->resumable;
    return takes_over && peer->calls->is_viewer(peer->handle)
               ? error_set(error, STATUS_PERMISSION_DENIED, "resume",
                           "A viewer (the WebSocket of --http) has no session to come back to.")
               : STATUS_OK;
}

// ---- life

static void on_grace_closed(uv_handle_t *handle) {
    Session *session = handle->data;
    Api *api = session->api;
    kept_forget(session);
    free(session);
    api->closing_sessions--;
    if (api->closed != NULL && api->closing_sessions == 0) {
        void (*closed)(void *) = api->closed;
        void *context = api->closed_context;
        while (api->free_request != NULL) {
            Request *request = api->free_request;
            api->free_request = request->next;
            arena_deinit(&request->arena);
            free(request);
        }
        free(api->buffer);
        free(api);
        closed(context);
    }
}

static void end_session(Session *session) {
    Api *api = session->api;
    ASSERT(!api->is_stopped);
    ASSERT(session->first_request == NULL);
    for (Session **link = &api->first_session; *link != NULL; link = &(*link)->next) {
        if (*link == session) {
            *link = session->next;
            break;
        }
    }
    snapshot_store_drop_session(api->def.snapshots, session->number);
    if (session->use != NULL) {
        session->use->sessions--;
    }
    api->closing_sessions++;
    uv_close((uv_handle_t *)&session->grace, on_grace_closed);
}

static void on_grace_over(uv_timer_t *timer) {
    Session *session = timer->data;
    if (session->first_request != NULL) {
        if (!session->is_over) {
            session_stop_requests(session);
            session->is_over = true;
        }
        // they stop between two steps: look again
        uv_timer_start(timer, on_grace_over, 10, 0);
        return;
    }
    Host *host = session->api->def.host;
    if (!session->is_ending) {
        report_line(session->api->def.report, REPORT_INFO, "session_ended",
                    "session=%" PRIu64 " worlds=%u", session->number, session->world_count);
        session->is_over = session->is_ending = true;
        farm_destroy_session(session->api->def.farm, session->number);
    }
    if (host_destroy_session(host, session->number, WORLDS_AT_ONCE)) {
        end_session(session);
    } else { // others have their turn of the loop
        uv_timer_start(timer, on_grace_over, 1, 0);
    }
}

void session_stop(Session *session) {
    ASSERT(session->first_request == NULL);
    uv_timer_stop(&session->grace);
}

void session_stop_requests(Session *session) {
    for (Request *request = session->first_request; request != NULL; request = request->next) {
        request_cancel(request);
    }
}

void session_leave(Session *session) {
    ASSERT(!peer_is_none(session->peer));
    ASSERT(!session->is_over); // only one without a peer is
    kept_lose_peer(session);
    session->peer = (Peer){0};
    if (session->api->is_stopped) {
        return; // it goes with the api
    }
    bool may_return = session->world_count > 0 || session->is_resumable;
    uv_timer_start(&session->grace, on_grace_over,
                   may_return ? session->api->def.session_grace_ms : 0, 0);
}

void session_close_all(Api *api) {
    ASSERT(api->is_stopped);
    while (api->first_session != NULL) {
        Session *session = api->first_session;
        api->first_session = session->next;
        api->closing_sessions++;
        uv_close((uv_handle_t *)&session->grace, on_grace_closed);
    }
}

static void make_token(char token[33]) {
    uint8_t bytes[16];
    if (uv_random(NULL, NULL, bytes, sizeof(bytes), 0, NULL) != 0) {
        uint64_t fallback[2] = {clock_now_ns(),
                                clock_wall_ns()}; // a worse secret is better than no session
        memcpy(bytes, fallback, sizeof(bytes));
    }
    hex_text(bytes, sizeof(bytes), token);
}

static Session *open_session(Api *api) {
    ASSERT(!api->is_stopped);
    Session *session = calloc(1, sizeof(*session));
    if (session == NULL) {
        return NULL;
    }
    session->number = ++api->session_count;
    session->api = api;
    make_token(session->token);
    uv_timer_init(api->def.loop, &session->grace);
    session->grace.data = session;
    uv_unref((uv_handle_t *)&session->grace);
    session->next = api->first_session;
    api->first_session = session;
    return session;
}

static Session *find_session(Api *api, const char *token) {
    for (Session *session = api->first_session; session != NULL; session = session->next) {
        if (secret_matches(token, session->token)) {
            return session->is_over ? NULL : session;
        }
    }
    return NULL;
}

static void resume(Session *session, bool resumable) {
    ASSERT(!session->is_over);
    if (!peer_is_none(session->peer)) {
        // the client knows better than we that its old connection is dead
        Peer old = session->peer;
        kept_lose_peer(session);
        old.calls->set_data(old.handle, NULL);
        session->peer = (Peer){0};
        old.calls->close(old.handle);
    }
    uv_timer_stop(&session->grace);
    kept_resume(session, resumable);
}

static Status seat(Request *request, const Moreau__V1__Hello *hello, Error *error) {
    Session *session;
    Token *held = find_token(request->api, &request->peer, hello);
    if (hello->resume != NULL && hello->resume[0] != '\0') {
        session = find_session(request->api, hello->resume);
        if (session == NULL) {
            return error_set(error, STATUS_NOT_FOUND, "resume",
                             "No such session: its grace time (option --session-grace-ms) has "
                             "passed, or the server was restarted.");
        }
        if (session->held != held || !session_is_current(session)) {
            return error_set(error, STATUS_NOT_FOUND, "resume",
                             "No such session of this token: it is resumed with the token that it "
                             "was opened with.");
        }
        resume(session, hello->resumable);
    } else {
        session = open_session(request->api);
        if (session == NULL) {
            return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                             "Memory ended while opening a session.");
        }
        session->is_resumable = hello->resumable;
        session->held = held;
        session->held_version = held->version;
        session->use = access_has_names(request->api->def.access) ? &held->use : NULL;
        if (session->use != NULL) {
            session->use->sessions++;
        }
        session->view = view_of(session);
    }
    snprintf(session->client, sizeof(session->client), "%s",
             hello->client == NULL ? "" : hello->client);
    session->peer = request->peer;
    request->peer.calls->set_data(request->peer.handle, session);
    request->peer.calls->authenticate(request->peer.handle);
    report_line(request->api->def.report, REPORT_INFO, "session",
                "session=%" PRIu64 " connection=%" PRIu64 " client=\"%s\" token=%s",
                session->number, request->peer.calls->number(request->peer.handle), session->client,
                session->held->name);
    return STATUS_OK;
}

static Status welcome(Request *request, Moreau__V1__Welcome *message, Error *error) {
    const Session *session = request->peer.calls->data(request->peer.handle);
    message->server_version = (char *)request->api->def.version;
    message->has_dynamics_version = 1;
    message->dynamics_version = DYNAMICS_VERSION;
    message->build = (char *)request->api->def.build;
    message->has_golden = 1;
    message->golden = request->api->def.is_golden;
    message->has_protocol_major = message->has_protocol_minor = 1;
    message->protocol_major = PROTOCOL_MAJOR;
    message->protocol_minor = PROTOCOL_MINOR;
    message->session = (char *)session->token;
    message->http = (char *)request->api->http;
    message->has_lanes = message->has_instance = 1;
    message->lanes = request->api->def.lanes;
    message->instance = request->api->instance;
    message->db = (char *)request->api->db;
    if (access_has_names(request->api->def.access)) {
        message->token = (char *)session->held->name;
        message->namespace_ = (char *)session->held->space;
        message->rights = describe_rights(request, session->held->rights, &message->n_rights);
    }
    message->has_last_id = 1;
    message->last_id = session->id_highest;
    message->limits = describe_limits(request, &message->n_limits);
    message->calls = describe_calls(request, &message->n_calls);
    message->solvers = describe_solvers(request, &message->n_solvers);
    if (message->limits == NULL || message->calls == NULL || message->solvers == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while saying welcome.");
    }
    describe_fit(request, message);
    return STATUS_OK;
}

// ---- refusals

// Whoever guesses tokens is told that one is wrong after this long, and many guesses at once are
// told nothing: their connections end. Nobody else waits.
enum { REFUSAL_MS = 1000, REFUSALS_MAX = 64 };

typedef struct Refusal {
    uv_timer_t timer;
    Request *request;
    Error error;
    struct Refusal *next;
} Refusal;

// Another guess on a connection that is about to be told.
static bool is_refused(const Api *api, Peer peer) {
    const Refusal *refusal = api->first_refusal;
    while (refusal != NULL && refusal->request->peer.handle != peer.handle) {
        refusal = refusal->next;
    }
    return refusal != NULL;
}

static void refuse(Request *request, const Error *error) {
    Moreau__V1__Reply empty = MOREAU__V1__REPLY__INIT;
    request_reply(request, NULL, &empty, error);
    request->peer.calls->close_after_write(request->peer.handle);
    request_finish(request);
}

static void on_refusal_closed(uv_handle_t *handle) {
    free(handle->data);
}

static void on_refusal_due(uv_timer_t *timer) {
    Refusal *refusal = timer->data;
    Api *api = refusal->request->api;
    Refusal **link = &api->first_refusal;
    while (*link != refusal) {
        link = &(*link)->next;
    }
    *link = refusal->next;
    api->refusal_count--;
    refuse(refusal->request, &refusal->error);
    uv_close((uv_handle_t *)timer, on_refusal_closed);
}

static void hang_up(Request *request) {
    request->status = STATUS_UNAUTHENTICATED;
    request->client_gone = true;
    request->peer.calls->request_end(request->peer.handle, 1);
    request_finish(request);
}

static void refuse_later(Request *request, const Error *error) {
    Api *api = request->api;
    Refusal *refusal = api->refusal_count < REFUSALS_MAX ? calloc(1, sizeof(*refusal)) : NULL;
    if (refusal == NULL) {
        hang_up(request);
        return;
    }
    refusal->next = api->first_refusal;
    api->first_refusal = refusal;
    api->refusal_count++;
    refusal->request = request;
    refusal->error = *error;
    uv_timer_init(api->def.loop, &refusal->timer);
    refusal->timer.data = refusal;
    uv_timer_start(&refusal->timer, on_refusal_due, REFUSAL_MS, 0);
}

void session_greet(Request *request) {
    ASSERT(request->session == NULL);
    ASSERT(request->peer.calls->data(request->peer.handle) == NULL);
    const Moreau__V1__Hello *hello = request->message->hello;
    Peer peer = request->peer;
    if (is_refused(request->api, peer)) {
        hang_up(request);
        return;
    }
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__Welcome message = MOREAU__V1__WELCOME__INIT;
    Error error = {0};
    Status status = check_hello(request->api, &peer, hello, &error);
    status = STATUS_THEN(status, seat(request, hello, &error));
    status = STATUS_THEN(status, welcome(request, &message, &error));
    secret_wipe(hello->token); // a digest of it is known, and nobody needs it again
    error.status = status;
    if (status == STATUS_OK) {
        reply.result_case = MOREAU__V1__REPLY__RESULT_WELCOME;
        reply.welcome = &message;
    } else {
        report_line(request->api->def.report, REPORT_WARN, "refused",
                    "connection=%" PRIu64 " peer=%s why=\"%s\"", peer.calls->number(peer.handle),
                    peer.calls->name(peer.handle), error.message);
    }
    if (status == STATUS_UNAUTHENTICATED) {
        refuse_later(request, &error);
    } else if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        refuse(request, &error);
    } else {
        request_reply(request, NULL, &reply, &error);
        request_finish(request);
    }
}
