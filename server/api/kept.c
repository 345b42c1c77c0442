// SPDX-License-Identifier: MIT
#include "api/kept.h"

#include "api/session.h"
#include "base/array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Of the memory budget, kept replies of all sessions take at most one part in so many.
enum { KEPT_MEMORY_SHARE = 8 };

// What a record that is used again keeps of its memory: steady calls then allocate nothing.
enum { SPARE_BYTES_MAX = 65536 };

// ---- lists

static void push(KeptList *list, Kept *kept) {
    kept->next = NULL;
    kept->previous = list->last;
    *(list->last == NULL ? &list->first : &list->last->next) = kept;
    list->last = kept;
    list->count++;
}

static void unlink_kept(KeptList *list, Kept *kept) {
    *(kept->previous == NULL ? &list->first : &kept->previous->next) = kept->next;
    *(kept->next == NULL ? &list->last : &kept->next->previous) = kept->previous;
    list->count--;
}

static Kept *find_in(const KeptList *list, uint64_t id) {
    Kept *kept = list->first;
    while (kept != NULL && kept->id != id) {
        kept = kept->next;
    }
    return kept;
}

static Kept *find(const Session *session, uint64_t id) {
    Kept *kept = find_in(&session->kept_done, id);
    return kept != NULL ? kept : find_in(&session->kept_under_way, id);
}

static void free_bytes(Kept *kept) {
    free(kept->bytes);
    kept->bytes = NULL;
    kept->count = kept->capacity = 0;
}

static void free_list(KeptList *list) {
    for (Kept *kept = list->first, *next; kept != NULL; kept = next) {
        next = kept->next;
        free_bytes(kept);
        free(kept);
    }
    *list = (KeptList){0};
}

// ---- memory

static uint32_t window_of(const Session *session) {
    return 2 * session->api->def.requests_max;
}

static void drop_bytes(Session *session, Kept *kept) {
    session->kept_bytes -= kept->capacity;
    session->api->kept_bytes -= kept->capacity;
    free_bytes(kept);
}

// Takes a record that is done out of what is remembered.
static void drop(Session *session, Kept *kept) {
    unlink_kept(&session->kept_done, kept);
    session->kept_bytes -= kept->capacity;
    session->api->kept_bytes -= kept->capacity;
    if (kept->capacity > SPARE_BYTES_MAX) {
        free_bytes(kept);
    }
    push(&session->kept_spare, kept);
}

static bool is_over_limits(const Session *session) {
    const ApiDef *def = &session->api->def;
    return session->kept_bytes > def->kept_bytes_max ||
           session->api->kept_bytes > def->memory_bytes_max / KEPT_MEMORY_SHARE;
}

// What can be read again goes before what must not be done again, the oldest first.
static void keep_limits(Session *session) {
    uint32_t count_max = session->is_resumable ? window_of(session) : 0;
    while (session->kept_done.first != NULL && session->kept_done.count > count_max) {
        drop(session, session->kept_done.first);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (Kept *kept = session->kept_done.first; kept != NULL && is_over_limits(session);
             kept = kept->next) {
            if (kept->changes == (pass == 1)) {
                drop_bytes(session, kept);
            }
        }
    }
}

// ---- receipt

static bool changes(const Request *request) {
    return (request->command->flags & (COMMAND_MUTATES | COMMAND_CHANGES)) != 0;
}

static Status remember(Session *session, Request *request, uint64_t content, Error *error) {
    if (!changes(request) && !(request->command->flags & COMMAND_ORDERED)) {
        return STATUS_OK;
    }
    if (session->kept_under_way.count >= window_of(session)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "%" PRIu32 " requests of this session are under way, of this and earlier "
                         "connections (option --requests-max): wait for replies.",
                         session->kept_under_way.count);
    }
    Kept *kept = session->kept_spare.first;
    if (kept != NULL) {
        unlink_kept(&session->kept_spare, kept);
    } else {
        kept = calloc(1, sizeof(*kept));
        if (kept == NULL) {
            return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                             "Memory ended while taking up a request.");
        }
    }
    *kept = (Kept){.id = request->id,
                   .content = content,
                   .changes = changes(request),
                   .state = KEPT_UNDER_WAY,
                   .bytes = kept->bytes,
                   .capacity = kept->capacity,
                   .request = request};
    push(&session->kept_under_way, kept);
    request->kept = kept;
    return STATUS_OK;
}

static Status refuse_lost(uint64_t id, Error *error) {
    return error_set(error, STATUS_DATA_LOSS, "id",
                     "Request %" PRIu64 " was received before, and its reply is no longer kept "
                     "(options --requests-max and --kept-bytes-max): read the state to see what "
                     "it has done.",
                     id);
}

// A request of an earlier connection comes again.
static Status admit_repeat(Session *session, Request *request, uint64_t content, Error *error) {
    uint64_t id = request->id;
    Kept *kept = find(session, id);
    if (kept == NULL) {
        return changes(request) ? refuse_lost(id, error)
                                : remember(session, request, content, error);
    }
    if (kept->content != content) {
        return error_set(error, STATUS_ALREADY_EXISTS, "id",
                         "Request %" PRIu64 " of this session was another one: repeat it as it "
                         "was, and give a new one an id above %" PRIu64 ".",
                         id, session->id_highest);
    }
    int state = atomic_load_explicit(&kept->state, memory_order_acquire);
    if (state == KEPT_AWAITED) {
        return error_set(error, STATUS_ALREADY_EXISTS, "id",
                         "Request %" PRIu64 " was repeated already and is still under way.", id);
    }
    if (state == KEPT_REPLIED && kept->count == 0) {
        if (kept->changes) {
            return refuse_lost(id, error);
        }
        kept->id = 0;
        return remember(session, request, content, error);
    }
    request->repeats = kept;
    return STATUS_OK;
}

Status kept_admit(Session *session, Request *request, uint64_t content, Error *error) {
    uint64_t id = request->id;
    if (id <= session->repeat_max) {
        return admit_repeat(session, request, content, error);
    }
    if (id <= session->id_highest) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "id",
                         "The ids of a resumable session rise: after %" PRIu64 " comes a higher "
                         "one, not %" PRIu64 ".",
                         session->id_highest, id);
    }
    Status status = remember(session, request, content, error);
    if (status == STATUS_OK) {
        session->id_highest = id;
    }
    return status;
}

// ---- replies

void kept_answer(Request *request) {
    Kept *kept = request->repeats;
    int state = KEPT_UNDER_WAY;
    if (atomic_load_explicit(&kept->state, memory_order_acquire) == KEPT_UNDER_WAY) {
        kept->repeat = request;
        if (atomic_compare_exchange_strong(&kept->state, &state, KEPT_AWAITED)) {
            return;
        }
        kept->repeat = NULL;
    }
    if (kept->count == 0) { // made meanwhile, and too long
        Error error;
        refuse_lost(kept->id, &error);
        request_end(request, &error);
        return;
    }
    request->peer.calls->send(request->peer.handle, kept->bytes, kept->count);
    request->peer.calls->request_end(request->peer.handle, 1);
    request_finish(request);
}

void kept_store(Request *request, const uint8_t *frame, size_t frame_bytes) {
    Kept *kept = request->kept;
    if (kept == NULL) {
        return;
    }
    if (frame_bytes <= request->api->def.kept_bytes_max &&
        array_reserve((void **)&kept->bytes, &kept->capacity, frame_bytes, 1)) {
        memcpy(kept->bytes, frame, frame_bytes);
        kept->count = frame_bytes;
    }
    if (atomic_exchange(&kept->state, KEPT_REPLIED) == KEPT_AWAITED) {
        Peer peer = kept->repeat->peer;
        peer.calls->send(peer.handle, frame, frame_bytes);
        peer.calls->request_end(peer.handle, 1);
    }
}

// The repeated request ends with its first self, which has answered it if there was a reply.
static void end_repeat(Kept *kept, const Request *request) {
    Request *repeat = kept->repeat;
    bool is_answered = atomic_exchange(&kept->state, KEPT_REPLIED) == KEPT_REPLIED;
    if (repeat != NULL && is_answered) {
        repeat->status = request->status;
        request_finish(repeat);
    } else if (repeat != NULL) {
        Error error;
        refuse_lost(kept->id, &error);
        request_end(repeat, &error);
    }
}

void kept_settle(Request *request) {
    Session *session = request->session;
    if (request->repeats != NULL && request->repeats->repeat == request) {
        request->repeats->repeat = NULL;
    }
    Kept *kept = request->kept;
    if (kept == NULL) {
        return;
    }
    end_repeat(kept, request);
    kept->request = NULL;
    unlink_kept(&session->kept_under_way, kept);
    push(&session->kept_done, kept);
    session->kept_bytes += kept->capacity;
    session->api->kept_bytes += kept->capacity;
    keep_limits(session);
}

// ---- connections

static void stop_repeats(Session *session) {
    for (Kept *kept = session->kept_under_way.first; kept != NULL; kept = kept->next) {
        int state = KEPT_AWAITED; // else it is answered, and ends with its first self
        if (atomic_compare_exchange_strong(&kept->state, &state, KEPT_UNDER_WAY)) {
            Error gone;
            error_set(&gone, STATUS_CANCELLED, "", "The connection was lost.");
            request_end(kept->repeat, &gone);
        }
    }
}

void kept_lose_peer(Session *session) {
    stop_repeats(session);
    for (Request *request = session->first_request; request != NULL; request = request->next) {
        if (request->kept == NULL || session->api->is_draining) {
            request_cancel(request);
        }
    }
}

void kept_resume(Session *session, bool resumable) {
    session->is_resumable = resumable;
    session->repeat_max = session->id_highest;
    if (!resumable) {
        session_stop_requests(session);
        keep_limits(session);
    }
}

void kept_forget(Session *session) {
    session->api->kept_bytes -= session->kept_bytes;
    free_list(&session->kept_done);
    free_list(&session->kept_spare);
}
