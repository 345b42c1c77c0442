// SPDX-License-Identifier: MIT
// Two numbers side by side, in the vector registers that every machine has. Each lane computes what
// it would compute alone, bit by bit; instead of branches, which two lanes seldom agree on, both
// sides are computed and one is chosen.
#pragma once

#include <math.h>
#include <stdint.h>

enum { PAIR_LANES = 2 };

typedef double Pair __attribute__((vector_size(PAIR_LANES * sizeof(double))));

// of a comparison: all bits of a lane, or none
typedef int64_t PairMask __attribute__((vector_size(PAIR_LANES * sizeof(int64_t))));

static inline Pair pair_both(double x) {
    return (Pair){x, x};
}

static inline Pair pair_choose(PairMask mask, Pair yes, Pair no) {
    // in this form no compiler takes it apart again
    return (Pair)((PairMask)no ^ (((PairMask)yes ^ (PairMask)no) & mask));
}

static inline Pair pair_root(Pair x) {
    return (Pair){sqrt(x[0]), sqrt(x[1])};
}

static inline Pair pair_abs(Pair x) {
    return (Pair){fabs(x[0]), fabs(x[1])};
}

// the larger and the smaller; not a number where either is
static inline Pair pair_max(Pair a, Pair b) {
    return pair_choose((a > b) | (a != a), a, b);
}

static inline Pair pair_min(Pair a, Pair b) {
    return pair_choose((a < b) | (a != a), a, b);
}

static inline Pair pair_positive(Pair x) {
    return pair_max(x, pair_both(0.0));
}
