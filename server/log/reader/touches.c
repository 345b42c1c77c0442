// SPDX-License-Identifier: MIT
// Touches: those of an episode, and what episodes are asked for by them.
#include "base/assert.h"
#include "base/utf8.h"
#include "log/reader/parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- conditions

void sql_add(Sql *sql, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(sql->text + sql->length, sizeof(sql->text) - sql->length, format, arguments);
    va_end(arguments);
    ASSERT(length >= 0 && (size_t)length < sizeof(sql->text) - sql->length);
    sql->length += (size_t)length;
}

// The ids that one of the two may have: as "(:a0)", or "(SELECT …)" by a name.
static void write_body(const TouchBody *body, const char *of, char which, size_t number,
                       char text[128]) {
    snprintf(text, 128,
             body->name != NULL
                 ? "(SELECT body FROM touch_body WHERE name = :%c%zu AND recording = %s)"
                 : "(:%c%zu)",
             which, number, of);
}

void touch_write_recordings(const TouchFilter *filter, size_t number, Sql *sql) {
    const TouchBody *bodies[] = {&filter->body, &filter->other};
    for (size_t i = 0; i < 2; i++) {
        if (bodies[i]->name != NULL) {
            sql_add(sql, " AND r.id IN (SELECT recording FROM touch_body WHERE name = :%c%zu)",
                    "ab"[i], number);
        }
    }
}

void touch_write_conditions(const TouchFilter *filter, const char *of, size_t number, Sql *sql) {
    const bool has_both = !touch_body_is_any(&filter->body) && !touch_body_is_any(&filter->other);
    const bool is_other = touch_body_is_any(&filter->body);
    char a[128];
    char b[128];
    write_body(&filter->body, of, 'a', number, a);
    write_body(&filter->other, of, 'b', number, b);
    if (has_both) {
        sql_add(sql,
                " AND ((t.body IN %s AND t.other_body IN %s) OR (t.body IN %s AND t.other_body IN "
                "%s))",
                a, b, b, a);
    } else if (!is_other || !touch_body_is_any(&filter->other)) {
        const char *one = is_other ? b : a;
        sql_add(sql, " AND (t.body IN %s OR t.other_body IN %s)", one, one);
    }
    if (filter->after > 0) {
        sql_add(sql, " AND t.first_step > :after%zu", number);
    }
    if (filter->before < UINT64_MAX) {
        sql_add(sql, " AND t.first_step < :before%zu", number);
    }
    if (filter->impulse_above >= 0.0) {
        sql_add(sql, " AND t.hardest_impulse > :impulse%zu", number);
    }
    if (filter->speed_above >= 0.0) {
        sql_add(sql, " AND t.approach > :speed%zu", number);
    }
}

static int parameter(sqlite3_stmt *statement, const char *name, size_t number) {
    char text[32];
    snprintf(text, sizeof(text), ":%s%zu", name, number);
    return sqlite3_bind_parameter_index(statement, text); // 0: binding to it does nothing
}

static void bind_body(sqlite3_stmt *statement, const TouchBody *body, const char *name,
                      size_t number) {
    int at = parameter(statement, name, number);
    if (body->name != NULL) {
        sqlite3_bind_text(statement, at, body->name, -1, SQLITE_STATIC);
    } else {
        sqlite3_bind_int64(statement, at, reader_clamp(body->id));
    }
}

void touch_bind_conditions(sqlite3_stmt *statement, const TouchFilter *filter, size_t number) {
    bind_body(statement, &filter->body, "a", number);
    bind_body(statement, &filter->other, "b", number);
    sqlite3_bind_int64(statement, parameter(statement, "after", number),
                       reader_clamp(filter->after));
    sqlite3_bind_int64(statement, parameter(statement, "before", number),
                       reader_clamp(filter->before));
    sqlite3_bind_double(statement, parameter(statement, "impulse", number), filter->impulse_above);
    sqlite3_bind_double(statement, parameter(statement, "speed", number), filter->speed_above);
}

// ---- the touches of an episode

Touch columns_touch(Columns *columns) {
    Touch touch = {.first_step = columns_u64(columns, "first_step")};
    touch.body = columns_u64(columns, "body");
    touch.other = columns_u64(columns, "other_body");
    touch.is_over = !columns_are_null(columns);
    if (touch.is_over) {
        touch.last_step = columns_u64(columns, "last_step");
    } else {
        columns->next++;
    }
    touch.approach = columns_double(columns, "approach");
    touch.first_impulse = columns_double(columns, "first_impulse");
    touch.hardest = columns_double(columns, "hardest_impulse");
    touch.hardest_step = columns_u64(columns, "hardest_step");
    return touch;
}

// Of the touches that are meant: how many there are, or those of the page.
static Status prepare(LogReader *reader, const EpisodeRow *episode, const TouchQuery *query,
                      bool counts, sqlite3_stmt **statement, Error *error) {
    Sql sql = {.length = 0};
    char recording[32];
    snprintf(recording, sizeof(recording), "%" PRId64, episode->recording);
    sql_add(&sql, "SELECT %s FROM touch t WHERE t.recording = %s",
            counts ? "count(*)" : TOUCH_COLUMNS, recording);
    touch_write_conditions(&query->where, recording, 0, &sql);
    if (!counts) {
        sql_add(&sql, " ORDER BY t.first_step, t.body, t.other_body LIMIT :count OFFSET :first");
    }
    int code = sqlite3_prepare_v2(reader->db, sql.text, -1, statement, NULL);
    if (code != SQLITE_OK) {
        return reader_fail(reader, code, error);
    }
    touch_bind_conditions(*statement, &query->where, 0);
    sqlite3_bind_int64(*statement, sqlite3_bind_parameter_index(*statement, ":count"),
                       reader_clamp(query->count));
    sqlite3_bind_int64(*statement, sqlite3_bind_parameter_index(*statement, ":first"),
                       reader_clamp(query->first));
    return STATUS_OK;
}

static Status count_touches(LogReader *reader, const EpisodeRow *episode, const TouchQuery *query,
                            uint64_t *total, Error *error) {
    sqlite3_stmt *statement;
    Status status = prepare(reader, episode, query, true, &statement, error);
    return STATUS_THEN(status, reader_take_count(reader, statement, total, error));
}

// What can be no touch stands in the row of somebody who changed it.
static Status take_touch(sqlite3_stmt *statement, const EpisodeRow *episode, Touch *touch,
                         Error *error) {
    char odd[32] = "";
    *touch = columns_touch(&(Columns){.statement = statement, .odd = odd});
    touch->last_step = touch->is_over ? touch->last_step : episode->last_step;
    if (odd[0] == '\0') {
        return STATUS_OK;
    }
    return error_set(error, STATUS_DATA_LOSS, "episode",
                     "A row of touches is damaged (touch.%s). Stop the server and mend the log "
                     "with moreau-server --recover.",
                     odd);
}

static Status read_page(LogReader *reader, const EpisodeRow *episode, const TouchQuery *query,
                        TouchRows *rows, size_t room, Error *error) {
    sqlite3_stmt *statement;
    Status status = prepare(reader, episode, query, false, &statement, error);
    if (status != STATUS_OK) {
        return status;
    }
    int code = SQLITE_DONE;
    while (status == STATUS_OK && rows->count < room &&
           (code = sqlite3_step(statement)) == SQLITE_ROW) {
        status = take_touch(statement, episode, &rows->touch[rows->count++], error);
    }
    status = STATUS_THEN_IF(status, code != SQLITE_ROW && code != SQLITE_DONE,
                            reader_fail(reader, code, error));
    sqlite3_finalize(statement);
    return status;
}

// ---- the names of their bodies

static int compare_ids(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

size_t touch_rows_bodies(const TouchRows *rows, uint64_t *ids) {
    for (size_t i = 0; i < rows->count; i++) {
        ids[2 * i] = rows->touch[i].body;
        ids[2 * i + 1] = rows->touch[i].other;
    }
    if (rows->count > 0) {
        qsort(ids, 2 * rows->count, sizeof(*ids), compare_ids);
    }
    size_t kept = 0;
    for (size_t i = 0; i < 2 * rows->count; i++) {
        if (kept == 0 || ids[kept - 1] != ids[i]) {
            ids[kept++] = ids[i];
        }
    }
    return kept;
}

// *name NULL: it has none.
static Status read_name(LogReader *reader, const EpisodeRow *episode, uint64_t body, Arena *arena,
                        const char **name, Error *error) {
    sqlite3_stmt *statement = reader->statement[TOUCH_NAME];
    sqlite3_bind_int64(statement, 1, episode->recording);
    sqlite3_bind_int64(statement, 2, reader_clamp(body));
    int code = sqlite3_step(statement);
    Status status =
        code == SQLITE_ROW || code == SQLITE_DONE ? STATUS_OK : reader_fail(reader, code, error);
    *name = NULL;
    const char *text = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (text != NULL) {
        size_t bytes = strlen(text) + 1;
        char *copy = arena_take(arena, bytes);
        *name = copy == NULL ? NULL : memcpy(copy, text, bytes);
        if (copy != NULL) {
            utf8_mend(copy); // of a damaged row: no reply could carry it
        }
        status = copy == NULL ? reader_memory_ended("the names of bodies", error) : status;
    }
    sqlite3_reset(statement);
    return status;
}

static Status read_names(LogReader *reader, const EpisodeRow *episode, TouchRows *rows,
                         Arena *arena, Error *error) {
    uint64_t *ids = arena_take_array(arena, 2 * rows->count, sizeof(*ids));
    const char **names = arena_take_array(arena, 2 * rows->count, sizeof(*names));
    if (ids == NULL || names == NULL) {
        return reader_memory_ended("the names of bodies", error);
    }
    Status status = STATUS_OK;
    size_t count = touch_rows_bodies(rows, ids);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        const uint64_t body = ids[i];
        const char *name;
        status = read_name(reader, episode, body, arena, &name, error);
        if (status == STATUS_OK && name != NULL) {
            ids[rows->named_count] = body;
            names[rows->named_count++] = name;
        }
    }
    rows->named = ids;
    rows->names = names;
    return status;
}

static Status read_touches(LogReader *reader, const EpisodeRow *episode, const TouchQuery *query,
                           Arena *arena, TouchRows *rows, Error *error) {
    Status status = count_touches(reader, episode, query, &rows->total, error);
    if (status != STATUS_OK) {
        return status;
    }
    uint64_t left = rows->total > query->first ? rows->total - query->first : 0;
    size_t room = (size_t)(query->count < left ? query->count : left);
    rows->touch = arena_take_array(arena, room, sizeof(*rows->touch));
    if (rows->touch == NULL) {
        return reader_memory_ended("the touches of an episode", error);
    }
    status = read_page(reader, episode, query, rows, room, error);
    return STATUS_THEN(status, read_names(reader, episode, rows, arena, error));
}

Status log_reader_touches(LogReader *reader, const EpisodeRow *episode, const TouchQuery *query,
                          Arena *arena, TouchRows *rows, Error *error) {
    *rows = (TouchRows){0};
    Status status = reader_begin(reader, error);
    if (status == STATUS_OK) {
        reader_watch(reader, query->context);
        status = read_touches(reader, episode, query, arena, rows, error);
        reader_watch(reader, NULL);
        reader_end(reader);
    }
    return status;
}
