// SPDX-License-Identifier: MIT
// Episodes: one row, lists by filter, one by what a person types.
#include "base/assert.h"
#include "log/reader_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { UID_DIGITS = 2 * UID_BYTES };
enum { UID_DIGITS_MIN = 4 }; // of the beginning of a uid

static double take_double(Columns *columns) {
    return sqlite3_column_double(columns->statement, columns->next++);
}

static bool take_uid(Columns *columns, uint8_t uid[UID_BYTES]) {
    int i = columns->next++;
    if (sqlite3_column_type(columns->statement, i) != SQLITE_BLOB ||
        sqlite3_column_bytes(columns->statement, i) != UID_BYTES) {
        return false;
    }
    memcpy(uid, sqlite3_column_blob(columns->statement, i), UID_BYTES);
    return true;
}

// NULL when memory ends.
static const char *take_text(Columns *columns, Arena *arena) {
    const unsigned char *text = sqlite3_column_text(columns->statement, columns->next++);
    size_t bytes = text == NULL ? 1 : strlen((const char *)text) + 1;
    char *copy = arena_take(arena, bytes);
    if (copy != NULL) {
        memcpy(copy, text == NULL ? "" : (const char *)text, bytes);
    }
    return copy;
}

// ---- one episode

// What the chunks of a recording add up to.
typedef struct Figures {
    bool known;
    int64_t recording;
    uint64_t chunk_count, keyframe_count, frame_chunk_count, bytes, unconverged_steps;
    double worst_own, worst_penetration;
    uint64_t last_step; // that is committed
} Figures;

static Status read_figures(LogReader *reader, int64_t recording, Figures *figures, Error *error) {
    if (figures->known && figures->recording == recording) {
        return STATUS_OK;
    }
    sqlite3_stmt *statement = reader->statement[FIGURES_OF_RECORDING];
    sqlite3_bind_int64(statement, 1, recording);
    int code = sqlite3_step(statement);
    Status status = code == SQLITE_ROW ? STATUS_OK : reader_fail(reader, code, error);
    if (status == STATUS_OK) {
        Columns columns = {.statement = statement};
        *figures = (Figures){.known = true, .recording = recording};
        figures->chunk_count = columns_u64(&columns);
        figures->keyframe_count = columns_u64(&columns);
        figures->frame_chunk_count = columns_u64(&columns);
        figures->bytes = columns_u64(&columns);
        figures->unconverged_steps = columns_u64(&columns);
        figures->worst_own = take_double(&columns);
        figures->worst_penetration = take_double(&columns);
        figures->last_step = columns_u64(&columns);
    }
    sqlite3_reset(statement);
    return status;
}

static Status read_labels(LogReader *reader, Arena *arena, EpisodeRow *row, Error *error) {
    sqlite3_stmt *statement = reader->statement[LABELS_OF_EPISODE];
    sqlite3_bind_int64(statement, 1, row->episode);
    size_t count = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        count++;
    }
    Status status = code == SQLITE_DONE ? STATUS_OK : reader_fail(reader, code, error);
    sqlite3_reset(statement);
    if (status != STATUS_OK) {
        return status;
    }
    row->label = arena_take_array(arena, count, sizeof(*row->label));
    bool full = row->label == NULL;
    for (row->label_count = 0; !full && row->label_count < count; row->label_count++) {
        code = sqlite3_step(statement);
        if (code != SQLITE_ROW) {
            status = reader_fail(reader, code, error);
            break;
        }
        Columns columns = {.statement = statement};
        row->label[row->label_count] = take_text(&columns, arena);
        full = row->label[row->label_count] == NULL;
    }
    sqlite3_reset(statement);
    return full ? reader_memory_ended("the labels of an episode", error) : status;
}

static Status damaged_row(int64_t id, const char *why, Error *error) {
    return error_set(error, STATUS_DATA_LOSS, NULL, "Row %" PRId64 " of the episodes %s.", id, why);
}

// Everything but the labels and the figures. `columns` stand on the row.
static Status take_row(Columns columns, Arena *arena, EpisodeRow *row, bool *ended, Error *error) {
    row->episode = columns_i64(&columns);
    row->recording = columns_i64(&columns);
    if (!take_uid(&columns, row->uid)) {
        return damaged_row(row->episode, "has no id of 16 bytes", error);
    }
    if (!take_uid(&columns, row->recording_uid)) {
        return damaged_row(row->episode, "belongs to no recording with an id of 16 bytes", error);
    }
    uint64_t state = columns_u64(&columns);
    uint64_t content = columns_u64(&columns);
    if (state >= RECORDING_STATE_COUNT || content > CONTENT_CONTACTS) {
        return damaged_row(row->episode, "belongs to a recording of unknown state or content",
                           error);
    }
    row->state = (RecordingState)state;
    row->content = (RecordingContent)content;
    row->stride = columns_u64(&columns);
    row->stride = row->stride == 0 ? 1 : row->stride; // nobody shall divide by zero
    row->lossy = columns_u64(&columns) != 0;
    row->dynamics_version = columns_u64(&columns);
    row->world_index = columns_u64(&columns);
    row->world_step = columns_u64(&columns);
    row->world_time = take_double(&columns);
    row->time_step = take_double(&columns);
    row->body_count = columns_u64(&columns);
    row->begun_ns = columns_u64(&columns);
    row->ended_ns = columns_u64(&columns);
    row->dropped_steps = columns_u64(&columns);
    const char **const texts[] = {&row->name,   &row->client,         &row->world_name,
                                  &row->solver, &row->server_version, &row->why};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if ((*texts[i] = take_text(&columns, arena)) == NULL) {
            return reader_memory_ended("the texts of an episode", error);
        }
    }
    row->has_seed = columns_u64(&columns) != 0;
    row->seed = (uint64_t)columns_i64(&columns); // all 64 bits of it count
    row->first_step = columns_u64(&columns);
    *ended = columns_u64(&columns) != 0;
    row->last_step = columns_u64(&columns);
    return STATUS_OK;
}

// `figures`: of the row read before, which often is of the same recording.
static Status read_row(LogReader *reader, int64_t id, Figures *figures, Arena *arena,
                       EpisodeRow *row, Error *error) {
    sqlite3_stmt *statement = reader->statement[ROW_BY_ID];
    sqlite3_bind_int64(statement, 1, id);
    int code = sqlite3_step(statement);
    bool ended = false;
    Status status = code == SQLITE_ROW
                        ? take_row((Columns){.statement = statement}, arena, row, &ended, error)
                        : reader_fail(reader, code, error);
    sqlite3_reset(statement);
    if (status == STATUS_OK) {
        status = read_labels(reader, arena, row, error);
    }
    if (status == STATUS_OK) {
        status = read_figures(reader, row->recording, figures, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (!ended) {
        row->last_step = figures->last_step;
    }
    if (row->last_step < row->first_step) {
        row->last_step = row->first_step;
    }
    row->chunk_count = figures->chunk_count;
    row->keyframe_count = figures->keyframe_count;
    row->frame_chunk_count = figures->frame_chunk_count;
    row->bytes = figures->bytes;
    row->unconverged_steps = figures->unconverged_steps;
    row->worst_own = figures->worst_own;
    row->worst_penetration = figures->worst_penetration;
    return STATUS_OK;
}

// ---- lists of episodes

enum { LIST_SQL_BYTES = 1024 };

// The conditions of the filter, each behind an AND.
static void write_conditions(const EpisodeFilter *filter, char sql[LIST_SQL_BYTES]) {
    // the index over states has only those that are not complete, and SQLite wants to be told so
    bool is_incomplete = filter->state >= 0 && filter->state != RECORDING_COMPLETE;
    int length = snprintf(sql, LIST_SQL_BYTES, "%s%s%s%s%s%s%s%s",
                          filter->label != NULL ? " AND l.label = :label" : "",
                          filter->name != NULL ? " AND instr(lower(e.name), lower(:name)) > 0" : "",
                          filter->solver != NULL ? " AND e.solver = :solver" : "",
                          filter->client != NULL ? " AND r.client = :client" : "",
                          filter->state >= 0 ? " AND r.state = :state" : "",
                          is_incomplete ? " AND r.state <> 1" : "",
                          filter->since_ns > 0 ? " AND r.begun_ns >= :since" : "",
                          filter->until_ns > 0 ? " AND r.begun_ns < :until" : "");
    ASSERT(length >= 0 && length < LIST_SQL_BYTES);
}

// Joins only what the filter asks for: rows of a label or of a table alone are counted quickly, all
// rows only without any WHERE; and SQLite can begin with the index that narrows most. The order is
// one that such an index has already: by id, or, where recordings are looked at, by their time.
static void write_list_sql(const EpisodeFilter *filter, bool counts, char sql[LIST_SQL_BYTES]) {
    bool needs_recording = filter->client != NULL || filter->state >= 0 || filter->since_ns > 0 ||
                           filter->until_ns > 0;
    bool needs_episode = needs_recording || filter->name != NULL || filter->solver != NULL;
    bool has_label = filter->label != NULL;
    const char *id = has_label ? "l.episode" : "e.id";
    bool by_time = needs_recording && !has_label;
    char conditions[LIST_SQL_BYTES];
    write_conditions(filter, conditions);
    int length =
        snprintf(sql, LIST_SQL_BYTES, "SELECT %s FROM %s%s%s%s%s%s%s%s%s", counts ? "count(*)" : id,
                 has_label ? "label l" : "episode e",
                 has_label && needs_episode ? " JOIN episode e ON e.id = l.episode" : "",
                 needs_recording ? " JOIN recording r ON r.id = e.recording" : "",
                 conditions[0] != '\0' ? " WHERE 1" : "", conditions, counts ? "" : " ORDER BY ",
                 !counts && by_time ? "r.begun_ns DESC, r.id DESC, " : "", counts ? "" : id,
                 counts ? "" : " DESC LIMIT :count OFFSET :first");
    ASSERT(length > 0 && length < LIST_SQL_BYTES);
}

static void bind_text(sqlite3_stmt *statement, const char *name, const char *text) {
    int i = sqlite3_bind_parameter_index(statement, name);
    if (i > 0) {
        sqlite3_bind_text(statement, i, text, -1, SQLITE_STATIC);
    }
}

static void bind_number(sqlite3_stmt *statement, const char *name, int64_t value) {
    int i = sqlite3_bind_parameter_index(statement, name);
    if (i > 0) {
        sqlite3_bind_int64(statement, i, value);
    }
}

static Status prepare_list(LogReader *reader, const EpisodeFilter *filter, bool counts,
                           sqlite3_stmt **statement, Error *error) {
    char sql[LIST_SQL_BYTES];
    write_list_sql(filter, counts, sql);
    int code = sqlite3_prepare_v2(reader->db, sql, -1, statement, NULL);
    if (code != SQLITE_OK) {
        return reader_fail(reader, code, error);
    }
    bind_text(*statement, ":label", filter->label);
    bind_text(*statement, ":name", filter->name);
    bind_text(*statement, ":solver", filter->solver);
    bind_text(*statement, ":client", filter->client);
    bind_number(*statement, ":state", filter->state);
    bind_number(*statement, ":since", reader_clamp(filter->since_ns));
    bind_number(*statement, ":until", reader_clamp(filter->until_ns));
    bind_number(*statement, ":first", reader_clamp(filter->first));
    bind_number(*statement, ":count", reader_clamp(filter->count));
    return STATUS_OK;
}

static Status count_episodes(LogReader *reader, const EpisodeFilter *filter, uint64_t *total,
                             Error *error) {
    sqlite3_stmt *statement;
    Status status = prepare_list(reader, filter, true, &statement, error);
    if (status != STATUS_OK) {
        return status;
    }
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        *total = columns_u64(&(Columns){.statement = statement});
    } else {
        status = reader_fail(reader, code, error);
    }
    sqlite3_finalize(statement);
    return status;
}

// At most *count ids; says how many there were.
static Status read_ids(LogReader *reader, const EpisodeFilter *filter, int64_t *ids, size_t *count,
                       Error *error) {
    sqlite3_stmt *statement;
    Status status = prepare_list(reader, filter, false, &statement, error);
    if (status != STATUS_OK) {
        return status;
    }
    size_t found = 0;
    int code = SQLITE_DONE;
    while (found < *count && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        ids[found++] = columns_i64(&(Columns){.statement = statement});
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        status = reader_fail(reader, code, error);
    }
    sqlite3_finalize(statement);
    *count = found;
    return status;
}

static Status read_list(LogReader *reader, const EpisodeFilter *filter, Arena *arena,
                        EpisodeRow **rows, size_t *count, uint64_t *total, Error *error) {
    Status status = count_episodes(reader, filter, total, error);
    if (status != STATUS_OK) {
        return status;
    }
    uint64_t left = *total > filter->first ? *total - filter->first : 0;
    *count = (size_t)(filter->count < left ? filter->count : left);
    *rows = arena_take_array(arena, *count, sizeof(**rows));
    int64_t *ids = arena_take_array(arena, *count, sizeof(*ids));
    if (*rows == NULL || ids == NULL) {
        return reader_memory_ended("a list of episodes", error);
    }
    status = read_ids(reader, filter, ids, count, error);
    Figures figures = {0};
    for (size_t i = 0; status == STATUS_OK && i < *count; i++) {
        status = read_row(reader, ids[i], &figures, arena, &(*rows)[i], error);
    }
    return status;
}

Status log_reader_list(LogReader *reader, const EpisodeFilter *filter, Arena *arena,
                       EpisodeRow **rows, size_t *count, uint64_t *total, Error *error) {
    Status status = reader_begin(reader, error);
    if (status == STATUS_OK) {
        status = read_list(reader, filter, arena, rows, count, total, error);
        reader_end(reader);
    }
    return status;
}

// ---- one episode by what a person types

// Half a byte. -1: no hexadecimal digit.
static int digit_value(char digit) {
    static const char digits[] = "0123456789abcdef";
    const char *found = strchr(digits, tolower((unsigned char)digit));
    return found == NULL || digit == '\0' ? -1 : (int)(found - digits);
}

// The lowest and the highest uid that begin with these digits. False when they are none.
static bool uid_range(const char *text, uint8_t low[UID_BYTES], uint8_t high[UID_BYTES]) {
    size_t length = strlen(text);
    if (length < UID_DIGITS_MIN || length > UID_DIGITS) {
        return false;
    }
    memset(low, 0x00, UID_BYTES);
    memset(high, 0xff, UID_BYTES);
    for (size_t i = 0; i < length; i++) {
        int value = digit_value(text[i]);
        if (value < 0) {
            return false;
        }
        int shift = i % 2 == 0 ? 4 : 0;
        low[i / 2] = (uint8_t)(low[i / 2] | value << shift);
        high[i / 2] = (uint8_t)(high[i / 2] & ~((15 - value) << shift));
    }
    return true;
}

typedef struct Matches {
    size_t count; // 2: several
    int64_t id;
} Matches;

static Status add_matches(LogReader *reader, sqlite3_stmt *statement, Matches *matches,
                          Error *error) {
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t id = columns_i64(&(Columns){.statement = statement});
        if (matches->count == 0 || matches->id != id) {
            matches->count++;
            matches->id = id;
        }
    }
    Status status = code == SQLITE_DONE ? STATUS_OK : reader_fail(reader, code, error);
    sqlite3_reset(statement);
    return status;
}

static Status match(LogReader *reader, const char *text, Matches *matches, Error *error) {
    uint8_t low[UID_BYTES];
    uint8_t high[UID_BYTES];
    if (uid_range(text, low, high)) {
        sqlite3_stmt *by_uid = reader->statement[EPISODES_BY_UID];
        sqlite3_bind_blob(by_uid, 1, low, UID_BYTES, SQLITE_STATIC);
        sqlite3_bind_blob(by_uid, 2, high, UID_BYTES, SQLITE_STATIC);
        Status status = add_matches(reader, by_uid, matches, error);
        sqlite3_clear_bindings(by_uid);
        // a whole uid is nobody else's name
        if (status != STATUS_OK || (matches->count > 0 && strlen(text) == UID_DIGITS)) {
            return status;
        }
    }
    sqlite3_stmt *by_name = reader->statement[EPISODES_BY_NAME];
    sqlite3_bind_text(by_name, 1, text, -1, SQLITE_STATIC);
    Status status = add_matches(reader, by_name, matches, error);
    sqlite3_clear_bindings(by_name);
    return status;
}

static Status find(LogReader *reader, const char *text, Arena *arena, EpisodeRow *row,
                   Error *error) {
    Matches matches = {0};
    Status status = match(reader, text, &matches, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (matches.count == 0) {
        return error_set(error, STATUS_NOT_FOUND, NULL,
                         "No episode has the name '%.100s', or an id that begins so (with %d "
                         "digits at least).",
                         text, UID_DIGITS_MIN);
    }
    if (matches.count > 1) {
        return error_set(error, STATUS_INVALID_ARGUMENT, NULL,
                         "Several episodes have the name '%.100s', or an id that begins so; give "
                         "the id of one, or more of its digits.",
                         text);
    }
    return read_row(reader, matches.id, &(Figures){0}, arena, row, error);
}

Status log_reader_find(LogReader *reader, const char *text, Arena *arena, EpisodeRow *row,
                       Error *error) {
    if (text[0] == '\0') {
        return error_set(error, STATUS_INVALID_ARGUMENT, NULL,
                         "An episode's id or name is missing.");
    }
    Status status = reader_begin(reader, error);
    if (status == STATUS_OK) {
        status = find(reader, text, arena, row, error);
        reader_end(reader);
    }
    return status;
}
