// SPDX-License-Identifier: MIT
// Makes the checksums of a whole recording right again, as somebody would who lies about
// everything.
#pragma once

#include "log/mend.h"

#include <check.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { MEND_CHAINS_MAX = 64 };

// How many worlds share a chain; 0: it is no group, and has one.
static inline int64_t mend_range(sqlite3 *db, int64_t recording) {
    sqlite3_stmt *row;
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT CASE WHEN world_count > 1 OR world_range > 1 THEN "
                                        "world_range ELSE 0 END FROM recording WHERE id = ?1",
                                        -1, &row, NULL),
                     SQLITE_OK);
    sqlite3_bind_int64(row, 1, recording);
    ck_assert_int_eq(sqlite3_step(row), SQLITE_ROW);
    const int64_t range = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return range;
}

// Each chunk of a recording follows the one before it in its chain again, and the seal counts them:
// what is false then is false in content alone. A server that lies about everything could write
// this.
static inline void mend_chain(sqlite3 *db, int64_t recording) {
    sqlite3_stmt *rows, *update;
    const int64_t range = mend_range(db, recording);
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT id, bytes, kind, first_world FROM chunk WHERE "
                                        "recording = ?1 ORDER BY kind = 7, sequence",
                                        -1, &rows, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_prepare_v2(db, "UPDATE chunk SET bytes = ?2 WHERE id = ?1", -1, &update, NULL),
        SQLITE_OK);
    sqlite3_bind_int64(rows, 1, recording);
    uint64_t checksum[MEND_CHAINS_MAX] = {0};
    size_t chains = 1;
    while (sqlite3_step(rows) == SQLITE_ROW) {
        size_t count = (size_t)sqlite3_column_bytes(rows, 1);
        uint8_t *bytes = malloc(count);
        memcpy(bytes, sqlite3_column_blob(rows, 1), count);
        const ChunkKind kind = (ChunkKind)sqlite3_column_int(rows, 2);
        const size_t chain = range == 0 || chunk_kind_is_common(kind)
                                 ? 0
                                 : 1 + (size_t)(sqlite3_column_int64(rows, 3) / range);
        ck_assert_uint_lt(chain, MEND_CHAINS_MAX);
        chains = chain + 1 > chains ? chain + 1 : chains;
        put_u64(bytes, MEND_AT_PREDECESSOR, checksum[chain]);
        for (size_t i = 0; kind == CHUNK_SEAL && i < chains; i++) { // their ends: seal_write
            enum { BEFORE_KINDS = 8 * (7 + 8), BEHIND_KINDS = 8 * (1 + 2), CHAIN_BYTES = 24 };
            const uint8_t version = bytes[8];
            const size_t kinds = version >= CHUNK_FORMAT_SIGNATURES   ? 15
                                 : version >= CHUNK_FORMAT_GEOMETRIES ? 14
                                 : version >= CHUNK_FORMAT_EVENTS     ? 12
                                                                      : 11;
            put_u64(bytes,
                    CHUNK_HEADER_BYTES + BEFORE_KINDS + 8 * kinds + BEHIND_KINDS + CHAIN_BYTES * i,
                    checksum[i]);
        }
        mend_checksum(bytes, count);
        memcpy(&checksum[chain], bytes + CHUNK_HEADER_BYTES - 8, sizeof(checksum[chain]));
        sqlite3_bind_int64(update, 1, sqlite3_column_int64(rows, 0));
        sqlite3_bind_blob(update, 2, bytes, (int)count, SQLITE_STATIC);
        ck_assert_int_eq(sqlite3_step(update), SQLITE_DONE);
        sqlite3_reset(update);
        free(bytes);
    }
    sqlite3_finalize(rows);
    sqlite3_finalize(update);
}
