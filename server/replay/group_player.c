// SPDX-License-Identifier: MIT
#include "replay/group_player.h"

#include "base/assert.h"
#include "log/definition.h"
#include "os/clock.h"
#include "replay/player_parts.h"
#include "run/group_code.h"
#include "run/group_input.h"
#include "step/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct GroupPlayer {
    const EpisodeRow *episode; // borrowed
    WorldLimits limits;
    Arena memory; // of the definition, what is made of it, and the rows of a call
    Group *group; // of one world; NULL: not made yet
    uint32_t hash_steps;
    uint32_t world; // in its range
    void *numbers;  // of the row under way
    bool has_begun; // the episode has
    bool is_in_row; // a step was stopped in the middle
    bool is_stopped;
    uint64_t calls;            // on its range, that are behind
    uint64_t unconverged;      // steps taken by this player
    uint64_t unconverged_here; // since the episode began
    Error lost;                // why it cannot go on; status OK: it can
    Track inputs;
    Entry entry; // under way
    GroupInput input;
    GroupCall call;
};

static GroupWorld *world_of(const GroupPlayer *player) {
    return &player->group->world[0];
}

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while opening an episode of a group.");
}

// ---- life

GroupPlayer *group_player_open(const EpisodeRow *episode, const WorldLimits *limits) {
    GroupPlayer *made = calloc(1, sizeof(*made));
    if (made != NULL) {
        made->episode = episode;
        made->limits = *limits;
        made->world = (uint32_t)(episode->world_index % episode->world_range);
        made->inputs.kind = CHUNK_INPUTS;
        arena_init(&made->memory, limits->bytes_max);
        arena_init(&made->inputs.arena, limits->bytes_max);
    }
    return made;
}

void group_player_close(GroupPlayer *player) {
    if (player == NULL) {
        return;
    }
    group_destroy(player->group);
    arena_deinit(&player->inputs.arena);
    arena_deinit(&player->memory);
    free(player);
}

size_t group_player_bytes(const GroupPlayer *player) {
    size_t bytes = sizeof(*player) + player->memory.total_bytes + player->inputs.arena.total_bytes;
    if (player->group != NULL) {
        bytes += group_own_bytes(player->group) + group_bytes(player->group, 0, 1);
    }
    return bytes;
}

// ---- the group

static Status damaged_definition(const LogChunk *chunk, const char *what, Error *error) {
    return error_set(error, STATUS_DATA_LOSS, "", "Chunk %" PRId64 " (definition) is damaged: %s.",
                     chunk->id, what);
}

static Status make_group(GroupPlayer *player, const LogChunk *chunk, const GroupCode *code,
                         Error *error) {
    World *template;
    Error why = {0};
    Status status = group_def_check(&code->def, &why);
    if (status == STATUS_OK) {
        status =
            snapshot_read(code->snapshot, code->snapshot_bytes, &player->limits, &template, &why);
    }
    if (status == STATUS_OK) {
        status = group_create(&code->def, template, &player->group, &why);
    }
    if (status == STATUS_OK) {
        status = group_add_world(player->group, 0, &why);
    }
    if (status != STATUS_OK) {
        group_destroy(player->group);
        player->group = NULL;
        return status == STATUS_RESOURCE_EXHAUSTED
                   ? error_set(error, status, why.field, "%s", why.message)
                   : damaged_definition(chunk, why.message, error);
    }
    player->hash_steps = code->hash_steps;
    // what comes behind the end is another episode
    player->group->autoreset = AUTORESET_DISABLED;
    return STATUS_OK;
}

// What a call of one row needs.
static Status take_call(GroupPlayer *player, Error *error) {
    const Group *group = player->group;
    ASSERT(group != NULL);
    const uint32_t action = group->action.column_count, noise = group->noise.column_count;
    player->call = (GroupCall){.group = player->group, .count = 1};
    player->numbers =
        arena_take_array(&player->memory, action > noise ? action : noise, sizeof(double));
    return player->numbers != NULL && group_call_take(&player->call, &player->memory)
               ? STATUS_OK
               : out_of_memory(error);
}

static Status open_definition(GroupPlayer *player, LogReader *reader, Error *error) {
    LogChunk chunk = {0};
    RecordingDef def;
    GroupCode code;
    Error why = {0};
    arena_reset(&player->memory);
    Status status =
        log_reader_at(reader, player->episode, CHUNK_DEFINITION, 0, &player->memory, &chunk, &why);
    if (status == STATUS_NOT_FOUND) {
        return error_set(error, STATUS_DATA_LOSS, "",
                         "The recording has lost its definition: nobody knows what group it is "
                         "of.");
    }
    if (status != STATUS_OK) {
        *error = why;
        return status;
    }
    if (definition_read(&chunk.chunk, &player->memory, &def, &why) != STATUS_OK ||
        group_code_read(def.group, def.group_bytes, player->episode->world_index, &player->memory,
                        &code, &why) != STATUS_OK) {
        return damaged_definition(&chunk, why.message, error);
    }
    status = make_group(player, &chunk, &code, error);
    return status == STATUS_OK ? take_call(player, error) : status;
}

// ---- what goes wrong

static void differ(GroupPlayer *player, PlayerDifference *difference) {
    difference->found = true;
    difference->step = world_of(player)->length;
    difference->chunk = player->inputs.id;
    difference->chunk_kind = CHUNK_INPUTS;
    player->is_in_row = false;
    error_set(&player->lost, STATUS_DATA_LOSS, "",
              "The episode cannot be stepped on from step %" PRIu64 ": %s", difference->step,
              difference->message);
}

static void differ_by_damage(GroupPlayer *player, PlayerDifference *difference) {
    difference->is_damage = true;
    snprintf(difference->message, sizeof(difference->message), "%s", player->inputs.damage.message);
    differ(player, difference);
}

static void differ_by_nonsense(GroupPlayer *player, PlayerDifference *difference,
                               const char *what) {
    track_damage(&player->inputs, what);
    differ_by_damage(player, difference);
}

static void differ_by(GroupPlayer *player, PlayerDifference *difference, const char *what) {
    snprintf(difference->message, sizeof(difference->message), "Step %" PRIu64 ": %s.",
             world_of(player)->length, what);
    differ(player, difference);
}

static void compare_hash(GroupPlayer *player, uint64_t expected, uint64_t found,
                         PlayerDifference *difference) {
    if (found == expected) {
        return;
    }
    difference->expected_hash = expected;
    difference->found_hash = found;
    const uint64_t step = world_of(player)->length,
                   before = step == 0 ? 0 : (step - 1) / player->hash_steps * player->hash_steps;
    snprintf(difference->message, sizeof(difference->message),
             "Step %" PRIu64 ": the state has the hash 0x%016" PRIx64
             ", the recording says 0x%016" PRIx64 ". It was the same at step %" PRIu64 ".",
             step, found, expected, before);
    differ(player, difference);
}

// ---- entries

// The next chunk, which must go on where the one before it ended. false: *difference says why not,
// or *error.
static bool open_chunk(GroupPlayer *player, LogReader *reader, PlayerDifference *difference,
                       Error *error) {
    Track *inputs = &player->inputs;
    if (track_load(inputs, player->episode, reader, error) != STATUS_OK) {
        return false;
    }
    if (!inputs->is_loaded) {
        difference->is_damage = true;
        snprintf(difference->message, sizeof(difference->message),
                 "The calls on the episode's worlds end with number %" PRIu64 " of %" PRIu64 ".",
                 player->calls, player->episode->ended_call);
        differ(player, difference);
    } else if (inputs->damage.status != STATUS_OK) {
        differ_by_damage(player, difference);
    } else if (inputs->chunk.chunk.first_step != player->calls) {
        differ_by_nonsense(player, difference, "it does not begin where the one before it ended");
    }
    return !difference->found;
}

static bool is_exhausted(const Track *inputs) {
    return !inputs->is_loaded || inputs->at == inputs->chunk.chunk.body_bytes;
}

// The next call on the range. false: as above.
static bool next_entry(GroupPlayer *player, LogReader *reader, PlayerDifference *difference,
                       Error *error) {
    Track *inputs = &player->inputs;
    Error why = {0};
    if (is_exhausted(inputs) && !open_chunk(player, reader, difference, error)) {
        return false;
    }
    const Chunk *chunk = &inputs->chunk.chunk;
    Entry *entry = &player->entry;
    if (!entry_next(chunk->body, chunk->body_bytes, &inputs->at, entry, &why)) {
        differ_by_nonsense(player, difference,
                           why.status == STATUS_OK ? "it is empty" : why.message);
        return false;
    }
    const InputBytes encoded = {.bytes = entry->input, .count = entry->input_bytes};
    if (group_input_decode(encoded, &player->input, &why) != STATUS_OK) {
        differ_by_nonsense(player, difference, why.message);
        return false;
    }
    if (entry->step != player->calls ||
        entry->hash_count != group_input_hash_count(&player->input)) {
        differ_by_nonsense(player, difference,
                           "it has a call out of its order, or without its hashes");
        return false;
    }
    return true;
}

static uint64_t bit_of(const GroupPlayer *player) {
    return (uint64_t)1 << player->world;
}

static bool is_named(const GroupPlayer *player) {
    return (player->input.named & bit_of(player)) != 0;
}

// The row's numbers, aligned.
static void take_numbers(GroupPlayer *player) {
    const GroupInput *input = &player->input;
    const size_t bytes = input->columns * (input->is_double ? sizeof(double) : sizeof(float));
    if (bytes > 0) {
        memcpy(player->numbers, input->numbers + group_input_row(input, player->world) * bytes,
               bytes);
    }
}

static void prepare(GroupPlayer *player, GroupVerb verb) {
    GroupCall *call = &player->call;
    call->verb = verb;
    call->hash_steps = player->hash_steps;
    call->action = NULL;
    call->action_double = call->values = NULL;
    call->row[0] = (GroupRow){0};
}

// ---- how it begins

// The call that began the episode, which is the next one.
static void begin_row(GroupPlayer *player, Arena *scratch, PlayerDifference *difference) {
    const EpisodeRow *episode = player->episode;
    const GroupInput *input = &player->input;
    const bool is_reset = input->kind == INPUT_GROUP_RESET;
    const size_t row = group_input_row(input, player->world);
    GroupWorld *world = world_of(player);
    if (!is_named(player) || (input->hashed & bit_of(player)) == 0 ||
        (is_reset && input->columns != 0 && input->columns != player->group->noise.column_count)) {
        differ_by_nonsense(player, difference, "no episode begins where this one should");
        return;
    }
    Source seeds = {.bytes = input->seeds, .count = (row + 1) * 8, .used = row * 8};
    if (is_reset && input->seeds != NULL &&
        (source_u64(&seeds) != episode->seed || episode->turn != 0)) {
        differ_by(player, difference, "it was begun with another seed");
        return;
    }
    world->seed = episode->seed;
    world->episode = episode->turn;
    world->is_running = false;
    prepare(player, GROUP_RESET);
    if (is_reset && input->columns > 0) {
        take_numbers(player);
        player->call.values = player->numbers;
    }
    group_run_row(&player->call, 0, scratch, NULL);
    player->calls++;
    if (player->call.row[0].has_failed) {
        differ_by(player, difference, player->call.error[0].message);
        return;
    }
    const bool has_ended = (input->ended & bit_of(player)) != 0; // the one before it
    const size_t hash = group_input_hash(input, player->world) + has_ended;
    compare_hash(player, entry_hash(&player->entry, (uint32_t)hash), player->call.row[0].hash,
                 difference);
}

// The chunk with the call that began the episode is at hand.
static Status find_beginning(GroupPlayer *player, LogReader *reader, Error *error) {
    Track *inputs = &player->inputs;
    LogChunk chunk = {0};
    track_drop(inputs);
    Status status = log_reader_at(reader, player->episode, CHUNK_INPUTS,
                                  player->episode->begun_call - 1, &inputs->arena, &chunk, error);
    if (status == STATUS_NOT_FOUND) {
        return error_set(error, STATUS_DATA_LOSS, "",
                         "The recording has lost the calls that the episode began with.");
    }
    if (status == STATUS_OK) {
        inputs->is_loaded = true;
        inputs->id = chunk.id;
        inputs->chunk = chunk;
        track_place(inputs, chunk_place(&chunk.chunk));
        player->calls = chunk.chunk.first_step;
    }
    return status;
}

static Status begin(GroupPlayer *player, LogReader *reader, PlayerDifference *difference,
                    Error *error) {
    Status status = player->group == NULL ? open_definition(player, reader, error) : STATUS_OK;
    player->has_begun = player->is_in_row = false;
    player->lost = (Error){0};
    player->unconverged_here = 0;
    if (status == STATUS_OK && player->episode->begun_call == 0) {
        status = error_set(error, STATUS_DATA_LOSS, "", "The episode has no beginning.");
    }
    if (status == STATUS_OK) {
        world_of(player)->length = 0;
        status = find_beginning(player, reader, error);
    }
    error->status = status;
    bool is_there = status == STATUS_OK;
    while (is_there && (is_there = next_entry(player, reader, difference, error)) &&
           player->calls + 1 < player->episode->begun_call) {
        player->calls++;
    }
    if (is_there) {
        Arena scratch;
        arena_init(&scratch, player->limits.bytes_max);
        begin_row(player, &scratch, difference);
        arena_deinit(&scratch);
    }
    player->has_begun = error->status == STATUS_OK && !difference->found;
    return error->status;
}

Status group_player_seek(GroupPlayer *player, LogReader *reader, uint64_t step,
                         PlayerDifference *difference, Error *error) {
    if (player->has_begun && player->lost.status == STATUS_OK && !player->is_in_row &&
        world_of(player)->length <= step) {
        return STATUS_OK;
    }
    PlayerDifference found = {0};
    Error why = {0};
    Status status = begin(player, reader, &found, &why);
    if (status != STATUS_OK) {
        *error = why;
    } else if (found.found && difference != NULL) {
        *difference = found;
    } else if (found.found) {
        status = error_set(error, STATUS_DATA_LOSS, "", "%s", found.message);
    }
    return status;
}

// ---- steps

static void compare_row(GroupPlayer *player, bool was_cut, PlayerDifference *difference) {
    const GroupRow *became = &player->call.row[0];
    const GroupInput *input = &player->input;
    const bool has_ended = (input->ended & bit_of(player)) != 0;
    const uint32_t hash = (uint32_t)group_input_hash(input, player->world);
    World *world = world_of(player)->world;
    if (!was_cut && (became->ended != 0) != has_ended) {
        differ_by(player, difference,
                  has_ended ? "its episode ended there when it was recorded, and now it goes on"
                            : "its episode ends there, and did not when it was recorded");
    } else if (has_ended || (input->hashed & bit_of(player)) != 0) {
        // behind an end the first is its own, and another one of the next episode
        compare_hash(player, entry_hash(&player->entry, hash), snapshot_hash(world), difference);
    }
}

// A step that was stopped behind some of its substeps: it is no step of the episode, which either
// went on as if there had been none, or was over.
static void run_cut(GroupPlayer *player, uint32_t substeps, Arena *scratch) {
    Group *group = player->group;
    GroupWorld *world = world_of(player);
    const uint32_t all = group->substeps;
    const uint64_t length = world->length, episode = world->episode;
    group->substeps = substeps < all ? substeps : all;
    group_run_row(&player->call, 0, scratch, NULL);
    group->substeps = all;
    world->length = length;
    world->episode = episode;
    world->is_running = true;
}

// One call that named the world. false: stopped inside it.
static bool step(GroupPlayer *player, Arena *scratch, const Context *context,
                 PlayerDifference *difference) {
    const GroupInput *input = &player->input;
    uint32_t substeps = 0;
    const bool was_cut = group_input_is_cut(input, player->world, &substeps);
    if (input->kind != INPUT_GROUP_STEP || input->columns != player->group->action.column_count) {
        differ_by_nonsense(player, difference, "it has another call where the episode has a step");
        return true;
    }
    if (!player->is_in_row) {
        prepare(player, GROUP_STEP);
        take_numbers(player);
        player->call.action = input->is_double ? NULL : player->numbers;
        player->call.action_double = input->is_double ? player->numbers : NULL;
    }
    if (was_cut) {
        run_cut(player, substeps, scratch);
    } else if (!group_run_row(&player->call, 0, scratch, context)) {
        return false;
    }
    player->unconverged += player->call.row[0].unconverged;
    player->unconverged_here += player->call.row[0].unconverged;
    compare_row(player, was_cut, difference);
    return true;
}

// The next call on the range, whether it named the world or not. false: stopped inside it.
static bool walk(GroupPlayer *player, LogReader *reader, Arena *scratch, const Context *context,
                 PlayerDifference *difference, Error *error) {
    if (!player->is_in_row && !next_entry(player, reader, difference, error)) {
        return true;
    }
    player->is_in_row = is_named(player) && !step(player, scratch, context, difference);
    player->calls += !player->is_in_row;
    return !player->is_in_row;
}

static void check_end(GroupPlayer *player, PlayerDifference *difference) {
    const EpisodeRow *episode = player->episode;
    const uint64_t said = episode->figures.unconverged_steps;
    if (world_of(player)->length != episode->last_step) {
        differ_by(player, difference, "the episode was longer when it was recorded");
    } else if (player->unconverged_here != said) {
        snprintf(difference->quantity, sizeof(difference->quantity), "unconverged steps");
        difference->expected = (double)said;
        difference->value = (double)player->unconverged_here;
        differ_by(player, difference,
                  "another number of its steps did not converge than its row says");
    }
}

// The world stands behind `step`, and behind all of the episode where that is its last.
static bool has_arrived(const GroupPlayer *player, uint64_t step) {
    const EpisodeRow *episode = player->episode;
    const bool is_over = player->calls >= episode->ended_call;
    return is_over || (world_of(player)->length >= step && step < episode->last_step);
}

Status group_player_run(GroupPlayer *player, LogReader *reader, uint64_t step, Arena *scratch,
                        uint64_t until_ns, const Context *context, PlayerDifference *difference,
                        Error *error) {
    ASSERT(player->group != NULL);
    *difference = (PlayerDifference){0};
    player->is_stopped = false;
    if (player->lost.status != STATUS_OK) {
        return error_set(error, player->lost.status, "", "%s", player->lost.message);
    }
    Error why = {0};
    bool is_first = true;
    while (why.status == STATUS_OK && !difference->found && !has_arrived(player, step)) {
        if (!is_first && clock_now_ns() >= until_ns) {
            player->is_stopped = world_of(player)->length >= step; // there is more behind it
            return STATUS_OK;
        }
        is_first = false;
        if (!walk(player, reader, scratch, context, difference, &why) ||
            context_is_stopped(context)) {
            player->is_stopped = !has_arrived(player, step);
            break;
        }
    }
    if (why.status != STATUS_OK) {
        *error = why;
    } else if (!difference->found && !player->is_stopped && step == player->episode->last_step) {
        check_end(player, difference);
    }
    return why.status;
}

// ---- looks

bool group_player_is_stopped(const GroupPlayer *player) {
    return player->is_stopped;
}

uint64_t group_player_step(const GroupPlayer *player) {
    return player->has_begun ? world_of(player)->length : 0;
}

World *group_player_world(GroupPlayer *player) {
    return world_of(player)->world;
}

const Stepper *group_player_stepper(const GroupPlayer *player) {
    return world_of(player)->stepper;
}

uint64_t group_player_unconverged(const GroupPlayer *player) {
    return player->unconverged;
}
