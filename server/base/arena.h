// SPDX-License-Identifier: MIT
// Memory for one request or one step: taken piece by piece, given back all at once.
//
// An arena is a chain of blocks. When a chain was needed, the next full reset replaces it by one
// block of the size that it had at its longest, so that in a steady state nothing is allocated.
// Pieces are aligned to 64 bytes and never move. Not thread-safe: an arena belongs to whoever runs
// the request or the step.
#pragma once

#include "base/budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ARENA_ALIGNMENT = 64 };

// The header fills one alignment unit, so that the data that follows starts aligned.
typedef struct ArenaBlock {
    _Alignas(ARENA_ALIGNMENT) struct ArenaBlock *previous;
    size_t capacity_bytes; // of the data
    _Alignas(ARENA_ALIGNMENT) unsigned char data[];
} ArenaBlock;

typedef struct Arena {
    ArenaBlock *block;     // owned; the newest block, the one that pieces are taken from
    size_t used_bytes;     // of the newest block …
    size_t capacity_bytes; // … and how many it holds
    size_t total_bytes;    // of all blocks
    size_t peak_bytes;     // … at most, since the last full reset
    size_t limit_bytes;    // total_bytes never exceeds it
    Budget *budget;        // Nullable, borrowed: blocks are taken out of it as well
} Arena;

typedef struct ArenaMark {
    ArenaBlock *block;
    size_t used_bytes;
} ArenaMark;

// Takes no memory yet.
void arena_init(Arena *arena, size_t limit_bytes);
// One of several that share a budget, which must outlive it.
void arena_init_sharing(Arena *arena, Budget *budget);
void arena_deinit(Arena *arena);

// arena_take when the newest block is too full for `bytes` > 0: from a new one.
void *arena_take_from_new(Arena *arena, size_t bytes);

// Uninitialised memory, borrowed until the arena is reset past it. Returns NULL when the limit or
// the machine's memory is reached. Zero bytes give a valid pointer. In the header, as a step of a
// small world takes some forty pieces.
static inline void *arena_take(Arena *arena, size_t bytes) {
    size_t wanted = bytes + (bytes == 0);
    if (wanted > arena->capacity_bytes - arena->used_bytes) {
        return arena_take_from_new(arena, wanted);
    }
    // the room is of whole alignment units, so the rounded piece fits as well
    void *piece = arena->block->data + arena->used_bytes;
    arena->used_bytes += (wanted + (ARENA_ALIGNMENT - 1)) & ~(size_t)(ARENA_ALIGNMENT - 1);
    return piece;
}

// `count` items of `size` bytes; NULL also when the product overflows.
static inline void *arena_take_array(Arena *arena, size_t count, size_t size) {
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : arena_take(arena, bytes);
}

static inline void *arena_take_zeroed(Arena *arena, size_t count, size_t size) {
    void *piece = arena_take_array(arena, count, size);
    return piece == NULL ? NULL : memset(piece, 0, count * size);
}

// Asks for the next `bytes` that are going to be taken, as far as they are there, to be brought
// into the cache: they come together while other work goes on, instead of one by one.
void arena_prefetch(const Arena *arena, size_t bytes);

// Everything taken after the mark is given back. Marks nest. To a mark of an arena of which nothing
// was taken, it is a full reset.
ArenaMark arena_mark(const Arena *arena);
void arena_reset_to(Arena *arena, ArenaMark mark);

// Gives everything back and merges the blocks into one.
void arena_reset(Arena *arena);

// The same, and gives the memory back to the machine when it was more than `bytes`: after one huge
// piece of work.
void arena_reset_and_trim(Arena *arena, size_t bytes);
