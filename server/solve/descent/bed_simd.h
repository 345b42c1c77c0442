// SPDX-License-Identifier: MIT
// The passes over a bed, SIMD_COUNT cells at a time: the file that includes this says how many. Two
// go over all first halves, and then over all second ones, so that sums stay in registers.
#pragma once

#include "base/assert.h"
#include "base/simd.h"
#include "solve/descent/bed.h"

// Numbers along the normal and the tangents, or of a twist.
typedef struct BedThree {
    Simd n, t, o;
} BedThree;

// A block of cells.
typedef struct BedSimdBlock {
    Simd nn, tn, on, tt, to, oo;
} BedSimdBlock;

// ---- in and out

INLINE Simd bed_number(const BedFour *of, int place) {
    VALIDATE(place % SIMD_COUNT == 0);
    return simd_load(of->at + place);
}

INLINE BedThree bed_three(const BedFour of[3], int place) {
    return (BedThree){bed_number(of, place), bed_number(of + 1, place), bed_number(of + 2, place)};
}

// The three numbers of each cell in an array of impulses.
INLINE BedThree bed_load(const double *of, const BedCells *c, int place) {
#if SIMD_COUNT == 4
    (void)place;
    const double *p = of + c->first[0], *q = of + c->first[1], *r = of + c->first[2],
                 *s = of + c->first[3];
    return (BedThree){{p[0], q[0], r[0], s[0]}, {p[1], q[1], r[1], s[1]}, {p[2], q[2], r[2], s[2]}};
#else
    const double *p = of + c->first[place], *q = of + c->first[place + 1];
    return (BedThree){{p[0], q[0]}, {p[1], q[1]}, {p[2], q[2]}};
#endif
}

INLINE void bed_put(double *to, const BedCells *c, int place, int k, BedThree x) {
    VALIDATE(k < SIMD_COUNT);
    double *at = to + c->first[place + k];
    at[0] = x.n[k];
    at[1] = x.t[k];
    at[2] = x.o[k];
}

INLINE void bed_store(double *to, const BedCells *c, int place, BedThree x) {
    bed_put(to, c, place, 0, x);
    bed_put(to, c, place, 1, x);
#if SIMD_COUNT == 4
    bed_put(to, c, place, 2, x);
    bed_put(to, c, place, 3, x);
#endif
}

INLINE BedSimdBlock bed_load_block(const BedFour of[BED_BLOCK], int place) {
    return (BedSimdBlock){bed_number(of + BED_NN, place), bed_number(of + BED_TN, place),
                          bed_number(of + BED_ON, place), bed_number(of + BED_TT, place),
                          bed_number(of + BED_TO, place), bed_number(of + BED_OO, place)};
}

INLINE void bed_store_block(BedFour to[BED_BLOCK], int place, const BedSimdBlock *b) {
    simd_store(to[BED_NN].at + place, b->nn);
    simd_store(to[BED_TN].at + place, b->tn);
    simd_store(to[BED_ON].at + place, b->on);
    simd_store(to[BED_TT].at + place, b->tt);
    simd_store(to[BED_TO].at + place, b->to);
    simd_store(to[BED_OO].at + place, b->oo);
}

// ---- of one cell in each place

// J v = V - [r] W
INLINE BedThree bed_velocity(const BedPass *pass, const BedCells *c, int place) {
    const double *v = pass->twist;
    BedThree r = bed_three(c->arm, place);
    Simd n = simd_all(v[3]), t = simd_all(v[4]), o = simd_all(v[5]);
    return (BedThree){simd_all(v[0]) + t * r.o - o * r.t, simd_all(v[1]) + o * r.n - n * r.o,
                      simd_all(v[2]) + n * r.t - t * r.n};
}

INLINE BedThree bed_multiply(const BedSimdBlock *b, BedThree x) {
    return (BedThree){b->nn * x.n, b->tn * x.n + b->tt * x.t + b->to * x.o,
                      b->on * x.n + b->to * x.t + b->oo * x.o};
}

INLINE Simd bed_dot(BedThree a, BedThree b) {
    return a.n * b.n + a.t * b.t + a.o * b.o;
}

INLINE BedThree bed_cross(BedThree a, BedThree b) {
    return (BedThree){a.t * b.o - a.o * b.t, a.o * b.n - a.n * b.o, a.n * b.t - a.t * b.n};
}

// ---- sums

typedef struct BedWrench {
    BedThree force, torque;
} BedWrench;

INLINE BedWrench bed_no_wrench(void) {
    const Simd zero = simd_all(0.0);
    return (BedWrench){{zero, zero, zero}, {zero, zero, zero}};
}

INLINE void bed_add_three(BedThree *sum, BedThree x) {
    sum->n += x.n;
    sum->t += x.t;
    sum->o += x.o;
}

INLINE void bed_add_impulse(BedWrench *sum, const BedCells *c, int place, BedThree impulse) {
    bed_add_three(&sum->force, impulse);
    bed_add_three(&sum->torque, bed_cross(bed_three(c->arm, place), impulse));
}

INLINE void bed_leave(BedPass *pass, int k, int place, Simd x) {
    VALIDATE(k < BED_SUMS);
    simd_store(pass->sum[k].at + place, x);
}

INLINE void bed_leave_three(BedPass *pass, int k, int place, BedThree x) {
    bed_leave(pass, k, place, x.n);
    bed_leave(pass, k + 1, place, x.t);
    bed_leave(pass, k + 2, place, x.o);
}

INLINE void bed_leave_wrench(BedPass *pass, int place, const BedWrench *sum) {
    bed_leave_three(pass, 0, place, sum->force);
    bed_leave_three(pass, 3, place, sum->torque);
}

// sum D, sum D [r], sum [r] D and sum [r] D [r], row by row
typedef struct BedBlocks {
    BedSimdBlock plain;
    BedThree right[3], left[3], both[3];
} BedBlocks;

INLINE BedBlocks bed_no_blocks(void) {
    const Simd zero = simd_all(0.0);
    const BedThree none = {zero, zero, zero};
    return (BedBlocks){{zero, zero, zero, zero, zero, zero},
                       {none, none, none},
                       {none, none, none},
                       {none, none, none}};
}

// row [r]: (n, t, o) of a row of D
INLINE BedThree bed_times_arm(BedThree row, BedThree r) {
    return (BedThree){row.t * r.o - row.o * r.t, row.o * r.n - row.n * r.o,
                      row.n * r.t - row.t * r.n};
}

// [r] D of the rows of D
INLINE void bed_add_arm_times(BedThree sum[3], BedThree r, const BedThree row[3]) {
    sum[0].n += r.t * row[2].n - r.o * row[1].n;
    sum[0].t += r.t * row[2].t - r.o * row[1].t;
    sum[0].o += r.t * row[2].o - r.o * row[1].o;
    sum[1].n += r.o * row[0].n - r.n * row[2].n;
    sum[1].t += r.o * row[0].t - r.n * row[2].t;
    sum[1].o += r.o * row[0].o - r.n * row[2].o;
    sum[2].n += r.n * row[1].n - r.t * row[0].n;
    sum[2].t += r.n * row[1].t - r.t * row[0].t;
    sum[2].o += r.n * row[1].o - r.t * row[0].o;
}

INLINE void bed_add_block(BedBlocks *sum, const BedCells *c, int place, const BedSimdBlock *d) {
    const Simd zero = simd_all(0.0);
    const BedThree r = bed_three(c->arm, place);
    const BedThree row[3] = {{d->nn, zero, zero}, {d->tn, d->tt, d->to}, {d->on, d->to, d->oo}};
    const BedThree turned[3] = {bed_times_arm(row[0], r), bed_times_arm(row[1], r),
                                bed_times_arm(row[2], r)};
    sum->plain.nn += d->nn;
    sum->plain.tn += d->tn;
    sum->plain.on += d->on;
    sum->plain.tt += d->tt;
    sum->plain.to += d->to;
    sum->plain.oo += d->oo;
    bed_add_three(&sum->right[0], turned[0]);
    bed_add_three(&sum->right[1], turned[1]);
    bed_add_three(&sum->right[2], turned[2]);
    bed_add_arm_times(sum->left, r, row);
    bed_add_arm_times(sum->both, r, turned);
}

INLINE void bed_leave_blocks(BedPass *pass, int place, const BedBlocks *sum) {
    bed_leave(pass, BED_NN, place, sum->plain.nn);
    bed_leave(pass, BED_TN, place, sum->plain.tn);
    bed_leave(pass, BED_ON, place, sum->plain.on);
    bed_leave(pass, BED_TT, place, sum->plain.tt);
    bed_leave(pass, BED_TO, place, sum->plain.to);
    bed_leave(pass, BED_OO, place, sum->plain.oo);
    bed_leave_three(pass, BED_BLOCK, place, sum->right[0]);
    bed_leave_three(pass, BED_BLOCK + 3, place, sum->right[1]);
    bed_leave_three(pass, BED_BLOCK + 6, place, sum->right[2]);
    bed_leave_three(pass, BED_BLOCK + 9, place, sum->left[0]);
    bed_leave_three(pass, BED_BLOCK + 12, place, sum->left[1]);
    bed_leave_three(pass, BED_BLOCK + 15, place, sum->left[2]);
    bed_leave_three(pass, BED_BLOCK + 18, place, sum->both[0]);
    bed_leave_three(pass, BED_BLOCK + 21, place, sum->both[1]);
    bed_leave_three(pass, BED_BLOCK + 24, place, sum->both[2]);
}

// ---- lagged friction, as in law.c

INLINE BedThree bed_ask(const BedCells *c, int place, BedThree u) {
    BedThree target = bed_three(c->target, place);
    Simd normal = bed_number(&c->normal, place), tangent = bed_number(&c->tangent, place);
    return (BedThree){(target.n - u.n) / normal, (target.t - u.t) / tangent,
                      (target.o - u.o) / tangent};
}

INLINE Simd bed_size(BedThree x) {
    return simd_root(x.t * x.t + x.o * x.o);
}

INLINE BedThree bed_lagged(const BedCells *c, int place, BedThree y, Simd size) {
    const Simd zero = simd_all(0.0), one = simd_all(1.0);
    Simd bound = bed_number(&c->bound, place);
    Simd share = simd_choose(bound < size, bound / size, one);
    return (BedThree){simd_choose(y.n <= zero, zero, y.n), share * y.t, share * y.o};
}

INLINE BedSimdBlock bed_lagged_block(const BedCells *c, int place, BedThree y, Simd size) {
    const Simd zero = simd_all(0.0), one = simd_all(1.0);
    Simd bound = bed_number(&c->bound, place), tangent = bed_number(&c->tangent, place);
    SimdMask slides = bound < size;
    // b / y_r (I - t t^T) / R_t
    Simd across = bound / size / tangent, t = y.t / size, o = y.o / size;
    Simd held = simd_choose(bound == zero, zero, one / tangent);
    return (BedSimdBlock){
        simd_choose(y.n <= zero, zero, one / bed_number(&c->normal, place)),
        zero,
        zero,
        simd_choose(slides, across * o * o, held),
        simd_choose(slides, -(across * t * o), zero),
        simd_choose(slides, across * t * t, held),
    };
}

INLINE void bed_momenta(const Bed *bed, int place, BedPass *pass) {
    VALIDATE(pass->gamma != NULL);
    BedWrench sum = bed_no_wrench();
    for (uint32_t i = 0; i < bed->count; i++) {
        const BedCells *c = &bed->cells[i];
        bed_add_impulse(&sum, c, place, bed_load(pass->gamma, c, place));
    }
    bed_leave_wrench(pass, place, &sum);
}

INLINE void bed_products(const Bed *bed, int place, BedPass *pass) {
    VALIDATE(pass->v != NULL && pass->d_u != NULL);
    for (uint32_t i = 0; i < bed->count; i++) {
        const BedCells *c = &bed->cells[i];
        bed_store(pass->d_u, c, place, bed_velocity(pass, c, place));
    }
}

INLINE void bed_looks(const Bed *bed, int place, BedPass *pass) {
    VALIDATE(pass->v != NULL && pass->impulse != NULL);
    BedWrench sum = bed_no_wrench();
    Simd cost = simd_all(0.0), half = simd_all(0.5);
    for (uint32_t i = 0; i < bed->count; i++) {
        const BedCells *c = &bed->cells[i];
        BedThree u = bed_velocity(pass, c, place), y = bed_ask(c, place, u);
        BedThree gamma = bed_lagged(c, place, y, bed_size(y));
        bed_store(pass->u, c, place, u);
        bed_store(pass->y, c, place, y);
        bed_store(pass->impulse, c, place, gamma);
        bed_add_impulse(&sum, c, place, gamma);
        cost += bed_number(&c->normal, place) * gamma.n * (y.n - half * gamma.n) +
                bed_number(&c->tangent, place) *
                    (gamma.t * (y.t - half * gamma.t) + gamma.o * (y.o - half * gamma.o));
    }
    bed_leave_wrench(pass, place, &sum);
    bed_leave(pass, BED_TWIST, place, cost);
}

INLINE void bed_slopes(Bed *bed, int place, BedPass *pass) {
    VALIDATE(pass->y != NULL);
    BedBlocks sum = bed_no_blocks();
    for (uint32_t i = 0; i < bed->count; i++) {
        BedCells *c = &bed->cells[i];
        BedThree y = bed_load(pass->y, c, place);
        BedSimdBlock slope = bed_lagged_block(c, place, y, bed_size(y));
        bed_add_block(&sum, c, place, &slope);
    }
    bed_leave_blocks(pass, place, &sum);
}

INLINE void bed_searches(const Bed *bed, int place, BedPass *pass) {
    VALIDATE(pass->u != NULL && pass->d_u != NULL);
    Simd first = simd_all(0.0), second = first, largest = first, alpha = simd_all(pass->alpha);
    for (uint32_t i = 0; i < bed->count; i++) {
        const BedCells *c = &bed->cells[i];
        BedThree u = bed_load(pass->u, c, place), d = bed_load(pass->d_u, c, place);
        const BedThree moved = {u.n + alpha * d.n, u.t + alpha * d.t, u.o + alpha * d.o};
        BedThree y = bed_ask(c, place, moved);
        Simd size = bed_size(y);
        BedThree gamma = bed_lagged(c, place, y, size);
        BedSimdBlock slope = bed_lagged_block(c, place, y, size);
        first += bed_dot(d, gamma);
        second += bed_dot(d, bed_multiply(&slope, d));
        largest += simd_abs(d.n * gamma.n) + simd_abs(d.t * gamma.t) + simd_abs(d.o * gamma.o);
    }
    bed_leave(pass, 0, place, first);
    bed_leave(pass, 1, place, second);
    bed_leave(pass, 2, place, largest);
}

// ---- Newton's step by what is left

// e + J v
INLINE BedThree bed_left(const BedPass *pass, const BedCells *c, int place) {
    BedThree left = bed_load(pass->e, c, place);
    if (pass->v != NULL) {
        bed_add_three(&left, bed_velocity(pass, c, place));
    }
    return left;
}

INLINE void bed_rests(const Bed *bed, int place, BedPass *pass) {
    VALIDATE(pass->e != NULL);
    BedWrench sum = bed_no_wrench();
    for (uint32_t i = 0; i < bed->count; i++) {
        const BedCells *c = &bed->cells[i];
        BedSimdBlock slope = bed_load_block(c->slope, place);
        bed_add_impulse(&sum, c, place, bed_multiply(&slope, bed_left(pass, c, place)));
    }
    bed_leave_wrench(pass, place, &sum);
}

INLINE void bed_changes(const Bed *bed, int place, BedPass *pass) {
    VALIDATE(pass->e != NULL && pass->change != NULL);
    for (uint32_t i = 0; i < bed->count; i++) {
        const BedCells *c = &bed->cells[i];
        BedSimdBlock inverse = bed_load_block(c->inverse, place);
        BedThree change = bed_multiply(&inverse, bed_left(pass, c, place));
        bed_store(pass->change, c, place, (BedThree){-change.n, -change.t, -change.o});
    }
}

// ---- all of them

INLINE void bed_pass_all(Bed *bed, BedKind kind, BedPass *pass) {
    for (int place = 0; place < BED_PLACES; place += SIMD_COUNT) {
        switch (kind) {
        case BED_MOMENTUM:
            bed_momenta(bed, place, pass);
            break;
        case BED_PRODUCT:
            bed_products(bed, place, pass);
            break;
        case BED_LOOK:
            bed_looks(bed, place, pass);
            break;
        case BED_SLOPE:
            bed_slopes(bed, place, pass);
            break;
        case BED_SEARCH:
            bed_searches(bed, place, pass);
            break;
        case BED_REST:
            bed_rests(bed, place, pass);
            break;
        case BED_CHANGE:
            bed_changes(bed, place, pass);
            break;
        }
    }
}
