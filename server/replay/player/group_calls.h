// SPDX-License-Identifier: MIT
// The stored calls on one range of a group's worlds, one after the other.
#pragma once

#include "replay/player/track.h"
#include "log/format/entries.h"
#include "run/groups/input.h"

typedef struct GroupCalls {
    Track inputs;
    uint64_t count; // on the range, that are behind; whoever has carried one out counts it
    Entry entry;    // of the next one …
    GroupInput input;
} GroupCalls;

typedef enum GroupMet {
    GROUP_MET_CALL,
    GROUP_MET_END,    // there are no more chunks
    GROUP_MET_DAMAGE, // inputs.damage says of what
    GROUP_MET_FAILURE // of memory or the file as a whole
} GroupMet;

void group_calls_init(GroupCalls *calls, size_t bytes_max);
void group_calls_deinit(GroupCalls *calls);

// The next call is the first behind this place, in front of which are so many.
void group_calls_place(GroupCalls *calls, ChunkPlace place, uint64_t count);

// Looks at the next call, in the chunk at hand or the one behind it, which must go on where that
// one ended. `episode`: any of the range's worlds.
GroupMet group_calls_next(GroupCalls *calls, const EpisodeRow *episode, LogReader *reader,
                          Error *error);
