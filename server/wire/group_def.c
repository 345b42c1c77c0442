// SPDX-License-Identifier: MIT
#include "wire/group_def.h"

#include <assert.h>
#include <string.h>

static_assert((int)CHANNEL_JOINT_EFFORT == MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_EFFORT &&
                  (int)CHANNEL_JOINT_VELOCITY == MOREAU__V1__GROUP_CHANNEL__KIND__JOINT_VELOCITY &&
                  (int)CHANNEL_BODY_FORCE == MOREAU__V1__GROUP_CHANNEL__KIND__BODY_FORCE &&
                  (int)CHANNEL_BODY_SPIN == MOREAU__V1__GROUP_CHANNEL__KIND__BODY_SPIN &&
                  (int)CHANNEL_CONTACT_FORCE == MOREAU__V1__GROUP_CHANNEL__KIND__CONTACT_FORCE &&
                  (int)CHANNEL_TIME == MOREAU__V1__GROUP_CHANNEL__KIND__TIME &&
                  (int)CHANNEL_RAYS == MOREAU__V1__GROUP_CHANNEL__KIND__RAYS &&
                  (int)CHANNEL_ACCELEROMETER == MOREAU__V1__GROUP_CHANNEL__KIND__ACCELEROMETER &&
                  (int)CHANNEL_CONTACT == MOREAU__V1__GROUP_CHANNEL__KIND__CONTACT &&
                  (int)CHANNEL_BODY_GEOMETRY == MOREAU__V1__GROUP_CHANNEL__KIND__BODY_GEOMETRY &&
                  (int)AUTORESET_NEXT_STEP == MOREAU__V1__GROUP__AUTORESET__NEXT_STEP &&
                  (int)AUTORESET_SAME_STEP == MOREAU__V1__GROUP__AUTORESET__SAME_STEP &&
                  (int)AUTORESET_DISABLED == MOREAU__V1__GROUP__AUTORESET__DISABLED &&
                  (int)GROUP_PARAMETER_GRAVITY == MOREAU__V1__GROUP_PARAMETER__KIND__GRAVITY &&
                  (int)GROUP_PARAMETER_JOINT_LOW == MOREAU__V1__GROUP_PARAMETER__KIND__JOINT_LOW &&
                  (int)GROUP_PARAMETER_JOINT_LOW + (int)JOINT_DELAY_STEPS ==
                      MOREAU__V1__GROUP_PARAMETER__KIND__JOINT_DELAY_STEPS &&
                  (int)GROUP_PARAMETER_BODY_GEOMETRY ==
                      MOREAU__V1__GROUP_PARAMETER__KIND__BODY_GEOMETRY &&
                  (int)GROUP_PARAMETER_BODY_INERTIA ==
                      MOREAU__V1__GROUP_PARAMETER__KIND__BODY_INERTIA &&
                  (int)GROUP_PARAMETER_BODY_CENTER_OF_MASS ==
                      MOREAU__V1__GROUP_PARAMETER__KIND__BODY_CENTER_OF_MASS &&
                  (int)NOISE_UNIFORM == MOREAU__V1__GROUP_NOISE__DISTRIBUTION__UNIFORM &&
                  (int)NOISE_GAUSSIAN == MOREAU__V1__GROUP_NOISE__DISTRIBUTION__GAUSSIAN,
              "choices have the numbers of the wire");

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while reading a layout.");
}

static const char *text(const char *given) {
    return given == NULL || given[0] == '\0' ? NULL : given;
}

// An origin for all rays is one for each. false: memory ended.
static bool read_rays(const Moreau__V1__GroupChannel *from, Arena *arena, ChannelRays *rays) {
    *rays = (ChannelRays){.count = from->n_ray_way % 3 == 0 ? from->n_ray_way / 3 : 0,
                          .way = from->ray_way,
                          .mask = from->ray_mask,
                          .heading = from->ray_heading};
    if (from->n_ray_origin == from->n_ray_way) {
        rays->origin = from->ray_origin;
        return true;
    }
    if (from->n_ray_origin != 0 && from->n_ray_origin != 3) {
        return true;
    }
    double *each = arena_take_zeroed(arena, 3 * rays->count, sizeof(double));
    for (size_t i = 0; each != NULL && i < 3 * rays->count && from->n_ray_origin == 3; i++) {
        each[i] = from->ray_origin[i % 3];
    }
    rays->origin = each;
    return each != NULL;
}

// `message` NULL: all defaults, so that what is missing is blamed by who needs it.
static bool read_channel(const Moreau__V1__GroupChannel *message, Arena *arena, ChannelDef *def) {
    static const Moreau__V1__GroupChannel absent = MOREAU__V1__GROUP_CHANNEL__INIT;
    const Moreau__V1__GroupChannel *from = message == NULL ? &absent : message;
    *def = (ChannelDef){.kind = (ChannelKind)from->kind,
                        .joint = text(from->joint),
                        .body = text(from->body),
                        .relative = text(from->relative_to),
                        .joint_id = from->joint_id,
                        .body_id = from->body_id,
                        .relative_id = from->relative_to_id,
                        .has_axes = from->has_axes,
                        .axes = from->axes,
                        .scale = from->scale,
                        .offset = from->offset,
                        .has_low = from->has_low,
                        .low = from->low,
                        .has_high = from->has_high,
                        .high = from->high,
                        .has_mount = from->n_mount > 0,
                        .sensor = {.noise = from->noise_deviation,
                                   .bias = from->bias_deviation,
                                   .walk = from->bias_walk,
                                   .delay = from->delay,
                                   .delay_max = from->delay_max}};
    // one of another length is none: it is blamed
    if (from->n_mount == sizeof(def->mount) / sizeof(def->mount[0])) {
        memcpy(def->mount, from->mount, sizeof(def->mount));
    }
    return read_rays(from, arena, &def->rays);
}

static Status read_layout(Moreau__V1__GroupChannel *const *channels, size_t count, Arena *arena,
                          LayoutDef *layout, Error *error) {
    ChannelDef *made = arena_take_array(arena, count, sizeof(*made));
    if (made == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        if (!read_channel(channels[i], arena, &made[i])) {
            return out_of_memory(error);
        }
    }
    layout->count = count;
    layout->channel = made;
    return STATUS_OK;
}

static Status read_noise(const Moreau__V1__GroupCreate *message, Arena *arena, GroupDef *def,
                         Error *error) {
    const size_t count = message->n_noise;
    ChannelDef *channels = arena_take_array(arena, count, sizeof(*channels));
    NoiseDef *drawn = arena_take_array(arena, count, sizeof(*drawn));
    if (channels == NULL || drawn == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        const Moreau__V1__GroupNoise *from = message->noise[i];
        if (!read_channel(from->channel, arena, &channels[i])) {
            return out_of_memory(error);
        }
        drawn[i] = (NoiseDef){.kind = (NoiseKind)from->distribution,
                              .low = from->low,
                              .high = from->high,
                              .mean = from->mean,
                              .deviation = from->deviation};
    }
    def->noise.count = count;
    def->noise.channel = channels;
    def->drawn = drawn;
    return STATUS_OK;
}

// Name and id of the thing that the kind is of.
static GroupParameterDef read_parameter(const Moreau__V1__GroupParameter *from) {
    GroupParameterDef made = {
        .kind = (GroupParameterKind)from->kind, .count = from->n_values, .values = from->values};
    if (made.kind == GROUP_PARAMETER_BODY_MASS || made.kind == GROUP_PARAMETER_BODY_POSE ||
        made.kind == GROUP_PARAMETER_BODY_GEOMETRY || made.kind == GROUP_PARAMETER_BODY_INERTIA ||
        made.kind == GROUP_PARAMETER_BODY_CENTER_OF_MASS) {
        made.name = text(from->body);
        made.id = from->body_id;
    } else if (made.kind == GROUP_PARAMETER_MATERIAL_FRICTION ||
               made.kind == GROUP_PARAMETER_MATERIAL_RESTITUTION) {
        made.name = text(from->material);
        made.id = from->material_id;
    } else {
        made.name = text(from->joint);
        made.id = from->joint_id;
    }
    return made;
}

static Status read_parameters(const Moreau__V1__GroupCreate *message, Arena *arena, GroupDef *def,
                              Error *error) {
    GroupParameterDef *made = arena_take_array(arena, message->n_parameters, sizeof(*made));
    if (made == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < message->n_parameters; i++) {
        made[i] = read_parameter(message->parameters[i]);
    }
    def->parameter_count = message->n_parameters;
    def->parameter = made;
    return STATUS_OK;
}

static Status read_pushes(const Moreau__V1__GroupCreate *message, Arena *arena, GroupDef *def,
                          Error *error) {
    PushDef *made = arena_take_array(arena, message->n_pushes, sizeof(*made));
    if (made == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < message->n_pushes; i++) {
        const Moreau__V1__GroupPush *from = message->pushes[i];
        made[i] = (PushDef){.body = text(from->body),
                            .body_id = from->body_id,
                            .probability = from->probability,
                            .steps = from->steps,
                            .axes = from->axes,
                            .is_impulse = from->impulse,
                            .force_low = from->force_low,
                            .force_high = from->force_high,
                            .torque_low = from->torque_low,
                            .torque_high = from->torque_high};
    }
    def->push_count = message->n_pushes;
    def->push = made;
    return STATUS_OK;
}

static GroupOpinionDef read_opinion(const Moreau__V1__GroupOpinion *message) {
    return message == NULL ? (GroupOpinionDef){0}
                           : (GroupOpinionDef){.is_asked = true,
                                               .share = message->share,
                                               .tolerance = message->tolerance,
                                               .doubt = message->doubt,
                                               .lag = message->lag};
}

Status group_def_read(const Moreau__V1__GroupCreate *message, Arena *arena, GroupDef *def,
                      Error *error) {
    *def = (GroupDef){.count = message->count <= GROUP_WORLDS_MAX ? (uint32_t)message->count
                                                                  : UINT32_MAX,
                      .seed = message->seed,
                      .first_world = message->first_world,
                      .action = {.use = LAYOUT_ACTION, .list = "action", .item = ""},
                      .observation = {.use = LAYOUT_READ, .list = "observation", .item = ""},
                      .extra = {.use = LAYOUT_READ, .list = "extra", .item = ""},
                      .bounds = {.use = LAYOUT_READ, .list = "bounds", .item = ""},
                      .noise = {.use = LAYOUT_NOISE, .list = "noise", .item = ".channel"},
                      .substeps = message->substeps,
                      .time_step = message->has_time_step ? message->time_step : 0.0,
                      .step_limit = message->step_limit,
                      .autoreset = (Autoreset)message->autoreset,
                      .is_double = message->double_precision,
                      .opinion = read_opinion(message->opinion)};
    if ((message->scene == NULL) == !message->has_world) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "scene",
                         "Say what the worlds begin as: either a scene or a world.");
    }
    if (message->has_time_step && message->time_step == 0.0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "time_step",
                         "A time step is more than 0 s.");
    }
    Status status = read_layout(message->action, message->n_action, arena, &def->action, error);
    status = STATUS_THEN(status, read_layout(message->observation, message->n_observation, arena,
                                             &def->observation, error));
    status = STATUS_THEN(status,
                         read_layout(message->extra, message->n_extra, arena, &def->extra, error));
    status = STATUS_THEN(
        status, read_layout(message->bounds, message->n_bounds, arena, &def->bounds, error));
    status = STATUS_THEN(status, read_noise(message, arena, def, error));
    status = STATUS_THEN(status, read_parameters(message, arena, def, error));
    return STATUS_THEN(status, read_pushes(message, arena, def, error));
}

// ---- columns

static const NoiseDef *drawn_of(const Layout *layout, const NoiseDef *drawn, uint32_t column) {
    uint32_t channel = 0;
    while (column >=
           layout->channel[channel].column_first + layout->channel[channel].column_count) {
        channel++;
    }
    return &drawn[channel];
}

Moreau__V1__GroupColumns *group_def_columns(const Group *group, const Layout *layout,
                                            const NoiseDef *drawn, Arena *arena) {
    const uint32_t count = layout->column_count;
    Moreau__V1__GroupColumns *columns = arena_take(arena, sizeof(*columns));
    char **names = arena_take_array(arena, count, sizeof(*names));
    double *low = arena_take_array(arena, count, sizeof(*low));
    double *high = arena_take_array(arena, count, sizeof(*high));
    if (columns == NULL || names == NULL || low == NULL || high == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        char name[LAYOUT_NAME_BYTES];
        layout_name(layout, group->template, i, name);
        names[i] = arena_take(arena, strlen(name) + 1);
        if (names[i] == NULL) {
            return NULL;
        }
        memcpy(names[i], name, strlen(name) + 1);
        low[i] = layout->column[i].low;
        high[i] = layout->column[i].high;
        const NoiseDef *noise = drawn == NULL ? NULL : drawn_of(layout, drawn, i);
        if (noise != NULL && noise->kind == NOISE_UNIFORM) {
            low[i] = noise->low;
            high[i] = noise->high;
        }
    }
    moreau__v1__group_columns__init(columns);
    columns->n_name = columns->n_low = columns->n_high = count;
    columns->name = names;
    columns->low = low;
    columns->high = high;
    return columns;
}
