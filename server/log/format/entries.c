// SPDX-License-Identifier: MIT
#include "log/format/entries.h"

#include "base/assert.h"
#include "base/bytes.h"

#include <inttypes.h>

uint64_t entry_hash(const Entry *entry, uint32_t index) {
    ASSERT(index < entry->hash_count);
    Source source = {.bytes = entry->hashes + (size_t)index * 8, .count = 8};
    return source_u64(&source);
}

bool entry_next(const uint8_t *body, size_t body_bytes, size_t *at, Entry *entry, Error *error) {
    ASSERT(*at <= body_bytes);
    if (*at == body_bytes) {
        return false;
    }
    Source source = {.bytes = body, .count = body_bytes, .used = *at};
    if (body_bytes - *at < ENTRY_HEAD_BYTES) {
        error_set(error, STATUS_DATA_LOSS, NULL,
                  "its entry at byte %zu is cut short: %zu bytes of a head of %d", *at,
                  body_bytes - *at, ENTRY_HEAD_BYTES);
        return false;
    }
    Entry found = {.step = source_u64(&source),
                   .flags = source_u32(&source),
                   .hash_count = source_u32(&source)};
    uint64_t input_bytes = source_u64(&source);
    if ((found.flags & ~(uint32_t)ENTRY_FAULTED) != 0) {
        error_set(error, STATUS_DATA_LOSS, NULL,
                  "its entry at byte %zu has unknown flags: 0x%" PRIx32, *at, found.flags);
        return false;
    }
    size_t rest = source.count - source.used;
    if (input_bytes % 8 != 0 || input_bytes > rest || found.hash_count > (rest - input_bytes) / 8) {
        error_set(error, STATUS_DATA_LOSS, NULL,
                  "its entry at byte %zu claims an input of %" PRIu64 " bytes and %" PRIu32
                  " hashes, and %zu bytes are left",
                  *at, input_bytes, found.hash_count, rest);
        return false;
    }
    found.input_bytes = (size_t)input_bytes;
    found.input = source_bytes(&source, found.input_bytes);
    found.hashes = source_bytes(&source, (size_t)found.hash_count * 8);
    *at = source.used;
    *entry = found;
    return true;
}
