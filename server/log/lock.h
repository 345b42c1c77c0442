// SPDX-License-Identifier: MIT
// One writer per file: an advisory lock on `FILE-lock`, beside the database. SQLite's own locks
// cannot say this: a connection in WAL mode holds a lock that keeps other writers out only while it
// writes, and its exclusive mode would keep readers out as well. The lock is not on the database
// itself, as closing that descriptor would drop the locks that SQLite holds in this process.
//
// The system frees it when the process ends, however it ends; a file that is left there means
// nothing.
#pragma once

#include "base/status.h"

typedef struct FileLock {
    char *path; // owned
    int fd;
} FileLock;

// FAILED_PRECONDITION while another server, or another log of this process, has it.
Status lock_take(FileLock *lock, const char *database_path, Error *error);
void lock_release(FileLock *lock); // removes the file
