// SPDX-License-Identifier: MIT
// The laws of compliant and the ways of its optimiser: all lead to the same answer.
#include "solve/compliant/island.h"

#include "solve/judge.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

// ---- the laws

typedef struct LawCase {
    const char *name;
    CompliantLaw law;
    double x[3];
} LawCase;

#define CONTACT(coefficient)                                                                       \
    { .normal = 0.02, .tangent = 0.003, .mu = (coefficient) }

static const LawCase law_cases[] = {
    {"apart", CONTACT(0.5), {-0.3, 0.4, -0.2}},
    {"sticks", CONTACT(0.5), {2.0, 0.3, -0.4}},
    {"slides", CONTACT(0.5), {2.0, 3.0, -4.0}},
    {"slides, hardly pressed", CONTACT(0.5), {1e-3, 0.3, 0.4}},
    {"slides, just", CONTACT(0.5), {2.0, 0.6001, -0.8}},
    {"a free row", {.is_row = true, .normal = 0.1, .low = -1.0, .high = 2.0}, {0.4, 0.0, 0.0}},
    {"a row at its bound",
     {.is_row = true, .normal = 0.1, .low = -1.0, .high = 2.0},
     {3.0, 0.0, 0.0}},
};
enum { LAW_CASES = sizeof(law_cases) / sizeof(law_cases[0]) };

// `slope` (S - w T) = T and `inverse` (S - w T) = 1, with T by differences of 1e-6: exact but for
// their squares over |x_t|, and roundings over 1e-6.
START_TEST(linearised_laws_are_those_of_differences) {
    const LawCase *of = &law_cases[_i];
    const double w = 0.7, step = 1e-6;
    uint32_t size = compliant_law_size(&of->law);
    double t[9] = {0.0}, inverse[9], slope[9];
    for (uint32_t q = 0; q < size; q++) {
        double ahead[3], behind[3], x[3];
        memcpy(x, of->x, sizeof(x));
        x[q] = of->x[q] + step;
        compliant_law_impulse(&of->law, x, ahead);
        x[q] = of->x[q] - step;
        compliant_law_impulse(&of->law, x, behind);
        for (uint32_t r = 0; r < size; r++) {
            t[r * size + q] = (ahead[r] - behind[r]) / (2.0 * step);
        }
    }
    compliant_law_linearise(&of->law, w, of->x, inverse, slope);
    for (uint32_t r = 0; r < size; r++) {
        for (uint32_t q = 0; q < size; q++) {
            double is_t = 0.0, is_one = 0.0;
            for (uint32_t k = 0; k < size; k++) {
                double s = k == q ? compliant_law_r(&of->law, k) + w : 0.0;
                is_t += slope[r * size + k] * (s - w * t[k * size + q]);
                is_one += inverse[r * size + k] * (s - w * t[k * size + q]);
            }
            // T is right to 1e-9, and what multiplies it is not above 1 / R
            ck_assert_msg(
                fabs(is_t - t[r * size + q]) <= 1e-6 && fabs(is_one - (r == q ? 1.0 : 0.0)) <= 1e-6,
                "%s: [%u][%u] %g for %g, %g", of->name, r, q, is_t, t[r * size + q], is_one);
        }
    }
}
END_TEST

// ---- the ways

typedef struct Laid {
    ProblemBuild build;
    Judge judge;
    Context context;
    SolveResult result;
    NewtonIsland layout;
    CompliantIsland island;
    CompliantLaw contact_law[64], row_law[1];
} Laid;

// Bodies pressed together, whose contacts are on one island.
static void laid_init(Laid *laid, uint64_t seed) {
    ProblemBuild *build = &laid->build;
    problem_build_init(build);
    problem_build_random_bodies(build, &seed, 6, 14);
    double row[6] = {1.0, 0.5, 0.0, 0.0, 0.0, 0.0};
    problem_build_row(build, -HUGE_VAL, HUGE_VAL, 0.2);
    for (uint32_t tree = 0; tree < 6; tree++) {
        problem_build_block(build, tree, row);
    }
    const ContactProblem *problem = &build->problem;
    Arena *arena = &build->arena;
    ck_assert_int_eq(judge_begin(&laid->judge, problem, RELATION_CONE, 1e-6, false, &laid->context,
                                 arena, &laid->result, NULL),
                     STATUS_OK);
    ck_assert_int_eq(judge_survey(&laid->judge, NULL, NULL), STATUS_OK);
    ck_assert_uint_eq(laid->judge.islands.count, 1);
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        laid->contact_law[i] =
            (CompliantLaw){.target = {0.3, 0.1, 0.0}, .normal = 1e-4, .tangent = 1e-5, .mu = 0.1};
    }
    laid->row_law[0] = (CompliantLaw){
        .is_row = true, .target = {-0.2}, .normal = 1e-5, .low = -HUGE_VAL, .high = HUGE_VAL};
    ck_assert_int_eq(newton_island_init(&laid->layout, problem, &laid->judge.mass,
                                        &laid->judge.islands, 0, RELATION_CONE,
                                        laid->judge.scale.v_scale[0], NULL, arena, NULL),
                     STATUS_OK);
    ck_assert_int_eq(
        sap_island_init(&laid->island.sweep, &laid->layout, NULL, NULL, NULL, arena, NULL),
        STATUS_OK);
    ck_assert_int_eq(
        compliant_island_init(&laid->island, laid->contact_law, laid->row_law, arena, NULL),
        STATUS_OK);
    compliant_island_begin(&laid->island, laid->result.answer.contact_impulse,
                           laid->result.answer.row_impulse);
}

static double distance(const Laid *a, const Laid *b) {
    double most = 0.0;
    for (size_t k = 0; k < a->layout.velocity_count; k++) {
        most = fmax(most, fabs(a->island.sweep.v[k] - b->island.sweep.v[k]));
    }
    return most;
}

// Of the seeds the one where whole steps go round.
enum { GOES_ROUND = 5 };

// As the solver goes, in strides of a sixteenth.
static void follow_path(CompliantIsland *island) {
    for (double share = 1.0; share > 1e-8; share /= 16.0) {
        compliant_island_soften(island, share);
        ck_assert_int_eq(compliant_island_newton(island, 1e-6, 1000), SAP_MET);
    }
    compliant_island_soften(island, 0.0);
    ck_assert_int_eq(compliant_island_newton(island, 1e-12, 1000), SAP_MET);
}

// Newton's steps along the path, from nothing at once where they come, and the staggered iteration,
// which gains a digit in some sweeps: 200 of them are some ten digits.
START_TEST(all_ways_lead_to_one_answer) {
    static Laid path, once, sweeps;
    laid_init(&once, 100 + (uint64_t)_i);
    laid_init(&path, 100 + (uint64_t)_i);
    laid_init(&sweeps, 100 + (uint64_t)_i);
    follow_path(&path.island);
    if (_i != GOES_ROUND) {
        ck_assert_int_eq(compliant_island_newton(&once.island, 1e-12, 100), SAP_MET);
        ck_assert_double_le(distance(&once, &path), 1e-11);
    }
    // softened it is another problem's answer
    compliant_island_soften(&once.island, 1.0);
    ck_assert_int_eq(compliant_island_newton(&once.island, 1e-12, 200), SAP_MET);
    ck_assert_double_gt(distance(&once, &path), 1e-3);

    SapOutcome outcome = compliant_island_stagger(&sweeps.island, 200, 1e-13, 100000);
    ck_assert(outcome == SAP_MET || outcome == SAP_STALLED);
    ck_assert_double_le(distance(&path, &sweeps), 1e-8);
    problem_build_deinit(&once.build);
    problem_build_deinit(&path.build);
    problem_build_deinit(&sweeps.build);
}
END_TEST

static TCase *case_island(void) {
    TCase *tcase = tcase_create("island");
    tcase_add_loop_test(tcase, linearised_laws_are_those_of_differences, 0, LAW_CASES);
    tcase_add_loop_test(tcase, all_ways_lead_to_one_answer, 0, 8);
    return tcase;
}

SUITE_MAIN("solve/compliant_island", case_island)
