// SPDX-License-Identifier: MIT
// A tree of bounding boxes over items that have a box each: built at once, then kept right while
// single boxes change.
//
//     nodes in preorder:   0 root | 1 left ... | skip(1) right ... |
//     children of node i:  i + 1, and node[i + 1].skip; none of a leaf
//     items in tree order: a leaf holds [first, first + leaf_count), at most BOXTREE_LEAF_MAX
//
// Preorder makes a search one loop without a stack: on to i + 1 where the box is met, to
// node[i].skip where it is not. It also makes "all that comes after this leaf" a plain range, so
// that a search of everything against everything meets each pair once.
//
// The build splits space at the middle of the items' centres, or at the median where the middle is
// lopsided, and first sets aside items that are large beside the room that all occupy: a hall's
// floor would otherwise stretch every box above the pebble that it happens to lie with. Depth is
// O(log n), the build O(n log n), its order a pure function of the boxes. Boxes are finite and not
// NaN. Owned by a Broad; one thread at a time.
#pragma once

#include "base/arena.h"
#include "collide/candidates.h"

enum { BOXTREE_LEAF_MAX = 8 };

typedef struct BoxNode {
    BroadBox box;        // holds the boxes of all its items
    uint32_t skip;       // the next node that is not below this one
    uint32_t parent;     // the root is its own
    uint32_t first;      // item, of a leaf
    uint32_t leaf_count; // items; 0: not a leaf
} BoxNode;

typedef struct BoxItem {
    BroadBox box;
    uint32_t body;
    uint32_t leaf;  // the node it is in
    uint32_t fixed; // two items that are both fixed make no pair
} BoxItem;

typedef struct BoxTree {
    BoxNode *node; // owned
    BoxItem *item; // owned, in tree order
    size_t node_capacity, item_capacity;
    uint32_t node_count;
    uint32_t item_count;
} BoxTree;

// A tree that is all zero is empty.
void boxtree_deinit(BoxTree *tree);

// Builds over `count` items, whose box, body and fixed are set. False when memory or the patience
// ends: the tree is empty then. `scratch` lends what is needed until then.
bool boxtree_build(BoxTree *tree, const BoxItem *fresh, uint32_t count, Arena *scratch,
                   Patience *patience);

// The item at `place` has a new box.
void boxtree_move(BoxTree *tree, uint32_t place, const BroadBox *box);

// Adds the pairs that the leaves among the nodes [first, end) are to find: over all nodes every
// pair of items whose boxes meet, each once, in no useful order. A patience that ends leaves pairs
// out.
void boxtree_pairs(const BoxTree *tree, uint32_t first, uint32_t end, Candidates *found,
                   Patience *patience);

// Adds the pairs of the item at `place` with all that its box meets; likewise.
void boxtree_search(const BoxTree *tree, uint32_t place, Candidates *found, Patience *patience);

size_t boxtree_bytes(const BoxTree *tree);

// Whether a box is one that a tree takes.
static inline bool boxtree_is_box(const BroadBox *box) {
    return box->lower.x <= box->upper.x && box->lower.y <= box->upper.y &&
           box->lower.z <= box->upper.z && vec3_is_finite(box->lower) && vec3_is_finite(box->upper);
}

static inline bool boxtree_meet(const BroadBox *a, const BroadBox *b) {
    // no branch per axis: which one separates cannot be guessed
    return (a->lower.x <= b->upper.x) & (b->lower.x <= a->upper.x) & (a->lower.y <= b->upper.y) &
           (b->lower.y <= a->upper.y) & (a->lower.z <= b->upper.z) & (b->lower.z <= a->upper.z);
}
