// SPDX-License-Identifier: MIT
#include "base/arena.h"

#include "base/assert.h"

#include <stdlib.h>

enum { ARENA_BLOCK_BYTES_MIN = 4096 };

static size_t round_up(size_t bytes) {
    return (bytes + (ARENA_ALIGNMENT - 1)) & ~(size_t)(ARENA_ALIGNMENT - 1);
}

void arena_init(Arena *arena, size_t limit_bytes) {
    *arena = (Arena){.limit_bytes = limit_bytes};
}

void arena_init_sharing(Arena *arena, Budget *budget) {
    *arena = (Arena){.limit_bytes = (size_t)budget->max_bytes, .budget = budget};
}

static void free_block(Arena *arena) {
    ArenaBlock *block = arena->block;
    arena->block = block->previous;
    arena->total_bytes -= block->capacity_bytes;
    if (arena->budget != NULL) {
        budget_give(arena->budget, block->capacity_bytes);
    }
    free(block);
}

// Gives all memory back; it may be used again.
static void empty(Arena *arena) {
    while (arena->block != NULL) {
        free_block(arena);
    }
    arena->used_bytes = arena->capacity_bytes = arena->peak_bytes = 0;
}

void arena_deinit(Arena *arena) {
    empty(arena);
    *arena = (Arena){0};
}

static bool take_from_budget(const Arena *arena, size_t bytes) {
    return arena->budget == NULL || budget_take(arena->budget, bytes);
}

static bool add_block(Arena *arena, size_t bytes) {
    // at least doubles the arena, so that the number of blocks stays logarithmic
    size_t capacity = bytes > arena->total_bytes ? bytes : arena->total_bytes;
    if (capacity < ARENA_BLOCK_BYTES_MIN) {
        capacity = ARENA_BLOCK_BYTES_MIN;
    }
    size_t room = arena->limit_bytes - arena->total_bytes;
    if (capacity > room) {
        capacity = room & ~(size_t)(ARENA_ALIGNMENT - 1);
    }
    if (capacity < bytes) {
        return false;
    }
    if (!take_from_budget(arena, capacity)) {
        capacity = bytes;
        if (!take_from_budget(arena, capacity)) {
            return false;
        }
    }
    ArenaBlock *block = aligned_alloc(ARENA_ALIGNMENT, sizeof(*block) + capacity);
    if (block == NULL) {
        if (arena->budget != NULL) {
            budget_give(arena->budget, capacity);
        }
        return false;
    }
    block->previous = arena->block;
    block->capacity_bytes = capacity;
    arena->block = block;
    arena->used_bytes = 0;
    arena->capacity_bytes = capacity;
    arena->total_bytes += capacity;
    if (arena->total_bytes > arena->peak_bytes) {
        arena->peak_bytes = arena->total_bytes;
    }
    return true;
}

void *arena_take_from_new(Arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2 || !add_block(arena, round_up(bytes))) {
        return NULL;
    }
    arena->used_bytes = round_up(bytes);
    return arena->block->data;
}

void arena_prefetch(const Arena *arena, size_t bytes) {
    if (arena->block == NULL) {
        return;
    }
    const unsigned char *next = arena->block->data + arena->used_bytes;
    for (size_t i = 0; i < bytes && i < ARENA_BLOCK_BYTES_MIN / 2; i += ARENA_ALIGNMENT) {
        __builtin_prefetch(next + i, 1);
    }
}

ArenaMark arena_mark(const Arena *arena) {
    return (ArenaMark){.block = arena->block, .used_bytes = arena->used_bytes};
}

void arena_reset_to(Arena *arena, ArenaMark mark) {
    if (mark.block == NULL || (mark.block->previous == NULL && mark.used_bytes == 0)) {
        arena_reset(arena);
        return;
    }
    while (arena->block != mark.block) {
        ASSERT(arena->block != NULL);
        free_block(arena);
    }
    arena->used_bytes = mark.used_bytes;
    arena->capacity_bytes = arena->block->capacity_bytes;
}

void arena_reset(Arena *arena) {
    arena->used_bytes = 0;
    size_t peak = arena->peak_bytes;
    if (peak == arena->capacity_bytes) {
        return; // one block, or none, and never more
    }
    empty(arena);
    add_block(arena, peak); // a failure only means that the next take tries again
}

void arena_reset_and_trim(Arena *arena, size_t bytes) {
    if (arena->peak_bytes > bytes) {
        empty(arena);
    }
    arena_reset(arena);
}
