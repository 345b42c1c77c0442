// SPDX-License-Identifier: MIT
// How far the write-ahead log has been synced, noted in a file beside it, `FILE-wal-synced`. Frames
// behind that may be torn in any order when the power goes, frames up to there may not: so a start
// can tell what a power cut left from what has been damaged since (care.h).
//
// The note is synced when it is made, before SQLite writes anything, and then only by the system,
// as it likes (within half a minute, by default): who is killed leaves it exact, and after a power
// cut it may say too little, never too much. The log's thread writes it. A clean stop removes it,
// as it does the write-ahead log. Where it cannot be written there is none.
#pragma once

#include "base/status.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum { WAL_SALT_BYTES = 8 };

// Frames from the write-ahead log's beginning, as long as its salts are these: it gets others each
// time that it begins from the front again.
typedef struct WalPlace {
    uint8_t salt[WAL_SALT_BYTES];
    uint64_t frames;
} WalPlace;

typedef struct WalMark {
    char *path; // owned; NULL: there is none
    int fd;
    WalPlace place; // that is in the file
} WalMark;

// Where the write-ahead log of a database lies, also if the path is a symbolic link. Owned by the
// caller; NULL when memory ends.
char *wal_path(const char *database);

// False: nobody knows.
bool wal_mark_read(const char *database, WalPlace *place);

// In front of the first thing that SQLite writes. False: there is no mark, which errno explains.
bool wal_mark_begin(WalMark *mark, const char *database, const WalPlace *place);

// Frames up to there are on the disk.
void wal_mark_note(WalMark *mark, sqlite3 *db, uint64_t frames);

// `removes`: there is no write-ahead log any more.
void wal_mark_end(WalMark *mark, bool removes);

// Removes the mark of a server that was killed, where no write-ahead log is left.
void wal_mark_forget(const char *database);
