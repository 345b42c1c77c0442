// SPDX-License-Identifier: MIT
#include "log/reader/proof_parts.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PLAYER_BYTES_MAX = 1 << 24 }; // of a definition

// One column, and whether it is what was sealed.
typedef struct Fact {
    const char *column;
    bool is_same;
} Fact;

static void tell_facts(ProofWork *work, const Fact *facts, size_t count, const char *where) {
    for (size_t i = 0; i < count; i++) {
        if (!facts[i].is_same) {
            proof_tell(work, 0, NULL, facts[i].column,
                       "%s is not what the recording's %s says: its row was changed or is damaged.",
                       facts[i].column, where);
        }
    }
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// ---- labels

// As many as there are, each once.
static bool has_label(const EpisodeRow *row, const char *label) {
    for (size_t i = 0; i < row->label_count; i++) {
        if (strcmp(row->label[i], label) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_first(const RecordingDef *def, size_t index) {
    for (size_t i = 0; i < index; i++) {
        if (strcmp(def->label[i], def->label[index]) == 0) {
            return false;
        }
    }
    return true;
}

static bool has_same_labels(const EpisodeRow *row, const RecordingDef *def) {
    size_t count = 0;
    for (size_t i = 0; i < def->label_count; i++) {
        if (!has_label(row, def->label[i])) {
            return false;
        }
        count += is_first(def, i);
    }
    return count == row->label_count;
}

// ---- against the definition

static void check_recording(ProofWork *work, const RecordingDef *def) {
    const EpisodeRow *row = &work->row;
    const Fact facts[] = {
        {"recording.content", row->content == def->content},
        {"recording.stride", row->stride == def->stride},
        {"recording.keyframe_steps", row->keyframe_steps == def->keyframe_steps},
        {"recording.lossy", row->lossy == def->lossy},
        {"recording.events", row->has_events == def->has_events},
        {"recording.world_count", row->world_count == def->world_count},
        {"recording.world_range", row->world_range == def->world_range},
        {"recording.name", strcmp(row->name, def->name) == 0},
        {"recording.solver", strcmp(row->solver, def->solver) == 0},
        {"recording.client", strcmp(row->client, def->client) == 0},
        {"recording.world_name", strcmp(row->world_name, def->world_name) == 0},
        {"recording.server_version", strcmp(row->server_version, def->server_version) == 0},
        {"recording.build", strcmp(row->build, def->build) == 0},
        {"recording.world_step", row->world_step == def->world_step},
        {"recording.world_time", bytes_same_double(row->world_time, def->world_time)},
        {"recording.time_step", bytes_same_double(row->time_step, def->time_step)},
        {"recording.body_count", row->body_count == def->body_count},
        {"recording.dynamics_version", row->dynamics_version == def->dynamics_version},
        {"recording.begun_ns", row->recording_begun_ns == def->begun_ns},
        {"label", has_same_labels(row, def)},
    };
    tell_facts(work, facts, COUNT(facts), "definition");
}

// The episode of a world's recording begins with it.
static void check_only_episode(ProofWork *work, const RecordingDef *def) {
    const EpisodeRow *row = &work->row;
    bool has_parent = row->has_parent;
    const Fact facts[] = {
        {"episode.number", row->number == 0},
        {"episode.world_index", row->world_index == 0},
        {"episode.first_step", row->first_step == 0},
        {"episode.begun_ns", row->begun_ns == def->begun_ns},
        {"episode.seed", row->has_seed == def->has_seed && row->seed == def->seed},
        {"episode.return_sum", !row->has_return},
        {"episode.doubtful_steps", !row->has_opinion && !row->has_return_doubtful},
        {"episode.parent",
         has_parent == def->has_parent && memcmp(row->parent, def->parent, UID_BYTES) == 0},
        {"episode.parent_step", row->parent_step == def->parent_step},
    };
    tell_facts(work, facts, COUNT(facts), "definition");
}

// ---- against the seal

static bool has_same_figures(const EpisodeRow *row, const StepFigures *figures) {
    return row->has_figures && bytes_are_same(&row->figures, figures, sizeof(*figures));
}

static void check_end(ProofWork *work, const RecordingSeal *seal) {
    const EpisodeRow *row = &work->row;
    const Fact facts[] = {
        {"recording.state", row->recording_state == seal->state},
        {"recording.why", strcmp(row->why, seal->why) == 0},
        {"recording.dropped_steps", row->dropped_steps == seal->dropped_steps},
        {"recording.ended_ns", row->recording_ended_ns == seal->ended_ns},
    };
    tell_facts(work, facts, COUNT(facts), "seal");
    if (row->is_group) {
        return;
    }
    const Fact of_episode[] = {
        {"episode.state", row->state == seal->state},
        {"episode.last_step", row->last_step == seal->last_step},
        {"episode.simulated_s", bytes_same_double(row->time, seal->time)},
        {"episode.ended_ns", row->ended_ns == seal->ended_ns},
        {"episode figures",
         seal->is_found ? !row->has_figures : has_same_figures(row, &seal->figures)},
    };
    tell_facts(work, of_episode, COUNT(of_episode), "seal");
}

// Nothing has ended yet.
static void check_open(ProofWork *work) {
    const EpisodeRow *row = &work->row;
    const Fact facts[] = {
        {"recording.state", row->recording_state == RECORDING_OPEN},
        {"recording.why", row->why[0] == '\0'},
        {"recording.dropped_steps", row->dropped_steps == 0},
        {"recording.ended_ns", row->recording_ended_ns == 0},
        {"episode.state", row->is_group || row->state == RECORDING_OPEN},
        {"episode figures", row->is_group || !row->has_figures},
        {"episode.ended_ns", row->is_group || row->ended_ns == 0},
    };
    tell_facts(work, facts, COUNT(facts), "end, which has not come,");
}

void proof_check_facts(ProofWork *work, const Proof *proof) {
    const EpisodeRow *row = &work->row;
    if (row->odd[0] != '\0') {
        proof_tell(work, 0, NULL, row->odd, "%s holds what nobody writes there.", row->odd);
    }
    if (proof->has_definition) {
        check_recording(work, &proof->def);
        if (!row->is_group) {
            check_only_episode(work, &proof->def);
        }
    }
    if (proof->has_seal) {
        check_end(work, &proof->seal);
    } else if (row->recording_state == RECORDING_OPEN) {
        check_open(work);
    }
}

// ---- episodes of a group

static void check_record(ProofWork *work, const EpisodeRecord *record) {
    static const uint8_t none[UID_BYTES];
    const EpisodeRow *row = &work->row;
    bool has_parent = memcmp(record->parent, none, UID_BYTES) != 0;
    const Fact facts[] = {
        {"episode.world_index", row->world_index == record->world},
        {"episode.first_step", row->begun_call == record->first_step},
        {"episode.last_step", row->ended_call == record->last_step},
        {"episode.length", row->last_step == record->length},
        {"episode.turn", row->turn == record->turn},
        {"episode.state", row->state == record->state},
        {"episode.simulated_s", bytes_same_double(row->time, record->time)},
        {"episode.seed",
         row->has_seed == record->has_seed && (!row->has_seed || row->seed == record->seed)},
        {"episode.return_sum",
         row->has_return == record->has_return &&
             (!row->has_return || bytes_same_double(row->return_sum, record->return_sum))},
        {"episode.begun_ns", row->begun_ns == record->begun_ns},
        {"episode.ended_ns", row->ended_ns == record->ended_ns},
        {"episode figures", has_same_figures(row, &record->figures)},
        {"episode.doubtful_steps",
         row->has_opinion == record->has_opinion && row->doubtful_steps == record->doubtful_steps},
        {"episode.return_doubtful",
         row->has_return_doubtful == record->has_return_doubtful &&
             bytes_same_double(row->return_doubtful, record->return_doubtful)},
        {"episode.opinions", row->opinions == record->opinions},
        {"episode.opinion_gap_max",
         bytes_same_double(row->opinion_gap_max, record->opinion_gap_max)},
        {"episode.parent", row->has_parent == has_parent &&
                               memcmp(row->parent, record->parent, UID_BYTES) == 0 &&
                               row->parent_step == record->parent_step},
    };
    tell_facts(work, facts, COUNT(facts), "chunk of finished episodes");
}

// Opens the chunk in the middle of those that may have the episode; half of them are left.
static bool look(ProofWork *work, const ChunkRow *row, bool *is_found, bool *is_before,
                 Error *error) {
    LogChunk chunk;
    EpisodesChunk episodes;
    Error why = {0};
    Status status = log_reader_get(work->reader, &work->row, CHUNK_EPISODES, row->id, work->arena,
                                   &chunk, &why);
    status = STATUS_THEN(status, episodes_open(&chunk.chunk, &episodes, &why));
    if (status == STATUS_DATA_LOSS || status == STATUS_NOT_FOUND) {
        proof_tell(work, row->first_step, row, "", "%s", why.message);
        return false;
    }
    if (status != STATUS_OK) {
        *error = why;
        return false;
    }
    uint64_t number = work->row.number;
    *is_before = number < episodes.first_number;
    *is_found = !*is_before && number - episodes.first_number < episodes.count;
    if (*is_found) {
        EpisodeRecord record;
        episodes_get(&episodes, (size_t)(number - episodes.first_number), &record);
        check_record(work, &record);
        proof_keep_records(work, &chunk);
    }
    return true;
}

Status proof_check_group(ProofWork *work, const ChunkRow *common, size_t count, Error *error) {
    EpisodeRecord record;
    if (proof_find_record(work, work->row.number, &record)) {
        check_record(work, &record);
        return STATUS_OK;
    }
    size_t *index = arena_take_array(work->arena, count, sizeof(*index));
    if (index == NULL) {
        return reader_memory_ended("a list of chunks", error);
    }
    size_t low = 0, high = 0;
    for (size_t i = 0; i < count; i++) {
        if (common[i].kind == CHUNK_EPISODES) {
            index[high++] = i;
        }
    }
    bool is_found = false, is_sound = true;
    Error failure = {0};
    while (low < high && !is_found && is_sound) {
        size_t middle = low + (high - low) / 2;
        bool is_before = false;
        is_sound = look(work, &common[index[middle]], &is_found, &is_before, &failure);
        *(is_before ? &high : &low) = is_before ? middle : middle + 1;
    }
    if (failure.status != STATUS_OK) {
        *error = failure;
        return failure.status;
    }
    if (!is_found && is_sound) {
        proof_tell(work, work->row.first_step, NULL, "episode.number",
                   "No chunk of finished episodes has number %" PRIu64 ".", work->row.number);
    }
    return STATUS_OK;
}

// ---- before it is stepped

Status proof_check_row(LogReader *reader, const EpisodeRow *episode, Error *error) {
    Arena arena;
    LogChunk chunk;
    RecordingDef def = {0};
    arena_init(&arena, PLAYER_BYTES_MAX);
    Status status = log_reader_at(reader, episode, CHUNK_DEFINITION, 0, &arena, &chunk, error);
    status = STATUS_THEN(status, definition_read(&chunk.chunk, &arena, &def, error));
    if (status == STATUS_NOT_FOUND) {
        status = error_set(error, STATUS_DATA_LOSS, "episode",
                           "The recording has lost its definition: nobody knows what is recorded.");
    }
    if (status == STATUS_OK) {
        const Fact facts[] = {
            {"body_count", episode->body_count == def.body_count},
            {"content", episode->content == def.content},
            {"stride", episode->stride == def.stride},
            {"lossy", episode->lossy == def.lossy},
            {"events", episode->has_events == def.has_events},
            {"dynamics_version", episode->dynamics_version == def.dynamics_version},
            {"world_count", episode->world_count == def.world_count},
            {"world_range", episode->world_range == def.world_range},
        };
        for (size_t i = 0; status == STATUS_OK && i < COUNT(facts); i++) {
            if (!facts[i].is_same) {
                status = error_set(error, STATUS_DATA_LOSS, "episode",
                                   "The file is damaged: %s of the recording's row is not what its "
                                   "sealed definition says. Stop the server and mend it with "
                                   "moreau-server --recover.",
                                   facts[i].column);
            }
        }
    }
    arena_deinit(&arena);
    return status;
}
