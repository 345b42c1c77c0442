// SPDX-License-Identifier: MIT
#include "log/writer/episode_rows.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static const char source_type[] = "episode_rows";

enum { HIDDEN = 29 }; // behind the columns: the argument

// What a row has to have for a column of it, as bits.
enum {
    OF_ENDED = 1,
    OF_SEED = 2,
    OF_RETURN = 4,
    OF_PARENT = 8,
    OF_OPINION = 16,
    OF_RETURN_DOUBTFUL = 32,
    OF_GAIN = 64,
    OF_BEFORE = 128 // steps in front of the recording, whether or not it has a parent
};

typedef enum ColumnType { COLUMN_U64, COLUMN_U32, COLUMN_DOUBLE, COLUMN_UID } ColumnType;

typedef struct ColumnOf {
    ColumnType type;
    unsigned needs;
    size_t at; // in EpisodeRecord
} ColumnOf;

#define AT(field) offsetof(EpisodeRecord, field)

// Those behind `number`, as EPISODE_ROWS_COLUMNS has them.
static const ColumnOf columns[] = {
    {COLUMN_U32, 0, AT(world)},
    {COLUMN_U64, 0, AT(first_step)},
    {COLUMN_U64, OF_ENDED, AT(last_step)},
    {COLUMN_U32, 0, AT(state)},
    {COLUMN_DOUBLE, OF_ENDED, AT(time)},
    {COLUMN_U64, OF_SEED, AT(seed)},
    {COLUMN_DOUBLE, OF_RETURN, AT(return_sum)},
    {COLUMN_U64, 0, AT(begun_ns)},
    {COLUMN_U64, 0, AT(ended_ns)},
    {COLUMN_U64, OF_ENDED, AT(figures.unconverged_steps)},
    {COLUMN_DOUBLE, OF_ENDED, AT(figures.worst_own)},
    {COLUMN_DOUBLE, OF_ENDED, AT(figures.worst_penetration)},
    {COLUMN_U64, OF_ENDED, AT(figures.contacts_max)},
    {COLUMN_DOUBLE, OF_ENDED, AT(figures.hardest_impact)},
    {COLUMN_U64, OF_ENDED, AT(figures.hardest_impact_step)},
    {COLUMN_DOUBLE, OF_ENDED, AT(figures.energy_gain)},
    {COLUMN_U64, OF_ENDED, AT(figures.energy_gain_step)},
    {COLUMN_UID, OF_PARENT, AT(parent)},
    {COLUMN_U64, OF_BEFORE, AT(parent_step)},
    {COLUMN_U64, OF_ENDED, AT(length)},
    {COLUMN_U64, OF_ENDED, AT(turn)},
    {COLUMN_U64, OF_OPINION, AT(doubtful_steps)},
    {COLUMN_DOUBLE, OF_OPINION | OF_RETURN_DOUBTFUL, AT(return_doubtful)},
    {COLUMN_U64, OF_OPINION, AT(opinions)},
    {COLUMN_DOUBLE, OF_OPINION, AT(opinion_gap_max)},
    {COLUMN_DOUBLE, OF_GAIN, AT(figures.gain.sum)},
    {COLUMN_DOUBLE, OF_GAIN, AT(figures.gain.scale)},
    {COLUMN_DOUBLE, OF_GAIN, AT(figures.gain.step)},
};
static_assert(sizeof(columns) / sizeof(columns[0]) == HIDDEN - 1, "number stands before them");
static_assert(sizeof(RecordingState) == sizeof(uint32_t), "a state is read as one");

typedef struct Cursor {
    sqlite3_vtab_cursor base; // first
    const EpisodeSource *source;
    size_t index, count;
    EpisodeRecord record; // number `index`
    unsigned has;         // bits of what it has
} Cursor;

// ---- rows

static unsigned what_it_has(const EpisodeRecord *record) {
    static const uint8_t none[UID_BYTES];
    const bool has_parent = memcmp(record->parent, none, UID_BYTES) != 0;
    return (record->state != RECORDING_OPEN ? OF_ENDED : 0u) | (record->has_seed ? OF_SEED : 0u) |
           (record->has_return ? OF_RETURN : 0u) | (has_parent ? OF_PARENT : 0u) |
           (has_parent || record->parent_step > 0 ? OF_BEFORE : 0u) |
           (record->has_opinion ? OF_OPINION : 0u) |
           (record->has_return_doubtful ? OF_RETURN_DOUBTFUL : 0u) |
           (record->figures.has_gain ? OF_GAIN : 0u);
}

static void take(Cursor *cursor) {
    if (cursor->index < cursor->count) {
        if (cursor->source->episodes != NULL) {
            episodes_get(cursor->source->episodes, cursor->index, &cursor->record);
        } else {
            cursor->record = *cursor->source->record;
        }
        cursor->has = what_it_has(&cursor->record);
    }
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *text, int count,
                  sqlite3_value **values) {
    (void)plan, (void)text;
    Cursor *cursor = (Cursor *)(void *)base;
    cursor->source = count == 1 ? sqlite3_value_pointer(values[0], source_type) : NULL;
    cursor->index = 0;
    cursor->count = cursor->source == NULL             ? 0
                    : cursor->source->episodes != NULL ? cursor->source->episodes->count
                                                       : 1;
    take(cursor);
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base) {
    Cursor *cursor = (Cursor *)(void *)base;
    cursor->index++;
    take(cursor);
    return SQLITE_OK;
}

static int is_behind(sqlite3_vtab_cursor *base) {
    const Cursor *cursor = (const Cursor *)(const void *)base;
    return cursor->index >= cursor->count;
}

static uint64_t number_of(const Cursor *cursor) {
    const EpisodesChunk *episodes = cursor->source->episodes;
    return (episodes != NULL ? episodes->first_number : 0) + cursor->index;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int index) {
    const Cursor *cursor = (const Cursor *)(const void *)base;
    if (index == 0) {
        sqlite3_result_int64(result, (sqlite3_int64)number_of(cursor));
        return SQLITE_OK;
    }
    if (index >= HIDDEN || (columns[index - 1].needs & ~cursor->has) != 0) {
        return SQLITE_OK; // NULL, as it is unless it is given
    }
    const ColumnOf *of = &columns[index - 1];
    const char *at = (const char *)&cursor->record + of->at;
    uint64_t word;
    uint32_t half;
    double number;
    switch (of->type) {
    case COLUMN_DOUBLE:
        memcpy(&number, at, sizeof(number));
        sqlite3_result_double(result, number);
        return SQLITE_OK;
    case COLUMN_UID:
        sqlite3_result_blob(result, at, UID_BYTES, SQLITE_TRANSIENT);
        return SQLITE_OK;
    case COLUMN_U32:
        memcpy(&half, at, sizeof(half));
        sqlite3_result_int64(result, half);
        return SQLITE_OK;
    default:
        memcpy(&word, at, sizeof(word));
        sqlite3_result_int64(result, (sqlite3_int64)word);
        return SQLITE_OK;
    }
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id) {
    *id = (sqlite3_int64)((const Cursor *)(const void *)base)->index;
    return SQLITE_OK;
}

// ---- the table

static int connect(sqlite3 *db, void *context, int count, const char *const *arguments,
                   sqlite3_vtab **table, char **why) {
    (void)context, (void)count, (void)arguments, (void)why;
    int code = sqlite3_declare_vtab(db, "CREATE TABLE x(" EPISODE_ROWS_COLUMNS ", source HIDDEN)");
    *table = code == SQLITE_OK ? sqlite3_malloc(sizeof(**table)) : NULL;
    if (*table != NULL) {
        memset(*table, 0, sizeof(**table));
    }
    return code == SQLITE_OK && *table == NULL ? SQLITE_NOMEM : code;
}

static int disconnect(sqlite3_vtab *table) {
    sqlite3_free(table);
    return SQLITE_OK;
}

static int plan(sqlite3_vtab *table, sqlite3_index_info *info) {
    (void)table;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn == HIDDEN) {
            if (!info->aConstraint[i].usable) {
                return SQLITE_CONSTRAINT;
            }
            info->aConstraintUsage[i].argvIndex = 1;
            info->aConstraintUsage[i].omit = 1;
        }
    }
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **base) {
    (void)table;
    Cursor *cursor = sqlite3_malloc(sizeof(*cursor));
    if (cursor == NULL) {
        return SQLITE_NOMEM;
    }
    memset(cursor, 0, sizeof(*cursor));
    *base = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    sqlite3_free(base);
    return SQLITE_OK;
}

// Without xCreate: it is there by its name, and nobody can make another one.
static const sqlite3_module module = {.xConnect = connect,
                                      .xDisconnect = disconnect,
                                      .xBestIndex = plan,
                                      .xOpen = open_cursor,
                                      .xClose = close_cursor,
                                      .xFilter = filter,
                                      .xNext = next,
                                      .xEof = is_behind,
                                      .xColumn = column,
                                      .xRowid = row_id};

int episode_rows_register(sqlite3 *db) {
    return sqlite3_create_module(db, source_type, &module, NULL);
}

void episode_rows_bind(sqlite3_stmt *statement, int index, EpisodeSource *source) {
    sqlite3_bind_pointer(statement, index, source, source_type, NULL);
}
