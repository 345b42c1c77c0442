// SPDX-License-Identifier: MIT
#include "replay/player/group_calls.h"

void group_calls_init(GroupCalls *calls, size_t bytes_max) {
    *calls = (GroupCalls){.inputs = {.kind = CHUNK_INPUTS}};
    arena_init(&calls->inputs.arena, bytes_max);
}

void group_calls_deinit(GroupCalls *calls) {
    arena_deinit(&calls->inputs.arena);
}

void group_calls_place(GroupCalls *calls, ChunkPlace place, uint64_t count) {
    track_drop(&calls->inputs);
    track_place(&calls->inputs, place);
    calls->count = count;
}

static GroupMet meet_damage(GroupCalls *calls, const char *what) {
    track_damage(&calls->inputs, what);
    return GROUP_MET_DAMAGE;
}

static GroupMet open_chunk(GroupCalls *calls, const EpisodeRow *episode, LogReader *reader,
                           Error *error) {
    Track *inputs = &calls->inputs;
    if (track_load(inputs, episode, reader, error) != STATUS_OK) {
        return GROUP_MET_FAILURE;
    }
    if (!inputs->is_loaded) {
        return GROUP_MET_END;
    }
    if (inputs->damage.status != STATUS_OK) {
        return GROUP_MET_DAMAGE;
    }
    return inputs->chunk.chunk.first_step == calls->count
               ? GROUP_MET_CALL
               : meet_damage(calls, "it does not begin where the one before it ended");
}

static bool is_exhausted(const Track *inputs) {
    return !inputs->is_loaded || inputs->at == inputs->chunk.chunk.body_bytes;
}

GroupMet group_calls_next(GroupCalls *calls, const EpisodeRow *episode, LogReader *reader,
                          Error *error) {
    Track *inputs = &calls->inputs;
    const GroupMet met =
        is_exhausted(inputs) ? open_chunk(calls, episode, reader, error) : GROUP_MET_CALL;
    if (met != GROUP_MET_CALL) {
        return met;
    }
    const Chunk *chunk = &inputs->chunk.chunk;
    Entry *entry = &calls->entry;
    Error why = {0};
    if (!entry_next(chunk->body, chunk->body_bytes, &inputs->at, entry, &why)) {
        return meet_damage(calls, why.status == STATUS_OK ? "it is empty" : why.message);
    }
    const InputBytes encoded = {.bytes = entry->input, .count = entry->input_bytes};
    if (group_input_decode(encoded, &calls->input, &why) != STATUS_OK) {
        return meet_damage(calls, why.message);
    }
    return entry->step == calls->count && entry->hash_count == group_input_hash_count(&calls->input)
               ? GROUP_MET_CALL
               : meet_damage(calls, "it has a call out of its order, or without its hashes");
}
