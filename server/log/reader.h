// SPDX-License-Identifier: MIT
// Reading the file: episodes by filter, chunks by step. A reader is one read-only connection, for
// one thread at a time; its transactions last one call. Nothing it reads is trusted.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "log/chunk.h"
#include "log/log.h"

typedef struct LogReader LogReader;

Status log_reader_open(const char *path, LogReader **reader, Error *error);
void log_reader_close(LogReader *reader); // Nullable

// One episode. Texts and arrays are the arena's.
typedef struct EpisodeRow {
    uint8_t uid[UID_BYTES];
    uint8_t recording_uid[UID_BYTES];
    int64_t recording; // row ids
    int64_t episode;
    const char *name, *client, *world_name, *solver, *server_version;
    const char *why; // of an interruption, or ""
    size_t label_count;
    const char **label;
    RecordingState state;
    RecordingContent content;
    uint64_t stride;
    bool lossy, has_seed;
    uint64_t seed, dynamics_version;
    uint64_t world_index;
    uint64_t first_step, last_step; // in the recording; of one being recorded: committed so far
    uint64_t world_step;            // the world's own count at step 0 of the recording
    double world_time, time_step;
    uint64_t body_count;
    uint64_t begun_ns, ended_ns; // wall clock, since 1970; ended 0: not yet
    uint64_t unconverged_steps, dropped_steps;
    double worst_own, worst_penetration;
    uint64_t bytes, chunk_count, keyframe_count, frame_chunk_count; // of the recording
} EpisodeRow;

typedef struct EpisodeFilter {
    const char *name;            // part of the name, any case; NULL: any
    const char *label;           // one of its labels; NULL: any
    const char *solver;          // NULL: any
    const char *client;          // NULL: any
    int state;                   // RecordingState; -1: any
    uint64_t since_ns, until_ns; // begun in [since, until); 0: open
    uint64_t first, count;
} EpisodeFilter;

// The newest first: by id, or by when they were begun where client, state or time are asked for
// without a label. `total` counts all that match.
Status log_reader_list(LogReader *reader, const EpisodeFilter *filter, Arena *arena,
                       EpisodeRow **rows, size_t *count, uint64_t *total, Error *error);

// By uid in hexadecimal, by an unmistakable beginning of one (4 digits at least), or by a name that
// only one episode has. NOT_FOUND; INVALID_ARGUMENT when several fit.
Status log_reader_find(LogReader *reader, const char *text, Arena *arena, EpisodeRow *row,
                       Error *error);

typedef struct LogChunk {
    int64_t id; // of its row
    Chunk chunk;
} LogChunk;

// Chunks, in memory of the arena. All return NOT_FOUND when there is none, and DATA_LOSS for a
// damaged one, with its id in found->id and a message that names it; kind and steps in found->chunk
// are then as the row says.

// The last chunk of this kind that begins at or before `step`.
Status log_reader_at(LogReader *reader, const EpisodeRow *episode, ChunkKind kind, uint64_t step,
                     Arena *arena, LogChunk *found, Error *error);
// The first chunk of this kind behind the one of this id, which may be of another kind; 0: the very
// first. Chunks come in order by the step where they begin, and those of one step by id.
Status log_reader_next(LogReader *reader, const EpisodeRow *episode, ChunkKind kind, int64_t id,
                       Arena *arena, LogChunk *found, Error *error);
// The chunk of this id.
Status log_reader_get(LogReader *reader, const EpisodeRow *episode, ChunkKind kind, int64_t id,
                      Arena *arena, LogChunk *found, Error *error);

// Rows without their bytes, in that order: what verification is planned from.
typedef struct ChunkRow {
    int64_t id;
    ChunkKind kind;
    uint64_t first_step, last_step, bytes;
} ChunkRow;
Status log_reader_chunks(LogReader *reader, const EpisodeRow *episode, ChunkKind kind, Arena *arena,
                         ChunkRow **rows, size_t *count, Error *error);
