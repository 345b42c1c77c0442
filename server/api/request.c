// SPDX-License-Identifier: MIT
#include "api/request.h"

#include "wire/codec.h"
#include "api/kept.h"
#include "api/session.h"
#include "wire/step_codec.h"
#include "os/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Unpacking takes at most so many times the frame, and a little. A message of many small parts (a
// scene) takes about ten times its bytes; packed columns take at most eight.
enum { UNPACK_MULTIPLE = 32, UNPACK_BYTES_MIN = 65536 };

// Of the memory budget, requests under way take at most one part in so many.
enum { REQUEST_MEMORY_SHARE = 4 };

// What requests keep of their memory when they wait to be used again.
enum { ARENA_KEPT_BYTES_MAX = 65536 };

// A request was last used some hundred others ago: what the next one needs of its memory is asked
// for while this one is taken up, and what tells where that is, one request earlier.
enum { PREFETCH_BYTES = 512 };

static void prefetch(const Request *next) {
    if (next == NULL) {
        return;
    }
    arena_prefetch(&next->arena, PREFETCH_BYTES);
    for (size_t i = 0; i < offsetof(Request, job); i += CACHE_LINE_BYTES) {
        __builtin_prefetch((const char *)next->next + i, 1);
    }
}

static Request *take_request(Api *api) {
    Request *request = api->free_request;
    if (request != NULL) {
        api->free_request = request->next;
        prefetch(request->next);
        return request;
    }
    request = aligned_alloc(CACHE_LINE_BYTES, sizeof(*request));
    if (request != NULL) {
        arena_init(&request->arena, 0);
    }
    return request;
}

static void link_request(Session *session, Request *request) {
    request->session = session;
    request->previous = NULL;
    request->next = session->first_request;
    if (request->next != NULL) {
        request->next->previous = request;
    }
    session->first_request = request;
}

static void unlink_request(Request *request) {
    Session *session = request->session;
    *(request->previous == NULL ? &session->first_request : &request->previous->next) =
        request->next;
    if (request->next != NULL) {
        request->next->previous = request->previous;
    }
}

void request_finish(Request *request) {
    Api *api = request->api;
    if (request->finish != NULL) {
        request->finish(request);
    }
    kept_settle(request);
    request_note(request);
    if (request->session != NULL) {
        unlink_request(request);
    }
    if (request->world != NULL) {
        host_release(request->world);
    }
    if (request->client_gone) {
        request->peer.calls->close(request->peer.handle);
    }
    request->peer.calls->release(request->peer.handle);
    api->request_count--;
    api->request_bytes -= request->counted_bytes;
    if (request->counted_by != NULL) {
        request->counted_by->request_bytes -= request->counted_bytes;
    }
    arena_reset(&request->arena);
    if (request->arena.total_bytes > ARENA_KEPT_BYTES_MAX) {
        arena_deinit(&request->arena);
    }
    request->next = api->free_request;
    api->free_request = request;
}

Request *request_find(Session *session, uint64_t id) {
    for (Request *request = session->first_request; request != NULL; request = request->next) {
        // an answered one is only waiting for the loop to take it back; its client may know the
        // answer already. Those of a connection that the session had before are stopping, and
        // answered to nobody.
        if (request->id == id && request->peer.handle == session->peer.handle &&
            !atomic_load_explicit(&request->answered, memory_order_acquire)) {
            return request;
        }
    }
    return NULL;
}

void request_cancel(Request *request) {
    if (request->repeats != NULL && request->repeats->request != NULL) {
        request = request->repeats->request; // which does the work
    }
    atomic_store_explicit(&request->cancelled, true, memory_order_relaxed);
    if (request->stopped != NULL) {
        request->stopped(request);
    }
}

bool request_should_stop(const Request *request, Error *error) {
    if (atomic_load_explicit(&request->cancelled, memory_order_relaxed)) {
        error_set(error, STATUS_CANCELLED, "", "The request was cancelled between two steps.");
        return true;
    }
    if (request->deadline_ns != UINT64_MAX && clock_now_ns() >= request->deadline_ns) {
        error_set(error, STATUS_DEADLINE_EXCEEDED, "deadline_ms", "The deadline of %u ms passed.",
                  request->message->deadline_ms);
        return true;
    }
    return false;
}

static bool is_too_long(const WorkWatch *watch, uint64_t now_ns) {
    return now_ns - watch->begun_ns > watch->request->api->def.work_timeout_ns;
}

static bool watch_is_asked(void *context) {
    WorkWatch *watch = context;
    uint64_t now_ns = clock_now_ns();
    watch->is_put_aside = lane_is_wanted(watch->lane, watch->begun_ns, now_ns);
    return watch->is_put_aside || is_too_long(watch, now_ns) ||
           request_should_stop(watch->request, NULL);
}

void request_watch(const Request *request, const Lane *lane, uint64_t begun_ns, WorkWatch *watch) {
    *watch = (WorkWatch){.request = request, .lane = lane, .begun_ns = begun_ns};
    watch->stop = (SolverStop){.asked = watch_is_asked, .context = watch};
}

Status request_watch_verdict(const WorkWatch *watch, Error *error) {
    if (request_should_stop(watch->request, error)) {
        return error->status;
    }
    if (!is_too_long(watch, clock_now_ns())) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "One step or solve took longer than %" PRIu64
                     " ms (option --work-timeout-ms): lower max_iterations, or make it smaller.",
                     watch->request->api->def.work_timeout_ns / 1000000u);
}

uint64_t request_pause_ns(const Request *request, const Lane *lane) {
    uint64_t slice_end_ns = lane_pause_ns(lane);
    return slice_end_ns < request->deadline_ns ? slice_end_ns : request->deadline_ns;
}

// ---- dispatch

void request_end(Request *request, const Error *error) {
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    request_reply(request, NULL, &reply, error);
    request_finish(request);
}

uint64_t request_share(const Request *request) {
    return request->session == NULL ? 0 : request->session->number;
}

Pool *request_pool(const Request *request) {
    const ApiDef *def = &request->api->def;
    return request->command->flags & COMMAND_BACKGROUND ? def->background : def->pool;
}

static Strand *strand_of(Request *request) {
    return request->world != NULL ? &request->world->strand : &request->strand;
}

static void on_log_done(LogWait *wait) {
    Request *request = (Request *)(void *)((char *)wait - offsetof(Request, wait));
    pool_unpark(request_pool(request), strand_of(request));
}

LogWait *request_wait(Request *request) {
    request->wait = (LogWait){.done = on_log_done};
    return &request->wait;
}

// What records the world must catch up before the next change.
static bool must_wait(Request *request) {
    return request->world != NULL && request->command->flags & COMMAND_MUTATES &&
           !door_is_ready(&request->world->door, NULL) &&
           !door_is_ready(&request->world->door, request_wait(request));
}

static JobOutcome work_on_lane(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Error error;
    error_clear(&error);
    request->outcome = JOB_DONE;
    if (request->is_resumed || !request_should_stop(request, &error)) {
        if (!request->is_resumed && must_wait(request)) {
            return JOB_PARKED;
        }
        Status status = request->command->work(request, lane, &reply, &error);
        if (request->outcome != JOB_DONE) {
            request->is_resumed = true;
            return request->outcome;
        }
        if (status == STATUS_OK) {
            error.status = STATUS_OK;
        } else {
            reply.result_case = MOREAU__V1__REPLY__RESULT__NOT_SET;
        }
    }
    if (request->world != NULL && request->command->flags & COMMAND_MUTATES) {
        host_publish(request->world);
    }
    request_reply(request, lane, &reply, &error);
    job->urgent = request->status != STATUS_OK; // `done` writes its line
    return JOB_DONE;
}

static void on_worked(Job *job) {
    request_finish((Request *)(void *)((char *)job - offsetof(Request, job)));
}

// The message of the call: every member of the oneof is a pointer at the same place.
static const char *call_message(const Request *request) {
    return (const char *)(const void *)request->message->ping;
}

static Status find_world(Request *request, Error *error) {
    uint64_t id =
        *(const uint64_t *)(const void *)(call_message(request) + request->command->world_offset);
    WorldEntry *entry = host_find(request->api->def.host, id);
    if (entry == NULL) {
        return error_set(error, STATUS_NOT_FOUND, "world", "No world has the id %" PRIu64 ".", id);
    }
    host_retain(entry);
    request->world = entry;
    return STATUS_OK;
}

void request_submit(Request *request) {
    request->job = (Job){.work = work_on_lane, .done = on_worked};
    if (request->world == NULL) {
        strand_init(&request->strand);
    }
    pool_submit(request_pool(request), strand_of(request), request_share(request), &request->job);
}

static Status check_log(const Request *request, Error *error) {
    if (request->command->flags & COMMAND_LOG && request->api->def.log == NULL) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "",
                         "This server keeps no episodes: start it with --db FILE.");
    }
    return STATUS_OK;
}

static void dispatch(Request *request) {
    const Command *command = request->command;
    Error error;
    error_clear(&error);
    Status status = STATUS_OK;
    if (command->place == PLACE_LOOP) {
        Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
        status = command->work(request, NULL, &reply, &error);
        error.status = status;
        request_reply(request, NULL, &reply, &error);
        request_finish(request);
        return;
    }
    status = check_log(request, &error);
    if (status == STATUS_OK && command->place == PLACE_WORLD) {
        status = find_world(request, &error);
    }
    if (status == STATUS_OK && command->prepare != NULL) {
        status = command->prepare(request, &error);
    }
    if (status != STATUS_OK) {
        request_end(request, &error);
    } else if (command->place != PLACE_OWN) {
        request_submit(request);
    }
}

// ---- frames

static const char no_request[] = "The frame is no message Request of moreau.v1.";

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
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Unpacked, this frame of %zu bytes takes more than %d times its size, "
                         "which no option changes: send fewer, larger parts.",
                         body_bytes, UNPACK_MULTIPLE);
    }
    return error_set(error, STATUS_INVALID_ARGUMENT, "", "%s", no_request);
}

static size_t part_of_each(const Api *api, size_t bytes) {
    return bytes / (1 + api->def.peers->figures(api->peer_context).connection_count);
}

// Many large requests under way at once must not take the memory of the worlds. When they would,
// those are refused whose session has more than its part, not whoever comes next.
static Status count_memory(Request *request, Error *error) {
    Api *api = request->api;
    Session *session = request->peer.calls->data(request->peer.handle);
    size_t bytes = request->arena.total_bytes,
           limit = api->def.memory_bytes_max / REQUEST_MEMORY_SHARE;
    bool is_crowded = bytes > limit || api->request_bytes > limit - bytes;
    size_t held = bytes + (session == NULL ? 0 : session->request_bytes);
    if (is_crowded && held > part_of_each(api, limit)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "The requests under way take more than a quarter of the memory budget "
                         "(option --memory-bytes-max): wait for "
                         "replies, or send smaller parts.");
    }
    request->counted_bytes = bytes;
    request->counted_by = session;
    api->request_bytes += bytes;
    if (session != NULL) {
        session->request_bytes += bytes;
    }
    return STATUS_OK;
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

static Status admit(Request *request, const uint8_t *body, size_t body_bytes, Error *error) {
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
    if (session != NULL) {
        Status status = session->is_resumable
                            ? kept_admit(session, request, body, body_bytes, error)
                            : admit_id(session, request->id, error);
        if (status != STATUS_OK) {
            return status;
        }
        link_request(session, request);
    }
    return request->is_checked
               ? STATUS_OK
               : codec_check((const ProtobufCMessage *)(const void *)call_message(request), error);
}

// What came before it is answered first: api_peer_malformed then says why.
static void reject(Request *request) {
    Peer peer = request->peer;
    request->status = STATUS_INVALID_ARGUMENT;
    peer.calls->request_end(peer.handle, 1);
    peer.calls->reject(peer.handle, no_request);
    request_finish(request);
}

void request_receive(Api *api, Peer peer, uint64_t received_ns, const uint8_t *body,
                     size_t body_bytes) {
    Request *request = take_request(api);
    if (request == NULL) {
        peer.calls->close(peer.handle);
        return;
    }
    Arena arena = request->arena;
    arena.limit_bytes = UNPACK_BYTES_MIN + UNPACK_MULTIPLE * body_bytes;
    memset(request, 0, offsetof(Request, job));
    request->api = api;
    request->peer = peer;
    request->arena = arena;
    request->received_ns = received_ns;
    request->deadline_ns = UINT64_MAX;
    peer.calls->retain(peer.handle);
    peer.calls->request_begin(peer.handle);
    api->request_count++;
    api->requests_total++;

    Error error;
    error_clear(&error);
    if (unpack(request, body, body_bytes, &error) != STATUS_OK) {
        if (error.status == STATUS_INVALID_ARGUMENT) {
            reject(request);
        } else {
            request_end(request, &error);
        }
        return;
    }
    request->id = request->message->id;
    // from here on the arena also holds what the answer is made of, a few times a frame at most
    request->arena.limit_bytes += 8 * api->def.frame_bytes_max;
    if (request->message->has_deadline_ms) {
        request->deadline_ns =
            request->received_ns + (uint64_t)request->message->deadline_ms * 1000000u;
    }
    if (count_memory(request, &error) != STATUS_OK || find_call(request, &error) != STATUS_OK ||
        admit(request, body, body_bytes, &error) != STATUS_OK) {
        request_end(request, &error);
        return;
    }
    if (request->command->field == MOREAU__V1__REQUEST__CALL_HELLO) {
        session_greet(request);
    } else if (request->repeats != NULL) {
        kept_answer(request);
    } else {
        dispatch(request);
    }
}
