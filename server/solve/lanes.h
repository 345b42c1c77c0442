// SPDX-License-Identifier: MIT
// A few numbers side by side, in the machine's vector registers: the file that includes this says
// how many LANES, 2, which every machine has, or 4, as fits the machine that it is compiled for.
// Each lane computes what it would compute alone, bit by bit; instead of branches, which lanes
// seldom agree on, both sides are computed and one is chosen. All of it is inlined.
#pragma once

#include <math.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

typedef double Lanes __attribute__((vector_size(LANES * sizeof(double))));

// of a comparison: all bits of a lane, or none
typedef int64_t Mask __attribute__((vector_size(LANES * sizeof(int64_t))));

#if LANES == 4

// the numbers that `member` names in an array's elements
#define LANES_OF(array, member)                                                                    \
    ((Lanes){(array)[0] member, (array)[1] member, (array)[2] member, (array)[3] member})

INLINE Lanes lanes_root(Lanes x) {
    return (Lanes){sqrt(x[0]), sqrt(x[1]), sqrt(x[2]), sqrt(x[3])};
}

#else

#define LANES_OF(array, member) ((Lanes){(array)[0] member, (array)[1] member})

INLINE Lanes lanes_root(Lanes x) {
    return (Lanes){sqrt(x[0]), sqrt(x[1])};
}

#endif

INLINE Lanes lanes_all(double x) {
    return (Lanes){0.0} + x;
}

INLINE Lanes lanes_choose(Mask mask, Lanes yes, Lanes no) {
    // in this form no compiler takes it apart again
    return (Lanes)((Mask)no ^ (((Mask)yes ^ (Mask)no) & mask));
}

INLINE Lanes lanes_abs(Lanes x) {
    return (Lanes)((Mask)x & INT64_MAX);
}

// the larger and the smaller; not a number where either is
INLINE Lanes lanes_max(Lanes a, Lanes b) {
    return lanes_choose((a > b) | (a != a), a, b);
}

INLINE Lanes lanes_min(Lanes a, Lanes b) {
    return lanes_choose((a < b) | (a != a), a, b);
}

INLINE Lanes lanes_positive(Lanes x) {
    return lanes_max(x, lanes_all(0.0));
}
