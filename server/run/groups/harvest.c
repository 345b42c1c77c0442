// SPDX-License-Identifier: MIT
#include "run/groups/harvest.h"

#include "base/array.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

// A batch is sealed when it has so many rows: a chunk of some 100 kB.
enum { BATCH_ROWS = 512 };

// So many episodes per world may wait for their returns; then the oldest goes without.
enum { WAITING_PER_WORLD = 4 };

typedef struct Row {
    EpisodeRecord record;
    uint64_t call; // that finished it
    uint64_t next; // of a row that waits: number of the next one of its world; NONE
} Row;

typedef struct RowList {
    Row *row;
    size_t count, capacity;
} RowList;

// The rows of a world that wait for returns, by their numbers: rows are counted from the first of
// the recording on.
typedef struct Waiting {
    uint64_t first, last;
} Waiting;

static const uint64_t NONE = UINT64_MAX;

typedef struct Return {
    uint32_t world;
    uint64_t call; // that brought it
    bool has_doubtful;
    double value, doubtful;
} Return;

// Of the episode of a world that goes on: steps that were solved again.
typedef struct Judged {
    uint64_t count;
    double gap_max;
} Judged;

struct GroupHarvest {
    GroupHarvestDef def;
    bool has_failed; // memory ended, and rows were lost
    size_t waiting_max;
    uint64_t call_next, call_over; // of the next call; all before this one are over
    RowList queue;                 // of calls that are over, the oldest first
    RowList held;                  // of calls that were over before an earlier one
    uint64_t *early;               // these calls
    size_t early_count, early_capacity;
    Return *sent; // that found no row yet, the oldest first
    size_t sent_count, sent_capacity;
    uint64_t gone;     // number of the first row of the queue
    Waiting *waiting;  // [worlds]; NULL: nobody sends returns
    Judged *judged;    // [worlds]; NULL: no step is solved again
    uint64_t unjudged; // number of the first row that is not judged
};

GroupHarvest *group_harvest_create(const GroupHarvestDef *def) {
    ASSERT(def->worlds >= 1 && def->worlds <= GROUP_WORLDS_MAX);
    GroupHarvest *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return NULL;
    }
    made->def = *def;
    made->waiting_max = (size_t)def->worlds * WAITING_PER_WORLD;
    if (def->opinion.share > 0.0) {
        made->judged = calloc(def->worlds, sizeof(*made->judged));
        if (made->judged == NULL) {
            free(made);
            return NULL;
        }
    }
    if (def->wants_returns) {
        made->waiting = malloc(def->worlds * sizeof(*made->waiting));
        if (made->waiting == NULL) {
            free(made->judged);
            free(made);
            return NULL;
        }
        for (uint32_t i = 0; i < def->worlds; i++) {
            made->waiting[i] = (Waiting){NONE, NONE};
        }
    }
    return made;
}

void group_harvest_destroy(GroupHarvest *harvest) {
    if (harvest != NULL) {
        free(harvest->queue.row);
        free(harvest->held.row);
        free(harvest->early);
        free(harvest->sent);
        free(harvest->waiting);
        free(harvest->judged);
        free(harvest);
    }
}

bool group_harvest_want_returns(const GroupHarvest *harvest) {
    return harvest->def.wants_returns;
}

bool group_harvest_have_failed(const GroupHarvest *harvest) {
    return harvest->has_failed;
}

// ---- rows that wait for returns

static Row *row_of(GroupHarvest *harvest, uint64_t number) {
    ASSERT(number >= harvest->gone);
    ASSERT(number - harvest->gone < harvest->queue.count);
    return &harvest->queue.row[number - harvest->gone];
}

static void wait_for_return(GroupHarvest *harvest, uint64_t number) {
    ASSERT(harvest->waiting != NULL);
    Row *row = row_of(harvest, number);
    Waiting *waiting = &harvest->waiting[row->record.world];
    row->next = NONE;
    if (waiting->first == NONE) {
        waiting->first = number;
    } else {
        row_of(harvest, waiting->last)->next = number;
    }
    waiting->last = number;
}

// The oldest of its world goes: it has its return, or goes without.
static void stop_waiting(GroupHarvest *harvest, const EpisodeRecord *record) {
    if (harvest->waiting != NULL && !record->has_return) {
        Waiting *waiting = &harvest->waiting[record->world];
        waiting->first = row_of(harvest, waiting->first)->next;
    }
}

// ---- batches

// Seals the first `count` rows of the queue.
static void seal(GroupHarvest *harvest, size_t count) {
    ASSERT(count > 0);
    ASSERT(count <= harvest->queue.count);
    const uint32_t version =
        harvest->def.opinion.is_asked ? CHUNK_FORMAT_GAINS_AND_OPINIONS : CHUNK_FORMAT_GAINS;
    const size_t bytes = CHUNK_HEADER_BYTES + episodes_write(0, NULL, count, version, NULL);
    LogBuffer *buffer = log_take_buffer(harvest->def.log, bytes);
    EpisodeRecord *records = malloc(count * sizeof(*records));
    uint64_t last_step = 0;
    for (size_t i = 0; i < count; i++) {
        stop_waiting(harvest, &harvest->queue.row[i].record);
    }
    for (size_t i = 0; records != NULL && i < count; i++) {
        records[i] = harvest->queue.row[i].record;
        last_step = records[i].last_step > last_step ? records[i].last_step : last_step;
    }
    if (buffer != NULL && records != NULL) {
        buffer->used += episodes_write(0, records, count, version, buffer->bytes + buffer->used);
        const Chunk chunk = {.kind = CHUNK_EPISODES,
                             .version = version,
                             .last_step = last_step,
                             .time = (double)last_step * harvest->def.call_seconds};
        const uint64_t put_bytes = buffer->used;
        log_put(harvest->def.recording, buffer, &chunk);
        if (use_put_log(harvest->def.use, count, put_bytes, NULL) != STATUS_OK) {
            atomic_store_explicit(harvest->def.has_reached, true, memory_order_relaxed);
        }
    } else {
        harvest->has_failed = true;
        if (buffer != NULL) {
            log_give_buffer(harvest->def.log, buffer);
        }
    }
    free(records);
    harvest->queue.count -= count;
    harvest->gone += count;
    memmove(harvest->queue.row, harvest->queue.row + count, harvest->queue.count * sizeof(Row));
}

// How many of the queue wait for nothing any more.
static size_t count_ready(const GroupHarvest *harvest, bool all) {
    const RowList *queue = &harvest->queue;
    size_t ready = 0;
    for (; ready < queue->count; ready++) {
        const EpisodeRecord *record = &queue->row[ready].record;
        const bool waits = harvest->def.wants_returns && !all && !record->has_return &&
                           queue->count - ready <= harvest->waiting_max;
        const bool is_open =
            harvest->judged != NULL && !all && harvest->gone + ready >= harvest->unjudged;
        if (waits || is_open ||
            !harvest->def.is_stored(harvest->def.context, record->world, record->last_step)) {
            break;
        }
    }
    ASSERT(ready <= harvest->queue.count);
    return ready;
}

static void seal_batches(GroupHarvest *harvest) {
    size_t ready = harvest->queue.count < BATCH_ROWS ? 0 : count_ready(harvest, false);
    for (; ready >= BATCH_ROWS; ready -= BATCH_ROWS) {
        seal(harvest, BATCH_ROWS);
    }
}

// Rows of calls before this one have what was found of their steps.
static void judge_rows(GroupHarvest *harvest, uint64_t before) {
    const uint64_t end = harvest->gone + harvest->queue.count;
    while (harvest->unjudged < end && row_of(harvest, harvest->unjudged)->call < before) {
        EpisodeRecord *record = &row_of(harvest, harvest->unjudged++)->record;
        Judged *judged = &harvest->judged[record->world];
        record->opinions = judged->count;
        record->opinion_gap_max = judged->gap_max;
        *judged = (Judged){0};
    }
}

void group_harvest_judge(GroupHarvest *harvest, uint64_t call, const OpinionFound *found,
                         size_t count) {
    ASSERT(harvest->judged != NULL || count == 0);
    for (size_t i = 0; i < count; i++) {
        Judged *judged = &harvest->judged[found[i].world];
        const bool is_solved = found[i].residual <= harvest->def.opinion.tolerance;
        judged->count++;
        if (is_solved && found[i].gap > judged->gap_max) {
            judged->gap_max = found[i].gap;
        }
    }
    judge_rows(harvest, call + 1);
    seal_batches(harvest);
}

void group_harvest_flush(GroupHarvest *harvest, bool all) {
    if (all && harvest->judged != NULL) {
        judge_rows(harvest, UINT64_MAX);
    }
    seal_batches(harvest);
    const size_t ready = count_ready(harvest, all);
    if (ready > 0) {
        seal(harvest, ready);
    }
}

// ---- returns

// The row that a return is of. false: it has none, as yet.
static bool match(GroupHarvest *harvest, const Return *sent) {
    ASSERT(sent->world < harvest->def.worlds);
    const uint64_t number = harvest->waiting[sent->world].first;
    Row *row = number == NONE ? NULL : row_of(harvest, number);
    if (row == NULL || row->call >= sent->call) {
        return false;
    }
    stop_waiting(harvest, &row->record);
    row->record.has_return = true;
    row->record.return_sum = sent->value;
    row->record.has_return_doubtful = sent->has_doubtful;
    row->record.return_doubtful = sent->doubtful;
    return true;
}

static void match_all(GroupHarvest *harvest) {
    size_t kept = 0;
    for (size_t i = 0; i < harvest->sent_count; i++) {
        const Return sent = harvest->sent[i];
        if (!match(harvest, &sent) && sent.call > harvest->call_over) {
            harvest->sent[kept++] = sent;
        }
    }
    harvest->sent_count = kept;
}

void group_harvest_add_returns(GroupHarvest *harvest, uint64_t call, const uint32_t *world,
                               const double *value, const double *doubtful, size_t count) {
    ASSERT(count == 0 || (world != NULL && value != NULL));
    if (!ARRAY_RESERVE(harvest->sent, harvest->sent_capacity, harvest->sent_count + count)) {
        harvest->has_failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        harvest->sent[harvest->sent_count++] =
            (Return){.world = world[i],
                     .call = call,
                     .value = value[i],
                     .has_doubtful = doubtful != NULL,
                     .doubtful = doubtful != NULL ? doubtful[i] : 0.0};
    }
    match_all(harvest);
    seal_batches(harvest);
}

// ---- calls

uint64_t group_harvest_open_call(GroupHarvest *harvest) {
    ASSERT(harvest->call_over <= harvest->call_next);
    return harvest->call_next++;
}

uint64_t group_harvest_calls(const GroupHarvest *harvest) {
    return harvest->call_next;
}

static bool add(RowList *list, uint64_t call, const EpisodeRecord *finished, size_t count) {
    if (!ARRAY_RESERVE(list->row, list->capacity, list->count + count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        list->row[list->count++] = (Row){.record = finished[i], .call = call};
    }
    return true;
}

// In the order of the calls.
static void queue(GroupHarvest *harvest, uint64_t call, const EpisodeRecord *finished,
                  size_t count) {
    const uint64_t first = harvest->gone + harvest->queue.count;
    if (!add(&harvest->queue, call, finished, count)) {
        harvest->has_failed = true;
        return;
    }
    for (uint64_t i = first; harvest->waiting != NULL && i < first + count; i++) {
        wait_for_return(harvest, i);
    }
}

void group_harvest_take(GroupHarvest *harvest, uint64_t call, const EpisodeRecord *finished,
                        size_t count) {
    ASSERT(finished != NULL || count == 0);
    ASSERT(call >= harvest->call_over && call < harvest->call_next);
    if (call == harvest->call_over) {
        queue(harvest, call, finished, count);
    } else if (!add(&harvest->held, call, finished, count)) {
        harvest->has_failed = true;
    }
}

// What was held of the call goes into the queue.
static void release(GroupHarvest *harvest, uint64_t call) {
    size_t kept = 0;
    for (size_t i = 0; i < harvest->held.count; i++) {
        const Row row = harvest->held.row[i];
        if (row.call != call) {
            harvest->held.row[kept++] = row;
        } else {
            queue(harvest, call, &row.record, 1);
        }
    }
    harvest->held.count = kept;
}

// Whether the call was over before an earlier one; it is no more.
static bool take_early(GroupHarvest *harvest, uint64_t call) {
    for (size_t i = 0; i < harvest->early_count; i++) {
        if (harvest->early[i] == call) {
            harvest->early[i] = harvest->early[--harvest->early_count];
            return true;
        }
    }
    return false;
}

void group_harvest_close_call(GroupHarvest *harvest, uint64_t call) {
    ASSERT(call < harvest->call_next);
    if (call != harvest->call_over) {
        ASSERT(call > harvest->call_over);
        if (ARRAY_RESERVE(harvest->early, harvest->early_capacity, harvest->early_count + 1)) {
            harvest->early[harvest->early_count++] = call;
        } else {
            harvest->has_failed = true;
        }
        return;
    }
    do {
        release(harvest, harvest->call_over++);
    } while (take_early(harvest, harvest->call_over));
    match_all(harvest);
    seal_batches(harvest);
}
