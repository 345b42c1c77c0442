// SPDX-License-Identifier: MIT
#include "log/recover.h"

#include "log/lock.h"
#include "log/salvage.h"
#include "log/schema.h"
#include "log/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct Finds {
    FILE *out; // where a sentence per find goes
    uint64_t episodes, interrupted, chunks, damaged;
} Finds;

static Status fail(sqlite3 *db, const char *doing, Error *error) {
    return schema_error(db, sqlite3_extended_errcode(db), doing, error);
}

// ---- is it a sound database?

// DATA_LOSS when SQLite finds damage; the first find goes to `out`.
static Status check_database(const char *path, FILE *out, Error *error) {
    sqlite3 *db = NULL;
    Status status = schema_open_reader(path, &db, error);
    if (status != STATUS_OK) {
        return status;
    }
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &statement, NULL);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    const char *find = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (find == NULL) {
        status = fail(db, "checking the file", error);
    } else if (strcmp(find, "ok") != 0) {
        fprintf(out, "SQLite finds damage: %s.\n", find);
        status = error_set(error, STATUS_DATA_LOSS, NULL, "%.250s is damaged.", path);
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return status;
}

// ---- what a crash left open

static void tell_interrupted(const uint8_t uid[UID_BYTES], uint64_t last_step, void *context) {
    Finds *finds = context;
    char text[UID_TEXT_BYTES];
    uid_text(uid, text);
    fprintf(finds->out, "Recording %s was open: interrupted at its step %" PRIu64 ".\n", text,
            last_step);
    finds->interrupted++;
}

// ---- the chunks

static const char chunks_sql[] =
    "SELECT c.id, c.kind, c.first_step, c.last_step, c.bytes, r.uid, "
    "(SELECT name FROM episode e WHERE e.recording = r.id LIMIT 1) "
    "FROM chunk c LEFT JOIN recording r ON r.id = c.recording ORDER BY c.id";

static Status check_chunk(sqlite3_stmt *row, Error *error) {
    const uint8_t *uid = sqlite3_column_blob(row, 5);
    if (uid == NULL || sqlite3_column_bytes(row, 5) != UID_BYTES) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "its recording is not in the file");
    }
    const uint8_t *bytes = sqlite3_column_blob(row, 4);
    size_t count = (size_t)sqlite3_column_bytes(row, 4);
    Chunk chunk;
    Status status = chunk_open(bytes, count, uid, &chunk, error);
    if (status != STATUS_OK) {
        return status;
    }
    if ((int64_t)chunk.kind != sqlite3_column_int64(row, 1) ||
        chunk.first_step != (uint64_t)sqlite3_column_int64(row, 2) ||
        chunk.last_step != (uint64_t)sqlite3_column_int64(row, 3)) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "its row says another kind or other steps");
    }
    return STATUS_OK;
}

static void print_damage(sqlite3_stmt *row, const Error *damage, FILE *out) {
    const char *name = (const char *)sqlite3_column_text(row, 6);
    fprintf(out, "Chunk %lld (%s, steps %lld to %lld) of episode \"%s\" is damaged: %s.\n",
            (long long)sqlite3_column_int64(row, 0),
            chunk_kind_name((uint32_t)sqlite3_column_int64(row, 1)),
            (long long)sqlite3_column_int64(row, 2), (long long)sqlite3_column_int64(row, 3),
            name != NULL ? name : "", damage->message);
}

static Status check_chunks(sqlite3 *db, FILE *out, Finds *finds, Error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, chunks_sql, -1, &statement, NULL);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    while (code == SQLITE_ROW) {
        Error damage = {0};
        finds->chunks++;
        if (check_chunk(statement, &damage) != STATUS_OK) {
            finds->damaged++;
            print_damage(statement, &damage, out);
        }
        code = sqlite3_step(statement);
    }
    Status status = code == SQLITE_DONE ? STATUS_OK : fail(db, "reading the chunks", error);
    sqlite3_finalize(statement);
    return status;
}

static Status count_episodes(sqlite3 *db, Finds *finds, Error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "SELECT count(*) FROM episode", -1, &statement, NULL);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    Status status = code == SQLITE_ROW ? STATUS_OK : fail(db, "counting episodes", error);
    finds->episodes = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return status;
}

// ---- the whole

static Status mend(const char *path, FILE *out, Finds *finds, Error *error) {
    Writer writer;
    Status status = writer_open(&writer, path, true, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = writer_interrupt_open(&writer, tell_interrupted, finds, error);
    if (status == STATUS_OK) {
        status = check_chunks(writer.db, out, finds, error);
    }
    if (status == STATUS_OK) {
        status = count_episodes(writer.db, finds, error);
    }
    if (status == STATUS_OK) {
        status = writer_settle(&writer, error);
    }
    writer_close(&writer);
    return status;
}

static void print_summary(const char *path, const Finds *finds, FILE *out) {
    fprintf(out,
            "%s: %" PRIu64 " episodes, %" PRIu64 " of them interrupted just now; %" PRIu64
            " chunks, %" PRIu64 " of them damaged.\n",
            path, finds->episodes, finds->interrupted, finds->chunks, finds->damaged);
}

static Status recover_damaged(const char *path, FILE *out, Error *error) {
    size_t target_bytes = strlen(path) + sizeof(".recovered");
    char *target = malloc(target_bytes);
    if (target == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
    }
    snprintf(target, target_bytes, "%s.recovered", path);
    fprintf(out, "%s is damaged and stays as it is; what can be read goes into %s.\n", path,
            target);
    Finds finds = {.out = out};
    Status status = salvage_file(path, target, out, error);
    if (status == STATUS_OK) {
        status = mend(target, out, &finds, error);
    }
    if (status == STATUS_OK) {
        print_summary(target, &finds, out);
        status = error_set(error, STATUS_DATA_LOSS, NULL,
                           "%.150s is damaged. What could be read is in %.150s: use that one.",
                           path, target);
    }
    free(target);
    return status;
}

static Status recover_locked(const char *path, FILE *out, Error *error) {
    Finds finds = {.out = out};
    Status status = check_database(path, out, error);
    if (status == STATUS_DATA_LOSS) {
        return recover_damaged(path, out, error);
    }
    if (status == STATUS_OK) {
        status = mend(path, out, &finds, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    print_summary(path, &finds, out);
    if (finds.damaged > 0) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "%" PRIu64 " chunks of %.200s are damaged: their steps are lost, the rest "
                         "can be used.",
                         finds.damaged, path);
    }
    return STATUS_OK;
}

Status recover_file(const char *path, FILE *out, Error *error) {
    Status status = schema_check_path(path, error);
    if (status != STATUS_OK) {
        return status;
    }
    FileLock lock;
    status = lock_take(&lock, path, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = recover_locked(path, out, error);
    lock_release(&lock);
    return status;
}
