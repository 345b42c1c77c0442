// SPDX-License-Identifier: MIT
// Where one solver's model has another's as its limit, the two are compared on problems that no
// file has: what they know of each other is the problem alone.
//
// Bodies are random, nothing overlaps and everything touches, or nearly. Velocities are unique
// under the convex models whatever is redundant; under Coulomb's law here because friction is below
// 0.4 and no contact repeats another.
#include "solve/solver.h"

#include "support/problem_build.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

enum { SEEDS = 24, BODIES = 4, VELOCITIES = 6 * BODIES };

typedef struct Run {
    Arena arena;
    SolverSettings settings;
} Run;

static void set(Run *run, const char *name, double value) {
    Error error = {0};
    ck_assert_msg(solver_set(&run->settings, name, value, &error) == STATUS_OK, "%s",
                  error.message);
}

static void run_init(Run *run, SolverKind kind, double tolerance) {
    *run = (Run){.settings = solver_solve_default(kind)};
    arena_init(&run->arena, (size_t)1 << 28);
    set(run, "tolerance", tolerance);
    set(run, "max_iterations", 100000);
}

static void run_deinit(Run *run) {
    arena_deinit(&run->arena);
}

static void solve(Run *run, const ContactProblem *problem, double *v) {
    SolveResult result;
    Error error = {0};
    arena_reset(&run->arena);
    ck_assert_msg(solver_solve(&run->settings, problem, &(Context){0}, &run->arena, &result,
                               &error) == STATUS_OK,
                  "%s", error.message);
    ck_assert_msg(result.certificate.converged, "%s: e_own %g",
                  solver_get(run->settings.kind)->name, result.certificate.entry[CERTIFICATE_OWN]);
    memcpy(v, result.answer.v, problem->velocity_count * sizeof(double));
}

// With everything that the solver leaves as it is.
static void solve_under(SolverKind kind, double tolerance, const ContactProblem *problem,
                        double *v) {
    Run run;
    run_init(&run, kind, tolerance);
    solve(&run, problem, v);
    run_deinit(&run);
}

static double distance(const double *a, const double *b, size_t count) {
    double most = 0.0;
    for (size_t k = 0; k < count; k++) {
        double away = fabs(a[k] - b[k]);
        most = away > most || away != away ? away : most;
    }
    return most;
}

// `friction`: a factor of friction between 0 and 0.8. Redundant ones have many contacts.
static void build_bodies(ProblemBuild *build, int seed, uint32_t contacts, double friction) {
    uint64_t state = 77777u + (uint64_t)seed;
    problem_build_init(build);
    problem_build_random_bodies(build, &state, BODIES, contacts);
    for (uint32_t i = 0; i < contacts; i++) {
        ProblemContact *contact = &build->contact[i];
        contact->mu *= friction;
        contact->bias = 0.1 * fmax(contact->bias, 0.0);
        contact->gap = contact->bias * build->problem.time_step;
    }
}

enum { FEW = 6, MANY = 16 };

// ---- sap, to ccp

static double sap_from_ccp(const ProblemBuild *build, const double *wanted, double beta,
                           double sigma, double stiffness) {
    Run run;
    double v[VELOCITIES];
    run_init(&run, SOLVER_SAP, 1e-11);
    set(&run, "beta", beta);
    set(&run, "sigma", sigma);
    set(&run, "stiffness_default", stiffness);
    solve(&run, &build->problem, v);
    run_deinit(&run);
    return distance(v, wanted, VELOCITIES);
}

// R is a share of w: sigma of friction, beta^2 / 4 pi^2 of the normal. Both a hundredth leave a
// hundredth of the distance: order one in R. Contacts are redundant, velocities are not.
START_TEST(sap_of_vanishing_regularisation_is_ccp) {
    ProblemBuild build;
    double wanted[VELOCITIES];
    build_bodies(&build, _i, MANY, 1.0);
    solve_under(SOLVER_CCP, 1e-12, &build.problem, wanted);
    double first = sap_from_ccp(&build, wanted, 1e-3, 1e-6, 0.0);
    double second = sap_from_ccp(&build, wanted, 1e-4, 1e-8, 0.0);
    // what two solvers leave at 1e-11 of a problem whose masses differ by little
    ck_assert_msg(second <= 0.02 * first + 1e-8, "%d: %g, then %g", _i, first, second);
    ck_assert_double_le(second, 1e-5);
    problem_build_deinit(&build);
}
END_TEST

// The same by the stiffness itself, R_n = 1 / h^2 k, without what beta keeps; sigma as small.
START_TEST(sap_of_growing_stiffness_is_ccp) {
    ProblemBuild build;
    double wanted[VELOCITIES];
    build_bodies(&build, _i, MANY, 1.0);
    solve_under(SOLVER_CCP, 1e-12, &build.problem, wanted);
    double first = sap_from_ccp(&build, wanted, 0.0, 1e-6, 1e10);
    double second = sap_from_ccp(&build, wanted, 0.0, 1e-8, 1e12);
    ck_assert_msg(second <= 0.02 * first + 1e-8, "%d: %g, then %g", _i, first, second);
    ck_assert_double_le(second, 1e-5);
    problem_build_deinit(&build);
}
END_TEST

// ---- compliant, to mdp and to ccp

static double compliant_from(const ProblemBuild *build, const double *wanted, double stiffness) {
    Run run;
    double v[VELOCITIES];
    run_init(&run, SOLVER_COMPLIANT, 1e-12);
    set(&run, "stiffness_default", stiffness);
    set(&run, "tangential_damping", 0.01 * stiffness);
    solve(&run, &build->problem, v);
    run_deinit(&run);
    return distance(v, wanted, VELOCITIES);
}

// R_n = 1 / h^2 K, R_t = 1 / h B_t: a hundred times as stiff is a hundred times as near.
START_TEST(stiff_compliant_is_coulombs_law) {
    ProblemBuild build;
    double wanted[VELOCITIES];
    build_bodies(&build, _i, FEW, 0.5);
    solve_under(SOLVER_MDP, 1e-12, &build.problem, wanted);
    double soft = compliant_from(&build, wanted, 1e8), stiff = compliant_from(&build, wanted, 1e10);
    ck_assert_msg(stiff <= 0.02 * soft + 1e-8, "%d: %g, then %g", _i, soft, stiff);
    ck_assert_double_le(stiff, 1e-5);
    problem_build_deinit(&build);
}
END_TEST

// Without friction Coulomb's law is the convex one, and velocities are unique with any contacts.
START_TEST(stiff_compliant_without_friction_is_ccp) {
    ProblemBuild build;
    double wanted[VELOCITIES], rigid[VELOCITIES];
    build_bodies(&build, _i, MANY, 0.0);
    solve_under(SOLVER_CCP, 1e-12, &build.problem, wanted);
    solve_under(SOLVER_MDP, 1e-12, &build.problem, rigid);
    ck_assert_double_le(distance(rigid, wanted, VELOCITIES), 1e-8);
    double soft = compliant_from(&build, wanted, 1e8), stiff = compliant_from(&build, wanted, 1e10);
    ck_assert_msg(stiff <= 0.02 * soft + 1e-8, "%d: %g, then %g", _i, soft, stiff);
    ck_assert_double_le(stiff, 1e-3); // where contacts nearly repeat each other R counts for more
    problem_build_deinit(&build);
}
END_TEST

// ---- ccp, exact, to mdp

START_TEST(exact_ccp_is_coulombs_law) {
    ProblemBuild build;
    Run run;
    double wanted[VELOCITIES], relaxed[VELOCITIES], v[VELOCITIES];
    build_bodies(&build, _i, FEW, 0.5);
    solve_under(SOLVER_MDP, 1e-12, &build.problem, wanted);
    run_init(&run, SOLVER_CCP, 1e-11);
    set(&run, "coulomb", 1.0);
    solve(&run, &build.problem, v);
    run_deinit(&run);
    ck_assert_msg(distance(v, wanted, VELOCITIES) <= 1e-8, "%d: %g", _i,
                  distance(v, wanted, VELOCITIES));
    solve_under(SOLVER_CCP, 1e-11, &build.problem, relaxed);
    ck_assert_double_gt(distance(relaxed, wanted, VELOCITIES), 1e-3); // they slide
    problem_build_deinit(&build);
}
END_TEST

// ---- lcp, to mdp

static double lcp_from(const ProblemBuild *build, const double *wanted, double directions) {
    Run run;
    double v[VELOCITIES];
    run_init(&run, SOLVER_LCP, 1e-11);
    set(&run, "directions", directions);
    solve(&run, &build->problem, v);
    run_deinit(&run);
    return distance(v, wanted, build->problem.velocity_count);
}

// The farthest of all problems with each number of directions. Friction is off by up to half the
// angle between two edges, pi / k, so the distance falls at least as 1 / k: the order is the slope
// of the line through all of them, each as far from it as luck has it.
START_TEST(lcp_comes_to_coulombs_law_at_least_as_its_directions_grow) {
    static const double directions[] = {4, 8, 16, 32, 64, 128};
    enum { COUNT = sizeof(directions) / sizeof(directions[0]) };
    double worst[COUNT] = {0.0}, mean_x = 0.0, mean_y = 0.0, xy = 0.0, xx = 0.0;
    for (int seed = 0; seed < SEEDS; seed++) {
        ProblemBuild build;
        double wanted[VELOCITIES];
        build_bodies(&build, seed, FEW, 0.5);
        solve_under(SOLVER_MDP, 1e-12, &build.problem, wanted);
        for (int i = 0; i < COUNT; i++) {
            worst[i] = fmax(worst[i], lcp_from(&build, wanted, directions[i]));
        }
        problem_build_deinit(&build);
    }
    for (int i = 0; i < COUNT; i++) {
        mean_x += log2(directions[i]) / COUNT;
        mean_y += log2(worst[i]) / COUNT;
    }
    for (int i = 0; i < COUNT; i++) {
        double x = log2(directions[i]) - mean_x;
        xy += x * (log2(worst[i]) - mean_y);
        xx += x * x;
        ck_assert_msg(worst[i] * directions[i] <= 2.0 * worst[0] * directions[0], "%g: %g",
                      directions[i], worst[i]);
    }
    ck_assert_msg(-xy / xx >= 1.0, "order %g", -xy / xx);
}
END_TEST

// Discs that move in the plane of x and z, where every frame has its first tangent: edges lie along
// it for any even number of directions, and what the others do is nothing.
static void build_plane(ProblemBuild *build, int seed) {
    uint64_t state = 4242u + (uint64_t)seed;
    problem_build_init(build);
    for (uint32_t i = 0; i < BODIES; i++) {
        double mass = 1.5 + problem_build_random(&state), inertia = 0.1 * mass;
        const double v_free[6] = {problem_build_random(&state),       0.0,
                                  problem_build_random(&state),       0.0,
                                  2.0 * problem_build_random(&state), 0.0};
        Sym3 round = {inertia, inertia, inertia, 0.0, 0.0, 0.0};
        problem_build_free(build, mass, round, v_free);
    }
    for (uint32_t i = 0; i < FEW; i++) {
        Vec3 normal = vec3(problem_build_random(&state), 0.0, problem_build_random(&state));
        normal = vec3_scale(1.0 / vec3_norm(normal), normal);
        double mu = 0.2 + 0.2 * problem_build_random(&state);
        ProblemContact *contact = problem_build_contact(build, normal, mu, 0.0);
        contact->tangent[0] = vec3(normal.z, 0.0, -normal.x);
        contact->tangent[1] = vec3_cross(normal, contact->tangent[0]);
        Vec3 arm = vec3(problem_build_random(&state), 0.0, problem_build_random(&state));
        problem_build_side(contact, 1, i % BODIES, vec3_scale(-0.4, normal));
        if (i % 3 != 0) {
            problem_build_side(contact, 0, (i + 1) % BODIES, vec3_scale(0.4, arm));
        }
    }
}

START_TEST(lcp_is_coulombs_law_in_the_plane_of_its_first_tangent) {
    static const double directions[] = {4, 6, 8, 10, 14, 22, 64, 128};
    for (int seed = 0; seed < SEEDS; seed++) {
        ProblemBuild build;
        double wanted[VELOCITIES];
        build_plane(&build, seed);
        solve_under(SOLVER_MDP, 1e-12, &build.problem, wanted);
        double away = lcp_from(&build, wanted, directions[_i]);
        ck_assert_msg(away <= 1e-8, "%g, %d: %g", directions[_i], seed, away);
        problem_build_deinit(&build);
    }
}
END_TEST

static TCase *case_limits(void) {
    TCase *tcase = tcase_create("limits");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, sap_of_vanishing_regularisation_is_ccp, 0, SEEDS);
    tcase_add_loop_test(tcase, sap_of_growing_stiffness_is_ccp, 0, SEEDS);
    tcase_add_loop_test(tcase, stiff_compliant_is_coulombs_law, 0, SEEDS);
    tcase_add_loop_test(tcase, stiff_compliant_without_friction_is_ccp, 0, SEEDS);
    tcase_add_loop_test(tcase, exact_ccp_is_coulombs_law, 0, SEEDS);
    tcase_add_test(tcase, lcp_comes_to_coulombs_law_at_least_as_its_directions_grow);
    tcase_add_loop_test(tcase, lcp_is_coulombs_law_in_the_plane_of_its_first_tangent, 0, 8);
    return tcase;
}

SUITE_MAIN("solve/limits", case_limits)
