// SPDX-License-Identifier: MIT
// Every problem of the harness by every solver and method: it meets its own model's residual, by a
// second measure as well as by the certificate, and repeats its bits, alone or by several lanes.
// What is known to be missed is in the table below, and nowhere else.
#include "support/campaign.h"
#include "support/crew.h"
#include "support/harness_judge.h"
#include "support/suite.h"

#include <fnmatch.h>
#include <string.h>

static HarnessVariant variants[HARNESS_VARIANTS_MAX];
static uint32_t variant_count;

// ---- what is not solved

typedef enum Outcome {
    SOLVED,
    OPEN,    // not converged, and the certificate says so
    REFUSED, // too large for a limit of the solver, which the error names
    NEAR     // either solved, or open with a residual of no more than NEAR_MOST
} Outcome;

#define NEAR_MOST 1e-2

static const char *const outcome_names[] = {"solved", "open", "refused", "near"};

// Which problems are missed by which variants (patterns of their names), how, and why.
typedef struct Miss {
    const char *problem, *variants;
    Outcome outcome;
    const char *why;
} Miss;

#define JUMPS  "at such friction the law of maximum dissipation jumps, and newton solves another"
#define CYCLES "at such friction sweeps go round"
#define SLOW   "sweeps come, but not within 3000 of them"
#define BUDGET "what auto may spend on a step is spent before"
#define WEDGED "one contact of a hinge is wedged: its impulse runs away where it moves nothing"
#define PIVOTS "it takes more than 5000 pivots"
#define ROWS   "more rows than max_rows"
#define RATIO  "impulses a million times those of the lightest: ties are told by what is rounding"
#define FIRST  "methods that factor nothing come, but not within 3000 iterations"
#define UNEVEN                                                                                     \
    "masses a million times apart: so many sweeps, or their root of gradients; no scale helps"
#define DIGITS                                                                                     \
    "the printed program decides by 1e-10 of what it weighs: doubles end at 1e-6 or before"

static const Miss misses[] = {
    {"atlas/mass-ladder-first", "compliant predictive * printed", OPEN, RATIO},
    {"links 2", "compliant * printed", OPEN, DIGITS},
    {"bodies", "compliant contact * printed", OPEN, DIGITS},
    {"hard/heap-125-d", "compliant contact * printed", OPEN, DIGITS},
    {"*", "compliant * printed", NEAR, DIGITS},
    {"sticky [3457]", "mdp maximum_dissipation *", OPEN, JUMPS},
    {"sticky 1[69]", "mdp maximum_dissipation *", OPEN, JUMPS},
    {"sticky 1[17]", "mdp maximum_dissipation newton", OPEN, JUMPS},
    {"sticky 1[23]", "mdp maximum_dissipation gauss_seidel", OPEN, JUMPS},
    {"sticky [457]", "mdp coulomb gauss_seidel", OPEN, CYCLES},
    {"sticky 1[39]", "mdp coulomb gauss_seidel", OPEN, CYCLES},
    {"sticky 17", "mdp coulomb newton", OPEN, "sweeps find it, and newton alone does not"},
    {"sticky 19", "[mls]*", OPEN, "nobody has found a solution, and there need not be one"},
    {"trees 15", "mdp * gauss_seidel", OPEN, WEDGED},
    {"rows 15", "mdp * gauss_seidel", OPEN, WEDGED},
    {"pole *", "ccp barzilai_borwein relaxed", NEAR, FIRST},
    {"large", "lcp", REFUSED, ROWS},
    {"large", "ccp gauss_seidel *", OPEN, FIRST},
    {"pile-125", "mdp * gauss_seidel", OPEN, SLOW},
    {"pile-125", "lcp", REFUSED, ROWS},
    {"atlas/card-house-falls-hardest", "mdp * gauss_seidel", OPEN, SLOW},
    {"atlas/falling-hardest", "mdp coulomb gauss_seidel", OPEN, SLOW},
    {"atlas/heap-12-settled", "mdp * gauss_seidel", OPEN, SLOW},
    {"atlas/pyramid-6-kicked-hardest", "mdp * gauss_seidel", OPEN, SLOW},
    {"hard/heap-125-[bcd]", "lcp", REFUSED, ROWS},
    {"hard/heap-125-c", "mdp coulomb auto", OPEN, BUDGET},
    {"hard/heap-125-[cd]", "mdp * gauss_seidel", OPEN, SLOW},
    {"hard/pyramid-55-a", "lcp", OPEN, PIVOTS},
    {"hard/pyramid-55-kicked-a", "mdp * gauss_seidel", OPEN, SLOW},
    {"hard/pyramid-55-kicked-a", "mdp * auto", OPEN, BUDGET},
    {"hard/pyramid-55-kicked-a", "lcp", OPEN, PIVOTS},
    {"hard/pyramid-55-kicked-b", "mdp *", OPEN, "corners slide by micrometres: solved by nobody"},
    {"hard/pyramid-55-kicked-b", "lcp", REFUSED, ROWS},
    {"bodies 83", "ccp gauss_seidel relaxed", OPEN, FIRST},
    {"sticky 3", "ccp gauss_seidel relaxed", OPEN, FIRST},
    {"sticky 14", "ccp [gab]* relaxed", OPEN, FIRST},
    {"ladder", "ccp [ga]* relaxed", OPEN, UNEVEN},
    {"mass-ratio-1e4", "ccp gauss_seidel relaxed", OPEN, FIRST},
    {"pile-125", "ccp [gab]* relaxed", OPEN, FIRST},
    {"ten-boxes*", "ccp gauss_seidel relaxed", OPEN, FIRST},
    {"atlas/arch-*first", "ccp gauss_seidel relaxed", OPEN, FIRST},
    {"atlas/arch-settled", "ccp gauss_seidel relaxed", OPEN, FIRST},
    {"atlas/balls-27-[hs]*", "ccp [gb]* relaxed", OPEN, FIRST},
    {"atlas/balls-27-hardest", "ccp apgd relaxed", OPEN, FIRST},
    {"atlas/card-house-falls-hardest", "ccp [gb]* relaxed", OPEN, FIRST},
    {"atlas/card-house-falls-settled", "ccp gauss_seidel relaxed", OPEN, FIRST},
    {"atlas/falling-hardest", "ccp [gb]* relaxed", OPEN, FIRST},
    {"atlas/heap-12-[hs]*", "ccp [gab]* relaxed", OPEN, FIRST},
    {"atlas/mass-ladder-*", "ccp [ga]* relaxed", OPEN, UNEVEN},
    {"atlas/pyramid-6-kicked-[fh]*", "ccp [gb]* relaxed", OPEN, FIRST},
    {"atlas/pyramid-6-kicked-hardest", "ccp apgd relaxed", OPEN, FIRST},
    {"atlas/tower-slides-*", "ccp gauss_seidel relaxed", OPEN, FIRST},
    {"atlas/wedge-slides-hardest", "ccp [gb]* relaxed", OPEN, FIRST},
    {"hard/balls-27", "ccp [gb]* relaxed", OPEN, FIRST},
    {"hard/heap-125-[bcd]", "ccp [gab]* relaxed", OPEN, FIRST},
    {"hard/pyramid-55-a", "ccp gauss_seidel relaxed", OPEN, FIRST},
    {"hard/pyramid-*kicked*", "ccp [gab]* relaxed", OPEN, FIRST},
};
enum { MISSES = sizeof(misses) / sizeof(misses[0]) };

// NULL: it is to be solved
static const Miss *miss_of(const char *problem, const char *variant) {
    for (int i = 0; i < MISSES; i++) {
        if (fnmatch(misses[i].problem, problem, 0) == 0 &&
            fnmatch(misses[i].variants, variant, 0) == 0) {
            return &misses[i];
        }
    }
    return NULL;
}

static Outcome outcome_of(const HarnessRun *run) {
    if (run->status == STATUS_RESOURCE_EXHAUSTED) {
        return REFUSED;
    }
    return run->result.certificate.converged ? SOLVED : OPEN;
}

static void assert_expected(const HarnessProblem *problem, const HarnessVariant *variant,
                            const HarnessRun *run) {
    const Miss *miss = miss_of(problem->name, variant->name);
    Outcome outcome = outcome_of(run), expected = miss == NULL ? SOLVED : miss->outcome;
    const double *entry = run->result.certificate.entry;
    bool is_near =
        outcome == SOLVED || (outcome == OPEN && entry[CERTIFICATE_OWN] <= NEAR_MOST &&
                              entry[CERTIFICATE_MOM] <= 1e-10 && entry[CERTIFICATE_CONE] <= 1e-12);
    outcome = expected == NEAR && is_near ? NEAR : outcome;
    ck_assert_msg(outcome == expected || outcome != SOLVED,
                  "%s by %s is solved now: take it from the list of misses, where it says that %s",
                  problem->name, variant->name, miss == NULL ? "" : miss->why);
    ck_assert_msg(outcome == expected, "%s by %s is %s, not %s: e_own %g, e_mom %g, e_cone %g. %s",
                  problem->name, variant->name, outcome_names[outcome], outcome_names[expected],
                  entry[CERTIFICATE_OWN], entry[CERTIFICATE_MOM], entry[CERTIFICATE_CONE],
                  run->error.message);
}

// Seconds each under the sanitizers, where the same code meets the other problems: tried at full
// length alone, as is what is dear and known to be missed, which takes all that it may.
static const struct Dear {
    const char *problem, *variants;
} dear[] = {
    {"large", "ccp gauss_seidel *"},
    {"large", "compliant * printed"},
    {"pile-125", "compliant * printed"},
};

static bool is_left_out(const HarnessProblem *problem, const HarnessVariant *variant) {
    bool is_dear = problem->size != HARNESS_SMALL && miss_of(problem->name, variant->name) != NULL;
    for (size_t i = 0; i < sizeof(dear) / sizeof(dear[0]); i++) {
        is_dear = is_dear || (fnmatch(dear[i].problem, problem->name, 0) == 0 &&
                              fnmatch(dear[i].variants, variant->name, 0) == 0);
    }
    return (is_dear && campaign_count(4) < 4) || harness_is_spared(problem, variant);
}

// ---- what is asserted

// The certificate is what plain loops find, and what is reported of single contacts as well.
static void assert_judged(const HarnessProblem *problem, const HarnessVariant *variant,
                          HarnessRun *run) {
    HarnessVerdict verdict;
    harness_judge(problem->problem, &run->result, &run->arena, &verdict);
    const Certificate *c = &run->result.certificate;
    for (int k = 0; k < CERTIFICATE_ENTRY_COUNT; k++) {
        double rounding = k == CERTIFICATE_MOM ? verdict.momentum_rounding : verdict.rounding;
        ck_assert_msg(fabs(c->entry[k] - verdict.entry[k]) <= rounding,
                      "%s by %s: entry %d is %.17g in the certificate, and %.17g", problem->name,
                      variant->name, k, c->entry[k], verdict.entry[k]);
    }
    ck_assert_double_le(fabs(c->scale - verdict.scale), 1e-12 * verdict.scale);
    if (c->converged) {
        ck_assert_double_le(verdict.entry[CERTIFICATE_OWN], c->tolerance + verdict.rounding);
        ck_assert_double_le(verdict.cone_claimed, 1e-12);
        ck_assert_double_le(verdict.entry[CERTIFICATE_MOM], 1e-10);
    }
}

// The same again, in an arena that is full of what was before, by so many lanes.
static void assert_repeated(const HarnessProblem *problem, const HarnessVariant *variant,
                            const HarnessRun *run, uint32_t lanes) {
    HarnessRun again;
    harness_run_init(&again, (size_t)1 << 31);
    ck_assert_ptr_nonnull(arena_take(&again.arena, 100000));
    memset(again.arena.block->data, 0xff, 100000);
    Crew *crew = crew_create(lanes, lanes);
    const Context context = {.tasks = crew_tasks(crew)};
    ck_assert_int_eq(harness_run(&again, variant, problem->problem, &context), run->status);
    ck_assert_msg(run->status != STATUS_OK ||
                      harness_is_same(problem->problem, &run->result, &again.result),
                  "%s by %s: other bits by %u lanes", problem->name, variant->name, lanes);
    crew_destroy(crew);
    harness_run_deinit(&again);
}

// It was one that began; where there is nothing to share three are enough, and for a change seven
// where there is.
static const uint32_t lanes[] = {2, 3, 7};
enum { LANES = sizeof(lanes) / sizeof(lanes[0]), LANES_OF_SMALL = 3, LANES_OF_CHANGE = 7 };

static void try_variant(const HarnessProblem *problem, const HarnessVariant *variant) {
    const ContactProblem *of = problem->problem;
    HarnessRun run;
    harness_run_init(&run, (size_t)1 << 31);
    Status status = harness_run(&run, variant, of, &(Context){0});
    ck_assert_msg(status == STATUS_OK || status == STATUS_RESOURCE_EXHAUSTED, "%s by %s: %s",
                  problem->name, variant->name, run.error.message);
    assert_expected(problem, variant, &run);
    // a share of work has 512 contacts or so: what is less is one lane's, however many there are
    bool has_shares = of->tree_count + of->contact_count > 1024;
    bool is_repeated = problem->size != HARNESS_HARD || campaign_count(1) > 1;
    for (int i = 0; i < LANES && is_repeated; i++) {
        bool is_tried = !has_shares              ? lanes[i] == LANES_OF_SMALL
                        : campaign_count(1) == 1 ? lanes[i] == LANES_OF_CHANGE
                                                 : true;
        if (is_tried) {
            assert_repeated(problem, variant, &run, lanes[i]);
        }
    }
    if (status == STATUS_OK) {
        assert_judged(problem, variant, &run);
    }
    harness_run_deinit(&run);
}

START_TEST(every_solver_meets_its_own_model) {
    HarnessProblem problem;
    harness_problem_open((uint32_t)_i, &problem);
    Arena arena;
    arena_init(&arena, (size_t)1 << 24);
    Error error = {0};
    ck_assert_msg(problem_check(problem.problem, &arena, &error) == STATUS_OK, "%s: %s",
                  problem.name, error.message);
    arena_deinit(&arena);
    for (uint32_t i = 0; i < variant_count; i++) {
        if (!is_left_out(&problem, &variants[i])) {
            try_variant(&problem, &variants[i]);
        }
    }
    harness_problem_close(&problem);
}
END_TEST

static TCase *case_problems(void) {
    TCase *tcase = tcase_create("problems");
    variant_count = harness_variants(variants);
    tcase_add_loop_test(tcase, every_solver_meets_its_own_model, 0, (int)harness_problem_count());
    return tcase;
}

SUITE_MAIN("solve/harness", case_problems)
