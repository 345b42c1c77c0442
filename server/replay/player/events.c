// SPDX-License-Identifier: MIT
#include "replay/player/parts.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_asked(const Player *player) {
    return player->is_checking && player->episode->has_events;
}

static Status memory_ended(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while comparing events.");
}

// Reads the last chunk of events that begins at or before `step`. *found false: there is none, or
// it is damaged, which was told where chunks are opened.
static Status read_events(const Player *player, LogReader *reader, uint64_t step, Arena *scratch,
                          LogChunk *chunk, EventsChunk *events, bool *found, Error *error) {
    Error damage = {0};
    *chunk = (LogChunk){0};
    Status status =
        log_reader_at(reader, player->episode, CHUNK_EVENTS, step, scratch, chunk, &damage);
    *found = status == STATUS_OK && events_open(&chunk->chunk, events, &damage) == STATUS_OK;
    if (status == STATUS_OK || status == STATUS_NOT_FOUND ||
        (status == STATUS_DATA_LOSS && chunk->id != 0)) {
        return STATUS_OK;
    }
    return error_set(error, status, "", "%s", damage.message);
}

Status player_begin_events(Player *player, LogReader *reader, Arena *scratch,
                           PlayerDifference *difference, Error *error) {
    if (!is_asked(player) || player->has_touches) {
        player->has_touches = player->has_touches && is_asked(player); // all of the steps, or none
        return STATUS_OK;
    }
    touches_clear(&player->touches);
    player->has_touches = true;
    if (player->step == 0) {
        return STATUS_OK;
    }
    LogChunk chunk;
    EventsChunk events;
    bool found;
    ArenaMark mark = arena_mark(scratch);
    Status status =
        read_events(player, reader, player->step - 1, scratch, &chunk, &events, &found, error);
    found = found && chunk.chunk.last_step == player->step && events.is_complete;
    status = STATUS_THEN_IF(status, found && !touches_resume(&player->touches, &events),
                            memory_ended(error));
    arena_reset_to(scratch, mark);
    if (status == STATUS_OK && !found) {
        player->has_touches = false;
        difference->found = difference->is_damage = true;
        difference->step = player->step;
        difference->chunk_kind = CHUNK_EVENTS;
        snprintf(difference->message, sizeof(difference->message),
                 "Step %" PRIu64 ": the list of who touches whom there is missing: the recording "
                 "has lost it, and events behind it cannot be compared.",
                 player->step);
    }
    return status;
}

Status player_add_events(Player *player, Error *error) {
    player->has_touches = player->has_touches && is_asked(player);
    return !player->has_touches || touches_add(&player->touches, player->door.world,
                                               player->door.stepper, player->step)
               ? STATUS_OK
               : memory_ended(error);
}

// The made events, as chunks that are complete, or are not, have them.
static Status make_events(Player *player, bool is_complete, Arena *scratch, uint8_t **bytes,
                          size_t *count, Error *error) {
    EventsBody body;
    if (!touches_tell(&player->touches, is_complete, &body)) {
        return memory_ended(error);
    }
    *count = body.changed_count == 0 && !is_complete ? 0 : events_write(&body, NULL);
    *bytes = arena_take(scratch, *count);
    if (*bytes == NULL) {
        return memory_ended(error);
    }
    if (*count > 0) {
        events_write(&body, *bytes);
    }
    touches_told(&player->touches);
    return STATUS_OK;
}

static void report(const Player *player, const LogChunk *chunk, PlayerDifference *difference) {
    const Chunk *inputs = &player->inputs.chunk.chunk;
    difference->found = true;
    difference->step = player->step;
    difference->chunk = chunk->id;
    difference->chunk_kind = CHUNK_EVENTS;
    snprintf(difference->quantity, sizeof(difference->quantity), "events");
    snprintf(difference->message, sizeof(difference->message),
             "Steps %" PRIu64 " to %" PRIu64
             ": who touched whom, or how hard, is not what chunk %" PRId64 " (events) says.",
             inputs->first_step, inputs->last_step, chunk->id);
}

Status player_check_events(Player *player, LogReader *reader, Arena *scratch,
                           PlayerDifference *difference, Error *error) {
    if (!player->has_touches) {
        return STATUS_OK;
    }
    const Chunk *inputs = &player->inputs.chunk.chunk;
    LogChunk chunk;
    EventsChunk events;
    bool found, is_same = true;
    uint8_t *made = NULL;
    size_t count = 0;
    ArenaMark mark = arena_mark(scratch);
    Status status =
        read_events(player, reader, inputs->first_step, scratch, &chunk, &events, &found, error);
    const bool is_damaged = chunk.id != 0 && !found;
    found = found && chunk.chunk.first_step == inputs->first_step &&
            chunk.chunk.last_step == inputs->last_step;
    status = STATUS_THEN(
        status, make_events(player, found && events.is_complete, scratch, &made, &count, error));
    if (status == STATUS_OK && !is_damaged) {
        is_same = found ? made != NULL && chunk.chunk.body_bytes == count &&
                              bytes_are_same(chunk.chunk.body, made, count)
                        : count == 0;
    }
    arena_reset_to(scratch, mark);
    if (status == STATUS_OK && !is_same) {
        report(player, &chunk, difference);
    }
    return status;
}
