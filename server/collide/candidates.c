// SPDX-License-Identifier: MIT
#include "collide/candidates.h"

#include "base/assert.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum {
    DIGIT_BITS_MAX = 11,   // the counters of one pass fit the first cache
    INSERTION_COUNT = 48,  // below this the passes over the counters cost more than the moves
    BLOCK_PAIRS = 1 << 14, // some 30 us
    CALL_BLOCKS = 16       // between two payments
};

void candidates_deinit(Candidates *candidates) {
    free(candidates->pair);
    *candidates = (Candidates){.count_max = candidates->count_max};
}

bool candidates_grow(Candidates *candidates, size_t count) {
    ASSERT(candidates->count <= candidates->capacity);
    size_t count_max = candidates->count_max > 0 ? candidates->count_max : CANDIDATE_COUNT_MAX;
    if (candidates->count + count > count_max ||
        !ARRAY_RESERVE(candidates->pair, candidates->capacity, candidates->count + count)) {
        candidates->is_short = true;
        return false;
    }
    return true;
}

void candidates_append(Candidates *candidates, const Candidates *other) {
    ASSERT(!other->is_short);
    ASSERT(candidates != other);
    if (other->count > 0 && candidates_grow(candidates, other->count)) {
        memcpy(candidates->pair + candidates->count, other->pair, other->count * sizeof(BroadPair));
        candidates->count += other->count;
    }
}

static bool is_before(BroadPair p, BroadPair q) {
    return p.a != q.a ? p.a < q.a : p.b < q.b;
}

static void sort_by_insertion(BroadPair *pair, size_t count) {
    for (size_t i = 1; i < count; i++) {
        BroadPair moving = pair[i];
        size_t place = i;
        for (; place > 0 && is_before(moving, pair[place - 1]); place--) {
            pair[place] = pair[place - 1];
        }
        pair[place] = moving;
    }
}

bool candidates_are_sorted(const Candidates *candidates, uint32_t body_count) {
    for (size_t i = 0; i < candidates->count; i++) {
        const BroadPair pair = candidates->pair[i];
        if (pair.a >= pair.b || pair.b >= body_count ||
            (i > 0 && !is_before(candidates->pair[i - 1], pair))) {
            return false;
        }
    }
    return true;
}

// Where the digits are that a pass sorts by: `bits` bits of a or b from bit `shift` up.
typedef struct Digit {
    bool is_of_a;
    uint32_t shift, bits;
} Digit;

static uint32_t digit_of(BroadPair pair, Digit digit) {
    VALIDATE(digit.bits > 0 && digit.bits <= DIGIT_BITS_MAX && digit.shift < 32);
    return ((digit.is_of_a ? pair.a : pair.b) >> digit.shift) & ((1u << digit.bits) - 1u);
}

// One stable pass. Blocks count their digits, learn where those of each digit are to stand, after
// those of the blocks before, and move them there.
typedef struct Pass {
    const BroadPair *from;
    BroadPair *to;
    size_t count;
    Digit digit;
    uint32_t first_block; // of the call
    uint32_t *start;      // per block and digit
} Pass;

static uint32_t *starts_of(const Pass *pass, uint32_t block) {
    return pass->start + ((size_t)block << pass->digit.bits);
}

static size_t block_end(const Pass *pass, uint32_t block) {
    ASSERT((size_t)block * BLOCK_PAIRS < pass->count);
    size_t first = (size_t)block * BLOCK_PAIRS;
    return pass->count - first < BLOCK_PAIRS ? pass->count : first + BLOCK_PAIRS;
}

static void count_block(void *work, uint32_t index) {
    const Pass *pass = work;
    uint32_t block = pass->first_block + index;
    uint32_t *start = starts_of(pass, block);
    memset(start, 0, sizeof(*start) << pass->digit.bits);
    size_t end = block_end(pass, block);
    for (size_t i = (size_t)block * BLOCK_PAIRS; i < end; i++) {
        start[digit_of(pass->from[i], pass->digit)]++;
    }
}

static void move_block(void *work, uint32_t index) {
    const Pass *pass = work;
    uint32_t block = pass->first_block + index;
    uint32_t *start = starts_of(pass, block);
    size_t end = block_end(pass, block);
    for (size_t i = (size_t)block * BLOCK_PAIRS; i < end; i++) {
        pass->to[start[digit_of(pass->from[i], pass->digit)]++] = pass->from[i];
    }
}

// False: the patience ended.
static bool run_blocks(Pass *pass, TaskBlock *block, const Tasks *tasks, Patience *patience) {
    uint32_t block_count = tasks_blocks(pass->count, BLOCK_PAIRS);
    for (pass->first_block = 0; pass->first_block < block_count; pass->first_block += CALL_BLOCKS) {
        uint32_t left = block_count - pass->first_block;
        uint32_t count = left < CALL_BLOCKS ? left : CALL_BLOCKS;
        size_t first = (size_t)pass->first_block * BLOCK_PAIRS;
        if (patience_ends(patience, block_end(pass, pass->first_block + count - 1) - first)) {
            return false;
        }
        tasks_run(tasks, block, pass, count);
    }
    return true;
}

// False: the patience ended.
static bool sort_by_digit(Pass *pass, const Tasks *tasks, Patience *patience) {
    if (!run_blocks(pass, count_block, tasks, patience)) {
        return false;
    }
    uint32_t block_count = tasks_blocks(pass->count, BLOCK_PAIRS), sum = 0;
    for (uint32_t digit = 0; digit >> pass->digit.bits == 0; digit++) {
        for (uint32_t block = 0; block < block_count; block++) {
            uint32_t *start = &starts_of(pass, block)[digit];
            uint32_t count = *start;
            *start = sum;
            sum += count;
        }
    }
    return run_blocks(pass, move_block, tasks, patience);
}

bool candidates_sort(Candidates *candidates, uint32_t body_count, const Tasks *tasks, Arena *arena,
                     Patience *patience) {
    ASSERT(!candidates->is_short);
    size_t count = candidates->count;
    if (count <= INSERTION_COUNT) {
        sort_by_insertion(candidates->pair, count);
        return true;
    }

    // the least significant digit first, b before a: an even number of passes ends where it began
    uint32_t bits = 1;
    while (bits < 32 && (body_count - 1) >> bits != 0) {
        bits++;
    }
    uint32_t pass_count = (bits + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX;
    uint32_t pass_bits = (bits + pass_count - 1) / pass_count;
    size_t counters = (size_t)tasks_blocks(count, BLOCK_PAIRS) << pass_bits;
    BroadPair *beside = arena_take_array(arena, count, sizeof(BroadPair));
    Pass pass = {.from = candidates->pair,
                 .to = beside,
                 .count = count,
                 .start = arena_take_array(arena, counters, sizeof(uint32_t))};
    if (beside == NULL || pass.start == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < 2 * pass_count; i++) {
        pass.digit = (Digit){i >= pass_count, i % pass_count * pass_bits, pass_bits};
        if (!sort_by_digit(&pass, tasks, patience)) {
            return false;
        }
        BroadPair *swapped = i % 2 == 0 ? candidates->pair : beside;
        pass.from = pass.to;
        pass.to = swapped;
    }
    return true;
}

// What is left when pairs of those bodies are gone; false: the patience ended.
static bool drop_gone(Candidates *candidates, const uint8_t *is_gone, Patience *patience) {
    size_t count = 0;
    for (size_t i = 0; i < candidates->count; i++) {
        if (i % BLOCK_PAIRS == 0 && patience_ends(patience, BLOCK_PAIRS)) {
            return false;
        }
        const BroadPair pair = candidates->pair[i];
        candidates->pair[count] = pair; // what is gone, the next one writes over
        count += !(is_gone[pair.a] | is_gone[pair.b]);
    }
    candidates->count = count;
    return true;
}

static void drop_twins(Candidates *sorted) {
    size_t count = 0;
    for (size_t i = 0; i < sorted->count; i++) {
        if (i == 0 || is_before(sorted->pair[i - 1], sorted->pair[i])) {
            sorted->pair[count++] = sorted->pair[i];
        }
    }
    sorted->count = count;
}

bool candidates_merge(Candidates *candidates, const uint8_t *is_gone, Candidates *added,
                      Patience *patience) {
    ASSERT(candidates != added);
    if (!drop_gone(candidates, is_gone, patience)) {
        return false;
    }
    drop_twins(added);
    if (!candidates_grow(candidates, added->count)) {
        return false;
    }
    // from the end, where there is room
    size_t kept = candidates->count, next = added->count;
    BroadPair *pair = candidates->pair;
    while (next > 0) {
        if ((kept + next) % BLOCK_PAIRS == 0 && patience_ends(patience, BLOCK_PAIRS)) {
            return false;
        }
        const bool is_kept = kept > 0 && is_before(added->pair[next - 1], pair[kept - 1]);
        pair[kept + next - 1] = is_kept ? pair[kept - 1] : added->pair[next - 1];
        kept -= is_kept;
        next -= !is_kept;
    }
    candidates->count += added->count;
    return true;
}
