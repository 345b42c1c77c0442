// SPDX-License-Identifier: MIT
#include "log/log_parts.h"

Status log_backup_begin(Log *log, LogBackup *backup, LogWait *wait, Error *error) {
    Status status = backup_check_name(&log->backup, backup->name, backup->replaces, error);
    if (status != STATUS_OK) {
        return status;
    }
    uv_mutex_lock(&log->mutex);
    bool is_free = log->backup_asked == NULL;
    if (is_free) {
        backup->wait = wait;
        log->backup_asked = backup;
        atomic_store_explicit(&log->is_backing_up, true, memory_order_relaxed);
        uv_cond_signal(&log->wake);
    }
    uv_mutex_unlock(&log->mutex);
    return is_free ? STATUS_OK
                   : error_set(error, STATUS_FAILED_PRECONDITION, "",
                               "A backup is being made already: ask again when it is there.");
}

Status log_backup_end(Log *log, LogBackup *backup, Error *error) {
    uint64_t bytes = 0;
    Status status = backup_publish(&log->backup, backup->name, backup->replaces, &bytes, error);
    atomic_store_explicit(&backup->bytes_done, bytes, memory_order_relaxed);
    uv_mutex_lock(&log->mutex);
    log->backup_asked = NULL;
    log->figures.backups += status == STATUS_OK;
    uv_mutex_unlock(&log->mutex);
    return status;
}

// ---- the log's thread

// The copying has ended; what failed is over for good.
static void answer(Log *log, const Error *error) {
    LogBackup *backup = log->backup_asked;
    atomic_store_explicit(&log->is_backing_up, false, memory_order_relaxed);
    if (error != NULL) {
        uv_mutex_lock(&log->mutex);
        log->backup_asked = NULL;
        uv_mutex_unlock(&log->mutex);
    }
    log_answer(backup->wait, error);
}

bool log_has_backup(const Log *log) {
    return atomic_load_explicit(&log->is_backing_up, memory_order_relaxed);
}

void log_backup_some(Log *log) {
    if (!log_has_backup(log)) {
        return;
    }
    uv_mutex_lock(&log->mutex); // which backup it is was stored before that there is one
    LogBackup *asked = log->backup_asked;
    uv_mutex_unlock(&log->mutex);
    Backup *backup = &log->backup;
    Error error;
    uint64_t done = 0, total = 1;
    Status status = STATUS_OK;
    if (atomic_load_explicit(&asked->is_cancelled, memory_order_relaxed)) {
        status = error_set(&error, STATUS_CANCELLED, "", "The backup was cancelled.");
    } else if (backup->db == NULL) {
        status = backup_begin(backup, log->writer.db, &error);
    }
    if (status == STATUS_OK) {
        status = backup_some(backup, &done, &total, &error);
        atomic_store_explicit(&asked->bytes_done, done, memory_order_relaxed);
        atomic_store_explicit(&asked->bytes_total, total, memory_order_relaxed);
    }
    status = STATUS_THEN_IF(status, done == total, backup_end(backup, &error));
    if (status != STATUS_OK) {
        backup_abandon(backup);
        answer(log, &error);
    } else if (done == total) {
        answer(log, NULL);
    }
}
