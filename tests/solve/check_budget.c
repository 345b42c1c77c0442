// SPDX-License-Identifier: MIT
// A budget is counted, never timed: what ends a solve is the same wherever it is done. Small
// islands have their turn first, and every island a share that is kept for it.
#include "solve/ccp/ccp.h"
#include "solve/compliant/compliant.h"
#include "solve/lcp/lcp.h"
#include "solve/mdp/mdp.h"
#include "solve/sap/sap.h"
#include "solve/solver.h"
#include "support/crew.h"
#include "support/problem_build.h"
#include "support/problem_file.h"
#include "support/suite.h"

#include <string.h>

// What takes long of each solver and method: of a file, with a budget that is too small. Of sweeps
// the least that there is are 5e9, which take a second or two.
static const struct {
    const char *name, *file;
    SolverKind solver;
    const char *parameter;
    double value, budget;
} ways[] = {
    {"mdp, auto", "hard/pyramid-55-kicked-a", SOLVER_MDP, "method", MDP_AUTO, 2e8},
    {"mdp, sweeps", "hard/pyramid-55-kicked-a", SOLVER_MDP, "method", MDP_GAUSS_SEIDEL, 0.0},
    {"mdp, newton", "hard/heap-125-d", SOLVER_MDP, "method", MDP_NEWTON, 0.0},
    {"lcp", "ten-boxes-pushed", SOLVER_LCP, "max_rows", 2000.0, 2e7},
    {"ccp", "hard/heap-125-c", SOLVER_CCP, "method", CCP_INTERIOR_POINT, 3e7},
    {"ccp, sweeps", "hard/heap-125-c", SOLVER_CCP, "method", CCP_GAUSS_SEIDEL, 1e8},
    {"ccp, apgd", "hard/heap-125-c", SOLVER_CCP, "method", CCP_APGD, 1e8},
    {"ccp, spectral", "hard/heap-125-c", SOLVER_CCP, "method", CCP_BARZILAI_BORWEIN, 1e7},
    {"ccp, exact", "hard/heap-125-c", SOLVER_CCP, "coulomb", CCP_EXACT, 2e8},
    {"sap", "hard/heap-125-c", SOLVER_SAP, "method", SAP_AUTO, 1e7},
    {"sap, newton", "hard/heap-125-c", SOLVER_SAP, "method", SAP_NEWTON, 1e7},
    {"compliant", "hard/heap-125-c", SOLVER_COMPLIANT, "friction", COMPLIANT_COULOMB, 1e8},
    {"compliant, printed", "hard/heap-125-c", SOLVER_COMPLIANT, "friction", COMPLIANT_PRINTED, 1e8},
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static void set(SolverSettings *settings, const char *name, double value) {
    Error error = {0};
    ck_assert_msg(solver_set(settings, name, value, &error) == STATUS_OK, "%s", error.message);
}

static Status solve(int way, double budget, const ContactProblem *problem, const Context *context,
                    Arena *arena, SolveResult *result) {
    SolverSettings settings = solver_solve_default(ways[way].solver);
    set(&settings, "tolerance", 1e-15);
    set(&settings, "max_iterations", 1e7);
    set(&settings, ways[way].parameter, ways[way].value);
    set(&settings, "budget", budget);
    if (ways[way].solver == SOLVER_COMPLIANT) {
        set(&settings, "stiffness_default", 1e9);
    }
    Error error = {0};
    return solver_solve(&settings, problem, context, arena, result, &error);
}

static bool is_now(void *context) {
    (void)context;
    return true;
}

// The own residual of what a solve starts from.
static double own_at_start(int way, const ContactProblem *problem) {
    Arena arena;
    SolveResult result;
    const Stop limit = {.asked = is_now};
    arena_init(&arena, (size_t)1 << 31);
    ck_assert_int_eq(solve(way, 1e15, problem, &(Context){.limit = &limit}, &arena, &result),
                     STATUS_OK);
    double own = result.certificate.entry[CERTIFICATE_OWN];
    arena_deinit(&arena);
    return own;
}

START_TEST(a_budget_ends_it_with_the_same_bits_on_any_lanes) {
    ProblemFile file;
    Arena arena[2];
    SolveResult result[2];
    problem_file_open(&file, ways[_i].file);
    for (int i = 0; i < 2; i++) {
        Crew *crew = i == 0 ? NULL : crew_create(7, 1);
        const Context context = {.tasks = crew == NULL ? NULL : crew_tasks(crew)};
        arena_init(&arena[i], (size_t)1 << 31);
        ck_assert_int_eq(solve(_i, ways[_i].budget, &file.problem, &context, &arena[i], &result[i]),
                         STATUS_OK);
        if (crew != NULL) {
            crew_destroy(crew);
        }
    }
    const Certificate *c = &result[0].certificate;
    ck_assert_msg(c->worst_open.reason == END_BUDGET, "%s: reason %d, %u iterations", ways[_i].name,
                  (int)c->worst_open.reason, result[0].iterations);
    ck_assert_double_le(c->entry[CERTIFICATE_MOM], 1e-10);
    // what the printed program starts from are no impulses
    ck_assert(result[0].answer.relation == RELATION_PROGRAM ||
              c->entry[CERTIFICATE_OWN] <= own_at_start(_i, &file.problem));
    ck_assert_mem_eq(result[1].answer.contact_impulse, result[0].answer.contact_impulse,
                     3 * file.problem.contact_count * sizeof(double));
    ck_assert_mem_eq(result[1].answer.v, result[0].answer.v,
                     file.problem.velocity_count * sizeof(double));
    ck_assert_uint_eq(result[1].iterations, result[0].iterations);
    arena_deinit(&arena[0]);
    arena_deinit(&arena[1]);
    problem_file_close(&file);
}
END_TEST

// ---- small islands

#define FALL 0.0981 // g h [m/s]
enum { BALLS = 10, COLUMN = 60 };

static uint32_t add_ball(ProblemBuild *build) {
    const Sym3 inertia = {0.004, 0.004, 0.004, 0.0, 0.0, 0.0};
    const double v_free[6] = {0.1, 0.0, -FALL, 0.0, 0.0, 0.0};
    return problem_build_free(build, 1.0, inertia, v_free);
}

static void add_contact(ProblemBuild *build, uint32_t below, uint32_t ball) {
    ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.4, 0.0);
    if (below != PROBLEM_NO_TREE) {
        problem_build_side(contact, 0, below, vec3(0.0, 0.0, 0.1));
    }
    problem_build_side(contact, 1, ball, vec3(0.0, 0.0, -0.1));
}

// A column of balls, and after it balls that stand alone.
static void build_yard(ProblemBuild *build) {
    problem_build_init(build);
    for (uint32_t i = 0, below = PROBLEM_NO_TREE; i < COLUMN; i++) {
        uint32_t ball = add_ball(build);
        add_contact(build, below, ball);
        below = ball;
    }
    for (uint32_t i = 0; i < BALLS; i++) {
        add_contact(build, PROBLEM_NO_TREE, add_ball(build));
    }
}

// Of the balls that stand alone, those that the ground holds up.
static uint32_t held(const SolveResult *result) {
    uint32_t count = 0;
    for (uint32_t i = COLUMN; i < COLUMN + BALLS; i++) {
        count += fabs(result->answer.contact_impulse[3 * i] - FALL) < 0.5 * FALL;
    }
    return count;
}

static Status solve_yard(int way, const ProblemBuild *build, double budget, const Context *context,
                         Arena *arena, SolveResult *result) {
    SolverSettings settings = solver_solve_default((SolverKind)way);
    set(&settings, "budget", budget);
    if (way == SOLVER_COMPLIANT) {
        set(&settings, "stiffness_default", 1e9);
    } else if (way == SOLVER_MDP) {
        set(&settings, "method", MDP_NEWTON);
    }
    Error error = {0};
    return solver_solve(&settings, &build->problem, context, arena, result, &error);
}

// The column alone takes more than all that there is, and stands first.
START_TEST(a_large_island_takes_nothing_that_small_ones_need) {
    ProblemBuild build;
    Arena arena;
    SolveResult result;
    build_yard(&build);
    arena_init(&arena, (size_t)1 << 28);
    ck_assert_int_eq(solve_yard(_i, &build, 2e6, &(Context){0}, &arena, &result), STATUS_OK);
    ck_assert_uint_eq(held(&result), BALLS);
    ck_assert(_i == SOLVER_MDP || !result.certificate.converged);
    ck_assert(result.certificate.converged || (result.certificate.islands_open == 1 &&
                                               result.certificate.worst_open.reason == END_BUDGET));
    arena_deinit(&arena);
    problem_build_deinit(&build);
}
END_TEST

typedef struct Patience {
    uint32_t questions, most;
} Patience;

static bool is_lost(void *context) {
    Patience *patience = context;
    return ++patience->questions > patience->most;
}

START_TEST(small_islands_are_done_when_time_ends) {
    ProblemBuild build;
    Arena arena;
    SolveResult result;
    build_yard(&build);
    arena_init(&arena, (size_t)1 << 28);
    Patience patience = {.most = 1};
    const Stop limit = {.asked = is_lost, .context = &patience};
    ck_assert_int_eq(solve_yard(_i, &build, 1e9, &(Context){.limit = &limit}, &arena, &result),
                     STATUS_OK);
    ck_assert_uint_eq(held(&result), BALLS);
    ck_assert(result.certificate.converged || result.certificate.worst_open.reason == END_TIME);
    arena_deinit(&arena);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(the_last_resort_has_a_word_of_its_own) {
    ProblemBuild build;
    Arena arena;
    SolveResult result;
    build_yard(&build);
    arena_init(&arena, (size_t)1 << 28);
    Patience patience = {.most = 0};
    const Stop last_resort = {.asked = is_lost, .context = &patience};
    ck_assert_int_eq(
        solve_yard(_i, &build, 1e9, &(Context){.last_resort = &last_resort}, &arena, &result),
        STATUS_OK);
    ck_assert(!result.certificate.converged);
    ck_assert_int_eq(result.certificate.worst_open.reason, END_TIMEOUT);
    arena_deinit(&arena);
    problem_build_deinit(&build);
}
END_TEST

static TCase *case_budget(void) {
    TCase *tcase = tcase_create("budget");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, a_budget_ends_it_with_the_same_bits_on_any_lanes, 0, WAYS);
    tcase_add_loop_test(tcase, a_large_island_takes_nothing_that_small_ones_need, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, small_islands_are_done_when_time_ends, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, the_last_resort_has_a_word_of_its_own, 0, SOLVER_COUNT);
    return tcase;
}

SUITE_MAIN("solve/budget", case_budget)
