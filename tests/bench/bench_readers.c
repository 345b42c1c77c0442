// SPDX-License-Identifier: MIT
// What writing the log loses while others use the file: a dozen readers, a backup, retention. The
// writer records one stretch of frames after the other, as fast as the log takes them, and each
// stretch is timed beside one that nothing disturbs.
#include "bench/bench.h"

#include "log/reader/reader.h"
#include "os/clock.h"
#include "os/nice.h"
#include "support/log_waiter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READERS = 12, ROUNDS = 9, CHUNKS = 500, CHUNK_BYTES = 65536, BACKGROUND_NICENESS = 10 };
static const double chunk_mb = (CHUNK_BYTES + CHUNK_HEADER_BYTES) * 1e-6;

typedef struct Store {
    char folder[64], path[96];
    Log *log;
    Report report;
    uint64_t recordings;
    double wait_ms; // longest time that a chunk waited for room, since it was last set to 0
} Store;

static Store *store_open(LogKeep keep) {
    Store *store = bench_memory(1, sizeof(*store));
    store->report = (Report){.level = REPORT_ERROR, .fd = STDERR_FILENO};
    snprintf(store->folder, sizeof(store->folder), "/tmp/moreau-bench-XXXXXX");
    if (mkdtemp(store->folder) == NULL) {
        bench_fail("there is no temporary folder");
    }
    snprintf(store->path, sizeof(store->path), "%s/episodes.db", store->folder);
    LogDef def = {.path = store->path,
                  .queue_bytes_max = (size_t)4 << 20, // so that the writer feels what the log does
                  .keep = keep,
                  .backup_folder = store->folder,
                  .report = &store->report,
                  .server_version = "bench"};
    Error error = {0};
    if (log_open(&store->log, &def, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    return store;
}

static void store_close(Store *store) {
    char command[128];
    log_close(store->log);
    snprintf(command, sizeof(command), "rm -rf %s", store->folder);
    if (system(command) != 0) {
        bench_fail("%s cannot be removed", store->folder);
    }
    free(store);
}

// ---- the writer

static void await(Waiter *waiter) {
    if (waiter_wait(waiter) != STATUS_OK) {
        bench_fail("%s", waiter->wait.error.message);
    }
}

static void await_room(Store *store) {
    Waiter waiter;
    uint64_t begun_ns = clock_now_ns();
    if (log_has_room(store->log, waiter_init(&waiter))) {
        uv_sem_destroy(&waiter.done);
        return;
    }
    await(&waiter);
    double waited_ms = (double)(clock_now_ns() - begun_ns) * 1e-6;
    store->wait_ms = waited_ms > store->wait_ms ? waited_ms : store->wait_ms;
}

// One recording; [MB/s] until its end is on the disk.
static double write_stretch(Store *store) {
    RecordingDef def = {.content = CONTENT_FRAMES,
                        .stride = 1,
                        .name = "bench",
                        .client = "bench",
                        .world_name = "bench",
                        .solver = "mdp",
                        .time_step = 0.01,
                        .body_count = 100};
    uint64_t number = ++store->recordings, begun_ns = clock_now_ns();
    memcpy(def.uid, &number, sizeof(number));
    Waiter waiter;
    LogRecording *recording = log_begin(store->log, &def, NULL, NULL, NULL, waiter_init(&waiter));
    if (recording == NULL) {
        bench_fail("memory ended");
    }
    await(&waiter);
    for (uint64_t i = 0; i < CHUNKS; i++) {
        await_room(store);
        LogBuffer *buffer = log_take_buffer(store->log, CHUNK_HEADER_BYTES + CHUNK_BYTES);
        if (buffer == NULL) {
            bench_fail("memory ended");
        }
        memset(buffer->bytes + buffer->used, (int)i, CHUNK_BYTES);
        buffer->used += CHUNK_BYTES;
        log_put(recording, buffer,
                &(Chunk){.kind = CHUNK_FRAMES, .first_step = 10 * i, .last_step = 10 * i + 10});
    }
    log_end(recording, &(RecordingEnd){RECORDING_COMPLETE, CHUNKS * 10, 1.0, 0},
            waiter_init(&waiter));
    await(&waiter);
    return CHUNKS * chunk_mb / ((double)(clock_now_ns() - begun_ns) * 1e-9);
}

// ---- who disturbs it

typedef struct Disturbers {
    Store *store;
    uv_thread_t thread[READERS];
    size_t count;
    _Atomic bool is_over;
    _Atomic uint64_t chunks, backups;
} Disturbers;

// Lists what there is, and walks through the chunks of the newest, as a replay does.
static void read_all(void *context) {
    Disturbers *all = context;
    Arena arena;
    LogReader *reader;
    nice_thread(BACKGROUND_NICENESS);
    arena_init(&arena, (size_t)1 << 30);
    if (log_take_reader(all->store->log, &reader, NULL) != STATUS_OK) {
        bench_fail("there is no reader");
    }
    while (!atomic_load(&all->is_over)) {
        EpisodeFilter filter = {.state = RECORDING_COMPLETE, .count = 100};
        EpisodeRows rows = {0};
        arena_reset(&arena);
        if (log_reader_list(reader, &filter, &arena, &rows, NULL) != STATUS_OK) {
            bench_fail("the log cannot be listed");
        }
        ArenaMark mark = arena_mark(&arena);
        LogChunk found;
        ChunkPlace place = {0};
        bool is_first = true;
        while (rows.count > 0 && !atomic_load(&all->is_over) &&
               log_reader_next(reader, &rows.row[0], CHUNK_FRAMES, is_first ? NULL : &place, &arena,
                               &found, NULL) == STATUS_OK) {
            place = chunk_place(&found.chunk);
            is_first = false;
            atomic_fetch_add(&all->chunks, 1);
            arena_reset_to(&arena, mark);
        }
    }
    log_give_reader(all->store->log, reader);
    arena_deinit(&arena);
}

static void back_up_again_and_again(void *context) {
    Disturbers *all = context;
    Log *log = all->store->log;
    while (!atomic_load(&all->is_over)) {
        Waiter waiter;
        Error error = {0};
        LogBackup backup = {.name = "copy.db", .replaces = true};
        if (log_backup_begin(log, &backup, waiter_init(&waiter), &error) != STATUS_OK) {
            bench_fail("%s", error.message);
        }
        await(&waiter);
        if (log_backup_end(log, &backup, &error) != STATUS_OK) {
            bench_fail("%s", error.message);
        }
        atomic_fetch_add(&all->backups, 1);
    }
}

static void disturb(Disturbers *all, Store *store, uv_thread_cb work, size_t count) {
    *all = (Disturbers){.store = store, .count = count};
    for (size_t i = 0; i < count; i++) {
        if (uv_thread_create(&all->thread[i], work, all) != 0) {
            bench_fail("there are no threads");
        }
    }
}

static void leave_in_peace(Disturbers *all) {
    atomic_store(&all->is_over, true);
    for (size_t i = 0; i < all->count; i++) {
        uv_thread_join(&all->thread[i]);
    }
}

// ---- figures

static void add(const BenchRun *run, const char *what, double *with, double *without,
                const double waits_ms[2]) {
    BenchRow speed = {.value = bench_percentile(with, ROUNDS, 0.5),
                      .unit = "MB/s",
                      .peer = "undisturbed",
                      .peer_value = bench_percentile(without, ROUNDS, 0.5)};
    BenchRow wait = {
        .value = waits_ms[1], .unit = "ms", .peer = "undisturbed", .peer_value = waits_ms[0]};
    snprintf(speed.figure, sizeof(speed.figure), "writing beside %s", what);
    snprintf(wait.figure, sizeof(wait.figure), "longest wait of the world beside %s", what);
    bench_add(run, &speed);
    bench_add(run, &wait);
}

// Stretches with and without, in turn: both see the same weather.
static void bench_disturbed(const BenchRun *run, const char *what, uv_thread_cb work,
                            size_t count) {
    double with[ROUNDS], without[ROUNDS], waits_ms[2] = {0.0, 0.0};
    Store *store = store_open((LogKeep){0});
    write_stretch(store);
    for (int i = 0; i < ROUNDS; i++) {
        Disturbers all;
        store->wait_ms = waits_ms[0];
        without[i] = write_stretch(store);
        waits_ms[0] = store->wait_ms;
        store->wait_ms = waits_ms[1];
        disturb(&all, store, work, count);
        with[i] = write_stretch(store);
        leave_in_peace(&all);
        waits_ms[1] = store->wait_ms;
    }
    store_close(store);
    add(run, what, with, without, waits_ms);
}

// Two logs: one keeps all, and of the other one recording goes for each that is written.
static void bench_keeping(const BenchRun *run) {
    double with[ROUNDS], without[ROUNDS];
    Store *all = store_open((LogKeep){0}), *some = store_open((LogKeep){.episodes = 2});
    for (int i = 0; i < ROUNDS; i++) {
        without[i] = write_stretch(all);
        with[i] = write_stretch(some);
    }
    const double waits_ms[2] = {all->wait_ms, some->wait_ms};
    uint64_t retired = log_figures(some->log).retired_recordings;
    BenchRow size = {.figure = "file and write-ahead log with retention",
                     .value = (double)log_figures(some->log).file_bytes * 1e-6,
                     .unit = "MB",
                     .peer = "all kept",
                     .peer_value = (double)log_figures(all->log).file_bytes * 1e-6};
    store_close(all);
    store_close(some);
    if (retired == 0) {
        bench_fail("retention deleted nothing");
    }
    add(run, "retention", with, without, waits_ms);
    bench_add(run, &size);
}

void bench_readers(const BenchRun *run) {
    bench_disturbed(run, "12 readers", read_all, READERS);
    bench_disturbed(run, "a backup", back_up_again_and_again, 1);
    bench_keeping(run);
}
