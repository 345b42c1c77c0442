// SPDX-License-Identifier: MIT
// Chunks through the log beside bare SQLite, which puts the same bytes into a table of the same
// pages, a hundred rows to a transaction. Both take turns, in folders of their own. Small chunks
// are what a world of ten bodies records in a second, large ones what one of a thousand frames is.
#include "bench/bench.h"

#include "os/clock.h"
#include "log/log.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

enum { SMALL_BYTES = 1352, LARGE_BYTES = 104000 };
enum { ROUNDS = 5 };
enum { TRANSACTION_ROWS = 100 };
enum { QUEUE_BYTES = 64 << 20 };
enum { PATH_BYTES = 256 };

// What one run took.
typedef struct Cost {
    double rows_per_second;
    double cpu_ns; // of all threads, per row
} Cost;

typedef struct Stopwatch {
    uint64_t begun_ns;
    double cpu_ns;
} Stopwatch;

static double process_cpu_ns(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1e9 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static Stopwatch start(void) {
    return (Stopwatch){clock_now_ns(), process_cpu_ns()};
}

static Cost stop(const Stopwatch *stopwatch, size_t row_count) {
    double rows = (double)row_count;
    return (Cost){rows * 1e9 / (double)(clock_now_ns() - stopwatch->begun_ns),
                  (process_cpu_ns() - stopwatch->cpu_ns) / rows};
}

static void make_folder(char folder[PATH_BYTES], char path[PATH_BYTES]) {
    const char *root = getenv("TMPDIR");
    snprintf(folder, PATH_BYTES, "%.200s/moreau-bench-XXXXXX", root != NULL ? root : "/tmp");
    if (mkdtemp(folder) == NULL) {
        bench_fail("no folder for a log can be made: set TMPDIR");
    }
    snprintf(path, PATH_BYTES, "%.240s/log.db", folder);
}

static void remove_folder(const char *folder, const char *path) {
    static const char *const endings[] = {"", "-wal", "-shm", "-lock"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char file[PATH_BYTES + 8];
        snprintf(file, sizeof(file), "%s%s", path, endings[i]);
        unlink(file);
    }
    rmdir(folder);
}

// ---- bare SQLite

static void run_sql(sqlite3 *db, const char *sql) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        bench_fail("%s: %s", sql, sqlite3_errmsg(db));
    }
}

static Cost run_sqlite(const uint8_t *bytes, size_t count, size_t row_count) {
    char folder[PATH_BYTES], path[PATH_BYTES];
    make_folder(folder, path);
    sqlite3 *db;
    sqlite3_stmt *insert;
    if (sqlite3_open(path, &db) != SQLITE_OK) {
        bench_fail("%s: %s", path, sqlite3_errmsg(db));
    }
    run_sql(db, "PRAGMA page_size = 32768; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                "CREATE TABLE chunk(id INTEGER PRIMARY KEY, recording INTEGER, kind INTEGER, "
                "first_step INTEGER, last_step INTEGER, bytes BLOB)");
    sqlite3_prepare_v2(db,
                       "INSERT INTO chunk(recording, kind, first_step, last_step, bytes) "
                       "VALUES(1, 2, ?1, ?1 + 1, ?2)",
                       -1, &insert, NULL);
    Stopwatch stopwatch = start();
    for (size_t i = 0; i < row_count; i++) {
        if (i % TRANSACTION_ROWS == 0) {
            run_sql(db, "BEGIN");
        }
        sqlite3_bind_int64(insert, 1, (sqlite3_int64)i);
        sqlite3_bind_blob(insert, 2, bytes, (int)count, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE) {
            bench_fail("%s: %s", path, sqlite3_errmsg(db));
        }
        sqlite3_reset(insert);
        if (i % TRANSACTION_ROWS == TRANSACTION_ROWS - 1 || i == row_count - 1) {
            run_sql(db, "COMMIT");
        }
    }
    Cost cost = stop(&stopwatch, row_count);
    sqlite3_finalize(insert);
    sqlite3_close(db);
    remove_folder(folder, path);
    return cost;
}

// ---- the log

typedef struct Waiter {
    LogWait wait; // first
    uv_sem_t done;
} Waiter;

static void post(LogWait *wait) {
    uv_sem_post(&((Waiter *)wait)->done);
}

static void wait_for(Waiter *waiter) {
    uv_sem_wait(&waiter->done);
    if (waiter->wait.error.status != STATUS_OK) {
        bench_fail("%s", waiter->wait.error.message);
    }
}

static void put_rows(Log *log, LogRecording *recording, const uint8_t *bytes, size_t count,
                     size_t row_count, Waiter *room) {
    ChunkFigures figures = {.worst_own = 1e-9, .contacts_max = 4, .solver = "mdp"};
    for (size_t i = 0; i < row_count; i++) {
        if (!log_has_room(log, &room->wait)) {
            wait_for(room);
        }
        LogBuffer *buffer = log_take_buffer(log, count);
        if (buffer == NULL) {
            bench_fail("memory ended");
        }
        memcpy(buffer->bytes + buffer->used, bytes, count - buffer->used);
        buffer->used = count;
        log_put(recording, buffer, CHUNK_INPUTS, i, i + 1, &figures);
    }
}

static Cost run_log(const uint8_t *bytes, size_t count, size_t row_count) {
    char folder[PATH_BYTES], path[PATH_BYTES];
    make_folder(folder, path);
    Report report = {.level = REPORT_ERROR, .fd = STDERR_FILENO};
    LogDef def = {
        .path = path, .queue_bytes_max = QUEUE_BYTES, .report = &report, .server_version = "bench"};
    Log *log;
    Error error;
    if (log_open(&log, &def, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    Waiter waiter = {.wait = {.done = post}};
    if (uv_sem_init(&waiter.done, 0) != 0) {
        bench_fail("no semaphore can be made");
    }
    RecordingDef recording_def = {
        .stride = 1, .name = "bench", .client = "", .world_name = "", .solver = "mdp"};
    LogRecording *recording = log_begin(log, &recording_def, NULL, &waiter.wait);
    wait_for(&waiter);
    Stopwatch stopwatch = start();
    put_rows(log, recording, bytes, count, row_count, &waiter);
    RecordingEnd ending = {.state = RECORDING_WORLD_DESTROYED, .last_step = row_count};
    log_end(recording, &ending, &waiter.wait);
    wait_for(&waiter);
    Cost cost = stop(&stopwatch, row_count);
    log_close(log);
    uv_sem_destroy(&waiter.done);
    remove_folder(folder, path);
    return cost;
}

// ---- rows

static void bench_size(const BenchRun *run, const char *name, size_t count, size_t row_count) {
    uint8_t *bytes = bench_memory(count, 1);
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(i * 2654435761u >> 11);
    }
    double rate[ROUNDS], bare_rate[ROUNDS], cpu[ROUNDS], bare_cpu[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        Cost bare = run_sqlite(bytes, count, row_count);
        Cost ours = run_log(bytes, count, row_count);
        bare_rate[i] = bare.rows_per_second;
        bare_cpu[i] = bare.cpu_ns / 1e3;
        rate[i] = ours.rows_per_second;
        cpu[i] = ours.cpu_ns / 1e3;
    }
    BenchRow row = {.value = bench_percentile(cpu, ROUNDS, 0.5),
                    .unit = "us",
                    .peer = "bare SQLite",
                    .peer_value = bench_percentile(bare_cpu, ROUNDS, 0.5),
                    .aim_kind = AIM_RATIO_MAX,
                    .aim = 1.2};
    snprintf(row.figure, sizeof(row.figure), "CPU per %s chunk", name);
    bench_add(run, &row);
    row = (BenchRow){.value = bench_percentile(rate, ROUNDS, 0.5),
                     .unit = "rows/s",
                     .peer = "bare SQLite",
                     .peer_value = bench_percentile(bare_rate, ROUNDS, 0.5)};
    snprintf(row.figure, sizeof(row.figure), "%s chunks", name);
    bench_add(run, &row);
    free(bytes);
}

void bench_log(const BenchRun *run) {
    bench_size(run, "1,352-byte", SMALL_BYTES, 100000);
    bench_size(run, "104 kB", LARGE_BYTES, 3000);
}
