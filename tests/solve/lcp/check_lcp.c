// SPDX-License-Identifier: MIT
#include "solve/lcp/lcp.h"
#include "solve/solver.h"

#include "support/campaign.h"
#include "support/problem_build.h"
#include "support/problem_file.h"
#include "support/suite.h"

#include <string.h>

typedef struct Run {
    Arena arena;
    SolverSettings settings;
    SolveResult result;
    Error error;
} Run;

static void run_init(Run *run) {
    *run = (Run){.settings = solver_solve_default(SOLVER_LCP)};
    arena_init(&run->arena, (size_t)1 << 29);
    ck_assert_int_eq(solver_set(&run->settings, "tolerance", 1e-9, NULL), STATUS_OK);
}

static void run_deinit(Run *run) {
    arena_deinit(&run->arena);
}

static Status try_solve(Run *run, const ContactProblem *problem, const Stop *stop) {
    const Context context = {.stop = stop};
    return solver_solve(&run->settings, problem, &context, &run->arena, &run->result, &run->error);
}

static const SolveResult *solve(Run *run, const ContactProblem *problem) {
    Status status = try_solve(run, problem, NULL);
    ck_assert_msg(status == STATUS_OK, "%s", run->error.message);
    return &run->result;
}

static void assert_solved(const SolveResult *result, const char *name) {
    const Certificate *c = &result->certificate;
    ck_assert_msg(c->converged, "%s: e_mom %g, e_cone %g, e_own %g, rung %d", name,
                  c->entry[CERTIFICATE_MOM], c->entry[CERTIFICATE_CONE], c->entry[CERTIFICATE_OWN],
                  result->rung);
    ck_assert_int_lt(result->rung, LCP_RUNG_UNSOLVED_RAY);
}

static double largest_difference(const double *a, const double *b, size_t count) {
    double largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        double away = fabs(a[i] - b[i]);
        largest = away > largest || away != away ? away : largest;
    }
    return largest;
}

// ---- problems from files

static const char *const public_names[] = {"one-ball", "two-balls",   "stack-3", "random-0",
                                           "random-3", "random-7",    "joint",   "limit-motor",
                                           "trees",    "frictionless"};
enum { PUBLIC_COUNT = sizeof(public_names) / sizeof(public_names[0]) };

START_TEST(every_public_answer_is_found) {
    ProblemFile file;
    Run run;
    run_init(&run);
    problem_file_open(&file, public_names[_i]);
    const SolveResult *result = solve(&run, &file.problem);
    assert_solved(result, public_names[_i]);
    const json_t *answer = problem_file_answer(&file, "polyhedral:8");
    ck_assert_ptr_nonnull(answer);
    double v[64], size = 1.0;
    size_t count = file.problem.velocity_count;
    ck_assert_uint_eq(problem_file_numbers(json_object_get(answer, "v"), v, 64), count);
    for (size_t i = 0; i < count; i++) {
        size = fabs(v[i]) > size ? fabs(v[i]) : size;
    }
    double tolerance = json_number_value(json_object_get(answer, "tolerance"));
    ck_assert_double_le(largest_difference(result->answer.v, v, count), tolerance * size);
    run_deinit(&run);
    problem_file_close(&file);
}
END_TEST

// Redundant contacts (ten boxes touch in four corners each), sliding ones with mu 1.5, a mass ratio
// of 1e4: all by Lemke's algorithm as it is, to rounding. The rounding of impulses is that of the
// largest: with the mass ratio 1e4 times more.
START_TEST(engine_problems_are_solved_to_rounding) {
    static const char *const names[] = {"column-20", "ten-boxes", "ten-boxes-pushed", "wedge",
                                        "mass-ratio-1e4"};
    ProblemFile file;
    Run run;
    run_init(&run);
    problem_file_open(&file, names[_i]);
    const SolveResult *result = solve(&run, &file.problem);
    assert_solved(result, names[_i]);
    ck_assert_int_eq(result->rung, LCP_RUNG_LEMKE);
    ck_assert_double_le(result->certificate.entry[CERTIFICATE_OWN], 1e-11);
    run_deinit(&run);
    problem_file_close(&file);
}
END_TEST

// ---- random problems, of which every one has a solution: at rest nothing is violated

typedef struct Kind {
    double mu;       // < 0: as they come, 0 … 0.8
    double gap;      // of biases, as a share of random ones
    bool is_falling; // all bodies the same way: b is full of exact zeros
    double directions;
} Kind;

static const Kind kinds[] = {{-1.0, 0.0, false, 8}, {0.0, 0.0, false, 8},  {10.0, 0.0, false, 8},
                             {-1.0, 0.0, true, 8},  {1.0, 0.0, true, 4},   {10.0, 0.0, true, 8},
                             {10.0, 1.0, true, 16}, {1.0, 1.0, false, 12}, {0.0, 0.0, true, 8}};
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]), RANDOM_COUNT = 300 };

static void build_random(ProblemBuild *build, const Kind *kind, uint64_t seed) {
    uint64_t state = seed * 7919 + 1;
    uint32_t bodies = 2 + (uint32_t)(seed % 5), contacts = 3 + (uint32_t)(seed / 5 % 10);
    problem_build_init(build);
    problem_build_random_bodies(build, &state, bodies, contacts);
    for (uint32_t i = 0; i < contacts; i++) {
        ProblemContact *contact = &build->contact[i];
        contact->mu = kind->mu < 0.0 ? contact->mu : kind->mu;
        contact->bias = kind->gap * fabs(contact->bias);
    }
    for (uint32_t k = 0; kind->is_falling && k < 6 * bodies; k++) {
        build->v_free[k] = k % 6 == 2 ? -1.0 : 0.0;
    }
}

START_TEST(random_problems_are_solved_by_lemke_alone) {
    uint64_t count = (uint64_t)campaign_count(RANDOM_COUNT);
    for (uint64_t seed = 1; seed <= count; seed++) {
        ProblemBuild build;
        Run run;
        run_init(&run);
        ck_assert_int_eq(solver_set(&run.settings, "directions", kinds[_i].directions, NULL),
                         STATUS_OK);
        build_random(&build, &kinds[_i], seed);
        const SolveResult *result = solve(&run, &build.problem);
        char name[64];
        snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
        assert_solved(result, name);
        ck_assert_int_le(result->rung, LCP_RUNG_LEMKE);
        problem_build_deinit(&build);
        run_deinit(&run);
    }
}
END_TEST

// Velocities are the same in any order of the contacts, and when bodies are dense trees. A problem
// with much friction may have several answers, so these have little.
START_TEST(order_and_kind_of_trees_change_no_velocity) {
    const Kind kind = {0.2, 0.5, _i % 2 == 1, 8};
    ProblemBuild build, dense;
    Run run;
    build_random(&build, &kind, (uint64_t)_i + 1);
    problem_build_init(&dense);
    problem_build_densify(&build.problem, &dense);
    run_init(&run);
    double v[64];
    uint32_t n = build.problem.contact_count, count = build.problem.velocity_count;
    memcpy(v, solve(&run, &build.problem)->answer.v, count * sizeof(double));
    ck_assert_double_le(largest_difference(solve(&run, &dense.problem)->answer.v, v, count), 1e-9);
    for (uint32_t i = 0; i < n / 2; i++) {
        ProblemContact kept = build.contact[i];
        build.contact[i] = build.contact[n - 1 - i];
        build.contact[n - 1 - i] = kept;
    }
    const SolveResult *result = solve(&run, &build.problem);
    assert_solved(result, "reversed");
    ck_assert_double_le(largest_difference(result->answer.v, v, count), 1e-9);
    problem_build_deinit(&build);
    problem_build_deinit(&dense);
    run_deinit(&run);
}
END_TEST

// A contact that slides in any direction: friction is mu c_n along the edge next to it, up to
// pi / k away, so its error is mu c_n times 2 sin(pi / 2k) at most. It is less just between two
// edges, which share it there, and of first order in 1 / k all the same.
START_TEST(friction_is_off_by_half_the_angle_between_edges_at_most) {
    static const double directions[] = {4, 8, 16, 32, 64, 128};
    const double pi = 3.14159265358979323846, k = directions[_i];
    double worst = 0.0;
    for (int i = 0; i <= 1000; i++) {
        double angle = 2.0 * pi * i / 1000.0;
        const double v_free[6] = {3.0 * cos(angle), 3.0 * sin(angle), -1.0, 0.0, 0.0, 0.0};
        ProblemBuild build;
        Run run;
        problem_build_init(&build);
        run_init(&run);
        ck_assert_int_eq(solver_set(&run.settings, "directions", k, NULL), STATUS_OK);
        problem_build_free(&build, 1.0, (Sym3){0.1, 0.1, 0.1, 0.0, 0.0, 0.0}, v_free);
        problem_build_side(problem_build_contact(&build, vec3(0.0, 0.0, 1.0), 0.5, 0.0), 1, 0,
                           vec3(0.0, 0.0, 0.0));
        const double *impulse = solve(&run, &build.problem)->answer.contact_impulse;
        ck_assert_double_eq_tol(impulse[0], 1.0, 1e-12);
        double x = impulse[1] + 0.5 * cos(angle), y = impulse[2] + 0.5 * sin(angle);
        worst = fmax(worst, sqrt(x * x + y * y));
        problem_build_deinit(&build);
        run_deinit(&run);
    }
    double bound = 0.5 * 2.0 * sin(0.5 * pi / k);
    ck_assert_double_le(worst, bound);
    ck_assert_double_ge(worst, 0.75 * bound);
}
END_TEST

START_TEST(an_island_has_the_same_bits_alone) {
    const Kind kind = {0.5, 0.5, false, 8};
    ProblemBuild alone, both;
    Run one, two;
    build_random(&alone, &kind, (uint64_t)_i + 1);
    build_random(&both, &kind, (uint64_t)_i + 1);
    uint64_t state = 99;
    uint32_t bodies = alone.problem.tree_count, contacts = alone.problem.contact_count;
    problem_build_random_bodies(&both, &state, 0, 0);
    for (uint32_t i = 0; i < bodies; i++) { // the same again beside it, and faster
        double v[6];
        for (uint32_t k = 0; k < 6; k++) {
            v[k] = 3.0 * alone.v_free[6 * i + k];
        }
        problem_build_free(&both, alone.free[i].mass, alone.free[i].inertia, v);
    }
    for (uint32_t i = 0; i < contacts; i++) {
        ProblemContact *contact = problem_build_contact(&both, vec3(0.0, 0.0, 1.0), 0.0, 0.0);
        *contact = alone.contact[i];
        for (int s = 0; s < 2; s++) {
            contact->side[s].tree += contact->side[s].tree == PROBLEM_NO_TREE ? 0 : bodies;
        }
    }
    run_init(&one);
    run_init(&two);
    const double *v = solve(&one, &alone.problem)->answer.v;
    const double *w = solve(&two, &both.problem)->answer.v;
    ck_assert_int_eq(memcmp(v, w, 6 * bodies * sizeof(double)), 0);
    problem_build_deinit(&alone);
    problem_build_deinit(&both);
    run_deinit(&one);
    run_deinit(&two);
}
END_TEST

START_TEST(the_answer_itself_is_a_basis_that_needs_no_pivot) {
    static const char *const names[] = {"stack-3", "ten-boxes", "random-3", "limit-motor"};
    ProblemFile file;
    Run first, again;
    run_init(&first);
    run_init(&again);
    problem_file_open(&file, names[_i]);
    const Answer *answer = &solve(&first, &file.problem)->answer;
    file.problem.warm_contact = answer->contact_impulse;
    file.problem.warm_row = answer->row_impulse;
    const SolveResult *result = solve(&again, &file.problem);
    assert_solved(result, names[_i]);
    ck_assert_int_eq(result->rung, LCP_RUNG_BASIS);
    ck_assert_uint_eq(result->iterations, 0);
    ck_assert_double_le(
        largest_difference(result->answer.v, answer->v, file.problem.velocity_count), 1e-10);
    run_deinit(&first);
    run_deinit(&again);
    problem_file_close(&file);
}
END_TEST

// ---- rows

// One velocity, free at v, of mass 2: what a row with these bounds leaves of it. Dry friction is a
// row with two bounds, a motor's effort as well.
START_TEST(rows_have_their_bounds) {
    static const struct {
        double low, high, bias, v_free, v, r;
    } cases[] = {
        {-1.0, 1.0, 0.0, 0.25, 0.0, -0.5},           // dry friction holds
        {-1.0, 1.0, 0.0, 3.0, 2.5, -1.0},            // … and slips
        {-1.0, 1.0, 0.0, -3.0, -2.5, 1.0},           // … the other way
        {-1.0, 4.0, -2.0, 0.0, 2.0, 4.0},            // a motor at 2 m/s, just strong enough
        {-1.0, 1.0, -2.0, 0.0, 0.5, 1.0},            // … and too weak
        {0.0, HUGE_VAL, 0.0, -1.0, 0.0, 2.0},        // a limit
        {0.0, HUGE_VAL, 0.0, 1.0, 1.0, 0.0},         // … out of reach
        {-HUGE_VAL, 0.0, 0.0, 1.0, 0.0, -2.0},       // … from above
        {0.5, HUGE_VAL, 0.0, 1.0, 1.25, 0.5},        // at least 0.5 N s
        {0.5, 0.5, 0.0, 1.0, 1.25, 0.5},             // exactly that
        {-HUGE_VAL, HUGE_VAL, 0.5, 1.0, -0.5, -3.0}, // bilateral
        {-1e12, 1e12, 0.5, 1.0, -0.5, -3.0},         // bounds that say nothing
    };
    const double mass[1] = {2.0}, jacobian[1] = {1.0};
    ProblemBuild build;
    Run run;
    problem_build_init(&build);
    run_init(&run);
    uint32_t tree = problem_build_dense(&build, 1, mass, &cases[_i].v_free);
    problem_build_row(&build, cases[_i].low, cases[_i].high, cases[_i].bias);
    problem_build_block(&build, tree, jacobian);
    const SolveResult *result = solve(&run, &build.problem);
    assert_solved(result, "row");
    ck_assert_double_eq_tol(result->answer.v[0], cases[_i].v, 1e-14 * fmax(1.0, fabs(cases[_i].v)));
    ck_assert_double_eq_tol(result->answer.row_impulse[0], cases[_i].r,
                            1e-14 * fmax(1.0, fabs(cases[_i].r)));
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST
enum { ROW_CASES = 12 };

// So far away that they are taken for none at first: but two rows that nearly contradict each other
// push that hard, up to the bound.
START_TEST(bounds_that_seem_out_of_reach_count_when_they_are_met) {
    static const double unit[4] = {1.0, 0.0, 0.0, 1.0}, free[2] = {0.0, 0.0};
    static const double first[2] = {1.0, 0.0}, nearly[2] = {1.0, 1e-4};
    ProblemBuild build;
    Run run;
    problem_build_init(&build);
    run_init(&run);
    uint32_t tree = problem_build_dense(&build, 2, unit, free);
    problem_build_row(&build, -HUGE_VAL, HUGE_VAL, 0.0);
    problem_build_block(&build, tree, first);
    problem_build_row(&build, -2e6, 2e6, -1.0); // 1e8 N s would be needed
    problem_build_block(&build, tree, nearly);
    const SolveResult *result = solve(&run, &build.problem);
    assert_solved(result, "rows");
    // impulses of 2e6 cancel in the first velocity
    ck_assert_double_eq_tol(result->answer.v[0], 0.0, 1e-8);
    ck_assert_double_eq_tol(result->answer.v[1], 200.0, 1e-9);
    ck_assert_double_eq(result->answer.row_impulse[1], 2e6);
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

static const double unit_rows[3][6] = {{1, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0}, {0, 0, 1, 0, 0, 0}};

// A body that stands on the ground and is held by three rows, each of which is there `times` times.
static void build_held(ProblemBuild *build, int times, double odd) {
    const double v_free[6] = {1.0, 0.5, -1.0, 0.1, 0.2, 0.3};
    problem_build_init(build);
    problem_build_free(build, 2.0, (Sym3){0.1, 0.2, 0.3, 0.0, 0.0, 0.0}, v_free);
    ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.5, 0.0);
    problem_build_side(contact, 1, 0, vec3(0.1, 0.0, -0.5));
    for (int i = 0; i < 2 * times; i++) {
        problem_build_row(build, -HUGE_VAL, HUGE_VAL, i == 0 ? odd : 0.0);
        problem_build_block(build, 0, unit_rows[i % 2]);
    }
}

START_TEST(rows_that_repeat_others_carry_nothing_and_change_nothing) {
    ProblemBuild once, thrice;
    Run one, three;
    build_held(&once, 1, 0.0);
    build_held(&thrice, 3, 0.0);
    run_init(&one);
    run_init(&three);
    const SolveResult *expected = solve(&one, &once.problem),
                      *result = solve(&three, &thrice.problem);
    assert_solved(expected, "once");
    assert_solved(result, "thrice");
    ck_assert_double_le(largest_difference(result->answer.v, expected->answer.v, 6), 1e-14);
    ck_assert_double_le(fabs(expected->answer.v[0]) + fabs(expected->answer.v[1]), 1e-14);
    problem_build_deinit(&once);
    problem_build_deinit(&thrice);
    run_deinit(&one);
    run_deinit(&three);
}
END_TEST

START_TEST(rows_that_contradict_each_other_are_reported) {
    ProblemBuild build;
    Run run;
    build_held(&build, 2, 0.1);
    run_init(&run);
    const SolveResult *result = solve(&run, &build.problem);
    ck_assert(!result->certificate.converged);
    ck_assert_double_gt(result->certificate.velocity[CERTIFICATE_ROW], 0.01);
    ck_assert(numbers_are_finite(result->answer.v, 6));
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

// Two rows with two bounds each and friction of a contact, against the same by mdp.
START_TEST(friction_in_a_joint_stands_beside_friction_of_contacts) {
    ProblemBuild build;
    Run run, other;
    build_held(&build, 1, 0.0);
    for (uint32_t i = 0; i < 2; i++) {
        build.row[i].low = -0.3;
        build.row[i].high = 0.2;
    }
    build.contact[0].mu = 0.0; // where the cones are the same
    run_init(&run);
    run_init(&other);
    other.settings = solver_solve_default(SOLVER_MDP);
    ck_assert_int_eq(solver_set(&other.settings, "tolerance", 1e-13, NULL), STATUS_OK);
    const SolveResult *result = solve(&run, &build.problem), *mdp = solve(&other, &build.problem);
    assert_solved(result, "rows");
    ck_assert_double_le(largest_difference(result->answer.v, mdp->answer.v, 6), 1e-11);
    ck_assert_double_eq_tol(result->answer.row_impulse[0], -0.3, 1e-14);
    problem_build_deinit(&build);
    run_deinit(&run);
    run_deinit(&other);
}
END_TEST

// What covers the violation: all of it at first, nothing in the end, one number for each pivot of
// the longest of several problems one after the other.
START_TEST(history_is_what_lemke_still_covers) {
    ProblemFile file;
    Run run;
    double value[1000];
    IterationHistory history;
    problem_file_open(&file, "wedge");
    run_init(&run);
    history_init(&history, value, 1000);
    const Context context = {.history = &history};
    ck_assert_int_eq(
        solver_solve(&run.settings, &file.problem, &context, &run.arena, &run.result, &run.error),
        STATUS_OK);
    ck_assert_uint_gt(history.count, 100);
    ck_assert_uint_le(history.count, run.result.iterations);
    ck_assert_double_eq_tol(value[0], 1.0, 1e-12);
    ck_assert_double_eq(value[history.count - 1], 0.0);
    run_deinit(&run);
    problem_file_close(&file);
}
END_TEST

// ---- limits and misfortunes

START_TEST(too_many_rows_are_refused_by_name) {
    ProblemFile file;
    Run run;
    run_init(&run);
    problem_file_open(&file, "ten-boxes");
    ck_assert_int_eq(solver_set(&run.settings, "max_rows", 399, NULL), STATUS_OK);
    ck_assert_int_eq(try_solve(&run, &file.problem, NULL), STATUS_RESOURCE_EXHAUSTED);
    ck_assert_str_eq(run.error.field, "parameters.lcp.max_rows");
    ck_assert_ptr_nonnull(strstr(run.error.message, "400 rows, and max_rows of solver lcp is 399"));
    ck_assert_ptr_null(strstr(run.error.message, "memory"));
    ck_assert_int_eq(solver_set(&run.settings, "max_rows", 400, NULL), STATUS_OK);
    assert_solved(solve(&run, &file.problem), "ten-boxes");
    run_deinit(&run);
    problem_file_close(&file);
}
END_TEST

START_TEST(rows_that_are_eliminated_count_as_well) {
    ProblemBuild build;
    Run run;
    build_held(&build, 3, 0.0); // 6 of them, and a contact of 10
    run_init(&run);
    ck_assert_int_eq(solver_set(&run.settings, "max_rows", 15, NULL), STATUS_OK);
    ck_assert_int_eq(try_solve(&run, &build.problem, NULL), STATUS_RESOURCE_EXHAUSTED);
    ck_assert_int_eq(solver_set(&run.settings, "max_rows", 16, NULL), STATUS_OK);
    assert_solved(solve(&run, &build.problem), "held");
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

START_TEST(directions_are_even) {
    SolverSettings settings = solver_default(SOLVER_LCP);
    static const double wrong[] = {2, 7, 8.5, 130, NAN};
    Error error;
    ck_assert_int_eq(solver_set(&settings, "directions", wrong[_i], &error),
                     STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "directions");
    ck_assert_ptr_nonnull(strstr(error.message, "an even number between 4 and 128"));
    ck_assert_int_eq(solver_set(&settings, "directions", 128, NULL), STATUS_OK);
}
END_TEST

// Two walls that come together: nothing holds a body between them.
START_TEST(what_has_no_solution_ends_in_a_ray_and_says_so) {
    const double v_free[6] = {0.0};
    ProblemBuild build;
    Run run;
    problem_build_init(&build);
    problem_build_free(&build, 1.0, (Sym3){0.1, 0.1, 0.1, 0.0, 0.0, 0.0}, v_free);
    problem_build_side(problem_build_contact(&build, vec3(1.0, 0.0, 0.0), 0.5, -1.0), 1, 0,
                       vec3(-0.5, 0.0, 0.0));
    problem_build_side(problem_build_contact(&build, vec3(-1.0, 0.0, 0.0), 0.5, -1.0), 1, 0,
                       vec3(0.5, 0.0, 0.0));
    run_init(&run);
    const SolveResult *result = solve(&run, &build.problem);
    ck_assert_int_eq(result->rung, LCP_RUNG_UNSOLVED_RAY);
    ck_assert(!result->certificate.converged);
    ck_assert(numbers_are_finite(result->answer.v, 6));
    ck_assert_double_ge(result->certificate.velocity[CERTIFICATE_PEN], 0.9);
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

START_TEST(pivots_that_end_are_reported) {
    ProblemFile file;
    Run run;
    run_init(&run);
    problem_file_open(&file, "wedge");
    ck_assert_int_eq(solver_set(&run.settings, "max_iterations", 20, NULL), STATUS_OK);
    const SolveResult *result = solve(&run, &file.problem);
    ck_assert_int_eq(result->rung, LCP_RUNG_UNSOLVED_PIVOTS);
    ck_assert(!result->certificate.converged);
    ck_assert(numbers_are_finite(result->answer.v, file.problem.velocity_count));
    run_deinit(&run);
    problem_file_close(&file);
}
END_TEST

START_TEST(numbers_beyond_all_bounds_end_and_are_reported) {
    static const double sizes[] = {1e200, 1e300, HUGE_VAL, NAN};
    ProblemBuild build;
    Run run;
    build_random(&build, &kinds[0], 3);
    build.v_free[2] = sizes[_i];
    run_init(&run);
    ck_assert(!solve(&run, &build.problem)->certificate.converged);
    problem_build_deinit(&build);
    run_deinit(&run);
}
END_TEST

typedef struct Asked {
    uint64_t times, give_up_at;
} Asked;

static bool asked(void *context) {
    Asked *a = context;
    return ++a->times >= a->give_up_at;
}

// A pivot of ten boxes is 400 x 402 operations where no entry of its column is 0, and there are
// more than 100: that it asks at least every million shows in how often it does.
START_TEST(it_asks_whether_to_stop_and_stops) {
    ProblemFile file;
    Run run;
    problem_file_open(&file, "ten-boxes-pushed");
    Asked count = {.give_up_at = UINT64_MAX};
    const Stop counting = {.asked = asked, .context = &count};
    run_init(&run);
    ck_assert_int_eq(try_solve(&run, &file.problem, &counting), STATUS_OK);
    ck_assert_uint_ge(count.times, 10);
    double v[64];
    memcpy(v, run.result.answer.v, file.problem.velocity_count * sizeof(double));
    for (uint64_t at = 1; at <= count.times; at += 1 + count.times / 20) {
        Asked early = {.give_up_at = at};
        const Stop stopping = {.asked = asked, .context = &early};
        ck_assert_int_eq(try_solve(&run, &file.problem, &stopping), STATUS_ABORTED);
        ck_assert_uint_eq(early.times, at); // and asks no more
    }
    // nothing of it shows
    ck_assert_int_eq(memcmp(v, solve(&run, &file.problem)->answer.v,
                            file.problem.velocity_count * sizeof(double)),
                     0);
    run_deinit(&run);
    problem_file_close(&file);
}
END_TEST

START_TEST(memory_that_ends_is_a_refusal) {
    ProblemFile file;
    problem_file_open(&file, "stack-3");
    Status status = STATUS_RESOURCE_EXHAUSTED;
    int refusals = 0;
    for (size_t bytes = 1024; status != STATUS_OK; bytes += 8192) {
        Run run;
        run_init(&run);
        arena_deinit(&run.arena);
        arena_init(&run.arena, bytes);
        status = try_solve(&run, &file.problem, NULL);
        if (status != STATUS_OK) {
            ck_assert_int_eq(status, STATUS_RESOURCE_EXHAUSTED);
            ck_assert_ptr_nonnull(strstr(run.error.message, "--memory-bytes-max"));
            refusals++;
        }
        run_deinit(&run);
    }
    ck_assert_int_gt(refusals, 10);
    problem_file_close(&file);
}
END_TEST

// Six boxes on each other, nearly at rest, on six contacts each where three would do: what Lemke's
// algorithm is left with are ties that rounding resolves. The proximal points have none, and after
// two or three of them nothing is left of what was added.
START_TEST(more_contacts_than_are_needed_are_solved_by_proximal_points) {
    ProblemFile file;
    Run run;
    problem_file_open(&file, "atlas/pyramid-6-kicked-settled");
    run_init(&run);
    file.problem.warm_contact = _i == 0 ? NULL : file.problem.warm_contact;
    ck_assert_int_eq(try_solve(&run, &file.problem, NULL), STATUS_OK);
    ck_assert_int_eq(run.result.rung, LCP_RUNG_DIAGONAL);
    ck_assert_double_le(run.result.certificate.entry[CERTIFICATE_OWN], 1e-9);
    ck_assert(run.result.certificate.converged);
    run_deinit(&run);
    problem_file_close(&file);
}
END_TEST

static TCase *case_problems(void) {
    TCase *tcase = tcase_create("problems");
    tcase_add_loop_test(tcase, every_public_answer_is_found, 0, PUBLIC_COUNT);
    tcase_add_loop_test(tcase, engine_problems_are_solved_to_rounding, 0, 5);
    tcase_add_loop_test(tcase, random_problems_are_solved_by_lemke_alone, 0, KIND_COUNT);
    tcase_add_loop_test(tcase, more_contacts_than_are_needed_are_solved_by_proximal_points, 0, 2);
    tcase_add_loop_test(tcase, order_and_kind_of_trees_change_no_velocity, 0, 40);
    tcase_add_loop_test(tcase, friction_is_off_by_half_the_angle_between_edges_at_most, 0, 6);
    tcase_add_loop_test(tcase, an_island_has_the_same_bits_alone, 0, 5);
    tcase_add_loop_test(tcase, the_answer_itself_is_a_basis_that_needs_no_pivot, 0, 4);
    return tcase;
}

static TCase *case_rows(void) {
    TCase *tcase = tcase_create("rows");
    tcase_add_loop_test(tcase, rows_have_their_bounds, 0, ROW_CASES);
    tcase_add_test(tcase, bounds_that_seem_out_of_reach_count_when_they_are_met);
    tcase_add_test(tcase, rows_that_repeat_others_carry_nothing_and_change_nothing);
    tcase_add_test(tcase, rows_that_contradict_each_other_are_reported);
    tcase_add_test(tcase, friction_in_a_joint_stands_beside_friction_of_contacts);
    return tcase;
}

static TCase *case_limits(void) {
    TCase *tcase = tcase_create("limits");
    tcase_add_test(tcase, history_is_what_lemke_still_covers);
    tcase_add_test(tcase, too_many_rows_are_refused_by_name);
    tcase_add_test(tcase, rows_that_are_eliminated_count_as_well);
    tcase_add_loop_test(tcase, directions_are_even, 0, 5);
    tcase_add_test(tcase, what_has_no_solution_ends_in_a_ray_and_says_so);
    tcase_add_test(tcase, pivots_that_end_are_reported);
    tcase_add_loop_test(tcase, numbers_beyond_all_bounds_end_and_are_reported, 0, 4);
    tcase_add_test(tcase, it_asks_whether_to_stop_and_stops);
    tcase_add_test(tcase, memory_that_ends_is_a_refusal);
    return tcase;
}

SUITE_MAIN("solve/lcp", case_problems, case_rows, case_limits)
