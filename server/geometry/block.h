// SPDX-License-Identifier: MIT
// Memory of which all pieces are laid out at once: what is derived of a geometry stands in one.
#pragma once

#include <stddef.h>

// With no memory it only counts.
typedef struct Block {
    unsigned char *data; // Nullable
    size_t used_bytes;
} Block;

// The next piece, aligned to 8; NULL where it only counts.
static inline void *block_take(Block *block, size_t count, size_t size) {
    void *piece = block->data == NULL ? NULL : block->data + block->used_bytes;
    block->used_bytes += (count * size + 7) & ~(size_t)7;
    return piece;
}
