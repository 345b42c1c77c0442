// SPDX-License-Identifier: MIT
// Memory for one request or one step: taken piece by piece, given back all at once.
//
// An arena is a chain of blocks. When a chain was needed, the next full reset replaces it by one
// block of the whole size, so that in a steady state nothing is allocated. Pieces are aligned to 64
// bytes and never move. Not thread-safe: an arena belongs to whoever runs the request or the step.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct ArenaBlock ArenaBlock;

typedef struct Arena {
    ArenaBlock *block;     // owned; the newest block, the one that pieces are taken from
    size_t used_bytes;     // of the newest block …
    size_t capacity_bytes; // … and how many it holds
    size_t total_bytes;    // of all blocks
    size_t limit_bytes;    // total_bytes never exceeds it
} Arena;

typedef struct ArenaMark {
    ArenaBlock *block;
    size_t used_bytes;
} ArenaMark;

// Takes no memory yet.
void arena_init(Arena *arena, size_t limit_bytes);
void arena_deinit(Arena *arena);

// Uninitialised memory, borrowed until the arena is reset past it. Returns NULL when the limit or
// the machine's memory is reached. Zero bytes give a valid pointer.
void *arena_take(Arena *arena, size_t bytes);

// `count` items of `size` bytes; NULL also when the product overflows.
void *arena_take_array(Arena *arena, size_t count, size_t size);
void *arena_take_zeroed(Arena *arena, size_t count, size_t size);

// Asks for the next `bytes` that are going to be taken, as far as they are there, to be brought
// into the cache: they come together while other work goes on, instead of one by one.
void arena_prefetch(const Arena *arena, size_t bytes);

// Everything taken after the mark is given back. Marks nest.
ArenaMark arena_mark(const Arena *arena);
void arena_reset_to(Arena *arena, ArenaMark mark);

// Gives everything back and merges the blocks into one.
void arena_reset(Arena *arena);

// The same, and gives the memory back to the machine when it is more than `bytes`: after one huge
// piece of work.
void arena_reset_and_trim(Arena *arena, size_t bytes);
