// SPDX-License-Identifier: MIT
// Newton's method for slides, SIMD_COUNT at a time (base/simd.h): the file that includes this says
// how many. A place whose slide has ended goes on computing, and nothing is taken of it.
#pragma once

#include "base/simd.h"
#include "solve/block_slide.h"

#include <float.h>

#define KKT_DONE 2e-16

// What stands still on the way: numbers of plans and planes.
typedef struct Law {
    Simd nt, no, kap;
    Simd kap_slip; // of the direction that the slip opposes: kap, or none under Coulomb
    Simd h11, h12, h22, h_determinant, h_max;
    Simd b_n, bh1, bh2;
} Law;

typedef struct Point {
    Simd y1, y2, nu, push, residual;
} Point;

// ---- in and out

// Places behind the last repeat it.
INLINE Law load_law(const MdpSlide *const slide[SIMD_COUNT]) {
    const MdpPlan *plan[SIMD_COUNT];
    double kap_slip[SIMD_COUNT];
    for (int i = 0; i < SIMD_COUNT; i++) {
        plan[i] = slide[i]->plane.plan;
        kap_slip[i] = slide[i]->plane.is_coulomb ? 0.0 : plan[i]->kap;
    }
    Law law = {.nt = SIMD_OF(plan, ->block.nt),
               .no = SIMD_OF(plan, ->block.no),
               .kap = SIMD_OF(plan, ->kap),
               .kap_slip = SIMD_OF(kap_slip, ),
               .h11 = SIMD_OF(plan, ->h11),
               .h12 = SIMD_OF(plan, ->h12),
               .h22 = SIMD_OF(plan, ->h22),
               .h_determinant = SIMD_OF(plan, ->h_determinant),
               .b_n = SIMD_OF(slide, ->plane.b_n),
               .bh1 = SIMD_OF(slide, ->plane.bh1),
               .bh2 = SIMD_OF(slide, ->plane.bh2)};
    law.h_max = simd_max(simd_max(law.h11, law.h22), simd_abs(law.h12));
    return law;
}

INLINE void store_point(MdpSlide *slide, const Point *best, int place) {
    slide->y1 = best->y1[place];
    slide->y2 = best->y2[place];
    slide->nu = best->nu[place];
    slide->push = best->push[place];
    slide->residual = best->residual[place];
}

// ---- Newton in (y, nu)

// B = Ah + bend p p', p across u: det B = det Ah + bend u'Ah u, adj B = adj Ah + bend u u'. Where
// the bend is all, as next to the tip of the cone, B itself has lost Ah.
typedef struct Bent {
    Simd u1, u2, bend;
    Simd scale; // 1 / det B
} Bent;

typedef struct Pair {
    Simd a, b;
} Pair;

INLINE Pair solve_bent(const Law *p, const Bent *bent, Simd r1, Simd r2) {
    Simd along = bent->bend * (bent->u1 * r1 + bent->u2 * r2);
    return (Pair){bent->scale * (p->h22 * r1 - p->h12 * r2 + along * bent->u1),
                  bent->scale * (p->h11 * r2 - p->h12 * r1 + along * bent->u2)};
}

INLINE SimdMask is_number(Simd x) {
    return simd_abs(x) <= simd_all(DBL_MAX);
}

// One step; `at` is told how well it slid before it. The places whose step leads somewhere.
INLINE SimdMask newton_step(const Law *p, Point *at) {
    Simd length = simd_root(at->y1 * at->y1 + at->y2 * at->y2);
    Simd u1 = at->y1 / length, u2 = at->y2 / length;
    Simd d1 = u1 + p->kap_slip * p->nt, d2 = u2 + p->kap_slip * p->no;
    Simd nt_y1 = p->nt * at->y1, no_y2 = p->no * at->y2;
    Simd f1 = p->h11 * at->y1 + p->h12 * at->y2 - p->bh1 + at->nu * d1;
    Simd f2 = p->h12 * at->y1 + p->h22 * at->y2 - p->bh2 + at->nu * d2;
    Simd f3 = length - p->kap * (p->b_n - (nt_y1 + no_y2));

    Simd rate = simd_max(simd_abs(p->bh1), simd_abs(p->bh2)) + p->h_max * length;
    at->push = at->nu * simd_root(d1 * d1 + d2 * d2) / rate;
    Simd reach = length + p->kap * (simd_abs(p->b_n) + simd_abs(nt_y1) + simd_abs(no_y2));
    at->residual = simd_max(simd_max(simd_abs(f1), simd_abs(f2)) / rate, simd_abs(f3) / reach);

    // B = Ah + nu / |y| (E - u u'), then nu from the boundary and y from B
    Bent bent = {u1, u2, at->nu / length, simd_all(0.0)};
    Simd along = u1 * (p->h11 * u1 + p->h12 * u2) + u2 * (p->h12 * u1 + p->h22 * u2);
    bent.scale = simd_all(1.0) / (p->h_determinant + bent.bend * along);
    Pair m = solve_bent(p, &bent, u1 + p->kap * p->nt, u2 + p->kap * p->no); // B^-1 N
    Simd d_nu = (f3 - (m.a * f1 + m.b * f2)) / (m.a * d1 + m.b * d2);
    Pair r = solve_bent(p, &bent, f1 + d_nu * d1, f2 + d_nu * d2); // B^-1 of what is left
    at->nu = at->nu + d_nu;
    at->y1 = at->y1 - r.a;
    at->y2 = at->y2 - r.b;
    return is_number(at->y1) & is_number(at->y2) & is_number(at->nu);
}

INLINE Point choose(SimdMask mask, const Point *yes, const Point *no) {
    return (Point){simd_choose(mask, yes->y1, no->y1), simd_choose(mask, yes->y2, no->y2),
                   simd_choose(mask, yes->nu, no->nu), simd_choose(mask, yes->push, no->push),
                   simd_choose(mask, yes->residual, no->residual)};
}

INLINE Point converge(const Law *law, Point at, int steps) {
    const Simd done = simd_all(KKT_DONE), tolerance = simd_all(MDP_SLIDE_TOLERANCE);
    SimdMask is_open = ~(SimdMask){0};
    Point best = at;
    for (int step = 0; step < steps && simd_any(is_open); step++) {
        Point before = at;
        SimdMask goes_on = newton_step(law, &at);
        before.residual = at.residual;
        before.push = at.push;
        SimdMask is_better = is_open & (before.residual < best.residual);
        best = choose(is_better, &before, &best);
        is_open &= goes_on & ~(best.residual <= done) & (is_better | ~(best.residual <= tolerance));
    }
    return best;
}

INLINE void converge_slides(MdpSlide *slide, uint32_t count, int steps) {
    for (uint32_t i = 0; i < count; i += SIMD_COUNT) {
        MdpSlide *of[SIMD_COUNT];
        for (uint32_t place = 0; place < SIMD_COUNT; place++) {
            of[place] = &slide[i + place < count ? i + place : count - 1];
        }
        Law law = load_law((const MdpSlide *const *)of);
        Point at = {.y1 = SIMD_OF(of, ->y1),
                    .y2 = SIMD_OF(of, ->y2),
                    .nu = SIMD_OF(of, ->nu),
                    .push = simd_all(0.0),
                    .residual = simd_all(HUGE_VAL)};
        Point best = converge(&law, at, steps);
        for (int place = 0; place < SIMD_COUNT; place++) {
            store_point(of[place], &best, place);
        }
    }
}
