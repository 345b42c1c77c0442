// SPDX-License-Identifier: MIT
#include "histories/group_make.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

enum { WORLDS_MAX = 4, CHANNELS_MAX = 4, TRIES = 24 };

static void *take(Arena *arena, size_t count, size_t bytes) {
    void *taken = arena_take_zeroed(arena, count + 1, bytes);
    ASSERT(taken != NULL);
    return taken;
}

static double uniform(Dice *dice, double low, double high) {
    return low + (high - low) * ((double)(dice_bits(dice) >> 11) * 0x1p-53);
}

// ---- channels

static bool is_of_joint(ChannelKind kind) {
    return kind <= CHANNEL_JOINT_VELOCITY || kind == CHANNEL_JOINT_TORQUE ||
           kind == CHANNEL_JOINT_WRENCH;
}

static bool acts_on(ChannelKind kind, const World *world, uint32_t body) {
    const bool is_rate = kind == CHANNEL_BODY_VELOCITY || kind == CHANNEL_BODY_SPIN;
    return world->kind[body] == (is_rate ? BODY_KINEMATIC : BODY_DYNAMIC);
}

// What a kind may be of, by chance. false: the template has no such thing, or chance found none.
static bool find_thing(Dice *dice, const World *world, LayoutUse use, ChannelDef *channel) {
    const bool of_joint = is_of_joint(channel->kind);
    const size_t count = of_joint ? world->joint_count : world->body_count;
    for (int i = 0; i < TRIES && count > 0; i++) {
        const uint32_t at = (uint32_t)dice_roll(dice, count);
        const bool is_carried =
            channel->kind == CHANNEL_JOINT_WRENCH || channel->kind == CHANNEL_JOINT_TORQUE;
        if (of_joint && world->joint[at].kind != JOINT_GEAR &&
            !(is_carried && joint_couples(&world->joint[at])) &&
            (use == LAYOUT_READ || !world->joint[at].is_rows)) {
            channel->joint_id = world->joint[at].id;
            return joint_axis_count(world->joint[at].axes) > 0 ||
                   channel->kind == CHANNEL_JOINT_WRENCH;
        }
        // what a joint places is disturbed through that
        const bool is_free = use != LAYOUT_NOISE || world_joint_of_child(world, at) == JOINT_NONE;
        if (!of_joint && (use == LAYOUT_READ || (is_free && acts_on(channel->kind, world, at)))) {
            channel->body_id = world->body_id[at];
            return true;
        }
    }
    return false;
}

static ChannelKind any_kind(Dice *dice, LayoutUse use) {
    static const ChannelKind acted[] = {
        CHANNEL_JOINT_EFFORT, CHANNEL_JOINT_TARGET, CHANNEL_JOINT_TARGET_VELOCITY,
        CHANNEL_BODY_FORCE,   CHANNEL_BODY_TORQUE,  CHANNEL_BODY_VELOCITY,
        CHANNEL_BODY_SPIN};
    static const ChannelKind disturbed[] = {CHANNEL_JOINT_POSITION, CHANNEL_JOINT_VELOCITY,
                                            CHANNEL_BODY_POSITION};
    if (use == LAYOUT_READ) {
        const ChannelKind kind = (ChannelKind)dice_roll(dice, CHANNEL_COUNT);
        const bool is_wrench = kind == CHANNEL_BODY_FORCE || kind == CHANNEL_BODY_TORQUE;
        return is_wrench ? CHANNEL_CONTACT_FORCE : kind;
    }
    return use == LAYOUT_ACTION ? acted[dice_roll(dice, sizeof(acted) / sizeof(acted[0]))]
                                : disturbed[dice_roll(dice, 3)];
}

static bool is_twice(const ChannelDef *channel, size_t count, const ChannelDef *other) {
    for (size_t i = 0; i < count; i++) {
        if (channel[i].kind == other->kind && channel[i].joint_id == other->joint_id &&
            channel[i].body_id == other->body_id) {
            return true;
        }
    }
    return false;
}

static void put_bound(Dice *dice, ChannelDef *channel) {
    channel->has_low = dice_chance(dice, 70);
    channel->has_high = !channel->has_low || dice_chance(dice, 60);
    channel->low = channel->has_low ? uniform(dice, -3.0, 0.0) : 0.0;
    channel->high = channel->has_high ? uniform(dice, 0.1, 3.0) : 0.0;
}

static void put_rays(Dice *dice, Arena *arena, ChannelDef *channel) {
    const size_t count = 1 + dice_roll(dice, 12);
    double *numbers = take(arena, 6 * count, sizeof(*numbers));
    for (size_t i = 0; i < 6 * count; i++) {
        numbers[i] = uniform(dice, -2.0, 2.0);
    }
    channel->rays = (ChannelRays){.count = count,
                                  .origin = numbers,
                                  .way = numbers + 3 * count,
                                  .mask = dice_chance(dice, 80) ? UINT32_MAX : 3u,
                                  .heading = dice_chance(dice, 40)};
}

static void put_more(Dice *dice, const World *world, Arena *arena, ChannelDef *channel) {
    const bool sits = channel->kind == CHANNEL_ACCELEROMETER || channel->kind == CHANNEL_GYROSCOPE,
               touches = channel->kind == CHANNEL_CONTACT || channel->kind == CHANNEL_CONTACT_FORCE;
    if (channel->kind == CHANNEL_RAYS) {
        put_rays(dice, arena, channel);
    } else if (sits && dice_chance(dice, 60)) {
        channel->has_mount = true;
        for (size_t i = 0; i < 7; i++) {
            channel->mount[i] = uniform(dice, 0.1, 1.0);
        }
    } else if (touches && dice_chance(dice, 30)) {
        channel->relative_id = world->body_id[dice_roll(dice, world->body_count)];
    }
}

static SensorDef make_sensor(Dice *dice) {
    SensorDef made = {.noise = dice_chance(dice, 50) ? uniform(dice, 0.0, 0.5) : 0.0,
                      .bias = dice_chance(dice, 50) ? uniform(dice, 0.0, 0.5) : 0.0,
                      .walk = dice_chance(dice, 50) ? uniform(dice, 0.0, 0.5) : 0.0,
                      .delay = (uint32_t)dice_roll(dice, 4)};
    made.delay_max = made.delay + (uint32_t)dice_roll(dice, 4);
    return made;
}

static LayoutDef make_layout(Dice *dice, const World *world, LayoutUse use, const char *list,
                             Arena *arena) {
    ChannelDef *channel = take(arena, CHANNELS_MAX, sizeof(*channel));
    LayoutDef def = {.use = use,
                     .list = list,
                     .item = use == LAYOUT_NOISE ? ".channel" : "",
                     .channel = channel};
    const bool is_needed = use == LAYOUT_ACTION || strcmp(list, "observation") == 0;
    const size_t wanted = is_needed + dice_roll(dice, CHANNELS_MAX);
    for (int i = 0; i < TRIES && def.count < wanted; i++) {
        ChannelDef made = {.kind = any_kind(dice, use), .scale = 1.0};
        if (made.kind == CHANNEL_TIME || made.kind == CHANNEL_ACTION ||
            find_thing(dice, world, use, &made)) {
            made.scale = dice_chance(dice, 70) ? 1.0 : uniform(dice, -10.0, 10.0);
            made.offset = use == LAYOUT_NOISE || dice_chance(dice, 70) ? 0.0 : uniform(dice, -1, 1);
            made.scale = use == LAYOUT_NOISE ? 1.0 : made.scale;
            made.offset = made.offset == 0.0 && dice_chance(dice, 20) ? -0.0 : made.offset;
            if (strcmp(list, "bounds") == 0) {
                put_bound(dice, &made);
            }
            put_more(dice, world, arena, &made);
            if (use == LAYOUT_READ && strcmp(list, "bounds") != 0 && dice_chance(dice, 30)) {
                made.sensor = make_sensor(dice);
            }
            if (!is_twice(channel, def.count, &made)) {
                channel[def.count++] = made;
            }
        }
    }
    return def;
}

// ---- groups

static void make_noises(Dice *dice, GroupDef *def, Arena *arena) {
    NoiseDef *drawn = take(arena, def->noise.count, sizeof(*drawn));
    for (size_t i = 0; i < def->noise.count; i++) {
        drawn[i] = dice_chance(dice, 50)
                       ? (NoiseDef){.kind = NOISE_UNIFORM, .low = -0.05, .high = 0.05}
                       : (NoiseDef){.kind = NOISE_GAUSSIAN, .mean = 0.01, .deviation = 0.02};
    }
    def->drawn = drawn;
}

// One that wears a geometry, from a place on that chance finds. false: there is none.
static bool find_wearer(Dice *dice, const World *world, uint32_t *body, uint32_t *primitive) {
    const uint32_t count = world->geometry_count == 0 ? 0 : world->body_count;
    const uint32_t from = count == 0 ? 0 : (uint32_t)dice_roll(dice, count);
    for (uint32_t i = 0; i < count; i++) {
        *body = (from + i) % count;
        if (world_find_worn(world, *body, primitive)) {
            return true;
        }
    }
    return false;
}

// Any that the world has: where one is of another kind the group is refused.
static void make_worn(Dice *dice, const World *world, GroupDef *def, GroupParameterDef *made,
                      Arena *arena) {
    uint32_t body, primitive;
    if (!find_wearer(dice, world, &body, &primitive) || dice_chance(dice, 40)) {
        return;
    }
    const uint32_t kind = world->primitive[primitive].geometry->kind;
    const uint64_t own = world->geometry[world->primitive[primitive].geometry_number - 1].id;
    double *values = take(arena, def->count, sizeof(*values));
    for (uint32_t i = 0; i < def->count; i++) {
        const WorldGeometry *any = &world->geometry[dice_roll(dice, world->geometry_count)];
        const bool fits = any->geometry->kind == kind || dice_chance(dice, 5);
        values[i] = (double)(fits ? any->id : own);
    }
    made[def->parameter_count++] = (GroupParameterDef){.kind = GROUP_PARAMETER_BODY_GEOMETRY,
                                                       .id = world->body_id[body],
                                                       .count = def->count,
                                                       .values = values};
}

static void make_parameters(Dice *dice, const World *world, GroupDef *def, Arena *arena) {
    GroupParameterDef *made = take(arena, 5, sizeof(*made));
    double *values = take(arena, 13 * (size_t)def->count, sizeof(*values));
    double *mass = values + 3 * (size_t)def->count, *inertia = mass + def->count,
           *center = inertia + 6 * (size_t)def->count;
    memset(inertia, 0, 6 * (size_t)def->count * sizeof(*inertia));
    for (uint32_t i = 0; i < def->count; i++) {
        values[3 * i + 2] = uniform(dice, -12.0, 0.0);
        mass[i] = uniform(dice, 0.1, 5.0);
        for (uint32_t k = 0; k < 3; k++) {
            center[3 * i + k] = uniform(dice, -0.2, 0.2);
        }
        for (uint32_t k = 0; k < 3; k++) { // any three of a unit and half of it are a body's
            inertia[6 * i + k] = mass[i] * (k == i % 3 ? 0.1 : 0.2);
        }
    }
    if (dice_chance(dice, 40)) {
        made[def->parameter_count++] = (GroupParameterDef){
            .kind = GROUP_PARAMETER_GRAVITY, .count = 3 * (size_t)def->count, .values = values};
    }
    const uint32_t body = world->body_count == 0 ? 0 : (uint32_t)dice_roll(dice, world->body_count);
    if (world->body_count > 0 && world->kind[body] == BODY_DYNAMIC && dice_chance(dice, 40)) {
        made[def->parameter_count++] = (GroupParameterDef){.kind = GROUP_PARAMETER_BODY_MASS,
                                                           .id = world->body_id[body],
                                                           .count = def->count,
                                                           .values = mass};
        made[def->parameter_count++] = (GroupParameterDef){.kind = GROUP_PARAMETER_BODY_INERTIA,
                                                           .id = world->body_id[body],
                                                           .count = 6 * (size_t)def->count,
                                                           .values = inertia};
        made[def->parameter_count++] =
            (GroupParameterDef){.kind = GROUP_PARAMETER_BODY_CENTER_OF_MASS,
                                .id = world->body_id[body],
                                .count = 3 * (size_t)def->count,
                                .values = center};
    }
    make_worn(dice, world, def, made, arena);
    def->parameter = made;
}

// Of a body that is fit for it, if there is one.
static void make_pushes(Dice *dice, const World *world, GroupDef *def, Arena *arena) {
    PushDef *made = take(arena, 2, sizeof(*made));
    def->push = made;
    for (int i = 0; i < 2 && world->body_count > 0 && dice_chance(dice, 30); i++) {
        const uint32_t body = (uint32_t)dice_roll(dice, world->body_count);
        if (world->kind[body] == BODY_DYNAMIC) {
            made[def->push_count++] = (PushDef){.body_id = world->body_id[body],
                                                .probability = uniform(dice, 0.0, 1.0),
                                                .steps = 1 + (uint32_t)dice_roll(dice, 4),
                                                .axes = 1 + (uint32_t)dice_roll(dice, 7),
                                                .is_impulse = dice_chance(dice, 30),
                                                .force_high = 1.0 + uniform(dice, 0.0, 20.0),
                                                .torque_high = uniform(dice, 0.0, 1.0)};
        }
    }
}

GroupDef group_make_def(Dice *dice, const World *template, Arena *arena) {
    static const uint64_t limits[] = {0, 1, 3, 7};
    GroupDef def = {.count = 1 + (uint32_t)dice_roll(dice, WORLDS_MAX),
                    .seed = dice_roll(dice, 1000),
                    .first_world = dice_roll(dice, 3),
                    .substeps = 1 + (uint32_t)dice_roll(dice, 3),
                    .time_step = dice_chance(dice, 70) ? 0.0 : 0.005,
                    .step_limit = limits[dice_roll(dice, 4)],
                    .autoreset = (Autoreset)dice_roll(dice, AUTORESET_COUNT),
                    .is_double = dice_chance(dice, 50)};
    def.action = make_layout(dice, template, LAYOUT_ACTION, "action", arena);
    def.observation = make_layout(dice, template, LAYOUT_READ, "observation", arena);
    def.extra = make_layout(dice, template, LAYOUT_READ, "extra", arena);
    def.bounds = make_layout(dice, template, LAYOUT_READ, "bounds", arena);
    def.noise = make_layout(dice, template, LAYOUT_NOISE, "noise", arena);
    make_noises(dice, &def, arena);
    make_parameters(dice, template, &def, arena);
    make_pushes(dice, template, &def, arena);
    if (dice_chance(dice, 30)) {
        def.opinion = (GroupOpinionDef){
            .is_asked = true, .share = 0.3, .tolerance = 1e-6, .doubt = 1e-3, .lag = 1};
    }
    return def;
}

// ---- calls

static void put_actions(Dice *dice, const Group *group, GroupCall *call, Arena *arena) {
    const size_t count = call->count * group->action.column_count;
    double *numbers = take(arena, count, sizeof(*numbers));
    float *floats = take(arena, count, sizeof(*floats));
    const bool is_bad = dice_chance(dice, 5);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = is_bad && dice_chance(dice, 30) ? NAN : uniform(dice, -5.0, 5.0);
        floats[i] = (float)numbers[i];
    }
    call->action = group->is_double ? NULL : floats;
    call->action_double = group->is_double ? numbers : NULL;
}

static void put_starts(Dice *dice, const Group *group, GroupCall *call, Arena *arena) {
    static const uint64_t kinds[] = {0, 1, UINT64_MAX};
    const uint64_t kind = kinds[dice_roll(dice, 3)];
    uint64_t *seed = take(arena, call->count, sizeof(*seed));
    const size_t columns = group->noise.column_count;
    double *values = take(arena, call->count * columns, sizeof(*values));
    call->seed_count = kind == UINT64_MAX ? call->count : kind;
    for (size_t i = 0; i < call->count; i++) {
        seed[i] = dice_roll(dice, 100);
    }
    for (size_t i = 0; i < call->count * columns; i++) {
        values[i] = uniform(dice, -0.1, 0.1);
    }
    call->seed = seed;
    call->values = columns > 0 && dice_chance(dice, 30) ? values : NULL;
}

GroupCall group_make_call(Dice *dice, Group *group, Arena *arena) {
    const uint64_t rolled = dice_roll(dice, 100);
    GroupCall call = {.group = group,
                      .verb = rolled < 70   ? GROUP_STEP
                              : rolled < 90 ? GROUP_RESET
                                            : GROUP_READ,
                      .hash_steps = (uint32_t)dice_roll(dice, 3)};
    uint32_t *world = take(arena, group->count, sizeof(*world));
    const bool is_all = dice_chance(dice, 40);
    for (uint32_t i = 0; i < group->count; i++) {
        if (is_all || dice_chance(dice, 60)) {
            world[call.count++] = i;
        }
    }
    call.world = world;
    if (call.verb == GROUP_STEP) {
        put_actions(dice, group, &call, arena);
    } else if (call.verb == GROUP_RESET) {
        put_starts(dice, group, &call, arena);
    }
    return call;
}
