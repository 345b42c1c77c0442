// SPDX-License-Identifier: MIT
#include "run/groups/snapshot_store.h"

#include "base/array.h"
#include "base/assert.h"
#include "run/groups/save.h"
#include "step/snapshot/snapshot.h"

#include <stdlib.h>
#include <string.h>

struct SnapshotStore {
    Host *host;
    Slots slots;
    StoredSnapshot **snapshot; // owned through their references; index is the slot's
    size_t capacity;
    uint32_t count;
};

// Ids of snapshots that are gone find nothing for a good while.
enum { FRESH_IDS = 65536 };

// What one takes beside its bytes: itself, its places in the registry, what the allocator adds.
enum { ENTRY_BYTES = sizeof(StoredSnapshot) + 64 };

// A body of a snapshot takes up to so many times its bytes in a world, whose arrays grow by
// doubling.
enum { WORLD_MULTIPLE = 2 };

SnapshotStore *snapshot_store_create(Host *host) {
    SnapshotStore *store = calloc(1, sizeof(*store));
    if (store != NULL) {
        store->host = host;
        slots_init(&store->slots);
        store->slots.reuse_from = FRESH_IDS;
    }
    return store;
}

void snapshot_store_destroy(SnapshotStore *store) {
    if (store == NULL) {
        return;
    }
    while (store->count > 0) {
        snapshot_store_drop(store->snapshot[store->count - 1]);
    }
    slots_deinit(&store->slots);
    free(store->snapshot);
    free(store);
}

Status snapshot_store_add(SnapshotStore *store, const WorldOwner *owner, StoredSnapshot **snapshot,
                          Error *error) {
    Status status = host_check_charge(store->host, owner->use, ENTRY_BYTES, error);
    if (status != STATUS_OK) {
        return status;
    }
    StoredSnapshot *made = calloc(1, sizeof(*made));
    if (made == NULL || !slots_reserve(&store->slots, 1) ||
        !ARRAY_RESERVE(store->snapshot, store->capacity, (size_t)store->count + 1)) {
        free(made);
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while making a snapshot.");
    }
    host_charge_bytes(store->host, owner->use, 0, ENTRY_BYTES);
    made->store = store;
    made->session = owner->session;
    made->space = owner->space;
    made->use = owner->use;
    strand_init(&made->strand);
    made->references = 2; // the registry's and the caller's
    made->id = slots_add(&store->slots, store->count);
    store->snapshot[store->count++] = made;
    *snapshot = made;
    ASSERT(made->id != 0);
    return STATUS_OK;
}

Status snapshot_store_find(SnapshotStore *store, Id id, uint32_t view, bool unfilled,
                           StoredSnapshot **snapshot, Error *error) {
    ASSERT(snapshot != NULL);
    uint32_t index;
    if (!slots_find(&store->slots, id, &index) ||
        !space_is_seen(store->snapshot[index]->space, view)) {
        return error_set(error, STATUS_NOT_FOUND, "snapshot",
                         "No snapshot has the id %llu: it was dropped, or its session has ended.",
                         (unsigned long long)id);
    }
    StoredSnapshot *found = store->snapshot[index];
    if (!unfilled && !atomic_load_explicit(&found->filled, memory_order_acquire)) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "snapshot",
                         "Snapshot %llu is not complete yet: upload the rest of its bytes.",
                         (unsigned long long)id);
    }
    *snapshot = found;
    ASSERT(found->id == id);
    return STATUS_OK;
}

void snapshot_store_retain(StoredSnapshot *snapshot) {
    ASSERT(snapshot->references > 0);
    snapshot->references++;
}

void snapshot_store_release(StoredSnapshot *snapshot) {
    ASSERT(snapshot->references > 0);
    if (--snapshot->references == 0) {
        host_charge_bytes(snapshot->store->host, snapshot->use, snapshot->capacity + ENTRY_BYTES,
                          0);
        free(snapshot->bytes);
        free(snapshot);
    }
}

void snapshot_store_drop(StoredSnapshot *snapshot) {
    ASSERT(snapshot->references > 0);
    SnapshotStore *store = snapshot->store;
    uint32_t index;
    if (snapshot->id == 0 || !slots_find(&store->slots, snapshot->id, &index)) {
        return; // dropped already
    }
    slots_remove(&store->slots, snapshot->id);
    snapshot->id = 0;
    store->count--;
    if (index != store->count) {
        store->snapshot[index] = store->snapshot[store->count];
        slots_move(&store->slots, store->snapshot[index]->id, index);
    }
    snapshot_store_release(snapshot);
}

void snapshot_store_drop_session(SnapshotStore *store, uint64_t session) {
    for (uint32_t i = store->count; i > 0; i--) {
        if (store->snapshot[i - 1]->session == session) {
            snapshot_store_drop(store->snapshot[i - 1]);
        }
    }
}

// ---- bytes

Status stored_snapshot_reserve(StoredSnapshot *snapshot, size_t bytes, Error *error) {
    ASSERT(snapshot->references > 0);
    if (bytes <= snapshot->capacity) {
        return STATUS_OK;
    }
    Host *host = snapshot->store->host;
    Status status = host_check_charge(host, snapshot->use, bytes - snapshot->capacity, error);
    if (status != STATUS_OK) {
        return status;
    }
    uint8_t *grown = realloc(snapshot->bytes, bytes);
    if (grown == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while keeping a snapshot of %zu bytes.", bytes);
    }
    host_charge_bytes(host, snapshot->use, snapshot->capacity, bytes);
    snapshot->bytes = grown;
    snapshot->capacity = bytes;
    return STATUS_OK;
}

void stored_snapshot_seal(StoredSnapshot *snapshot) {
    ASSERT(snapshot->received_bytes <= snapshot->capacity);
    snapshot->total_bytes = snapshot->received_bytes;
    atomic_store_explicit(&snapshot->filled, true, memory_order_release);
}

Status stored_snapshot_take(StoredSnapshot *snapshot, const World *world, Arena *scratch,
                            Error *error) {
    ASSERT(!atomic_load_explicit(&snapshot->filled, memory_order_relaxed));
    ArenaMark mark = arena_mark(scratch);
    uint8_t *bytes;
    size_t count;
    Status status = snapshot_write(world, scratch, &bytes, &count, error);
    status = STATUS_THEN(status, stored_snapshot_reserve(snapshot, count, error));
    if (status == STATUS_OK) {
        memcpy(snapshot->bytes, bytes, count);
        snapshot->received_bytes = count;
        stored_snapshot_seal(snapshot);
    }
    arena_reset_to(scratch, mark);
    return status;
}

Status stored_snapshot_check(const StoredSnapshot *snapshot, uint64_t checksum, Error *error) {
    ASSERT(snapshot->received_bytes <= snapshot->capacity);
    const uint8_t *bytes = snapshot->bytes;
    const size_t count = snapshot->received_bytes;
    return group_save_is_one(bytes, count) ? group_save_check(bytes, count, checksum, error)
                                           : snapshot_check(bytes, count, checksum, error);
}

Input stored_snapshot_input(const StoredSnapshot *snapshot) {
    ASSERT(atomic_load_explicit(&snapshot->filled, memory_order_acquire));
    return (Input){
        .kind = INPUT_RESTORE,
        .restore = {.snapshot = snapshot->bytes, .snapshot_bytes = snapshot->total_bytes}};
}

Status stored_snapshot_check_room(const StoredSnapshot *snapshot, Error *error) {
    ASSERT(atomic_load_explicit(&snapshot->filled, memory_order_acquire));
    size_t bytes = snapshot->total_bytes;
    return host_check_charge(snapshot->store->host, snapshot->use,
                             bytes < SIZE_MAX / WORLD_MULTIPLE ? WORLD_MULTIPLE * bytes : SIZE_MAX,
                             error);
}
