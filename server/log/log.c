// SPDX-License-Identifier: MIT
#include "log/log.h"

#include "base/array.h"
#include "base/assert.h"
#include "os/clock.h"
#include "os/thread.h"

#include "log/log_parts.h"
#include "log/reader/reader.h"
#include "log/format/schema.h"
#include "log/wal/care.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- lists

void list_add(RecordList *list, Record *record) {
    record->next = NULL;
    if (list->head == NULL) {
        list->head = record;
    } else {
        list->tail->next = record;
    }
    list->tail = record;
}

Record *list_take(RecordList *list) {
    Record *record = list->head;
    list->head = record->next;
    return record;
}

void log_answer(LogWait *wait, const Error *error) {
    if (wait != NULL) {
        wait->error = error != NULL ? *error : (Error){0};
        wait->done(wait);
    }
}

// Chunks of groups come by the hundred a second, a few from each range of worlds.
static bool may_wait(const Record *record) {
    return record->kind == RECORD_CHUNK && recording_is_group(record->recording->def.world_count,
                                                              record->recording->def.world_range);
}

void log_enqueue(Log *log, Record *const *records, size_t count) {
    uint64_t now_ns = clock_now_ns();
    uv_mutex_lock(&log->mutex);
    const uint64_t was_due_ns = log_queue_due_ns(log);
    for (size_t i = 0; i < count; i++) {
        Record *record = records[i];
        log->is_awaited = log->is_awaited || !may_wait(record);
        record->queued_ns = now_ns;
        list_add(&log->queue, record);
        log->figures.queue_bytes += record->buffer.used;
        log->figures.queue_rows += record->kind == RECORD_CHUNK;
        log->figures.open_recordings += record->kind == RECORD_BEGIN;
        log->figures.open_recordings -= record->kind == RECORD_END;
    }
    log_note_fill(log);
    if (log_queue_due_ns(log) < was_due_ns) {
        uv_cond_signal(&log->wake);
    }
    uv_mutex_unlock(&log->mutex);
}

static void ask(Log *log, const Record *errand) {
    LogWait *wait = errand->wait;
    Record *record = malloc(sizeof(*record));
    if (record != NULL) {
        *record = *errand;
        log_enqueue(log, &record, 1);
        return;
    }
    error_set(&wait->error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
    uv_mutex_lock(&log->mutex);
    wait->next = log->refused;
    log->refused = wait;
    uv_cond_signal(&log->wake);
    uv_mutex_unlock(&log->mutex);
}

void log_delete(Log *log, const uint8_t episode_uid[UID_BYTES], LogWait *wait) {
    Record errand = {.kind = RECORD_DELETE, .wait = wait};
    memcpy(errand.uid, episode_uid, UID_BYTES);
    ask(log, &errand);
}

void log_pin(Log *log, const uint8_t episode_uid[UID_BYTES], bool is_pinned, LogWait *wait) {
    Record errand = {.kind = RECORD_PIN, .is_pinned = is_pinned, .wait = wait};
    memcpy(errand.uid, episode_uid, UID_BYTES);
    ask(log, &errand);
}

void log_sync(Log *log, LogWait *wait) {
    ask(log, &(Record){.kind = RECORD_SYNC, .wait = wait});
}

void log_reindex(Log *log, size_t index, LogWait *wait) {
    ask(log, &(Record){.kind = RECORD_REINDEX, .index = index, .wait = wait});
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

static uint64_t bytes_of(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

LogFigures log_figures(const Log *log) {
    uv_mutex_t *mutex = (uv_mutex_t *)&log->mutex; // the lock alone changes
    uv_mutex_lock(mutex);
    LogFigures figures = log->figures;
    uint64_t oldest_ns = log->batch_queued_ns != 0 ? log->batch_queued_ns
                         : log->queue.head != NULL ? log->queue.head->queued_ns
                                                   : 0;
    uv_mutex_unlock(mutex);
    figures.file_bytes = bytes_of(log->path) + bytes_of(log->wal_path);
    uint64_t now_ns = clock_now_ns();
    figures.lag_ns = oldest_ns != 0 && now_ns > oldest_ns ? now_ns - oldest_ns : 0;
    return figures;
}

const char *log_path(const Log *log) {
    return log->path;
}

// ---- life

static void report_interrupted(const uint8_t uid[UID_BYTES], uint64_t last_step, void *context) {
    const Log *log = context;
    char text[UID_TEXT_BYTES];
    uid_text(uid, text);
    report_line(log->report, REPORT_WARN, "recording_interrupted",
                "recording=%s last_step=%" PRIu64, text, last_step);
}

// What cannot be found any more is kept, and told: a damaged index or row may be all that is wrong.
static Status tell_orphans(Log *log, Error *error) {
    uint64_t recordings = 0, strays = 0;
    Status status = writer_count_orphans(&log->writer, &recordings, &strays, error);
    if (status == STATUS_DATA_LOSS) { // a damaged index stops no server
        report_line(log->report, REPORT_WARN, "log_damaged", "why=\"%s\"", error->message);
        return STATUS_OK;
    }
    if (recordings + strays > 0) {
        report_line(log->report, REPORT_WARN, "log_orphans",
                    "recordings_without_episode=%" PRIu64 " recordings_without_row=%" PRIu64
                    " action=kept hint=\"moreau-server --recover FILE gives them their rows "
                    "again\"",
                    recordings, strays);
    }
    return status;
}

// Without a note of what is synced a start after a power cut may have to refuse what it left.
static void begin_mark(Log *log, const WalPlace *synced) {
    if (!wal_mark_begin(&log->wal_mark, log->path, synced)) {
        report_line(log->report, REPORT_WARN, "wal_mark", "why=\"%s-synced cannot be written: %s\"",
                    log->wal_path, strerror(errno));
    }
}

static Status open_file(Log *log, const LogDef *def, Error *error) {
    WalPlace synced;
    Status status = schema_check_path(def->path, error);
    status = STATUS_THEN(status, lock_take(&log->file_lock, log->path, error));
    status = STATUS_THEN(status, wal_care_for_start(log->path, log->report, &synced, error));
    if (status == STATUS_OK) {
        begin_mark(log, &synced);
        status = writer_open(&log->writer, def->path, def->full_durability, error);
    }
    if (status == STATUS_OK) {
        log->writer.wal_mark = &log->wal_mark;
        log->writer.seal_key = def->seal_key;
        sqlite3_wal_hook(log->writer.db, log_note_frames, log);
        status = writer_interrupt_open(&log->writer, report_interrupted, log, error);
    }
    status = STATUS_THEN(status, tell_orphans(log, error));
    status = STATUS_THEN(status, backup_init(&log->backup, def->backup_folder, log->path, error));
    if (status == STATUS_OK) {
        reserve_init(&log->reserve, log->path);
        reserve_take(&log->reserve);
    }
    return status;
}

static Status start(Log *log, Error *error) {
    if (uv_mutex_init(&log->mutex) == 0) {
        if (uv_cond_init(&log->wake) == 0) {
            if (thread_start(&log->thread, log_run, log) == 0) {
                return STATUS_OK;
            }
            uv_cond_destroy(&log->wake);
        }
        uv_mutex_destroy(&log->mutex);
    }
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "The log's thread cannot be started.");
}

static char *suffixed(const char *path, const char *suffix) {
    size_t bytes = strlen(path) + strlen(suffix) + 1;
    char *made = malloc(bytes);
    if (made != NULL) {
        snprintf(made, bytes, "%s%s", path, suffix);
    }
    return made;
}

static void free_log(Log *log) {
    writer_close(&log->writer);
    reserve_deinit(&log->reserve);
    backup_deinit(&log->backup);
    wal_mark_end(&log->wal_mark, false);
    lock_release(&log->file_lock);
    free(log->path);
    free(log->wal_path);
    free(log->server_version);
    free(log->build);
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
    opened->seal_key = def->seal_key;
    opened->file_lock.fd = -1;
    opened->checkpoint_at = CHECKPOINT_FRAMES;
    opened->may_have_cut_off = true;
    opened->keep.rules = def->keep;
    opened->cut_at_ns = UINT64_MAX;
    opened->cut_off_above = INT64_MIN;
    opened->path = strdup(def->path);
    opened->wal_path = suffixed(def->path, "-wal");
    opened->server_version = strdup(def->server_version);
    opened->build = strdup(def->build == NULL ? "" : def->build);
    Status status = STATUS_OK;
    if (opened->path == NULL || opened->wal_path == NULL || opened->server_version == NULL ||
        opened->build == NULL) {
        status = error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
    }
    status = STATUS_THEN(status, open_file(opened, def, error));
    status = STATUS_THEN(status, start(opened, error));
    if (status != STATUS_OK) {
        free_log(opened);
        return status;
    }
    index_watch_start(&opened->index_watch, opened, def->report);
    *log = opened;
    return STATUS_OK;
}

void log_close(Log *log) {
    index_watch_stop(&log->index_watch);
    uv_mutex_lock(&log->mutex);
    ASSERT(log->figures.open_recordings == 0 && log->backup_asked == NULL);
    log->is_closing = true;
    uv_cond_signal(&log->wake);
    uv_mutex_unlock(&log->mutex);
    uv_thread_join(&log->thread);
    ASSERT(log->queue.head == NULL && log->waits_for_room == NULL);

    for (size_t i = 0; i < log->reader_count; i++) {
        log_reader_close(log->reader[i]);
    }
    Error error;
    if (writer_settle(&log->writer, &error) == STATUS_OK) {
        wal_mark_end(&log->wal_mark, true);
    } else {
        report_line(log->report, REPORT_WARN, "log_not_settled", "why=\"%s\"", error.message);
    }
    while (log->unmarked != NULL) { // the next log_open finds them
        LogRecording *recording = log->unmarked;
        log->unmarked = recording->next_unmarked;
        log_free_recording(recording);
    }
    log_free_buffers(log->free_buffers);
    uv_cond_destroy(&log->wake);
    uv_mutex_destroy(&log->mutex);
    free_log(log);
}

// ---- readers

void log_hold(Log *log, int64_t recording, LogHold *hold) {
    uv_mutex_lock(&log->mutex);
    *hold = (LogHold){.recording = recording, .next = log->holds, .is_held = true};
    if (hold->next != NULL) {
        hold->next->previous = hold;
    }
    log->holds = hold;
    uv_mutex_unlock(&log->mutex);
}

void log_release(Log *log, LogHold *hold) {
    if (!hold->is_held) {
        return;
    }
    uv_mutex_lock(&log->mutex);
    *(hold->previous == NULL ? &log->holds : &hold->previous->next) = hold->next;
    if (hold->next != NULL) {
        hold->next->previous = hold->previous;
    }
    hold->is_held = false;
    log->was_released = true;
    uv_cond_signal(&log->wake);
    uv_mutex_unlock(&log->mutex);
}

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
    log_reader_see(taken, NULL);
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
