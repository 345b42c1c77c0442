// SPDX-License-Identifier: MIT
#include "run/groups/save.h"

#include "base/assert.h"
#include "run/groups/input.h"
#include "step/snapshot/snapshot.h"

#include <math.h>
#include <string.h>

static const uint8_t magic[8] = {'M', 'O', 'R', 'E', 'A', 'U', 'G', 'R'};

enum { OPINION_BYTES = 9 * 8 };

// ---- writing

static void write_bytes(Sink *sink, GroupSaveBytes of) {
    sink_u64(sink, of.count);
    sink_bytes(sink, of.bytes, of.count);
    sink_pad(sink);
}

static void write_doubtful(Sink *sink, const Group *group) {
    ASSERT(group->world != NULL);
    const uint32_t count = group->opinion.is_asked ? group->count : 0;
    sink_u64(sink, count);
    for (uint32_t i = 0; i < count; i++) {
        sink_u64(sink, group->world[i].doubtful);
    }
}

static void write_opinions(Sink *sink, const OpinionsState *state) {
    sink_u64(sink, state->opened);
    sink_u64(sink, state->lost);
    sink_u64(sink, state->count);
    for (size_t i = 0; i < state->count; i++) {
        const OpinionFound *found = &state->found[i];
        sink_u64(sink, found->call);
        sink_u64(sink, found->world);
        sink_u64(sink, found->substep);
        sink_u64(sink, found->seed);
        sink_u64(sink, found->episode);
        sink_u64(sink, found->step);
        sink_double(sink, found->gap);
        sink_double(sink, found->e_ds);
        sink_double(sink, found->residual);
    }
}

void group_save_write(const GroupSave *save, Sink *sink) {
    ASSERT(save->range_worlds > 0);
    ASSERT(save->range_count == (save->group->count - 1) / save->range_worlds + 1);
    sink_bytes(sink, magic, sizeof(magic));
    sink_u32(sink, DYNAMICS_VERSION);
    sink_u32(sink, GROUP_SAVE_FORMAT);
    sink_u64(sink, save->range_worlds);
    sink_u64(sink, save->calls);
    sink_u64(sink, save->is_recorded);
    sink_bytes(sink, save->recording, UID_BYTES);
    sink_u64(sink, save->group->count);
    sink_u64(sink, save->recorded_calls);
    write_bytes(sink, save->code);
    sink_u64(sink, save->range_count);
    for (size_t i = 0; i < save->range_count; i++) {
        write_bytes(sink, save->range[i]);
    }
    write_doubtful(sink, save->group);
    write_opinions(sink, &save->opinions);
}

// ---- reading

static Status damaged(Error *error, const char *what) {
    return error_set(error, STATUS_DATA_LOSS, "", "The saved group is damaged: %.256s.", what);
}

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while reading a saved group.");
}

bool group_save_is_one(const uint8_t *bytes, size_t count) {
    return count >= sizeof(magic) && bytes_are_same(bytes, magic, sizeof(magic));
}

Status group_save_check(const uint8_t *bytes, size_t count, uint64_t checksum, Error *error) {
    ASSERT(bytes != NULL || count == 0);
    static const SnapshotHead head = {
        .magic = magic,
        .dynamics = DYNAMICS_VERSION,
        .format = GROUP_SAVE_FORMAT,
        .noun = "saved group",
        .none = "These bytes are no saved group: GroupSave makes one.",
        .renew = "save it by a server of this version",
        .version = ": only a server of that version can go on with it"};
    return snapshot_head_check(&head, bytes, count, checksum, error);
}

static GroupSaveBytes take_bytes(Source *source) {
    GroupSaveBytes taken = {.count = source_count(source, 1)};
    taken.bytes = source_bytes(source, taken.count);
    source->failed = !source_pad(source) || source->failed;
    return taken;
}

static Status read_code(Source *source, Arena *arena, GroupSaved *saved, Error *error) {
    const GroupSaveBytes code = take_bytes(source);
    Error why = {0};
    if (source->failed) {
        return damaged(error, "it ends in its code");
    }
    Status status =
        group_code_read(code.bytes, code.count, GROUP_CODE_ALL, arena, &saved->code, &why);
    status = STATUS_THEN_IF(status, group_def_check(&saved->code.def, &why) != STATUS_OK,
                            STATUS_DATA_LOSS);
    if (status != STATUS_OK) {
        return damaged(error, why.message);
    }
    return saved->code.def.count == saved->worlds
               ? STATUS_OK
               : damaged(error, "its code is of another number of worlds");
}

static Status read_ranges(Source *source, Arena *arena, GroupSaved *saved, Error *error) {
    const uint32_t worlds = saved->code.def.count, each = saved->range_worlds;
    const size_t count = source_count(source, sizeof(uint64_t));
    if (source->failed || each < 1 || each > GROUP_RANGE_MAX || count != (worlds - 1) / each + 1) {
        return damaged(error, "its ranges are none of its worlds");
    }
    GroupSaveBytes *range = arena_take_array(arena, count, sizeof(*range));
    if (range == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        range[i] = take_bytes(source);
    }
    saved->range = range;
    saved->range_count = (uint32_t)count;
    return source->failed ? damaged(error, "it ends in a key-frame") : STATUS_OK;
}

static Status read_doubtful(Source *source, GroupSaved *saved, Error *error) {
    const GroupDef *def = &saved->code.def;
    const size_t count = source_count(source, sizeof(uint64_t));
    const uint8_t *bytes = source_bytes(source, count * sizeof(uint64_t));
    if (source->failed || count != (def->opinion.is_asked ? def->count : 0)) {
        return damaged(error, "its doubtful steps are none of its worlds");
    }
    saved->doubtful = count > 0 ? bytes : NULL;
    return STATUS_OK;
}

// In the order of the calls, which were there.
static bool is_opinion(const GroupSaved *saved, const OpinionFound *found, uint64_t call_before) {
    return found->call >= call_before && found->call < saved->opinions.opened &&
           found->world < saved->code.def.count && found->substep < saved->code.def.substeps &&
           isfinite(found->gap) && isfinite(found->e_ds) && isfinite(found->residual);
}

static Status read_opinions(Source *source, Arena *arena, GroupSaved *saved, Error *error) {
    OpinionsState *state = &saved->opinions;
    *state = (OpinionsState){.opened = source_u64(source)};
    state->lost = source_u64(source);
    state->count = source_count(source, OPINION_BYTES);
    OpinionFound *found = arena_take_zeroed(arena, state->count, sizeof(*found));
    if (found == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < state->count; i++) {
        found[i].call = source_u64(source);
        found[i].world = (uint32_t)source_u64(source);
        found[i].substep = (uint32_t)source_u64(source);
        found[i].seed = source_u64(source);
        found[i].episode = source_u64(source);
        found[i].step = source_u64(source);
        found[i].gap = source_double(source);
        found[i].e_ds = source_double(source);
        found[i].residual = source_double(source);
        source->failed =
            source->failed || !is_opinion(saved, &found[i], i == 0 ? 0 : found[i - 1].call);
    }
    state->found = found;
    return source->failed ? damaged(error, "it has an opinion that nobody can have") : STATUS_OK;
}

static Status read_head(Source *source, GroupSaved *saved, Error *error) {
    const uint64_t each = source_u64(source);
    saved->range_worlds = each <= GROUP_RANGE_MAX ? (uint32_t)each : 0;
    saved->calls = source_u64(source);
    const uint64_t is_recorded = source_u64(source);
    saved->is_recorded = is_recorded == 1;
    source_copy(source, saved->recording, UID_BYTES);
    saved->worlds = source_u64(source);
    saved->recorded_calls = source_u64(source);
    return source->failed || is_recorded > 1 ? damaged(error, "it ends early") : STATUS_OK;
}

Status group_save_open(const uint8_t *bytes, size_t count, Arena *arena, GroupSaved *saved,
                       Error *error) {
    const size_t covered = count > SNAPSHOT_CHECKSUM_BYTES ? count - SNAPSHOT_CHECKSUM_BYTES : 0;
    Status status = group_save_check(bytes, count, hash_bytes(bytes, covered, 0), error);
    if (status != STATUS_OK) {
        return status;
    }
    Source source = {.bytes = bytes, .count = covered, .used = SNAPSHOT_HEAD_BYTES};
    GroupSaved found = {0};
    if (read_head(&source, &found, error) != STATUS_OK ||
        read_code(&source, arena, &found, error) != STATUS_OK ||
        read_ranges(&source, arena, &found, error) != STATUS_OK ||
        read_doubtful(&source, &found, error) != STATUS_OK ||
        read_opinions(&source, arena, &found, error) != STATUS_OK) {
        return error->status;
    }
    if (source.used != covered) {
        return damaged(error, "something stands behind its end");
    }
    *saved = found;
    return STATUS_OK;
}

Status group_save_template(const GroupSaved *saved, const WorldLimits *limits, World **world,
                           Error *error) {
    Error why = {0};
    Status status =
        snapshot_read(saved->code.snapshot, saved->code.snapshot_bytes, limits, world, &why);
    return status == STATUS_OK ? status
           : status == STATUS_RESOURCE_EXHAUSTED
               ? error_set(error, status, why.field, "%s", why.message)
               : damaged(error, why.message);
}

// ---- the worlds of a range

static Status damaged_range(const Error *why, Error *error) {
    return why->status == STATUS_DATA_LOSS
               ? damaged(error, why->message)
               : error_set(error, why->status, why->field, "%s", why->message);
}

Status group_save_begin_range(const GroupSaved *saved, uint32_t range, GroupKeyframe *keyframe,
                              Error *error) {
    ASSERT(range < saved->range_count);
    const GroupSaveBytes of = saved->range[range];
    const uint32_t first = range * saved->range_worlds, left = saved->code.def.count - first,
                   count = left < saved->range_worlds ? left : saved->range_worlds;
    Error why = {0};
    if (group_keyframe_open(of.bytes, of.count, keyframe, &why) != STATUS_OK) {
        return damaged_range(&why, error);
    }
    return keyframe->count == count ? STATUS_OK
                                    : damaged(error, "a key-frame is not of its range's worlds");
}

Status group_save_restore_next(const GroupSaved *saved, Group *group, uint32_t world,
                               GroupKeyframe *keyframe, Arena *scratch, Error *error) {
    ASSERT(world < group->count);
    GroupKeyframeWorld next;
    Error why = {0};
    if (group_keyframe_next(keyframe, &next, &why) != STATUS_OK ||
        group_keyframe_restore(group, world, &next, scratch, &why) != STATUS_OK) {
        return damaged_range(&why, error);
    }
    if (saved->doubtful != NULL) {
        memcpy(&group->world[world].doubtful, saved->doubtful + world * sizeof(uint64_t),
               sizeof(uint64_t));
    }
    return STATUS_OK;
}
