// SPDX-License-Identifier: MIT
#include "replay/group_list.h"

#include "base/array.h"
#include "log/definition.h"
#include "os/clock.h"
#include "replay/group_calls.h"
#include "run/group_keyframe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// An episode, by its calls.
typedef struct Listed {
    uint32_t world; // in the range
    bool is_cut;    // nothing in the calls ended it
    uint64_t begun, ended;
} Listed;

typedef struct ListedArray {
    Listed *item;
    size_t count, capacity;
} ListedArray;

// What a world is doing, between two calls.
typedef struct Under {
    bool is_open;
    uint64_t begun, hashed; // calls, from 1
} Under;

typedef enum ListStage { LIST_RECORDS, LIST_KEYFRAME, LIST_CALLS, LIST_OVER } ListStage;

struct GroupList {
    const EpisodeRow *episode; // borrowed
    bool is_sealed;
    size_t bytes_max;
    ListStage stage;
    Track records;
    GroupCalls calls;
    ListedArray said, done; // by the list, and by the calls
    Under under[GROUP_RANGE_MAX];
};

GroupList *group_list_open(const EpisodeRow *episode, bool is_sealed, size_t bytes_max) {
    GroupList *made = calloc(1, sizeof(*made));
    if (made != NULL) {
        made->episode = episode;
        made->is_sealed = is_sealed;
        made->bytes_max = bytes_max;
        made->records.kind = CHUNK_EPISODES;
        arena_init(&made->records.arena, bytes_max);
        group_calls_init(&made->calls, bytes_max);
    }
    return made;
}

void group_list_close(GroupList *list) {
    if (list == NULL) {
        return;
    }
    arena_deinit(&list->records.arena);
    group_calls_deinit(&list->calls);
    free(list->said.item);
    free(list->done.item);
    free(list);
}

size_t group_list_bytes(const GroupList *list) {
    return sizeof(*list) + list->records.arena.total_bytes + list->calls.inputs.arena.total_bytes +
           (list->said.capacity + list->done.capacity) * sizeof(Listed);
}

static Status add(GroupList *list, ListedArray *array, Listed item, Error *error) {
    if ((array->count + 1) * sizeof(item) > list->bytes_max ||
        !ARRAY_RESERVE(array->item, array->capacity, array->count + 1)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while comparing a group's episodes with its calls.");
    }
    array->item[array->count++] = item;
    return STATUS_OK;
}

// Of what is damaged nothing can be said; others tell of it.
static Status give_up(GroupList *list) {
    list->said.count = list->done.count = 0;
    list->stage = LIST_OVER;
    return STATUS_OK;
}

// ---- what the list says

static Status take_records(GroupList *list, LogReader *reader, Error *error) {
    Track *track = &list->records;
    const EpisodeRow *episode = list->episode;
    EpisodesChunk episodes;
    Error why;
    Status status = track_load(track, episode, reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (!track->is_loaded) {
        list->stage = LIST_KEYFRAME;
        return STATUS_OK;
    }
    if (track->damage.status != STATUS_OK ||
        episodes_open(&track->chunk.chunk, &episodes, &why) != STATUS_OK) {
        return give_up(list);
    }
    const uint64_t range = episode->world_index / episode->world_range;
    for (size_t i = 0; i < episodes.count && status == STATUS_OK; i++) {
        EpisodeRecord record;
        episodes_get(&episodes, i, &record);
        if (record.world / episode->world_range == range) {
            const Listed item = {.world = (uint32_t)(record.world % episode->world_range),
                                 .is_cut = record.state != RECORDING_COMPLETE,
                                 .begun = record.first_step,
                                 .ended = record.last_step};
            status = add(list, &list->said, item, error);
        }
    }
    return status;
}

// ---- what the calls say

// Of a group that went on from a recording: which episodes were under way.
static Status take_keyframe(GroupList *list, LogReader *reader, Error *error) {
    LogChunk chunk = {0};
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
    GroupKeyframe keyframe;
    GroupKeyframeWorld world;
    Error why;
    if (group_keyframe_open(chunk.chunk.body, chunk.chunk.body_bytes, &keyframe, &why) !=
        STATUS_OK) {
        return give_up(list);
    }
    for (size_t i = 0; i < keyframe.count && i < GROUP_RANGE_MAX; i++) {
        if (group_keyframe_next(&keyframe, &world, &why) != STATUS_OK) {
            return give_up(list);
        }
        list->under[i].is_open = world.is_running;
    }
    return STATUS_OK;
}

static Status end_one(GroupList *list, uint32_t world, bool is_cut, uint64_t ended, Error *error) {
    Under *under = &list->under[world];
    const Listed item = {.world = world, .is_cut = is_cut, .begun = under->begun, .ended = ended};
    under->is_open = false;
    return add(list, &list->done, item, error);
}

// As the recorder follows them.
static Status follow(GroupList *list, uint32_t world, Error *error) {
    const GroupInput *input = &list->calls.input;
    const uint64_t bit = (uint64_t)1 << world, call = list->calls.count + 1;
    Under *under = &list->under[world];
    Status status = STATUS_OK;
    if (input->kind == INPUT_GROUP_RESET && under->is_open) {
        status = end_one(list, world, true, under->hashed, error);
    } else if ((input->ended & bit) != 0) {
        status = end_one(list, world, false, call, error);
    }
    if ((input->hashed & bit) != 0) {
        under->begun = under->is_open ? under->begun : call;
        under->is_open = true;
        under->hashed = call;
    }
    return status;
}

static Status take_call(GroupList *list, LogReader *reader, Error *error) {
    GroupCalls *calls = &list->calls;
    Status status = STATUS_OK;
    switch (group_calls_next(calls, list->episode, reader, error)) {
    case GROUP_MET_CALL:
        for (uint64_t left = calls->input.named; left != 0 && status == STATUS_OK;
             left &= left - 1) {
            status = follow(list, (uint32_t)__builtin_ctzll(left), error);
        }
        calls->count++;
        return status;
    case GROUP_MET_END:
        for (uint32_t i = 0; i < GROUP_RANGE_MAX && status == STATUS_OK; i++) {
            status = list->under[i].is_open ? end_one(list, i, true, list->under[i].hashed, error)
                                            : STATUS_OK;
        }
        list->stage = LIST_OVER;
        return status;
    case GROUP_MET_DAMAGE:
        return give_up(list);
    case GROUP_MET_FAILURE:
        return error->status;
    }
    return STATUS_OK;
}

// ---- one to one

static int compare_listed(const void *left, const void *right) {
    const Listed *a = left, *b = right;
    if (a->world != b->world) {
        return a->world < b->world ? -1 : 1;
    }
    if (a->begun != b->begun) {
        return a->begun < b->begun ? -1 : 1;
    }
    if (a->is_cut != b->is_cut) {
        return a->is_cut ? 1 : -1;
    }
    return a->ended < b->ended ? -1 : a->ended > b->ended;
}

static void tell(const GroupList *list, const Listed *item, const char *what,
                 PlayerDifference *difference) {
    *difference =
        (PlayerDifference){.found = true, .is_damage = true, .chunk_kind = CHUNK_EPISODES};
    const uint64_t first =
        list->episode->world_index / list->episode->world_range * list->episode->world_range;
    snprintf(difference->quantity, sizeof(difference->quantity), "episodes");
    snprintf(difference->message, sizeof(difference->message),
             "The episode of world %" PRIu64 " from call %" PRIu64 " to %" PRIu64 " %s.",
             first + item->world, item->begun, item->ended, what);
}

static void sort(ListedArray *array) {
    if (array->count > 0) {
        qsort(array->item, array->count, sizeof(*array->item), compare_listed);
    }
}

// Of a recording that was broken off episodes of the end may be missing, in the order of the calls.
static uint64_t whole_until(const GroupList *list) {
    uint64_t last = 0;
    for (size_t i = 0; i < list->said.count; i++) {
        last = list->said.item[i].ended > last ? list->said.item[i].ended : last;
    }
    return list->is_sealed ? UINT64_MAX : last;
}

static void compare(GroupList *list, PlayerDifference *difference) {
    sort(&list->said);
    sort(&list->done);
    const uint64_t whole = whole_until(list);
    size_t at = 0;
    for (size_t i = 0; i < list->done.count && !difference->found; i++) {
        const Listed *done = &list->done.item[i];
        const int order = at < list->said.count ? compare_listed(&list->said.item[at], done) : 1;
        if (order < 0) {
            tell(list, &list->said.item[at],
                 "stands in the list of episodes, and the calls know none or only one", difference);
        } else if (order == 0) {
            at++;
        } else if (!done->is_cut && done->ended < whole) {
            tell(list, done, "was ended by its calls, and stands in no list of episodes",
                 difference);
        }
    }
    if (!difference->found && at < list->said.count) {
        tell(list, &list->said.item[at],
             "stands in the list of episodes, and the calls know none or only one", difference);
    }
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
    if (status == STATUS_OK) {
        *is_over = true;
        compare(list, difference);
    }
    return status;
}
