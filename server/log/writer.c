// SPDX-License-Identifier: MIT
#include "log/writer.h"

#include "base/assert.h"
#include "log/schema.h"

#include <string.h>

enum { SETTLE_BUSY_MS = 500 }; // for readers of other programs to end

// Deleting 100 chunks of 100 kB frees some 10 MB: about what one batch of the queue writes.
#define PIECE_CHUNKS "100"

static const char *const texts[WRITER_STATEMENT_COUNT] = {
    [WRITE_BEGIN] = "BEGIN IMMEDIATE",
    [WRITE_COMMIT] = "COMMIT",
    [WRITE_ROLLBACK] = "ROLLBACK",
    [WRITE_RECORDING] =
        "INSERT INTO recording(uid, state, content, stride, lossy, client, world_name, world_step, "
        "world_time, time_step, body_count, dynamics_version, server_version, begun_ns) "
        "VALUES(?1, 0, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    [WRITE_EPISODE] = "INSERT INTO episode(uid, recording, first_step, seed, name, solver) "
                      "VALUES(?1, ?2, 0, ?3, ?4, ?5)",
    [WRITE_LABEL] = "INSERT OR IGNORE INTO label(label, episode) VALUES(?1, ?2)",
    [WRITE_CHUNK] = "INSERT INTO chunk(recording, kind, first_step, last_step, written_ns, "
                    "unconverged, worst_own, worst_penetration, contacts_max, solver, bytes) "
                    "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [WRITE_EPISODE_END] = "UPDATE episode SET last_step = max(first_step, ?2) "
                          "WHERE recording = ?1 AND last_step IS NULL",
    [WRITE_RECORDING_END] = "UPDATE recording SET state = ?2, why = ?3, dropped_steps = ?4, "
                            "ended_ns = max(begun_ns, ?5) WHERE id = ?1",
    [READ_LAST_CHUNK] = "SELECT last_step, written_ns FROM chunk WHERE recording = ?1 AND "
                        "kind = ?2 ORDER BY first_step DESC, id DESC LIMIT 1",
    [READ_OPEN] = "SELECT id, uid FROM recording WHERE state = 0 AND id > ?1 ORDER BY id LIMIT 1",
    [READ_EPISODE] = "SELECT e.id, r.id, r.state, (SELECT count(*) FROM episode o "
                     "WHERE o.recording = e.recording) FROM episode e "
                     "LEFT JOIN recording r ON r.id = e.recording WHERE e.uid = ?1",
    [READ_LEFT_OVER] = "SELECT id FROM recording r WHERE NOT EXISTS "
                       "(SELECT 1 FROM episode e WHERE e.recording = r.id) LIMIT 1",
    [DELETE_LABELS] = "DELETE FROM label WHERE episode = ?1",
    [DELETE_EPISODE] = "DELETE FROM episode WHERE id = ?1",
    [DELETE_CHUNKS] = "DELETE FROM chunk WHERE id IN "
                      "(SELECT id FROM chunk WHERE recording = ?1 LIMIT " PIECE_CHUNKS ")",
    [DELETE_RECORDING] = "DELETE FROM recording WHERE id = ?1",
};

// ---- statements

static sqlite3_stmt *get(Writer *writer, WriterStatement which) {
    return writer->statement[which];
}

// One step; `doing` for the sentence. *has_row Nullable for statements that give none.
static Status step(Writer *writer, WriterStatement which, const char *doing, bool *has_row,
                   Error *error) {
    int code = sqlite3_step(get(writer, which));
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        Status status = schema_error(writer->db, code, doing, error);
        sqlite3_reset(get(writer, which));
        return status;
    }
    if (has_row != NULL) {
        *has_row = code == SQLITE_ROW;
    }
    if (code == SQLITE_DONE) {
        sqlite3_reset(get(writer, which));
    }
    return STATUS_OK;
}

static void bind_u64(sqlite3_stmt *statement, int index, uint64_t value) {
    sqlite3_bind_int64(statement, index, (sqlite3_int64)value);
}

// Borrowed until the statement is done.
static void bind_text(sqlite3_stmt *statement, int index, const char *text) {
    sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
}

static void bind_uid(sqlite3_stmt *statement, int index, const uint8_t uid[UID_BYTES]) {
    sqlite3_bind_blob(statement, index, uid, UID_BYTES, SQLITE_STATIC);
}

static void copy_uid(sqlite3_stmt *statement, int column, uint8_t uid[UID_BYTES]) {
    memset(uid, 0, UID_BYTES);
    const void *bytes = sqlite3_column_blob(statement, column);
    if (bytes != NULL && sqlite3_column_bytes(statement, column) == UID_BYTES) {
        memcpy(uid, bytes, UID_BYTES);
    }
}

// ---- life

Status writer_open(Writer *writer, const char *path, bool full_durability, Error *error) {
    *writer = (Writer){.full_durability = full_durability};
    Status status = schema_open(path, full_durability, &writer->db, error);
    for (int i = 0; status == STATUS_OK && i < WRITER_STATEMENT_COUNT; i++) {
        int code = sqlite3_prepare_v3(writer->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                      &writer->statement[i], NULL);
        if (code == SQLITE_ERROR) { // the text is ours: the tables are not
            status = error_set(error, STATUS_DATA_LOSS, "db",
                               "%.200s has not the tables of a log (%.80s): copy what can be read "
                               "with moreau-server --recover FILE.",
                               path, sqlite3_errmsg(writer->db));
        } else if (code != SQLITE_OK) {
            status = schema_error(writer->db, code, "opening the log", error);
        }
    }
    if (status != STATUS_OK) {
        writer_close(writer);
    }
    return status;
}

void writer_close(Writer *writer) {
    for (int i = 0; i < WRITER_STATEMENT_COUNT; i++) {
        sqlite3_finalize(writer->statement[i]);
    }
    int code = sqlite3_close(writer->db);
    ASSERT(code == SQLITE_OK); // a statement would have been left
    *writer = (Writer){0};
}

// ---- transactions

static void set_synced(Writer *writer, bool synced) {
    if (!writer->full_durability && synced != writer->is_synced) {
        sqlite3_exec(writer->db,
                     synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", NULL,
                     NULL, NULL);
        writer->is_synced = synced;
    }
}

Status writer_begin(Writer *writer, bool synced, Error *error) {
    set_synced(writer, synced);
    return step(writer, WRITE_BEGIN, "beginning a transaction", NULL, error);
}

Status writer_commit(Writer *writer, Error *error) {
    return step(writer, WRITE_COMMIT, "writing into the log", NULL, error);
}

void writer_rollback(Writer *writer) {
    for (int i = 0; i < WRITER_STATEMENT_COUNT; i++) {
        sqlite3_reset(writer->statement[i]);
    }
    // some errors have rolled back already; then this would be one more
    if (!sqlite3_get_autocommit(writer->db)) {
        step(writer, WRITE_ROLLBACK, "taking a transaction back", NULL, NULL);
    }
}

// ---- recordings

static bool is_doubled(Writer *writer) {
    return (sqlite3_errcode(writer->db) & 0xff) == SQLITE_CONSTRAINT;
}

static Status refuse_double(Error *error) {
    return error_set(error, STATUS_ALREADY_EXISTS, NULL,
                     "The log has a recording or an episode of this id already.");
}

static Status add_episode(Writer *writer, const RecordingDef *def, int64_t recording,
                          Error *error) {
    sqlite3_stmt *statement = get(writer, WRITE_EPISODE);
    bind_uid(statement, 1, def->episode_uid);
    sqlite3_bind_int64(statement, 2, recording);
    if (def->has_seed) {
        bind_u64(statement, 3, def->seed);
    } else {
        sqlite3_bind_null(statement, 3);
    }
    bind_text(statement, 4, def->name);
    bind_text(statement, 5, def->solver);
    Status status = step(writer, WRITE_EPISODE, "writing an episode", NULL, error);
    if (status != STATUS_OK) {
        return status;
    }
    int64_t episode = sqlite3_last_insert_rowid(writer->db);
    for (size_t i = 0; i < def->label_count && status == STATUS_OK; i++) {
        bind_text(get(writer, WRITE_LABEL), 1, def->label[i]);
        sqlite3_bind_int64(get(writer, WRITE_LABEL), 2, episode);
        status = step(writer, WRITE_LABEL, "writing a label", NULL, error);
    }
    return status;
}

Status writer_add_recording(Writer *writer, const RecordingDef *def, uint64_t begun_ns,
                            const char *server_version, int64_t *recording, Error *error) {
    sqlite3_stmt *statement = get(writer, WRITE_RECORDING);
    bind_uid(statement, 1, def->uid);
    sqlite3_bind_int(statement, 2, (int)def->content);
    bind_u64(statement, 3, def->stride);
    sqlite3_bind_int(statement, 4, def->lossy);
    bind_text(statement, 5, def->client);
    bind_text(statement, 6, def->world_name);
    bind_u64(statement, 7, def->world_step);
    sqlite3_bind_double(statement, 8, def->world_time);
    sqlite3_bind_double(statement, 9, def->time_step);
    bind_u64(statement, 10, def->body_count);
    bind_u64(statement, 11, def->dynamics_version);
    bind_text(statement, 12, server_version);
    bind_u64(statement, 13, begun_ns);
    Status status = step(writer, WRITE_RECORDING, "writing a recording", NULL, error);
    if (status != STATUS_OK) {
        return is_doubled(writer) ? refuse_double(error) : status;
    }
    *recording = sqlite3_last_insert_rowid(writer->db);
    status = add_episode(writer, def, *recording, error);
    if (status != STATUS_OK && is_doubled(writer)) {
        sqlite3_bind_int64(get(writer, DELETE_RECORDING), 1, *recording);
        status = step(writer, DELETE_RECORDING, "removing a recording", NULL, error);
        *recording = 0;
        return status == STATUS_OK ? refuse_double(error) : status;
    }
    return status;
}

Status writer_add_chunk(Writer *writer, int64_t recording, const ChunkRecord *chunk, Error *error) {
    int bytes_max = sqlite3_limit(writer->db, SQLITE_LIMIT_LENGTH, -1);
    if (chunk->count > (size_t)bytes_max) {
        return error_set(error, STATUS_OUT_OF_RANGE, NULL,
                         "A chunk of %zu bytes does not fit into one row of the log, which holds "
                         "%d: record a smaller world, or fewer steps per chunk.",
                         chunk->count, bytes_max);
    }
    sqlite3_stmt *statement = get(writer, WRITE_CHUNK);
    sqlite3_bind_int64(statement, 1, recording);
    sqlite3_bind_int(statement, 2, (int)chunk->kind);
    bind_u64(statement, 3, chunk->first_step);
    bind_u64(statement, 4, chunk->last_step);
    bind_u64(statement, 5, chunk->written_ns);
    if (chunk->kind == CHUNK_INPUTS) {
        bind_u64(statement, 6, chunk->figures.unconverged_steps);
        sqlite3_bind_double(statement, 7, chunk->figures.worst_own);
        sqlite3_bind_double(statement, 8, chunk->figures.worst_penetration);
        bind_u64(statement, 9, chunk->figures.contacts_max);
        bind_text(statement, 10, chunk->figures.solver);
    } else {
        for (int i = 6; i <= 10; i++) {
            sqlite3_bind_null(statement, i);
        }
    }
    sqlite3_bind_blob64(statement, 11, chunk->bytes, chunk->count, SQLITE_STATIC);
    return step(writer, WRITE_CHUNK, "writing a chunk", NULL, error);
}

Status writer_end_recording(Writer *writer, int64_t recording, const WriterEnd *end, Error *error) {
    sqlite3_stmt *statement = get(writer, WRITE_EPISODE_END);
    sqlite3_bind_int64(statement, 1, recording);
    bind_u64(statement, 2, end->last_step);
    Status status = step(writer, WRITE_EPISODE_END, "ending an episode", NULL, error);
    if (status != STATUS_OK) {
        return status;
    }
    statement = get(writer, WRITE_RECORDING_END);
    sqlite3_bind_int64(statement, 1, recording);
    sqlite3_bind_int(statement, 2, (int)end->state);
    bind_text(statement, 3, end->why);
    bind_u64(statement, 4, end->dropped_steps);
    bind_u64(statement, 5, end->ended_ns);
    return step(writer, WRITE_RECORDING_END, "ending a recording", NULL, error);
}

Status writer_interrupt(Writer *writer, int64_t recording, const char *why, uint64_t *last_step,
                        Error *error) {
    WriterEnd end = {.state = RECORDING_INTERRUPTED, .why = why};
    // by kind, as the index has it: a few pages, however long the recording is
    for (int kind = CHUNK_KEYFRAME; kind <= CHUNK_GAP; kind++) {
        sqlite3_stmt *statement = get(writer, READ_LAST_CHUNK);
        sqlite3_bind_int64(statement, 1, recording);
        sqlite3_bind_int(statement, 2, kind);
        bool has_row = false;
        Status status = step(writer, READ_LAST_CHUNK, "reading the last chunk", &has_row, error);
        if (status != STATUS_OK) {
            return status;
        }
        if (has_row) {
            uint64_t step_read = (uint64_t)sqlite3_column_int64(statement, 0);
            uint64_t written_ns = (uint64_t)sqlite3_column_int64(statement, 1);
            bool counts = kind == CHUNK_INPUTS || kind == CHUNK_GAP;
            end.last_step = counts && step_read > end.last_step ? step_read : end.last_step;
            end.ended_ns = written_ns > end.ended_ns ? written_ns : end.ended_ns;
            sqlite3_reset(statement);
        }
    }
    if (last_step != NULL) {
        *last_step = end.last_step;
    }
    return writer_end_recording(writer, recording, &end, error);
}

// The first recording with a row id above `above` that is not ended. NOT_FOUND, with *error
// untouched: there is none.
static Status find_open(Writer *writer, int64_t above, int64_t *recording, uint8_t uid[UID_BYTES],
                        Error *error) {
    sqlite3_stmt *statement = get(writer, READ_OPEN);
    sqlite3_bind_int64(statement, 1, above);
    bool has_row = false;
    Status status = step(writer, READ_OPEN, "looking for open recordings", &has_row, error);
    if (status != STATUS_OK || !has_row) {
        return status != STATUS_OK ? status : STATUS_NOT_FOUND;
    }
    *recording = sqlite3_column_int64(statement, 0);
    copy_uid(statement, 1, uid);
    sqlite3_reset(statement);
    return STATUS_OK;
}

Status writer_interrupt_open(Writer *writer, WriterFound *found, void *context, Error *error) {
    int64_t recording = 0;
    uint8_t uid[UID_BYTES];
    Status status = writer_begin(writer, true, error);
    while (status == STATUS_OK) {
        status = find_open(writer, recording, &recording, uid, error);
        if (status != STATUS_OK) {
            break;
        }
        uint64_t last_step;
        status = writer_interrupt(writer, recording, "the server ended without stopping it",
                                  &last_step, error);
        if (status == STATUS_OK) {
            found(uid, last_step, context);
        }
    }
    return status == STATUS_NOT_FOUND ? writer_commit(writer, error) : status;
}

// ---- deleting

Status writer_delete_episode(Writer *writer, const uint8_t uid[UID_BYTES], int64_t *recording,
                             Error *error) {
    sqlite3_stmt *statement = get(writer, READ_EPISODE);
    bind_uid(statement, 1, uid);
    bool has_row = false;
    Status status = step(writer, READ_EPISODE, "looking for an episode", &has_row, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (!has_row) {
        return error_set(error, STATUS_NOT_FOUND, NULL, "The log has no such episode.");
    }
    int64_t episode = sqlite3_column_int64(statement, 0);
    int64_t its_recording = sqlite3_column_int64(statement, 1); // 0 where its row is lost
    bool is_open = its_recording != 0 && sqlite3_column_int(statement, 2) == RECORDING_OPEN;
    bool is_last = sqlite3_column_int64(statement, 3) == 1;
    sqlite3_reset(statement);
    if (is_open) {
        return error_set(error, STATUS_FAILED_PRECONDITION, NULL,
                         "The episode is being recorded: stop it first.");
    }
    sqlite3_bind_int64(get(writer, DELETE_LABELS), 1, episode);
    sqlite3_bind_int64(get(writer, DELETE_EPISODE), 1, episode);
    status = step(writer, DELETE_LABELS, "removing labels", NULL, error);
    if (status == STATUS_OK) {
        status = step(writer, DELETE_EPISODE, "removing an episode", NULL, error);
    }
    *recording = is_last ? its_recording : 0;
    return status;
}

Status writer_delete_piece(Writer *writer, int64_t recording, bool *is_gone, Error *error) {
    sqlite3_bind_int64(get(writer, DELETE_CHUNKS), 1, recording);
    Status status = step(writer, DELETE_CHUNKS, "removing chunks", NULL, error);
    *is_gone = status == STATUS_OK && sqlite3_changes(writer->db) == 0;
    if (*is_gone) {
        sqlite3_bind_int64(get(writer, DELETE_RECORDING), 1, recording);
        status = step(writer, DELETE_RECORDING, "removing a recording", NULL, error);
    }
    return status;
}

Status writer_find_left_over(Writer *writer, int64_t *recording, Error *error) {
    bool has_row = false;
    Status status = step(writer, READ_LEFT_OVER, "looking for cut-off deletions", &has_row, error);
    if (status != STATUS_OK || !has_row) {
        return status != STATUS_OK ? status : STATUS_NOT_FOUND;
    }
    *recording = sqlite3_column_int64(get(writer, READ_LEFT_OVER), 0);
    sqlite3_reset(get(writer, READ_LEFT_OVER));
    return STATUS_OK;
}

// ---- the write-ahead log

Status writer_checkpoint(Writer *writer, int *left, Error *error) {
    int in_log = 0, done = 0;
    int code =
        sqlite3_wal_checkpoint_v2(writer->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_log, &done);
    if (left != NULL) {
        *left = in_log - done;
    }
    return code == SQLITE_OK
               ? STATUS_OK
               : schema_error(writer->db, code, "bringing the write-ahead log in", error);
}

Status writer_settle(Writer *writer, Error *error) {
    sqlite3_busy_timeout(writer->db, SETTLE_BUSY_MS);
    int code = sqlite3_wal_checkpoint_v2(writer->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_exec(writer->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? STATUS_OK
                             : schema_error(writer->db, sqlite3_extended_errcode(writer->db),
                                            "bringing the log into one file", error);
}
