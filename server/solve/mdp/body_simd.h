// SPDX-License-Identifier: MIT
// Bodies of SIMD_COUNT contacts, number by number, out of memory where each stands by itself: the
// file that includes this says how many.
#pragma once

#include "base/simd.h"
#include "solve/mdp/body.h"

// A body for each place, number by number.
typedef struct Bodies {
    Simd3 linear, angular;
    Simd inverse_mass, inverse_inertia;
} Bodies;

// ---- numbers of a quad

INLINE Simd3 load3(const MdpFour3 *of, int first) {
    return (Simd3){simd_load(of->x.at + first), simd_load(of->y.at + first),
                   simd_load(of->z.at + first)};
}

INLINE void store3(MdpFour3 *of, int first, Simd3 a) {
    simd_store(of->x.at + first, a.x);
    simd_store(of->y.at + first, a.y);
    simd_store(of->z.at + first, a.z);
}

// ---- bodies

#if SIMD_COUNT == 4

typedef double Two __attribute__((vector_size(2 * sizeof(double)), may_alias));

INLINE void store_two(double *at, Two x) {
    *(Two *)at = x;
}

INLINE Bodies load_bodies(const MdpBody *body, const uint32_t *index) {
    const double *p = body[index[0]].v, *q = body[index[1]].v, *r = body[index[2]].v,
                 *s = body[index[3]].v;
    Simd p0 = simd_load(p), q0 = simd_load(q), r0 = simd_load(r), s0 = simd_load(s);
    Simd p1 = simd_load(p + 4), q1 = simd_load(q + 4), r1 = simd_load(r + 4), s1 = simd_load(s + 4);
    simd_transpose(&p0, &q0, &r0, &s0);
    simd_transpose(&p1, &q1, &r1, &s1);
    return (Bodies){{p0, q0, r0}, {s0, p1, q1}, r1, s1};
}

// Masses stay as they are.
INLINE void store_bodies(MdpBody *body, const uint32_t *index, Bodies bodies) {
    Simd p0 = bodies.linear.x, q0 = bodies.linear.y, r0 = bodies.linear.z;
    Simd s0 = bodies.angular.x, p1 = bodies.angular.y, q1 = bodies.angular.z;
    simd_transpose(&p0, &q0, &r0, &s0);
    Simd even = __builtin_shufflevector(p1, q1, 0, 4, 2, 6);
    Simd odd = __builtin_shufflevector(p1, q1, 1, 5, 3, 7);
    double *p = body[index[0]].v, *q = body[index[1]].v, *r = body[index[2]].v,
           *s = body[index[3]].v;
    simd_store(p, p0);
    simd_store(q, q0);
    simd_store(r, r0);
    simd_store(s, s0);
    store_two(p + 4, __builtin_shufflevector(even, even, 0, 1));
    store_two(q + 4, __builtin_shufflevector(odd, odd, 0, 1));
    store_two(r + 4, __builtin_shufflevector(even, even, 2, 3));
    store_two(s + 4, __builtin_shufflevector(odd, odd, 2, 3));
}

#else

INLINE void load_columns(const double *p, const double *q, Simd *even, Simd *odd) {
    *even = __builtin_shufflevector(simd_load(p), simd_load(q), 0, 2);
    *odd = __builtin_shufflevector(simd_load(p), simd_load(q), 1, 3);
}

INLINE Bodies load_bodies(const MdpBody *body, const uint32_t *index) {
    const double *p = body[index[0]].v, *q = body[index[1]].v;
    Bodies bodies;
    load_columns(p, q, &bodies.linear.x, &bodies.linear.y);
    load_columns(p + 2, q + 2, &bodies.linear.z, &bodies.angular.x);
    load_columns(p + 4, q + 4, &bodies.angular.y, &bodies.angular.z);
    load_columns(p + 6, q + 6, &bodies.inverse_mass, &bodies.inverse_inertia);
    return bodies;
}

INLINE void store_columns(double *p, double *q, Simd even, Simd odd) {
    simd_store(p, __builtin_shufflevector(even, odd, 0, 2));
    simd_store(q, __builtin_shufflevector(even, odd, 1, 3));
}

INLINE void store_bodies(MdpBody *body, const uint32_t *index, Bodies bodies) {
    double *p = body[index[0]].v, *q = body[index[1]].v;
    store_columns(p, q, bodies.linear.x, bodies.linear.y);
    store_columns(p + 2, q + 2, bodies.linear.z, bodies.angular.x);
    store_columns(p + 4, q + 4, bodies.angular.y, bodies.angular.z);
}

#endif

INLINE void fetch(const MdpBody *body, const uint32_t index[MDP_QUAD]) {
    __builtin_prefetch(&body[index[0]], 1);
    __builtin_prefetch(&body[index[1]], 1);
    __builtin_prefetch(&body[index[2]], 1);
    __builtin_prefetch(&body[index[3]], 1);
}
