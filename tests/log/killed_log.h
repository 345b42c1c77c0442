// SPDX-License-Identifier: MIT
// What a killed server leaves: its file, the write-ahead log beside it, and the mark of how far
// that was synced; to be damaged, put back, and started from.
#pragma once

#include "log/log_file.h"
#include "log/wal/care.h"
#include "support/suite.h"

#include <sys/wait.h>

enum { HEADER_BYTES = 32, FRAME_BYTES = 24 + 32768, FRAME_HEADER_BYTES = 24 };

static LogFile file;
static char wal[600], wal_mark[640];

typedef struct Bytes {
    uint8_t *at;
    size_t count;
} Bytes;

static Bytes database, log_bytes, mark_bytes; // as the killed server left them

static inline void set_up(void) {
    file = file_make();
    close(file.report.fd);
    file.report = (Report){.level = REPORT_WARN, .fd = fileno(tmpfile())};
    snprintf(wal, sizeof(wal), "%s-wal", file.path);
    snprintf(wal_mark, sizeof(wal_mark), "%s-synced", wal);
}

static inline void tear_down(void) {
    file_remove(&file);
}

static inline const char *reported(void) {
    static char text[1 << 16];
    const ssize_t count = pread(file.report.fd, text, sizeof(text) - 1, 0);
    text[count > 0 ? count : 0] = '\0';
    return text;
}

// Takes all of the log into the database, so that the next to write begins it from the front. Who
// reads or writes at that moment is waited for. Its connection is left open: whoever closes the
// last one removes the log.
static inline void take_all_in(void) {
    sqlite3 *db = sql_open(file.path);
    sql_on(db, "SELECT count(*) FROM chunk"); // who has read nothing knows of no log
    int code, frames, taken, tries = 0;
    do {
        code = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_RESTART, &frames, &taken);
        ck_assert_msg(code == SQLITE_OK || code == SQLITE_BUSY, "%s", sqlite3_errmsg(db));
        ck_assert(tries++ < 6000 && (code == SQLITE_BUSY || frames >= 0));
        usleep(code == SQLITE_OK && taken == frames ? 0 : 10000);
    } while (code != SQLITE_OK || taken != frames);
}

// ---- files

static inline Bytes read_file(const char *path) {
    FILE *from = fopen(path, "rb");
    ck_assert_ptr_nonnull(from);
    fseek(from, 0, SEEK_END);
    Bytes bytes = {.count = (size_t)ftell(from)};
    bytes.at = malloc(bytes.count + 1);
    rewind(from);
    ck_assert_uint_eq(fread(bytes.at, 1, bytes.count, from), bytes.count);
    fclose(from);
    return bytes;
}

static inline void write_file(const char *path, const uint8_t *bytes, size_t count) {
    FILE *to = fopen(path, "wb");
    ck_assert_ptr_nonnull(to);
    ck_assert_uint_eq(fwrite(bytes, 1, count, to), count);
    ck_assert_int_eq(fclose(to), 0);
}

static inline void write_byte(size_t at, uint8_t byte) {
    const int fd = open(wal, O_WRONLY);
    ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
    close(fd);
}

static inline bool is_file(const char *path, Bytes wanted) {
    Bytes bytes = read_file(path);
    const bool is_same =
        bytes.count == wanted.count && memcmp(bytes.at, wanted.at, wanted.count) == 0;
    free(bytes.at);
    return is_same;
}

static inline void put_back(size_t wal_bytes) {
    file_count(&file, true);
    write_file(file.path, database.at, database.count);
    write_file(wal, log_bytes.at, wal_bytes);
    write_file(wal_mark, mark_bytes.at, mark_bytes.count);
}

static inline void scribble(size_t at, size_t count, int value) {
    Bytes bytes = read_file(wal);
    memset(bytes.at + at, value, count);
    write_file(wal, bytes.at, bytes.count);
    free(bytes.at);
}

// A server that does this, and is killed.
static inline void kill_after(void (*act)(Log *log)) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        act(file_open(&file));
        _exit(0);
    }
    int result;
    ck_assert_int_eq(waitpid(child, &result, 0), child);
    ck_assert_int_eq(result, 0);
    database = read_file(file.path);
    log_bytes = read_file(wal);
    mark_bytes = read_file(wal_mark);
}

static inline void free_bytes(void) {
    free(database.at);
    free(log_bytes.at);
    free(mark_bytes.at);
}

static inline uint64_t frame_count(void) {
    return (log_bytes.count - HEADER_BYTES) / FRAME_BYTES;
}

static inline int complete_episodes(void) {
    return atoi(sql(&file, "SELECT count(*) FROM episodes WHERE state = 'complete'"));
}

static inline Status care(Error *error) {
    WalPlace synced;
    *error = (Error){0};
    return wal_care_for_start(file.path, &file.report, &synced, error);
}
