// SPDX-License-Identifier: MIT
#include "support/wire_snapshot.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Moreau__V1__SnapshotRead wire_snapshot_read_call(uint64_t snapshot, uint64_t first,
                                                 uint64_t count) {
    Moreau__V1__SnapshotRead call = MOREAU__V1__SNAPSHOT_READ__INIT;
    call.has_snapshot = call.has_first = call.has_count = 1;
    call.snapshot = snapshot;
    call.first = first;
    call.count = count;
    return call;
}

WireBytes wire_snapshot_read(WireClient *client, uint64_t snapshot, uint64_t part) {
    WireBytes bytes = {0};
    for (uint64_t total = 1; bytes.count < total;) {
        Moreau__V1__SnapshotRead call = wire_snapshot_read_call(snapshot, bytes.count, part);
        const Moreau__V1__SnapshotReadReply *reply = wire_accept(client, &call)->snapshot_read;
        total = reply->total;
        ck_assert_uint_gt(reply->data.len, 0);
        bytes.data = realloc(bytes.data, bytes.count + reply->data.len);
        memcpy(bytes.data + bytes.count, reply->data.data, reply->data.len);
        bytes.count += reply->data.len;
    }
    return bytes;
}

Moreau__V1__SnapshotUpload wire_snapshot_part_call(WireBytes bytes, size_t first, size_t count,
                                                   uint64_t snapshot) {
    Moreau__V1__SnapshotUpload call = MOREAU__V1__SNAPSHOT_UPLOAD__INIT;
    call.has_snapshot = snapshot != 0;
    call.snapshot = snapshot;
    call.has_total = first == 0;
    call.total = bytes.count;
    call.has_first = call.has_data = 1;
    call.first = first;
    call.data.data = bytes.data + first;
    call.data.len = count < bytes.count - first ? count : bytes.count - first;
    return call;
}

uint64_t wire_snapshot_upload(WireClient *client, WireBytes bytes, size_t part) {
    uint64_t snapshot = 0;
    for (size_t first = 0; first < bytes.count; first += part) {
        Moreau__V1__SnapshotUpload call = wire_snapshot_part_call(bytes, first, part, snapshot);
        const Moreau__V1__SnapshotUploadReply *reply = wire_accept(client, &call)->snapshot_upload;
        snapshot = reply->snapshot;
        ck_assert_uint_eq(reply->received, first + call.data.len);
        ck_assert_int_eq(reply->complete, reply->received == bytes.count);
    }
    return snapshot;
}
