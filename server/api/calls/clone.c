// SPDX-License-Identifier: MIT
// SnapshotClone: new worlds from a snapshot, or from a world as it is when its turn comes. Every
// clone is restored on its own strand, so some dozens are made in parallel, then the next ones, so
// that other worlds need not wait for all of them; either all are there in the end or none is.
#include "api/request.h"
#include "run/groups/snapshot_store.h"
#include "wire/wire.h"
#include "world/range.h"

#include <inttypes.h>
#include <stdio.h>

enum { CLONES_MAX = 65536, CLONES_AT_ONCE = 64 };

typedef struct ClonePlan ClonePlan;

typedef struct Clone {
    Job job;
    ClonePlan *plan;
    WorldEntry *world; // retained, until it is restored
    Arena memory;
} Clone;

struct ClonePlan {
    Request *request;
    StoredSnapshot *snapshot; // retained
    Job take_job;             // with a world as source
    Error error;              // of taking its snapshot, or of the first clone that failed
    atomic_flag has_failed;   // whoever sets it writes the error, on its lane
    uint64_t count, made, unfinished;
    uint64_t gone; // of those that are taken back
    uint64_t *id;  // [count] of those made
    Clone clone[CLONES_AT_ONCE];
};

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "count",
                     "Memory ended while making clones: ask for fewer.");
}

// ---- the end, on the loop thread

static void release_plan(Request *request) {
    const ClonePlan *plan = request->plan;
    snapshot_store_release(plan->snapshot);
}

static void take_back(ClonePlan *plan);

static void on_passed(Job *job) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    take_back(request->plan);
}

// Destroys the next clones, and goes on when others have had their turn of the loop. (Whoever
// guessed its id may have destroyed one already.)
static void take_back(ClonePlan *plan) {
    Request *request = plan->request;
    for (int i = 0; i < CLONES_AT_ONCE && plan->gone < plan->made; i++) {
        WorldEntry *world = request_find_world(request, plan->id[plan->gone++]);
        if (world != NULL) {
            host_destroy(world);
        }
    }
    if (plan->gone < plan->made) {
        request_take_turn(request, NULL, on_passed);
    } else {
        request_end(request, &plan->error);
    }
}

// There may be many: their ids are packed on a lane.
static JobOutcome answer_on_lane(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    const ClonePlan *plan = request->plan;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__SnapshotCloneReply message = MOREAU__V1__SNAPSHOT_CLONE_REPLY__INIT;
    message.worlds = plan->id;
    message.n_worlds = plan->made;
    reply.result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_CLONE;
    reply.snapshot_clone = &message;
    request_reply(request, lane, &reply, &plan->error);
    return JOB_DONE;
}

static void on_answered(Job *job) {
    request_finish((Request *)(void *)((char *)job - offsetof(Request, job)));
}

static void answer(ClonePlan *plan) {
    Request *request = plan->request;
    if (plan->error.status == STATUS_OK) {
        request_should_stop(request, &plan->error);
    }
    if (plan->error.status != STATUS_OK) {
        take_back(plan);
    } else {
        request_take_turn(request, answer_on_lane, on_answered);
    }
}

static void go_on(ClonePlan *plan);

// ---- each clone

// Each is judged when its turn comes, as those before it are counted by then.
static JobOutcome restore_on_lane(Job *job, Lane *lane) {
    (void)lane;
    Clone *clone = (Clone *)(void *)((char *)job - offsetof(Clone, job));
    ClonePlan *plan = clone->plan;
    Error error = {0};
    if (!request_should_stop(plan->request, &error) &&
        stored_snapshot_check_room(plan->snapshot, &error) == STATUS_OK) {
        Input input = stored_snapshot_input(plan->snapshot);
        door_change(&clone->world->door, &input, &clone->memory, NULL, NULL, &error);
        host_publish(clone->world);
    }
    if (error.status != STATUS_OK && !atomic_flag_test_and_set(&plan->has_failed)) {
        plan->error = error; // the others have no need of going on, but they are short
    }
    job->urgent = true; // the answer is the loop's
    return JOB_DONE;
}

static void on_restored(Job *job) {
    Clone *clone = (Clone *)(void *)((char *)job - offsetof(Clone, job));
    arena_deinit(&clone->memory);
    host_end_change(clone->world);
    host_release(clone->world);
    if (--clone->plan->unfinished == 0) {
        go_on(clone->plan);
    }
}

static void restore(ClonePlan *plan, uint64_t count) {
    const Request *request = plan->request;
    Api *api = request->api;
    plan->unfinished = count;
    for (uint64_t i = 0; i < count; i++) {
        Clone *clone = &plan->clone[i];
        arena_init(&clone->memory, api->def.memory_bytes_max);
        clone->job = (Job){.work = restore_on_lane, .done = on_restored};
        pool_submit(api->def.pool, &clone->world->strand, request_share(request), &clone->job);
    }
}

// ---- the snapshot of a world

static JobOutcome take_on_lane(Job *job, Lane *lane) {
    ClonePlan *plan = (ClonePlan *)(void *)((char *)job - offsetof(ClonePlan, take_job));
    if (!request_should_stop(plan->request, &plan->error)) {
        stored_snapshot_take(plan->snapshot, plan->request->world->door.world, &lane->scratch,
                             &plan->error);
    }
    job->urgent = true;
    return JOB_DONE;
}

static void on_taken(Job *job) {
    ClonePlan *plan = (ClonePlan *)(void *)((char *)job - offsetof(ClonePlan, take_job));
    go_on(plan);
}

// ---- asking

Status command_snapshot_clone_judge(Request *request, Error *error) {
    const Moreau__V1__SnapshotClone *message = request->message->snapshot_clone;
    if (message->has_snapshot == message->has_world) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "snapshot",
                         "Say what to clone: either a snapshot or a world.");
    }
    if (message->count < 1 || message->count > CLONES_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "count",
                         "Ask for 1 to %d clones, not %" PRIu64 ".", CLONES_MAX, message->count);
    }
    return message->has_idle_timeout_s ? range_check(RANGE_IDLE_TIMEOUT, message->idle_timeout_s,
                                                     "idle_timeout_s", -1, error)
                                       : STATUS_OK;
}

size_t command_snapshot_clone_bytes(const Request *request) {
    return WIRE_HEAD_BYTES_MAX + request->message->snapshot_clone->count * WIRE_VARINT_BYTES_MAX;
}

// Fills plan->snapshot, with a reference; for a world it is one that nobody else sees.
static Status find_source(Request *request, ClonePlan *plan, Error *error) {
    const Moreau__V1__SnapshotClone *message = request->message->snapshot_clone;
    SnapshotStore *store = request->api->def.snapshots;
    if (message->has_snapshot) {
        Status status = snapshot_store_find(store, message->snapshot, request_view(request), false,
                                            &plan->snapshot, error);
        if (status == STATUS_OK) {
            snapshot_store_retain(plan->snapshot);
        }
        return status;
    }
    WorldEntry *entry = request_find_world(request, message->world);
    if (entry == NULL) {
        return error_set(error, STATUS_NOT_FOUND, "world", "No world has the id %" PRIu64 ".",
                         message->world);
    }
    const WorldOwner owner = request_owner(request, MOREAU__V1__WORLD__LIFETIME__SESSION);
    Status status = snapshot_store_add(store, &owner, &plan->snapshot, error);
    if (status == STATUS_OK) {
        snapshot_store_drop(plan->snapshot);
        host_retain(entry);
        request->world = entry;
    }
    return status;
}

static Status add_clone(ClonePlan *plan, Clone *clone, const WorldOwner *owner, Error *error) {
    const Request *request = plan->request;
    const Moreau__V1__SnapshotClone *message = request->message->snapshot_clone;
    char numbered[HOST_NAME_BYTES];
    const char *name = message->name;
    if (name != NULL && name[0] != '\0' && plan->count > 1) {
        snprintf(numbered, sizeof(numbered), "%.200s-%" PRIu64, name, plan->made + 1);
        name = numbered;
    }
    clone->plan = plan;
    Status status =
        host_add(request->api->def.host, name, owner,
                 message->has_idle_timeout_s ? message->idle_timeout_s : 0.0, &clone->world, error);
    if (status == STATUS_OK) {
        plan->id[plan->made++] = clone->world->id;
    }
    return status;
}

// They are not restored, as the next one could not be added.
static void give_up(ClonePlan *plan, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        host_end_change(plan->clone[i].world);
        host_release(plan->clone[i].world);
    }
}

// The next clones, or the answer when there are none left or something went wrong.
static void go_on(ClonePlan *plan) {
    uint64_t count = 0;
    WorldOwner owner =
        request_owner(plan->request, plan->request->message->snapshot_clone->lifetime);
    while (plan->error.status == STATUS_OK && plan->made < plan->count && count < CLONES_AT_ONCE) {
        plan->error.status = add_clone(plan, &plan->clone[count], &owner, &plan->error);
        count += plan->error.status == STATUS_OK;
    }
    if (plan->error.status != STATUS_OK) {
        give_up(plan, count);
        answer(plan);
    } else if (count == 0) {
        answer(plan);
    } else {
        restore(plan, count);
    }
}

Status command_snapshot_clone_prepare(Request *request, Error *error) {
    const Moreau__V1__SnapshotClone *message = request->message->snapshot_clone;
    ClonePlan *plan = arena_take_zeroed(&request->arena, 1, sizeof(*plan));
    if (plan == NULL) {
        return out_of_memory(error);
    }
    plan->request = request;
    plan->count = message->count;
    plan->id = arena_take_array(&request->arena, plan->count, sizeof(uint64_t));
    if (plan->id == NULL) {
        return out_of_memory(error);
    }
    Status status = find_source(request, plan, error);
    if (status != STATUS_OK) {
        return status;
    }
    request->plan = plan;
    request->finish = release_plan;
    WorldOwner owner = request_owner(request, message->lifetime);
    status = host_check_room(request->api->def.host, &owner, (uint32_t)plan->count, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (message->has_world) {
        plan->take_job = (Job){.work = take_on_lane, .done = on_taken};
        pool_submit(request->api->def.pool, &request->world->strand, request_share(request),
                    &plan->take_job);
    } else {
        go_on(plan);
    }
    return STATUS_OK;
}
