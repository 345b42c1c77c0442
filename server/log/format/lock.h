// SPDX-License-Identifier: MIT
// One writer per file, whatever the file is called: an advisory lock on its inode, so that another
// path, a symbolic or a hard link leads to the same lock. SQLite's own locks cannot say this: a
// connection in WAL mode holds a lock that keeps other writers out only while it writes, and its
// exclusive mode would keep readers out as well.
//
// Closing a descriptor of a file drops the locks that SQLite holds on it in this process: take this
// lock before SQLite opens the file, and release it when all connections of the process are closed.
// The system frees it when the process ends, however it ends.
#pragma once

#include "base/status.h"

#include <stdbool.h>

typedef struct FileLock {
    const char *path; // borrowed
    int fd;           // -1: none
} FileLock;

// Makes an empty file where there is none. FAILED_PRECONDITION while another server, or another log
// of this process, has it. `path` is borrowed for the lock's life.
Status lock_take(FileLock *lock, const char *path, Error *error);
void lock_release(FileLock *lock);

// Whether the path still leads to the file that was locked: else somebody has deleted or moved it.
bool lock_is_there(const FileLock *lock);
