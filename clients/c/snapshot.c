// SPDX-License-Identifier: MIT
// Snapshots: taken and cloned on the server, carried over the wire in parts.
#include "client.h"

#include <string.h>

// A part is small beside the largest frame a server takes by default, and large beside its header.
#define PART_BYTES_MAX ((uint64_t)4 << 20)

enum { PART_OVERHEAD_BYTES = 256 }; // at most: what a frame holds beside the part

// A server may be set to smaller frames than usual.
static uint64_t part_bytes(const MoreauClient *client) {
    uint64_t frame_bytes;
    if (!moreau_limit(client, "frame-bytes-max", &frame_bytes) ||
        frame_bytes >= PART_BYTES_MAX + PART_OVERHEAD_BYTES) {
        return PART_BYTES_MAX;
    }
    uint64_t overhead = PART_OVERHEAD_BYTES;
    return frame_bytes > 2 * overhead ? frame_bytes - overhead : overhead;
}

MoreauStatus moreau_snapshot_take(MoreauClient *client, uint64_t world, MoreauSnapshot *snapshot) {
    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1;
    take.world = world;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_SNAPSHOT_TAKE;
    request.snapshot_take = &take;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_SNAPSHOT_TAKE, &reply);
    if (status == MOREAU_OK) {
        const Moreau__V1__SnapshotTakeReply *took = reply->message->snapshot_take;
        *snapshot = (MoreauSnapshot){took->snapshot, took->bytes, took->hash, took->step};
    }
    moreau_reply_free(reply);
    return status;
}

// Reads the bytes from `first` on; *got is how many came.
static MoreauStatus read_part(MoreauClient *client, uint64_t snapshot, uint8_t *data, size_t bytes,
                              size_t first, size_t *got) {
    uint64_t part = part_bytes(client);
    Moreau__V1__SnapshotRead read = MOREAU__V1__SNAPSHOT_READ__INIT;
    read.has_snapshot = read.has_first = read.has_count = 1;
    read.snapshot = snapshot;
    read.first = first;
    read.count = bytes - first < part ? bytes - first : part;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_SNAPSHOT_READ;
    request.snapshot_read = &read;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_SNAPSHOT_READ, &reply);
    if (status == MOREAU_OK) {
        const Moreau__V1__SnapshotReadReply *came = reply->message->snapshot_read;
        *got = came->data.len;
        if (came->total != bytes) {
            status = client_fail(client, MOREAU_OUT_OF_RANGE, "bytes",
                                 "the snapshot has %llu bytes, not %zu",
                                 (unsigned long long)came->total, bytes);
        } else if (*got == 0 || *got > bytes - first) {
            status = client_fail(client, MOREAU_INTERNAL, NULL,
                                 "the server sent a part of %zu bytes where %zu were left", *got,
                                 bytes - first);
        } else {
            memcpy(data + first, came->data.data, *got);
        }
    }
    moreau_reply_free(reply);
    return status;
}

MoreauStatus moreau_snapshot_download(MoreauClient *client, uint64_t snapshot, void *data,
                                      size_t bytes) {
    MoreauStatus status = MOREAU_OK;
    size_t got;
    for (size_t first = 0; status == MOREAU_OK && first < bytes; first += got) {
        got = 0;
        status = read_part(client, snapshot, data, bytes, first, &got);
    }
    return status;
}

// Sends the part from `first` on. *snapshot is 0 before the first part; *complete as the server
// says.
static MoreauStatus send_part(MoreauClient *client, const uint8_t *data, size_t bytes, size_t first,
                              size_t part, uint64_t *snapshot, bool *complete) {
    Moreau__V1__SnapshotUpload upload = MOREAU__V1__SNAPSHOT_UPLOAD__INIT;
    upload.has_snapshot = first > 0;
    upload.snapshot = *snapshot;
    upload.has_total = first == 0;
    upload.total = bytes;
    upload.has_first = upload.has_data = 1;
    upload.first = first;
    upload.data = (ProtobufCBinaryData){part, (uint8_t *)data + first};
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_SNAPSHOT_UPLOAD;
    request.snapshot_upload = &upload;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_SNAPSHOT_UPLOAD, &reply);
    if (status == MOREAU_OK) {
        *snapshot = reply->message->snapshot_upload->snapshot;
        *complete = reply->message->snapshot_upload->complete != 0;
    }
    moreau_reply_free(reply);
    return status;
}

MoreauStatus moreau_snapshot_upload(MoreauClient *client, const void *data, size_t bytes,
                                    uint64_t *snapshot) {
    uint64_t id = 0;
    uint64_t part_max = part_bytes(client);
    bool complete = false;
    MoreauStatus status = MOREAU_OK;
    size_t first = 0;
    do {
        size_t part = bytes - first < part_max ? bytes - first : (size_t)part_max;
        status = send_part(client, data, bytes, first, part, &id, &complete);
        first += part;
    } while (status == MOREAU_OK && first < bytes);
    if (status == MOREAU_OK && !complete) {
        status = client_fail(client, MOREAU_INTERNAL, NULL,
                             "the server took all parts and calls the snapshot incomplete");
    }
    if (status == MOREAU_OK) {
        *snapshot = id;
    } else if (id != 0 && moreau_is_connected(client)) {
        // what came so far is of no use; the caller is told of the first failure
        MoreauError error = client->error;
        moreau_snapshot_drop(client, id);
        client->error = error;
    }
    return status;
}

MoreauStatus moreau_snapshot_restore(MoreauClient *client, uint64_t world, uint64_t snapshot,
                                     uint64_t *hash, uint64_t *step) {
    Moreau__V1__SnapshotRestore restore = MOREAU__V1__SNAPSHOT_RESTORE__INIT;
    restore.has_world = restore.has_snapshot = 1;
    restore.world = world;
    restore.snapshot = snapshot;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_SNAPSHOT_RESTORE;
    request.snapshot_restore = &restore;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_SNAPSHOT_RESTORE, &reply);
    if (status == MOREAU_OK && hash != NULL) {
        *hash = reply->message->snapshot_restore->hash;
    }
    if (status == MOREAU_OK && step != NULL) {
        *step = reply->message->snapshot_restore->step;
    }
    moreau_reply_free(reply);
    return status;
}

MoreauClone moreau_clone_default(void) {
    return (MoreauClone){.count = 1, .lifetime = MOREAU_LIFETIME_SESSION};
}

MoreauStatus moreau_snapshot_clone(MoreauClient *client, const MoreauClone *clone,
                                   uint64_t *worlds) {
    Moreau__V1__SnapshotClone message = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    message.has_snapshot = clone->snapshot != 0;
    message.snapshot = clone->snapshot;
    message.has_world = clone->world != 0;
    message.world = clone->world;
    message.has_count = message.has_lifetime = 1;
    message.count = clone->count;
    message.name = (char *)clone->name;
    message.lifetime = (Moreau__V1__World__Lifetime)clone->lifetime;
    message.has_idle_timeout_s = clone->idle_timeout_s > 0.0;
    message.idle_timeout_s = clone->idle_timeout_s;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_SNAPSHOT_CLONE;
    request.snapshot_clone = &message;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_SNAPSHOT_CLONE, &reply);
    if (status == MOREAU_OK) {
        const Moreau__V1__SnapshotCloneReply *cloned = reply->message->snapshot_clone;
        if (cloned->n_worlds == clone->count && clone->count > 0) {
            memcpy(worlds, cloned->worlds, clone->count * sizeof(*worlds));
        } else {
            status = client_fail(client, MOREAU_INTERNAL, NULL,
                                 "the server made %zu worlds where %zu were asked for",
                                 cloned->n_worlds, clone->count);
        }
    }
    moreau_reply_free(reply);
    return status;
}

MoreauStatus moreau_snapshot_drop(MoreauClient *client, uint64_t snapshot) {
    Moreau__V1__SnapshotDrop drop = MOREAU__V1__SNAPSHOT_DROP__INIT;
    drop.has_snapshot = 1;
    drop.snapshot = snapshot;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_SNAPSHOT_DROP;
    request.snapshot_drop = &drop;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_SNAPSHOT_DROP, &reply);
    moreau_reply_free(reply);
    return status;
}
