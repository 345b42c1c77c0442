// SPDX-License-Identifier: MIT
#include "run/groups/walk.h"

#include "base/assert.h"
#include "step/snapshot/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// ---- the group

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while opening an episode of a group.");
}

static Status make_group(GroupWalk *walk, const GroupCode *code, const WorldLimits *limits,
                         Error *error) {
    World *template;
    Status status = group_def_check(&code->def, error);
    status = STATUS_THEN(
        status, snapshot_read(code->snapshot, code->snapshot_bytes, limits, &template, error));
    status = STATUS_THEN(status, group_create(&code->def, template, &walk->group, error));
    status = STATUS_THEN(status, group_add_world(walk->group, 0, error));
    if (status != STATUS_OK) {
        group_walk_end(walk);
        return status;
    }
    walk->hash_steps = code->hash_steps;
    // what comes behind the end is another episode
    walk->group->autoreset = AUTORESET_DISABLED;
    walk->group->opinion.share = 0.0; // its opinions were given
    return STATUS_OK;
}

// What a call of one row needs.
static Status take_call(GroupWalk *walk, Arena *memory, Error *error) {
    const Group *group = walk->group;
    ASSERT(group != NULL);
    const uint32_t action = group->action.column_count, noise = group->noise.column_count;
    walk->call = (GroupCall){.group = walk->group, .count = 1};
    walk->numbers = arena_take_array(memory, action > noise ? action : noise, sizeof(double));
    return walk->numbers != NULL && group_call_take(&walk->call, memory) ? STATUS_OK
                                                                         : out_of_memory(error);
}

Status group_walk_make(GroupWalk *walk, const GroupCode *code, uint32_t world_in_range,
                       const WorldLimits *limits, Arena *memory, Error *error) {
    ASSERT(world_in_range < GROUP_RANGE_MAX);
    *walk = (GroupWalk){.world = world_in_range};
    Status status = make_group(walk, code, limits, error);
    return STATUS_THEN(status, take_call(walk, memory, error));
}

void group_walk_end(GroupWalk *walk) {
    group_destroy(walk->group);
    walk->group = NULL;
}

// ---- calls

Status group_walk_take(GroupWalk *walk, const Entry *entry, uint64_t calls, Error *error) {
    ASSERT(!walk->is_in_row);
    walk->entry = *entry;
    const InputBytes encoded = {.bytes = entry->input, .count = entry->input_bytes};
    Status status = group_input_decode(encoded, &walk->input, error);
    if (status == STATUS_OK &&
        (entry->step != calls || entry->hash_count != group_input_hash_count(&walk->input))) {
        status = error_set(error, STATUS_DATA_LOSS, "",
                           "it has a call out of its order, or without its hashes");
    }
    return status;
}

static uint64_t bit_of(const GroupWalk *walk) {
    return (uint64_t)1 << walk->world;
}

bool group_walk_is_named(const GroupWalk *walk) {
    return (walk->input.named & bit_of(walk)) != 0;
}

// ---- what goes wrong

static void differ_by_nonsense(GroupDifference *difference, const char *what) {
    difference->is_found = difference->is_nonsense = true;
    snprintf(difference->message, sizeof(difference->message), "%s", what);
}

static void differ_by(const GroupWalk *walk, GroupDifference *difference, const char *what) {
    difference->is_found = true;
    snprintf(difference->message, sizeof(difference->message), "Step %" PRIu64 ": %.340s.",
             group_walk_steps(walk), what);
}

static void compare_hash(GroupWalk *walk, uint64_t expected, uint64_t found,
                         GroupDifference *difference) {
    if (found == expected) {
        walk->compared = group_walk_world(walk)->length;
        return;
    }
    difference->expected_hash = expected;
    difference->found_hash = found;
    const uint64_t step = group_walk_steps(walk), length = group_walk_world(walk)->length,
                   hashed = length == 0 ? 0 : (length - 1) / walk->hash_steps * walk->hash_steps,
                   before = hashed < walk->before ? 0 : hashed - walk->before;
    snprintf(difference->message, sizeof(difference->message),
             "Step %" PRIu64 ": the state has the hash 0x%016" PRIx64
             ", the recording says 0x%016" PRIx64 ". It was the same at step %" PRIu64 ".",
             step, found, expected, before);
    difference->is_found = true;
}

// The row's numbers, aligned.
static void take_numbers(GroupWalk *walk) {
    const GroupInput *input = &walk->input;
    const size_t bytes = input->columns * (input->is_double ? sizeof(double) : sizeof(float));
    if (bytes > 0) {
        memcpy(walk->numbers, input->numbers + group_input_row(input, walk->world) * bytes, bytes);
    }
}

static void prepare(GroupWalk *walk, GroupVerb verb) {
    GroupCall *call = &walk->call;
    call->verb = verb;
    call->cut = NULL;
    call->hash_steps = walk->hash_steps;
    call->action = NULL;
    call->action_double = call->values = NULL;
    call->row[0] = (GroupRow){0};
}

// ---- how it begins

void group_walk_begin(GroupWalk *walk, uint64_t seed, uint64_t turn, Arena *scratch,
                      GroupDifference *difference) {
    ASSERT(walk->group != NULL);
    const GroupInput *input = &walk->input;
    const bool is_reset = input->kind == INPUT_GROUP_RESET;
    const size_t row = group_input_row(input, walk->world);
    GroupWorld *world = group_walk_world(walk);
    if (!group_walk_is_named(walk) || (input->hashed & bit_of(walk)) == 0 ||
        (is_reset && input->columns != 0 && input->columns != walk->group->noise.column_count)) {
        differ_by_nonsense(difference, "no episode begins where this one should");
        return;
    }
    Source seeds = {.bytes = input->seeds, .count = (row + 1) * 8, .used = row * 8};
    if (is_reset && input->seeds != NULL && (source_u64(&seeds) != seed || turn != 0)) {
        differ_by(walk, difference, "it was begun with another seed");
        return;
    }
    walk->is_in_row = false;
    world->length = 0;
    world->seed = seed;
    world->episode = turn;
    world->is_running = false;
    prepare(walk, GROUP_RESET);
    if (is_reset && input->columns > 0) {
        take_numbers(walk);
        walk->call.values = walk->numbers;
    }
    group_run_row(&walk->call, 0, scratch, NULL);
    if (walk->call.row[0].has_failed) {
        differ_by(walk, difference, walk->call.error[0].message);
        return;
    }
    const bool has_ended = (input->ended & bit_of(walk)) != 0; // the one before it
    const size_t hash = group_input_hash(input, walk->world) + has_ended;
    compare_hash(walk, entry_hash(&walk->entry, (uint32_t)hash), walk->call.row[0].hash,
                 difference);
}

// ---- steps

static void compare_row(GroupWalk *walk, bool was_cut, GroupDifference *difference) {
    const GroupRow *became = &walk->call.row[0];
    const GroupInput *input = &walk->input;
    const bool has_ended = (input->ended & bit_of(walk)) != 0;
    const uint32_t hash = (uint32_t)group_input_hash(input, walk->world);
    World *world = group_walk_world(walk)->world;
    if (!was_cut && (became->ended != 0) != has_ended) {
        differ_by(walk, difference,
                  has_ended ? "its episode ended there when it was recorded, and now it goes on"
                            : "its episode ends there, and did not when it was recorded");
    } else if (has_ended || (input->hashed & bit_of(walk)) != 0) {
        // behind an end the first is its own, and another one of the next episode
        compare_hash(walk, entry_hash(&walk->entry, hash), snapshot_hash(world), difference);
    }
}

// A step that was stopped behind some of its substeps is no step of the episode, which either went
// on as if there had been none, or was over. false: stopped inside it.
static bool run_row(GroupWalk *walk, const uint32_t *cut, Arena *scratch, const Context *context) {
    GroupWorld *world = group_walk_world(walk);
    const uint64_t episode = world->episode;
    walk->call.cut = cut;
    walk->is_in_row = !group_run_row(&walk->call, 0, scratch, context);
    walk->call.cut = NULL;
    if (!walk->is_in_row && cut != NULL) {
        world->episode = episode;
        world->is_running = true;
    }
    return !walk->is_in_row;
}

bool group_walk_step(GroupWalk *walk, Arena *scratch, const Context *context,
                     GroupDifference *difference) {
    ASSERT(walk->group != NULL);
    const GroupInput *input = &walk->input;
    uint32_t substeps = 0;
    const bool was_cut = group_input_is_cut(input, walk->world, &substeps);
    if (input->kind != INPUT_GROUP_STEP || input->columns != walk->group->action.column_count) {
        differ_by_nonsense(difference, "it has another call where the episode has a step");
        return true;
    }
    if (!walk->is_in_row) {
        prepare(walk, GROUP_STEP);
        take_numbers(walk);
        walk->call.action = input->is_double ? NULL : walk->numbers;
        walk->call.action_double = input->is_double ? walk->numbers : NULL;
    }
    walk->call.is_paced = walk->is_paced;
    if (!run_row(walk, was_cut ? &substeps : NULL, scratch, context)) {
        return false;
    }
    walk->unconverged += walk->call.row[0].unconverged;
    walk->doubtful += walk->call.row[0].is_doubtful;
    gain_add(&walk->gain, &walk->call.row[0].gain);
    compare_row(walk, was_cut, difference);
    return true;
}

bool group_walk_has_acted(const GroupWalk *walk) {
    const GroupRow *row = &walk->call.row[0];
    return row->is_begun && (!row->has_failed || row->has_faulted || row->was_cut);
}
