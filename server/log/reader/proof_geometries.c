// SPDX-License-Identifier: MIT
// Geometries: one by its name, and whether all that a recording names are there.
#include "log/reader/proof_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- one

static Status say(const uint8_t name[SHA256_BYTES], Status status, const char *what,
                  const char *why, Error *error) {
    char text[SHA256_TEXT_BYTES];
    sha256_text(name, text);
    return error_set(error, status, NULL, "Geometry %s %s%s.", text, what, why);
}

Status log_reader_geometry(LogReader *reader, const uint8_t name[SHA256_BYTES], Arena *arena,
                           LogGeometry *geometry, Error *error) {
    sqlite3_stmt *statement = reader->statement[GEOMETRY_BY_NAME];
    sqlite3_bind_blob(statement, 1, name, SHA256_BYTES, SQLITE_STATIC);
    const int code = sqlite3_step(statement);
    Status status = STATUS_OK;
    if (code == SQLITE_DONE) {
        status = say(name, STATUS_NOT_FOUND, "is not in this file", "", error);
    } else if (code != SQLITE_ROW) {
        status = reader_fail(reader, code, error);
    } else {
        const size_t count = (size_t)sqlite3_column_bytes(statement, 0);
        const void *blob = sqlite3_column_blob(statement, 0);
        uint8_t *bytes = arena_take(arena, count);
        Error why = {0};
        if (bytes == NULL) {
            status = reader_memory_ended("a geometry of the log", error);
        } else if (count > 0) {
            memcpy(bytes, blob, count);
        }
        if (status == STATUS_OK &&
            geometry_chunk_open(bytes, count, name, geometry, &why) != STATUS_OK) {
            status = say(name, STATUS_DATA_LOSS, "is damaged in this file: ", why.message, error);
        }
    }
    sqlite3_reset(statement);
    return status;
}

// ---- all of a recording

typedef struct Names {
    uint8_t (*name)[SHA256_BYTES]; // the arena's
    size_t count, capacity;
} Names;

static int compare_names(const void *a, const void *b) {
    return memcmp(a, b, SHA256_BYTES);
}

static bool add_name(ProofWork *work, Names *names, const uint8_t *name) {
    if (names->count == names->capacity) {
        names->capacity = 2 * names->capacity + 16;
        uint8_t(*larger)[SHA256_BYTES] =
            arena_take_array(work->arena, names->capacity, SHA256_BYTES);
        if (larger == NULL) {
            return false;
        }
        if (names->count > 0) {
            memcpy(larger, names->name, names->count * SHA256_BYTES);
        }
        names->name = larger;
    }
    memcpy(names->name[names->count++], name, SHA256_BYTES);
    return true;
}

// Those that the chunks name, in order, each once.
static Status list_named(ProofWork *work, const ChunkRow *rows, size_t row_count, Names *names,
                         Error *error) {
    Error failure = {0};
    for (size_t i = 0; i < row_count; i++) {
        LogChunk chunk;
        size_t count;
        Error why = {0};
        if (rows[i].kind != CHUNK_GEOMETRIES || !proof_open_row(work, &rows[i], &chunk, &failure)) {
            if (failure.status != STATUS_OK) {
                *error = failure;
                return failure.status;
            }
            continue;
        }
        if (geometries_open(&chunk.chunk, &count, &why) != STATUS_OK) {
            proof_tell_body(work, &rows[i], &why);
            continue;
        }
        for (size_t k = 0; k < count; k++) {
            const LogGeometry named = geometries_get(&chunk.chunk, k);
            if (!add_name(work, names, named.name)) {
                return reader_memory_ended("the geometries of a recording", error);
            }
        }
    }
    if (names->count > 1) {
        qsort(names->name, names->count, SHA256_BYTES, compare_names);
    }
    size_t kept = 0;
    for (size_t i = 0; i < names->count; i++) {
        if (kept == 0 || memcmp(names->name[kept - 1], names->name[i], SHA256_BYTES) != 0) {
            memmove(names->name[kept++], names->name[i], SHA256_BYTES);
        }
    }
    names->count = kept;
    return STATUS_OK;
}

// Whether the rows of the recording note these names and no others.
static Status are_noted(ProofWork *work, const Names *names, bool *are, Error *error) {
    sqlite3_stmt *statement = work->reader->statement[WORN_BY_RECORDING];
    sqlite3_bind_int64(statement, 1, work->row.recording);
    int code;
    size_t count = 0;
    *are = true;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        *are = *are && count < names->count && sqlite3_column_type(statement, 0) == SQLITE_BLOB &&
               sqlite3_column_bytes(statement, 0) == SHA256_BYTES &&
               memcmp(sqlite3_column_blob(statement, 0), names->name[count], SHA256_BYTES) == 0;
        count++;
    }
    *are = *are && count == names->count;
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? STATUS_OK : reader_fail(work->reader, code, error);
}

Status proof_check_geometries(ProofWork *work, const ChunkRow *common, size_t count, Error *error) {
    Names names = {0};
    bool are = false;
    Status status = list_named(work, common, count, &names, error);
    status = STATUS_THEN(status, are_noted(work, &names, &are, error));
    if (status == STATUS_OK && !are) {
        proof_tell(work, 0, NULL, "geometry",
                   "The geometries that are noted of the recording are not those that its chunks "
                   "name.");
    }
    for (size_t i = 0; status == STATUS_OK && i < names.count; i++) {
        const ArenaMark mark = arena_mark(work->arena);
        LogGeometry geometry;
        Error why = {0};
        const Status found =
            log_reader_geometry(work->reader, names.name[i], work->arena, &geometry, &why);
        if (found == STATUS_NOT_FOUND || found == STATUS_DATA_LOSS) {
            proof_tell(work, 0, NULL, "geometry", "%s", why.message);
        } else if (found != STATUS_OK) {
            *error = why;
            status = found;
        }
        arena_reset_to(work->arena, mark);
    }
    return status;
}
