// SPDX-License-Identifier: MIT
// What reader.c (connection, chunks), episodes.c and recordings.c share.
#pragma once

#include "log/format/indexes.h"
#include "log/reader/reader.h"

#include <sqlite3.h>

// Statements that are kept prepared. Each goes along an index to what it wants, however long the
// file.
typedef enum ReaderStatement {
    ROW_BY_ID,
    LABELS_OF_RECORDING,
    RECORDINGS_BY_UID,
    RECORDINGS_BY_NAME,
    ENDS_OF_RECORDING,
    FIGURES_OF_RECORDING,
    EPISODES_BY_UID,
    EPISODES_BY_NAME,
    HIGHLIGHTS_COUNT,
    HIGHLIGHTS_WORST,
    HIGHLIGHTS_STRAY,
    TOUCHES,
    TOUCH_BODIES,
    TOUCH_NAME,
    CHUNK_AT_STEP,
    CHUNK_BEHIND,
    CHUNK_BY_ID,
    CHUNK_COUNT,
    CHUNK_ROWS,
    DATA_VERSION,
    GEOMETRY_BY_NAME,
    WORN_BY_RECORDING,
    READER_STATEMENT_COUNT
} ReaderStatement;

// What a proof found whole of a group's recording, beside the episode that it was asked for: it is
// as long as nobody has written into the file. recording 0: nothing.
typedef struct ProofSeen {
    int64_t recording, first_world, data_version;
} ProofSeen;

// What that proof read (proof_kept.c).
typedef struct ProofKept {
    bool is_there;
    Arena memory;
    ChunkRow *row, *common; // of the range and of all
    size_t row_count, common_count;
    bool *is_opened; // of `row`: its bytes were whole
    LogChunk definition, seal;
} ProofKept;

// The chunk of finished episodes that was looked at last: it is of all ranges, which are asked for
// by turns. It is as long as nobody has written into the file. recording 0: none.
typedef struct RecordsKept {
    int64_t recording, data_version;
    Arena memory;
    LogChunk chunk;
} RecordsKept;

// What the chunks of a recording add up to, all of which must be read for that: episodes of groups,
// which are many, share it as long as nobody has written into the file.
typedef struct RecordingSums {
    bool known;
    int64_t recording, data_version;
    uint64_t chunk_count, keyframe_count, frame_chunk_count, bytes;
    uint64_t last_step; // that is committed
    double time;
    StepFigures figures;
} RecordingSums;

enum { LIST_MARKS_MAX = 64 }; // of a group of 4,096 worlds in ranges of 64 all

struct LogReader {
    sqlite3 *db;
    sqlite3_stmt *statement[READER_STATEMENT_COUNT];
    Indexes indexes;
    const char *view;              // borrowed; Nullable: it sees all namespaces
    ListMark mark[LIST_MARKS_MAX]; // the newest, round and round
    size_t mark_next;
    RecordingSums sums; // of the row that was read last
    ProofSeen seen;
    ProofKept kept; // as long as `seen` is true
    RecordsKept records;
};

// What several statements say together is of one moment only between these two.
Status reader_begin(LogReader *reader, Error *error);
void reader_end(LogReader *reader);

// Another one where another connection has written since.
Status reader_data_version(LogReader *reader, int64_t *version, Error *error);

// A statement gave `code` where it should have given a row, or its end.
Status reader_fail(LogReader *reader, int code, Error *error);
Status reader_memory_ended(const char *what, Error *error);

// The number that a statement counts, which is finalised.
Status reader_take_count(LogReader *reader, sqlite3_stmt *statement, uint64_t *count, Error *error);

// SQLite has no number above INT64_MAX.
int64_t reader_clamp(uint64_t value);

// The first world of the chunks of this kind that an episode's world stands in.
int64_t reader_first_world(const EpisodeRow *episode, ChunkKind kind);

// The columns of a row, one after the other. SQLite turns what has another type than it should
// into a number, and what is negative and should not be becomes 0: the first such column is named
// in `odd` (Nullable, 32 bytes).
typedef struct Columns {
    sqlite3_stmt *statement;
    int next;
    char *odd;
} Columns;

void columns_note(Columns *columns, const char *name);
int64_t columns_i64(Columns *columns, const char *name);
uint64_t columns_u64(Columns *columns, const char *name);
double columns_double(Columns *columns, const char *name);
void columns_figures(Columns *columns, StepFigures *figures); // zeros where they are NULL
bool columns_are_null(const Columns *columns);                // the next one is
bool columns_uid(Columns *columns, uint8_t uid[UID_BYTES]);   // false: it is none

enum { UID_DIGITS = 2 * UID_BYTES };
enum { UID_DIGITS_MIN = 4 }; // of the beginning of a uid

// The lowest and the highest uid that begin with these digits. False when they are none.
bool reader_uid_range(const char *text, uint8_t low[UID_BYTES], uint8_t high[UID_BYTES]);

// The last four bytes are an episode's number; the rest with zeros, as they are left, is its
// recording's uid.
uint32_t reader_uid_number(uint8_t uid[UID_BYTES]);

// As their namesakes of reader.h, within somebody's reader_begin and reader_end.
Status reader_row(LogReader *reader, int64_t episode, Arena *arena, EpisodeRow *row, Error *error);
Status reader_highlights(LogReader *reader, const EpisodeRow *episode, HighlightKind kind,
                         size_t count_max, Arena *arena, Highlight **highlights, size_t *count,
                         uint64_t *total, Error *error);

// Asks `context` (Nullable) now and then while statements run, until it is called with NULL:
// then a statement may end as SQLITE_INTERRUPT, of which reader_fail makes ABORTED.
void reader_watch(LogReader *reader, const Context *context);

// Texts of conditions, put together. What does not fit fails an assertion: sizes follow from the
// limits on conditions.
typedef struct Sql {
    char text[8192];
    size_t length;
} Sql;

void sql_add(Sql *sql, const char *format, ...) __attribute__((format(printf, 2, 3)));

// " AND …" for what a touch `t` is asked for, in parameters with `number` in their names; `of`: the
// SQL that says which recording it is of.
// In front of it, for lists of episodes: the recordings `r` that have bodies of the names that are
// asked for, which an index knows.
void touch_write_recordings(const TouchFilter *filter, size_t number, Sql *sql);
void touch_write_conditions(const TouchFilter *filter, const char *of, size_t number, Sql *sql);
void touch_bind_conditions(sqlite3_stmt *statement, const TouchFilter *filter, size_t number);

// What a touch is made of, in the order in which columns_touch takes it.
#define TOUCH_COLUMNS                                                                              \
    "first_step, body, other_body, last_step, approach, first_impulse, hardest_impulse, "          \
    "hardest_step"

// The next row of the statement TOUCHES or TOUCH_BODIES, which go through all of a recording.
Touch columns_touch(Columns *columns);

// The rows of chunks of one kind: how many there are, and, in the same moment, what they say.
Status reader_count_chunks(LogReader *reader, const EpisodeRow *episode, ChunkKind kind,
                           size_t *count, Error *error);
Status reader_chunk_rows(LogReader *reader, const EpisodeRow *episode, ChunkKind kind,
                         ChunkRow *rows, size_t count, Error *error);

// How many rows of highlights of the episode's recording nobody writes: of an unknown kind, of
// worlds that no chunk has, or with other things than numbers in them.
Status reader_stray_highlights(LogReader *reader, const EpisodeRow *episode, uint64_t *count,
                               Error *error);
