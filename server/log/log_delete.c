// SPDX-License-Identifier: MIT
#include "log/log_parts.h"

#include "os/clock.h"

#include <inttypes.h>
#include <stdlib.h>

enum { VACUUM_PAGES = 256 }; // given back to the disk at a time, and that many are kept

// ---- the log's thread: deletions

static Status delete_part(Log *log, bool *is_gone, Error *error) {
    Writer *writer = &log->writer;
    Status status = writer_begin(writer, false, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (log->is_deleting) {
        status = writer_delete_piece(writer, &log->doomed, is_gone, error);
    } else {
        Deletion doomed;
        status =
            writer_delete_episode(writer, log->doomed_by->uid, clock_wall_ns(), &doomed, error);
        *is_gone = doomed.recording == 0;
        log->doomed = doomed;
    }
    status = status == STATUS_OK ? writer_commit(writer, error) : status;
    if (status == STATUS_OK) {
        log->is_deleting = !*is_gone;
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

bool log_has_deletions(const Log *log) {
    return log->is_deleting || log->deletions.head != NULL ||
           (!log->is_ending && (log->may_have_cut_off || log->must_vacuum));
}

// Also a deletion must write before it frees anything: on a full disk it gets the reserve.
static Status delete_with_reserve(Log *log, bool *is_gone, Error *error) {
    Status status = delete_part(log, is_gone, error);
    if (status != STATUS_RESOURCE_EXHAUSTED) {
        return status;
    }
    reserve_give(&log->reserve);
    writer_checkpoint(&log->writer, NULL, NULL); // the write-ahead log begins from the front again
    return delete_part(log, is_gone, error);
}

static void give_room_back(Log *log) {
    int64_t left = 0;
    Status status = writer_vacuum(&log->writer, VACUUM_PAGES, &left, NULL);
    log->must_vacuum = status == STATUS_OK && left > VACUUM_PAGES && left < log->free_pages;
    log->free_pages = left;
}

static void end_deletion(Log *log, Status status, const Error *error) {
    Record *record = log->doomed_by;
    log->is_deleting = false;
    log->doomed_by = NULL;
    log->must_vacuum = true;
    log->free_pages = INT64_MAX;
    if (record != NULL) {
        log_answer(record->wait, status == STATUS_OK ? NULL : error);
        free(record);
    }
}

// One transaction's worth.
void log_delete_some(Log *log) {
    if (!log->is_deleting && log->deletions.head == NULL && log->may_have_cut_off &&
        !log->is_ending) {
        find_cut_off(log);
    }
    if (!log->is_deleting && log->deletions.head == NULL) {
        if (log->must_vacuum && !log->is_ending) {
            give_room_back(log);
        }
        reserve_take(&log->reserve);
        return;
    }
    if (!log->is_deleting) {
        log->doomed_by = list_take(&log->deletions);
    }
    bool is_gone = false;
    Error error;
    Status status = delete_with_reserve(log, &is_gone, &error);
    if (status != STATUS_OK) {
        log->may_have_cut_off = false; // the next server tries again
    } else if (!log->reserve.is_held) {
        writer_checkpoint(&log->writer, NULL, NULL); // so that the next part needs no new room
    }
    if (status != STATUS_OK || is_gone) {
        end_deletion(log, status, &error);
    }
}
