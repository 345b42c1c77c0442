// SPDX-License-Identifier: MIT
// What proof.c (chunks), proof_facts.c (rows), proof_touches.c (rows of touches),
// proof_indexes.c, proof_geometries.c share.
#pragma once

#include "log/reader/proof.h"
#include "log/reader/parts.h"

typedef struct ProofWork {
    LogReader *reader;
    Arena *arena;
    EpisodeRow row; // as it is in the same moment as the chunks
    ProofFound *found;
    void *context;
    uint64_t told;
    ProofSeen seen;            // of a group: what this proof is of
    bool is_seen;              // it was proven by this connection, and nobody has written since
    LogChunk definition, seal; // as far as they were read
} ProofWork;

// `row` Nullable: of no chunk.
void proof_tell(ProofWork *work, uint64_t step, const ChunkRow *row, const char *quantity,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

// Opens it. False: it is damaged, and that was told; or *error is set.
bool proof_open_row(ProofWork *work, const ChunkRow *row, LogChunk *chunk, Error *error);

// What stands in an opened chunk is damaged.
void proof_tell_body(ProofWork *work, const ChunkRow *row, const Error *why);

// The rows of touches and of who touched against the chunks of events.
Status proof_check_touches(ProofWork *work, const ChunkRow *rows, size_t row_count, Error *error);

// What chunks of geometries name is in the file, is what it is called, and is noted of the
// recording. `common`: the chain that has these chunks.
Status proof_check_geometries(ProofWork *work, const ChunkRow *common, size_t count, Error *error);

// The rows of recording, episode and labels against definition and seal.
void proof_check_facts(ProofWork *work, const Proof *proof);

// The indexes that lead to the episode, to its recording and to what touched in it.
Status proof_check_indexes(ProofWork *work, Error *error);

// An episode of a group against the chunk of finished episodes that has it.
Status proof_check_group(ProofWork *work, const ChunkRow *common, size_t count, Error *error);

// ---- proof_kept.c

Status proof_look_at_seen(LogReader *reader, const EpisodeRow *row, ProofSeen *seen, Error *error);
bool proof_is_seen(const LogReader *reader, const ProofSeen *seen);
void proof_forget(LogReader *reader);
void proof_keep(ProofWork *work, const Proof *proof, const ChunkRow *common, size_t common_count);
Status proof_take_kept(ProofWork *work, Proof *proof, const ChunkRow **common, size_t *common_count,
                       Error *error);
bool proof_find_record(const ProofWork *work, uint64_t number, EpisodeRecord *record);
void proof_keep_records(ProofWork *work, const LogChunk *chunk);
