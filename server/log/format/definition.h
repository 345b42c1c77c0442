// SPDX-License-Identifier: MIT
// What a recording is, how it ended, what became of its worlds: the bodies of the chunks from which
// every row of the file can be made again, and against which every row is checked. Numbers are
// u64 or f64, texts a length (u64) and bytes; each body is padded to 8.
//
//   definition = content, stride, key-frame steps, lossy, number of worlds, worlds of a range,
//                dynamics version, world's step, world's time, time step, bodies, begun [ns],
//                has seed, seed, has parent, parent (16 bytes), parent's step,
//                name, solver, client, world's name, server's version, build,
//                number of labels, label …; of a group, behind padding to 8: its bytes
//                (run/groups/code.h; a length and bytes); from version 6 on, behind padding to 8:
//                whether events are recorded
//   seal       = state, last step, time, dropped steps, ended [ns], is found, episodes, figures
//                (8), chunks by kind (11; from version 6 on 12, 10 on 14, 11 on 15), number of
//                chains, chain: first world and number of worlds (u32 each), chunks, checksum of
//                the last; why; from version 7 on, behind padding to 8: energy gained (3)
//   episodes   = first number, count, column of each of: world, first step, last step, state,
//                has seed, seed, has return, return, time, begun, ended, figures (8 columns),
//                parent's step, length, turn; from version 7 of a chunk's format on: energy
//                gained (3 columns); in versions 6 and 8, of groups with an opinion: doubtful
//                steps, has return of these, return of these, opinions, their largest gap; then
//                parent (16 bytes each; zeros: none)
//   highlights = count, highlight …: kind, first step, last step, step, value, reason, body,
//                contacts (these three from version 3 of a chunk's format on), other body, height
//                (from version 4 on), joint (from version 5 on)
#pragma once

#include "base/arena.h"
#include "log/format/chunk.h"

#include <stdbool.h>

typedef enum RecordingContent { CONTENT_INPUTS, CONTENT_FRAMES, CONTENT_CONTACTS } RecordingContent;

typedef enum RecordingState {
    RECORDING_OPEN,
    RECORDING_COMPLETE,
    RECORDING_WORLD_DESTROYED,
    RECORDING_INTERRUPTED, // the server was killed, the disk was full, or the file went away
    RECORDING_STATE_COUNT
} RecordingState;

const char *recording_state_name(RecordingState state);       // "recording", "complete", …
const char *recording_content_name(RecordingContent content); // "inputs", "frames", "contacts"

// What is known of a recording when it begins. Texts are borrowed.
enum { RECORDING_SPACE_BYTES = 64 }; // of a namespace's name, with its zero

typedef struct RecordingDef {
    uint8_t uid[UID_BYTES]; // ends in four zeros
    RecordingContent content;
    uint64_t stride;         // steps between frames
    uint64_t keyframe_steps; // steps between key-frames
    bool lossy;
    bool has_events;      // who touches whom: not of a group, nor of a lossy recording
    uint32_t world_count; // of a group; else 1
    uint32_t world_range; // worlds per chunk of a group, of one world 2; else 1
    const uint8_t *group; // of a group: what it is, and what its worlds begin as. Borrowed
    size_t group_bytes;
    const char *name; // of its episodes
    size_t label_count;
    const char *const *label;
    const char *client, *world_name, *solver;
    const char *space; // Nullable: the namespace that sees it. Stands in its row alone, not in what
                       // is sealed
    const char *server_version, *build; // the log's, unless given
    bool has_seed;
    uint64_t seed;
    bool has_parent; // forked from an episode …
    uint8_t parent[UID_BYTES];
    uint64_t parent_step; // … behind this step of it
    uint64_t dynamics_version;
    uint64_t world_step; // the world's own count at step 0
    double world_time;   // [s]
    double time_step;    // [s]
    uint64_t body_count;
    uint64_t begun_ns; // since 1970; the log's, when it is begun
} RecordingDef;

// Whether a recording is of a group, be it of one world.
static inline bool recording_is_group(uint64_t world_count, uint64_t world_range) {
    return world_count > 1 || world_range > 1;
}

// Version of the format that a chunk of it has.
static inline uint32_t definition_version(const RecordingDef *def) {
    return def->has_events ? CHUNK_FORMAT_EVENTS : CHUNK_FORMAT_LAUNCHES;
}

// Writes a body; with `bytes` NULL it only counts. Returns the number of bytes.
size_t definition_write(const RecordingDef *def, uint8_t *bytes);

// The texts are the arena's. DATA_LOSS when the body is none; RESOURCE_EXHAUSTED.
Status definition_read(const Chunk *chunk, Arena *arena, RecordingDef *def, Error *error);

typedef struct ChainEnd {
    uint32_t first_world, world_count;
    uint64_t chunk_count; // the seal itself not among them
    uint64_t checksum;    // of the last; 0: none
} ChainEnd;

// How a recording ended.
typedef struct RecordingSeal {
    RecordingState state;
    uint64_t last_step;
    double time; // [s] simulated
    uint64_t dropped_steps;
    uint64_t ended_ns; // since 1970
    bool is_found;     // nobody ended it: somebody who came later says what was there
    uint64_t episode_count;
    StepFigures figures;
    uint64_t chunk_count[CHUNK_KIND_COUNT]; // seals not among them
    size_t chain_count;
    ChainEnd *chain;
    const char *why; // of an interruption, or ""
} RecordingSeal;

// Version of the format that a chunk of it has: how many kinds it counts, and whether it tells what
// energy was gained.
static inline uint32_t seal_version(const RecordingSeal *seal) {
    return seal->chunk_count[CHUNK_SIGNATURE] > 0    ? CHUNK_FORMAT_SIGNATURES
           : seal->chunk_count[CHUNK_GEOMETRIES] > 0 ? CHUNK_FORMAT_GEOMETRIES
           : seal->figures.has_gain                  ? CHUNK_FORMAT_GAINS
           : seal->chunk_count[CHUNK_EVENTS] > 0     ? CHUNK_FORMAT_EVENTS
                                                     : CHUNK_FORMAT_LAUNCHES;
}

// Where in the body of a seal of a recording with signatures the checksum of the last chunk in the
// chain of all stands: behind seven numbers, figures, kinds, how many chains, and of the first its
// worlds and chunks.
enum { SEAL_AT_CHECKSUM = 8 * (7 + 8 + (CHUNK_SIGNATURE + 1) + 1 + 2) };

// With `bytes` NULL it counts what it takes at most.
size_t seal_write(const RecordingSeal *seal, uint8_t *bytes);
Status seal_read(const Chunk *chunk, Arena *arena, RecordingSeal *seal, Error *error);

// A finished episode of a group. Its world's steps are counted by the calls on its range of worlds:
// it began in the first_step-th, and ended in the last_step-th. One that was going on when a group
// went on from a recording begins with the first key-frame, at call 0: that recording is its
// parent, and so many of its steps are there as parent_step says; they are not counted here. One
// that was saved without being recorded has such steps too, and no parent.
typedef struct EpisodeRecord {
    uint32_t world;
    RecordingState state;
    uint64_t first_step, last_step; // of the recording
    uint64_t length;                // steps of the group in it
    uint64_t turn;                  // which of its seed's, from 0
    bool has_seed, has_return;
    uint64_t seed;
    double return_sum; // what the client counted
    double time;       // [s] simulated
    uint64_t begun_ns, ended_ns;
    StepFigures figures;
    uint8_t parent[UID_BYTES]; // zeros: none
    uint64_t parent_step;
    // of a group with an opinion; else zeros
    bool has_opinion, has_return_doubtful;
    uint64_t doubtful_steps; // with bad certificates
    double return_doubtful;  // what the client counted in them
    uint64_t opinions;       // steps that were solved again
    double opinion_gap_max;  // of those whose exact answer was found
} EpisodeRecord;

enum { EPISODES_HEAD_BYTES = 16 };

// As chunks of a version have them. With `bytes` NULL it only counts. Returns the number of bytes.
size_t episodes_write(uint64_t first_number, const EpisodeRecord *records, size_t count,
                      uint32_t version, uint8_t *bytes);

// Columns, read one episode at a time.
typedef struct EpisodesChunk {
    uint64_t first_number;
    size_t count;
    uint32_t version;       // of the chunk
    const uint8_t *columns; // borrowed
} EpisodesChunk;
Status episodes_open(const Chunk *chunk, EpisodesChunk *episodes, Error *error);
void episodes_get(const EpisodesChunk *episodes, size_t index, EpisodeRecord *record);

typedef enum HighlightKind {
    HIGHLIGHT_UNCONVERGED = 1, // value: the worst e_own
    HIGHLIGHT_IMPACT = 2,      // value: approach speed [m/s]
    HIGHLIGHT_ENERGY_GAIN = 3, // value: [J]
    HIGHLIGHT_LAUNCH = 4,      // value: normal velocity that convex friction added [m/s]
    HIGHLIGHT_BROKEN = 5,      // value: how many joints broke
    HIGHLIGHT_KIND_COUNT
} HighlightKind;

const char *highlight_kind_name(HighlightKind kind); // "unconverged", "impact", "energy_gain", …

// A stretch of steps that somebody will want to look at, and the worst of them. Of steps that did
// not converge: why the work on the island that was left furthest from being solved ended, as
// numbers of the wire, and a body of it, both of them the same in all steps of the stretch. Of a
// launch: the bodies of the contact that it was fastest at, and how high the highest one glides.
typedef struct Highlight {
    HighlightKind kind;
    uint64_t first_step, last_step, step;
    double value;
    uint64_t reason;   // 0: it is of another kind, or was written before reasons were
    uint64_t body;     // id, at the island's worst contact, or at the launch; 0: none
    uint64_t contacts; // of the island, in the worst step
    uint64_t other;    // id, of a launch: the other body
    double height;     // [m] of a launch
    uint64_t joint;    // id, of what broke: the first in the worst step
} Highlight;

enum { HIGHLIGHT_BYTES = 80, HIGHLIGHT_BYTES_WITH_JOINT = 88 };

// As chunks of a version have them, of those kinds that it knows. With `bytes` NULL it only counts.
// Returns the number of bytes.
size_t highlights_write(const Highlight *highlights, size_t count, uint32_t version,
                        uint8_t *bytes);
// Whether the body is highlights, and how many.
Status highlights_open(const Chunk *chunk, size_t *count, Error *error);
Highlight highlights_get(const Chunk *chunk, size_t index);
