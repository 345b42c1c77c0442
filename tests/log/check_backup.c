// SPDX-License-Identifier: MIT
// Online backups: what is in the copy, taken while others write and delete; what a full disk, a
// cancellation and a crash leave; names that are refused.
#include "log/log.h"

#include "log/log_file.h"
#include "log/format/schema.h"
#include "support/suite.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static LogFile file, copies; // the log, and the folder of its backups with one name in it

static void set_up(void) {
    file = file_make();
    copies = file_make();
    snprintf(copies.path, sizeof(copies.path), "%s/copy.db", copies.folder);
}

static void tear_down(void) {
    file_remove(&copies);
    file_remove(&file);
}

// ---- a disk for backups that stops half-way, or is full: SQLite writes through this

enum { HALF_WAY_BYTES = 3 << 20 }; // and about 9 MiB that SQLite holds back

static _Atomic int disk_error; // errno of every write to a backup; 0: it works
static _Atomic bool disk_stops, disk_waits;
static _Atomic size_t disk_bytes; // written so far

static ssize_t write_or_fail(int fd, const void *bytes, size_t count, off_t offset) {
    char link[64], path[512];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    path[length < 0 ? 0 : length] = '\0';
    if (strstr(path, copies.folder) != NULL) {
        const bool is_half_way = atomic_fetch_add(&disk_bytes, count) >= HALF_WAY_BYTES;
        while (is_half_way && atomic_load(&disk_stops)) {
            atomic_store(&disk_waits, true);
            usleep(100);
        }
        if (atomic_load(&disk_error) != 0) {
            errno = atomic_load(&disk_error);
            return -1;
        }
    }
    return pwrite(fd, bytes, count, offset);
}

static void take_disk(void) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)write_or_fail);
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)write_or_fail);
}

// ---- backups

static Log *open_log(void) {
    LogDef def = {.path = file.path,
                  .queue_bytes_max = QUEUE_BYTES,
                  .backup_folder = copies.folder,
                  .report = &file.report,
                  .server_version = "0.1.0"};
    Log *log = NULL;
    Error error = {0};
    ck_assert_msg(log_open(&log, &def, &error) == STATUS_OK, "%s", error.message);
    return log;
}

typedef struct Copying {
    LogBackup backup;
    Waiter waiter;
} Copying;

static Status begin_copy(Log *log, Copying *copying, const char *name, Error *error) {
    copying->backup = (LogBackup){.name = name};
    Status status = log_backup_begin(log, &copying->backup, waiter_init(&copying->waiter), error);
    if (status != STATUS_OK) {
        uv_sem_destroy(&copying->waiter.done);
    }
    return status;
}

static Status end_copy(Log *log, Copying *copying, Error *error) {
    Status status = waiter_wait(&copying->waiter);
    *error = copying->waiter.wait.error;
    return status == STATUS_OK ? log_backup_end(log, &copying->backup, error) : status;
}

static Status back_up(Log *log, const char *name, Error *error) {
    Copying copying;
    Status status = begin_copy(log, &copying, name, error);
    return status == STATUS_OK ? end_copy(log, &copying, error) : status;
}

// What is asked now, the log does before it copies more.
static void await_half(void) {
    while (!atomic_load(&disk_waits)) {
        usleep(100);
    }
}

// Nothing but the copies of these names, if any, lies in the folder, also no hidden file.
static int count_all_files(void) {
    DIR *folder = opendir(copies.folder);
    int count = -2; // . and ..
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

static void expect_whole_copy(void) {
    ck_assert_int_eq(count_all_files(), 1);
    ck_assert_str_eq(sql(&copies, "PRAGMA integrity_check"), "ok\n");
    ck_assert_str_eq(sql(&copies, "PRAGMA journal_mode"), "delete\n");
}

START_TEST(a_copy_has_what_was_there_before_and_is_whole) {
    enum { BEFORE = 200, MEANWHILE = 50 };
    take_disk();
    Log *log = open_log();
    record(log, 1, 4, 100000); // gone in less time than the second half of the copy takes
    RecordingDef def = def_of(2);
    LogRecording *recording = begin(log, &def);
    for (uint64_t i = 0; i < BEFORE; i++) {
        put(log, recording, CHUNK_INPUTS, i, i + 1, 100000);
    }
    while (log_figures(log).queue_rows > 0) {
        usleep(1000);
    }
    atomic_store(&disk_stops, true);
    Copying copying;
    Error error = {0};
    ck_assert_int_eq(begin_copy(log, &copying, "copy.db", &error), STATUS_OK);
    await_half();
    uint64_t written = BEFORE;
    for (; written < BEFORE + MEANWHILE; written++) {
        put(log, recording, CHUNK_INPUTS, written, written + 1, 50000);
    }
    uint8_t uid[UID_BYTES]; // pages that were copied already change, and the file gets smaller
    Waiter deleted;
    uid_of(1, 0xaa, uid);
    log_delete(log, uid, waiter_init(&deleted));
    atomic_store(&disk_stops, false);
    ck_assert_int_eq(waiter_wait(&deleted), STATUS_OK);
    ck_assert_msg(end_copy(log, &copying, &error) == STATUS_OK, "%s", error.message);
    struct stat info;
    ck_assert_int_eq(stat(copies.path, &info), 0);
    ck_assert_uint_eq(atomic_load(&copying.backup.bytes_done), (uint64_t)info.st_size);
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, written, NULL), STATUS_OK);
    log_close(log);
    expect_whole_copy();

    // a server opens it, and ends what was being recorded
    const char *count = "SELECT count(*) FROM chunk WHERE kind NOT IN (6, 7)";
    ck_assert_int_eq(count_sound_chunks(&copies), atoi(sql(&copies, count)));
    log = file_open(&copies);
    ck_assert_str_eq(sql(&copies, "SELECT state FROM episodes"), "interrupted\n");
    ck_assert_int_ge(atoi(sql(&copies, "SELECT steps FROM episodes")), BEFORE);
    log_close(log);
    ck_assert_str_eq(sql(&file, "SELECT state FROM episodes"), "complete\n");
    ck_assert_int_eq(count_sound_chunks(&file), (int)written);
}
END_TEST

START_TEST(a_full_disk_costs_the_copy_alone) {
    take_disk();
    Log *log = open_log();
    RecordingDef def = def_of(1);
    LogRecording *recording = begin(log, &def);
    put(log, recording, CHUNK_INPUTS, 0, 10, 4000000);
    put(log, recording, CHUNK_INPUTS, 10, 20, 4000000);
    while (log_figures(log).queue_rows > 0) {
        usleep(1000);
    }
    Copying copying;
    Error error = {0};
    atomic_store(&disk_stops, _i == 1);
    atomic_store(&disk_error, _i == 1 ? 0 : ENOSPC);
    ck_assert_int_eq(begin_copy(log, &copying, "copy.db", &error), STATUS_OK);
    if (_i == 1) { // in the middle
        await_half();
        atomic_store(&disk_error, ENOSPC);
        put(log, recording, CHUNK_INPUTS, 20, 30, 1000);
        atomic_store(&disk_stops, false);
    }
    ck_assert_int_eq(end_copy(log, &copying, &error), STATUS_RESOURCE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(error.message, "full"));
    ck_assert_int_eq(count_all_files(), 0);
    put(log, recording, CHUNK_INPUTS, 30, 40, 1000);
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 40, &error), STATUS_OK);
    atomic_store(&disk_error, 0);
    ck_assert_msg(back_up(log, "copy.db", &error) == STATUS_OK, "%s", error.message);
    ck_assert_uint_eq(log_figures(log).backups, 1);
    log_close(log);
    expect_whole_copy();
    ck_assert_int_eq(count_sound_chunks(&copies), 3 + _i);
}
END_TEST

START_TEST(a_cancelled_copy_leaves_nothing) {
    take_disk();
    Log *log = open_log();
    record(log, 1, 20, 1000000);
    Copying copying, second;
    Error error = {0};
    atomic_store(&disk_stops, true);
    ck_assert_int_eq(begin_copy(log, &copying, "copy.db", &error), STATUS_OK);
    await_half();
    ck_assert_int_eq(begin_copy(log, &second, "other.db", &error), STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "already"));
    atomic_store(&copying.backup.is_cancelled, true);
    atomic_store(&disk_stops, false);
    ck_assert_int_eq(end_copy(log, &copying, &error), STATUS_CANCELLED);
    ck_assert_int_eq(count_all_files(), 0);
    ck_assert_int_eq(back_up(log, "copy.db", &error), STATUS_OK);
    log_close(log);
    expect_whole_copy();
    ck_assert_int_eq(count_sound_chunks(&copies), 21);
}
END_TEST

START_TEST(what_a_crash_leaves_is_removed) {
    int told[2];
    ck_assert_int_eq(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        Copying copying;
        Error error;
        take_disk();
        Log *log = open_log();
        record(log, 1, 20, 1000000);
        atomic_store(&disk_stops, true);
        begin_copy(log, &copying, "copy.db", &error);
        await_half();
        if (write(told[1], "", 1) == 1) {
            pause();
        }
        exit(1);
    }
    char byte;
    ck_assert_int_eq(read(told[0], &byte, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(told[0]);
    close(told[1]);
    ck_assert_int_eq(count_all_files(), 1);
    ck_assert_int_eq(file_count(&copies, false), 0); // under no name that anybody would take
    Log *log = open_log();
    ck_assert_int_eq(count_all_files(), 0);
    Error error;
    ck_assert_int_eq(back_up(log, "copy.db", &error), STATUS_OK);
    log_close(log);
    expect_whole_copy();
    ck_assert_int_eq(count_sound_chunks(&copies), 21);
}
END_TEST

static const char *const bad_names[] = {
    "",         "../copy.db", "/tmp/copy.db", ".copy.db",        "a/b", "copy.db-wal", ".",
    "copy-shm", "line\nfeed", "copy-journal", "copy.db-reserve",
};

START_TEST(names_that_are_none_are_refused) {
    Log *log = open_log();
    Copying copying;
    Error error = {0};
    for (size_t i = 0; i < sizeof(bad_names) / sizeof(bad_names[0]); i++) {
        ck_assert_int_eq(begin_copy(log, &copying, bad_names[i], &error), STATUS_INVALID_ARGUMENT);
        ck_assert_str_eq(error.field, "name");
    }
    char name[300];
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ck_assert_int_eq(begin_copy(log, &copying, name, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_int_eq(begin_copy(log, &copying, NULL, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_int_eq(count_all_files(), 0);
    log_close(log);
    log = file_open(&file); // without a folder
    ck_assert_int_eq(begin_copy(log, &copying, "copy.db", &error), STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "--backup-dir"));
    log_close(log);
}
END_TEST

START_TEST(what_is_there_is_replaced_when_asked_and_never_a_log_in_use) {
    Log *log = open_log();
    Error error = {0};
    record(log, 1, 3, 100);
    ck_assert_int_eq(back_up(log, "copy.db", &error), STATUS_OK);
    record(log, 2, 3, 100);
    ck_assert_int_eq(back_up(log, "copy.db", &error), STATUS_ALREADY_EXISTS);
    ck_assert_str_eq(sql(&copies, "SELECT count(*) FROM recording"), "1\n");
    LogBackup again = {.name = "copy.db", .replaces = true};
    Log *other = file_open(&copies); // which has it
    Waiter waiter;
    LogWait *wait = waiter_init(&waiter);
    ck_assert_int_eq(log_backup_begin(log, &again, wait, &error), STATUS_FAILED_PRECONDITION);
    log_close(other);
    ck_assert_int_eq(log_backup_begin(log, &again, wait, &error), STATUS_OK);
    ck_assert_int_eq(waiter_wait(&waiter), STATUS_OK);
    ck_assert_msg(log_backup_end(log, &again, &error) == STATUS_OK, "%s", error.message);
    ck_assert_str_eq(sql(&copies, "SELECT count(*) FROM recording"), "2\n");

    // the log itself, by a hard link: it is not even opened, or its locks would be gone
    char path[600];
    snprintf(path, sizeof(path), "%s/self.db", copies.folder);
    ck_assert_int_eq(link(file.path, path), 0);
    LogBackup self = {.name = "self.db", .replaces = true};
    ck_assert_int_eq(log_backup_begin(log, &self, wait, &error), STATUS_ALREADY_EXISTS);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink(copies.path, path), 0);
    ck_assert_int_eq(log_backup_begin(log, &self, wait, &error), STATUS_ALREADY_EXISTS);
    log_close(log);
    unlink(path);
}
END_TEST

START_TEST(a_folder_that_is_none_is_said_at_the_start) {
    LogDef def = {.path = file.path,
                  .queue_bytes_max = QUEUE_BYTES,
                  .backup_folder = _i == 0 ? "/tmp/moreau-no-such-folder" : file.path,
                  .report = &file.report,
                  .server_version = "0.1.0"};
    Log *log = NULL;
    Error error = {0};
    ck_assert_int_eq(log_open(&log, &def, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "is no folder"));
}
END_TEST

static TCase *case_backup(void) {
    TCase *tcase = tcase_create("backup");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_copy_has_what_was_there_before_and_is_whole);
    tcase_add_loop_test(tcase, a_full_disk_costs_the_copy_alone, 0, 2);
    tcase_add_test(tcase, a_cancelled_copy_leaves_nothing);
    tcase_add_test(tcase, what_a_crash_leaves_is_removed);
    tcase_add_test(tcase, names_that_are_none_are_refused);
    tcase_add_test(tcase, what_is_there_is_replaced_when_asked_and_never_a_log_in_use);
    tcase_add_loop_test(tcase, a_folder_that_is_none_is_said_at_the_start, 0, 2);
    return tcase;
}

SUITE_MAIN("log/backup", case_backup)
