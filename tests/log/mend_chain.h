// SPDX-License-Identifier: MIT
// Makes the checksums of a whole recording right again, as somebody would who lies about
// everything.
#pragma once

#include "log/mend.h"

#include <check.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// Each chunk of a world's recording follows the one before it again, and the seal counts them: what
// is false then is false in content alone. A server that lies about everything could write this.
static inline void mend_chain(sqlite3 *db, int64_t recording) {
    sqlite3_stmt *rows, *update;
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT id, bytes, kind FROM chunk WHERE recording = ?1 "
                                        "ORDER BY sequence",
                                        -1, &rows, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_prepare_v2(db, "UPDATE chunk SET bytes = ?2 WHERE id = ?1", -1, &update, NULL),
        SQLITE_OK);
    sqlite3_bind_int64(rows, 1, recording);
    uint64_t checksum = 0;
    while (sqlite3_step(rows) == SQLITE_ROW) {
        size_t count = (size_t)sqlite3_column_bytes(rows, 1);
        uint8_t *bytes = malloc(count);
        memcpy(bytes, sqlite3_column_blob(rows, 1), count);
        put_u64(bytes, MEND_AT_PREDECESSOR, checksum);
        if (sqlite3_column_int(rows, 2) == CHUNK_SEAL) { // its one chain's end: seal_write
            enum { CHAIN_END = 8 * (7 + 8 + CHUNK_KIND_COUNT + 1 + 2) };
            put_u64(bytes, CHUNK_HEADER_BYTES + CHAIN_END, checksum);
        }
        mend_checksum(bytes, count);
        memcpy(&checksum, bytes + CHUNK_HEADER_BYTES - 8, sizeof(checksum));
        sqlite3_bind_int64(update, 1, sqlite3_column_int64(rows, 0));
        sqlite3_bind_blob(update, 2, bytes, (int)count, SQLITE_STATIC);
        ck_assert_int_eq(sqlite3_step(update), SQLITE_DONE);
        sqlite3_reset(update);
        free(bytes);
    }
    sqlite3_finalize(rows);
    sqlite3_finalize(update);
}
