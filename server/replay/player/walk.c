// SPDX-License-Identifier: MIT
#include "replay/player/parts.h"

#include "step/snapshot/snapshot.h"

#include <inttypes.h>
#include <stdio.h>

// ---- what goes wrong

// A difference that the inputs at hand are to blame for; the player cannot go on from here.
static void differ(Player *player, PlayerDifference *difference, uint64_t step) {
    difference->found = true;
    difference->step = step;
    difference->chunk = player->inputs.id;
    difference->chunk_kind = CHUNK_INPUTS;
    player->entry.is_open = false;
    error_set(&player->lost, STATUS_DATA_LOSS, "",
              "The episode cannot be stepped on from step %" PRIu64 ": %s", player->step,
              difference->message);
}

static void differ_by_damage(Player *player, PlayerDifference *difference) {
    difference->is_damage = true;
    snprintf(difference->message, sizeof(difference->message), "%s", player->inputs.damage.message);
    differ(player, difference, player->step);
}

// The chunk's checksum was right, and still its bytes cannot be.
static void differ_by_nonsense(Player *player, PlayerDifference *difference, const char *what) {
    track_damage(&player->inputs, what);
    differ_by_damage(player, difference);
}

static void compare_hash(Player *player, uint64_t expected, const char *after,
                         PlayerDifference *difference) {
    uint64_t found = snapshot_hash(player->door.world);
    player->hash = found;
    if (found == expected) {
        return;
    }
    difference->expected_hash = expected;
    difference->found_hash = found;
    snprintf(difference->message, sizeof(difference->message),
             "Step %" PRIu64 ": the state after %s has the hash 0x%016" PRIx64
             ", the recording says 0x%016" PRIx64 ".",
             player->step, after, found, expected);
    differ(player, difference, player->step);
}

// ---- chunks of inputs

static bool is_exhausted(const Player *player) {
    const Track *inputs = &player->inputs;
    bool has_more = inputs->is_begun && inputs->damage.status == STATUS_OK &&
                    inputs->at < inputs->chunk.chunk.body_bytes;
    return !player->entry.is_open && (!inputs->is_loaded || (inputs->is_begun && !has_more));
}

// The next chunk of inputs is at hand, or there is none.
static Status look_ahead(Player *player, LogReader *reader, Error *error) {
    return is_exhausted(player) ? track_load(&player->inputs, player->episode, reader, error)
                                : STATUS_OK;
}

Status player_at_border(Player *player, LogReader *reader, bool *is_border, Error *error) {
    *is_border = false;
    Status status = look_ahead(player, reader, error);
    *is_border = status == STATUS_OK && !player->entry.is_open && !player->inputs.is_begun;
    return status;
}

// A lossy recording says where it dropped something. Leaves the player lost when that is here.
static Status look_for_gap(Player *player, LogReader *reader, Arena *scratch, Error *error) {
    if (!player->episode->lossy) {
        return STATUS_OK;
    }
    ArenaMark mark = arena_mark(scratch);
    LogChunk gap = {0};
    Error damage = {0};
    Status status = log_reader_next(reader, player->episode, CHUNK_GAP, &player->passed, scratch,
                                    &gap, &damage);
    arena_reset_to(scratch, mark);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    if (status != STATUS_OK && (status != STATUS_DATA_LOSS || gap.id == 0)) {
        return error_set(error, status, damage.field, "%s", damage.message);
    }
    if (!player->inputs.is_loaded || gap.chunk.sequence < player->inputs.place.sequence) {
        error_set(&player->lost, STATUS_DATA_LOSS, "step",
                  "The steps behind %" PRIu64 " up to %" PRIu64
                  " are not there: the recording is lossy, and the disk could not keep up.",
                  gap.chunk.first_step, gap.chunk.last_step);
    }
    return STATUS_OK;
}

// Judges the chunk at hand by where it says it begins.
static Status begin_chunk(Player *player, LogReader *reader, Arena *scratch,
                          PlayerDifference *difference, Error *error) {
    Track *inputs = &player->inputs;
    Status status = look_for_gap(player, reader, scratch, error);
    // of an episode that is still being recorded it may wear more by now
    status = STATUS_THEN(
        status, wardrobe_fill(&player->wardrobe, reader, player->episode, &player->limits, error));
    if (status != STATUS_OK || player->lost.status != STATUS_OK) {
        return status;
    }
    char what[128];
    if (!inputs->is_loaded) {
        difference->is_damage = true;
        snprintf(difference->message, sizeof(difference->message),
                 "The inputs of the episode end at step %" PRIu64 " of %" PRIu64 ".", player->step,
                 player->episode->last_step);
        differ(player, difference, player->step);
    } else if (inputs->damage.status != STATUS_OK) {
        differ_by_damage(player, difference);
    } else if (inputs->chunk.chunk.first_step != player->step) {
        snprintf(what, sizeof(what),
                 "it begins at step %" PRIu64 ", and the one before it ended at step %" PRIu64,
                 inputs->chunk.chunk.first_step, player->step);
        differ_by_nonsense(player, difference, what);
    } else if (inputs->chunk.chunk.body_bytes == 0) {
        differ_by_nonsense(player, difference, "it is empty");
    }
    inputs->is_begun = inputs->is_loaded;
    if (inputs->is_loaded) {
        player->passed = inputs->place;
    }
    notes_clear(&player->notes);
    // stretches were others before they had reasons
    player->has_notes = !difference->found && inputs->chunk.chunk.version >= CHUNK_FORMAT_REASONS;
    return difference->found ? STATUS_OK
                             : player_begin_events(player, reader, scratch, difference, error);
}

// ---- entries

static InputBytes entry_input(const Entry *entry) {
    return (InputBytes){.bytes = entry->input, .count = entry->input_bytes};
}

static bool entry_is_faulted(const Entry *entry) {
    return (entry->flags & ENTRY_FAULTED) != 0;
}

// What is left of the entry under way, in steps that must succeed.
static bool next_is_step(const PlayerEntry *open) {
    return open->is_order &&
           open->entry.hash_count - open->hashed > (entry_is_faulted(&open->entry) ? 1 : 0);
}

static void differ_by_refusal(Player *player, PlayerDifference *difference, const Error *refusal) {
    snprintf(difference->message, sizeof(difference->message),
             "Step %" PRIu64 ": what was done behind it is refused now: %.256s", player->step,
             refusal->message);
    differ(player, difference, player->step);
}

static Status begin_order(Player *player, PlayerDifference *difference, Error *error) {
    PlayerEntry *open = &player->entry;
    Error refusal = {0};
    if (input_decode(entry_input(&open->entry), &open->arena, &open->input, &refusal) !=
        STATUS_OK) {
        differ_by_nonsense(player, difference, "an order of steps is no order");
        return STATUS_OK;
    }
    Status status =
        door_step_begin(&player->door, &open->input, &open->arena, &open->run, &refusal);
    if (status == STATUS_RESOURCE_EXHAUSTED) {
        open->is_open = false;
        return error_set(error, status, refusal.field, "%s", refusal.message);
    }
    uint64_t done = open->entry.hash_count - (entry_is_faulted(&open->entry) ? 1 : 0);
    if (status != STATUS_OK) {
        differ_by_refusal(player, difference, &refusal);
    } else if (open->run.steps_left != done) {
        differ_by_nonsense(player, difference, "an order of steps has not a hash for each of them");
    }
    return STATUS_OK;
}

Status player_open_entry(Player *player, PlayerDifference *difference, Error *error) {
    Track *inputs = &player->inputs;
    PlayerEntry *open = &player->entry;
    const Chunk *chunk = &inputs->chunk.chunk;
    Error damage = {0};
    size_t at = inputs->at;
    open->at = at;
    arena_reset(&open->arena);
    if (!entry_next(chunk->body, chunk->body_bytes, &at, &open->entry, &damage)) {
        differ_by_nonsense(player, difference, damage.message);
        return STATUS_OK;
    }
    if (open->entry.step != player->step) {
        char what[128];
        snprintf(what, sizeof(what),
                 "it has an entry for step %" PRIu64 " where step %" PRIu64 " was reached",
                 open->entry.step, player->step);
        differ_by_nonsense(player, difference, what);
        return STATUS_OK;
    }
    open->is_open = true;
    open->hashed = 0;
    open->is_order = input_kind(entry_input(&open->entry)) == INPUT_STEP;
    if (open->entry.hash_count == 0) {
        differ_by_nonsense(player, difference, "it has an entry without a hash");
    } else if (!open->is_order && (open->entry.hash_count > 1 || open->entry.flags != 0)) {
        differ_by_nonsense(player, difference, "it has a change with hashes of steps");
    } else if (open->is_order) {
        Status status = begin_order(player, difference, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    inputs->at = at;
    return STATUS_OK;
}

static void close_hashed(Player *player) {
    PlayerEntry *open = &player->entry;
    open->hashed++;
    open->is_open = open->is_open && open->hashed < open->entry.hash_count;
}

static Status do_change(Player *player, PlayerDifference *difference, Error *error) {
    PlayerEntry *open = &player->entry;
    Error refusal = {0};
    arena_reset(&open->arena);
    Status status = input_decode(entry_input(&open->entry), &open->arena, &open->input, &refusal);
    status = STATUS_THEN(
        status, door_change(&player->door, &open->input, &open->arena, NULL, NULL, &refusal));
    if (status == STATUS_RESOURCE_EXHAUSTED) {
        return error_set(error, status, refusal.field, "%s", refusal.message);
    }
    if (status != STATUS_OK) {
        wardrobe_explain(&player->wardrobe, &refusal);
        differ_by_refusal(player, difference, &refusal);
        return STATUS_OK;
    }
    player->is_arrived = false;
    player->played = (Played){.change_count = 1, .change = &open->input};
    compare_hash(player, entry_hash(&open->entry, 0), "a change behind it", difference);
    close_hashed(player);
    return STATUS_OK;
}

// A step that failed when it was recorded.
static void do_fault(Player *player, Status status, PlayerDifference *difference) {
    PlayerEntry *open = &player->entry;
    if (status == STATUS_OK) {
        snprintf(difference->message, sizeof(difference->message),
                 "Step %" PRIu64 ": it failed when it was recorded, and now it does not.",
                 player->step + 1);
        differ(player, difference, player->step + 1);
        return;
    }
    player->is_arrived = false;
    compare_hash(player, entry_hash(&open->entry, open->hashed), "the step that failed behind it",
                 difference);
    close_hashed(player);
}

static Status do_step(Player *player, Status status, LogReader *reader, Arena *scratch,
                      const Error *failure, PlayerDifference *difference, Error *error) {
    PlayerEntry *open = &player->entry;
    if (status != STATUS_OK) {
        snprintf(difference->message, sizeof(difference->message),
                 "Step %" PRIu64 ": it fails, and did not when it was recorded: %.256s",
                 player->step + 1, failure->message);
        differ(player, difference, player->step + 1);
        return STATUS_OK;
    }
    player->step++;
    player->is_arrived = true;
    player->played = (Played){.step = &open->run.order->step,
                              .time_step = open->run.input.time_step,
                              .report = &open->run.tally.last,
                              .ends_step = true};
    player->time += open->run.input.time_step;
    player->has_notes = player->has_notes && player->is_checking; // all of a chunk, or none
    if (player->has_notes && !notes_are_full(&player->notes)) {   // the recorder ends it then
        notes_add(&player->notes, player->door.stepper, &open->run.tally.last, player->step);
    }
    player->unconverged += !open->run.tally.last.certificate.converged;
    compare_hash(player, entry_hash(&open->entry, open->hashed), "it", difference);
    close_hashed(player);
    if (difference->found) {
        player_explain(player, reader, scratch, difference);
    }
    return player_add_events(player, error);
}

static Status do_order(Player *player, LogReader *reader, Arena *scratch, const Context *context,
                       Walked *walked, PlayerDifference *difference, Error *error) {
    StepRun *run = &player->entry.run;
    bool must_fail = !next_is_step(&player->entry);
    if (must_fail) {
        run->steps_left = 1;
    }
    Error failure = {0};
    uint64_t done = run->tally.done;
    Status status = door_step(&player->door, run, scratch, 0, context, &failure);
    if (status == STATUS_OK && run->tally.done == done) {
        *walked = WALKED_STOPPED;
        return STATUS_OK;
    }
    if (status != STATUS_OK && !player->door.world->faulted) {
        return error_set(error, status, failure.field, "%s", failure.message);
    }
    if (!must_fail) {
        return do_step(player, status, reader, scratch, &failure, difference, error);
    }
    do_fault(player, status, difference);
    return STATUS_OK;
}

// Nothing is left that was done before the next step: what comes is of later steps.
static bool is_beyond(const Player *player) {
    const Track *inputs = &player->inputs;
    const Chunk *chunk = &inputs->chunk.chunk;
    if (inputs->is_begun) {
        return false;
    }
    bool is_whole = inputs->damage.status == STATUS_OK;
    return !inputs->is_loaded || chunk->first_step != player->step ||
           (!is_whole && chunk->last_step > player->step);
}

Status player_walk(Player *player, LogReader *reader, bool settle, Arena *scratch,
                   const Context *context, Walked *walked, PlayerDifference *difference,
                   Error *error) {
    *walked = WALKED_NOWHERE;
    player->played = (Played){0};
    while (!player->entry.is_open) {
        Status status = look_ahead(player, reader, error);
        if (status == STATUS_OK && settle && is_beyond(player)) {
            return STATUS_OK;
        }
        if (status == STATUS_OK && !player->inputs.is_begun) {
            status = begin_chunk(player, reader, scratch, difference, error);
        } else if (status == STATUS_OK) {
            status = player_open_entry(player, difference, error);
        }
        if (status == STATUS_OK && player->lost.status != STATUS_OK && !difference->found) {
            return error_set(error, player->lost.status, player->lost.field, "%s",
                             player->lost.message);
        }
        if (status != STATUS_OK || difference->found) {
            return status;
        }
    }
    if (settle && next_is_step(&player->entry)) {
        return STATUS_OK;
    }
    *walked = WALKED_ON;
    Status status = player->entry.is_order
                        ? do_order(player, reader, scratch, context, walked, difference, error)
                        : do_change(player, difference, error);
    bool is_done = !player->entry.is_open && player->inputs.is_loaded &&
                   player->inputs.at == player->inputs.chunk.chunk.body_bytes;
    status = STATUS_THEN_IF(
        status, is_done && player->has_notes && player->is_checking && !difference->found,
        player_check_notes(player, reader, scratch, difference, error));
    return STATUS_THEN_IF(status, is_done && !difference->found,
                          player_check_events(player, reader, scratch, difference, error));
}
