// SPDX-License-Identifier: MIT
#include "run/groups/group.h"

#include "base/assert.h"
#include "step/snapshot/snapshot.h"
#include "world/range.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is kept to be solved again takes no more of the memory budget than one part in so many.
enum { OPINION_MEMORY_SHARE = 4 };

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "count",
                     "Memory ended while making a group: ask for fewer worlds.");
}

// ---- the def

static Status check_drawn(const NoiseDef *drawn, size_t index, Error *error) {
    const double number_max = 1e9;
    const struct {
        const char *name;
        double value, low, high;
    } numbers[] = {{"low", drawn->low, -number_max, number_max},
                   {"high", drawn->high, drawn->low, number_max},
                   {"mean", drawn->mean, -number_max, number_max},
                   {"deviation", drawn->deviation, 0.0, number_max}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (!(numbers[i].value >= numbers[i].low && numbers[i].value <= numbers[i].high)) {
            char field[64];
            snprintf(field, sizeof(field), "noise[%zu].%s", index, numbers[i].name);
            return error_set(error, STATUS_INVALID_ARGUMENT, field, "%s is %g to %g, not %g.",
                             numbers[i].name, numbers[i].low, numbers[i].high, numbers[i].value);
        }
    }
    return STATUS_OK;
}

static Status check_pushes(const GroupDef *def, double time, Error *error) {
    if (def->push_count > PUSH_COUNT_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "pushes",
                         "A group has at most %d pushes, not %zu.", PUSH_COUNT_MAX,
                         def->push_count);
    }
    Status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < def->push_count; i++) {
        status = push_check(&def->push[i], i, time, error);
    }
    return status;
}

Status group_def_check(const GroupDef *def, Error *error) {
    if (def->count < 1 || def->count > GROUP_WORLDS_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "count", "A group has 1 to %d worlds.",
                         GROUP_WORLDS_MAX);
    }
    if (def->substeps < 1 || def->substeps > GROUP_SUBSTEPS_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "substeps",
                         "A step of a group is 1 to %d steps of its worlds, not %u.",
                         GROUP_SUBSTEPS_MAX, def->substeps);
    }
    if (def->time_step != 0.0 &&
        range_check(RANGE_TIME_STEP, def->time_step, "time_step", -1, error) != STATUS_OK) {
        return error->status;
    }
    if (def->action.count == 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "action",
                         "A group needs something to act on: give one channel at least.");
    }
    if (def->observation.count == 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "observation",
                         "A group needs something to observe: give one channel at least.");
    }
    for (size_t i = 0; i < def->noise.count; i++) {
        if (check_drawn(&def->drawn[i], i, error) != STATUS_OK) {
            return error->status;
        }
    }
    const double substep = def->time_step; // 0: the template's, which group_create knows
    if (check_pushes(def, substep * def->substeps, error) != STATUS_OK) {
        return error->status;
    }
    return def->opinion.is_asked ? group_opinion_check(&def->opinion, error) : STATUS_OK;
}

// ---- making

static Status compile(Group *group, const GroupDef *def, Error *error) {
    LayoutDef reads[] = {def->observation, def->extra, def->bounds};
    reads[2].is_rule = true;
    Layout *const made[] = {&group->observation, &group->extra, &group->bounds};
    Status status =
        layout_compile(&def->action, group->template, &group->memory, &group->action, error);
    for (size_t i = 0; status == STATUS_OK && i < 3; i++) {
        reads[i].action_count = group->action.column_count;
        status = layout_compile(&reads[i], group->template, &group->memory, made[i], error);
    }
    status = STATUS_THEN(
        status, layout_compile(&def->noise, group->template, &group->memory, &group->noise, error));
    if (status != STATUS_OK) {
        return status;
    }
    group->drawn = arena_take_array(&group->memory, def->noise.count, sizeof(NoiseDef));
    if (group->drawn == NULL) {
        return out_of_memory(error);
    }
    if (def->noise.count > 0) {
        memcpy(group->drawn, def->drawn, def->noise.count * sizeof(NoiseDef));
    }
    return STATUS_OK;
}

static Status find_pushed(const World *template, const PushDef *push, size_t index, uint32_t *body,
                          Error *error) {
    char path[64];
    const bool found = push->body != NULL ? layout_body_named(template, push->body, body)
                                          : world_find_body(template, push->body_id, body);
    if (found && template->kind[*body] == BODY_DYNAMIC) {
        return STATUS_OK;
    }
    snprintf(path, sizeof(path), "pushes[%zu].%s", index, push->body_id != 0 ? "body_id" : "body");
    return error_set(error, STATUS_INVALID_ARGUMENT, path, "%s",
                     found ? "Only a dynamic body can be pushed."
                           : "The template has no such body.");
}

static Status compile_pushes(Group *group, const GroupDef *def, Error *error) {
    const size_t count = def->push_count;
    group->push = arena_take_array(&group->memory, count, sizeof(*group->push));
    group->push_body = arena_take_array(&group->memory, count, sizeof(*group->push_body));
    if (group->push == NULL || group->push_body == NULL) {
        return out_of_memory(error);
    }
    Status status = check_pushes(def, group->substeps * group->time_step, error);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        group->push[i] = def->push[i];
        group->push[i].body = NULL;
        status = find_pushed(group->template, &def->push[i], i, &group->push_body[i], error);
    }
    group->push_count = count;
    return status;
}

// Room for so many bodies at most. false: memory ends.
static bool take_bodies(Group *group, size_t count, GroupBodies *list) {
    list->body = arena_take_array(&group->memory, count, sizeof(uint32_t));
    return list->body != NULL;
}

// Each once, rising.
static void add_body(GroupBodies *list, uint32_t body) {
    uint32_t at = 0;
    while (at < list->count && list->body[at] < body) {
        at++;
    }
    if (at == list->count || list->body[at] != body) {
        memmove(list->body + at + 1, list->body + at, (list->count - at) * sizeof(uint32_t));
        list->body[at] = body;
        list->count++;
    }
}

// The bodies of the actions of two kinds.
static void add_bodies(const Group *group, ChannelKind one, ChannelKind other, GroupBodies *list) {
    for (uint32_t i = 0; i < group->action.channel_count; i++) {
        const Channel *channel = &group->action.channel[i];
        if (channel->kind == one || channel->kind == other) {
            add_body(list, channel->body);
        }
    }
}

static bool list_acted_on(Group *group) {
    const size_t channels = group->action.channel_count;
    if (!take_bodies(group, channels + group->push_count, &group->pushed) ||
        !take_bodies(group, channels, &group->mover)) {
        return false;
    }
    add_bodies(group, CHANNEL_BODY_FORCE, CHANNEL_BODY_TORQUE, &group->pushed);
    add_bodies(group, CHANNEL_BODY_VELOCITY, CHANNEL_BODY_SPIN, &group->mover);
    for (size_t i = 0; i < group->push_count; i++) {
        add_body(&group->pushed, group->push_body[i]);
    }
    return true;
}

// Room for the worlds, none of them made.
static bool take_worlds(Group *group, uint64_t seed) {
    const size_t columns = group->action.column_count;
    group->felt_count =
        (size_t)group->observation.felt_count + group->extra.felt_count + group->bounds.felt_count;
    group->world = arena_take_zeroed(&group->memory, group->count, sizeof(GroupWorld));
    double *actions = arena_take_zeroed(&group->memory, group->count * columns, sizeof(double));
    double *felt =
        arena_take_zeroed(&group->memory, group->count * group->felt_count, sizeof(double));
    const size_t sensors = group->observation.sensor_count + group->extra.sensor_count;
    double *sensor = arena_take_zeroed(&group->memory, group->count * sensors, sizeof(double));
    group->sensor_count = sensors;
    if (group->world == NULL || actions == NULL || felt == NULL || sensor == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < group->count; i++) {
        group->world[i].seed = seed;
        group->world[i].action = actions + i * columns;
        group->world[i].felt = felt + i * group->felt_count;
        group->world[i].sensor = sensor + i * sensors;
    }
    return true;
}

static Status keep_template(Group *group, Error *error) {
    Status status = snapshot_write_named(group->template, &group->memory, &group->snapshot,
                                         &group->snapshot_bytes, error);
    group->template_hash = snapshot_hash(group->template);
    if (status == STATUS_OK && group->template->faulted) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "world",
                         "The world is faulted since step %llu: set bodies (WorldSet) first.",
                         (unsigned long long)group->template->step + 1);
    }
    return status;
}

Status group_create(const GroupDef *def, World *template, Group **group, Error *error) {
    ASSERT(def->substeps >= 1 && def->substeps <= GROUP_SUBSTEPS_MAX);
    ASSERT(template != NULL);
    ASSERT(def->count >= 1 && def->count <= GROUP_WORLDS_MAX);
    Group *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        world_destroy(template);
        return out_of_memory(error);
    }
    arena_init(&made->memory, template->limits.bytes_max);
    made->template = template;
    made->count = def->count;
    made->first_world = def->first_world;
    made->substeps = def->substeps;
    made->time_step = def->time_step != 0.0 ? def->time_step : template->settings.time_step;
    made->step_limit = def->step_limit;
    made->autoreset = def->autoreset;
    made->is_double = def->is_double;
    made->opinion = def->opinion;
    made->opinion_memory.max_bytes = template->limits.bytes_max / OPINION_MEMORY_SHARE;
    Status status = compile(made, def, error);
    status = STATUS_THEN(status, group_compile_parameters(made, def, error));
    status = STATUS_THEN(status, compile_pushes(made, def, error));
    if (status == STATUS_OK) {
        group_rouse_template(made);
        status = keep_template(made, error);
    }
    status = STATUS_THEN_IF(status, !list_acted_on(made) || !take_worlds(made, def->seed),
                            out_of_memory(error));
    if (status != STATUS_OK) {
        group_destroy(made);
        return status;
    }
    *group = made;
    return STATUS_OK;
}

void group_destroy(Group *group) {
    if (group == NULL) {
        return;
    }
    for (uint32_t i = 0; group->world != NULL && i < group->count; i++) {
        world_destroy(group->world[i].world);
        stepper_destroy(group->world[i].stepper);
    }
    world_destroy(group->template);
    arena_deinit(&group->memory);
    free(group);
}

Status group_add_world(Group *group, uint32_t i, Error *error) {
    ASSERT(group->snapshot_bytes > 0);
    GroupWorld *made = &group->world[i];
    ASSERT(i < group->count && made->world == NULL);
    const WorldLimits *limits = &group->template->limits;
    Status status =
        snapshot_read(group->snapshot, group->snapshot_bytes, limits, &made->world, error);
    if (status != STATUS_OK) {
        return status;
    }
    made->begun = made->world->time.value;
    made->stepper = stepper_create(limits->bytes_max);
    if (made->stepper == NULL) {
        return out_of_memory(error);
    }
    if (group_feels_motion(group)) {
        stepper_keep_motion(made->stepper);
    }
    status = group_set_parameters(group, i, false, error);
    return STATUS_THEN(status, group_set_parameters(group, i, true, error));
}

size_t group_bytes(const Group *group, uint32_t first, uint32_t count) {
    ASSERT(first <= group->count);
    ASSERT(count <= group->count - first);
    size_t bytes = 0;
    for (uint32_t i = first; i < first + count; i++) {
        const GroupWorld *world = &group->world[i];
        bytes += world->world == NULL ? 0 : world_bytes(world->world);
        bytes += world->stepper == NULL ? 0 : stepper_bytes(world->stepper);
    }
    return bytes;
}

size_t group_own_bytes(const Group *group) {
    return sizeof(*group) + group->memory.total_bytes + world_bytes(group->template);
}

// ---- calls

static size_t number_bytes(const Group *group) {
    return group->is_double ? sizeof(double) : sizeof(float);
}

bool group_call_take(GroupCall *call, Arena *arena) {
    ASSERT(call->count <= call->group->count);
    const Group *group = call->group;
    const size_t observation = group->observation.column_count * number_bytes(group);
    const size_t extra = group->extra.column_count * number_bytes(group);
    call->row = arena_take_zeroed(arena, call->count, sizeof(GroupRow));
    call->observation = arena_take_array(arena, call->count, observation);
    call->extra = arena_take_array(arena, call->count, extra);
    // seldom written, so seldom more than a promise of memory
    call->final_observation = arena_take_array(arena, call->count, observation);
    call->final_extra = arena_take_array(arena, call->count, extra);
    call->error = arena_take_array(arena, call->count, sizeof(Error));
    return call->row != NULL && call->observation != NULL && call->extra != NULL &&
           call->final_observation != NULL && call->final_extra != NULL && call->error != NULL;
}

Status group_call_check(const GroupCall *call, Error *error) {
    ASSERT(call->count <= call->group->count);
    if (call->seed_count > 1 && call->seed_count != call->count) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "seed",
                         "Give no seed, one for all, or one for each of the %zu worlds, not %zu.",
                         call->count, call->seed_count);
    }
    const size_t values = call->values == NULL ? 0 : call->count * call->group->noise.column_count;
    for (size_t i = 0; i < values; i++) {
        if (!isfinite(call->values[i])) {
            char field[64];
            snprintf(field, sizeof(field), "values[%zu]", i);
            return error_set(error, STATUS_INVALID_ARGUMENT, field,
                             "Every number must be finite: NaN and infinity are refused.");
        }
    }
    return STATUS_OK;
}
