// SPDX-License-Identifier: MIT
#include "log/wal/care.h"

#include "log/wal/wal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { COPIES_MAX = 4 };
enum { COPY_PATH_BYTES = 4200, BITE_BYTES = 1 << 16 };
enum { AT_JOURNAL_MODE = 18, MODE_WAL = 2 };    // in the database's header
static const uint64_t margin_bytes = 128 << 20; // that a copy leaves free on the disk

// ---- a copy beside

static Status copy_fail(const char *path, Error *error) {
    return error_set(error, STATUS_UNAVAILABLE, "db",
                     "The damaged write-ahead log cannot be copied to %.240s: %s.", path,
                     strerror(errno));
}

static bool copy_bytes(int from, int to) {
    uint8_t bite[BITE_BYTES];
    ssize_t got;
    while ((got = read(from, bite, sizeof(bite))) > 0) {
        for (ssize_t done = 0; done < got;) {
            const ssize_t put = write(to, bite + done, (size_t)(got - done));
            if (put <= 0) {
                return false;
            }
            done += put;
        }
    }
    return got == 0 && fsync(to) == 0;
}

static Status copy_to(const char *source, const char *path, Error *error) {
    struct statvfs disk = {0};
    struct stat info = {0};
    const int from = open(source, O_RDONLY | O_CLOEXEC);
    Status status = from < 0 || fstat(from, &info) != 0 || statvfs(source, &disk) != 0
                        ? copy_fail(path, error)
                        : STATUS_OK;
    if (status == STATUS_OK &&
        (uint64_t)disk.f_bavail * disk.f_frsize < (uint64_t)info.st_size + margin_bytes) {
        errno = ENOSPC;
        status = copy_fail(path, error);
    }
    if (status == STATUS_OK) {
        const int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, info.st_mode & 0777);
        if (to < 0 || !copy_bytes(from, to)) {
            status = copy_fail(path, error);
            unlink(path);
        }
        if (to >= 0) {
            close(to);
        }
    }
    if (from >= 0) {
        close(from);
    }
    return status;
}

// RESOURCE_EXHAUSTED: there are as many as there may be.
static Status keep_copy(const char *database, char path[COPY_PATH_BYTES], Error *error) {
    char *wal = wal_path(database);
    Status status = wal != NULL
                        ? error_set(error, STATUS_RESOURCE_EXHAUSTED, "db",
                                    "Beside %.200s are %d copies of damaged write-ahead "
                                    "logs already: move them away.",
                                    database, COPIES_MAX)
                        : error_set(error, STATUS_RESOURCE_EXHAUSTED, "db", "Memory ended.");
    for (int i = 1; wal != NULL && i <= COPIES_MAX; i++) {
        snprintf(path, COPY_PATH_BYTES, "%s-damaged-%d", wal, i);
        if (access(path, F_OK) != 0) {
            status = copy_to(wal, path, error);
            break;
        }
    }
    free(wal);
    return status;
}

// ---- names

// Every clean stop leaves the file in rollback mode: one that is in WAL mode has a write-ahead log,
// beside the name that it was opened by.
static bool is_in_wal_mode(const char *database) {
    uint8_t header[AT_JOURNAL_MODE + 1] = {0};
    const int fd = open(database, O_RDONLY | O_CLOEXEC);
    const bool is_read = fd >= 0 && pread(fd, header, sizeof(header), 0) == (ssize_t)sizeof(header);
    if (fd >= 0) {
        close(fd);
    }
    return is_read && header[AT_JOURNAL_MODE] == MODE_WAL;
}

static Status check_names(const char *database, Error *error) {
    struct stat info, log_info;
    if (stat(database, &info) != 0 || info.st_nlink < 2 || !is_in_wal_mode(database)) {
        return STATUS_OK;
    }
    char *wal = wal_path(database);
    const bool has_log = wal != NULL && stat(wal, &log_info) == 0 && log_info.st_size > 0;
    free(wal);
    return has_log ? STATUS_OK
                   : error_set(error, STATUS_FAILED_PRECONDITION, "db",
                               "%.200s has %llu names (hard links) and was not closed cleanly, and "
                               "no write-ahead log (-wal) lies beside this one: start the server "
                               "with the name that has it; where none does, leave the file one "
                               "name.",
                               database, (unsigned long long)info.st_nlink);
}

// ---- what is done

// Transactions that SQLite would drop, and that have been there.
static bool has_lost(const WalJudged *judged) {
    return judged->lost_count > 0;
}

// A power cut loses what was not synced yet, in any order: what is in front of that is the log as
// it was a moment before. What had been taken into the database was synced. Where nobody noted how
// far it was, a frame of which nothing was written tells.
static bool is_power_cut(const WalJudged *judged) {
    const uint64_t bad_frame = judged->bad_frame > 0 ? judged->bad_frame : 1;
    const bool may_be = judged->has_mark ? bad_frame > judged->synced.frames : judged->is_hole;
    return has_lost(judged) && !judged->is_taken_in && !judged->is_flipped && may_be;
}

static Status refuse(const char *database, const WalJudged *judged, Error *error) {
    return error_set(error, STATUS_DATA_LOSS, "db",
                     "%.140s-wal is damaged in its frame %" PRIu64 " of %" PRIu64 ": %" PRIu64
                     " committed transactions behind that would be lost. Nothing was "
                     "changed; moreau-server --recover FILE brings back what can be read.",
                     database, judged->bad_frame, judged->frame_count, judged->lost_count);
}

static void report_flips(const Report *report, const WalJudged *judged, const char *copy) {
    for (size_t i = 0; i < judged->flip_count; i++) {
        report_line(report, REPORT_WARN, "wal_mended",
                    "byte=%" PRIu64 " bit=0x%02x frames=%" PRIu64 " copy=\"%s\"",
                    judged->flip[i].at, (unsigned)judged->flip[i].mask, judged->sound_count, copy);
    }
}

static Status judge(const char *database, WalJudged *judged, Error *error) {
    const Status status = check_names(database, error);
    return STATUS_THEN(status, wal_judge(database, judged, error));
}

// No copy stops a start where nothing is lost that was promised.
static Status cut_off(const char *database, const Report *report, const WalJudged *judged,
                      const char *copy, Error *error) {
    report_line(report, REPORT_WARN, "wal_cut",
                "frame=%" PRIu64 " frames=%" PRIu64 " transactions_lost=%" PRIu64
                " why=\"what a power cut kept from the disk\" copy=\"%s\"",
                judged->bad_frame, judged->frame_count, judged->lost_count, copy);
    return wal_cut(database, judged, error);
}

static Status care(const char *database, const Report *report, const WalJudged *judged,
                   Error *error) {
    char copy[COPY_PATH_BYTES] = "";
    const bool is_cut = is_power_cut(judged);
    if (has_lost(judged) && !is_cut) {
        return refuse(database, judged, error);
    }
    Status status = keep_copy(database, copy, error);
    if (status != STATUS_OK && is_cut && judged->flip_count == 0) {
        copy[0] = '\0';
        status = STATUS_OK;
    }
    if (status == STATUS_OK) {
        report_flips(report, judged, copy);
        status = wal_mend(database, judged, error);
    }
    return status == STATUS_OK && is_cut ? cut_off(database, report, judged, copy, error) : status;
}

Status wal_care_for_start(const char *database, const Report *report, WalPlace *synced,
                          Error *error) {
    WalJudged judged;
    *synced = (WalPlace){0};
    Status status = judge(database, &judged, error);
    status = STATUS_THEN_IF(status, judged.flip_count > 0 || has_lost(&judged),
                            care(database, report, &judged, error));
    return STATUS_THEN(status, wal_sync(database, &judged, synced, error));
}

Status wal_care_for_recovery(const char *database, FILE *out, Error *error) {
    WalJudged judged;
    char copy[COPY_PATH_BYTES] = "";
    Status status = judge(database, &judged, error);
    if (status != STATUS_OK || (judged.flip_count == 0 && !has_lost(&judged))) {
        return status;
    }
    status = keep_copy(database, copy, error);
    if (status != STATUS_OK) {
        return status;
    }
    fprintf(out, "The write-ahead log is damaged: %s is a copy of it as it was.\n", copy);
    for (size_t i = 0; i < judged.flip_count; i++) {
        fprintf(out, "Its byte %" PRIu64 " had a flipped bit (0x%02x), which is right again.\n",
                judged.flip[i].at, (unsigned)judged.flip[i].mask);
    }
    status = wal_mend(database, &judged, error);
    if (status == STATUS_OK && is_power_cut(&judged)) {
        fprintf(out,
                "Its frame %" PRIu64 " was never written whole: a power cut has lost that and the "
                "%" PRIu64 " transactions behind it.\n",
                judged.bad_frame, judged.lost_count);
        status = wal_cut(database, &judged, error);
    } else if (status == STATUS_OK && has_lost(&judged)) {
        fprintf(out,
                "From its frame %" PRIu64 " of %" PRIu64 " on it is taken as it stands, with the "
                "%" PRIu64 " transactions behind it.\n",
                judged.bad_frame, judged.frame_count, judged.lost_count);
        status = wal_reseal(database, &judged, error);
    }
    return status;
}
