// SPDX-License-Identifier: MIT
#include "collide/candidates.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum {
    DIGIT_BITS_MAX = 11,  // the counters of one pass fit the first cache
    INSERTION_COUNT = 48, // below this the passes over the counters cost more than the moves
    BLOCK_PAIRS = 1 << 16 // between two payments
};

void candidates_deinit(Candidates *candidates) {
    free(candidates->pair);
    *candidates = (Candidates){.count_max = candidates->count_max};
}

bool candidates_grow(Candidates *candidates, size_t count) {
    size_t count_max = candidates->count_max > 0 ? candidates->count_max : CANDIDATE_COUNT_MAX;
    if (candidates->count + count > count_max ||
        !ARRAY_RESERVE(candidates->pair, candidates->capacity, candidates->count + count)) {
        candidates->is_short = true;
        return false;
    }
    return true;
}

void candidates_append(Candidates *candidates, const Candidates *other) {
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

// Where the digits are that a pass sorts by: `bits` bits of a or b from bit `shift` up.
typedef struct Digit {
    bool is_of_a;
    uint32_t shift, bits;
} Digit;

static uint32_t digit_of(BroadPair pair, Digit digit) {
    return ((digit.is_of_a ? pair.a : pair.b) >> digit.shift) & ((1u << digit.bits) - 1u);
}

// The end of the block of pairs that begins at `first`; 0: the patience ended.
static size_t block_end(size_t first, size_t count, Patience *patience) {
    size_t end = count - first < BLOCK_PAIRS ? count : first + BLOCK_PAIRS;
    return patience_ends(patience, end - first) ? 0 : end;
}

// One stable pass: `from` into `to`. False: the patience ended.
static bool sort_by_digit(const BroadPair *from, BroadPair *to, size_t count, Digit digit,
                          Patience *patience) {
    size_t start[1u << DIGIT_BITS_MAX], sum = 0, end;
    uint32_t digits = 1u << digit.bits;
    memset(start, 0, digits * sizeof(start[0]));
    for (size_t first = 0; first < count; first = end) {
        if ((end = block_end(first, count, patience)) == 0) {
            return false;
        }
        for (size_t i = first; i < end; i++) {
            start[digit_of(from[i], digit)]++;
        }
    }
    for (uint32_t k = 0; k < digits; k++) {
        size_t digit_count = start[k];
        start[k] = sum;
        sum += digit_count;
    }
    for (size_t first = 0; first < count; first = end) {
        if ((end = block_end(first, count, patience)) == 0) {
            return false;
        }
        for (size_t i = first; i < end; i++) {
            to[start[digit_of(from[i], digit)]++] = from[i];
        }
    }
    return true;
}

bool candidates_sort(Candidates *candidates, Candidates *scratch, uint32_t body_count,
                     Patience *patience) {
    size_t count = candidates->count;
    scratch->count = 0;
    if (count <= INSERTION_COUNT) {
        sort_by_insertion(candidates->pair, count);
        return true;
    }
    if (!candidates_grow(scratch, count)) {
        return false;
    }

    // the least significant digit first, b before a: an even number of passes ends where it began
    uint32_t bits = 1;
    while (bits < 32 && (body_count - 1) >> bits != 0) {
        bits++;
    }
    uint32_t pass_count = (bits + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX;
    uint32_t pass_bits = (bits + pass_count - 1) / pass_count;
    BroadPair *from = candidates->pair, *to = scratch->pair;
    for (uint32_t pass = 0; pass < 2 * pass_count; pass++) {
        Digit digit = {pass >= pass_count, pass % pass_count * pass_bits, pass_bits};
        if (!sort_by_digit(from, to, count, digit, patience)) {
            return false;
        }
        BroadPair *swapped = from;
        from = to;
        to = swapped;
    }
    return true;
}

bool candidates_merge(Candidates *merged, const Candidates *kept, const uint8_t *is_gone,
                      const Candidates *added, Patience *patience) {
    merged->count = 0;
    if (!candidates_grow(merged, kept->count + added->count)) {
        return false;
    }
    BroadPair *out = merged->pair;
    size_t next = 0;
    for (size_t i = 0; i < kept->count; i++) {
        if (i % BLOCK_PAIRS == 0 && patience_ends(patience, BLOCK_PAIRS)) {
            return false;
        }
        BroadPair pair = kept->pair[i];
        if (is_gone[pair.a] | is_gone[pair.b]) {
            continue;
        }
        for (; next < added->count && is_before(added->pair[next], pair); next++) {
            if (next == 0 || is_before(added->pair[next - 1], added->pair[next])) {
                *out++ = added->pair[next];
            }
        }
        *out++ = pair;
    }
    for (; next < added->count; next++) {
        if (next == 0 || is_before(added->pair[next - 1], added->pair[next])) {
            *out++ = added->pair[next];
        }
    }
    merged->count = (size_t)(out - merged->pair);
    return true;
}
