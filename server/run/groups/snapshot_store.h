// SPDX-License-Identifier: MIT
// Snapshots that clients took or sent, by id. The registry belongs to the loop thread; a snapshot's
// bytes to whoever fills it, and from `filled` on to nobody: they do not change any more, and any
// thread that holds a reference may read them.
//
// The bytes count against the worlds' memory budget, each with its entry here.
#pragma once

#include "base/hash.h"
#include "base/slots.h"
#include "run/worlds/host.h"
#include "run/worlds/input.h"

typedef struct SnapshotStore SnapshotStore;

typedef struct StoredSnapshot {
    SnapshotStore *store;
    Id id; // 0: not in the registry any more
    uint64_t session;
    uint32_t space;      // whose it is (run/worlds/spaces.h) …
    Use *use;            // … and who is charged for it; Nullable
    uint32_t references; // loop thread

    uint8_t *bytes; // owned
    size_t capacity;
    bool is_upload;        // filled part by part, in the order of …
    Strand strand;         // … this
    size_t total_bytes;    // when all are there
    size_t received_bytes; // so far
    Hash checksum;         // of an upload's bytes so far, but for their own checksum at the end
    _Atomic bool filled;
} StoredSnapshot;

// NULL when memory ends.
SnapshotStore *snapshot_store_create(Host *host);
void snapshot_store_destroy(SnapshotStore *store); // Nullable; no reference may be left

// A new one that is still empty, with a reference for the caller. It shares its session's life.
Status snapshot_store_add(SnapshotStore *store, const WorldOwner *owner, StoredSnapshot **snapshot,
                          Error *error);
// NOT_FOUND for who has this view; a snapshot still being filled is FAILED_PRECONDITION unless
// `unfilled` is welcome.
Status snapshot_store_find(SnapshotStore *store, Id id, uint32_t view, bool unfilled,
                           StoredSnapshot **snapshot, Error *error);
void snapshot_store_retain(StoredSnapshot *snapshot);
void snapshot_store_release(StoredSnapshot *snapshot);
// The id is free at once; the bytes go with the last reference.
void snapshot_store_drop(StoredSnapshot *snapshot);
void snapshot_store_drop_session(SnapshotStore *store, uint64_t session);

// Whoever fills it, any one thread: room for `bytes` of snapshot in all. RESOURCE_EXHAUSTED names
// the budget.
Status stored_snapshot_reserve(StoredSnapshot *snapshot, size_t bytes, Error *error);
// All `received_bytes` are there.
void stored_snapshot_seal(StoredSnapshot *snapshot);
// Takes the snapshot of a world: reserve, fill, seal.
Status stored_snapshot_take(StoredSnapshot *snapshot, const World *world, Arena *scratch,
                            Error *error);
// Whether bytes that a client brought came whole: of a world, or of a group (save.h).
// `checksum`: as snapshot_check has it.
Status stored_snapshot_check(const StoredSnapshot *snapshot, uint64_t checksum, Error *error);
// What makes a world of it, as long as it is retained.
Input stored_snapshot_input(const StoredSnapshot *snapshot);
// Refuses to make a world of it when the budget has no room for one. Any thread.
Status stored_snapshot_check_room(const StoredSnapshot *snapshot, Error *error);
