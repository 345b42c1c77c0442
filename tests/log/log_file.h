// SPDX-License-Identifier: MIT
// Logs in a folder of their own, for tests: recordings made of chunks with a known body, and what
// SQL says about them through a connection of the test's own.
#pragma once

#include "log/log.h"
#include "support/log_waiter.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

enum { QUEUE_BYTES = 8 << 20 };
enum { ANSWER_BYTES = 1 << 16 };

typedef struct LogFile {
    char folder[256];
    char path[512];
    Report report;
} LogFile;

static inline LogFile file_make(void) {
    LogFile file = {.report = {.level = REPORT_ERROR, .fd = open("/dev/null", O_WRONLY)}};
    const char *root = getenv("TMPDIR");
    snprintf(file.folder, sizeof(file.folder), "%s/moreau-log-XXXXXX",
             root != NULL ? root : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(file.folder));
    snprintf(file.path, sizeof(file.path), "%s/log.db", file.folder);
    return file;
}

// How many files lie in the folder; removes them when asked to.
static inline int file_count(const LogFile *file, bool removes) {
    DIR *folder = opendir(file->folder);
    ck_assert_ptr_nonnull(folder);
    int count = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        count++;
        if (removes) {
            char path[1024];
            snprintf(path, sizeof(path), "%s/%s", file->folder, entry->d_name);
            if (unlink(path) != 0) {
                rmdir(path);
            }
        }
    }
    closedir(folder);
    return count;
}

static inline void file_remove(LogFile *file) {
    file_count(file, true);
    ck_assert_int_eq(rmdir(file->folder), 0);
    close(file->report.fd);
}

static inline Log *file_open_with(LogFile *file, bool full_durability, size_t queue_bytes) {
    LogDef def = {.path = file->path,
                  .full_durability = full_durability,
                  .queue_bytes_max = queue_bytes,
                  .report = &file->report,
                  .server_version = "0.1.0"};
    Log *log = NULL;
    Error error = {0};
    Status status = log_open(&log, &def, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    return log;
}

static inline Log *file_open(LogFile *file) {
    return file_open_with(file, false, QUEUE_BYTES);
}

// ---- recordings

static inline void uid_of(uint64_t number, uint8_t first, uint8_t uid[UID_BYTES]) {
    memset(uid, 0, UID_BYTES);
    uid[0] = first;
    memcpy(uid + 4, &number, sizeof(number));
}

static inline RecordingDef def_of(uint64_t number) {
    RecordingDef def = {.content = CONTENT_INPUTS,
                        .stride = 1,
                        .name = "fall",
                        .client = "tests",
                        .world_name = "world",
                        .solver = "mdp",
                        .dynamics_version = 7,
                        .time_step = 0.01,
                        .body_count = 3};
    uid_of(number, 0xaa, def.uid);
    return def;
}

// Begins and waits until it is in the file.
static inline LogRecording *begin(Log *log, const RecordingDef *def) {
    Waiter waiter;
    LogRecording *recording = log_begin(log, def, NULL, NULL, NULL, waiter_init(&waiter));
    ck_assert_ptr_nonnull(recording);
    ck_assert_msg(waiter_wait(&waiter) == STATUS_OK, "%s", waiter.wait.error.message);
    return recording;
}

static inline void put(Log *log, LogRecording *recording, ChunkKind kind, uint64_t first_step,
                       uint64_t last_step, size_t body_bytes) {
    LogBuffer *buffer = log_take_buffer(log, CHUNK_HEADER_BYTES + body_bytes);
    ck_assert_ptr_nonnull(buffer);
    ck_assert_uint_eq(buffer->used, CHUNK_HEADER_BYTES);
    for (size_t i = 0; i < body_bytes; i++) {
        buffer->bytes[CHUNK_HEADER_BYTES + i] = (uint8_t)(first_step + i);
    }
    buffer->used += body_bytes;
    Chunk chunk = {.kind = kind,
                   .first_step = first_step,
                   .last_step = last_step,
                   .time = 0.01 * (double)last_step};
    if (kind == CHUNK_INPUTS) {
        chunk.figures = (StepFigures){.unconverged_steps = 1,
                                      .worst_own = 1e-7 * (double)(first_step + 1),
                                      .worst_penetration = 1e-4,
                                      .contacts_max = 4};
        strcpy(chunk.solver, "mdp");
    }
    log_put(recording, buffer, &chunk);
}

static inline Status end(LogRecording *recording, RecordingState state, uint64_t last_step,
                         Error *error) {
    Waiter waiter;
    RecordingEnd ending = {
        .state = state, .last_step = last_step, .time = 0.01 * (double)last_step};
    log_end(recording, &ending, waiter_init(&waiter));
    Status status = waiter_wait(&waiter);
    if (error != NULL) {
        *error = waiter.wait.error;
    }
    return status;
}

// A whole recording of `count` inputs chunks of ten steps each.
static inline void record_def(Log *log, const RecordingDef *def, uint64_t count,
                              size_t body_bytes) {
    LogRecording *recording = begin(log, def);
    put(log, recording, CHUNK_KEYFRAME, 0, 0, 100);
    for (uint64_t i = 0; i < count; i++) {
        put(log, recording, CHUNK_INPUTS, 10 * i, 10 * i + 10, body_bytes);
    }
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 10 * count, NULL), STATUS_OK);
}

static inline void record(Log *log, uint64_t number, uint64_t count, size_t body_bytes) {
    RecordingDef def = def_of(number);
    record_def(log, &def, count, body_bytes);
}

// ---- what the file says

static inline sqlite3 *sql_open(const char *path) {
    sqlite3 *db = NULL;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    return db;
}

static inline int sql_add_row(void *context, int count, char **values, char **names) {
    (void)names;
    char *text = context;
    size_t used = strlen(text);
    for (int i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, ANSWER_BYTES - used, "%s%s", i > 0 ? "|" : "",
                                 values[i] != NULL ? values[i] : "NULL");
        ck_assert_uint_lt(used, ANSWER_BYTES);
    }
    snprintf(text + used, ANSWER_BYTES - used, "\n");
    return 0;
}

// Runs SQL as sqlite3 does: columns with | between them, a line per row.
static inline const char *sql_on(sqlite3 *db, const char *sql) {
    static char answer[ANSWER_BYTES];
    answer[0] = '\0';
    char *message = NULL;
    int code = sqlite3_exec(db, sql, sql_add_row, answer, &message);
    ck_assert_msg(code == SQLITE_OK, "%s: %s", sql, message);
    return answer;
}

static inline const char *sql(const LogFile *file, const char *text) {
    sqlite3 *db = sql_open(file->path);
    const char *answer = sql_on(db, text);
    sqlite3_close(db);
    return answer;
}

// How many chunks the file has, but for definitions and seals; each must be as it was sealed, and
// one of the recording its row names.
static inline int count_sound_chunks(const LogFile *file) {
    sqlite3 *db = sql_open(file->path);
    sqlite3_stmt *rows;
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT r.uid, c.kind, c.first_step, c.last_step, c.bytes "
                                        "FROM chunk c JOIN recording r ON r.id = c.recording",
                                        -1, &rows, NULL),
                     SQLITE_OK);
    int count = 0;
    while (sqlite3_step(rows) == SQLITE_ROW) {
        Chunk chunk;
        Error error = {0};
        Status status =
            chunk_open(sqlite3_column_blob(rows, 4), (size_t)sqlite3_column_bytes(rows, 4),
                       sqlite3_column_blob(rows, 0), &chunk, &error);
        ck_assert_msg(status == STATUS_OK, "%s", error.message);
        ck_assert_int_eq(chunk.kind, sqlite3_column_int(rows, 1));
        ck_assert_int_eq((int64_t)chunk.first_step, sqlite3_column_int64(rows, 2));
        ck_assert_int_eq((int64_t)chunk.last_step, sqlite3_column_int64(rows, 3));
        // what the log adds of its own is not counted
        count += chunk.kind != CHUNK_DEFINITION && chunk.kind != CHUNK_SEAL;
    }
    sqlite3_finalize(rows);
    sqlite3_close(db);
    return count;
}
