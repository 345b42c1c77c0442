// SPDX-License-Identifier: MIT
// Makes the checksum of a damaged chunk right again, so that what stands behind it is judged.
#pragma once

#include "base/bytes.h"
#include "log/format/chunk.h"

enum { MEND_AT_KIND = 12, MEND_AT_PREDECESSOR = 168, MEND_AT_BODY_BYTES = 176 };

static inline void mend_checksum(uint8_t *bytes, size_t count) {
    const size_t at = CHUNK_HEADER_BYTES - 8;
    Hash hash;
    hash_init(&hash, 0);
    hash_add(&hash, bytes, at);
    hash_add(&hash, bytes + CHUNK_HEADER_BYTES, count - CHUNK_HEADER_BYTES);
    Sink sink = {.bytes = bytes, .count = at};
    sink_u64(&sink, hash_value(&hash));
}

static inline void put_u64(uint8_t *bytes, size_t at, uint64_t value) {
    Sink sink = {.bytes = bytes, .count = at};
    sink_u64(&sink, value);
}

static inline void put_u32(uint8_t *bytes, size_t at, uint32_t value) {
    Sink sink = {.bytes = bytes, .count = at};
    sink_u32(&sink, value);
}
