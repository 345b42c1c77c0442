// SPDX-License-Identifier: MIT
#include "log/format/schema.h"

#include "log/format/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MS = 5000 }; // for people who write with other programs
enum { TABLE_COUNT = 6, TOUCH_TABLE_COUNT = 2, GEOMETRY_TABLE_COUNT = 2 };
enum { VERSION_OLDEST = 2 }; // that is brought to this one
enum { VERSION_TOUCHES = 7, VERSION_GEOMETRIES = 11 };

// ---- sentences

static const char *why_not(int code, int system_error) {
    switch (code & 0xff) {
    case SQLITE_FULL:
        return "the disk is full";
    case SQLITE_TOOBIG:
        return "that is more than one row can hold";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "another program is using the file";
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return "there is no permission to write to it, or the disk is read-only";
    case SQLITE_NOMEM:
        return "memory ended";
    default:
        return system_error != 0 ? strerror(system_error) : sqlite3_errstr(code);
    }
}

static const char *file_of(sqlite3 *db) {
    const char *path = db != NULL ? sqlite3_db_filename(db, "main") : NULL;
    return path != NULL && path[0] != '\0' ? path : "the log";
}

Status schema_error(sqlite3 *db, int code, const char *doing, Error *error) {
    const char *path = file_of(db);
    int primary = code & 0xff;
    int system_error = db != NULL ? sqlite3_system_errno(db) : 0;
    // what fails in a commit SQLite does not note; no call has gone well since
    system_error = primary == SQLITE_IOERR && system_error == 0 ? errno : system_error;
    // a limit on the size of files and a quota reach SQLite as any other failed write
    bool is_limit = primary == SQLITE_IOERR &&
                    (system_error == EFBIG || system_error == EDQUOT || system_error == ENOSPC);
    if (primary == SQLITE_FULL || is_limit) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The log failed while %s: %s. Make room for %.200s: new recordings "
                         "work once there is some.",
                         doing, why_not(code, is_limit ? system_error : 0), path);
    }
    if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "The log failed while %s: %.200s is damaged (%s). Stop the server and "
                         "mend it with moreau-server --recover.",
                         doing, path, sqlite3_errstr(code));
    }
    bool is_space = primary == SQLITE_TOOBIG || primary == SQLITE_NOMEM;
    return error_set(error, is_space ? STATUS_RESOURCE_EXHAUSTED : STATUS_UNAVAILABLE, NULL,
                     "The log failed while %s: %s (%.200s).", doing, why_not(code, system_error),
                     path);
}

// ---- what a path is, before SQLite sees it

static Status check_folder(const char *path, bool writes, Error *error) {
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL   ? strdup(".")
                   : slash == path ? strdup("/")
                                   : strndup(path, (size_t)(slash - path));
    if (folder == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "db", "Memory ended.");
    }
    Status status = STATUS_OK;
    struct stat info;
    if (stat(folder, &info) != 0) {
        status = error_set(error, errno == ENOENT ? STATUS_NOT_FOUND : STATUS_UNAVAILABLE, "db",
                           "The folder of %.200s cannot be used: %s. Make it first.", path,
                           strerror(errno));
    } else if (!S_ISDIR(info.st_mode)) {
        status = error_set(error, STATUS_INVALID_ARGUMENT, "db",
                           "%.200s lies in something that is no folder.", path);
    } else if (writes && faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0) {
        status = error_set(error, STATUS_PERMISSION_DENIED, "db",
                           "The folder of %.200s cannot be written to: %s. SQLite keeps two more "
                           "files beside a log while it is being written.",
                           path, strerror(errno));
    }
    free(folder);
    return status;
}

static Status check_file(const char *path, bool writes, Error *error) {
    struct stat info;
    if (stat(path, &info) != 0) {
        if (errno == ENOENT && writes) {
            return STATUS_OK; // it will be made
        }
        return error_set(error, errno == ENOENT ? STATUS_NOT_FOUND : STATUS_UNAVAILABLE, "db",
                         "%.250s cannot be opened: %s.", path, strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "db",
                         "%.250s is a folder: name a file in it.", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "db", "%.250s is no ordinary file.", path);
    }
    if (info.st_size == 1) { // which SQLite takes for a new file, and writes over
        return error_set(error, STATUS_INVALID_ARGUMENT, "db",
                         "%.250s is no SQLite database: name another file.", path);
    }
    if (faccessat(AT_FDCWD, path, writes ? R_OK | W_OK : R_OK, AT_EACCESS) != 0) {
        return error_set(error, STATUS_PERMISSION_DENIED, "db", "%.200s cannot be %s: %s.", path,
                         writes ? "written" : "read", strerror(errno));
    }
    return STATUS_OK;
}

// ---- what a database is

static int ask_number(sqlite3 *db, const char *sql, int64_t *number) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
        *number = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    }
    int ended = sqlite3_finalize(statement);
    return code == SQLITE_ROW ? SQLITE_OK : ended;
}

typedef struct Marks {
    int64_t application, version, objects, tables, page_count, page_bytes;
} Marks;

static int read_marks(sqlite3 *db, Marks *marks) {
    const struct {
        const char *sql;
        int64_t *number;
    } questions[] = {
        // these two stand in the header, and are read also where the tables are damaged
        {"PRAGMA application_id", &marks->application},
        {"PRAGMA user_version", &marks->version},
        {"SELECT count(*) FROM sqlite_schema", &marks->objects},
        {"SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND "
         "name IN ('recording', 'episode', 'label', 'chunk', 'highlight', 'deletion', 'touch', "
         "'touch_body', 'geometry', 'worn')",
         &marks->tables},
        {"PRAGMA page_count", &marks->page_count},
        {"PRAGMA page_size", &marks->page_bytes},
    };
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        int code = ask_number(db, questions[i].sql, questions[i].number);
        if (code != SQLITE_OK) {
            return code;
        }
    }
    return SQLITE_OK;
}

// SQLite notices that whole pages are gone, but not that a part of the last one is. With a
// write-ahead log, pages may not be in the file yet.
static bool is_cut_short(sqlite3 *db, const char *path, const Marks *marks) {
    struct stat info, log_info;
    const char *log_path = sqlite3_filename_wal(sqlite3_db_filename(db, "main"));
    bool has_log = stat(log_path, &log_info) == 0 && log_info.st_size > 0;
    return !has_log && stat(path, &info) == 0 &&
           info.st_size < marks->page_count * marks->page_bytes;
}

static int64_t table_count(int64_t version) {
    return TABLE_COUNT + (version < VERSION_TOUCHES ? 0 : TOUCH_TABLE_COUNT) +
           (version < VERSION_GEOMETRIES ? 0 : GEOMETRY_TABLE_COUNT);
}

// `version` of what is there; 0: it is new.
static Status identify(sqlite3 *db, const char *path, int64_t *version, Error *error) {
    Marks marks = {0};
    *version = 0;
    int code = read_marks(db, &marks) & 0xff;
    if (marks.application == SCHEMA_APPLICATION_ID && marks.version > SCHEMA_VERSION) {
        return error_set(
            error, STATUS_FAILED_PRECONDITION, "db",
            "%.200s has version %lld of the log's format and this server knows version "
            "%d: use a server that fits.",
            path, (long long)marks.version, SCHEMA_VERSION);
    }
    if (code == SQLITE_NOTADB) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "db",
                         "%.250s is no SQLite database: name another file.", path);
    }
    if (code == SQLITE_CORRUPT) {
        return error_set(error, STATUS_DATA_LOSS, "db",
                         "%.200s is damaged or cut short: copy what can be read with moreau-server "
                         "--recover FILE.",
                         path);
    }
    if (code != SQLITE_OK) {
        return schema_error(db, sqlite3_extended_errcode(db), "opening the log", error);
    }
    if (marks.application == 0 && marks.version == 0 && marks.objects == 0) {
        return STATUS_OK;
    }
    if (marks.application != SCHEMA_APPLICATION_ID) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "db",
                         "%.250s is an SQLite database of another program: name another file.",
                         path);
    }
    if (marks.version < VERSION_OLDEST) { // what is below 1 nobody wrote
        const bool is_ours = marks.version > 0;
        return error_set(error, is_ours ? STATUS_FAILED_PRECONDITION : STATUS_INVALID_ARGUMENT,
                         "db",
                         "%.200s is too old: it has version %lld of the log's format, from before "
                         "the first release, and this server knows version %d. Name another file.",
                         path, (long long)marks.version, SCHEMA_VERSION);
    }
    const bool has_tables = marks.tables == table_count(marks.version);
    if (!has_tables || is_cut_short(db, path, &marks)) {
        return error_set(error, STATUS_DATA_LOSS, "db",
                         "%.200s is %s: copy what can be read with moreau-server --recover FILE.",
                         path, has_tables ? "cut short" : "without its tables");
    }
    *version = marks.version;
    return STATUS_OK;
}

// ---- opening

static Status run(sqlite3 *db, const char *sql, const char *doing, Error *error) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        return schema_error(db, sqlite3_extended_errcode(db), doing, error);
    }
    return STATUS_OK;
}

// A name is a file's, whatever it looks like: SQLite takes ":memory:" for no file at all, and some
// of its builds "file:…" for an address.
static int open_by_name(const char *path, int flags, sqlite3 **db) {
    char below_here[PATH_MAX];
    if (path[0] != '/' && snprintf(below_here, sizeof(below_here), "./%s", path) < PATH_MAX) {
        path = below_here;
    }
    return sqlite3_open_v2(path, db, flags | SQLITE_OPEN_NOMUTEX, NULL);
}

static Status open_file(const char *path, int flags, sqlite3 **db, Error *error) {
    *db = NULL;
    int code = open_by_name(path, flags, db);
    if (code != SQLITE_OK) {
        return schema_error(*db, code, "opening the log", error);
    }
    sqlite3_extended_result_codes(*db, 1);
    sqlite3_busy_timeout(*db, BUSY_MS);
    // the file may be anybody's: its triggers and views run nothing here
    sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    // the indexes that are there are those to go along: none is built for one question
    return run(*db,
               "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; "
               "PRAGMA automatic_index = OFF",
               "opening the log", error);
}

// In one transaction, with the marks of this version.
static Status change_tables(sqlite3 *db, const char *const *parts, size_t count, const char *doing,
                            Error *error) {
    char marks[96];
    snprintf(marks, sizeof(marks), "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
             SCHEMA_APPLICATION_ID, SCHEMA_VERSION);
    Status status = run(db, "BEGIN IMMEDIATE", doing, error);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = run(db, parts[i], doing, error);
    }
    status = STATUS_THEN(status, run(db, marks, doing, error));
    if (status != STATUS_OK) {
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL); // of what has begun
    }
    return status;
}

static Status make_tables(sqlite3 *db, Error *error) {
    const char *const parts[] = {recording_tables_sql, episode_tables_sql, episode_indexes_sql,
                                 chunk_tables_sql,     touch_tables_sql,   geometry_tables_sql,
                                 episode_views_sql,    chunk_views_sql,    touch_views_sql,
                                 geometry_views_sql};
    return change_tables(db, parts, sizeof(parts) / sizeof(parts[0]),
                         "making the tables of the log", error);
}

// Highlights have reasons since version 3, launches since version 4 and joints since version 5,
// groups are since version 6, touches and opinions since version 7: older chunks tell of none.
// Since version 8 there are the indexes that retention wants, and that short episodes do not. Since
// version 9 it is told what energy was gained: of older steps it is not known. Since version 10
// recordings have namespaces: older ones are nobody's, who has the right admin sees them. Since
// version 11 geometries stand beside the chunks that name them: older chunks have their bytes.
static Status migrate(sqlite3 *db, int64_t version, Error *error) {
    static const struct {
        int64_t since; // files of older versions lack it
        const char *sql;
    } changes[] = {
        {3, "ALTER TABLE highlight ADD COLUMN reason INTEGER"},
        {3, "ALTER TABLE highlight ADD COLUMN body INTEGER"},
        {3, "ALTER TABLE highlight ADD COLUMN contacts INTEGER"},
        {4, "ALTER TABLE highlight ADD COLUMN other_body INTEGER"},
        {4, "ALTER TABLE highlight ADD COLUMN height REAL"},
        {5, "ALTER TABLE highlight ADD COLUMN joint INTEGER"},
        {6, "ALTER TABLE episode ADD COLUMN length INTEGER"},
        {6, "ALTER TABLE episode ADD COLUMN turn INTEGER"},
        {7, "ALTER TABLE recording ADD COLUMN events INTEGER NOT NULL DEFAULT 0"},
        {7, touch_tables_sql},
        {7, "ALTER TABLE episode ADD COLUMN doubtful_steps INTEGER"},
        {7, "ALTER TABLE episode ADD COLUMN return_doubtful REAL"},
        {7, "ALTER TABLE episode ADD COLUMN opinions INTEGER"},
        {7, "ALTER TABLE episode ADD COLUMN opinion_gap_max REAL"},
        {7, EPISODE_BY_DOUBT_SQL},
        {8, "DROP INDEX IF EXISTS episode_of_world"},
        {8, RECORDING_BY_END_SQL},
        {9, "ALTER TABLE episode ADD COLUMN gain REAL"},
        {9, "ALTER TABLE episode ADD COLUMN gain_scale REAL"},
        {9, "ALTER TABLE episode ADD COLUMN gain_step REAL"},
        {9, "ALTER TABLE chunk ADD COLUMN gain REAL"},
        {9, "ALTER TABLE chunk ADD COLUMN gain_scale REAL"},
        {9, "ALTER TABLE chunk ADD COLUMN gain_step REAL"},
        {10, "ALTER TABLE recording ADD COLUMN namespace TEXT"},
        {11, geometry_tables_sql},
    };
    enum { CHANGE_COUNT = sizeof(changes) / sizeof(changes[0]) };
    static const char *const views[] = {"DROP VIEW IF EXISTS episodes",
                                        "DROP VIEW IF EXISTS stretches",
                                        "DROP VIEW IF EXISTS highlights",
                                        "DROP VIEW IF EXISTS scenes",
                                        "DROP VIEW IF EXISTS chunks",
                                        "DROP VIEW IF EXISTS touches",
                                        "DROP VIEW IF EXISTS geometries",
                                        episode_views_sql,
                                        chunk_views_sql,
                                        touch_views_sql,
                                        geometry_views_sql};
    enum { VIEW_COUNT = sizeof(views) / sizeof(views[0]) };
    const char *parts[CHANGE_COUNT + VIEW_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        if (version < changes[i].since) {
            parts[count++] = changes[i].sql;
        }
    }
    memcpy(parts + count, views, sizeof(views));
    return change_tables(db, parts, count + VIEW_COUNT, "bringing the log to this server's version",
                         error);
}

static Status enter_wal(sqlite3 *db, const char *path, Error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "PRAGMA journal_mode = WAL", -1, &statement, NULL);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    const char *mode = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    bool is_wal = mode != NULL && strcmp(mode, "wal") == 0;
    sqlite3_finalize(statement);
    if (is_wal) {
        return STATUS_OK;
    }
    if (code == SQLITE_ROW) {
        return error_set(
            error, STATUS_UNAVAILABLE, "db",
            "%.200s cannot have a write-ahead log: network file systems have none. Put "
            "it on a local disk.",
            path);
    }
    return schema_error(db, code, "starting the write-ahead log", error);
}

static Status prepare_writing(sqlite3 *db, const char *path, bool full_durability, Error *error) {
    // the size of pages and auto_vacuum count for new files alone, and only before the write-ahead
    // log. The cache stays small: what a transaction spills is written once anyway, and from warmer
    // memory. What is deleted is not written over, or a deletion would have to write all of it once
    // more
    char settings[256];
    snprintf(settings, sizeof(settings),
             SCHEMA_HEADER_SYNC_SQL
             "; PRAGMA page_size = %d; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA "
             "wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = FAST",
             SCHEMA_PAGE_BYTES);
    int64_t version;
    Status status = identify(db, path, &version, error);
    if (status == STATUS_OK && sqlite3_db_readonly(db, "main") == 1) {
        status = error_set(error, STATUS_PERMISSION_DENIED, "db",
                           "%.200s cannot be written: it, or its disk, is read-only.", path);
    }
    status = STATUS_THEN(status, run(db, settings, "opening the log", error));
    status = STATUS_THEN(status, enter_wal(db, path, error));
    status = STATUS_THEN(
        status,
        run(db, full_durability ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL",
            "opening the log", error));
    return STATUS_THEN_IF(status, version != SCHEMA_VERSION,
                          version == 0 ? make_tables(db, error) : migrate(db, version, error));
}

Status schema_check_path(const char *path, Error *error) {
    Status status = check_folder(path, true, error);
    return STATUS_THEN(status, check_file(path, true, error));
}

Status schema_open(const char *path, bool full_durability, sqlite3 **db, Error *error) {
    Status status = schema_check_path(path, error);
    if (status != STATUS_OK) {
        return status;
    }
    sqlite3 *opened;
    status = open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &opened, error);
    status = STATUS_THEN(status, prepare_writing(opened, path, full_durability, error));
    if (status != STATUS_OK) {
        sqlite3_close(opened);
        return status;
    }
    *db = opened;
    return STATUS_OK;
}

static Status open_reader(const char *path, int flags, int64_t oldest, sqlite3 **db, Error *error) {
    Status status = check_folder(path, false, error);
    status = STATUS_THEN(status, check_file(path, false, error));
    if (status != STATUS_OK) {
        return status;
    }
    sqlite3 *opened;
    int64_t version = 0;
    status = open_file(path, flags, &opened, error);
    status = STATUS_THEN(status, identify(opened, path, &version, error));
    if (status == STATUS_OK && version == 0) {
        status = error_set(error, STATUS_INVALID_ARGUMENT, "db",
                           "%.250s is empty: nothing was recorded into it.", path);
    }
    if (status == STATUS_OK && version < oldest) {
        status = error_set(error, STATUS_FAILED_PRECONDITION, "db",
                           "%.200s has version %lld of the log's format: a server that has it as "
                           "its --db, or moreau-server --recover FILE, brings it to version %d.",
                           path, (long long)version, SCHEMA_VERSION);
    }
    if (status != STATUS_OK) {
        sqlite3_close(opened);
        return status;
    }
    *db = opened;
    return STATUS_OK;
}

Status schema_open_reader(const char *path, sqlite3 **db, Error *error) {
    return open_reader(path, SQLITE_OPEN_READONLY, SCHEMA_VERSION, db, error);
}

Status schema_open_whole(const char *path, sqlite3 **db, Error *error) {
    return open_reader(path, SQLITE_OPEN_READWRITE, VERSION_OLDEST, db, error);
}

Status schema_open_damaged(const char *path, sqlite3 **db, Error *error) {
    Status status = open_file(path, SQLITE_OPEN_READONLY, db, error);
    if (status == STATUS_OK) {
        // with a schema that may be written SQLite also opens a file with fewer pages than its
        // header says
        sqlite3_db_config(*db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
        status = run(*db, "PRAGMA writable_schema = ON; BEGIN", "opening the log", error);
    }
    return status;
}
