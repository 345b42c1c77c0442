// SPDX-License-Identifier: MIT
#include "base/arena.h"

#include "base/assert.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_ALIGNMENT = 64, ARENA_BLOCK_BYTES_MIN = 4096 };

struct ArenaBlock {
    ArenaBlock *previous;
    size_t capacity_bytes; // of the data that follows the header
};

// the header fills one alignment unit, so that data starts aligned
static unsigned char *block_data(ArenaBlock *block) {
    return (unsigned char *)block + ARENA_ALIGNMENT;
}

static size_t round_up(size_t bytes) {
    return (bytes + (ARENA_ALIGNMENT - 1)) & ~(size_t)(ARENA_ALIGNMENT - 1);
}

void arena_init(Arena *arena, size_t limit_bytes) {
    *arena = (Arena){.limit_bytes = limit_bytes};
}

void arena_deinit(Arena *arena) {
    while (arena->block != NULL) {
        ArenaBlock *previous = arena->block->previous;
        free(arena->block);
        arena->block = previous;
    }
    *arena = (Arena){0};
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
    ArenaBlock *block = aligned_alloc(ARENA_ALIGNMENT, capacity + ARENA_ALIGNMENT);
    if (block == NULL) {
        return false;
    }
    *block = (ArenaBlock){.previous = arena->block, .capacity_bytes = capacity};
    arena->block = block;
    arena->used_bytes = 0;
    arena->capacity_bytes = capacity;
    arena->total_bytes += capacity;
    return true;
}

void *arena_take(Arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    size_t rounded = bytes == 0 ? ARENA_ALIGNMENT : round_up(bytes);
    if (rounded > arena->capacity_bytes - arena->used_bytes && !add_block(arena, rounded)) {
        return NULL;
    }
    void *piece = block_data(arena->block) + arena->used_bytes;
    arena->used_bytes += rounded;
    return piece;
}

void *arena_take_array(Arena *arena, size_t count, size_t size) {
    ASSERT(size > 0);
    if (count > SIZE_MAX / size) {
        return NULL;
    }
    return arena_take(arena, count * size);
}

void *arena_take_zeroed(Arena *arena, size_t count, size_t size) {
    void *piece = arena_take_array(arena, count, size);
    if (piece != NULL) {
        memset(piece, 0, count * size);
    }
    return piece;
}

void arena_prefetch(const Arena *arena, size_t bytes) {
    if (arena->block == NULL) {
        return;
    }
    const unsigned char *block = (const unsigned char *)arena->block;
    for (size_t i = 0; i < bytes && i < ARENA_BLOCK_BYTES_MIN / 2; i += ARENA_ALIGNMENT) {
        __builtin_prefetch(block + ARENA_ALIGNMENT + arena->used_bytes + i, 1);
    }
}

ArenaMark arena_mark(const Arena *arena) {
    return (ArenaMark){.block = arena->block, .used_bytes = arena->used_bytes};
}

void arena_reset_to(Arena *arena, ArenaMark mark) {
    if (mark.block == NULL) {
        arena_reset(arena);
        return;
    }
    while (arena->block != mark.block) {
        ArenaBlock *block = arena->block;
        ASSERT(block != NULL);
        arena->block = block->previous;
        arena->total_bytes -= block->capacity_bytes;
        free(block);
    }
    arena->used_bytes = mark.used_bytes;
    arena->capacity_bytes = arena->block->capacity_bytes;
}

void arena_reset(Arena *arena) {
    arena->used_bytes = 0;
    if (arena->total_bytes == arena->capacity_bytes) {
        return; // one block, or none
    }
    size_t total = arena->total_bytes;
    size_t limit = arena->limit_bytes;
    arena_deinit(arena);
    arena_init(arena, limit);
    add_block(arena, total); // a failure only means that the next take tries again
}

void arena_reset_and_trim(Arena *arena, size_t bytes) {
    size_t limit = arena->limit_bytes;
    if (arena->total_bytes > bytes) {
        arena_deinit(arena);
        arena_init(arena, limit);
    }
    arena_reset(arena);
}
