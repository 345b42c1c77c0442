// SPDX-License-Identifier: MIT
// The family snapshot: Take, Read, Upload, Restore, Drop. (Clone: command_clone.c.)
#include "api/request.h"
#include "run/snapshot_store.h"
#include "step/snapshot.h"

#include <inttypes.h>
#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while carrying out the request.");
}

static SnapshotStore *store_of(const Request *request) {
    return host_snapshots(request->api->def.host);
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
    Status status =
        snapshot_store_add(store_of(request), request->session->number, &plan->snapshot, error);
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
    Status status =
        snapshot_store_find(store_of(request), message->snapshot, false, &snapshot, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (message->has_first && message->first > snapshot->total_bytes) {
        return error_set(error, STATUS_OUT_OF_RANGE, "first",
                         "The snapshot has %zu bytes; the part begins at %" PRIu64 ".",
                         snapshot->total_bytes, message->first);
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
    size_t first = message->has_first ? message->first : 0;
    size_t count = snapshot->total_bytes - first;
    size_t fitting = request->api->def.frame_bytes_max - READ_REPLY_BYTES;
    if (message->has_count && message->count < count) {
        count = message->count;
    }
    m->has_data = m->has_total = 1;
    m->data.data = snapshot->bytes + first;
    m->data.len = count < fitting ? count : fitting;
    m->total = snapshot->total_bytes;
    reply->result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_READ;
    reply->snapshot_read = m;
    return STATUS_OK;
}

// ---- upload

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

static Status begin_upload(Request *request, const Moreau__V1__SnapshotUpload *message,
                           StoredSnapshot **snapshot, Error *error) {
    size_t budget = request->api->def.memory_bytes_max;
    if (!message->has_total || message->total < 1 || message->total > budget) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "total",
                         "The first part says how many bytes the snapshot has: 1 to %zu (option "
                         "--memory-bytes-max).",
                         budget);
    }
    Status status =
        snapshot_store_add(store_of(request), request->session->number, snapshot, error);
    if (status == STATUS_OK) {
        (*snapshot)->is_upload = true;
        (*snapshot)->total_bytes = message->total;
        hash_init(&(*snapshot)->checksum, 0);
        snapshot_store_release(*snapshot); // the registry keeps it
    }
    return status;
}

// The next part is there. It is gone over as it comes: all of a long snapshot at its end would keep
// the loop from its other clients.
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

// The last part is there. Whether it came whole is judged now, the content when it is restored.
static Status complete(StoredSnapshot *snapshot, Error *error) {
    Status status = snapshot_check(snapshot->bytes, snapshot->received_bytes,
                                   hash_value(&snapshot->checksum), error);
    if (status == STATUS_OK) {
        stored_snapshot_seal(snapshot);
    } else {
        snapshot_store_drop(snapshot);
    }
    return status;
}

Status command_snapshot_upload(Request *request, Lane *lane, Moreau__V1__Reply *reply,
                               Error *error) {
    (void)lane;
    const Moreau__V1__SnapshotUpload *message = request->message->snapshot_upload;
    Moreau__V1__SnapshotUploadReply *m = arena_take(&request->arena, sizeof(*m));
    if (m == NULL) {
        return out_of_memory(error);
    }
    moreau__v1__snapshot_upload_reply__init(m);
    StoredSnapshot *snapshot = NULL;
    bool is_new = !message->has_snapshot;
    Status status =
        is_new ? begin_upload(request, message, &snapshot, error)
               : snapshot_store_find(store_of(request), message->snapshot, true, &snapshot, error);
    if (status != STATUS_OK || snapshot == NULL) {
        return status;
    }
    if (!snapshot->is_upload || atomic_load_explicit(&snapshot->filled, memory_order_acquire)) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "snapshot",
                         "Snapshot %" PRIu64 " is no unfinished upload.", message->snapshot);
    }
    m->snapshot = snapshot->id;
    status = add_part(message, snapshot, error);
    if (status != STATUS_OK) {
        if (is_new) {
            snapshot_store_drop(snapshot);
        }
        return status;
    }
    m->has_snapshot = m->has_received = m->has_complete = 1;
    m->received = snapshot->received_bytes;
    m->complete = snapshot->received_bytes == snapshot->total_bytes;
    status = m->complete ? complete(snapshot, error) : STATUS_OK;
    if (status == STATUS_OK) {
        reply->result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_UPLOAD;
        reply->snapshot_upload = m;
    }
    return status;
}

// ---- restore, drop

Status command_snapshot_restore_prepare(Request *request, Error *error) {
    StoredSnapshot *snapshot;
    Status status = snapshot_store_find(
        store_of(request), request->message->snapshot_restore->snapshot, false, &snapshot, error);
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
    Status status = snapshot_store_find(
        store_of(request), request->message->snapshot_drop->snapshot, true, &snapshot, error);
    if (status != STATUS_OK) {
        return status;
    }
    snapshot_store_drop(snapshot);
    moreau__v1__snapshot_drop_reply__init(m);
    reply->result_case = MOREAU__V1__REPLY__RESULT_SNAPSHOT_DROP;
    reply->snapshot_drop = m;
    return STATUS_OK;
}
