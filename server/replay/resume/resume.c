// SPDX-License-Identifier: MIT
#include "replay/resume/resume.h"

#include "replay/resume/parts.h"
#include "step/snapshot/release.h"
#include "step/snapshot/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while opening the recording of a group.");
}

// ---- what it is of

static Status refuse(const Error *why, Error *error) {
    return error_set(error, why->status, why->field[0] == '\0' ? "recording" : why->field, "%s",
                     why->message);
}

static Status refuse_definition(const char *what, Error *error) {
    return error_set(error, STATUS_DATA_LOSS, "recording",
                     "The recording's definition is damaged: %.256s.", what);
}

static Status check_row(const EpisodeRow *row, Error *error) {
    if (!row->is_group) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "recording",
                         "The recording is of a world, not of a group: EpisodeFork makes a world "
                         "that goes on from there.");
    }
    if (row->dynamics_version != DYNAMICS_VERSION) {
        char advice[RELEASE_ADVICE_BYTES];
        return error_set(
            error, STATUS_FAILED_PRECONDITION, "recording",
            "The recording is of dynamics version %" PRIu64
            ", this server's is %d: only a server of that version can go on from it.%s",
            row->dynamics_version, DYNAMICS_VERSION, release_advice(row->dynamics_version, advice));
    }
    return STATUS_OK;
}

static Status read_definition(Resume *resume, LogReader *reader, Error *error) {
    LogChunk chunk = {0};
    Error why = {0};
    Status status =
        log_reader_at(reader, &resume->row, CHUNK_DEFINITION, 0, &resume->memory, &chunk, &why);
    if (status == STATUS_NOT_FOUND) {
        return error_set(error, STATUS_DATA_LOSS, "recording",
                         "The recording has lost its definition: nobody knows what group it is "
                         "of.");
    }
    if (status != STATUS_OK) {
        return refuse(&why, error);
    }
    const RecordingDef *def = &resume->recording;
    if (definition_read(&chunk.chunk, &resume->memory, &resume->recording, &why) != STATUS_OK ||
        group_code_read(def->group, def->group_bytes, GROUP_CODE_ALL, &resume->memory,
                        &resume->code, &why) != STATUS_OK) {
        return why.status == STATUS_RESOURCE_EXHAUSTED ? refuse(&why, error)
                                                       : refuse_definition(why.message, error);
    }
    if (def->world_count != resume->row.world_count ||
        def->world_range != resume->row.world_range ||
        def->dynamics_version != resume->row.dynamics_version) {
        return refuse_definition("the recording's row says something else", error);
    }
    if (def->world_count != resume->code.def.count || def->world_range > GROUP_RANGE_MAX ||
        group_def_check(&resume->code.def, &why) != STATUS_OK) {
        return refuse_definition("it is of no group", error);
    }
    return STATUS_OK;
}

static Status make_ranges(Resume *resume, Error *error) {
    const uint32_t worlds = resume->recording.world_count;
    resume->range_worlds =
        resume->recording.world_range < worlds ? resume->recording.world_range : worlds;
    resume->range_count = (worlds - 1) / resume->range_worlds + 1;
    resume->range = arena_take_zeroed(&resume->memory, resume->range_count, sizeof(*resume->range));
    if (resume->range == NULL) {
        return out_of_memory(error);
    }
    for (uint32_t i = 0; i < resume->range_count; i++) {
        const uint32_t left = worlds - i * resume->range_worlds;
        resume->range[i].count = left < resume->range_worlds ? left : resume->range_worlds;
    }
    return STATUS_OK;
}

EpisodeRow resume_row(const Resume *resume, uint32_t range) {
    EpisodeRow row = resume->row;
    row.world_index = (uint64_t)range * resume->range_worlds;
    return row;
}

void resume_note(Resume *resume, const char *message) {
    ResumeFacts *facts = &resume->facts;
    for (size_t i = 0; i < facts->damage_count; i++) {
        if (strcmp(facts->damage[i], message) == 0) {
            return;
        }
    }
    if (facts->damage_count < RESUME_DAMAGES_MAX) {
        char *to = facts->damage[facts->damage_count++];
        snprintf(to, sizeof(facts->damage[0]), "%s", message);
    }
}

// ---- life

static Status open_recording(Resume *resume, LogReader *reader, const Stop *stop, Error *error) {
    Error why = {0};
    if (log_reader_recording(reader, resume->def.recording, &resume->row, &why) != STATUS_OK) {
        return refuse(&why, error);
    }
    memcpy(resume->facts.recording, resume->row.recording_uid, UID_BYTES);
    Status status = check_row(&resume->row, error);
    status = STATUS_THEN(status, read_definition(resume, reader, error));
    status = STATUS_THEN(
        status, wardrobe_fill(&resume->wardrobe, reader, &resume->row, &resume->def.limits, error));
    status = STATUS_THEN(status, make_ranges(resume, error));
    return STATUS_THEN(status, resume_plan(resume, reader, stop, error));
}

Status resume_open(Resume **resume, const ResumeDef *def, LogReader *reader, const Stop *stop,
                   Error *error) {
    Resume *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return out_of_memory(error);
    }
    made->def = *def;
    arena_init(&made->memory, def->limits.bytes_max);
    Status status = open_recording(made, reader, stop, error);
    if (status != STATUS_OK) {
        resume_close(made);
        return status;
    }
    *resume = made;
    return STATUS_OK;
}

void resume_close(Resume *resume) {
    if (resume == NULL) {
        return;
    }
    for (uint32_t i = 0; resume->range != NULL && i < resume->range_count; i++) {
        resume_drop_work(&resume->range[i]);
    }
    wardrobe_empty(&resume->wardrobe);
    arena_deinit(&resume->memory);
    free(resume);
}

size_t resume_bytes(const Resume *resume) {
    return sizeof(*resume) + resume->memory.total_bytes;
}

const GroupDef *resume_def(const Resume *resume) {
    return &resume->code.def;
}

const char *resume_name(const Resume *resume) {
    return resume->recording.world_name;
}

Status resume_template(const Resume *resume, World **world, Error *error) {
    Error why = {0};
    Status status = snapshot_read(resume->code.snapshot, resume->code.snapshot_bytes,
                                  &resume->def.limits, world, &why);
    if (status == STATUS_OK || status == STATUS_RESOURCE_EXHAUSTED) {
        return status == STATUS_OK ? status : refuse(&why, error);
    }
    wardrobe_explain(&resume->wardrobe, &why);
    return refuse_definition(why.message, error);
}

uint32_t resume_range_worlds(const Resume *resume) {
    return resume->range_worlds;
}

const ResumeFacts *resume_facts(const Resume *resume) {
    return &resume->facts;
}

// ---- what is lost

typedef struct EndCount {
    const Resume *resume;
    const Stop *stop;
    uint64_t seen, lost, told;
} EndCount;

static bool count_end(uint64_t world, uint64_t call, bool is_complete, void *context) {
    enum { LOOK = 4096 };
    EndCount *count = context;
    const uint64_t range = world / count->resume->range_worlds;
    if (range < count->resume->range_count) { // else the row is damaged
        const bool is_lost = call > count->resume->range[range].steps;
        count->lost += is_lost;
        count->told += !is_lost && is_complete;
    }
    return ++count->seen % LOOK != 0 || !stop_is_asked(count->stop);
}

Status resume_count(Resume *resume, LogReader *reader, const Stop *stop, Error *error) {
    EndCount count = {.resume = resume, .stop = stop};
    Status status = log_reader_ends(reader, &resume->row, count_end, &count, error);
    uint64_t finished = 0;
    for (uint32_t i = 0; i < resume->range_count; i++) {
        finished += resume->range[i].finished;
    }
    resume->facts.episodes_lost = count.lost;
    resume->facts.episodes_untold = finished > count.told ? finished - count.told : 0;
    return status;
}
