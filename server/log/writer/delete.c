// SPDX-License-Identifier: MIT
// Errands: pins, and deleting. What is to go is said in a row of its own (an intent, with a
// checksum) in the transaction that takes the episode away: so what a crash cut off can be carried
// on, and nothing that merely looks abandoned is ever removed.
#include "log/writer/parts.h"

#include <string.h>

static uint64_t intent_checksum(const Deletion *deletion, uint64_t asked_ns) {
    uint8_t bytes[8 + UID_BYTES + 8];
    Sink sink = {.bytes = bytes};
    sink_u64(&sink, (uint64_t)deletion->recording);
    sink_bytes(&sink, deletion->uid, UID_BYTES);
    sink_u64(&sink, asked_ns);
    return hash_bytes(bytes, sizeof(bytes), 0);
}

Status writer_put_intent(Writer *writer, const Deletion *deletion, uint64_t now_ns, Error *error) {
    sqlite3_stmt *statement = writer_get(writer, WRITE_DELETION);
    sqlite3_bind_int64(statement, 1, deletion->recording);
    bind_uid(statement, 2, deletion->uid);
    bind_u64(statement, 3, now_ns);
    bind_u64(statement, 4, intent_checksum(deletion, now_ns));
    return writer_step(writer, WRITE_DELETION, "noting a deletion", NULL, error);
}

// What the log knows of an episode that somebody names.
typedef struct FoundEpisode {
    int64_t episode; // its row
    Deletion recording;
    bool is_open, is_last, is_pinned;
} FoundEpisode;

static Status find_episode(Writer *writer, const uint8_t uid[UID_BYTES], FoundEpisode *found,
                           Error *error) {
    sqlite3_stmt *statement = writer_get(writer, READ_EPISODE);
    uint8_t recording_uid[UID_BYTES];
    uint32_t number = 0;
    for (int i = 0; i < 4; i++) {
        number = number << 8 | uid[UID_BYTES - 4 + i];
    }
    uid_of_episode(uid, 0, recording_uid);
    bind_uid(statement, 1, recording_uid);
    sqlite3_bind_int64(statement, 2, number);
    bool has_row = false;
    Status status = writer_step(writer, READ_EPISODE, "looking for an episode", &has_row, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (!has_row) {
        return error_set(error, STATUS_NOT_FOUND, NULL, "The log has no such episode.");
    }
    *found = (FoundEpisode){.episode = sqlite3_column_int64(statement, 0),
                            .recording = {.recording = sqlite3_column_int64(statement, 1)},
                            .is_open = sqlite3_column_int(statement, 3) == RECORDING_OPEN,
                            .is_last = sqlite3_column_int64(statement, 4) == 0,
                            .is_pinned = sqlite3_column_int64(statement, 5) != 0};
    writer_copy_uid(statement, 2, found->recording.uid);
    sqlite3_reset(statement);
    return STATUS_OK;
}

Status writer_pin_episode(Writer *writer, const uint8_t uid[UID_BYTES], bool is_pinned,
                          Error *error) {
    FoundEpisode found;
    Status status = find_episode(writer, uid, &found, error);
    if (status != STATUS_OK) {
        return status;
    }
    sqlite3_bind_int64(writer_get(writer, WRITE_PIN), 1, found.episode);
    sqlite3_bind_int(writer_get(writer, WRITE_PIN), 2, is_pinned);
    return writer_step(writer, WRITE_PIN, "pinning an episode", NULL, error);
}

Status writer_delete_episode(Writer *writer, const uint8_t uid[UID_BYTES], uint64_t now_ns,
                             Deletion *deletion, Error *error) {
    FoundEpisode found;
    *deletion = (Deletion){0};
    Status status = find_episode(writer, uid, &found, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (found.is_open) {
        return error_set(error, STATUS_FAILED_PRECONDITION, NULL,
                         "The episode is being recorded: stop it first.");
    }
    if (found.is_pinned) {
        return error_set(error, STATUS_FAILED_PRECONDITION, NULL,
                         "The episode is pinned: unpin it first (moreau episodes EPISODE "
                         "--unpin).");
    }
    sqlite3_bind_int64(writer_get(writer, DELETE_EPISODE), 1, found.episode);
    status = writer_step(writer, DELETE_EPISODE, "removing an episode", NULL, error);
    if (status == STATUS_OK && found.is_last) {
        status = writer_put_intent(writer, &found.recording, now_ns, error);
        *deletion = found.recording;
    }
    return status;
}

// The rows of a recording without chunks.
static Status delete_rows(Writer *writer, const Deletion *deletion, Error *error) {
    static const WriterStatement parts[] = {DELETE_HIGHLIGHTS, DELETE_TOUCHES, DELETE_TOUCH_BODIES,
                                            DELETE_WORN_OUT,   DELETE_WORN,    DELETE_LABELS,
                                            DELETE_RECORDING,  DELETE_DELETION};
    Status status = STATUS_OK;
    writer->geometry_count = 0; // some may go
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && status == STATUS_OK; i++) {
        sqlite3_bind_int64(writer_get(writer, parts[i]), 1, deletion->recording);
        if (parts[i] == DELETE_RECORDING) {
            bind_uid(writer_get(writer, parts[i]), 2, deletion->uid);
        }
        status = writer_step(writer, parts[i], "removing a recording", NULL, error);
    }
    return status;
}

Status writer_delete_piece(Writer *writer, const Deletion *deletion, bool *is_gone, Error *error) {
    sqlite3_bind_int64(writer_get(writer, DELETE_CHUNKS), 1, deletion->recording);
    bind_uid(writer_get(writer, DELETE_CHUNKS), 2, deletion->uid);
    Status status = writer_step(writer, DELETE_CHUNKS, "removing chunks", NULL, error);
    *is_gone = status == STATUS_OK && sqlite3_changes(writer->db) == 0;
    return *is_gone ? delete_rows(writer, deletion, error) : status;
}

Status writer_find_deletion(Writer *writer, int64_t above, Deletion *deletion, uint64_t *unsound,
                            Error *error) {
    sqlite3_stmt *statement = writer_get(writer, READ_DELETION);
    for (;;) {
        sqlite3_bind_int64(statement, 1, above);
        bool has_row = false;
        Status status =
            writer_step(writer, READ_DELETION, "looking for deletions", &has_row, error);
        if (status != STATUS_OK || !has_row) {
            return status != STATUS_OK ? status : STATUS_NOT_FOUND;
        }
        Deletion found = {.recording = sqlite3_column_int64(statement, 0)};
        writer_copy_uid(statement, 1, found.uid);
        uint64_t asked_ns = (uint64_t)sqlite3_column_int64(statement, 2);
        uint64_t checksum = (uint64_t)sqlite3_column_int64(statement, 3);
        bool is_needed = sqlite3_column_int64(statement, 4) != 0;
        sqlite3_reset(statement);
        if (found.recording <= above) {
            return STATUS_NOT_FOUND; // a damaged tree may lead back
        }
        if (checksum == intent_checksum(&found, asked_ns) && !is_needed) {
            *deletion = found;
            return STATUS_OK;
        }
        ++*unsound;
        above = found.recording;
    }
}

Status writer_count_orphans(Writer *writer, uint64_t *recordings, uint64_t *strays, Error *error) {
    bool has_row = false;
    Status status = writer_step(writer, READ_ORPHAN, "looking for recordings without an episode",
                                &has_row, error);
    *recordings = has_row ? (uint64_t)sqlite3_column_int64(writer_get(writer, READ_ORPHAN), 0) : 0;
    sqlite3_reset(writer_get(writer, READ_ORPHAN));
    *strays = 0;
    sqlite3_stmt *statement = writer_get(writer, READ_STRAY);
    int64_t above = INT64_MIN;
    while (status == STATUS_OK) {
        sqlite3_bind_int64(statement, 1, above);
        status = writer_step(writer, READ_STRAY, "looking for stray chunks", &has_row, error);
        int64_t recording = has_row ? sqlite3_column_int64(statement, 0) : above;
        bool is_stray = status == STATUS_OK && has_row && !sqlite3_column_int(statement, 1);
        sqlite3_reset(statement);
        *strays += is_stray;
        if (status != STATUS_OK || recording <= above) {
            return status; // the end, or rows that lead back
        }
        above = recording;
    }
    return status;
}
