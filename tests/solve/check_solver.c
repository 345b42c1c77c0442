// SPDX-License-Identifier: MIT
#include "solve/solver.h"

#include "solve/mdp/mdp.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

START_TEST(every_solver_is_found_by_its_name) {
    SolverKind kind = SOLVER_COUNT;
    ck_assert(solver_find(solver_get((SolverKind)_i)->name, &kind));
    ck_assert_int_eq((int)kind, _i);
    ck_assert(!solver_find("pgs", &kind));
    ck_assert(!solver_find("", &kind));
}
END_TEST

START_TEST(every_default_passes_its_own_range) {
    SolverSettings world = solver_default((SolverKind)_i);
    SolverSettings solve = solver_solve_default((SolverKind)_i);
    const Solver *solver = solver_get((SolverKind)_i);
    ck_assert_str_eq(solver->parameters[SOLVER_TOLERANCE].name, "tolerance");
    ck_assert_str_eq(solver->parameters[SOLVER_MAX_ITERATIONS].name, "max_iterations");
    for (uint32_t i = 0; i < solver->parameter_count; i++) {
        const char *name = solver->parameters[i].name;
        ck_assert_int_eq(solver_set(&world, name, world.parameter[i], NULL), STATUS_OK);
        ck_assert_int_eq(solver_set(&solve, name, solve.parameter[i], NULL), STATUS_OK);
        ck_assert_int_eq((solver->parameters[i].kind == PARAMETER_CHOICE),
                         (solver->parameters[i].choices != NULL));
    }
}
END_TEST

START_TEST(mdp_has_the_parameters_of_its_page) {
    SolverSettings world = solver_default(SOLVER_MDP), solve = solver_solve_default(SOLVER_MDP);
    ck_assert_double_eq(world.parameter[MDP_MAX_ITERATIONS], 200.0);
    ck_assert_double_eq(solve.parameter[MDP_MAX_ITERATIONS], 100000.0);
    ck_assert_double_eq(world.parameter[MDP_TOLERANCE], 1e-6);
    ck_assert_double_eq(world.parameter[MDP_OVERLAP_CORRECTION], 0.2);
    ck_assert_double_eq(world.parameter[MDP_FRICTION], MDP_COULOMB);
    ck_assert_double_eq(solve.parameter[MDP_FRICTION], MDP_COULOMB);
    const char *const *choices = solver_get(SOLVER_MDP)->parameters[MDP_FRICTION].choices;
    ck_assert_str_eq(choices[MDP_MAXIMUM_DISSIPATION], "maximum_dissipation");
    ck_assert_str_eq(choices[MDP_COULOMB], "coulomb");
    ck_assert_ptr_null(choices[2]);
    ck_assert_double_eq(world.parameter[MDP_METHOD], MDP_AUTO);
    ck_assert_double_eq(solve.parameter[MDP_METHOD], MDP_AUTO);
    ck_assert_double_eq(world.parameter[MDP_BUDGET], 1e9);
    ck_assert_double_eq(solve.parameter[MDP_BUDGET], 5e9);
}
END_TEST

// name, value, a word that the message must hold
typedef struct BadSetting {
    const char *name;
    double value;
    const char *word;
} BadSetting;

static const BadSetting bad_settings[] = {
    {"tolerance", 0.0, "1e-15"},
    {"tolerance", NAN, "between"},
    {"tolerance", 2.0, "not 2"},
    {"max_iterations", 1.5, "whole"},
    {"max_iterations", 0.0, "1e+07"},
    {"friction", 2.0, "maximum_dissipation, coulomb"},
    {"friction", 0.5, "one of"},
    {"overlap_correction", -0.1, "between 0 and 1"},
    {"warm_start", 0.5, "0 or 1"},
    {"iterations", 1.0, "tolerance, max_iterations, friction"},
    {"method", 3.0, "gauss_seidel, newton, auto"},
};

START_TEST(a_bad_setting_is_refused_with_its_range) {
    const BadSetting *bad = &bad_settings[_i];
    SolverSettings settings = solver_default(SOLVER_MDP), before = settings;
    Error error;
    ck_assert_int_eq(solver_set(&settings, bad->name, bad->value, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, bad->name);
    ck_assert_msg(strstr(error.message, bad->word) != NULL, "%s", error.message);
    for (int i = 0; i < SOLVER_PARAMETER_MAX; i++) {
        ck_assert_double_eq(settings.parameter[i], before.parameter[i]);
    }
}
END_TEST

START_TEST(a_good_setting_is_kept) {
    SolverSettings settings = solver_default(SOLVER_MDP);
    ck_assert_int_eq(solver_set(&settings, "friction", MDP_COULOMB, NULL), STATUS_OK);
    ck_assert_int_eq(solver_set(&settings, "max_iterations", 1e7, NULL), STATUS_OK);
    ck_assert_double_eq(settings.parameter[MDP_FRICTION], MDP_COULOMB);
    ck_assert_double_eq(settings.parameter[MDP_MAX_ITERATIONS], 1e7);
}
END_TEST

START_TEST(mdp_asks_for_its_share_of_the_overlap) {
    SolverSettings settings = solver_default(SOLVER_MDP);
    const Solver *solver = solver_get(SOLVER_MDP);
    ck_assert_double_eq_tol(solver->bias(settings.parameter, 0.01, -0.001), -0.02, 1e-16);
    ck_assert_double_eq_tol(solver->bias(settings.parameter, 0.01, 0.001), 0.1, 1e-16);
}
END_TEST

// Whatever its model, a solver tells how far each contact is from what it was to obey: the worst of
// them is the certificate's, but for the rounding of a division.
START_TEST(every_solver_tells_the_residual_of_each_contact) {
    SolverSettings settings = solver_default((SolverKind)_i);
    ck_assert_int_eq(solver_set(&settings, "max_iterations", 3.0, NULL), STATUS_OK);
    ProblemBuild build;
    uint64_t state = 77;
    problem_build_init(&build);
    problem_build_random_bodies(&build, &state, 12, 40);
    Arena arena;
    arena_init(&arena, (size_t)1 << 26);
    SolveResult result;
    Error error = {0};
    ck_assert_msg(solver_solve(&settings, &build.problem, &(Context){0}, &arena, &result, &error) ==
                      STATUS_OK,
                  "%s", error.message);
    ck_assert_ptr_nonnull(result.residual);
    double worst = 0.0;
    for (uint32_t i = 0; i < build.problem.contact_count; i++) {
        ck_assert(result.residual[i] >= 0.0);
        worst = fmax(worst, result.residual[i]);
    }
    double own = result.certificate.entry[CERTIFICATE_OWN];
    ck_assert_double_le(fabs(worst - own), 1e-14 * own);
    ck_assert(result.residual[result.certificate.worst_contact] == worst);
    arena_deinit(&arena);
    problem_build_deinit(&build);
}
END_TEST

static TCase *case_table(void) {
    TCase *tcase = tcase_create("table");
    tcase_add_loop_test(tcase, every_solver_is_found_by_its_name, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, every_default_passes_its_own_range, 0, SOLVER_COUNT);
    tcase_add_loop_test(tcase, every_solver_tells_the_residual_of_each_contact, 0, SOLVER_COUNT);
    tcase_add_test(tcase, mdp_has_the_parameters_of_its_page);
    tcase_add_test(tcase, mdp_asks_for_its_share_of_the_overlap);
    return tcase;
}

static TCase *case_settings(void) {
    TCase *tcase = tcase_create("settings");
    tcase_add_loop_test(tcase, a_bad_setting_is_refused_with_its_range, 0,
                        (int)(sizeof(bad_settings) / sizeof(bad_settings[0])));
    tcase_add_test(tcase, a_good_setting_is_kept);
    return tcase;
}

SUITE_MAIN("solve/solver", case_table, case_settings)
