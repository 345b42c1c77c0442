// SPDX-License-Identifier: MIT
// What reader.c (connection, chunks) and reader_episodes.c (episodes) share.
#pragma once

#include "log/reader.h"

#include <sqlite3.h>

// Statements that are kept prepared. Each goes along an index to what it wants, however long the
// file.
typedef enum ReaderStatement {
    ROW_BY_ID,
    LABELS_OF_EPISODE,
    FIGURES_OF_RECORDING,
    EPISODES_BY_UID,
    EPISODES_BY_NAME,
    CHUNK_AT_STEP,
    CHUNK_BEHIND,
    CHUNK_BY_ID,
    CHUNK_COUNT,
    CHUNK_ROWS,
    READER_STATEMENT_COUNT
} ReaderStatement;

struct LogReader {
    sqlite3 *db;
    sqlite3_stmt *statement[READER_STATEMENT_COUNT];
};

// What several statements say together is of one moment only between these two.
Status reader_begin(LogReader *reader, Error *error);
void reader_end(LogReader *reader);

// A statement gave `code` where it should have given a row, or its end.
Status reader_fail(LogReader *reader, int code, Error *error);
Status reader_memory_ended(const char *what, Error *error);

// SQLite has no number above INT64_MAX.
int64_t reader_clamp(uint64_t value);

// The columns of a row, one after the other. SQLite turns what has another type than it should
// into a number; what is negative and should not be becomes 0.
typedef struct Columns {
    sqlite3_stmt *statement;
    int next;
} Columns;

int64_t columns_i64(Columns *columns);
uint64_t columns_u64(Columns *columns);
