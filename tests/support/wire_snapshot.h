// SPDX-License-Identifier: MIT
// Snapshots' bytes for tests over the wire, read and brought in parts.
#pragma once

#include "support/wire_client.h"

typedef struct WireBytes {
    uint8_t *data; // the caller's, to be freed
    size_t count;
} WireBytes;

Moreau__V1__SnapshotRead wire_snapshot_read_call(uint64_t snapshot, uint64_t first, uint64_t count);
WireBytes wire_snapshot_read(WireClient *client, uint64_t snapshot, uint64_t part);

// Borrows of the bytes. `snapshot` 0: a new one.
Moreau__V1__SnapshotUpload wire_snapshot_part_call(WireBytes bytes, size_t first, size_t count,
                                                   uint64_t snapshot);
uint64_t wire_snapshot_upload(WireClient *client, WireBytes bytes, size_t part);
