// SPDX-License-Identifier: MIT
// Chunks through the log beside bare SQLite, which puts the same bytes into a table of the same
// pages, a hundred rows to a transaction. Both take turns, in folders of their own. Small chunks
// are what a world of ten bodies records in a second, large ones what one of a thousand frames is.
// Then the same chunks with a key-frame among eight, signed (--seal-key) and not: what a SHA-256 of
// each and a signature behind each key-frame cost the log's thread.
#include "bench/bench.h"

#include "access/seal_key.h"
#include "access/seal_new.h"
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

// `key` Nullable: it signs with it.
static Log *open_log(const char *path, const SealKey *key, Waiter *waiter) {
    static const Report report = {.level = REPORT_ERROR, .fd = STDERR_FILENO};
    const LogDef def = {.path = path,
                        .seal_key = key,
                        .queue_bytes_max = QUEUE_BYTES,
                        .report = &report,
                        .server_version = "bench"};
    Log *log;
    Error error;
    if (log_open(&log, &def, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    *waiter = (Waiter){.wait = {.done = post}};
    if (uv_sem_init(&waiter->done, 0) != 0) {
        bench_fail("no semaphore can be made");
    }
    return log;
}

static void put_rows(Log *log, LogRecording *recording, const uint8_t *bytes, size_t count,
                     size_t row_count, size_t keyframe_rows, Waiter *room) {
    Chunk chunk = {
        .kind = CHUNK_INPUTS, .figures = {.worst_own = 1e-9, .contacts_max = 4}, .solver = "mdp"};
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
        const bool is_keyframe = keyframe_rows > 0 && i % keyframe_rows == 0;
        chunk.kind = is_keyframe ? CHUNK_KEYFRAME : CHUNK_INPUTS;
        chunk.first_step = i;
        chunk.last_step = is_keyframe ? i : i + 1;
        log_put(recording, buffer, &chunk);
    }
}

static Cost run_log(const uint8_t *bytes, size_t count, size_t row_count, size_t keyframe_rows,
                    const SealKey *key) {
    char folder[PATH_BYTES], path[PATH_BYTES];
    make_folder(folder, path);
    Waiter waiter;
    Log *log = open_log(path, key, &waiter);
    RecordingDef recording_def = {
        .stride = 1, .name = "bench", .client = "", .world_name = "", .solver = "mdp"};
    LogRecording *recording = log_begin(log, &recording_def, NULL, NULL, NULL, &waiter.wait);
    wait_for(&waiter);
    Stopwatch stopwatch = start();
    put_rows(log, recording, bytes, count, row_count, keyframe_rows, &waiter);
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
        Cost ours = run_log(bytes, count, row_count, 0, NULL);
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

// ---- signed

static SealKey *make_key(void) {
    static const char *const names[] = {"seal.pub", "seal.key"};
    char folder[PATH_BYTES], path[PATH_BYTES];
    SealKey *key;
    Error error;
    make_folder(folder, path);
    FILE *out = fopen("/dev/null", "w");
    if (out == NULL || seal_new(folder, out, &error) != STATUS_OK) {
        bench_fail("no key can be made in %s", folder);
    }
    fclose(out);
    snprintf(path, sizeof(path), "%.240s/seal.key", folder);
    if (seal_key_read(path, &key, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%.240s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    return key;
}

static void bench_signed(const BenchRun *run, const SealKey *key, const char *name, size_t count,
                         size_t row_count) {
    enum { KEYFRAME_ROWS = 8 };
    uint8_t *bytes = bench_memory(count, 1);
    double cpu[ROUNDS], plain[ROUNDS];
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)(i * 2654435761u >> 11);
    }
    for (int i = 0; i < ROUNDS; i++) {
        plain[i] = run_log(bytes, count, row_count, KEYFRAME_ROWS, NULL).cpu_ns / 1e3;
        cpu[i] = run_log(bytes, count, row_count, KEYFRAME_ROWS, key).cpu_ns / 1e3;
    }
    BenchRow row = {.value = bench_percentile(cpu, ROUNDS, 0.5),
                    .unit = "us",
                    .peer = "unsigned",
                    .peer_value = bench_percentile(plain, ROUNDS, 0.5)};
    snprintf(row.figure, sizeof(row.figure), "CPU per %s chunk, signed", name);
    bench_add(run, &row);
    free(bytes);
}

// ---- a farm's episodes, synthetic: cart-poles that fall after 22 steps of 5 ms, as random ones do

enum { GROUP_WORLDS = 4096, GROUP_RANGE = 64, GROUP_ROWS = 200 * 512, GROUP_CHUNK_BYTES = 8192 };
enum { GROUP_STEPS_MEAN = 22, GROUP_STEP_NS = 5000000 };
enum { CHUNK_ROWS = 512 };        // as run/groups/harvest.c seals them
enum { INPUT_CHUNK_ROWS = 4096 }; // finished while each range fills a chunk of inputs

// In the order in which they end.
static void make_records(EpisodeRecord *records) {
    static uint64_t begun[GROUP_WORLDS], turn[GROUP_WORLDS];
    const uint64_t first_ns = 1700000000000000000u;
    memset(begun, 0, sizeof(begun));
    memset(turn, 0, sizeof(turn));
    uint32_t draw = 1;
    size_t count = 0;
    for (uint64_t step = 1; count < GROUP_ROWS; step++) {
        for (uint32_t i = 0; i < GROUP_WORLDS && count < GROUP_ROWS; i++) {
            draw = draw * 1664525u + 1013904223u;
            if ((draw >> 8) % GROUP_STEPS_MEAN != 0) {
                continue;
            }
            const uint64_t length = step - begun[i];
            records[count++] =
                (EpisodeRecord){.world = i,
                                .state = RECORDING_COMPLETE,
                                .first_step = begun[i],
                                .last_step = step,
                                .length = length,
                                .turn = turn[i]++,
                                .has_seed = true,
                                .seed = i,
                                .time = 0.02 * (double)length,
                                // ranges of worlds do not begin at the same nanosecond
                                .begun_ns = first_ns + begun[i] * GROUP_STEP_NS + i / GROUP_RANGE,
                                .ended_ns = first_ns + step * GROUP_STEP_NS + i / GROUP_RANGE};
            begun[i] = step;
        }
    }
}

static void put_inputs(Log *log, LogRecording *recording, uint64_t round) {
    static uint8_t noise[GROUP_CHUNK_BYTES];
    Chunk chunk = {.kind = CHUNK_INPUTS, .first_step = 200 * round, .last_step = 200 * round + 200};
    for (uint32_t first = 0; first < GROUP_WORLDS; first += GROUP_RANGE) {
        LogBuffer *inputs = log_take_buffer(log, CHUNK_HEADER_BYTES + GROUP_CHUNK_BYTES);
        if (inputs == NULL) {
            bench_fail("memory ended");
        }
        memcpy(inputs->bytes + inputs->used, noise, GROUP_CHUNK_BYTES);
        inputs->used += GROUP_CHUNK_BYTES;
        chunk.first_world = first;
        log_put(recording, inputs, &chunk);
    }
}

static void put_episodes(Log *log, LogRecording *recording, const EpisodeRecord *records,
                         Waiter *room) {
    const size_t bytes = episodes_write(0, records, CHUNK_ROWS, CHUNK_FORMAT_LAUNCHES, NULL);
    LogBuffer *buffer = log_take_buffer(log, CHUNK_HEADER_BYTES + bytes);
    if (buffer == NULL) {
        bench_fail("memory ended");
    }
    buffer->used +=
        episodes_write(0, records, CHUNK_ROWS, CHUNK_FORMAT_LAUNCHES, buffer->bytes + buffer->used);
    const Chunk chunk = {.kind = CHUNK_EPISODES,
                         .version = CHUNK_FORMAT_LAUNCHES,
                         .last_step = records[CHUNK_ROWS - 1].last_step};
    log_put(recording, buffer, &chunk);
    if (!log_has_room(log, &room->wait)) {
        wait_for(room);
    }
}

static Cost run_group(const EpisodeRecord *records, bool with_chunks) {
    char folder[PATH_BYTES], path[PATH_BYTES];
    make_folder(folder, path);
    Waiter waiter;
    Log *log = open_log(path, NULL, &waiter);
    RecordingDef group = {.stride = 1,
                          .world_count = GROUP_WORLDS,
                          .world_range = GROUP_RANGE,
                          .name = "farm",
                          .client = "",
                          .world_name = "",
                          .solver = "mdp"};
    LogRecording *recording = log_begin(log, &group, NULL, NULL, NULL, &waiter.wait);
    wait_for(&waiter);
    Stopwatch stopwatch = start();
    for (size_t i = 0; i < GROUP_ROWS; i += CHUNK_ROWS) {
        if (with_chunks && i % INPUT_CHUNK_ROWS == 0) {
            put_inputs(log, recording, i / INPUT_CHUNK_ROWS);
        }
        put_episodes(log, recording, records + i, &waiter);
    }
    RecordingEnd ending = {.state = RECORDING_WORLD_DESTROYED,
                           .last_step = records[GROUP_ROWS - 1].last_step};
    log_end(recording, &ending, &waiter.wait);
    wait_for(&waiter);
    Cost cost = stop(&stopwatch, GROUP_ROWS);
    log_close(log);
    uv_sem_destroy(&waiter.done);
    remove_folder(folder, path);
    return cost;
}

// The same numbers into a table of the same columns, with the one index that such rows are in.
static Cost run_bare_rows(const EpisodeRecord *records) {
    char folder[PATH_BYTES], path[PATH_BYTES];
    make_folder(folder, path);
    sqlite3 *db;
    sqlite3_stmt *insert;
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db,
                     "PRAGMA page_size = 32768; PRAGMA journal_mode = WAL; PRAGMA synchronous = "
                     "NORMAL; CREATE TABLE episode(id INTEGER PRIMARY KEY, a, b, c, d, e, f, g, h, "
                     "i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa); CREATE INDEX "
                     "by_time ON episode(h)",
                     NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db,
                           "INSERT INTO episode(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, "
                           "r, s, t) VALUES(1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, 0.0, "
                           "0.0, 0, 0.0, 0, 0.0, 0, ?11)",
                           -1, &insert, NULL) != SQLITE_OK) {
        bench_fail("%s", sqlite3_errmsg(db));
    }
    Stopwatch stopwatch = start();
    for (size_t i = 0; i < GROUP_ROWS; i++) {
        const EpisodeRecord *r = &records[i];
        const int64_t numbers[] = {
            (int64_t)i,         r->world,         (int64_t)r->first_step, (int64_t)r->last_step,
            r->state,           (int64_t)r->seed, (int64_t)r->begun_ns,   (int64_t)r->ended_ns,
            (int64_t)r->length, (int64_t)r->turn};
        if (i % INPUT_CHUNK_ROWS == 0) {
            sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
        }
        for (int k = 0; k < 10; k++) {
            sqlite3_bind_int64(insert, k + 1, numbers[k]);
        }
        sqlite3_bind_double(insert, 11, r->time);
        if (sqlite3_step(insert) != SQLITE_DONE) {
            bench_fail("%s", sqlite3_errmsg(db));
        }
        sqlite3_reset(insert);
        if ((i + 1) % INPUT_CHUNK_ROWS == 0 || i + 1 == GROUP_ROWS) {
            sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
        }
    }
    Cost cost = stop(&stopwatch, GROUP_ROWS);
    sqlite3_finalize(insert);
    sqlite3_close(db);
    remove_folder(folder, path);
    return cost;
}

static void bench_group(const BenchRun *run) {
    EpisodeRecord *records = bench_memory(GROUP_ROWS, sizeof(*records));
    make_records(records);
    double cpu[ROUNDS], bare_cpu[ROUNDS], rate[ROUNDS], bare_rate[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        const Cost bare = run_bare_rows(records);
        bare_cpu[i] = bare.cpu_ns / 1e3;
        bare_rate[i] = bare.rows_per_second;
        cpu[i] = run_group(records, false).cpu_ns / 1e3;
        rate[i] = run_group(records, true).rows_per_second;
    }
    BenchRow row = {.value = bench_percentile(cpu, ROUNDS, 0.5),
                    .unit = "us",
                    .peer = "bare SQLite",
                    .peer_value = bench_percentile(bare_cpu, ROUNDS, 0.5),
                    .aim_kind = AIM_RATIO_MAX,
                    .aim = 3.0};
    snprintf(row.figure, sizeof(row.figure), "CPU per episode of 4,096 worlds");
    bench_add(run, &row);
    row = (BenchRow){.value = bench_percentile(rate, ROUNDS, 0.5),
                     .unit = "rows/s",
                     .peer = "bare SQLite",
                     .peer_value = bench_percentile(bare_rate, ROUNDS, 0.5),
                     .aim_kind = AIM_VALUE_MIN,
                     .aim = 1e5};
    snprintf(row.figure, sizeof(row.figure), "episodes, beside their chunks");
    bench_add(run, &row);
    free(records);
}

void bench_log(const BenchRun *run) {
    bench_group(run);
    bench_size(run, "1,352-byte", SMALL_BYTES, 100000);
    bench_size(run, "104 kB", LARGE_BYTES, 3000);
    SealKey *key = make_key();
    bench_signed(run, key, "1,352-byte", SMALL_BYTES, 100000);
    bench_signed(run, key, "104 kB", LARGE_BYTES, 3000);
    seal_key_free(key);
}
