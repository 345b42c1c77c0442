// SPDX-License-Identifier: MIT
// That every solver asks whether to stop at least every 10^6 operations, and ends at once when it
// is to: counted, and not by itself. This test has a copy of base and solve in which the compiler
// calls a function of ours at every basic block, and in which nothing is inlined. A block is a pass
// through a loop, which in the innermost is one multiplication and addition, or a call of a
// function. What solvers themselves count is multiplications, about: to each come two blocks at
// most.
//
// Where the compiler has no such copy to give (tests/CMakeLists.txt) nothing is counted.
#include "support/campaign.h"
#include "support/harness.h"
#include "support/suite.h"

#include <fnmatch.h>

// between two questions, before the first and after the last
#define BLOCKS_MAX 2000000u
// of dear problems, whose every iteration is like the one before, and of others, for a change
#define ITERATIONS_MAX  50.0
#define ITERATIONS_MOST 300.0

static uint64_t blocks, most, questions, give_up_at;

#ifdef MOREAU_COUNTED
enum { IS_COUNTED = 1 };

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void) {
    blocks++;
}
#else
enum { IS_COUNTED = 0 };
#endif

static bool asked(void *context) {
    (void)context;
    most = blocks > most ? blocks : most;
    blocks = 0;
    return ++questions >= give_up_at;
}

static HarnessVariant variants[HARNESS_VARIANTS_MAX];
static uint32_t variant_count;

// ---- who is known to ask too seldom

typedef struct Silence {
    const char *problem, *variants, *why; // patterns of names
} Silence;

static const Silence silences[] = {
    {"balls apart", "mdp * gauss_seidel", "what 16 groups of islands aim with is not counted"},
    {"balls apart", "mdp * auto", "what 16 groups of islands aim with is not counted"},
    {"sticky 5", "mdp maximum_dissipation gauss_seidel",
     "the roots of a hard block are not counted"},
};
enum { SILENCES = sizeof(silences) / sizeof(silences[0]) };

// Who does not end at once. A row may stay when that depends on where it is stopped.
static const Silence lates[] = {
    {"large", "mdp * newton", "a way is still looked at to its end"},
    {"large", "mdp * auto", "a way is still looked at to its end"},
    {"balls in a row", "mdp * newton", "a way is still looked at to its end"},
    {"balls in a row", "mdp * auto", "a way is still looked at to its end"},
    {"balls in a row", "compliant * printed", "what was found is still weighed to its end"},
    {"large", "compliant * printed", "what was found is still weighed to its end"},
};
enum { LATES = sizeof(lates) / sizeof(lates[0]) };

// Why; NULL: it is not in the list.
static const char *known(const Silence *list, int count, const char *problem, const char *variant) {
    for (int i = 0; i < count; i++) {
        if (fnmatch(list[i].problem, problem, 0) == 0 &&
            fnmatch(list[i].variants, variant, 0) == 0) {
            return list[i].why;
        }
    }
    return NULL;
}

// ---- counting

enum { BALLS = 5000 };

// harness_run would be counted itself.
static Status count_solve(const HarnessVariant *variant, const ContactProblem *problem,
                          uint64_t end) {
    const Stop stop = {.asked = asked, .context = NULL};
    HarnessRun run;
    harness_run_init(&run, (size_t)1 << 31);
    blocks = most = questions = 0;
    give_up_at = end;
    Status status = solver_solve(&variant->settings, problem, &(Context){.stop = &stop}, &run.arena,
                                 &run.result, &run.error);
    most = blocks > most ? blocks : most;
    harness_run_deinit(&run);
    return status;
}

static void count(const char *name, const ContactProblem *problem, bool is_dear,
                  HarnessVariant variant) {
    double *iterations = &variant.settings.parameter[SOLVER_MAX_ITERATIONS];
    double iterations_max = is_dear                  ? ITERATIONS_MAX
                            : campaign_count(1) == 1 ? ITERATIONS_MOST
                                                     : *iterations;
    *iterations = fmin(*iterations, iterations_max);
    Status whole = count_solve(&variant, problem, UINT64_MAX);
    // thousands of contacts are no matter of a million operations
    ck_assert(whole != STATUS_OK || problem->contact_count < BALLS || questions > 0);
    const char *why = known(silences, SILENCES, name, variant.name);
    ck_assert(!IS_COUNTED || blocks > 0);
    ck_assert_msg(!IS_COUNTED || most <= BLOCKS_MAX || why != NULL,
                  "%s by %s: %llu blocks go by without a question", name, variant.name,
                  (unsigned long long)most);
    ck_assert_msg(
        !IS_COUNTED || most > BLOCKS_MAX || why == NULL,
        "%s by %s: it asks often enough now, take it from the list, where it says that %s", name,
        variant.name, why);
    // told to stop half way
    uint64_t half = questions / 2 + 1;
    if (questions >= half) {
        Status status = count_solve(&variant, problem, half);
        ck_assert(status == STATUS_ABORTED || status == STATUS_OK);
        ck_assert_msg(blocks <= BLOCKS_MAX || known(lates, LATES, name, variant.name) != NULL,
                      "%s by %s: %llu blocks after it was told to stop", name, variant.name,
                      (unsigned long long)blocks);
    }
}

START_TEST(a_question_comes_after_a_million_operations_at_most) {
    HarnessProblem problem;
    harness_problem_open((uint32_t)_i, &problem);
    bool is_tried = problem.size == HARNESS_SMALL || campaign_count(1) > 1;
    for (uint32_t i = 0; i < variant_count && is_tried; i++) {
        count(problem.name, problem.problem, problem.size != HARNESS_SMALL, variants[i]);
    }
    harness_problem_close(&problem);
}
END_TEST

// ---- what is large

// Balls on the ground, apart or in a row, in which each touches the next.
typedef struct Field {
    ProblemTree tree[BALLS];
    FreeMass body[BALLS];
    double v_free[6 * BALLS];
    ProblemContact contact[2 * BALLS];
    ContactLaw law[2 * BALLS];
    ContactProblem problem;
} Field;

static ProblemContact touch(Vec3 normal, Vec3 tangent, uint32_t a, uint32_t b, double bias) {
    return (ProblemContact){.side = {{.tree = a, .arm = vec3_scale(0.1, normal)},
                                     {.tree = b, .arm = vec3_scale(-0.1, normal)}},
                            .normal = normal,
                            .tangent = {tangent, vec3_cross(normal, tangent)},
                            .mu = 0.5,
                            .bias = bias};
}

static void make_field(Field *f, bool is_row) {
    const Vec3 x = {1.0, 0.0, 0.0}, up = {0.0, 0.0, 1.0};
    uint32_t contacts = 0;
    for (uint32_t i = 0; i < BALLS; i++) {
        f->tree[i] = (ProblemTree){.first = 6 * i, .width = 6, .is_free = true};
        f->body[i] = problem_free_mass(1.0, (Sym3){0.004, 0.004, 0.004, 0.0, 0.0, 0.0});
        f->v_free[6 * (size_t)i] = 0.01 * (i % 7);
        f->v_free[6 * (size_t)i + 2] = -0.1;
        f->contact[contacts++] = touch(up, x, PROBLEM_NO_TREE, i, 0.0);
        if (is_row && i > 0) {
            f->contact[contacts++] = touch(x, up, i - 1, i, 0.01);
        }
    }
    for (uint32_t i = 0; i < contacts; i++) {
        f->law[i] = (ContactLaw){.stiffness = 1e5, .dissipation_time = 0.002, .damping = 200.0};
    }
    f->problem = (ContactProblem){.time_step = 0.01,
                                  .gravity = 9.81,
                                  .tree_count = BALLS,
                                  .contact_count = contacts,
                                  .velocity_count = 6 * BALLS,
                                  .all_free = true,
                                  .tree = f->tree,
                                  .free = f->body,
                                  .v_free = f->v_free,
                                  .contact = f->contact,
                                  .law = f->law};
}

START_TEST(large_problems_are_no_excuse) {
    static Field field;
    make_field(&field, _i == 1);
    const HarnessProblem of = {.size = HARNESS_DEAR};
    for (uint32_t i = 0; i < variant_count; i++) {
        HarnessVariant variant = variants[i];
        if (harness_is_spared(&of, &variant)) {
            continue;
        }
        variant.settings.parameter[SOLVER_MAX_ITERATIONS] = 3.0;
        count(_i == 1 ? "balls in a row" : "balls apart", &field.problem, true, variant);
    }
}
END_TEST

static TCase *case_count(void) {
    TCase *tcase = tcase_create("count");
    variant_count = harness_variants(variants);
    tcase_add_loop_test(tcase, a_question_comes_after_a_million_operations_at_most, 0,
                        (int)harness_problem_count());
    // what is counted is the same under the sanitizers
    tcase_add_loop_test(tcase, large_problems_are_no_excuse, 0, campaign_count(4) < 4 ? 0 : 2);
    return tcase;
}

SUITE_MAIN("solve/harness_count", case_count)
