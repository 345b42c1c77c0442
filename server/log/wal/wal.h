// SPDX-License-Identifier: MIT
// SQLite's write-ahead log, judged before SQLite may touch it (its file format document, "The
// WAL-Index" and "WAL Format"). SQLite takes frames as long as the salts of each are the header's
// and its checksum follows from the one before, up to the last that ends a transaction; what comes
// behind it writes over. That is right for the torn end that a killed server leaves. It is wrong
// where one bit of a frame has flipped, and hundreds of sound transactions follow.
//
//   header | frame | frame | ... each frame: page number, pages of the file if it ends a
//                                transaction, two salts, two sums, and the page
//
// The sums are linear in the words that they are of: which bits of a frame could have flipped, for
// its sums to be what they are, can be told. Of a word's lower bits it is one alone of the 262,000;
// of the upper twelve it may be some hundred, as the sums are modulo 2^32. Then the frames around
// it are asked: which sums the next one followed, whether page numbers rise, and whether a later
// frame has the page again, so that it does not matter. What is left is damage.
#pragma once

#include "base/status.h"

#include "log/wal/mark.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WAL_FLIPS_MAX = 16 };

typedef struct WalFlip {
    uint64_t at;  // byte of the write-ahead log
    uint8_t mask; // the bit
} WalFlip;

typedef struct WalJudged {
    size_t page_bytes;
    uint64_t frame_count; // that lie whole in the file
    uint64_t sound_count; // up to the last that ends a transaction, the flips turned back
    WalFlip flip[WAL_FLIPS_MAX];
    size_t flip_count;
    uint64_t lost_count; // transactions behind what is damaged beyond that
    uint64_t lost_end;   // the frame that ends the last of them, from 1
    uint64_t bad_frame;  // the first one that is damaged, from 1; 0: the header
    bool is_hole;        // in its place lies what was there before, or nothing: it was not written
    bool is_flipped;     // a bit explains it, but which one nothing says: it was not torn
    bool is_taken_in;    // frames behind it are in the database already, so its beginning alone is
                         // no state that there ever was
    bool has_mark;       // it is known how far …
    WalPlace synced;     // … the log was on the disk; its salts are the log's
} WalJudged;

// Nothing there is OK, and all zero. `database` is closed again: no connection of this process may
// have it open.
Status wal_judge(const char *database, WalJudged *judged, Error *error);

// Turns the flipped bits back, synced.
Status wal_mend(const char *database, const WalJudged *judged, Error *error);

// Leaves what SQLite takes of it as it stands, synced: all up to the last sound transaction.
Status wal_cut(const char *database, const WalJudged *judged, Error *error);

// How much SQLite takes of it, which is synced now.
Status wal_sync(const char *database, const WalJudged *judged, WalPlace *place, Error *error);

// Makes SQLite take all frames up to the last sound transaction, what is damaged between as it
// stands: its salts and sums are made anew. What came of it is for a check of the database to find.
Status wal_reseal(const char *database, const WalJudged *judged, Error *error);
