// SPDX-License-Identifier: MIT
// The cases of ccp (tests/reference/ccp.json) that are single problems, or run under a small
// stepper with coordinates of its own: a ball that slides on a plane, touched at its own lowest
// point. Numbers and tolerances are the file's. And the velocities of tests/problems that are known
// under ccp.
#include "solve/ccp/ccp.h"
#include "solve/solver.h"

#include "support/problem_build.h"
#include "support/problem_file.h"
#include "support/reference.h"
#include "support/suite.h"

#include <string.h>

// ---- solving

static SolverSettings exact_settings(double tolerance) {
    SolverSettings settings = solver_solve_default(SOLVER_CCP);
    Error error = {0};
    ck_assert_msg(solver_set(&settings, "tolerance", tolerance, &error) == STATUS_OK, "%s",
                  error.message);
    return settings;
}

// Solves, to the last digits.
static SolveResult solve_under(const ContactProblem *problem, CcpCoulomb coulomb, double tolerance,
                               Arena *arena) {
    SolverSettings settings = exact_settings(tolerance);
    settings.parameter[CCP_COULOMB] = coulomb;
    SolveResult result;
    Error error = {0};
    ck_assert_msg(solver_solve(&settings, problem, &(Context){0}, arena, &result, &error) ==
                      STATUS_OK,
                  "%s", error.message);
    ck_assert_msg(result.certificate.converged, "e_own %g, e_mom %g after %u iterations",
                  result.certificate.entry[CERTIFICATE_OWN],
                  result.certificate.entry[CERTIFICATE_MOM], result.iterations);
    return result;
}

static SolveResult solve(const ContactProblem *problem, double tolerance, Arena *arena) {
    return solve_under(problem, CCP_RELAXED, tolerance, arena);
}

// ---- the file

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

// The case of that id in whose params, or quantity, the words stand; borrowed.
static json_t *find_case(json_t *root, const char *id, const char *words, const char *quantity) {
    json_t *cases = reference_get(root, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *one = json_array_get(cases, i);
        const char *params = json_string_value(reference_get(one, "params"));
        const char *of = json_string_value(reference_get(one, "quantity"));
        if (strcmp(json_string_value(reference_get(one, "id")), id) == 0 &&
            strstr(params, words) != NULL && ends_with(of, quantity)) {
            return one;
        }
    }
    ck_abort_msg("no case %s with %s", id, words);
    return NULL;
}

static void assert_numbers(const char *id, const char *words, const double *values, size_t count) {
    json_t *root = reference_open("ccp.json"), *one = find_case(root, id, words, "");
    ck_assert_str_eq(json_string_value(reference_get(one, "tol_kind")), "absolute");
    double tolerance = json_number_value(reference_get(one, "tol"));
    json_t *wanted = reference_get(one, "value");
    ck_assert(count == 1 || json_array_size(wanted) == count);
    for (size_t k = 0; k < count; k++) {
        double number = json_number_value(count == 1 ? wanted : json_array_get(wanted, k));
        ck_assert_msg(fabs(values[k] - number) <= tolerance, "%s, %s [%zu]: %.17g, wanted %.17g",
                      id, words, k, values[k], number);
    }
    json_decref(root);
}

// ---- A4: a box on nine contacts

static SolveResult solve_box(ProblemBuild *build, const double v_free[6]) {
    double third = 1.0 / 3.0, a = 0.3, b = 0.2, c = 0.1;
    static const double along[] = {-1.0, 0.0, 1.0};
    problem_build_init(build);
    problem_build_free(
        build, 1.0,
        (Sym3){third * (b * b + c * c), third * (a * a + c * c), third * (a * a + b * b), 0, 0, 0},
        v_free);
    for (int i = 0; i < 9; i++) {
        ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), 0.4, 0.0);
        problem_build_side(contact, 1, 0, vec3(along[i % 3] * a, along[i / 3] * b, -c));
    }
    return solve(&build->problem, 1e-12, &build->arena);
}

START_TEST(a4_nine_contacts_hold_a_box) {
    const double h = 0.01, v_free[6] = {2.0 * h, 0.0, -9.81 * h, 0.0, 0.0, 0.0};
    ProblemBuild build;
    SolveResult result = solve_box(&build, v_free);
    double most = 0.0, sum = 0.0;
    for (int k = 0; k < 6; k++) {
        most = fmax(most, fabs(result.answer.v[k]));
    }
    for (size_t i = 0; i < 9; i++) {
        sum += result.answer.contact_impulse[3 * i];
    }
    assert_numbers("A4.v", "", &most, 1);
    assert_numbers("A4.sumN", "", &sum, 1);
    problem_build_deinit(&build);
}
END_TEST

START_TEST(a4_a_box_slides_on_nine_contacts) {
    const double v_free[6] = {0.3, -0.2, -9.81 * 0.01, 0.0, 0.0, 1.5};
    ProblemBuild build;
    SolveResult result = solve_box(&build, v_free);
    assert_numbers("A4.slide.v", "", result.answer.v, 6);
    problem_build_deinit(&build);
}
END_TEST

// ---- A5, A8: data sets

enum { WIDTH_MAX = 18, CONTACTS_MAX = 4, JOINT_ROWS = 3 };

typedef struct Dataset {
    json_t *root, *set;
    ProblemBuild build;
    uint32_t width, contacts, rows;
    double h, mass[WIDTH_MAX], v_free[WIDTH_MAX];
    double gap[CONTACTS_MAX], mu[CONTACTS_MAX], joint_gap[JOINT_ROWS];
    double jacobian[CONTACTS_MAX][3 * WIDTH_MAX], joint[JOINT_ROWS][WIDTH_MAX];
} Dataset;

// row := a column of a matrix that is written row by row
static void read_column(json_t *matrix, size_t column, double *row, size_t count) {
    for (size_t k = 0; k < count; k++) {
        row[k] = json_number_value(json_array_get(json_array_get(matrix, k), column));
    }
}

static void add_joint(Dataset *data) {
    reference_numbers(data->set, "g", data->joint_gap, data->rows);
    for (uint32_t r = 0; r < data->rows; r++) {
        read_column(reference_get(data->set, "G"), r, data->joint[r], data->width);
        problem_build_row(&data->build, -HUGE_VAL, HUGE_VAL, data->joint_gap[r] / data->h);
        problem_build_block(&data->build, 0, data->joint[r]);
    }
}

static void dataset_open(Dataset *data, const char *name, uint32_t contacts, uint32_t rows) {
    double matrix[WIDTH_MAX * WIDTH_MAX] = {0.0};
    *data = (Dataset){.root = reference_open("ccp.json"), .contacts = contacts, .rows = rows};
    data->set = reference_get(reference_get(data->root, "datasets"), name);
    data->width = (uint32_t)json_array_size(reference_get(data->set, "vfree"));
    ck_assert_uint_le(data->width, WIDTH_MAX);
    data->h = json_number_value(reference_get(data->set, "h"));
    reference_numbers(data->set, "Minv_diag", data->mass, data->width);
    reference_numbers(data->set, "vfree", data->v_free, data->width);
    reference_numbers(data->set, "phi", data->gap, contacts);
    reference_numbers(data->set, "mu", data->mu, contacts);
    for (size_t k = 0; k < data->width; k++) {
        data->mass[k] = 1.0 / data->mass[k];
        matrix[k * (data->width + 1)] = data->mass[k];
    }
    problem_build_init(&data->build);
    data->build.problem.time_step = data->h;
    problem_build_dense(&data->build, data->width, matrix, data->v_free);
    for (uint32_t i = 0; i < contacts; i++) {
        for (size_t r = 0; r < 3; r++) {
            read_column(reference_get(data->set, "D"), 3 * (size_t)i + r,
                        data->jacobian[i] + r * data->width, data->width);
        }
        ProblemContact *contact = problem_build_contact(&data->build, vec3(0.0, 0.0, 1.0),
                                                        data->mu[i], data->gap[i] / data->h);
        contact->gap = data->gap[i];
        problem_build_dense_side(&data->build, contact, 1, 0, data->jacobian[i]);
    }
    if (rows > 0) {
        add_joint(data);
    }
}

static void dataset_close(Dataset *data) {
    problem_build_deinit(&data->build);
    json_decref(data->root);
}

// nu . N nu / 2 + p . nu, by the answer's own numbers: N nu is what v gains, p what v_free asks.
static double cost_of(const Dataset *data, const Answer *answer) {
    double cost = 0.0;
    for (size_t k = 0; k < data->width; k++) {
        double change = answer->v[k] - data->v_free[k];
        cost += 0.5 * data->mass[k] * change * change;
    }
    for (uint32_t i = 0; i < data->contacts; i++) {
        const double *gamma = answer->contact_impulse + 3 * (size_t)i;
        double u[3];
        problem_contact_velocity(&data->build.problem, i, data->v_free, u);
        cost += gamma[0] * (u[0] + data->gap[i] / data->h) + gamma[1] * u[1] + gamma[2] * u[2];
    }
    for (uint32_t r = 0; r < data->rows; r++) {
        cost +=
            answer->row_impulse[r] * (problem_row_product(&data->build.problem, r, data->v_free) +
                                      data->joint_gap[r] / data->h);
    }
    return cost;
}

static void assert_dataset(const char *name, uint32_t contacts, uint32_t rows) {
    char id[64];
    Dataset data;
    dataset_open(&data, name, contacts, rows);
    SolveResult result = solve(&data.build.problem, 1e-12, &data.build.arena);
    assert_numbers(name, "", result.answer.v, data.width);
    snprintf(id, sizeof(id), "%s.cost", name);
    double cost = cost_of(&data, &result.answer);
    assert_numbers(id, "", &cost, 1);
    dataset_close(&data);
}

START_TEST(a5_a_problem_of_four_contacts) {
    assert_dataset("A5_dataset", 4, 0);
}
END_TEST

START_TEST(a8_contacts_with_a_joint) {
    assert_dataset("A8_mixed_dataset", 3, JOINT_ROWS);
}
END_TEST

// ---- A1, A7: a ball that slides

typedef struct Ball {
    double h, mu, reach;
    double gap, v[6];
    ProblemBuild build;
    Arena arena;
} Ball;

static const double radius = 0.1, gravity = 9.81;

static void ball_begin(Ball *ball) {
    double inertia = 0.4 * radius * radius;
    problem_build_init(&ball->build);
    arena_init(&ball->arena, (size_t)1 << 24);
    ball->build.problem.time_step = ball->h;
    problem_build_free(&ball->build, 1.0, (Sym3){inertia, inertia, inertia, 0, 0, 0}, ball->v);
    problem_build_side(problem_build_contact(&ball->build, vec3(0.0, 0.0, 1.0), ball->mu, 0.0), 1,
                       0, vec3(0.0, 0.0, -radius));
}

static void ball_end(Ball *ball) {
    problem_build_deinit(&ball->build);
    arena_deinit(&ball->arena);
}

static void ball_step(Ball *ball) {
    ProblemBuild *build = &ball->build;
    memcpy(build->v_free, ball->v, sizeof(ball->v));
    build->v_free[2] -= gravity * ball->h;
    build->contact[0].gap = ball->gap;
    build->contact[0].bias = ball->gap / ball->h;
    memcpy(ball->v, build->v_free, sizeof(ball->v));
    if (ball->gap <= ball->reach) {
        arena_reset(&ball->arena);
        // V is some 10 m/s, so this is 1e-11 m/s
        SolveResult result = solve(&build->problem, 1e-12, &ball->arena);
        memcpy(ball->v, result.answer.v, sizeof(ball->v));
    }
    ball->gap += ball->h * ball->v[2];
}

// of the lowest point
static double slip_of(const Ball *ball) {
    return ball->v[0] - radius * ball->v[4];
}

typedef struct Hover {
    double mu, h, v0, time;
    int steps; // until it rolls
    const char *words;
} Hover;

static const Hover hovers[] = {
    {0.2, 0.01, 10.0, 0.73, 200, "mu=0.2 h=0.01 v0=10"},
    {0.2, 0.0001, 10.0, 0.7282, 20000, "mu=0.2 h=0.0001 v0=10"},
    {0.5, 0.001, 10.0, 0.292, 2000, "mu=0.5 h=0.001 v0=10"},
    {0.5, 0.01, 2.0, 0.06, 200, "mu=0.5 h=0.01 v0=2"},
};

START_TEST(a1_a_ball_that_starts_where_it_hovers_slides_as_a_rigid_one) {
    const Hover *hover = &hovers[_i];
    Ball ball = {.h = hover->h,
                 .mu = hover->mu,
                 .reach = HUGE_VAL,
                 .gap = hover->mu * hover->h * hover->v0,
                 .v = {hover->v0}};
    ball_begin(&ball);
    int steps = (int)(hover->time / hover->h + 0.5);
    for (int i = 0; i < steps; i++) {
        ball_step(&ball);
    }
    double ratio = ball.gap / (hover->mu * hover->h * slip_of(&ball));
    assert_numbers("A1.hover.ratio", hover->words, &ratio, 1);
    for (int i = steps; i < hover->steps; i++) {
        ball_step(&ball);
    }
    assert_numbers("A1.hover.final_v", hover->words, &ball.v[0], 1);
    ball_end(&ball);
}
END_TEST

typedef struct Landing {
    double h, reach;
    const char *words;
} Landing;

static const Landing landings[] = {
    {0.01, 0.0,
     "h=0.01; g=9.81; ccp relaxed, symplectic Euler; T=.6; lever arm the ball's own "
     "lowest point; the contact enters when phi <= 0.0"},
    {0.001, 0.0,
     "h=0.001; g=9.81; ccp relaxed, symplectic Euler; T=.6; lever arm the ball's own "
     "lowest point; the contact enters when phi <= 0.0"},
    {0.001, 1.0,
     "h=0.001; g=9.81; ccp relaxed, symplectic Euler; T=.6; lever arm the ball's own "
     "lowest point; the contact enters when phi <= 1.0"},
};

START_TEST(a7_a_ball_that_lands_late_is_thrown) {
    const Landing *landing = &landings[_i];
    Ball ball = {
        .h = landing->h, .mu = 0.2, .reach = landing->reach, .gap = 0.05, .v = {10.0, 0.0, -1.0}};
    ball_begin(&ball);
    double highest = 0.0;
    bool has_touched = false;
    int steps = (int)(0.6 / ball.h + 0.5);
    for (int i = 0; i < steps; i++) {
        double falling = ball.v[2] - gravity * ball.h;
        ball_step(&ball);
        // the first impulse
        has_touched = has_touched || fabs(ball.v[2] - falling) > 1e-9;
        highest = has_touched ? fmax(highest, ball.gap) : highest;
    }
    assert_numbers("A7.landing", landing->words, &highest, 1);
    ball_end(&ball);
}
END_TEST

// ---- tests/problems

static const char *const files[] = {
    "one-ball",       "two-balls", "stack-3",     "random-0",    "random-3",  "random-7",
    "joint",          "trees",     "wedge",       "column-20",   "ten-boxes", "ten-boxes-pushed",
    "mass-ratio-1e4", "pile-125",  "limit-motor", "frictionless"};
enum { FILES = sizeof(files) / sizeof(files[0]), NUMBERS_MAX = 750 };

// Under ccp, or under exact friction, which is its outer loop.
static void assert_velocities(const char *name, const char *model, CcpCoulomb coulomb) {
    ProblemFile file;
    Arena arena;
    arena_init(&arena, (size_t)1 << 30);
    problem_file_open(&file, name);
    const json_t *answer = problem_file_answer(&file, model);
    ck_assert_ptr_nonnull(answer);
    SolveResult result = solve_under(&file.problem, coulomb, 1e-9, &arena);
    static double wanted[NUMBERS_MAX];
    size_t count = file.problem.velocity_count;
    ck_assert_uint_le(count, NUMBERS_MAX);
    ck_assert_uint_eq(problem_file_numbers(json_object_get(answer, "v"), wanted, NUMBERS_MAX),
                      count);
    double size = 1.0, tolerance = json_number_value(json_object_get(answer, "tolerance"));
    for (size_t k = 0; k < count; k++) {
        size = fmax(size, fabs(wanted[k]));
    }
    for (size_t k = 0; k < count; k++) {
        ck_assert_msg(fabs(result.answer.v[k] - wanted[k]) <= tolerance * size,
                      "%s: v[%zu] is %.17g, wanted %.17g", name, k, result.answer.v[k], wanted[k]);
    }
    ck_assert(coulomb == CCP_RELAXED || result.certificate.entry[CERTIFICATE_DS] <= 1e-9);
    arena_deinit(&arena);
    problem_file_close(&file);
}

START_TEST(the_velocities_of_a_problem_are_found) {
    assert_velocities(files[_i], "ccp", CCP_RELAXED);
}
END_TEST

// Whose velocity is unique.
static const char *const exact_files[] = {"one-ball", "two-balls",   "random-0",
                                          "random-3", "random-7",    "joint",
                                          "trees",    "limit-motor", "frictionless"};
enum { EXACT_FILES = sizeof(exact_files) / sizeof(exact_files[0]) };

START_TEST(exact_friction_comes_of_convex_problems) {
    assert_velocities(exact_files[_i], "coulomb", CCP_EXACT);
}
END_TEST

static TCase *case_reference(void) {
    TCase *tcase = tcase_create("reference");
    tcase_add_test(tcase, a4_nine_contacts_hold_a_box);
    tcase_add_test(tcase, a4_a_box_slides_on_nine_contacts);
    tcase_add_test(tcase, a5_a_problem_of_four_contacts);
    tcase_add_test(tcase, a8_contacts_with_a_joint);
    tcase_add_loop_test(tcase, a1_a_ball_that_starts_where_it_hovers_slides_as_a_rigid_one, 0,
                        sizeof(hovers) / sizeof(hovers[0]));
    tcase_add_loop_test(tcase, a7_a_ball_that_lands_late_is_thrown, 0,
                        sizeof(landings) / sizeof(landings[0]));
    tcase_add_loop_test(tcase, the_velocities_of_a_problem_are_found, 0, FILES);
    tcase_add_loop_test(tcase, exact_friction_comes_of_convex_problems, 0, EXACT_FILES);
    return tcase;
}

SUITE_MAIN("solve/ccp_cases", case_reference)
