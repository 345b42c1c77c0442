// SPDX-License-Identifier: MIT
// The log's insides, shared by the files that make it:
//
//   log.c         its life, the queue, room, readers
//   log_begin.c   buffers, recordings as their owners see them
//   log_write.c   the thread: batches, failures
//   log_sign.c    the thread: signatures
//   log_delete.c  the thread: errands, which are deletions and pins
//   log_keep.c    the thread: retention
//   log_backup.c  backups
//   log_watch.c   a thread that reads along the indexes
//
// One lock guards the queue, the free buffers, the readers that rest, whoever waits for room, and
// the figures. It is never held while SQLite works or somebody is called.
//
// A buffer is the record that carries it through the queue, and a recording carries the records of
// its own beginning and end: so only log_begin, log_take_buffer, log_delete, log_pin and log_sync
// allocate, and what was begun can always be ended.
//
// Failed recordings are marked in the file by transactions of their own (mark_failed): at once
// after the failure, after each transaction that succeeds, every second, and when the log closes.
// What even then cannot be written is found by the next log_open, as after a crash.
#pragma once

#include "access/seal_key.h"
#include "log/backup.h"
#include "log/format/lock.h"
#include "log/log.h"
#include "log/format/reserve.h"
#include "log/wal/mark.h"
#include "log/writer/writer.h"

#include <uv.h>

// Of log_watch.c.
typedef struct IndexWatch {
    Log *log; // borrowed
    const Report *report;
    uv_thread_t thread;
    uv_mutex_t mutex;
    uv_cond_t wake;
    bool is_running; // there is a thread
    // under the lock
    bool is_stopping, is_answered;
    LogWait wait; // for an index that is being built
} IndexWatch;

// Without the thread nothing is watched, and that is told.
void index_watch_start(IndexWatch *watch, Log *log, const Report *report);

// Waits for its end. Harmless where nothing was started.
void index_watch_stop(IndexWatch *watch);

enum { READERS_MAX = 16 };         // that rest
enum { CHECKPOINT_FRAMES = 2048 }; // 64 MiB of pages in the write-ahead log

typedef enum RecordKind {
    RECORD_BEGIN,
    RECORD_CHUNK,
    RECORD_END,
    RECORD_DELETE, // errands: they belong to no recording under way
    RECORD_PIN,
    RECORD_REINDEX,
    RECORD_SYNC // answered with the batch that it comes in
} RecordKind;

typedef struct Record Record;

// What waits in the queue.
struct Record {
    LogBuffer buffer; // first, so that a LogBuffer * is a Record *
    RecordKind kind;
    LogRecording *recording; // NULL: of an errand
    LogWait *wait;           // Nullable
    Chunk chunk;
    uint8_t uid[UID_BYTES]; // of the episode to delete or pin
    bool is_pinned;         // from then on
    size_t index;           // to build anew
    uint64_t queued_ns;
    Record *next;
};

typedef struct Signing Signing; // of log_sign.c

typedef struct RecordList {
    Record *head, *tail;
} RecordList;

struct LogRecording {
    Log *log;
    RecordingDef def; // its texts stand behind `label`
    Record begin, end;
    RecordingEnd ending;
    LogBuffer *seal;      // for the last chunk: what was begun can be ended
    uint64_t begun_bytes; // of the chunks that it began with

    // the log thread's
    RecordingSeal so_far; // counts, figures; of a group the chain of all is the first
    Signing *signing;     // NULL: the server has no key
    int64_t row;          // 0: not in the file
    bool is_ended;        // freed when it is marked as well
    bool is_unmarked;     // in the log's list of these
    LogRecording *next_unmarked;

    _Atomic bool has_failed; // set once, after `error`
    Error error;
    const char *label[];
};

enum { KEEP_LIST = 256 }; // recordings that are read at a time

// Retention: a look goes over the recordings that have ended, the oldest first, in turns between
// transactions, and deletes those that are beyond a rule.
typedef struct Keep {
    LogKeep rules;
    uint64_t look_at_ns;          // clock_now_ns; UINT64_MAX: not before something happens
    uint64_t looked_ns, spent_ns; // when the last look ended, and how long it took
    uint64_t begun_ns;            // the present turn
    bool is_looking;
    EndedRecording list[KEEP_LIST]; // the next, of which list_next is to be judged
    size_t list_count, list_next;
    EndedRecording newest; // from this one on, episodes are among the newest to be kept
    uint64_t now_ns;       // wall clock, when the look began
    uint64_t due_ns;       // wall clock: when the next one will be too old
    bool has_skipped;      // one that is held: to be looked at again when it is not
    EndedRecording told;   // one up to which there is a line of what is kept without being sound
    EndedRecording ended;  // being judged; being deleted, as long as is_retiring
    bool is_retiring;
    uint64_t episodes; // of it, that are gone
    char why[96];
} Keep;

struct Log {
    char *path, *wal_path, *server_version, *build; // owned
    const Report *report;
    size_t queue_bytes_max;
    const SealKey *seal_key; // borrowed; NULL: nothing is signed
    FileLock file_lock;
    _Atomic bool is_full;       // so that lanes ask without the lock
    _Atomic bool is_backing_up; // there are pages to copy

    // under the lock
    uv_mutex_t mutex;
    uv_cond_t wake;
    RecordList queue;
    bool is_awaited;          // there is more than chunks of groups in the queue
    uint64_t batch_queued_ns; // oldest record of the batch under way; 0: none
    LogWait *waits_for_room;
    LogWait *refused; // to be answered on the log's thread
    LogBuffer *free_buffers;
    size_t free_bytes;
    LogReader *reader[READERS_MAX]; // that rest
    size_t reader_count;
    LogHold *holds;
    LogBackup *backup_asked; // until its end; NULL: none
    bool was_released;       // a hold, since retention last looked
    LogFigures figures;
    bool is_closing;

    // the log thread's
    uv_thread_t thread;
    Writer writer;
    WalMark wal_mark;
    int wal_frames;         // in the write-ahead log
    int checkpoint_at;      // frames
    LogRecording *unmarked; // failed, and not so in the file
    uint64_t retry_at_ns;
    Reserve reserve;
    RecordList errands; // one after the other
    Record *errand;     // under way; NULL: none, or a deletion that an earlier server began
    bool is_deleting;   // chunks of `doomed` are being removed
    Deletion doomed;
    bool may_have_cut_off; // deletions that an earlier server began, above …
    int64_t cut_off_above; // … this recording
    bool must_vacuum;      // there are free pages to be given back, …
    int64_t free_pages;    // … so many when it was last tried
    uint64_t cut_at_ns;    // when the file is to be made shorter; UINT64_MAX: it is
    Keep keep;
    Backup backup;
    IndexWatch index_watch;
    bool is_ending; // as is_closing, for this thread
};

static inline uint64_t log_earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

// ---- log.c

void list_add(RecordList *list, Record *record);
Record *list_take(RecordList *list);
void log_answer(LogWait *wait, const Error *error); // Nullable, both

// Builds an index (indexes.h) anew. `wait` is done when it is.
void log_reindex(Log *log, size_t index, LogWait *wait);

// Several records stay together: the log takes them up in one transaction.
void log_enqueue(Log *log, Record *const *records, size_t count);

// ---- log_begin.c

// Under the lock. What is more than a full queue can use goes to `surplus`.
void log_keep_buffer(Log *log, LogBuffer *buffer, LogBuffer **surplus);
void log_free_buffers(LogBuffer *buffers);
void log_free_recording(LogRecording *recording);

// ---- log_write.c

void log_run(void *context); // the log's thread

// Under the lock. When the queue is to be taken up [clock_now_ns]; UINT64_MAX: it is empty.
uint64_t log_queue_due_ns(const Log *log);

// Under the lock.
void log_note_fill(Log *log);

// Puts the chunk into its chain.
void log_seal_chunk(LogRecording *recording, Chunk *chunk, uint8_t *bytes, size_t count,
                    uint64_t now_ns);

// In WAL mode SQLite calls this after each commit.
int log_note_frames(void *context, sqlite3 *db, const char *name, int frames);

// ---- log_sign.c: on the log's thread, but for what makes and frees

// False: memory ended. What was begun can be signed without.
bool log_sign_prepare(LogRecording *recording);
void log_sign_free(LogRecording *recording);

// A chunk has been put into that chain.
void log_sign_note(LogRecording *recording, const Chunk *chunk, size_t chain, const uint8_t *bytes,
                   size_t count);

// What is due of a world's recording behind the chunk that was written, and of a group's at the end
// of the batch.
Status log_sign_chunk(LogRecording *recording, uint64_t now_ns, Error *error);
Status log_sign_batch(const RecordList *batch, uint64_t now_ns, Error *error);

// Directly before the seal, which `buffer` is for, and of which `seal` says steps and time.
Status log_sign_last(LogRecording *recording, const Chunk *seal, LogBuffer *buffer, uint64_t now_ns,
                     Error *error);

// ---- log_delete.c: errands, on the log's thread

bool log_has_errands(const Log *log);
void log_run_errands(Log *log);

// ---- log_backup.c: on the log's thread

bool log_has_backup(const Log *log);
void log_backup_some(Log *log); // some pages

// ---- log_keep.c: retention, on the log's thread

// When it has something to do [clock_now_ns]; UINT64_MAX: not before something happens.
uint64_t log_keep_due_ns(const Log *log);

// Something has happened: a recording may have become one too many, or, if `grows_only`, the file
// too large.
void log_keep_note(Log *log, bool grows_only);
void log_keep_note_released(Log *log); // under the lock: perhaps one that was held

// One turn of a look, if one is due; it may end with a recording to be retired.
void log_keep_look(Log *log);

// One transaction's worth of that, inside of it; then, when it is committed, what came of it.
Status log_keep_retire(Log *log, RetireOutcome *outcome, Error *error);
void log_keep_retired(Log *log, RetireOutcome outcome);

// It could not be: not again for a while.
void log_keep_fail(Log *log, const Error *error); // one transaction's worth
