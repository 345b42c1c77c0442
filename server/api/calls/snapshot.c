// SPDX-License-Identifier: MIT
// The family snapshot: Take, Read, Upload, Restore, Drop. (Clone: clone.c.)
#include "api/request.h"
#include "api/span.h"
#include "run/groups/snapshot_store.h"
#include "step/snapshot/snapshot.h"

#include <inttypes.h>
#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while carrying out the request.");
}

static SnapshotStore *store_of(const Request *request) {
    return request->api->def.snapshots;
}

// The snapshot that a request works on; released when it is over.
static void release_snapshot(Request *request) {
    snapshot_store_release(request->plan);
}

static void keep_snapshot(Request *request, StoredSnapshot *snapshot) {
    request->plan = snapshot;
    request->finish = release_snapshot;
}

// ---- take

typedef struct TakePlan {
    StoredSnapshot *snapshot;
    Id id; // the snapshot's own is the loop's
} TakePlan;

// The loop's, when the lane is done: a snapshot that was not taken is none.
static void finish_take(Request *request) {
    StoredSnapshot *snapshot = ((TakePlan *)request->plan)->snapshot;
    if (!atomic_load_explicit(&snapshot->filled, memory_order_acquire)) {
        snapshot_store_drop(snapshot);
    }
    snapshot_store_release(snapshot);
}

Status command_snapshot_take_prepare(Request *request, Error *error) {
    TakePlan *plan = arena_take(&request->arena, sizeof(*plan));
    if (plan == NULL) {
        return out_of_memory(error);
    }
    const WorldOwner owner = request_owner(request, MOREAU__V1__WORLD__LIFETIME__SESSION);
    Status status = snapshot_store_add(store_of(request), &owner, &plan->snapshot, error);
    if (status == STATUS_OK) {
        plan->id = plan->snapshot->id;
        request->plan = plan;
        request->finish = finish_take;
    }
    return status;
}

Status command_snapshot_take(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    const TakePlan *plan = request->plan;
    StoredSnapshot *snapshot = plan->snapshot;
    World *world = request->world->door.world;
    Moreau__V1__SnapshotTakeReply *m = arena_take(&request->arena, sizeof(*m));
    if (m == NULL) {
        return out_of_memory(error);
    }
    moreau__v1__snapshot_take_reply__init(m);
    Status status = stored_snapshot_take(snapshot, world, &lane->scratch, error);
    if (status != STATUS_OK) {
        return status;
    }
    m->has_snapshot = m->has_bytes = m->has_hash = m->has_step = 1;
    m->snapshot = plan->id;
    m->bytes = snapshot->total_bytes;
    m->hash = snapshot_hash(world);
    m->step = world->step;
    reply->result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_TAKE;
    reply->snapshot_take = m;
    return STATUS_OK;
}

// ---- read

// What a reply holds beside the bytes.
enum { READ_REPLY_BYTES = 128 };

Status command_snapshot_read_prepare(Request *request, Error *error) {
    const Moreau__V1__SnapshotRead *message = request->message->snapshot_read;
    StoredSnapshot *snapshot;
    Status status = snapshot_store_find(store_of(request), message->snapshot, request_view(request),
                                        false, &snapshot, error);
    if (status != STATUS_OK) {
        return status;
    }
    snapshot_store_retain(snapshot);
    keep_snapshot(request, snapshot);
    return STATUS_OK;
}

Status command_snapshot_read(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    const Moreau__V1__SnapshotRead *message = request->message->snapshot_read;
    StoredSnapshot *snapshot = request->plan;
    Moreau__V1__SnapshotReadReply *m = arena_take(&request->arena, sizeof(*m));
    if (m == NULL) {
        return out_of_memory(error);
    }
    moreau__v1__snapshot_read_reply__init(m);
    Span span = span_of(message->first, message->has_count, message->count, snapshot->total_bytes);
    size_t fitting = request->api->def.frame_bytes_max - READ_REPLY_BYTES;
    m->has_data = m->has_total = 1;
    m->data.data = snapshot->bytes + span.first;
    m->data.len = span.count < fitting ? span.count : fitting;
    m->total = snapshot->total_bytes;
    reply->result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_READ;
    reply->snapshot_read = m;
    return STATUS_OK;
}

// ---- upload

// The registry is the loop's; the bytes are copied on a lane, part by part in the order sent: the
// snapshot's own strand.
typedef struct UploadPlan {
    StoredSnapshot *snapshot;
    Id id;
    bool is_new;
    size_t received;
    bool is_damaged; // complete, and no snapshot
    Error error;
} UploadPlan;

static Status check_part(const Moreau__V1__SnapshotUpload *message, const StoredSnapshot *snapshot,
                         Error *error) {
    uint64_t first = message->has_first ? message->first : 0;
    if (message->data.len == 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "data", "The part is empty.");
    }
    if (first != snapshot->received_bytes) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "first",
                         "%zu bytes were uploaded before, so the next part begins there, not at "
                         "%" PRIu64 ".",
                         snapshot->received_bytes, first);
    }
    size_t rest = snapshot->total_bytes - snapshot->received_bytes;
    if (message->data.len > rest) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "data",
                         "The part has %zu bytes, but only %zu of the %zu announced are missing.",
                         message->data.len, rest, snapshot->total_bytes);
    }
    return STATUS_OK;
}

// The next part is there, and is gone over while it is in the cache.
static void add_to_checksum(StoredSnapshot *snapshot, size_t count) {
    size_t total = snapshot->total_bytes, first = snapshot->received_bytes;
    size_t covered = total > SNAPSHOT_CHECKSUM_BYTES ? total - SNAPSHOT_CHECKSUM_BYTES : 0;
    if (first < covered) {
        size_t rest = covered - first;
        hash_add(&snapshot->checksum, snapshot->bytes + first, count < rest ? count : rest);
    }
}

static Status add_part(const Moreau__V1__SnapshotUpload *message, StoredSnapshot *snapshot,
                       Error *error) {
    if (atomic_load_explicit(&snapshot->filled, memory_order_acquire)) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "snapshot",
                         "Snapshot %" PRIu64 " is no unfinished upload.", message->snapshot);
    }
    Status status = check_part(message, snapshot, error);
    size_t wanted = snapshot->received_bytes + message->data.len;
    if (status == STATUS_OK && wanted > snapshot->capacity) {
        // doubled, so that many small parts are not moved again and again
        size_t room = 2 * wanted < snapshot->total_bytes ? 2 * wanted : snapshot->total_bytes;
        status = stored_snapshot_reserve(snapshot, room, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    memcpy(snapshot->bytes + snapshot->received_bytes, message->data.data, message->data.len);
    add_to_checksum(snapshot, message->data.len);
    snapshot->received_bytes = wanted;
    return STATUS_OK;
}

static JobOutcome upload_on_lane(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    UploadPlan *plan = request->plan;
    StoredSnapshot *snapshot = plan->snapshot;
    if (request_wants_long(request, lane)) {
        return JOB_LONG;
    }
    Status status = add_part(request->message->snapshot_upload, snapshot, &plan->error);
    plan->received = snapshot->received_bytes;
    if (status == STATUS_OK && plan->received == snapshot->total_bytes) {
        // whether it came whole is judged now, the content when it is restored
        status = stored_snapshot_check(snapshot, hash_value(&snapshot->checksum), &plan->error);
        plan->is_damaged = status != STATUS_OK;
        if (status == STATUS_OK) {
            stored_snapshot_seal(snapshot);
        }
    }
    plan->error.status = status;
    job->urgent = true; // the answer is the loop's
    return JOB_DONE;
}

// What is refused is gone before its client hears of it.
static void on_uploaded(Job *job) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    const UploadPlan *plan = request->plan;
    if (plan->error.status != STATUS_OK) {
        if (plan->is_new || plan->is_damaged) {
            snapshot_store_drop(plan->snapshot);
        }
        request_end(request, &plan->error);
        return;
    }
    Moreau__V1__SnapshotUploadReply message = MOREAU__V1__SNAPSHOT_UPLOAD_REPLY__INIT;
    message.has_snapshot = message.has_received = message.has_complete = 1;
    message.snapshot = plan->id;
    message.received = plan->received;
    message.complete = plan->received == plan->snapshot->total_bytes;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_UPLOAD;
    reply.snapshot_upload = &message;
    request_reply(request, NULL, &reply, &plan->error);
    request_finish(request);
}

static void release_upload(Request *request) {
    snapshot_store_release(((UploadPlan *)request->plan)->snapshot);
}

// Fills plan->snapshot, with a reference.
static Status begin_upload(Request *request, UploadPlan *plan, Error *error) {
    const Moreau__V1__SnapshotUpload *message = request->message->snapshot_upload;
    size_t budget = request->api->def.memory_bytes_max;
    if (!message->has_total || message->total < 1 || message->total > budget) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "total",
                         "The first part says how many bytes the snapshot has: 1 to %zu (option "
                         "--memory-bytes-max).",
                         budget);
    }
    const WorldOwner owner = request_owner(request, MOREAU__V1__WORLD__LIFETIME__SESSION);
    Status status = snapshot_store_add(store_of(request), &owner, &plan->snapshot, error);
    if (status == STATUS_OK) {
        plan->is_new = true;
        plan->snapshot->is_upload = true;
        plan->snapshot->total_bytes = message->total;
        hash_init(&plan->snapshot->checksum, 0);
    }
    return status;
}

static Status find_upload(Request *request, UploadPlan *plan, Error *error) {
    uint64_t id = request->message->snapshot_upload->snapshot;
    StoredSnapshot *snapshot;
    Status status =
        snapshot_store_find(store_of(request), id, request_view(request), true, &snapshot, error);
    if (status == STATUS_OK && !snapshot->is_upload) {
        status = error_set(error, STATUS_FAILED_PRECONDITION, "snapshot",
                           "Snapshot %" PRIu64 " is no unfinished upload.", id);
    }
    if (status == STATUS_OK) {
        snapshot_store_retain(snapshot);
        plan->snapshot = snapshot;
    }
    return status;
}

Status command_snapshot_upload_prepare(Request *request, Error *error) {
    UploadPlan *plan = arena_take_zeroed(&request->arena, 1, sizeof(*plan));
    if (plan == NULL) {
        return out_of_memory(error);
    }
    Status status = request->message->snapshot_upload->has_snapshot
                        ? find_upload(request, plan, error)
                        : begin_upload(request, plan, error);
    if (status != STATUS_OK) {
        return status;
    }
    plan->id = plan->snapshot->id;
    request->plan = plan;
    request->finish = release_upload;
    request->job = (Job){.work = upload_on_lane, .done = on_uploaded};
    pool_submit(request->api->def.pool, &plan->snapshot->strand, request_share(request),
                &request->job);
    return STATUS_OK;
}

// ---- restore, drop

Status command_snapshot_restore_prepare(Request *request, Error *error) {
    StoredSnapshot *snapshot;
    Status status =
        snapshot_store_find(store_of(request), request->message->snapshot_restore->snapshot,
                            request_view(request), false, &snapshot, error);
    if (status == STATUS_OK) {
        snapshot_store_retain(snapshot);
        keep_snapshot(request, snapshot);
    }
    return status;
}

Status command_snapshot_restore(Request *request, Lane *lane, Moreau__V1__Reply *reply,
                                Error *error) {
    (void)lane;
    Door *door = &request->world->door;
    Moreau__V1__SnapshotRestoreReply *m = arena_take(&request->arena, sizeof(*m));
    if (m == NULL) {
        return out_of_memory(error);
    }
    moreau__v1__snapshot_restore_reply__init(m);
    Status status = stored_snapshot_check_room(request->plan, error);
    if (status == STATUS_OK) {
        Input input = stored_snapshot_input(request->plan);
        status = door_change(door, &input, &request->arena, NULL, NULL, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    m->has_hash = m->has_step = 1;
    m->hash = snapshot_hash(door->world);
    m->step = door->world->step;
    reply->result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_RESTORE;
    reply->snapshot_restore = m;
    return STATUS_OK;
}

Status command_snapshot_drop(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    StoredSnapshot *snapshot;
    Moreau__V1__SnapshotDropReply *m = arena_take(&request->arena, sizeof(*m));
    if (m == NULL) {
        return out_of_memory(error);
    }
    Status status =
        snapshot_store_find(store_of(request), request->message->snapshot_drop->snapshot,
                            request_view(request), true, &snapshot, error);
    if (status != STATUS_OK) {
        return status;
    }
    snapshot_store_drop(snapshot);
    moreau__v1__snapshot_drop_reply__init(m);
    reply->result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_DROP;
    reply->snapshot_drop = m;
    return STATUS_OK;
}
