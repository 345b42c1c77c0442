// SPDX-License-Identifier: MIT
#include "log/recovery/geometries.h"

#include "log/format/schema.h"

#include <inttypes.h>
#include <string.h>

static Status fail(sqlite3 *db, const char *doing, Error *error) {
    return schema_error(db, sqlite3_extended_errcode(db), doing, error);
}

// The name in a column; zeros where it is none.
static void take_name(sqlite3_stmt *statement, int column, uint8_t name[SHA256_BYTES]) {
    memset(name, 0, SHA256_BYTES);
    const void *bytes = sqlite3_column_blob(statement, column);
    if (bytes != NULL && sqlite3_column_bytes(statement, column) == SHA256_BYTES) {
        memcpy(name, bytes, SHA256_BYTES);
    }
}

static Status open_column(sqlite3_stmt *statement, int column, const uint8_t *name,
                          LogGeometry *geometry, Error *why) {
    const uint8_t *bytes = sqlite3_column_blob(statement, column);
    const size_t count = (size_t)sqlite3_column_bytes(statement, column);
    return geometry_chunk_open(bytes, bytes == NULL ? 0 : count, name, geometry, why);
}

Status geometries_put(Writer *writer, const uint8_t *bytes, size_t count, bool *is_new,
                      Error *error) {
    LogGeometry geometry;
    Status status = geometry_chunk_open(bytes, count, NULL, &geometry, error);
    return STATUS_THEN(status, writer_put_geometry(writer, &geometry, is_new, error));
}

// ---- what is damaged, and what lacks

static void tell_damage(const uint8_t name[SHA256_BYTES], const Error *why, FILE *out) {
    char text[SHA256_TEXT_BYTES];
    sha256_text(name, text);
    fprintf(out, "Geometry %s is damaged: %s.\n", text, why->message);
}

// Every row of a file, in order.
static Status look_at_rows(sqlite3 *db, FILE *out, uint64_t *damaged, Error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "SELECT name, bytes FROM geometry ORDER BY id", -1,
                                  &statement, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = SQLITE_OK;
        uint8_t name[SHA256_BYTES];
        LogGeometry geometry;
        Error why = {0};
        take_name(statement, 0, name);
        if (open_column(statement, 1, name, &geometry, &why) != STATUS_OK) {
            ++*damaged;
            tell_damage(name, &why, out);
        }
    }
    const Status status = code == SQLITE_DONE ? STATUS_OK : fail(db, "reading geometries", error);
    sqlite3_finalize(statement);
    return status;
}

static Status look_for_lacks(sqlite3 *db, FILE *out, uint64_t *lacks, Error *error) {
    static const char sql[] = "SELECT DISTINCT geometry FROM worn w WHERE NOT EXISTS (SELECT 1 "
                              "FROM geometry g WHERE g.name = w.geometry) ORDER BY geometry";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = SQLITE_OK;
        uint8_t name[SHA256_BYTES];
        char text[SHA256_TEXT_BYTES];
        take_name(statement, 0, name);
        sha256_text(name, text);
        ++*lacks;
        fprintf(out, "Geometry %s is not in this file, and recordings name it.\n", text);
    }
    const Status status = code == SQLITE_DONE ? STATUS_OK : fail(db, "reading geometries", error);
    sqlite3_finalize(statement);
    return status;
}

Status geometries_inspect(sqlite3 *db, FILE *out, uint64_t *finds, Error *error) {
    *finds = 0;
    Status status = look_at_rows(db, out, finds, error);
    return STATUS_THEN(status, look_for_lacks(db, out, finds, error));
}

Status geometries_tell_lacks(Writer *writer, Finds *finds, Error *error) {
    return look_for_lacks(writer->db, finds->out, &finds->damaged, error);
}

// ---- mending

// The row is called what its bytes are; one that is there twice goes.
static Status rename_row(Writer *writer, int64_t id, const LogGeometry *geometry, Error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(
        writer->db, "UPDATE OR REPLACE geometry SET name = ?1 WHERE id = ?2", -1, &statement, NULL);
    sqlite3_bind_blob(statement, 1, geometry->name, SHA256_BYTES, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, id);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    const Status status =
        code == SQLITE_DONE ? STATUS_OK : fail(writer->db, "mending a geometry", error);
    sqlite3_finalize(statement);
    return status;
}

static Status mend_row(Writer *writer, sqlite3_stmt *row, Finds *finds, Error *error) {
    uint8_t name[SHA256_BYTES];
    LogGeometry geometry;
    Error why = {0};
    take_name(row, 1, name);
    if (open_column(row, 2, NULL, &geometry, &why) != STATUS_OK) {
        finds->damaged++;
        tell_damage(name, &why, finds->out);
        return STATUS_OK;
    }
    if (memcmp(name, geometry.name, SHA256_BYTES) == 0) {
        return STATUS_OK;
    }
    char text[SHA256_TEXT_BYTES];
    sha256_text(geometry.name, text);
    finds->mended++;
    fprintf(finds->out, "Geometry %s: its row was wrong and is right again.\n", text);
    return rename_row(writer, sqlite3_column_int64(row, 0), &geometry, error);
}

Status geometries_mend(Writer *writer, Finds *finds, Error *error) {
    static const char sql[] =
        "SELECT id, name, bytes FROM geometry WHERE id > ?1 ORDER BY id LIMIT 1";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(writer->db, sql, -1, &statement, NULL);
    Status status = code == SQLITE_OK ? STATUS_OK : fail(writer->db, "mending geometries", error);
    for (int64_t above = INT64_MIN; status == STATUS_OK; sqlite3_reset(statement)) {
        sqlite3_bind_int64(statement, 1, above);
        code = sqlite3_step(statement);
        const int64_t id = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : above;
        if (code != SQLITE_ROW && code != SQLITE_DONE) {
            status = fail(writer->db, "mending geometries", error);
        }
        if (id <= above) {
            break; // the end, or a damaged tree that leads back
        }
        above = id;
        status = STATUS_THEN(status, mend_row(writer, statement, finds, error));
    }
    sqlite3_finalize(statement);
    writer->geometry_count = 0; // some were found damaged, others have other names
    return status;
}

// ---- merging

// From a file into another. NOT_FOUND: it is not there, whole.
static Status copy_one(Writer *writer, sqlite3 *from, const uint8_t name[SHA256_BYTES],
                       Error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(from, "SELECT bytes FROM geometry WHERE name = ?1", -1,
                                  &statement, NULL);
    sqlite3_bind_blob(statement, 1, name, SHA256_BYTES, SQLITE_STATIC);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    LogGeometry geometry;
    Status status = STATUS_NOT_FOUND;
    if (code == SQLITE_ROW && open_column(statement, 0, name, &geometry, NULL) == STATUS_OK) {
        status = writer_put_geometry(writer, &geometry, NULL, error);
    } else if (code != SQLITE_ROW && code != SQLITE_DONE) {
        status = fail(from, "reading a file's geometries", error);
    }
    sqlite3_finalize(statement);
    return status;
}

Status geometries_take(Writer *writer, sqlite3 *from, const uint8_t name[SHA256_BYTES],
                       Error *error) {
    Status status = copy_one(writer, from, name, error);
    if (status == STATUS_NOT_FOUND) { // another file may have brought it
        status = copy_one(writer, writer->db, name, error);
    }
    if (status == STATUS_NOT_FOUND) {
        char text[SHA256_TEXT_BYTES];
        sha256_text(name, text);
        error_set(error, status, NULL, "Geometry %s is not in this file, and recordings name it.",
                  text);
    }
    return status;
}
