// SPDX-License-Identifier: MIT
#include "log/reader/reader.h"

#include "base/bytes.h"
#include "log/format/members.h"
#include "log/reader/parts.h"
#include "log/format/gained.h"
#include "log/format/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// what a chunk's row says beside its bytes
#define CHUNK_COLUMNS "id, kind, sequence, first_world, world_count, first_step, last_step"

// NULL sees everything.
#define SEEN(of, view) " AND (" view " IS NULL OR " of "namespace = " view ")"

static const char *const statement_sql[READER_STATEMENT_COUNT] = {
    // in the order in which take_row takes them
    [ROW_BY_ID] =
        "SELECT e.id, e.recording, r.uid, e.number, e.state, r.state, r.content, r.stride,"
        "  r.keyframe_steps, r.lossy, r.dynamics_version, e.world_index, r.world_count,"
        "  r.world_range, r.world_step, r.world_time, r.time_step, r.body_count, e.begun_ns,"
        "  e.ended_ns, r.begun_ns, r.ended_ns, r.dropped_steps, e.pinned,"
        "  r.events, r.name, r.client, r.world_name, r.solver, r.server_version, r.build, r.why,"
        "  e.seed, e.return_sum, e.parent, e.parent_step, e.first_step, e.last_step,"
        "  e.simulated_s, e.unconverged, e.worst_own, e.worst_penetration, e.contacts_max,"
        "  e.hardest_impact, e.hardest_impact_step, e.energy_gain, e.energy_gain_step, e.gain,"
        "  e.gain_scale, e.gain_step, e.length, e.turn, e.doubtful_steps, e.return_doubtful, "
        "e.opinions, e.opinion_gap_max"
        " FROM episode e LEFT JOIN recording r ON r.id = e.recording WHERE e.id = ?1",
    [LABELS_OF_RECORDING] = "SELECT label FROM label WHERE recording = ?1 ORDER BY label",
    [RECORDINGS_BY_UID] = "SELECT id, uid, world_count, world_range, state, dynamics_version,"
                          " content, stride FROM recording"
                          " WHERE uid BETWEEN ?1 AND ?2" SEEN("", "?3") " LIMIT 2",
    [RECORDINGS_BY_NAME] = "SELECT id, uid, world_count, world_range, state, dynamics_version,"
                           " content, stride FROM recording"
                           " WHERE name = ?1" SEEN("", "?2") " ORDER BY id DESC LIMIT 2",
    [ENDS_OF_RECORDING] = "SELECT world_index, last_step, state FROM episode"
                          " WHERE id" MEMBERS_OF("?1"),
    // total() is a number whatever it adds up, sum() an error when the file is full of lies
    [FIGURES_OF_RECORDING] =
        "SELECT count(*), count(*) FILTER (WHERE kind = 1), count(*) FILTER (WHERE kind = 3),"
        "  total(length(bytes)), max(last_step) FILTER (WHERE kind IN (2, 5)), max(time_s),"
        "  total(unconverged), max(worst_own), max(worst_penetration), max(contacts_max),"
        "  max(hardest_impact), 0, max(energy_gain), 0, " GAIN_SUM_SQL ", " GAIN_SCALE_SQL
        ", " GAIN_STEP_SQL " FROM chunk WHERE recording = ?1",
    [EPISODES_BY_UID] = "SELECT e.id FROM recording r JOIN episode e ON"
                        " e.id BETWEEN (r.id << 32) + ?3 AND (r.id << 32) + ?4"
                        " WHERE r.uid BETWEEN ?1 AND ?2" SEEN("r.", "?5") " LIMIT 2",
    [EPISODES_BY_NAME] = "SELECT e.id FROM recording r JOIN episode e ON e.id" MEMBERS_OF(
        "r.id") " WHERE r.name = ?1" SEEN("r.", "?2") " LIMIT 2",
    [HIGHLIGHTS_COUNT] = "SELECT count(*) FROM highlight WHERE recording = ?1 AND kind = ?2 AND"
                         " first_world = ?3",
    [HIGHLIGHTS_WORST] = "SELECT first_step, last_step, step, value, reason, body, contacts,"
                         " other_body, height, joint FROM"
                         " highlight WHERE"
                         " recording = ?1 AND kind = ?2 AND first_world = ?3"
                         " ORDER BY value DESC, first_step LIMIT ?4",
    [HIGHLIGHTS_STRAY] =
        "SELECT count(*) FROM highlight WHERE recording = ?1 AND (kind NOT IN (1, 2, 3, 4, 5)"
        " OR first_world % ?2 <> 0 OR first_world NOT BETWEEN 0 AND ?3 - 1"
        " OR typeof(first_world) || typeof(first_step) || typeof(last_step) || typeof(step)"
        " || typeof(value) <> 'integerintegerintegerintegerreal'"
        " OR CASE typeof(reason) || typeof(body) || typeof(contacts) || typeof(other_body)"
        " || typeof(height) || typeof(joint)"
        " WHEN 'nullnullnullnullnullnull' THEN kind IN (4, 5)"
        " WHEN 'integerintegerintegernullnullnull' THEN kind <> 1 OR reason < 1"
        " WHEN 'nullintegernullintegerrealnull' THEN kind <> 4"
        " WHEN 'nullnullnullnullnullinteger' THEN kind <> 5 ELSE 1 END)",
    [TOUCHES] = "SELECT " TOUCH_COLUMNS " FROM touch WHERE recording = ?1"
                " ORDER BY first_step, body, other_body",
    [TOUCH_BODIES] = "SELECT body, name FROM touch_body WHERE recording = ?1 ORDER BY body",
    [TOUCH_NAME] = "SELECT name FROM touch_body WHERE recording = ?1 AND body = ?2",
    [CHUNK_AT_STEP] = "SELECT " CHUNK_COLUMNS ", bytes FROM chunk"
                      " WHERE recording = ?1 AND first_world = ?2 AND kind = ?3 AND"
                      " first_step <= ?4 ORDER BY first_step DESC, sequence DESC LIMIT 1",
    // One comparison of (first_step, sequence) would go through all chunks of the same step
    [CHUNK_BEHIND] =
        "SELECT " CHUNK_COLUMNS ", bytes FROM chunk WHERE id = coalesce("
        " (SELECT id FROM chunk WHERE recording = ?1 AND first_world = ?2 AND kind = ?3 AND"
        "  first_step = ?4 AND sequence > ?5 ORDER BY sequence LIMIT 1),"
        " (SELECT id FROM chunk WHERE recording = ?1 AND first_world = ?2 AND kind = ?3 AND"
        "  first_step > ?4 ORDER BY first_step, sequence LIMIT 1))",
    [CHUNK_BY_ID] = "SELECT " CHUNK_COLUMNS ", bytes FROM chunk"
                    " WHERE id = ?4 AND recording = ?1 AND first_world = ?2 AND kind = ?3",
    [CHUNK_COUNT] = "SELECT count(*) FROM chunk WHERE recording = ?1 AND first_world = ?2 AND"
                    " kind = ?3",
    [CHUNK_ROWS] =
        "SELECT " CHUNK_COLUMNS ", time_s, written_ns, unconverged, worst_own,"
        "  worst_penetration, contacts_max, hardest_impact, hardest_impact_step,"
        "  energy_gain, energy_gain_step, gain, gain_scale, gain_step, solver, length(bytes),"
        "  substr(bytes, 1, ?4)"
        " FROM chunk WHERE recording = ?1 AND first_world = ?2 AND kind = ?3"
        " ORDER BY first_step, sequence",
    [GEOMETRY_BY_NAME] = "SELECT bytes FROM geometry WHERE name = ?1",
    [WORN_BY_RECORDING] = "SELECT geometry FROM worn WHERE recording = ?1 ORDER BY geometry",
    [DATA_VERSION] = "PRAGMA data_version", // another one where another connection has written
};

// ---- the connection

Status log_reader_open(const char *path, LogReader **reader, Error *error) {
    LogReader *opened = calloc(1, sizeof(*opened));
    if (opened == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "Memory ended while opening the log for reading.");
    }
    Status status = schema_open_reader(path, &opened->db, error);
    for (size_t i = 0; status == STATUS_OK && i < READER_STATEMENT_COUNT; i++) {
        int code = sqlite3_prepare_v3(opened->db, statement_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                      &opened->statement[i], NULL);
        if (code != SQLITE_OK) {
            status = schema_error(opened->db, code, "opening the log for reading", error);
        }
    }
    if (status != STATUS_OK) {
        log_reader_close(opened);
        return status;
    }
    *reader = opened;
    return STATUS_OK;
}

void log_reader_see(LogReader *reader, const char *space) {
    reader->view = space;
}

void log_reader_close(LogReader *reader) {
    if (reader == NULL) {
        return;
    }
    for (size_t i = 0; i < READER_STATEMENT_COUNT; i++) {
        sqlite3_finalize(reader->statement[i]);
    }
    indexes_deinit(&reader->indexes);
    arena_deinit(&reader->kept.memory);
    arena_deinit(&reader->records.memory);
    sqlite3_close(reader->db);
    free(reader);
}

static bool has_chunks(const ListMark *mark) {
    return mark->list_count > 0 && mark->calls_count > 0;
}

static bool is_same_mark(const ListMark *a, const ListMark *b) {
    return memcmp(a->recording, b->recording, UID_BYTES) == 0 && a->first_world == b->first_world &&
           a->list_end == b->list_end && a->calls_end == b->calls_end &&
           a->list_count == b->list_count && a->calls_count == b->calls_count;
}

void log_reader_note(LogReader *reader, const ListMark *mark) {
    if (has_chunks(mark) && !log_reader_knows(reader, mark)) {
        reader->mark[reader->mark_next] = *mark;
        reader->mark_next = (reader->mark_next + 1) % LIST_MARKS_MAX;
    }
}

bool log_reader_knows(const LogReader *reader, const ListMark *mark) {
    bool is_known = false;
    for (size_t i = 0; has_chunks(mark) && i < LIST_MARKS_MAX && !is_known; i++) {
        is_known = is_same_mark(&reader->mark[i], mark);
    }
    return is_known;
}

Status reader_fail(LogReader *reader, int code, Error *error) {
    if (code == SQLITE_DONE) {
        return error_set(
            error, STATUS_DATA_LOSS, NULL,
            "The log is damaged: its indexes and its tables say different things. Stop the "
            "server and mend it with moreau-server --recover.");
    }
    if ((code & 0xff) == SQLITE_INTERRUPT) {
        return error_set(error, STATUS_ABORTED, NULL, "Reading the log was given up.");
    }
    return schema_error(reader->db, code, "reading the log", error);
}

static int is_stopped(void *context) {
    return context_is_stopped(context);
}

void reader_watch(LogReader *reader, const Context *context) {
    enum { OPERATIONS = 10000 }; // of SQLite's machine, each well below a microsecond
    sqlite3_progress_handler(reader->db, OPERATIONS, context == NULL ? NULL : is_stopped,
                             (void *)context);
}

Status reader_memory_ended(const char *what, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended while reading %s.",
                     what);
}

Status reader_begin(LogReader *reader, Error *error) {
    int code = sqlite3_exec(reader->db, "BEGIN", NULL, NULL, NULL);
    return code == SQLITE_OK ? STATUS_OK : reader_fail(reader, code, error);
}

void reader_end(LogReader *reader) {
    // nothing was written, so that there is nothing to lose
    sqlite3_exec(reader->db, "ROLLBACK", NULL, NULL, NULL);
}

Status reader_data_version(LogReader *reader, int64_t *version, Error *error) {
    sqlite3_stmt *statement = reader->statement[DATA_VERSION];
    const int code = sqlite3_step(statement);
    *version = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return code == SQLITE_ROW ? STATUS_OK : reader_fail(reader, code, error);
}

// ---- columns

Status reader_take_count(LogReader *reader, sqlite3_stmt *statement, uint64_t *count,
                         Error *error) {
    Status status = STATUS_OK;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        *count = columns_u64(&(Columns){.statement = statement}, "");
    } else {
        status = reader_fail(reader, code, error);
    }
    sqlite3_finalize(statement);
    return status;
}

int64_t reader_clamp(uint64_t value) {
    return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

int64_t reader_first_world(const EpisodeRow *episode, ChunkKind kind) {
    if (chunk_kind_is_common(kind) || episode->world_range == 0) {
        return 0;
    }
    return reader_clamp(episode->world_index / episode->world_range * episode->world_range);
}

void columns_note(Columns *columns, const char *name) {
    if (columns->odd != NULL && columns->odd[0] == '\0') {
        snprintf(columns->odd, 32, "%s", name);
    }
}

int64_t columns_i64(Columns *columns, const char *name) {
    if (sqlite3_column_type(columns->statement, columns->next) != SQLITE_INTEGER) {
        columns_note(columns, name);
    }
    return sqlite3_column_int64(columns->statement, columns->next++);
}

uint64_t columns_u64(Columns *columns, const char *name) {
    int64_t value = columns_i64(columns, name);
    if (value < 0) {
        columns_note(columns, name);
    }
    return value < 0 ? 0 : (uint64_t)value;
}

double columns_double(Columns *columns, const char *name) {
    if (sqlite3_column_type(columns->statement, columns->next) != SQLITE_FLOAT) {
        columns_note(columns, name);
    }
    return sqlite3_column_double(columns->statement, columns->next++);
}

bool columns_are_null(const Columns *columns) {
    return sqlite3_column_type(columns->statement, columns->next) == SQLITE_NULL;
}

void columns_figures(Columns *columns, StepFigures *figures) {
    figures->unconverged_steps = columns_u64(columns, "unconverged");
    figures->worst_own = columns_double(columns, "worst_own");
    figures->worst_penetration = columns_double(columns, "worst_penetration");
    figures->contacts_max = columns_u64(columns, "contacts_max");
    figures->hardest_impact = columns_double(columns, "hardest_impact");
    figures->hardest_impact_step = columns_u64(columns, "hardest_impact_step");
    figures->energy_gain = columns_double(columns, "energy_gain");
    figures->energy_gain_step = columns_u64(columns, "energy_gain_step");
    figures->has_gain = !columns_are_null(columns);
    double *const gain[] = {&figures->gain.sum, &figures->gain.scale, &figures->gain.step};
    for (int i = 0; i < 3; i++, columns->next += !figures->has_gain) { // all of them, or none
        if (figures->has_gain) {
            *gain[i] = columns_double(columns, "gain");
        } else if (!columns_are_null(columns)) {
            columns_note(columns, "gain");
        }
    }
}

// ---- chunks

static Status damaged_chunk(const LogChunk *found, const char *why, Error *error) {
    return error_set(error, STATUS_DATA_LOSS, NULL,
                     "Chunk %" PRId64 " (%s, steps %" PRIu64 " to %" PRIu64 ") is damaged: %s.",
                     found->id, chunk_kind_name(found->chunk.kind), found->chunk.first_step,
                     found->chunk.last_step, why);
}

// The first seven columns.
static void take_place(Columns *columns, int64_t *id, Chunk *chunk) {
    *id = columns_i64(columns, "chunk.id");
    chunk->kind = (ChunkKind)columns_u64(columns, "chunk.kind");
    chunk->sequence = columns_u64(columns, "chunk.sequence");
    chunk->first_world = (uint32_t)columns_u64(columns, "chunk.first_world");
    chunk->world_count = (uint32_t)columns_u64(columns, "chunk.world_count");
    chunk->first_step = columns_u64(columns, "chunk.first_step");
    chunk->last_step = columns_u64(columns, "chunk.last_step");
}

static bool is_same_place(const Chunk *row, const Chunk *chunk) {
    return row->kind == chunk->kind && row->sequence == chunk->sequence &&
           row->first_world == chunk->first_world && row->world_count == chunk->world_count &&
           row->first_step == chunk->first_step && row->last_step == chunk->last_step;
}

// Copies the bytes and judges them. `found` is what the row says.
static Status take_chunk(sqlite3_stmt *statement, int column, const EpisodeRow *episode,
                         Arena *arena, LogChunk *found, Error *error) {
    if (sqlite3_column_type(statement, column) != SQLITE_BLOB) {
        return damaged_chunk(found, "its bytes are no BLOB", error);
    }
    const void *blob = sqlite3_column_blob(statement, column);
    size_t count = (size_t)sqlite3_column_bytes(statement, column);
    uint8_t *bytes = arena_take(arena, count);
    if (bytes == NULL) {
        return reader_memory_ended("a chunk of the log", error);
    }
    if (count > 0) {
        memcpy(bytes, blob, count);
    }
    Chunk chunk;
    Error why;
    if (chunk_open(bytes, count, episode->recording_uid, &chunk, &why) != STATUS_OK) {
        return damaged_chunk(found, why.message, error);
    }
    if (!is_same_place(&found->chunk, &chunk)) {
        return damaged_chunk(found, "its row says another place than its bytes", error);
    }
    found->chunk = chunk;
    return STATUS_OK;
}

static Status not_found(ReaderStatement which, ChunkKind kind, int64_t key, Error *error) {
    return error_set(error, STATUS_NOT_FOUND, NULL,
                     "The recording has no chunk (%s) %s %" PRId64 ".", chunk_kind_name(kind),
                     which == CHUNK_AT_STEP  ? "that begins at or before step"
                     : which == CHUNK_BEHIND ? "behind one of step"
                                             : "of number",
                     key);
}

static void bind_kind(sqlite3_stmt *statement, const EpisodeRow *episode, ChunkKind kind) {
    sqlite3_bind_int64(statement, 1, episode->recording);
    sqlite3_bind_int64(statement, 2, reader_first_world(episode, kind));
    sqlite3_bind_int(statement, 3, (int)kind);
}

// `which` asks for one chunk by recording, world, kind and `key`. `behind` Nullable: where it must
// not lead back to.
static Status read_chunk(LogReader *reader, ReaderStatement which, const EpisodeRow *episode,
                         ChunkKind kind, int64_t key, const ChunkPlace *behind, Arena *arena,
                         LogChunk *found, Error *error) {
    sqlite3_stmt *statement = reader->statement[which];
    bind_kind(statement, episode, kind);
    sqlite3_bind_int64(statement, 4, key);
    Status status;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        Columns columns = {.statement = statement};
        LogChunk row = {0};
        take_place(&columns, &row.id, &row.chunk);
        if (behind != NULL && !chunk_place_is_before(*behind, chunk_place(&row.chunk))) {
            status = reader_fail(reader, SQLITE_DONE, error);
        } else {
            *found = row;
            found->chunk.kind = kind;
            status = take_chunk(statement, columns.next, episode, arena, found, error);
        }
    } else if (code == SQLITE_DONE) {
        status = not_found(which, kind, key, error);
    } else {
        status = reader_fail(reader, code, error);
    }
    sqlite3_reset(statement);
    return status;
}

Status log_reader_at(LogReader *reader, const EpisodeRow *episode, ChunkKind kind, uint64_t step,
                     Arena *arena, LogChunk *found, Error *error) {
    return read_chunk(reader, CHUNK_AT_STEP, episode, kind, reader_clamp(step), NULL, arena, found,
                      error);
}

Status log_reader_next(LogReader *reader, const EpisodeRow *episode, ChunkKind kind,
                       const ChunkPlace *behind, Arena *arena, LogChunk *found, Error *error) {
    int64_t step = behind == NULL ? -1 : reader_clamp(behind->first_step);
    sqlite3_bind_int64(reader->statement[CHUNK_BEHIND], 5,
                       behind == NULL ? -1 : reader_clamp(behind->sequence));
    return read_chunk(reader, CHUNK_BEHIND, episode, kind, step, behind, arena, found, error);
}

Status log_reader_get(LogReader *reader, const EpisodeRow *episode, ChunkKind kind, int64_t id,
                      Arena *arena, LogChunk *found, Error *error) {
    return read_chunk(reader, CHUNK_BY_ID, episode, kind, id, NULL, arena, found, error);
}

// ---- rows of chunks

Status reader_count_chunks(LogReader *reader, const EpisodeRow *episode, ChunkKind kind,
                           size_t *count, Error *error) {
    sqlite3_stmt *statement = reader->statement[CHUNK_COUNT];
    bind_kind(statement, episode, kind);
    int code = sqlite3_step(statement);
    Status status = code == SQLITE_ROW ? STATUS_OK : reader_fail(reader, code, error);
    if (status == STATUS_OK) {
        *count = (size_t)columns_u64(&(Columns){.statement = statement}, "");
    }
    sqlite3_reset(statement);
    return status;
}

static void check_figures(Columns *columns, const StepFigures *sealed) {
    StepFigures row = {0};
    columns_figures(columns, &row);
    const struct {
        const char *name;
        bool is_same;
    } checks[] = {
        {"unconverged", row.unconverged_steps == sealed->unconverged_steps},
        {"worst_own", bytes_same_double(row.worst_own, sealed->worst_own)},
        {"worst_penetration", bytes_same_double(row.worst_penetration, sealed->worst_penetration)},
        {"contacts_max", row.contacts_max == sealed->contacts_max},
        {"hardest_impact", bytes_same_double(row.hardest_impact, sealed->hardest_impact)},
        {"hardest_impact_step", row.hardest_impact_step == sealed->hardest_impact_step},
        {"energy_gain", bytes_same_double(row.energy_gain, sealed->energy_gain)},
        {"energy_gain_step", row.energy_gain_step == sealed->energy_gain_step},
        {"gain",
         row.has_gain == sealed->has_gain && bytes_same_double(row.gain.sum, sealed->gain.sum)},
        {"gain_scale", bytes_same_double(row.gain.scale, sealed->gain.scale)},
        {"gain_step", bytes_same_double(row.gain.step, sealed->gain.step)},
    };
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        if (!checks[i].is_same) {
            columns_note(columns, checks[i].name);
        }
    }
}

static void check_solver(Columns *columns, const char *sealed) {
    const char *solver = (const char *)sqlite3_column_text(columns->statement, columns->next++);
    if (solver == NULL || strcmp(solver, sealed) != 0) {
        columns_note(columns, "solver");
    }
}

// Columns behind the place: what only the seal knows besides.
static void check_rest(Columns *columns, const Chunk *head) {
    enum { FIGURE_COLUMNS = 12 };
    if (!bytes_same_double(columns_double(columns, "time_s"), head->time)) {
        columns_note(columns, "time_s");
    }
    if (columns_u64(columns, "written_ns") != head->written_ns) {
        columns_note(columns, "written_ns");
    }
    if (head->kind == CHUNK_INPUTS) {
        check_figures(columns, &head->figures);
        check_solver(columns, head->solver);
        return;
    }
    for (int i = 0; i < FIGURE_COLUMNS; i++) {
        if (!columns_are_null(columns)) {
            columns_note(columns, "figures");
        }
        columns->next++;
    }
}

static void take_chunk_row(sqlite3_stmt *statement, ChunkRow *row) {
    enum { BYTES_COLUMN = 21, HEAD_COLUMN = 22 };
    Columns columns = {.statement = statement, .odd = row->odd};
    Chunk place = {0};
    take_place(&columns, &row->id, &place);
    row->kind = place.kind;
    row->first_step = place.first_step;
    row->last_step = place.last_step;
    row->sequence = place.sequence;
    row->bytes = (uint64_t)sqlite3_column_int64(statement, BYTES_COLUMN);
    const uint8_t *head = sqlite3_column_type(statement, HEAD_COLUMN) == SQLITE_BLOB
                              ? sqlite3_column_blob(statement, HEAD_COLUMN)
                              : NULL;
    size_t count = (size_t)sqlite3_column_bytes(statement, HEAD_COLUMN);
    row->has_head = head != NULL && chunk_read_head(head, count, &row->head, NULL) == STATUS_OK;
    if (!row->has_head) {
        return;
    }
    if (!is_same_place(&place, &row->head)) {
        columns_note(&columns, "its place");
    }
    check_rest(&columns, &row->head);
}

Status reader_chunk_rows(LogReader *reader, const EpisodeRow *episode, ChunkKind kind,
                         ChunkRow *rows, size_t count, Error *error) {
    sqlite3_stmt *statement = reader->statement[CHUNK_ROWS];
    bind_kind(statement, episode, kind);
    sqlite3_bind_int(statement, 4, CHUNK_HEAD_BYTES_MAX);
    Status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        int code = sqlite3_step(statement);
        if (code != SQLITE_ROW) {
            status = reader_fail(reader, code, error);
            break;
        }
        take_chunk_row(statement, &rows[i]);
    }
    sqlite3_reset(statement);
    return status;
}

static Status read_chunks(LogReader *reader, const EpisodeRow *episode, ChunkKind kind,
                          Arena *arena, ChunkRow **rows, size_t *count, Error *error) {
    Status status = reader_count_chunks(reader, episode, kind, count, error);
    if (status != STATUS_OK) {
        return status;
    }
    *rows = arena_take_zeroed(arena, *count, sizeof(**rows));
    return *rows == NULL ? reader_memory_ended("a list of chunks", error)
                         : reader_chunk_rows(reader, episode, kind, *rows, *count, error);
}

Status log_reader_chunks(LogReader *reader, const EpisodeRow *episode, ChunkKind kind, Arena *arena,
                         ChunkRow **rows, size_t *count, Error *error) {
    Status status = reader_begin(reader, error);
    if (status == STATUS_OK) {
        status = read_chunks(reader, episode, kind, arena, rows, count, error);
        reader_end(reader);
    }
    return status;
}
