// SPDX-License-Identifier: MIT
// Whether the rows of touches, and of the bodies that touched, are those of the recording's chunks:
// of several chunks that tell of the same touch, or body, the last one counts.
#include "log/reader/proof_parts.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// What a chunk told, and which was told later.
typedef struct SealedTouch {
    Touch touch;
    size_t order;
} SealedTouch;

typedef struct SealedName {
    uint64_t body;
    const char *text; // the arena's
    size_t bytes, order;
} SealedName;

typedef struct Sealed {
    SealedTouch *touch;
    SealedName *name;
    size_t touch_count, touch_room, name_count, name_room;
} Sealed;

static int compare_touches(const void *left, const void *right) {
    const SealedTouch *a = left, *b = right;
    if (a->touch.first_step != b->touch.first_step) {
        return a->touch.first_step < b->touch.first_step ? -1 : 1;
    }
    const int bodies = touch_compare(&a->touch, &b->touch);
    return bodies != 0 ? bodies : a->order < b->order ? -1 : a->order > b->order;
}

static int compare_names(const void *left, const void *right) {
    const SealedName *a = left, *b = right;
    if (a->body != b->body) {
        return a->body < b->body ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

// ---- what the chunks tell

// What it grows out of stays in the arena: half of it at most.
static bool reserve(Arena *arena, void **items, size_t item_bytes, size_t count, size_t more,
                    size_t *room) {
    if (count + more <= *room) {
        return true;
    }
    const size_t wanted = 2 * (count + more);
    void *larger = arena_take_array(arena, wanted, item_bytes);
    if (larger == NULL) {
        return false;
    }
    if (count > 0) {
        memcpy(larger, *items, count * item_bytes);
    }
    *items = larger;
    *room = wanted;
    return true;
}

static bool add_touches(const EventsChunk *events, Arena *arena, Sealed *sealed) {
    if (!reserve(arena, (void **)&sealed->touch, sizeof(*sealed->touch), sealed->touch_count,
                 events->changed_count, &sealed->touch_room)) {
        return false;
    }
    for (size_t i = 0; i < events->changed_count; i++) {
        sealed->touch[sealed->touch_count] =
            (SealedTouch){.touch = events_get(events, i), .order = sealed->touch_count};
        sealed->touch_count++;
    }
    return true;
}

// Texts stay where the chunk was read to.
static bool add_names(const EventsChunk *events, Arena *arena, Sealed *sealed) {
    if (!reserve(arena, (void **)&sealed->name, sizeof(*sealed->name), sealed->name_count,
                 events->name_count, &sealed->name_room)) {
        return false;
    }
    TouchName name;
    size_t at = 0;
    for (size_t i = 0; i < events->name_count && events_next_name(events, &at, &name); i++) {
        sealed->name[sealed->name_count] = (SealedName){
            .body = name.body, .text = name.text, .bytes = name.bytes, .order = sealed->name_count};
        sealed->name_count++;
    }
    return true;
}

static Status list_sealed(ProofWork *work, const ChunkRow *rows, size_t row_count, Sealed *sealed,
                          Error *error) {
    for (size_t i = 0; i < row_count; i++) {
        LogChunk chunk;
        EventsChunk events;
        Error why = {0}, failure = {0};
        if (rows[i].kind != CHUNK_EVENTS) {
            continue;
        }
        if (!proof_open_row(work, &rows[i], &chunk, &failure)) {
            if (failure.status != STATUS_OK) {
                *error = failure;
                return failure.status;
            }
        } else if (events_open(&chunk.chunk, &events, &why) != STATUS_OK) {
            proof_tell_body(work, &rows[i], &why);
        } else if (!add_touches(&events, work->arena, sealed) ||
                   !add_names(&events, work->arena, sealed)) {
            return reader_memory_ended("the touches of an episode", error);
        }
    }
    return STATUS_OK;
}

// In the order of the rows, the last one of each.
static void sort_sealed(Sealed *sealed) {
    size_t kept = 0;
    if (sealed->touch_count > 0) {
        qsort(sealed->touch, sealed->touch_count, sizeof(*sealed->touch), compare_touches);
    }
    for (size_t i = 0; i < sealed->touch_count; i++) {
        const bool is_last =
            i + 1 == sealed->touch_count ||
            sealed->touch[i].touch.first_step != sealed->touch[i + 1].touch.first_step ||
            touch_compare(&sealed->touch[i].touch, &sealed->touch[i + 1].touch) != 0;
        if (is_last) {
            sealed->touch[kept++] = sealed->touch[i];
        }
    }
    sealed->touch_count = kept;
    kept = 0;
    if (sealed->name_count > 0) {
        qsort(sealed->name, sealed->name_count, sizeof(*sealed->name), compare_names);
    }
    for (size_t i = 0; i < sealed->name_count; i++) {
        if (i + 1 == sealed->name_count || sealed->name[i].body != sealed->name[i + 1].body) {
            sealed->name[kept++] = sealed->name[i];
        }
    }
    sealed->name_count = kept;
}

// ---- what the rows tell

static bool is_same_touch(const Touch *row, const Touch *sealed) {
    return row->body == sealed->body && row->other == sealed->other &&
           row->first_step == sealed->first_step && row->is_over == sealed->is_over &&
           (!row->is_over || row->last_step == sealed->last_step) &&
           row->hardest_step == sealed->hardest_step &&
           bytes_same_double(row->approach, sealed->approach) &&
           bytes_same_double(row->first_impulse, sealed->first_impulse) &&
           bytes_same_double(row->hardest, sealed->hardest);
}

static bool is_same_row(sqlite3_stmt *statement, bool of_touches, const Sealed *sealed, size_t i) {
    char odd[32] = "";
    Columns columns = {.statement = statement, .odd = odd};
    if (of_touches) {
        const Touch row = columns_touch(&columns);
        return i < sealed->touch_count && odd[0] == '\0' &&
               is_same_touch(&row, &sealed->touch[i].touch);
    }
    if (i >= sealed->name_count || sqlite3_column_type(statement, 1) != SQLITE_TEXT) {
        return false;
    }
    const SealedName *name = &sealed->name[i];
    const void *text = sqlite3_column_text(statement, 1);
    return columns_u64(&columns, "body") == name->body && odd[0] == '\0' &&
           (size_t)sqlite3_column_bytes(statement, 1) == name->bytes &&
           bytes_are_same(text, name->text, name->bytes);
}

static Status check_rows(ProofWork *work, bool of_touches, const Sealed *sealed, Error *error) {
    sqlite3_stmt *statement = work->reader->statement[of_touches ? TOUCHES : TOUCH_BODIES];
    sqlite3_bind_int64(statement, 1, work->row.recording);
    size_t count = 0;
    bool is_same = true;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW && is_same) {
        is_same = is_same_row(statement, of_touches, sealed, count++);
    }
    Status status = code == SQLITE_ROW || code == SQLITE_DONE
                        ? STATUS_OK
                        : reader_fail(work->reader, code, error);
    sqlite3_reset(statement);
    is_same = is_same && count == (of_touches ? sealed->touch_count : sealed->name_count);
    if (status == STATUS_OK && !is_same) {
        proof_tell(work, 0, NULL, of_touches ? "touch" : "touch_body",
                   "The rows of %s are not those of the recording's chunks.",
                   of_touches ? "touches" : "the bodies that touched");
    }
    return status;
}

Status proof_check_touches(ProofWork *work, const ChunkRow *rows, size_t row_count, Error *error) {
    Sealed sealed = {0};
    Status status = list_sealed(work, rows, row_count, &sealed, error);
    sort_sealed(&sealed);
    for (int i = 0; i < 2 && status == STATUS_OK; i++) {
        status = check_rows(work, i == 0, &sealed, error);
    }
    return status;
}
