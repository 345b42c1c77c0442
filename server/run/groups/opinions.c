// SPDX-License-Identifier: MIT
#include "run/groups/opinions.h"

#include "base/array.h"
#include "base/assert.h"
#include "os/clock.h"

#include <stdlib.h>
#include <string.h>

typedef struct FoundList {
    OpinionFound *item;
    size_t count, capacity;
} FoundList;

// A call that is open, or not complete.
typedef struct OpenCall {
    uint64_t recorded;
    uint32_t jobs; // under way
    bool is_closed;
    FoundList found;
} OpenCall;

// Some steps of one call, on their way through the background lanes.
typedef struct Batch {
    Job job;
    Strand strand;
    Opinions *opinions;
    uint64_t call;
    GroupCase *first, *next; // all, and those that are left
    size_t bytes, count;     // of all
    size_t found_count;      // those not found were given up
    OpinionFound found[];
} Batch;

struct Opinions {
    OpinionsDef def;
    uint64_t opened, complete; // calls
    OpenCall *call;            // [lag]: call n is at n % lag
    OpinionWait *first_wait;
    bool is_serving;
    size_t kept_bytes;
    FoundList due; // of calls that are complete, in order
    OpinionFigures figures;
    _Atomic bool is_abandoned;
};

static uint32_t lag_of(const Opinions *opinions) {
    return opinions->def.group->opinion.lag;
}

static OpenCall *call_of(const Opinions *opinions, uint64_t call) {
    VALIDATE(call < opinions->opened);
    return &opinions->call[call % lag_of(opinions)];
}

Opinions *opinions_create(const OpinionsDef *def) {
    ASSERT(def->group != NULL);
    Opinions *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return NULL;
    }
    made->def = *def;
    made->call = calloc(lag_of(made), sizeof(*made->call));
    if (made->call == NULL) {
        free(made);
        return NULL;
    }
    return made;
}

void opinions_destroy(Opinions *opinions) {
    if (opinions == NULL) {
        return;
    }
    ASSERT(opinions->first_wait == NULL && opinions->figures.waiting == 0);
    for (uint32_t i = 0; i < lag_of(opinions); i++) {
        free(opinions->call[i].found.item);
    }
    free(opinions->call);
    free(opinions->due.item);
    free(opinions);
}

void opinions_abandon(Opinions *opinions) {
    atomic_store_explicit(&opinions->is_abandoned, true, memory_order_relaxed);
}

static void lose(Opinions *opinions, size_t count) {
    atomic_fetch_add_explicit(&opinions->def.group->opinions_lost, count, memory_order_relaxed);
}

// ---- waiting

static bool is_turn(const Opinions *opinions, const OpinionWait *wait) {
    const uint64_t under_way = opinions->opened - opinions->complete;
    return wait->is_reader ? under_way == 0
                           : under_way < lag_of(opinions) &&
                                 (opinions->kept_bytes < OPINIONS_KEPT_MAX || under_way == 0);
}

static void serve(Opinions *opinions) {
    if (opinions->is_serving) {
        return;
    }
    opinions->is_serving = true;
    while (opinions->first_wait != NULL && is_turn(opinions, opinions->first_wait)) {
        OpinionWait *wait = opinions->first_wait;
        opinions->first_wait = wait->next;
        wait->ready(wait);
    }
    opinions->is_serving = false;
}

void opinions_wait(Opinions *opinions, OpinionWait *wait) {
    wait->next = NULL;
    OpinionWait **link = &opinions->first_wait;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = wait;
    serve(opinions);
}

void opinions_stop_waiting(Opinions *opinions, OpinionWait *wait) {
    OpinionWait **link = &opinions->first_wait;
    while (*link != wait) {
        ASSERT(*link != NULL);
        link = &(*link)->next;
    }
    *link = wait->next;
    serve(opinions);
}

// ---- on a background lane

// A solve that may be put aside, and is given up when nobody wants it.
typedef struct SolveWatch {
    const Opinions *opinions;
    const Lane *lane;
    uint64_t begun_ns;
    bool is_put_aside;
} SolveWatch;

static bool should_stop(void *context) {
    SolveWatch *watch = context;
    watch->is_put_aside = lane_is_wanted(watch->lane, watch->begun_ns, clock_now_ns());
    return watch->is_put_aside ||
           atomic_load_explicit(&watch->opinions->is_abandoned, memory_order_relaxed);
}

// false: to be solved on a long lane.
static bool solve(Batch *batch, Lane *lane) {
    Opinions *opinions = batch->opinions;
    const GroupCase *of = batch->next;
    SolveWatch watch = {.opinions = opinions, .lane = lane, .begun_ns = clock_now_ns()};
    const Stop stop = {.asked = should_stop, .context = &watch};
    const Context context = {.stop = &stop, .tasks = lane->tasks};
    Opinion opinion;
    Error error;
    error_clear(&error);
    const bool is_wanted = !atomic_load_explicit(&opinions->is_abandoned, memory_order_relaxed);
    Status status = is_wanted ? opinion_give(&of->kept, opinions->def.group->opinion.tolerance,
                                             &context, &lane->scratch, &opinion, &error)
                              : STATUS_ABORTED;
    if (status == STATUS_ABORTED && watch.is_put_aside) {
        return false;
    }
    batch->next = of->next;
    if (status != STATUS_OK) {
        return true;
    }
    batch->found[batch->found_count++] = (OpinionFound){.call = batch->call,
                                                        .world = of->world,
                                                        .substep = of->substep,
                                                        .seed = of->seed,
                                                        .episode = of->episode,
                                                        .step = of->step,
                                                        .gap = opinion.gap,
                                                        .e_ds = of->kept.e_ds,
                                                        .residual = opinion.residual};
    return true;
}

static JobOutcome work_batch(Job *job, Lane *lane) {
    Batch *batch = (Batch *)(void *)((char *)job - offsetof(Batch, job));
    while (batch->next != NULL) {
        if (!solve(batch, lane)) {
            return JOB_LONG;
        }
        if (batch->next != NULL && clock_now_ns() >= lane_pause_ns(lane)) {
            return JOB_AGAIN;
        }
    }
    job->urgent = true; // a call may wait for it
    return JOB_DONE;
}

// ---- calls

static bool append(FoundList *list, const OpinionFound *found, size_t count) {
    if (count == 0) {
        return true;
    }
    if (!ARRAY_RESERVE(list->item, list->capacity, list->count + count)) {
        return false;
    }
    memcpy(list->item + list->count, found, count * sizeof(*found));
    list->count += count;
    return true;
}

// A world has one in a call at most.
static int compare_worlds(const void *a, const void *b) {
    const OpinionFound *first = a, *second = b;
    return first->world < second->world ? -1 : first->world > second->world;
}

static void complete_call(Opinions *opinions, OpenCall *call) {
    FoundList *found = &call->found;
    if (found->count > 1) {
        qsort(found->item, found->count, sizeof(OpinionFound), compare_worlds);
    }
    opinions->def.found(opinions->def.context, call->recorded, found->item, found->count);
    if (!append(&opinions->due, found->item, found->count)) {
        lose(opinions, found->count);
    }
    found->count = 0;
    *call = (OpenCall){.found = *found};
}

static void advance(Opinions *opinions) {
    while (opinions->complete < opinions->opened) {
        OpenCall *call = call_of(opinions, opinions->complete);
        if (!call->is_closed || call->jobs > 0) {
            break;
        }
        complete_call(opinions, call);
        opinions->complete++;
    }
    serve(opinions);
}

uint64_t opinions_open_call(Opinions *opinions) {
    ASSERT(opinions->opened - opinions->complete < lag_of(opinions));
    return opinions->opened++;
}

void opinions_close_call(Opinions *opinions, uint64_t call, uint64_t recorded_call) {
    ASSERT(call < opinions->opened);
    OpenCall *of = call_of(opinions, call);
    ASSERT(call >= opinions->complete && !of->is_closed);
    of->is_closed = true;
    of->recorded = recorded_call;
    advance(opinions);
}

// ---- batches

static void drop_list(Opinions *opinions, GroupCase *list) {
    while (list != NULL) {
        GroupCase *next = list->next;
        group_opinion_drop(opinions->def.group, list);
        list = next;
    }
}

static void on_batch_done(Job *job) {
    Batch *batch = (Batch *)(void *)((char *)job - offsetof(Batch, job));
    Opinions *opinions = batch->opinions;
    const OpinionsDef def = opinions->def;
    OpenCall *call = call_of(opinions, batch->call);
    size_t found = batch->found_count;
    if (!append(&call->found, batch->found, found)) {
        found = 0;
    }
    lose(opinions, batch->count - found);
    for (size_t i = 0; i < found; i++) {
        opinions->figures.open += batch->found[i].residual > def.group->opinion.tolerance;
    }
    opinions->figures.given += found;
    opinions->figures.waiting -= batch->count;
    opinions->kept_bytes -= batch->bytes;
    def.count_bytes(def.context, batch->bytes, 0);
    drop_list(opinions, batch->first);
    free(batch);
    call->jobs--;
    advance(opinions);
    def.release(def.context); // the opinions may go with it
}

void opinions_add(Opinions *opinions, uint64_t call, GroupCase *list) {
    ASSERT(call >= opinions->complete && call < opinions->opened);
    size_t count = 0, bytes = 0;
    for (const GroupCase *kept = list; kept != NULL; kept = kept->next) {
        count++;
        bytes += kept->bytes;
    }
    if (count == 0) {
        return;
    }
    Batch *batch = malloc(sizeof(*batch) + count * sizeof(OpinionFound));
    if (batch == NULL) {
        lose(opinions, count);
        drop_list(opinions, list);
        return;
    }
    *batch = (Batch){.job = {.work = work_batch, .done = on_batch_done},
                     .opinions = opinions,
                     .call = call,
                     .first = list,
                     .next = list,
                     .bytes = bytes,
                     .count = count};
    strand_init(&batch->strand);
    call_of(opinions, call)->jobs++;
    opinions->figures.waiting += count;
    opinions->kept_bytes += bytes;
    opinions->def.count_bytes(opinions->def.context, 0, bytes);
    opinions->def.retain(opinions->def.context);
    pool_submit(opinions->def.background, &batch->strand, opinions->def.share, &batch->job);
}

// ---- what was found

static bool take_columns(Arena *arena, size_t count, OpinionColumns *columns) {
    *columns = (OpinionColumns){
        .count = count,
        .world = arena_take_array(arena, count, sizeof(uint32_t)),
        .substep = arena_take_array(arena, count, sizeof(uint32_t)),
        .seed = arena_take_array(arena, count, sizeof(uint64_t)),
        .episode = arena_take_array(arena, count, sizeof(uint64_t)),
        .step = arena_take_array(arena, count, sizeof(uint64_t)),
        .gap = arena_take_array(arena, count, sizeof(double)),
        .e_ds = arena_take_array(arena, count, sizeof(double)),
        .residual = arena_take_array(arena, count, sizeof(double)),
    };
    return columns->world != NULL && columns->substep != NULL && columns->seed != NULL &&
           columns->episode != NULL && columns->step != NULL && columns->gap != NULL &&
           columns->e_ds != NULL && columns->residual != NULL;
}

static void fill_columns(OpinionColumns *columns, const OpinionFound *found) {
    for (size_t i = 0; i < columns->count; i++) {
        columns->world[i] = found[i].world;
        columns->substep[i] = found[i].substep;
        columns->seed[i] = found[i].seed;
        columns->episode[i] = found[i].episode;
        columns->step[i] = found[i].step;
        columns->gap[i] = found[i].gap;
        columns->e_ds[i] = found[i].e_ds;
        columns->residual[i] = found[i].residual;
    }
}

static size_t count_due(const Opinions *opinions, bool all, size_t count_max) {
    const FoundList *due = &opinions->due;
    const uint64_t lag = lag_of(opinions);
    size_t count = 0;
    while (count < due->count && count < count_max &&
           (all || due->item[count].call + lag < opinions->opened)) {
        count++;
    }
    return count;
}

bool opinions_take(Opinions *opinions, bool all, size_t count_max, Arena *arena,
                   OpinionColumns *taken) {
    FoundList *due = &opinions->due;
    const size_t count = count_due(opinions, all, count_max);
    if (!take_columns(arena, count, taken)) {
        *taken = (OpinionColumns){0};
        return false;
    }
    fill_columns(taken, due->item);
    due->count -= count;
    if (count > 0) {
        memmove(due->item, due->item + count, due->count * sizeof(*due->item));
    }
    ASSERT(count <= count_max);
    return true;
}

size_t opinions_left(const Opinions *opinions) {
    return opinions->due.count;
}

OpinionFigures opinions_figures(const Opinions *opinions) {
    return opinions->figures;
}

// ---- going on elsewhere

bool opinions_save(const Opinions *opinions, Arena *arena, OpinionsState *state) {
    ASSERT(opinions->opened == opinions->complete);
    const FoundList *due = &opinions->due;
    OpinionFound *found = arena_take_array(arena, due->count, sizeof(*found));
    if (found == NULL) {
        return false;
    }
    if (due->count > 0) {
        memcpy(found, due->item, due->count * sizeof(*found));
    }
    const Group *group = opinions->def.group;
    *state =
        (OpinionsState){.opened = opinions->opened,
                        .lost = atomic_load_explicit(&group->opinions_lost, memory_order_relaxed),
                        .count = due->count,
                        .found = found};
    return true;
}

bool opinions_go_on(Opinions *opinions, const OpinionsState *state) {
    ASSERT(opinions->opened == 0 && opinions->due.count == 0);
    if (!append(&opinions->due, state->found, state->count)) {
        return false;
    }
    opinions->opened = opinions->complete = state->opened;
    lose(opinions, state->lost);
    return true;
}
