// SPDX-License-Identifier: MIT
// A row that cannot be read is found by asking for the rows behind it one by one: a damaged page
// hides the rows on it, and a damaged inner page all rows below it: 3,000 pages of some 20 rows.
#include "log/recovery/copy_damaged.h"

#include "log/recovery/chunk_search.h"
#include "log/recovery/rebuild.h"
#include "log/format/schema.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

enum { PROBES_MAX = 100000 };      // ids in a row that give nothing: the rest is lost
enum { TRANSACTION_ROWS = 200 };   // of at most some 100 kB each
enum { CHECKPOINT_FRAMES = 2048 }; // 64 MiB of pages
enum { SQL_BYTES = 256 };

typedef struct DamagedCopy {
    sqlite3 *from, *to; // owned
    uint64_t rows_in_transaction;
    Error *error;
} DamagedCopy;

// Reading one table and writing it.
typedef struct TableCopy {
    DamagedCopy *file;
    sqlite3_stmt *scan;  // ?1: the id it begins above
    sqlite3_stmt *probe; // ?1: the id
    sqlite3_stmt *insert;
    int column_count;
    uint64_t row_count, hole_count;
    int64_t last_id;
} TableCopy;

static Status run(DamagedCopy *file, const char *sql) {
    if (sqlite3_exec(file->to, sql, NULL, NULL, NULL) != SQLITE_OK) {
        return schema_error(file->to, sqlite3_extended_errcode(file->to), "writing the copy",
                            file->error);
    }
    return STATUS_OK;
}

// ---- rows

static Status insert_row(TableCopy *copy, sqlite3_stmt *row) {
    DamagedCopy *file = copy->file;
    for (int i = 0; i < copy->column_count; i++) {
        sqlite3_bind_value(copy->insert, i + 1, sqlite3_column_value(row, i));
    }
    int code = sqlite3_step(copy->insert);
    if (code != SQLITE_DONE) {
        Status status = schema_error(file->to, code, "writing the copy", file->error);
        sqlite3_reset(copy->insert);
        return status;
    }
    sqlite3_reset(copy->insert);
    sqlite3_clear_bindings(copy->insert);
    copy->row_count += (uint64_t)sqlite3_changes(file->to); // none where the row breaks a rule
    if (++file->rows_in_transaction < TRANSACTION_ROWS) {
        return STATUS_OK;
    }
    file->rows_in_transaction = 0;
    return run(file, "COMMIT; BEGIN");
}

// Up to the end, then *is_whole, or to the first row that cannot be read.
static Status copy_up(TableCopy *copy, bool *is_whole) {
    sqlite3_bind_int64(copy->scan, 1, copy->last_id);
    Status status = STATUS_OK;
    int code = sqlite3_step(copy->scan);
    while (code == SQLITE_ROW && status == STATUS_OK) {
        copy->last_id = sqlite3_column_int64(copy->scan, 0);
        status = insert_row(copy, copy->scan);
        code = status == STATUS_OK ? sqlite3_step(copy->scan) : code;
    }
    *is_whole = code == SQLITE_DONE;
    sqlite3_reset(copy->scan);
    return status;
}

// The next row that can be read behind last_id, if there is one.
static Status copy_next(TableCopy *copy, bool *is_found) {
    *is_found = false;
    Status status = STATUS_OK;
    for (int i = 0; i < PROBES_MAX && copy->last_id < INT64_MAX && !*is_found; i++) {
        sqlite3_bind_int64(copy->probe, 1, ++copy->last_id);
        *is_found = sqlite3_step(copy->probe) == SQLITE_ROW;
        status = *is_found ? insert_row(copy, copy->probe) : status;
        sqlite3_reset(copy->probe);
    }
    return status;
}

static Status copy_rows(TableCopy *copy) {
    copy->last_id = INT64_MIN;
    for (;;) {
        bool is_whole, is_found;
        Status status = copy_up(copy, &is_whole);
        if (status != STATUS_OK || is_whole) {
            return status;
        }
        copy->hole_count++;
        // a scan that fails at once has no id to go on from: ids begin at 1
        copy->last_id = copy->last_id < 0 ? 0 : copy->last_id;
        status = copy_next(copy, &is_found);
        if (status != STATUS_OK || !is_found) {
            return status;
        }
    }
}

// Labels have no ids: from both ends to where it is damaged.
static Status copy_labels(TableCopy *copy) {
    bool is_whole;
    Status status = copy_up(copy, &is_whole);
    if (status == STATUS_OK && !is_whole) {
        copy->hole_count++;
        sqlite3_stmt *up = copy->scan;
        copy->scan = copy->probe;
        status = copy_up(copy, &is_whole);
        copy->scan = up;
    }
    return status;
}

// ---- tables

static bool prepare(sqlite3 *db, sqlite3_stmt **statement, const char *format, const char *table,
                    const char *key) {
    char sql[SQL_BYTES];
    sqlite3_snprintf(sizeof(sql), sql, format, table, key, key);
    return sqlite3_prepare_v2(db, sql, -1, statement, NULL) == SQLITE_OK;
}

// Columns that the table had none of when it was written stay NULL, or say that nothing was noted.
static bool prepare_insert(TableCopy *copy, const char *table, int columns) {
    char values[SQL_BYTES];
    size_t used = 0;
    // of a recording it lacks the namespace, which is NULL, and before it whether there are events
    const int nothing = strcmp(table, "recording") == 0 ? columns - 2 : -1;
    for (int i = 0; i < columns && used + 3 <= sizeof(values); i++) {
        values[used++] = i == 0 ? ' ' : ',';
        values[used++] = i < copy->column_count || i != nothing ? '?' : '0';
    }
    values[used] = '\0';
    char sql[2 * SQL_BYTES];
    sqlite3_snprintf(sizeof(sql), sql, "INSERT OR IGNORE INTO %s VALUES(%s)", table, values);
    return sqlite3_prepare_v2(copy->file->to, sql, -1, &copy->insert, NULL) == SQLITE_OK;
}

// What the rows of a table are in order by: their ids, where they have some.
static const char *key_of(const char *table) {
    return strcmp(table, "label") == 0       ? "label"
           : strcmp(table, "highlight") == 0 ? "recording DESC, kind"
           : strcmp(table, "deletion") == 0  ? "recording"
                                             : "id";
}

// Whether a version of the format has that many columns in the table, of which this one has `now`.
static bool is_known_width(const char *table, int columns, int now) {
    if (strcmp(table, "highlight") == 0) { // of versions 2, 3 and 4
        return columns == now || columns == now - 6 || columns == now - 3 || columns == now - 1;
    }
    if (strcmp(table, "episode") == 0 && (columns == now - 9 || columns == now - 7)) {
        return true; // up to 5, and 6
    }
    const bool has_gain = strcmp(table, "episode") == 0 || strcmp(table, "chunk") == 0;
    return columns == now || (has_gain && columns == now - 3) || // up to 8
           (strcmp(table, "recording") == 0 &&
            (columns == now - 2 || columns == now - 1)); // up to 6, and 9
}

static Status copy_table(DamagedCopy *file, const char *table, FILE *out) {
    TableCopy copy = {.file = file};
    const char *key = key_of(table);
    bool has_ids = strcmp(table, "label") != 0 && strcmp(table, "highlight") != 0;
    bool can_read = prepare(file->from, &copy.scan,
                            has_ids ? "SELECT * FROM %s WHERE %s > ?1 ORDER BY %s"
                                    : "SELECT * FROM %s WHERE ?1 IS NOT NULL",
                            table, key) &&
                    prepare(file->from, &copy.probe,
                            has_ids ? "SELECT * FROM %s WHERE %s = ?1"
                                    : "SELECT * FROM %s WHERE ?1 IS NOT NULL ORDER BY %s DESC",
                            table, key);
    sqlite3_stmt *columns = NULL;
    bool can_write = prepare(file->to, &columns, "SELECT * FROM %s", table, "");
    int column_count = sqlite3_column_count(columns);
    sqlite3_finalize(columns);
    copy.column_count = sqlite3_column_count(copy.scan);
    can_read = can_read && is_known_width(table, copy.column_count, column_count);
    Status status = STATUS_OK;
    if (can_read && can_write && prepare_insert(&copy, table, column_count)) {
        status = has_ids ? copy_rows(&copy) : copy_labels(&copy);
    } else {
        copy.hole_count = 1;
    }
    fprintf(out, "Table %s: %llu rows copied, %s.\n", table, (unsigned long long)copy.row_count,
            copy.hole_count == 0 ? "nothing of it is damaged" : "parts of it cannot be read");
    sqlite3_finalize(copy.scan);
    sqlite3_finalize(copy.probe);
    sqlite3_finalize(copy.insert);
    return status;
}

// ---- what the tables do not lead to any more

typedef struct Put {
    Writer writer;
    uint64_t found, added;
} Put;

static Status put_found(const uint8_t *bytes, size_t count, void *context, Error *error) {
    Put *put = context;
    bool is_new = false;
    Status status = rebuild_put(&put->writer, bytes, count, &is_new, error);
    put->found++;
    put->added += is_new;
    if (status == STATUS_OK && put->found % TRANSACTION_ROWS == 0) {
        status = writer_commit(&put->writer, error);
        status = STATUS_THEN(status, writer_begin(&put->writer, false, error));
    }
    return status;
}

static Status search(const char *path, const char *target, FILE *out, Error *error) {
    Put put = {0};
    Status status = writer_open(&put.writer, target, false, error);
    if (status != STATUS_OK) {
        return status;
    }
    sqlite3_wal_autocheckpoint(put.writer.db, CHECKPOINT_FRAMES);
    status = writer_begin(&put.writer, false, error);
    status = STATUS_THEN(status, chunk_search(path, put_found, &put, error));
    if (status == STATUS_OK) {
        status = writer_commit(&put.writer, error);
    } else {
        writer_rollback(&put.writer);
    }
    fprintf(out, "Pages: %llu whole chunks found, %llu of them in no row.\n",
            (unsigned long long)put.found, (unsigned long long)put.added);
    writer_close(&put.writer);
    return status;
}

// ---- the whole

// Only of geometries files of older versions have none.
static bool is_there(const DamagedCopy *file, const char *table) {
    sqlite3_stmt *statement = NULL;
    const bool is =
        strcmp(table, "geometry") != 0 || sqlite3_prepare_v2(file->from, "SELECT id FROM geometry",
                                                             -1, &statement, NULL) == SQLITE_OK;
    sqlite3_finalize(statement);
    return is;
}

static Status copy_tables(DamagedCopy *file, FILE *out) {
    sqlite3_wal_autocheckpoint(file->to, CHECKPOINT_FRAMES);
    // what the others lack follows from chunks
    static const char *const tables[] = {"recording", "episode",  "label",   "chunk",
                                         "highlight", "deletion", "geometry"};
    Status status = run(file, "BEGIN");
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && status == STATUS_OK; i++) {
        if (!is_there(file, tables[i])) {
            continue; // an older version's
        }
        status = copy_table(file, tables[i], out);
    }
    return STATUS_THEN(status, run(file, "COMMIT"));
}

Status copy_damaged(const char *path, const char *target, FILE *out, Error *error) {
    struct stat info;
    if (stat(target, &info) == 0) {
        return error_set(
            error, STATUS_ALREADY_EXISTS, NULL,
            "%.200s is damaged, and what can be read of it would go into %.100s, which "
            "is there already: move that away.",
            path, target);
    }
    DamagedCopy file = {.error = error};
    bool has_rows = schema_open_damaged(path, &file.from, NULL) == STATUS_OK;
    Status status = schema_open(target, false, &file.to, error);
    status = STATUS_THEN_IF(status, has_rows, copy_tables(&file, out));
    sqlite3_close(file.to);
    sqlite3_close(file.from);
    return STATUS_THEN(status, search(path, target, out, error));
}
