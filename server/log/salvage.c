// SPDX-License-Identifier: MIT
// A row that cannot be read is found by asking for the rows behind it one by one: a damaged page
// hides the rows on it, and a damaged inner page all rows below it: 3,000 pages of some 20 rows.
#include "log/salvage.h"

#include "log/schema.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

enum { PROBES_MAX = 100000 };      // ids in a row that give nothing: the rest is lost
enum { TRANSACTION_ROWS = 200 };   // of at most some 100 kB each
enum { CHECKPOINT_FRAMES = 2048 }; // 64 MiB of pages
enum { SQL_BYTES = 256 };

typedef struct Salvage {
    sqlite3 *from, *to; // owned
    uint64_t rows_in_transaction;
    Error *error;
} Salvage;

// Reading one table and writing it.
typedef struct TableCopy {
    Salvage *salvage;
    sqlite3_stmt *scan;  // ?1: the id it begins above
    sqlite3_stmt *probe; // ?1: the id
    sqlite3_stmt *insert;
    int column_count;
    uint64_t row_count, hole_count;
    int64_t last_id;
} TableCopy;

static Status run(Salvage *salvage, const char *sql) {
    if (sqlite3_exec(salvage->to, sql, NULL, NULL, NULL) != SQLITE_OK) {
        return schema_error(salvage->to, sqlite3_extended_errcode(salvage->to), "writing the copy",
                            salvage->error);
    }
    return STATUS_OK;
}

// ---- rows

static Status insert_row(TableCopy *copy, sqlite3_stmt *row) {
    Salvage *salvage = copy->salvage;
    for (int i = 0; i < copy->column_count; i++) {
        sqlite3_bind_value(copy->insert, i + 1, sqlite3_column_value(row, i));
    }
    int code = sqlite3_step(copy->insert);
    if (code != SQLITE_DONE) {
        Status status = schema_error(salvage->to, code, "writing the copy", salvage->error);
        sqlite3_reset(copy->insert);
        return status;
    }
    sqlite3_reset(copy->insert);
    sqlite3_clear_bindings(copy->insert);
    copy->row_count += (uint64_t)sqlite3_changes(salvage->to); // none where the row breaks a rule
    if (++salvage->rows_in_transaction < TRANSACTION_ROWS) {
        return STATUS_OK;
    }
    salvage->rows_in_transaction = 0;
    return run(salvage, "COMMIT; BEGIN");
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

static bool prepare(sqlite3 *db, sqlite3_stmt **statement, const char *format, const char *table) {
    char sql[SQL_BYTES];
    sqlite3_snprintf(sizeof(sql), sql, format, table);
    return sqlite3_prepare_v2(db, sql, -1, statement, NULL) == SQLITE_OK;
}

static bool prepare_insert(TableCopy *copy, const char *table) {
    char values[SQL_BYTES];
    size_t used = 0;
    for (int i = 0; i < copy->column_count && used + 3 <= sizeof(values); i++) {
        values[used++] = i == 0 ? ' ' : ',';
        values[used++] = '?';
    }
    values[used] = '\0';
    char sql[2 * SQL_BYTES];
    sqlite3_snprintf(sizeof(sql), sql, "INSERT OR IGNORE INTO %s VALUES(%s)", table, values);
    return sqlite3_prepare_v2(copy->salvage->to, sql, -1, &copy->insert, NULL) == SQLITE_OK;
}

static Status copy_table(Salvage *salvage, const char *table, FILE *out) {
    TableCopy copy = {.salvage = salvage};
    bool has_ids = strcmp(table, "label") != 0;
    bool can_read =
        prepare(salvage->from, &copy.scan,
                has_ids ? "SELECT * FROM %s WHERE id > ?1 ORDER BY id"
                        : "SELECT * FROM %s WHERE ?1 IS NOT NULL ORDER BY label, episode",
                table) &&
        prepare(salvage->from, &copy.probe,
                has_ids ? "SELECT * FROM %s WHERE id = ?1"
                        : "SELECT * FROM %s WHERE ?1 IS NOT NULL ORDER BY label DESC, episode DESC",
                table);
    sqlite3_stmt *columns = NULL;
    bool can_write = prepare(salvage->to, &columns, "SELECT * FROM %s", table);
    copy.column_count = sqlite3_column_count(columns);
    sqlite3_finalize(columns);
    can_read = can_read && sqlite3_column_count(copy.scan) == copy.column_count;
    Status status = STATUS_OK;
    if (can_read && can_write && prepare_insert(&copy, table)) {
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

// ---- the whole

static Status complete_rows(Salvage *salvage) {
    // the uid stands in a chunk's header, behind magic, version and kind
    static const char *const sql =
        "INSERT OR IGNORE INTO recording(id, uid, state, why, content, stride, lossy, client, "
        "  world_name, world_step, world_time, time_step, body_count, dynamics_version, "
        "  server_version, begun_ns, ended_ns) "
        "SELECT recording, substr(bytes, 17, 16), 3, 'its row was damaged; this one was made from "
        "its chunks', max(CASE kind WHEN 3 THEN 1 WHEN 4 THEN 2 ELSE 0 END), 1, 0, '', '', 0, 0.0, "
        "  0.0, 0, 0, '', min(written_ns), max(written_ns) "
        "FROM chunk WHERE recording NOT IN (SELECT id FROM recording) AND length(bytes) >= 64 "
        "GROUP BY recording;"
        "INSERT OR IGNORE INTO episode(uid, recording, first_step, last_step, name, solver) "
        "SELECT uid, id, 0, (SELECT max(last_step) FROM chunk WHERE recording = r.id AND "
        "  kind IN (2, 5)), 'recovered', '' "
        "FROM recording r WHERE id NOT IN (SELECT recording FROM episode)";
    return run(salvage, sql);
}

static Status copy_file(Salvage *salvage, FILE *out) {
    sqlite3_wal_autocheckpoint(salvage->to, CHECKPOINT_FRAMES);
    static const char *const tables[] = {"recording", "episode", "label", "chunk"};
    Status status = run(salvage, "BEGIN");
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && status == STATUS_OK; i++) {
        status = copy_table(salvage, tables[i], out);
    }
    if (status == STATUS_OK) {
        status = complete_rows(salvage);
    }
    return status == STATUS_OK ? run(salvage, "COMMIT") : status;
}

Status salvage_file(const char *path, const char *target, FILE *out, Error *error) {
    struct stat info;
    if (stat(target, &info) == 0) {
        return error_set(
            error, STATUS_ALREADY_EXISTS, NULL,
            "%.200s is damaged, and what can be read of it would go into %.100s, which "
            "is there already: move that away.",
            path, target);
    }
    Salvage salvage = {.error = error};
    Status status = schema_open_damaged(path, &salvage.from, error);
    if (status == STATUS_OK) {
        status = schema_open(target, false, &salvage.to, error);
    }
    if (status == STATUS_OK) {
        status = copy_file(&salvage, out);
    }
    sqlite3_close(salvage.to);
    sqlite3_close(salvage.from);
    return status;
}
