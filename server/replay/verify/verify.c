// SPDX-License-Identifier: MIT
#include "replay/verify/verify.h"

#include "base/array.h"
#include "log/reader/proof.h"
#include "os/clock.h"
#include "replay/verify/beginning.h"
#include "replay/verify/group_list.h"
#include "run/groups/group.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// From one key-frame to the next, or to where the recording has a gap.
typedef struct Segment {
    uint64_t begin, end; // steps
    int64_t keyframe;    // row id; 0: there is none
    size_t row, row_end; // its chunks, in Verification.row
    bool reaches_next;   // no gap in between: `end` is the next one's `begin`
} Segment;

typedef enum WorkerStage {
    STAGE_IDLE,
    STAGE_SIGNED, // one of them, for all: who signed the recording
    STAGE_OPEN_CHUNKS,
    STAGE_LIST, // of a group's episodes, against the calls
    STAGE_SEEK,
    STAGE_STEP
} WorkerStage;

typedef struct Worker {
    WorkerStage stage;
    size_t segment; // under way
    size_t reached; // the segment it is in: a later one when key-frames are damaged
    uint64_t end;   // of that one
    size_t row;     // next chunk to open
    size_t found;   // differences in this segment
    size_t opened;  //   of which by opening its chunks
    Player *player;
    GroupList *list; // while it is looked at
    ListMark mark;   // to be left when all of that is as it should be
    bool is_known;   // the list, and how the recording begins, were found to be as they should be
    LogReader *reader;
    Arena memory;   // of a chunk
    uint64_t steps; // compared
    uint64_t unconverged, unconverged_before;
    PlayerDifference *difference; // the first ones by step, and some more
    size_t difference_count, difference_capacity;
} Worker;

struct Verification {
    VerifyDef def;
    LogHold hold;
    EpisodeRow episode; // with what its sealed definition says of it
    Proof proof;
    Arena rows;
    const ChunkRow *row; // of all kinds, in order
    size_t row_count;
    Segment *segment;
    size_t segment_count;
    uint64_t dropped_steps;
    Worker finds;              // what was found before anybody worked: its differences alone
    Error failure;             // while that was found; status OK: none
    SignedCheck *signed_check; // NULL: nobody asked
    _Atomic bool has_signed_worker;
    _Atomic size_t segment_next;
    _Atomic uint64_t steps_done;
    uint32_t worker_count;
    Worker *worker;
};

// ---- differences

static int compare_differences(const void *left, const void *right) {
    const PlayerDifference *a = left, *b = right;
    if (a->step != b->step) {
        return a->step < b->step ? -1 : 1;
    }
    if (a->chunk != b->chunk) {
        return a->chunk < b->chunk ? -1 : 1;
    }
    if (a->chunk_kind != b->chunk_kind) { // what is about a kind of chunks says more
        return a->chunk_kind > b->chunk_kind ? -1 : 1;
    }
    return strcmp(a->message, b->message);
}

// What was found by opening a chunk and on the way, or by the segment that ends at a step and by
// the one that begins there.
static bool is_same_find(const PlayerDifference *a, const PlayerDifference *b) {
    if (a->chunk != 0 && a->chunk == b->chunk && a->is_damage && b->is_damage) {
        return true;
    }
    return a->step == b->step && a->chunk == b->chunk && strcmp(a->message, b->message) == 0;
}

// In order, each find once.
static size_t sort_differences(PlayerDifference *difference, size_t count) {
    if (count > 0) {
        qsort(difference, count, sizeof(*difference), compare_differences);
    }
    size_t kept = 0;
    for (size_t i = 0; i < count && kept < VERIFY_DIFFERENCES_MAX; i++) {
        bool is_known = false;
        for (size_t k = 0; k < kept && !is_known; k++) {
            is_known = is_same_find(&difference[k], &difference[i]);
        }
        if (!is_known) {
            difference[kept++] = difference[i];
        }
    }
    return kept;
}

static Status add_difference(Worker *worker, const PlayerDifference *difference, Error *error) {
    if (worker->difference_count >= 4 * (size_t)VERIFY_DIFFERENCES_MAX) {
        worker->difference_count = sort_differences(worker->difference, worker->difference_count);
    }
    if (!ARRAY_RESERVE(worker->difference, worker->difference_capacity,
                       worker->difference_count + 1)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while verifying an episode.");
    }
    worker->difference[worker->difference_count++] = *difference;
    worker->found++;
    return STATUS_OK;
}

static Status add_damage(Worker *worker, const ChunkRow *row, uint64_t step, const Error *why,
                         Error *error) {
    PlayerDifference difference = {.found = true, .step = step, .is_damage = true};
    if (row != NULL) {
        difference.chunk = row->id;
        difference.chunk_kind = row->kind;
    }
    memcpy(difference.message, why->message, sizeof(difference.message));
    return add_difference(worker, &difference, error);
}

// ---- the plan

static void note_find(const ProofFind *find, void *context) {
    Verification *verification = context;
    PlayerDifference difference = {.found = true,
                                   .is_damage = true,
                                   .step = find->step,
                                   .chunk = find->chunk,
                                   .chunk_kind = find->chunk == 0 ? 0 : find->kind};
    snprintf(difference.quantity, sizeof(difference.quantity), "%s", find->quantity);
    snprintf(difference.message, sizeof(difference.message), "%s", find->message);
    if (verification->failure.status == STATUS_OK) {
        verification->failure.status =
            add_difference(&verification->finds, &difference, &verification->failure);
    }
}

// What the episode's row says of how it is to be stepped counts only as far as nothing sealed says
// it better.
static void trust_definition(Verification *verification) {
    const RecordingDef *def = &verification->proof.def;
    EpisodeRow *episode = &verification->episode;
    if (verification->proof.has_definition) {
        episode->content = def->content;
        episode->stride = def->stride;
        episode->lossy = def->lossy;
        episode->dynamics_version = def->dynamics_version;
        episode->body_count = def->body_count;
    }
    verification->def.episode = episode;
}

static Status plan_too_large(const Verification *verification, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "What is left of the memory budget (option --memory-bytes-max), %zu bytes, "
                     "does not hold a list of the recording's %" PRIu64 " chunks.",
                     verification->def.plan_bytes_max, verification->episode.chunk_count);
}

// All chunks of the recording, in order.
static Status list_rows(Verification *verification, LogReader *reader, Error *error) {
    Status status = proof_make(reader, verification->def.episode, &verification->rows, note_find,
                               verification, &verification->proof, error);
    if (status == STATUS_OK && verification->failure.status != STATUS_OK) {
        *error = verification->failure;
        status = error->status;
    }
    if (status != STATUS_OK) {
        return status == STATUS_RESOURCE_EXHAUSTED ? plan_too_large(verification, error) : status;
    }
    trust_definition(verification);
    verification->row = verification->proof.row;
    verification->row_count = verification->proof.row_count;
    verification->segment = arena_take_array(&verification->rows, verification->row_count + 1,
                                             sizeof(*verification->segment));
    return verification->segment != NULL ? STATUS_OK : plan_too_large(verification, error);
}

static void count_dropped(Verification *verification, const ChunkRow *gap) {
    const VerifyDef *def = &verification->def;
    uint64_t from = gap->first_step > def->first ? gap->first_step : def->first;
    uint64_t to = gap->last_step < def->last ? gap->last_step : def->last;
    verification->dropped_steps += to > from ? to - from : 0;
}

// The segment of the key-frame before `first` is the first; without key-frames there is one that
// will fail to begin, and say so.
static void plan_segments(Verification *verification) {
    const VerifyDef *def = &verification->def;
    Segment *segment = verification->segment;
    *segment = (Segment){.begin = def->first, .end = def->last};
    if (verification->episode.is_group) { // which a player begins, with key-frames or without
        *segment =
            (Segment){.begin = def->first, .end = def->last, .row_end = verification->row_count};
        verification->segment_count = 1;
        return;
    }
    size_t count = 1;
    bool is_closed = false; // a gap ended the present segment
    for (size_t i = 0; i < verification->row_count; i++) {
        const ChunkRow *row = &verification->row[i];
        Segment *present = &segment[count - 1];
        if (row->kind == CHUNK_GAP) {
            count_dropped(verification, row);
            if (!is_closed && row->first_step < present->end) {
                present->end = row->first_step > present->begin ? row->first_step : present->begin;
                is_closed = true;
            }
            continue;
        }
        if (row->kind != CHUNK_KEYFRAME) {
            continue;
        }
        if (row->first_step > def->last || (row->first_step == def->last && count > 1)) {
            break; // compared by the segment before
        }
        bool is_first = row->first_step <= def->first;
        if (!is_first) {
            if (!is_closed) {
                present->end = row->first_step;
                present->reaches_next = true;
            }
            present->row_end = i;
            count++;
        }
        segment[count - 1] =
            (Segment){.begin = row->first_step, .end = def->last, .keyframe = row->id, .row = i};
        is_closed = false;
    }
    segment[count - 1].row_end = verification->row_count;
    verification->segment_count = count;
}

// A player refuses another dynamics version: better before any work than in the middle.
static Status check_version(const VerifyDef *def, Error *error) {
    Player *player;
    Status status = player_open(&player, def->episode, &def->limits, error);
    if (status == STATUS_OK) {
        player_close(player);
    }
    return status;
}

static Status plan(Verification *verification, Error *error) {
    LogReader *reader;
    Status status = log_take_reader(verification->def.log, &reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = list_rows(verification, reader, error);
    if (status == STATUS_OK && verification->def.seal_public != NULL) {
        status =
            signed_open(&verification->signed_check, reader, &verification->episode,
                        verification->def.seal_public, verification->def.plan_bytes_max, error);
    }
    log_give_reader(verification->def.log, reader);
    if (status != STATUS_OK) {
        return status;
    }
    status = check_version(&verification->def, error);
    if (status != STATUS_OK) {
        return status;
    }
    plan_segments(verification);
    verification->worker_count = verification->segment_count < verification->def.worker_count_max
                                     ? (uint32_t)verification->segment_count
                                     : verification->def.worker_count_max;
    verification->worker = calloc(verification->worker_count, sizeof(Worker));
    if (verification->worker == NULL) {
        verification->worker_count = 0;
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while verifying an episode.");
    }
    for (uint32_t i = 0; i < verification->worker_count; i++) {
        arena_init(&verification->worker[i].memory, verification->def.limits.bytes_max);
    }
    return STATUS_OK;
}

// ---- life

Status verify_open(Verification **verification, const VerifyDef *def, Error *error) {
    Verification *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while verifying an episode.");
    }
    made->def = *def;
    made->episode = *def->episode;
    log_hold(def->log, def->episode->recording, &made->hold);
    arena_init(&made->rows, def->plan_bytes_max);
    Status status = plan(made, error);
    if (status != STATUS_OK) {
        verify_close(made);
        return status;
    }
    *verification = made;
    return STATUS_OK;
}

static void drop_player(Worker *worker) {
    if (worker->player != NULL) {
        player_close(worker->player);
        worker->player = NULL;
    }
}

void verify_close(Verification *verification) {
    if (verification == NULL) {
        return;
    }
    for (uint32_t i = 0; i < verification->worker_count; i++) {
        Worker *worker = &verification->worker[i];
        drop_player(worker);
        group_list_close(worker->list);
        arena_deinit(&worker->memory);
        free(worker->difference);
    }
    signed_close(verification->signed_check);
    log_release(verification->def.log, &verification->hold);
    free(verification->worker);
    free(verification->finds.difference);
    arena_deinit(&verification->rows);
    free(verification);
}

const EpisodeRow *verify_episode(const Verification *verification) {
    return &verification->episode;
}

uint32_t verify_worker_count(const Verification *verification) {
    return verification->worker_count;
}

uint64_t verify_steps_done(const Verification *verification) {
    return atomic_load_explicit(&verification->steps_done, memory_order_relaxed);
}

uint64_t verify_steps_total(const Verification *verification) {
    const VerifyDef *def = &verification->def;
    uint64_t steps = def->last - def->first; // gaps may be anything in a damaged file
    return steps > verification->dropped_steps ? steps - verification->dropped_steps : 0;
}

// ---- at work

// The steps between two that the call asked for.
static uint64_t asked_steps(const Verification *verification, uint64_t from, uint64_t to) {
    uint64_t first = verification->def.first;
    from = from < first ? first : from;
    return to > from ? to - from : 0;
}

static void count_steps(Verification *verification, uint64_t steps) {
    atomic_fetch_add_explicit(&verification->steps_done, steps, memory_order_relaxed);
}

static bool take_segment(Verification *verification, Worker *worker) {
    if (verification->signed_check != NULL &&
        !atomic_exchange_explicit(&verification->has_signed_worker, true, memory_order_relaxed)) {
        worker->stage = STAGE_SIGNED;
        return true;
    }
    size_t index = atomic_fetch_add_explicit(&verification->segment_next, 1, memory_order_relaxed);
    if (index >= verification->segment_count) {
        return false;
    }
    worker->segment = index;
    worker->row = verification->segment[index].row;
    worker->reached = index;
    worker->end = verification->segment[index].end;
    worker->found = 0;
    worker->stage = STAGE_OPEN_CHUNKS;
    return true;
}

// Reads one chunk by its row. DATA_LOSS: damaged, or gone since the plan was made.
static Status open_chunk(const Verification *verification, Worker *worker, int64_t id,
                         ChunkKind kind, Error *error) {
    LogChunk found;
    arena_reset(&worker->memory);
    Status status = log_reader_get(worker->reader, verification->def.episode, kind, id,
                                   &worker->memory, &found, error);
    if (status == STATUS_NOT_FOUND) {
        return error_set(error, STATUS_DATA_LOSS, "",
                         "Chunk %lld of the episode is gone: was it deleted?", (long long)id);
    }
    return status;
}

// It tells only of steps behind the range, or of a group's other episodes.
static bool is_beside(const Verification *verification, const ChunkRow *row) {
    const EpisodeRow *episode = &verification->episode;
    if (episode->is_group) {
        return row->first_step >= episode->ended_call || row->last_step < episode->begun_call;
    }
    return row->first_step > verification->def.last;
}

static Status open_next_chunk(Verification *verification, Worker *worker, Error *error) {
    const Segment *segment = &verification->segment[worker->segment];
    if (worker->row >= segment->row_end) {
        const bool has_list = verification->episode.is_group && verification->proof.has_seal;
        worker->stage = has_list ? STAGE_LIST : STAGE_SEEK;
        return STATUS_OK;
    }
    const size_t index = worker->row++;
    const ChunkRow *row = &verification->row[index];
    if (is_beside(verification, row) ||
        proof_has_opened(worker->reader, &verification->episode, &verification->proof, index)) {
        return STATUS_OK;
    }
    Error why = {0};
    Status status = open_chunk(verification, worker, row->id, row->kind, &why);
    if (status == STATUS_OK) {
        proof_note_opened(worker->reader, &verification->episode, &verification->proof, index);
    }
    if (status == STATUS_DATA_LOSS) {
        return add_damage(worker, row, row->first_step, &why, error);
    }
    if (status != STATUS_OK) {
        *error = why;
    }
    return status;
}

// What somebody broke off may lack its end.
static bool is_list_whole(const Verification *verification) {
    const RecordingState state = verification->episode.recording_state;
    return verification->proof.is_sealed &&
           (state == RECORDING_COMPLETE || state == RECORDING_WORLD_DESTROYED);
}

// By the seal, which the chunks that are there were compared with.
static ListMark mark_of(const Verification *verification) {
    const EpisodeRow *episode = &verification->episode;
    const RecordingSeal *seal = &verification->proof.seal;
    ListMark mark = {0};
    mark.first_world = episode->world_index / episode->world_range * episode->world_range;
    for (size_t i = 0; i < seal->chain_count; i++) {
        const ChainEnd *chain = &seal->chain[i];
        if (i == 0) {
            mark.list_end = chain->checksum;
            mark.list_count = chain->chunk_count;
        } else if (chain->first_world == mark.first_world) {
            mark.calls_end = chain->checksum;
            mark.calls_count = chain->chunk_count;
        }
    }
    memcpy(mark.recording, episode->recording_uid, UID_BYTES);
    return mark;
}

static Status look_at_list(Verification *verification, Worker *worker, uint64_t until_ns,
                           const Context *context, Error *error) {
    const ListMark mark = mark_of(verification);
    const bool is_sound = verification->finds.difference_count == 0;
    if (is_sound && log_reader_knows(worker->reader, &mark)) {
        worker->stage = STAGE_SEEK;
        worker->is_known = true;
        return STATUS_OK;
    }
    if (worker->list == NULL) {
        worker->list = group_list_open(&verification->episode, is_list_whole(verification),
                                       verification->def.plan_bytes_max);
        if (worker->list == NULL) {
            return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                             "Memory ended while verifying an episode.");
        }
    }
    bool is_over;
    PlayerDifference difference = {0};
    Status status = group_list_work(worker->list, worker->reader, until_ns, context, &is_over,
                                    &difference, error);
    if (status == STATUS_OK && is_over) {
        group_list_close(worker->list);
        worker->list = NULL;
        worker->stage = STAGE_SEEK;
        const bool is_whole = is_sound && !difference.found && worker->found == 0;
        worker->mark = is_whole ? mark : (ListMark){0};
    }
    return status == STATUS_OK && difference.found ? add_difference(worker, &difference, error)
                                                   : status;
}

static bool is_damaged(const Verification *verification, Worker *worker, size_t segment) {
    Error why;
    return open_chunk(verification, worker, verification->segment[segment].keyframe, CHUNK_KEYFRAME,
                      &why) == STATUS_DATA_LOSS;
}

// What stands in the way of stepping is a find, unless the damaged chunk was found already.
static Status note_loss(Worker *worker, uint64_t step, const Error *why, Error *error) {
    if (why->status != STATUS_DATA_LOSS && why->status != STATUS_NOT_FOUND &&
        why->status != STATUS_OUT_OF_RANGE) {
        *error = *why;
        return why->status;
    }
    return worker->found > 0 ? STATUS_OK : add_damage(worker, NULL, step, why, error);
}

// Where the recording begins.
static Status check_beginning(const Verification *verification, Worker *worker, Error *error) {
    const Group *group = player_group(worker->player);
    if (!verification->proof.has_definition || worker->is_known ||
        (group == NULL && player_step(worker->player) > 0)) {
        return STATUS_OK;
    }
    const World *world = group == NULL ? player_world(worker->player) : group->template;
    const Beginning beginning = {.episode = &verification->episode,
                                 .def = &verification->proof.def,
                                 .world = world,
                                 .time_step =
                                     group == NULL ? world->settings.time_step : group->time_step,
                                 .print_scene = verification->def.print_scene};
    PlayerDifference difference[BEGINNING_DIFFERENCES];
    size_t count;
    Status status =
        beginning_check(&beginning, worker->reader, &worker->memory, difference, &count, error);
    if (status == STATUS_OK && group != NULL && count == 0) {
        log_reader_note(worker->reader, &worker->mark);
    }
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        status = add_difference(worker, &difference[i], error);
    }
    return status;
}

static Status begin_stepping(Verification *verification, Worker *worker, Error *error) {
    const Segment *segment = &verification->segment[worker->segment];
    worker->stage = STAGE_IDLE;
    if (worker->segment > 0 && verification->segment[worker->segment - 1].reaches_next &&
        is_damaged(verification, worker, worker->segment)) {
        return STATUS_OK; // the segment before goes on over it
    }
    Error why = {0};
    Status status = STATUS_OK;
    drop_player(worker); // one that found a difference stands in a state of its own
    status =
        player_open(&worker->player, verification->def.episode, &verification->def.limits, error);
    if (status != STATUS_OK) {
        worker->player = NULL;
        return status;
    }
    // a key-frame that is damaged was found with its chunk; how a group's episode begins was not
    PlayerDifference difference = {0};
    status = player_seek(worker->player, worker->reader, segment->begin,
                         verification->episode.is_group ? &difference : NULL, &why);
    if (status == STATUS_OK && difference.found) {
        count_steps(verification, asked_steps(verification, segment->begin, segment->end));
        return add_difference(worker, &difference, error);
    }
    if (status != STATUS_OK) {
        count_steps(verification, asked_steps(verification, segment->begin, segment->end));
        return note_loss(worker, segment->begin, &why, error);
    }
    worker->unconverged_before = player_unconverged(worker->player);
    status = segment->begin == 0 ? check_beginning(verification, worker, error) : STATUS_OK;
    worker->opened = worker->found;
    worker->stage = STAGE_STEP;
    return status;
}

// At the end of its segment: over, or on with the next one whose key-frame is damaged.
static void end_segment(const Verification *verification, Worker *worker) {
    if (worker->reached + 1 < verification->segment_count &&
        verification->segment[worker->reached].reaches_next &&
        is_damaged(verification, worker, worker->reached + 1)) {
        worker->reached++;
        worker->end = verification->segment[worker->reached].end;
        return;
    }
    worker->unconverged += player_unconverged(worker->player) - worker->unconverged_before;
    worker->stage = STAGE_IDLE;
}

static void give_up_segment(Verification *verification, Worker *worker) {
    uint64_t step = player_step(worker->player);
    count_steps(verification, asked_steps(verification, step, worker->end));
    worker->unconverged += player_unconverged(worker->player) - worker->unconverged_before;
    worker->stage = STAGE_IDLE;
}

static Status step_on(Verification *verification, Worker *worker, Arena *scratch, uint64_t until_ns,
                      const Context *context, bool *progressed, Error *error) {
    Player *player = worker->player;
    uint64_t before = player_step(player);
    // unconverged steps before the range are nobody's business
    uint64_t first = verification->def.first;
    uint64_t end = before < first ? first : worker->end;
    PlayerDifference difference = {0};
    Error why = {0};
    Status status = player_run(player, worker->reader, end, true, scratch, until_ns, context,
                               &difference, &why);
    uint64_t after = player_step(player);
    uint64_t steps = asked_steps(verification, before, after);
    worker->steps += steps;
    count_steps(verification, steps);
    bool has_arrived = after >= end && !player_is_stopped(player);
    *progressed = after > before || difference.found || status != STATUS_OK || has_arrived;
    if (after <= first) {
        worker->unconverged_before = player_unconverged(player);
    }
    if (status != STATUS_OK) {
        give_up_segment(verification, worker);
        return note_loss(worker, after, &why, error);
    }
    if (difference.found) {
        const PlayerDifference *last = worker->found == worker->opened
                                           ? NULL
                                           : &worker->difference[worker->difference_count - 1];
        if (last != NULL && last->step == difference.step && last->chunk == difference.chunk &&
            strcmp(last->message, difference.message) == 0) {
            give_up_segment(verification, worker); // it does not get past this one
            return STATUS_OK;
        }
        return add_difference(worker, &difference, error);
    }
    if (has_arrived && end == worker->end) {
        end_segment(verification, worker);
    }
    return STATUS_OK;
}

static Status look_at_signatures(const Verification *verification, Worker *worker,
                                 uint64_t until_ns, const Context *context, Error *error) {
    bool is_over;
    const Status status =
        signed_work(verification->signed_check, worker->reader, until_ns, context, &is_over, error);
    worker->stage = is_over ? STAGE_IDLE : STAGE_SIGNED;
    return status;
}

static Status work(Verification *verification, Worker *worker, Arena *scratch, uint64_t until_ns,
                   const Context *context, bool *is_over, bool *progressed, Error *error) {
    Status status = STATUS_OK;
    do {
        switch (worker->stage) {
        case STAGE_IDLE:
            if (!take_segment(verification, worker)) {
                *is_over = true;
                drop_player(worker);
                return STATUS_OK;
            }
            break;
        case STAGE_SIGNED:
            status = look_at_signatures(verification, worker, until_ns, context, error);
            break;
        case STAGE_OPEN_CHUNKS:
            status = open_next_chunk(verification, worker, error);
            break;
        case STAGE_LIST:
            status = look_at_list(verification, worker, until_ns, context, error);
            break;
        case STAGE_SEEK:
            status = begin_stepping(verification, worker, error);
            break;
        case STAGE_STEP:
            status = step_on(verification, worker, scratch, until_ns, context, progressed, error);
            break;
        }
    } while (status == STATUS_OK && *progressed && clock_now_ns() < until_ns);
    return status;
}

Status verify_work(Verification *verification, uint32_t index, Arena *scratch, uint64_t until_ns,
                   const Context *context, bool *is_over, bool *progressed, Error *error) {
    Worker *worker = &verification->worker[index];
    *is_over = false;
    *progressed = true;
    Status status = log_take_reader(verification->def.log, &worker->reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = work(verification, worker, scratch, until_ns, context, is_over, progressed, error);
    log_give_reader(verification->def.log, worker->reader);
    worker->reader = NULL;
    return status;
}

size_t verify_plan_bytes(const Verification *verification) {
    const SignedCheck *check = verification->signed_check;
    return verification->rows.total_bytes + (check == NULL ? 0 : signed_bytes(check));
}

size_t verify_worker_bytes(const Verification *verification, uint32_t index) {
    const Worker *worker = &verification->worker[index];
    size_t bytes =
        worker->memory.total_bytes + worker->difference_capacity * sizeof(*worker->difference);
    bytes += worker->list == NULL ? 0 : group_list_bytes(worker->list);
    return worker->player == NULL ? bytes : bytes + player_bytes(worker->player);
}

// ---- the result

VerifyResult verify_result(Verification *verification) {
    const Proof *proof = &verification->proof;
    VerifyResult result = {.dropped_steps = verification->dropped_steps,
                           .is_sealed = proof->is_sealed,
                           .proven_step = proof->proven_step};
    if (verification->signed_check != NULL) {
        result.is_signed = signed_result(verification->signed_check);
    }
    // what was found before takes what the workers have
    Worker *all = &verification->finds;
    for (uint32_t i = 0; i < verification->worker_count; i++) {
        const Worker *worker = &verification->worker[i];
        result.steps += worker->steps;
        result.unconverged_steps += worker->unconverged;
        for (size_t k = 0; k < worker->difference_count; k++) {
            if (add_difference(all, &worker->difference[k], NULL) != STATUS_OK) {
                break; // differences there are, and that is what matters
            }
        }
    }
    all->difference_count = sort_differences(all->difference, all->difference_count);
    result.difference_count = all->difference_count;
    result.difference = all->difference;
    return result;
}
