// SPDX-License-Identifier: MIT
#include "log/format/frames.h"

#include "base/assert.h"
#include "log/format/chunk.h"

#include <inttypes.h>

// ---- frames

static Status check_frame_steps(const FrameChunk *chunk, Error *error) {
    for (size_t i = 1; i < chunk->frame_count; i++) {
        uint64_t step = frame_chunk_step(chunk, i);
        uint64_t before = frame_chunk_step(chunk, i - 1);
        if (step <= before) {
            return error_set(error, STATUS_DATA_LOSS, NULL,
                             "its frame %zu is of step %" PRIu64
                             ", the one before of step %" PRIu64,
                             i, step, before);
        }
    }
    return STATUS_OK;
}

static Status refuse_counts(uint64_t frames, uint64_t bodies, size_t body_bytes, Error *error) {
    return error_set(error, STATUS_DATA_LOSS, NULL,
                     "it claims %" PRIu64 " frames of %" PRIu64
                     " bodies, which is not what %zu bytes hold",
                     frames, bodies, body_bytes);
}

// Ids and axes, where the version has them. false: they are not there.
static bool take_joints(Source *source, FrameChunk *chunk) {
    if (chunk->version < CHUNK_FORMAT_JOINTS) {
        return true;
    }
    chunk->joint_count = source_count(source, 16);
    chunk->joints = source_bytes(source, 16 * chunk->joint_count);
    return chunk->joints != NULL;
}

Status frame_chunk_open(const uint8_t *body, size_t body_bytes, uint32_t version, FrameChunk *chunk,
                        Error *error) {
    Source source = {.bytes = body, .count = body_bytes};
    uint64_t bodies = source_u64(&source);
    uint64_t frames = source_u64(&source);
    uint64_t positions = source_u64(&source);
    uint64_t velocities = source_u64(&source);
    if (source.failed) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "it is cut short: %zu bytes of frames",
                         body_bytes);
    }
    size_t rest = body_bytes - source.used;
    if (bodies > rest / 8 || positions > rest / 8 || velocities > rest / 8) {
        return refuse_counts(frames, bodies, body_bytes, error);
    }
    FrameChunk found = {.version = version,
                        .body_count = (size_t)bodies,
                        .frame_count = (size_t)frames,
                        .joint_position_count = (size_t)positions,
                        .joint_velocity_count = (size_t)velocities,
                        .ids = source_bytes(&source, (size_t)bodies * 8)};
    const size_t axis_numbers = version < CHUNK_FORMAT_JOINTS ? 1 : 4;
    found.frame_bytes =
        24 + 104 * (size_t)bodies + 8 * ((size_t)positions + axis_numbers * (size_t)velocities);
    const bool has_joints = take_joints(&source, &found);
    rest = body_bytes - source.used;
    if (!has_joints || frames != rest / found.frame_bytes || rest % found.frame_bytes != 0 ||
        frames == 0) {
        return refuse_counts(frames, bodies, body_bytes, error);
    }
    found.frames = source_bytes(&source, rest);
    Status status = check_frame_steps(&found, error);
    if (status == STATUS_OK) {
        *chunk = found;
    }
    return status;
}

Status frame_chunk_joints(const FrameChunk *chunk, Arena *arena, FrameJoints *joints,
                          Error *error) {
    const size_t n = chunk->joint_count;
    uint64_t *numbers = arena_take_array(arena, n, 2 * sizeof(uint64_t));
    if (numbers == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "Memory ended while reading a frame of %zu joints.", n);
    }
    Source source = {.bytes = chunk->joints, .count = 16 * n};
    if (n > 0) {
        source_u64s(&source, numbers, 2 * n);
    }
    *joints = (FrameJoints){.count = n,
                            .position_count = n == 0 ? 0 : chunk->joint_position_count,
                            .axis_count = n == 0 ? 0 : chunk->joint_velocity_count,
                            .ids = numbers,
                            .axes = numbers + n};
    return STATUS_OK;
}

void frame_chunk_ids(const FrameChunk *chunk, uint64_t *ids) {
    Source source = {.bytes = chunk->ids, .count = chunk->body_count * 8};
    source_u64s(&source, ids, chunk->body_count);
}

uint64_t frame_chunk_step(const FrameChunk *chunk, size_t index) {
    ASSERT(index < chunk->frame_count);
    Source source = {.bytes = chunk->frames + index * chunk->frame_bytes,
                     .count = chunk->frame_bytes};
    return source_u64(&source);
}

Status frame_chunk_read(const FrameChunk *chunk, size_t index, Arena *arena, StateFrame *frame,
                        Error *error) {
    ASSERT(index < chunk->frame_count);
    size_t n = chunk->body_count;
    double *pose = arena_take_array(arena, n, 7 * sizeof(double));
    double *velocity = arena_take_array(arena, n, 6 * sizeof(double));
    size_t p = chunk->joint_position_count, q = chunk->joint_velocity_count;
    const bool has_targets = chunk->version >= CHUNK_FORMAT_JOINTS;
    const size_t joint_numbers = p + (has_targets ? 4 : 1) * q;
    double *joints = arena_take_array(arena, joint_numbers, sizeof(double));
    if (pose == NULL || velocity == NULL || joints == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "Memory ended while reading a frame of %zu bodies.", n);
    }
    Source source = {.bytes = chunk->frames + index * chunk->frame_bytes,
                     .count = chunk->frame_bytes};
    *frame = (StateFrame){.step = source_u64(&source)};
    frame->world_step = source_u64(&source);
    frame->time = source_double(&source);
    source_doubles(&source, pose, 7 * n);
    source_doubles(&source, velocity, 6 * n);
    source_doubles(&source, joints, joint_numbers);
    frame->pose = pose;
    frame->velocity = velocity;
    frame->joint_position = joints;
    frame->joint_velocity = joints + p;
    if (has_targets) {
        frame->joint_target = joints + p + q;
        frame->joint_target_velocity = joints + p + 2 * q;
        frame->joint_effort = joints + p + 3 * q;
    }
    return STATUS_OK;
}

void frame_chunk_begin(Sink *sink, size_t body_count, const uint64_t *ids,
                       const FrameJoints *joints) {
    sink_u64(sink, body_count);
    sink_u64(sink, 0);
    sink_u64(sink, joints->position_count);
    sink_u64(sink, joints->axis_count);
    sink_u64s(sink, ids, body_count);
    if (joints->count > 0) {
        sink_u64(sink, joints->count);
        sink_u64s(sink, joints->ids, joints->count);
        sink_u64s(sink, joints->axes, joints->count);
    }
}

void frame_chunk_add(Sink *sink, size_t body_count, const FrameJoints *joints,
                     const StateFrame *frame) {
    const size_t axes = joints->axis_count;
    sink_u64(sink, frame->step);
    sink_u64(sink, frame->world_step);
    sink_double(sink, frame->time);
    sink_doubles(sink, frame->pose, 7 * body_count);
    sink_doubles(sink, frame->velocity, 6 * body_count);
    if (joints->count > 0) {
        sink_doubles(sink, frame->joint_position, joints->position_count);
        sink_doubles(sink, frame->joint_velocity, axes);
        sink_doubles(sink, frame->joint_target, axes);
        sink_doubles(sink, frame->joint_target_velocity, axes);
        sink_doubles(sink, frame->joint_effort, axes);
    }
}

// ---- contacts

void contact_chunk_begin(Sink *sink) {
    sink_u64(sink, 0);
}

void contact_chunk_add(Sink *sink, const ContactList *list) {
    size_t c = list->count;
    sink_u64(sink, list->step);
    sink_u64(sink, c);
    sink_u64s(sink, list->body_a, c);
    sink_u64s(sink, list->body_b, c);
    sink_u32s(sink, list->part_a, c);
    sink_u32s(sink, list->part_b, c);
    sink_u64s(sink, list->feature, c);
    sink_doubles(sink, list->point, 3 * c);
    sink_doubles(sink, list->frame, 9 * c);
    sink_doubles(sink, list->gap, c);
    sink_doubles(sink, list->impulse, 3 * c);
    sink_doubles(sink, list->velocity, 3 * c);
    sink_doubles(sink, list->friction, c);
}

static size_t contact_bytes(bool has_parts) {
    return has_parts ? CONTACT_BYTES : CONTACT_BYTES - 2 * sizeof(uint32_t);
}

// Step, number and columns of the next list. NULL, with an error, when the rest does not hold them.
static const uint8_t *take_list(Source *source, size_t contact_bytes, uint64_t *step, size_t *count,
                                Error *error) {
    size_t at = source->used;
    *step = source_u64(source);
    *count = source_count(source, contact_bytes);
    const uint8_t *columns = source_bytes(source, *count * contact_bytes);
    if (columns == NULL) {
        error_set(error, STATUS_DATA_LOSS, NULL,
                  "its list of contacts at byte %zu goes beyond its end: %zu bytes are left", at,
                  source->count - at);
    }
    return columns;
}

// The number of lists stands in front, and only a walk along all of them can prove it.
static bool check_lists(Source source, size_t contact_bytes, uint64_t list_count, Error *error) {
    uint64_t found = 0;
    uint64_t before = 0;
    while (source.used < source.count) {
        size_t at = source.used;
        uint64_t step;
        size_t count;
        if (take_list(&source, contact_bytes, &step, &count, error) == NULL) {
            return false;
        }
        if (found > 0 && step <= before) {
            error_set(error, STATUS_DATA_LOSS, NULL,
                      "its list of contacts at byte %zu is of step %" PRIu64
                      ", the one before of step %" PRIu64,
                      at, step, before);
            return false;
        }
        before = step;
        found++;
    }
    if (found != list_count) {
        error_set(error, STATUS_DATA_LOSS, NULL,
                  "it holds %" PRIu64 " lists of contacts instead of %" PRIu64, found, list_count);
        return false;
    }
    return true;
}

// What parts touched stood in the upper half of the feature.
static void part_features(const ContactList *list) {
    for (size_t i = 0; i < list->count; i++) {
        list->part_a[i] = (uint32_t)(list->feature[i] >> 48);
        list->part_b[i] = (uint32_t)(list->feature[i] >> 32 & 0xffff);
        list->feature[i] &= UINT32_MAX;
    }
}

static bool read_columns(const uint8_t *columns, bool has_parts, Arena *arena, ContactList *list,
                         Error *error) {
    size_t c = list->count;
    Source source = {.bytes = columns, .count = c * contact_bytes(has_parts)};
    uint64_t *ids = arena_take_array(arena, c, 3 * sizeof(uint64_t));
    uint32_t *parts = arena_take_array(arena, c, 2 * sizeof(uint32_t));
    double *numbers = arena_take_array(arena, c, 20 * sizeof(double));
    if (ids == NULL || parts == NULL || numbers == NULL) {
        error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                  "Memory ended while reading a list of %zu contacts.", c);
        return false;
    }
    list->body_a = ids;
    list->body_b = ids + c;
    list->feature = ids + 2 * c;
    list->part_a = parts;
    list->part_b = parts + c;
    source_u64s(&source, ids, 2 * c);
    if (has_parts) {
        source_u32s(&source, parts, 2 * c);
    }
    source_u64s(&source, list->feature, c);
    source_doubles(&source, numbers, 20 * c);
    if (!has_parts) {
        part_features(list);
    }
    list->point = numbers;
    list->frame = numbers + 3 * c;
    list->gap = numbers + 12 * c;
    list->impulse = numbers + 13 * c;
    list->velocity = numbers + 16 * c;
    list->friction = numbers + 19 * c;
    return true;
}

bool contact_chunk_next(const uint8_t *body, size_t body_bytes, uint32_t version, size_t *at,
                        Arena *arena, ContactList *list, Error *error) {
    ASSERT(*at <= body_bytes);
    const bool has_parts = version >= CHUNK_FORMAT_PARTS;
    Source source = {.bytes = body, .count = body_bytes, .used = *at};
    if (*at == 0) {
        uint64_t list_count = source_u64(&source);
        if (source.failed) {
            error_set(error, STATUS_DATA_LOSS, NULL, "it is cut short: %zu bytes of contacts",
                      body_bytes);
            return false;
        }
        if (!check_lists(source, contact_bytes(has_parts), list_count, error)) {
            return false;
        }
    }
    if (source.used == source.count) {
        *at = source.used;
        return false;
    }
    ContactList found;
    const uint8_t *columns =
        take_list(&source, contact_bytes(has_parts), &found.step, &found.count, error);
    if (columns == NULL || !read_columns(columns, has_parts, arena, &found, error)) {
        return false;
    }
    *at = source.used;
    *list = found;
    return true;
}
