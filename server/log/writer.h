// SPDX-License-Identifier: MIT
// The connection that writes: one prepared statement per thing that the log does to its file. For
// one thread at a time; rows are changed between writer_begin and writer_commit alone.
//
// A failed call leaves the transaction as SQLite left it: roll back. ALREADY_EXISTS and
// OUT_OF_RANGE alone are about the row: nothing of it is in the file, and the transaction goes on.
#pragma once

#include "log/log.h"

#include <sqlite3.h>

typedef enum WriterStatement {
    WRITE_BEGIN,
    WRITE_COMMIT,
    WRITE_ROLLBACK,
    WRITE_RECORDING,
    WRITE_EPISODE,
    WRITE_LABEL,
    WRITE_CHUNK,
    WRITE_EPISODE_END,
    WRITE_RECORDING_END,
    READ_LAST_CHUNK,
    READ_OPEN,
    READ_EPISODE,
    READ_LEFT_OVER,
    DELETE_LABELS,
    DELETE_EPISODE,
    DELETE_CHUNKS,
    DELETE_RECORDING,
    WRITER_STATEMENT_COUNT
} WriterStatement;

typedef struct Writer {
    sqlite3 *db; // owned
    sqlite3_stmt *statement[WRITER_STATEMENT_COUNT];
    bool full_durability;
    bool is_synced; // the transaction under way
} Writer;

Status writer_open(Writer *writer, const char *path, bool full_durability, Error *error);
void writer_close(Writer *writer);

// `synced`: on the disk when it is committed, whatever the durability.
Status writer_begin(Writer *writer, bool synced, Error *error);
Status writer_commit(Writer *writer, Error *error);
void writer_rollback(Writer *writer);

// The recording, its episode and its labels. `begun_ns` since 1970.
Status writer_add_recording(Writer *writer, const RecordingDef *def, uint64_t begun_ns,
                            const char *server_version, int64_t *recording, Error *error);

typedef struct ChunkRecord {
    ChunkKind kind;
    uint64_t first_step, last_step;
    uint64_t written_ns;  // since 1970
    ChunkFigures figures; // of an inputs chunk
    const uint8_t *bytes; // borrowed, sealed
    size_t count;
} ChunkRecord;

Status writer_add_chunk(Writer *writer, int64_t recording, const ChunkRecord *chunk, Error *error);

typedef struct WriterEnd {
    RecordingState state;
    const char *why; // of an interruption
    uint64_t last_step, dropped_steps;
    uint64_t ended_ns; // since 1970
} WriterEnd;

Status writer_end_recording(Writer *writer, int64_t recording, const WriterEnd *end, Error *error);

// Ends it where its committed chunks end. `last_step` Nullable.
Status writer_interrupt(Writer *writer, int64_t recording, const char *why, uint64_t *last_step,
                        Error *error);

// Ends what a crash left open, all in one transaction; `found` (on this thread) is told of each.
typedef void WriterFound(const uint8_t uid[UID_BYTES], uint64_t last_step, void *context);
Status writer_interrupt_open(Writer *writer, WriterFound *found, void *context, Error *error);

// ---- deleting, in pieces: an episode's rows first, so that nobody finds it any more

// `recording`: what is to be removed with it, or 0 when other episodes need it.
Status writer_delete_episode(Writer *writer, const uint8_t uid[UID_BYTES], int64_t *recording,
                             Error *error);

// Removes some chunks, or, when there are none, the recording's row: then *is_gone.
Status writer_delete_piece(Writer *writer, int64_t recording, bool *is_gone, Error *error);

// A recording without an episode: its deletion was cut off. NOT_FOUND as above.
Status writer_find_left_over(Writer *writer, int64_t *recording, Error *error);

// ---- the write-ahead log

// Brings what readers let it bring into the file; `left` frames (Nullable) are not yet there.
Status writer_checkpoint(Writer *writer, int *left, Error *error);

// All of it into the one file, which is then in rollback-journal mode. UNAVAILABLE when another
// program has the file open: then all is in the file as well, but the mode stays.
Status writer_settle(Writer *writer, Error *error);
