// SPDX-License-Identifier: MIT
// One lock guards the queue, the free buffers, the readers that rest, whoever waits for room, and
// the figures. It is never held while SQLite works or somebody is called.
//
// A buffer is the record that carries it through the queue, and a recording carries the records of
// its own beginning and end: so only log_begin, log_take_buffer and log_delete allocate, and what
// was begun can always be ended.
//
// Failed recordings are marked in the file by transactions of their own (mark_failed): at once
// after the failure, after each transaction that succeeds, every second, and when the log closes.
// What even then cannot be written is found by the next log_open, as after a crash.
#include "log/log.h"

#include "base/array.h"
#include "base/assert.h"
#include "os/clock.h"
#include "os/nice.h"
#include "log/lock.h"
#include "log/reader.h"
#include "log/schema.h"
#include "log/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { LOG_NICENESS = 5 };         // of the log's thread
enum { BATCH_BYTES = 16 << 20 };   // in one transaction
enum { CHECKPOINT_FRAMES = 2048 }; // 64 MiB of pages in the write-ahead log
enum { READERS_MAX = 16 };         // that rest
enum { BUFFER_SEARCH_MAX = 16 };   // free buffers that are looked at for one of the right size
static const uint64_t retry_ns = 1000000000; // between attempts to mark failed recordings

typedef enum RecordKind { RECORD_BEGIN, RECORD_CHUNK, RECORD_END, RECORD_DELETE } RecordKind;

typedef struct Record Record;

// What waits in the queue.
struct Record {
    LogBuffer buffer; // first, so that a LogBuffer * is a Record *
    RecordKind kind;
    LogRecording *recording; // NULL: of a deletion
    LogWait *wait;           // Nullable
    ChunkRecord chunk;
    uint8_t uid[UID_BYTES]; // of the episode to delete
    uint64_t queued_ns;
    Record *next;
};

typedef struct RecordList {
    Record *head, *tail;
} RecordList;

struct LogRecording {
    Log *log;
    RecordingDef def; // its texts stand behind `label`
    uint64_t begun_ns;
    Record begin, end;
    RecordingEnd ending;

    // the log thread's
    int64_t row;      // 0: not in the file
    bool is_ended;    // freed when it is marked as well
    bool is_unmarked; // in the log's list of these
    LogRecording *next_unmarked;

    _Atomic bool has_failed; // set once, after `error`
    Error error;
    const char *label[];
};

struct Log {
    char *path, *server_version; // owned
    const Report *report;
    size_t queue_bytes_max;
    FileLock file_lock;
    _Atomic bool is_full; // so that lanes ask without the lock

    // under the lock
    uv_mutex_t mutex;
    uv_cond_t wake;
    RecordList queue;
    uint64_t batch_queued_ns; // oldest record of the batch under way; 0: none
    LogWait *waits_for_room;
    LogWait *refused; // to be answered on the log's thread
    LogBuffer *free_buffers;
    size_t free_bytes;
    LogReader *reader[READERS_MAX]; // that rest
    size_t reader_count;
    LogFigures figures;
    bool is_closing;

    // the log thread's
    uv_thread_t thread;
    Writer writer;
    int wal_frames;         // in the write-ahead log
    int checkpoint_at;      // frames
    LogRecording *unmarked; // failed, and not so in the file
    uint64_t retry_at_ns;
    RecordList deletions; // of episodes, one after the other
    int64_t doomed;       // recording whose chunks are being removed; 0: none
    Record *doomed_by;    // NULL: an earlier server began it
    bool may_have_left_overs;
};

// ---- names

const char *recording_state_name(RecordingState state) {
    static const char *const names[RECORDING_STATE_COUNT] = {"recording", "complete",
                                                             "world_destroyed", "interrupted"};
    return state < RECORDING_STATE_COUNT ? names[state] : "unknown";
}

const char *recording_content_name(RecordingContent content) {
    static const char *const names[] = {"inputs", "frames", "contacts"};
    return content <= CONTENT_CONTACTS ? names[content] : "unknown";
}

// ---- lists

static void list_add(RecordList *list, Record *record) {
    record->next = NULL;
    if (list->head == NULL) {
        list->head = record;
    } else {
        list->tail->next = record;
    }
    list->tail = record;
}

static Record *list_take(RecordList *list) {
    Record *record = list->head;
    list->head = record->next;
    return record;
}

static void answer(LogWait *wait, const Error *error) {
    if (wait != NULL) {
        wait->error = error != NULL ? *error : (Error){0};
        wait->done(wait);
    }
}

static void answer_all(LogWait *wait) {
    while (wait != NULL) {
        LogWait *next = wait->next; // done may free the wait
        wait->done(wait);
        wait = next;
    }
}

// Under the lock.
static void note_fill(Log *log) {
    atomic_store_explicit(&log->is_full, log->figures.queue_bytes >= log->queue_bytes_max,
                          memory_order_relaxed);
}

// Several records stay together: the log takes them up in one transaction.
static void enqueue_all(Log *log, Record *const *records, size_t count) {
    uint64_t now_ns = clock_now_ns();
    uv_mutex_lock(&log->mutex);
    bool was_empty = log->queue.head == NULL;
    for (size_t i = 0; i < count; i++) {
        Record *record = records[i];
        record->queued_ns = now_ns;
        list_add(&log->queue, record);
        log->figures.queue_bytes += record->buffer.used;
        log->figures.queue_rows += record->kind == RECORD_CHUNK;
        log->figures.open_recordings += record->kind == RECORD_BEGIN;
        log->figures.open_recordings -= record->kind == RECORD_END;
    }
    note_fill(log);
    if (was_empty) {
        uv_cond_signal(&log->wake);
    }
    uv_mutex_unlock(&log->mutex);
}

static void enqueue(Log *log, Record *record) {
    enqueue_all(log, &record, 1);
}

// ---- buffers

// Under the lock. A free buffer that is large enough, or else any.
static LogBuffer *take_free(Log *log, size_t capacity) {
    LogBuffer **fitting = &log->free_buffers;
    LogBuffer **at = &log->free_buffers;
    for (int i = 0; i < BUFFER_SEARCH_MAX && *at != NULL; i++) {
        if ((*at)->capacity >= capacity) {
            fitting = at;
            break;
        }
        at = &(*at)->next;
    }
    LogBuffer *buffer = *fitting;
    if (buffer != NULL) {
        *fitting = buffer->next;
        log->free_bytes -= buffer->capacity;
    }
    return buffer;
}

static void free_buffers(LogBuffer *buffer) {
    while (buffer != NULL) {
        LogBuffer *next = buffer->next;
        free(buffer->bytes);
        free(buffer);
        buffer = next;
    }
}

// Under the lock. What is more than a full queue can use goes to `surplus`.
static void keep_free(Log *log, LogBuffer *buffer, LogBuffer **surplus) {
    bool is_kept = log->free_bytes + buffer->capacity <= log->queue_bytes_max;
    LogBuffer **list = is_kept ? &log->free_buffers : surplus;
    log->free_bytes += is_kept ? buffer->capacity : 0;
    buffer->next = *list;
    *list = buffer;
}

LogBuffer *log_take_buffer(Log *log, size_t capacity) {
    uv_mutex_lock(&log->mutex);
    LogBuffer *buffer = take_free(log, capacity);
    uv_mutex_unlock(&log->mutex);
    if (buffer == NULL) {
        Record *record = calloc(1, sizeof(*record));
        buffer = record != NULL ? &record->buffer : NULL;
    }
    size_t needed = capacity > CHUNK_HEADER_BYTES ? capacity : CHUNK_HEADER_BYTES;
    if (buffer == NULL || !log_buffer_reserve(buffer, needed)) {
        if (buffer != NULL) {
            log_give_buffer(log, buffer);
        }
        return NULL;
    }
    buffer->next = NULL;
    buffer->used = CHUNK_HEADER_BYTES;
    return buffer;
}

bool log_buffer_reserve(LogBuffer *buffer, size_t capacity) {
    return ARRAY_RESERVE(buffer->bytes, buffer->capacity, capacity);
}

void log_give_buffer(Log *log, LogBuffer *buffer) {
    LogBuffer *surplus = NULL;
    uv_mutex_lock(&log->mutex);
    keep_free(log, buffer, &surplus);
    uv_mutex_unlock(&log->mutex);
    free_buffers(surplus);
}

// ---- recordings

static const char *copy_text(char **at, const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = memcpy(*at, text, bytes);
    *at += bytes;
    return copy;
}

static LogRecording *copy_def(const RecordingDef *def) {
    size_t bytes = sizeof(LogRecording) + def->label_count * sizeof(char *);
    size_t texts_at = bytes;
    bytes +=
        strlen(def->name) + strlen(def->client) + strlen(def->world_name) + strlen(def->solver) + 4;
    for (size_t i = 0; i < def->label_count; i++) {
        bytes += strlen(def->label[i]) + 1;
    }
    LogRecording *recording = calloc(1, bytes);
    if (recording == NULL) {
        return NULL;
    }
    char *at = (char *)recording + texts_at;
    recording->def = *def;
    recording->def.name = copy_text(&at, def->name);
    recording->def.client = copy_text(&at, def->client);
    recording->def.world_name = copy_text(&at, def->world_name);
    recording->def.solver = copy_text(&at, def->solver);
    for (size_t i = 0; i < def->label_count; i++) {
        recording->label[i] = copy_text(&at, def->label[i]);
    }
    recording->def.label = recording->label;
    return recording;
}

static Record *chunk_record(LogRecording *recording, LogBuffer *buffer, ChunkKind kind,
                            uint64_t first_step, uint64_t last_step) {
    Record *record = (Record *)buffer;
    record->kind = RECORD_CHUNK;
    record->recording = recording;
    record->wait = NULL;
    record->chunk = (ChunkRecord){.kind = kind, .first_step = first_step, .last_step = last_step};
    return record;
}

LogRecording *log_begin(Log *log, const RecordingDef *def, LogBuffer *keyframe, LogWait *wait) {
    LogRecording *recording = copy_def(def);
    if (recording == NULL) {
        return NULL;
    }
    recording->log = log;
    recording->begun_ns = clock_wall_ns();
    recording->begin = (Record){.kind = RECORD_BEGIN, .recording = recording, .wait = wait};
    Record *records[2] = {&recording->begin};
    if (keyframe != NULL) {
        records[1] = chunk_record(recording, keyframe, CHUNK_KEYFRAME, 0, 0);
    }
    enqueue_all(log, records, keyframe == NULL ? 1 : 2);
    return recording;
}

void log_put(LogRecording *recording, LogBuffer *buffer, ChunkKind kind, uint64_t first_step,
             uint64_t last_step, const ChunkFigures *figures) {
    if (atomic_load_explicit(&recording->has_failed, memory_order_acquire)) {
        log_give_buffer(recording->log, buffer);
        return;
    }
    Record *record = chunk_record(recording, buffer, kind, first_step, last_step);
    if (figures != NULL) {
        record->chunk.figures = *figures;
    }
    enqueue(recording->log, record);
}

void log_end(LogRecording *recording, const RecordingEnd *end, LogWait *wait) {
    recording->ending = *end;
    recording->end = (Record){.kind = RECORD_END, .recording = recording, .wait = wait};
    enqueue(recording->log, &recording->end);
}

Status log_recording_status(const LogRecording *recording, Error *error) {
    if (!atomic_load_explicit(&recording->has_failed, memory_order_acquire)) {
        return STATUS_OK;
    }
    if (error != NULL) {
        *error = recording->error;
    }
    return recording->error.status;
}

void log_delete(Log *log, const uint8_t episode_uid[UID_BYTES], LogWait *wait) {
    Record *record = calloc(1, sizeof(*record));
    if (record != NULL) {
        record->kind = RECORD_DELETE;
        record->wait = wait;
        memcpy(record->uid, episode_uid, UID_BYTES);
        enqueue(log, record);
        return;
    }
    error_set(&wait->error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
    uv_mutex_lock(&log->mutex);
    wait->next = log->refused;
    log->refused = wait;
    uv_cond_signal(&log->wake);
    uv_mutex_unlock(&log->mutex);
}

// ---- room

bool log_is_full(const Log *log) {
    return atomic_load_explicit(&log->is_full, memory_order_relaxed);
}

bool log_has_room(Log *log, LogWait *wait) {
    if (!log_is_full(log)) {
        return true;
    }
    uv_mutex_lock(&log->mutex);
    // what fills the queue is what will be committed: somebody comes to answer
    bool has_room = log->figures.queue_bytes < log->queue_bytes_max;
    if (!has_room) {
        wait->error = (Error){0};
        wait->next = log->waits_for_room;
        log->waits_for_room = wait;
    }
    uv_mutex_unlock(&log->mutex);
    return has_room;
}

LogFigures log_figures(const Log *log) {
    uv_mutex_t *mutex = (uv_mutex_t *)&log->mutex; // the lock alone changes
    uv_mutex_lock(mutex);
    LogFigures figures = log->figures;
    uint64_t oldest_ns = log->batch_queued_ns != 0 ? log->batch_queued_ns
                         : log->queue.head != NULL ? log->queue.head->queued_ns
                                                   : 0;
    uv_mutex_unlock(mutex);
    uint64_t now_ns = clock_now_ns();
    figures.lag_ns = oldest_ns != 0 && now_ns > oldest_ns ? now_ns - oldest_ns : 0;
    return figures;
}

const char *log_path(const Log *log) {
    return log->path;
}

// ---- the log's thread: failures

static void free_if_done(LogRecording *recording) {
    if (recording->is_ended && !recording->is_unmarked) {
        free(recording);
    }
}

static void fail_recording(LogRecording *recording, const Error *error) {
    Log *log = recording->log;
    if (atomic_load_explicit(&recording->has_failed, memory_order_relaxed)) {
        return;
    }
    recording->error = *error;
    atomic_store_explicit(&recording->has_failed, true, memory_order_release);
    if (recording->row != 0) {
        recording->is_unmarked = true;
        recording->next_unmarked = log->unmarked;
        log->unmarked = recording;
    }
    uv_mutex_lock(&log->mutex);
    log->figures.failed_recordings++;
    uv_mutex_unlock(&log->mutex);
}

static void fail_batch(Log *log, const RecordList *batch, const Error *error) {
    writer_rollback(&log->writer);
    uint64_t recording_count = 0;
    for (Record *record = batch->head; record != NULL; record = record->next) {
        LogRecording *recording = record->recording;
        if (recording == NULL) {
            continue;
        }
        if (record->kind == RECORD_BEGIN) {
            recording->row = 0;
        }
        recording_count += !atomic_load_explicit(&recording->has_failed, memory_order_relaxed);
        fail_recording(recording, error);
    }
    report_line(log->report, REPORT_ERROR, "log_failed", "recordings=%" PRIu64 " why=\"%s\"",
                recording_count, error->message);
}

static Status write_marks(Log *log, Error *error) {
    Status status = writer_begin(&log->writer, false, error);
    for (LogRecording *recording = log->unmarked; recording != NULL && status == STATUS_OK;
         recording = recording->next_unmarked) {
        if (recording->row != 0) {
            status = writer_interrupt(&log->writer, recording->row, recording->error.message, NULL,
                                      error);
        }
    }
    return status == STATUS_OK ? writer_commit(&log->writer, error) : status;
}

// Says in the file which recordings have failed, if it can.
static void mark_failed(Log *log) {
    if (log->unmarked == NULL) {
        return;
    }
    Error error;
    log->retry_at_ns = clock_now_ns() + retry_ns;
    if (write_marks(log, &error) != STATUS_OK) {
        writer_rollback(&log->writer);
        return;
    }
    while (log->unmarked != NULL) {
        LogRecording *recording = log->unmarked;
        log->unmarked = recording->next_unmarked;
        recording->is_unmarked = false;
        free_if_done(recording);
    }
}

// ---- the log's thread: batches

// In WAL mode SQLite calls this after each commit.
static int note_frames(void *context, sqlite3 *db, const char *name, int frames) {
    (void)db, (void)name;
    Log *log = context;
    if (frames < log->wal_frames) { // it has begun from the front again
        log->checkpoint_at = CHECKPOINT_FRAMES;
    }
    log->wal_frames = frames;
    return SQLITE_OK;
}

static void checkpoint(Log *log) {
    Error error;
    if (log->wal_frames < log->checkpoint_at) {
        return;
    }
    // while a reader needs what is in it, the write-ahead log grows: not again for every commit
    log->checkpoint_at = log->wal_frames + CHECKPOINT_FRAMES;
    if (writer_checkpoint(&log->writer, NULL, &error) != STATUS_OK) {
        report_line(log->report, REPORT_WARN, "log_checkpoint", "why=\"%s\"", error.message);
    }
}

static Status write_record(Log *log, Record *record, uint64_t now_ns, Error *error) {
    LogRecording *recording = record->recording;
    const RecordingEnd *end = &recording->ending;
    switch (record->kind) {
    case RECORD_BEGIN:
        return writer_add_recording(&log->writer, &recording->def, recording->begun_ns,
                                    log->server_version, &recording->row, error);
    case RECORD_CHUNK:
        // here and not in log_put: lanes have dearer things to do
        chunk_seal(record->buffer.bytes, record->buffer.used, record->chunk.kind,
                   recording->def.uid, record->chunk.first_step, record->chunk.last_step);
        record->chunk.written_ns = now_ns;
        record->chunk.bytes = record->buffer.bytes;
        record->chunk.count = record->buffer.used;
        return writer_add_chunk(&log->writer, recording->row, &record->chunk, error);
    default:
        return writer_end_recording(&log->writer, recording->row,
                                    &(WriterEnd){.state = end->state,
                                                 .why = "",
                                                 .last_step = end->last_step,
                                                 .dropped_steps = end->dropped_steps,
                                                 .ended_ns = now_ns},
                                    error);
    }
}

static bool is_written(const Record *record) {
    return record->recording != NULL &&
           !atomic_load_explicit(&record->recording->has_failed, memory_order_relaxed);
}

static Status write_records(Log *log, const RecordList *batch, Error *error) {
    uint64_t now_ns = clock_wall_ns();
    for (Record *record = batch->head; record != NULL; record = record->next) {
        if (!is_written(record)) {
            continue;
        }
        Status status = write_record(log, record, now_ns, error);
        if (status == STATUS_ALREADY_EXISTS || status == STATUS_OUT_OF_RANGE) {
            fail_recording(record->recording, error);
            report_line(log->report, REPORT_ERROR, "log_failed", "recordings=1 why=\"%s\"",
                        error->message);
        } else if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

// Writes the batch in one transaction; on failure its recordings have failed.
static void write_batch(Log *log, const RecordList *batch) {
    bool is_empty = true, is_synced = false;
    for (Record *record = batch->head; record != NULL; record = record->next) {
        is_empty = is_empty && !is_written(record);
        is_synced = is_synced || (record->kind == RECORD_END && is_written(record) &&
                                  record->recording->ending.state == RECORDING_COMPLETE);
    }
    if (is_empty) {
        return;
    }
    Error error;
    Status status = writer_begin(&log->writer, is_synced, &error);
    if (status == STATUS_OK) {
        status = write_records(log, batch, &error);
    }
    if (status == STATUS_OK) {
        status = writer_commit(&log->writer, &error);
    }
    if (status != STATUS_OK) {
        fail_batch(log, batch, &error);
        writer_checkpoint(&log->writer, NULL, NULL); // may make room where the disk is full
    }
    uv_mutex_lock(&log->mutex);
    log->figures.transactions += status == STATUS_OK;
    uv_mutex_unlock(&log->mutex);
}

// Under the lock. Takes the buffers of the batch's chunks back, so that they may be used again.
static void recycle(Log *log, RecordList *batch, LogBuffer **surplus) {
    RecordList rest = {0};
    while (batch->head != NULL) {
        Record *record = list_take(batch);
        if (record->kind != RECORD_CHUNK) {
            list_add(&rest, record);
            continue;
        }
        log->figures.queue_bytes -= record->buffer.used;
        log->figures.queue_rows--;
        if (is_written(record)) {
            log->figures.rows++;
            log->figures.bytes += record->buffer.used;
        }
        keep_free(log, &record->buffer, surplus);
    }
    *batch = rest;
}

static void answer_batch(Log *log, RecordList *batch) {
    while (batch->head != NULL) {
        Record *record = list_take(batch);
        LogRecording *recording = record->recording;
        if (record->kind == RECORD_DELETE) {
            list_add(&log->deletions, record);
            continue;
        }
        RecordKind kind = record->kind;
        answer(record->wait, is_written(record) ? NULL : &recording->error);
        if (kind == RECORD_END) {
            recording->is_ended = true;
            free_if_done(recording);
        }
    }
}

static void finish_batch(Log *log, RecordList *batch) {
    LogBuffer *surplus = NULL;
    LogWait *waits = NULL;
    uv_mutex_lock(&log->mutex);
    recycle(log, batch, &surplus);
    log->batch_queued_ns = 0;
    note_fill(log);
    if (log->figures.queue_bytes < log->queue_bytes_max) {
        waits = log->waits_for_room;
        log->waits_for_room = NULL;
    }
    LogWait *refused = log->refused;
    log->refused = NULL;
    uv_mutex_unlock(&log->mutex);
    free_buffers(surplus);
    answer_batch(log, batch);
    answer_all(waits);
    answer_all(refused);
}

// ---- the log's thread: deletions

static Status delete_part(Log *log, bool *is_gone, Error *error) {
    Writer *writer = &log->writer;
    bool is_first = log->doomed == 0;
    if (is_first) {
        log->doomed_by = list_take(&log->deletions);
    }
    Status status = writer_begin(writer, false, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (is_first) {
        status = writer_delete_episode(writer, log->doomed_by->uid, &log->doomed, error);
        *is_gone = log->doomed == 0;
    } else {
        status = writer_delete_piece(writer, log->doomed, is_gone, error);
    }
    return status == STATUS_OK ? writer_commit(writer, error) : status;
}

static void find_left_over(Log *log) {
    Error error;
    if (writer_find_left_over(&log->writer, &log->doomed, &error) != STATUS_OK) {
        log->doomed = 0;
        log->may_have_left_overs = false;
    }
}

static bool has_deletions(const Log *log) {
    return log->doomed != 0 || log->deletions.head != NULL || log->may_have_left_overs;
}

// One transaction's worth.
static void delete_some(Log *log) {
    if (log->doomed == 0 && log->deletions.head == NULL && log->may_have_left_overs) {
        find_left_over(log);
    }
    if (log->doomed == 0 && log->deletions.head == NULL) {
        return;
    }
    bool is_gone = false;
    Error error;
    Status status = delete_part(log, &is_gone, &error);
    if (status != STATUS_OK) {
        writer_rollback(&log->writer);
        log->may_have_left_overs = false; // the next server tries again
    }
    if (status != STATUS_OK || is_gone) {
        Record *record = log->doomed_by;
        log->doomed = 0;
        log->doomed_by = NULL;
        if (record != NULL) {
            answer(record->wait, status == STATUS_OK ? NULL : &error);
            free(record);
        }
    }
}

// ---- the log's thread

// Under the lock. Sleeps until there is something to do.
static void wait_for_work(Log *log) {
    while (log->queue.head == NULL && log->refused == NULL && !log->is_closing &&
           !has_deletions(log)) {
        if (log->unmarked == NULL) {
            uv_cond_wait(&log->wake, &log->mutex);
            continue;
        }
        uint64_t now_ns = clock_now_ns();
        if (now_ns >= log->retry_at_ns) {
            return;
        }
        uv_cond_timedwait(&log->wake, &log->mutex, log->retry_at_ns - now_ns);
    }
}

// false: the log closes, and nothing is left.
static bool take_batch(Log *log, RecordList *batch) {
    *batch = (RecordList){0};
    size_t bytes = 0;
    uv_mutex_lock(&log->mutex);
    wait_for_work(log);
    bool goes_on =
        log->queue.head != NULL || log->refused != NULL || !log->is_closing || has_deletions(log);
    log->batch_queued_ns = log->queue.head != NULL ? log->queue.head->queued_ns : 0;
    while (log->queue.head != NULL && bytes < BATCH_BYTES) {
        Record *record = list_take(&log->queue);
        bytes += record->buffer.used; // none of a beginning: what follows it comes along
        list_add(batch, record);
    }
    uv_mutex_unlock(&log->mutex);
    return goes_on;
}

static void run(void *context) {
    Log *log = context;
    nice_thread(LOG_NICENESS); // writing may lag behind, steps may not
    RecordList batch;
    while (take_batch(log, &batch)) {
        write_batch(log, &batch);
        finish_batch(log, &batch);
        mark_failed(log);
        delete_some(log);
        checkpoint(log);
    }
    mark_failed(log);
}

// ---- life

static void report_interrupted(const uint8_t uid[UID_BYTES], uint64_t last_step, void *context) {
    const Log *log = context;
    char text[UID_TEXT_BYTES];
    uid_text(uid, text);
    report_line(log->report, REPORT_WARN, "recording_interrupted",
                "recording=%s last_step=%" PRIu64, text, last_step);
}

static Status open_file(Log *log, const LogDef *def, Error *error) {
    Status status = schema_check_path(def->path, error);
    if (status == STATUS_OK) {
        status = lock_take(&log->file_lock, def->path, error);
    }
    if (status == STATUS_OK) {
        status = writer_open(&log->writer, def->path, def->full_durability, error);
    }
    if (status == STATUS_OK) {
        sqlite3_wal_hook(log->writer.db, note_frames, log);
        status = writer_interrupt_open(&log->writer, report_interrupted, log, error);
    }
    return status;
}

static Status start(Log *log, Error *error) {
    if (uv_mutex_init(&log->mutex) == 0) {
        if (uv_cond_init(&log->wake) == 0) {
            if (uv_thread_create(&log->thread, run, log) == 0) {
                return STATUS_OK;
            }
            uv_cond_destroy(&log->wake);
        }
        uv_mutex_destroy(&log->mutex);
    }
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "The log's thread cannot be started.");
}

static void free_log(Log *log) {
    writer_close(&log->writer);
    lock_release(&log->file_lock);
    free(log->path);
    free(log->server_version);
    free(log);
}

Status log_open(Log **log, const LogDef *def, Error *error) {
    ASSERT(def->queue_bytes_max > 0);
    Log *opened = calloc(1, sizeof(*opened));
    if (opened == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
    }
    opened->report = def->report;
    opened->queue_bytes_max = def->queue_bytes_max;
    opened->file_lock.fd = -1;
    opened->checkpoint_at = CHECKPOINT_FRAMES;
    opened->may_have_left_overs = true;
    opened->path = strdup(def->path);
    opened->server_version = strdup(def->server_version);
    Status status = STATUS_OK;
    if (opened->path == NULL || opened->server_version == NULL) {
        status = error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
    }
    if (status == STATUS_OK) {
        status = open_file(opened, def, error);
    }
    if (status == STATUS_OK) {
        status = start(opened, error);
    }
    if (status != STATUS_OK) {
        free_log(opened);
        return status;
    }
    *log = opened;
    return STATUS_OK;
}

void log_close(Log *log) {
    uv_mutex_lock(&log->mutex);
    ASSERT(log->figures.open_recordings == 0);
    log->is_closing = true;
    uv_cond_signal(&log->wake);
    uv_mutex_unlock(&log->mutex);
    uv_thread_join(&log->thread);
    ASSERT(log->queue.head == NULL && log->waits_for_room == NULL);

    for (size_t i = 0; i < log->reader_count; i++) {
        log_reader_close(log->reader[i]);
    }
    Error error;
    if (writer_settle(&log->writer, &error) != STATUS_OK) {
        report_line(log->report, REPORT_WARN, "log_not_settled", "why=\"%s\"", error.message);
    }
    while (log->unmarked != NULL) { // the next log_open finds them
        LogRecording *recording = log->unmarked;
        log->unmarked = recording->next_unmarked;
        free(recording);
    }
    free_buffers(log->free_buffers);
    uv_cond_destroy(&log->wake);
    uv_mutex_destroy(&log->mutex);
    free_log(log);
}

// ---- readers

Status log_take_reader(Log *log, LogReader **reader, Error *error) {
    LogReader *taken = NULL;
    uv_mutex_lock(&log->mutex);
    if (log->reader_count > 0) {
        taken = log->reader[--log->reader_count];
    }
    uv_mutex_unlock(&log->mutex);
    if (taken == NULL) {
        return log_reader_open(log->path, reader, error);
    }
    *reader = taken;
    return STATUS_OK;
}

void log_give_reader(Log *log, LogReader *reader) {
    uv_mutex_lock(&log->mutex);
    bool is_kept = log->reader_count < READERS_MAX;
    if (is_kept) {
        log->reader[log->reader_count++] = reader;
    }
    uv_mutex_unlock(&log->mutex);
    if (!is_kept) {
        log_reader_close(reader);
    }
}
