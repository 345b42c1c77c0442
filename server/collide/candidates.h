// SPDX-License-Identifier: MIT
// A growing list of body pairs in canonical order. Memory that runs out while pairs are added is
// remembered and told at the end, so that searches need no error path.
#pragma once

#include "base/arena.h"
#include "base/tasks.h"
#include "collide/broad_box.h"
#include "collide/patience.h"

#include <stdbool.h>

// More pairs than this are refused, whatever memory there is: a thousand spheres in one place are
// half a million, and a scene that could be stepped has some ten per body.
enum { CANDIDATE_COUNT_MAX = 1 << 25 };

typedef struct Candidates {
    BroadPair *pair; // owned
    size_t capacity;
    size_t count;
    size_t count_max; // 0: CANDIDATE_COUNT_MAX
    bool is_short;    // memory or the limit ended; pairs are missing
} Candidates;

// Gives the memory back; the limit stays.
void candidates_deinit(Candidates *candidates);

// Makes room for `count` more.
bool candidates_grow(Candidates *candidates, size_t count);

static inline void candidates_add(Candidates *candidates, uint32_t a, uint32_t b) {
    if (candidates->count == candidates->capacity && !candidates_grow(candidates, 1)) {
        return;
    }
    candidates->pair[candidates->count++] = a < b ? (BroadPair){a, b} : (BroadPair){b, a};
}

// Adds all of another list, which is not short.
void candidates_append(Candidates *candidates, const Candidates *other);

// Sorts by (a, b), both below body_count; as much memory again is taken of the arena. False: memory
// or the patience ended, and the order is none.
bool candidates_sort(Candidates *candidates, uint32_t body_count, const Tasks *tasks, Arena *arena,
                     Patience *patience);

// Whether all are pairs a < b of that many bodies, in order and none twice; for VALIDATE.
bool candidates_are_sorted(const Candidates *candidates, uint32_t body_count);

// Takes away those that touch a body marked in `is_gone`, which may all be, and puts in all of
// `added` (sorted, perhaps with duplicates, which go, and none of them kept), in order. False:
// memory or the patience ended, and there is no order.
bool candidates_merge(Candidates *candidates, const uint8_t *is_gone, Candidates *added,
                      Patience *patience);
