// SPDX-License-Identifier: MIT
#include "replay/player/parts.h"

#include "base/bytes.h"
#include "run/worlds/record_columns.h"
#include "step/snapshot/snapshot.h"
#include "step/snapshot/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// ---- what is reported

static void report_damage(Track *track, uint64_t step, PlayerDifference *difference) {
    difference->found = difference->is_damage = true;
    difference->step = step;
    difference->chunk = track->id;
    difference->chunk_kind = track->kind;
    snprintf(difference->message, sizeof(difference->message), "%s", track->damage.message);
    if (track->chunk.chunk.last_step > track->excused_step) {
        track->excused_step = track->chunk.chunk.last_step;
    }
    track_drop(track);
}

// "velocity.wz of body 3 is 0.5 instead of 0.25"
static void say_quantity(const PlayerDifference *difference, char *text, size_t capacity) {
    char body[32] = "";
    if (difference->body != 0) {
        snprintf(body, sizeof(body), " of body %" PRIu64, difference->body);
    }
    snprintf(text, capacity, "%s%s is %.17g instead of %.17g", difference->quantity, body,
             difference->value, difference->expected);
}

static void report_content(const Player *player, const Track *track, const char *what,
                           PlayerDifference *difference) {
    char quantity[128];
    say_quantity(difference, quantity, sizeof(quantity));
    difference->found = true;
    difference->step = player->step;
    difference->chunk = track->id;
    difference->chunk_kind = track->kind;
    snprintf(difference->message, sizeof(difference->message),
             "Step %" PRIu64 ": %s, as %s in chunk %" PRId64 " says.", player->step, quantity, what,
             track->id);
}

static void report_missing(const Player *player, Track *track, const char *what,
                           PlayerDifference *difference) {
    char next[64] = "and it has none behind it";
    if (track->is_loaded) {
        snprintf(next, sizeof(next), "the next one is of step %" PRIu64, track->next_step);
    }
    track->is_in_hole = true;
    difference->found = difference->is_damage = true;
    difference->step = player->step;
    difference->chunk_kind = track->kind;
    snprintf(difference->message, sizeof(difference->message),
             "Step %" PRIu64 ": %s is missing: the recording has lost it, %s.", player->step, what,
             next);
}

// ---- one stored thing against the world

static Status compare_stored_frame(const World *world, const FrameChunk *chunk, size_t index,
                                   Arena *scratch, bool *same, PlayerDifference *difference,
                                   Error *error) {
    uint64_t *ids = arena_take_array(scratch, chunk->body_count, sizeof(uint64_t));
    if (ids == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while comparing %zu bodies.", chunk->body_count);
    }
    StateFrame expected, found;
    FrameJoints expected_joints, found_joints;
    frame_chunk_ids(chunk, ids);
    Status status = frame_chunk_read(chunk, index, scratch, &expected, error);
    status = STATUS_THEN(status, frame_chunk_joints(chunk, scratch, &expected_joints, error));
    status = STATUS_THEN(status, frame_columns(world, expected.step, scratch, &found, error));
    status = STATUS_THEN(status, joint_columns(world, scratch, &found_joints, error));
    if (status == STATUS_OK) {
        const bool says_joints = chunk->version >= CHUNK_FORMAT_JOINTS;
        *same = player_compare_frame(&(PlayerFrame){.ids = ids,
                                                    .body_count = chunk->body_count,
                                                    .joints = says_joints ? &expected_joints : NULL,
                                                    .frame = &expected},
                                     &(PlayerFrame){.ids = world->body_id,
                                                    .body_count = world->body_count,
                                                    .joints = &found_joints,
                                                    .frame = &found},
                                     difference);
    }
    return status;
}

static Status compare_stored_snapshot(const World *world, const Chunk *chunk, Arena *scratch,
                                      bool *same, PlayerDifference *difference, Error *error) {
    uint8_t *bytes;
    size_t count;
    Status status =
        snapshot_write_like(world, chunk->body, chunk->body_bytes, scratch, &bytes, &count, error);
    if (status != STATUS_OK) {
        return status;
    }
    SnapshotDifference found;
    *same = !snapshot_compare(chunk->body, chunk->body_bytes, bytes, count, &found);
    if (!*same) {
        difference->body = found.body;
        memcpy(difference->quantity, found.quantity, sizeof(difference->quantity));
        difference->expected = found.expected;
        difference->value = found.found;
    }
    return STATUS_OK;
}

// ---- the tracks of frames and contacts

// The chunk that holds the player's step, or the one before it.
static Status sync(const Player *player, LogReader *reader, Track *track, Error *error) {
    track_drop(track);
    track->is_synced = true;
    track->has_seen = track->is_in_hole = false;
    track->excused_step = 0;
    track->id = 0;
    track->has_place = false;
    Error damage = {0};
    LogChunk chunk = {0};
    Status status = log_reader_at(reader, player->episode, track->kind, player->step, &track->arena,
                                  &chunk, &damage);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK;
    }
    bool is_damaged = status == STATUS_DATA_LOSS && chunk.id > 0;
    if (status != STATUS_OK && !is_damaged) {
        track->is_synced = false;
        return error_set(error, status, damage.field, "%s", damage.message);
    }
    track->id = chunk.id;
    track_place(track, chunk_place(&chunk.chunk));
    track->chunk = chunk;
    track->next_step = chunk.chunk.first_step;
    track->is_loaded = chunk.chunk.last_step >= player->step; // else it is all past
    if (is_damaged) {
        track->damage = damage;
    }
    return STATUS_OK;
}

// Looks at the next frame or list of the chunk at hand, and compares it when it is of this step.
// One of a later step waits; when there is none, the chunk is let go.
typedef Status Visit(Player *player, Track *track, Arena *scratch, bool *same,
                     PlayerDifference *difference, Error *error);

static void note_seen(Track *track) {
    track->has_seen = true;
    track->seen_step = track->next_step;
    track->is_in_hole = false;
}

static Status visit_frame(Player *player, Track *track, Arena *scratch, bool *same,
                          PlayerDifference *difference, Error *error) {
    FrameChunk *frames = &track->frames;
    const Chunk *chunk = &track->chunk.chunk;
    Error damage = {0};
    if (!track->is_begun && frame_chunk_open(chunk->body, chunk->body_bytes, chunk_version(chunk),
                                             frames, &damage) != STATUS_OK) {
        track_damage(track, damage.message);
        return STATUS_OK;
    }
    track->is_begun = true;
    while (track->at < frames->frame_count && frame_chunk_step(frames, track->at) < player->step) {
        track->at++;
    }
    if (track->at == frames->frame_count) {
        track_drop(track);
        return STATUS_OK;
    }
    track->next_step = frame_chunk_step(frames, track->at);
    if (track->next_step > player->step) {
        return STATUS_OK;
    }
    note_seen(track);
    size_t index = track->at++;
    return player->is_arrived ? compare_stored_frame(player->door.world, frames, index, scratch,
                                                     same, difference, error)
                              : STATUS_OK;
}

static Status visit_contacts(Player *player, Track *track, Arena *scratch, bool *same,
                             PlayerDifference *difference, Error *error) {
    const Chunk *chunk = &track->chunk.chunk;
    const Stepper *stepper = player->door.stepper;
    ContactList expected, found;
    Error damage = {0};
    size_t at = track->at;
    if (!contact_chunk_next(chunk->body, chunk->body_bytes, chunk_version(chunk), &at, scratch,
                            &expected, &damage)) {
        if (damage.status == STATUS_RESOURCE_EXHAUSTED) {
            return error_set(error, damage.status, "", "%s", damage.message);
        }
        if (damage.status != STATUS_OK) {
            track_damage(track, damage.message);
        } else {
            track_drop(track);
        }
        return STATUS_OK;
    }
    track->next_step = expected.step;
    if (expected.step > player->step) {
        return STATUS_OK;
    }
    track->at = at;
    note_seen(track);
    if (expected.step < player->step || !player->is_arrived || !stepper->has_last) {
        return STATUS_OK;
    }
    Status status = contacts_list(player->door.world, stepper, player->step, 0,
                                  stepper->contact_count, scratch, &found, error);
    if (status == STATUS_OK) {
        *same = player_compare_contacts(&expected, &found, difference);
    }
    return status;
}

// Whether the recording must have a frame (or contacts) of the player's step: the recorder writes
// them ahead of the inputs that lead there or on from there, contacts only of steps it saw taken.
static bool is_owed(const Player *player, const Track *track) {
    const EpisodeRow *episode = player->episode;
    if (!player->is_arrived || player->step % episode->stride != 0) {
        return false;
    }
    if (player->door.stepper->has_last) {
        return true;
    }
    bool was_cut_off = episode->state == RECORDING_OPEN || episode->state == RECORDING_INTERRUPTED;
    return track->kind == CHUNK_FRAMES && (!was_cut_off || player->step < episode->last_step);
}

// Where a lossy recording began to drop steps again right behind a key-frame, the frame beside that
// went with them.
static Status look_for_gap(const Player *player, LogReader *reader, Arena *scratch, bool *is_there,
                           Error *error) {
    *is_there = false;
    if (!player->episode->lossy) {
        return STATUS_OK;
    }
    LogChunk gap = {0};
    Error damage = {0};
    Status status =
        log_reader_at(reader, player->episode, CHUNK_GAP, player->step, scratch, &gap, &damage);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND && gap.id == 0) {
        return error_set(error, status, damage.field, "%s", damage.message);
    }
    *is_there = gap.id != 0 && gap.chunk.first_step == player->step;
    return STATUS_OK;
}

// Everything of the track up to the player's step was met.
static Status check_missing(const Player *player, LogReader *reader, Track *track, const char *what,
                            Arena *scratch, PlayerDifference *difference, Error *error) {
    bool is_known = (track->has_seen && track->seen_step == player->step) || track->is_in_hole ||
                    (track->excused_step >= player->step && track->excused_step > 0);
    if (is_known || !is_owed(player, track)) {
        return STATUS_OK;
    }
    bool is_gap;
    ArenaMark mark = arena_mark(scratch);
    Status status = look_for_gap(player, reader, scratch, &is_gap, error);
    arena_reset_to(scratch, mark);
    if (status == STATUS_OK && !is_gap) {
        report_missing(player, track, what, difference);
    }
    return status;
}

// All of a track that is due at the player's step.
static Status check_track(Player *player, LogReader *reader, Track *track, Visit *visit,
                          const char *what, Arena *scratch, PlayerDifference *difference,
                          Error *error) {
    Status status = track->is_synced ? STATUS_OK : sync(player, reader, track, error);
    while (status == STATUS_OK && !track->has_ended && !difference->found) {
        if (!track->is_loaded) {
            status = track_load(track, player->episode, reader, error);
        } else if (track->next_step > player->step) {
            break;
        } else if (track->damage.status != STATUS_OK) {
            report_damage(track, player->step, difference);
        } else {
            bool same = true;
            ArenaMark mark = arena_mark(scratch);
            status = visit(player, track, scratch, &same, difference, error);
            arena_reset_to(scratch, mark);
            if (status == STATUS_OK && !same) {
                report_content(player, track, what, difference);
            }
        }
    }
    return STATUS_THEN_IF(status, !difference->found,
                          check_missing(player, reader, track, what, scratch, difference, error));
}

// ---- key-frames

static Status check_keyframe(Player *player, Track *track, Arena *scratch,
                             PlayerDifference *difference, Error *error) {
    if (track->damage.status == STATUS_OK && track->chunk.chunk.first_step < player->step) {
        track_damage(track, "it stands behind inputs of later steps");
    }
    if (track->damage.status != STATUS_OK) {
        report_damage(track, track->chunk.chunk.first_step, difference);
        return STATUS_OK;
    }
    bool same = true;
    ArenaMark mark = arena_mark(scratch);
    Status status = compare_stored_snapshot(player->door.world, &track->chunk.chunk, scratch, &same,
                                            difference, error);
    arena_reset_to(scratch, mark);
    if (status == STATUS_OK && !same) {
        report_content(player, track, "the key-frame", difference);
    }
    if (status == STATUS_OK) {
        track_drop(track);
    }
    return status;
}

// Key-frames stand between chunks of inputs, and show the world there.
static Status check_keyframes(Player *player, LogReader *reader, Arena *scratch,
                              PlayerDifference *difference, Error *error) {
    Track *track = &player->track[TRACK_KEYFRAMES];
    bool is_border;
    Status status = player_at_border(player, reader, &is_border, error);
    if (status != STATUS_OK || !is_border) {
        return status;
    }
    if (!track->is_synced) {
        track_drop(track);
        track_place(track, player->passed);
        track->is_synced = true;
    }
    while (status == STATUS_OK && !difference->found) {
        if (!track->is_loaded) {
            status = track_load(track, player->episode, reader, error);
        }
        bool is_due =
            status == STATUS_OK && track->is_loaded && track->next_step <= player->step &&
            (!player->inputs.is_loaded || track->place.sequence < player->inputs.place.sequence);
        if (!is_due) {
            break;
        }
        status = check_keyframe(player, track, scratch, difference, error);
    }
    return status;
}

// ---- what is noted of steps

static void report_note(const Player *player, const char *quantity, double expected, double found,
                        PlayerDifference *difference) {
    const Track *inputs = &player->inputs;
    difference->found = true;
    difference->step = player->step;
    difference->chunk = inputs->id;
    difference->chunk_kind = CHUNK_INPUTS;
    difference->expected = expected;
    difference->value = found;
    snprintf(difference->quantity, sizeof(difference->quantity), "%s", quantity);
    snprintf(difference->message, sizeof(difference->message),
             "Steps %" PRIu64 " to %" PRIu64 ": %s is %.17g instead of %.17g, as chunk %" PRId64
             " (inputs) says.",
             inputs->chunk.chunk.first_step, inputs->chunk.chunk.last_step, quantity, found,
             expected, inputs->id);
}

static void compare_figures(const Player *player, PlayerDifference *difference) {
    const Chunk *chunk = &player->inputs.chunk.chunk;
    const StepFigures *said = &chunk->figures, *found = &player->notes.figures;
    const struct {
        const char *name;
        double said, found;
    } figures[] = {
        {"time", chunk->time, player->time},
        {"unconverged", (double)said->unconverged_steps, (double)found->unconverged_steps},
        {"worst_own", said->worst_own, found->worst_own},
        {"worst_penetration", said->worst_penetration, found->worst_penetration},
        {"contacts_max", (double)said->contacts_max, (double)found->contacts_max},
        {"hardest_impact", said->hardest_impact, found->hardest_impact},
        {"hardest_impact_step", (double)said->hardest_impact_step,
         (double)found->hardest_impact_step},
        {"energy_gain", said->energy_gain, found->energy_gain},
        {"energy_gain_step", (double)said->energy_gain_step, (double)found->energy_gain_step},
        {"gain", said->gain.sum, said->has_gain ? found->gain.sum : 0.0},
        {"gain_scale", said->gain.scale, said->has_gain ? found->gain.scale : 0.0},
        {"gain_step", said->gain.step, said->has_gain ? found->gain.step : 0.0},
    };
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]) && !difference->found; i++) {
        if (!bytes_same_double(figures[i].said, figures[i].found)) {
            report_note(player, figures[i].name, figures[i].said, figures[i].found, difference);
        }
    }
}

// The stretches stand in a chunk of their own in front of the inputs; where there are none, it is
// not there.
static Status compare_highlights(Player *player, LogReader *reader, Arena *scratch,
                                 PlayerDifference *difference, Error *error) {
    const Chunk *inputs = &player->inputs.chunk.chunk;
    Notes *notes = &player->notes;
    notes_finish(notes);
    LogChunk stored = {0};
    Error damage = {0};
    Status status = log_reader_at(reader, player->episode, CHUNK_HIGHLIGHTS, inputs->first_step,
                                  scratch, &stored, &damage);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        bool is_damaged = status == STATUS_DATA_LOSS && stored.id != 0; // told when it is opened
        return is_damaged ? STATUS_OK : error_set(error, status, "", "%s", damage.message);
    }
    bool has_stored = status == STATUS_OK && stored.chunk.first_step == inputs->first_step &&
                      stored.chunk.last_step == inputs->last_step;
    // as the server that recorded them had them
    uint32_t version = inputs->version;
    size_t bytes = highlights_write(notes->highlight, notes->count, version, NULL);
    bytes = bytes == 8 ? 0 : bytes; // none
    uint8_t *made = arena_take(scratch, bytes);
    if (made == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while comparing highlights.");
    }
    highlights_write(notes->highlight, notes->count, version, bytes == 0 ? NULL : made);
    bool is_same =
        has_stored ? stored.chunk.body_bytes == bytes && memcmp(stored.chunk.body, made, bytes) == 0
                   : bytes == 0;
    if (!is_same) {
        report_note(player, "highlights", 0.0, (double)notes->count, difference);
    }
    return STATUS_OK;
}

Status player_check_notes(Player *player, LogReader *reader, Arena *scratch,
                          PlayerDifference *difference, Error *error) {
    player->has_notes = false;
    compare_figures(player, difference);
    if (difference->found) {
        return STATUS_OK;
    }
    ArenaMark mark = arena_mark(scratch);
    Status status = compare_highlights(player, reader, scratch, difference, error);
    arena_reset_to(scratch, mark);
    return status;
}

// ---- all of them

Status player_check(Player *player, LogReader *reader, Arena *scratch, PlayerDifference *difference,
                    Error *error) {
    const RecordingContent content = player->episode->content;
    Status status = STATUS_OK;
    if (content != CONTENT_INPUTS) {
        status = check_track(player, reader, &player->track[TRACK_FRAMES], visit_frame, "the frame",
                             scratch, difference, error);
    }
    if (status == STATUS_OK && !difference->found && content == CONTENT_CONTACTS) {
        status = check_track(player, reader, &player->track[TRACK_CONTACTS], visit_contacts,
                             "the list of contacts", scratch, difference, error);
    }
    return STATUS_THEN_IF(status, !difference->found,
                          check_keyframes(player, reader, scratch, difference, error));
}

static bool explain_by_keyframe(const Player *player, LogReader *reader, Arena *scratch, bool *same,
                                PlayerDifference *difference) {
    LogChunk found;
    return log_reader_at(reader, player->episode, CHUNK_KEYFRAME, player->step, scratch, &found,
                         NULL) == STATUS_OK &&
           found.chunk.first_step == player->step &&
           compare_stored_snapshot(player->door.world, &found.chunk, scratch, same, difference,
                                   NULL) == STATUS_OK;
}

static bool explain_by_frame(const Player *player, LogReader *reader, Arena *scratch, bool *same,
                             PlayerDifference *difference) {
    LogChunk found;
    FrameChunk frames;
    if (log_reader_at(reader, player->episode, CHUNK_FRAMES, player->step, scratch, &found, NULL) !=
            STATUS_OK ||
        frame_chunk_open(found.chunk.body, found.chunk.body_bytes, chunk_version(&found.chunk),
                         &frames, NULL) != STATUS_OK) {
        return false;
    }
    size_t index = 0;
    while (index < frames.frame_count && frame_chunk_step(&frames, index) < player->step) {
        index++;
    }
    return index < frames.frame_count && frame_chunk_step(&frames, index) == player->step &&
           compare_stored_frame(player->door.world, &frames, index, scratch, same, difference,
                                NULL) == STATUS_OK;
}

void player_explain(const Player *player, LogReader *reader, Arena *scratch,
                    PlayerDifference *difference) {
    ArenaMark mark = arena_mark(scratch);
    bool same = true;
    if (explain_by_keyframe(player, reader, scratch, &same, difference) ||
        explain_by_frame(player, reader, scratch, &same, difference)) {
        char quantity[128];
        say_quantity(difference, quantity, sizeof(quantity));
        size_t used = strlen(difference->message);
        if (!same && used > 0) {
            snprintf(difference->message + used - 1, sizeof(difference->message) - used + 1,
                     "; %s.", quantity);
        }
    }
    arena_reset_to(scratch, mark);
}
