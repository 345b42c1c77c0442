// SPDX-License-Identifier: MIT
#include "solve/mdp_ball.h"

#include <math.h>

// A comparison of lanes: all bits of a lane, or none.
typedef int64_t Mask __attribute__((vector_size(MDP_LANES * sizeof(int64_t))));

// Quads of one colour follow each other, their bodies do not: in a large pile they are fetched so
// many quads ahead.
enum { AHEAD = 2 };

// What the quads of one island add up to, lane by lane.
typedef struct Watch {
    uint32_t island;
    MdpLanes ratio, residual, opposition;
} Watch;

// Four bodies, number by number.
typedef struct Bodies {
    MdpLanes3 linear, angular;
    MdpLanes inverse_mass, inverse_inertia;
} Bodies;

// Small pieces of one loop, which is compiled once for each kind of machine: all of it is inlined,
// so how a machine without wide registers hands vectors to functions is no matter. Nothing is a
// loop over x, y and z: compilers would keep it one, and its numbers in memory.
#define INLINE static inline __attribute__((always_inline))

INLINE MdpLanes3 add(MdpLanes3 a, MdpLanes3 b) {
    return (MdpLanes3){a.x + b.x, a.y + b.y, a.z + b.z};
}

INLINE MdpLanes3 subtract(MdpLanes3 a, MdpLanes3 b) {
    return (MdpLanes3){a.x - b.x, a.y - b.y, a.z - b.z};
}

INLINE MdpLanes3 scale(MdpLanes s, MdpLanes3 a) {
    return (MdpLanes3){s * a.x, s * a.y, s * a.z};
}

INLINE MdpLanes dot(MdpLanes3 a, MdpLanes3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

INLINE MdpLanes3 cross(MdpLanes3 a, MdpLanes3 b) {
    return (MdpLanes3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

INLINE MdpLanes choose(Mask mask, MdpLanes yes, MdpLanes no) {
    return (MdpLanes)((mask & (Mask)yes) | (~mask & (Mask)no));
}

INLINE MdpLanes root(MdpLanes x) {
    return (MdpLanes){sqrt(x[0]), sqrt(x[1]), sqrt(x[2]), sqrt(x[3])};
}

// rows to columns and back
INLINE void transpose(MdpLanes *p, MdpLanes *q, MdpLanes *r, MdpLanes *s) {
    MdpLanes even = __builtin_shufflevector(*p, *q, 0, 4, 2, 6);
    MdpLanes odd = __builtin_shufflevector(*p, *q, 1, 5, 3, 7);
    MdpLanes even_below = __builtin_shufflevector(*r, *s, 0, 4, 2, 6);
    MdpLanes odd_below = __builtin_shufflevector(*r, *s, 1, 5, 3, 7);
    *p = __builtin_shufflevector(even, even_below, 0, 1, 4, 5);
    *q = __builtin_shufflevector(odd, odd_below, 0, 1, 4, 5);
    *r = __builtin_shufflevector(even, even_below, 2, 3, 6, 7);
    *s = __builtin_shufflevector(odd, odd_below, 2, 3, 6, 7);
}

INLINE Bodies load_bodies(const MdpBody *body, const uint32_t index[MDP_LANES]) {
    const MdpBody *p = &body[index[0]], *q = &body[index[1]], *r = &body[index[2]],
                  *s = &body[index[3]];
    MdpLanes p0 = p->half[0], q0 = q->half[0], r0 = r->half[0], s0 = s->half[0];
    MdpLanes p1 = p->half[1], q1 = q->half[1], r1 = r->half[1], s1 = s->half[1];
    transpose(&p0, &q0, &r0, &s0);
    transpose(&p1, &q1, &r1, &s1);
    return (Bodies){{p0, q0, r0}, {s0, p1, q1}, r1, s1};
}

INLINE void store_bodies(MdpBody *body, const uint32_t index[MDP_LANES], Bodies bodies) {
    MdpLanes p0 = bodies.linear.x, q0 = bodies.linear.y, r0 = bodies.linear.z;
    MdpLanes s0 = bodies.angular.x, p1 = bodies.angular.y, q1 = bodies.angular.z;
    MdpLanes r1 = bodies.inverse_mass, s1 = bodies.inverse_inertia;
    transpose(&p0, &q0, &r0, &s0);
    transpose(&p1, &q1, &r1, &s1);
    MdpBody *p = &body[index[0]], *q = &body[index[1]], *r = &body[index[2]], *s = &body[index[3]];
    p->half[0] = p0;
    p->half[1] = p1;
    q->half[0] = q0;
    q->half[1] = q1;
    r->half[0] = r0;
    r->half[1] = r1;
    s->half[0] = s0;
    s->half[1] = s1;
}

// impulses' changes, + on b and - on a; (arm n) x d = arm (n x d)
INLINE void push(const MdpQuad *c, Bodies *a, Bodies *b, MdpLanes3 d) {
    MdpLanes3 turn = cross(c->normal, d);
    a->linear = subtract(a->linear, scale(a->inverse_mass, d));
    a->angular = subtract(a->angular, scale(a->inverse_inertia * c->arm_a, turn));
    b->linear = add(b->linear, scale(b->inverse_mass, d));
    b->angular = add(b->angular, scale(b->inverse_inertia * c->arm_b, turn));
}

// velocity of b against a at the contact points; w x (arm n) = arm (w x n)
INLINE MdpLanes3 relative_velocity(const MdpQuad *c, const Bodies *a, const Bodies *b) {
    MdpLanes3 w = subtract(scale(c->arm_b, b->angular), scale(c->arm_a, a->angular));
    return add(subtract(b->linear, a->linear), cross(w, c->normal));
}

// New impulses from those that momentum carried on, p, at the relative velocities u. A is diagonal,
// so both laws have one closed form: the normal part alone, then friction on the disc of radius
// mu x_n.
INLINE MdpLanes3 solve(const MdpQuad *c, MdpLanes3 u, MdpLanes3 p) {
    const MdpLanes zero = {0.0, 0.0, 0.0, 0.0}, one = {1.0, 1.0, 1.0, 1.0};
    MdpLanes3 n = c->normal;
    MdpLanes u_n = dot(u, n), p_n = dot(p, n);
    MdpLanes x_n = p_n - (u_n + c->offset) * c->inverse_nn;
    x_n = choose(x_n < zero, zero, x_n);

    // tangent: what would stop the point, cut to the disc
    MdpLanes3 t = subtract(subtract(p, scale(p_n, n)),
                           scale(c->inverse_tt, subtract(u, scale(u_n, n))));
    MdpLanes square = dot(t, t), bound = c->mu * x_n;
    // always computed: the root costs less than a branch that nothing can foresee
    Mask slides = square > bound * bound;
    MdpLanes cut = choose(slides, bound / root(choose(slides, square, one)), one);
    return add(scale(x_n, n), scale(cut, t));
}

INLINE Watch watch_island(const MdpIsland *island, uint32_t of) {
    double ratio = island[of].ratio;
    return (Watch){.island = of, .ratio = {ratio, ratio, ratio, ratio}};
}

INLINE double sum(MdpLanes x) {
    return (x[0] + x[1]) + (x[2] + x[3]);
}

INLINE void settle(MdpIsland *island, const Watch *watch) {
    island[watch->island].residual += sum(watch->residual);
    island[watch->island].opposition += sum(watch->opposition);
}

// Solves the quad, whose momentum is as `watch` says, and adds to it. Returns the changes of the
// impulses, as squared velocities over V.
INLINE MdpLanes sweep_quad(MdpQuad *c, MdpBody *body, Watch *watch) {
    Bodies a = load_bodies(body, c->a), b = load_bodies(body, c->b);
    MdpLanes3 z = c->impulse;
    MdpLanes3 p = add(z, scale(watch->ratio, subtract(z, c->before)));
    MdpLanes3 x = solve(c, relative_velocity(c, &a, &b), p);
    MdpLanes3 d = subtract(x, p);
    c->impulse = x;
    c->before = z;
    push(c, &a, &b, d);
    store_bodies(body, c->a, a);
    store_bodies(body, c->b, b);
    MdpLanes change = c->weight * dot(d, d);
    watch->residual += change;
    watch->opposition -= c->weight * dot(d, subtract(x, z));
    return change;
}

// the same where not all lanes are of one island
INLINE MdpLanes sweep_mixed(MdpQuad *c, MdpBody *body, MdpIsland *island) {
    const uint32_t *of = c->island;
    Watch watch = {.ratio = {island[of[0]].ratio, island[of[1]].ratio, island[of[2]].ratio,
                             island[of[3]].ratio}};
    MdpLanes change = sweep_quad(c, body, &watch);
    for (int lane = 0; lane < MDP_LANES; lane++) {
        island[of[lane]].residual += watch.residual[lane];
        island[of[lane]].opposition += watch.opposition[lane];
    }
    return change;
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
    MdpLanes most = {largest, largest, largest, largest}, change;
    Watch watch = watch_island(island, quad[begin].island[0]);
    for (uint32_t i = begin; i < end; i++) {
        MdpQuad *c = &quad[i];
        if (i + AHEAD < end) {
            fetch(body, c[AHEAD].a);
            fetch(body, c[AHEAD].b);
        }
        if (c->is_mixed) {
            change = sweep_mixed(c, body, island);
        } else {
            // sums stay in registers while quads of one island follow each other
            if (c->island[0] != watch.island) {
                settle(island, &watch);
                watch = watch_island(island, c->island[0]);
            }
            change = sweep_quad(c, body, &watch);
        }
        most = choose((change > most) | (change != change), change, most);
    }
    settle(island, &watch);
    for (int lane = 0; lane < MDP_LANES; lane++) {
        largest = mdp_note_change(largest, most[lane]);
    }
    return largest;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static double sweep_wide(MdpQuad *quad, uint32_t begin,
                                                         uint32_t end, MdpBody *body,
                                                         MdpIsland *island, double largest) {
    return sweep_quads(quad, begin, end, body, island, largest);
}
#endif

double mdp_ball_sweep(MdpQuad *quad, uint32_t begin, uint32_t end, MdpBody *body, MdpIsland *island,
                      double largest) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        return sweep_wide(quad, begin, end, body, island, largest);
    }
#endif
    return sweep_quads(quad, begin, end, body, island, largest);
}
