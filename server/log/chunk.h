// SPDX-License-Identifier: MIT
// Chunks: what a recording is stored in. A chunk is one BLOB with a length and a checksum, so that
// damage is found wherever it struck, and a chunk that was moved to another recording or another
// place as well.
//
//   chunk = "MOREAUCK", format version (u32), kind (u32), recording uid (16 bytes), first step
//           (u64), last step (u64), body bytes (u64), checksum (u64), body
//
// Numbers are little-endian, doubles their IEEE 754 bits. The checksum is base/hash over the header
// without it and the body, with seed 0.
//
// Steps are counted from the start of the recording: step 0 is the state it began with, step k the
// state right after the k-th step, before any later change. (A world's own count may jump, when a
// snapshot is restored; these do not.)
//
//   kind       first step, last step                       body
//   key-frame  both the step it shows                      a snapshot (step/snapshot.h)
//   inputs     before its first entry, after its last      entries (log/entries.h)
//   frames     of the first and the last frame             frames (log/frames.h)
//   contacts   of the first and the last list              contact lists (log/frames.h)
//   gap        before and after the steps that were lost   none: a lossy recording dropped them,
//                                                          and the next chunk is a key-frame
//
// The chunks of a recording are in order by their row's id, and the frames and contacts of steps
// stand before the inputs that led to them: who has the inputs has all. A key-frame holds
// everything that came before it; what is to be done after it stands in the inputs behind it.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { CHUNK_HEADER_BYTES = 64 };
enum { CHUNK_FORMAT_VERSION = 1 };
enum { UID_BYTES = 16, UID_TEXT_BYTES = 2 * UID_BYTES + 1 };

// In hexadecimal, as people and the protocol write it.
void uid_text(const uint8_t uid[UID_BYTES], char text[UID_TEXT_BYTES]);

typedef enum ChunkKind {
    CHUNK_KEYFRAME = 1,
    CHUNK_INPUTS = 2,
    CHUNK_FRAMES = 3,
    CHUNK_CONTACTS = 4,
    CHUNK_GAP = 5
} ChunkKind;

// "key-frame", "inputs", …; "unknown" for none of them
const char *chunk_kind_name(uint32_t kind);

typedef struct Chunk {
    ChunkKind kind;
    uint64_t first_step, last_step;
    const uint8_t *body; // borrowed
    size_t body_bytes;
} Chunk;

// Fills the header of a chunk whose body stands CHUNK_HEADER_BYTES behind `bytes`.
void chunk_seal(uint8_t *bytes, size_t count, ChunkKind kind, const uint8_t uid[UID_BYTES],
                uint64_t first_step, uint64_t last_step);

// Any bytes. DATA_LOSS says what is wrong with them in half a sentence ("its checksum is wrong:
// …"), here and where bodies are read: the caller knows which chunk it was. `uid` Nullable: any
// recording's.
Status chunk_open(const uint8_t *bytes, size_t count, const uint8_t *uid, Chunk *chunk,
                  Error *error);
