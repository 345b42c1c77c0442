// SPDX-License-Identifier: MIT
#include "solve/mdp/point.h"

#include "base/assert.h"
#include "solve/block_slide.h"

#include <stddef.h>

#define SIMD_COUNT 2
#include "solve/mdp/point_simd.h"

_Static_assert((int)MDP_SLIDE_LANES == (int)MDP_QUAD, "the slides of a quad are found at once");

// ---- by places

void mdp_point_close(MdpPointQuad *quad, uint32_t begin, uint32_t end) {
    ASSERT(begin <= end);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        mdp_point_close_avx2(quad, begin, end);
        return;
    }
#endif
    close_quads(quad, begin, end);
}

void mdp_point_sweep(const MdpPoints *points, uint32_t begin, uint32_t end, bool is_coulomb,
                     const MdpSum *sum) {
    VALIDATE(begin <= end);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        mdp_point_sweep_avx2(points, begin, end, is_coulomb, sum);
        return;
    }
#endif
    sweep_quads(points, begin, end, is_coulomb, sum);
}

void mdp_point_push(const MdpPoints *points, uint32_t begin, uint32_t end) {
    ASSERT(begin <= end);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        mdp_point_push_avx2(points, begin, end);
        return;
    }
#endif
    push_quads(points, begin, end);
}

void mdp_point_note(const MdpPoints *points, const MdpNote *note, uint32_t count, MdpSum *sum) {
    VALIDATE(count == 0 || note != NULL);
    const double *square = points->square, *along = points->along;
    for (uint32_t i = 0; i < count;) {
        uint32_t slot = mdp_note_slot(note[i]);
        MdpSum *of = &sum[points->quad[slot / MDP_QUAD].island[slot % MDP_QUAD]];
        // while contacts of one island follow each other
        double residual = of->residual, opposition = of->opposition, largest = of->largest;
        do {
            residual += square[slot];
            opposition -= along[slot];
            largest = square[slot] > largest ? square[slot] : largest;
            i++;
            slot = i < count ? note[i] : MDP_NOTE_BEGINS;
        } while ((slot & MDP_NOTE_BEGINS) == 0);
        if (!of->is_done) {
            of->residual = residual;
            of->opposition = opposition;
            // squares are not negative: their sum is a number where all of them are
            of->largest = residual != residual ? residual : largest;
        }
    }
}

// ---- what slides

static MdpBlock block_of(const MdpPointQuad *c, int place) {
    return (MdpBlock){.nn = c->block[0].at[place],
                      .nt = c->block[1].at[place],
                      .no = c->block[2].at[place],
                      .tt = c->block[3].at[place],
                      .to = c->block[4].at[place],
                      .oo = c->block[5].at[place],
                      .mu = c->mu.at[place]};
}

static const MdpPlan *plan_of(const MdpPoints *points, uint32_t quad, int place) {
    MdpPlan *plan = &points->plan[(size_t)MDP_QUAD * quad + (size_t)place];
    MdpPointQuad *c = &points->quad[quad];
    if (!c->has_plan[place]) {
        MdpBlock block = block_of(c, place);
        mdp_block_plan(&block, plan);
        c->has_plan[place] = true;
    }
    return plan;
}

static void get(const MdpFour of[3], int place, double to[3]) {
    to[0] = of[0].at[place];
    to[1] = of[1].at[place];
    to[2] = of[2].at[place];
}

static void put(const double from[3], int place, MdpFour of[3]) {
    of[0].at[place] = from[0];
    of[1].at[place] = from[1];
    of[2].at[place] = from[2];
}

void mdp_point_solve(const MdpPoints *points, uint32_t quad, unsigned places, bool is_coulomb,
                     MdpPointTrial *trial) {
    VALIDATE(places < 1u << MDP_QUAD);
    MdpSlide slide[MDP_SLIDE_LANES];
    int of[MDP_SLIDE_LANES];
    uint32_t count = 0;
    for (int place = 0; place < MDP_QUAD; place++) {
        if ((places >> place & 1u) == 0) {
            continue;
        }
        double b[3], x[3];
        MdpBranch branch;
        get(trial->b, place, b);
        get(trial->x, place, x);
        if (mdp_plan_begin(plan_of(points, quad, place), is_coulomb, b, x, &branch,
                           &slide[count])) {
            put(x, place, trial->x);
        } else {
            of[count++] = place;
        }
    }
    if (count > 0) {
        mdp_slide_converge(slide, count, MDP_SLIDE_STEPS);
    }
    for (uint32_t i = 0; i < count; i++) {
        double b[3], x[3];
        get(trial->b, of[i], b);
        get(trial->x, of[i], x);
        mdp_plan_end(&slide[i], b, x);
        put(x, of[i], trial->x);
    }
}
