// SPDX-License-Identifier: MIT
// Calls on many worlds at once (WorldStep, WorldHash): one job per world in that world's own
// strand, joined by a counter; the last one to finish makes the reply. A world that fails says why
// and does not disturb the others.
#pragma once

#include "api/request.h"
#include "wire/step_codec.h"

typedef struct Batch Batch;

// The work on one world.
typedef struct BatchItem {
    Job job;
    Batch *batch;
    WorldEntry *world;  // retained; NULL: unknown, failed before it began
    const Input *order; // in the request's arena; NULL: only the hash is asked for
    bool begun;         // its result's `run` is set
    Arena *arena; // what the lane may take from: the request's when the batch has one world, else
                  // the lane's part of the batch's
} BatchItem;

// What an item seldom needs, apart from it: not cleared, each is set where it is used.
typedef struct BatchReserve {
    BatchItem *item;
    LogWait wait; // for the recorder to catch up
} BatchReserve;

// What lanes need of it stands in one cache line.
struct Batch {
    Request *request;
    StepResults results; // its results: while a lane works on the only world, the lane's
    BatchItem *item;     // [results.count]
    void (*reply)(Batch *batch, Lane *lane); // called once, on a lane or on the loop (lane NULL)
    _Atomic size_t left;                     // items not yet done on their lanes
    BatchReserve *reserve;                   // [results.count]
    size_t unfinished;                       // items whose job's `done` is to come; loop thread

    // of several worlds: borrowed of the host until the batch is over
    StockArena memory;       // results and reserve
    StockArena *lane_memory; // [of the pool], of each lane: what worlds copied, until all are done
};

// Finds the worlds (all listed, none twice) and makes their items; unknown ones will be failed
// results. A call without worlds is refused.
Status batch_prepare(Request *request, size_t count, const uint64_t *worlds, Batch **batch,
                     Error *error);

// Submits every item; from here on, unless it fails, the batch answers and frees itself.
Status batch_submit(Batch *batch, Error *error);

// The statuses of failed worlds as messages, in the request's arena; NULL with *count 0 when none
// failed or memory ended.
Moreau__V1__Status **batch_failures(const Batch *batch, size_t *count);

// The status of the whole reply: OK, or, when every world failed, the first failure.
void batch_status(const Batch *batch, Error *error);
