// SPDX-License-Identifier: MIT
// The list of a range's episodes against the calls on it: each episode that a call ended stands in
// the list once, from the call that it began with to that one. Fed with the chunks of finished
// episodes, with the range's first key-frame where the group went on from a recording, and with the
// calls in order. Reads no file: the server's and the page's proof are this.
#pragma once

#include "log/format/chunk.h"
#include "run/groups/input.h"

enum { GROUP_LISTED_BYTES = 256 }; // of a sentence

typedef struct GroupListed GroupListed;

// `first_world` is the range's. NULL: memory ended.
GroupListed *group_listed_create(uint64_t first_world, uint32_t world_range, size_t bytes_max);
void group_listed_destroy(GroupListed *listed); // Nullable
size_t group_listed_bytes(const GroupListed *listed);

// All: DATA_LOSS of what is damaged, RESOURCE_EXHAUSTED.
Status group_listed_records(GroupListed *listed, const Chunk *episodes, Error *error);
Status group_listed_keyframe(GroupListed *listed, const Chunk *keyframe, Error *error);
Status group_listed_call(GroupListed *listed, const GroupInput *input, Error *error);

// All calls of a chunk, which must go on where the one before it ended.
Status group_listed_calls(GroupListed *listed, const Chunk *inputs, Error *error);

// Behind the last call. True: they are the same. `is_whole`: by its seal; what was broken off may
// lack episodes of its end, in the order of the calls.
Status group_listed_compare(GroupListed *listed, bool is_whole, bool *is_same,
                            char sentence[GROUP_LISTED_BYTES], Error *error);
