// SPDX-License-Identifier: MIT
// The sweep over quads, for vectors of LANES numbers: the file that includes this says how many, 2
// or 4, as fits the machine that it is compiled for. Two lanes go over a quad in two halves, which
// share no body, so the order is the same.
//
// Small pieces of one loop: all of it is inlined. Nothing is a loop over x, y and z or over lanes:
// compilers would keep it one, and its numbers in memory.
#pragma once

#include "solve/mdp_ball.h"

#include <math.h>

#define INLINE static inline __attribute__((always_inline))

// may_alias: they are read from and written to plain numbers
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double)), may_alias));
typedef int64_t Mask __attribute__((vector_size(LANES * sizeof(int64_t))));

typedef struct Lanes3 {
    Lanes x, y, z;
} Lanes3;

// Quads of one colour follow each other, their bodies do not: in a large pile they are fetched so
// many quads ahead.
enum { AHEAD = 2 };

// How the island of the quads at hand stands. Its sums are taken contact after contact, whatever
// lanes these are in, so that they are the same on every machine and beside any other island.
typedef struct Watch {
    uint32_t island;
    Lanes ratio;
    double residual, opposition;
} Watch;

// A body for each lane, number by number.
typedef struct Bodies {
    Lanes3 linear, angular;
    Lanes inverse_mass, inverse_inertia;
} Bodies;

// ---- numbers

INLINE Lanes load(const double *at) {
    return *(const Lanes *)at;
}

INLINE void store(double *at, Lanes x) {
    *(Lanes *)at = x;
}

INLINE Lanes3 load3(const MdpFour3 *of, int first) {
    return (Lanes3){load(of->x.lane + first), load(of->y.lane + first), load(of->z.lane + first)};
}

INLINE void store3(MdpFour3 *of, int first, Lanes3 a) {
    store(of->x.lane + first, a.x);
    store(of->y.lane + first, a.y);
    store(of->z.lane + first, a.z);
}

INLINE Lanes3 add(Lanes3 a, Lanes3 b) {
    return (Lanes3){a.x + b.x, a.y + b.y, a.z + b.z};
}

INLINE Lanes3 subtract(Lanes3 a, Lanes3 b) {
    return (Lanes3){a.x - b.x, a.y - b.y, a.z - b.z};
}

INLINE Lanes3 scale(Lanes s, Lanes3 a) {
    return (Lanes3){s * a.x, s * a.y, s * a.z};
}

INLINE Lanes dot(Lanes3 a, Lanes3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

INLINE Lanes3 cross(Lanes3 a, Lanes3 b) {
    return (Lanes3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

INLINE Lanes choose(Mask mask, Lanes yes, Lanes no) {
    // in this form no compiler takes it apart again
    return (Lanes)((Mask)no ^ (((Mask)yes ^ (Mask)no) & mask));
}

// ---- what depends on how many lanes there are

#if LANES == 4

INLINE Lanes root(Lanes x) {
    return (Lanes){sqrt(x[0]), sqrt(x[1]), sqrt(x[2]), sqrt(x[3])};
}

INLINE double add_lanes(double sum, Lanes x) {
    return (((sum + x[0]) + x[1]) + x[2]) + x[3];
}

INLINE Lanes ratios(const MdpIsland *island, const uint32_t *of) {
    return (Lanes){island[of[0]].ratio, island[of[1]].ratio, island[of[2]].ratio,
                   island[of[3]].ratio};
}

// rows to columns and back
INLINE void transpose(Lanes *p, Lanes *q, Lanes *r, Lanes *s) {
    Lanes even = __builtin_shufflevector(*p, *q, 0, 4, 2, 6);
    Lanes odd = __builtin_shufflevector(*p, *q, 1, 5, 3, 7);
    Lanes even_below = __builtin_shufflevector(*r, *s, 0, 4, 2, 6);
    Lanes odd_below = __builtin_shufflevector(*r, *s, 1, 5, 3, 7);
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
    Lanes p0 = load(p), q0 = load(q), r0 = load(r), s0 = load(s);
    Lanes p1 = load(p + 4), q1 = load(q + 4), r1 = load(r + 4), s1 = load(s + 4);
    transpose(&p0, &q0, &r0, &s0);
    transpose(&p1, &q1, &r1, &s1);
    return (Bodies){{p0, q0, r0}, {s0, p1, q1}, r1, s1};
}

// Masses stay as they are.
INLINE void store_bodies(MdpBody *body, const uint32_t *index, Bodies bodies) {
    Lanes p0 = bodies.linear.x, q0 = bodies.linear.y, r0 = bodies.linear.z;
    Lanes s0 = bodies.angular.x, p1 = bodies.angular.y, q1 = bodies.angular.z;
    transpose(&p0, &q0, &r0, &s0);
    Lanes even = __builtin_shufflevector(p1, q1, 0, 4, 2, 6);
    Lanes odd = __builtin_shufflevector(p1, q1, 1, 5, 3, 7);
    double *p = body[index[0]].v, *q = body[index[1]].v, *r = body[index[2]].v,
           *s = body[index[3]].v;
    store(p, p0);
    store(q, q0);
    store(r, r0);
    store(s, s0);
    store_two(p + 4, __builtin_shufflevector(even, even, 0, 1));
    store_two(q + 4, __builtin_shufflevector(odd, odd, 0, 1));
    store_two(r + 4, __builtin_shufflevector(even, even, 2, 3));
    store_two(s + 4, __builtin_shufflevector(odd, odd, 2, 3));
}

#else

INLINE Lanes root(Lanes x) {
    return (Lanes){sqrt(x[0]), sqrt(x[1])};
}

INLINE double add_lanes(double sum, Lanes x) {
    return (sum + x[0]) + x[1];
}

INLINE Lanes ratios(const MdpIsland *island, const uint32_t *of) {
    return (Lanes){island[of[0]].ratio, island[of[1]].ratio};
}

INLINE void load_columns(const double *p, const double *q, Lanes *even, Lanes *odd) {
    *even = __builtin_shufflevector(load(p), load(q), 0, 2);
    *odd = __builtin_shufflevector(load(p), load(q), 1, 3);
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

INLINE void store_columns(double *p, double *q, Lanes even, Lanes odd) {
    store(p, __builtin_shufflevector(even, odd, 0, 2));
    store(q, __builtin_shufflevector(even, odd, 1, 3));
}

INLINE void store_bodies(MdpBody *body, const uint32_t *index, Bodies bodies) {
    double *p = body[index[0]].v, *q = body[index[1]].v;
    store_columns(p, q, bodies.linear.x, bodies.linear.y);
    store_columns(p + 2, q + 2, bodies.linear.z, bodies.angular.x);
    store_columns(p + 4, q + 4, bodies.angular.y, bodies.angular.z);
}

#endif

// ---- contacts: LANES of a quad, from lane `first` on

// impulses' changes, + on b and - on a; (arm n) x d = arm (n x d)
INLINE void push(const MdpQuad *c, int first, Bodies *a, Bodies *b, Lanes3 d) {
    Lanes3 turn = cross(load3(&c->normal, first), d);
    Lanes arm_a = load(c->arm_a.lane + first), arm_b = load(c->arm_b.lane + first);
    a->linear = subtract(a->linear, scale(a->inverse_mass, d));
    a->angular = subtract(a->angular, scale(a->inverse_inertia * arm_a, turn));
    b->linear = add(b->linear, scale(b->inverse_mass, d));
    b->angular = add(b->angular, scale(b->inverse_inertia * arm_b, turn));
}

// velocity of b against a at the contact points; w x (arm n) = arm (w x n)
INLINE Lanes3 relative_velocity(const MdpQuad *c, int first, const Bodies *a, const Bodies *b) {
    Lanes arm_a = load(c->arm_a.lane + first), arm_b = load(c->arm_b.lane + first);
    Lanes3 w = subtract(scale(arm_b, b->angular), scale(arm_a, a->angular));
    return add(subtract(b->linear, a->linear), cross(w, load3(&c->normal, first)));
}

// New impulses from those that momentum carried on, p, at the relative velocities u. A is diagonal,
// so both laws have one closed form: the normal part alone, then friction on the disc of radius
// mu x_n.
INLINE Lanes3 solve(const MdpQuad *c, int first, Lanes3 u, Lanes3 p) {
    const Lanes zero = {0.0}, one = zero + 1.0;
    Lanes3 n = load3(&c->normal, first);
    Lanes u_n = dot(u, n), p_n = dot(p, n);
    Lanes x_n = p_n - (u_n + load(c->offset.lane + first)) * load(c->inverse_nn.lane + first);
    x_n = choose(x_n < zero, zero, x_n);

    // tangent: what would stop the point, cut to the disc
    Lanes3 stop = scale(load(c->inverse_tt.lane + first), subtract(u, scale(u_n, n)));
    Lanes3 t = subtract(subtract(p, scale(p_n, n)), stop);
    Lanes square = dot(t, t), bound = load(c->mu.lane + first) * x_n;
    // always computed: the root costs less than a branch that nothing can foresee
    Mask slides = square > bound * bound;
    Lanes cut = choose(slides, bound / root(choose(slides, square, one)), one);
    return add(scale(x_n, n), scale(cut, t));
}

// What lanes add to the sums of their islands.
typedef struct Change {
    Lanes residual, opposition;
} Change;

// Solves the lanes, whose momentum goes on by `ratio`.
INLINE Change sweep_lanes(MdpQuad *c, int first, MdpBody *body, Lanes ratio) {
    Bodies a = load_bodies(body, c->a + first), b = load_bodies(body, c->b + first);
    Lanes3 z = load3(&c->impulse, first);
    Lanes3 p = add(z, scale(ratio, subtract(z, load3(&c->before, first))));
    Lanes3 x = solve(c, first, relative_velocity(c, first, &a, &b), p);
    Lanes3 d = subtract(x, p);
    store3(&c->impulse, first, x);
    store3(&c->before, first, z);
    push(c, first, &a, &b, d);
    store_bodies(body, c->a + first, a);
    store_bodies(body, c->b + first, b);
    Lanes weight = load(c->weight.lane + first);
    return (Change){weight * dot(d, d), -(weight * dot(d, subtract(x, z)))};
}

// ---- quads

INLINE Watch watch_island(const MdpIsland *island, uint32_t of) {
    return (Watch){.island = of,
                   .ratio = (Lanes){0.0} + island[of].ratio,
                   .residual = island[of].residual,
                   .opposition = island[of].opposition};
}

INLINE void settle(MdpIsland *island, const Watch *watch) {
    island[watch->island].residual = watch->residual;
    island[watch->island].opposition = watch->opposition;
}

INLINE Lanes note_changes(Lanes most, Lanes change) {
    return choose((change > most) | (change != change), change, most);
}

// lanes of several islands
INLINE Lanes sweep_mixed(MdpQuad *c, int first, MdpBody *body, MdpIsland *island, Lanes most) {
    const uint32_t *of = c->island + first;
    Change change = sweep_lanes(c, first, body, ratios(island, of));
    for (int lane = 0; lane < LANES; lane++) {
        island[of[lane]].residual += change.residual[lane];
        island[of[lane]].opposition += change.opposition[lane];
    }
    return note_changes(most, change.residual);
}

// lanes of the island that is watched
INLINE Lanes sweep_watched(MdpQuad *c, int first, MdpBody *body, Watch *watch, Lanes most) {
    Change change = sweep_lanes(c, first, body, watch->ratio);
    watch->residual = add_lanes(watch->residual, change.residual);
    watch->opposition = add_lanes(watch->opposition, change.opposition);
    return note_changes(most, change.residual);
}

INLINE Lanes sweep_quad(MdpQuad *c, MdpBody *body, MdpIsland *island, Watch *watch, Lanes most) {
    bool is_other = c->is_mixed || c->island[0] != watch->island;
    if (is_other) {
        settle(island, watch);
    }
    if (c->is_mixed) {
        most = sweep_mixed(c, 0, body, island, most);
        if (LANES < MDP_LANES) {
            most = sweep_mixed(c, MDP_LANES - LANES, body, island, most);
        }
    }
    if (is_other) {
        *watch = watch_island(island, c->island[0]);
    }
    if (!c->is_mixed) {
        most = sweep_watched(c, 0, body, watch, most);
        if (LANES < MDP_LANES) {
            most = sweep_watched(c, MDP_LANES - LANES, body, watch, most);
        }
    }
    return most;
}

INLINE void fetch(const MdpBody *body, const uint32_t index[MDP_LANES]) {
    __builtin_prefetch(&body[index[0]], 1);
    __builtin_prefetch(&body[index[1]], 1);
    __builtin_prefetch(&body[index[2]], 1);
    __builtin_prefetch(&body[index[3]], 1);
}

INLINE double sweep_quads(MdpQuad *quad, uint32_t begin, uint32_t end, MdpBody *body,
                          MdpIsland *island, double largest) {
    if (begin == end) {
        return largest;
    }
    Lanes most = (Lanes){0.0} + largest;
    // its sums stay in registers while quads of one island follow each other
    Watch watch = watch_island(island, quad[begin].island[0]);
    for (uint32_t i = begin; i < end; i++) {
        if (i + AHEAD < end) {
            fetch(body, quad[i + AHEAD].a);
            fetch(body, quad[i + AHEAD].b);
        }
        most = sweep_quad(&quad[i], body, island, &watch, most);
    }
    settle(island, &watch);
    for (int lane = 0; lane < LANES; lane++) {
        largest = mdp_note_change(largest, most[lane]);
    }
    return largest;
}
