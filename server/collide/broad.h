// SPDX-License-Identifier: MIT
// The broad phase: which pairs of bodies may touch, from their bounding boxes.
//
// Pure bookkeeping between steps: boxes are remembered a little fatter than they are, and a body is
// looked at again only when it has left its fat box, so a settled pile costs one comparison per
// body and step. The candidates returned depend on that history, the contacts made from them must
// not: callers test every candidate's true distance, and the candidates come in one canonical
// order. O(n log n) at worst for n bodies of any mixture of sizes; unbounded boxes (planes) are
// paired with every moving body. Owned by one world; one thread at a time. Sets no limit of its own
// on the number of bodies.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "base/context.h"
#include "collide/broad_box.h"

#include <stddef.h>
#include <stdint.h>

typedef struct Broad Broad;

// Returns NULL when memory ends.
Broad *broad_create(void);
void broad_destroy(Broad *broad);

// Forgets everything (bodies were added, removed or restored).
void broad_reset(Broad *broad);

// From now on refuses to hold more than about so much for candidates, of which bodies in one place
// make as many as the square of their number.
void broad_limit(Broad *broad, size_t bytes_max);

// What a body is to an update: none makes candidates with others that are fixed; one that is still
// is fixed, and was, with the very same box, in the update before this one, if there was any since
// the last reset.
enum { BROAD_MOVES = 0, BROAD_FIXED = 1, BROAD_STILL = 2 };

// Brings the candidates up to date with the boxes of `count` bodies: every pair whose boxes
// overlap, and perhaps some that nearly do, sorted by (a, b), none twice; pairs of two bodies that
// are both `fixed`, or still, are left out. *pairs is borrowed until the next call; `scratch` is
// used and given back. The stop is asked at least once in a million operations. Status
// RESOURCE_EXHAUSTED when memory or the limit ends; the cache is then reset and the candidates'
// memory given back. ABORTED when `stop` said so; the cache is then reset.
Status broad_update(Broad *broad, uint32_t count, const BroadBox *box, const uint8_t *fixed,
                    Arena *scratch, const Context *context, const BroadPair **pairs,
                    size_t *pair_count);

// Memory held [bytes].
size_t broad_bytes(const Broad *broad);
