// SPDX-License-Identifier: MIT
// The solver sap: every shared problem, closed forms of its artefacts, its limits, and what it says
// of itself.
#include "solve/sap/sap.h"
#include "solve/descent/law.h"

#include "support/problem_build.h"
#define RUN_SOLVER SOLVER_SAP
#include "support/solver_run.h"
#include "support/suite.h"

#include <string.h>

enum { VELOCITIES_MAX = 4096 };

// ---- the shared problems

static const char *const answered[] = {"one-ball",    "two-balls", "frictionless",  "joint",
                                       "limit-motor", "trees",     "stack-3",       "random-0",
                                       "random-3",    "random-7",  "mass-ratio-1e4"};
static const char *const others[] = {
    "column-20",       "ten-boxes",         "ten-boxes-pushed",
    "wedge",           "pile-125",          "hard/heap-125-a",
    "hard/heap-125-d", "hard/pyramid-55-a", "hard/pyramid-55-kicked-b"};

// as far as the tolerance of the file, and cold: none of them has impulses to start from
START_TEST(problems_are_answered) {
    ProblemFile file;
    Run run;
    double wanted[VELOCITIES_MAX];
    problem_file_open(&file, answered[_i]);
    run_init(&run);
    set(&run, "tolerance", 1e-10);
    const json_t *answer = problem_file_answer(&file, "sap");
    ck_assert_ptr_nonnull(answer);
    size_t count = problem_file_numbers(json_object_get(answer, "v"), wanted, VELOCITIES_MAX);
    ck_assert_uint_eq(count, file.problem.velocity_count);
    const SolveResult *result = solve(&run, &file.problem);
    assert_solved(result, answered[_i]);
    double tolerance = json_number_value(json_object_get(answer, "tolerance"));
    ck_assert_double_le(largest_difference(result->answer.v, wanted, count),
                        tolerance * largest(wanted, count, 1.0));
    run_deinit(&run);
    problem_file_close(&file);
}
END_TEST

// in Newton steps: the most that any of them takes is 52
START_TEST(hard_problems_are_solved_from_nothing) {
    ProblemFile file;
    Run run;
    problem_file_open(&file, others[_i]);
    run_init(&run);
    set(&run, "tolerance", 1e-9);
    const SolveResult *result = solve(&run, &file.problem);
    assert_solved(result, others[_i]);
    ck_assert_uint_le(result->iterations, 100);
    // what the bound says of 1e-9 V is rounding beside the energies, some 1 J
    ck_assert(result->has_cost_gap && result->cost_gap >= 0.0);
    ck_assert_double_le(result->cost_gap, 1e-12);
    run_deinit(&run);
    problem_file_close(&file);
}
END_TEST

// Both sides are solved to 1e-12 V or better, and the condition of A is that of the bodies.
START_TEST(dense_trees_are_as_free_bodies) {
    ProblemFile file;
    ProblemBuild dense;
    Run one, two;
    problem_file_open(&file, "random-7");
    problem_build_init(&dense);
    problem_build_densify(&file.problem, &dense);
    run_init(&one);
    run_init(&two);
    set(&one, "tolerance", 1e-12);
    set(&two, "tolerance", 1e-12);
    const SolveResult *free = solve(&one, &file.problem), *other = solve(&two, &dense.problem);
    assert_solved(free, "free");
    assert_solved(other, "dense");
    ck_assert_double_le(
        largest_difference(free->answer.v, other->answer.v, file.problem.velocity_count), 1e-10);
    problem_build_deinit(&dense);
    run_deinit(&one);
    run_deinit(&two);
    problem_file_close(&file);
}
END_TEST

// ---- uniqueness

// Twelve contacts under three boxes, listed in reverse and started from random impulses.
START_TEST(velocities_do_not_depend_on_order_or_start) {
    ProblemFile file;
    ProblemBuild build;
    Run one, two;
    double warm[3 * 12];
    uint64_t state = 7 + (uint64_t)_i;
    problem_file_open(&file, "stack-3");
    problem_build_init(&build);
    run_init(&one);
    run_init(&two);
    set(&one, "tolerance", 1e-12);
    set(&two, "tolerance", 1e-12);
    ContactProblem turned = file.problem;
    uint32_t count = turned.contact_count;
    ck_assert_uint_eq(count, 12);
    for (uint32_t i = 0; i < count; i++) {
        build.contact[i] = file.problem.contact[count - 1 - i];
        build.law[i] = file.problem.law[count - 1 - i];
        for (int k = 0; k < 3; k++) {
            warm[3 * i + (uint32_t)k] = (k == 0) + 0.5 * problem_build_random(&state);
        }
    }
    turned.contact = build.contact;
    turned.law = build.law;
    turned.warm_contact = warm;
    const SolveResult *first = solve(&one, &file.problem), *second = solve(&two, &turned);
    assert_solved(first, "as listed");
    assert_solved(second, "in reverse");
    ck_assert_double_le(
        largest_difference(first->answer.v, second->answer.v, turned.velocity_count), 1e-10);
    run_deinit(&one);
    run_deinit(&two);
    problem_build_deinit(&build);
    problem_file_close(&file);
}
END_TEST

START_TEST(the_answer_is_a_start_that_needs_no_step) {
    ProblemFile file;
    Run one, two;
    problem_file_open(&file, "pile-125");
    run_init(&one);
    run_init(&two);
    set(&one, "tolerance", 1e-9);
    set(&two, "tolerance", 1e-6);
    set(&one, "method", _i);
    set(&two, "method", _i);
    const SolveResult *cold = solve(&one, &file.problem);
    ContactProblem warm = file.problem;
    warm.warm_contact = cold->answer.contact_impulse;
    const SolveResult *again = solve(&two, &warm);
    assert_solved(again, "warm");
    ck_assert_uint_gt(cold->iterations, 5);
    ck_assert_uint_eq(again->iterations, 0);
    // unless it is not to be used
    set(&two, "warm_start", 0.0);
    ck_assert_uint_gt(solve(&two, &warm)->iterations, 5);
    run_deinit(&one);
    run_deinit(&two);
    problem_file_close(&file);
}
END_TEST

// Six bodies, four of them bearing on others, in kilograms and in units of 2^60 kg.
START_TEST(the_unit_of_mass_changes_no_bit) {
    const double unit = 0x1p-60;
    ProblemBuild build[2];
    Run run[2];
    const SolveResult *result[2];
    for (int i = 0; i < 2; i++) {
        uint64_t state = 77;
        problem_build_init(&build[i]);
        problem_build_random_bodies(&build[i], &state, 6, 14);
        run_init(&run[i]);
        set(&run[i], "method", (double)_i);
        set(&run[i], "tolerance", 1e-10);
    }
    for (uint32_t i = 0; i < build[1].problem.tree_count; i++) {
        FreeMass *of = &build[1].free[i];
        const Sym3 a = of->inertia;
        *of = problem_free_mass(unit * of->mass, (Sym3){unit * a.xx, unit * a.yy, unit * a.zz,
                                                        unit * a.xy, unit * a.xz, unit * a.yz});
    }
    for (int i = 0; i < 2; i++) {
        result[i] = solve(&run[i], &build[i].problem);
        assert_solved(result[i], i == 0 ? "kilograms" : "other units");
    }
    ck_assert_uint_gt(result[0]->iterations, 1);
    ck_assert_uint_eq(result[0]->iterations, result[1]->iterations);
    ck_assert_mem_eq(result[0]->answer.v, result[1]->answer.v,
                     build[0].problem.velocity_count * sizeof(double));
    for (size_t i = 0; i < 3 * (size_t)build[0].problem.contact_count; i++) {
        ck_assert_double_eq(unit * result[0]->answer.contact_impulse[i],
                            result[1]->answer.contact_impulse[i]);
    }
    for (int i = 0; i < 2; i++) {
        problem_build_deinit(&build[i]);
        run_deinit(&run[i]);
    }
}
END_TEST

// ---- one contact, whose answer is a formula

// A point with three velocities, n, t1 and t2, on the ground.
static ProblemContact *build_point(ProblemBuild *build, double mass, const double *v_free,
                                   double mu, double gap) {
    const double matrix[9] = {mass, 0.0, 0.0, 0.0, mass, 0.0, 0.0, 0.0, mass};
    const double jacobian[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    problem_build_init(build);
    problem_build_dense(build, 3, matrix, v_free);
    ProblemContact *contact =
        problem_build_contact(build, vec3(0.0, 0.0, 1.0), mu, gap / build->problem.time_step);
    contact->gap = gap;
    problem_build_dense_side(build, contact, 1, 0, jacobian);
    build->law[0].stiffness = PROBLEM_INFINITE_STIFFNESS;
    return contact;
}

// w = |1/m|_F / 3; near-rigid R_n and R_t of it
static double point_weight(double mass) {
    return sqrt(3.0) / (3.0 * mass);
}

#define FOUR_PI_SQUARED 39.47841760435743

// Sliding fast on the ground: gamma_n (R_n + mu^2 R_t) = -v_n + mu |v_t|, where v_n is v*_n +
// gamma_n / m and |v_t| is |v*_t| - mu gamma_n / m: it lifts off.
START_TEST(a_fast_sliding_point_lifts_off_by_its_formula) {
    double m = 2.0, mu = 0.4, v_free[3] = {-0.0981, 6.0, -8.0}, w = point_weight(m);
    ProblemBuild build;
    Run run;
    build_point(&build, m, v_free, mu, 0.0);
    run_init(&run);
    set(&run, "tolerance", 1e-13);
    const SolveResult *result = solve(&run, &build.problem);
    assert_solved(result, "sliding");
    double r_n = w / FOUR_PI_SQUARED, r_t = 1e-3 * w, slip = 10.0;
    double gamma = (mu * slip - v_free[0]) / (r_n + mu * mu * r_t + (1.0 + mu * mu) / m);
    const double *v = result->answer.v;
    ck_assert_double_eq_tol(v[0], v_free[0] + gamma / m, 1e-13);
    ck_assert_double_eq_tol(v[1], 0.6 * (slip - mu * gamma / m), 1e-12);
    ck_assert_double_eq_tol(v[2], -0.8 * (slip - mu * gamma / m), 1e-12);
    ck_assert_double_gt(v[0], 2.0);
    // which is said: mu times the slip, but for what friction creeps by, of the one contact
    double creep = slip - mu * gamma / m - r_t * mu * gamma;
    ck_assert_double_eq_tol(result->launch.speed, mu * creep, 1e-12);
    ck_assert_int_eq(result->launch.contact, 0);
    // it was on the ground, and is as high as it rose in the step
    ck_assert_double_eq_tol(result->launch.height, 0.01 * v[0], 1e-14);
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

// Lagged friction: the normal impulse alone, and mu times that of the step before against the slip.
START_TEST(lagged_friction_does_not_lift_off) {
    double m = 2.0, mu = 0.4, v_free[3] = {-0.0981, 6.0, -8.0};
    double warm[3] = {0.5 * (double)_i, 0.0, 0.0};
    ProblemBuild build;
    Run run;
    build_point(&build, m, v_free, mu, 0.0);
    build.problem.warm_contact = warm;
    run_init(&run);
    set(&run, "tolerance", 1e-13);
    set(&run, "friction", SAP_LAGGED);
    set(&run, "warm_start", 0.0); // bounds friction all the same
    const SolveResult *result = solve(&run, &build.problem);
    assert_solved(result, "lagged");
    double r_n = point_weight(m) / FOUR_PI_SQUARED, gamma = -v_free[0] / (r_n + 1.0 / m);
    double slip = 10.0 - mu * warm[0] / m;
    const double *v = result->answer.v;
    ck_assert_double_eq_tol(v[0], v_free[0] + gamma / m, 1e-14);
    ck_assert_double_eq_tol(v[1], 0.6 * slip, 1e-12);
    ck_assert_double_eq_tol(v[2], -0.8 * slip, 1e-12);
    ck_assert_double_lt(v[0], 0.0);
    // the bound is another than the cone: it is reported, and it is not what was claimed
    ck_assert(_i == 0 || result->certificate.entry[CERTIFICATE_CONE] > 1e-3);
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

// An overlap that only the regularisation resists leaves as its bias says, a spring by its law.
START_TEST(recovery_is_bounded_where_a_contact_is_near_rigid) {
    double m = 1.0, v_free[3] = {0.0, 0.0, 0.0}, gap = -0.02, h = 0.01, tau = 0.01;
    double w = point_weight(m), r_rigid = w / FOUR_PI_SQUARED;
    ProblemBuild build;
    Run run;
    ProblemContact *contact = build_point(&build, m, v_free, 0.5, gap);
    run_init(&run);
    set(&run, "tolerance", 1e-13);
    contact->bias = -0.3;
    const SolveResult *result = solve(&run, &build.problem);
    ck_assert_double_eq_tol(result->answer.v[0], 0.3 / (1.0 + m * r_rigid), 1e-14);

    // stiff, and not: 1 / (h k (h + tau)) is 1/3 of the other, and 500 times as much
    build.law[0].dissipation_time = tau;
    build.law[0].stiffness = 3.0 / (h * (h + tau) * r_rigid);
    result = solve(&run, &build.problem);
    ck_assert_double_eq_tol(result->answer.v[0], 0.3 / (1.0 + m * r_rigid), 1e-14);
    double soft = 500.0 * r_rigid;
    build.law[0].stiffness = 1.0 / (h * (h + tau) * soft);
    result = solve(&run, &build.problem);
    ck_assert_double_eq_tol(result->answer.v[0], -gap / (h + tau) / (1.0 + m * soft), 1e-13);
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

START_TEST(a_default_stiffness_is_for_contacts_without_one) {
    double m = 1.0, v_free[3] = {-1.0, 0.0, 0.0}, h = 0.01, k = 200.0;
    ProblemBuild build;
    Run run;
    build_point(&build, m, v_free, 0.5, 0.0);
    run_init(&run);
    set(&run, "tolerance", 1e-13);
    set(&run, "stiffness_default", k);
    double soft = 1.0 / (h * k * h), stiff = point_weight(m) / FOUR_PI_SQUARED;
    ck_assert_double_eq_tol(solve(&run, &build.problem)->answer.v[0], -1.0 + 1.0 / (1.0 + m * soft),
                            1e-14);
    build.law[0].stiffness = 2.0 * k;
    ck_assert_double_eq_tol(solve(&run, &build.problem)->answer.v[0],
                            -1.0 + 1.0 / (1.0 + 0.5 * m * soft), 1e-14);
    set(&run, "stiffness_default", 0.0);
    build.law[0].stiffness = PROBLEM_INFINITE_STIFFNESS;
    ck_assert_double_eq_tol(solve(&run, &build.problem)->answer.v[0],
                            -1.0 + 1.0 / (1.0 + m * stiff), 1e-14);
    // a spring of no stiffness is no contact
    build.law[0].stiffness = 0.0;
    ck_assert_double_eq(solve(&run, &build.problem)->answer.v[0], -1.0);
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

// ---- rows

typedef struct RowCase {
    ProblemRow row;
    double v; // wanted, of mass 2 whose v* is 1
} RowCase;

// w = 1/2, h = 0.01; R near-rigid = 0.01 w / 4 pi^2 with row_beta = 0.1
#define NEAR_RIGID (0.01 * 0.5 / FOUR_PI_SQUARED)

static const RowCase row_cases[] = {
    // a bilateral position row: v + gap/(h + tau) + R r = 0, v = 1 + r/2, R = 1/(h k (h + tau))
    {{.is_position = true,
      .low = -HUGE_VAL,
      .high = HUGE_VAL,
      .gap = 0.004,
      .stiffness = 5000.0,
      .dissipation_time = 0.01},
     1.0 - (1.0 + 0.2) / (1.0 + 2.0 * 1.0)},
    // the same, so stiff that row_beta rules
    {{.is_position = true,
      .low = -HUGE_VAL,
      .high = HUGE_VAL,
      .gap = 0.004,
      .stiffness = 1e12,
      .dissipation_time = 0.01},
     1.0 - (1.0 + 0.2) / (1.0 + 2.0 * NEAR_RIGID)},
    // a limit that is far, one that is overrun, and one whose bias lets it come back more slowly
    {{.is_position = true,
      .low = 0.0,
      .high = HUGE_VAL,
      .gap = 1.0,
      .bias = 100.0,
      .stiffness = HUGE_VAL},
     1.0},
    {{.is_position = true,
      .low = 0.0,
      .high = HUGE_VAL,
      .gap = -0.03,
      .bias = -3.0,
      .stiffness = HUGE_VAL},
     1.0 + (3.0 - 1.0) / (1.0 + 2.0 * NEAR_RIGID)},
    {{.is_position = true,
      .low = 0.0,
      .high = HUGE_VAL,
      .gap = -0.03,
      .bias = -2.0,
      .stiffness = HUGE_VAL},
     1.0 + (2.0 - 1.0) / (1.0 + 2.0 * NEAR_RIGID)},
    // a motor to v = -2, strong enough and not; its stiffness does not count
    {{.low = -10.0, .high = 10.0, .bias = 2.0}, 1.0 - 3.0 / (1.0 + 2.0 * NEAR_RIGID)},
    {{.low = -1.0, .high = 1.0, .bias = 2.0}, 0.5},
    // a compliance of its own, also of nothing, with the bias as given
    {{.is_position = true,
      .low = -HUGE_VAL,
      .high = HUGE_VAL,
      .gap = 0.5,
      .bias = 0.1,
      .has_compliance = true,
      .compliance = 0.25},
     1.0 - 1.1 / (1.0 + 2.0 * 0.25)},
    {{.low = -HUGE_VAL, .high = HUGE_VAL, .bias = 0.1, .has_compliance = true}, -0.1},
};

START_TEST(rows_obey_their_law) {
    const RowCase *wanted = &row_cases[_i];
    const double mass = 2.0, v_free = 1.0, jacobian = 1.0;
    ProblemBuild build;
    Run run;
    problem_build_init(&build);
    problem_build_dense(&build, 1, &mass, &v_free);
    ProblemRow *row = problem_build_row(&build, 0.0, 0.0, 0.0);
    problem_build_block(&build, 0, &jacobian);
    const ProblemRow blocks = *row;
    *row = wanted->row;
    row->block_first = blocks.block_first;
    row->block_count = blocks.block_count;
    run_init(&run);
    // an R of nothing is one of 1e-12 w to the solver
    set(&run, "tolerance", 1e-11);
    const SolveResult *result = solve(&run, &build.problem);
    assert_solved(result, "row");
    ck_assert_double_eq_tol(result->answer.v[0], wanted->v, 1e-11);
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

// ---- its limit: the convex relaxation

typedef struct Limit {
    ProblemFile file;
    Run run;
    ProblemContact *contact;
    ContactLaw *law;
    ProblemRow *row;
    double wanted[VELOCITIES_MAX];
    size_t count;
} Limit;

// The problem made rigid, with the targets of its biases.
static void limit_open(Limit *limit, const char *name) {
    problem_file_open(&limit->file, name);
    run_init(&limit->run);
    ContactProblem *problem = &limit->file.problem;
    Arena *arena = &limit->file.arena;
    limit->contact = arena_take_array(arena, problem->contact_count, sizeof(ProblemContact));
    limit->law = arena_take_array(arena, problem->contact_count, sizeof(ContactLaw));
    limit->row = arena_take_array(arena, problem->row_count, sizeof(ProblemRow));
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        limit->contact[i] = problem->contact[i];
        limit->contact[i].gap = problem->contact[i].bias * problem->time_step;
        limit->law[i] = (ContactLaw){.stiffness = PROBLEM_INFINITE_STIFFNESS};
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        limit->row[i] = problem->row[i];
        limit->row[i].stiffness = HUGE_VAL;
        limit->row[i].dissipation_time = 0.0;
    }
    problem->contact = limit->contact;
    problem->law = limit->law;
    problem->row = limit->row;
    const json_t *answer = problem_file_answer(&limit->file, "ccp");
    ck_assert_ptr_nonnull(answer);
    limit->count =
        problem_file_numbers(json_object_get(answer, "v"), limit->wanted, VELOCITIES_MAX);
    ck_assert_uint_eq(limit->count, problem->velocity_count);
}

static double limit_error(Limit *limit, double beta, double sigma) {
    set(&limit->run, "beta", beta);
    set(&limit->run, "row_beta", beta);
    set(&limit->run, "sigma", sigma);
    set(&limit->run, "tolerance", 1e-10);
    set(&limit->run, "max_iterations", 10000);
    const SolveResult *result = solve(&limit->run, &limit->file.problem);
    assert_solved(result, "limit");
    return largest_difference(result->answer.v, limit->wanted, limit->count) /
           largest(limit->wanted, limit->count, 1.0);
}

static const char *const limits[] = {"one-ball", "two-balls", "joint",           "limit-motor",
                                     "trees",    "random-0",  "random-3",        "random-7",
                                     "stack-3",  "wedge",     "ten-boxes-pushed"};

// R as a share of w is sigma of friction and beta^2 / 4 pi^2 of the normal: with both a hundredth,
// what is left is a hundredth: order one.
START_TEST(it_tends_to_the_convex_relaxation) {
    Limit limit;
    limit_open(&limit, limits[_i]);
    double first = limit_error(&limit, 1e-3, 1e-6), second = limit_error(&limit, 1e-4, 1e-8);
    // the files are certain to 1e-8, or 1e-7
    double certain = _i < 9 ? 1e-8 : 1e-7;
    ck_assert_msg(second <= 0.02 * first + certain, "%s: %g, then %g", limits[_i], first, second);
    ck_assert_double_le(second, 1e-5);
    run_deinit(&limit.run);
    problem_file_close(&limit.file);
}
END_TEST

// ---- what it says of itself

// g . A^-1 g / 2 of g = J^T (gamma - gamma(v)), from what the answer declares.
static double gap_of(const ContactProblem *problem, const Answer *answer) {
    double g[6 * 12] = {0.0}, gap = 0.0;
    ck_assert_uint_le(problem->velocity_count, 6 * 12);
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        const ContactRelation *relation = &answer->contact[i];
        const double target[3] = {relation->shift - relation->bias, 0.0, 0.0};
        double u[3], y[3], rest[3];
        SapLaw law = sap_law_cone(target, relation->normal_compliance, relation->tangent_compliance,
                                  problem->contact[i].mu);
        problem_contact_velocity(problem, i, answer->v, u);
        sap_law_ask(&law, u, y);
        sap_law_impulse(&law, y, rest);
        for (int k = 0; k < 3; k++) {
            rest[k] -= answer->contact_impulse[3 * i + (uint32_t)k];
        }
        problem_contact_momentum(problem, i, rest, g);
    }
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        Vec3 push = vec3_load(g + 6 * i), turn = vec3_load(g + 6 * i + 3);
        const FreeMass *mass = &problem->free[i];
        gap += 0.5 * mass->inverse_mass * vec3_dot(push, push);
        gap += 0.5 * vec3_dot(turn, sym3_mul_vec(mass->inverse_inertia, turn));
    }
    return gap;
}

// The cost is strongly convex with A: half the squared distance from the answer is a lower bound of
// what the bound holds.
START_TEST(the_cost_gap_bounds_the_distance) {
    ProblemBuild build;
    Run exact, early;
    uint64_t state = 5;
    problem_build_init(&build);
    problem_build_random_bodies(&build, &state, 12, 40);
    run_init(&exact);
    run_init(&early);
    set(&exact, "tolerance", 1e-12);
    set(&early, "max_iterations", 1 + _i);
    const SolveResult *wanted = solve(&exact, &build.problem),
                      *result = solve(&early, &build.problem);
    assert_solved(wanted, "exact");
    ck_assert(!result->certificate.converged);
    double distance = 0.0;
    for (uint32_t i = 0; i < build.problem.tree_count; i++) {
        const FreeMass *mass = &build.problem.free[i];
        const double *a = wanted->answer.v + 6 * i, *b = result->answer.v + 6 * i;
        Vec3 d = vec3_sub(vec3_load(a), vec3_load(b)),
             spin = vec3_sub(vec3_load(a + 3), vec3_load(b + 3));
        distance += 0.5 * mass->mass * vec3_dot(d, d);
        distance += 0.5 * vec3_dot(spin, sym3_mul_vec(mass->inertia, spin));
    }
    ck_assert_double_gt(distance, 1e-9);
    ck_assert_double_ge(result->cost_gap, distance);
    // differences of velocities over R, and their squares: a relative 1e-12 or better
    double gap = gap_of(&build.problem, &result->answer);
    ck_assert_double_eq_tol(result->cost_gap, gap, 1e-10 * gap);
    run_deinit(&exact);
    run_deinit(&early);
    problem_build_deinit(&build);
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

static TCase *case_problems(void) {
    TCase *tcase = tcase_create("problems");
    tcase_add_loop_test(tcase, problems_are_answered, 0, COUNT(answered));
    tcase_add_loop_test(tcase, hard_problems_are_solved_from_nothing, 0, COUNT(others));
    tcase_add_test(tcase, dense_trees_are_as_free_bodies);
    tcase_add_loop_test(tcase, velocities_do_not_depend_on_order_or_start, 0, 4);
    tcase_add_loop_test(tcase, the_answer_is_a_start_that_needs_no_step, SAP_AUTO, SAP_NEWTON + 1);
    tcase_add_loop_test(tcase, the_unit_of_mass_changes_no_bit, SAP_AUTO, SAP_NEWTON + 1);
    tcase_add_loop_test(tcase, it_tends_to_the_convex_relaxation, 0, COUNT(limits));
    return tcase;
}

static TCase *case_formulas(void) {
    TCase *tcase = tcase_create("formulas");
    tcase_add_test(tcase, a_fast_sliding_point_lifts_off_by_its_formula);
    tcase_add_loop_test(tcase, lagged_friction_does_not_lift_off, 0, 2);
    tcase_add_test(tcase, recovery_is_bounded_where_a_contact_is_near_rigid);
    tcase_add_test(tcase, a_default_stiffness_is_for_contacts_without_one);
    tcase_add_loop_test(tcase, rows_obey_their_law, 0, COUNT(row_cases));
    return tcase;
}

static TCase *case_report(void) {
    TCase *tcase = tcase_create("report");
    tcase_add_loop_test(tcase, the_cost_gap_bounds_the_distance, 0, 3);
    run_add_reports(tcase);
    return tcase;
}

SUITE_MAIN("solve/sap", case_problems, case_formulas, case_report)
