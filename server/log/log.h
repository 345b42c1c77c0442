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

#include "access/seal_key.h"
#include "os/report.h"
#include "base/status.h"
#include "log/format/definition.h"
#include "log/format/geometries.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct Log Log;
typedef struct LogRecording LogRecording;

// Rules of retention: what has ended and is beyond one of them is deleted, the recording that
// ended first at first, and only whole; one with a pinned episode in it, or that somebody reads,
// stays. 0: there is no such rule.
typedef struct LogKeep {
    uint64_t age_ns;   // since it ended
    uint64_t bytes;    // of the file, without its free pages; the newest recording stays
    uint64_t episodes; // the newest so many stay
} LogKeep;

typedef struct LogDef {
    const char *path;
    bool full_durability; // each transaction is on the disk when it is committed
    size_t queue_bytes_max;
    LogKeep keep;
    const char *backup_folder; // Nullable: it makes no backups
    const SealKey *seal_key;   // Nullable: it signs nothing. Borrowed until log_close
    const Report *report;
    const char *server_version;
    const char *build; // compiler and machine
} LogDef;

// Something that waits for the log. The caller's; may be freed from within `done` on. `done` runs
// on the log's thread and must not call the log.
typedef struct LogWait LogWait;
struct LogWait {
    void (*done)(LogWait *wait);
    Error error;   // status OK, or why not: valid in `done` and after
    LogWait *next; // the log's link
};

// Opens or makes the file, closes what a crash left open as `interrupted`, carries on deletions
// that were cut off, tells of what no episode leads to (all in the report), starts the thread.
Status log_open(Log **log, const LogDef *def, Error *error);

// No recording may be open. Writes what waits, checkpoints into the one file and leaves it in
// rollback-journal mode, so that any SQLite opens it, also on read-only media. Blocks.
void log_close(Log *log);

// ---- recordings

// Geometries whose bytes come along with the chunk that names them, and are copied into the file
// alone, where they are not there yet. Whoever made it keeps them until `release`, which may run on
// any thread, under the log's lock.
typedef struct LogWorn LogWorn;
struct LogWorn {
    void (*release)(LogWorn *worn);
    size_t count;
    const LogGeometry *geometry;
};

// Memory for a chunk, its header included; recycled, so that in a steady state nothing is
// allocated.
typedef struct LogBuffer {
    uint8_t *bytes;
    size_t used, capacity;
    LogWorn *worn;          // of a chunk of geometries; Nullable
    struct LogBuffer *next; // the log's link
} LogBuffer;

// `used` is CHUNK_HEADER_BYTES. NULL when memory ends. Any thread.
LogBuffer *log_take_buffer(Log *log, size_t capacity);
bool log_buffer_reserve(LogBuffer *buffer, size_t capacity);
void log_give_buffer(Log *log, LogBuffer *buffer);

// A chunk of geometries, with `worn`, which is the buffer's from here on. NULL when memory ends,
// and then it is released.
LogBuffer *log_worn_buffer(Log *log, LogWorn *worn);

// Takes a recording up: its definition, the buffers of the geometries that it wears (NULL: none),
// of its scene (NULL: none) and of its first key-frame, at step 0 (NULL: none yet): all are
// committed together or not at all, so that no end of the server leaves an episode without a
// beginning. Texts are borrowed during the call. `wait`
// is done when they are. NULL when memory ends; the buffers are still the caller's.
LogRecording *log_begin(Log *log, const RecordingDef *def, LogBuffer *geometries, LogBuffer *scene,
                        LogBuffer *keyframe, LogWait *wait);

// Queues the chunk, which is sealed on the log's thread: of `chunk` kind, steps, time, figures and,
// of a group, worlds are the caller's (world_count 0: all), the rest is filled in there, also the
// number of the first of some episodes. Takes the buffer. One thread at a time per chain.
void log_put(LogRecording *recording, LogBuffer *buffer, const Chunk *chunk);

// False: the queue is full, and wait->done is called once when there is room again. Any thread.
bool log_has_room(Log *log, LogWait *wait);
bool log_is_full(const Log *log); // the same without waiting

// Of the chunks that it began with: its definition, names of geometries, scene and key-frame.
uint64_t log_begun_bytes(const LogRecording *recording);

// OK, or why the recording failed. Any thread.
Status log_recording_status(const LogRecording *recording, Error *error);

typedef struct RecordingEnd {
    RecordingState state;
    uint64_t last_step;
    double time; // [s] simulated
    uint64_t dropped_steps;
} RecordingEnd;

// Ends the recording; its handle is the log's from here on. `wait` (Nullable) is done when
// everything is committed and, for a recording that is complete, synced to the disk.
void log_end(LogRecording *recording, const RecordingEnd *end, LogWait *wait);

// Removes an episode, and its recording when it was the last one in it: works on a full disk too,
// as long as there is a reserve. NOT_FOUND, FAILED_PRECONDITION while it is being recorded
// or pinned.
void log_delete(Log *log, const uint8_t episode_uid[UID_BYTES], LogWait *wait);

// Pins an episode, or not any more; it may be one that is being recorded. It is on the disk when
// `wait` is done. NOT_FOUND.
void log_pin(Log *log, const uint8_t episode_uid[UID_BYTES], bool is_pinned, LogWait *wait);

// `wait` is done when all that was put before is committed, or has failed with its recording.
void log_sync(Log *log, LogWait *wait);

// ---- backups: a sound copy of the file, which may be opened and verified by itself

typedef struct LogBackup {
    const char *name;          // of the file in the log's folder of backups; borrowed until the end
    bool replaces;             // a file of that name
    _Atomic bool is_cancelled; // to be set by anybody
    _Atomic uint64_t bytes_done, bytes_total;
    LogWait *wait; // the log's
} LogBackup;

// Begins to copy, which goes on between transactions: what is committed before the end is in the
// copy. One backup at a time. When the call is refused, `wait` is not done; else it is, when all is
// copied, or with what went wrong; CANCELLED.
Status log_backup_begin(Log *log, LogBackup *backup, LogWait *wait, Error *error);

// After `wait` was OK: waits for the disk and gives the copy its name; its size is in bytes_done.
// Not on the log's thread.
Status log_backup_end(Log *log, LogBackup *backup, Error *error);

// ---- instruments

typedef struct LogFigures {
    uint64_t queue_bytes, queue_rows;
    uint64_t transactions, rows, bytes; // since the start
    uint64_t failed_recordings;
    uint64_t open_recordings;
    uint64_t lag_ns; // age of the oldest row that waits
    uint64_t looks;  // of retention, since the start, and what it deleted
    uint64_t retired_recordings, retired_episodes;
    uint64_t backups;    // made since the start
    uint64_t file_bytes; // with the write-ahead log
} LogFigures;

LogFigures log_figures(const Log *log); // any thread

const char *log_path(const Log *log);

// ---- readers: connections of their own, kept for the next who needs one

typedef struct LogReader LogReader;

// Any thread. It sees every namespace (log_reader_see).
Status log_take_reader(Log *log, LogReader **reader, Error *error);
void log_give_reader(Log *log, LogReader *reader);

// A recording that somebody reads again and again: retention lets it be until then. Any thread.
typedef struct LogHold LogHold;
struct LogHold {
    int64_t recording; // its row
    LogHold *next, *previous;
    bool is_held; // any number may stand in a damaged row, 0 too
};

void log_hold(Log *log, int64_t recording, LogHold *hold);
void log_release(Log *log, LogHold *hold); // may be all zero: not held
