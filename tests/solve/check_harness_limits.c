// SPDX-License-Identifier: MIT
// What limits a solve: whoever asks it to stop, memory, rows, iterations. Each ends it at once,
// says so, and leaves nothing behind: the problem is as it was (harness_run sees to that), and the
// next solve in the same memory has the bits of one that nothing disturbed.
//
// How often it asks whether to stop is counted in check_harness_count.c.
#include "base/hash.h"
#include "support/campaign.h"
#include "support/crew.h"
#include "support/harness_judge.h"
#include "support/suite.h"

#include <string.h>

static HarnessVariant variants[HARNESS_VARIANTS_MAX];
static uint32_t variant_count;

static void each_variant(void (*try)(const HarnessProblem *, const HarnessVariant *),
                         uint32_t index, HarnessSize most) {
    HarnessProblem problem;
    harness_problem_open(index, &problem);
    for (uint32_t i = 0; i < variant_count && problem.size <= most; i++) {
        if (!harness_is_spared(&problem, &variants[i])) {
            try(&problem, &variants[i]);
        }
    }
    harness_problem_close(&problem);
}

// ---- stop

static _Thread_local bool is_beginner; // of the solve

typedef struct Asked {
    uint64_t times, give_up_at; // 0: never
} Asked;

static bool asked(void *context) {
    Asked *a = context;
    ck_assert_msg(is_beginner, "a thread that helps was sent to ask");
    return ++a->times >= a->give_up_at && a->give_up_at != 0;
}

static Status run_asked(HarnessRun *run, const HarnessProblem *problem,
                        const HarnessVariant *variant, const Tasks *tasks, Asked *a) {
    const Stop stop = {.asked = asked, .context = a};
    is_beginner = true;
    return harness_run(run, variant, problem->problem, &(Context){.stop = &stop, .tasks = tasks});
}

// A method within another may ask once more for itself. What is done already when it asks for the
// last time is done, and as right as ever.
static void assert_given_up(const HarnessProblem *problem, const HarnessVariant *variant,
                            const HarnessRun *undisturbed, const HarnessRun *run, const Asked *a) {
    ck_assert_msg(a->times <= a->give_up_at + 1,
                  "%s by %s: it goes on, and asks %llu times instead of %llu", problem->name,
                  variant->name, (unsigned long long)a->times, (unsigned long long)a->give_up_at);
    if (run->status == STATUS_OK) {
        ck_assert(harness_is_same(problem->problem, &undisturbed->result, &run->result));
        return;
    }
    ck_assert_msg(run->status == STATUS_ABORTED, "%s by %s ends with %s", problem->name,
                  variant->name, status_name(run->status));
    ck_assert_str_ne(run->error.message, "");
}

// Large problems take minutes under the sanitizers, hard ones at full length.
static HarnessSize most_of_stops(void) {
    int length = campaign_count(4);
    return length < 4 ? HARNESS_SMALL : length == 4 ? HARNESS_DEAR : HARNESS_HARD;
}

// of a dear problem, whose every iteration is like the one before
#define ITERATIONS_OF_DEAR 10.0

// At the 1st, 2nd, 4th, 8th question, and so on as dear as that is, until it ends before.
static void stop_anywhere(const HarnessProblem *problem, const HarnessVariant *of) {
    HarnessVariant shortened = *of;
    const HarnessVariant *variant = &shortened;
    double *iterations = &shortened.settings.parameter[SOLVER_MAX_ITERATIONS];
    if (problem->size == HARNESS_DEAR && campaign_count(1) == 1) {
        *iterations = fmin(*iterations, ITERATIONS_OF_DEAR);
    }
    const uint64_t factor = problem->size == HARNESS_HARD   ? 16
                            : problem->size == HARNESS_DEAR ? 4
                                                            : 2;
    HarnessRun undisturbed, run;
    harness_run_init(&undisturbed, (size_t)1 << 31);
    harness_run_init(&run, (size_t)1 << 31);
    Crew *crew = crew_create(3, 5);
    Status status = harness_run(&undisturbed, variant, problem->problem, &(Context){0});
    Asked a = {.give_up_at = 1};
    while (run_asked(&run, problem, variant, crew_tasks(crew), &a), a.times >= a.give_up_at) {
        assert_given_up(problem, variant, &undisturbed, &run, &a);
        a = (Asked){.give_up_at = factor * a.give_up_at};
    }
    // in the memory of those that were given up, to be asked has changed nothing
    ck_assert_int_eq(run.status, status);
    ck_assert(status != STATUS_OK ||
              harness_is_same(problem->problem, &undisturbed.result, &run.result));
    crew_destroy(crew);
    harness_run_deinit(&undisturbed);
    harness_run_deinit(&run);
}

START_TEST(a_solve_stops_wherever_it_is_asked_to) {
    each_variant(stop_anywhere, (uint32_t)_i, most_of_stops());
}
END_TEST

// ---- memory

// An arena that holds so many bytes, a multiple of its alignment, in one block and no more.
static void run_within(HarnessRun *run, size_t bytes, const HarnessProblem *problem,
                       const HarnessVariant *variant) {
    harness_run_init(run, bytes);
    ck_assert(arena_take(&run->arena, bytes) != NULL || bytes == 0);
    ck_assert_uint_eq(run->arena.total_bytes, bytes);
    harness_run(run, variant, problem->problem, &(Context){0});
    ck_assert_uint_le(run->arena.peak_bytes, bytes);
}

// The least that it can do with, found by halves.
static size_t need_of(const HarnessProblem *problem, const HarnessVariant *variant, size_t enough) {
    size_t low = 0, high = enough / ARENA_ALIGNMENT;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        HarnessRun run;
        run_within(&run, middle * ARENA_ALIGNMENT, problem, variant);
        *(run.status == STATUS_OK ? &high : &low) = middle + (run.status == STATUS_OK ? 0 : 1);
        harness_run_deinit(&run);
    }
    return high * ARENA_ALIGNMENT;
}

enum { CUTS = 12 };

// Cut at places that differ from one solve to the next, and just below what is needed.
static void cut_memory(const HarnessProblem *problem, const HarnessVariant *variant) {
    HarnessRun whole;
    harness_run_init(&whole, (size_t)1 << 31);
    if (harness_run(&whole, variant, problem->problem, &(Context){0}) != STATUS_OK) {
        harness_run_deinit(&whole);
        return;
    }
    size_t need = need_of(problem, variant, whole.arena.total_bytes);
    uint64_t state = hash_bytes(problem->name, strlen(problem->name), (uint64_t)need) | 1;
    int cuts = campaign_count(CUTS);
    for (int i = 0; i <= cuts && need > 0; i++) {
        double share = i == 0 ? 1.0 : 0.5 + 0.5 * problem_build_random(&state);
        size_t most = need / ARENA_ALIGNMENT - 1, units = (size_t)(share * (double)most);
        HarnessRun run;
        run_within(&run, units * ARENA_ALIGNMENT, problem, variant);
        ck_assert_msg(run.status == STATUS_RESOURCE_EXHAUSTED || run.status == STATUS_OK,
                      "%s by %s with %zu of %zu bytes: %s", problem->name, variant->name,
                      units * ARENA_ALIGNMENT, need, status_name(run.status));
        if (run.status == STATUS_OK) { // what it can do without changes nothing
            ck_assert(harness_is_same(problem->problem, &whole.result, &run.result));
        } else {
            ck_assert_ptr_nonnull(strstr(run.error.message, "--memory-bytes-max"));
        }
        harness_run_deinit(&run);
    }
    harness_run_deinit(&whole);
}

START_TEST(memory_that_ends_is_refused) {
    each_variant(cut_memory, (uint32_t)_i, HARNESS_SMALL);
}
END_TEST

// ---- rows and iterations

// The limit, where the solver has it, as small as it may be; whether it has.
static bool limit_all(HarnessVariant *variant, const char *name) {
    const Solver *solver = solver_get(variant->settings.kind);
    bool has_it = false;
    for (uint32_t i = 0; i < solver->parameter_count; i++) {
        if (strcmp(solver->parameters[i].name, name) == 0) {
            variant->settings.parameter[i] = solver->parameters[i].minimum;
            has_it = true;
        }
    }
    return has_it;
}

static void limit_rows(const HarnessProblem *problem, const HarnessVariant *variant) {
    HarnessVariant limited = *variant;
    if (!limit_all(&limited, "max_rows")) {
        return;
    }
    HarnessRun free, run;
    harness_run_init(&free, (size_t)1 << 31);
    harness_run_init(&run, (size_t)1 << 31);
    harness_run(&free, variant, problem->problem, &(Context){0});
    if (harness_run(&run, &limited, problem->problem, &(Context){0}) == STATUS_OK) {
        ck_assert(harness_is_same(problem->problem, &free.result, &run.result));
    } else {
        char field[64];
        snprintf(field, sizeof(field), "parameters.%s.max_rows",
                 solver_get(variant->settings.kind)->name);
        ck_assert_int_eq(run.status, STATUS_RESOURCE_EXHAUSTED);
        ck_assert_str_eq(run.error.field, field);
        ck_assert_ptr_null(strstr(run.error.message, "--memory-bytes-max"));
    }
    harness_run_deinit(&free);
    harness_run_deinit(&run);
}

START_TEST(rows_that_are_too_many_are_refused_by_name) {
    each_variant(limit_rows, (uint32_t)_i, HARNESS_SMALL);
}
END_TEST

// What has one iteration ends after it, tells the truth about what it has, and that in numbers.
static void iterate_once(const HarnessProblem *problem, const HarnessVariant *variant) {
    HarnessVariant limited = *variant;
    limit_all(&limited, "max_iterations");
    const ContactProblem *of = problem->problem;
    HarnessRun run;
    harness_run_init(&run, (size_t)1 << 31);
    if (harness_run(&run, &limited, of, &(Context){0}) == STATUS_OK) {
        const Answer *answer = &run.result.answer;
        ck_assert(numbers_are_finite(answer->v, of->velocity_count));
        ck_assert(numbers_are_finite(answer->contact_impulse, 3 * (size_t)of->contact_count));
        ck_assert(numbers_are_finite(answer->row_impulse, of->row_count));
        HarnessVerdict verdict;
        harness_judge(of, &run.result, &run.arena, &verdict);
        const double *entry = run.result.certificate.entry;
        for (int k = 0; k < CERTIFICATE_ENTRY_COUNT; k++) {
            double rounding = k == CERTIFICATE_MOM ? verdict.momentum_rounding : verdict.rounding;
            ck_assert_msg(fabs(entry[k] - verdict.entry[k]) <= rounding,
                          "%s by %s: entry %d is %.17g in the certificate, and %.17g",
                          problem->name, variant->name, k, entry[k], verdict.entry[k]);
        }
    } else {
        ck_assert_int_eq(run.status, STATUS_RESOURCE_EXHAUSTED);
    }
    harness_run_deinit(&run);
}

START_TEST(one_iteration_is_judged_as_honestly_as_many) {
    each_variant(iterate_once, (uint32_t)_i, campaign_count(4) < 4 ? HARNESS_SMALL : HARNESS_HARD);
}
END_TEST

static TCase *case_limits(void) {
    TCase *tcase = tcase_create("limits");
    variant_count = harness_variants(variants);
    int count = (int)harness_problem_count();
    tcase_add_loop_test(tcase, a_solve_stops_wherever_it_is_asked_to, 0, count);
    tcase_add_loop_test(tcase, memory_that_ends_is_refused, 0, count);
    tcase_add_loop_test(tcase, rows_that_are_too_many_are_refused_by_name, 0, count);
    tcase_add_loop_test(tcase, one_iteration_is_judged_as_honestly_as_many, 0, count);
    return tcase;
}

SUITE_MAIN("solve/harness_limits", case_limits)
