// SPDX-License-Identifier: MIT
// The list of a group's episodes, one to one with the calls: where a call on the range ends an
// episode of a world, the list has it, once, from the call that it began with. What was sealed as a
// list by somebody who makes checksums right again may leave episodes out, double or move them; the
// calls, which are stepped again and hashed, say which there are.
//
// Of an episode that a reset or the end of the group cut off the calls say where it began and had
// its last hash; whether there was anything of it they do not: it may be missing.
#pragma once

#include "replay/player/player.h"

typedef struct GroupList GroupList;

// Of the range in which the episode's world is. `is_sealed`: whoever recorded it ended it, and
// nothing may be missing at its end. NULL when memory ends.
GroupList *group_list_open(const EpisodeRow *episode, bool is_sealed, size_t bytes_max);
void group_list_close(GroupList *list); // Nullable
size_t group_list_bytes(const GroupList *list);

// Some of it, until `until_ns`. *is_over: all was seen, or a chunk is damaged, which others tell;
// *difference is the first that was found.
Status group_list_work(GroupList *list, LogReader *reader, uint64_t until_ns,
                       const Context *context, bool *is_over, PlayerDifference *difference,
                       Error *error);
