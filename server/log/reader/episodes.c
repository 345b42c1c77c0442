// SPDX-License-Identifier: MIT
// Episodes: one row, lists by filter, one by what a person types.
#include "base/assert.h"
#include "base/hex.h"
#include "base/utf8.h"
#include "log/format/doubt.h"
#include "log/format/members.h"
#include "log/reader/parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool columns_uid(Columns *columns, uint8_t uid[UID_BYTES]) {
    int i = columns->next++;
    if (sqlite3_column_type(columns->statement, i) != SQLITE_BLOB ||
        sqlite3_column_bytes(columns->statement, i) != UID_BYTES) {
        return false;
    }
    memcpy(uid, sqlite3_column_blob(columns->statement, i), UID_BYTES);
    return true;
}

// NULL when memory ends.
static const char *take_text(Columns *columns, const char *name, Arena *arena) {
    if (sqlite3_column_type(columns->statement, columns->next) != SQLITE_TEXT) {
        columns_note(columns, name);
    }
    const unsigned char *text = sqlite3_column_text(columns->statement, columns->next);
    size_t bytes = text == NULL ? 1 : strlen((const char *)text) + 1;
    if (text != NULL &&
        (size_t)sqlite3_column_bytes(columns->statement, columns->next) + 1 != bytes) {
        columns_note(columns, name); // a zero in it
    }
    columns->next++;
    char *copy = arena_take(arena, bytes);
    if (copy != NULL) {
        memcpy(copy, text == NULL ? "" : (const char *)text, bytes);
    }
    if (copy != NULL && utf8_mend(copy)) {
        columns_note(columns, name); // no reply could carry it
    }
    return copy;
}

// ---- one episode

// Sums that were read before somebody wrote are none any more.
static Status recall_sums(LogReader *reader, Error *error) {
    int64_t version;
    const Status status = reader_data_version(reader, &version, error);
    if (status == STATUS_OK && version != reader->sums.data_version) {
        reader->sums = (RecordingSums){.data_version = version};
    }
    return status;
}

// Of a recording, after recall_sums.
static Status read_sums(LogReader *reader, int64_t recording, Error *error) {
    RecordingSums *sums = &reader->sums;
    if (sums->known && sums->recording == recording) {
        return STATUS_OK;
    }
    sqlite3_stmt *statement = reader->statement[FIGURES_OF_RECORDING];
    sqlite3_bind_int64(statement, 1, recording);
    int code = sqlite3_step(statement);
    Status status = code == SQLITE_ROW ? STATUS_OK : reader_fail(reader, code, error);
    if (status == STATUS_OK) {
        Columns columns = {.statement = statement};
        *sums = (RecordingSums){
            .known = true, .recording = recording, .data_version = sums->data_version};
        sums->chunk_count = columns_u64(&columns, "");
        sums->keyframe_count = columns_u64(&columns, "");
        sums->frame_chunk_count = columns_u64(&columns, "");
        sums->bytes = columns_u64(&columns, "");
        sums->last_step = columns_u64(&columns, "");
        sums->time = columns_double(&columns, "");
        columns_figures(&columns, &sums->figures);
    }
    sqlite3_reset(statement);
    return status;
}

static Status read_labels(LogReader *reader, Arena *arena, EpisodeRow *row, Error *error) {
    sqlite3_stmt *statement = reader->statement[LABELS_OF_RECORDING];
    sqlite3_bind_int64(statement, 1, row->recording);
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
        Columns columns = {.statement = statement, .odd = row->odd};
        row->label[row->label_count] = take_text(&columns, "label.label", arena);
        full = row->label[row->label_count] == NULL;
    }
    sqlite3_reset(statement);
    return full ? reader_memory_ended("the labels of an episode", error) : status;
}

static Status damaged_row(int64_t id, const char *why, Error *error) {
    return error_set(error, STATUS_DATA_LOSS, NULL, "Row %" PRId64 " of the episodes %s.", id, why);
}

// Ids, states and kinds: without them it cannot be shown.
static Status take_ids(Columns *columns, EpisodeRow *row, Error *error) {
    row->episode = columns_i64(columns, "episode.id");
    row->recording = columns_i64(columns, "episode.recording");
    if (!columns_uid(columns, row->recording_uid)) {
        return damaged_row(row->episode, "belongs to no recording with an id of 16 bytes", error);
    }
    row->number = columns_u64(columns, "episode.number");
    uid_of_episode(row->recording_uid, (uint32_t)row->number, row->uid);
    uint64_t state = columns_u64(columns, "episode.state");
    uint64_t recording_state = columns_u64(columns, "recording.state");
    uint64_t content = columns_u64(columns, "recording.content");
    if (state >= RECORDING_STATE_COUNT || recording_state >= RECORDING_STATE_COUNT ||
        content > CONTENT_CONTACTS || row->number > UINT32_MAX) {
        return damaged_row(row->episode,
                           "has, or belongs to a recording that has, an unknown "
                           "state, content or number",
                           error);
    }
    row->state = (RecordingState)state;
    row->recording_state = (RecordingState)recording_state;
    row->content = (RecordingContent)content;
    return STATUS_OK;
}

static uint64_t at_least_1(Columns *columns, uint64_t value, const char *name) {
    if (value == 0) {
        columns_note(columns, name); // and nobody shall divide by it
    }
    return value == 0 ? 1 : value;
}

static void take_numbers(Columns *columns, EpisodeRow *row) {
    row->stride = at_least_1(columns, columns_u64(columns, "stride"), "stride");
    row->keyframe_steps = columns_u64(columns, "keyframe_steps");
    uint64_t lossy = columns_u64(columns, "lossy");
    row->lossy = lossy != 0;
    row->dynamics_version = columns_u64(columns, "dynamics_version");
    row->world_index = columns_u64(columns, "world_index");
    row->world_count = at_least_1(columns, columns_u64(columns, "world_count"), "world_count");
    row->world_range = at_least_1(columns, columns_u64(columns, "world_range"), "world_range");
    row->world_step = columns_u64(columns, "world_step");
    row->world_time = columns_double(columns, "world_time");
    row->time_step = columns_double(columns, "time_step");
    row->body_count = columns_u64(columns, "body_count");
    row->begun_ns = columns_u64(columns, "episode.begun_ns");
    row->ended_ns = columns_u64(columns, "episode.ended_ns");
    row->recording_begun_ns = columns_u64(columns, "recording.begun_ns");
    row->recording_ended_ns = columns_u64(columns, "recording.ended_ns");
    row->dropped_steps = columns_u64(columns, "dropped_steps");
    row->is_pinned = columns_u64(columns, "pinned") != 0;
    uint64_t events = columns_u64(columns, "events");
    row->has_events = events != 0;
    if (lossy > 1 || events > 1 || row->world_count > UINT32_MAX || row->world_range > UINT32_MAX) {
        columns_note(columns, "lossy, events, world_count"); // or world_range
    }
}

static Status take_texts(Columns *columns, Arena *arena, EpisodeRow *row, Error *error) {
    const struct {
        const char **text;
        const char *name;
    } texts[] = {{&row->name, "name"},
                 {&row->client, "client"},
                 {&row->world_name, "world_name"},
                 {&row->solver, "solver"},
                 {&row->server_version, "server_version"},
                 {&row->build, "build"},
                 {&row->why, "why"}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        *texts[i].text = take_text(columns, texts[i].name, arena);
        if (*texts[i].text == NULL) {
            return reader_memory_ended("the texts of an episode", error);
        }
    }
    return STATUS_OK;
}

static void take_opinion(Columns *columns, EpisodeRow *row) {
    row->has_opinion = !columns_are_null(columns);
    row->doubtful_steps = row->has_opinion ? columns_u64(columns, "doubtful_steps") : 0;
    columns->next += !row->has_opinion;
    row->has_return_doubtful = !columns_are_null(columns);
    row->return_doubtful =
        row->has_return_doubtful ? columns_double(columns, "return_doubtful") : 0.0;
    columns->next += !row->has_return_doubtful;
    for (int i = 0; i < 2; i++) { // with the first, or neither
        if (columns_are_null(columns) == row->has_opinion) {
            columns_note(columns, i == 0 ? "opinions" : "opinion_gap_max");
        }
        if (columns_are_null(columns)) {
            columns->next++;
        } else if (i == 0) {
            row->opinions = columns_u64(columns, "opinions");
        } else {
            row->opinion_gap_max = columns_double(columns, "opinion_gap_max");
        }
    }
}

double episode_doubtful_share(const EpisodeRow *row) {
    const double doubtful = row->return_doubtful,
                 all = fabs(doubtful) + fabs(row->return_sum - doubtful);
    return doubtful / (all > 1e-300 ? all : 1e-300);
}

// What a group's episodes have alone. Their steps are counted from their own beginning.
static void take_turn(Columns *columns, EpisodeRow *row) {
    row->is_group = recording_is_group(row->world_count, row->world_range);
    row->begun_call = row->first_step;
    row->ended_call = row->last_step;
    if (row->is_group) {
        row->first_step = 0;
        row->last_step = columns_u64(columns, "length");
        row->turn = columns_u64(columns, "turn");
    } else {
        columns->next += 2;
    }
    take_opinion(columns, row);
}

// What may be NULL.
static void take_optional(Columns *columns, EpisodeRow *row, bool *ended) {
    row->has_seed = !columns_are_null(columns);
    row->seed = row->has_seed ? (uint64_t)columns_i64(columns, "seed") : 0; // all 64 bits count
    columns->next += !row->has_seed;
    row->has_return = !columns_are_null(columns);
    row->return_sum = row->has_return ? columns_double(columns, "return_sum") : 0.0;
    columns->next += !row->has_return;
    row->has_parent = !columns_are_null(columns);
    if (!columns_uid(columns, row->parent) && row->has_parent) {
        columns_note(columns, "parent");
    }
    if (columns_are_null(columns)) {
        columns->next++;
    } else {
        row->parent_step = columns_u64(columns, "parent_step");
    }
    row->first_step = columns_u64(columns, "first_step");
    *ended = !columns_are_null(columns);
    if (*ended != (row->state != RECORDING_OPEN)) {
        columns_note(columns, "last_step");
    }
    if (!*ended) {
        columns->next++;
    } else {
        row->last_step = columns_u64(columns, "last_step");
    }
    if (columns_are_null(columns)) {
        if (*ended) {
            columns_note(columns, "simulated_s");
        }
        columns->next++;
    } else {
        row->time = columns_double(columns, "simulated_s");
    }
    row->has_figures = !columns_are_null(columns);
    if (row->has_figures) {
        columns_figures(columns, &row->figures);
    }
    for (int i = 0; i < 11 && !row->has_figures; i++, columns->next++) { // all of them, or none
        if (!columns_are_null(columns)) {
            columns_note(columns, "figures");
        }
    }
    take_turn(columns, row);
}

// Everything but the labels and the sums. `columns` stand on the row.
static Status take_row(Columns columns, Arena *arena, EpisodeRow *row, bool *ended, Error *error) {
    *row = (EpisodeRow){0};
    columns.odd = row->odd;
    Status status = take_ids(&columns, row, error);
    if (status != STATUS_OK) {
        return status;
    }
    take_numbers(&columns, row);
    status = take_texts(&columns, arena, row, error);
    if (status == STATUS_OK) {
        take_optional(&columns, row, ended);
    }
    return status;
}

static void take_sums(EpisodeRow *row, const RecordingSums *sums, bool ended) {
    if (!ended) {
        row->last_step = sums->last_step;
        row->time = sums->time;
    }
    if (row->last_step < row->first_step) {
        row->last_step = row->first_step;
    }
    if (!row->has_figures) {
        row->figures = sums->figures;
    }
    row->chunk_count = sums->chunk_count;
    row->keyframe_count = sums->keyframe_count;
    row->frame_chunk_count = sums->frame_chunk_count;
    row->bytes = sums->bytes;
}

// After recall_sums.
static Status read_row(LogReader *reader, int64_t id, Arena *arena, EpisodeRow *row, Error *error) {
    sqlite3_stmt *statement = reader->statement[ROW_BY_ID];
    sqlite3_bind_int64(statement, 1, id);
    int code = sqlite3_step(statement);
    bool ended = false;
    Status status = code == SQLITE_ROW
                        ? take_row((Columns){.statement = statement}, arena, row, &ended, error)
                        : reader_fail(reader, code, error);
    sqlite3_reset(statement);
    status = STATUS_THEN(status, read_labels(reader, arena, row, error));
    status = STATUS_THEN(status, read_sums(reader, row->recording, error));
    if (status == STATUS_OK) {
        take_sums(row, &reader->sums, ended);
    }
    return status;
}

Status reader_row(LogReader *reader, int64_t episode, Arena *arena, EpisodeRow *row, Error *error) {
    const Status status = recall_sums(reader, error);
    return STATUS_THEN(status, read_row(reader, episode, arena, row, error));
}

// ---- lists of episodes

// What a list is asked for: its rows, how many there are, or how many there are of which nobody
// knows whether they meet it.
typedef enum ListKind { LIST_IDS, LIST_COUNT, LIST_UNKNOWN } ListKind;

static void write_touches(const EpisodeFilter *filter, Sql *sql) {
    for (size_t i = 0; i < filter->touch_count; i++) {
        touch_write_recordings(&filter->touch[i], i, sql);
        sql_add(sql, " AND EXISTS (SELECT 1 FROM touch t WHERE t.recording = e.recording");
        touch_write_conditions(&filter->touch[i], "e.recording", i, sql);
        sql_add(sql, ")");
    }
}

// The conditions of the filter, each behind an AND.
static void write_conditions(const EpisodeFilter *filter, ListKind kind, Sql *sql) {
    // the index over states has only those that are not complete, and SQLite wants to be told so
    bool is_incomplete = filter->state >= 0 && filter->state != RECORDING_COMPLETE;
    sql_add(sql, "%s%s%s%s%s%s%s%s%s%s", filter->label != NULL ? " AND l.label = :label" : "",
            filter->name != NULL ? " AND instr(lower(r.name), lower(:name)) > 0" : "",
            filter->solver != NULL ? " AND r.solver = :solver" : "",
            filter->client != NULL ? " AND r.client = :client" : "",
            filter->recording != NULL
                ? " AND e.id" MEMBERS_OF("(SELECT id FROM recording WHERE uid = :recording)")
                : "",
            filter->state >= 0 ? " AND e.state = :state" : "",
            is_incomplete ? " AND e.state <> 1" : "",
            filter->since_ns > 0 ? " AND e.begun_ns >= :since" : "",
            filter->until_ns > 0 ? " AND e.begun_ns < :until" : "",
            filter->is_by_doubt ? " AND e.return_doubtful IS NOT NULL" : "");
    for (size_t i = 0; i < filter->highlight_count; i++) {
        // a group's episodes say how many steps did not converge, and have no highlights
        const int which = (int)filter->highlight[i];
        sql_add(sql,
                " AND (%sEXISTS (SELECT 1 FROM highlight h WHERE h.recording = e.recording AND "
                "h.kind = %d))",
                which == HIGHLIGHT_UNCONVERGED ? "e.unconverged > 0 OR " : "", which);
    }
    if (filter->touch_count > 0) {
        sql_add(sql, " AND r.events = %d", kind != LIST_UNKNOWN);
    }
    if (kind != LIST_UNKNOWN) {
        write_touches(filter, sql);
    }
}

// What the list is of, joined as little as the filter asks for. Recordings are fewer than episodes,
// and lead to theirs by id: unless a time or a rank narrows more, a list goes from them to these.
static const char *list_tables(bool has_label, bool needs_recording, bool by_recording) {
    if (has_label) {
        return needs_recording ? "label l JOIN episode e ON e.id" MEMBERS_OF(
                                     "l.recording") " JOIN recording r ON r.id = e.id >> 32"
                               : "label l JOIN episode e ON e.id" MEMBERS_OF("l.recording");
    }
    if (!needs_recording) {
        return "episode e";
    }
    return by_recording
               ? "recording r CROSS JOIN episode e ON e.id" MEMBERS_OF("r.id")
               : "episode e JOIN recording r ON r.id = e.id >> 32 AND e.id" MEMBERS_OF("r.id");
}

// Rows of a label or of a table alone are counted quickly, all rows only without any WHERE; and
// SQLite can begin with the index that narrows most. The order is one that such an index has
// already: by id, or by time where that or states are asked for.
static void write_list_sql(const EpisodeFilter *filter, ListKind kind, bool is_of_one, Sql *sql) {
    bool has_label = filter->label != NULL, has_client = filter->client != NULL;
    bool needs_recording = is_of_one || has_client || filter->name != NULL ||
                           filter->solver != NULL || filter->touch_count > 0;
    bool by_time = !has_label && filter->recording == NULL &&
                   (filter->state >= 0 || filter->since_ns > 0 || filter->until_ns > 0);
    bool by_recording = needs_recording && !by_time && !filter->is_by_doubt;
    const char *order = filter->is_by_doubt ? " ORDER BY " DOUBTFUL_SHARE_SQL " DESC, e.id DESC"
                        : by_time           ? " ORDER BY e.begun_ns DESC, e.id DESC"
                        : has_label         ? " ORDER BY l.recording DESC, e.id DESC"
                        : has_client        ? " ORDER BY r.begun_ns DESC, r.id DESC, e.id DESC"
                        : by_recording      ? " ORDER BY r.id DESC, e.id DESC"
                                            : " ORDER BY e.id DESC";
    Sql conditions = {.length = 0};
    write_conditions(filter, kind, &conditions);
    sql_add(&conditions, "%s", is_of_one ? " AND r.namespace = :namespace" : "");
    sql_add(sql, "SELECT %s FROM %s%s%s", kind == LIST_IDS ? "e.id" : "count(*)",
            list_tables(has_label, needs_recording, by_recording),
            conditions.length > 0 ? " WHERE 1" : "", conditions.text);
    if (kind == LIST_IDS) {
        sql_add(sql, "%s LIMIT :count OFFSET :first", order);
    }
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

static Status prepare_list(LogReader *reader, const EpisodeFilter *filter, ListKind kind,
                           sqlite3_stmt **statement, Error *error) {
    Sql sql = {.length = 0};
    write_list_sql(filter, kind, reader->view != NULL, &sql);
    int code = sqlite3_prepare_v2(reader->db, sql.text, -1, statement, NULL);
    if (code != SQLITE_OK) {
        return reader_fail(reader, code, error);
    }
    bind_text(*statement, ":label", filter->label);
    bind_text(*statement, ":name", filter->name);
    bind_text(*statement, ":solver", filter->solver);
    bind_text(*statement, ":client", filter->client);
    bind_text(*statement, ":namespace", reader->view);
    if (filter->recording != NULL) {
        sqlite3_bind_blob(*statement, sqlite3_bind_parameter_index(*statement, ":recording"),
                          filter->recording, UID_BYTES, SQLITE_STATIC);
    }
    bind_number(*statement, ":state", filter->state);
    bind_number(*statement, ":since", reader_clamp(filter->since_ns));
    bind_number(*statement, ":until", reader_clamp(filter->until_ns));
    bind_number(*statement, ":first", reader_clamp(filter->first));
    bind_number(*statement, ":count", reader_clamp(filter->count));
    for (size_t i = 0; i < filter->touch_count && kind != LIST_UNKNOWN; i++) {
        touch_bind_conditions(*statement, &filter->touch[i], i);
    }
    return STATUS_OK;
}

static Status count_episodes(LogReader *reader, const EpisodeFilter *filter, ListKind kind,
                             uint64_t *total, Error *error) {
    sqlite3_stmt *statement;
    Status status = prepare_list(reader, filter, kind, &statement, error);
    return STATUS_THEN(status, reader_take_count(reader, statement, total, error));
}

// At most *count ids; says how many there were.
static Status read_ids(LogReader *reader, const EpisodeFilter *filter, int64_t *ids, size_t *count,
                       Error *error) {
    sqlite3_stmt *statement;
    Status status = prepare_list(reader, filter, LIST_IDS, &statement, error);
    if (status != STATUS_OK) {
        return status;
    }
    size_t found = 0;
    int code = SQLITE_DONE;
    while (found < *count && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        ids[found++] = columns_i64(&(Columns){.statement = statement}, "");
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        status = reader_fail(reader, code, error);
    }
    sqlite3_finalize(statement);
    *count = found;
    return status;
}

// A damaged row hides no other one.
static Status read_listed(LogReader *reader, int64_t id, Arena *arena, EpisodeRow *row,
                          Error *error) {
    Error why;
    Status status = read_row(reader, id, arena, row, &why);
    if (status != STATUS_DATA_LOSS) {
        return status == STATUS_OK ? status : error_set(error, status, NULL, "%s", why.message);
    }
    char *damage = arena_take(arena, sizeof(why.message));
    if (damage == NULL) {
        return reader_memory_ended("a list of episodes", error);
    }
    memcpy(damage, why.message, sizeof(why.message));
    *row = (EpisodeRow){.episode = id, .damage = damage};
    return STATUS_OK;
}

static Status take_rows(LogReader *reader, Arena *arena, const int64_t *ids, EpisodeRows *rows,
                        Error *error) {
    Status status = STATUS_OK;
    rows->row = arena_take_array(arena, rows->count, sizeof(*rows->row));
    if (rows->row == NULL) {
        return reader_memory_ended("a list of episodes", error);
    }
    for (size_t i = 0; status == STATUS_OK && i < rows->count; i++) {
        status = read_listed(reader, ids[i], arena, &rows->row[i], error);
    }
    return status;
}

// Each takes the memory of the one before.
static Status show_rows(LogReader *reader, const EpisodeFilter *filter, Arena *arena,
                        const int64_t *ids, EpisodeRows *rows, Error *error) {
    const ArenaMark mark = arena_mark(arena);
    const size_t found = rows->count;
    Status status = STATUS_OK;
    bool goes_on = true;
    rows->count = 0;
    for (size_t i = 0; goes_on && status == STATUS_OK && i < found; i++) {
        EpisodeRow row;
        status = read_listed(reader, ids[i], arena, &row, error);
        goes_on = status == STATUS_OK && filter->seen(filter->seen_context, &row);
        rows->count += goes_on;
        arena_reset_to(arena, mark);
    }
    return status;
}

static Status read_list(LogReader *reader, const EpisodeFilter *filter, Arena *arena,
                        EpisodeRows *rows, Error *error) {
    Status status = count_episodes(reader, filter, LIST_COUNT, &rows->total, error);
    status = STATUS_THEN_IF(status, filter->touch_count > 0,
                            count_episodes(reader, filter, LIST_UNKNOWN, &rows->unknown, error));
    if (status != STATUS_OK) {
        return status;
    }
    uint64_t left = rows->total > filter->first ? rows->total - filter->first : 0;
    rows->count = (size_t)(filter->count < left ? filter->count : left);
    int64_t *ids = arena_take_array(arena, rows->count, sizeof(*ids));
    if (ids == NULL) {
        return reader_memory_ended("a list of episodes", error);
    }
    status = read_ids(reader, filter, ids, &rows->count, error);
    status = STATUS_THEN(status, recall_sums(reader, error));
    if (status != STATUS_OK) {
        return status;
    }
    return filter->seen != NULL ? show_rows(reader, filter, arena, ids, rows, error)
                                : take_rows(reader, arena, ids, rows, error);
}

Status log_reader_list(LogReader *reader, const EpisodeFilter *filter, Arena *arena,
                       EpisodeRows *rows, Error *error) {
    ASSERT(filter->touch_count <= FILTER_TOUCHES_MAX);
    ASSERT(filter->highlight_count <= FILTER_HIGHLIGHTS_MAX);
    *rows = (EpisodeRows){0};
    Status status = reader_begin(reader, error);
    if (status == STATUS_OK) {
        reader_watch(reader, filter->context);
        status = read_list(reader, filter, arena, rows, error);
        reader_watch(reader, NULL);
        reader_end(reader);
    }
    return status;
}

// ---- one episode by what a person types

bool reader_uid_range(const char *text, uint8_t low[UID_BYTES], uint8_t high[UID_BYTES]) {
    size_t length = strlen(text);
    if (length < UID_DIGITS_MIN || length > UID_DIGITS) {
        return false;
    }
    memset(low, 0x00, UID_BYTES);
    memset(high, 0xff, UID_BYTES);
    for (size_t i = 0; i < length; i++) {
        int value = hex_digit(text[i]);
        if (value < 0) {
            return false;
        }
        int shift = i % 2 == 0 ? 4 : 0;
        low[i / 2] = (uint8_t)(low[i / 2] | value << shift);
        high[i / 2] = (uint8_t)(high[i / 2] & ~((15 - value) << shift));
    }
    return true;
}

uint32_t reader_uid_number(uint8_t uid[UID_BYTES]) {
    uint32_t number = 0;
    for (int i = UID_BYTES - 4; i < UID_BYTES; i++) {
        number = number << 8 | uid[i];
        uid[i] = 0;
    }
    return number;
}

typedef struct Matches {
    size_t count; // 2: several
    int64_t id;
} Matches;

static Status add_matches(LogReader *reader, sqlite3_stmt *statement, Matches *matches,
                          Error *error) {
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t id = columns_i64(&(Columns){.statement = statement}, "");
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
    if (reader_uid_range(text, low, high)) {
        sqlite3_stmt *by_uid = reader->statement[EPISODES_BY_UID];
        sqlite3_bind_int64(by_uid, 3, reader_uid_number(low));
        sqlite3_bind_int64(by_uid, 4, reader_uid_number(high));
        sqlite3_bind_blob(by_uid, 1, low, UID_BYTES, SQLITE_STATIC);
        sqlite3_bind_blob(by_uid, 2, high, UID_BYTES, SQLITE_STATIC);
        sqlite3_bind_text(by_uid, 5, reader->view, -1, SQLITE_STATIC);
        Status status = add_matches(reader, by_uid, matches, error);
        sqlite3_clear_bindings(by_uid);
        // a whole uid is nobody else's name
        if (status != STATUS_OK || (matches->count > 0 && strlen(text) == UID_DIGITS)) {
            return status;
        }
    }
    sqlite3_stmt *by_name = reader->statement[EPISODES_BY_NAME];
    sqlite3_bind_text(by_name, 1, text, -1, SQLITE_STATIC);
    sqlite3_bind_text(by_name, 2, reader->view, -1, SQLITE_STATIC);
    Status status = add_matches(reader, by_name, matches, error);
    sqlite3_clear_bindings(by_name);
    return status;
}

// A damaged index may lead to another episode than the one that was asked for.
static bool is_meant(const EpisodeRow *row, const char *text) {
    char uid[UID_TEXT_BYTES];
    uid_text(row->uid, uid);
    size_t i = 0;
    while (text[i] != '\0' && i < UID_DIGITS && tolower((unsigned char)text[i]) == uid[i]) {
        i++;
    }
    return text[i] == '\0' || strcmp(row->name, text) == 0;
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
    status = reader_row(reader, matches.id, arena, row, error);
    return status == STATUS_OK && !is_meant(row, text) ? reader_fail(reader, SQLITE_DONE, error)
                                                       : status;
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

// ---- highlights

Status reader_highlights(LogReader *reader, const EpisodeRow *episode, HighlightKind kind,
                         size_t count_max, Arena *arena, Highlight **highlights, size_t *count,
                         uint64_t *total, Error *error) {
    sqlite3_stmt *counting = reader->statement[HIGHLIGHTS_COUNT];
    sqlite3_stmt *statement = reader->statement[HIGHLIGHTS_WORST];
    int64_t first_world = reader_first_world(episode, CHUNK_HIGHLIGHTS);
    for (int i = 0; i < 2; i++) {
        sqlite3_stmt *asked = i == 0 ? counting : statement;
        sqlite3_bind_int64(asked, 1, episode->recording);
        sqlite3_bind_int(asked, 2, (int)kind);
        sqlite3_bind_int64(asked, 3, first_world);
    }
    int code = sqlite3_step(counting);
    Status status = code == SQLITE_ROW ? STATUS_OK : reader_fail(reader, code, error);
    *total = status == STATUS_OK ? columns_u64(&(Columns){.statement = counting}, "") : 0;
    sqlite3_reset(counting);
    size_t room = *total < count_max ? (size_t)*total : count_max;
    *highlights = arena_take_array(arena, room, sizeof(**highlights));
    *count = 0;
    if (status == STATUS_OK && *highlights == NULL) {
        return reader_memory_ended("the highlights of an episode", error);
    }
    sqlite3_bind_int64(statement, 4, reader_clamp(room));
    while (status == STATUS_OK && *count < room && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        Columns columns = {.statement = statement};
        Highlight *highlight = &(*highlights)[(*count)++];
        *highlight = (Highlight){.kind = kind};
        highlight->first_step = columns_u64(&columns, "");
        highlight->last_step = columns_u64(&columns, "");
        highlight->step = columns_u64(&columns, "");
        highlight->value = columns_double(&columns, "");
        if (!columns_are_null(&columns)) {
            highlight->reason = columns_u64(&columns, "");
            highlight->body = columns_u64(&columns, "");
            highlight->contacts = columns_u64(&columns, "");
        } else if (kind == HIGHLIGHT_LAUNCH) {
            columns.next++; // without a reason
            highlight->body = columns_u64(&columns, "");
            columns.next++; // or contacts
            highlight->other = columns_u64(&columns, "");
            highlight->height = columns_double(&columns, "");
        } else if (kind == HIGHLIGHT_BROKEN) {
            columns.next += 5; // all of the others
            highlight->joint = columns_u64(&columns, "");
        }
    }
    sqlite3_reset(statement);
    bool has_failed = status == STATUS_OK && code != SQLITE_ROW && code != SQLITE_DONE;
    return has_failed ? reader_fail(reader, code, error) : status;
}

Status reader_stray_highlights(LogReader *reader, const EpisodeRow *episode, uint64_t *count,
                               Error *error) {
    sqlite3_stmt *statement = reader->statement[HIGHLIGHTS_STRAY];
    sqlite3_bind_int64(statement, 1, episode->recording);
    sqlite3_bind_int64(statement, 2, reader_clamp(episode->world_range));
    sqlite3_bind_int64(statement, 3, reader_clamp(episode->world_count));
    int code = sqlite3_step(statement);
    Status status = code == SQLITE_ROW ? STATUS_OK : reader_fail(reader, code, error);
    *count = status == STATUS_OK ? columns_u64(&(Columns){.statement = statement}, "") : 0;
    sqlite3_reset(statement);
    return status;
}

Status log_reader_highlights(LogReader *reader, const EpisodeRow *episode, HighlightKind kind,
                             size_t count_max, Arena *arena, Highlight **highlights, size_t *count,
                             uint64_t *total, Error *error) {
    Status status = reader_begin(reader, error);
    if (status == STATUS_OK) {
        status = reader_highlights(reader, episode, kind, count_max, arena, highlights, count,
                                   total, error);
        reader_end(reader);
    }
    return status;
}
