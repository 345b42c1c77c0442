// SPDX-License-Identifier: MIT
// A call on worlds of a group under way: its rows, block by block, what it comes to and who follows
// it. group_call.h makes and runs them.
#pragma once

#include "api/request.h"
#include "run/groups/farm.h"

// What clients count of finished episodes, as each request of the family may bring it. It stays the
// caller's.
typedef struct GroupReturns {
    size_t world_count, value_count, doubtful_count;
    const uint32_t *world;
    const double *value;
    const double *doubtful; // the part earned in doubtful steps
} GroupReturns;

#define GROUP_RETURNS(message)                                                                     \
    ((GroupReturns){(message)->n_return_world, (message)->n_return_sum,                            \
                    (message)->n_return_doubtful, (message)->return_world, (message)->return_sum,  \
                    (message)->return_doubtful})

typedef struct GroupRun GroupRun;
typedef struct GroupPart GroupPart;

// What a run comes to, for its client.
typedef struct GroupAnswer {
    // lane: a part was carried out; whether its job is to be done with soon
    bool (*worked)(GroupRun *run, Lane *lane);
    void (*taken)(GroupRun *run, const GroupPart *part); // loop, then. Nullable
    bool has_opinions;                                   // tells those that are there
} GroupAnswer;

// Who keeps what a run does, beside its client: a hook is NULL where there is nothing to do.
typedef struct GroupFollower {
    void (*open)(GroupRun *run);                         // loop: its parts are about to begin
    bool (*must_wait)(GroupPart *part);                  // lane: the part is, before it begins
    void (*worked)(GroupPart *part);                     // lane: it was carried out
    void (*taken)(GroupRun *run, const GroupPart *part); // loop, then
    void (*close)(GroupRun *run);                        // loop: all were
    bool is_awaited;                                     // the group's next calls wait for close
} GroupFollower;

enum { GROUP_FOLLOWERS = 2 };

// The rows of one block.
struct GroupPart {
    Job job;
    GroupRun *run;
    GroupBlock *block;
    size_t first, next, end; // places in the run's order; the next one to be carried out
    size_t finished;         // episodes, of a group that is recorded
    GroupCase *kept;         // steps to be solved again
    LogWait wait;            // until the log has room
};

struct GroupRun {
    Request *request;
    GroupEntry *entry; // retained
    GroupCall call;
    const uint32_t *order; // its rows that are carried out; NULL: all
    size_t count;          // of them
    StockArena memory;     // borrowed of the host until the run is over, where it is_lent
    bool is_lent;
    GroupPart *part;
    size_t part_count;
    _Atomic size_t left; // parts not yet done on their lanes
    size_t unfinished;   // parts whose job's `done` is to come; loop thread
    // of a group that is recorded: what the call is to its recorder; room for an episode per place
    uint64_t recorded_call;
    EpisodeRecord *record;
    GroupReturns returns; // what its request brought, the message's
    // of a group with second opinions: its turn, what it is to them, and what its reply tells
    OpinionWait turn;
    uint64_t opinions_call;
    OpinionColumns told;
    const GroupAnswer *answer;
    const GroupFollower *follower[GROUP_FOLLOWERS]; // [follower_count]
    uint32_t follower_count;
};
