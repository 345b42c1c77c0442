// SPDX-License-Identifier: MIT
#include "replay/resume/parts.h"

#include "base/assert.h"
#include "os/clock.h"
#include "run/groups/opinion.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct ResumeWork {
    EpisodeRow row;
    GroupCalls calls;
    Arena memory; // of the call
    GroupCall call;
    uint32_t world[GROUP_RANGE_MAX], cut[GROUP_RANGE_MAX];
    uint64_t seed[GROUP_RANGE_MAX];
    void *numbers;   // of a call's rows, aligned
    bool is_in_call; // it was stopped inside it, …
    size_t next;     // … in front of this row, or in the middle of it
    uint64_t last;   // call carried out
    uint64_t finished;
};

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while going on from the recording of a group.");
}

// ---- life

void resume_drop_work(ResumeRange *range) {
    ResumeWork *work = range->work;
    if (work != NULL) {
        group_calls_deinit(&work->calls);
        arena_deinit(&work->memory);
        free(work);
        range->work = NULL;
    }
}

static Status take_call(ResumeWork *work, Group *group, uint32_t worlds, uint32_t hash_steps,
                        Error *error) {
    const size_t action = group->action.column_count, noise = group->noise.column_count;
    work->call = (GroupCall){.group = group,
                             .count = worlds,
                             .world = work->world,
                             .hash_steps = hash_steps,
                             .cut = work->cut};
    work->numbers =
        arena_take_array(&work->memory, worlds * (action > noise ? action : noise), sizeof(double));
    return work->numbers != NULL && group_call_take(&work->call, &work->memory)
               ? STATUS_OK
               : out_of_memory(error);
}

static Status damaged_keyframe(const ResumeRange *range, const Error *why, Error *error) {
    return why->status == STATUS_DATA_LOSS
               ? error_set(
                     error, STATUS_DATA_LOSS, "recording",
                     "Chunk %" PRId64
                     " (key-frame) says what cannot be, though its checksum is right: %.256s.",
                     range->keyframe, why->message)
               : error_set(error, why->status, why->field, "%s", why->message);
}

// The worlds are what the key-frame says.
static Status restore(const Resume *resume, uint32_t index, Group *group, LogReader *reader,
                      Arena *scratch, uint64_t *finished, Error *error) {
    const ResumeRange *range = &resume->range[index];
    const EpisodeRow row = resume_row(resume, index);
    LogChunk chunk = {0};
    GroupKeyframe keyframe;
    Error why = {0};
    Arena arena;
    arena_init(&arena, resume->def.limits.bytes_max);
    Status status =
        log_reader_get(reader, &row, CHUNK_KEYFRAME, range->keyframe, &arena, &chunk, &why);
    status = STATUS_THEN(status, resume_open_keyframe(range, &chunk, &keyframe, &why));
    const uint32_t first = index * resume->range_worlds;
    for (uint32_t i = first; status == STATUS_OK && i < first + range->count; i++) {
        GroupKeyframeWorld world;
        status = group_keyframe_next(&keyframe, &world, &why);
        status = STATUS_THEN(status, group_keyframe_restore(group, i, &world, scratch, &why));
    }
    if (status == STATUS_OK) {
        *finished = keyframe.finished;
    }
    arena_deinit(&arena);
    return status == STATUS_OK ? status : damaged_keyframe(range, &why, error);
}

static Status begin(Resume *resume, uint32_t index, Group *group, LogReader *reader, Arena *scratch,
                    Error *error) {
    ResumeRange *range = &resume->range[index];
    ResumeWork *work = calloc(1, sizeof(*work));
    if (work == NULL) {
        return out_of_memory(error);
    }
    range->work = work;
    work->row = resume_row(resume, index);
    group_calls_init(&work->calls, resume->def.limits.bytes_max);
    arena_init(&work->memory, resume->def.limits.bytes_max);
    Status status = take_call(work, group, range->count, resume->code.hash_steps, error);
    work->last = range->call;
    if (status == STATUS_OK && range->keyframe != 0) {
        group_calls_place(&work->calls, range->place, range->place.first_step);
        status = restore(resume, index, group, reader, scratch, &work->finished, error);
    }
    return status;
}

// ---- calls

static Status damaged_call(ResumeWork *work, const char *what, Error *error) {
    track_damage(&work->calls.inputs, what);
    return error_set(error, STATUS_DATA_LOSS, "recording", "%s", work->calls.inputs.damage.message);
}

// Fills the call with what the entry at hand says.
static Status prepare(const Resume *resume, uint32_t index, ResumeWork *work, Error *error) {
    const GroupInput *input = &work->calls.input;
    const uint32_t worlds = resume->range[index].count;
    GroupCall *call = &work->call;
    const bool is_step = input->kind == INPUT_GROUP_STEP;
    const uint32_t columns =
        is_step ? call->group->action.column_count : call->group->noise.column_count;
    if ((worlds < GROUP_RANGE_MAX && input->named >> worlds != 0) ||
        (input->columns != columns && (is_step || input->columns != 0)) ||
        (!is_step && !input->is_double)) {
        return damaged_call(work, "it has a call that is none of this group", error);
    }
    const size_t bytes = input->columns * (input->is_double ? sizeof(double) : sizeof(float));
    call->verb = is_step ? GROUP_STEP : GROUP_RESET;
    call->count = group_input_rows(input);
    call->seed_count = !is_step && input->seeds != NULL ? call->count : 0;
    call->seed = work->seed;
    call->action = is_step && !input->is_double ? work->numbers : NULL;
    call->action_double = is_step && input->is_double ? work->numbers : NULL;
    call->values = !is_step && input->columns > 0 ? work->numbers : NULL;
    if (call->count * bytes > 0) {
        memcpy(work->numbers, input->numbers, call->count * bytes);
    }
    if (call->seed_count > 0) {
        memcpy(work->seed, input->seeds, call->count * sizeof(uint64_t));
    }
    size_t row = 0;
    for (uint32_t i = 0; i < worlds; i++) {
        if ((input->named >> i & 1) != 0) {
            work->world[row] = index * resume->range_worlds + i;
            if (!group_input_is_cut(input, i, &work->cut[row])) {
                work->cut[row] = UINT32_MAX;
            }
            call->row[row++] = (GroupRow){0};
        }
    }
    work->next = 0;
    work->is_in_call = true;
    return STATUS_OK;
}

// What became of a row is what the recording says.
static bool is_same(const ResumeWork *work, const GroupRow *became, uint32_t world) {
    const GroupInput *input = &work->calls.input;
    const bool has_ended = (input->ended >> world & 1) != 0,
               has_hash = (input->hashed >> world & 1) != 0;
    const uint32_t hash = (uint32_t)group_input_hash(input, world);
    return (became->ended != 0) == has_ended && became->has_hash == has_hash &&
           (!has_ended || entry_hash(&work->calls.entry, hash) == became->final_hash) &&
           (!has_hash || entry_hash(&work->calls.entry, hash + has_ended) == became->hash);
}

static Status compare(const Resume *resume, uint32_t index, ResumeWork *work, Error *error) {
    const GroupCall *call = &work->call;
    for (size_t row = 0; row < call->count; row++) {
        const uint32_t world = work->world[row] - index * resume->range_worlds;
        if (!is_same(work, &call->row[row], world)) {
            return error_set(error, STATUS_DATA_LOSS, "recording",
                             "Behind call %" PRIu64 " world %u is not what the recording says: it "
                             "was changed. A `step` before that may be sound.",
                             work->calls.input.call, work->world[row]);
        }
        work->finished += call->row[row].ended != 0;
    }
    return STATUS_OK;
}

// What is left of the call under way. false: stopped inside it.
static bool run_call(ResumeWork *work, Arena *scratch, const Context *context) {
    while (work->next < work->call.count) {
        if (!group_run_row(&work->call, work->next, scratch, context)) {
            return false;
        }
        GroupRow *became = &work->call.row[work->next++];
        group_opinion_drop(work->call.group, became->kept); // it was given, and is not again
        became->kept = NULL;
    }
    work->is_in_call = false;
    return true;
}

// *is_over: the next call is behind the one that the group goes on from, or there is none.
static Status open_call(const Resume *resume, uint32_t index, LogReader *reader, ResumeWork *work,
                        bool *is_over, Error *error) {
    Error why = {0};
    switch (group_calls_next(&work->calls, &work->row, reader, &why)) {
    case GROUP_MET_CALL:
        *is_over = work->calls.input.call > resume->facts.step;
        break;
    case GROUP_MET_FAILURE:
        return error_set(error, why.status, why.field, "%s", why.message);
    case GROUP_MET_END:
    case GROUP_MET_DAMAGE:
        *is_over = true;
        if (resume->range[index].reach > work->last) {
            return error_set(error, STATUS_DATA_LOSS, "recording",
                             "Calls behind %" PRIu64 " are gone since the recording was looked "
                             "through: was it deleted?",
                             work->last);
        }
        break;
    }
    return *is_over ? STATUS_OK : prepare(resume, index, work, error);
}

Status resume_range(Resume *resume, uint32_t index, Group *group, LogReader *reader, Arena *scratch,
                    uint64_t until_ns, const Context *context, bool *is_over, Error *error) {
    ResumeRange *range = &resume->range[index];
    *is_over = false;
    Status status =
        range->work != NULL ? STATUS_OK : begin(resume, index, group, reader, scratch, error);
    ResumeWork *work = range->work;
    while (status == STATUS_OK && !*is_over) {
        ASSERT(work != NULL);
        if (!work->is_in_call) {
            status = open_call(resume, index, reader, work, is_over, error);
        }
        if (status != STATUS_OK || *is_over || !run_call(work, scratch, context)) {
            break;
        }
        work->calls.count++;
        work->last = work->calls.input.call;
        status = compare(resume, index, work, error);
        if (clock_now_ns() >= until_ns) {
            break;
        }
    }
    if (*is_over && status == STATUS_OK) {
        range->steps = work->calls.count;
        range->finished = work->finished;
        resume_drop_work(range);
    }
    return status;
}
