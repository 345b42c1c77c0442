// SPDX-License-Identifier: MIT
// The file: one SQLite database of recordings, episodes and chunks. README.md beside this file
// explains it for people; schema.sql-like text lives in schema.c alone.
#pragma once

#include "base/status.h"

#include <sqlite3.h>

enum { SCHEMA_APPLICATION_ID = 0x4d4f5255 }; // "MORU"
enum { SCHEMA_VERSION = 11 };                // PRAGMA user_version
enum { SCHEMA_PAGE_BYTES = 32768 };          // a chunk is tens of kilobytes: few overflow pages

// Before the mode of the file changes, in its header and so under a rollback journal. Below FULL
// that is synced once: a power cut may leave a journal that counts a page of which only a part has
// come to the disk, and as a page's sum is of every 200th byte, a header of zeros is put back.
// EXTRA keeps a journal that is done with from coming back.
#define SCHEMA_HEADER_SYNC_SQL "PRAGMA synchronous = EXTRA"

// What can be said of a path that is to be written before anything is made: no such folder, not
// permitted, a folder, no ordinary file. OK when it can be made.
Status schema_check_path(const char *path, Error *error);

// Opens for writing; makes the tables where the file is new, and brings one of version 2 to 4
// to this one, in one transaction. Errors tell apart: no such folder, not permitted,
// read-only, no database at all, somebody else's database (application_id), a newer version or one
// from before the first release (names both), damaged or cut short. The connection is in WAL mode.
Status schema_open(const char *path, bool full_durability, sqlite3 **db, Error *error);

// Opens for reading: read-only, no mmap, never checkpoints, also not on close. A file of an older
// version is FAILED_PRECONDITION until somebody has opened it for writing.
Status schema_open_reader(const char *path, sqlite3 **db, Error *error);

// As schema_open_reader, of any version that schema_open takes, but for whoever may write: what a
// crash left in a rollback journal is taken back first, which a reader cannot.
Status schema_open_whole(const char *path, sqlite3 **db, Error *error);

// Opens what schema_open_reader finds damaged, to read what can be read, in one
// transaction. *db is to be closed also after an error.
Status schema_open_damaged(const char *path, sqlite3 **db, Error *error);

// A sentence and a status for what SQLite said last: RESOURCE_EXHAUSTED for a full disk or a limit
// of space, DATA_LOSS for damage, UNAVAILABLE for the rest. `doing` as in "writing an episode".
Status schema_error(sqlite3 *db, int code, const char *doing, Error *error);
