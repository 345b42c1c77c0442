// SPDX-License-Identifier: MIT
// Chunks: what a recording is stored in. A chunk is one BLOB that says in its sealed part what it
// is, whose it is, where it stands and what stood before it, so that nothing of a recording can be
// damaged, missing, moved, doubled or exchanged unnoticed.
//
//   at  what                                                           as
//    0  "MOREAUCK"
//    8  format version (4; of what tells of joints 5, of events 6, of
//      gains 7, of gains and opinions 8, of geometries 10, of
//      signatures 11), kind                                          u32 each
//   16  uid of the recording                                           16 bytes
//   32  sequence number in its chain, from 0                           u64
//   40  first world, number of worlds                                  u32 each
//   48  first step, last step                                          u64 each
//   64  simulated time since step 0, at the last step [s]              f64
//   72  when it was written [ns] since 1970                            u64
//   80  figures of its steps (inputs alone, else zeros):
//         steps that did not converge                                  u64
//         largest residual of the solver's own model                   f64
//         deepest overlap [m]                                          f64
//         most contacts                                                u64
//         hardest impact [m/s], its step                               f64, u64
//         largest gain of energy [J], its step                         f64, u64
//         solver                                                       16 bytes, text
//  160  flags (1: the body is compressed)                              u32
//  164  0                                                              u32
//  168  checksum of the chunk before it in its chain; of the first 0   u64
//  176  bytes of the body                                              u64
//  184  checksum                                                       u64
//  192  body
//
// Numbers are little-endian, doubles their IEEE 754 bits. The checksum is base/hash over the header
// without it and the body, with seed 0.
//
// Chains: a recording of one world is one chain. One of a group has a chain for the group as a
// whole (definition, scenes, geometries, episodes, signatures, seal; first world 0, all worlds) and
// one for each range of worlds (everything else), so that one world is read without the others.
//
// Steps are counted from the start of the recording: step 0 is the state it began with, step k the
// state right after the k-th step, before any later change. (A world's own count may jump, when a
// snapshot is restored; these do not.)
//
//   kind        first step, last step                       body
//   key-frame   both the step it shows                      a snapshot (step/snapshot/); of a range
//                                                           run/groups/keyframe.h
//   inputs      before its first entry, after its last      from version 7 on three figures more:
//                                                           energy gained [J] (base/gain.h): sum,
//                                                           scale, step; entries (entries.h)
//   frames      of the first and the last frame             frames (frames.h)
//   contacts    of the first and the last list              contact lists (frames.h)
//   gap         before and after the steps that were lost   none: a lossy recording dropped them,
//                                                           and the next chunk is a key-frame
//   definition  0                                           what is recorded (definition.h)
//   seal        0, the last                                 how it ended (definition.h)
//   episodes    0, the last of any                          finished episodes (definition.h)
//   scene       both the step it was so                     message Scene, printed as JSON
//   highlights  as the inputs behind it                     stretches of steps (definition.h)
//   events      as the inputs behind it                     who touched whom (events.h)
//   geometries  both the step from which they are worn      names of geometries (geometries.h)
//   geometry    0                                           the bytes of one (geometries.h)
//   signature   both the last step of what it is of         who says that it was so (signature.h)
//
// A chain begins with the definition and ends with the seal. The frames, contacts, highlights and
// events of steps stand before the inputs that led to them: who has the inputs has all. A key-frame
// holds everything that came before it; what is to be done after it stands in the inputs behind it.
// Key-frames, definitions of groups and inputs name geometries by the SHA-256 of their bytes, and
// chunks of geometries, in front of whatever names them first, say which these are. The bytes stand
// once per file, in a chunk that is of no recording and in no chain: its uid is the beginning of
// the name. (Up to version 10 of the file they stood in each of these.)
// Versions 2 and 3, which are read as well, had shorter highlights. Version 5 is that of frames
// with joints, and was that of highlights of joints that broke, and of the inputs that broke them;
// version 6 is that of events, and of the definition of a recording that has some, and was that of
// its seal and of episodes of groups with an opinion; version 7 is that of what tells what energy
// was gained: inputs of a world, their highlights, its seal, episodes of groups; version 8 of these
// with an opinion; version 9 is that of contacts of parts, version 10 of geometries and of the
// seals that count them, version 11 of signatures and of the seals that count these; all else is
// still version 4 to the byte.
#pragma once

#include "base/bytes.h"
#include "base/gain.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHUNK_HEADER_BYTES = 192 };
// What energy was gained, behind the header; and what of a chunk says all about it but its body.
enum { CHUNK_GAIN_BYTES = 24, CHUNK_HEAD_BYTES_MAX = CHUNK_HEADER_BYTES + CHUNK_GAIN_BYTES };
enum { CHUNK_FORMAT_VERSION = 11, CHUNK_FORMAT_OLDEST = 2 };

// Since when highlights say why steps did not converge, and what convex friction launched; and what
// breaks, and what joints do, is told; and who touches whom; and, of episodes of groups that have
// an opinion (GroupOpinion), what came of it; and what energy was gained, which made that of those
// with an opinion another version; and which parts of bodies touch; and which geometries are worn;
// and who signed it.
enum {
    CHUNK_FORMAT_REASONS = 3,
    CHUNK_FORMAT_LAUNCHES = 4,
    CHUNK_FORMAT_JOINTS = 5,
    CHUNK_FORMAT_EVENTS = 6,
    CHUNK_FORMAT_OPINIONS = 6,
    CHUNK_FORMAT_GAINS = 7,
    CHUNK_FORMAT_GAINS_AND_OPINIONS = 8,
    CHUNK_FORMAT_PARTS = 9,
    CHUNK_FORMAT_GEOMETRIES = 10,
    CHUNK_FORMAT_SIGNATURES = 11
};
enum { CHUNK_SOLVER_BYTES = 16 }; // with its zero
enum { CHUNK_COMPRESSED = 1 };    // flag: known, and not read by this version
enum { UID_BYTES = 16, UID_TEXT_BYTES = 2 * UID_BYTES + 1 };

// In hexadecimal, as people and the protocol write it.
void uid_text(const uint8_t uid[UID_BYTES], char text[UID_TEXT_BYTES]);

// Of all its digits. false: they are none.
bool uid_read(const char *text, uint8_t uid[UID_BYTES]);

// A recording's uid ends in four zeros; an episode's has its number there (the highest byte first).
// So the first episode's is the recording's, which number 0 makes of that of any of them.
void uid_of_episode(const uint8_t recording[UID_BYTES], uint32_t number, uint8_t uid[UID_BYTES]);

#define CHUNK_KIND_MAP(X)                                                                          \
    X(KEYFRAME, "key-frame")                                                                       \
    X(INPUTS, "inputs")                                                                            \
    X(FRAMES, "frames")                                                                            \
    X(CONTACTS, "contacts")                                                                        \
    X(GAP, "gap")                                                                                  \
    X(DEFINITION, "definition")                                                                    \
    X(SEAL, "seal")                                                                                \
    X(EPISODES, "episodes")                                                                        \
    X(SCENE, "scene")                                                                              \
    X(HIGHLIGHTS, "highlights")                                                                    \
    X(EVENTS, "events")                                                                            \
    X(GEOMETRIES, "geometries")                                                                    \
    X(GEOMETRY, "geometry")                                                                        \
    X(SIGNATURE, "signature")

typedef enum ChunkKind {
    CHUNK_NONE,
#define X(upper, name) CHUNK_##upper,
    CHUNK_KIND_MAP(X)
#undef X
        CHUNK_KIND_COUNT
} ChunkKind;

// "key-frame", "inputs", …; "unknown" for none of them
const char *chunk_kind_name(uint32_t kind);

// Whether chunks of this kind are the whole group's, and not a range of worlds'.
bool chunk_kind_is_common(ChunkKind kind);

// Of the steps of an inputs chunk, of an episode, of a recording; zeros: none.
typedef struct StepFigures {
    uint64_t unconverged_steps;
    double worst_own;         // largest e_own
    double worst_penetration; // [m]
    uint64_t contacts_max;
    double hardest_impact; // [m/s] largest approach speed of a contact that pushed
    uint64_t hardest_impact_step;
    double energy_gain; // [J] largest that no force applied explains
    uint64_t energy_gain_step;
    uint64_t has_gain; // 0: not known, as of what was recorded before version 7
    Gain gain;         // what scheme and rows gained
} StepFigures;

// Adds what other steps amounted to.
void step_figures_add(StepFigures *figures, const StepFigures *more);

// Eight numbers, in the order of the struct; the gain is left out.
void sink_figures(Sink *sink, const StepFigures *figures);
void source_figures(Source *source, StepFigures *figures);

// Three numbers.
void sink_gain(Sink *sink, const StepFigures *figures);
void source_gain(Source *source, StepFigures *figures);

typedef struct Chunk {
    ChunkKind kind;
    uint32_t version;       // of its format; 0: CHUNK_FORMAT_LAUNCHES, which has no joints
    uint8_t uid[UID_BYTES]; // of its recording
    uint64_t sequence;
    uint32_t first_world, world_count;
    uint64_t first_step, last_step;
    double time;         // [s] simulated since step 0
    uint64_t written_ns; // since 1970
    StepFigures figures;
    char solver[CHUNK_SOLVER_BYTES];
    uint32_t flags;
    uint64_t predecessor, checksum;
    const uint8_t *body; // borrowed
    size_t body_bytes;
} Chunk;

static inline uint32_t chunk_version(const Chunk *chunk) {
    return chunk->version == 0 ? (uint32_t)CHUNK_FORMAT_LAUNCHES : chunk->version;
}

// Whether what energy was gained stands between its header and its body.
bool chunk_has_gain(const Chunk *chunk);

// Where the body of a chunk like this stands.
static inline size_t chunk_body_offset(const Chunk *chunk) {
    return chunk_has_gain(chunk) ? CHUNK_HEAD_BYTES_MAX : CHUNK_HEADER_BYTES;
}

// Fills the header of a chunk whose body stands chunk_body_offset behind `bytes`, and what stands
// between them; of `chunk`, checksum and body are not looked at. Returns the checksum.
uint64_t chunk_seal(uint8_t *bytes, size_t count, const Chunk *chunk);

// What the first bytes of a chunk, CHUNK_HEAD_BYTES_MAX at most, say, whether it is whole or not:
// the body is not looked at, and its bytes are all behind the header. DATA_LOSS when they are no
// header.
Status chunk_read_head(const uint8_t *bytes, size_t count, Chunk *chunk, Error *error);

// Any bytes. DATA_LOSS says what is wrong with them in half a sentence ("its checksum is wrong:
// …"), here and where bodies are read: the caller knows which chunk it was. `uid` Nullable: any
// recording's.
Status chunk_open(const uint8_t *bytes, size_t count, const uint8_t *uid, Chunk *chunk,
                  Error *error);
