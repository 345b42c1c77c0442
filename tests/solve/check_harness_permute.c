// SPDX-License-Identifier: MIT
// Every small problem of the harness in another order of its trees, contacts and rows, with sides
// swapped, and with trees of links as dense ones: it is solved as well, and the two answers are as
// near as their residuals say.
//
// How near that is. Let rho be what an answer leaves of the natural map of a law,
//     c |gamma - Proj(gamma - z / c)| = c |r| = rho,
// and delta the difference between two answers. The projection's own inequality, written for each
// answer with the other's impulse, gives
//     delta z . delta gamma <= (rho + rho') (|delta gamma| + |r| + |r'|) + |delta z| (|r| + |r'|),
// whatever the two answers are; so does a row's. Summed over all, this is (1). The left side is
// delta v . M delta v, and more where the law is compliant, as J^T delta gamma = M delta v; but
// exact Coulomb friction adds mu delta |u_t| delta gamma_n, of either sign, and its velocities need
// not be unique. Without friction, or with a convex law, they are, and (1) bounds them. Other
// problems whose velocity is known to be unique are held to the same: no more than the root of an
// error in the impulses' space.
#include "base/hash.h"
#include "support/harness_judge.h"
#include "support/harness_permute.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

// finer than by default, so that what differs is seen
#define TOLERANCE 1e-9

static HarnessVariant variants[HARNESS_VARIANTS_MAX];
static uint32_t variant_count;

// What is solved, but not in the other order that the problem's name gives.
typedef struct Loss {
    const char *problem, *variant, *why;
} Loss;

static const Loss losses[] = {
    {"sticky 14", "mdp coulomb gauss_seidel", "at such friction sweeps may go round"},
    {"sticky 17", "mdp coulomb gauss_seidel", "at such friction sweeps may go round"},
    {"atlas/mass-ladder-slips-first", "mdp coulomb gauss_seidel",
     "sweeps from the light end to the heavy one are slow: 1e-9 takes more than 3000"},
    {"atlas/mass-ladder-first", "lcp", "ratios of a million: the last digits are rounding"},
};
enum { LOSSES = sizeof(losses) / sizeof(losses[0]) };

static bool is_known_loss(const HarnessProblem *problem, const HarnessVariant *variant) {
    for (int i = 0; i < LOSSES; i++) {
        if (strcmp(losses[i].problem, problem->name) == 0 &&
            strcmp(losses[i].variant, variant->name) == 0) {
            return true;
        }
    }
    return false;
}

typedef struct Pair {
    long double product, bound; // the two sides of (1)
    bool is_monotone;           // without friction, or convex
} Pair;

static long double size_of(const long double x[3]) {
    return sqrtl(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static void add_law(Pair *pair, const HarnessLaw *a, const HarnessLaw *b, bool is_swapped,
                    long double rounding) {
    if (!a->moves) {
        return;
    }
    long double dz[3] = {0.0L}, dg[3] = {0.0L};
    for (int k = 0; k < a->rows; k++) {
        long double sign = k == 2 && is_swapped ? -1.0L : 1.0L;
        dz[k] = a->z[k] - sign * b->z[k];
        dg[k] = a->impulse[k] - sign * b->impulse[k];
        pair->product += dz[k] * dg[k];
    }
    long double rho = a->own + b->own + rounding;
    long double r = (a->own + rounding) / a->c + (b->own + rounding) / b->c;
    pair->bound += rho * (size_of(dg) + r) + size_of(dz) * r;
}

static Pair compare(const ContactProblem *problem, const HarnessPermutation *permutation,
                    const Answer *answer, const HarnessVerdict *a, const HarnessVerdict *b) {
    Pair pair = {.is_monotone = true};
    long double rounding = (a->rounding + b->rounding) * a->scale;
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        add_law(&pair, &a->contact[i], &b->contact[permutation->contact_to[i]],
                permutation->is_swapped[i], rounding);
        bool is_convex = answer->relation == RELATION_CONE && answer->contact != NULL &&
                         answer->contact[i].s == 0.0;
        pair.is_monotone = pair.is_monotone && (is_convex || problem->contact[i].mu == 0.0);
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        add_law(&pair, &a->row[i], &b->row[permutation->row_to[i]], false, rounding);
    }
    return pair;
}

static void assert_near(const HarnessProblem *problem, const HarnessVariant *variant,
                        const HarnessPermutation *permutation, HarnessRun *run, HarnessRun *other) {
    const ContactProblem *of = problem->problem;
    HarnessVerdict a, b;
    harness_judge(of, &run->result, &run->arena, &a);
    harness_judge(&permutation->problem, &other->result, &other->arena, &b);
    ck_assert_double_eq_tol(a.scale, b.scale, 1e-12 * a.scale + 1e-300);
    double *v = arena_take_array(&run->arena, of->velocity_count, sizeof(double)),
           *contact = arena_take_array(&run->arena, of->contact_count, 3 * sizeof(double)),
           *row = arena_take_array(&run->arena, of->row_count, sizeof(double));
    harness_permute_back(of, permutation, &other->result.answer, v, contact, row);
    Pair pair = compare(of, permutation, &run->result.answer, &a, &b);
    long double distance = harness_distance(of, run->result.answer.v, v);
    if (run->result.answer.relation == RELATION_CONE || pair.is_monotone) {
        ck_assert_msg(pair.product <= pair.bound, "%s by %s: %Lg, and %Lg at most", problem->name,
                      variant->name, pair.product, pair.bound);
    }
    if (pair.is_monotone || problem->is_unique) {
        ck_assert_msg(distance <= pair.bound + sqrtl(distance) * (a.rest + b.rest),
                      "%s by %s: velocities are %Lg apart, and %Lg at most", problem->name,
                      variant->name, sqrtl(distance), sqrtl(pair.bound));
    }
}

static void try_variant(const HarnessProblem *problem, HarnessVariant *variant, uint64_t *state) {
    variant->settings.parameter[SOLVER_TOLERANCE] = TOLERANCE;
    HarnessRun run, other;
    harness_run_init(&run, (size_t)1 << 30);
    harness_run_init(&other, (size_t)1 << 30);
    Arena arena;
    arena_init(&arena, (size_t)1 << 30);
    HarnessPermutation permutation;
    ProblemBuild dense;
    problem_build_init(&dense);
    bool has_links = problem->problem->link_count > 0;
    if (has_links) {
        problem_build_densify(problem->problem, &dense);
    }
    harness_permute(has_links ? &dense.problem : problem->problem, state, &arena, &permutation);
    Error error = {0};
    ck_assert_msg(problem_check(&permutation.problem, &arena, &error) == STATUS_OK, "%s",
                  error.message);
    Status status = harness_run(&run, variant, problem->problem, &(Context){0});
    ck_assert_int_eq(harness_run(&other, variant, &permutation.problem, &(Context){0}), status);
    if (status == STATUS_OK && run.result.certificate.converged) {
        bool is_lost = !other.result.certificate.converged;
        // doubles end at about the tolerance where the printed program is solved: on which side is
        // chance
        bool is_printed = strstr(variant->name, "printed") != NULL;
        ck_assert_msg(is_printed || is_lost == is_known_loss(problem, variant),
                      is_lost ? "%s by %s: e_own is %g in another order"
                              : "%s by %s is solved in any order now: take it from the list (%g)",
                      problem->name, variant->name,
                      other.result.certificate.entry[CERTIFICATE_OWN]);
        if (!is_lost) {
            assert_near(problem, variant, &permutation, &run, &other);
        }
    }
    problem_build_deinit(&dense);
    arena_deinit(&arena);
    harness_run_deinit(&run);
    harness_run_deinit(&other);
}

START_TEST(order_changes_no_more_than_the_certificate_allows) {
    HarnessProblem problem;
    harness_problem_open((uint32_t)_i, &problem);
    uint64_t state = hash_bytes(problem.name, strlen(problem.name), 1) | 1;
    for (uint32_t i = 0; i < variant_count && problem.size == HARNESS_SMALL; i++) {
        try_variant(&problem, &variants[i], &state);
    }
    harness_problem_close(&problem);
}
END_TEST

static TCase *case_order(void) {
    TCase *tcase = tcase_create("order");
    variant_count = harness_variants(variants);
    tcase_add_loop_test(tcase, order_changes_no_more_than_the_certificate_allows, 0,
                        (int)harness_problem_count());
    return tcase;
}

SUITE_MAIN("solve/harness_permute", case_order)
