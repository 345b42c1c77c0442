// SPDX-License-Identifier: MIT
#include "simulate/herd.h"

#include "base/hash.h"
#include "simulate/herd_kept.h"
#include "simulate/link.h"
#include "simulate/schedule.h"
#include "simulate/watch.h"
#include "step/snapshot/snapshot.h"
#include "wire/group_def.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY_BYTES = 1 << 28 };

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

// As it comes out of the wire: without what it does not say.
static Moreau__V1__GroupCreate *received(const Moreau__V1__GroupCreate *create, Arena *arena) {
    const size_t count = moreau__v1__group_create__get_packed_size(create);
    uint8_t *bytes = arena_take_array(arena, count, 1);
    if (bytes == NULL) {
        fail("no memory for the reference");
    }
    moreau__v1__group_create__pack(create, bytes);
    return moreau__v1__group_create__unpack(NULL, count, bytes);
}

static Status make_of(Herd *herd, const Moreau__V1__GroupCreate *create, Model *template) {
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

static Status make_reference(Herd *herd, const Moreau__V1__GroupCreate *create, Model *template) {
    Moreau__V1__GroupCreate *message = received(create, &herd->memory);
    Status status = make_of(herd, message, template);
    moreau__v1__group_create__free_unpacked(message, NULL);
    return status;
}

// Of the episode that goes on, or was the last.
static uint64_t place_of(const GroupWorld *world) {
    const bool is_over = !world->is_running && world->episode > 0;
    return watch_place(world->is_running || is_over, world->episode - is_over, world->length,
                       is_over);
}

uint64_t herd_state(const Herd *herd, uint32_t i) {
    const GroupWorld *of = &herd->reference->world[i];
    const World *world = of->world;
    double pose[7 * MODEL_LATER_BODIES_MAX];
    for (uint32_t k = 0; k < world->body_count; k++) {
        world_body_pose(world, k, pose + 7 * (size_t)k);
    }
    return watch_state(place_of(of), model_motion(pose, world->velocity, world->body_count));
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
        free(herd->opinions.found);
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

size_t herd_list(HerdOrder order, uint32_t *world) {
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
    return herd_list(order, world);
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

// A call of the reference, not run yet.
static void take_call(Herd *herd, HerdOrder order, GroupVerb verb, uint8_t worlds) {
    static float action[HERD_ACTS * HERD_WORLDS]; // outlives the call, which borrows it
    static uint32_t world[HERD_WORLDS];
    Error error = {0};
    arena_reset(&herd->memory);
    herd->call = (GroupCall){.group = herd->reference,
                             .verb = verb,
                             .count = herd_list((HerdOrder){.worlds = worlds}, world),
                             .world = world};
    if (verb == GROUP_STEP) {
        pick_actions(order, worlds, action);
        herd->call.action = action;
    }
    if (group_call_check(&herd->call, &error) != STATUS_OK ||
        !group_call_take(&herd->call, &herd->memory)) {
        fail("the reference of a group is refused: %s", error.message);
    }
}

static void run_row(Herd *herd, size_t row) {
    if (!group_run_row(&herd->call, row, &herd->scratch, NULL)) {
        fail("the reference of a group stops in the middle");
    }
}

// Returns how many worlds have failed.
static size_t run(Herd *herd, HerdOrder order, uint8_t worlds, const HerdTold *told) {
    size_t failed = 0;
    take_call(herd, order, order.verb, worlds);
    for (size_t row = 0; row < herd->call.count; row++) {
        run_row(herd, row);
        failed += herd->call.row[row].has_failed;
        herd_compare(herd, told, row);
        herd_give_opinion(herd, herd->call.row[row].kept);
        note_state(herd, herd->call.world[row]);
    }
    return failed;
}

// A world that was stopped, and whose episode goes on, is what it was, or its first substep had
// begun: then its action is in force.
static void run_stopped(Herd *herd, HerdOrder order, uint32_t world, const HerdTold *told) {
    static const uint32_t none = 0;
    take_call(herd, order, GROUP_READ, (uint8_t)(1u << world));
    run_row(herd, 0);
    if (order.verb == GROUP_STEP && !herd_sees_same(herd, told, 0)) {
        take_call(herd, order, GROUP_STEP, (uint8_t)(1u << world));
        herd->call.cut = &none; // substeps are done
        run_row(herd, 0);
    }
    herd_compare(herd, told, 0);
    note_state(herd, world);
}

// Behind a call that was stopped in a part of its worlds nobody counts.
static void note_order(Herd *herd, HerdOrder order, const Moreau__V1__GroupStepReply *reply,
                       bool is_whole) {
    kept_note(herd, is_whole ? &(HistoryDeed){.verb = (uint8_t)order.verb,
                                              .worlds = order.worlds,
                                              .number = order.number,
                                              .told = herd_told(order, reply)}
                             : NULL);
    if (order.verb == GROUP_READ) {
        return;
    }
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
    const HerdTold told = herd_read(order, reply);
    if (order.verb != GROUP_READ) {
        herd_open_call(herd, reply);
    }
    herd->opinions.is_unclear = herd->opinions.is_unclear || told.stopped != 0;
    const uint8_t done = order.worlds & (uint8_t)~told.stopped;
    size_t failed = herd_count((HerdOrder){.worlds = told.stopped});
    for (uint32_t i = 0; i < HERD_WORLDS; i++) {
        if ((told.stopped & (1u << i)) != 0 && herd_has_bit(reply->truncated, told.row[i])) {
            return false; // its episode ended so
        }
    }
    failed += done == 0 ? 0 : run(herd, order, done, &told);
    for (uint32_t i = 0; i < HERD_WORLDS; i++) {
        if ((told.stopped & (1u << i)) != 0) {
            run_stopped(herd, order, i, &told);
        }
    }
    if (reply->n_failures != failed) {
        fail("%zu worlds of a group have failed, and %zu of the reference", reply->n_failures,
             failed);
    }
    note_order(herd, order, reply, told.stopped == 0);
    return true;
}
