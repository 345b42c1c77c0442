// SPDX-License-Identifier: MIT
#include "log/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// Whoever had the lock removes its file before letting go: the file that was opened and locked here
// may be one that nobody else can find any more.
static bool is_still_there(const FileLock *lock) {
    struct stat opened, named;
    return fstat(lock->fd, &opened) == 0 && stat(lock->path, &named) == 0 &&
           opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

static Status fail(FileLock *lock, const char *database_path, int code, Error *error) {
    if (lock->fd >= 0) {
        close(lock->fd);
    }
    free(lock->path);
    *lock = (FileLock){.fd = -1};
    if (code == EWOULDBLOCK) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "db",
                         "%.300s is being written by another server: stop that one, or choose "
                         "another file.",
                         database_path);
    }
    return error_set(
        error, code == EACCES || code == EPERM ? STATUS_PERMISSION_DENIED : STATUS_UNAVAILABLE,
        "db", "%.240s-lock cannot be made or locked: %s.", database_path, strerror(code));
}

Status lock_take(FileLock *lock, const char *database_path, Error *error) {
    size_t path_bytes = strlen(database_path) + sizeof("-lock");
    *lock = (FileLock){.path = malloc(path_bytes), .fd = -1};
    if (lock->path == NULL) {
        return fail(lock, database_path, ENOMEM, error);
    }
    snprintf(lock->path, path_bytes, "%s-lock", database_path);
    do {
        if (lock->fd >= 0) {
            close(lock->fd);
        }
        lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
        if (lock->fd < 0 || flock(lock->fd, LOCK_EX | LOCK_NB) != 0) {
            return fail(lock, database_path, errno, error);
        }
    } while (!is_still_there(lock));
    return STATUS_OK;
}

void lock_release(FileLock *lock) {
    if (lock->fd >= 0) {
        unlink(lock->path);
        close(lock->fd);
    }
    free(lock->path);
    *lock = (FileLock){.fd = -1};
}
