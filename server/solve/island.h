// SPDX-License-Identifier: MIT
// The islands of a contact problem: trees joined by contacts and rows. What is on one island does
// not feel what is on another, so scale, plan, stopping test, momentum and sums are of an island.
//
// Islands are numbered by their first tree, and what belongs to one is listed in the order of the
// problem: nothing of it depends on how it was found. A contact or row without any tree moves
// nothing and is on no island. A tree that nothing touches is an island of its own.
//
// Whatever is done island by island is done in *shares*, fixed pieces of work that several lanes
// may do at once: some small islands that follow each other, or a piece of one that is large. They
// are the same on one lane, so sums that are made share by share have one order.
#pragma once

#include "base/arena.h"
#include "base/tasks.h"
#include "solve/problem.h"

// Places [begin, end) of the lists of trees, contacts and rows.
typedef struct IslandRange {
    uint32_t tree_begin, tree_end;
    uint32_t contact_begin, contact_end;
    uint32_t row_begin, row_end;
} IslandRange;

typedef struct IslandShare {
    uint32_t island_begin, island_end; // what it has to do with
    bool is_piece;                     // of one large island, whose pieces follow each other
    IslandRange range;                 // rows are not cut: the first piece has them all
} IslandShare;

typedef struct Islands {
    uint32_t count;
    const uint32_t *of_tree; // [tree_count]
    // What island i has is list[first[i]] … list[first[i + 1] - 1]; each `first` has count + 1. In
    // the lists of contacts and rows those of no island follow.
    const uint32_t *tree_first, *tree;
    const uint32_t *contact_first, *contact;
    const uint32_t *row_first, *row;
    uint32_t share_count;
    const IslandShare *share;
} Islands;

// The size of an island is how many trees, contacts and rows it has.
enum {
    ISLAND_LARGE = 4096, // an island of this size and more is cut into pieces …
    ISLAND_SHARE = 512   // … of about this size, to which small islands are also gathered
};

// All memory is the arena's. `tasks` is Nullable. RESOURCE_EXHAUSTED when memory ends.
Status islands_find(const ContactProblem *problem, const Tasks *tasks, Arena *arena,
                    Islands *islands, Error *error);

// All that an island has.
static inline IslandRange islands_range(const Islands *islands, uint32_t begin, uint32_t end) {
    return (IslandRange){islands->tree_first[begin],    islands->tree_first[end],
                         islands->contact_first[begin], islands->contact_first[end],
                         islands->row_first[begin],     islands->row_first[end]};
}

// Of a contact, by its first tree; PROBLEM_NO_TREE where it has none.
static inline uint32_t islands_of_contact(const ContactProblem *problem, const uint32_t *of_tree,
                                          uint32_t contact) {
    const ContactSide *side = problem->contact[contact].side;
    uint32_t tree = side[0].tree != PROBLEM_NO_TREE ? side[0].tree : side[1].tree;
    return tree == PROBLEM_NO_TREE ? PROBLEM_NO_TREE : of_tree[tree];
}

static inline uint32_t islands_of_row(const ContactProblem *problem, const uint32_t *of_tree,
                                      uint32_t row) {
    const ProblemRow *r = &problem->row[row];
    return r->block_count == 0 ? PROBLEM_NO_TREE : of_tree[problem->row_block[r->block_first].tree];
}
