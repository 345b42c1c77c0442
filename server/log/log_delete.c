// SPDX-License-Identifier: MIT
#include "log/log_parts.h"

#include "os/clock.h"

#include <inttypes.h>
#include <stdlib.h>

enum { VACUUM_PAGES = 256 }; // given back to the disk at a time, and that many are kept

// ---- the log's thread: errands

static Status begin_errand(Log *log, bool *is_over, Error *error) {
    Writer *writer = &log->writer;
    const Record *errand = log->errand;
    if (errand->kind == RECORD_PIN) {
        *is_over = true;
        return writer_pin_episode(writer, errand->uid, errand->is_pinned, error);
    }
    Deletion doomed;
    Status status = writer_delete_episode(writer, errand->uid, clock_wall_ns(), &doomed, error);
    *is_over = doomed.recording == 0;
    log->doomed = doomed;
    return status;
}

static Status take_part(Log *log, bool *is_over, Error *error) {
    Writer *writer = &log->writer;
    bool is_synced = !log->is_deleting && log->errand->kind == RECORD_PIN;
    Status status = writer_begin(writer, is_synced, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = log->is_deleting ? writer_delete_piece(writer, &log->doomed, is_over, error)
                              : begin_errand(log, is_over, error);
    status = status == STATUS_OK ? writer_commit(writer, error) : status;
    if (status == STATUS_OK) {
        log->is_deleting = !*is_over;
    } else {
        writer_rollback(writer);
    }
    return status;
}

// What an earlier server was told to delete; the way leads on to higher rows alone.
static void find_cut_off(Log *log) {
    Error error;
    uint64_t unsound = 0;
    log->is_deleting = writer_find_deletion(&log->writer, log->cut_off_above, &log->doomed,
                                            &unsound, &error) == STATUS_OK;
    log->may_have_cut_off = log->is_deleting;
    log->cut_off_above = log->is_deleting ? log->doomed.recording : log->cut_off_above;
    if (unsound > 0) {
        report_line(log->report, REPORT_WARN, "log_unsound_deletion",
                    "count=%" PRIu64 " action=kept", unsound);
    }
}

bool log_has_errands(const Log *log) {
    return log->is_deleting || log->errands.head != NULL ||
           (!log->is_ending && (log->may_have_cut_off || log->must_vacuum));
}

// Also a deletion must write before it frees anything: on a full disk errands get the reserve.
static Status take_part_with_reserve(Log *log, bool *is_over, Error *error) {
    Status status = take_part(log, is_over, error);
    if (status != STATUS_RESOURCE_EXHAUSTED) {
        return status;
    }
    reserve_give(&log->reserve);
    writer_checkpoint(&log->writer, NULL, NULL); // the write-ahead log begins from the front again
    return take_part(log, is_over, error);
}

static void give_room_back(Log *log) {
    int64_t left = 0;
    Status status = writer_vacuum(&log->writer, VACUUM_PAGES, &left, NULL);
    log->must_vacuum = status == STATUS_OK && left > VACUUM_PAGES && left < log->free_pages;
    log->free_pages = left;
}

static void end_errand(Log *log, Status status, const Error *error) {
    Record *record = log->errand;
    log->is_deleting = false;
    log->errand = NULL;
    log->must_vacuum = true;
    log->free_pages = INT64_MAX;
    if (record != NULL) {
        log_answer(record->wait, status == STATUS_OK ? NULL : error);
        free(record);
    }
}

// One transaction's worth.
void log_run_errands(Log *log) {
    if (!log->is_deleting && log->errands.head == NULL && log->may_have_cut_off &&
        !log->is_ending) {
        find_cut_off(log);
    }
    if (!log->is_deleting && log->errands.head == NULL) {
        if (log->must_vacuum && !log->is_ending) {
            give_room_back(log);
        }
        reserve_take(&log->reserve);
        return;
    }
    if (!log->is_deleting) {
        log->errand = list_take(&log->errands);
    }
    bool is_over = false;
    Error error;
    Status status = take_part_with_reserve(log, &is_over, &error);
    if (status != STATUS_OK) {
        log->may_have_cut_off = false; // the next server tries again
    } else if (!log->reserve.is_held) {
        writer_checkpoint(&log->writer, NULL, NULL); // so that the next part needs no new room
    }
    if (status != STATUS_OK || is_over) {
        end_errand(log, status, &error);
    }
}
