// SPDX-License-Identifier: MIT
// Chunks of one kind of a recording, one after the other: what players walk along.
#pragma once

#include "log/format/frames.h"
#include "log/reader/reader.h"

// Chunks of one kind, one in memory at a time.
typedef struct Track {
    ChunkKind kind;
    Arena arena;      // of the chunk at hand
    int64_t id;       // of the chunk at hand; 0: none
    bool has_place;   // it stands somewhere: else before everything
    ChunkPlace place; // of the chunk at hand, or of what the next one comes behind
    bool is_loaded;   // a chunk is at hand
    bool is_synced;   // it is the right one for where the player stands
    bool has_ended;   // there was none behind it
    bool is_begun;    // what stands in it has been looked at
    LogChunk chunk;
    Error damage;       // of the chunk at hand; status OK: it is sound
    FrameChunk frames;  // what the chunk at hand holds, of frames that are begun
    size_t at;          // in its body; of frames: the index of the next one
    uint64_t next_step; // nothing of it is about an earlier step

    // of frames and contacts: what is missed
    bool has_seen;         // one of seen_step
    bool is_in_hole;       // some are missing up to here, and that was told
    uint64_t seen_step;    // of the last one met
    uint64_t excused_step; // up to here a damaged chunk is to blame
} Track;

// Reads the chunk behind the one at hand. A damaged one is at hand as well, with `damage` set. The
// status is for what is nobody's damage: memory, the file.
Status track_load(Track *track, const EpisodeRow *episode, LogReader *reader, Error *error);

// Lets go of the chunk at hand.
void track_drop(Track *track);

// The next chunk is the first behind this place.
void track_place(Track *track, ChunkPlace place);

// Marks the chunk at hand as damaged: `what` goes on from "Chunk 12 (frames) is damaged: ".
void track_damage(Track *track, const char *what);
