// SPDX-License-Identifier: MIT
// Work in blocks that may be done at once, by threads that whoever runs it lends. The dynamics own
// no thread: without any, blocks are done one after the other, and the bits are the same. That
// asks of a block that it writes only what is its own and reads what no block of its call writes;
// sums over blocks are made afterwards, in their order. Only what comes out the same whoever is
// first may be shared, as atomics: the forest of solve/island.c.
//
// A block is to be some 10 to 50 us of work: handing one over costs far less, and a thread that
// helps looks only between two blocks whether it is needed elsewhere. What would not fill two
// blocks is handed over as one, and costs nothing. Threads that wait for the next call do so for
// some 50 us.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef void TaskBlock(void *work, uint32_t block);

// `run` calls `block` once for each of [0, count), in any order and on any thread, and returns when
// all are done. Blocks do not call it themselves, and fail by leaving a mark in their work.
typedef struct Tasks {
    void (*run)(void *lender, TaskBlock *block, void *work, uint32_t count);
    void *lender;
} Tasks;

// How many blocks of `size` hold `count`.
static inline uint32_t tasks_blocks(size_t count, size_t size) {
    return (uint32_t)((count + size - 1) / size);
}

static inline void tasks_run(const Tasks *tasks, TaskBlock *block, void *work, uint32_t count) {
    if (tasks != NULL && count > 1) {
        tasks->run(tasks->lender, block, work, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        block(work, i);
    }
}
