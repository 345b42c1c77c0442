// SPDX-License-Identifier: MIT
#include "log/backup.h"

#include "log/format/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { BITE_PAGES = 64 };                       // 2 MiB: a fraction of what a transaction writes
enum { NAME_BYTES_MAX = 200 };                  // leaves room for SQLite's companions
static const uint64_t margin_bytes = 128 << 20; // the write-ahead log, and what comes meanwhile

static Status memory_ended(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
}

static char *join(const char *folder, const char *name, const char *suffix) {
    size_t bytes = strlen(folder) + strlen(name) + strlen(suffix) + 2;
    char *path = malloc(bytes);
    if (path != NULL) {
        snprintf(path, bytes, "%s/%s%s", folder, name, suffix);
    }
    return path;
}

void backup_remove_partial(const Backup *backup) {
    static const char *const suffixes[] = {"", "-journal", "-wal", "-shm"};
    for (size_t i = 0; backup->partial != NULL && i < sizeof(suffixes) / sizeof(char *); i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s%s", backup->partial, suffixes[i]);
        unlink(path);
    }
}

// ---- life

static Status check_folder(const char *folder, struct stat *info, Error *error) {
    if (stat(folder, info) != 0 || !S_ISDIR(info->st_mode)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "backup-dir",
                         "%.300s is no folder: make it, or name another one.", folder);
    }
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0) {
        return error_set(error, STATUS_PERMISSION_DENIED, "backup-dir",
                         "%.300s cannot be written to: %s.", folder, strerror(errno));
    }
    return STATUS_OK;
}

Status backup_init(Backup *backup, const char *folder, const char *log_path, Error *error) {
    struct stat info, log_info;
    char name[80];
    *backup = (Backup){0};
    if (folder == NULL) {
        return STATUS_OK;
    }
    Status status = check_folder(folder, &info, error);
    if (status != STATUS_OK || stat(log_path, &log_info) != 0) {
        return status;
    }
    // a file has one server: what bears its number is nobody else's
    snprintf(name, sizeof(name), ".moreau-backup-%llx-%llx.db", (unsigned long long)log_info.st_dev,
             (unsigned long long)log_info.st_ino);
    backup->log_device = log_info.st_dev;
    backup->log_inode = log_info.st_ino;
    backup->shares_disk = info.st_dev == log_info.st_dev;
    backup->folder = strdup(folder);
    backup->partial = join(folder, name, "");
    if (backup->folder == NULL || backup->partial == NULL) {
        backup_deinit(backup);
        return memory_ended(error);
    }
    backup_remove_partial(backup);
    return STATUS_OK;
}

void backup_deinit(Backup *backup) {
    free(backup->folder);
    free(backup->partial);
    *backup = (Backup){0};
}

// ---- names

static bool is_companion(const char *name) {
    static const char *const suffixes[] = {"-journal", "-wal", "-wal-synced", "-shm", "-reserve"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t bytes = strlen(suffixes[i]), all = strlen(name);
        if (all >= bytes && strcmp(name + all - bytes, suffixes[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_plain(const char *name) {
    size_t bytes = strlen(name);
    bool is_plain = bytes >= 1 && bytes <= NAME_BYTES_MAX && name[0] != '.' && !is_companion(name);
    for (size_t i = 0; i < bytes; i++) {
        is_plain = is_plain && name[i] != '/' && (unsigned char)name[i] >= ' ' && name[i] != 0x7f;
    }
    return is_plain;
}

// What is there already: nothing, or, to be replaced, a file that no server has open.
static Status check_target(const Backup *backup, const char *path, bool replaces, Error *error) {
    struct stat info;
    if (lstat(path, &info) != 0) {
        return errno == ENOENT
                   ? STATUS_OK
                   : error_set(error, STATUS_UNAVAILABLE, "name", "%.300s cannot be looked at: %s.",
                               path, strerror(errno));
    }
    if (info.st_dev == backup->log_device && info.st_ino == backup->log_inode) {
        // not to be opened either: closing it again would drop the locks that SQLite has on it
        return error_set(error, STATUS_ALREADY_EXISTS, "name", "%.300s is the log itself.", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return error_set(error, STATUS_ALREADY_EXISTS, "name", "%.300s is no ordinary file.", path);
    }
    if (!replaces) {
        return error_set(error, STATUS_ALREADY_EXISTS, "name",
                         "%.300s is there already: choose another name, or ask to overwrite it.",
                         path);
    }
    FileLock lock;
    Status status = lock_take(&lock, path, error);
    lock_release(&lock);
    return status;
}

Status backup_check_name(const Backup *backup, const char *name, bool replaces, Error *error) {
    if (backup->folder == NULL) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "",
                         "This server makes no backups: start it with --backup-dir DIR.");
    }
    if (name == NULL || !is_plain(name)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "name",
                         "A backup has a plain name of 1 to %d bytes, as nightly.db: no slash, no "
                         "dot in front, and nothing that SQLite calls its own (-wal, -journal).",
                         NAME_BYTES_MAX);
    }
    char *path = join(backup->folder, name, "");
    Status status =
        path != NULL ? check_target(backup, path, replaces, error) : memory_ended(error);
    free(path);
    return status;
}

// ---- copying

static Status fail(const Backup *backup, int code, Error *error) {
    int primary = code & 0xff, system_error = sqlite3_system_errno(backup->db);
    bool is_full = primary == SQLITE_FULL || system_error == ENOSPC || system_error == EDQUOT ||
                   system_error == EFBIG;
    if (primary == SQLITE_CORRUPT) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "The backup failed: the log is damaged. Stop the server and mend it with "
                         "moreau-server --recover.");
    }
    return error_set(error, is_full ? STATUS_RESOURCE_EXHAUSTED : STATUS_UNAVAILABLE, NULL,
                     "The backup failed: %s (%.200s).",
                     is_full             ? "the disk is full"
                     : system_error != 0 ? strerror(system_error)
                                         : sqlite3_errstr(code),
                     backup->folder);
}

// A backup leaves the log the room that it needs: else recordings would fail for its sake.
static Status check_room(const Backup *backup, uint64_t needed, Error *error) {
    struct statvfs info;
    if (statvfs(backup->folder, &info) != 0) {
        return error_set(error, STATUS_UNAVAILABLE, NULL, "%.200s cannot be written to: %s.",
                         backup->folder, strerror(errno));
    }
    uint64_t free_bytes = (uint64_t)info.f_bavail * info.f_frsize;
    uint64_t margin = backup->shares_disk ? margin_bytes : 0;
    if (free_bytes >= needed + margin) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The disk of %.200s has %llu MB left; the backup needs %llu MB%s.",
                     backup->folder, (unsigned long long)(free_bytes >> 20),
                     (unsigned long long)((needed + margin) >> 20),
                     backup->shares_disk ? ", with what the log itself needs" : "");
}

static Status make_file(const Backup *backup, Error *error) {
    backup_remove_partial(backup);
    int fd = open(backup->partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0) {
        return error_set(error, STATUS_UNAVAILABLE, NULL, "%.200s cannot be written to: %s.",
                         backup->folder, strerror(errno));
    }
    close(fd);
    return STATUS_OK;
}

Status backup_begin(Backup *backup, sqlite3 *source, Error *error) {
    Status status = make_file(backup, error);
    if (status != STATUS_OK) {
        return status;
    }
    // no journal and no syncs: it counts only when it is whole, and then it is synced
    const char *settings = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                           "PRAGMA locking_mode = EXCLUSIVE; PRAGMA mmap_size = 0";
    int code = sqlite3_open_v2(backup->partial, &backup->db,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_exec(backup->db, settings, NULL, NULL, NULL);
    }
    if (code == SQLITE_OK) {
        backup->source = source;
        backup->handle = sqlite3_backup_init(backup->db, "main", source, "main");
        code = backup->handle != NULL ? SQLITE_OK : sqlite3_errcode(backup->db);
    }
    if (code != SQLITE_OK) {
        status = fail(backup, code, error);
        backup_abandon(backup);
    }
    return status;
}

static uint64_t page_bytes(sqlite3 *db) {
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(db, "PRAGMA page_size", -1, &statement, NULL);
    uint64_t bytes =
        sqlite3_step(statement) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return bytes;
}

Status backup_some(Backup *backup, uint64_t *done, uint64_t *total, Error *error) {
    if (backup->page_bytes == 0) {
        backup->page_bytes = page_bytes(backup->source);
    }
    int code = sqlite3_backup_step(backup->handle, BITE_PAGES);
    if (code != SQLITE_OK && code != SQLITE_DONE) {
        return fail(backup, code, error);
    }
    uint64_t left = (uint64_t)sqlite3_backup_remaining(backup->handle) * backup->page_bytes;
    *total = (uint64_t)sqlite3_backup_pagecount(backup->handle) * backup->page_bytes;
    *done = *total - left;
    if (code == SQLITE_OK && left == 0) {
        *done = *total - 1; // one more step says that it is done
    }
    return code == SQLITE_OK ? check_room(backup, left, error) : STATUS_OK;
}

// The source is in write-ahead mode, and so is its copy.
static int leave_wal(sqlite3 *db) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "PRAGMA journal_mode = DELETE", -1, &statement, NULL);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    bool is_left = code == SQLITE_ROW &&
                   strcmp((const char *)sqlite3_column_text(statement, 0), "delete") == 0;
    int ended = sqlite3_finalize(statement);
    return is_left ? SQLITE_OK : ended != SQLITE_OK ? ended : SQLITE_ERROR;
}

Status backup_end(Backup *backup, Error *error) {
    int code = sqlite3_backup_finish(backup->handle);
    backup->handle = NULL;
    code = code == SQLITE_OK ? leave_wal(backup->db) : code;
    Status status = code == SQLITE_OK ? STATUS_OK : fail(backup, code, error);
    if (status == STATUS_OK) {
        sqlite3_close(backup->db);
        backup->db = NULL;
    } else {
        backup_abandon(backup);
    }
    return status;
}

void backup_abandon(Backup *backup) {
    sqlite3_backup_finish(backup->handle);
    sqlite3_close(backup->db);
    backup->handle = NULL;
    backup->db = NULL;
    backup_remove_partial(backup);
}

// ---- its name

static int sync_path(const char *path, int flags) {
    int fd = open(path, flags | O_CLOEXEC);
    int result = fd < 0 ? -1 : fsync(fd);
    if (fd >= 0) {
        close(fd);
    }
    return result;
}

// Never over something that has come there meanwhile, unless it is to be replaced.
static int name_it(const char *partial, const char *path, bool replaces) {
    if (!replaces) {
        int result = link(partial, path);
        bool has_links = result == 0 || (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS);
        if (has_links) {
            return result == 0 ? unlink(partial) : result;
        }
    }
    return rename(partial, path);
}

Status backup_publish(const Backup *backup, const char *name, bool replaces, uint64_t *bytes,
                      Error *error) {
    struct stat info = {0};
    Status status = backup_check_name(backup, name, replaces, error);
    char *path = join(backup->folder, name, "");
    status = STATUS_THEN_IF(status, path == NULL, memory_ended(error));
    bool failed = status == STATUS_OK &&
                  (sync_path(backup->partial, O_RDWR) != 0 || stat(backup->partial, &info) != 0 ||
                   name_it(backup->partial, path, replaces) != 0 ||
                   sync_path(backup->folder, O_RDONLY | O_DIRECTORY) != 0);
    if (failed) {
        status = error_set(error, errno == ENOSPC ? STATUS_RESOURCE_EXHAUSTED : STATUS_UNAVAILABLE,
                           NULL, "The backup failed: %s (%.300s).", strerror(errno), path);
    }
    free(path);
    if (status != STATUS_OK) {
        backup_remove_partial(backup);
        return status;
    }
    *bytes = (uint64_t)info.st_size;
    return STATUS_OK;
}
