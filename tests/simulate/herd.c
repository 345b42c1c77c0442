// SPDX-License-Identifier: MIT
#include "simulate/herd.h"

#include "base/hash.h"
#include "simulate/link.h"
#include "simulate/schedule.h"
#include "simulate/watch.h"
#include "step/snapshot/snapshot.h"
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
                                .bytes_max = MEMORY_BYTES,
                                .shelf = model_shelf()};
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

uint64_t herd_state(const Herd *herd, uint32_t i) {
    const Watch watch = {0};
    const WatchView view = group_view(herd->reference, i, &watch);
    const World *world = view.world;
    double pose[7 * MODEL_LATER_BODIES_MAX];
    for (uint32_t k = 0; k < world->body_count; k++) {
        world_body_pose(world, k, pose + 7 * (size_t)k);
    }
    return watch_state(
        watch_place(view.has_episode, view.episode, view.episode_step, view.is_over),
        model_motion(pose, world->velocity, world->body_count));
}

static void note_state(const Herd *herd, uint32_t i) {
    watch_note(herd->subject + i, herd_state(herd, i));
}

bool herd_init(Herd *herd, const Moreau__V1__GroupCreate *create, Model *template) {
    *herd = (Herd){0};
    arena_init(&herd->memory, MEMORY_BYTES);
    arena_init(&herd->scratch, MEMORY_BYTES);
    herd->is_there = true;
    static uint64_t subject; // as pointers, by which worlds go, never are
    subject += HERD_WORLDS;
    herd->subject = subject;
    if (make_reference(herd, create, template) != STATUS_OK) {
        herd_deinit(herd);
        return false;
    }
    for (uint32_t i = 0; i < HERD_WORLDS; i++) {
        note_state(herd, i);
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

// ---- following

// What a reply says of the worlds of an order.
typedef struct Told {
    const Moreau__V1__GroupStepReply *reply;
    size_t row[HERD_WORLDS]; // of each world
    uint8_t worlds;          // that have rows …
    uint8_t stopped;         // … and that the call was stopped before or in
} Told;

static bool has_bit(ProtobufCBinaryData bits, size_t row) {
    return row / 8 < bits.len && (bits.data[row / 8] & (1u << row % 8)) != 0;
}

static Told read_reply(HerdOrder order, const Moreau__V1__GroupStepReply *reply) {
    const size_t count = herd_count(order);
    uint32_t world[HERD_WORLDS];
    list_worlds(order, world);
    if (reply == NULL || reply->n_observation != count * HERD_SEES ||
        (reply->n_worlds != 0 && reply->n_worlds != count)) {
        fail("a group is answered with %zu numbers of %zu worlds",
             reply == NULL ? 0 : reply->n_observation, count);
    }
    Told told = {.reply = reply};
    for (size_t row = 0; row < count; row++) {
        const uint32_t i = reply->n_worlds == 0 ? world[row] : reply->worlds[row];
        if (i >= HERD_WORLDS || (order.worlds & ~told.worlds & (1u << i)) == 0) {
            fail("world %u of a group is answered, and was not asked for, or twice", i);
        }
        told.worlds |= (uint8_t)(1u << i);
        told.row[i] = row;
    }
    for (size_t i = 0; i < reply->n_failures; i++) {
        const Moreau__V1__Status *failure = reply->failures[i];
        if (failure->code == MOREAU__V1__STATUS__CODE__CANCELLED ||
            failure->code == MOREAU__V1__STATUS__CODE__DEADLINE_EXCEEDED) {
            told.stopped |= (uint8_t)(1u << failure->world);
        }
    }
    return told;
}

// The actions of these worlds, among those of the order.
static void pick_actions(HerdOrder order, uint8_t worlds, float *picked) {
    float action[HERD_ACTS * HERD_WORLDS];
    herd_actions(order, action);
    const float *from = action;
    for (uint32_t i = 0; i < HERD_WORLDS; i++) {
        if ((worlds & order.worlds & (1u << i)) != 0) {
            memcpy(picked, from, HERD_ACTS * sizeof(*from));
            picked += HERD_ACTS;
        }
        from += (order.worlds & (1u << i)) != 0 ? HERD_ACTS : 0;
    }
}

static void compare(const GroupCall *call, const Told *told, size_t row) {
    const uint32_t i = call->world[row];
    const size_t at = told->row[i];
    const uint8_t ended = call->row[row].ended;
    const void *is = (const float *)call->observation + HERD_SEES * row;
    const void *seen = told->reply->observation + HERD_SEES * at;
    if (memcmp(seen, is, HERD_SEES * sizeof(float)) != 0) {
        fail("what is seen of world %u of a group is not what the reference sees", i);
    }
    if (has_bit(told->reply->terminated, at) != ((ended & GROUP_TERMINATED) != 0) ||
        has_bit(told->reply->truncated, at) != ((ended & GROUP_TRUNCATED) != 0)) {
        fail("world %u of a group ends otherwise than the reference's", i);
    }
}

// Returns how many worlds have failed.
static size_t run(Herd *herd, HerdOrder order, GroupVerb verb, uint8_t worlds, const Told *told) {
    static float action[HERD_ACTS * HERD_WORLDS]; // outlives the call, which borrows it
    static uint32_t world[HERD_WORLDS];
    Error error = {0};
    size_t failed = 0;
    arena_reset(&herd->memory);
    herd->call = (GroupCall){.group = herd->reference,
                             .verb = verb,
                             .count = list_worlds((HerdOrder){.worlds = worlds}, world),
                             .world = world};
    if (verb == GROUP_STEP) {
        pick_actions(order, worlds, action);
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
        failed += herd->call.row[row].has_failed;
        compare(&herd->call, told, row);
        note_state(herd, world[row]);
    }
    return failed;
}

uint64_t herd_rows(HerdOrder order, const Moreau__V1__GroupStepReply *reply) {
    const Told told = read_reply(order, reply);
    uint64_t hash = reply->n_failures;
    for (uint32_t i = 0; i < HERD_WORLDS; i++) {
        if ((told.worlds & (1u << i)) != 0) {
            const size_t row = told.row[i];
            const uint64_t ended = (uint64_t)has_bit(reply->terminated, row) << 1 |
                                   (uint64_t)has_bit(reply->truncated, row);
            hash = hash_bytes(reply->observation + HERD_SEES * row, HERD_SEES * sizeof(float),
                              hash * 4 + ended);
        }
    }
    return hash;
}

// Behind a call that was stopped in a part of its worlds nobody counts.
static void note_order(Herd *herd, HerdOrder order, const Moreau__V1__GroupStepReply *reply,
                       bool is_whole) {
    HistoryHerd *record = herd->record;
    if (record == NULL || !is_whole || record->order_count == HISTORY_ORDERS_MAX) {
        herd->record = NULL;
        return;
    }
    record->order[record->order_count++] = (HistoryOrder){.is_reset = order.verb == GROUP_RESET,
                                                          .worlds = order.worlds,
                                                          .number = order.number,
                                                          .rows = herd_rows(order, reply),
                                                          .acked_ns = schedule_now_ns()};
}

bool herd_follow(Herd *herd, HerdOrder order, const Moreau__V1__GroupStepReply *reply) {
    const Told told = read_reply(order, reply);
    const uint8_t done = order.worlds & (uint8_t)~told.stopped;
    size_t failed = herd_count((HerdOrder){.worlds = told.stopped});
    for (uint32_t i = 0; i < HERD_WORLDS; i++) {
        if ((told.stopped & (1u << i)) != 0 && has_bit(reply->truncated, told.row[i])) {
            return false; // its episode ended so
        }
    }
    failed += done == 0 ? 0 : run(herd, order, order.verb, done, &told);
    if (told.stopped != 0) {
        run(herd, order, GROUP_READ, told.stopped, &told);
    }
    if (reply->n_failures != failed) {
        fail("%zu worlds of a group have failed, and %zu of the reference", reply->n_failures,
             failed);
    }
    note_order(herd, order, reply, told.stopped == 0);
    return true;
}
