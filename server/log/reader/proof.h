// SPDX-License-Identifier: MIT
// Whether the rows of an episode say what its recording's sealed chunks say, and whether those are
// all there: each in its place, behind its predecessor, once, and as many as the seal counts. What
// stands in the chunks' bodies is for others to judge: their checksums when they are opened, their
// truth when they are stepped again (replay/verify/verify.h).
//
// For an episode of a group only the chunks of the whole and of its own range of worlds are read.
#pragma once

#include "log/reader/reader.h"

// What is not as it should be.
typedef struct ProofFind {
    uint64_t step;
    int64_t chunk;     // row id; 0: none
    ChunkKind kind;    // of that chunk
    char quantity[32]; // column or fact, as recording.stride; "": none
    char message[384];
} ProofFind;

typedef void ProofFound(const ProofFind *find, void *context);

typedef struct Proof {
    ChunkRow *row; // of the episode's chain, in order; the arena's
    size_t row_count;
    RecordingDef def;   // where has_definition
    RecordingSeal seal; // where has_seal
    bool has_definition, has_seal;
    bool is_sealed;       // by whoever recorded it; else nobody knows what was behind the end
    uint64_t proven_step; // up to here there are chunks
} Proof;

// `found` is told of each find. Errors are nobody's damage, or the file's as a whole.
Status proof_make(LogReader *reader, const EpisodeRow *episode, Arena *arena, ProofFound *found,
                  void *context, Proof *proof, Error *error);

// Whether this connection has opened a chunk of the proof's `row`, which was whole, and nobody has
// written since; and that it has. Of episodes of groups alone, whose chunks many share.
bool proof_has_opened(LogReader *reader, const EpisodeRow *episode, const Proof *proof,
                      size_t index);
void proof_note_opened(LogReader *reader, const EpisodeRow *episode, const Proof *proof,
                       size_t index);

// Before anything of an episode is stepped or sized by its row: DATA_LOSS when what its row says of
// bodies, content, stride, version or worlds is not what its sealed definition says.
Status proof_check_row(LogReader *reader, const EpisodeRow *episode, Error *error);
