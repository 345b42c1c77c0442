// SPDX-License-Identifier: MIT
// The sweep over quads, SIMD_COUNT contacts at a time (base/simd.h): the file that includes this
// says how many. Two go over a quad in two halves, which share no body, so the order is the same.
#pragma once

#include "base/simd.h"
#include "solve/mdp/ball.h"

// Quads of one colour follow each other, their bodies do not: in a large pile they are fetched so
// many quads ahead.
enum { AHEAD = 2 };

// How the island of the quads at hand stands. Its sums are taken contact after contact, whatever
// places these are in, so that they are the same on every machine and beside any other island.
typedef struct Watch {
    uint32_t island;
    bool is_done;
    Simd ratio, most;
    double residual, opposition;
} Watch;

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

// rows to columns and back
INLINE void transpose(Simd *p, Simd *q, Simd *r, Simd *s) {
    Simd even = __builtin_shufflevector(*p, *q, 0, 4, 2, 6);
    Simd odd = __builtin_shufflevector(*p, *q, 1, 5, 3, 7);
    Simd even_below = __builtin_shufflevector(*r, *s, 0, 4, 2, 6);
    Simd odd_below = __builtin_shufflevector(*r, *s, 1, 5, 3, 7);
    *p = __builtin_shufflevector(even, even_below, 0, 1, 4, 5);
    *q = __builtin_shufflevector(odd, odd_below, 0, 1, 4, 5);
    *r = __builtin_shufflevector(even, even_below, 2, 3, 6, 7);
    *s = __builtin_shufflevector(odd, odd_below, 2, 3, 6, 7);
}

typedef double Two __attribute__((vector_size(2 * sizeof(double)), may_alias));

INLINE void store_two(double *at, Two x) {
    *(Two *)at = x;
}

INLINE Bodies load_bodies(const MdpBody *body, const uint32_t *index) {
    const double *p = body[index[0]].v, *q = body[index[1]].v, *r = body[index[2]].v,
                 *s = body[index[3]].v;
    Simd p0 = simd_load(p), q0 = simd_load(q), r0 = simd_load(r), s0 = simd_load(s);
    Simd p1 = simd_load(p + 4), q1 = simd_load(q + 4), r1 = simd_load(r + 4), s1 = simd_load(s + 4);
    transpose(&p0, &q0, &r0, &s0);
    transpose(&p1, &q1, &r1, &s1);
    return (Bodies){{p0, q0, r0}, {s0, p1, q1}, r1, s1};
}

// Masses stay as they are.
INLINE void store_bodies(MdpBody *body, const uint32_t *index, Bodies bodies) {
    Simd p0 = bodies.linear.x, q0 = bodies.linear.y, r0 = bodies.linear.z;
    Simd s0 = bodies.angular.x, p1 = bodies.angular.y, q1 = bodies.angular.z;
    transpose(&p0, &q0, &r0, &s0);
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

// ---- contacts: SIMD_COUNT of a quad, from place `first` on

// impulses' changes, + on b and - on a; (arm n) x d = arm (n x d)
INLINE void push(const MdpQuad *c, int first, Bodies *a, Bodies *b, Simd3 d) {
    Simd3 turn = simd3_cross(load3(&c->normal, first), d);
    Simd arm_a = simd_load(c->arm_a.at + first), arm_b = simd_load(c->arm_b.at + first);
    a->linear = simd3_subtract(a->linear, simd3_scale(a->inverse_mass, d));
    a->angular = simd3_subtract(a->angular, simd3_scale(a->inverse_inertia * arm_a, turn));
    b->linear = simd3_add(b->linear, simd3_scale(b->inverse_mass, d));
    b->angular = simd3_add(b->angular, simd3_scale(b->inverse_inertia * arm_b, turn));
}

// velocity of b against a at the contact points; w x (arm n) = arm (w x n)
INLINE Simd3 relative_velocity(const MdpQuad *c, int first, const Bodies *a, const Bodies *b) {
    Simd arm_a = simd_load(c->arm_a.at + first), arm_b = simd_load(c->arm_b.at + first);
    Simd3 w = simd3_subtract(simd3_scale(arm_b, b->angular), simd3_scale(arm_a, a->angular));
    return simd3_add(simd3_subtract(b->linear, a->linear),
                     simd3_cross(w, load3(&c->normal, first)));
}

// New impulses from those that momentum carried on, p, at the relative velocities u. A is diagonal,
// so both laws have one closed form: the normal part alone, then friction on the disc of radius
// mu x_n.
INLINE Simd3 solve(const MdpQuad *c, int first, Simd3 u, Simd3 p) {
    const Simd zero = simd_all(0.0), one = simd_all(1.0);
    Simd3 n = load3(&c->normal, first);
    Simd u_n = simd3_dot(u, n), p_n = simd3_dot(p, n);
    Simd x_n = p_n - (u_n + simd_load(c->offset.at + first)) * simd_load(c->inverse_nn.at + first);
    x_n = simd_choose(x_n < zero, zero, x_n);

    // tangent: what would stop the point, cut to the disc
    Simd3 stop =
        simd3_scale(simd_load(c->inverse_tt.at + first), simd3_subtract(u, simd3_scale(u_n, n)));
    Simd3 t = simd3_subtract(simd3_subtract(p, simd3_scale(p_n, n)), stop);
    Simd square = simd3_dot(t, t), bound = simd_load(c->mu.at + first) * x_n;
    // always computed: the root costs less than a branch that nothing can foresee
    SimdMask slides = square > bound * bound;
    Simd cut = simd_choose(slides, bound / simd_root(simd_choose(slides, square, one)), one);
    return simd3_add(simd3_scale(x_n, n), simd3_scale(cut, t));
}

// What places add to the sums of their islands.
typedef struct Change {
    Simd residual, opposition;
} Change;

// Solves the places, whose momentum goes on by `ratio`.
INLINE Change sweep_places(MdpQuad *c, int first, MdpBody *body, Simd ratio) {
    Bodies a = load_bodies(body, c->a + first), b = load_bodies(body, c->b + first);
    Simd3 z = load3(&c->impulse, first);
    Simd3 p = simd3_add(z, simd3_scale(ratio, simd3_subtract(z, load3(&c->before, first))));
    Simd3 x = solve(c, first, relative_velocity(c, first, &a, &b), p);
    Simd3 d = simd3_subtract(x, p);
    store3(&c->impulse, first, x);
    store3(&c->before, first, z);
    push(c, first, &a, &b, d);
    store_bodies(body, c->a + first, a);
    store_bodies(body, c->b + first, b);
    Simd weight = simd_load(c->weight.at + first);
    return (Change){weight * simd3_dot(d, d), -(weight * simd3_dot(d, simd3_subtract(x, z)))};
}

// ---- quads

INLINE Watch watch_island(const MdpSum *sum, uint32_t of) {
    return (Watch){.island = of,
                   .is_done = sum[of].is_done,
                   .ratio = simd_all(sum[of].ratio),
                   .most = simd_all(sum[of].largest),
                   .residual = sum[of].residual,
                   .opposition = sum[of].opposition};
}

INLINE void settle(MdpSum *sum, const Watch *watch) {
    MdpSum *of = &sum[watch->island];
    of->residual = watch->residual;
    of->opposition = watch->opposition;
    for (int place = 0; place < SIMD_COUNT; place++) {
        of->largest = mdp_note_change(of->largest, watch->most[place]);
    }
}

// places of several islands
INLINE void sweep_mixed(MdpQuad *c, int first, MdpBody *body, MdpSum *sum) {
    const uint32_t *of = c->island + first;
    double ratio[SIMD_COUNT];
    for (int place = 0; place < SIMD_COUNT; place++) {
        ratio[place] = sum[of[place]].ratio;
    }
    Change change = sweep_places(c, first, body, SIMD_OF(ratio, ));
    for (int place = 0; place < SIMD_COUNT; place++) {
        MdpSum *island = &sum[of[place]];
        island->residual += change.residual[place];
        island->opposition += change.opposition[place];
        island->largest = mdp_note_change(island->largest, change.residual[place]);
    }
}

// places of the island that is watched
INLINE void sweep_watched(MdpQuad *c, int first, MdpBody *body, Watch *watch) {
    Change change = sweep_places(c, first, body, watch->ratio);
    watch->residual = simd_add_to(watch->residual, change.residual);
    watch->opposition = simd_add_to(watch->opposition, change.opposition);
    watch->most = simd_max(change.residual, watch->most);
}

INLINE void sweep_quad(MdpQuad *c, MdpBody *body, MdpSum *sum, Watch *watch) {
    bool is_other = c->is_mixed || c->island[0] != watch->island;
    if (is_other) {
        settle(sum, watch);
    }
    if (c->is_mixed) {
        sweep_mixed(c, 0, body, sum);
        if (SIMD_COUNT < MDP_QUAD) {
            sweep_mixed(c, MDP_QUAD - SIMD_COUNT, body, sum);
        }
    }
    if (is_other) {
        *watch = watch_island(sum, c->island[0]);
    }
    if (!c->is_mixed && !watch->is_done) {
        sweep_watched(c, 0, body, watch);
        if (SIMD_COUNT < MDP_QUAD) {
            sweep_watched(c, MDP_QUAD - SIMD_COUNT, body, watch);
        }
    }
}

INLINE void fetch(const MdpBody *body, const uint32_t index[MDP_QUAD]) {
    __builtin_prefetch(&body[index[0]], 1);
    __builtin_prefetch(&body[index[1]], 1);
    __builtin_prefetch(&body[index[2]], 1);
    __builtin_prefetch(&body[index[3]], 1);
}

INLINE void sweep_quads(MdpQuad *quad, uint32_t begin, uint32_t end, MdpBody *body, MdpSum *sum) {
    if (begin == end) {
        return;
    }
    // its sums stay in registers while quads of one island follow each other
    Watch watch = watch_island(sum, quad[begin].island[0]);
    for (uint32_t i = begin; i < end; i++) {
        if (i + AHEAD < end) {
            fetch(body, quad[i + AHEAD].a);
            fetch(body, quad[i + AHEAD].b);
        }
        sweep_quad(&quad[i], body, sum, &watch);
    }
    settle(sum, &watch);
}

INLINE void push_places(const MdpQuad *c, int first, MdpBody *body) {
    Bodies a = load_bodies(body, c->a + first), b = load_bodies(body, c->b + first);
    push(c, first, &a, &b, load3(&c->impulse, first));
    store_bodies(body, c->a + first, a);
    store_bodies(body, c->b + first, b);
}

INLINE void push_quads(const MdpQuad *quad, uint32_t begin, uint32_t end, MdpBody *body) {
    for (uint32_t i = begin; i < end; i++) {
        push_places(&quad[i], 0, body);
        if (SIMD_COUNT < MDP_QUAD) {
            push_places(&quad[i], MDP_QUAD - SIMD_COUNT, body);
        }
    }
}
