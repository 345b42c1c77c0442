// SPDX-License-Identifier: MIT
// The log's writer: what is in the file after what was asked for, from one thread and from many;
// the queue's bound; disks that fail; servers that are killed; deletions.
#include "log/log.h"

#include "log/log_file.h"
#include "log/writer/writer.h"
#include "support/suite.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static LogFile file;

static void set_up(void) {
    file = file_make();
}

static void tear_down(void) {
    file_remove(&file);
}

// ---- a disk that fails, and one that counts: SQLite writes and syncs through these

static _Atomic int disk_error; // errno of every write; 0: it works
static _Atomic int sync_count;
static _Atomic int64_t disk_room = INT64_MAX; // [bytes] of all files of the folder

static int64_t folder_bytes(void) {
    DIR *folder = opendir(file.folder);
    int64_t bytes = 0;
    struct stat info;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char path[1024];
        snprintf(path, sizeof(path), "%s/%s", file.folder, entry->d_name);
        bytes += entry->d_name[0] != '.' && stat(path, &info) == 0 ? info.st_size : 0;
    }
    closedir(folder);
    return bytes;
}

// Whether there is no room for what the write would add.
static bool is_too_much(int fd, size_t count, off_t offset) {
    struct stat info;
    int64_t room = atomic_load(&disk_room), end = offset + (int64_t)count;
    return room < INT64_MAX && fstat(fd, &info) == 0 && end > info.st_size &&
           folder_bytes() + end - info.st_size > room;
}

static ssize_t write_or_fail(int fd, const void *bytes, size_t count, off_t offset) {
    int code = atomic_load(&disk_error);
    code = code == 0 && is_too_much(fd, count, offset) ? ENOSPC : code;
    if (code != 0) {
        errno = code;
        return -1;
    }
    return pwrite(fd, bytes, count, offset);
}

static void take_disk(void) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)write_or_fail);
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)write_or_fail);
}

// In front of libc's: SQLite, a shared library, finds this one.
int fdatasync(int fd) {
    atomic_fetch_add(&sync_count, 1);
    return fsync(fd);
}

// ---- what is in the file

START_TEST(a_recording_is_rows_and_views) {
    Log *log = file_open(&file);
    RecordingDef def = def_of(1);
    const char *labels[] = {"slow", "blue", "slow"};
    def.content = CONTENT_FRAMES;
    def.stride = 5;
    def.label = labels;
    def.label_count = 3;
    def.has_seed = true;
    def.seed = 42;
    LogRecording *recording = begin(log, &def);
    put(log, recording, CHUNK_KEYFRAME, 0, 0, 1000);
    put(log, recording, CHUNK_INPUTS, 0, 100, 1288);
    put(log, recording, CHUNK_FRAMES, 0, 100, 100000);
    put(log, recording, CHUNK_INPUTS, 100, 150, 500);
    Waiter waiter;
    RecordingEnd ending = {.state = RECORDING_COMPLETE, .last_step = 150, .time = 1.5};
    log_end(recording, &ending, waiter_init(&waiter));
    ck_assert_int_eq(waiter_wait(&waiter), STATUS_OK);

    // while the server runs, and when it has stopped
    for (int i = 0; i < 2; i++) {
        ck_assert_str_eq(
            sql(&file, "SELECT episode, name, labels, state, content, steps, simulated_s, solvers, "
                       "all_converged, unconverged_steps, worst_own, contacts_max, dropped_steps, "
                       "bodies, seed, client, world_name, dynamics_version, server_version, "
                       "chunks FROM episodes"),
            "aa000000010000000000000000000000|fall|blue slow|complete|frames|150|1.5|mdp|0|2|"
            "1.01e-05|4|0|3|42|tests|world|7|0.1.0|6\n");
        ck_assert_str_eq(
            sql(&file, "SELECT first_step, last_step, unconverged_steps, solver FROM stretches"),
            "0|100|1|mdp\n100|150|1|mdp\n");
        ck_assert_str_eq(sql(&file, "SELECT kind, first_step, last_step, bytes FROM chunks"),
                         "definition|0|0|456\nkey-frame|0|0|1192\ninputs|0|100|1480\n"
                         "frames|0|100|100192\ninputs|100|150|692\nseal|0|150|472\n");
        ck_assert_str_eq(sql(&file, "SELECT begun_ns > 1.7e18, ended_ns >= begun_ns, "
                                    "ended_ns - begun_ns < 6e10, stride, lossy FROM recording"),
                         "1|1|1|5|0\n");
        ck_assert_int_eq(count_sound_chunks(&file), 4);
        if (i == 0) {
            log_close(log);
        }
    }
}
END_TEST

START_TEST(each_way_to_end_has_its_state) {
    Log *log = file_open(&file);
    for (uint64_t i = RECORDING_COMPLETE; i < RECORDING_STATE_COUNT; i++) {
        RecordingDef def = def_of(i);
        LogRecording *recording = begin(log, &def);
        ck_assert_uint_eq(log_figures(log).open_recordings, 1);
        ck_assert_int_eq(end(recording, (RecordingState)i, i, NULL), STATUS_OK);
        ck_assert_uint_eq(log_figures(log).open_recordings, 0);
    }
    ck_assert_str_eq(sql(&file, "SELECT state, steps FROM episodes"),
                     "complete|1\nworld_destroyed|2\ninterrupted|3\n");
    ck_assert_str_eq(recording_state_name(RECORDING_WORLD_DESTROYED), "world_destroyed");
    ck_assert_str_eq(recording_content_name(CONTENT_CONTACTS), "contacts");
    log_close(log);
}
END_TEST

START_TEST(an_id_is_there_once) {
    Log *log = file_open(&file);
    record(log, 1, 1, 100);
    RecordingDef def = def_of(1);
    Waiter waiter;
    LogRecording *recording = log_begin(log, &def, NULL, NULL, NULL, waiter_init(&waiter));
    put(log, recording, CHUNK_KEYFRAME, 0, 0, 100);
    ck_assert_int_eq(waiter_wait(&waiter), STATUS_ALREADY_EXISTS);
    ck_assert_int_eq(log_recording_status(recording, NULL), STATUS_ALREADY_EXISTS);
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 0, NULL), STATUS_ALREADY_EXISTS);
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM recording"), "1\n");
    ck_assert_str_eq(sql(&file, "SELECT steps, state FROM episodes"), "10|complete\n");
    log_close(log);
}
END_TEST

START_TEST(a_closed_log_is_one_file_for_any_sqlite) {
    Log *log = file_open(&file);
    record(log, 1, 20, 5000);
    ck_assert_int_eq(file_count(&file, false), 5); // -wal, -wal-synced, -shm and -reserve
    LogReader *reader;
    ck_assert_int_eq(log_take_reader(log, &reader, NULL), STATUS_OK);
    log_give_reader(log, reader);
    log_close(log);
    ck_assert_int_eq(file_count(&file, false), 1);

    // bytes 18 and 19 of the header: 1 is rollback journal, 2 write-ahead log
    FILE *bytes = fopen(file.path, "rb");
    ck_assert_int_eq(fseek(bytes, 18, SEEK_SET), 0);
    ck_assert_int_eq(fgetc(bytes), 1);
    ck_assert_int_eq(fgetc(bytes), 1);
    fclose(bytes);
    ck_assert_int_eq(count_sound_chunks(&file), 21);

    // and goes on from there
    log = file_open(&file);
    record(log, 2, 5, 100);
    log_close(log);
    ck_assert_int_eq(count_sound_chunks(&file), 27);
}
END_TEST

START_TEST(closing_waits_for_nobody_who_reads) {
    Log *log = file_open(&file);
    record(log, 1, 5, 5000);
    sqlite3 *other = sql_open(file.path);
    ck_assert_str_eq(sql_on(other, "BEGIN; SELECT count(*) FROM chunk"), "8\n");
    log_close(log);
    ck_assert_str_eq(sql_on(other, "SELECT count(*) FROM chunk; COMMIT"), "8\n");
    sqlite3_close(other);
    ck_assert_int_eq(count_sound_chunks(&file), 6);
}
END_TEST

// ---- the queue

// Another program's transaction, which the log's thread waits for.
static sqlite3 *hold_file(void) {
    sqlite3 *db = sql_open(file.path);
    sql_on(db, "BEGIN IMMEDIATE");
    return db;
}

static void let_go(sqlite3 *db) {
    sql_on(db, "COMMIT");
    sqlite3_close(db);
}

START_TEST(a_full_queue_says_so_and_when_there_is_room) {
    enum { LIMIT = 100000 };
    Log *log = file_open_with(&file, false, LIMIT);
    RecordingDef def = def_of(1);
    LogRecording *recording = begin(log, &def);
    Waiter unused, room[3];
    waiter_init(&unused);
    ck_assert(log_has_room(log, &unused.wait));

    sqlite3 *other = hold_file();
    uint64_t count = 0;
    while (!log_is_full(log)) {
        put(log, recording, CHUNK_INPUTS, count, count + 1, 1000 - CHUNK_HEADER_BYTES);
        count++;
    }
    ck_assert_uint_eq(count, LIMIT / 1000);
    LogFigures figures = log_figures(log);
    ck_assert_uint_eq(figures.queue_bytes, LIMIT);
    ck_assert_uint_eq(figures.queue_rows, count);
    ck_assert_uint_gt(figures.lag_ns, 0);
    for (int i = 0; i < 3; i++) {
        ck_assert(!log_has_room(log, waiter_init(&room[i])));
    }
    let_go(other);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(waiter_wait(&room[i]), STATUS_OK);
    }
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, count, NULL), STATUS_OK);
    figures = log_figures(log);
    ck_assert_uint_eq(figures.queue_bytes, 0);
    ck_assert_uint_eq(figures.rows, 1 + count); // the definition
    ck_assert_uint_gt(figures.bytes, LIMIT);
    ck_assert_uint_eq(figures.lag_ns, 0);
    ck_assert_int_eq(uv_sem_trywait(&unused.done), UV_EAGAIN);
    uv_sem_destroy(&unused.done);
    log_close(log);
    ck_assert_int_eq(count_sound_chunks(&file), (int)count);
}
END_TEST

START_TEST(what_waits_goes_into_one_transaction) {
    Log *log = file_open(&file);
    RecordingDef def = def_of(1);
    LogRecording *recording = begin(log, &def);
    uint64_t before = log_figures(log).transactions;
    sqlite3 *other = hold_file();
    for (uint64_t i = 0; i < 500; i++) {
        put(log, recording, CHUNK_INPUTS, i, i + 1, 1000);
    }
    let_go(other);
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 500, NULL), STATUS_OK);
    // what the thread took before it had to wait, the rest, and the end
    ck_assert_uint_le(log_figures(log).transactions, before + 3);
    log_close(log);
}
END_TEST

START_TEST(buffers_come_back) {
    Log *log = file_open(&file);
    LogBuffer *large = log_take_buffer(log, 50000), *small = log_take_buffer(log, 0);
    ck_assert_ptr_nonnull(large);
    ck_assert_uint_ge(large->capacity, 50000);
    ck_assert_uint_ge(small->capacity, CHUNK_HEADER_BYTES);
    ck_assert(log_buffer_reserve(small, 3000));
    ck_assert_uint_ge(small->capacity, 3000);
    log_give_buffer(log, large);
    log_give_buffer(log, small);
    // the one that is large enough, though the other came back last
    ck_assert_ptr_eq(log_take_buffer(log, 40000), large);
    ck_assert_ptr_eq(log_take_buffer(log, 40000), small);
    ck_assert_uint_ge(small->capacity, 40000);
    log_give_buffer(log, small);
    log_give_buffer(log, large);
    log_close(log);
}
END_TEST

enum { THREADS = 4, RECORDINGS = 12, CHUNKS = 25 };

typedef struct Producer {
    uv_thread_t thread;
    Log *log;
    uint64_t number;
} Producer;

static void produce(void *context) {
    Producer *producer = context;
    for (uint64_t r = 0; r < RECORDINGS; r++) {
        RecordingDef def = def_of(producer->number * RECORDINGS + r);
        LogRecording *recording = log_begin(producer->log, &def, NULL, NULL, NULL, NULL);
        for (uint64_t i = 0; i < CHUNKS; i++) {
            Waiter room;
            if (!log_has_room(producer->log, waiter_init(&room))) {
                waiter_wait(&room);
            } else {
                uv_sem_destroy(&room.done);
            }
            put(producer->log, recording, CHUNK_INPUTS, i, i + 1, 200 * i + producer->number);
        }
        RecordingEnd ending = {.state = RECORDING_WORLD_DESTROYED, .last_step = CHUNKS};
        log_end(recording, &ending, NULL);
    }
}

START_TEST(many_threads_record_at_once) {
    Log *log = file_open_with(&file, false, 20000);
    Producer producer[THREADS];
    for (uint64_t i = 0; i < THREADS; i++) {
        producer[i] = (Producer){.log = log, .number = i};
        ck_assert_int_eq(uv_thread_create(&producer[i].thread, produce, &producer[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        uv_thread_join(&producer[i].thread);
    }
    log_close(log);
    ck_assert_int_eq(count_sound_chunks(&file), THREADS * RECORDINGS * CHUNKS);
    ck_assert_str_eq(sql(&file, "SELECT DISTINCT state, steps, chunks FROM episodes"),
                     "world_destroyed|25|27\n");
    // chunks of a recording are in order by id, whoever else writes
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM chunk a JOIN chunk b ON b.recording = "
                                "a.recording AND b.id > a.id AND b.first_step < a.last_step AND "
                                "b.kind = 2 AND a.kind = 2"),
                     "0\n");
}
END_TEST

// ---- what is on the disk

START_TEST(a_complete_recording_is_synced) {
    Log *log = file_open_with(&file, _i == 1, QUEUE_BYTES);
    RecordingDef def = def_of(1);
    LogRecording *recording = begin(log, &def);
    atomic_store(&sync_count, 0);
    put(log, recording, CHUNK_INPUTS, 0, 10, 1000);
    while (log_figures(log).rows < 2) {
        usleep(1000);
    }
    // with normal durability nothing is synced until the end; with full each transaction is
    ck_assert_int_eq(atomic_load(&sync_count) > 0, _i == 1);
    atomic_store(&sync_count, 0);
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 10, NULL), STATUS_OK);
    ck_assert_int_gt(atomic_load(&sync_count), 0);

    // and back
    atomic_store(&sync_count, 0);
    def = def_of(2);
    recording = begin(log, &def);
    ck_assert_int_eq(end(recording, RECORDING_WORLD_DESTROYED, 0, NULL), STATUS_OK);
    ck_assert_int_eq(atomic_load(&sync_count) > 0, _i == 1);
    log_close(log);
}
END_TEST

START_TEST(a_large_write_ahead_log_is_brought_in) {
    Log *log = file_open(&file);
    // 96 MiB: one and a half times the size at which it is brought in
    record(log, 1, 96, 1 << 20);
    char log_path[600];
    snprintf(log_path, sizeof(log_path), "%s-wal", file.path);
    record(log, 2, 48, 1 << 20);
    FILE *wal = fopen(log_path, "rb");
    ck_assert_int_eq(fseek(wal, 0, SEEK_END), 0);
    ck_assert_int_lt(ftell(wal), 128 << 20);
    fclose(wal);
    log_close(log);
}
END_TEST

// Waits until the log has seen the disk fail.
static void wait_for_failure(LogRecording *recording) {
    while (log_recording_status(recording, NULL) == STATUS_OK) {
        usleep(1000);
    }
}

static const int disk_errors[] = {ENOSPC, EFBIG, EIO};
static const Status disk_statuses[] = {STATUS_RESOURCE_EXHAUSTED, STATUS_RESOURCE_EXHAUSTED,
                                       STATUS_UNAVAILABLE};

START_TEST(a_full_disk_fails_what_it_hits_alone) {
    take_disk();
    Log *log = file_open(&file);
    RecordingDef hit_def = def_of(1), spared_def = def_of(2), late_def = def_of(3);
    LogRecording *hit = begin(log, &hit_def), *spared = begin(log, &spared_def);
    put(log, hit, CHUNK_INPUTS, 0, 10, 1000);
    put(log, spared, CHUNK_INPUTS, 0, 10, 1000);
    while (log_figures(log).rows < 4) { // and the definitions
        usleep(1000);
    }

    // the disk is full: the one that writes fails, the one that does not is spared
    atomic_store(&disk_error, disk_errors[_i]);
    put(log, hit, CHUNK_INPUTS, 10, 20, 1000);
    wait_for_failure(hit);
    Error error = {0};
    ck_assert_int_eq(log_recording_status(hit, &error), disk_statuses[_i]);
    ck_assert_ptr_nonnull(strstr(error.message, file.path));
    ck_assert_int_eq(log_recording_status(spared, NULL), STATUS_OK);
    Waiter waiter;
    LogRecording *late = log_begin(log, &late_def, NULL, NULL, NULL, waiter_init(&waiter));
    ck_assert_int_eq(waiter_wait(&waiter), disk_statuses[_i]);
    put(log, late, CHUNK_INPUTS, 0, 10, 1000);
    ck_assert_int_eq(end(late, RECORDING_COMPLETE, 10, NULL), disk_statuses[_i]);
    put(log, hit, CHUNK_INPUTS, 20, 30, 1000);
    ck_assert_uint_eq(log_figures(log).failed_recordings, 2);

    // there is room again
    atomic_store(&disk_error, 0);
    put(log, spared, CHUNK_INPUTS, 10, 20, 1000);
    ck_assert_int_eq(end(spared, RECORDING_COMPLETE, 20, NULL), STATUS_OK);
    put(log, hit, CHUNK_INPUTS, 30, 40, 1000);
    ck_assert_int_eq(end(hit, RECORDING_COMPLETE, 40, &error), disk_statuses[_i]);
    record(log, 4, 2, 1000);
    ck_assert_str_eq(sql(&file, "SELECT state, steps, chunks FROM episodes ORDER BY episode"),
                     "interrupted|10|3\ncomplete|20|4\ncomplete|20|5\n");
    ck_assert_str_eq(sql(&file, "SELECT why = '' FROM recording"), "0\n1\n1\n");
    ck_assert_uint_eq(log_figures(log).queue_bytes, 0);
    log_close(log);
    ck_assert_int_eq(count_sound_chunks(&file), 6);
}
END_TEST

START_TEST(a_failed_recording_is_marked_without_new_writes) {
    take_disk();
    Log *log = file_open(&file);
    RecordingDef def = def_of(1);
    LogRecording *hit = begin(log, &def);
    atomic_store(&disk_error, ENOSPC);
    put(log, hit, CHUNK_INPUTS, 0, 10, 1000);
    ck_assert_int_eq(end(hit, RECORDING_COMPLETE, 10, NULL), STATUS_RESOURCE_EXHAUSTED);
    ck_assert_str_eq(sql(&file, "SELECT state FROM episodes"), "recording\n");
    atomic_store(&disk_error, 0);
    while (strcmp(sql(&file, "SELECT state FROM episodes"), "interrupted\n") != 0) {
        usleep(10000); // the test's own limit of time ends it
    }
    log_close(log);
}
END_TEST

START_TEST(a_disk_that_stays_full_stops_nobody) {
    take_disk();
    Log *log = file_open(&file);
    RecordingDef def = def_of(1);
    LogRecording *hit = begin(log, &def);
    atomic_store(&disk_error, ENOSPC);
    put(log, hit, CHUNK_INPUTS, 0, 10, 1000);
    ck_assert_int_eq(end(hit, RECORDING_COMPLETE, 10, NULL), STATUS_RESOURCE_EXHAUSTED);
    log_close(log);
    atomic_store(&disk_error, 0);
    log = file_open(&file);
    ck_assert_str_eq(sql(&file, "SELECT state, steps FROM episodes"), "interrupted|0\n");
    log_close(log);
    ck_assert_int_eq(file_count(&file, false), 1);
}
END_TEST

// ---- servers that are killed

// Records in a process of its own until it is killed; writes to `ready` when `count` chunks are
// committed.
static _Noreturn void record_until_killed(uint64_t count, int ready) {
    Log *log = file_open(&file);
    RecordingDef def = def_of(1);
    LogRecording *recording = begin(log, &def);
    bool has_told = false;
    for (uint64_t i = 0;; i++) {
        put(log, recording, CHUNK_INPUTS, i, i + 1, 3000);
        while (log_is_full(log) || log_figures(log).queue_rows > 50) {
            usleep(100);
        }
        if (!has_told && log_figures(log).rows > count) {
            has_told = write(ready, "!", 1) == 1;
        }
    }
}

START_TEST(a_killed_server_loses_nothing_committed) {
    enum { COMMITTED = 300 };
    int ready[2];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        record_until_killed(COMMITTED + (uint64_t)_i * 77, ready[1]);
    }
    char told;
    ck_assert_int_eq(read(ready[0], &told, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);

    Log *log = file_open(&file);
    int count = count_sound_chunks(&file);
    ck_assert_int_ge(count, COMMITTED);
    char expected[64];
    snprintf(expected, sizeof(expected), "interrupted|%d|1|1\n", count);
    ck_assert_str_eq(sql(&file,
                         "SELECT e.state, e.steps, e.why != '', ended_ns = (SELECT "
                         "max(written_ns) FROM chunk WHERE kind <> 7) FROM episodes e, recording"),
                     expected);
    record(log, 2, 3, 100);
    log_close(log);
    ck_assert_int_eq(file_count(&file, false), 1);
}
END_TEST

START_TEST(a_second_server_is_refused) {
    Log *log = file_open(&file);
    LogDef def = {.path = file.path,
                  .queue_bytes_max = QUEUE_BYTES,
                  .report = &file.report,
                  .server_version = "0.1.0"};
    Log *second = NULL;
    Error error;
    ck_assert_int_eq(log_open(&second, &def, &error), STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "another server"));
    ck_assert_ptr_null(second);
    pid_t child = fork();
    if (child == 0) {
        _exit(log_open(&second, &def, &error) == STATUS_FAILED_PRECONDITION ? 0 : 1);
    }
    int result;
    waitpid(child, &result, 0);
    ck_assert_int_eq(result, 0);
    record(log, 1, 1, 100); // the first goes on
    log_close(log);
    log = file_open(&file); // and then it is free
    log_close(log);
}
END_TEST

START_TEST(a_second_server_by_another_name_is_refused) {
    Log *log = file_open(&file);
    char other[600];
    snprintf(other, sizeof(other), "%s/other.db", file.folder);
    ck_assert_int_eq(_i == 0 ? symlink(file.path, other) : link(file.path, other), 0);
    pid_t child = fork();
    if (child == 0) {
        LogDef def = {.path = other,
                      .queue_bytes_max = QUEUE_BYTES,
                      .report = &file.report,
                      .server_version = "0.1.0"};
        Log *second = NULL;
        Error error = {0};
        _exit(log_open(&second, &def, &error) == STATUS_FAILED_PRECONDITION ? 0 : 1);
    }
    int result;
    waitpid(child, &result, 0);
    ck_assert_int_eq(result, 0);
    record(log, 1, 1, 100);
    log_close(log);
}
END_TEST

// ---- deleting

static LogRecording *begin_or_fail(Log *log, const RecordingDef *def) {
    Waiter waiter;
    LogRecording *recording = log_begin(log, def, NULL, NULL, NULL, waiter_init(&waiter));
    waiter_wait(&waiter);
    return recording;
}

static Status delete (Log *log, uint64_t number, Error *error) {
    uint8_t uid[UID_BYTES];
    uid_of(number, 0xaa, uid);
    Waiter waiter;
    log_delete(log, uid, waiter_init(&waiter));
    Status status = waiter_wait(&waiter);
    *error = waiter.wait.error;
    return status;
}

START_TEST(an_episode_is_deleted_with_all_its_rows) {
    Log *log = file_open(&file);
    Error error;
    record(log, 1, 350, 100);
    record(log, 2, 5, 100);
    RecordingDef def = def_of(3);
    LogRecording *recording = begin(log, &def);
    ck_assert_int_eq(delete (log, 9, &error), STATUS_NOT_FOUND);
    ck_assert_int_eq(delete (log, 3, &error), STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "stop it first"));
    ck_assert_int_eq(delete (log, 1, &error), STATUS_OK);
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM chunk"), "9\n");
    ck_assert_str_eq(sql(&file, "SELECT state, chunks FROM episodes"), "complete|8\nrecording|1\n");
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM recording"), "2\n");
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 0, NULL), STATUS_OK);
    ck_assert_int_eq(delete (log, 1, &error), STATUS_NOT_FOUND);
    ck_assert_int_eq(delete (log, 3, &error), STATUS_OK);
    log_close(log);
}
END_TEST

START_TEST(a_recording_lives_as_long_as_one_of_its_episodes) {
    Log *log = file_open(&file);
    record(log, 1, 5, 100);
    sql(&file, "INSERT INTO episode(id, recording, number, world_index, first_step, last_step, "
               "state, begun_ns, ended_ns) SELECT (id << 32) + 1, id, 1, 0, 10, 20, 1, 1, 2 FROM "
               "recording");
    sql(&file, "INSERT INTO label SELECT 'x', id FROM recording");
    Error error;
    ck_assert_int_eq(delete (log, 1, &error), STATUS_OK);
    ck_assert_str_eq(sql(&file, "SELECT steps, labels, chunks FROM episodes"), "10|x|8\n");
    uint8_t second[UID_BYTES];
    uid_of(1, 0xaa, second);
    second[UID_BYTES - 1] = 1;
    Waiter waiter;
    log_delete(log, second, waiter_init(&waiter));
    ck_assert_int_eq(waiter_wait(&waiter), STATUS_OK);
    ck_assert_str_eq(sql(&file, "SELECT (SELECT count(*) FROM recording), (SELECT count(*) FROM "
                                "chunk), (SELECT count(*) FROM label)"),
                     "0|0|0\n");
    log_close(log);
}
END_TEST

static _Atomic int answer_count, place_of_begin, place_of_delete;

static void note_begin(LogWait *wait) {
    (void)wait;
    atomic_store(&place_of_begin, atomic_load(&answer_count));
    atomic_fetch_add(&answer_count, 1);
}

static void note_delete(LogWait *wait) {
    (void)wait;
    atomic_store(&place_of_delete, atomic_load(&answer_count));
    atomic_fetch_add(&answer_count, 1);
}

START_TEST(a_large_deletion_lets_others_write) {
    Log *log = file_open(&file);
    record(log, 1, 2000, 100);
    sqlite3 *other = hold_file();
    LogWait deletion = {.done = note_delete}, beginning = {.done = note_begin};
    uint8_t uid[UID_BYTES];
    uid_of(1, 0xaa, uid);
    log_delete(log, uid, &deletion);
    while (log_figures(log).lag_ns > 0) { // until the thread has taken it
        usleep(1000);
    }
    RecordingDef def = def_of(2);
    LogRecording *recording = log_begin(log, &def, NULL, NULL, NULL, &beginning);
    let_go(other);
    while (atomic_load(&answer_count) < 2) {
        usleep(1000);
    }
    ck_assert_int_lt(atomic_load(&place_of_begin), atomic_load(&place_of_delete));
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 0, NULL), STATUS_OK);
    log_close(log);
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM chunk WHERE recording = 1"), "0\n");
}
END_TEST

// What a crash leaves of a deletion: the intent, and most of what is to go.
static void cut_deletion_off(int64_t recording) {
    Writer writer;
    Deletion deletion;
    Error error = {0};
    uint8_t uid[UID_BYTES];
    uid_of((uint64_t)recording, 0xaa, uid);
    ck_assert_int_eq(writer_open(&writer, file.path, false, &error), STATUS_OK);
    ck_assert_int_eq(writer_begin(&writer, false, &error), STATUS_OK);
    ck_assert_int_eq(writer_delete_episode(&writer, uid, 1, &deletion, &error), STATUS_OK);
    ck_assert_int_eq(deletion.recording, recording);
    ck_assert_int_eq(writer_commit(&writer, &error), STATUS_OK);
    ck_assert_int_eq(writer_settle(&writer, &error), STATUS_OK);
    writer_close(&writer);
}

START_TEST(a_deletion_that_was_cut_off_is_finished) {
    Log *log = file_open(&file);
    record(log, 1, 250, 100);
    record(log, 2, 1, 100);
    log_close(log);
    cut_deletion_off(1);
    log = file_open(&file);
    while (strcmp(sql(&file, "SELECT count(*) FROM deletion"), "0\n") != 0) {
        usleep(1000);
    }
    log_close(log);
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM chunk"), "4\n");
    ck_assert_str_eq(sql(&file, "SELECT id FROM recording"), "2\n");
}
END_TEST

// Nobody has asked for these to go, whatever it looks like.
static const char *const losses[] = {
    "DELETE FROM episode WHERE recording = 1",
    "UPDATE episode SET recording = 9 WHERE recording = 1",
    "UPDATE recording SET id = 0 WHERE id = 1",
    "UPDATE recording SET id = -5 WHERE id = 1",
    "DELETE FROM recording WHERE id = 1",
    "DELETE FROM recording; DELETE FROM episode",
    "UPDATE chunk SET recording = 0",
    "INSERT INTO deletion SELECT id, uid, 5, 6 FROM recording",
    "DELETE FROM episode; INSERT INTO deletion SELECT id, uid, 5, 6 FROM recording",
    "INSERT INTO deletion VALUES(0, zeroblob(16), 0, 0); DELETE FROM episode",
    "UPDATE chunk SET recording = 'seven' WHERE id = 3",
};

START_TEST(a_start_deletes_nothing_that_nobody_asked_for) {
    Log *log = file_open(&file);
    record(log, 1, 5, 100);
    record(log, 2, 5, 100);
    log_close(log);
    sql(&file, losses[_i]);
    for (int i = 0; i < 2; i++) {
        log = file_open(&file);
        record(log, 30 + (uint64_t)i, 1, 100); // the thread has gone all its ways
        log_close(log);
    }
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM chunk"), "24\n");
}
END_TEST

START_TEST(an_intent_for_a_recording_that_has_an_episode_is_kept) {
    Log *log = file_open(&file);
    record(log, 1, 5, 100);
    log_close(log);
    cut_deletion_off(1);
    sql(&file, "INSERT INTO episode(id, recording, number, world_index, first_step, state, "
               "begun_ns, ended_ns) VALUES((1 << 32) + 3, 1, 3, 0, 0, 1, 1, 1)");
    log = file_open(&file);
    record(log, 2, 1, 100);
    log_close(log);
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM chunk"), "12\n");
}
END_TEST

// A chunk whose row was changed to stand in the recording that goes is still somebody else's.
START_TEST(a_deletion_takes_what_is_sealed_as_its_own_alone) {
    Log *log = file_open(&file);
    Error error;
    record(log, 1, 5, 100);
    record(log, 2, 5, 100);
    sql(&file, "UPDATE chunk SET recording = 1 WHERE id = 12");
    ck_assert_int_eq(delete (log, 1, &error), STATUS_OK);
    log_close(log);
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM chunk"), "8\n");
}
END_TEST

START_TEST(a_deletion_on_a_failing_disk_says_so) {
    take_disk();
    Log *log = file_open(&file);
    Error error;
    record(log, 1, 5, 100);
    atomic_store(&disk_error, ENOSPC);
    ck_assert_int_eq(delete (log, 1, &error), STATUS_RESOURCE_EXHAUSTED);
    atomic_store(&disk_error, 0);
    ck_assert_str_eq(sql(&file, "SELECT chunks FROM episodes"), "8\n");
    ck_assert_int_eq(delete (log, 1, &error), STATUS_OK);
    log_close(log);
}
END_TEST

// The disk holds what it holds now, the reserve among it, and not a byte more.
START_TEST(deleting_works_on_a_full_disk) {
    take_disk();
    Log *log = file_open(&file);
    Error error;
    record(log, 1, 60, 100000);
    record(log, 2, 1, 100);
    atomic_store(&disk_room, folder_bytes());
    RecordingDef def = def_of(3);
    LogRecording *recording = begin_or_fail(log, &def);
    for (int i = 0; i < 100; i++) { // whatever is left of the write-ahead log is used up
        put(log, recording, CHUNK_INPUTS, 0, 1, 100000);
    }
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 1, &error), STATUS_RESOURCE_EXHAUSTED);
    ck_assert_msg(delete (log, 1, &error) == STATUS_OK, "%s", error.message);
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM episode WHERE recording = 1"), "0\n");
    atomic_store(&disk_room, INT64_MAX);
    record(log, 4, 1, 100);
    log_close(log);
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM chunk WHERE recording = 1"), "0\n");
}
END_TEST

START_TEST(a_file_grows_smaller_when_much_is_deleted) {
    Log *log = file_open(&file);
    Error error;
    record(log, 1, 400, 100000);
    record(log, 2, 1, 100);
    ck_assert_int_eq(delete (log, 1, &error), STATUS_OK);
    while (atol(sql(&file, "PRAGMA freelist_count")) > 256) { // in the background
        usleep(1000);
    }
    log_close(log);
    ck_assert_int_lt(folder_bytes(), 20 << 20);
    ck_assert_int_eq(count_sound_chunks(&file), 2);
}
END_TEST

// ---- a file that goes away

START_TEST(a_file_that_is_deleted_ends_its_recordings) {
    Log *log = file_open(&file);
    RecordingDef def = def_of(1), late = def_of(2);
    LogRecording *recording = begin(log, &def);
    char other[600];
    snprintf(other, sizeof(other), "%s/moved.db", file.folder);
    ck_assert_int_eq(_i == 0 ? unlink(file.path) : rename(file.path, other), 0);
    put(log, recording, CHUNK_INPUTS, 0, 10, 1000);
    Error error = {0};
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 10, &error), STATUS_DATA_LOSS);
    ck_assert_ptr_nonnull(strstr(error.message, "was deleted or moved"));
    Waiter waiter;
    recording = log_begin(log, &late, NULL, NULL, NULL, waiter_init(&waiter));
    ck_assert_int_eq(waiter_wait(&waiter), STATUS_DATA_LOSS);
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 0, NULL), STATUS_DATA_LOSS);
    log_close(log);
}
END_TEST

static TCase *make_case(const char *name) {
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    return tcase;
}

static TCase *case_rows(void) {
    TCase *tcase = make_case("rows");
    tcase_add_test(tcase, a_recording_is_rows_and_views);
    tcase_add_test(tcase, each_way_to_end_has_its_state);
    tcase_add_test(tcase, an_id_is_there_once);
    tcase_add_test(tcase, a_closed_log_is_one_file_for_any_sqlite);
    tcase_add_test(tcase, closing_waits_for_nobody_who_reads);
    return tcase;
}

static TCase *case_queue(void) {
    TCase *tcase = make_case("queue");
    tcase_add_test(tcase, a_full_queue_says_so_and_when_there_is_room);
    tcase_add_test(tcase, what_waits_goes_into_one_transaction);
    tcase_add_test(tcase, buffers_come_back);
    tcase_add_test(tcase, many_threads_record_at_once);
    return tcase;
}

static TCase *case_disk(void) {
    TCase *tcase = make_case("disk");
    tcase_add_loop_test(tcase, a_complete_recording_is_synced, 0, 2);
    tcase_add_test(tcase, a_large_write_ahead_log_is_brought_in);
    tcase_add_loop_test(tcase, a_full_disk_fails_what_it_hits_alone, 0, 3);
    tcase_add_test(tcase, a_failed_recording_is_marked_without_new_writes);
    tcase_add_test(tcase, a_disk_that_stays_full_stops_nobody);
    return tcase;
}

static TCase *case_kill(void) {
    TCase *tcase = make_case("kill");
    tcase_add_loop_test(tcase, a_killed_server_loses_nothing_committed, 0, 4);
    tcase_add_test(tcase, a_second_server_is_refused);
    tcase_add_loop_test(tcase, a_second_server_by_another_name_is_refused, 0, 2);
    tcase_add_loop_test(tcase, a_file_that_is_deleted_ends_its_recordings, 0, 2);
    return tcase;
}

static TCase *case_delete(void) {
    TCase *tcase = make_case("delete");
    tcase_add_test(tcase, an_episode_is_deleted_with_all_its_rows);
    tcase_add_test(tcase, a_recording_lives_as_long_as_one_of_its_episodes);
    tcase_add_test(tcase, a_large_deletion_lets_others_write);
    tcase_add_test(tcase, a_deletion_that_was_cut_off_is_finished);
    tcase_add_loop_test(tcase, a_start_deletes_nothing_that_nobody_asked_for, 0,
                        (int)(sizeof(losses) / sizeof(losses[0])));
    tcase_add_test(tcase, an_intent_for_a_recording_that_has_an_episode_is_kept);
    tcase_add_test(tcase, a_deletion_takes_what_is_sealed_as_its_own_alone);
    tcase_add_test(tcase, a_deletion_on_a_failing_disk_says_so);
    tcase_add_test(tcase, deleting_works_on_a_full_disk);
    tcase_add_test(tcase, a_file_grows_smaller_when_much_is_deleted);
    return tcase;
}

SUITE_MAIN("log/log", case_rows, case_queue, case_disk, case_kill, case_delete)
