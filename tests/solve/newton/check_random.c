// SPDX-License-Identifier: MIT
// Random problems of a few bodies with many contacts and friction to mu = 10, where Coulomb's law
// may have several solutions or none. What Newton's method does not solve from nothing is tried
// with all else that there is: sweeps from random impulses, and Newton's method from where they
// end. The share counts of those that anything has solved.
#include "solve/mdp/mdp.h"
#include "solve/solver.h"
#include "support/campaign.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// demand on the whole
#define SOLVED_MIN 0.99

#define TOLERANCE      1e-8
#define FACTORISATIONS 1000.0
#define SWEEPS         3000.0
#define MU_MAX         10.0
// problems of scale 1; bodies of the smallest and the largest, contacts as a multiple of them
enum { PROBLEMS = 300, STARTS = 8, BODIES_MIN = 2, BODIES_MAX = 8, CONTACTS_MAX = 3 };

static void build_problem(ProblemBuild *build, uint64_t *state) {
    problem_build_init(build);
    double spread = BODIES_MAX - BODIES_MIN + 1;
    double share = 0.5 + 0.5 * problem_build_random(state);
    uint32_t bodies = BODIES_MIN + (uint32_t)(share * spread);
    share = 0.5 + 0.5 * problem_build_random(state);
    uint32_t contacts = bodies + (uint32_t)(share * (CONTACTS_MAX - 1) * bodies);
    problem_build_random_bodies(build, state, bodies, contacts);
    // as much slight friction as much, as extremes are where methods fail
    for (uint32_t i = 0; i < contacts; i++) {
        double x = 0.5 + 0.5 * problem_build_random(state);
        build->contact[i].mu = MU_MAX * x * x * x;
    }
}

// e_own of what a method makes of the impulses, which it replaces.
static double improve(const ContactProblem *of, MdpMethod method, double iterations,
                      double *impulse) {
    ContactProblem problem = *of;
    problem.warm_contact = impulse;
    SolverSettings settings = solver_solve_default(SOLVER_MDP);
    settings.parameter[MDP_METHOD] = method;
    settings.parameter[MDP_FRICTION] = MDP_COULOMB;
    settings.parameter[MDP_TOLERANCE] = TOLERANCE;
    settings.parameter[MDP_MAX_ITERATIONS] = iterations;
    Arena arena;
    SolveResult result;
    Error error = {0};
    arena_init(&arena, (size_t)1 << 28);
    ck_assert_msg(solver_solve(&settings, &problem, &(Context){0}, &arena, &result, &error) ==
                      STATUS_OK,
                  "%s", error.message);
    memcpy(impulse, result.answer.contact_impulse, 3 * (size_t)of->contact_count * sizeof(double));
    double own = result.certificate.entry[CERTIFICATE_OWN];
    arena_deinit(&arena);
    return own;
}

// Whether anything else solves it.
static bool has_solution(const ContactProblem *problem, uint64_t *state, double *impulse) {
    for (int start = 0; start < STARTS; start++) {
        for (uint32_t i = 0; i < 3 * problem->contact_count; i++) {
            impulse[i] = start == 0 ? 0.0 : start * problem_build_random(state);
        }
        if (improve(problem, MDP_GAUSS_SEIDEL, SWEEPS, impulse) <= TOLERANCE) {
            printf("by sweeps, start %d: ", start);
            return true;
        }
        if (improve(problem, MDP_NEWTON, FACTORISATIONS, impulse) <= TOLERANCE) {
            printf("by Newton's method after sweeps, start %d: ", start);
            return true;
        }
    }
    return false;
}

START_TEST(what_anything_solves_newton_solves_from_nothing) {
    static double impulse[3 * BODIES_MAX * CONTACTS_MAX];
    uint32_t count = (uint32_t)campaign_count(PROBLEMS), solved = 0, others = 0;
    uint64_t state = 1;
    for (uint32_t i = 0; i < count; i++) {
        ProblemBuild build;
        build_problem(&build, &state);
        memset(impulse, 0, sizeof(impulse));
        double own = improve(&build.problem, MDP_NEWTON, FACTORISATIONS, impulse);
        if (own <= TOLERANCE) {
            solved++;
        } else {
            uint64_t own_state = i + 1;
            bool is_solvable = has_solution(&build.problem, &own_state, impulse);
            others += is_solvable;
            printf("miss: problem %u: e_own %.1e, %u contacts, %s\n", i, own,
                   build.problem.contact_count,
                   is_solvable ? "solved from elsewhere" : "solved by nothing");
        }
        problem_build_deinit(&build);
    }
    printf("%u problems, %u solved by Newton's method, %u more by anything\n", count, solved,
           others);
    ck_assert_uint_gt(solved, 0);
    ck_assert_double_ge(solved, SOLVED_MIN * (solved + others));
}
END_TEST

static TCase *case_random(void) {
    TCase *tcase = tcase_create("random");
    tcase_set_timeout(tcase, 600.0);
    tcase_add_test(tcase, what_anything_solves_newton_solves_from_nothing);
    return tcase;
}

SUITE_MAIN("solve/newton_random", case_random)
