// SPDX-License-Identifier: MIT
// The sweep over quads, SIMD_COUNT contacts at a time (base/simd.h): the file that includes this
// says how many. Two go over a quad in two halves, which share no body, so the order is the same.
#pragma once

#include "solve/mdp/body_simd.h"

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
