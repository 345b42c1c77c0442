// SPDX-License-Identifier: MIT
#include "run/groups/keyframe.h"

#include "base/assert.h"
#include "step/snapshot/snapshot.h"

#include <math.h>
#include <string.h>

enum { VERSION = 2, VERSION_OLDEST = 1, WORD = 8, RUN_HEAD_BYTES = 8 };
enum { WORLD_HEAD_BYTES = 80, WORLD_HEAD_BYTES_OLDEST = 72 };

// ---- writing

void group_keyframe_begin(const GroupKeyframe *keyframe, Sink *sink) {
    ASSERT(keyframe->count > 0);
    sink_u64(sink, VERSION);
    sink_u64(sink, keyframe->call);
    sink_u64(sink, keyframe->finished);
    sink_u64(sink, keyframe->count);
}

// Two runs are at least a word apart.
size_t group_keyframe_world_bytes(const Group *group, size_t snapshot_bytes) {
    ASSERT(snapshot_bytes > 0);
    const size_t numbers = group->action.column_count + group->felt_count + group->sensor_count;
    return WORLD_HEAD_BYTES + numbers * sizeof(double) + snapshot_bytes +
           (snapshot_bytes / ((size_t)2 * WORD) + 1) * RUN_HEAD_BYTES;
}

static bool is_as_template(const Group *group, const uint8_t *snapshot, size_t word) {
    const size_t at = word * WORD;
    return at < group->snapshot_bytes && bytes_are_same(snapshot + at, group->snapshot + at, WORD);
}

// Where the first run from `from` on begins, and how long it is. false: there is none.
static bool find_run(const Group *group, const uint8_t *snapshot, size_t words, size_t from,
                     size_t *first, size_t *count) {
    *first = from;
    while (*first < words && is_as_template(group, snapshot, *first)) {
        ++*first;
    }
    size_t end = *first;
    while (end < words && !is_as_template(group, snapshot, end)) {
        end++;
    }
    *count = end - *first;
    return *count > 0;
}

static void write_runs(const Group *group, const uint8_t *snapshot, size_t words, Sink *sink) {
    size_t first, count;
    uint64_t runs = 0;
    for (size_t at = 0; find_run(group, snapshot, words, at, &first, &count); at = first + count) {
        runs++;
    }
    sink_u64(sink, words);
    sink_u64(sink, runs);
    for (size_t at = 0; find_run(group, snapshot, words, at, &first, &count); at = first + count) {
        sink_u32(sink, (uint32_t)first);
        sink_u32(sink, (uint32_t)count);
        sink_bytes(sink, snapshot + first * WORD, count * WORD);
    }
}

void group_keyframe_add(const Group *group, uint32_t i, const uint8_t *snapshot,
                        size_t snapshot_bytes, Sink *sink) {
    ASSERT(i < group->count);
    ASSERT(snapshot_bytes % WORD == 0 && snapshot_bytes / WORD <= UINT32_MAX);
    const GroupWorld *world = &group->world[i];
    const size_t felt = group->felt_count;
    sink_u64(sink, world->is_running);
    sink_u64(sink, world->seed);
    sink_u64(sink, world->episode);
    sink_u64(sink, world->length);
    sink_double(sink, world->begun);
    sink_u64(sink, group->action.column_count);
    sink_doubles(sink, world->action, group->action.column_count);
    sink_u64(sink, felt);
    if (felt > 0) {
        sink_doubles(sink, world->felt, felt);
    }
    sink_u64(sink, group->sensor_count);
    if (group->sensor_count > 0) {
        sink_doubles(sink, world->sensor, group->sensor_count);
    }
    write_runs(group, snapshot, snapshot_bytes / WORD, sink);
}

// ---- reading

static Status damaged(Error *error) {
    return error_set(error, STATUS_DATA_LOSS, NULL, "it is no key-frame of this group");
}

GroupKeyframe group_keyframe_of_one(const uint8_t *bytes, size_t count) {
    return (GroupKeyframe){
        .version = VERSION, .count = 1, .rest = {.bytes = bytes, .count = count}};
}

Status group_keyframe_open(const uint8_t *bytes, size_t count, GroupKeyframe *keyframe,
                           Error *error) {
    Source source = {.bytes = bytes, .count = count};
    const uint64_t version = source_u64(&source);
    GroupKeyframe found = {.version = version, .call = source_u64(&source)};
    found.finished = source_u64(&source);
    found.count = source_count(&source, WORLD_HEAD_BYTES_OLDEST);
    if (source.failed || version < VERSION_OLDEST || version > VERSION) {
        return damaged(error);
    }
    found.rest = source;
    *keyframe = found;
    return STATUS_OK;
}

// Finite ones.
static const uint8_t *take_numbers(Source *source, size_t *count) {
    *count = source_count(source, sizeof(double));
    const uint8_t *bytes = source_bytes(source, *count * sizeof(double));
    for (size_t i = 0; bytes != NULL && i < *count; i++) {
        double number;
        memcpy(&number, bytes + i * sizeof(number), sizeof(number));
        source->failed = source->failed || !isfinite(number);
    }
    return bytes;
}

Status group_keyframe_next(GroupKeyframe *keyframe, GroupKeyframeWorld *world, Error *error) {
    Source *source = &keyframe->rest;
    const uint64_t is_running = source_u64(source);
    GroupKeyframeWorld found = {.is_running = is_running == 1};
    found.seed = source_u64(source);
    found.episode = source_u64(source);
    found.length = source_u64(source);
    found.begun = source_double(source);
    found.actions = take_numbers(source, &found.action_count);
    found.felt = take_numbers(source, &found.felt_count);
    if (keyframe->version > VERSION_OLDEST) {
        found.sensors = take_numbers(source, &found.sensor_count);
    }
    found.words = source_u64(source);
    found.run_count = source_u64(source);
    found.runs = *source;
    uint64_t end = 0; // of the run before
    for (uint64_t i = 0; !source->failed && i < found.run_count; i++) {
        const uint32_t first = source_u32(source), count = source_u32(source);
        source->failed =
            source->failed || first < end || count > found.words || first > found.words - count;
        end = (uint64_t)first + count;
        if (!source->failed) {
            source_bytes(source, (size_t)count * WORD);
        }
    }
    if (source->failed || is_running > 1 || !isfinite(found.begun)) {
        return damaged(error);
    }
    *world = found;
    return STATUS_OK;
}

// Of the template's snapshot, and where it differs.
static Status put_together(InputBytes template, const GroupKeyframeWorld *world, Arena *arena,
                           uint8_t **bytes, size_t *count, Error *error) {
    // nothing but the bytes at hand and the template's stands in it
    const size_t left = world->runs.count - world->runs.used, words = (size_t)world->words;
    if (world->words > (template.count + left) / WORD) {
        return damaged(error);
    }
    uint8_t *made = arena_take_zeroed(arena, words, WORD);
    if (made == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while reading a key-frame of a group.");
    }
    const size_t all = words * WORD, alike = all < template.count ? all : template.count;
    memcpy(made, template.bytes, alike);
    Source runs = world->runs;
    for (uint64_t i = 0; i < world->run_count; i++) {
        const uint32_t first = source_u32(&runs), length = source_u32(&runs);
        source_copy(&runs, made + (size_t)first * WORD, (size_t)length * WORD);
    }
    *bytes = made;
    *count = all;
    return STATUS_OK;
}

// Whether it ends with the checksum of what stands before.
static bool is_sound(const uint8_t *bytes, size_t count) {
    const size_t covered = count < SNAPSHOT_CHECKSUM_BYTES ? 0 : count - SNAPSHOT_CHECKSUM_BYTES;
    Source end = {.bytes = bytes + covered, .count = count - covered};
    return source_u64(&end) == hash_bytes(bytes, covered, 0);
}

// Up to version 10 of the log a world with geometries differed from the template's whole snapshot,
// with their bytes: which of the two it was the checksum tells.
Status group_keyframe_snapshot(const Group *group, const GroupKeyframeWorld *world, Arena *arena,
                               uint8_t **bytes, size_t *count, Error *error) {
    const InputBytes named = {group->snapshot, group->snapshot_bytes};
    *bytes = NULL;
    *count = 0;
    Status status = put_together(named, world, arena, bytes, count, error);
    if (group->template->geometry_count == 0 || status == STATUS_RESOURCE_EXHAUSTED ||
        (status == STATUS_OK && is_sound(*bytes, *count))) {
        return status;
    }
    uint8_t *snapshot = NULL, *made = NULL;
    InputBytes whole = {NULL, 0};
    size_t made_count = 0;
    Error why = {0};
    Status tried = snapshot_write(group->template, arena, &snapshot, &whole.count, &why);
    whole.bytes = snapshot;
    tried = STATUS_THEN(tried, put_together(whole, world, arena, &made, &made_count, &why));
    if (tried == STATUS_RESOURCE_EXHAUSTED) {
        return error_set(error, tried, why.field, "%s", why.message);
    }
    if (tried == STATUS_OK && is_sound(made, made_count)) {
        *bytes = made;
        *count = made_count;
        return STATUS_OK;
    }
    return status; // damaged, as whoever reads it says
}

// Rows are read and worlds begun anew by the template's indices.
static bool is_of_template(const World *world, const World *template) {
    const bool is_alike = world_is_alike(world, template);
    if (world->body_count > template->body_count || world->joint_count > template->joint_count ||
        (is_alike && (world->joint_axis_count != template->joint_axis_count ||
                      world->joint_position_count != template->joint_position_count))) {
        return false;
    }
    for (uint32_t i = 0; i < world->body_count; i++) {
        uint32_t body;
        if (!world_find_body(template, world->body_id[i], &body) || (is_alike && body != i)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < world->joint_count; i++) {
        uint32_t joint;
        if (!world_find_joint(template, world->joint[i].id, &joint) || (is_alike && joint != i) ||
            template->joint[joint].axes != world->joint[i].axes ||
            (is_alike && (template->joint[joint].axis_first != world->joint[i].axis_first ||
                          template->joint[joint].position_first != world->joint[i].position_first ||
                          template->joint[joint].body[1] != world->joint[i].body[1]))) {
            return false;
        }
    }
    return true;
}

// Whole numbers, where they count.
static bool sensors_are_of(const Group *group, const GroupKeyframeWorld *world) {
    if (world->sensor_count != group->sensor_count) {
        return false;
    }
    const Layout *const layouts[] = {&group->observation, &group->extra};
    size_t first = 0;
    for (size_t i = 0; i < 2; i++) {
        const uint8_t *numbers = world->sensors + first * sizeof(double);
        if (!layout_sensors_are_sound(layouts[i], numbers)) {
            return false;
        }
        first += layouts[i]->sensor_count;
    }
    return true;
}

Status group_keyframe_restore(Group *group, uint32_t i, const GroupKeyframeWorld *world,
                              Arena *scratch, Error *error) {
    ASSERT(i < group->count);
    GroupWorld *to = &group->world[i];
    const ArenaMark mark = arena_mark(scratch);
    uint8_t *bytes;
    size_t count;
    const size_t felt = group->felt_count;
    if (world->action_count != group->action.column_count || world->felt_count != felt ||
        !sensors_are_of(group, world)) {
        return damaged(error);
    }
    Status status = group_keyframe_snapshot(group, world, scratch, &bytes, &count, error);
    if (status == STATUS_OK) {
        const Input input = {.kind = INPUT_RESTORE,
                             .restore = {.snapshot = bytes, .snapshot_bytes = count}};
        status = apply_change(to->world, to->stepper, &input, scratch, NULL, NULL, error);
    }
    arena_reset_to(scratch, mark);
    if (status != STATUS_OK) {
        return status == STATUS_RESOURCE_EXHAUSTED ? status : damaged(error);
    }
    if (!is_of_template(to->world, group->template) ||
        (world->is_running && !world_is_alike(to->world, group->template))) {
        return damaged(error);
    }
    to->is_running = world->is_running;
    to->seed = world->seed;
    to->episode = world->episode;
    to->length = world->length;
    to->begun = world->begun;
    to->substep = 0;
    memcpy(to->action, world->actions, world->action_count * sizeof(double));
    if (world->sensor_count > 0) {
        memcpy(to->sensor, world->sensors, world->sensor_count * sizeof(double));
    }
    to->has_felt = felt > 0;
    if (felt > 0) {
        memcpy(to->felt, world->felt, felt * sizeof(double));
    }
    return STATUS_OK;
}
