// SPDX-License-Identifier: MIT
// The passes of bed_law.h, SIMD_COUNT cells at a time: the file that includes this says how many.
#pragma once

#include "solve/compliant/bed_law.h"
#include "solve/descent/bed_simd.h"

// Comparisons let what is not a number through, so that it shows.

INLINE void law_impulses(const Bed *bed, int place, BedPass *pass) {
    VALIDATE(pass->x != NULL && pass->impulse != NULL);
    const Simd zero = simd_all(0.0), one = simd_all(1.0);
    BedWrench sum = bed_no_wrench();
    for (uint32_t i = 0; i < bed->count; i++) {
        const BedCells *c = &bed->cells[i];
        BedThree x = bed_load(pass->x, c, place);
        SimdMask is_off = x.n <= zero;
        Simd size = bed_size(x), bound = bed_number(&c->mu, place) * x.n;
        Simd share = simd_choose(bound < size, bound / size, one);
        const BedThree gamma = {simd_choose(is_off, zero, x.n),
                                simd_choose(is_off, zero, share * x.t),
                                simd_choose(is_off, zero, share * x.o)};
        bed_store(pass->impulse, c, place, gamma);
        bed_add_impulse(&sum, c, place, gamma);
    }
    bed_leave_wrench(pass, place, &sum);
}

// u - target + R gamma
INLINE BedThree law_rest(const BedPass *pass, const BedCells *c, int place, BedThree gamma) {
    BedThree u = bed_velocity(pass, c, place), target = bed_three(c->target, place);
    Simd normal = bed_number(&c->normal, place), tangent = bed_number(&c->tangent, place);
    return (BedThree){u.n - target.n + normal * gamma.n, u.t - target.t + tangent * gamma.t,
                      u.o - target.o + tangent * gamma.o};
}

INLINE void law_rests(const Bed *bed, int place, BedPass *pass) {
    VALIDATE(pass->v != NULL && pass->rest != NULL);
    Simd largest = simd_all(0.0), merit = largest;
    for (uint32_t i = 0; i < bed->count; i++) {
        const BedCells *c = &bed->cells[i];
        BedThree x = bed_load(pass->x, c, place), gamma = bed_load(pass->gamma, c, place);
        BedThree e = law_rest(pass, c, place, gamma);
        Simd w = bed_number(&c->w, place), s_n = bed_number(&c->normal, place) + w,
             s_t = bed_number(&c->tangent, place) + w;
        e.n -= s_n * (gamma.n - x.n);
        e.t -= s_t * (gamma.t - x.t);
        e.o -= s_t * (gamma.o - x.o);
        bed_store(pass->rest, c, place, e);
        largest = simd_max(simd_abs(e.n), largest);
        largest = simd_max(simd_abs(e.t), largest);
        largest = simd_max(simd_abs(e.o), largest);
        merit += e.n * e.n * bed_number(&c->off[0], place) +
                 (e.t * e.t + e.o * e.o) * bed_number(&c->off[1], place);
    }
    bed_leave(pass, 0, place, largest);
    bed_leave(pass, 1, place, merit);
}

INLINE void law_starts(const Bed *bed, int place, BedPass *pass) {
    VALIDATE(pass->v != NULL && pass->change != pass->gamma);
    for (uint32_t i = 0; i < bed->count; i++) {
        const BedCells *c = &bed->cells[i];
        BedThree gamma = bed_load(pass->gamma, c, place);
        BedThree rest = law_rest(pass, c, place, gamma);
        Simd off_n = bed_number(&c->off[0], place), off_t = bed_number(&c->off[1], place);
        bed_store(pass->change, c, place,
                  (BedThree){gamma.n - off_n * rest.n, gamma.t - off_t * rest.t,
                             gamma.o - off_t * rest.o});
    }
}

// How a cell's slope and inverse come about: it is off, or slides, or holds, as in law.c.
typedef struct LawState {
    SimdMask is_off, slides, holds;
    Simd normal, tangent; // 1 / R
    Simd off_n, off_t;    // 1 / (R + w)
    Simd t, o;            // the direction of x_t
    Simd k;               // mu x_n / |x_t|
    Simd beside;          // mu / R_n
    Simd across;          // 1 / (R_t + w (1 - k))
} LawState;

INLINE LawState law_state(const BedCells *c, int place, BedThree x) {
    const Simd zero = simd_all(0.0), one = simd_all(1.0);
    Simd w = bed_number(&c->w, place), mu = bed_number(&c->mu, place), size = bed_size(x);
    Simd normal = one / bed_number(&c->normal, place), r_t = bed_number(&c->tangent, place);
    Simd k = mu * x.n / size;
    return (LawState){.is_off = x.n <= zero,
                      .slides = mu * x.n < size,
                      .holds = mu != zero,
                      .normal = normal,
                      .tangent = one / r_t,
                      .off_n = bed_number(&c->off[0], place),
                      .off_t = bed_number(&c->off[1], place),
                      .t = x.t / size,
                      .o = x.o / size,
                      .k = k,
                      .beside = mu * normal,
                      .across = one / (r_t + w * (one - k))};
}

INLINE BedSimdBlock law_slope(const LawState *s) {
    const Simd zero = simd_all(0.0);
    Simd held = simd_choose(s->holds, s->tangent, zero), across = s->k * s->across;
    SimdMask is_on = ~s->is_off, slides = s->slides & is_on;
    return (BedSimdBlock){
        simd_choose(is_on, s->normal, zero),
        simd_choose(slides, s->beside * s->t, zero),
        simd_choose(slides, s->beside * s->o, zero),
        simd_choose(is_on, simd_choose(s->slides, across * s->o * s->o, held), zero),
        simd_choose(slides, -(across * s->t * s->o), zero),
        simd_choose(is_on, simd_choose(s->slides, across * s->t * s->t, held), zero),
    };
}

INLINE BedSimdBlock law_inverse(const LawState *s, Simd w) {
    const Simd zero = simd_all(0.0);
    Simd held = simd_choose(s->holds & ~s->is_off, s->tangent, s->off_t);
    Simd along = s->off_t, across = s->across, beside = s->beside * w * along;
    SimdMask slides = s->slides & ~s->is_off;
    return (BedSimdBlock){
        simd_choose(s->is_off, s->off_n, s->normal),
        simd_choose(slides, beside * s->t, zero),
        simd_choose(slides, beside * s->o, zero),
        simd_choose(slides, along * s->t * s->t + across * s->o * s->o, held),
        simd_choose(slides, (along - across) * s->t * s->o, zero),
        simd_choose(slides, along * s->o * s->o + across * s->t * s->t, held),
    };
}

INLINE void law_linearise(Bed *bed, int place, BedPass *pass) {
    VALIDATE(pass->x != NULL);
    BedBlocks sum = bed_no_blocks();
    for (uint32_t i = 0; i < bed->count; i++) {
        BedCells *c = &bed->cells[i];
        LawState state = law_state(c, place, bed_load(pass->x, c, place));
        BedSimdBlock slope = law_slope(&state);
        BedSimdBlock inverse = law_inverse(&state, bed_number(&c->w, place));
        bed_store_block(c->slope, place, &slope);
        bed_store_block(c->inverse, place, &inverse);
        bed_add_block(&sum, c, place, &slope);
    }
    bed_leave_blocks(pass, place, &sum);
}

INLINE void law_pass_all(Bed *bed, BedLawKind kind, BedPass *pass) {
    for (int place = 0; place < BED_PLACES; place += SIMD_COUNT) {
        switch (kind) {
        case BED_LAW_IMPULSE:
            law_impulses(bed, place, pass);
            break;
        case BED_LAW_REST:
            law_rests(bed, place, pass);
            break;
        case BED_LAW_START:
            law_starts(bed, place, pass);
            break;
        case BED_LAW_LINEARISE:
            law_linearise(bed, place, pass);
            break;
        }
    }
}
