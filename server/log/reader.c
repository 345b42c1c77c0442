// SPDX-License-Identifier: MIT
#include "log/reader.h"

#include "log/reader_internal.h"
#include "log/schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const statement_sql[READER_STATEMENT_COUNT] = {
    // in the order in which take_row takes them
    [ROW_BY_ID] = "SELECT e.id, e.recording, e.uid, r.uid, r.state, r.content, r.stride, r.lossy,"
                  "  r.dynamics_version, e.world_index, r.world_step, r.world_time, r.time_step,"
                  "  r.body_count, r.begun_ns, r.ended_ns, r.dropped_steps,"
                  "  e.name, r.client, r.world_name, e.solver, r.server_version, r.why,"
                  "  e.seed IS NOT NULL, e.seed, e.first_step, e.last_step IS NOT NULL, e.last_step"
                  " FROM episode e LEFT JOIN recording r ON r.id = e.recording WHERE e.id = ?1",
    [LABELS_OF_EPISODE] = "SELECT label FROM label WHERE episode = ?1 ORDER BY label",
    // total() is a number whatever it adds up, sum() an error when the file is full of lies
    [FIGURES_OF_RECORDING] =
        "SELECT count(*), count(*) FILTER (WHERE kind = 1), count(*) FILTER (WHERE kind = 3),"
        "  total(length(bytes)), total(unconverged), max(worst_own), max(worst_penetration),"
        "  max(last_step) FILTER (WHERE kind IN (2, 5))"
        " FROM chunk WHERE recording = ?1",
    [EPISODES_BY_UID] = "SELECT id FROM episode WHERE uid BETWEEN ?1 AND ?2 LIMIT 2",
    [EPISODES_BY_NAME] = "SELECT id FROM episode WHERE name = ?1 LIMIT 2",
    [CHUNK_AT_STEP] = "SELECT id, first_step, last_step, bytes FROM chunk"
                      " WHERE recording = ?1 AND kind = ?2 AND first_step <= ?3"
                      " ORDER BY first_step DESC, id DESC LIMIT 1",
    // the step of chunk ?3 is compared as it is stored, whatever it is: the way never leads back.
    // One comparison of (first_step, id) would go through all chunks of the same step
    [CHUNK_BEHIND] =
        "SELECT id, first_step, last_step, bytes FROM chunk WHERE id = coalesce("
        " (SELECT id FROM chunk WHERE recording = ?1 AND kind = ?2 AND"
        "  first_step = (SELECT first_step FROM chunk WHERE id = ?3) AND id > ?3"
        "  ORDER BY id LIMIT 1),"
        " (SELECT id FROM chunk WHERE recording = ?1 AND kind = ?2 AND"
        "  first_step > iif(?3 = 0, -9e999, (SELECT first_step FROM chunk WHERE id = ?3))"
        "  ORDER BY first_step, id LIMIT 1))",
    [CHUNK_BY_ID] = "SELECT id, first_step, last_step, bytes FROM chunk"
                    " WHERE recording = ?1 AND kind = ?2 AND id = ?3",
    [CHUNK_COUNT] = "SELECT count(*) FROM chunk WHERE recording = ?1 AND kind = ?2",
    [CHUNK_ROWS] = "SELECT id, first_step, last_step, length(bytes) FROM chunk"
                   " WHERE recording = ?1 AND kind = ?2 ORDER BY first_step, id",
};

// ---- the connection

Status log_reader_open(const char *path, LogReader **reader, Error *error) {
    LogReader *opened = calloc(1, sizeof(*opened));
    if (opened == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "Memory ended while opening the log for reading.");
    }
    Status status = schema_open_reader(path, &opened->db, error);
    for (size_t i = 0; status == STATUS_OK && i < READER_STATEMENT_COUNT; i++) {
        int code = sqlite3_prepare_v3(opened->db, statement_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                      &opened->statement[i], NULL);
        if (code != SQLITE_OK) {
            status = schema_error(opened->db, code, "opening the log for reading", error);
        }
    }
    if (status != STATUS_OK) {
        log_reader_close(opened);
        return status;
    }
    *reader = opened;
    return STATUS_OK;
}

void log_reader_close(LogReader *reader) {
    if (reader == NULL) {
        return;
    }
    for (size_t i = 0; i < READER_STATEMENT_COUNT; i++) {
        sqlite3_finalize(reader->statement[i]);
    }
    sqlite3_close(reader->db);
    free(reader);
}

Status reader_fail(LogReader *reader, int code, Error *error) {
    if (code == SQLITE_DONE) {
        return error_set(
            error, STATUS_DATA_LOSS, NULL,
            "The log is damaged: its indexes and its tables say different things. Stop the "
            "server and mend it with moreau-server --recover.");
    }
    return schema_error(reader->db, code, "reading the log", error);
}

Status reader_memory_ended(const char *what, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended while reading %s.",
                     what);
}

Status reader_begin(LogReader *reader, Error *error) {
    int code = sqlite3_exec(reader->db, "BEGIN", NULL, NULL, NULL);
    return code == SQLITE_OK ? STATUS_OK : reader_fail(reader, code, error);
}

void reader_end(LogReader *reader) {
    // nothing was written, so that there is nothing to lose
    sqlite3_exec(reader->db, "ROLLBACK", NULL, NULL, NULL);
}

// ---- columns

int64_t reader_clamp(uint64_t value) {
    return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

int64_t columns_i64(Columns *columns) {
    return sqlite3_column_int64(columns->statement, columns->next++);
}

uint64_t columns_u64(Columns *columns) {
    int64_t value = columns_i64(columns);
    return value < 0 ? 0 : (uint64_t)value;
}

// ---- chunks

static Status damaged_chunk(const LogChunk *found, const char *why, Error *error) {
    return error_set(error, STATUS_DATA_LOSS, NULL,
                     "Chunk %" PRId64 " (%s, steps %" PRIu64 " to %" PRIu64 ") is damaged: %s.",
                     found->id, chunk_kind_name(found->chunk.kind), found->chunk.first_step,
                     found->chunk.last_step, why);
}

// Copies the bytes and judges them. `found` is what the row says.
static Status take_chunk(sqlite3_stmt *statement, int column, const EpisodeRow *episode,
                         Arena *arena, LogChunk *found, Error *error) {
    if (sqlite3_column_type(statement, column) != SQLITE_BLOB) {
        return damaged_chunk(found, "its bytes are no BLOB", error);
    }
    const void *blob = sqlite3_column_blob(statement, column);
    size_t count = (size_t)sqlite3_column_bytes(statement, column);
    uint8_t *bytes = arena_take(arena, count);
    if (bytes == NULL) {
        return reader_memory_ended("a chunk of the log", error);
    }
    if (count > 0) {
        memcpy(bytes, blob, count);
    }
    Chunk chunk;
    Error why;
    if (chunk_open(bytes, count, episode->recording_uid, &chunk, &why) != STATUS_OK) {
        return damaged_chunk(found, why.message, error);
    }
    if (chunk.kind != found->chunk.kind || chunk.first_step != found->chunk.first_step ||
        chunk.last_step != found->chunk.last_step) {
        return damaged_chunk(found, "its row is of another kind or other steps than its bytes",
                             error);
    }
    found->chunk = chunk;
    return STATUS_OK;
}

// `which` asks for id, first step, last step and bytes of one chunk by recording, kind and `key`.
static Status read_chunk(LogReader *reader, ReaderStatement which, const EpisodeRow *episode,
                         ChunkKind kind, int64_t key, Arena *arena, LogChunk *found, Error *error) {
    sqlite3_stmt *statement = reader->statement[which];
    sqlite3_bind_int64(statement, 1, episode->recording);
    sqlite3_bind_int(statement, 2, (int)kind);
    sqlite3_bind_int64(statement, 3, key);
    Status status;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        Columns columns = {.statement = statement};
        *found = (LogChunk){.id = columns_i64(&columns), .chunk.kind = kind};
        found->chunk.first_step = columns_u64(&columns);
        found->chunk.last_step = columns_u64(&columns);
        status = take_chunk(statement, columns.next, episode, arena, found, error);
    } else if (code == SQLITE_DONE) {
        status = error_set(error, STATUS_NOT_FOUND, NULL,
                           "The recording has no chunk (%s) %s %" PRId64 ".", chunk_kind_name(kind),
                           which == CHUNK_AT_STEP  ? "that begins at or before step"
                           : which == CHUNK_BEHIND ? "behind number"
                                                   : "of number",
                           key);
    } else {
        status = reader_fail(reader, code, error);
    }
    sqlite3_reset(statement);
    return status;
}

Status log_reader_at(LogReader *reader, const EpisodeRow *episode, ChunkKind kind, uint64_t step,
                     Arena *arena, LogChunk *found, Error *error) {
    return read_chunk(reader, CHUNK_AT_STEP, episode, kind, reader_clamp(step), arena, found,
                      error);
}

Status log_reader_next(LogReader *reader, const EpisodeRow *episode, ChunkKind kind, int64_t id,
                       Arena *arena, LogChunk *found, Error *error) {
    return read_chunk(reader, CHUNK_BEHIND, episode, kind, id, arena, found, error);
}

Status log_reader_get(LogReader *reader, const EpisodeRow *episode, ChunkKind kind, int64_t id,
                      Arena *arena, LogChunk *found, Error *error) {
    return read_chunk(reader, CHUNK_BY_ID, episode, kind, id, arena, found, error);
}

static Status count_chunks(LogReader *reader, const EpisodeRow *episode, ChunkKind kind,
                           size_t *count, Error *error) {
    sqlite3_stmt *statement = reader->statement[CHUNK_COUNT];
    sqlite3_bind_int64(statement, 1, episode->recording);
    sqlite3_bind_int(statement, 2, (int)kind);
    int code = sqlite3_step(statement);
    Status status = code == SQLITE_ROW ? STATUS_OK : reader_fail(reader, code, error);
    if (status == STATUS_OK) {
        *count = (size_t)columns_u64(&(Columns){.statement = statement});
    }
    sqlite3_reset(statement);
    return status;
}

static Status read_chunk_rows(LogReader *reader, const EpisodeRow *episode, ChunkKind kind,
                              Arena *arena, ChunkRow **rows, size_t *count, Error *error) {
    Status status = count_chunks(reader, episode, kind, count, error);
    if (status != STATUS_OK) {
        return status;
    }
    *rows = arena_take_array(arena, *count, sizeof(**rows));
    if (*rows == NULL) {
        return reader_memory_ended("a list of chunks", error);
    }
    sqlite3_stmt *statement = reader->statement[CHUNK_ROWS];
    sqlite3_bind_int64(statement, 1, episode->recording);
    sqlite3_bind_int(statement, 2, (int)kind);
    for (size_t i = 0; status == STATUS_OK && i < *count; i++) {
        int code = sqlite3_step(statement);
        if (code != SQLITE_ROW) {
            status = reader_fail(reader, code, error);
            break;
        }
        Columns columns = {.statement = statement};
        ChunkRow *row = &(*rows)[i];
        row->id = columns_i64(&columns);
        row->kind = kind;
        row->first_step = columns_u64(&columns);
        row->last_step = columns_u64(&columns);
        row->bytes = columns_u64(&columns);
    }
    sqlite3_reset(statement);
    return status;
}

Status log_reader_chunks(LogReader *reader, const EpisodeRow *episode, ChunkKind kind, Arena *arena,
                         ChunkRow **rows, size_t *count, Error *error) {
    Status status = reader_begin(reader, error);
    if (status == STATUS_OK) {
        status = read_chunk_rows(reader, episode, kind, arena, rows, count, error);
        reader_end(reader);
    }
    return status;
}
