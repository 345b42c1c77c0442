// SPDX-License-Identifier: MIT
#include "replay/player/track.h"

#include <inttypes.h>

void track_drop(Track *track) {
    arena_reset(&track->arena);
    track->is_loaded = track->is_begun = track->has_ended = false;
    track->damage = (Error){0};
    track->at = 0;
}

void track_place(Track *track, ChunkPlace place) {
    track->place = place;
    track->has_place = true;
}

void track_damage(Track *track, const char *what) {
    error_set(&track->damage, STATUS_DATA_LOSS, "", "Chunk %" PRId64 " (%s) is damaged: %s.",
              track->id, chunk_kind_name(track->kind), what);
}

Status track_load(Track *track, const EpisodeRow *episode, LogReader *reader, Error *error) {
    track_drop(track);
    Error damage = {0};
    LogChunk chunk = {0};
    Status status =
        log_reader_next(reader, episode, track->kind, track->has_place ? &track->place : NULL,
                        &track->arena, &chunk, &damage);
    if (status == STATUS_NOT_FOUND) {
        track->has_ended = true;
        return STATUS_OK;
    }
    // damage that no chunk is to blame for is the file's
    bool is_damaged = status == STATUS_DATA_LOSS && chunk.id != 0;
    if (status != STATUS_OK && !is_damaged) {
        return error_set(error, status, damage.field, "%s", damage.message);
    }
    if (is_damaged) {
        track->damage = damage;
    }
    track->is_loaded = true;
    track->id = chunk.id;
    track_place(track, chunk_place(&chunk.chunk));
    track->chunk = chunk;
    track->next_step = chunk.chunk.first_step;
    return STATUS_OK;
}
