// SPDX-License-Identifier: MIT
// The log: a thread with the only connection that writes and checkpoints, and a queue in front of
// it that is bounded by bytes.
//
//   lane: log_begin ─ log_put … log_put ─ log_end        (never block; take what they are handed)
//              │          │             │
//              ▼          ▼             ▼
//            queue ──► log thread: one transaction for all that waits ──► file
//                          │
//                          └──► LogWait.done, on the log's thread, when it is committed
//
// Whoever is about to make more chunks asks log_has_room first, and waits when there is none:
// nothing is dropped here. When a transaction fails (a full disk), every recording with a chunk in
// it has failed: what is put afterwards is thrown away, log_end answers with the error, and the
// recording is marked `interrupted` as soon as that can be written. Others go on.
#pragma once

#include "os/report.h"
#include "base/status.h"
#include "log/chunk.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct Log Log;
typedef struct LogRecording LogRecording;

typedef struct LogDef {
    const char *path;
    bool full_durability; // each transaction is on the disk when it is committed
    size_t queue_bytes_max;
    const Report *report;
    const char *server_version;
} LogDef;

// Something that waits for the log. The caller's; may be freed from within `done` on. `done` runs
// on the log's thread and must not call the log.
typedef struct LogWait LogWait;
struct LogWait {
    void (*done)(LogWait *wait);
    Error error;   // status OK, or why not: valid in `done` and after
    LogWait *next; // the log's link
};

// Opens or makes the file, closes what a crash left open as `interrupted` (and says so in the
// report), starts the thread.
Status log_open(Log **log, const LogDef *def, Error *error);

// No recording may be open. Writes what waits, checkpoints into the one file and leaves it in
// rollback-journal mode, so that any SQLite opens it, also on read-only media. Blocks.
void log_close(Log *log);

// ---- recordings

typedef enum RecordingContent { CONTENT_INPUTS, CONTENT_FRAMES, CONTENT_CONTACTS } RecordingContent;

typedef enum RecordingState {
    RECORDING_OPEN,
    RECORDING_COMPLETE,
    RECORDING_WORLD_DESTROYED,
    RECORDING_INTERRUPTED, // the server was killed, or the disk was full
    RECORDING_STATE_COUNT
} RecordingState;

const char *recording_state_name(RecordingState state);       // "recording", "complete", …
const char *recording_content_name(RecordingContent content); // "inputs", "frames", "contacts"

// What is known of an episode when it begins. Texts are borrowed during log_begin.
typedef struct RecordingDef {
    uint8_t uid[UID_BYTES];         // of the recording
    uint8_t episode_uid[UID_BYTES]; // of its one episode
    RecordingContent content;
    uint64_t stride; // steps between frames
    bool lossy;
    const char *name; // of the episode
    size_t label_count;
    const char *const *label;
    const char *client, *world_name, *solver;
    bool has_seed;
    uint64_t seed;
    uint64_t dynamics_version;
    uint64_t world_step; // the world's own count at step 0
    double world_time;   // [s]
    double time_step;    // [s]
    uint64_t body_count;
} RecordingDef;

// Figures of an inputs chunk, for SQL alone; zeros otherwise.
typedef struct ChunkFigures {
    uint64_t unconverged_steps;
    double worst_own;         // largest e_own
    double worst_penetration; // [m]
    uint64_t contacts_max;
    const char *solver; // lives forever; NULL: none
} ChunkFigures;

// Memory for a chunk, its header included; recycled, so that in a steady state nothing is
// allocated.
typedef struct LogBuffer {
    uint8_t *bytes;
    size_t used, capacity;
    struct LogBuffer *next; // the log's link
} LogBuffer;

// `used` is CHUNK_HEADER_BYTES. NULL when memory ends. Any thread.
LogBuffer *log_take_buffer(Log *log, size_t capacity);
bool log_buffer_reserve(LogBuffer *buffer, size_t capacity);
void log_give_buffer(Log *log, LogBuffer *buffer);

// Takes a recording up, and the buffer of its first key-frame, at step 0 (NULL: none yet): both are
// committed together or not at all, so that no end of the server leaves an episode without a
// beginning. `wait` is done when they are. NULL when memory ends; the buffer is still the caller's.
LogRecording *log_begin(Log *log, const RecordingDef *def, LogBuffer *keyframe, LogWait *wait);

// Queues the chunk, which is sealed on the log's thread. Takes the buffer. One thread at a time per
// recording.
void log_put(LogRecording *recording, LogBuffer *buffer, ChunkKind kind, uint64_t first_step,
             uint64_t last_step, const ChunkFigures *figures);

// False: the queue is full, and wait->done is called once when there is room again. Any thread.
bool log_has_room(Log *log, LogWait *wait);
bool log_is_full(const Log *log); // the same without waiting

// OK, or why the recording failed. Any thread.
Status log_recording_status(const LogRecording *recording, Error *error);

typedef struct RecordingEnd {
    RecordingState state;
    uint64_t last_step;
    uint64_t dropped_steps;
} RecordingEnd;

// Ends the recording; its handle is the log's from here on. `wait` (Nullable) is done when
// everything is committed and, for a recording that is complete, synced to the disk.
void log_end(LogRecording *recording, const RecordingEnd *end, LogWait *wait);

// Removes an episode, and its recording when it was the last one in it. NOT_FOUND,
// FAILED_PRECONDITION while it is being recorded.
void log_delete(Log *log, const uint8_t episode_uid[UID_BYTES], LogWait *wait);

// ---- instruments

typedef struct LogFigures {
    uint64_t queue_bytes, queue_rows;
    uint64_t transactions, rows, bytes; // since the start
    uint64_t failed_recordings;
    uint64_t open_recordings;
    uint64_t lag_ns; // age of the oldest row that waits
} LogFigures;

LogFigures log_figures(const Log *log); // any thread

const char *log_path(const Log *log);

// ---- readers: connections of their own, kept for the next who needs one

typedef struct LogReader LogReader;

Status log_take_reader(Log *log, LogReader **reader, Error *error); // any thread
void log_give_reader(Log *log, LogReader *reader);
