// SPDX-License-Identifier: MIT
#include "replay/group_player.h"

#include "base/assert.h"
#include "log/definition.h"
#include "os/clock.h"
#include "replay/player_parts.h"
#include "run/group_walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct GroupPlayer {
    const EpisodeRow *episode; // borrowed
    WorldLimits limits;
    Arena memory;      // of the definition, what is made of it, and the rows of a call
    GroupWalk walk;    // its group NULL: not made yet
    StepReport report; // of the last substep
    bool has_begun;    // the episode has
    bool is_stopped;
    uint64_t calls; // on its range, that are behind
    // steps taken by this player, when the episode began
    uint64_t unconverged_before, doubtful_before;
    Error lost; // why it cannot go on; status OK: it can
    Track inputs;
};

static GroupWorld *world_of(const GroupPlayer *player) {
    return group_walk_world(&player->walk);
}

// ---- life

GroupPlayer *group_player_open(const EpisodeRow *episode, const WorldLimits *limits) {
    GroupPlayer *made = calloc(1, sizeof(*made));
    if (made != NULL) {
        made->episode = episode;
        made->limits = *limits;
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
    group_walk_end(&player->walk);
    arena_deinit(&player->inputs.arena);
    arena_deinit(&player->memory);
    free(player);
}

size_t group_player_bytes(const GroupPlayer *player) {
    size_t bytes = sizeof(*player) + player->memory.total_bytes + player->inputs.arena.total_bytes;
    if (player->walk.group != NULL) {
        bytes += group_own_bytes(player->walk.group) + group_bytes(player->walk.group, 0, 1);
    }
    return bytes;
}

// ---- the group

static Status damaged_definition(const LogChunk *chunk, const char *what, Error *error) {
    return error_set(error, STATUS_DATA_LOSS, "", "Chunk %" PRId64 " (definition) is damaged: %s.",
                     chunk->id, what);
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
    const EpisodeRow *episode = player->episode;
    status = group_walk_make(&player->walk, &code,
                             (uint32_t)(episode->world_index % episode->world_range),
                             &player->limits, &player->memory, &why);
    if (status == STATUS_RESOURCE_EXHAUSTED) {
        return error_set(error, status, why.field, "%s", why.message);
    }
    if (status != STATUS_OK) {
        return damaged_definition(&chunk, why.message, error);
    }
    player->walk.group->report = &player->report;
    return STATUS_OK;
}

// ---- what goes wrong

static void differ(GroupPlayer *player, PlayerDifference *difference) {
    difference->found = true;
    difference->step = world_of(player)->length;
    difference->chunk = player->inputs.id;
    difference->chunk_kind = CHUNK_INPUTS;
    player->walk.is_in_row = false;
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

// What the walk found.
static void differ_as(GroupPlayer *player, const GroupDifference *found,
                      PlayerDifference *difference) {
    if (!found->is_found) {
        return;
    }
    if (found->is_nonsense) {
        differ_by_nonsense(player, difference, found->message);
        return;
    }
    difference->expected_hash = found->expected_hash;
    difference->found_hash = found->found_hash;
    snprintf(difference->message, sizeof(difference->message), "%s", found->message);
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
    Entry entry;
    if (!entry_next(chunk->body, chunk->body_bytes, &inputs->at, &entry, &why)) {
        differ_by_nonsense(player, difference,
                           why.status == STATUS_OK ? "it is empty" : why.message);
        return false;
    }
    if (group_walk_take(&player->walk, &entry, player->calls, &why) != STATUS_OK) {
        differ_by_nonsense(player, difference, why.message);
        return false;
    }
    return true;
}

// ---- how it begins

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
    Status status = player->walk.group == NULL ? open_definition(player, reader, error) : STATUS_OK;
    player->has_begun = player->walk.is_in_row = false;
    player->lost = (Error){0};
    player->unconverged_before = player->walk.unconverged;
    player->doubtful_before = player->walk.doubtful;
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
        GroupDifference found = {0};
        group_walk_begin(&player->walk, player->episode->seed, player->episode->turn, &scratch,
                         &found);
        player->calls++;
        differ_as(player, &found, difference);
        arena_deinit(&scratch);
    }
    player->has_begun = error->status == STATUS_OK && !difference->found;
    return error->status;
}

Status group_player_seek(GroupPlayer *player, LogReader *reader, uint64_t step,
                         PlayerDifference *difference, Error *error) {
    if (player->has_begun && player->lost.status == STATUS_OK && !player->walk.is_in_row &&
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

// The next call on the range, whether it named the world or not. false: stopped inside it.
static bool walk(GroupPlayer *player, LogReader *reader, Arena *scratch, const Context *context,
                 PlayerDifference *difference, Error *error) {
    GroupWalk *walked = &player->walk;
    if (!walked->is_in_row && !next_entry(player, reader, difference, error)) {
        return true;
    }
    GroupDifference found = {0};
    if (group_walk_is_named(walked) && !group_walk_step(walked, scratch, context, &found)) {
        return false;
    }
    differ_as(player, &found, difference);
    player->calls++;
    return true;
}

// One of the figures of the episode's row.
static void compare_figure(GroupPlayer *player, const char *what, uint64_t said, uint64_t found,
                           const char *sentence, PlayerDifference *difference) {
    if (!difference->found && said != found) {
        snprintf(difference->quantity, sizeof(difference->quantity), "%s", what);
        difference->expected = (double)said;
        difference->value = (double)found;
        differ_by(player, difference, sentence);
    }
}

static void check_end(GroupPlayer *player, PlayerDifference *difference) {
    const EpisodeRow *episode = player->episode;
    if (world_of(player)->length != episode->last_step) {
        differ_by(player, difference, "the episode was longer when it was recorded");
    }
    compare_figure(player, "unconverged steps", episode->figures.unconverged_steps,
                   player->walk.unconverged - player->unconverged_before,
                   "another number of its steps did not converge than its row says", difference);
    compare_figure(player, "doubtful steps", episode->doubtful_steps,
                   player->walk.doubtful - player->doubtful_before,
                   "another number of its steps was doubtful than its row says", difference);
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
    ASSERT(player->walk.group != NULL);
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
    return player->walk.unconverged;
}

const StepReport *group_player_report(const GroupPlayer *player) {
    return &player->report;
}
