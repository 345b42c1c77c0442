// SPDX-License-Identifier: MIT
// Any bytes as a chunk, as they are and with the length and the checksum mended, so that bodies are
// reached: every walk ends, and nothing that is found lies outside the bytes.
#include "log/format/chunk.h"

#include "base/assert.h"
#include "log/format/definition.h"
#include "log/format/entries.h"
#include "log/format/events.h"
#include "log/format/frames.h"
#include "mend.h"
#include "run/worlds/touches.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void walk_entries(const Chunk *chunk) {
    size_t at = 0;
    Entry entry;
    Error error = {0};
    for (size_t before = 0; entry_next(chunk->body, chunk->body_bytes, &at, &entry, &error);
         before = at) {
        ASSERT(at >= before + ENTRY_HEAD_BYTES && at <= chunk->body_bytes);
        ASSERT(entry.input + entry.input_bytes == entry.hashes);
        for (uint32_t i = 0; i < entry.hash_count; i++) {
            (void)entry_hash(&entry, i);
        }
    }
    ASSERT(error.status == STATUS_DATA_LOSS || at == chunk->body_bytes);
}

static void walk_frames(const Chunk *chunk, Arena *arena) {
    FrameChunk frames;
    Error error = {0};
    if (frame_chunk_open(chunk->body, chunk->body_bytes, chunk_version(chunk), &frames, &error) !=
        STATUS_OK) {
        ASSERT(error.status == STATUS_DATA_LOSS && error.message[0] != '\0');
        return;
    }
    uint64_t *ids = arena_take_array(arena, frames.body_count, sizeof(*ids));
    ASSERT(ids != NULL);
    frame_chunk_ids(&frames, ids);
    FrameJoints joints;
    ASSERT(frame_chunk_joints(&frames, arena, &joints, &error) == STATUS_OK);
    for (size_t i = 0; i < frames.frame_count; i++) {
        StateFrame frame;
        ArenaMark mark = arena_mark(arena);
        ASSERT(frame_chunk_read(&frames, i, arena, &frame, &error) == STATUS_OK);
        ASSERT(frame.step == frame_chunk_step(&frames, i));
        arena_reset_to(arena, mark);
    }
}

static void walk_contacts(const Chunk *chunk, Arena *arena) {
    size_t at = 0;
    ContactList list;
    Error error = {0};
    ArenaMark mark = arena_mark(arena);
    while (contact_chunk_next(chunk->body, chunk->body_bytes, chunk_version(chunk), &at, arena,
                              &list, &error)) {
        ASSERT(at <= chunk->body_bytes);
        arena_reset_to(arena, mark);
    }
    ASSERT(error.status == STATUS_DATA_LOSS || at == chunk->body_bytes);
}

static void walk_definition(const Chunk *chunk, Arena *arena) {
    RecordingDef def;
    RecordingSeal seal;
    EpisodesChunk episodes;
    size_t count;
    Error error = {0};
    (void)definition_read(chunk, arena, &def, &error);
    (void)seal_read(chunk, arena, &seal, &error);
    if (episodes_open(chunk, &episodes, &error) == STATUS_OK) {
        for (size_t i = 0; i < episodes.count; i++) {
            EpisodeRecord record;
            episodes_get(&episodes, i, &record);
        }
    }
    if (highlights_open(chunk, &count, &error) == STATUS_OK) {
        for (size_t i = 0; i < count; i++) {
            (void)highlights_get(chunk, i);
        }
    }
}

// Whoever steps on from events takes them up.
static void walk_events(const Chunk *chunk) {
    EventsChunk events;
    Error error = {0};
    if (events_open(chunk, &events, &error) != STATUS_OK) {
        ASSERT(error.status == STATUS_DATA_LOSS && error.message[0] != '\0');
        return;
    }
    size_t open = 0, names = 0, at = 0;
    for (size_t i = 0; i < events.changed_count + events.unchanged_count; i++) {
        const Touch touch = events_get(&events, i);
        ASSERT(touch.body < touch.other && touch.first_step <= touch.last_step);
        open += !touch.is_over;
    }
    for (TouchName name; events_next_name(&events, &at, &name); names++) {
        ASSERT(name.bytes > 0);
    }
    ASSERT(names == events.name_count);
    Touches touches = {0};
    ASSERT(touches_resume(&touches, &events));
    ASSERT(touches.open_count == open);
    for (size_t i = 1; i < open && events.is_complete; i++) {
        ASSERT(touch_compare(&touches.open[i - 1].touch, &touches.open[i].touch) <= 0);
    }
    touches_deinit(&touches);
}

// A body is read as each kind: the fuzzer need not guess the one that it looks like.
static void walk(const uint8_t *bytes, size_t count) {
    Chunk chunk;
    Error error = {0};
    if (chunk_open(bytes, count, NULL, &chunk, &error) != STATUS_OK) {
        ASSERT(error.status == STATUS_DATA_LOSS && error.message[0] != '\0');
        return;
    }
    ASSERT(chunk.body == bytes + chunk_body_offset(&chunk));
    ASSERT(chunk.body_bytes == count - chunk_body_offset(&chunk));
    Arena arena;
    arena_init(&arena, (size_t)1 << 26);
    walk_entries(&chunk);
    walk_frames(&chunk, &arena);
    walk_contacts(&chunk, &arena);
    walk_definition(&chunk, &arena);
    walk_events(&chunk);
    arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    walk(bytes, count);
    if (count < CHUNK_HEADER_BYTES) {
        return 0;
    }
    uint8_t *mended = malloc(count);
    ASSERT(mended != NULL);
    memcpy(mended, bytes, count);
    put_u64(mended, MEND_AT_BODY_BYTES, count - CHUNK_HEADER_BYTES);
    mend_checksum(mended, count);
    walk(mended, count);
    free(mended);
    return 0;
}
