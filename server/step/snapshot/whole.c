// SPDX-License-Identifier: MIT
// Whole snapshots, and those that name what they wear.
#include "base/assert.h"
#include "step/snapshot/attached.h"
#include "step/snapshot/snapshot.h"

#include <string.h>

// Where its sections begin and, `end`, where those end that are not attached. false: these bytes
// have not the frame of a snapshot.
static bool find_sections(const uint8_t *bytes, size_t count, Source *source, size_t *end) {
    if (count < SNAPSHOT_HEAD_BYTES + SNAPSHOT_CHECKSUM_BYTES) {
        return false;
    }
    *source = (Source){
        .bytes = bytes, .count = count - SNAPSHOT_CHECKSUM_BYTES, .used = SNAPSHOT_HEAD_BYTES};
    Source found = *source;
    *end = snapshot_find_section(&found, SNAPSHOT_ATTACHED) ? found.used : source->count;
    return true;
}

bool snapshot_is_whole(const uint8_t *bytes, size_t count) {
    Source source;
    size_t end;
    return find_sections(bytes, count, &source, &end) && end < source.count;
}

Status snapshot_detached(const uint8_t *bytes, size_t count, Arena *arena, uint8_t **named,
                         size_t *named_count, Error *error) {
    Source source;
    size_t end = count;
    ASSERT(count >= SNAPSHOT_HEAD_BYTES + SNAPSHOT_CHECKSUM_BYTES);
    find_sections(bytes, count, &source, &end);
    uint8_t *memory = arena_take(arena, end + SNAPSHOT_CHECKSUM_BYTES);
    if (memory == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "A snapshot of %zu bytes does not fit into memory.", end);
    }
    memcpy(memory, bytes, end);
    Sink sink = {.bytes = memory + end};
    sink_u64(&sink, hash_bytes(memory, end, 0));
    *named = memory;
    *named_count = end + SNAPSHOT_CHECKSUM_BYTES;
    return STATUS_OK;
}

Status snapshot_write_like(const World *world, const uint8_t *like, size_t like_count, Arena *arena,
                           uint8_t **bytes, size_t *count, Error *error) {
    return snapshot_is_whole(like, like_count)
               ? snapshot_write(world, arena, bytes, count, error)
               : snapshot_write_named(world, arena, bytes, count, error);
}
