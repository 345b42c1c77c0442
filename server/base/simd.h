// SPDX-License-Identifier: MIT
// A few numbers side by side, in the machine's vector registers: the file that includes this says
// how many in SIMD_COUNT, 2, which every machine has, or 4, as fits the machine that it is compiled
// for. Each place of a vector computes what it would compute alone, bit by bit; instead of
// branches, which places seldom agree on, both sides are computed and one is chosen. All of it is
// inlined, and nothing is a loop over places or over x, y and z: compilers would keep it one, and
// its numbers in memory.
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

// Where it says SIMD_AVX2 as well, all that is inlined is for machines that have it, and with it
// the few of its instructions that compilers do not find by themselves.
#ifdef SIMD_AVX2
#define INLINE static inline __attribute__((always_inline, target("avx2")))
#else
#define INLINE static inline __attribute__((always_inline))
#endif

// may_alias: they are read from and written to plain numbers
typedef double Simd __attribute__((vector_size(SIMD_COUNT * sizeof(double)), may_alias));

// the same, of numbers that may stand anywhere
typedef double SimdAnywhere
    __attribute__((vector_size(SIMD_COUNT * sizeof(double)), may_alias, aligned(sizeof(double))));

// of a comparison: all bits of a place, or none
typedef int64_t SimdMask __attribute__((vector_size(SIMD_COUNT * sizeof(int64_t))));

typedef struct Simd3 {
    Simd x, y, z;
} Simd3;

// Four numbers of each place that stand next to each other in memory.
typedef struct SimdRows {
    Simd p, q, r, s;
} SimdRows;

INLINE Simd simd_load_anywhere(const double *at) {
    return *(const SimdAnywhere *)at;
}

// ---- what depends on how many there are

#if SIMD_COUNT == 4

// the numbers that `member` names in an array's elements
#define SIMD_OF(array, member)                                                                     \
    ((Simd){(array)[0] member, (array)[1] member, (array)[2] member, (array)[3] member})

INLINE Simd simd_root(Simd x) {
    return (Simd){sqrt(x[0]), sqrt(x[1]), sqrt(x[2]), sqrt(x[3])};
}

// place after place, so that two halves give the sum of the whole
INLINE double simd_add_to(double sum, Simd x) {
    return (((sum + x[0]) + x[1]) + x[2]) + x[3];
}

#ifdef SIMD_AVX2

INLINE unsigned simd_bits(SimdMask mask) {
    return (unsigned)__builtin_ia32_movmskpd256((Simd)mask);
}

INLINE bool simd_any(SimdMask mask) {
    return simd_bits(mask) != 0;
}

INLINE Simd simd_choose(SimdMask mask, Simd yes, Simd no) {
    return __builtin_ia32_blendvpd256(no, yes, (Simd)mask);
}

#else

INLINE unsigned simd_bits(SimdMask mask) {
    return (unsigned)((mask[0] & 1) | (mask[1] & 2) | (mask[2] & 4) | (mask[3] & 8));
}

INLINE bool simd_any(SimdMask mask) {
    return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
}

#endif

// of places that are numbers
INLINE double simd_largest(Simd x) {
    double left = x[0] > x[1] ? x[0] : x[1], right = x[2] > x[3] ? x[2] : x[3];
    return left > right ? left : right;
}

// rows to columns and back
INLINE void simd_transpose(Simd *p, Simd *q, Simd *r, Simd *s) {
    Simd even = __builtin_shufflevector(*p, *q, 0, 4, 2, 6);
    Simd odd = __builtin_shufflevector(*p, *q, 1, 5, 3, 7);
    Simd even_below = __builtin_shufflevector(*r, *s, 0, 4, 2, 6);
    Simd odd_below = __builtin_shufflevector(*r, *s, 1, 5, 3, 7);
    *p = __builtin_shufflevector(even, even_below, 0, 1, 4, 5);
    *q = __builtin_shufflevector(odd, odd_below, 0, 1, 4, 5);
    *r = __builtin_shufflevector(even, even_below, 2, 3, 6, 7);
    *s = __builtin_shufflevector(odd, odd_below, 2, 3, 6, 7);
}

// from `number` on
INLINE SimdRows simd_rows(const double *const at[SIMD_COUNT], int number) {
    SimdRows of = {simd_load_anywhere(at[0] + number), simd_load_anywhere(at[1] + number),
                   simd_load_anywhere(at[2] + number), simd_load_anywhere(at[3] + number)};
    simd_transpose(&of.p, &of.q, &of.r, &of.s);
    return of;
}

#else

#define SIMD_OF(array, member) ((Simd){(array)[0] member, (array)[1] member})

INLINE Simd simd_root(Simd x) {
    return (Simd){sqrt(x[0]), sqrt(x[1])};
}

INLINE double simd_add_to(double sum, Simd x) {
    return (sum + x[0]) + x[1];
}

INLINE bool simd_any(SimdMask mask) {
    return (mask[0] | mask[1]) != 0;
}

INLINE double simd_largest(Simd x) {
    return x[0] > x[1] ? x[0] : x[1];
}

INLINE unsigned simd_bits(SimdMask mask) {
    return (unsigned)((mask[0] & 1) | (mask[1] & 2));
}

INLINE SimdRows simd_rows(const double *const at[SIMD_COUNT], int number) {
    Simd a = simd_load_anywhere(at[0] + number), b = simd_load_anywhere(at[1] + number);
    Simd c = simd_load_anywhere(at[0] + number + 2), d = simd_load_anywhere(at[1] + number + 2);
    return (SimdRows){__builtin_shufflevector(a, b, 0, 2), __builtin_shufflevector(a, b, 1, 3),
                      __builtin_shufflevector(c, d, 0, 2), __builtin_shufflevector(c, d, 1, 3)};
}

#endif

// ---- numbers

// `at` is aligned to the whole vector
INLINE Simd simd_load(const double *at) {
    return *(const Simd *)at;
}

INLINE void simd_store(double *at, Simd x) {
    *(Simd *)at = x;
}

INLINE Simd simd_all(double x) {
    return (Simd){0.0} + x;
}

#ifndef SIMD_AVX2

INLINE Simd simd_choose(SimdMask mask, Simd yes, Simd no) {
    // in this form no compiler takes it apart again
    return (Simd)((SimdMask)no ^ (((SimdMask)yes ^ (SimdMask)no) & mask));
}

#endif

INLINE Simd simd_abs(Simd x) {
    return (Simd)((SimdMask)x & INT64_MAX);
}

// the larger and the smaller; not a number where either is
INLINE Simd simd_max(Simd a, Simd b) {
    return simd_choose((a > b) | (a != a), a, b);
}

INLINE Simd simd_min(Simd a, Simd b) {
    return simd_choose((a < b) | (a != a), a, b);
}

INLINE Simd simd_positive(Simd x) {
    return simd_max(x, simd_all(0.0));
}

// ---- vectors of space, one in each place

INLINE Simd3 simd3_add(Simd3 a, Simd3 b) {
    return (Simd3){a.x + b.x, a.y + b.y, a.z + b.z};
}

INLINE Simd3 simd3_subtract(Simd3 a, Simd3 b) {
    return (Simd3){a.x - b.x, a.y - b.y, a.z - b.z};
}

INLINE Simd3 simd3_scale(Simd s, Simd3 a) {
    return (Simd3){s * a.x, s * a.y, s * a.z};
}

INLINE Simd simd3_dot(Simd3 a, Simd3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

INLINE Simd3 simd3_cross(Simd3 a, Simd3 b) {
    return (Simd3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
