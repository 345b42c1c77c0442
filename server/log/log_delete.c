// SPDX-License-Identifier: MIT
#include "log/log_parts.h"

#include "os/clock.h"

#include <inttypes.h>
#include <stdlib.h>

enum { VACUUM_PAGES = 256 }; // given back to the disk at a time, and that many are kept
static const uint64_t cut_retry_ns = 1000000000;

// ---- the log's thread: errands

static Status begin_errand(Log *log, bool *is_over, Error *error) {
    Writer *writer = &log->writer;
    const Record *errand = log->errand;
    if (errand->kind == RECORD_PIN) {
        *is_over = true;
        return writer_pin_episode(writer, errand->uid, errand->is_pinned, error);
    }
    if (errand->kind == RECORD_REINDEX) {
        *is_over = true;
        return writer_reindex(writer, errand->index, error);
    }
    Deletion doomed;
    Status status = writer_delete_episode(writer, errand->uid, clock_wall_ns(), &doomed, error);
    *is_over = doomed.recording == 0;
    log->doomed = doomed;
    return status;
}

// What is under way goes on by one transaction: chunks of what is doomed, an errand, or episodes of
// a recording that retention takes away.
static Status take_part(Log *log, bool *is_over, Error *error) {
    Writer *writer = &log->writer;
    bool is_errand = !log->is_deleting && log->errand != NULL;
    RetireOutcome outcome = RETIRE_NOT;
    Status status = writer_begin(writer, is_errand && log->errand->kind == RECORD_PIN, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = log->is_deleting ? writer_delete_piece(writer, &log->doomed, is_over, error)
             : is_errand      ? begin_errand(log, is_over, error)
                              : log_keep_retire(log, &outcome, error);
    status = STATUS_THEN(status, writer_commit(writer, error));
    if (status != STATUS_OK) {
        writer_rollback(writer);
    } else if (log->is_deleting || is_errand) {
        log->is_deleting = !*is_over;
    } else {
        log_keep_retired(log, outcome);
        log->is_deleting = outcome == RETIRE_INTENT;
        log->doomed = log->keep.ended.recording;
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

static bool is_under_way(const Log *log) {
    return log->is_deleting || log->errands.head != NULL || log->keep.is_retiring;
}

bool log_has_errands(const Log *log) {
    bool is_awaited = log->is_deleting && log->errand != NULL;
    return is_awaited || log->errands.head != NULL ||
           (!log->is_ending && (log->is_deleting || log->keep.is_retiring ||
                                log->may_have_cut_off || log->must_vacuum));
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
    log->cut_at_ns = log->must_vacuum ? UINT64_MAX : 0;
}

// The file gets smaller only when all of the write-ahead log has been brought in, which a reader
// can hold up.
static void cut_file(Log *log) {
    uint64_t now_ns = clock_now_ns();
    if (log->cut_at_ns <= now_ns) {
        int left = 0;
        writer_checkpoint(&log->writer, &left, NULL);
        log->cut_at_ns = left > 0 ? now_ns + cut_retry_ns : UINT64_MAX;
    }
}

static void end_errand(Log *log, Status status, const Error *error) {
    Record *record = log->errand;
    if (status != STATUS_OK && record == NULL) {
        log_keep_fail(log, error);
    }
    log->is_deleting = false;
    log->errand = NULL;
    log->must_vacuum = true;
    log->free_pages = INT64_MAX;
    if (record != NULL) {
        log->keep.list_count = log->keep.list_next; // what it had read may be gone
        if (record->kind == RECORD_PIN) {
            log_keep_note(log, false); // it may not be kept any more
        }
        log_answer(record->wait, status == STATUS_OK ? NULL : error);
        free(record);
    }
}

// One transaction's worth.
void log_run_errands(Log *log) {
    if (!is_under_way(log) && !log->is_ending) {
        if (log->may_have_cut_off) {
            find_cut_off(log);
        } else {
            log_keep_look(log);
        }
    }
    if (!is_under_way(log) || (log->is_ending && !log_has_errands(log))) {
        if (log->must_vacuum && !log->is_ending) {
            give_room_back(log);
        } else {
            cut_file(log);
        }
        reserve_take(&log->reserve);
        return;
    }
    if (!log->is_deleting && log->errands.head != NULL) {
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
