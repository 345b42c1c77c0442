// SPDX-License-Identifier: MIT
// The connection that writes: one prepared statement per thing that the log does to its file. For
// one thread at a time; rows are changed between writer_begin and writer_commit alone.
//
// A failed call leaves the transaction as SQLite left it: roll back. ALREADY_EXISTS and
// OUT_OF_RANGE alone are about the row: nothing of it is in the file, and the transaction goes on.
#pragma once

#include "access/seal_key.h"
#include "log/format/definition.h"
#include "log/format/geometries.h"
#include "log/wal/mark.h"

#include <sqlite3.h>

typedef enum WriterStatement {
    WRITE_BEGIN,
    WRITE_COMMIT,
    WRITE_ROLLBACK,
    WRITE_RECORDING,
    WRITE_EPISODES,
    WRITE_LABEL,
    WRITE_CHUNK,
    WRITE_HIGHLIGHT,
    WRITE_TOUCH,
    WRITE_TOUCH_BODY,
    WRITE_GEOMETRY,
    WRITE_WORN,
    WRITE_EPISODE_END,
    WRITE_RECORDING_END,
    WRITE_DELETION,
    WRITE_PIN,
    READ_CHAINS,
    READ_CHAIN_END,
    READ_SEAL,
    READ_DEFINITION,
    READ_OPEN,
    READ_EPISODE,
    READ_DELETION,
    READ_ORPHAN,
    READ_STRAY,
    READ_FREE_PAGES,
    READ_USED_BYTES,
    READ_ENDED,
    READ_NEWEST,
    READ_NEWER,
    READ_EPISODE_COUNT,
    READ_PINNED,
    READ_UID,
    READ_PLACE,
    READ_GEOMETRY,
    READ_PLACES,
    READ_BYTES,
    MEND_CHUNK,
    DELETE_WORN_OUT,
    DELETE_WORN,
    DELETE_LABELS,
    DELETE_EPISODE,
    DELETE_EPISODES,
    DELETE_CHUNKS,
    DELETE_HIGHLIGHTS,
    DELETE_TOUCHES,
    DELETE_TOUCH_BODIES,
    DELETE_RECORDING,
    DELETE_DELETION,
    WRITER_STATEMENT_COUNT
} WriterStatement;

enum { WRITER_NAMES_MAX = 256 }; // of geometries that are known to be in the file, and whole

typedef struct Writer {
    sqlite3 *db; // owned
    sqlite3_stmt *statement[WRITER_STATEMENT_COUNT];
    bool full_durability;
    bool is_synced;          // the transaction under way
    const SealKey *seal_key; // borrowed; NULL: what it ends is not signed
    WalMark *wal_mark;       // borrowed; NULL: nobody notes what is synced
    // owned: [WRITER_NAMES_MAX], round and round; forgotten with every rollback and deletion
    uint8_t (*geometry)[SHA256_BYTES];
    size_t geometry_count;
} Writer;

Status writer_open(Writer *writer, const char *path, bool full_durability, Error *error);
void writer_close(Writer *writer);

// `synced`: on the disk when it is committed, whatever the durability.
Status writer_begin(Writer *writer, bool synced, Error *error);
Status writer_commit(Writer *writer, Error *error);
void writer_rollback(Writer *writer);

#define WRITER_NEXT_ROW INT64_MIN

// The recording, its labels and, of a world, its episode, in the row that is asked for, or the
// next.
Status writer_add_recording(Writer *writer, const RecordingDef *def, int64_t *recording,
                            Error *error);

// Of the two halves of writer_add_chunk the first: the row of the chunk alone.
Status writer_put_chunk(Writer *writer, int64_t recording, const Chunk *chunk, const uint8_t *bytes,
                        size_t count, Error *error);
Status writer_add_derived(Writer *writer, int64_t recording, const Chunk *chunk, Error *error);

// The recording's definition, if it is there and sound; else NOT_FOUND with *error untouched.
Status writer_read_definition(Writer *writer, int64_t recording, Arena *arena, RecordingDef *def,
                              Error *error);

// The recording's seal, as writer_read_definition; one of another uid is none.
Status writer_read_seal(Writer *writer, int64_t recording, const uint8_t uid[UID_BYTES],
                        Arena *arena, RecordingSeal *seal, Error *error);

// A sealed chunk, and the rows that follow from it: of highlights, touches, finished episodes.
Status writer_add_chunk(Writer *writer, int64_t recording, const Chunk *chunk, const uint8_t *bytes,
                        size_t count, Error *error);

// The geometry is in the file, whole, whether it was there or not; *is_new (Nullable): it was not,
// or was damaged. OUT_OF_RANGE: it fits into no row.
Status writer_put_geometry(Writer *writer, const LogGeometry *geometry, bool *is_new, Error *error);

// The row of that id says what the chunk says; *changed: it did not.
Status writer_mend_chunk(Writer *writer, int64_t id, int64_t recording, const Chunk *chunk,
                         bool *changed, Error *error);

// The recording of this uid; NOT_FOUND with *error untouched: none.
Status writer_find_recording(Writer *writer, const uint8_t uid[UID_BYTES], int64_t *recording,
                             Error *error);

// The first row above `above` that stands where the chunk stands. NOT_FOUND, with *error untouched:
// none. *is_same: it is this very chunk, whole.
Status writer_find_place(Writer *writer, int64_t recording, const Chunk *chunk, int64_t above,
                         int64_t *id, bool *is_same, Error *error);

// The rows of a recording say what its seal says. `def`: of the recording.
Status writer_end_recording(Writer *writer, int64_t recording, const RecordingDef *def,
                            const RecordingSeal *seal, Error *error);

// Ends a recording that nobody ended: where its seal says, if it has one, or else where its
// committed chunks end, with a seal that says so; that is signed as it was found where the writer
// has the key that signed what is there (found.h). `last_step` Nullable.
Status writer_interrupt(Writer *writer, int64_t recording, const char *why, uint64_t *last_step,
                        Error *error);

// Ends what a crash left open, all in one transaction; `found` (on this thread) is told of each.
typedef void WriterFound(const uint8_t uid[UID_BYTES], uint64_t last_step, void *context);
Status writer_interrupt_open(Writer *writer, WriterFound *found, void *context, Error *error);

// ---- errands

// NOT_FOUND: no such episode.
Status writer_pin_episode(Writer *writer, const uint8_t uid[UID_BYTES], bool is_pinned,
                          Error *error);

// ---- deleting: first the episode's row, and the intent to remove the rest; then that, in pieces

typedef struct Deletion {
    int64_t recording; // 0: none
    uint8_t uid[UID_BYTES];
} Deletion;

// `deletion`: what is to be removed with it; recording 0 when other episodes need it. NOT_FOUND;
// FAILED_PRECONDITION while it is being recorded, or pinned.
Status writer_delete_episode(Writer *writer, const uint8_t uid[UID_BYTES], uint64_t now_ns,
                             Deletion *deletion, Error *error);

// Removes some chunks of that recording, or, when there are none, its row and the intent: then
// *is_gone. What is not the recording's by its own sealed word is left where it is.
Status writer_delete_piece(Writer *writer, const Deletion *deletion, bool *is_gone, Error *error);

// The next intent above this row id whose checksum is right and whose recording has no episode.
// NOT_FOUND, with *error untouched: none. `unsound` counts those passed over.
Status writer_find_deletion(Writer *writer, int64_t above, Deletion *deletion, uint64_t *unsound,
                            Error *error);

// What nobody finds by an episode any more: recordings without one, and chunks whose recording's
// row is gone (in how many recordings).
Status writer_count_orphans(Writer *writer, uint64_t *recordings, uint64_t *strays, Error *error);

// ---- retention

// Of the pages that hold something.
Status writer_used_bytes(Writer *writer, uint64_t *bytes, Error *error);

// A recording that is neither being recorded nor being deleted, as its row has it.
typedef struct EndedRecording {
    Deletion recording;
    uint64_t begun_ns, ended_ns; // since 1970
} EndedRecording;

// The one that ended first comes first.
static inline bool ended_is_before(const EndedRecording *a, const EndedRecording *b) {
    return a->ended_ns != b->ended_ns ? a->ended_ns < b->ended_ns
                                      : a->recording.recording < b->recording.recording;
}

// The first `count` of those behind `behind`, which may be all zero.
Status writer_list_ended(Writer *writer, const EndedRecording *behind, EndedRecording *list,
                         size_t *count, Error *error);

// The recording that has the count-th newest episode: those before it have none of the `count`
// newest. All zero: there are not so many. What is later than now says no truth, and does not
// count.
Status writer_find_newest(Writer *writer, uint64_t count, uint64_t now_ns, EndedRecording *newest,
                          Error *error);

// Whether none ended later, until now.
Status writer_is_newest(Writer *writer, const EndedRecording *ended, uint64_t now_ns,
                        bool *is_newest, Error *error);

// Whether what is sealed in its chunks says the same as its row, and an episode leads to it.
Status writer_check_ended(Writer *writer, const EndedRecording *ended, bool *is_sound,
                          Error *error);

Status writer_is_pinned(Writer *writer, int64_t recording, bool *is_pinned, Error *error);

enum { WRITER_PIECE_EPISODES = 1000 }; // whose rows one piece removes

typedef enum RetireOutcome {
    RETIRE_NOT,   // an episode of it is pinned
    RETIRE_MORE,  // episodes are gone, and others are left
    RETIRE_INTENT // all are, and what follows is writer_delete_piece
} RetireOutcome;

// Removes some episodes of a recording that has ended, `episodes` of them, and with the last one
// says that the rest is to go.
Status writer_retire_piece(Writer *writer, const Deletion *deletion, uint64_t now_ns,
                           uint64_t *episodes, RetireOutcome *outcome, Error *error);

// ---- room

// Gives up to `pages` free pages back to the disk. `left`: free pages that remain.
Status writer_vacuum(Writer *writer, int pages, int64_t *left, Error *error);

// Brings what readers let it bring into the file; `left` frames (Nullable) are not yet there.
Status writer_checkpoint(Writer *writer, int *left, Error *error);

// Builds an index (indexes.h) anew from its table, in somebody's transaction.
Status writer_reindex(Writer *writer, size_t index, Error *error);

// All of it into the one file, which is then in rollback-journal mode. UNAVAILABLE when another
// program has the file open: then all is in the file as well, but the mode stays.
Status writer_settle(Writer *writer, Error *error);
