// SPDX-License-Identifier: MIT
// The islands of a contact problem: trees joined by contacts and rows. What is on one island does
// not feel what is on another, so scale, plan, stopping test, momentum and sums are of an island.
//
// Islands are numbered by their first tree, and what belongs to one is listed in the order of the
// problem: nothing of it depends on how it was found. A contact or row without any tree moves
// nothing and is on no island. A tree that nothing touches is an island of its own.
#pragma once

#include "base/arena.h"
#include "solve/problem.h"

typedef struct Islands {
    uint32_t count;
    const uint32_t *of_tree; // [tree_count]
    // what island i has is list[first[i]] … list[first[i + 1] - 1]; each `first` has count + 1
    const uint32_t *tree_first, *tree;
    const uint32_t *contact_first, *contact;
    const uint32_t *row_first, *row;
} Islands;

// All memory is the arena's. RESOURCE_EXHAUSTED when it ends.
Status islands_find(const ContactProblem *problem, Arena *arena, Islands *islands, Error *error);

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
