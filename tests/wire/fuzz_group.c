// SPDX-License-Identifier: MIT
// Any bytes as a GroupCreate and what follows it: refused with a sentence, or a group of a few
// worlds that are reset and stepped with whatever numbers come, and whose reply is one that
// protobuf-c reads, with finite numbers alone, and would write itself.
//
//   input = length of the message (u16), the message, actions of floats or doubles
#include "wire/codec.h"
#include "wire/group_codec.h"
#include "wire/group_def.h"
#include "wire/scene/scene.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static const size_t arena_bytes = (size_t)1 << 26;
enum { WORLDS_MAX = 3, CALL_STEPS_MAX = 3, STEPS = 3, BODIES_MAX = 50, COLUMNS_MAX = 500 };

typedef struct Rest {
    const uint8_t *bytes;
    size_t count;
} Rest;

// NULL: the scene makes no world.
static World *make_template(const Moreau__V1__Scene *scene, Arena *arena) {
    const WorldLimits limits = {.body_count_max = BODIES_MAX, .bytes_max = arena_bytes};
    ScenePlan plan;
    World *world;
    Stepper *stepper;
    Error error;
    if (scene_plan(scene, NULL, arena, &plan, &error) != STATUS_OK ||
        apply_create(&limits, &world, &stepper, &error) != STATUS_OK) {
        return NULL;
    }
    Status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < plan.input_count; i++) {
        status = apply_change(world, stepper, &plan.input[i], arena, NULL, NULL, &error);
    }
    stepper_destroy(stepper);
    // a sweep limit of millions is legal, and too long for a fuzzer
    WorldSettings settings = world->settings;
    const SolverSettings solver = solver_default(SOLVER_MDP);
    step_set_solver(&settings, &solver);
    world_set_settings(world, &settings);
    if (status != STATUS_OK) {
        world_destroy(world);
        return NULL;
    }
    return world;
}

static const double *take_action(Rest *rest, size_t count, Arena *arena) {
    double *action = arena_take_zeroed(arena, count, sizeof(*action));
    ASSERT(action != NULL);
    const size_t bytes = count * sizeof(*action);
    const size_t given = rest->count < bytes ? rest->count : bytes;
    if (given > 0) {
        memcpy(action, rest->bytes, given);
    }
    rest->bytes += given;
    rest->count -= given;
    return action;
}

static void check_reply(const GroupCall *call, Arena *arena) {
    const GroupRows rows = {.call = call, .count = call->count, .names_worlds = true};
    const size_t most = group_codec_bytes_max(&rows);
    uint8_t *packed = malloc(most + 1), *again = malloc(most + 1);
    ASSERT(packed != NULL && again != NULL);
    const size_t count = (size_t)(group_codec_pack(&rows, packed) - packed);
    ASSERT(count <= most);
    bool exhausted;
    const ProtobufCMessage *reply =
        codec_unpack(&moreau__v1__group_step_reply__descriptor, arena, packed, count, &exhausted);
    Error error;
    ASSERT(reply != NULL && codec_check(reply, &error) == STATUS_OK);
    ASSERT(protobuf_c_message_get_packed_size(reply) == count);
    protobuf_c_message_pack(reply, again);
    ASSERT(memcmp(packed, again, count) == 0);
    free(packed);
    free(again);
}

static void play(Group *group, Rest rest, Arena *arena, Arena *scratch) {
    for (int step = 0; step <= STEPS; step++) {
        const ArenaMark mark = arena_mark(arena);
        GroupCall call = {
            .group = group, .verb = step == 0 ? GROUP_RESET : GROUP_STEP, .count = group->count};
        if (step > 0) {
            call.action_double =
                take_action(&rest, group->count * (size_t)group->action.column_count, arena);
        }
        ASSERT(group_call_take(&call, arena));
        for (size_t row = 0; row < call.count; row++) {
            ASSERT(group_run_row(&call, row, scratch, NULL));
        }
        check_reply(&call, arena);
        arena_reset_to(arena, mark);
    }
}

static void make_group(const Moreau__V1__GroupCreate *message, Rest rest, Arena *arena) {
    GroupDef def;
    Error error;
    if (message->scene == NULL || group_def_read(message, arena, &def, &error) != STATUS_OK ||
        group_def_check(&def, &error) != STATUS_OK) {
        return;
    }
    const bool is_long = def.count > WORLDS_MAX || def.substeps > CALL_STEPS_MAX ||
                         def.observation.count + def.extra.count > COLUMNS_MAX;
    World *template = is_long ? NULL : make_template(message->scene, arena);
    Group *group;
    if (template == NULL || group_create(&def, template, &group, &error) != STATUS_OK) {
        return;
    }
    Arena scratch;
    arena_init(&scratch, arena_bytes);
    Status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < group->count; i++) {
        status = group_add_world(group, i, &error);
    }
    if (status == STATUS_OK) {
        play(group, rest, arena, &scratch);
    }
    arena_deinit(&scratch);
    group_destroy(group);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    if (count < 2) {
        return 0;
    }
    size_t length = bytes[0] | (size_t)bytes[1] << 8;
    length = length < count - 2 ? length : count - 2;
    Arena arena;
    Error error;
    arena_init(&arena, arena_bytes);
    bool exhausted;
    const ProtobufCMessage *message =
        codec_unpack(&moreau__v1__group_create__descriptor, &arena, bytes + 2, length, &exhausted);
    if (message != NULL && codec_check(message, &error) == STATUS_OK) {
        make_group((const Moreau__V1__GroupCreate *)(const void *)message,
                   (Rest){bytes + 2 + length, count - 2 - length}, &arena);
    }
    arena_deinit(&arena);
    return 0;
}
