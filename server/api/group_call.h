// SPDX-License-Identifier: MIT
// Calls on the worlds of a group (GroupReset, GroupStep): cut along the group's blocks, one job per
// block in that block's own strand, so that calls on one world are in order; joined by a counter,
// the last block to finish makes the reply. A block gives its lane to others between two worlds.
#pragma once

#include "api/request.h"
#include "run/farm.h"
#include "wire/group_codec.h"

typedef struct GroupRun GroupRun;

// The rows of one block.
typedef struct GroupPart {
    Job job;
    GroupRun *run;
    GroupBlock *block;
    size_t row, end; // the next one to be carried out
} GroupPart;

struct GroupRun {
    Request *request;
    GroupEntry *entry; // retained
    GroupCall call;
    StockArena memory; // borrowed of the host until the run is over, where it is_lent
    bool is_lent;
    GroupPart *part;
    size_t part_count;
    _Atomic size_t left; // parts not yet done on their lanes
    size_t unfinished;   // parts whose job's `done` is to come; loop thread
};

// Which worlds a call names.
typedef struct GroupMask {
    bool is_given;
    const uint8_t *bytes;
    size_t count;
} GroupMask;

// Finds the group and the worlds. From here on the request releases what the run holds.
Status group_run_prepare(Request *request, uint64_t group, GroupMask mask, GroupRun **run,
                         Error *error);

// Submits every part, when the call is filled; from here on, unless it fails, the run answers and
// ends by itself.
Status group_run_submit(GroupRun *run, Error *error);
