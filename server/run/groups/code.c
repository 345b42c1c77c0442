// SPDX-License-Identifier: MIT
#include "run/groups/code.h"

#include "base/assert.h"
#include "base/bytes.h"

#include <string.h>

// Even ones have an opinion.
enum { CODE_VERSION = 3, CODE_VERSION_PUSHES = 5, CODE_VERSION_LAST = 6, CODE_VERSION_OLDEST = 1 };

// ---- writing

static void write_rays(Sink *sink, const ChannelRays *rays) {
    sink_u64(sink, rays->count);
    sink_doubles(sink, rays->origin, 3 * rays->count);
    sink_doubles(sink, rays->way, 3 * rays->count);
    sink_u64(sink, rays->mask);
    sink_u64(sink, rays->heading);
}

static void write_layout(Sink *sink, const LayoutDef *layout) {
    sink_u64(sink, layout->count);
    for (size_t i = 0; i < layout->count; i++) {
        const ChannelDef *channel = &layout->channel[i];
        sink_u64(sink, (uint64_t)channel->kind);
        sink_text(sink, channel->joint);
        sink_text(sink, channel->body);
        sink_text(sink, channel->relative);
        sink_u64(sink, channel->joint_id);
        sink_u64(sink, channel->body_id);
        sink_u64(sink, channel->relative_id);
        sink_u64(sink, channel->has_axes);
        sink_u64(sink, channel->axes);
        sink_u64(sink, channel->has_low);
        sink_double(sink, channel->low);
        sink_u64(sink, channel->has_high);
        sink_double(sink, channel->high);
        sink_double(sink, channel->scale);
        sink_double(sink, channel->offset);
        if (channel->kind == CHANNEL_RAYS) {
            write_rays(sink, &channel->rays);
        }
        sink_u64(sink, channel->has_mount);
        sink_doubles(sink, channel->mount, channel->has_mount ? 7 : 0);
        sink_double(sink, channel->sensor.noise);
        sink_double(sink, channel->sensor.bias);
        sink_double(sink, channel->sensor.walk);
        sink_u64(sink, channel->sensor.delay);
        sink_u64(sink, channel->sensor.delay_max);
    }
}

static void write_noise(Sink *sink, const GroupDef *def) {
    sink_u64(sink, def->noise.count);
    for (size_t i = 0; i < def->noise.count; i++) {
        const NoiseDef *drawn = &def->drawn[i];
        sink_u64(sink, (uint64_t)drawn->kind);
        sink_double(sink, drawn->low);
        sink_double(sink, drawn->high);
        sink_double(sink, drawn->mean);
        sink_double(sink, drawn->deviation);
    }
}

static void write_parameters(Sink *sink, const GroupDef *def) {
    sink_u64(sink, def->parameter_count);
    for (size_t i = 0; i < def->parameter_count; i++) {
        const GroupParameterDef *parameter = &def->parameter[i];
        sink_u64(sink, (uint64_t)parameter->kind);
        sink_text(sink, parameter->name);
        sink_u64(sink, parameter->id);
        sink_u64(sink, parameter->count);
        sink_doubles(sink, parameter->values, parameter->count);
    }
}

static void write_pushes(Sink *sink, const GroupDef *def) {
    sink_u64(sink, def->push_count);
    for (size_t i = 0; i < def->push_count; i++) {
        const PushDef *push = &def->push[i];
        sink_text(sink, push->body);
        sink_u64(sink, push->body_id);
        sink_double(sink, push->probability);
        sink_u64(sink, push->steps);
        sink_u64(sink, push->axes);
        sink_u64(sink, push->is_impulse);
        sink_double(sink, push->force_low);
        sink_double(sink, push->force_high);
        sink_double(sink, push->torque_low);
        sink_double(sink, push->torque_high);
    }
}

size_t group_code_write(const GroupDef *def, const Group *group, uint32_t hash_steps,
                        const InputBytes *whole, uint8_t *bytes) {
    ASSERT(def->count >= 1 && def->count <= GROUP_WORLDS_MAX);
    ASSERT(group->snapshot_bytes > 0);
    const InputBytes named = {group->snapshot, group->snapshot_bytes};
    const InputBytes *template = whole == NULL ? &named : whole;
    Sink sink = {.bytes = bytes};
    const uint64_t plain = def->push_count > 0 ? CODE_VERSION_PUSHES : CODE_VERSION;
    sink_u64(&sink, def->opinion.is_asked ? plain + 1 : plain);
    sink_u64(&sink, hash_steps);
    sink_u64(&sink, def->count);
    sink_u64(&sink, def->seed);
    sink_u64(&sink, def->first_world);
    sink_u64(&sink, def->substeps);
    sink_double(&sink, def->time_step);
    sink_u64(&sink, def->step_limit);
    sink_u64(&sink, (uint64_t)def->autoreset);
    sink_u64(&sink, def->is_double);
    const LayoutDef *const layouts[] = {&def->action, &def->observation, &def->extra, &def->bounds,
                                        &def->noise};
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        write_layout(&sink, layouts[i]);
    }
    write_noise(&sink, def);
    write_parameters(&sink, def);
    sink_u64(&sink, template->count);
    sink_bytes(&sink, template->bytes, template->count);
    if (def->push_count > 0) {
        write_pushes(&sink, def);
    }
    if (def->opinion.is_asked) {
        sink_double(&sink, def->opinion.share);
        sink_double(&sink, def->opinion.tolerance);
        sink_double(&sink, def->opinion.doubt);
        sink_u64(&sink, def->opinion.lag);
    }
    return sink.count;
}

// ---- reading

// NULL: the empty text, or none (then the source has failed).
static const char *take_text(Source *source, Arena *arena) {
    const size_t count = source_count(source, 1);
    const uint8_t *bytes = source_bytes(source, count);
    if (bytes == NULL || count == 0) {
        return NULL;
    }
    char *text = arena_take(arena, count + 1);
    if (text == NULL) {
        source->failed = true;
        return NULL;
    }
    memcpy(text, bytes, count);
    text[count] = '\0';
    return text;
}

// Of a list whose items take so many bytes at least. NULL: failed.
static void *take_list(Source *source, Arena *arena, size_t bytes_min, size_t item_bytes,
                       size_t *count) {
    *count = source_count(source, bytes_min);
    void *list = arena_take_zeroed(arena, *count, item_bytes);
    source->failed = source->failed || list == NULL;
    *count = source->failed ? 0 : *count;
    return list;
}

static void read_rays(Source *source, Arena *arena, ChannelRays *rays) {
    rays->count = source_count(source, 6 * sizeof(double));
    double *origin = arena_take_zeroed(arena, 3 * rays->count, sizeof(double));
    double *way = arena_take_zeroed(arena, 3 * rays->count, sizeof(double));
    source->failed = source->failed || origin == NULL || way == NULL;
    rays->count = source->failed ? 0 : rays->count;
    source_doubles(source, origin, 3 * rays->count);
    source_doubles(source, way, 3 * rays->count);
    rays->origin = origin;
    rays->way = way;
    rays->mask = (uint32_t)source_u64(source);
    rays->heading = source_u64(source) != 0;
}

static void read_sensor(Source *source, SensorDef *sensor) {
    sensor->noise = source_double(source);
    sensor->bias = source_double(source);
    sensor->walk = source_double(source);
    sensor->delay = (uint32_t)source_u64(source);
    sensor->delay_max = (uint32_t)source_u64(source);
}

static void read_layout(Source *source, uint64_t version, Arena *arena, LayoutDef *layout) {
    enum { CHANNEL_BYTES_MIN = 15 * 8 };
    ChannelDef *channels =
        take_list(source, arena, CHANNEL_BYTES_MIN, sizeof(*channels), &layout->count);
    layout->channel = channels;
    for (size_t i = 0; i < layout->count; i++) {
        ChannelDef *channel = &channels[i];
        channel->kind = (ChannelKind)source_u64(source);
        channel->joint = take_text(source, arena);
        channel->body = take_text(source, arena);
        channel->relative = take_text(source, arena);
        channel->joint_id = source_u64(source);
        channel->body_id = source_u64(source);
        channel->relative_id = source_u64(source);
        channel->has_axes = source_u64(source) != 0;
        channel->axes = (uint32_t)source_u64(source);
        channel->has_low = source_u64(source) != 0;
        channel->low = source_double(source);
        channel->has_high = source_u64(source) != 0;
        channel->high = source_double(source);
        channel->scale = source_double(source);
        channel->offset = source_double(source);
        if (channel->kind == CHANNEL_RAYS) {
            read_rays(source, arena, &channel->rays);
        }
        channel->has_mount = version >= CODE_VERSION && source_u64(source) != 0;
        source_doubles(source, channel->mount, channel->has_mount ? 7 : 0);
        if (version >= CODE_VERSION) {
            read_sensor(source, &channel->sensor);
        }
        source->failed = source->failed || channel->kind >= CHANNEL_COUNT;
    }
}

static void read_noise(Source *source, Arena *arena, GroupDef *def) {
    size_t count;
    NoiseDef *drawn = take_list(source, arena, sizeof(uint64_t) * 5, sizeof(*drawn), &count);
    source->failed = source->failed || count != def->noise.count;
    for (size_t i = 0; !source->failed && i < count; i++) {
        drawn[i].kind = (NoiseKind)source_u64(source);
        drawn[i].low = source_double(source);
        drawn[i].high = source_double(source);
        drawn[i].mean = source_double(source);
        drawn[i].deviation = source_double(source);
        source->failed = source->failed || drawn[i].kind >= NOISE_COUNT;
    }
    def->drawn = drawn;
}

// Those of one world, or of all.
static void read_parameters(Source *source, Arena *arena, uint64_t worlds, uint64_t world,
                            GroupDef *def) {
    GroupParameterDef *parameters =
        take_list(source, arena, sizeof(uint64_t) * 4, sizeof(*parameters), &def->parameter_count);
    def->parameter = parameters;
    for (size_t i = 0; i < def->parameter_count; i++) {
        GroupParameterDef *parameter = &parameters[i];
        const uint64_t kind = source_u64(source);
        parameter->kind = (GroupParameterKind)kind;
        parameter->name = take_text(source, arena);
        parameter->id = source_u64(source);
        const size_t count = source_count(source, sizeof(double));
        const uint8_t *numbers = source_bytes(source, count * sizeof(double));
        const bool is_all = world == GROUP_CODE_ALL;
        parameter->count = is_all ? count : count / worlds;
        double *values = arena_take_array(arena, parameter->count, sizeof(double));
        if (numbers == NULL || values == NULL || count % worlds != 0 ||
            !group_parameter_is_known(kind)) {
            source->failed = true;
            return;
        }
        const size_t bytes = parameter->count * sizeof(double);
        memcpy(values, is_all ? numbers : numbers + world * bytes, bytes);
        parameter->values = values;
    }
}

// Returns the version.
static uint64_t read_numbers(Source *source, uint64_t world, GroupCode *code) {
    GroupDef *def = &code->def;
    const uint64_t version = source_u64(source), hash_steps = source_u64(source),
                   worlds = source_u64(source);
    code->hash_steps = (uint32_t)hash_steps;
    def->opinion.is_asked = version % 2 == 0;
    def->count = (uint32_t)worlds;
    def->seed = source_u64(source);
    def->first_world = source_u64(source) + (world == GROUP_CODE_ALL ? 0 : world);
    def->substeps = (uint32_t)source_u64(source);
    def->time_step = source_double(source);
    def->step_limit = source_u64(source);
    def->autoreset = (Autoreset)source_u64(source);
    def->is_double = source_u64(source) != 0;
    source->failed =
        source->failed || version < CODE_VERSION_OLDEST || version > CODE_VERSION_LAST ||
        hash_steps == 0 || hash_steps > UINT32_MAX || worlds == 0 || worlds > GROUP_WORLDS_MAX ||
        (world >= worlds && world != GROUP_CODE_ALL) || def->autoreset >= AUTORESET_COUNT;
    return version;
}

static void read_pushes(Source *source, Arena *arena, GroupDef *def) {
    enum { PUSH_BYTES_MIN = 10 * 8 };
    PushDef *pushes = take_list(source, arena, PUSH_BYTES_MIN, sizeof(*pushes), &def->push_count);
    def->push = pushes;
    for (size_t i = 0; i < def->push_count; i++) {
        PushDef *push = &pushes[i];
        push->body = take_text(source, arena);
        push->body_id = source_u64(source);
        push->probability = source_double(source);
        push->steps = (uint32_t)source_u64(source);
        push->axes = (uint32_t)source_u64(source);
        push->is_impulse = source_u64(source) != 0;
        push->force_low = source_double(source);
        push->force_high = source_double(source);
        push->torque_low = source_double(source);
        push->torque_high = source_double(source);
    }
    source->failed = source->failed || def->push_count > PUSH_COUNT_MAX;
}

Status group_code_read(const uint8_t *bytes, size_t count, uint64_t world, Arena *arena,
                       GroupCode *code, Error *error) {
    ASSERT(bytes != NULL || count == 0);
    Source source = {.bytes = bytes, .count = count};
    GroupCode found = {
        .def = {.action = {.use = LAYOUT_ACTION, .list = "action", .item = ""},
                .observation = {.use = LAYOUT_READ, .list = "observation", .item = ""},
                .extra = {.use = LAYOUT_READ, .list = "extra", .item = ""},
                .bounds = {.use = LAYOUT_READ, .list = "bounds", .item = ""},
                .noise = {.use = LAYOUT_NOISE, .list = "noise", .item = ".channel"}}};
    GroupDef *def = &found.def;
    LayoutDef *const layouts[] = {&def->action, &def->observation, &def->extra, &def->bounds,
                                  &def->noise};
    const uint64_t version = read_numbers(&source, world, &found);
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        read_layout(&source, version, arena, layouts[i]);
    }
    read_noise(&source, arena, def);
    if (!source.failed) {
        read_parameters(&source, arena, def->count, world, def);
    }
    found.snapshot_bytes = source_count(&source, 1);
    found.snapshot = source_bytes(&source, found.snapshot_bytes);
    if (version >= CODE_VERSION_PUSHES) {
        read_pushes(&source, arena, def);
    }
    if (def->opinion.is_asked) {
        def->opinion.share = source_double(&source);
        def->opinion.tolerance = source_double(&source);
        def->opinion.doubt = source_double(&source);
        def->opinion.lag = (uint32_t)source_u64(&source);
    }
    if (source.failed || source.used != count) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "it does not say what group it is of, or memory ended while reading it");
    }
    def->count = world == GROUP_CODE_ALL ? def->count : 1;
    *code = found;
    return STATUS_OK;
}
