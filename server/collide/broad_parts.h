// SPDX-License-Identifier: MIT
// What a broad phase is made of, for broad.c and its validator.
#pragma once

#include "collide/boxtree.h"
#include "collide/broad.h"

typedef enum BoxKind { BOX_VOID, BOX_BOUNDED, BOX_UNBOUNDED } BoxKind;

typedef struct Seen {
    BroadBox fat;   // as given where the box is not bounded
    uint32_t place; // in the tree, when bounded
    uint8_t kind;   // BoxKind
    uint8_t fixed;
} Seen;

struct Broad {
    Seen *seen;          // owned, one per body
    uint32_t *unbounded; // owned; bodies
    size_t seen_capacity, unbounded_capacity;
    uint32_t count;
    uint32_t unbounded_count;
    uint32_t moved_count; // moves since the tree was built
    bool is_known;        // false: nothing is remembered
    BoxTree tree;
    Candidates pairs;  // of all
    Candidates found;  // of an update: those of what moved
    Patience patience; // of the update under way
};
