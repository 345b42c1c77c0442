// SPDX-License-Identifier: MIT
#include "run/groups/recorder.h"

#include "base/assert.h"
#include "base/cache.h"
#include "log/format/entries.h"
#include "os/clock.h"
#include "run/groups/code.h"
#include "run/groups/input.h"
#include "run/groups/harvest.h"
#include "run/groups/keyframe.h"
#include "run/worlds/worn.h"
#include "step/snapshot/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { CHUNK_BYTES = 1 << 16 };                  // a chunk is closed when it has so many
static const uint64_t chunk_ns_max = 1000000000; // or is so old

// The episode of a world, as far as it has come.
typedef struct RecordedWorld {
    bool has_begun;
    uint64_t begun_step;   // of its range; 0: before the recording …
    uint64_t begun_length; // … and so many of its steps are in that one's parent
    uint64_t begun_ns;
    uint64_t seed, turn;
    uint64_t unconverged, doubtful;
    Gain gain;
    // where its last hash stands
    uint64_t hashed_step, hashed_length, hashed_unconverged, hashed_doubtful;
    Gain hashed_gain;
} RecordedWorld;

// A lane's: in cache lines of its own.
typedef struct Range {
    _Alignas(CACHE_LINE_BYTES) uint32_t first, count; // worlds
    uint64_t step;                                    // calls so far
    uint64_t call;                                    // the last of them, as the group counts them
    uint64_t finished;                                // episodes of its worlds so far
    uint64_t keyframe_due;                            // a key-frame comes behind this step
    LogBuffer *buffer;                                // of the open chunk; NULL: none
    uint64_t chunk_step;                              // before it
    uint64_t opened_ns;
    uint64_t unconverged; // in it
    _Atomic bool is_open;
    _Atomic uint64_t stored_step; // the log has been handed all up to here
} Range;

struct GroupRecorder {
    Log *log;
    LogRecording *recording;
    Group *group; // borrowed
    uint64_t keyframe_steps;
    uint8_t parent[UID_BYTES]; // zeros: none
    double call_seconds;       // simulated by a step of the group
    uint8_t uid[UID_BYTES];
    char solver[CHUNK_SOLVER_BYTES];
    uint32_t range_worlds, range_count;
    Range *range;             // owned
    RecordedWorld *world;     // owned
    GroupHarvest *harvest;    // owned: the loop's
    Use *use;                 // Nullable, borrowed
    _Atomic bool has_reached; // its limit: likewise
    _Atomic bool has_failed;  // memory ended for a chunk: what comes is thrown away
};

static bool is_over(const GroupRecorder *recorder) {
    return atomic_load_explicit(&recorder->has_failed, memory_order_relaxed) ||
           atomic_load_explicit(&recorder->has_reached, memory_order_relaxed) ||
           log_recording_status(recorder->recording, NULL) != STATUS_OK;
}

// ---- chunks

static void put(GroupRecorder *recorder, LogBuffer *buffer, const Chunk *chunk) {
    const uint64_t bytes = buffer->used;
    log_put(recorder->recording, buffer, chunk);
    if (use_put_log(recorder->use, 0, bytes, NULL) != STATUS_OK) {
        atomic_store_explicit(&recorder->has_reached, true, memory_order_relaxed);
    }
}

static void close_chunk(GroupRecorder *recorder, Range *range) {
    if (range->buffer == NULL) {
        return;
    }
    Chunk chunk = {.kind = CHUNK_INPUTS,
                   .first_world = range->first,
                   .world_count = range->count,
                   .first_step = range->chunk_step,
                   .last_step = range->step,
                   .time = (double)range->step * recorder->call_seconds,
                   .figures = {.unconverged_steps = range->unconverged}};
    memcpy(chunk.solver, recorder->solver, sizeof(chunk.solver));
    put(recorder, range->buffer, &chunk);
    atomic_store_explicit(&range->stored_step, range->step, memory_order_release);
    range->buffer = NULL;
    range->unconverged = 0;
    atomic_store_explicit(&range->is_open, false, memory_order_relaxed);
}

static void drop_chunk(GroupRecorder *recorder, Range *range) {
    if (range->buffer != NULL) {
        log_give_buffer(recorder->log, range->buffer);
        range->buffer = NULL;
        atomic_store_explicit(&range->is_open, false, memory_order_relaxed);
    }
}

// Room for so many more bytes. NULL: memory ended, and the recording with it.
static uint8_t *extend(GroupRecorder *recorder, Range *range, size_t count) {
    if (range->buffer == NULL) {
        range->buffer = log_take_buffer(recorder->log, CHUNK_BYTES + CHUNK_BYTES / 8);
        range->chunk_step = range->step;
        range->opened_ns = clock_now_ns();
        atomic_store_explicit(&range->is_open, true, memory_order_relaxed);
    }
    LogBuffer *buffer = range->buffer;
    if (buffer == NULL || !log_buffer_reserve(buffer, buffer->used + count)) {
        atomic_store_explicit(&recorder->has_failed, true, memory_order_relaxed);
        drop_chunk(recorder, range);
        return NULL;
    }
    uint8_t *at = buffer->bytes + buffer->used;
    buffer->used += count;
    return at;
}

// ---- entries

static size_t row_at(const GroupRowsOfRange *part, size_t place) {
    return part->order == NULL ? place : part->order[place];
}

static void look(const GroupRecorder *recorder, const Range *range, const GroupRowsOfRange *part,
                 GroupInput *input) {
    const GroupCall *call = part->call;
    const Group *group = recorder->group;
    const bool is_step = call->verb == GROUP_STEP;
    *input = (GroupInput){.kind = is_step ? INPUT_GROUP_STEP : INPUT_GROUP_RESET};
    input->call = part->number + 1;
    input->ranges = part->ranges;
    input->is_double = is_step ? call->action_double != NULL : true;
    input->columns = is_step                ? group->action.column_count
                     : call->values == NULL ? 0
                                            : group->noise.column_count;
    for (size_t place = part->first; place < part->end; place++) {
        const size_t row = row_at(part, place);
        const GroupRow *became = &call->row[row];
        const uint64_t bit = (uint64_t)1 << (group_call_world(call, row) - range->first);
        input->named |= became->is_skipped ? 0 : bit;
        input->ended |= became->ended != 0 ? bit : 0;
        input->hashed |= became->has_hash ? bit : 0;
        input->cut_count += became->was_cut;
    }
}

static void write_cuts(const GroupRecorder *recorder, const Range *range,
                       const GroupRowsOfRange *part, Sink *sink) {
    const GroupCall *call = part->call;
    for (size_t place = part->first; place < part->end; place++) {
        const size_t row = row_at(part, place);
        const uint32_t world = group_call_world(call, row);
        if (call->row[row].was_cut) {
            sink_u32(sink, world - range->first);
            sink_u32(sink, recorder->group->world[world].substep);
        }
    }
}

static void write_numbers(const GroupRowsOfRange *part, const GroupInput *input, Sink *sink) {
    const GroupCall *call = part->call;
    for (size_t place = part->first; call->seed_count > 0 && place < part->end; place++) {
        const size_t row = row_at(part, place);
        if (!call->row[row].is_skipped) {
            sink_u64(sink, call->seed[call->seed_count == 1 ? 0 : row]);
        }
    }
    const size_t columns = input->columns;
    for (size_t place = part->first; columns > 0 && place < part->end; place++) {
        const size_t row = row_at(part, place);
        if (call->row[row].is_skipped) {
            continue;
        }
        if (call->verb == GROUP_RESET) {
            sink_doubles(sink, call->values + row * columns, columns);
        } else if (input->is_double) {
            sink_doubles(sink, call->action_double + row * columns, columns);
        } else {
            sink_bytes(sink, call->action + row * columns, columns * sizeof(float));
        }
    }
    sink_pad(sink);
}

static void write_hashes(const GroupRowsOfRange *part, Sink *sink) {
    for (size_t place = part->first; place < part->end; place++) {
        const GroupRow *became = &part->call->row[row_at(part, place)];
        if (became->ended != 0) {
            sink_u64(sink, became->final_hash);
        }
        if (became->has_hash) {
            sink_u64(sink, became->hash);
        }
    }
}

// false: memory ended.
static bool write_entry(GroupRecorder *recorder, Range *range, const GroupRowsOfRange *part) {
    GroupInput input;
    look(recorder, range, part, &input);
    const bool has_seeds = part->call->seed_count > 0;
    const size_t bytes = group_input_bytes(&input, has_seeds),
                 hashes = group_input_hash_count(&input);
    uint8_t *at = extend(recorder, range, ENTRY_HEAD_BYTES + bytes + 8 * hashes);
    if (at == NULL) {
        return false;
    }
    Sink sink = {.bytes = at};
    sink_u64(&sink, range->step);
    sink_u32(&sink, 0);
    sink_u32(&sink, (uint32_t)hashes);
    sink_u64(&sink, bytes);
    group_input_begin(&input, has_seeds, &sink);
    write_cuts(recorder, range, part, &sink);
    write_numbers(part, &input, &sink);
    ASSERT(sink.count == ENTRY_HEAD_BYTES + bytes);
    write_hashes(part, &sink);
    return true;
}

// ---- episodes

static EpisodeRecord end_record(const GroupRecorder *recorder, uint32_t world, uint64_t length,
                                uint64_t now_ns) {
    const RecordedWorld *of = &recorder->world[world];
    const uint64_t steps = length - of->begun_length;
    EpisodeRecord record = {
        .world = world,
        .first_step = of->begun_step,
        .length = steps,
        .turn = of->turn,
        .has_seed = true,
        .seed = of->seed,
        .time = (double)steps * recorder->call_seconds,
        .begun_ns = of->begun_ns,
        .ended_ns = now_ns,
        .figures = {.unconverged_steps = of->unconverged, .has_gain = 1, .gain = of->gain},
        .has_opinion = recorder->group->opinion.is_asked,
        .doubtful_steps = of->doubtful};
    if (of->begun_step == 0) {
        memcpy(record.parent, recorder->parent, UID_BYTES);
        record.parent_step = of->begun_length;
    }
    return record;
}

// One that nothing ended, as far as its last hash. false: nothing is there of it.
static bool cut_record(const GroupRecorder *recorder, uint32_t world, uint64_t now_ns,
                       EpisodeRecord *record) {
    const RecordedWorld *of = &recorder->world[world];
    if (!of->has_begun || of->hashed_length == of->begun_length) {
        return false;
    }
    *record = end_record(recorder, world, of->hashed_length, now_ns);
    record->state = RECORDING_WORLD_DESTROYED;
    record->last_step = of->hashed_step;
    record->figures.unconverged_steps = of->hashed_unconverged;
    record->figures.gain = of->hashed_gain;
    record->doubtful_steps = of->hashed_doubtful;
    return true;
}

static void begin_record(RecordedWorld *of, const GroupWorld *world, uint64_t step,
                         uint64_t now_ns) {
    *of = (RecordedWorld){.has_begun = true,
                          .begun_step = step,
                          .begun_length = world->length,
                          .begun_ns = now_ns,
                          .seed = world->seed,
                          .turn = world->episode,
                          .hashed_step = step,
                          .hashed_length = world->length};
}

// What a row did to the episodes of its world: one may have ended and another one begun.
static size_t follow(GroupRecorder *recorder, const Range *range, const GroupCall *call, size_t row,
                     uint64_t now_ns, EpisodeRecord *finished) {
    const GroupRow *became = &call->row[row];
    const uint32_t i = group_call_world(call, row);
    RecordedWorld *of = &recorder->world[i];
    gain_add(&of->gain, &became->gain);
    // of most there is nothing else to note: an episode that begins has a hash
    if (call->verb == GROUP_STEP && !became->has_hash && became->ended == 0 &&
        became->unconverged == 0 && !became->is_doubtful) {
        return 0;
    }
    const GroupWorld *world = &recorder->group->world[i];
    size_t count = 0;
    of->unconverged += became->unconverged;
    of->doubtful += became->is_doubtful;
    if (call->verb == GROUP_RESET) {
        count += cut_record(recorder, i, now_ns, finished);
        of->has_begun = false;
    } else if (became->ended != 0) {
        finished[count] = end_record(recorder, i, became->length, now_ns);
        finished[count].state = RECORDING_COMPLETE;
        finished[count++].last_step = range->step;
        of->has_begun = false;
    }
    if (!of->has_begun && world->is_running) {
        begin_record(of, world, range->step, now_ns);
    }
    if (became->has_hash) {
        of->hashed_step = range->step;
        of->hashed_length = world->length;
        of->hashed_unconverged = of->unconverged;
        of->hashed_gain = of->gain;
        of->hashed_doubtful = of->doubtful;
    }
    return count;
}

// ---- key-frames

static Status write_keyframe(GroupRecorder *recorder, const Range *range, Arena *arena,
                             LogBuffer *buffer) {
    const Group *group = recorder->group;
    const GroupKeyframe keyframe = {
        .call = range->call, .finished = range->finished, .count = range->count};
    Sink sink = {.bytes = buffer->bytes + buffer->used};
    group_keyframe_begin(&keyframe, &sink);
    buffer->used += sink.count;
    for (uint32_t i = range->first; i < range->first + range->count; i++) {
        uint8_t *bytes;
        size_t count;
        Error error;
        arena_reset(arena);
        Status status = snapshot_write_named(group->world[i].world, arena, &bytes, &count, &error);
        if (status != STATUS_OK ||
            !log_buffer_reserve(buffer, buffer->used + group_keyframe_world_bytes(group, count))) {
            return STATUS_RESOURCE_EXHAUSTED;
        }
        sink = (Sink){.bytes = buffer->bytes + buffer->used};
        group_keyframe_add(group, i, bytes, count, &sink);
        buffer->used += sink.count;
    }
    return STATUS_OK;
}

// The calls that led to it come before it.
static void put_keyframe(GroupRecorder *recorder, Range *range) {
    enum { FIRST_BYTES = CHUNK_HEADER_BYTES + GROUP_KEYFRAME_HEAD_BYTES };
    close_chunk(recorder, range);
    range->keyframe_due = range->step + recorder->keyframe_steps;
    Arena arena;
    arena_init(&arena, recorder->group->template->limits.bytes_max);
    LogBuffer *buffer = log_take_buffer(recorder->log, FIRST_BYTES);
    if (buffer != NULL && write_keyframe(recorder, range, &arena, buffer) == STATUS_OK) {
        const Chunk chunk = {.kind = CHUNK_KEYFRAME,
                             .first_world = range->first,
                             .world_count = range->count,
                             .first_step = range->step,
                             .last_step = range->step,
                             .time = (double)range->step * recorder->call_seconds};
        put(recorder, buffer, &chunk);
    } else {
        atomic_store_explicit(&recorder->has_failed, true, memory_order_relaxed);
        if (buffer != NULL) {
            log_give_buffer(recorder->log, buffer);
        }
    }
    arena_deinit(&arena);
}

void group_recorder_begin_range(GroupRecorder *recorder, uint32_t range_index) {
    ASSERT(range_index < recorder->range_count);
    Range *range = &recorder->range[range_index];
    const uint64_t now_ns = clock_wall_ns(), due = range->keyframe_due;
    for (uint32_t i = range->first; i < range->first + range->count; i++) {
        if (recorder->group->world[i].is_running) {
            begin_record(&recorder->world[i], &recorder->group->world[i], 0, now_ns);
        }
    }
    put_keyframe(recorder, range);
    range->keyframe_due = due;
}

// ---- calls

size_t group_recorder_add(GroupRecorder *recorder, uint32_t range_index,
                          const GroupRowsOfRange *part, EpisodeRecord *finished) {
    ASSERT(range_index < recorder->range_count);
    ASSERT(part->call->group == recorder->group);
    Range *range = &recorder->range[range_index];
    const GroupCall *call = part->call;
    if (is_over(recorder)) {
        drop_chunk(recorder, range);
        return 0;
    }
    if (!write_entry(recorder, range, part)) {
        return 0;
    }
    range->step++;
    range->call = part->number + 1;
    const uint64_t now_ns = clock_wall_ns();
    size_t count = 0;
    for (size_t place = part->first; place < part->end; place++) {
        const size_t row = row_at(part, place);
        if (!call->row[row].is_skipped) {
            count += follow(recorder, range, call, row, now_ns, finished + count);
            range->unconverged += call->row[row].unconverged;
            range->finished += call->row[row].ended != 0;
        }
    }
    if (range->step >= range->keyframe_due) {
        put_keyframe(recorder, range);
    } else if (range->buffer->used >= CHUNK_BYTES ||
               clock_now_ns() - range->opened_ns >= chunk_ns_max) {
        close_chunk(recorder, range);
    }
    return count;
}

void group_recorder_flush_range(GroupRecorder *recorder, uint32_t range) {
    ASSERT(range < recorder->range_count);
    if (is_over(recorder)) {
        drop_chunk(recorder, &recorder->range[range]);
    } else {
        close_chunk(recorder, &recorder->range[range]);
    }
}

bool group_recorder_has_open_chunk(const GroupRecorder *recorder, uint32_t range) {
    ASSERT(range < recorder->range_count);
    return atomic_load_explicit(&recorder->range[range].is_open, memory_order_relaxed);
}

bool group_recorder_is_ready(GroupRecorder *recorder, LogWait *wait) {
    ASSERT(recorder->log != NULL);
    if (is_over(recorder)) {
        return true;
    }
    return wait == NULL ? !log_is_full(recorder->log) : log_has_room(recorder->log, wait);
}

// ---- the loop's: harvest.h

uint64_t group_recorder_open_call(GroupRecorder *recorder) {
    return group_harvest_open_call(recorder->harvest);
}

uint64_t group_recorder_calls(const GroupRecorder *recorder) {
    return group_harvest_calls(recorder->harvest);
}

void group_recorder_take(GroupRecorder *recorder, uint64_t call, const EpisodeRecord *finished,
                         size_t count) {
    ASSERT(recorder->harvest != NULL);
    group_harvest_take(recorder->harvest, call, finished, count);
}

void group_recorder_close_call(GroupRecorder *recorder, uint64_t call) {
    group_harvest_close_call(recorder->harvest, call);
}

void group_recorder_add_returns(GroupRecorder *recorder, uint64_t call, const uint32_t *world,
                                const double *value, const double *doubtful, size_t count) {
    group_harvest_add_returns(recorder->harvest, call, world, value, doubtful, count);
}

void group_recorder_judge(GroupRecorder *recorder, uint64_t call, const OpinionFound *found,
                          size_t count) {
    group_harvest_judge(recorder->harvest, call, found, count);
}

bool group_recorder_wants_returns(const GroupRecorder *recorder) {
    return group_harvest_want_returns(recorder->harvest);
}

void group_recorder_flush(GroupRecorder *recorder) {
    group_harvest_flush(recorder->harvest, false);
}

// ---- life

static bool make_uid(uint8_t uid[UID_BYTES]) {
    memset(uid, 0, UID_BYTES); // the end is an episode's number
    return uv_random(NULL, NULL, uid, UID_BYTES - 4, 0, NULL) == 0;
}

static void destroy(GroupRecorder *recorder) {
    group_harvest_destroy(recorder->harvest);
    free(recorder->range);
    free(recorder->world);
    free(recorder);
}

// Ranges, and worlds without episodes. NULL: memory ended.
static GroupRecorder *make(Log *log, const GroupRecorderDef *def, Group *group) {
    GroupRecorder *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return NULL;
    }
    made->log = log;
    made->group = group;
    made->call_seconds = (double)group->substeps * group->time_step;
    made->range_worlds = def->range;
    made->keyframe_steps = def->keyframe_steps;
    made->use = def->use;
    if (def->has_parent) {
        memcpy(made->parent, def->parent, UID_BYTES);
    }
    made->range_count = (group->count + def->range - 1) / def->range;
    snprintf(made->solver, sizeof(made->solver), "%s",
             solver_get((SolverKind)group->template->settings.solver)->name);
    made->range = aligned_alloc(CACHE_LINE_BYTES, made->range_count * sizeof(Range));
    made->world = calloc(group->count, sizeof(*made->world));
    if (made->range == NULL || made->world == NULL || !make_uid(made->uid)) {
        destroy(made);
        return NULL;
    }
    for (uint32_t i = 0; i < made->range_count; i++) {
        const uint32_t first = i * def->range, left = group->count - first;
        // in turn, so that no call waits for all key-frames at once
        const uint64_t due = (uint64_t)((double)def->keyframe_steps * (i + 1) / made->range_count);
        made->range[i] = (Range){.first = first,
                                 .count = left < def->range ? left : def->range,
                                 .keyframe_due = due == 0 ? 1 : due};
    }
    return made;
}

static bool is_stored(const void *context, uint32_t world, uint64_t step) {
    const GroupRecorder *recorder = context;
    const Range *range = &recorder->range[world / recorder->range_worlds];
    return atomic_load_explicit(&range->stored_step, memory_order_acquire) >= step;
}

static LogBuffer *make_scene(GroupRecorder *recorder, const GroupRecorderDef *def) {
    Sink counter = {0};
    def->print_scene(recorder->group->template, 0, &counter);
    LogBuffer *buffer = log_take_buffer(recorder->log, CHUNK_HEADER_BYTES + counter.count);
    if (buffer != NULL) {
        Sink sink = {.bytes = buffer->bytes + buffer->used};
        def->print_scene(recorder->group->template, 0, &sink);
        buffer->used += sink.count;
    }
    return buffer;
}

static bool begin(GroupRecorder *recorder, const GroupRecorderDef *def, LogWait *wait) {
    const Group *group = recorder->group;
    const World *template = group->template;
    const size_t bytes = group_code_write(def->def, group, GROUP_HASH_STEPS, NULL, NULL);
    uint8_t *code = malloc(bytes);
    LogBuffer *scene = make_scene(recorder, def), *geometries = NULL;
    WornNames names = {0};
    if (code != NULL && scene != NULL && worn_take(recorder->log, template, &names, &geometries)) {
        group_code_write(def->def, group, GROUP_HASH_STEPS, NULL, code);
        RecordingDef recording = {.content = CONTENT_INPUTS,
                                  .stride = 1,
                                  .keyframe_steps = def->keyframe_steps,
                                  .world_count = group->count,
                                  // a range of one world tells a group of one from a world
                                  .world_range = group->count == 1 ? 2 : def->range,
                                  .group = code,
                                  .group_bytes = bytes,
                                  .name = def->name,
                                  .label_count = def->label_count,
                                  .label = def->label,
                                  .client = def->client,
                                  .space = def->space,
                                  .world_name = def->group_name,
                                  .solver = recorder->solver,
                                  .has_seed = true,
                                  .seed = def->def->seed,
                                  .has_parent = def->has_parent,
                                  .parent_step = def->parent_step,
                                  .dynamics_version = DYNAMICS_VERSION,
                                  .world_step = template->step,
                                  .world_time = template->time.value,
                                  .time_step = group->time_step,
                                  .body_count = template->body_count};
        memcpy(recording.uid, recorder->uid, UID_BYTES);
        memcpy(recording.parent, recorder->parent, UID_BYTES);
        recorder->recording = log_begin(recorder->log, &recording, geometries, scene, NULL, wait);
    }
    if (scene != NULL && recorder->recording == NULL) {
        log_give_buffer(recorder->log, scene);
    }
    if (geometries != NULL && recorder->recording == NULL) {
        log_give_buffer(recorder->log, geometries);
    }
    worn_names_deinit(&names);
    free(code);
    return recorder->recording != NULL;
}

Status group_recorder_start(Log *log, const GroupRecorderDef *def, Group *group, LogWait *wait,
                            GroupRecorder **recorder, Error *error) {
    ASSERT(group->count >= 1);
    ASSERT(def->range >= 1 && def->range <= GROUP_RANGE_MAX);
    GroupRecorder *made = make(log, def, group);
    bool is_begun = made != NULL && begin(made, def, wait);
    if (is_begun) {
        made->harvest = group_harvest_create(&(GroupHarvestDef){.log = log,
                                                                .recording = made->recording,
                                                                .use = def->use,
                                                                .has_reached = &made->has_reached,
                                                                .worlds = group->count,
                                                                .call_seconds = made->call_seconds,
                                                                .wants_returns = def->wants_returns,
                                                                .opinion = group->opinion,
                                                                .is_stored = is_stored,
                                                                .context = made});
        if (made->harvest == NULL) {
            group_recorder_stop(made, RECORDING_INTERRUPTED, NULL);
            made = NULL;
            is_begun = false;
        }
    }
    if (!is_begun) {
        if (made != NULL) {
            destroy(made);
        }
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "record",
                         "Memory or randomness ended while starting to record a group.");
    }
    use_put_log(def->use, 0, log_begun_bytes(made->recording), NULL);
    *recorder = made;
    return STATUS_OK;
}

// Episodes that go on end here.
static void cut_episodes(GroupRecorder *recorder) {
    const uint64_t now_ns = clock_wall_ns(), call = group_harvest_open_call(recorder->harvest);
    for (uint32_t i = 0; i < recorder->group->count; i++) {
        EpisodeRecord record;
        if (cut_record(recorder, i, now_ns, &record)) {
            group_harvest_take(recorder->harvest, call, &record, 1);
        }
    }
    group_harvest_close_call(recorder->harvest, call);
    group_harvest_flush(recorder->harvest, true);
}

void group_recorder_stop(GroupRecorder *recorder, RecordingState state, LogWait *wait) {
    uint64_t last_step = 0;
    const bool is_whole = !is_over(recorder) && recorder->harvest != NULL;
    for (uint32_t i = 0; i < recorder->range_count; i++) {
        group_recorder_flush_range(recorder, i);
        const uint64_t step = recorder->range[i].step;
        last_step = step > last_step ? step : last_step;
    }
    if (is_whole) {
        cut_episodes(recorder);
    }
    const bool has_rows = is_whole && !group_harvest_have_failed(recorder->harvest);
    const RecordingEnd end = {.state = has_rows ? state : RECORDING_INTERRUPTED,
                              .last_step = last_step,
                              .time = (double)last_step * recorder->call_seconds};
    log_end(recorder->recording, &end, wait);
    destroy(recorder);
}

const uint8_t *group_recorder_uid(const GroupRecorder *recorder) {
    return recorder->uid;
}

size_t group_recorder_bytes(const GroupRecorder *recorder) {
    return sizeof(*recorder) + recorder->range_count * (sizeof(Range) + CHUNK_BYTES) +
           recorder->group->count * sizeof(RecordedWorld);
}

Status group_recorder_status(const GroupRecorder *recorder, Error *error) {
    if (atomic_load_explicit(&recorder->has_failed, memory_order_relaxed)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while recording a group.");
    }
    if (atomic_load_explicit(&recorder->has_reached, memory_order_relaxed)) {
        return use_fail_log(recorder->use, error);
    }
    return log_recording_status(recorder->recording, error);
}
