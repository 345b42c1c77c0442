// SPDX-License-Identifier: MIT
// Calls on many worlds at once (WorldStep, WorldHash, WorldRayCast): one job per world in that
// world's own strand, joined by a counter; the last one to finish makes the reply. A world that
// fails says why and does not disturb the others, and the call is OK, also when it is the only
// world or all fail.
//
// What the reply takes must be known before any world is stepped. It depends on how many bodies and
// joints the worlds have when their turns come; these are the published ones unless some world is
// changing. Then the worlds *meet*: each waits in front of its step until all have counted theirs.
#pragma once

#include "api/request.h"
#include "wire/step_codec.h"

typedef struct Batch Batch;

// The work on one world.
typedef struct BatchItem {
    Job job;
    Batch *batch;
    WorldEntry *world;   // retained; NULL: unknown, failed before it began
    const Input *order;  // in the request's arena; NULL: only the hash is asked for
    const Input *joints; // likewise: what is set before the first step; NULL: nothing
    bool begun;          // its result's `run` is set
    bool has_met;        // it has counted its bodies and joints
    bool has_faulted;    // a step of it: its reserve says which
    Arena *arena; // what the lane may take from: the request's when the batch has one world, else
                  // the lane's part of the batch's
} BatchItem;

// What an item seldom needs, apart from it: not cleared, each is set where it is used.
typedef struct BatchReserve {
    BatchItem *item;
    LogWait wait;    // for the recorder to catch up
    StepFault fault; // of a step that was undone
} BatchReserve;

// What lanes need of it stands in one cache line.
struct Batch {
    Request *request;
    StepResults results; // its results: while a lane works on the only world, the lane's
    BatchItem *item;     // [results.count]
    // Nullable; on the lane of a world without an order: fills what is asked of it, or its error
    void (*ask)(BatchItem *item, StepResult *result);
    void *asked;                             // what `ask` and `reply` need
    bool is_long;                            // `ask` is work for a long lane
    void (*reply)(Batch *batch, Lane *lane); // called once, on a lane or on the loop (lane NULL)
    _Atomic size_t left;                     // items not yet done on their lanes
    BatchReserve *reserve;                   // [results.count]
    size_t unfinished;                       // items whose job's `done` is to come; loop thread

    // of several worlds: borrowed of the host until the batch is over
    StockArena memory;       // results and reserve
    StockArena *lane_memory; // [of the pool], of each lane: what worlds copied, until all are done

    bool has_unknown; // some of the worlds
    bool meets;
    _Atomic size_t awaited;                                       // items that have not met yet
    _Atomic uint64_t bodies, joints, joint_axes, joint_positions; // of the worlds that have
    size_t refused_bytes; // > 0: the reply would be so long, so nothing is stepped
};

// Finds the worlds (all listed, none twice) and makes their items; unknown ones will be failed
// results. A call without worlds is refused.
Status batch_prepare(Request *request, size_t count, const uint64_t *worlds, Batch **batch,
                     Error *error);

// Submits every item; from here on, unless it fails, the batch answers and frees itself.
Status batch_submit(Batch *batch, Error *error);

// The statuses of failed worlds as messages, in the request's arena; NULL with *count 0 when none
// failed. When not all of their texts fit into `texts_bytes_max`, the last ones have none. False:
// memory ended.
bool batch_failures(Batch *batch, size_t texts_bytes_max, Moreau__V1__Status ***list,
                    size_t *count);

// What is left of a frame for the texts of failures, beside so many bytes of columns.
size_t batch_texts_bytes_max(const Batch *batch, size_t bytes);

// What each failure takes beside its texts.
enum { BATCH_FAILURE_BYTES_MAX = 48 };

// The status of the whole reply: OK, or why the call was stopped.
void batch_status(const Batch *batch, Moreau__V1__Status *const *failures, size_t count,
                  Error *error);
