// SPDX-License-Identifier: MIT
#include "api/group_turn.h"

typedef struct GroupHeld GroupHeld;

struct GroupHeld {
    Request *request;
    GroupEntry *entry; // retained
    bool is_stopped;
    GroupHeld *next;
};

static bool is_telling(const GroupEntry *entry) {
    return atomic_load(&entry->telling_count) > 0;
}

// Whether worlds that it may name are away and will come.
static bool must_wait(const GroupEntry *entry, const Request *request) {
    return request->command->flags & COMMAND_ROWS && (entry->receiver != NULL || is_telling(entry));
}

// ---- one that is cancelled

static JobOutcome answer_stopped(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    Moreau__V1__Reply empty = MOREAU__V1__REPLY__INIT;
    Error error;
    error_set(&error, STATUS_CANCELLED, "",
              "The request was cancelled while it waited for those before it; nothing was done.");
    request_reply(request, lane, &empty, &error);
    job->urgent = true; // `done` writes its line
    return JOB_DONE;
}

static void on_answered(Job *job) {
    request_finish((Request *)(void *)((char *)job - offsetof(Request, job)));
}

static void release_held(Request *request) {
    const GroupHeld *held = request->plan;
    farm_release(held->entry);
}

static void stop_held(Request *request) {
    GroupHeld *held = request->plan;
    if (held->is_stopped) {
        return;
    }
    GroupHeld **link = &held->entry->held;
    while (*link != held) {
        link = &(*link)->next;
    }
    *link = held->next;
    held->is_stopped = true;
    strand_init(&request->strand);
    request->job = (Job){.work = answer_stopped, .done = on_answered};
    pool_submit(request->api->def.pool, &request->strand, request_share(request), &request->job);
}

// ---- the queue

static void hold(Request *request, GroupEntry *entry) {
    GroupHeld *held = arena_take(&request->arena, sizeof(*held));
    if (held == NULL) {
        Error error;
        error_set(&error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended.");
        request_end(request, &error);
        return;
    }
    *held = (GroupHeld){.request = request, .entry = entry};
    farm_retain(entry);
    request->plan = held;
    request->finish = release_held;
    request->stopped = stop_held;
    GroupHeld **link = &entry->held;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = held;
}

// A lane either sees that somebody waits, or is seen to have written its rows.
bool group_turn_hold(Request *request) {
    const uint64_t id = *(const uint64_t *)(const void *)((const char *)request_call(request) +
                                                          request->command->world_offset);
    GroupEntry *entry = farm_find(request->api->def.farm, id, request_view(request));
    if (entry == NULL || (entry->held == NULL && entry->receiver == NULL && !is_telling(entry))) {
        return false;
    }
    atomic_store(&entry->has_held, true);
    const bool waits = entry->held != NULL || must_wait(entry, request);
    if (waits) {
        hold(request, entry);
    }
    atomic_store(&entry->has_held, entry->held != NULL);
    return waits;
}

void group_turn_tell(GroupEntry *entry) {
    atomic_fetch_add(&entry->telling_count, 1);
}

bool group_turn_told(GroupEntry *entry) {
    atomic_fetch_sub(&entry->telling_count, 1);
    return atomic_load(&entry->has_held);
}

void group_turn_go_on(GroupEntry *entry) {
    farm_retain(entry);
    while (entry->held != NULL && !must_wait(entry, entry->held->request)) {
        const GroupHeld *held = entry->held;
        Request *request = held->request;
        entry->held = held->next;
        request->plan = NULL;
        request->finish = NULL;
        request->stopped = NULL;
        request_prepare(request);
        farm_release(entry);
    }
    atomic_store(&entry->has_held, entry->held != NULL);
    farm_release(entry);
}
