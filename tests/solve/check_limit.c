// SPDX-License-Identifier: MIT
// A solve that meets its context's limit ends with the best that it has, and says so; one that is
// told to stop is given up.
#include "solve/mdp/mdp.h"
#include "solve/solver.h"
#include "support/problem_file.h"
#include "support/suite.h"

#include <string.h>

typedef struct Patience {
    uint32_t questions, most;
} Patience;

static bool is_lost(void *context) {
    Patience *patience = context;
    return ++patience->questions > patience->most;
}

// What takes long of each solver and method.
static const struct {
    const char *name, *file;
    SolverKind solver;
    MdpMethod method;
} ways[] = {{"gauss_seidel", "hard/heap-125-c", SOLVER_MDP, MDP_GAUSS_SEIDEL},
            {"newton", "hard/heap-125-c", SOLVER_MDP, MDP_NEWTON},
            {"auto", "hard/heap-125-c", SOLVER_MDP, MDP_AUTO},
            {"lcp", "ten-boxes-pushed", SOLVER_LCP, MDP_AUTO}};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static Status solve(int way, const ContactProblem *problem, const Context *context, Arena *arena,
                    SolveResult *result) {
    SolverSettings settings = solver_solve_default(ways[way].solver);
    settings.parameter[SOLVER_TOLERANCE] = 1e-12;
    if (ways[way].solver == SOLVER_MDP) {
        settings.parameter[MDP_METHOD] = ways[way].method;
    }
    Error error = {0};
    arena_reset(arena);
    return solver_solve(&settings, problem, context, arena, result, &error);
}

// its own residual, had it not been solved at all
static double own_at_start(const ContactProblem *problem, int way, Arena *arena) {
    Patience none = {0};
    const Stop limit = {.asked = is_lost, .context = &none};
    SolveResult result;
    ck_assert_int_eq(solve(way, problem, &(Context){.limit = &limit}, arena, &result), STATUS_OK);
    return result.certificate.entry[CERTIFICATE_OWN];
}

// However early it ends, the answer is one: finite, its momentum and its cones kept, and no worse
// than the earlier it would have ended.
START_TEST(a_limit_ends_it_with_the_best_so_far) {
    ProblemFile file;
    Arena arena;
    problem_file_open(&file, ways[_i].file);
    arena_init(&arena, (size_t)1 << 30);
    double start = own_at_start(&file.problem, _i, &arena), before = start;
    ck_assert(isfinite(start));
    for (uint32_t most = 1; most < 200; most = 3 * most + 1) {
        Patience patience = {.most = most};
        const Stop limit = {.asked = is_lost, .context = &patience};
        SolveResult result;
        ck_assert_int_eq(solve(_i, &file.problem, &(Context){.limit = &limit}, &arena, &result),
                         STATUS_OK);
        const Certificate *c = &result.certificate;
        if (patience.questions <= most) {
            break; // it had ended before
        }
        ck_assert_msg(!c->converged, "%s", ways[_i].name);
        ck_assert_int_eq(c->worst_open.reason, END_TIME);
        ck_assert_double_le(c->entry[CERTIFICATE_MOM], 1e-10);
        // lcp has no better and better iterates: of an island that it does not finish, it returns
        // the better of where it began and where it was
        double slack = ways[_i].solver == SOLVER_LCP ? 1e-6 * before : 0.0;
        ck_assert_double_le(c->entry[CERTIFICATE_OWN], before + slack);
        before = c->entry[CERTIFICATE_OWN];
        // 4 million operations are some 25 sweeps, before anything is judged on the way
        bool sweeps = ways[_i].method != MDP_NEWTON && ways[_i].solver == SOLVER_MDP;
        ck_assert(!sweeps || most < 4 || before < 0.9 * start);
        // nobody asks for a limit that is met, but whoever finds out which of the two it was
        ck_assert_uint_eq(patience.questions, most + 1);
    }
    ck_assert(ways[_i].solver == SOLVER_LCP || before < 0.5 * start); // some was gained
    arena_deinit(&arena);
    problem_file_close(&file);
}
END_TEST

START_TEST(what_is_told_to_stop_is_given_up) {
    ProblemFile file;
    Arena arena;
    problem_file_open(&file, ways[_i].file);
    arena_init(&arena, (size_t)1 << 30);
    Patience patience = {.most = 3}, more = {.most = 1000};
    const Stop stop = {.asked = is_lost, .context = &patience},
               limit = {.asked = is_lost, .context = &more};
    SolveResult result;
    ck_assert_int_eq(
        solve(_i, &file.problem, &(Context){.stop = &stop, .limit = &limit}, &arena, &result),
        STATUS_ABORTED);
    ck_assert_uint_eq(patience.questions, 4);
    arena_deinit(&arena);
    problem_file_close(&file);
}
END_TEST

START_TEST(a_limit_that_is_not_met_changes_nothing) {
    ProblemFile file;
    Arena arena, other;
    problem_file_open(&file, "ten-boxes-pushed");
    arena_init(&arena, (size_t)1 << 28);
    arena_init(&other, (size_t)1 << 28);
    Patience patience = {.most = UINT32_MAX};
    const Stop limit = {.asked = is_lost, .context = &patience};
    SolveResult with, without;
    ck_assert_int_eq(solve(_i, &file.problem, &(Context){.limit = &limit}, &arena, &with),
                     STATUS_OK);
    ck_assert_int_eq(solve(_i, &file.problem, &(Context){0}, &other, &without), STATUS_OK);
    ck_assert_mem_eq(with.answer.contact_impulse, without.answer.contact_impulse,
                     3 * file.problem.contact_count * sizeof(double));
    ck_assert_int_eq(with.certificate.converged, without.certificate.converged);
    arena_deinit(&arena);
    arena_deinit(&other);
    problem_file_close(&file);
}
END_TEST

static TCase *case_limit(void) {
    TCase *tcase = tcase_create("limit");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_limit_ends_it_with_the_best_so_far, 0, WAYS);
    tcase_add_loop_test(tcase, what_is_told_to_stop_is_given_up, 0, WAYS);
    tcase_add_loop_test(tcase, a_limit_that_is_not_met_changes_nothing, 0, WAYS);
    return tcase;
}

SUITE_MAIN("solve/limit", case_limit)
