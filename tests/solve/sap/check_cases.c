// SPDX-License-Identifier: MIT
// The cases of sap (tests/reference/sap.json) that are single problems, or run under a small
// stepper with coordinates of its own: masses and springs along each coordinate, moved by the two
// stages of the paper, coincident contacts with one constant Jacobian. Numbers and tolerances are
// the file's.
#include "solve/sap/sap.h"
#include "solve/solver.h"

#include "support/problem_build.h"
#include "support/reference.h"
#include "support/suite.h"

#include <string.h>

enum { WIDTH_MAX = 3 };

// How the two stages take positions and velocities: theta_q, theta_v, theta_vq.
typedef struct Scheme {
    const char *name;
    double q, v, vq;
} Scheme;

static const Scheme explicit_euler = {"explicit", 0.0, 0.0, 0.0},
                    symplectic_euler = {"symplectic", 0.0, 0.0, 1.0},
                    implicit_euler = {"implicit", 1.0, 1.0, 1.0},
                    midpoint = {"midpoint", 0.5, 0.5, 0.5};

typedef struct Plant {
    uint32_t width, contacts;
    double mass[WIDTH_MAX], spring[WIDTH_MAX], force[WIDTH_MAX];
    double jacobian[3 * WIDTH_MAX]; // of every contact
    double offset;                  // gap = normal row . q - offset
    double mu, stiffness, dissipation_time, beta, sigma;
    double weight; // w, where the case gives it; 0: as the solver has it
    double dt;
    Scheme scheme;
    double q[WIDTH_MAX], v[WIDTH_MAX];
    // of the run
    ProblemBuild build;
    Arena arena;
    double a[WIDTH_MAX]; // diagonal of A
} Plant;

static void set(SolverSettings *settings, const char *name, double value) {
    Error error = {0};
    ck_assert_msg(solver_set(settings, name, value, &error) == STATUS_OK, "%s", error.message);
}

// Solves, to the last digits.
static SolveResult solve(const ContactProblem *problem, double beta, double sigma, Arena *arena) {
    SolverSettings settings = solver_solve_default(SOLVER_SAP);
    set(&settings, "beta", beta);
    set(&settings, "sigma", sigma);
    set(&settings, "tolerance", 1e-12);
    SolveResult result;
    Error error = {0};
    ck_assert_msg(solver_solve(&settings, problem, &(Context){0}, arena, &result, &error) ==
                      STATUS_OK,
                  "%s", error.message);
    ck_assert_msg(result.certificate.converged, "e_own %g, e_mom %g after %u steps",
                  result.certificate.entry[CERTIFICATE_OWN],
                  result.certificate.entry[CERTIFICATE_MOM], result.iterations);
    return result;
}

// |J A^-1 J^T|_F / 3
static double weight_of(const Plant *plant, const double *mass) {
    double sum = 0.0;
    for (size_t r = 0; r < 3; r++) {
        for (size_t s = 0; s < 3; s++) {
            double entry = 0.0;
            for (size_t k = 0; k < plant->width; k++) {
                entry += plant->jacobian[r * plant->width + k] *
                         plant->jacobian[s * plant->width + k] / mass[k];
            }
            sum += entry * entry;
        }
    }
    return sqrt(sum) / 3.0;
}

// ---- the stepper

static double gap_of(const Plant *plant) {
    double gap = -plant->offset;
    for (size_t k = 0; k < plant->width; k++) {
        gap += plant->jacobian[k] * plant->q[k];
    }
    return gap;
}

// A and v*, of a linear system with a diagonal A.
static void move_freely(const Plant *p, double *a, double *v_free) {
    for (size_t k = 0; k < p->width; k++) {
        double ahead = p->q[k] + p->scheme.q * p->dt * (1.0 - p->scheme.vq) * p->v[k];
        a[k] = p->mass[k] + p->dt * p->dt * p->scheme.q * p->scheme.vq * p->spring[k];
        v_free[k] = (p->mass[k] * p->v[k] + p->dt * (p->force[k] - p->spring[k] * ahead)) / a[k];
    }
}

// The problem, whose mass and Jacobians stay; what moves comes with each step.
static void plant_begin(Plant *plant) {
    double matrix[WIDTH_MAX * WIDTH_MAX] = {0.0}, v_free[WIDTH_MAX];
    ProblemBuild *build = &plant->build;
    problem_build_init(build);
    arena_init(&plant->arena, (size_t)1 << 24);
    build->problem.time_step = plant->dt;
    move_freely(plant, plant->a, v_free);
    for (size_t k = 0; k < plant->width; k++) {
        matrix[k * (plant->width + 1)] = plant->a[k];
    }
    problem_build_dense(build, plant->width, matrix, v_free);
    for (uint32_t i = 0; i < plant->contacts; i++) {
        ProblemContact *contact = problem_build_contact(build, vec3(0.0, 0.0, 1.0), plant->mu, 0.0);
        problem_build_dense_side(build, contact, 1, 0, plant->jacobian);
        build->law[i].stiffness = plant->stiffness;
        build->law[i].dissipation_time = plant->dissipation_time;
    }
}

static void plant_end(Plant *plant) {
    problem_build_deinit(&plant->build);
    arena_deinit(&plant->arena);
}

static void plant_step(Plant *plant) {
    ProblemBuild *build = &plant->build;
    move_freely(plant, plant->a, build->v_free);
    for (uint32_t i = 0; i < plant->contacts; i++) {
        build->contact[i].gap = gap_of(plant);
        build->contact[i].bias = gap_of(plant) / plant->dt;
    }
    double own = weight_of(plant, plant->a);
    double ratio = plant->weight == 0.0 ? 1.0 : plant->weight / own;
    arena_reset(&plant->arena);
    SolveResult result =
        solve(&build->problem, plant->beta * sqrt(ratio), plant->sigma * ratio, &plant->arena);
    for (size_t k = 0; k < plant->width; k++) {
        double v = result.answer.v[k];
        plant->q[k] += plant->dt * (plant->scheme.vq * v + (1.0 - plant->scheme.vq) * plant->v[k]);
        plant->v[k] = v;
    }
}

// ---- the file

// The case of that id whose params end with `end`; borrowed.
static json_t *find_case(json_t *root, const char *id, const char *end) {
    json_t *cases = reference_get(root, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *one = json_array_get(cases, i);
        const char *params = json_string_value(reference_get(one, "params"));
        size_t length = strlen(params), wanted = strlen(end);
        if (strcmp(json_string_value(reference_get(one, "id")), id) == 0 && length >= wanted &&
            strstr(params, end) != NULL) {
            return one;
        }
    }
    ck_abort_msg("no case %s with %s", id, end);
    return NULL;
}

static void assert_case(const char *id, const char *end, double value) {
    json_t *root = reference_open("sap.json"), *one = find_case(root, id, end);
    double wanted = json_number_value(reference_get(one, "value"));
    double tolerance = json_number_value(reference_get(one, "tol"));
    bool is_relative = strcmp(json_string_value(reference_get(one, "tol_kind")), "relative") == 0;
    tolerance *= is_relative ? fabs(wanted) : 1.0;
    ck_assert_msg(fabs(value - wanted) <= tolerance, "%s, %s: %.17g, wanted %.17g +- %g", id, end,
                  value, wanted, tolerance);
    json_decref(root);
}

// ---- B1: one problem

enum { B1_WIDTH = 18, B1_CONTACTS = 4 };

typedef struct Dataset {
    json_t *root, *set;
    ProblemBuild build;
    double dt, tau, a[B1_WIDTH], v_star[B1_WIDTH];
    double jacobian[B1_CONTACTS][3 * B1_WIDTH], gap[B1_CONTACTS], mu[B1_CONTACTS];
} Dataset;

static double number(json_t *object, const char *key) {
    return json_number_value(reference_get(object, key));
}

static void dataset_open(Dataset *data) {
    double matrix[B1_WIDTH * B1_WIDTH] = {0.0};
    data->root = reference_open("sap.json");
    data->set = reference_get(reference_get(data->root, "datasets"), "B1_dataset");
    data->dt = number(data->set, "dt");
    data->tau = number(data->set, "taud");
    reference_numbers(data->set, "A_diag", data->a, B1_WIDTH);
    reference_numbers(data->set, "vstar", data->v_star, B1_WIDTH);
    reference_numbers(data->set, "phi0", data->gap, B1_CONTACTS);
    reference_numbers(data->set, "mu", data->mu, B1_CONTACTS);
    for (size_t k = 0; k < B1_WIDTH; k++) {
        matrix[k * (B1_WIDTH + 1)] = data->a[k];
    }
    problem_build_init(&data->build);
    data->build.problem.time_step = data->dt;
    problem_build_dense(&data->build, B1_WIDTH, matrix, data->v_star);
    for (size_t i = 0; i < B1_CONTACTS; i++) {
        for (size_t r = 0; r < 3; r++) {
            json_t *row = json_array_get(reference_get(data->set, "J"), 3 * i + r);
            for (size_t k = 0; k < B1_WIDTH; k++) {
                data->jacobian[i][r * B1_WIDTH + k] = json_number_value(json_array_get(row, k));
            }
        }
        ProblemContact *contact = problem_build_contact(&data->build, vec3(0.0, 0.0, 1.0),
                                                        data->mu[i], data->gap[i] / data->dt);
        problem_build_dense_side(&data->build, contact, 1, 0, data->jacobian[i]);
        contact->gap = data->gap[i];
        data->build.law[i].stiffness = number(data->set, "k");
        data->build.law[i].dissipation_time = data->tau;
    }
}

static void dataset_close(Dataset *data) {
    problem_build_deinit(&data->build);
    json_decref(data->root);
}

static void assert_array(json_t *set, const char *key, const double *values, size_t count,
                         double tolerance) {
    double wanted[64];
    ck_assert_uint_le(count, 64);
    reference_numbers(set, key, wanted, count);
    for (size_t k = 0; k < count; k++) {
        ck_assert_msg(fabs(values[k] - wanted[k]) <= tolerance, "%s[%zu] is %.17g, wanted %.17g",
                      key, k, values[k], wanted[k]);
    }
}

// l(v) = (v - v*) . A (v - v*) / 2 + gamma . R gamma / 2, by the answer's own numbers.
static double cost_of(const Dataset *data, const Answer *answer) {
    double cost = 0.0;
    for (size_t k = 0; k < B1_WIDTH; k++) {
        double change = answer->v[k] - data->v_star[k];
        cost += 0.5 * data->a[k] * change * change;
    }
    for (size_t i = 0; i < B1_CONTACTS; i++) {
        const double *gamma = answer->contact_impulse + 3 * i;
        const ContactRelation *relation = &answer->contact[i];
        cost += 0.5 * relation->normal_compliance * gamma[0] * gamma[0];
        cost += 0.5 * relation->tangent_compliance * (gamma[1] * gamma[1] + gamma[2] * gamma[2]);
    }
    return cost;
}

START_TEST(b1_a_problem_of_four_contacts) {
    Dataset data;
    dataset_open(&data);
    SolveResult result = solve(&data.build.problem, number(data.set, "beta"),
                               number(data.set, "sigma"), &data.build.arena);
    double tolerance = number(data.set, "tol"), r_n[B1_CONTACTS], r_t[B1_CONTACTS],
           target[B1_CONTACTS];
    for (size_t i = 0; i < B1_CONTACTS; i++) {
        const ContactRelation *relation = &result.answer.contact[i];
        r_n[i] = relation->normal_compliance;
        r_t[i] = relation->tangent_compliance;
        target[i] = relation->shift - relation->bias;
    }
    assert_array(data.set, "Rn", r_n, B1_CONTACTS, 1e-14);
    assert_array(data.set, "Rt", r_t, B1_CONTACTS, 1e-14);
    assert_array(data.set, "vhat_n", target, B1_CONTACTS, 1e-14);
    assert_array(data.set, "v", result.answer.v, B1_WIDTH, tolerance);
    assert_array(data.set, "gamma", result.answer.contact_impulse, 3 * B1_CONTACTS, tolerance);
    // 1e-10 relative, as B1.dataset.cost
    double cost = number(data.set, "cost");
    ck_assert_double_eq_tol(cost_of(&data, &result.answer), cost, 1e-10 * cost);
    dataset_close(&data);
}
END_TEST

// ---- B2: one velocity, near-rigid

static Plant make_drop(Scheme scheme) {
    return (Plant){.width = 1,
                   .contacts = 1,
                   .mass = {1.0},
                   .force = {-9.81},
                   .jacobian = {1.0, 0.0, 0.0},
                   .stiffness = 1e12,
                   .beta = 1.0,
                   .sigma = 1e-3,
                   .weight = 1.0,
                   .dt = 1e-3,
                   .scheme = scheme,
                   .q = {0.05}};
}

START_TEST(b2_a_near_rigid_contact_sinks_by_its_closed_form) {
    Plant plant = make_drop(symplectic_euler);
    plant_begin(&plant);
    for (int i = 0; i < 2000; i++) {
        plant_step(&plant);
    }
    assert_case("B2.near_rigid", "", -plant.q[0]);
    plant_end(&plant);
}
END_TEST

START_TEST(b2_impacts_bounce_where_positions_move_on) {
    static const Scheme *const schemes[] = {&explicit_euler, &implicit_euler, &midpoint};
    char end[64];
    Plant plant = make_drop(*schemes[_i]);
    plant_begin(&plant);
    double highest = -HUGE_VAL;
    bool touched = false;
    for (int i = 0; i < 1000; i++) {
        plant_step(&plant);
        touched = touched || plant.q[0] < 0.0;
        highest = touched ? fmax(highest, plant.q[0]) : highest;
    }
    snprintf(end, sizeof(end), "scheme %s", plant.scheme.name);
    assert_case("B2.near_rigid.scheme", end, highest);
    plant_end(&plant);
}
END_TEST

// ---- B3: a cylinder that rolls on a spring

static Plant make_cylinder(Scheme scheme, double dt, double sigma) {
    // x, z, theta; the third row is zero
    return (Plant){.width = 3,
                   .contacts = 1,
                   .mass = {1.0, 1.0, 0.005},
                   .spring = {25.0, 0.0, 0.0},
                   .force = {0.0, -9.81, 0.0},
                   .jacobian = {0.0, 1.0, 0.0, 1.0, 0.0, 0.1, 0.0, 0.0, 0.0},
                   .offset = 0.1,
                   .mu = 0.5,
                   .stiffness = 1e5,
                   .beta = 1.0,
                   .sigma = sigma,
                   .weight = sqrt(10.0) / 3.0,
                   .dt = dt,
                   .scheme = scheme,
                   .q = {0.1, 0.1 - 9.81 / 1e5, 0.0}};
}

typedef struct Rolling {
    const Scheme *scheme;
    double dt, sigma;
    const char *end; // of the case's params
} Rolling;

static const Rolling conv_cases[] = {
    {&symplectic_euler, 0.02, 1e-3, "symplectic dt=0.02 sigma=0.001"},
    {&symplectic_euler, 0.005, 1e-3, "symplectic dt=0.005 sigma=0.001"},
    {&symplectic_euler, 0.0025, 1e-3, "symplectic dt=0.0025 sigma=0.001"},
    {&implicit_euler, 0.01, 1e-3, "implicit dt=0.01 sigma=0.001"},
    {&implicit_euler, 0.005, 1e-3, "implicit dt=0.005 sigma=0.001"},
    {&midpoint, 0.02, 1e-3, "midpoint dt=0.02 sigma=0.001"},
    {&midpoint, 0.01, 1e-3, "midpoint dt=0.01 sigma=0.001"},
    {&midpoint, 0.0025, 1e-3, "midpoint dt=0.0025 sigma=0.001"},
    {&symplectic_euler, 0.02, 1e-7, "symplectic dt=0.02 sigma=1e-07"},
    {&symplectic_euler, 0.005, 1e-7, "symplectic dt=0.005 sigma=1e-07"},
    {&symplectic_euler, 0.0025, 1e-7, "symplectic dt=0.0025 sigma=1e-07"},
    {&implicit_euler, 0.01, 1e-7, "implicit dt=0.01 sigma=1e-07"},
    {&implicit_euler, 0.005, 1e-7, "implicit dt=0.005 sigma=1e-07"},
    {&midpoint, 0.02, 1e-7, "midpoint dt=0.02 sigma=1e-07"},
    {&midpoint, 0.01, 1e-7, "midpoint dt=0.01 sigma=1e-07"},
    {&midpoint, 0.0025, 1e-7, "midpoint dt=0.0025 sigma=1e-07"},
};

START_TEST(b3_a_cylinder_rolls_on_its_spring) {
    const Rolling *rolling = &conv_cases[_i];
    Plant plant = make_cylinder(*rolling->scheme, rolling->dt, rolling->sigma);
    plant_begin(&plant);
    int steps = (int)(2.0 / rolling->dt + 0.5);
    for (int i = 0; i < steps; i++) {
        plant_step(&plant);
    }
    assert_case("B3.conv", rolling->end, plant.q[0]);
    plant_end(&plant);
}
END_TEST

static const Rolling energy_cases[] = {
    {&explicit_euler, 0.01, 1e-3, "explicit dt=0.01 sigma=0.001"},
    {&symplectic_euler, 0.01, 1e-3, "symplectic dt=0.01 sigma=0.001"},
    {&symplectic_euler, 0.01, 1e-7, "symplectic dt=0.01 sigma=1e-07"},
    {&implicit_euler, 0.01, 1e-7, "implicit dt=0.01 sigma=1e-07"},
    {&midpoint, 0.01, 1e-3, "midpoint dt=0.01 sigma=0.001"},
};

// of the motion along the ground, and of the spring
static double energy_of(const Plant *plant) {
    double energy = 0.5 * plant->spring[0] * plant->q[0] * plant->q[0];
    for (size_t k = 0; k < 3; k++) {
        energy += 0.5 * plant->mass[k] * plant->v[k] * plant->v[k];
    }
    return energy;
}

START_TEST(b3_energies_after_ten_seconds_are_those_of_the_schemes) {
    const Rolling *rolling = &energy_cases[_i];
    Plant plant = make_cylinder(*rolling->scheme, rolling->dt, rolling->sigma);
    plant_begin(&plant);
    double before = energy_of(&plant);
    for (int i = 0; i < 1000; i++) {
        plant_step(&plant);
    }
    assert_case("B3.energy", rolling->end, energy_of(&plant) / before);
    plant_end(&plant);
}
END_TEST

// ---- B4: a point on a slope, with four contacts at one place

static Plant make_point(double slope_sine, double slope_cosine, double mu, double dt, double tau) {
    double m = 2.0, k = 1e5, g = 9.81;
    return (Plant){.width = 3,
                   .contacts = 4,
                   .mass = {m, m, m},
                   .force = {-m * g * slope_cosine, m * g * slope_sine, 0.0},
                   .jacobian = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
                   .mu = mu,
                   .stiffness = k,
                   .dissipation_time = tau,
                   .sigma = 1e-3,
                   .dt = dt,
                   .scheme = symplectic_euler,
                   .q = {-m * g * slope_cosine / (4.0 * k)}};
}

START_TEST(b4_a_point_sticks_and_creeps_or_slides) {
    static const struct {
        double share;
        const char *end;
    } cases[] = {{1.2, "mu=1.2*tan(20 deg)"},
                 {1.0001, "mu=1.0001*tan(20 deg)"},
                 {0.9999, "mu=0.9999*tan(20 deg)"},
                 {0.8, "mu=0.8*tan(20 deg)"}};
    const double angle = 20.0 / 180.0 * 3.14159265358979323846;
    Plant plant = make_point(sin(angle), cos(angle), cases[_i].share * tan(angle), 0.01, 0.01);
    plant_begin(&plant);
    for (int i = 0; i < 100; i++) {
        plant_step(&plant);
    }
    assert_case("B4.stick_slip", cases[_i].end,
                sqrt(plant.v[1] * plant.v[1] + plant.v[2] * plant.v[2]));
    plant_end(&plant);
}
END_TEST

START_TEST(b4_a_sliding_point_glides) {
    static const struct {
        double dt, tau;
        const char *end;
    } cases[] = {{0.01, 0.0, "mu=0.5 dt=0.01 taud=0.0 v0=2.0"},
                 {0.01, 0.05, "mu=0.5 dt=0.01 taud=0.05 v0=2.0"},
                 {0.001, 0.05, "mu=0.5 dt=0.001 taud=0.05 v0=2.0"}};
    double mu = 0.5, cosine = 1.0 / sqrt(1.0 + mu * mu);
    Plant plant = make_point(mu * cosine, cosine, mu, cases[_i].dt, cases[_i].tau);
    plant_begin(&plant);
    plant.v[1] = 2.0;
    int steps = (int)(3.0 / cases[_i].dt + 0.5);
    for (int i = 0; i < steps; i++) {
        plant_step(&plant);
    }
    assert_case("B4.gap", cases[_i].end, gap_of(&plant));
    plant_end(&plant);
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

static TCase *case_problem(void) {
    TCase *tcase = tcase_create("problem");
    tcase_add_test(tcase, b1_a_problem_of_four_contacts);
    return tcase;
}

static TCase *case_stepper(void) {
    TCase *tcase = tcase_create("stepper");
    tcase_add_test(tcase, b2_a_near_rigid_contact_sinks_by_its_closed_form);
    tcase_add_loop_test(tcase, b2_impacts_bounce_where_positions_move_on, 0, 3);
    tcase_add_loop_test(tcase, b3_a_cylinder_rolls_on_its_spring, 0, COUNT(conv_cases));
    tcase_add_loop_test(tcase, b3_energies_after_ten_seconds_are_those_of_the_schemes, 0,
                        COUNT(energy_cases));
    tcase_add_loop_test(tcase, b4_a_point_sticks_and_creeps_or_slides, 0, 4);
    tcase_add_loop_test(tcase, b4_a_sliding_point_glides, 0, 3);
    return tcase;
}

SUITE_MAIN("solve/sap_cases", case_problem, case_stepper)
