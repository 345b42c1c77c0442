// SPDX-License-Identifier: MIT
#include "cli/files/episode_file.h"

#include "cli/base/memory.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIGITS_MIN = 4 }; // of an id
enum { BUSY_MS = 5000 };
// As server/log/README.md says: "MORU", and the version of the format, which the server's
// log/format/schema.h and this program raise together. What is newer may mean something else.
enum { APPLICATION_ID = 1297044053, FORMAT_VERSION = 11 };

static int fail_sql(Cli *cli, sqlite3 *db, const char *path) {
    return cli_fail(cli, EXIT_REFUSED, "cannot read %s: %s", path, sqlite3_errmsg(db));
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    return sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK ? statement : NULL;
}

// A number of the file's header, by its pragma.
static bool read_mark(sqlite3 *db, const char *mark, int *value) {
    char sql[96];
    snprintf(sql, sizeof(sql), "PRAGMA log.%s", mark);
    sqlite3_stmt *statement = prepare(db, sql);
    bool is_there = statement != NULL && sqlite3_step(statement) == SQLITE_ROW;
    *value = is_there ? sqlite3_column_int(statement, 0) : 0;
    sqlite3_finalize(statement);
    return is_there;
}

// The recording that the episode is in, or the status to end with.
static int find(Cli *cli, sqlite3 *db, const char *path, const char *episode, int64_t *recording,
                EpisodeFile *file) {
    char sql[512];
    snprintf(sql, sizeof(sql),
             "SELECT recording, uid, name FROM (SELECT e.recording, e.id, r.name,"
             "  lower(hex(substr(r.uid, 1, 12))) || printf('%%08x', e.number) AS uid"
             "  FROM log.episode e JOIN log.recording r ON r.id = e.recording) %s",
             episode == NULL ? "ORDER BY id DESC LIMIT 1"
                             : "WHERE name = ?1 OR (length(?1) >= ?2 AND substr(uid, 1, "
                               "length(?1)) = lower(?1)) LIMIT 2");
    sqlite3_stmt *statement = prepare(db, sql);
    if (statement == NULL) {
        return fail_sql(cli, db, path);
    }
    if (episode != NULL) {
        sqlite3_bind_text(statement, 1, episode, -1, SQLITE_STATIC);
        sqlite3_bind_int(statement, 2, DIGITS_MIN);
    }
    int code = sqlite3_step(statement);
    int status = EXIT_DONE;
    if (code == SQLITE_ROW) {
        *recording = sqlite3_column_int64(statement, 0);
        snprintf(file->uid, sizeof(file->uid), "%s", sqlite3_column_text(statement, 1));
        snprintf(file->name, sizeof(file->name), "%s", sqlite3_column_text(statement, 2));
        if (sqlite3_step(statement) == SQLITE_ROW) {
            status =
                cli_fail(cli, EXIT_USAGE, "%s has several episodes %s: give the id, or more of it",
                         path, episode);
        }
    } else if (code == SQLITE_DONE) {
        status = cli_fail(cli, EXIT_REFUSED, "%s has no episode%s%s", path,
                          episode == NULL ? "" : " ", episode == NULL ? "" : episode);
    } else {
        status = fail_sql(cli, db, path);
    }
    sqlite3_finalize(statement);
    return status;
}

// Files of before version 7 know no touches, those of before version 11 no geometries.
static bool has_table(sqlite3 *db, const char *table) {
    sqlite3_stmt *statement =
        prepare(db, "SELECT 1 FROM log.sqlite_schema WHERE type = 'table' AND name = ?");
    sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
    bool is_there = statement != NULL && sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return is_there;
}

#define WORN_SQL "name IN (SELECT geometry FROM log.worn WHERE recording = ?1)"

static bool measure(sqlite3 *db, int64_t recording, uint64_t *bytes) {
    sqlite3_stmt *statement = prepare(
        db, has_table(db, "geometry")
                ? "SELECT (SELECT sum(length(bytes)) FROM log.chunk WHERE recording = ?1) +"
                  "  coalesce((SELECT sum(length(bytes)) FROM log.geometry WHERE " WORN_SQL "), 0)"
                : "SELECT sum(length(bytes)) FROM log.chunk WHERE recording = ?1");
    if (statement == NULL) {
        return false;
    }
    sqlite3_bind_int64(statement, 1, recording);
    const bool is_there = sqlite3_step(statement) == SQLITE_ROW;
    *bytes = is_there ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return is_there;
}

static int check_size(Cli *cli, sqlite3 *db, const char *path, int64_t recording,
                      size_t bytes_max) {
    uint64_t bytes = 0;
    if (!measure(db, recording, &bytes)) {
        return fail_sql(cli, db, path);
    }
    return bytes <= bytes_max
               ? EXIT_DONE
               : cli_fail(cli, EXIT_REFUSED,
                          "the recording has %" PRIu64 " MB, and a page holds %zu MB at most: "
                          "moreau view shows it, by a server of its own",
                          bytes / 1000000, bytes_max / 1000000);
}

// Tables, indices and views as they are there, in that order; then what is of the recording.
static bool copy_schema(sqlite3 *db) {
    sqlite3_stmt *statement =
        prepare(db, "SELECT sql FROM log.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE "
                    "'sqlite_%' ORDER BY type = 'view', type = 'index', rowid");
    bool is_done = statement != NULL;
    while (is_done && sqlite3_step(statement) == SQLITE_ROW) {
        is_done = sqlite3_exec(db, (const char *)sqlite3_column_text(statement, 0), NULL, NULL,
                               NULL) == SQLITE_OK;
    }
    return sqlite3_finalize(statement) == SQLITE_OK && is_done;
}

// The ids of episodes begin with their recording's, and no index has it.
typedef struct Table {
    const char *name, *where;
} Table;
static const Table tables[] = {
    {"recording", "id = ?1"},
    {"episode", "id BETWEEN ?1 << 32 AND (?1 << 32) + 4294967295"},
    {"label", "recording = ?1"},
    {"chunk", "recording = ?1"},
    {"highlight", "recording = ?1"},
    {"touch", "recording = ?1"},
    {"touch_body", "recording = ?1"},
    {"worn", "recording = ?1"},
    {"geometry", WORN_SQL},
};

static bool copy_rows(sqlite3 *db, int64_t recording) {
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (!has_table(db, tables[i].name)) {
            continue;
        }
        char sql[192];
        snprintf(sql, sizeof(sql), "INSERT INTO main.%s SELECT * FROM log.%s WHERE %s",
                 tables[i].name, tables[i].name, tables[i].where);
        sqlite3_stmt *statement = prepare(db, sql);
        sqlite3_bind_int64(statement, 1, recording);
        bool is_copied = statement != NULL && sqlite3_step(statement) == SQLITE_DONE;
        if (sqlite3_finalize(statement) != SQLITE_OK || !is_copied) {
            return false;
        }
    }
    return true;
}

static bool copy_marks(sqlite3 *db) {
    static const char *const marks[] = {"application_id", "user_version"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        int value;
        if (!read_mark(db, marks[i], &value)) {
            return false;
        }
        char sql[96];
        snprintf(sql, sizeof(sql), "PRAGMA main.%s = %d", marks[i], value);
        if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
            return false;
        }
    }
    return true;
}

static bool copy(sqlite3 *db, int64_t recording) {
    return sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK && copy_schema(db) &&
           copy_rows(db, recording) && copy_marks(db) &&
           sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

static bool take_bytes(sqlite3 *db, EpisodeFile *file) {
    sqlite3_int64 count = 0;
    unsigned char *bytes = sqlite3_serialize(db, "main", &count, 0);
    if (bytes == NULL) {
        return false;
    }
    file->count = (size_t)count;
    file->bytes = memory_take(file->count, 1);
    memcpy(file->bytes, bytes, file->count);
    sqlite3_free(bytes);
    return true;
}

// What means something in the name of a file that SQLite reads as a URI.
static char *escape(const char *path) {
    char *text = memory_take(3 * strlen(path) + 1, 1), *to = text;
    for (const char *at = path; *at != '\0'; at++) {
        bool is_plain = strchr("%?#", *at) == NULL;
        to += sprintf(to, is_plain ? "%c" : "%%%02x", (unsigned char)*at);
    }
    return text;
}

// A copy in `to`, as a file or in memory, with the server's file beside it, which is only read.
static int open_both(Cli *cli, const char *path, const char *to, sqlite3 **db) {
    char *escaped = escape(path);
    int code =
        sqlite3_open_v2(to, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL);
    char *sql = code == SQLITE_OK
                    ? sqlite3_mprintf("ATTACH 'file:' || %Q || '?mode=ro' AS log", escaped)
                    : NULL;
    free(escaped);
    memory_must(sql);
    sqlite3_busy_timeout(*db, BUSY_MS);
    // the file may be anybody's
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    code = sqlite3_exec(*db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    int application = 0, version = 0;
    if (code != SQLITE_OK || !read_mark(*db, "application_id", &application) ||
        !read_mark(*db, "user_version", &version)) {
        return fail_sql(cli, *db, path);
    }
    if (application != APPLICATION_ID) {
        return cli_fail(cli, EXIT_REFUSED, "%s is no server's episode file", path);
    }
    if (version > FORMAT_VERSION) {
        return cli_fail(cli, EXIT_REFUSED,
                        "%s has version %d of the log's format and this moreau knows version %d: "
                        "use one that fits",
                        path, version, FORMAT_VERSION);
    }
    return EXIT_DONE;
}

// Opens both files and finds the episode in the first; `db` is to be closed in any case.
static int open_found(Cli *cli, const char *path, const char *to, const char *episode, sqlite3 **db,
                      int64_t *recording, EpisodeFile *file) {
    *file = (EpisodeFile){0};
    const int status = open_both(cli, path, to, db);
    return status == EXIT_DONE ? find(cli, *db, path, episode, recording, file) : status;
}

int episode_file_measure(Cli *cli, const char *path, const char *episode, uint64_t *bytes,
                         EpisodeFile *file) {
    sqlite3 *db = NULL;
    int64_t recording = 0;
    int status = open_found(cli, path, ":memory:", episode, &db, &recording, file);
    if (status == EXIT_DONE && !measure(db, recording, bytes)) {
        status = fail_sql(cli, db, path);
    }
    sqlite3_close(db);
    return status;
}

int episode_file_copy(Cli *cli, const char *path, const char *episode, const char *to,
                      EpisodeFile *file) {
    sqlite3 *db = NULL;
    int64_t recording = 0;
    unlink(to);
    int status = open_found(cli, path, to, episode, &db, &recording, file);
    // of a file that is made again when this fails there is nothing to keep
    if (status == EXIT_DONE &&
        (sqlite3_exec(db, "PRAGMA main.journal_mode = OFF", NULL, NULL, NULL) != SQLITE_OK ||
         !copy(db, recording))) {
        status = fail_sql(cli, db, path);
    }
    sqlite3_close(db);
    return status;
}

int episode_file_take(Cli *cli, const char *path, const char *episode, size_t bytes_max,
                      EpisodeFile *file) {
    sqlite3 *db = NULL;
    int64_t recording = 0;
    int status = open_found(cli, path, ":memory:", episode, &db, &recording, file);
    if (status == EXIT_DONE) {
        status = check_size(cli, db, path, recording, bytes_max);
    }
    if (status == EXIT_DONE && (!copy(db, recording) || !take_bytes(db, file))) {
        status = fail_sql(cli, db, path);
    }
    sqlite3_close(db);
    return status;
}
