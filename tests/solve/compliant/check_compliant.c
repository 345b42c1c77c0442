// SPDX-License-Identifier: MIT
// The solver compliant: every shared problem, closed forms of its laws, its limits,
// and what it says of itself.
#include "solve/compliant/compliant.h"

#include "support/problem_build.h"
#define RUN_SOLVER SOLVER_COMPLIANT
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
    set(&run, "tangential_damping", 1e4);
    const json_t *answer = problem_file_answer(&file, "compliant");
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

// In Newton steps, most of them on the path where friction holds what nearly slides.
START_TEST(hard_problems_are_solved_from_nothing) {
    ProblemFile file;
    Run run;
    problem_file_open(&file, others[_i]);
    run_init(&run);
    set(&run, "tolerance", 1e-9);
    set(&run, "stiffness_default", 1e9);
    assert_solved(solve(&run, &file.problem), others[_i]);
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
    set(&one, "tangential_damping", 1e4);
    set(&two, "tangential_damping", 1e4);
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

// ---- one contact, whose answer is a formula

// A point with three velocities, n, t1 and t2, on the ground; h = 0.01.
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

static void give_spring(ProblemBuild *build, double stiffness, double damping) {
    build->law[0].stiffness = stiffness;
    build->law[0].damping = damping;
    build->law[0].force = -stiffness * build->contact[0].gap;
}

// gamma_n = (F0 h - h (h K + B) v*_n) / (1 + z / m), z = h^2 K + h B. Sliding, friction is mu
// gamma_n against the slip, and nothing is thrown: v_n is that of mu = 0.
START_TEST(a_sliding_point_does_not_lift_off) {
    double m = 2.0, mu = 0.4, v_free[3] = {-0.0981, 6.0, -8.0}, h = 0.01, gap = -1e-4;
    double k = 3e4, b = 50.0, z = h * h * k + h * b;
    ProblemBuild build;
    Run run;
    build_point(&build, m, v_free, mu, gap);
    give_spring(&build, k, b);
    run_init(&run);
    set(&run, "tolerance", 1e-13);
    const SolveResult *result = solve(&run, &build.problem);
    assert_solved(result, "sliding");
    double gamma = (-h * k * gap - z * v_free[0]) / (1.0 + z / m), slip = 10.0;
    const double *v = result->answer.v;
    ck_assert_double_eq_tol(v[0], v_free[0] + gamma / m, 1e-13);
    ck_assert_double_eq_tol(v[1], 0.6 * (slip - mu * gamma / m), 1e-12);
    ck_assert_double_eq_tol(v[2], -0.8 * (slip - mu * gamma / m), 1e-12);
    // Coulomb: the natural map is that of the compliance alone
    ck_assert_double_le(result->certificate.velocity[CERTIFICATE_MDP], 1e-12);
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

// What holds creeps at its force over B_t: v_t (m + h B_t) = m v*_t.
START_TEST(friction_that_holds_creeps_by_its_damper) {
    double m = 2.0, v_free[3] = {-0.0981, 0.003, 0.004}, h = 0.01, damping = 1e5;
    ProblemBuild build;
    Run run;
    build_point(&build, m, v_free, 0.8, 0.0);
    give_spring(&build, 1e9, 0.0);
    run_init(&run);
    set(&run, "tolerance", 1e-14);
    set(&run, "tangential_damping", damping);
    const double *v = solve(&run, &build.problem)->answer.v;
    ck_assert_double_eq_tol(v[1], m * 0.003 / (m + h * damping), 1e-17);
    ck_assert_double_eq_tol(v[2], m * 0.004 / (m + h * damping), 1e-17);
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

// However deep it is, a spring gives back what it holds; where there is none, recovery is bounded
// by the contact's bias, as under the rigid models.
START_TEST(a_default_stiffness_is_for_contacts_without_one) {
    double m = 1.0, v_free[3] = {-1.0, 0.0, 0.0}, h = 0.01, k = 200.0;
    ProblemBuild build;
    Run run;
    ProblemContact *contact = build_point(&build, m, v_free, 0.5, 0.0);
    run_init(&run);
    set(&run, "tolerance", 1e-13);
    set(&run, "stiffness_default", k);
    double z = h * h * k;
    ck_assert_double_eq_tol(solve(&run, &build.problem)->answer.v[0], -1.0 / (1.0 + z / m), 1e-14);
    give_spring(&build, 2.0 * k, 0.0);
    ck_assert_double_eq_tol(solve(&run, &build.problem)->answer.v[0], -1.0 / (1.0 + 2.0 * z / m),
                            1e-14);
    // an overlap of 1 cm: 1 m/s of the spring, 0.3 of the bias
    contact->gap = -0.01;
    contact->bias = -0.3;
    give_spring(&build, 2.0 * k, 0.0);
    ck_assert_double_eq_tol(solve(&run, &build.problem)->answer.v[0],
                            (-1.0 + 2.0 * z / m) / (1.0 + 2.0 * z / m), 1e-14);
    build.law[0].stiffness = PROBLEM_INFINITE_STIFFNESS;
    ck_assert_double_eq_tol(solve(&run, &build.problem)->answer.v[0],
                            (-1.0 + 0.3 * z / m) / (1.0 + z / m), 1e-14);
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

START_TEST(what_has_no_spring_is_refused_by_its_key) {
    double v_free[3] = {-1.0, 0.0, 0.0}, along[3] = {1.0, 0.0, 0.0};
    ProblemBuild build;
    Run run;
    build_point(&build, 1.0, v_free, 0.5, 0.0);
    run_init(&run);
    ck_assert_int_eq(solver_solve(&run.settings, &build.problem, &(Context){0}, &run.arena,
                                  &run.result, &run.error),
                     STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(run.error.field, "contacts[0].stiffness");
    give_spring(&build, 1e5, 0.0);
    ProblemRow *row = problem_build_row(&build, -HUGE_VAL, HUGE_VAL, 0.0);
    problem_build_block(&build, 0, along);
    row->is_position = true;
    row->stiffness = HUGE_VAL;
    ck_assert_int_eq(solver_solve(&run.settings, &build.problem, &(Context){0}, &run.arena,
                                  &run.result, &run.error),
                     STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(run.error.field, "rows[0].stiffness");
    row->stiffness = 1e5;
    assert_solved(solve(&run, &build.problem), "with springs");
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

// Two thirds of a millimetre above the ground, which it would pass in this step.
START_TEST(contact_activation_waits_for_the_overlap) {
    double v_free[3] = {-1.0, 0.1, 0.0};
    ProblemBuild build;
    Run run;
    ProblemContact *contact = build_point(&build, 1.0, v_free, 0.5, 1e-3);
    give_spring(&build, 1e8, 0.0);
    run_init(&run);
    // 1e-3 / 0.01 is the speed that brings it to the ground
    ck_assert_double_eq_tol(solve(&run, &build.problem)->answer.v[0], -0.1, 1e-3);
    set(&run, "activation", COMPLIANT_CONTACT);
    const SolveResult *result = solve(&run, &build.problem);
    assert_solved(result, "falling");
    ck_assert_double_eq(result->answer.v[0], -1.0);
    ck_assert_double_eq(result->answer.v[1], 0.1);
    contact->gap = 0.0;
    give_spring(&build, 1e8, 0.0);
    ck_assert_double_eq_tol(solve(&run, &build.problem)->answer.v[0], 0.0, 1e-3);
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

// ---- rows

typedef struct RowCase {
    ProblemRow row;
    double v; // wanted, of mass 2 whose v* is 1; h = 0.01
} RowCase;

static const RowCase row_cases[] = {
    // a spring: v (2 + h (h K + B)) = 2 - h K gap
    {{.is_position = true,
      .low = -HUGE_VAL,
      .high = HUGE_VAL,
      .gap = 0.004,
      .stiffness = 5000.0,
      .damping = 150.0},
     (2.0 - 0.2) / (2.0 + 2.0)},
    // a limit that is far, and one that is overrun
    {{.is_position = true, .low = 0.0, .high = HUGE_VAL, .gap = 1.0, .stiffness = 1e6}, 1.0},
    {{.is_position = true, .low = 0.0, .high = HUGE_VAL, .gap = -0.03, .stiffness = 1e4},
     (2.0 + 3.0) / (2.0 + 1.0)},
    // a motor to v = -2, strong enough and not; its stiffness does not count
    {{.low = -10.0, .high = 10.0, .bias = 2.0, .damping = 100.0, .stiffness = 1e9},
     (2.0 - 2.0) / (2.0 + 1.0)},
    {{.low = -1.0, .high = 1.0, .bias = 2.0, .damping = 1e4}, 0.5},
    // a compliance of its own, with the bias as given
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
    // an R of nothing is one of 1e-15 w to the solver
    set(&run, "tolerance", 1e-12);
    const SolveResult *result = solve(&run, &build.problem);
    assert_solved(result, "row");
    ck_assert_double_eq_tol(result->answer.v[0], wanted->v, 1e-12);
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

// Six rows on three velocities, each axis twice, with a stiffness up to that of nothing on earth: v
// is (m v* - 2 h K gap) / (m + 2 z), to the last digits at every z = h^2 K (in forces, whose
// condition is z / m, nothing would be left at 1e14).
START_TEST(velocities_keep_their_digits) {
    const double stiffness[] = {1e10, 1e14, 1e16, 1e18};
    const double mass[9] = {2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 5.0};
    const double v_free[3] = {1.0, -2.0, 0.7}, gap[3] = {1e-3, -2e-3, 0.3};
    double k = stiffness[_i], h = 0.01;
    ProblemBuild build;
    Run run;
    problem_build_init(&build);
    problem_build_dense(&build, 3, mass, v_free);
    for (int i = 0; i < 6; i++) {
        double along[3] = {0.0};
        along[i / 2] = 1.0;
        ProblemRow *row = problem_build_row(&build, -HUGE_VAL, HUGE_VAL, 0.0);
        problem_build_block(&build, 0, along);
        row->is_position = true;
        row->gap = gap[i / 2];
        row->stiffness = k;
    }
    run_init(&run);
    set(&run, "tolerance", 1e-14);
    const SolveResult *result = solve(&run, &build.problem);
    assert_solved(result, "six rows");
    for (size_t a = 0; a < 3; a++) {
        double m = mass[4 * a];
        double wanted = (m * v_free[a] - 2.0 * h * k * gap[a]) / (m + 2.0 * h * h * k);
        // some roundings of what meets in the sums
        ck_assert_double_eq_tol(result->answer.v[a], wanted,
                                1e-15 * (fabs(gap[a] / h) + fabs(v_free[a])));
    }
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

// ---- its limit: exact Coulomb friction

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
        limit->row[i].damping = 0.0;
    }
    problem->contact = limit->contact;
    problem->law = limit->law;
    problem->row = limit->row;
    const json_t *answer = problem_file_answer(&limit->file, "coulomb");
    ck_assert_ptr_nonnull(answer);
    limit->count =
        problem_file_numbers(json_object_get(answer, "v"), limit->wanted, VELOCITIES_MAX);
    ck_assert_uint_eq(limit->count, problem->velocity_count);
}

static double limit_error(Limit *limit, double stiffness) {
    set(&limit->run, "stiffness_default", stiffness);
    set(&limit->run, "tangential_damping", 0.01 * stiffness);
    set(&limit->run, "tolerance", 1e-12);
    const SolveResult *result = solve(&limit->run, &limit->file.problem);
    assert_solved(result, "limit");
    return largest_difference(result->answer.v, limit->wanted, limit->count) /
           largest(limit->wanted, limit->count, 1.0);
}

static const char *const limits[] = {"one-ball", "two-balls", "frictionless", "joint",
                                     "trees",    "random-0",  "random-3",     "random-7"};

// All R are a share 1 / (h^2 K): with K a hundred times as large, what is left is a hundredth:
// order one. Friction of at most 0.7 on few contacts has one answer.
START_TEST(it_tends_to_coulomb) {
    Limit limit;
    limit_open(&limit, limits[_i]);
    double soft = limit_error(&limit, 1e8), stiff = limit_error(&limit, 1e10);
    ck_assert_msg(stiff <= 0.011 * soft + 1e-12, "%s: %g, then %g", limits[_i], soft, stiff);
    // the shift of a contact pushed by 1 N s is a few R
    ck_assert_double_le(stiff, 1e-5);
    run_deinit(&limit.run);
    problem_file_close(&limit.file);
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

static TCase *case_problems(void) {
    TCase *tcase = tcase_create("problems");
    tcase_add_loop_test(tcase, problems_are_answered, 0, COUNT(answered));
    tcase_add_loop_test(tcase, hard_problems_are_solved_from_nothing, 0, COUNT(others));
    tcase_add_test(tcase, dense_trees_are_as_free_bodies);
    tcase_add_loop_test(tcase, velocities_do_not_depend_on_order_or_start, 0, 4);
    tcase_add_test(tcase, the_answer_is_a_start_that_needs_no_step);
    tcase_add_loop_test(tcase, it_tends_to_coulomb, 0, COUNT(limits));
    return tcase;
}

static TCase *case_formulas(void) {
    TCase *tcase = tcase_create("formulas");
    tcase_add_test(tcase, a_sliding_point_does_not_lift_off);
    tcase_add_test(tcase, friction_that_holds_creeps_by_its_damper);
    tcase_add_test(tcase, a_default_stiffness_is_for_contacts_without_one);
    tcase_add_test(tcase, what_has_no_spring_is_refused_by_its_key);
    tcase_add_test(tcase, contact_activation_waits_for_the_overlap);
    tcase_add_loop_test(tcase, rows_obey_their_law, 0, COUNT(row_cases));
    tcase_add_loop_test(tcase, velocities_keep_their_digits, 0, 4);
    return tcase;
}

static TCase *case_report(void) {
    TCase *tcase = tcase_create("report");
    run_add_reports(tcase);
    return tcase;
}

SUITE_MAIN("solve/compliant", case_problems, case_formulas, case_report)
