// SPDX-License-Identifier: MIT
#include "replay/verify/group_list.h"

#include "os/clock.h"
#include "replay/player/group_calls.h"
#include "run/groups/listed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum ListStage { LIST_RECORDS, LIST_KEYFRAME, LIST_CALLS, LIST_OVER } ListStage;

struct GroupList {
    const EpisodeRow *episode; // borrowed
    bool is_sealed;
    bool is_given_up; // of what is damaged nothing can be said; others tell of it
    ListStage stage;
    Track records;
    GroupCalls calls;
    GroupListed *listed; // owned
};

GroupList *group_list_open(const EpisodeRow *episode, bool is_sealed, size_t bytes_max) {
    GroupList *made = calloc(1, sizeof(*made));
    const uint64_t first = episode->world_index / episode->world_range * episode->world_range;
    GroupListed *listed = group_listed_create(first, (uint32_t)episode->world_range, bytes_max);
    if (made == NULL || listed == NULL) {
        group_listed_destroy(listed);
        free(made);
        return NULL;
    }
    made->episode = episode;
    made->is_sealed = is_sealed;
    made->listed = listed;
    made->records.kind = CHUNK_EPISODES;
    arena_init(&made->records.arena, bytes_max);
    group_calls_init(&made->calls, bytes_max);
    return made;
}

void group_list_close(GroupList *list) {
    if (list == NULL) {
        return;
    }
    arena_deinit(&list->records.arena);
    group_calls_deinit(&list->calls);
    group_listed_destroy(list->listed);
    free(list);
}

size_t group_list_bytes(const GroupList *list) {
    return sizeof(*list) + list->records.arena.total_bytes + list->calls.inputs.arena.total_bytes +
           group_listed_bytes(list->listed);
}

static Status give_up(GroupList *list) {
    list->is_given_up = true;
    list->stage = LIST_OVER;
    return STATUS_OK;
}

// Only memory is anybody's failure.
static Status judge(GroupList *list, Status status, const Error *why, Error *error) {
    if (status == STATUS_RESOURCE_EXHAUSTED) {
        *error = *why;
        return status;
    }
    return status == STATUS_OK ? STATUS_OK : give_up(list);
}

static Status take_records(GroupList *list, LogReader *reader, Error *error) {
    Track *track = &list->records;
    Error why = {0};
    Status status = track_load(track, list->episode, reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (!track->is_loaded) {
        list->stage = LIST_KEYFRAME;
        return STATUS_OK;
    }
    if (track->damage.status != STATUS_OK) {
        return give_up(list);
    }
    return judge(list, group_listed_records(list->listed, &track->chunk.chunk, &why), &why, error);
}

// Of a group that went on from a recording: which episodes were under way.
static Status take_keyframe(GroupList *list, LogReader *reader, Error *error) {
    LogChunk chunk = {0};
    Error why = {0};
    Arena *arena = &list->records.arena;
    arena_reset(arena);
    const Status status =
        log_reader_at(reader, list->episode, CHUNK_KEYFRAME, 0, arena, &chunk, error);
    list->stage = LIST_CALLS;
    if (status == STATUS_DATA_LOSS) {
        return give_up(list);
    }
    if (status != STATUS_OK || chunk.chunk.first_step != 0) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    return judge(list, group_listed_keyframe(list->listed, &chunk.chunk, &why), &why, error);
}

static Status take_call(GroupList *list, LogReader *reader, Error *error) {
    GroupCalls *calls = &list->calls;
    switch (group_calls_next(calls, list->episode, reader, error)) {
    case GROUP_MET_CALL:
        calls->count++;
        return group_listed_call(list->listed, &calls->input, error);
    case GROUP_MET_END:
        list->stage = LIST_OVER;
        return STATUS_OK;
    case GROUP_MET_DAMAGE:
        return give_up(list);
    case GROUP_MET_FAILURE:
        return error->status;
    }
    return STATUS_OK;
}

static Status compare(GroupList *list, PlayerDifference *difference, Error *error) {
    bool is_same = true;
    char sentence[GROUP_LISTED_BYTES];
    if (list->is_given_up) {
        return STATUS_OK;
    }
    const Status status =
        group_listed_compare(list->listed, list->is_sealed, &is_same, sentence, error);
    if (status == STATUS_OK && !is_same) {
        *difference =
            (PlayerDifference){.found = true, .is_damage = true, .chunk_kind = CHUNK_EPISODES};
        snprintf(difference->quantity, sizeof(difference->quantity), "episodes");
        snprintf(difference->message, sizeof(difference->message), "%s", sentence);
    }
    return status;
}

Status group_list_work(GroupList *list, LogReader *reader, uint64_t until_ns,
                       const Context *context, bool *is_over, PlayerDifference *difference,
                       Error *error) {
    Status status = STATUS_OK;
    *is_over = false;
    for (unsigned i = 1; status == STATUS_OK && list->stage != LIST_OVER; i++) {
        switch (list->stage) {
        case LIST_RECORDS:
            status = take_records(list, reader, error);
            break;
        case LIST_KEYFRAME:
            status = take_keyframe(list, reader, error);
            break;
        case LIST_CALLS:
            status = take_call(list, reader, error);
            break;
        case LIST_OVER:
            break;
        }
        if (i % 16 == 0 && (clock_now_ns() >= until_ns || context_is_stopped(context))) {
            return status;
        }
    }
    *is_over = status == STATUS_OK;
    return STATUS_THEN(status, compare(list, difference, error));
}
