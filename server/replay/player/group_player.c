// SPDX-License-Identifier: MIT
#include "replay/player/group_player.h"

#include "base/assert.h"
#include "log/format/definition.h"
#include "os/clock.h"
#include "replay/player/group_calls.h"
#include "replay/player/wardrobe.h"
#include "run/groups/act.h"
#include "run/groups/keyframe.h"
#include "run/groups/walk.h"
#include "step/snapshot/snapshot.h"
#include "step/snapshot/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct GroupPlayer {
    const EpisodeRow *episode; // borrowed
    WorldLimits limits;
    Wardrobe wardrobe;
    Arena memory;      // of the definition, what is made of it, and the rows of a call
    GroupWalk walk;    // its group NULL: not made yet
    StepReport report; // of the last substep
    bool has_begun;    // the episode has
    bool is_whole;     // from the first of its steps that are recorded on
    bool is_stopped;
    // steps taken by this player, when it began in the episode
    uint64_t unconverged_before, doubtful_before;
    Error lost;       // why it cannot go on; status OK: it can
    GroupCalls calls; // on its range
    Track keyframes;
    GroupAct act; // of the row under way, for group_player_walk …
    bool has_act; // … which has told of it
};

static GroupWorld *world_of(const GroupPlayer *player) {
    return group_walk_world(&player->walk);
}

static uint64_t step_of(const GroupPlayer *player) {
    return group_walk_steps(&player->walk);
}

// ---- life

GroupPlayer *group_player_open(const EpisodeRow *episode, const WorldLimits *limits) {
    GroupPlayer *made = calloc(1, sizeof(*made));
    if (made != NULL) {
        made->episode = episode;
        made->limits = *limits;
        made->keyframes.kind = CHUNK_KEYFRAME;
        arena_init(&made->memory, limits->bytes_max);
        group_calls_init(&made->calls, limits->bytes_max);
        arena_init(&made->keyframes.arena, limits->bytes_max);
    }
    return made;
}

void group_player_close(GroupPlayer *player) {
    if (player == NULL) {
        return;
    }
    group_walk_end(&player->walk);
    wardrobe_empty(&player->wardrobe);
    group_calls_deinit(&player->calls);
    arena_deinit(&player->keyframes.arena);
    arena_deinit(&player->memory);
    free(player);
}

size_t group_player_bytes(const GroupPlayer *player) {
    size_t bytes = sizeof(*player) + player->memory.total_bytes +
                   player->calls.inputs.arena.total_bytes + player->keyframes.arena.total_bytes;
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
    status = wardrobe_fill(&player->wardrobe, reader, episode, &player->limits, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = group_walk_make(&player->walk, &code,
                             (uint32_t)(episode->world_index % episode->world_range),
                             &player->limits, &player->memory, &why);
    status = STATUS_THEN(status,
                         group_act_open(&player->act, player->walk.group, &player->memory, &why));
    if (status == STATUS_RESOURCE_EXHAUSTED) {
        return error_set(error, status, why.field, "%s", why.message);
    }
    wardrobe_explain(&player->wardrobe, &why);
    if (status != STATUS_OK) {
        return damaged_definition(&chunk, why.message, error);
    }
    player->walk.group->report = &player->report;
    // what came before is in the recording's parent, or was not recorded
    player->walk.before = episode->begun_call == 0 ? episode->parent_step : 0;
    return STATUS_OK;
}

// ---- what goes wrong

static void differ(GroupPlayer *player, PlayerDifference *difference) {
    difference->found = true;
    difference->step = step_of(player);
    difference->chunk = player->calls.inputs.id;
    difference->chunk_kind = CHUNK_INPUTS;
    player->walk.is_in_row = false;
    error_set(&player->lost, STATUS_DATA_LOSS, "",
              "The episode cannot be stepped on from step %" PRIu64 ": %s", difference->step,
              difference->message);
}

static void differ_by_damage(GroupPlayer *player, PlayerDifference *difference) {
    difference->is_damage = true;
    snprintf(difference->message, sizeof(difference->message), "%s",
             player->calls.inputs.damage.message);
    differ(player, difference);
}

static void differ_by_nonsense(GroupPlayer *player, PlayerDifference *difference,
                               const char *what) {
    track_damage(&player->calls.inputs, what);
    differ_by_damage(player, difference);
}

static void differ_by(GroupPlayer *player, PlayerDifference *difference, const char *what) {
    snprintf(difference->message, sizeof(difference->message), "Step %" PRIu64 ": %s.",
             step_of(player), what);
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

// The next call on the range. false: *difference says why not, or *error.
static bool next_entry(GroupPlayer *player, LogReader *reader, PlayerDifference *difference,
                       Error *error) {
    Error why = {0};
    switch (group_calls_next(&player->calls, player->episode, reader, error)) {
    case GROUP_MET_CALL:
        if (group_walk_take(&player->walk, &player->calls.entry, player->calls.count, &why) ==
            STATUS_OK) {
            return true;
        }
        differ_by_nonsense(player, difference, why.message);
        return false;
    case GROUP_MET_END:
        difference->is_damage = true;
        snprintf(difference->message, sizeof(difference->message),
                 "The calls on the episode's worlds end with number %" PRIu64 " of %" PRIu64 ".",
                 player->calls.count, player->episode->ended_call);
        differ(player, difference);
        return false;
    case GROUP_MET_DAMAGE:
        differ_by_damage(player, difference);
        return false;
    case GROUP_MET_FAILURE:
        return false;
    }
    return false;
}

// ---- how it begins

// The chunk with the call that began the episode is at hand.
static Status find_beginning(GroupPlayer *player, LogReader *reader, Error *error) {
    Track *inputs = &player->calls.inputs;
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
        player->calls.count = chunk.chunk.first_step;
    }
    return status;
}

// From the call that began it.
static void begin_whole(GroupPlayer *player, LogReader *reader, PlayerDifference *difference,
                        Error *error) {
    Status status = find_beginning(player, reader, error);
    error->status = status;
    bool is_there = status == STATUS_OK;
    while (is_there && (is_there = next_entry(player, reader, difference, error)) &&
           player->calls.count + 1 < player->episode->begun_call) {
        player->calls.count++;
    }
    if (is_there) {
        Arena scratch;
        arena_init(&scratch, player->limits.bytes_max);
        GroupDifference found = {0};
        group_walk_begin(&player->walk, player->episode->seed, player->episode->turn, &scratch,
                         &found);
        player->calls.count++;
        differ_as(player, &found, difference);
        arena_deinit(&scratch);
    }
}

// ---- key-frames

// What it says of the world. DATA_LOSS goes on from "it …".
static Status find_world(const GroupPlayer *player, const LogChunk *chunk,
                         GroupKeyframeWorld *world, Error *error) {
    GroupKeyframe keyframe;
    Status status =
        group_keyframe_open(chunk->chunk.body, chunk->chunk.body_bytes, &keyframe, error);
    if (status == STATUS_OK && keyframe.count <= player->walk.world) {
        status = error_set(error, STATUS_DATA_LOSS, NULL, "it knows nothing of the world");
    }
    for (uint32_t i = 0; status == STATUS_OK && i <= player->walk.world; i++) {
        status = group_keyframe_next(&keyframe, world, error);
    }
    return status;
}

// The world is what the key-frame says, in the middle of the episode. DATA_LOSS: it is damaged.
static Status settle_at(GroupPlayer *player, const LogChunk *chunk, Error *error) {
    GroupKeyframeWorld world;
    Error why = {0};
    Status status = find_world(player, chunk, &world, &why);
    const bool is_other =
        status == STATUS_OK &&
        (!world.is_running || world.seed != player->episode->seed ||
         world.episode != player->episode->turn || world.length < player->episode->first_step);
    if (is_other) {
        status = error_set(&why, STATUS_DATA_LOSS, NULL, "it shows another episode");
    }
    if (status == STATUS_OK) {
        Arena scratch;
        arena_init(&scratch, player->limits.bytes_max);
        status = group_keyframe_restore(player->walk.group, 0, &world, &scratch, &why);
        arena_deinit(&scratch);
    }
    if (status != STATUS_OK) {
        return status == STATUS_DATA_LOSS
                   ? error_set(error, status, "", "Chunk %" PRId64 " (key-frame) is damaged: %s.",
                               chunk->id, why.message)
                   : error_set(error, status, why.field, "%s", why.message);
    }
    player->is_whole = chunk->chunk.first_step == 0;
    player->has_begun = true;
    player->walk.is_in_row = false;
    player->lost = (Error){0};
    player->unconverged_before = player->walk.unconverged;
    player->doubtful_before = player->walk.doubtful;
    player->walk.gain = (Gain){0};
    group_calls_place(&player->calls, chunk_place(&chunk->chunk), chunk->chunk.first_step);
    player->keyframes.is_synced = false;
    return STATUS_OK;
}

// Whether stepping on from where it stands is the shorter way.
static bool stands_well(const GroupPlayer *player, uint64_t step, uint64_t call) {
    return player->has_begun && player->lost.status == STATUS_OK && !player->walk.is_in_row &&
           step_of(player) <= step && player->calls.count >= call;
}

// Goes to the last sound key-frame of the episode from which the step is reached. NOT_FOUND: there
// is none. A damaged one is in nobody's way.
static Status seek_keyframe(GroupPlayer *player, LogReader *reader, uint64_t step, Error *error) {
    const EpisodeRow *episode = player->episode;
    // a world that is left out of some calls is behind that call in fewer steps
    uint64_t from = episode->begun_call + step;
    Status status;
    Arena arena;
    arena_init(&arena, player->limits.bytes_max);
    for (;;) {
        LogChunk chunk = {0};
        Error why = {0};
        arena_reset(&arena);
        status = log_reader_at(reader, episode, CHUNK_KEYFRAME, from, &arena, &chunk, &why);
        const uint64_t at = chunk.chunk.first_step;
        status = STATUS_THEN_IF(status, at >= episode->begun_call && !stands_well(player, step, at),
                                settle_at(player, &chunk, &why));
        const bool is_damaged = status == STATUS_DATA_LOSS && chunk.id != 0 && at <= from;
        if (!is_damaged || at <= episode->begun_call) {
            const bool is_none = status == STATUS_NOT_FOUND || at < episode->begun_call;
            status = is_none ? STATUS_NOT_FOUND : status;
            *error = why;
            break;
        }
        from = at - 1;
    }
    arena_deinit(&arena);
    return status;
}

static Status begin(GroupPlayer *player, LogReader *reader, PlayerDifference *difference,
                    Error *error) {
    const EpisodeRow *episode = player->episode;
    player->has_begun = player->walk.is_in_row = false;
    player->lost = (Error){0};
    player->unconverged_before = player->walk.unconverged;
    player->doubtful_before = player->walk.doubtful;
    player->walk.gain = (Gain){0};
    player->keyframes.is_synced = false;
    if (episode->begun_call > 0) {
        player->is_whole = true;
        world_of(player)->length = 0;
        begin_whole(player, reader, difference, error);
        player->has_begun = error->status == STATUS_OK && !difference->found;
        return error->status;
    }
    Status status = seek_keyframe(player, reader, 0, error);
    return status == STATUS_NOT_FOUND
               ? error_set(error, STATUS_DATA_LOSS, "", "The episode has no beginning.")
               : status;
}

Status group_player_seek(GroupPlayer *player, LogReader *reader, uint64_t step,
                         PlayerDifference *difference, Error *error) {
    PlayerDifference found = {0};
    Error why = {0};
    Status status = player->walk.group == NULL ? open_definition(player, reader, &why) : STATUS_OK;
    if (status == STATUS_OK && step > 0) {
        status = seek_keyframe(player, reader, step, &why);
        status = status == STATUS_DATA_LOSS || status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    if (status == STATUS_OK && !stands_well(player, step, 0)) {
        why = (Error){0};
        status = begin(player, reader, &found, &why);
    }
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

// The world is one of these.
static bool has_bit(const GroupPlayer *player, uint64_t worlds) {
    return (worlds >> player->walk.world & 1) != 0;
}

// The next call on the range, whether it named the world or not. false: stopped inside it.
static bool take_call(GroupPlayer *player, LogReader *reader, Arena *scratch,
                      const Context *context, PlayerDifference *difference, Error *error) {
    GroupWalk *walked = &player->walk;
    if (!walked->is_in_row && !next_entry(player, reader, difference, error)) {
        return true;
    }
    GroupDifference found = {0};
    if (group_walk_is_named(walked) && !group_walk_step(walked, scratch, context, &found)) {
        return false;
    }
    differ_as(player, &found, difference);
    player->calls.count++;
    if (!difference->found && group_walk_is_named(walked) && has_bit(player, walked->input.ended) &&
        player->calls.count < player->episode->ended_call) {
        differ_by(player, difference, "the calls end the episode there, and its row goes on");
    }
    return true;
}

// ---- key-frames on the way

// The one to be met next, or none. One that is damaged is passed over: whoever opens it tells.
static Status load_keyframe(GroupPlayer *player, LogReader *reader, Error *error) {
    Track *track = &player->keyframes;
    Status status = STATUS_OK;
    if (!track->is_synced) {
        track_drop(track);
        track_place(track, (ChunkPlace){.first_step = player->calls.count});
        track->is_synced = true;
        status = track_load(track, player->episode, reader, error);
    }
    while (status == STATUS_OK && track->is_loaded &&
           (track->damage.status != STATUS_OK || track->next_step < player->calls.count)) {
        status = track_load(track, player->episode, reader, error);
    }
    return status;
}

static bool is_same_world(const GroupPlayer *player, const GroupKeyframeWorld *stored) {
    const GroupWorld *world = world_of(player);
    const size_t columns = player->walk.group->action.column_count;
    return stored->is_running && stored->seed == world->seed && stored->episode == world->episode &&
           stored->length == world->length && bytes_same_double(stored->begun, world->begun) &&
           stored->action_count == columns &&
           bytes_are_same(stored->actions, world->action, columns * sizeof(double));
}

static Status compare_world(GroupPlayer *player, const GroupKeyframeWorld *stored, Arena *scratch,
                            PlayerDifference *difference, Error *error) {
    uint8_t *expected, *found;
    size_t expected_count, found_count;
    SnapshotDifference where;
    Status status = group_keyframe_snapshot(player->walk.group, stored, scratch, &expected,
                                            &expected_count, error);
    status =
        STATUS_THEN(status, snapshot_write_like(world_of(player)->world, expected, expected_count,
                                                scratch, &found, &found_count, error));
    if (status == STATUS_OK &&
        snapshot_compare(expected, expected_count, found, found_count, &where)) {
        difference->found = true;
        difference->body = where.body;
        difference->expected = where.expected;
        difference->value = where.found;
        snprintf(difference->quantity, sizeof(difference->quantity), "%s", where.quantity);
    } else if (status == STATUS_OK && !is_same_world(player, stored)) {
        difference->found = true;
        snprintf(difference->quantity, sizeof(difference->quantity), "episode");
    }
    return status;
}

// Compares the key-frame that shows the world where it stands, if there is one.
static Status check_keyframe(GroupPlayer *player, LogReader *reader, Arena *scratch,
                             PlayerDifference *difference, Error *error) {
    Track *track = &player->keyframes;
    Status status = load_keyframe(player, reader, error);
    if (status != STATUS_OK || !track->is_loaded || track->next_step != player->calls.count ||
        player->calls.count >= player->episode->ended_call) {
        return status;
    }
    const ArenaMark mark = arena_mark(scratch);
    GroupKeyframeWorld stored;
    Error why = {0};
    status = find_world(player, &track->chunk, &stored, &why);
    status = STATUS_THEN(status, compare_world(player, &stored, scratch, difference, &why));
    arena_reset_to(scratch, mark);
    difference->is_damage = status == STATUS_DATA_LOSS;
    if (status == STATUS_DATA_LOSS) {
        difference->found = true;
        snprintf(difference->message, sizeof(difference->message),
                 "Chunk %" PRId64 " (key-frame) is damaged: %.256s.", track->id, why.message);
    } else if (status != STATUS_OK) {
        *error = why;
        return status;
    } else if (difference->found) {
        snprintf(difference->message, sizeof(difference->message),
                 "Step %" PRIu64 ": the key-frame shows another %s than the steps give.",
                 step_of(player), difference->quantity);
    }
    difference->step = step_of(player);
    difference->chunk = difference->found ? track->id : 0;
    difference->chunk_kind = difference->found ? CHUNK_KEYFRAME : 0;
    return track_load(track, player->episode, reader, error);
}

// One of the figures of the episode's row.
static void compare_figure(GroupPlayer *player, const char *what, uint64_t said, uint64_t found,
                           const char *sentence, PlayerDifference *difference) {
    if (!difference->found && player->is_whole && said != found) {
        snprintf(difference->quantity, sizeof(difference->quantity), "%s", what);
        difference->expected = (double)said;
        difference->value = (double)found;
        differ_by(player, difference, sentence);
    }
}

// What is not known of it is no difference.
static void compare_gain(GroupPlayer *player, PlayerDifference *difference) {
    const StepFigures *said = &player->episode->figures;
    const Gain *found = &player->walk.gain;
    const bool is_same = bytes_same_double(said->gain.sum, found->sum) &&
                         bytes_same_double(said->gain.scale, found->scale) &&
                         bytes_same_double(said->gain.step, found->step);
    if (!difference->found && player->is_whole && said->has_gain && !is_same) {
        snprintf(difference->quantity, sizeof(difference->quantity), "gained");
        difference->expected = gain_told(&said->gain);
        difference->value = gain_told(found);
        differ_by(player, difference, "its steps gained other energy than its row says");
    }
}

static void check_end(GroupPlayer *player, PlayerDifference *difference) {
    const EpisodeRow *episode = player->episode;
    if (step_of(player) != episode->last_step) {
        differ_by(player, difference, "the episode was longer when it was recorded");
    }
    compare_figure(player, "unconverged steps", episode->figures.unconverged_steps,
                   player->walk.unconverged - player->unconverged_before,
                   "another number of its steps did not converge than its row says", difference);
    compare_figure(player, "doubtful steps", episode->doubtful_steps,
                   player->walk.doubtful - player->doubtful_before,
                   "another number of its steps was doubtful than its row says", difference);
    compare_gain(player, difference);
}

// ---- how it ends

// The first call behind the episode that does something to its world: a reset, which cut it off,
// or none. Else the episode went on.
static Status find_going_on(GroupPlayer *player, LogReader *reader, bool *goes_on, Error *error) {
    GroupCalls calls;
    group_calls_init(&calls, player->limits.bytes_max);
    const uint64_t ended = player->episode->ended_call;
    LogChunk chunk = {0};
    Error why;
    Status status = log_reader_at(reader, player->episode, CHUNK_INPUTS, ended, &calls.inputs.arena,
                                  &chunk, &why);
    bool is_over = status != STATUS_OK; // damaged, or gone: others tell
    ChunkPlace place = chunk_place(&chunk.chunk);
    calls.count = place.first_step;
    if (!is_over && place.sequence > 0) { // in front of that chunk; else of the first of all
        place.sequence--;
        group_calls_place(&calls, place, place.first_step);
    }
    *goes_on = false;
    while (!is_over) {
        const GroupMet met = group_calls_next(&calls, player->episode, reader, error);
        if (met != GROUP_MET_CALL) {
            status = met == GROUP_MET_FAILURE ? error->status : STATUS_OK;
            group_calls_deinit(&calls);
            return status;
        }
        const GroupInput *input = &calls.input;
        const bool is_ours = calls.count++ >= ended && has_bit(player, input->named);
        *goes_on = is_ours && input->kind == INPUT_GROUP_STEP &&
                   (has_bit(player, input->ended) || has_bit(player, input->hashed));
        is_over = *goes_on || (is_ours && input->kind == INPUT_GROUP_RESET);
    }
    group_calls_deinit(&calls);
    return STATUS_OK;
}

// Its last call ended it; one that nothing ended, to its last hash, which that call has.
static Status check_last_call(GroupPlayer *player, LogReader *reader, PlayerDifference *difference,
                              Error *error) {
    const GroupInput *input = &player->walk.input;
    const bool is_complete = player->episode->state == RECORDING_COMPLETE;
    bool goes_on = false;
    if (difference->found || player->calls.count != player->episode->ended_call) {
        return STATUS_OK;
    }
    if (!has_bit(player, is_complete ? input->ended : input->hashed)) {
        differ_by(player, difference, "the calls do not end the episode there, as its row says");
        return STATUS_OK;
    }
    const Status status = is_complete ? STATUS_OK : find_going_on(player, reader, &goes_on, error);
    if (goes_on) {
        differ_by(player, difference, "the calls go on with the episode, which its row ends there");
    }
    return status;
}

static bool is_behind_calls(const GroupPlayer *player) {
    return player->calls.count >= player->episode->ended_call;
}

// The world stands behind `step`, and behind all of the episode where that is its last.
static bool has_arrived(const GroupPlayer *player, uint64_t step) {
    return is_behind_calls(player) ||
           (step_of(player) >= step && step < player->episode->last_step);
}

Status group_player_run(GroupPlayer *player, LogReader *reader, uint64_t step, bool check,
                        Arena *scratch, uint64_t until_ns, const Context *context,
                        PlayerDifference *difference, Error *error) {
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
            player->is_stopped = step_of(player) >= step; // there is more behind it
            return STATUS_OK;
        }
        is_first = false;
        const bool is_done = take_call(player, reader, scratch, context, difference, &why);
        if (check && is_done && why.status == STATUS_OK && !difference->found) {
            check_keyframe(player, reader, scratch, difference, &why);
        }
        if (!is_done || context_is_stopped(context)) {
            player->is_stopped = !has_arrived(player, step);
            break;
        }
    }
    if (why.status != STATUS_OK) {
        *error = why;
    } else if (!difference->found && !player->is_stopped &&
               (step == player->episode->last_step || step_of(player) < step)) {
        check_end(player, difference); // also of a row whose calls end before its steps do
        if (check && check_last_call(player, reader, difference, &why) != STATUS_OK) {
            *error = why;
        }
    }
    return why.status;
}

// ---- one thing at a time

// What was done of the row, since the world was at this step of its own and this one of the
// episode.
static void tell_played(GroupPlayer *player, bool is_done, uint64_t world_step, uint64_t step,
                        Played *played) {
    const GroupWalk *walked = &player->walk;
    if (!player->has_act) {
        player->has_act = true;
        group_act_read(&player->act, walked->group, world_of(player));
        played->change = player->act.set;
        played->change_count = player->act.set_count;
    }
    if (world_of(player)->world->step > world_step) {
        played->step = &player->act.step;
        played->time_step = walked->group->time_step;
        played->report = &player->report;
        played->ends_step = is_done && step_of(player) > step;
    }
}

Status group_player_walk(GroupPlayer *player, LogReader *reader, Arena *scratch,
                         const Context *context, bool *is_done, Played *played,
                         PlayerDifference *difference, Error *error) {
    GroupWalk *walked = &player->walk;
    const uint64_t world_step = world_of(player)->world->step, step = step_of(player);
    const bool had_act = player->has_act = player->has_act && walked->is_in_row;
    Error why = {0};
    *played = (Played){0};
    walked->is_paced = true;
    walked->group->clock = clock_now_ns;
    const bool is_over = take_call(player, reader, scratch, context, difference, &why);
    walked->group->clock = NULL;
    walked->is_paced = false;
    *is_done = is_over;
    if (why.status != STATUS_OK) {
        *error = why;
    } else if (!difference->found && group_walk_is_named(walked) && group_walk_has_acted(walked)) {
        tell_played(player, is_over, world_step, step, played);
        *is_done = is_over || player->has_act != had_act || played->step != NULL;
    }
    return why.status;
}

// ---- looks

const Group *group_player_group(const GroupPlayer *player) {
    return player->walk.group;
}

bool group_player_would_end(const GroupPlayer *player, const Door *other, double time_step,
                            Arena *scratch) {
    const GroupWorld *own = world_of(player);
    GroupWorld like = *own;
    const ArenaMark mark = arena_mark(scratch);
    if (other != NULL) {
        like.world = other->world;
        like.stepper = other->stepper;
        like.has_felt = false;
        like.felt = arena_take_array(scratch, player->walk.group->felt_count, sizeof(double));
    }
    // rather an early end than none
    const bool would =
        like.felt == NULL || group_is_terminal(player->walk.group, &like, time_step, scratch);
    arena_reset_to(scratch, mark);
    return would;
}

bool group_player_is_over(const GroupPlayer *player) {
    return player->has_begun && is_behind_calls(player) &&
           step_of(player) >= player->episode->last_step;
}

bool group_player_is_stopped(const GroupPlayer *player) {
    return player->is_stopped;
}

uint64_t group_player_step(const GroupPlayer *player) {
    return player->has_begun ? step_of(player) : 0;
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
