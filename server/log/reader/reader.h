// SPDX-License-Identifier: MIT
// Reading the file: episodes by filter, chunks by step. A reader is one read-only connection, for
// one thread at a time; its transactions last one call. Nothing it reads is trusted, and every walk
// ends: chunks come in an order that never leads back.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "base/context.h"
#include "log/format/chunk.h"
#include "log/format/events.h"
#include "log/format/definition.h"
#include "log/format/geometries.h"

typedef struct LogReader LogReader;

Status log_reader_open(const char *path, LogReader **reader, Error *error);
void log_reader_close(LogReader *reader); // Nullable

// From now on episodes and recordings are found and listed of this namespace alone, which is
// borrowed. NULL: of all, as it begins. What was found is read whoever it belongs to.
void log_reader_see(LogReader *reader, const char *space);

// How many episodes there are of the namespace that it sees (log_reader_see), which is one, and
// what their chunks take, and the geometries that they name.
Status log_reader_measure(LogReader *reader, uint64_t *episodes, uint64_t *bytes, Error *error);

// A note for whoever has the connection next: which list of a group's episodes was found to be one
// to one with the calls, and its group to be what the recording says, by how its chains end.
typedef struct ListMark {
    uint8_t recording[UID_BYTES];
    uint64_t first_world;             // of the range
    uint64_t list_end, calls_end;     // checksums of the last chunks
    uint64_t list_count, calls_count; // chunks; of a recording without a seal 0
} ListMark;

// Leaves it, in the place of the oldest where there are many: episodes of all ranges of a group are
// asked for by turns. One without chunks says nothing, as there may be more by now.
void log_reader_note(LogReader *reader, const ListMark *mark);
bool log_reader_knows(const LogReader *reader, const ListMark *mark);

// One episode. Texts and arrays are the arena's.
typedef struct EpisodeRow {
    uint8_t uid[UID_BYTES];
    uint8_t recording_uid[UID_BYTES];
    int64_t recording; // row ids
    int64_t episode;
    uint64_t number; // in its recording
    const char *name, *client, *world_name, *solver, *server_version, *build;
    const char *why; // of an interruption, or ""
    size_t label_count;
    const char **label;
    RecordingState state;           // of the episode
    RecordingState recording_state; // of its recording
    RecordingContent content;
    uint64_t stride, keyframe_steps;
    bool lossy, has_seed, has_return, has_parent, is_pinned;
    bool has_events; // who touches whom was recorded
    uint64_t seed, dynamics_version;
    double return_sum;
    uint8_t parent[UID_BYTES];
    uint64_t parent_step;
    uint64_t world_index, world_count, world_range;
    uint64_t first_step, last_step;  // of one being recorded: committed so far; of a group's 0 and
                                     // the length, …
    bool is_group;                   // … and:
    uint64_t begun_call, ended_call; // which calls on its range of worlds it began and ended in
    uint64_t turn;                   // which of its seed's it is
    bool has_opinion, has_return_doubtful; // of a group with an opinion
    uint64_t doubtful_steps, opinions;
    double return_doubtful, opinion_gap_max;
    uint64_t world_step; // the world's own count at step 0 of the recording
    double world_time, time_step;
    double time; // [s] simulated
    uint64_t body_count;
    uint64_t begun_ns, ended_ns; // of the episode: wall clock, since 1970; ended 0: not yet
    uint64_t recording_begun_ns, recording_ended_ns;
    uint64_t dropped_steps;
    StepFigures figures;
    bool has_figures; // in its row; else they were added up
    uint64_t bytes, chunk_count, keyframe_count, frame_chunk_count; // of the recording
    char odd[32];       // first column that holds what nobody writes; "": none
    const char *damage; // Nullable; in a list: why it cannot be read, and then all else is 0
} EpisodeRow;

// A body by its id, or by its whole name; neither: any.
typedef struct TouchBody {
    uint64_t id;      // 0: not by it
    const char *name; // NULL: not by it
} TouchBody;

static inline bool touch_body_is_any(const TouchBody *body) {
    return body->id == 0 && body->name == NULL;
}

// Which touches are meant.
typedef struct TouchFilter {
    TouchBody body, other; // either may be the one with the smaller id
    uint64_t after;        // begun behind this step
    uint64_t before;       // begun in front of it; UINT64_MAX: whenever
    double impulse_above;  // [N s] below 0: however hard
    double speed_above;    // [m/s] below 0: however fast
} TouchFilter;

static inline TouchFilter touch_filter_any(void) {
    return (TouchFilter){.before = UINT64_MAX, .impulse_above = -1.0, .speed_above = -1.0};
}

enum { FILTER_TOUCHES_MAX = 8, FILTER_HIGHLIGHTS_MAX = 8 };

// The row is there until this returns. false: no more are wanted.
typedef bool EpisodeSeen(void *context, const EpisodeRow *row);

typedef struct EpisodeFilter {
    const char *name;            // part of the name, any case; NULL: any
    const char *label;           // one of its labels; NULL: any
    const char *solver;          // NULL: any
    const char *client;          // NULL: any
    int state;                   // RecordingState; -1: any
    const uint8_t *recording;    // uid; NULL: any
    uint64_t since_ns, until_ns; // begun in [since, until); 0: open
    size_t touch_count;          // each of these was among its touches
    const TouchFilter *touch;    // [touch_count]
    size_t highlight_count;      // it has some of each of these kinds
    const HighlightKind *highlight;
    uint64_t first, count;
    bool is_by_doubt;       // in the order of their doubtful shares, of which that is known
    const Context *context; // Nullable: ABORTED when it says so
    EpisodeSeen *seen;      // Nullable: shown each row, of which none is kept
    void *seen_context;
} EpisodeFilter;

// What of its return was earned in doubtful steps, as a share of both parts: -1 … 1.
double episode_doubtful_share(const EpisodeRow *row);

// The newest first: by id, or by when they were begun where state or time are asked for without a
// label, or by when their recordings were where the client is. One that cannot be read stands in
// its place, with what is wrong.
typedef struct EpisodeRows {
    EpisodeRow *row;
    size_t count;
    uint64_t total;   // all that match
    uint64_t unknown; // where touches are asked for: those that match all else, and have none noted
} EpisodeRows;

Status log_reader_list(LogReader *reader, const EpisodeFilter *filter, Arena *arena,
                       EpisodeRows *rows, Error *error);

// By uid in hexadecimal, by an unmistakable beginning of one (4 digits at least), or by a name that
// only one episode has. NOT_FOUND; INVALID_ARGUMENT when several fit.
Status log_reader_find(LogReader *reader, const char *text, Arena *arena, EpisodeRow *row,
                       Error *error);

// A recording by the uid of any of its episodes, an unmistakable beginning of that, or a name that
// only one recording has: as a row of its first world, of which only what is the recording's is
// filled in. Errors as of log_reader_find.
Status log_reader_recording(LogReader *reader, const char *text, EpisodeRow *row, Error *error);

// Of each finished episode of a group's recording: its world, the call on its range of worlds that
// ended it, and whether that was its own end. `each` says whether to go on; else ABORTED.
typedef bool ReaderEnd(uint64_t world, uint64_t call, bool is_complete, void *context);
Status log_reader_ends(LogReader *reader, const EpisodeRow *recording, ReaderEnd *each,
                       void *context, Error *error);

// The stretches of steps of an episode that somebody will want to look at: those of one kind that
// matter most first. At most `count_max`; `total` counts all.
Status log_reader_highlights(LogReader *reader, const EpisodeRow *episode, HighlightKind kind,
                             size_t count_max, Arena *arena, Highlight **highlights, size_t *count,
                             uint64_t *total, Error *error);

// Touches of an episode that has_events, by their first steps, then by their bodies.
typedef struct TouchRows {
    Touch *touch;
    size_t count;
    uint64_t total;           // all that are meant
    const uint64_t *named;    // [named_count] bodies of these touches that have a name, rising …
    const char *const *names; // … and that
    size_t named_count;
} TouchRows;

// The bodies of these touches, each once, rising; `ids` has room for two of each touch. How many.
size_t touch_rows_bodies(const TouchRows *rows, uint64_t *ids);

typedef struct TouchQuery {
    TouchFilter where;
    uint64_t first, count;
    const Context *context; // Nullable: ABORTED when it says so
} TouchQuery;

Status log_reader_touches(LogReader *reader, const EpisodeRow *episode, const TouchQuery *query,
                          Arena *arena, TouchRows *rows, Error *error);

typedef struct LogChunk {
    int64_t id; // of its row
    Chunk chunk;
} LogChunk;

// Chunks of the episode's world, in memory of the arena. All return NOT_FOUND when there is none,
// and DATA_LOSS for a damaged one, with its id in found->id and a message that names it; kind,
// sequence and steps in found->chunk are then as the row says. DATA_LOSS without an id: the file's
// indexes and tables say different things.

// The last chunk of this kind that begins at or before `step`.
Status log_reader_at(LogReader *reader, const EpisodeRow *episode, ChunkKind kind, uint64_t step,
                     Arena *arena, LogChunk *found, Error *error);

// Where a walk stands: chunks come in order by the step where they begin, and those of one step by
// sequence number.
typedef struct ChunkPlace {
    uint64_t first_step, sequence;
} ChunkPlace;

static inline ChunkPlace chunk_place(const Chunk *chunk) {
    return (ChunkPlace){.first_step = chunk->first_step, .sequence = chunk->sequence};
}
static inline bool chunk_place_is_before(ChunkPlace a, ChunkPlace b) {
    return a.first_step != b.first_step ? a.first_step < b.first_step : a.sequence < b.sequence;
}

// The first chunk of this kind behind that place, which may be of a chunk of another kind; NULL:
// the very first.
Status log_reader_next(LogReader *reader, const EpisodeRow *episode, ChunkKind kind,
                       const ChunkPlace *behind, Arena *arena, LogChunk *found, Error *error);
// The chunk of this id.
Status log_reader_get(LogReader *reader, const EpisodeRow *episode, ChunkKind kind, int64_t id,
                      Arena *arena, LogChunk *found, Error *error);

// The geometry of that name, of which the arena has the bytes, checked against it. NOT_FOUND: it is
// not in this file; DATA_LOSS: it is damaged there. The message names it either way.
Status log_reader_geometry(LogReader *reader, const uint8_t name[SHA256_BYTES], Arena *arena,
                           LogGeometry *geometry, Error *error);

// Rows of chunks with the header of their bytes, in that order: what verification is planned from.
typedef struct ChunkRow {
    int64_t id;
    ChunkKind kind;
    uint64_t first_step, last_step, sequence, bytes;
    bool has_head; // the bytes begin as a chunk does
    Chunk head;    // what they say of themselves; its body is not read
    char odd[32];  // first column that is not what the header says; "": none
} ChunkRow;
Status log_reader_chunks(LogReader *reader, const EpisodeRow *episode, ChunkKind kind, Arena *arena,
                         ChunkRow **rows, size_t *count, Error *error);
