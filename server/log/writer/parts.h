// SPDX-License-Identifier: MIT
// What writer.c (connection, new rows), end.c (ends, crashes), delete.c and
// keep.c share: statements and how numbers get into them.
#pragma once

#include "log/writer/writer.h"

static inline sqlite3_stmt *writer_get(Writer *writer, WriterStatement which) {
    return writer->statement[which];
}

// One step; `doing` for the sentence. *has_row Nullable for statements that give none.
Status writer_step(Writer *writer, WriterStatement which, const char *doing, bool *has_row,
                   Error *error);

static inline void bind_u64(sqlite3_stmt *statement, int index, uint64_t value) {
    sqlite3_bind_int64(statement, index, (sqlite3_int64)value);
}

// Borrowed until the statement is done.
static inline void bind_text(sqlite3_stmt *statement, int index, const char *text) {
    sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
}

static inline void bind_uid(sqlite3_stmt *statement, int index, const uint8_t uid[UID_BYTES]) {
    sqlite3_bind_blob(statement, index, uid, UID_BYTES, SQLITE_STATIC);
}

// Eight columns from `index` on; NULL: eight nulls.
void bind_figures(sqlite3_stmt *statement, int index, const StepFigures *figures);

// The rows of what a chunk of geometries names.
Status writer_add_worn(Writer *writer, int64_t recording, const Chunk *chunk, Error *error);

// Notes what is to be deleted, in its transaction.
Status writer_put_intent(Writer *writer, const Deletion *deletion, uint64_t now_ns, Error *error);

// Zeros where it is none.
void writer_copy_uid(sqlite3_stmt *statement, int column, uint8_t uid[UID_BYTES]);
