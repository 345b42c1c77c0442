// SPDX-License-Identifier: MIT
#include "api/request.h"

#include "base/assert.h"

#include "api/group_turn.h"
#include "api/kept.h"
#include "api/session.h"
#include "log/reader/reader.h"
#include "os/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What requests keep of their memory when they wait to be used again.
enum { ARENA_KEPT_BYTES_MAX = 65536 };

// More than so much is given back on a lane: the machine takes some 0.1 ms for each MiB.
enum { ARENA_LONG_BYTES = 1 << 20 };

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

Request *request_begin(Api *api, Peer peer, uint64_t received_ns) {
    Request *request = take_request(api);
    if (request == NULL) {
        return NULL;
    }
    Arena arena = request->arena;
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
    return request;
}

void request_link(Session *session, Request *request) {
    const char *space = access_space_name(request->api->def.access, session_space(session));
    request->session = session;
    request->home = space;
    request->seen = session->view == SPACE_ALL ? NULL : space;
    request->use = session->use;
    use_count_request(request->use, 1);
    request->previous = NULL;
    request->next = session->first_request;
    if (request->next != NULL) {
        request->next->previous = request;
    }
    session->first_request = request;
}

void request_uncount(Request *request) {
    use_count_request(request->use, -1);
    request->use = NULL;
}

void request_unlink(Request *request) {
    Session *session = request->session;
    request_uncount(request); // where it was not answered
    *(request->previous == NULL ? &session->first_request : &request->previous->next) =
        request->next;
    if (request->next != NULL) {
        request->next->previous = request->previous;
    }
    request->session = NULL;
}

// ---- the end

static void recycle(Request *request) {
    Api *api = request->api;
    api->request_count--;
    api->request_bytes -= request->counted_bytes;
    arena_reset_and_trim(&request->arena, ARENA_KEPT_BYTES_MAX);
    request->next = api->free_request;
    api->free_request = request;
}

static JobOutcome give_back_on_lane(Job *job, Lane *lane) {
    (void)lane;
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    arena_reset_and_trim(&request->arena, ARENA_KEPT_BYTES_MAX);
    job->urgent = true; // what it took is counted until then
    return JOB_DONE;
}

static void on_given_back(Job *job) {
    recycle((Request *)(void *)((char *)job - offsetof(Request, job)));
}

static void give_back(Request *request) {
    strand_init_long(&request->strand);
    request->job = (Job){.work = give_back_on_lane, .done = on_given_back};
    pool_submit(request->api->def.pool, &request->strand, 0, &request->job);
}

void request_finish(Request *request) {
    if (request->finish != NULL) {
        request->finish(request);
    }
    kept_settle(request);
    request_note(request);
    if (request->session != NULL) {
        request_unlink(request);
    }
    if (request->world != NULL && request->command->flags & COMMAND_BODIES) {
        host_end_change(request->world);
    }
    if (request->world != NULL) {
        host_release(request->world);
    }
    if (request->client_gone) {
        request->peer.calls->close(request->peer.handle);
    }
    request->peer.calls->release(request->peer.handle);
    if (request->counted_by != NULL) {
        request->counted_by->request_bytes -= request->counted_bytes;
    }
    if (request->arena.total_bytes > ARENA_LONG_BYTES) {
        give_back(request);
    } else {
        recycle(request);
    }
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

void request_deny(Request *request) {
    atomic_store_explicit(&request->is_denied, true, memory_order_relaxed);
    request_cancel(request);
}

static bool is_cancelled(const Request *request) {
    return atomic_load_explicit(&request->cancelled, memory_order_relaxed);
}

bool request_should_stop(const Request *request, Error *error) {
    if (is_cancelled(request)) {
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
    watch->stop = (Stop){.asked = watch_is_asked, .context = watch};
    watch->context = (Context){.stop = &watch->stop, .tasks = lane->tasks};
}

static bool is_solve_stopped(void *context) {
    WorkWatch *watch = context;
    watch->is_put_aside = lane_is_wanted(watch->lane, watch->begun_ns, clock_now_ns());
    return watch->is_put_aside || is_cancelled(watch->request);
}

static bool is_solve_late(void *context) {
    const WorkWatch *watch = context;
    return clock_now_ns() >= watch->request->deadline_ns;
}

static bool is_solve_too_long(void *context) {
    return is_too_long(context, clock_now_ns());
}

void request_watch_solve(const Request *request, const Lane *lane, uint64_t begun_ns,
                         WorkWatch *watch) {
    *watch = (WorkWatch){.request = request, .lane = lane, .begun_ns = begun_ns};
    watch->stop = (Stop){.asked = is_solve_stopped, .context = watch};
    watch->limit = (Stop){.asked = is_solve_late, .context = watch};
    watch->last_resort = (Stop){.asked = is_solve_too_long, .context = watch};
    watch->context = (Context){.stop = &watch->stop,
                               .limit = &watch->limit,
                               .last_resort = &watch->last_resort,
                               .tasks = lane->tasks};
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

// ---- rights

static const Session *session_of(const Request *request) {
    return request->peer.calls->data(request->peer.handle);
}

uint32_t request_view(const Request *request) {
    return request->session->view;
}

uint32_t request_space(const Request *request) {
    return session_space(request->session);
}

Status request_take_reader(const Request *request, LogReader **reader, Error *error) {
    const Status status = log_take_reader(request->api->def.log, reader, error);
    if (status == STATUS_OK) {
        log_reader_see(*reader, request->seen);
    }
    return status;
}

WorldEntry *request_find_world(const Request *request, uint64_t id) {
    return host_find(request->api->def.host, id, request_view(request));
}

static uint32_t rights_of_group(const Moreau__V1__GroupCreate *call) {
    return (call->record != NULL ? RIGHT_RECORD : RIGHTS_NONE) |
           (call->recording != NULL ? RIGHT_WATCH : RIGHTS_NONE);
}

uint32_t request_rights(const Request *request) {
    const uint32_t rights = request->command->rights;
    if (request->message == NULL) {
        return rights;
    }
    switch (request->command->field) {
    case MOREAU__V1__REQUEST__CALL_GROUP_CREATE:
        return rights | rights_of_group(request->message->group_create);
    case MOREAU__V1__REQUEST__CALL_EPISODE_COMPARE:
        return rights | (request->message->episode_compare->record ? RIGHT_RECORD : RIGHTS_NONE);
    default:
        return rights;
    }
}

Status request_check_rights(const Request *request, Error *error) {
    const Session *session = session_of(request);
    const uint32_t missing = request_rights(request) & ~session_rights(session);
    char wanted[RIGHTS_TEXT_BYTES];
    if (missing == RIGHTS_NONE) {
        return STATUS_OK;
    }
    rights_print(missing, wanted);
    return session_is_current(session)
               ? error_set(error, STATUS_PERMISSION_DENIED, "",
                           "%s needs the right %s, which the token %s does not have.",
                           request->command->name, wanted, session->held->name)
               : error_set(error, STATUS_PERMISSION_DENIED, "",
                           "The token %s that this session was opened with is not in the server's "
                           "file any more.",
                           session->held->name);
}

// ---- dispatch

void request_end(Request *request, const Error *error) {
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    request_reply(request, NULL, &reply, error);
    request_finish(request);
}

uint64_t request_share(const Request *request) {
    const Session *session = request->session;
    if (session == NULL || session->use == NULL) {
        return session == NULL ? 0 : lane_share(session->number, 0, 0, 0);
    }
    return lane_share(session->number, session->use->number, use_weight(session->use),
                      use_lanes(session->use));
}

WorldOwner request_owner(const Request *request, Moreau__V1__World__Lifetime lifetime) {
    Session *session = request->session;
    bool is_session = lifetime == MOREAU__V1__WORLD__LIFETIME__SESSION;
    return (WorldOwner){.client = session->client,
                        .space = session_space(session),
                        .use = session->use,
                        .session = is_session ? session->number : 0,
                        .world_count = is_session ? &session->world_count : NULL};
}

Pool *request_pool(const Request *request) {
    const ApiDef *def = &request->api->def;
    return request->command->flags & COMMAND_BACKGROUND ? def->background : def->pool;
}

static JobOutcome pass(Job *job, Lane *lane) {
    (void)lane;
    job->urgent = true;
    return JOB_DONE;
}

void request_take_turn(Request *request, JobWork *work, JobFinished *done) {
    strand_init(&request->strand);
    request->job = (Job){.work = work != NULL ? work : pass, .done = done};
    pool_submit(request->api->def.pool, &request->strand, request_share(request), &request->job);
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

bool request_wants_long(const Request *request, const Lane *lane) {
    return request->is_long && !lane->is_long;
}

static JobOutcome work_on_lane(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Error error;
    error_clear(&error);
    request->outcome = JOB_DONE;
    if (request_wants_long(request, lane)) {
        return JOB_LONG;
    }
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
    if (request->body != NULL && error.status == STATUS_OK) {
        request_reply_written(request, lane, request->body, &error);
    } else {
        request_reply(request, lane, &reply, &error);
    }
    job->urgent = request->status != STATUS_OK; // `done` writes its line
    return JOB_DONE;
}

static void on_worked(Job *job) {
    request_finish((Request *)(void *)((char *)job - offsetof(Request, job)));
}

// Every member of the oneof is a pointer at the same place.
const void *request_call(const Request *request) {
    return request->message->ping;
}

const uint64_t *request_worlds(const Request *request) {
    const Command *command = request->command;
    const char *at = (const char *)request_call(request) + command->world_offset;
    ASSERT((command->flags & COMMAND_LIST) != 0);
    return *(const uint64_t *const *)(const void *)(at + sizeof(size_t));
}

// The world that a call is on. 0: none, or several.
static uint64_t world_named(const Request *request) {
    const Command *command = request->command;
    const char *at = (const char *)request_call(request) + command->world_offset;
    if (command->world_offset == 0 || command->flags & COMMAND_GROUP) {
        return 0;
    }
    if (command->flags & COMMAND_LIST) {
        const size_t count = *(const size_t *)(const void *)at;
        return count == 1 ? **(uint64_t *const *)(const void *)(at + sizeof(count)) : 0;
    }
    return *(const uint64_t *)(const void *)at;
}

static Status find_world(Request *request, Error *error) {
    const uint64_t id = world_named(request);
    WorldEntry *entry = request_find_world(request, id);
    if (entry == NULL) {
        return error_set(error, STATUS_NOT_FOUND, "world", "No world has the id %" PRIu64 ".", id);
    }
    host_retain(entry);
    request->world = entry;
    if (request->command->flags & COMMAND_BODIES) {
        host_begin_change(entry);
    }
    return STATUS_OK;
}

void request_submit(Request *request) {
    request->job = (Job){.work = work_on_lane, .done = on_worked};
    if (request->world == NULL && request->is_long) {
        strand_init_long(&request->strand);
    } else if (request->world == NULL) {
        strand_init(&request->strand);
    }
    pool_submit(request_pool(request), strand_of(request), request_share(request), &request->job);
}

// What may make its world larger is refused once whose it is has all that he may have; what it adds
// beyond is found out by the next.
static Status check_growth(const Request *request, Error *error) {
    const bool grows = request->world != NULL && request->command->flags & COMMAND_GROWS;
    return grows ? use_check_bytes(request->world->use, 0, error) : STATUS_OK;
}

static Status check_log(const Request *request, Error *error) {
    if (request->command->flags & COMMAND_LOG && request->api->def.log == NULL) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "",
                         "This server keeps no episodes: start it with --db FILE.");
    }
    return STATUS_OK;
}

void request_work_here(Request *request) {
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Error error;
    error_clear(&error);
    error.status = request->command->work(request, NULL, &reply, &error);
    request_reply(request, NULL, &reply, &error);
    request_finish(request);
}

static Status judge(Request *request, const Error *judged, Error *error) {
    if (judged == NULL) {
        return request->command->judge == NULL ? STATUS_OK
                                               : request->command->judge(request, error);
    }
    if (judged->status != STATUS_OK) {
        *error = *judged;
    }
    return judged->status;
}

// What was done and could not be told would be an error that changes something: so it is refused
// before.
static Status check_reply(const Request *request, Error *error) {
    if (request->command->bytes == NULL) {
        return STATUS_OK;
    }
    size_t bytes = REPLY_HEAD_OK_BYTES_MAX + request->command->bytes(request);
    return bytes <= request->api->def.frame_bytes_max
               ? STATUS_OK
               : request_refuse_length(request, bytes, error);
}

static JobOutcome refuse_on_lane(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    const Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    request_reply(request, lane, &reply, request->refusal);
    job->urgent = true; // `done` writes its line
    return JOB_DONE;
}

// Of a call that finds its worlds itself, and has not.
static void take_turn(Request *request) {
    WorldEntry *entry = request_find_world(request, world_named(request));
    if (request->command->place == PLACE_OWN && request->world == NULL && entry != NULL) {
        host_retain(entry);
        request->world = entry;
    }
}

// The calls on a world are answered in their order: one that is refused for what it says waits for
// those before it.
static void refuse(Request *request, const Error *error) {
    take_turn(request);
    request->refusal =
        request->world == NULL ? NULL : arena_take(&request->arena, sizeof(*request->refusal));
    if (request->refusal == NULL) {
        request_end(request, error);
        return;
    }
    *request->refusal = *error;
    request->job = (Job){.work = refuse_on_lane, .done = on_worked};
    pool_submit(request_pool(request), strand_of(request), request_share(request), &request->job);
}

void request_refuse(Request *request, const Error *error) {
    Error nobody;
    error_clear(&nobody);
    if (request->command->place == PLACE_WORLD) {
        find_world(request, &nobody);
    }
    refuse(request, error);
}

void request_prepare(Request *request) {
    const Command *command = request->command;
    Error error;
    error_clear(&error);
    const Status status = command->prepare == NULL ? STATUS_OK : command->prepare(request, &error);
    if (status != STATUS_OK) {
        refuse(request, &error);
    } else if (command->place != PLACE_OWN) {
        request_submit(request);
    }
}

void request_dispatch(Request *request, const Error *judged) {
    const Command *command = request->command;
    if (command->place == PLACE_LOOP) {
        request_work_here(request);
        return;
    }
    Error error;
    error_clear(&error);
    Status status = check_log(request, &error);
    if (status == STATUS_OK && command->place == PLACE_WORLD) {
        status = find_world(request, &error);
    }
    status = STATUS_THEN(status, check_growth(request, &error));
    status = STATUS_THEN(status, judge(request, judged, &error));
    status = STATUS_THEN(status, check_reply(request, &error));
    if (status != STATUS_OK) {
        refuse(request, &error);
    } else if (!(command->flags & COMMAND_GROUP && group_turn_hold(request))) {
        request_prepare(request);
    }
}
