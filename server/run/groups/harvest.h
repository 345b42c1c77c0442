// SPDX-License-Identifier: MIT
// The finished episodes of a group that is recorded, on their way into the log: in the order of the
// calls that finished them, whichever was over first. Each waits for the return that its client
// sends, where that was announced, until its steps that are solved again have been, and until its
// calls are on their way into the log: wherever a recording ends, an episode that it has it has
// whole. Then they are sealed in batches.
// Loop thread.
#pragma once

#include "access/use.h"
#include "log/log.h"
#include "run/groups/opinions.h"

typedef struct GroupHarvest GroupHarvest;

// Whether the log has been handed the calls on a world up to this step of its range.
typedef bool GroupStored(const void *context, uint32_t world, uint64_t step);

typedef struct GroupHarvestDef {
    Log *log;
    LogRecording *recording;
    Use *use;                  // Nullable: whose limit it ends at …
    _Atomic bool *has_reached; // … when this is set
    uint32_t worlds;
    double call_seconds; // simulated by a step of the group
    bool wants_returns;
    GroupOpinionDef opinion; // with a share, episodes wait until their steps are judged as well
    GroupStored *is_stored;
    const void *context;
} GroupHarvestDef;

// NULL when memory ends.
GroupHarvest *group_harvest_create(const GroupHarvestDef *def);
void group_harvest_destroy(GroupHarvest *harvest); // Nullable

uint64_t group_harvest_open_call(GroupHarvest *harvest);
uint64_t group_harvest_calls(const GroupHarvest *harvest); // opened so far
void group_harvest_take(GroupHarvest *harvest, uint64_t call, const EpisodeRecord *finished,
                        size_t count);
void group_harvest_close_call(GroupHarvest *harvest, uint64_t call);

// Of calls before this one; `doubtful` Nullable. What finds no episode is dropped once those are
// over.
void group_harvest_add_returns(GroupHarvest *harvest, uint64_t call, const uint32_t *world,
                               const double *value, const double *doubtful, size_t count);
bool group_harvest_want_returns(const GroupHarvest *harvest);

// What was found of the steps of a call, once for each, in their order, when it is over.
void group_harvest_judge(GroupHarvest *harvest, uint64_t call, const OpinionFound *found,
                         size_t count);

// Memory ended, and rows were lost: the recording is not whole.
bool group_harvest_have_failed(const GroupHarvest *harvest);

// Hands over what is there, `all`: also what waits for a return.
void group_harvest_flush(GroupHarvest *harvest, bool all);
