// SPDX-License-Identifier: MIT
// The sweep over quads of points, SIMD_COUNT contacts at a time: the file that includes this says
// how many. Two go over a quad in two halves, which share no body.
#pragma once

#include "solve/block_slide.h"
#include "solve/mdp/body_simd.h"
#include "solve/mdp/point.h"

#include <stddef.h>

// Quads so far ahead are fetched, and their bodies.
enum { AHEAD = 2 };

// Steps of Halley's method for a slide, at most; and how near to its end one more ends it.
enum { POINT_SLIDE_STEPS = 16 };
#define POINT_SLIDE_NEAR 4e-5

typedef struct Inertias {
    Simd xx, yy, zz, xy, xz, yz;
} Inertias;

// What a contact needs of its two bodies.
typedef struct Sides {
    Bodies a, b;
    Simd3 arm_a, arm_b;
} Sides;

// ---- in

#if SIMD_COUNT == 4

INLINE Inertias load_inertias(const MdpInertia *of, const uint32_t *index) {
    const double *p = of[index[0]].at, *q = of[index[1]].at, *r = of[index[2]].at,
                 *s = of[index[3]].at;
    Simd p0 = simd_load(p), q0 = simd_load(q), r0 = simd_load(r), s0 = simd_load(s);
    Simd p1 = simd_load(p + 4), q1 = simd_load(q + 4), r1 = simd_load(r + 4), s1 = simd_load(s + 4);
    simd_transpose(&p0, &q0, &r0, &s0);
    simd_transpose(&p1, &q1, &r1, &s1);
    return (Inertias){p0, q0, r0, s0, p1, q1};
}

INLINE SimdMask mask_of(const bool *at) {
    return -(SimdMask){at[0], at[1], at[2], at[3]};
}

#else

INLINE Inertias load_inertias(const MdpInertia *of, const uint32_t *index) {
    const double *p = of[index[0]].at, *q = of[index[1]].at;
    Inertias inertias;
    load_columns(p, q, &inertias.xx, &inertias.yy);
    load_columns(p + 2, q + 2, &inertias.zz, &inertias.xy);
    load_columns(p + 4, q + 4, &inertias.xz, &inertias.yz);
    return inertias;
}

INLINE SimdMask mask_of(const bool *at) {
    return -(SimdMask){at[0], at[1]};
}

#endif

INLINE Sides load_sides(const MdpBody *body, const MdpPointQuad *c, int first) {
    return (Sides){load_bodies(body, c->a + first), load_bodies(body, c->b + first),
                   load3(&c->arm_a, first), load3(&c->arm_b, first)};
}

// ---- one contact in each place

INLINE Simd3 velocity_at(const Bodies *body, Simd3 arm) {
    return simd3_add(body->linear, simd3_cross(body->angular, arm));
}

INLINE Simd3 opposite(Simd3 a) {
    return (Simd3){-a.x, -a.y, -a.z};
}

INLINE void push_body(Bodies *body, const Inertias *i, Simd3 arm, Simd3 impulse) {
    Simd3 t = simd3_cross(arm, impulse);
    Simd3 turn = {i->xx * t.x + i->xy * t.y + i->xz * t.z, i->xy * t.x + i->yy * t.y + i->yz * t.z,
                  i->xz * t.x + i->yz * t.y + i->zz * t.z};
    body->linear = simd3_add(body->linear, simd3_scale(body->inverse_mass, impulse));
    body->angular = simd3_add(body->angular, turn);
}

// The impulse d along the frame, on b and against a.
INLINE void push(const MdpPoints *points, const MdpPointQuad *c, int first, Sides *sides,
                 const Simd d[3]) {
    Simd3 impulse = simd3_scale(d[0], load3(&c->frame[0], first));
    impulse = simd3_add(impulse, simd3_scale(d[1], load3(&c->frame[1], first)));
    impulse = simd3_add(impulse, simd3_scale(d[2], load3(&c->frame[2], first)));
    Inertias of_b = load_inertias(points->inertia, c->b + first);
    push_body(&sides->b, &of_b, sides->arm_b, impulse);
    store_bodies(points->body, c->b + first, sides->b);
    if (c->has_own) {
        sides->a = load_bodies(points->body, c->a + first);
    }
    Inertias of_a = load_inertias(points->inertia, c->a + first);
    push_body(&sides->a, &of_a, sides->arm_a, opposite(impulse));
    store_bodies(points->body, c->a + first, sides->a);
}

INLINE Simd apart(const MdpFour *of, int part, int first) {
    return simd_load(of[part].at + first);
}

// The places that neither open nor stick, or not for sure; x is the answer of all others.
INLINE SimdMask solve_easy(const MdpPointQuad *c, int first, const Simd b[3], Simd x[3]) {
    const MdpFour *inverse = c->inverse;
    const Simd zero = simd_all(0.0);
    Simd n = apart(inverse, 0, first) * b[0] + apart(inverse, 1, first) * b[1] +
             apart(inverse, 2, first) * b[2];
    Simd t = apart(inverse, 1, first) * b[0] + apart(inverse, 3, first) * b[1] +
             apart(inverse, 4, first) * b[2];
    Simd o = apart(inverse, 2, first) * b[0] + apart(inverse, 4, first) * b[1] +
             apart(inverse, 5, first) * b[2];
    Simd bound = simd_load(c->mu.at + first) * n;
    SimdMask opens = b[0] < zero;
    SimdMask sticks = (b[0] > zero) & (bound > zero) & (t * t + o * o <= bound * bound);
    x[0] = simd_choose(opens, zero, simd_choose(sticks, n, x[0]));
    x[1] = simd_choose(opens, zero, simd_choose(sticks, t, x[1]));
    x[2] = simd_choose(opens, zero, simd_choose(sticks, o, x[2]));
    return ~(opens | sticks);
}

// Where contacts slide: what is left of their blocks on the plane a.x = b_n (block.c), and of the
// search in it.
typedef struct Slides {
    Simd nt, no, kap;
    Simd h11, h12, h22;
    Simd b_n, bh1, bh2;
    Simd trace, determinant; // of Ah
    Simd c1, c2;             // adj Ah bh
    Simd n0, n1, n2;         // |c + s bh|^2 = n0 + 2 n1 s + n2 s^2, none of them negative
    Simd q0, q1, q2;         // kap (b_n D - a.(c + s bh)) = q0 + q1 s + q2 s^2
} Slides;

INLINE Slides load_slides(const MdpPointQuad *c, int first, const Simd b[3]) {
    Simd inverse_nn = simd_all(1.0) / apart(c->block, 0, first);
    Slides of = {.nt = apart(c->block, 1, first),
                 .no = apart(c->block, 2, first),
                 .kap = simd_load(c->mu.at + first) * inverse_nn,
                 .b_n = b[0]};
    Simd nt = of.nt * inverse_nn, no = of.no * inverse_nn;
    of.h11 = apart(c->block, 3, first) - nt * of.nt;
    of.h12 = apart(c->block, 4, first) - nt * of.no;
    of.h22 = apart(c->block, 5, first) - no * of.no;
    of.bh1 = b[1] - nt * b[0];
    of.bh2 = b[2] - no * b[0];
    of.trace = of.h11 + of.h22;
    of.determinant = of.h11 * of.h22 - of.h12 * of.h12;
    of.c1 = of.h22 * of.bh1 - of.h12 * of.bh2;
    of.c2 = of.h11 * of.bh2 - of.h12 * of.bh1;
    of.n0 = of.c1 * of.c1 + of.c2 * of.c2;
    of.n1 = of.c1 * of.bh1 + of.c2 * of.bh2;
    of.n2 = of.bh1 * of.bh1 + of.bh2 * of.bh2;
    of.q0 = of.kap * (b[0] * of.determinant - (of.nt * of.c1 + of.no * of.c2));
    of.q1 = of.kap * (b[0] * of.trace - (of.nt * of.bh1 + of.no * of.bh2));
    of.q2 = of.kap * b[0];
    return of;
}

// Whether there is one slide and no more. With s = nu / |y| Coulomb's are (Ah + s E) y = bh, so
// y = (c + s bh) / D with D = s^2 + s tr Ah + det Ah; and y is on the conic where N(s) = |c + s bh|
// meets Q(s) = kap (b_n D - a.(c + s bh)): the positive roots of Q^2 - N^2 with Q positive. That
// quartic begins positive; it ends negative where nothing sticks; and has one positive root, where
// Q is positive, if its signs change once (Descartes).
INLINE SimdMask have_one_slide(const Slides *of) {
    const Simd zero = simd_all(0.0);
    Simd second = of->q1 * of->q1 + (of->q2 + of->q2) * of->q0 - of->n2;
    Simd first = of->q1 * of->q0 - of->n1, last = of->q0 * of->q0 - of->n0;
    SimdMask is_many =
        ((of->q1 < zero) & ((second > zero) | (first > zero))) | ((second < zero) & (first > zero));
    return (last < zero) & ~is_many;
}

// s as fits the impulses y best that are there; 0, which is sticking, where there are none.
INLINE Simd begin_slides(const Slides *of, Simd y1, Simd y2) {
    Simd left1 = of->bh1 - (of->h11 * y1 + of->h12 * y2),
         left2 = of->bh2 - (of->h12 * y1 + of->h22 * y2);
    Simd square = y1 * y1 + y2 * y2, along = y1 * left1 + y2 * left2;
    const Simd zero = simd_all(0.0);
    return simd_choose((along > zero) & (square > zero), along / square, zero);
}

// N and Q, without kap's sign, at s; and half of the rates of N^2 and Q^2.
typedef struct SlidePoint {
    Simd square; // N^2
    Simd q, q_rate;
    Simd square_rate; // half of it
} SlidePoint;

INLINE SlidePoint slide_at(const Slides *of, Simd s) {
    return (SlidePoint){.square = of->n0 + s * ((of->n1 + of->n1) + s * of->n2),
                        .q = of->q0 + s * (of->q1 + s * of->q2),
                        .q_rate = of->q1 + (s + s) * of->q2,
                        .square_rate = of->n1 + s * of->n2};
}

// What is known to be below the root, and above it: at first nothing.
typedef struct Bracket {
    Simd low, high;
} Bracket;

// Where a step leads to, from s; out of the bracket it leads to its middle, or further up.
INLINE Simd step_on(const Slides *of, Bracket *bracket, SimdMask is_below, Simd s, Simd back) {
    const Simd none = simd_all(HUGE_VAL);
    bracket->low = simd_choose(is_below, s, bracket->low);
    bracket->high = simd_choose(is_below, bracket->high, s);
    Simd next = s - back, middle = simd_all(0.5) * (bracket->low + bracket->high);
    Simd other = simd_choose(bracket->high < none, middle, s + s + of->trace);
    return simd_choose((next > bracket->low) & (next < bracket->high), next, other);
}

// One step of Newton's method on Q / N - 1, which is a straight line where Ah is a multiple of the
// unit matrix, and nearly one for large s. Then Halley's method on Q^2 - N^2, which takes no root,
// and cubes its error. A place that is done stands still. Where `is_open` is left, nothing was
// found.
INLINE Simd find_slides(const Slides *of, Simd s, SimdMask *is_open) {
    const Simd near = simd_all(POINT_SLIDE_NEAR), zero = simd_all(0.0);
    Bracket bracket = {zero, simd_all(HUGE_VAL)};
    SlidePoint at = slide_at(of, s);
    Simd n = simd_root(at.square);
    s = step_on(of, &bracket, at.q < n, s,
                (at.q - n) * at.square / (at.q_rate * at.square - at.q * at.square_rate));
    for (int step = 0; step < POINT_SLIDE_STEPS && simd_any(*is_open); step++) {
        at = slide_at(of, s);
        Simd p = at.q * at.q - at.square, rate = at.q * at.q_rate - at.square_rate;
        Simd bend = at.q_rate * at.q_rate + (at.q + at.q) * of->q2 - of->n2, twice = rate + rate;
        Simd next = step_on(of, &bracket, (p < zero) | (at.q < zero), s,
                            p * twice / (twice * twice - p * bend));
        SimdMask ends = simd_abs(p) <= near * at.square; // with this step
        s = simd_choose(*is_open, next, s);
        *is_open &= ~ends;
    }
    return s;
}

// What mdp_slide_converge would have of it (block.c, is_certified).
INLINE SimdMask are_certified(const Slides *of, Simd s, Simd y1, Simd y2, Simd length) {
    Simd tolerance = simd_all(MDP_SLIDE_TOLERANCE);
    Simd f1 = of->h11 * y1 + of->h12 * y2 - of->bh1 + s * y1;
    Simd f2 = of->h12 * y1 + of->h22 * y2 - of->bh2 + s * y2;
    Simd nt_y1 = of->nt * y1, no_y2 = of->no * y2, normal = of->b_n - (nt_y1 + no_y2);
    Simd h_max = simd_max(simd_max(of->h11, of->h22), simd_abs(of->h12));
    Simd rate = simd_max(simd_abs(of->bh1), simd_abs(of->bh2)) + h_max * length;
    Simd reach = length + of->kap * (simd_abs(of->b_n) + simd_abs(nt_y1) + simd_abs(no_y2));
    return (simd_max(simd_abs(f1), simd_abs(f2)) <= tolerance * rate) &
           (simd_abs(length - of->kap * normal) <= tolerance * reach) & (normal >= simd_all(0.0));
}

// Of the places that are asked for, those that surely slide, or have no friction, get their answer,
// from where momentum carried them, which x is. The others are left.
INLINE SimdMask solve_slides(const MdpPointQuad *c, int first, const Simd b[3], SimdMask asked,
                             Simd x[3]) {
    const Simd zero = simd_all(0.0), mu = simd_load(c->mu.at + first),
               known = apart(c->inverse, 0, first);
    SimdMask pushes = asked & (b[0] > zero), grazes = asked & (b[0] == zero),
             glides = pushes & (mu == zero);
    Slides of = load_slides(c, first, b);
    // an inverse that is no number is of a block that wants care
    SimdMask slides = pushes & (mu > zero) & (known == known) & have_one_slide(&of);
    SimdMask is_open = slides;
    Simd s = find_slides(&of, begin_slides(&of, x[1], x[2]), &is_open);
    Simd scale = simd_all(1.0) / (of.determinant + s * (of.trace + s));
    Simd y1 = scale * (of.c1 + s * of.bh1), y2 = scale * (of.c2 + s * of.bh2);
    Simd length = simd_root(y1 * y1 + y2 * y2);
    slides &= ~is_open & are_certified(&of, s, y1, y2, length);
    // the cone is kept to rounding by giving the normal part way
    Simd nn = apart(c->block, 0, first), n = (b[0] - of.nt * y1 - of.no * y2) / nn;
    n = simd_max(n, length / mu);
    SimdMask glides_or_grazes = glides | grazes;
    x[0] = simd_choose(slides, n, simd_choose(grazes, zero, simd_choose(glides, b[0] / nn, x[0])));
    x[1] = simd_choose(slides, y1, simd_choose(glides_or_grazes, zero, x[1]));
    x[2] = simd_choose(slides, y2, simd_choose(glides_or_grazes, zero, x[2]));
    return asked & ~(slides | glides_or_grazes);
}

// Places of a quad that are to be solved by themselves, from where momentum carried them, p; x
// becomes the answer.
INLINE void solve_hard(const MdpPoints *points, uint32_t quad, int first, unsigned places,
                       bool is_coulomb, const Simd p[3], const Simd b[3], Simd x[3]) {
    MdpPointTrial trial;
    for (int k = 0; k < 3; k++) {
        simd_store(trial.carried[k].at + first, p[k]);
        simd_store(trial.b[k].at + first, b[k]);
        simd_store(trial.x[k].at + first, x[k]);
    }
    mdp_point_solve(points, quad, places << first, is_coulomb, &trial);
    for (int k = 0; k < 3; k++) {
        x[k] = simd_load(trial.x[k].at + first);
    }
}

// Places whose islands are done stay as they are.
INLINE void sweep_places(const MdpPoints *points, uint32_t quad, int first, bool is_coulomb,
                         Simd ratio, SimdMask is_done) {
    MdpPointQuad *c = &points->quad[quad];
    Sides sides = load_sides(points->body, c, first);
    Simd3 relative =
        simd3_subtract(velocity_at(&sides.b, sides.arm_b), velocity_at(&sides.a, sides.arm_a));
    const MdpFour *block = c->block;
    Simd u[3], z[3], p[3], b[3], x[3], d[3];
    for (int k = 0; k < 3; k++) {
        u[k] = simd3_dot(load3(&c->frame[k], first), relative) + apart(c->offset, k, first);
        z[k] = apart(c->impulse, k, first);
        p[k] = z[k] + ratio * (z[k] - apart(c->before, k, first));
        x[k] = p[k];
    }
    b[0] = apart(block, 0, first) * p[0] + apart(block, 1, first) * p[1] +
           apart(block, 2, first) * p[2] - u[0];
    b[1] = apart(block, 1, first) * p[0] + apart(block, 3, first) * p[1] +
           apart(block, 4, first) * p[2] - u[1];
    b[2] = apart(block, 2, first) * p[0] + apart(block, 4, first) * p[1] +
           apart(block, 5, first) * p[2] - u[2];
    SimdMask is_hard = solve_easy(c, first, b, x) & ~is_done;
    if (simd_any(is_hard) && is_coulomb) {
        is_hard = solve_slides(c, first, b, is_hard, x);
    }
    if (__builtin_expect(simd_any(is_hard), 0)) {
        solve_hard(points, quad, first, simd_bits(is_hard), is_coulomb, p, b, x);
    }
    for (int k = 0; k < 3; k++) {
        d[k] = simd_choose(is_done, simd_all(0.0), x[k] - p[k]);
        simd_store(c->impulse[k].at + first, simd_choose(is_done, z[k], x[k]));
        simd_store(c->before[k].at + first, simd_choose(is_done, apart(c->before, k, first), z[k]));
    }
    Simd weight = simd_load(c->weight.at + first);
    const size_t at = (size_t)MDP_QUAD * quad + (size_t)first;
    simd_store(points->square + at, weight * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    simd_store(points->along + at,
               weight * (d[0] * (x[0] - z[0]) + d[1] * (x[1] - z[1]) + d[2] * (x[2] - z[2])));
    push(points, c, first, &sides, d);
}

// ---- quads

INLINE void sweep_mixed(const MdpPoints *points, uint32_t quad, int first, bool is_coulomb,
                        const MdpSum *sum) {
    const uint32_t *of = points->quad[quad].island + first;
    double ratio[SIMD_COUNT];
    bool is_done[SIMD_COUNT];
    for (int place = 0; place < SIMD_COUNT; place++) {
        ratio[place] = sum[of[place]].ratio;
        is_done[place] = sum[of[place]].is_done;
    }
    sweep_places(points, quad, first, is_coulomb, SIMD_OF(ratio, ), mask_of(is_done));
}

INLINE void sweep_one_island(const MdpPoints *points, uint32_t quad, bool is_coulomb,
                             const MdpSum *sum) {
    Simd ratio = simd_all(sum->ratio);
    const SimdMask none = {0};
    if (sum->is_done) {
        return;
    }
    sweep_places(points, quad, 0, is_coulomb, ratio, none);
    if (SIMD_COUNT < MDP_QUAD) {
        sweep_places(points, quad, MDP_QUAD - SIMD_COUNT, is_coulomb, ratio, none);
    }
}

INLINE void sweep_quads(const MdpPoints *points, uint32_t begin, uint32_t end, bool is_coulomb,
                        const MdpSum *sum) {
    for (uint32_t i = begin; i < end; i++) {
        const MdpPointQuad *quad = &points->quad[i];
        if (i + AHEAD < end) {
            fetch(points->body, quad[AHEAD].a);
            fetch(points->body, quad[AHEAD].b);
        }
        if (!quad->is_mixed) {
            sweep_one_island(points, i, is_coulomb, &sum[quad->island[0]]);
        } else {
            sweep_mixed(points, i, 0, is_coulomb, sum);
            if (SIMD_COUNT < MDP_QUAD) {
                sweep_mixed(points, i, MDP_QUAD - SIMD_COUNT, is_coulomb, sum);
            }
        }
    }
}

INLINE void push_places(const MdpPoints *points, uint32_t quad, int first) {
    const MdpPointQuad *c = &points->quad[quad];
    Sides sides = load_sides(points->body, c, first);
    const Simd d[3] = {apart(c->impulse, 0, first), apart(c->impulse, 1, first),
                       apart(c->impulse, 2, first)};
    push(points, c, first, &sides, d);
}

INLINE void push_quads(const MdpPoints *points, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; i++) {
        push_places(points, i, 0);
        if (SIMD_COUNT < MDP_QUAD) {
            push_places(points, i, MDP_QUAD - SIMD_COUNT);
        }
    }
}

// ---- what follows from blocks

INLINE void close_places(MdpPointQuad *c, int first) {
    Simd nn = apart(c->block, 0, first), nt = apart(c->block, 1, first),
         no = apart(c->block, 2, first), tt = apart(c->block, 3, first),
         to = apart(c->block, 4, first), oo = apart(c->block, 5, first);
    Simd mean = (nn + tt + oo) / simd_all(3.0);
    Simd determinant =
        nn * (tt * oo - to * to) - nt * (nt * oo - to * no) + no * (nt * to - tt * no);
    SimdMask is_careful = ~(determinant > simd_all(MDP_CAREFUL_SHARE) * mean * mean * mean);
    Simd s = simd_all(1.0) / determinant; // as sym3_inverse has it
    Simd none = simd_all(NAN);            // what is made of it is never taken for sticking
    simd_store(c->inverse[0].at + first, simd_choose(is_careful, none, s * (tt * oo - to * to)));
    simd_store(c->inverse[3].at + first, s * (nn * oo - no * no));
    simd_store(c->inverse[5].at + first, s * (nn * tt - nt * nt));
    simd_store(c->inverse[1].at + first, s * (no * to - nt * oo));
    simd_store(c->inverse[2].at + first, s * (nt * to - no * tt));
    simd_store(c->inverse[4].at + first, s * (nt * no - nn * to));
}

INLINE void close_quads(MdpPointQuad *quad, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; i++) {
        close_places(&quad[i], 0);
        if (SIMD_COUNT < MDP_QUAD) {
            close_places(&quad[i], MDP_QUAD - SIMD_COUNT);
        }
    }
}
