// SPDX-License-Identifier: MIT
// What snapshots and saved groups have in common: eight bytes that say which of both it is, the
// dynamics version, the format, and at the very end a checksum of all before it.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { SNAPSHOT_HEAD_BYTES = 16, SNAPSHOT_CHECKSUM_BYTES = 8 };

typedef struct SnapshotHead {
    const void *magic;         // [8] bytes
    uint32_t dynamics, format; // this server's
    const char *noun;          // what it is, as in "The snapshot is damaged"
    const char *none;          // said of bytes that are nothing of the kind
    const char *renew;         // what helps against another format
    const char *version;       // said of another dynamics version, behind both numbers
} SnapshotHead;

// Judges head and checksum, not the content. What is damaged says so before anything else that may
// be wrong with it, but for the format, which says where the checksum stands. `checksum`: as
// snapshot_check has it.
Status snapshot_head_check(const SnapshotHead *head, const uint8_t *bytes, size_t count,
                           uint64_t checksum, Error *error);
