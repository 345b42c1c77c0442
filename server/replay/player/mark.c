// SPDX-License-Identifier: MIT
#include "base/assert.h"
#include "replay/player/parts.h"
#include "step/snapshot/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct PlayerMark {
    PlayerPlace place;
    bool is_within; // a chunk of inputs was gone through in part
    bool is_open;   // … and an entry of it likewise
    size_t at;      // where the next entry begins in it, or the one that is open
    uint32_t hashed;
    ChunkPlace chunk;
    size_t geometry_count; // that the snapshot names, each held
    const Geometry **geometry;
    size_t snapshot_bytes;
    uint8_t snapshot[];
};

static void note_inputs(const Player *player, PlayerMark *mark) {
    const Track *inputs = &player->inputs;
    mark->place =
        (PlayerPlace){.step = player->step, .time = player->time, .passed = player->passed};
    mark->is_within = inputs->is_loaded && inputs->is_begun;
    if (mark->is_within) {
        mark->chunk = inputs->place;
        mark->is_open = player->entry.is_open;
        mark->at = mark->is_open ? player->entry.at : inputs->at;
        mark->hashed = player->entry.hashed;
    }
}

static bool hold_geometries(const World *world, PlayerMark *mark) {
    if (world->geometry_count > 0) {
        mark->geometry = calloc(world->geometry_count, sizeof(*mark->geometry));
    }
    for (size_t i = 0; mark->geometry != NULL && i < world->geometry_count; i++) {
        mark->geometry[mark->geometry_count++] = geometry_hold(world->geometry[i].geometry);
    }
    return mark->geometry_count == world->geometry_count;
}

PlayerMark *player_mark(const Player *player) {
    if (player->group != NULL) {
        return NULL;
    }
    ASSERT(player->is_arrived);
    Arena arena;
    arena_init(&arena, player->limits.bytes_max);
    uint8_t *bytes;
    size_t count;
    PlayerMark *mark = NULL;
    if (snapshot_write_named(player->door.world, &arena, &bytes, &count, NULL) == STATUS_OK) {
        mark = calloc(1, sizeof(*mark) + count);
    }
    if (mark != NULL && !hold_geometries(player->door.world, mark)) {
        free(mark);
        mark = NULL;
    }
    if (mark != NULL) {
        note_inputs(player, mark);
        mark->snapshot_bytes = count;
        memcpy(mark->snapshot, bytes, count);
    }
    arena_deinit(&arena);
    return mark;
}

void player_mark_free(PlayerMark *mark) {
    for (size_t i = 0; mark != NULL && i < mark->geometry_count; i++) {
        geometry_drop(mark->geometry[i]);
    }
    if (mark != NULL) {
        free(mark->geometry);
    }
    free(mark);
}

uint64_t player_mark_step(const PlayerMark *mark) {
    return mark->place.step;
}

size_t player_mark_bytes(const PlayerMark *mark) {
    return sizeof(*mark) + mark->snapshot_bytes + mark->geometry_count * sizeof(*mark->geometry);
}

static Status has_changed(const PlayerMark *mark, Error *error) {
    return error_set(error, STATUS_DATA_LOSS, "",
                     "What was read of the episode around step %" PRIu64 " is not there any more.",
                     mark->place.step);
}

// The chunk that it was in, up to where it was.
static Status find_chunk(Player *player, LogReader *reader, const PlayerMark *mark, Error *error) {
    Track *inputs = &player->inputs;
    ASSERT(mark->chunk.sequence > 0); // a key-frame stands before all inputs
    track_place(inputs, (ChunkPlace){.first_step = mark->chunk.first_step,
                                     .sequence = mark->chunk.sequence - 1});
    Status status = track_load(inputs, player->episode, reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (!inputs->is_loaded || inputs->damage.status != STATUS_OK ||
        inputs->place.sequence != mark->chunk.sequence ||
        mark->at > inputs->chunk.chunk.body_bytes) {
        return has_changed(mark, error);
    }
    inputs->is_begun = true;
    inputs->at = mark->at;
    return STATUS_OK;
}

// Begins the entry again, and leaves out what was done of it.
static Status open_again(Player *player, const PlayerMark *mark, Error *error) {
    PlayerEntry *open = &player->entry;
    PlayerDifference difference = {0};
    ASSERT(mark->hashed <= mark->place.step);
    player->step -= mark->hashed; // of an order of steps: a change is never done in part
    Status status = player_open_entry(player, &difference, error);
    player->step += mark->hashed;
    if (status == STATUS_OK && (difference.found || open->run.steps_left < mark->hashed)) {
        return has_changed(mark, error);
    }
    if (status == STATUS_OK) {
        open->hashed = mark->hashed;
        open->run.steps_left -= mark->hashed;
    }
    return status;
}

Status player_return(Player *player, LogReader *reader, const PlayerMark *mark, Error *error) {
    World *world;
    Status status =
        snapshot_read(mark->snapshot, mark->snapshot_bytes, &player->limits, &world, error);
    if (status != STATUS_OK) {
        return status;
    }
    player_settle(player, world, &mark->place);
    if (mark->is_within) {
        status = find_chunk(player, reader, mark, error);
    }
    return STATUS_THEN_IF(status, mark->is_open, open_again(player, mark, error));
}
