// SPDX-License-Identifier: MIT
// Recordings as a whole: one by what a person types, and how the episodes of one ended.
#include "log/reader/parts.h"

#include "base/assert.h"
#include "log/format/members.h"

#include <string.h>

// The rows that a statement gives, of which two are too many. The first is kept: of a name, the
// newest.
static Status take_rows(LogReader *reader, sqlite3_stmt *statement, EpisodeRow *row, size_t *count,
                        Error *error) {
    int code;
    Status status = STATUS_OK;
    *count = 0;
    while (status == STATUS_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        if ((*count)++ > 0) {
            continue;
        }
        *row = (EpisodeRow){0};
        Columns columns = {.statement = statement, .odd = row->odd};
        row->recording = columns_i64(&columns, "recording.id");
        if (!columns_uid(&columns, row->recording_uid)) {
            status = error_set(error, STATUS_DATA_LOSS, NULL,
                               "A row of the recordings has no id of 16 bytes.");
        }
        row->world_count = columns_u64(&columns, "world_count");
        row->world_range = columns_u64(&columns, "world_range");
        const uint64_t state = columns_u64(&columns, "state");
        row->recording_state = (RecordingState)(state < RECORDING_STATE_COUNT ? state : 0);
        row->dynamics_version = columns_u64(&columns, "dynamics_version");
        row->content = (RecordingContent)columns_u64(&columns, "content");
        row->stride = columns_u64(&columns, "stride");
        memcpy(row->uid, row->recording_uid, UID_BYTES);
        row->is_group = recording_is_group(row->world_count, row->world_range);
    }
    sqlite3_reset(statement);
    return STATUS_THEN_IF(status, code != SQLITE_DONE, reader_fail(reader, code, error));
}

static Status find(LogReader *reader, const char *text, EpisodeRow *row, size_t *count,
                   Error *error) {
    uint8_t low[UID_BYTES], high[UID_BYTES];
    Status status = STATUS_OK;
    *count = 0;
    if (reader_uid_range(text, low, high)) {
        sqlite3_stmt *by_uid = reader->statement[RECORDINGS_BY_UID];
        reader_uid_number(low);
        reader_uid_number(high);
        sqlite3_bind_blob(by_uid, 1, low, UID_BYTES, SQLITE_STATIC);
        sqlite3_bind_blob(by_uid, 2, high, UID_BYTES, SQLITE_STATIC);
        sqlite3_bind_text(by_uid, 3, reader->view, -1, SQLITE_STATIC);
        status = take_rows(reader, by_uid, row, count, error);
        sqlite3_clear_bindings(by_uid);
    }
    if (status == STATUS_OK && *count == 0) {
        sqlite3_stmt *by_name = reader->statement[RECORDINGS_BY_NAME];
        sqlite3_bind_text(by_name, 1, text, -1, SQLITE_STATIC);
        sqlite3_bind_text(by_name, 2, reader->view, -1, SQLITE_STATIC);
        status = take_rows(reader, by_name, row, count, error);
        sqlite3_clear_bindings(by_name);
    }
    return status;
}

Status log_reader_recording(LogReader *reader, const char *text, EpisodeRow *row, Error *error) {
    size_t count;
    Status status = find(reader, text, row, &count, error);
    if (status == STATUS_OK && count == 0) {
        return error_set(error, STATUS_NOT_FOUND, NULL,
                         "No recording has the name '%.100s', or an id that begins so (with %d "
                         "digits at least).",
                         text, UID_DIGITS_MIN);
    }
    if (status == STATUS_OK && count > 1) {
        char first[UID_TEXT_BYTES];
        uid_text(row->recording_uid, first);
        return error_set(error, STATUS_INVALID_ARGUMENT, NULL,
                         "Several recordings have the name '%.100s', or an id that begins so; give "
                         "the id of one, as %s, or more of its digits.",
                         text, first);
    }
    return status;
}

Status log_reader_ends(LogReader *reader, const EpisodeRow *recording, ReaderEnd *each,
                       void *context, Error *error) {
    sqlite3_stmt *statement = reader->statement[ENDS_OF_RECORDING];
    sqlite3_bind_int64(statement, 1, recording->recording);
    int code;
    bool goes_on = true;
    while (goes_on && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        Columns columns = {.statement = statement};
        const uint64_t world = columns_u64(&columns, "world_index"),
                       call = columns_u64(&columns, "last_step"),
                       state = columns_u64(&columns, "state");
        goes_on = each(world, call, state == RECORDING_COMPLETE, context);
    }
    sqlite3_reset(statement);
    if (!goes_on) {
        return error_set(error, STATUS_ABORTED, NULL, "Reading the episodes was given up.");
    }
    return code == SQLITE_DONE ? STATUS_OK : reader_fail(reader, code, error);
}

static Status count_seen(LogReader *reader, const char *sql, uint64_t *count, Error *error) {
    sqlite3_stmt *statement = NULL;
    const int code = sqlite3_prepare_v2(reader->db, sql, -1, &statement, NULL);
    if (code != SQLITE_OK) {
        return reader_fail(reader, code, error);
    }
    sqlite3_bind_text(statement, 1, reader->view, -1, SQLITE_STATIC);
    return reader_take_count(reader, statement, count, error);
}

// The length of a chunk or of a geometry is read without its bytes.
Status log_reader_measure(LogReader *reader, uint64_t *episodes, uint64_t *bytes, Error *error) {
    ASSERT(reader->view != NULL);
    uint64_t geometries = 0;
    Status status =
        count_seen(reader,
                   "SELECT count(*) FROM recording r CROSS JOIN episode e ON e.id" MEMBERS_OF(
                       "r.id") " WHERE r.namespace = ?1",
                   episodes, error);
    status = STATUS_THEN(
        status, count_seen(reader,
                           "SELECT coalesce(sum(length(c.bytes)), 0) FROM recording r "
                           "CROSS JOIN chunk c ON c.recording = r.id WHERE r.namespace = ?1",
                           bytes, error));
    // each once, however many of its recordings name it
    status = STATUS_THEN(
        status, count_seen(reader,
                           "SELECT coalesce(sum(length(g.bytes)), 0) FROM geometry g "
                           "WHERE g.name IN (SELECT w.geometry FROM worn w "
                           "JOIN recording r ON r.id = w.recording WHERE r.namespace = ?1)",
                           &geometries, error));
    *bytes += geometries;
    return status;
}
