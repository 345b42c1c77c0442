// SPDX-License-Identifier: MIT
#include "log/recovery/rebuild.h"

#include "base/assert.h"
#include "log/recovery/geometries.h"
#include "log/format/members.h"
#include "log/format/schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_PER_TRANSACTION = 200 };
enum { DEFINITION_BYTES_MAX = 64 << 20 };

static Status fail(Writer *writer, Error *error) {
    return schema_error(writer->db, sqlite3_extended_errcode(writer->db), "mending the log", error);
}

static Status run(Writer *writer, const char *sql, Error *error) {
    return sqlite3_exec(writer->db, sql, NULL, NULL, NULL) == SQLITE_OK ? STATUS_OK
                                                                        : fail(writer, error);
}

// One statement, whose ?1 is `id`.
static Status run_for(Writer *writer, const char *sql, int64_t id, Error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(writer->db, sql, -1, &statement, NULL);
    sqlite3_bind_int64(statement, 1, id);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    Status status = code == SQLITE_DONE ? STATUS_OK : fail(writer, error);
    sqlite3_finalize(statement);
    return status;
}

// ---- a recording for every uid

// A row until the definition is found, or for good when that is lost.
static Status make_recording(Writer *writer, const Chunk *chunk, int64_t *recording, Error *error) {
    RecordingDef def = {.stride = 1,
                        .world_count = 1,
                        .world_range = 1,
                        .name = "recovered",
                        .client = "",
                        .world_name = "",
                        .solver = "",
                        .server_version = "",
                        .build = "",
                        .begun_ns = chunk->written_ns};
    memcpy(def.uid, chunk->uid, UID_BYTES);
    *recording = WRITER_NEXT_ROW;
    // episodes that no recording leads to would be taken for this one's
    Status status =
        run(writer, "DELETE FROM episode WHERE id >> 32 NOT IN (SELECT id FROM recording)", error);
    return status != STATUS_OK ? status : writer_add_recording(writer, &def, recording, error);
}

static Status find_recording(Writer *writer, const Chunk *chunk, int64_t *recording, Error *error) {
    Status status = writer_find_recording(writer, chunk->uid, recording, error);
    return status == STATUS_NOT_FOUND ? make_recording(writer, chunk, recording, error) : status;
}

// ---- one chunk

Status rebuild_delete_chunk(Writer *writer, int64_t id, Error *error) {
    ASSERT(writer->db != NULL);
    return run_for(writer, "DELETE FROM chunk WHERE id = ?1", id, error);
}

Status rebuild_put(Writer *writer, const uint8_t *bytes, size_t count, bool *is_new, Error *error) {
    Chunk chunk;
    int64_t recording = 0, id = INT64_MIN;
    *is_new = false;
    Status status = chunk_open(bytes, count, NULL, &chunk, error);
    if (status == STATUS_OK && chunk.kind == CHUNK_GEOMETRY) {
        return geometries_put(writer, bytes, count, is_new, error);
    }
    status = STATUS_THEN(status, find_recording(writer, &chunk, &recording, error));
    bool is_there = false;
    while (status == STATUS_OK) {
        bool is_same = false;
        status = writer_find_place(writer, recording, &chunk, id, &id, &is_same, error);
        status = STATUS_THEN_IF(status, !is_same, rebuild_delete_chunk(writer, id, error));
        is_there = is_there || is_same;
    }
    if (status != STATUS_NOT_FOUND) {
        return status;
    }
    *is_new = !is_there;
    return is_there ? STATUS_OK : writer_put_chunk(writer, recording, &chunk, bytes, count, error);
}

typedef struct Row {
    int64_t id;
    uint8_t *bytes; // owned
    size_t count;
} Row;

// The chunk row above `above`. false: there is none.
static Status next_row(Writer *writer, sqlite3_stmt *statement, int64_t above, Row *row,
                       bool *has_row, Error *error) {
    sqlite3_bind_int64(statement, 1, above);
    int code = sqlite3_step(statement);
    Status status = STATUS_OK;
    *has_row = code == SQLITE_ROW;
    if (code == SQLITE_ROW) {
        const void *blob = sqlite3_column_blob(statement, 1);
        row->id = sqlite3_column_int64(statement, 0);
        row->count = (size_t)sqlite3_column_bytes(statement, 1);
        row->bytes = malloc(row->count + 1);
        if (row->bytes == NULL) {
            status = error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
        } else if (row->count > 0) {
            memcpy(row->bytes, blob, row->count);
        }
    } else if (code != SQLITE_DONE) {
        status = fail(writer, error);
    }
    sqlite3_reset(statement);
    return status;
}

static void tell_damage(const Row *row, const Error *why, Finds *finds) {
    finds->damaged++;
    fprintf(finds->out, "Chunk %" PRId64 " is damaged: %s.\n", row->id, why->message);
}

static Status mend_row(Writer *writer, const Row *row, Finds *finds, Error *error) {
    Chunk chunk;
    Error why = {0};
    finds->chunks++;
    if (chunk_open(row->bytes, row->count, NULL, &chunk, &why) != STATUS_OK) {
        tell_damage(row, &why, finds);
        return STATUS_OK;
    }
    if (chunk.kind == CHUNK_GEOMETRY) { // somebody's: it belongs to no recording
        bool is_new;
        const Status put = geometries_put(writer, row->bytes, row->count, &is_new, error);
        return STATUS_THEN(put, rebuild_delete_chunk(writer, row->id, error));
    }
    int64_t recording, first = INT64_MIN;
    bool changed = false, is_same = false;
    Status status = find_recording(writer, &chunk, &recording, error);
    status =
        STATUS_THEN(status, writer_mend_chunk(writer, row->id, recording, &chunk, &changed, error));
    if (changed) {
        finds->mended++;
        fprintf(finds->out, "Chunk %" PRId64 " (%s): its row was wrong and is right again.\n",
                row->id, chunk_kind_name(chunk.kind));
    }
    status = STATUS_THEN(
        status, writer_find_place(writer, recording, &chunk, INT64_MIN, &first, &is_same, error));
    if (status == STATUS_OK && first != row->id && is_same) {
        finds->doubled++;
        fprintf(finds->out, "Chunk %" PRId64 " (%s) was there twice.\n", row->id,
                chunk_kind_name(chunk.kind));
        status = rebuild_delete_chunk(writer, row->id, error);
    }
    return status;
}

static Status mend_chunks(Writer *writer, Finds *finds, Error *error) {
    sqlite3_stmt *statement = NULL;
    int64_t above = INT64_MIN;
    uint64_t count = 0;
    Status status = STATUS_OK;
    if (sqlite3_prepare_v2(writer->db,
                           "SELECT id, bytes FROM chunk WHERE id > ?1 ORDER BY id LIMIT 1", -1,
                           &statement, NULL) != SQLITE_OK) {
        status = fail(writer, error);
    }
    for (bool has_row = true; status == STATUS_OK && has_row;) {
        Row row = {0};
        status = next_row(writer, statement, above, &row, &has_row, error);
        has_row = has_row && row.id > above;
        if (status == STATUS_OK && has_row) {
            above = row.id;
            status = mend_row(writer, &row, finds, error);
        }
        free(row.bytes);
        if (status == STATUS_OK && ++count % ROWS_PER_TRANSACTION == 0) {
            status = run(writer, "COMMIT; BEGIN IMMEDIATE", error);
        }
    }
    sqlite3_finalize(statement);
    return status;
}

// ---- the rows of a recording

static const char *const tables[] = {
    "SELECT * FROM recording WHERE id = ?1",    "SELECT * FROM episode WHERE id" MEMBERS_OF("?1"),
    "SELECT * FROM label WHERE recording = ?1", "SELECT * FROM highlight WHERE recording = ?1",
    "SELECT * FROM touch WHERE recording = ?1", "SELECT * FROM touch_body WHERE recording = ?1",
    "SELECT * FROM worn WHERE recording = ?1"};

static void hash_column(Hash *hash, sqlite3_stmt *row, int column) {
    int type = sqlite3_column_type(row, column);
    hash_add(hash, &type, sizeof(type));
    if (type == SQLITE_FLOAT) {
        double value = sqlite3_column_double(row, column);
        hash_add(hash, &value, sizeof(value));
    } else if (type == SQLITE_INTEGER) {
        int64_t value = sqlite3_column_int64(row, column);
        hash_add(hash, &value, sizeof(value));
    } else if (type != SQLITE_NULL) {
        const void *bytes = sqlite3_column_blob(row, column);
        int count = sqlite3_column_bytes(row, column);
        hash_add(hash, &count, sizeof(count));
        hash_add(hash, bytes, (size_t)count);
    }
}

// Of everything that the rows of a recording say, but for their own ids.
static Status hash_rows(Writer *writer, int64_t recording, uint64_t *value, Error *error) {
    Hash hash;
    hash_init(&hash, 0);
    Status status = STATUS_OK;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && status == STATUS_OK; i++) {
        sqlite3_stmt *statement = NULL;
        int code = sqlite3_prepare_v2(writer->db, tables[i], -1, &statement, NULL);
        sqlite3_bind_int64(statement, 1, recording);
        while (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
            for (int k = i < 2 ? 1 : 0; k < sqlite3_column_count(statement); k++) {
                hash_column(&hash, statement, k);
            }
        }
        if (sqlite3_finalize(statement) != SQLITE_OK || code != SQLITE_OK) {
            status = fail(writer, error);
        }
    }
    *value = hash_value(&hash);
    return status;
}

// What follows from a recording's chunks: highlights, touches, finished episodes, geometries.
static Status add_derived(Writer *writer, int64_t recording, const RecordingDef *def,
                          Error *error) {
    sqlite3_stmt *statement = NULL;
    Status status = STATUS_OK;
    if (sqlite3_prepare_v2(
            writer->db,
            "SELECT bytes FROM chunk WHERE recording = ?1 AND kind IN (8, 10, 11, 12) "
            "ORDER BY first_world, sequence",
            -1, &statement, NULL) != SQLITE_OK) {
        status = fail(writer, error);
    }
    sqlite3_bind_int64(statement, 1, recording);
    while (status == STATUS_OK && sqlite3_step(statement) == SQLITE_ROW) {
        Chunk chunk;
        const uint8_t *bytes = sqlite3_column_blob(statement, 0);
        size_t count = (size_t)sqlite3_column_bytes(statement, 0);
        if (bytes != NULL && chunk_open(bytes, count, def->uid, &chunk, NULL) == STATUS_OK) {
            status = writer_add_derived(writer, recording, &chunk, error);
        }
    }
    sqlite3_finalize(statement);
    return status;
}

static Status remake(Writer *writer, int64_t recording, const RecordingDef *def, uint64_t *last,
                     Error *error) {
    static const char *const parts[] = {
        "CREATE TEMP TABLE IF NOT EXISTS pins(number INTEGER)",
        "DELETE FROM pins",
        "INSERT INTO pins SELECT number FROM episode WHERE id" MEMBERS_OF("?1") " AND pinned = 1",
        "CREATE TEMP TABLE IF NOT EXISTS spaces(namespace TEXT)",
        "DELETE FROM spaces",
        "INSERT INTO spaces SELECT namespace FROM recording WHERE id = ?1",
        "DELETE FROM highlight WHERE recording = ?1",
        "DELETE FROM touch WHERE recording = ?1",
        "DELETE FROM touch_body WHERE recording = ?1",
        "DELETE FROM worn WHERE recording = ?1",
        "DELETE FROM label WHERE recording = ?1",
        "DELETE FROM episode WHERE id" MEMBERS_OF("?1"),
        "DELETE FROM recording WHERE id = ?1",
    };
    Status status = STATUS_OK;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && status == STATUS_OK; i++) {
        status = run_for(writer, parts[i], recording, error);
    }
    int64_t id = recording;
    status = STATUS_THEN(status, writer_add_recording(writer, def, &id, error));
    status = STATUS_THEN(status, add_derived(writer, recording, def, error));
    status =
        STATUS_THEN(status, writer_interrupt(writer, recording,
                                             "the server ended without stopping it", last, error));
    static const char pins[] = "UPDATE episode SET pinned = 1 WHERE id" MEMBERS_OF(
        "?1") " AND number IN (SELECT number FROM pins)";
    static const char space[] =
        "UPDATE recording SET namespace = (SELECT namespace FROM spaces) WHERE id = ?1";
    status = STATUS_THEN(status, run_for(writer, space, recording, error));
    return STATUS_THEN(status, run_for(writer, pins, recording, error));
}

// Its row alone is left to say what it was.
static Status close_unknown(Writer *writer, int64_t recording, bool is_open, uint64_t *last,
                            Error *error) {
    Status status = run_for(
        writer,
        "INSERT OR REPLACE INTO episode(id, recording, number, world_index, first_step, "
        "last_step, state, "
        "begun_ns, ended_ns) SELECT id << 32, id, 0, 0, 0, 0, state, begun_ns, ended_ns "
        "FROM recording r "
        "WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM episode e WHERE e.id" MEMBERS_OF("r.id") ")",
        recording, error);
    return status == STATUS_OK && is_open
               ? writer_interrupt(writer, recording, "its definition is lost", last, error)
               : status;
}

// A row that said it was open may have had a seal all the time.
static Status look_at_state(Writer *writer, int64_t recording, bool *is_interrupted, Error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(writer->db, "SELECT state = 3 FROM recording WHERE id = ?1", -1,
                                  &statement, NULL);
    sqlite3_bind_int64(statement, 1, recording);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    *is_interrupted = code == SQLITE_ROW && sqlite3_column_int(statement, 0) != 0;
    Status status = code == SQLITE_ROW ? STATUS_OK : fail(writer, error);
    sqlite3_finalize(statement);
    return status;
}

static Status mend_recording(Writer *writer, int64_t recording, bool is_open,
                             const uint8_t uid[UID_BYTES], Finds *finds, Error *error) {
    Arena arena;
    RecordingDef def;
    uint64_t before = 0, after = 0, last = 0;
    char text[UID_TEXT_BYTES];
    uid_text(uid, text);
    arena_init(&arena, DEFINITION_BYTES_MAX);
    Status status = writer_read_definition(writer, recording, &arena, &def, error);
    if (status == STATUS_NOT_FOUND ||
        (status == STATUS_OK && memcmp(def.uid, uid, UID_BYTES) != 0)) {
        fprintf(finds->out, "Recording %s has lost its definition.\n", text);
        status = close_unknown(writer, recording, is_open, &last, error);
    } else if (status == STATUS_OK) {
        status = hash_rows(writer, recording, &before, error);
        status = STATUS_THEN(status, remake(writer, recording, &def, &last, error));
        status = STATUS_THEN(status, hash_rows(writer, recording, &after, error));
    }
    arena_deinit(&arena);
    bool is_interrupted = false;
    status =
        STATUS_THEN_IF(status, is_open, look_at_state(writer, recording, &is_interrupted, error));
    if (status == STATUS_OK && is_interrupted) {
        finds->interrupted++;
        fprintf(finds->out, "Recording %s was open: interrupted at its step %" PRIu64 ".\n", text,
                last);
    } else if (status == STATUS_OK && before != after) {
        finds->remade++;
        fprintf(finds->out, "The rows of recording %s were wrong or missing and are right again.\n",
                text);
    }
    return status;
}

// Those that somebody has deleted are on their way out.
static Status mend_recordings(Writer *writer, Finds *finds, Error *error) {
    sqlite3_stmt *statement = NULL;
    Status status = STATUS_OK;
    if (sqlite3_prepare_v2(writer->db,
                           "SELECT id, state = 0, uid FROM recording r WHERE id > ?1 AND NOT "
                           "EXISTS (SELECT 1 FROM deletion d WHERE d.recording = r.id AND d.uid = "
                           "r.uid) ORDER BY id LIMIT 1",
                           -1, &statement, NULL) != SQLITE_OK) {
        status = fail(writer, error);
    }
    int64_t above = INT64_MIN;
    while (status == STATUS_OK) {
        sqlite3_bind_int64(statement, 1, above);
        int code = sqlite3_step(statement);
        int64_t recording = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : above;
        bool is_open = code == SQLITE_ROW && sqlite3_column_int(statement, 1) != 0;
        uint8_t uid[UID_BYTES] = {0};
        if (code == SQLITE_ROW && sqlite3_column_bytes(statement, 2) == UID_BYTES) {
            memcpy(uid, sqlite3_column_blob(statement, 2), UID_BYTES);
        }
        sqlite3_reset(statement);
        if (code != SQLITE_ROW || recording <= above) {
            status = code == SQLITE_ROW || code == SQLITE_DONE ? STATUS_OK : fail(writer, error);
            break;
        }
        above = recording;
        status = mend_recording(writer, recording, is_open, uid, finds, error);
    }
    sqlite3_finalize(statement);
    return status;
}

static Status count_episodes(Writer *writer, Finds *finds, Error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(writer->db, "SELECT count(*) FROM episode", -1, &statement, NULL);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    Status status = code == SQLITE_ROW ? STATUS_OK : fail(writer, error);
    finds->episodes = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return status;
}

typedef Status RebuildPart(Writer *writer, Finds *finds, Error *error);

Status rebuild_rows(Writer *writer, Finds *finds, Error *error) {
    static RebuildPart *const parts[] = {mend_chunks, geometries_mend, mend_recordings,
                                         geometries_tell_lacks, count_episodes};
    Status status = writer_begin(writer, true, error);
    for (size_t i = 0; status == STATUS_OK && i < sizeof(parts) / sizeof(parts[0]); i++) {
        status = parts[i](writer, finds, error);
    }
    return STATUS_THEN(status, writer_commit(writer, error));
}
