// SPDX-License-Identifier: MIT
// A solver at work, for the tests of those that step by descents, and what all of these say alike:
// the history, what has not come, stops and limits. RUN_SOLVER is the solver that the file is
// about, defined before this is included.
#pragma once

#include "solve/solver.h"
#include "support/problem_file.h"

#include <check.h>
#include <math.h>
#include <string.h>

typedef struct Run {
    Arena arena;
    SolverSettings settings;
    SolveResult result;
    Error error;
} Run;

static inline void set(Run *run, const char *name, double value) {
    ck_assert_msg(solver_set(&run->settings, name, value, &run->error) == STATUS_OK, "%s",
                  run->error.message);
}

static inline void run_init(Run *run) {
    *run = (Run){.settings = solver_solve_default(RUN_SOLVER)};
    arena_init(&run->arena, (size_t)1 << 30);
}

static inline void run_deinit(Run *run) {
    arena_deinit(&run->arena);
}

static inline const SolveResult *solve_with(Run *run, const ContactProblem *problem,
                                            const Context *context) {
    arena_reset(&run->arena);
    ck_assert_msg(solver_solve(&run->settings, problem, context, &run->arena, &run->result,
                               &run->error) == STATUS_OK,
                  "%s", run->error.message);
    return &run->result;
}

static inline const SolveResult *solve(Run *run, const ContactProblem *problem) {
    return solve_with(run, problem, &(Context){0});
}

static inline void assert_solved(const SolveResult *result, const char *what) {
    ck_assert_msg(result->certificate.converged, "%s: e_own %g, e_mom %g, e_cone %g after %u", what,
                  result->certificate.entry[CERTIFICATE_OWN],
                  result->certificate.entry[CERTIFICATE_MOM],
                  result->certificate.entry[CERTIFICATE_CONE], result->iterations);
}

static inline double largest_difference(const double *a, const double *b, size_t count) {
    double most = 0.0;
    for (size_t k = 0; k < count; k++) {
        double difference = fabs(a[k] - b[k]);
        most = difference > most || difference != difference ? difference : most;
    }
    return most;
}

static inline double largest(const double *a, size_t count, double least) {
    double most = least;
    for (size_t k = 0; k < count; k++) {
        most = fmax(most, fabs(a[k]));
    }
    return most;
}

// ---- what it says

START_TEST(history_is_the_residual_after_each_step) {
    ProblemFile file;
    Run run, other;
    double value[1000];
    IterationHistory history;
    problem_file_open(&file, "hard/heap-125-a");
    run_init(&run);
    run_init(&other);
    set(&run, "stiffness_default", 1e9);
    set(&other, "stiffness_default", 1e9);
    history_init(&history, value, 1000);
    const SolveResult *result = solve_with(&run, &file.problem, &(Context){.history = &history});
    ck_assert_uint_eq(history.count, result->iterations);
    ck_assert_double_gt(value[0], 1e-3);
    // the last is of the island that took most
    ck_assert_double_le(value[history.count - 1], 1e-6);
    // it changes nothing
    const SolveResult *without = solve(&other, &file.problem);
    ck_assert_uint_eq(result->iterations, without->iterations);
    ck_assert_int_eq(
        memcmp(result->answer.v, without->answer.v, file.problem.velocity_count * sizeof(double)),
        0);
    run_deinit(&run);
    run_deinit(&other);
    problem_file_close(&file);
}
END_TEST

START_TEST(what_has_not_come_is_said) {
    ProblemFile file;
    Run run;
    problem_file_open(&file, "pile-125");
    run_init(&run);
    set(&run, "max_iterations", 3);
    const SolveResult *result = solve(&run, &file.problem);
    ck_assert(!result->certificate.converged);
    ck_assert_uint_eq(result->iterations, 3);
    ck_assert_int_eq(result->certificate.worst_open.reason, END_ITERATIONS);
    ck_assert(numbers_are_finite(result->answer.v, file.problem.velocity_count));
    run_deinit(&run);
    problem_file_close(&file);
}
END_TEST

static inline bool stop_now(void *context) {
    (void)context;
    return true;
}

START_TEST(a_stop_ends_it_within_a_pile) {
    ProblemFile file;
    Run run;
    problem_file_open(&file, "pile-125");
    run_init(&run);
    const Stop stop = {.asked = stop_now};
    ck_assert_int_eq(solver_solve(&run.settings, &file.problem, &(Context){.stop = &stop},
                                  &run.arena, &run.result, &run.error),
                     STATUS_ABORTED);
    run_deinit(&run);
    problem_file_close(&file);
}
END_TEST

typedef struct Countdown {
    int left;
} Countdown;

static inline bool is_over(void *context) {
    Countdown *countdown = context;
    return --countdown->left < 0;
}

// A limit ends it with the best that it has; one that comes before anything is solved, with where
// it began.
START_TEST(a_limit_ends_it_with_what_it_has) {
    ProblemFile file;
    Run run;
    problem_file_open(&file, "pile-125");
    run_init(&run);
    double nearest = HUGE_VAL;
    for (int questions = 0; questions < 24; questions += 4) {
        Countdown countdown = {questions};
        const Stop limit = {.asked = is_over, .context = &countdown};
        const SolveResult *result = solve_with(&run, &file.problem, &(Context){.limit = &limit});
        ck_assert(numbers_are_finite(result->answer.v, file.problem.velocity_count));
        double own = result->certificate.entry[CERTIFICATE_OWN];
        if (questions == 0) {
            ck_assert(!result->certificate.converged);
            ck_assert_int_eq(result->certificate.worst_open.reason, END_TIME);
            nearest = own;
        }
        // never worse than where it began
        ck_assert_double_le(own, nearest);
    }
    run_deinit(&run);
    problem_file_close(&file);
}
END_TEST

static inline void run_add_reports(TCase *tcase) {
    tcase_add_test(tcase, history_is_the_residual_after_each_step);
    tcase_add_test(tcase, what_has_not_come_is_said);
    tcase_add_test(tcase, a_stop_ends_it_within_a_pile);
    tcase_add_test(tcase, a_limit_ends_it_with_what_it_has);
}
