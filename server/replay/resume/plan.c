// SPDX-License-Identifier: MIT
#include "replay/resume/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// So many calls are looked at together when some ranges have more of them than others.
enum { WINDOW = 1 << 16 };

// How many ranges a call was on, and how many have it.
typedef struct CallParts {
    uint64_t ranges, found;
} CallParts;

static bool is_damage(Status status, const LogChunk *chunk) {
    return status == STATUS_DATA_LOSS && chunk->id != 0;
}

static Status stopped(Error *error) {
    return error_set(error, STATUS_ABORTED, "", "Planning was given up.");
}

static Status fail(const Error *why, Error *error) {
    return error_set(error, why->status, why->field[0] == '\0' ? "recording" : why->field, "%s",
                     why->message);
}

static Status without_numbers(Error *error) {
    return error_set(error, STATUS_FAILED_PRECONDITION, "recording",
                     "The recording does not say which calls on its ranges of worlds belong "
                     "together: it was made by a server that wrote no key-frames of groups, and "
                     "can be shown and verified, but not gone on from.");
}

// ---- one range: its key-frame

Status resume_open_keyframe(const ResumeRange *range, const LogChunk *chunk,
                            GroupKeyframe *keyframe, Error *error) {
    Status status =
        group_keyframe_open(chunk->chunk.body, chunk->chunk.body_bytes, keyframe, error);
    if (status == STATUS_OK && keyframe->count != range->count) {
        status = error_set(error, STATUS_DATA_LOSS, NULL, "it has %zu worlds instead of %u",
                           keyframe->count, range->count);
    }
    GroupKeyframe rest = *keyframe;
    for (uint32_t i = 0; status == STATUS_OK && i < range->count; i++) {
        GroupKeyframeWorld world;
        status = group_keyframe_next(&rest, &world, error);
    }
    return status;
}

static Status begin_with(ResumeRange *range, const LogChunk *chunk, const GroupKeyframe *keyframe) {
    range->keyframe = chunk->id;
    range->place = chunk_place(&chunk->chunk);
    range->call = keyframe->call;
    return STATUS_OK;
}

// As the group's definition says; of one that itself went on from a recording nothing does.
static Status begin_with_nothing(const Resume *resume, uint32_t index, Error *error) {
    ResumeRange *range = &resume->range[index];
    range->keyframe = 0;
    range->place = (ChunkPlace){0};
    range->call = 0;
    return !resume->recording.has_parent
               ? STATUS_OK
               : error_set(error, STATUS_DATA_LOSS, "recording",
                           "No sound key-frame is left of the worlds %" PRIu32 " to %" PRIu32
                           ", and what they were before is in the recording's parent.",
                           index * resume->range_worlds,
                           index * resume->range_worlds + range->count - 1);
}

// The last sound one that shows nothing behind the call `goal`. No range has more calls than the
// group, so that its step is not beyond it either.
static Status find_keyframe(Resume *resume, uint32_t index, uint64_t goal, LogReader *reader,
                            Arena *arena, Error *error) {
    ResumeRange *range = &resume->range[index];
    const EpisodeRow row = resume_row(resume, index);
    uint64_t from = goal;
    for (;;) {
        LogChunk chunk = {0};
        GroupKeyframe keyframe = {0};
        Error why = {0};
        arena_reset(arena);
        Status status = log_reader_at(reader, &row, CHUNK_KEYFRAME, from, arena, &chunk, &why);
        const uint64_t found = chunk.chunk.first_step,
                       at = found < from ? found : from; // whatever a damaged index says
        if (status == STATUS_OK &&
            resume_open_keyframe(range, &chunk, &keyframe, &why) != STATUS_OK) {
            Error half = why;
            status = error_set(&why, STATUS_DATA_LOSS, "",
                               "Chunk %" PRId64 " (key-frame) is damaged: %.256s.", chunk.id,
                               half.message);
        }
        if (status == STATUS_OK && keyframe.call <= goal) {
            return begin_with(range, &chunk, &keyframe);
        }
        if (is_damage(status, &chunk)) {
            resume_note(resume, why.message);
        } else if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
            return fail(&why, error);
        }
        if (status == STATUS_NOT_FOUND || at == 0) {
            return begin_with_nothing(resume, index, error);
        }
        from = at - 1;
    }
}

// ---- one range: its calls

// It stands in front of the chunk that begins behind so many calls.
static void place_at(GroupCalls *calls, uint64_t count, uint64_t sequence) {
    const ChunkPlace behind = {.first_step = count, .sequence = sequence - (sequence > 0)};
    group_calls_place(calls, behind, count);
    calls->inputs.has_place = sequence > 0; // the very first stands behind nothing
}

// It stands where its key-frame does.
static void place_by_keyframe(const ResumeRange *range, GroupCalls *calls) {
    if (range->keyframe != 0) {
        group_calls_place(calls, range->place, range->place.first_step);
    } else {
        place_at(calls, 0, 0);
    }
}

// The next call on the range, behind `last`. *is_there: there is one, and it is not damaged.
static Status next_call(Resume *resume, const EpisodeRow *row, GroupCalls *calls, uint64_t last,
                        LogReader *reader, bool *is_there, Error *error) {
    Error why = {0};
    GroupMet met = group_calls_next(calls, row, reader, &why);
    *is_there = false;
    if (met == GROUP_MET_FAILURE) {
        return fail(&why, error);
    }
    if (met == GROUP_MET_CALL && calls->input.call == 0) {
        return without_numbers(error);
    }
    if (met == GROUP_MET_CALL && calls->input.call <= last) {
        track_damage(&calls->inputs, "it has a call out of its order");
        met = GROUP_MET_DAMAGE;
    }
    if (met == GROUP_MET_DAMAGE) {
        resume_note(resume, calls->inputs.damage.message);
    }
    *is_there = met == GROUP_MET_CALL;
    return STATUS_OK;
}

// How far its key-frame leads, up to the call `goal`.
static Status find_reach(Resume *resume, uint32_t index, uint64_t goal, LogReader *reader,
                         GroupCalls *calls, const Stop *stop, Error *error) {
    ResumeRange *range = &resume->range[index];
    const EpisodeRow row = resume_row(resume, index);
    place_by_keyframe(range, calls);
    range->reach = range->call;
    for (;;) {
        bool is_there;
        Status status = next_call(resume, &row, calls, range->reach, reader, &is_there, error);
        if (status != STATUS_OK || !is_there || calls->input.call > goal) {
            return status;
        }
        calls->count++;
        range->reach = calls->input.call;
        if (stop_is_asked(stop)) {
            return stopped(error);
        }
    }
}

// The last call that is known of, of those of the range's last chunk.
static Status find_last(Resume *resume, uint32_t index, LogReader *reader, GroupCalls *calls,
                        uint64_t *last, Error *error) {
    const EpisodeRow row = resume_row(resume, index);
    LogChunk chunk = {0};
    Error why = {0};
    *last = 0;
    track_drop(&calls->inputs);
    Status status =
        log_reader_at(reader, &row, CHUNK_INPUTS, UINT64_MAX, &calls->inputs.arena, &chunk, &why);
    if (status == STATUS_NOT_FOUND || is_damage(status, &chunk)) {
        if (status != STATUS_NOT_FOUND) {
            resume_note(resume, why.message);
        }
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        return fail(&why, error);
    }
    place_at(calls, chunk.chunk.first_step, chunk.chunk.sequence);
    for (bool is_there = true; status == STATUS_OK && is_there;) {
        status = next_call(resume, &row, calls, *last, reader, &is_there, error);
        if (is_there) {
            *last = calls->input.call;
            calls->count++;
        }
    }
    return status;
}

// ---- all ranges

// It stands in front of the range's first call behind `call`, or further back.
static Status place_before(Resume *resume, uint32_t index, uint64_t call, LogReader *reader,
                           GroupCalls *calls, Error *error) {
    const EpisodeRow row = resume_row(resume, index);
    uint64_t from = call;
    for (;;) {
        LogChunk chunk = {0};
        Error why = {0};
        track_drop(&calls->inputs);
        Status status =
            log_reader_at(reader, &row, CHUNK_INPUTS, from, &calls->inputs.arena, &chunk, &why);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND && !is_damage(status, &chunk)) {
            return fail(&why, error);
        }
        const bool is_none = status == STATUS_NOT_FOUND;
        const uint64_t found = is_none ? 0 : chunk.chunk.first_step,
                       at = found < from ? found : from, // whatever a damaged index says
            sequence = is_none ? 0 : chunk.chunk.sequence;
        bool is_there;
        place_at(calls, at, sequence);
        status = next_call(resume, &row, calls, 0, reader, &is_there, error);
        const bool is_before = is_there && calls->input.call <= call + 1;
        if (status != STATUS_OK || at == 0 || is_before) {
            place_at(calls, at, sequence);
            return status;
        }
        from = at - 1;
    }
}

// Counts the range's calls in (floor, floor + WINDOW].
static Status count_parts(Resume *resume, uint32_t index, uint64_t floor, LogReader *reader,
                          GroupCalls *calls, CallParts *parts, const Stop *stop, Error *error) {
    const EpisodeRow row = resume_row(resume, index);
    Status status = place_before(resume, index, floor, reader, calls, error);
    uint64_t last = 0;
    while (status == STATUS_OK) {
        bool is_there;
        status = next_call(resume, &row, calls, last, reader, &is_there, error);
        if (status != STATUS_OK || !is_there || calls->input.call > floor + WINDOW) {
            break;
        }
        last = calls->input.call;
        calls->count++;
        if (last > floor) {
            CallParts *of = &parts[last - floor - 1];
            of->found++;
            of->ranges = calls->input.ranges;
        }
        if (stop_is_asked(stop)) {
            return stopped(error);
        }
    }
    return status;
}

// Up to where all ranges have all calls that they were part of, from `from`, where they do, to `to`
// at most.
static Status find_common(Resume *resume, uint64_t from, uint64_t to, LogReader *reader,
                          GroupCalls *calls, const Stop *stop, uint64_t *common, Error *error) {
    CallParts *parts = malloc(WINDOW * sizeof(*parts));
    Status status = STATUS_OK;
    if (parts == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while comparing the calls of a recording.");
    }
    *common = from;
    for (bool goes_on = true; status == STATUS_OK && goes_on && *common < to;) {
        const uint64_t floor = *common;
        memset(parts, 0, WINDOW * sizeof(*parts));
        for (uint32_t i = 0; status == STATUS_OK && i < resume->range_count; i++) {
            status = count_parts(resume, i, floor, reader, calls, parts, stop, error);
        }
        for (uint64_t k = 0; goes_on && k < WINDOW && *common < to; k++) {
            goes_on = parts[k].found > 0 && parts[k].found == parts[k].ranges;
            *common += goes_on;
        }
    }
    free(parts);
    return status;
}

// What all ranges have, of the calls up to `goal`.
static Status find_step(Resume *resume, uint64_t goal, LogReader *reader, GroupCalls *calls,
                        const Stop *stop, Error *error) {
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < resume->range_count; i++) {
        const uint64_t reach = resume->range[i].reach < goal ? resume->range[i].reach : goal;
        least = reach < least ? reach : least;
        most = reach > most ? reach : most;
    }
    return find_common(resume, least, most, reader, calls, stop, &resume->facts.step, error);
}

static Status plan_range(Resume *resume, uint32_t index, uint64_t goal, LogReader *reader,
                         GroupCalls *calls, const Stop *stop, Error *error) {
    Arena arena;
    arena_init(&arena, resume->def.limits.bytes_max);
    Status status = find_keyframe(resume, index, goal, reader, &arena, error);
    arena_deinit(&arena);
    status = STATUS_THEN(status, find_reach(resume, index, goal, reader, calls, stop, error));
    resume->range[index].is_planned = status == STATUS_OK;
    return status;
}

static Status plan(Resume *resume, uint64_t goal, LogReader *reader, GroupCalls *calls,
                   const Stop *stop, Error *error) {
    Status status = STATUS_OK;
    bool is_stable = false;
    while (status == STATUS_OK && !is_stable) {
        for (uint32_t i = 0; status == STATUS_OK && i < resume->range_count; i++) {
            const ResumeRange *range = &resume->range[i];
            if (!range->is_planned || range->call > goal) {
                status = plan_range(resume, i, goal, reader, calls, stop, error);
            }
        }
        status = STATUS_THEN(status, find_step(resume, goal, reader, calls, stop, error));
        goal = resume->facts.step; // a range whose key-frame is behind it goes further back
        is_stable = true;
        for (uint32_t i = 0; i < resume->range_count; i++) {
            is_stable = is_stable && resume->range[i].call <= goal;
        }
    }
    return status;
}

// ---- the result

static Status check_step(const Resume *resume, Error *error) {
    const ResumeFacts *facts = &resume->facts;
    const char *why = facts->damage_count > 0 ? facts->damage[0] : "";
    if (resume->def.has_step && facts->step != resume->def.step && facts->damage_count == 0) {
        return error_set(error, STATUS_OUT_OF_RANGE, "step",
                         "All worlds of the recording have its calls 0 to %" PRIu64 ", not %" PRIu64
                         ".",
                         facts->step, resume->def.step);
    }
    if (resume->def.has_step && facts->step != resume->def.step) {
        return error_set(error, STATUS_DATA_LOSS, "step",
                         "Call %" PRIu64 " cannot be reached, but %" PRIu64
                         " can, without `step`: %.300s",
                         resume->def.step, facts->step, why);
    }
    if (facts->step == 0 && facts->damage_count > 0 && !resume->recording.has_parent) {
        return error_set(
            error, STATUS_DATA_LOSS, "recording",
            "The recording has no call that all of its worlds could go on from: %.300s", why);
    }
    return STATUS_OK;
}

Status resume_plan(Resume *resume, LogReader *reader, const Stop *stop, Error *error) {
    GroupCalls calls;
    uint64_t known = 0;
    group_calls_init(&calls, resume->def.limits.bytes_max);
    const uint64_t goal = resume->def.has_step ? resume->def.step : UINT64_MAX;
    Status status = plan(resume, goal, reader, &calls, stop, error);
    for (uint32_t i = 0; status == STATUS_OK && i < resume->range_count; i++) {
        uint64_t last;
        status = find_last(resume, i, reader, &calls, &last, error);
        known = last > known ? last : known;
    }
    group_calls_deinit(&calls);
    resume->facts.calls_lost = known > resume->facts.step ? known - resume->facts.step : 0;
    return STATUS_THEN(status, check_step(resume, error));
}
