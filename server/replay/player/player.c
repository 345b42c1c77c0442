// SPDX-License-Identifier: MIT
#include "replay/player/player.h"

#include "base/assert.h"
#include "os/clock.h"
#include "replay/player/parts.h"
#include "step/snapshot/release.h"
#include "step/snapshot/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// ---- life

static void init_track(Track *track, ChunkKind kind, size_t bytes_max) {
    *track = (Track){.kind = kind};
    arena_init(&track->arena, bytes_max);
}

Status player_open(Player **player, const EpisodeRow *episode, const WorldLimits *limits,
                   Error *error) {
    if (episode->dynamics_version != DYNAMICS_VERSION) {
        char advice[RELEASE_ADVICE_BYTES];
        return error_set(
            error, STATUS_FAILED_PRECONDITION, "episode",
            "The episode is of dynamics version %" PRIu64
            ", this server's is %d: only a server of that version can step it again.%s",
            episode->dynamics_version, DYNAMICS_VERSION,
            release_advice(episode->dynamics_version, advice));
    }
    Player *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while opening an episode.");
    }
    made->episode = episode;
    made->limits = *limits;
    if (episode->is_group) {
        made->group = group_player_open(episode, limits);
    }
    init_track(&made->inputs, CHUNK_INPUTS, limits->bytes_max);
    init_track(&made->track[TRACK_FRAMES], CHUNK_FRAMES, limits->bytes_max);
    init_track(&made->track[TRACK_CONTACTS], CHUNK_CONTACTS, limits->bytes_max);
    init_track(&made->track[TRACK_KEYFRAMES], CHUNK_KEYFRAME, limits->bytes_max);
    arena_init(&made->entry.arena, limits->bytes_max);
    if (episode->is_group && made->group == NULL) {
        player_close(made);
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while opening an episode.");
    }
    Status status = door_init(&made->door, limits, error);
    if (status != STATUS_OK) {
        player_close(made);
        return status;
    }
    *player = made;
    return STATUS_OK;
}

void player_close(Player *player) {
    if (player == NULL) {
        return;
    }
    group_player_close(player->group);
    door_deinit(&player->door);
    wardrobe_empty(&player->wardrobe);
    touches_deinit(&player->touches);
    arena_deinit(&player->inputs.arena);
    arena_deinit(&player->entry.arena);
    for (size_t i = 0; i < TRACK_COUNT; i++) {
        arena_deinit(&player->track[i].arena);
    }
    free(player);
}

size_t player_bytes(const Player *player) {
    size_t bytes = sizeof(*player) + door_bytes(&player->door) + player->inputs.arena.total_bytes +
                   player->entry.arena.total_bytes + touches_bytes(&player->touches);
    for (size_t i = 0; i < TRACK_COUNT; i++) {
        bytes += player->track[i].arena.total_bytes;
    }
    return player->group == NULL ? bytes : bytes + group_player_bytes(player->group);
}

// ---- key-frames

static void note_damage(uint64_t step, int64_t chunk, const Error *damage,
                        PlayerDifference *difference) {
    if (difference == NULL || difference->found) {
        return; // the one nearest to where the player was to go is told
    }
    *difference = (PlayerDifference){.found = true,
                                     .is_damage = true,
                                     .step = step,
                                     .chunk = chunk,
                                     .chunk_kind = CHUNK_KEYFRAME};
    snprintf(difference->message, sizeof(difference->message), "%s", damage->message);
}

void player_settle(Player *player, World *world, const PlayerPlace *place) {
    world_destroy(player->door.world);
    player->door.world = world;
    player->hash = snapshot_hash(world);
    stepper_reset(player->door.stepper);
    player->step = place->step;
    player->has_state = player->is_arrived = true;
    player->lost = (Error){0};
    player->entry.is_open = false;
    track_drop(&player->inputs);
    player->passed = place->passed;
    player->time = place->time;
    player->has_notes = player->has_touches = false;
    track_place(&player->inputs, player->passed);
    for (size_t i = 0; i < TRACK_COUNT; i++) {
        track_drop(&player->track[i]);
        player->track[i].is_synced = false;
    }
}

// The player stands where the key-frame was taken.
static void settle_at(Player *player, World *world, const LogChunk *keyframe) {
    player_settle(player, world,
                  &(PlayerPlace){.step = keyframe->chunk.first_step,
                                 .time = keyframe->chunk.time,
                                 .passed = chunk_place(&keyframe->chunk)});
}

// Whether stepping on leads to `step` at least as fast as this key-frame does.
static bool stands_well(const Player *player, const LogChunk *keyframe, uint64_t step) {
    return player->has_state && player->lost.status == STATUS_OK &&
           player->step >= keyframe->chunk.first_step &&
           (player->step < step || (player->step == step && player->is_arrived));
}

// Puts in the last key-frame at or before `step`, unless the player stands well on the way from
// there to its goal. DATA_LOSS with a chunk's id in `keyframe`: it is damaged.
static Status take_keyframe(Player *player, LogReader *reader, uint64_t step, uint64_t goal,
                            Arena *arena, LogChunk *keyframe, Error *error) {
    Status status =
        log_reader_at(reader, player->episode, CHUNK_KEYFRAME, step, arena, keyframe, error);
    if (status != STATUS_OK || stands_well(player, keyframe, goal)) {
        return status;
    }
    World *world;
    Error refusal = {0};
    status = snapshot_read(keyframe->chunk.body, keyframe->chunk.body_bytes, &player->limits,
                           &world, &refusal);
    if (status == STATUS_RESOURCE_EXHAUSTED) {
        return error_set(error, status, refusal.field, "%s", refusal.message);
    }
    wardrobe_explain(&player->wardrobe, &refusal);
    if (status != STATUS_OK) {
        return error_set(error, STATUS_DATA_LOSS, "",
                         "Chunk %" PRId64 " (key-frame) is damaged: %.256s", keyframe->id,
                         refusal.message);
    }
    settle_at(player, world, keyframe);
    return STATUS_OK;
}

// Whether a lossy recording dropped the step, or the way from the key-frame to it.
static Status check_gap(const Player *player, LogReader *reader, uint64_t keyframe, uint64_t step,
                        Arena *arena, Error *error) {
    if (!player->episode->lossy) {
        return STATUS_OK;
    }
    LogChunk gap = {0};
    Error damage = {0};
    Status status = log_reader_at(reader, player->episode, CHUNK_GAP, step, arena, &gap, &damage);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    if (status != STATUS_OK && (status != STATUS_DATA_LOSS || gap.id == 0)) {
        return error_set(error, status, damage.field, "%s", damage.message);
    }
    if (gap.chunk.sequence < keyframe || step <= gap.chunk.first_step) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_DATA_LOSS, "step",
                     "Step %" PRIu64 " is not there: the recording is lossy and has nothing of the "
                     "steps behind %" PRIu64 " up to %" PRIu64 ".",
                     step, gap.chunk.first_step, gap.chunk.last_step);
}

static Status check_step(const EpisodeRow *episode, uint64_t step, Error *error) {
    return step >= episode->first_step && step <= episode->last_step
               ? STATUS_OK
               : error_set(error, STATUS_OUT_OF_RANGE, "step",
                           "The episode has the steps %" PRIu64 " to %" PRIu64 ", not %" PRIu64 ".",
                           episode->first_step, episode->last_step, step);
}

static Status seek(Player *player, LogReader *reader, uint64_t step, Arena *arena,
                   PlayerDifference *difference, Error *error) {
    uint64_t from = step;
    for (;;) {
        LogChunk keyframe = {0};
        Error damage = {0};
        arena_reset(arena);
        Status status = take_keyframe(player, reader, from, step, arena, &keyframe, &damage);
        uint64_t at = keyframe.chunk.first_step;
        if (status == STATUS_OK) {
            return check_gap(player, reader, keyframe.chunk.sequence, step, arena, error);
        }
        bool is_damaged = status == STATUS_DATA_LOSS && keyframe.id != 0 && at <= from;
        if (is_damaged) {
            note_damage(at, keyframe.id, &damage, difference);
        }
        if (status == STATUS_NOT_FOUND || (is_damaged && at == 0)) {
            const Error *lacks = &player->wardrobe.lacks;
            return error_set(error, STATUS_DATA_LOSS, "step",
                             "No sound key-frame is left from which step %" PRIu64
                             " could be reached.%s%s",
                             step, lacks->status == STATUS_OK ? "" : " ", lacks->message);
        }
        if (!is_damaged) {
            return error_set(error, status, damage.field, "%s", damage.message);
        }
        from = at - 1;
    }
}

Status player_seek(Player *player, LogReader *reader, uint64_t step, PlayerDifference *difference,
                   Error *error) {
    Status status = check_step(player->episode, step, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (difference != NULL) {
        *difference = (PlayerDifference){0};
    }
    if (player->group != NULL) {
        return group_player_seek(player->group, reader, step, difference, error);
    }
    status = wardrobe_fill(&player->wardrobe, reader, player->episode, &player->limits, error);
    if (status != STATUS_OK) {
        return status;
    }
    Arena arena;
    arena_init(&arena, player->limits.bytes_max);
    status = seek(player, reader, step, &arena, difference, error);
    arena_deinit(&arena);
    return status;
}

// ---- steps

Status player_run(Player *player, LogReader *reader, uint64_t step, bool check, Arena *scratch,
                  uint64_t until_ns, const Context *context, PlayerDifference *difference,
                  Error *error) {
    if (player->group != NULL) {
        Status status = check_step(player->episode, step, error);
        return STATUS_THEN(status, group_player_run(player->group, reader, step, check, scratch,
                                                    until_ns, context, difference, error));
    }
    ASSERT(player->has_state);
    *difference = (PlayerDifference){0};
    player->is_stopped = false;
    player->is_checking = check;
    Status status = check_step(player->episode, step, error);
    if (status == STATUS_OK && player->lost.status != STATUS_OK) {
        status =
            error_set(error, player->lost.status, player->lost.field, "%s", player->lost.message);
    }
    bool to_the_end = check && step == player->episode->last_step;
    Walked walked = WALKED_NOWHERE;
    while (status == STATUS_OK) {
        if (check) {
            status = player_check(player, reader, scratch, difference, error);
        }
        // behind the last step there may be changes still, and their hashes
        bool settle = player->step >= step;
        if (status != STATUS_OK || difference->found || (settle && !to_the_end) ||
            (walked == WALKED_ON && !settle && clock_now_ns() >= until_ns)) {
            break;
        }
        if (walked == WALKED_ON && context_is_stopped(context)) {
            walked = WALKED_STOPPED;
        } else {
            status =
                player_walk(player, reader, settle, scratch, context, &walked, difference, error);
        }
        if (difference->found || walked != WALKED_ON) {
            break;
        }
    }
    player->is_stopped = walked == WALKED_STOPPED;
    return status;
}

Status player_next(Player *player, LogReader *reader, Arena *scratch, const Context *context,
                   bool *is_stopped, Played *played, PlayerDifference *difference, Error *error) {
    Status status;
    *difference = (PlayerDifference){0};
    if (player->group != NULL) {
        bool is_done;
        status = group_player_walk(player->group, reader, scratch, context, &is_done, played,
                                   difference, error);
        *is_stopped = !is_done;
        return status;
    }
    Walked walked;
    player->is_checking = false;
    status = player_walk(player, reader, false, scratch, context, &walked, difference, error);
    *is_stopped = walked != WALKED_ON;
    *played = player->played;
    return status;
}

// ---- looks

Status player_tell_difference(const PlayerDifference *difference, Error *error) {
    return error_set(error, STATUS_DATA_LOSS, "episode",
                     "At step %" PRIu64 " the recording is not what its steps give: %s "
                     "EpisodeVerify tells all of it; what is before that step is sound.",
                     difference->step, difference->message);
}

bool player_is_over(const Player *player) {
    return player->group != NULL ? group_player_is_over(player->group)
                                 : player->step == player->episode->last_step;
}

uint64_t player_step(const Player *player) {
    return player->group != NULL ? group_player_step(player->group) : player->step;
}

World *player_world(Player *player) {
    return player->group != NULL ? group_player_world(player->group) : player->door.world;
}

const Stepper *player_stepper(const Player *player) {
    return player->group != NULL ? group_player_stepper(player->group) : player->door.stepper;
}

const StepReport *player_report(const Player *player) {
    return player->group != NULL ? group_player_report(player->group)
                                 : &player->entry.run.tally.last;
}

bool player_is_stopped(const Player *player) {
    return player->group != NULL ? group_player_is_stopped(player->group) : player->is_stopped;
}

uint64_t player_unconverged(const Player *player) {
    return player->group != NULL ? group_player_unconverged(player->group) : player->unconverged;
}

uint64_t player_hash(const Player *player) {
    return player->group != NULL ? snapshot_hash(group_player_world(player->group)) : player->hash;
}

double player_time_step(const Player *player) {
    return player->group != NULL ? group_player_group(player->group)->time_step
                                 : player->door.world->settings.time_step;
}

uint64_t player_substeps(const Player *player) {
    return player->group != NULL ? group_player_group(player->group)->substeps : 1;
}

const Group *player_group(const Player *player) {
    return player->group == NULL ? NULL : group_player_group(player->group);
}

bool player_would_end(const Player *player, const Door *other, double time_step, Arena *scratch) {
    return player->group != NULL &&
           group_player_would_end(player->group, other, time_step, scratch);
}
