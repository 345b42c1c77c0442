// SPDX-License-Identifier: MIT
#include "run/groups/listed.h"

#include "base/array.h"
#include "base/assert.h"
#include "log/format/definition.h"
#include "log/format/entries.h"
#include "run/groups/keyframe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

struct GroupListed {
    uint64_t first_world;
    uint32_t world_range;
    size_t bytes_max;
    uint64_t calls;         // that were followed
    ListedArray said, done; // by the list, and by the calls
    Under under[GROUP_RANGE_MAX];
};

GroupListed *group_listed_create(uint64_t first_world, uint32_t world_range, size_t bytes_max) {
    GroupListed *made = calloc(1, sizeof(*made));
    if (made != NULL) {
        made->first_world = first_world;
        made->world_range = world_range;
        made->bytes_max = bytes_max;
    }
    return made;
}

void group_listed_destroy(GroupListed *listed) {
    if (listed != NULL) {
        free(listed->said.item);
        free(listed->done.item);
        free(listed);
    }
}

size_t group_listed_bytes(const GroupListed *listed) {
    return sizeof(*listed) + (listed->said.capacity + listed->done.capacity) * sizeof(Listed);
}

static Status add(const GroupListed *listed, ListedArray *array, Listed item, Error *error) {
    if ((array->count + 1) * sizeof(item) > listed->bytes_max ||
        !ARRAY_RESERVE(array->item, array->capacity, array->count + 1)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while comparing a group's episodes with its calls.");
    }
    array->item[array->count++] = item;
    return STATUS_OK;
}

// ---- what the list says

Status group_listed_records(GroupListed *listed, const Chunk *chunk, Error *error) {
    EpisodesChunk episodes;
    Status status = episodes_open(chunk, &episodes, error);
    for (size_t i = 0; status == STATUS_OK && i < episodes.count; i++) {
        EpisodeRecord record;
        episodes_get(&episodes, i, &record);
        if (record.world / listed->world_range == listed->first_world / listed->world_range) {
            const Listed item = {.world = (uint32_t)(record.world % listed->world_range),
                                 .is_cut = record.state != RECORDING_COMPLETE,
                                 .begun = record.first_step,
                                 .ended = record.last_step};
            status = add(listed, &listed->said, item, error);
        }
    }
    return status;
}

// ---- what the calls say

// Which episodes were under way.
Status group_listed_keyframe(GroupListed *listed, const Chunk *chunk, Error *error) {
    GroupKeyframe keyframe;
    GroupKeyframeWorld world;
    Status status = group_keyframe_open(chunk->body, chunk->body_bytes, &keyframe, error);
    for (size_t i = 0; status == STATUS_OK && i < keyframe.count && i < GROUP_RANGE_MAX; i++) {
        status = group_keyframe_next(&keyframe, &world, error);
        listed->under[i].is_open = status == STATUS_OK && world.is_running;
    }
    return status;
}

static Status end_one(GroupListed *listed, uint32_t world, bool is_cut, uint64_t ended,
                      Error *error) {
    Under *under = &listed->under[world];
    const Listed item = {.world = world, .is_cut = is_cut, .begun = under->begun, .ended = ended};
    under->is_open = false;
    return add(listed, &listed->done, item, error);
}

// As the recorder follows them.
static Status follow(GroupListed *listed, const GroupInput *input, uint32_t world, Error *error) {
    const uint64_t bit = (uint64_t)1 << world, call = listed->calls + 1;
    Under *under = &listed->under[world];
    Status status = STATUS_OK;
    if (input->kind == INPUT_GROUP_RESET && under->is_open) {
        status = end_one(listed, world, true, under->hashed, error);
    } else if ((input->ended & bit) != 0) {
        status = end_one(listed, world, false, call, error);
    }
    if ((input->hashed & bit) != 0) {
        under->begun = under->is_open ? under->begun : call;
        under->is_open = true;
        under->hashed = call;
    }
    return status;
}

Status group_listed_call(GroupListed *listed, const GroupInput *input, Error *error) {
    ASSERT(input != NULL);
    Status status = STATUS_OK;
    for (uint64_t left = input->named; left != 0 && status == STATUS_OK; left &= left - 1) {
        status = follow(listed, input, (uint32_t)__builtin_ctzll(left), error);
    }
    listed->calls++;
    return status;
}

static Status damaged(const char *what, Error *error) {
    return error_set(error, STATUS_DATA_LOSS, NULL, "%s", what);
}

Status group_listed_calls(GroupListed *listed, const Chunk *inputs, Error *error) {
    size_t at = 0;
    Entry entry;
    GroupInput input;
    *error = (Error){0};
    if (inputs->first_step != listed->calls) {
        return damaged("it does not begin where the one before it ended", error);
    }
    while (entry_next(inputs->body, inputs->body_bytes, &at, &entry, error)) {
        const InputBytes encoded = {.bytes = entry.input, .count = entry.input_bytes};
        Status status = group_input_decode(encoded, &input, error);
        if (status == STATUS_OK &&
            (entry.step != listed->calls || entry.hash_count != group_input_hash_count(&input))) {
            status = damaged("it has a call out of its order, or without its hashes", error);
        }
        status = STATUS_THEN(status, group_listed_call(listed, &input, error));
        if (status != STATUS_OK) {
            return status;
        }
    }
    return error->status;
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

static void tell(const GroupListed *listed, const Listed *item, bool is_listed,
                 char sentence[GROUP_LISTED_BYTES]) {
    snprintf(sentence, GROUP_LISTED_BYTES,
             "The episode of world %" PRIu64 " from call %" PRIu64 " to %" PRIu64 " %s.",
             listed->first_world + item->world, item->begun, item->ended,
             is_listed ? "stands in the list of episodes, and the calls know none or only one"
                       : "was ended by its calls, and stands in no list of episodes");
}

static void sort(ListedArray *array) {
    if (array->count > 0) {
        qsort(array->item, array->count, sizeof(*array->item), compare_listed);
    }
}

// Of a recording that was broken off episodes of the end may be missing, in the order of the calls.
static uint64_t whole_until(const GroupListed *listed, bool is_whole) {
    uint64_t last = 0;
    for (size_t i = 0; i < listed->said.count; i++) {
        last = listed->said.item[i].ended > last ? listed->said.item[i].ended : last;
    }
    return is_whole ? UINT64_MAX : last;
}

static bool are_same(GroupListed *listed, uint64_t whole, char sentence[GROUP_LISTED_BYTES]) {
    const ListedArray *said = &listed->said, *done = &listed->done;
    size_t at = 0;
    sort(&listed->said);
    sort(&listed->done);
    for (size_t i = 0; i < done->count; i++) {
        const Listed *item = &done->item[i];
        const int order = at < said->count ? compare_listed(&said->item[at], item) : 1;
        if (order < 0) {
            break;
        }
        at += order == 0;
        if (order > 0 && !item->is_cut && item->ended < whole) {
            tell(listed, item, false, sentence);
            return false;
        }
    }
    if (at < said->count) {
        tell(listed, &said->item[at], true, sentence);
    }
    return at == said->count;
}

Status group_listed_compare(GroupListed *listed, bool is_whole, bool *is_same,
                            char sentence[GROUP_LISTED_BYTES], Error *error) {
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < GROUP_RANGE_MAX && status == STATUS_OK; i++) {
        status = listed->under[i].is_open ? end_one(listed, i, true, listed->under[i].hashed, error)
                                          : STATUS_OK;
    }
    *is_same = status == STATUS_OK && are_same(listed, whole_until(listed, is_whole), sentence);
    return status;
}
