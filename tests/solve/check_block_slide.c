// SPDX-License-Identifier: MIT
#include "solve/block.h"
#include "solve/block_slide.h"

#define SIMD_COUNT 2
#include "solve/block_slide_simd.h"

#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

enum { SLIDES = 37 }; // so that the last vector is not full

typedef struct Slides {
    MdpPlan plan[SLIDES];
    MdpSlide slide[SLIDES];
} Slides;

// a positive definite block that is far from a diagonal: L L' with a dominant diagonal in L
static MdpBlock random_block(uint64_t *state) {
    double l[6];
    for (int k = 0; k < 6; k++) {
        l[k] = problem_build_random(state);
    }
    l[0] = 1.0 + 0.5 * l[0];
    l[2] = 1.0 + 0.5 * l[2];
    l[5] = 1.0 + 0.5 * l[5];
    return (MdpBlock){.nn = l[0] * l[0],
                      .nt = l[0] * l[1],
                      .no = l[0] * l[3],
                      .tt = l[1] * l[1] + l[2] * l[2],
                      .to = l[1] * l[3] + l[2] * l[4],
                      .oo = l[3] * l[3] + l[4] * l[4] + l[5] * l[5],
                      .mu = 0.5 + 0.4 * problem_build_random(state)};
}

// Contacts that have to be converged, and where from.
static void slides_begin(Slides *slides, bool is_coulomb) {
    uint64_t state = 11;
    for (int i = 0; i < SLIDES;) {
        MdpBlock block = random_block(&state);
        mdp_block_plan(&block, &slides->plan[i]);
        double b[3], x[3];
        for (int k = 0; k < 3; k++) {
            b[k] = problem_build_random(&state);
            x[k] = problem_build_random(&state);
        }
        MdpBranch branch;
        i += mdp_plan_begin(&slides->plan[i], is_coulomb, b, x, &branch, &slides->slide[i]) ? 0 : 1;
    }
}

static uint64_t bits_of(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

static void expect_same(const MdpSlide *found, const MdpSlide *expected) {
    ck_assert_uint_eq(bits_of(found->y1), bits_of(expected->y1));
    ck_assert_uint_eq(bits_of(found->y2), bits_of(expected->y2));
    ck_assert_uint_eq(bits_of(found->nu), bits_of(expected->nu));
    ck_assert_uint_eq(bits_of(found->push), bits_of(expected->push));
    ck_assert_uint_eq(bits_of(found->residual), bits_of(expected->residual));
}

START_TEST(two_places_give_the_bits_of_four) {
    // where the machine has no vectors of four doubles, both sides are the same code
    static Slides four, two;
    slides_begin(&four, _i == 1);
    slides_begin(&two, _i == 1);
    mdp_slide_converge(four.slide, SLIDES, MDP_SLIDE_STEPS);
    converge_slides(two.slide, SLIDES, MDP_SLIDE_STEPS);
    for (int i = 0; i < SLIDES; i++) {
        expect_same(&two.slide[i], &four.slide[i]);
    }
}
END_TEST

START_TEST(a_slide_ends_where_it_ends_alone) {
    static Slides together, alone;
    slides_begin(&together, _i == 1);
    slides_begin(&alone, _i == 1);
    mdp_slide_converge(together.slide, SLIDES, MDP_SLIDE_STEPS);
    for (int i = 0; i < SLIDES; i++) {
        mdp_slide_converge(&alone.slide[i], 1, MDP_SLIDE_STEPS);
        expect_same(&together.slide[i], &alone.slide[i]);
    }
}
END_TEST

START_TEST(what_is_no_number_harms_no_other) {
    static Slides slides, whole;
    slides_begin(&slides, true);
    slides_begin(&whole, true);
    slides.slide[5].plane.bh1 = NAN;
    slides.slide[14].y1 = slides.slide[14].y2 = 0.0; // a direction that is none
    mdp_slide_converge(slides.slide, SLIDES, MDP_SLIDE_STEPS);
    mdp_slide_converge(whole.slide, SLIDES, MDP_SLIDE_STEPS);
    for (int i = 0; i < SLIDES; i++) {
        if (i != 5 && i != 14) {
            expect_same(&slides.slide[i], &whole.slide[i]);
        }
    }
    ck_assert(!(slides.slide[5].residual < MDP_SLIDE_TOLERANCE));
    ck_assert(!(slides.slide[14].residual < MDP_SLIDE_TOLERANCE));
}
END_TEST

// Ah y - bh + nu D = 0 and |y| = kap (b_n - a.y), whoever computes it
START_TEST(what_is_found_slides) {
    static Slides slides;
    slides_begin(&slides, _i == 1);
    mdp_slide_converge(slides.slide, SLIDES, MDP_SLIDE_STEPS);
    int found = 0;
    for (int i = 0; i < SLIDES; i++) {
        const MdpSlide *s = &slides.slide[i];
        const MdpPlan *p = s->plane.plan;
        if (!(s->residual <= MDP_SLIDE_TOLERANCE)) {
            continue; // from so far away Newton need not lead anywhere
        }
        found++;
        double length = sqrt(s->y1 * s->y1 + s->y2 * s->y2), kap = _i == 1 ? 0.0 : p->kap;
        double slip[2] = {p->h11 * s->y1 + p->h12 * s->y2 - s->plane.bh1,
                          p->h12 * s->y1 + p->h22 * s->y2 - s->plane.bh2};
        double d[2] = {s->y1 / length + kap * p->block.nt, s->y2 / length + kap * p->block.no};
        // all numbers are a few at most; the residual is a share of what they are made of
        ck_assert_double_eq_tol(slip[0], -s->nu * d[0], 1e-11);
        ck_assert_double_eq_tol(slip[1], -s->nu * d[1], 1e-11);
        double bound = s->plane.b_n - p->block.nt * s->y1 - p->block.no * s->y2;
        ck_assert_double_eq_tol(length, p->kap * bound, 1e-11);
    }
    ck_assert_int_gt(found, SLIDES / 2);
}
END_TEST

static TCase *case_slide(void) {
    TCase *tcase = tcase_create("slide");
    tcase_add_loop_test(tcase, two_places_give_the_bits_of_four, 0, 2);
    tcase_add_loop_test(tcase, a_slide_ends_where_it_ends_alone, 0, 2);
    tcase_add_test(tcase, what_is_no_number_harms_no_other);
    tcase_add_loop_test(tcase, what_is_found_slides, 0, 2);
    return tcase;
}

SUITE_MAIN("solve/mdp_slide", case_slide)
