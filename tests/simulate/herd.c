// SPDX-License-Identifier: MIT
#include "simulate/herd.h"

#include "simulate/link.h"
#include "step/snapshot.h"
#include "wire/group_def.h"

#include <string.h>

enum { MEMORY_BYTES = 1 << 28 };

// ---- the message

static void set_channel(Moreau__V1__GroupChannel *channel, Moreau__V1__GroupChannel__Kind kind) {
    moreau__v1__group_channel__init(channel);
    channel->has_kind = 1;
    channel->kind = kind;
    channel->body = (char *)"#2";
}

static void draw_record(HerdMaking *making, Dice *dice) {
    moreau__v1__group_record__init(&making->record);
    making->record.has_keyframe_steps = 1;
    making->record.keyframe_steps = dice_magnitude(dice, 6);
    making->create.record = &making->record;
}

// The second body is pushed and seen, and thrown a little as an episode begins.
void herd_draw(HerdMaking *making, Dice *dice, uint64_t template) {
    enum { FORCE, PLACE, SPEED, FELT, THROWN };
    Moreau__V1__GroupCreate *create = &making->create;
    moreau__v1__group_create__init(create);
    set_channel(&making->channel[FORCE], MOREAU__V1__GROUP_CHANNEL__KIND__BODY_FORCE);
    set_channel(&making->channel[PLACE], MOREAU__V1__GROUP_CHANNEL__KIND__BODY_POSITION);
    set_channel(&making->channel[SPEED], MOREAU__V1__GROUP_CHANNEL__KIND__BODY_VELOCITY);
    set_channel(&making->channel[FELT], MOREAU__V1__GROUP_CHANNEL__KIND__CONTACT_FORCE);
    set_channel(&making->channel[THROWN], MOREAU__V1__GROUP_CHANNEL__KIND__BODY_VELOCITY);
    making->channel[FELT].has_axes = 1;
    making->channel[FELT].axes = 7; // the force alone
    for (size_t i = 0; i < 5; i++) {
        making->list[i] = &making->channel[i];
    }
    moreau__v1__group_noise__init(&making->noise);
    making->noise.channel = &making->channel[THROWN];
    making->noise.has_low = making->noise.has_high = 1;
    making->noise.low = -0.5;
    making->noise.high = 0.5;
    making->noises[0] = &making->noise;
    create->has_world = create->has_count = create->has_seed = create->has_substeps = 1;
    create->has_step_limit = create->has_autoreset = 1;
    create->world = template;
    create->count = HERD_WORLDS;
    create->seed = dice_bits(dice);
    create->substeps = (uint32_t)dice_magnitude(dice, 3);
    create->step_limit = dice_chance(dice, 70) ? dice_magnitude(dice, 4) : 0;
    create->autoreset = (Moreau__V1__Group__Autoreset)dice_roll(dice, 3);
    create->n_action = create->n_noise = 1;
    create->action = &making->list[FORCE];
    create->n_observation = 3;
    create->observation = &making->list[PLACE];
    create->noise = making->noises;
    if (dice_chance(dice, 50)) {
        draw_record(making, dice);
    }
}

// ---- the reference

static World *copy_of(Model *template, Arena *scratch) {
    const WorldLimits limits = {.body_count_max = MODEL_LATER_BODIES_MAX,
                                .bytes_max = MEMORY_BYTES};
    uint8_t *bytes;
    size_t count;
    World *world = NULL;
    Error error = {0};
    Status status = snapshot_write(template->world, scratch, &bytes, &count, &error);
    if (status == STATUS_OK) {
        status = snapshot_read(bytes, count, &limits, &world, &error);
    }
    if (status != STATUS_OK) {
        fail("a world's own snapshot is refused: %s", error.message);
    }
    arena_reset(scratch);
    return world;
}

static Status make_reference(Herd *herd, const Moreau__V1__GroupCreate *create, Model *template) {
    GroupDef def;
    Error error = {0};
    Status status = group_def_read(create, &herd->memory, &def, &error);
    if (status == STATUS_OK) {
        status = group_def_check(&def, &error);
    }
    if (status == STATUS_OK) {
        status = group_create(&def, copy_of(template, &herd->scratch), &herd->reference, &error);
    }
    for (uint32_t i = 0; i < HERD_WORLDS && status == STATUS_OK; i++) {
        status = group_add_world(herd->reference, i, &error);
    }
    return status;
}

bool herd_init(Herd *herd, const Moreau__V1__GroupCreate *create, Model *template) {
    *herd = (Herd){0};
    arena_init(&herd->memory, MEMORY_BYTES);
    arena_init(&herd->scratch, MEMORY_BYTES);
    herd->is_there = true;
    if (make_reference(herd, create, template) != STATUS_OK) {
        herd_deinit(herd);
        return false;
    }
    return true;
}

void herd_deinit(Herd *herd) {
    if (herd->is_there) {
        group_destroy(herd->reference);
        arena_deinit(&herd->memory);
        arena_deinit(&herd->scratch);
        *herd = (Herd){0};
    }
}

// ---- orders

HerdOrder herd_draw_order(Dice *dice, GroupVerb verb) {
    const uint8_t all = (1u << HERD_WORLDS) - 1;
    return (HerdOrder){.verb = verb,
                       .worlds = dice_chance(dice, 50) ? all : (uint8_t)(1 + dice_roll(dice, all)),
                       .number = dice_bits(dice)};
}

static size_t list_worlds(HerdOrder order, uint32_t *world) {
    size_t count = 0;
    for (uint32_t i = 0; i < HERD_WORLDS; i++) {
        if ((order.worlds & (1u << i)) != 0) {
            world[count++] = i;
        }
    }
    return count;
}

size_t herd_count(HerdOrder order) {
    uint32_t world[HERD_WORLDS];
    return list_worlds(order, world);
}

// Up to 10 N, in steps that a float holds exactly.
void herd_actions(HerdOrder order, float *action) {
    Dice dice = {order.number};
    const size_t count = HERD_ACTS * herd_count(order);
    for (size_t i = 0; i < count; i++) {
        action[i] = ((float)dice_roll(&dice, 161) - 80.0f) / 8.0f;
    }
}

void herd_apply(Herd *herd, HerdOrder order) {
    static float action[HERD_ACTS * HERD_WORLDS]; // outlives the call, which borrows it
    static uint32_t world[HERD_WORLDS];
    Error error = {0};
    arena_reset(&herd->memory);
    herd->call = (GroupCall){.group = herd->reference,
                             .verb = order.verb,
                             .count = list_worlds(order, world),
                             .world = world};
    if (order.verb == GROUP_STEP) {
        herd_actions(order, action);
        herd->call.action = action;
    }
    if (group_call_check(&herd->call, &error) != STATUS_OK ||
        !group_call_take(&herd->call, &herd->memory)) {
        fail("the reference of a group is refused: %s", error.message);
    }
    for (size_t row = 0; row < herd->call.count; row++) {
        if (!group_run_row(&herd->call, row, &herd->scratch, NULL)) {
            fail("the reference of a group stops in the middle");
        }
    }
}

// ---- judging

static bool has_bit(ProtobufCBinaryData bits, size_t row) {
    return row / 8 < bits.len && (bits.data[row / 8] & (1u << row % 8)) != 0;
}

// What a row ended with, where it says so.
static void check_ends(const GroupCall *call, const Moreau__V1__GroupStepReply *reply) {
    size_t failures = 0;
    for (size_t row = 0; row < call->count; row++) {
        const GroupRow *is = &call->row[row];
        const bool terminated = (is->ended & GROUP_TERMINATED) != 0,
                   truncated = (is->ended & GROUP_TRUNCATED) != 0;
        failures += is->has_failed;
        if (has_bit(reply->terminated, row) != terminated ||
            has_bit(reply->truncated, row) != truncated) {
            fail("row %zu of a group ends otherwise than the reference's", row);
        }
    }
    if (reply->n_failures != failures) {
        fail("%zu worlds of a group have failed, and %zu of the reference", reply->n_failures,
             failures);
    }
}

void herd_check(const Herd *herd, const Moreau__V1__GroupStepReply *reply) {
    const GroupCall *call = &herd->call;
    if (reply == NULL || reply->n_observation != call->count * HERD_SEES) {
        fail("a group is answered with %zu numbers of %zu worlds",
             reply == NULL ? 0 : reply->n_observation, call->count);
    }
    if (memcmp(reply->observation, call->observation,
               reply->n_observation * sizeof(*reply->observation)) != 0) {
        fail("what a group sees is not what the reference sees");
    }
    check_ends(call, reply);
}

void herd_send(Herd *herd) {
    const float *seen = herd->call.observation;
    for (size_t row = 0; row < herd->call.count; row++) {
        memcpy(herd->sent + HERD_SEES * (size_t)herd->call.world[row], seen + HERD_SEES * row,
               HERD_SEES * sizeof(*seen));
    }
}

void herd_check_received(const Herd *herd, size_t count, const Moreau__V1__GroupStepReply *reply) {
    if (reply == NULL || reply->n_worlds != count || reply->n_observation != count * HERD_SEES) {
        fail("%zu of %zu worlds of a group are received", reply == NULL ? 0 : reply->n_worlds,
             count);
    }
    for (size_t row = 0; row < count; row++) {
        const uint32_t world = reply->worlds[row];
        if (world >= HERD_WORLDS ||
            memcmp(reply->observation + HERD_SEES * row, herd->sent + HERD_SEES * (size_t)world,
                   HERD_SEES * sizeof(*herd->sent)) != 0) {
            fail("world %u of a group is received otherwise than the reference has it", world);
        }
    }
}
