// SPDX-License-Identifier: MIT
#include "log/log_parts.h"

#include "base/array.h"
#include "base/assert.h"
#include "log/format/chunk_valid.h"
#include "os/clock.h"

#include "os/nice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_NICENESS = 5 };                   // of the log's thread
enum { BATCH_BYTES = 16 << 20 };             // in one transaction
enum { GATHER_BYTES = 4 << 20 };             // are worth one
static const uint64_t gather_ns = 200000000; // that chunks of groups wait for others to share one
static const uint64_t retry_ns = 1000000000; // between attempts to mark failed recordings

static void answer_all(LogWait *wait) {
    while (wait != NULL) {
        LogWait *next = wait->next; // done may free the wait
        wait->done(wait);
        wait = next;
    }
}

void log_note_fill(Log *log) {
    atomic_store_explicit(&log->is_full, log->figures.queue_bytes >= log->queue_bytes_max,
                          memory_order_relaxed);
}

// ---- the log's thread: failures

static void free_if_done(LogRecording *recording) {
    if (recording->is_ended && !recording->is_unmarked) {
        log_free_recording(recording);
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
    return STATUS_THEN(status, writer_commit(&log->writer, error));
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
int log_note_frames(void *context, sqlite3 *db, const char *name, int frames) {
    (void)name;
    Log *log = context;
    if (log->writer.is_synced || log->writer.full_durability) {
        wal_mark_note(&log->wal_mark, db, (uint64_t)frames);
    }
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

static ChainEnd *chain_of(LogRecording *recording, const Chunk *chunk) {
    size_t index = recording->so_far.chain_count == 1 || chunk_kind_is_common(chunk->kind)
                       ? 0
                       : 1 + chunk->first_world / recording->def.world_range;
    ASSERT(index < recording->so_far.chain_count);
    return &recording->so_far.chain[index];
}

// Here and not in log_put: lanes have dearer things to do.
void log_seal_chunk(LogRecording *recording, Chunk *chunk, uint8_t *bytes, size_t count,
                    uint64_t now_ns) {
    ChainEnd *chain = chain_of(recording, chunk);
    RecordingSeal *so_far = &recording->so_far;
    memcpy(chunk->uid, recording->def.uid, UID_BYTES);
    chunk->first_world = chain->first_world;
    chunk->world_count = chain->world_count;
    chunk->sequence = chain->chunk_count++;
    chunk->predecessor = chain->checksum;
    chunk->written_ns = now_ns;
    if (chunk->kind == CHUNK_EPISODES) {
        Sink number = {.bytes = bytes + CHUNK_HEADER_BYTES};
        sink_u64(&number, so_far->episode_count);
        Source episodes = {.bytes = bytes + CHUNK_HEADER_BYTES, .count = 16, .used = 8};
        so_far->episode_count += source_u64(&episodes);
    }
    VALIDATE_WHOLE(chunk_is_valid, chunk);
    chain->checksum = chunk_seal(bytes, count, chunk);
    chunk->body = bytes + CHUNK_HEADER_BYTES;
    chunk->body_bytes = count - CHUNK_HEADER_BYTES;
    so_far->chunk_count[chunk->kind]++;
    step_figures_add(&so_far->figures, &chunk->figures);
    if (chunk->kind != CHUNK_SIGNATURE && chunk->kind != CHUNK_SEAL) { // the former is not ready
        log_sign_note(recording, chunk, (size_t)(chain - so_far->chain), bytes, count);
    }
}

static Status write_end(Log *log, LogRecording *recording, uint64_t now_ns, Error *error) {
    const RecordingEnd *end = &recording->ending;
    RecordingSeal *seal = &recording->so_far;
    LogBuffer *buffer = recording->seal;
    seal->state = end->state;
    seal->last_step = end->last_step;
    seal->time = end->time;
    seal->dropped_steps = end->dropped_steps;
    seal->ended_ns = now_ns;
    seal->episode_count +=
        !recording_is_group(recording->def.world_count, recording->def.world_range);
    Chunk chunk = {.kind = CHUNK_SEAL, .last_step = end->last_step, .time = end->time};
    Status status = log_sign_last(recording, &chunk, buffer, now_ns, error);
    if (status != STATUS_OK) {
        return status;
    }
    buffer->used = CHUNK_HEADER_BYTES + seal_write(seal, buffer->bytes + CHUNK_HEADER_BYTES);
    chunk.version = seal_version(seal);
    log_seal_chunk(recording, &chunk, buffer->bytes, buffer->used, now_ns);
    status =
        writer_add_chunk(&log->writer, recording->row, &chunk, buffer->bytes, buffer->used, error);
    return STATUS_THEN(
        status, writer_end_recording(&log->writer, recording->row, &recording->def, seal, error));
}

// The bytes of what a chunk of geometries names come before it.
static Status put_worn(Log *log, const LogBuffer *buffer, Error *error) {
    Status status = STATUS_OK;
    for (size_t i = 0; buffer->worn != NULL && i < buffer->worn->count && status == STATUS_OK;
         i++) {
        status = writer_put_geometry(&log->writer, &buffer->worn->geometry[i], NULL, error);
    }
    return status;
}

static Status begin_recording(Log *log, LogRecording *recording, Error *error) {
    int64_t row = WRITER_NEXT_ROW;
    Status status = writer_add_recording(&log->writer, &recording->def, &row, error);
    recording->row = status == STATUS_OK ? row : 0;
    return status;
}

static Status write_chunk(Log *log, Record *record, uint64_t now_ns, Error *error) {
    LogRecording *recording = record->recording;
    log_seal_chunk(recording, &record->chunk, record->buffer.bytes, record->buffer.used, now_ns);
    Status status = writer_add_chunk(&log->writer, recording->row, &record->chunk,
                                     record->buffer.bytes, record->buffer.used, error);
    return STATUS_THEN(status, log_sign_chunk(recording, now_ns, error));
}

static Status write_record(Log *log, Record *record, uint64_t now_ns, Error *error) {
    LogRecording *recording = record->recording;
    switch (record->kind) {
    case RECORD_BEGIN:
        return begin_recording(log, recording, error);
    case RECORD_CHUNK:
        if (put_worn(log, &record->buffer, error) != STATUS_OK) {
            return error->status;
        }
        return write_chunk(log, record, now_ns, error);
    default:
        return write_end(log, recording, now_ns, error);
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
    return log_sign_batch(batch, now_ns, error);
}

// What is written into a file that nobody can find is lost.
static Status check_file(const Log *log, Error *error) {
    if (lock_is_there(&log->file_lock)) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_DATA_LOSS, NULL,
                     "%.200s was deleted or moved while the server had it open: what is being "
                     "recorded is lost. Put it back, or start the server again with a new file.",
                     log->path);
}

// Writes the batch in one transaction; on failure its recordings have failed.
static void write_batch(Log *log, const RecordList *batch) {
    bool is_empty = true, is_synced = false, has_end = false;
    for (Record *record = batch->head; record != NULL; record = record->next) {
        is_empty = is_empty && !is_written(record);
        has_end = has_end || record->kind == RECORD_END;
        is_synced = is_synced || (record->kind == RECORD_END && is_written(record) &&
                                  record->recording->ending.state == RECORDING_COMPLETE);
    }
    if (is_empty) {
        return;
    }
    Error error;
    Status status = check_file(log, &error);
    status = STATUS_THEN(status, writer_begin(&log->writer, is_synced, &error));
    status = STATUS_THEN(status, write_records(log, batch, &error));
    status = STATUS_THEN(status, writer_commit(&log->writer, &error));
    if (status != STATUS_OK) {
        fail_batch(log, batch, &error);
        writer_checkpoint(&log->writer, NULL, NULL); // may make room where the disk is full
    }
    log_keep_note(log, !has_end);
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
        log_keep_buffer(log, &record->buffer, surplus);
    }
    *batch = rest;
}

static void answer_batch(Log *log, RecordList *batch) {
    while (batch->head != NULL) {
        Record *record = list_take(batch);
        LogRecording *recording = record->recording;
        if (record->kind == RECORD_SYNC) {
            log_answer(record->wait, NULL);
            free(record);
            continue;
        }
        if (recording == NULL) {
            list_add(&log->errands, record);
            continue;
        }
        RecordKind kind = record->kind;
        log_answer(record->wait, is_written(record) ? NULL : &recording->error);
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
    log_note_fill(log);
    if (log->figures.queue_bytes < log->queue_bytes_max) {
        waits = log->waits_for_room;
        log->waits_for_room = NULL;
    }
    LogWait *refused = log->refused;
    log->refused = NULL;
    uv_mutex_unlock(&log->mutex);
    log_free_buffers(surplus);
    answer_batch(log, batch);
    answer_all(waits);
    answer_all(refused);
}

// ---- the log's thread

// A chunk of a group is of the last second anyway, and a transaction writes a page once for all
// rows on it.
uint64_t log_queue_due_ns(const Log *log) {
    const size_t queue_bytes = (size_t)log->figures.queue_bytes;
    return log->queue.head == NULL ? UINT64_MAX
           : log->is_awaited || queue_bytes >= GATHER_BYTES ||
                   queue_bytes >= log->queue_bytes_max / 4
               ? 0
               : log->queue.head->queued_ns + gather_ns;
}

// Under the lock. Sleeps until there is something to do.
static void wait_for_work(Log *log) {
    while (log->refused == NULL && !log->is_closing && !log_has_errands(log) &&
           !log_has_backup(log)) {
        log_keep_note_released(log);
        uint64_t now_ns = clock_now_ns();
        uint64_t mark_ns = log->unmarked != NULL ? log->retry_at_ns : UINT64_MAX;
        uint64_t until_ns = log_earlier(log_earlier(log_queue_due_ns(log), mark_ns),
                                        log_earlier(log_keep_due_ns(log), log->cut_at_ns));
        if (until_ns <= now_ns) {
            return;
        }
        if (until_ns == UINT64_MAX) {
            uv_cond_wait(&log->wake, &log->mutex);
        } else {
            uv_cond_timedwait(&log->wake, &log->mutex, until_ns - now_ns);
        }
    }
}

// false: the log closes, and nothing is left.
static bool take_batch(Log *log, RecordList *batch) {
    *batch = (RecordList){0};
    size_t bytes = 0;
    uv_mutex_lock(&log->mutex);
    wait_for_work(log);
    log->is_ending = log->is_closing;
    bool goes_on =
        log->queue.head != NULL || log->refused != NULL || !log->is_closing || log_has_errands(log);
    log->batch_queued_ns = log->queue.head != NULL ? log->queue.head->queued_ns : 0;
    while (log->queue.head != NULL && bytes < BATCH_BYTES) {
        Record *record = list_take(&log->queue);
        bytes += record->buffer.used; // none of a beginning: what follows it comes along
        list_add(batch, record);
    }
    log->is_awaited = log->is_awaited && log->queue.head != NULL;
    uv_mutex_unlock(&log->mutex);
    return goes_on;
}

void log_run(void *context) {
    Log *log = context;
    nice_thread(LOG_NICENESS); // writing may lag behind, steps may not
    RecordList batch;
    while (take_batch(log, &batch)) {
        write_batch(log, &batch);
        finish_batch(log, &batch);
        mark_failed(log);
        log_run_errands(log);
        log_backup_some(log);
        checkpoint(log);
    }
    mark_failed(log);
}
