// SPDX-License-Identifier: MIT
// Geometries: the bytes once per file, and who names them.
#include "base/assert.h"
#include "log/writer/parts.h"

#include <stdlib.h>
#include <string.h>

// ---- what is known to be there

static bool is_known(const Writer *writer, const uint8_t name[SHA256_BYTES]) {
    const size_t count =
        writer->geometry_count < WRITER_NAMES_MAX ? writer->geometry_count : WRITER_NAMES_MAX;
    for (size_t i = 0; i < count; i++) {
        if (memcmp(writer->geometry[i], name, SHA256_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

// Without memory it is looked for again the next time.
static void note(Writer *writer, const uint8_t name[SHA256_BYTES]) {
    if (writer->geometry == NULL) {
        writer->geometry = calloc(WRITER_NAMES_MAX, SHA256_BYTES);
    }
    if (writer->geometry != NULL) {
        memcpy(writer->geometry[writer->geometry_count++ % WRITER_NAMES_MAX], name, SHA256_BYTES);
    }
}

// ---- bytes

// Whether the row has these very bytes: its chunk is the same in every file, so its header need not
// be judged where the body is compared.
static Status look(Writer *writer, const LogGeometry *geometry, bool *is_there, Error *error) {
    sqlite3_stmt *statement = writer_get(writer, READ_GEOMETRY);
    sqlite3_bind_blob(statement, 1, geometry->name, SHA256_BYTES, SQLITE_STATIC);
    bool has_row = false;
    Status status = writer_step(writer, READ_GEOMETRY, "looking for a geometry", &has_row, error);
    *is_there = false;
    if (status == STATUS_OK && has_row) {
        LogGeometry found;
        const uint8_t *bytes = sqlite3_column_blob(statement, 0);
        const size_t count = (size_t)sqlite3_column_bytes(statement, 0);
        *is_there = bytes != NULL &&
                    geometry_chunk_open(bytes, count, geometry->name, &found, NULL) == STATUS_OK;
        sqlite3_reset(statement);
    }
    return status;
}

static Status write(Writer *writer, const LogGeometry *geometry, Error *error) {
    const size_t count = geometry_chunk_bytes(geometry);
    const int bytes_max = sqlite3_limit(writer->db, SQLITE_LIMIT_LENGTH, -1);
    if (count > (size_t)bytes_max) {
        return error_set(error, STATUS_OUT_OF_RANGE, NULL,
                         "A geometry of %zu bytes does not fit into one row of the log, which "
                         "holds %d.",
                         geometry->byte_count, bytes_max);
    }
    uint8_t *bytes = malloc(count);
    if (bytes == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
    }
    geometry_chunk_write(geometry, bytes);
    sqlite3_stmt *statement = writer_get(writer, WRITE_GEOMETRY);
    sqlite3_bind_blob(statement, 1, geometry->name, SHA256_BYTES, SQLITE_STATIC);
    sqlite3_bind_blob64(statement, 2, bytes, count, SQLITE_STATIC);
    const Status status = writer_step(writer, WRITE_GEOMETRY, "writing a geometry", NULL, error);
    sqlite3_clear_bindings(statement); // `bytes` ends here
    free(bytes);
    return status;
}

Status writer_put_geometry(Writer *writer, const LogGeometry *geometry, bool *is_new,
                           Error *error) {
    ASSERT(geometry->bytes != NULL);
    bool is_there = is_known(writer, geometry->name);
    Status status = is_there ? STATUS_OK : look(writer, geometry, &is_there, error);
    if (is_new != NULL) {
        *is_new = !is_there;
    }
    status = STATUS_THEN_IF(status, !is_there, write(writer, geometry, error));
    if (status == STATUS_OK && !is_known(writer, geometry->name)) {
        note(writer, geometry->name);
    }
    return status;
}

// ---- names

Status writer_add_worn(Writer *writer, int64_t recording, const Chunk *chunk, Error *error) {
    size_t count = 0;
    Status status = geometries_open(chunk, &count, error);
    sqlite3_stmt *statement = writer_get(writer, WRITE_WORN);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        const LogGeometry geometry = geometries_get(chunk, i);
        sqlite3_bind_blob(statement, 1, geometry.name, SHA256_BYTES, SQLITE_TRANSIENT);
        sqlite3_bind_int64(statement, 2, recording);
        status = writer_step(writer, WRITE_WORN, "noting a geometry", NULL, error);
    }
    return status;
}
