// SPDX-License-Identifier: MIT
// A sound copy of a log's file, made while it is written: SQLite's online backup from the very
// connection that writes, so that pages changed meanwhile go over by themselves, bite by bite
// between transactions, and no transaction stays open in between. The copy is made under a name of
// its own in the folder, one per log, and gets its real name when it is whole and on the disk.
#pragma once

#include "base/status.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

typedef struct Backup {
    char *folder, *partial; // owned; NULL: this log has no folder for backups
    dev_t log_device;
    ino_t log_inode;
    sqlite3 *source;  // borrowed
    bool shares_disk; // with the log: some of it stays free
    sqlite3 *db;      // owned; the copy, while it is being made
    sqlite3_backup *handle;
    uint64_t page_bytes;
} Backup;

// `folder` NULL: none. Removes what a crash has left there. `log_path` exists.
Status backup_init(Backup *backup, const char *folder, const char *log_path, Error *error);
void backup_deinit(Backup *backup);

// A plain name of a file in the folder, which has none of this name, unless it is to be replaced.
// INVALID_ARGUMENT, ALREADY_EXISTS, FAILED_PRECONDITION; blames `name`.
Status backup_check_name(const Backup *backup, const char *name, bool replaces, Error *error);

// On the source's thread, outside of its transactions.
Status backup_begin(Backup *backup, sqlite3 *source, Error *error);

// Copies some pages. `done` and `total` [bytes]; equal when all is there.
Status backup_some(Backup *backup, uint64_t *done, uint64_t *total, Error *error);

// What was copied becomes one file that any SQLite opens. The connection is gone afterwards.
Status backup_end(Backup *backup, Error *error);

// Waits for the disk, then gives the copy its name. Any thread.
Status backup_publish(const Backup *backup, const char *name, bool replaces, uint64_t *bytes,
                      Error *error);

// Nothing is left of it. Also after an error, and after what is whole already.
void backup_abandon(Backup *backup);
void backup_remove_partial(const Backup *backup);
