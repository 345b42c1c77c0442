// SPDX-License-Identifier: MIT
#include "log/format/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool lock_is_there(const FileLock *lock) {
    struct stat opened, named;
    return fstat(lock->fd, &opened) == 0 && stat(lock->path, &named) == 0 &&
           opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

static Status fail(FileLock *lock, const char *path, int code, Error *error) {
    lock_release(lock);
    if (code == EWOULDBLOCK) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "db",
                         "%.300s is being written by another server, perhaps under another name: "
                         "stop that one, or choose another file.",
                         path);
    }
    bool is_forbidden = code == EACCES || code == EPERM || code == EROFS;
    return error_set(error, is_forbidden ? STATUS_PERMISSION_DENIED : STATUS_UNAVAILABLE, "db",
                     "%.240s cannot be written or locked: %s.", path, strerror(code));
}

Status lock_take(FileLock *lock, const char *path, Error *error) {
    *lock = (FileLock){.path = path, .fd = -1};
    do { // it may be deleted between the two
        lock_release(lock);
        lock->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (lock->fd < 0 || flock(lock->fd, LOCK_EX | LOCK_NB) != 0) {
            return fail(lock, path, errno, error);
        }
    } while (!lock_is_there(lock));
    return STATUS_OK;
}

void lock_release(FileLock *lock) {
    if (lock->fd >= 0) {
        close(lock->fd);
    }
    lock->fd = -1;
}
