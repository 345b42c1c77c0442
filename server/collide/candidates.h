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

// Sorts by (a, b), both below body_count. `scratch` lends its memory and is empty afterwards; some
// counters are taken of the arena. False: memory or the patience ended, and the order is none.
bool candidates_sort(Candidates *candidates, Candidates *scratch, uint32_t body_count,
                     const Tasks *tasks, Arena *arena, Patience *patience);

// Whether all are pairs a < b of that many bodies, in order and none twice; for VALIDATE.
bool candidates_are_sorted(const Candidates *candidates, uint32_t body_count);

// Into the empty `merged`: those of `kept` that touch no body marked in `is_gone`, and all of
// `added` (sorted, perhaps with duplicates), in order and none twice. False: memory or
// the patience ended.
bool candidates_merge(Candidates *merged, const Candidates *kept, const uint8_t *is_gone,
                      const Candidates *added, Patience *patience);
