// SPDX-License-Identifier: MIT
#include "step/snapshot/head.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "step/snapshot/release.h"

#include <string.h>

enum { MAGIC_BYTES = 8 };

Status snapshot_head_check(const SnapshotHead *head, const uint8_t *bytes, size_t count,
                           uint64_t checksum, Error *error) {
    ASSERT(bytes != NULL || count == 0);
    Source source = {.bytes = bytes, .count = count};
    const uint8_t *start = source_bytes(&source, MAGIC_BYTES);
    if (start == NULL || memcmp(start, head->magic, MAGIC_BYTES) != 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "", "%s", head->none);
    }
    const uint32_t dynamics = source_u32(&source), format = source_u32(&source);
    if (source.failed || count < SNAPSHOT_HEAD_BYTES + SNAPSHOT_CHECKSUM_BYTES) {
        return error_set(error, STATUS_DATA_LOSS, "", "The %s is damaged: it ends early.",
                         head->noun);
    }
    if (format != head->format) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "",
                         "The %s is of format %u, this server's is %u: %s.", head->noun, format,
                         head->format, head->renew);
    }
    Source end = {.bytes = bytes + count - SNAPSHOT_CHECKSUM_BYTES,
                  .count = SNAPSHOT_CHECKSUM_BYTES};
    if (source_u64(&end) != checksum) {
        return error_set(error, STATUS_DATA_LOSS, "",
                         "The %s is damaged: its checksum does not fit its bytes, so some of them "
                         "have changed or are missing.",
                         head->noun);
    }
    char advice[RELEASE_ADVICE_BYTES];
    return dynamics == head->dynamics
               ? STATUS_OK
               : error_set(error, STATUS_FAILED_PRECONDITION, "",
                           "The %s is of dynamics version %u, this server's is %u%s.%s", head->noun,
                           dynamics, head->dynamics, head->version,
                           release_advice(dynamics, advice));
}
