// SPDX-License-Identifier: MIT
// The reference cases of compliant (tests/reference/compliant.json) on the solver alone: problems,
// and steppers with coordinates of their own. Scenes, numbers and tolerances are the file's.
#include "solve/compliant/compliant.h"
#include "solve/solver.h"

#include "support/campaign.h"
#include "support/problem_build.h"
#include "support/reference.h"
#include "support/suite.h"

#include <string.h>

static const double gravity = 9.81;

// ---- the file

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), count = strlen(end);
    return length >= count && strcmp(text + length - count, end) == 0;
}

// The case whose parameters contain `part` and end with `end`; the caller's reference to the file.
static json_t *find_case(json_t **root, const char *id, const char *part, const char *end) {
    *root = reference_open("compliant.json");
    json_t *cases = reference_get(*root, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *one = json_array_get(cases, i);
        const char *params = json_string_value(reference_get(one, "params"));
        if (strcmp(json_string_value(reference_get(one, "id")), id) == 0 &&
            strstr(params, part) != NULL && ends_with(params, end)) {
            return one;
        }
    }
    ck_abort_msg("no case %s with %s, %s", id, part, end);
    return NULL;
}

static double tolerance_of(json_t *one, double value) {
    double tolerance = json_number_value(reference_get(one, "tol"));
    const char *kind = json_string_value(reference_get(one, "tol_kind"));
    return strcmp(kind, "relative") == 0 ? tolerance * fabs(value) : tolerance;
}

static void assert_case(const char *id, const char *part, const char *end, const double *values,
                        size_t count) {
    json_t *root, *one = find_case(&root, id, part, end), *value = reference_get(one, "value");
    for (size_t k = 0; k < count; k++) {
        double wanted = json_number_value(json_is_array(value) ? json_array_get(value, k) : value);
        double tolerance = tolerance_of(one, wanted);
        ck_assert_msg(fabs(values[k] - wanted) <= tolerance, "%s, %s %s [%zu]: %.17g, wanted %.17g",
                      id, part, end, k, values[k], wanted);
    }
    json_decref(root);
}

// ---- a solve

static SolveResult solve(const ContactProblem *problem, const SolverSettings *settings,
                         Arena *arena) {
    SolveResult result;
    Error error = {0};
    arena_reset(arena);
    ck_assert_msg(solver_solve(settings, problem, &(Context){0}, arena, &result, &error) ==
                      STATUS_OK,
                  "%s", error.message);
    return result;
}

static void set(SolverSettings *settings, const char *name, double value) {
    Error error;
    ck_assert_int_eq(solver_set(settings, name, value, &error), STATUS_OK);
}

// ---- C1, C8: a pendulum in the plane, pinned by two rows

typedef struct Pendulum {
    double q[3], v[3]; // x, y, theta
    double stiffness, damping, h;
    uint32_t copies; // of each row
    double gdot;     // the share of the paper's terms
    ProblemBuild build;
    Arena arena;
    SolverSettings settings;
} Pendulum;

static const double pendulum_mass[3] = {1.0, 1.0, 1.0 / 12.0};

static void pendulum_begin(Pendulum *p) {
    double matrix[9] = {0.0};
    const double none[3] = {0.0};
    for (size_t k = 0; k < 3; k++) {
        matrix[4 * k] = pendulum_mass[k];
    }
    p->q[0] = 1.0;
    p->settings = solver_solve_default(SOLVER_COMPLIANT);
    // of V = g h, of which some roundings of the velocities, 5 m/s, are this share; below it every
    // step would go through all that the solver tries with what it cannot solve
    set(&p->settings, "tolerance", fmax(1e-13, 1e-14 / (gravity * p->h)));
    set(&p->settings, "gdot", p->gdot > 0.0 ? COMPLIANT_GDOT_ON : COMPLIANT_GDOT_OFF);
    arena_init(&p->arena, (size_t)1 << 24);
    problem_build_init(&p->build);
    p->build.problem.time_step = p->h;
    problem_build_dense(&p->build, 3, matrix, none);
    for (uint32_t i = 0; i < 2 * p->copies; i++) {
        ProblemRow *row = problem_build_row(&p->build, -HUGE_VAL, HUGE_VAL, 0.0);
        problem_build_block(&p->build, 0, none);
        row->is_position = true;
        row->stiffness = p->stiffness;
        row->damping = p->damping;
    }
}

static void pendulum_end(Pendulum *p) {
    problem_build_deinit(&p->build);
    arena_deinit(&p->arena);
}

static void pendulum_gap(const Pendulum *p, double gap[2]) {
    gap[0] = p->q[0] - cos(p->q[2]);
    gap[1] = p->q[1] - sin(p->q[2]);
}

static void pendulum_step(Pendulum *p) {
    ProblemBuild *build = &p->build;
    double gap[2];
    pendulum_gap(p, gap);
    const double jacobian[2][3] = {{1.0, 0.0, sin(p->q[2])}, {0.0, 1.0, -cos(p->q[2])}};
    // G' v: of a Jacobian (1, 0, sin theta), (0, 1, -cos theta)
    double spin = p->v[2] * p->v[2];
    const double gdot[2] = {p->gdot * cos(p->q[2]) * spin, p->gdot * sin(p->q[2]) * spin};
    memcpy(build->v_free, p->v, sizeof(p->v));
    build->v_free[1] -= p->h * gravity;
    for (uint32_t i = 0; i < 2 * p->copies; i++) {
        build->row[i].gap = gap[i % 2];
        build->row[i].gdot = gdot[i % 2];
        memcpy(build->number + build->row_block[i].jacobian, jacobian[i % 2], sizeof(p->v));
    }
    SolveResult result = solve(&build->problem, &p->settings, &p->arena);
    memcpy(p->v, result.answer.v, sizeof(p->v));
    for (size_t k = 0; k < 3; k++) {
        p->q[k] += p->h * p->v[k];
    }
}

static double pendulum_energy(const Pendulum *p) {
    double energy = gravity * p->q[1];
    for (size_t k = 0; k < 3; k++) {
        energy += 0.5 * pendulum_mass[k] * p->v[k] * p->v[k];
    }
    return energy;
}

typedef struct PendulumCase {
    double h, gdot;
    const char *end; // of the parameters
} PendulumCase;

static const PendulumCase pendulum_cases[] = {
    {0.1, 0.0, "gdot=off (the default); h=0.1"},
    {0.02, 0.0, "gdot=off (the default); h=0.02"},
    {0.01, 0.0, "gdot=off (the default); h=0.01"},
    {1e-4, 0.0, "gdot=off (the default); h=0.0001"},
    {0.1, 1.0, "gdot=on (literal, with the Mhat term); h=0.1"},
    {0.02, 1.0, "gdot=on (literal, with the Mhat term); h=0.02"},
    {0.01, 1.0, "gdot=on (literal, with the Mhat term); h=0.01"},
    {1e-4, 1.0, "gdot=on (literal, with the Mhat term); h=0.0001"}};

START_TEST(c1_a_pendulum_of_almost_rigid_rows) {
    const PendulumCase *of = &pendulum_cases[_i];
    Pendulum p = {.h = of->h, .stiffness = 1e15, .damping = 1.0, .copies = 1, .gdot = of->gdot};
    double most = 0.0, range[2] = {0.0, 0.0};
    pendulum_begin(&p);
    for (int i = 0, steps = (int)(1.0 / of->h + 0.5); i < steps; i++) {
        double gap[2];
        pendulum_step(&p);
        pendulum_gap(&p, gap);
        most = fmax(most, sqrt(gap[0] * gap[0] + gap[1] * gap[1]));
        double energy = pendulum_energy(&p);
        range[0] = fmin(range[0], energy);
        range[1] = fmax(range[1], energy);
    }
    bool is_on = of->gdot > 0.0;
    assert_case(is_on ? "C1.theta" : "C1.theta.off", "", of->end, &p.q[2], 1);
    assert_case(is_on ? "C1.dev" : "C1.dev.off", "", of->end, &most, 1);
    assert_case(is_on ? "C1.energy" : "C1.energy.off", "", of->end, range, 2);
    pendulum_end(&p);
}
END_TEST

START_TEST(c8_the_same_rows_twice_change_nothing) {
    Pendulum once = {.h = 1e-3, .stiffness = 1e15, .damping = 1.0, .copies = 1, .gdot = (double)_i};
    const char *id = _i == 1 ? "C8.redundant" : "C8.redundant.off";
    Pendulum twice = once;
    twice.copies = 2;
    pendulum_begin(&once);
    pendulum_begin(&twice);
    for (int i = 0; i < 1000; i++) {
        pendulum_step(&once);
        pendulum_step(&twice);
    }
    assert_case(id, "", "the two rows given twice", twice.q, 3);
    assert_case(id, "", "the two rows given twice", once.q, 3);
    pendulum_end(&once);
    pendulum_end(&twice);
}
END_TEST

typedef struct BoundedCase {
    double stiffness, h;
    bool is_bounded;
    const char *part;
} BoundedCase;

static const BoundedCase bounded_cases[] = {
    {1e2, 0.01, true, "K=100 B=1, gdot=off; h=0.01 "},
    {1e2, 0.05, true, "K=100 B=1, gdot=off; h=0.05 "},
    {1e2, 0.2, true, "K=100 B=1, gdot=off; h=0.2 "},
    {1e2, 0.5, false, "K=100 B=1, gdot=off; h=0.5 "},
    {1e6, 0.01, true, "K=1e+06 B=1, gdot=off; h=0.01 "},
    {1e6, 0.05, true, "K=1e+06 B=1, gdot=off; h=0.05 "},
    {1e6, 0.2, true, "K=1e+06 B=1, gdot=off; h=0.2 "},
    {1e6, 0.5, false, "K=1e+06 B=1, gdot=off; h=0.5 "},
    {1e15, 0.01, true, "K=1e+15 B=1, gdot=off; h=0.01 "},
    {1e15, 0.05, true, "K=1e+15 B=1, gdot=off; h=0.05 "},
    {1e15, 0.2, true, "K=1e+15 B=1, gdot=off; h=0.2 "},
    {1e15, 0.5, false, "K=1e+15 B=1, gdot=off; h=0.5 "},
};

START_TEST(c1_the_pendulum_stays_bounded_up_to_large_steps) {
    const BoundedCase *of = &bounded_cases[_i];
    json_t *root, *value = reference_get(find_case(&root, "C1.finiteK", of->part, ""), "value");
    ck_assert_int_eq(json_is_null(value), of->is_bounded);
    json_decref(root);
    Pendulum p = {.h = of->h, .stiffness = of->stiffness, .damping = 1.0, .copies = 1};
    bool is_bounded = true;
    pendulum_begin(&p);
    for (int i = 0, steps = (int)(100.0 / of->h + 0.5); i < steps && is_bounded; i++) {
        pendulum_step(&p);
        is_bounded = pendulum_energy(&p) <= 1000.0;
    }
    ck_assert_int_eq(is_bounded, of->is_bounded);
    pendulum_end(&p);
}
END_TEST

// With K the last number of its parameters: the blow-up of E > 1000 J, within the tolerance, or
// none.
typedef struct GainingCase {
    double stiffness, damping, gdot, h;
    const char *id, *part;
} GainingCase;

static const GainingCase gaining_cases[] = {
    {1e15, 0.0, 0.5, 0.01, "C1.long", "c=0.5 h=0.01 "},
    {1e15, 0.0, 0.5, 0.03, "C1.long", "c=0.5 h=0.03 "},
    {1e15, 0.0, 0.5, 0.05, "C1.long", "c=0.5 h=0.05 "},
    {1e15, 0.0, 0.5, 0.2, "C1.long", "c=0.5 h=0.2 "},
    {1e15, 0.0, 1.0, 0.01, "C1.long", "c=1 h=0.01 "},
    {1e15, 0.0, 1.0, 0.03, "C1.long", "c=1 h=0.03 "},
    {1e15, 0.0, 1.0, 0.05, "C1.long", "c=1 h=0.05 "},
    {1e15, 0.0, 1.0, 0.2, "C1.long", "c=1 h=0.2 "},
    {1e2, 1.0, 1.0, 0.05, "C1.finiteK",
     "K=100 B=1, gdot=on (literal, with the Mhat term); h=0.05 "},
    {1e2, 1.0, 1.0, 0.1, "C1.finiteK", "K=100 B=1, gdot=on (literal, with the Mhat term); h=0.1 "},
    {1e6, 1.0, 1.0, 0.05, "C1.finiteK",
     "K=1e+06 B=1, gdot=on (literal, with the Mhat term); h=0.05 "},
    {1e6, 1.0, 1.0, 0.1, "C1.finiteK",
     "K=1e+06 B=1, gdot=on (literal, with the Mhat term); h=0.1 "},
    {1e15, 1.0, 1.0, 0.05, "C1.finiteK",
     "K=1e+15 B=1, gdot=on (literal, with the Mhat term); h=0.05 "},
    {1e15, 1.0, 1.0, 0.1, "C1.finiteK",
     "K=1e+15 B=1, gdot=on (literal, with the Mhat term); h=0.1 "},
};

START_TEST(c1_the_papers_terms_gain_energy) {
    const GainingCase *of = &gaining_cases[_i];
    Pendulum p = {.h = of->h,
                  .stiffness = of->stiffness,
                  .damping = of->damping,
                  .copies = 1,
                  .gdot = of->gdot};
    double blown = 0.0;
    pendulum_begin(&p);
    for (int i = 1, steps = (int)(100.0 / of->h + 0.5); i <= steps && blown == 0.0; i++) {
        pendulum_step(&p);
        blown = pendulum_energy(&p) <= 1000.0 ? 0.0 : i * of->h;
    }
    json_t *root, *one = find_case(&root, of->id, of->part, ""),
                  *value = reference_get(one, "value");
    if (json_is_null(value)) {
        ck_assert_double_eq(blown, 0.0);
    } else {
        double wanted = json_number_value(value);
        ck_assert_msg(fabs(blown - wanted) <= tolerance_of(one, wanted), "%s: %g, wanted %g",
                      of->part, blown, wanted);
    }
    json_decref(root);
    pendulum_end(&p);
}
END_TEST

// ---- one velocity under the max law: C0, C2

typedef struct Limit {
    double x, v, h;
    double mass, stiffness, damping, force; // force / mass, as v_free has it
    double impulse;                         // of the newest step
    bool is_spring;                         // it pulls as well
    ProblemBuild build;
    Arena arena;
    SolverSettings settings;
} Limit;

static void limit_begin(Limit *p) {
    const double one = 1.0;
    p->settings = solver_solve_default(SOLVER_COMPLIANT);
    set(&p->settings, "tolerance", 1e-13);
    arena_init(&p->arena, (size_t)1 << 22);
    problem_build_init(&p->build);
    p->build.problem.time_step = p->h;
    problem_build_dense(&p->build, 1, &p->mass, &one);
    ProblemRow *row = problem_build_row(&p->build, p->is_spring ? -HUGE_VAL : 0.0, HUGE_VAL, 0.0);
    problem_build_block(&p->build, 0, &one);
    row->is_position = true;
    row->stiffness = p->stiffness;
    row->damping = p->damping;
}

static void limit_end(Limit *p) {
    problem_build_deinit(&p->build);
    arena_deinit(&p->arena);
}

static void limit_step(Limit *p, double acceleration) {
    p->build.v_free[0] = p->v + p->h * acceleration;
    p->build.row[0].gap = p->x;
    SolveResult result = solve(&p->build.problem, &p->settings, &p->arena);
    p->impulse = result.answer.row_impulse[0];
    p->v = result.answer.v[0];
    p->x += p->h * p->v;
}

// Those of other schemes are not of this solver.
START_TEST(c0_the_spectral_radius_of_an_implicit_spring) {
    double column[2][2];
    for (int k = 0; k < 2; k++) {
        Limit p = {.h = 1e-5, .mass = 1.0, .stiffness = 1e6, .is_spring = true};
        p.x = k == 0 ? 1.0 : 0.0;
        p.v = k == 0 ? 0.0 : 1.0;
        limit_begin(&p);
        limit_step(&p, 0.0);
        column[k][0] = p.x;
        column[k][1] = p.v;
        limit_end(&p);
    }
    // a pair of complex eigenvalues
    double radius = sqrt(column[0][0] * column[1][1] - column[0][1] * column[1][0]);
    assert_case("C0.rho", "implicit k=1e+06 b=0 h=1e-05 m=1", "", &radius, 1);
}
END_TEST

// The same where x1 = x + h v1 has no digits left. Its determinant is what is left of a velocity,
// which is -R gamma where the spring is at rest; the eigenvalues are a pair.
START_TEST(c0_the_spectral_radius_of_an_almost_rigid_spring) {
    const double steps[] = {0.1, 10.0};
    const char *const words[] = {"implicit k=1e+15 b=0 h=0.1 m=1", "implicit k=1e+15 b=0 h=10 m=1"};
    Limit p = {.h = steps[_i], .mass = 1.0, .stiffness = 1e15, .is_spring = true, .v = 1.0};
    limit_begin(&p);
    limit_step(&p, 0.0);
    double radius = sqrt(fabs(p.impulse) / (p.h * p.h * p.stiffness));
    assert_case("C0.rho", words[_i], "", &radius, 1);
    limit_end(&p);
}
END_TEST

typedef struct RangeCase {
    double h;
    double activation;
    const char *part;
} RangeCase;

static const RangeCase range_cases[] = {
    {1e-4, COMPLIANT_PREDICTIVE, "h=0.0001 activation=predictive"},
    {1e-5, COMPLIANT_PREDICTIVE, "h=1e-05 activation=predictive"},
    {1e-5, COMPLIANT_CONTACT, "h=1e-05 activation=contact"},
    {1e-6, COMPLIANT_CONTACT, "h=1e-06 activation=contact"},
    {1e-7, COMPLIANT_PREDICTIVE, "h=1e-07 activation=predictive"},
    // those of 1e8 steps
    {1e-8, COMPLIANT_PREDICTIVE, "h=1e-08 activation=predictive"},
    {1e-8, COMPLIANT_CONTACT, "h=1e-08 activation=contact"},
};
enum { RANGE_CASES = sizeof(range_cases) / sizeof(range_cases[0]), RANGE_CASES_SHORT = 5 };

START_TEST(c2_a_limit_of_the_range_gives_back_what_the_step_lets_it) {
    const RangeCase *of = &range_cases[_i];
    Limit p = {.h = of->h, .mass = 1.0, .stiffness = 1e12, .x = 1.57079632679489661923};
    double before = 0.0, entered = 0.0, left = 0.0;
    limit_begin(&p);
    set(&p.settings, "activation", of->activation);
    for (int i = 0, steps = (int)(1.0 / of->h + 0.5); i < steps; i++) {
        before = p.v;
        bool was_free = p.impulse == 0.0;
        double acceleration = -gravity * sin(p.x), free = p.v + p.h * acceleration;
        // out of reach nothing pushes, and there is no problem to solve
        if (p.x > -2.0 * p.h * free && p.x > 0.0) {
            p.v = free;
            p.x += p.h * free;
            p.impulse = 0.0;
        } else {
            limit_step(&p, acceleration);
        }
        if (p.impulse > 0.0 && entered == 0.0) {
            entered = before;
        }
        if (p.impulse == 0.0 && !was_free && left == 0.0) {
            left = before;
        }
    }
    const double values[2] = {p.x, -left / entered};
    assert_case("C2.rom", of->part, "", values, 2);
    limit_end(&p);
}
END_TEST

typedef struct BounceCase {
    double swing; // h w
    const char *part;
} BounceCase;

static const BounceCase bounce_cases[] = {
    {100.0, "h*omega=100;"}, {1.0, "h*omega=1;"}, {0.1, "h*omega=0.1;"}, {1e-3, "h*omega=0.001;"}};

START_TEST(c2_restitution_depends_on_the_step_alone) {
    const BounceCase *of = &bounce_cases[_i];
    double range[2] = {HUGE_VAL, 0.0};
    for (int phase = 0; phase < 200; phase++) {
        Limit p = {.h = 0.01, .mass = 1.0, .stiffness = of->swing * of->swing / 1e-4, .v = -1.0};
        p.x = 0.999 * phase / 199.0 * p.h; // the phases of the file's scan
        limit_begin(&p);
        limit_step(&p, 0.0);
        while (p.impulse > 0.0) {
            limit_step(&p, 0.0);
        }
        range[0] = fmin(range[0], p.v);
        range[1] = fmax(range[1], p.v);
        limit_end(&p);
    }
    assert_case("C2.restitution", of->part, "", range, 2);
}
END_TEST

// ---- C4: two rows that feel each other

static void c4_solve(CompliantFriction friction, double force[2]) {
    // G G^T = W = [[1, .9], [.9, 1]], z = h^2 K = 100, r = -K gap
    const double mass[4] = {1.0, 0.0, 0.0, 1.0}, still[2] = {0.0}, k = 1e6,
                 jacobian[2][2] = {{1.0, 0.0}, {0.9, sqrt(0.19)}}, r[2] = {100.0, 20.0};
    ProblemBuild build;
    Arena arena;
    SolverSettings settings = solver_solve_default(SOLVER_COMPLIANT);
    set(&settings, "tolerance", 1e-13);
    set(&settings, "friction", friction);
    arena_init(&arena, (size_t)1 << 22);
    problem_build_init(&build);
    problem_build_dense(&build, 2, mass, still);
    for (int i = 0; i < 2; i++) {
        ProblemRow *row = problem_build_row(&build, 0.0, HUGE_VAL, 0.0);
        problem_build_block(&build, 0, jacobian[i]);
        row->is_position = true;
        row->stiffness = k;
        row->gap = -r[i] / k;
    }
    SolveResult result = solve(&build.problem, &settings, &arena);
    for (int i = 0; i < 2; i++) {
        force[i] = result.answer.row_impulse[i] / 0.01;
    }
    problem_build_deinit(&build);
    arena_deinit(&arena);
}

START_TEST(c4_what_separates_does_not_push) {
    double force[2];
    c4_solve(COMPLIANT_COULOMB, force);
    assert_case("C4.maxlaw", "", "max law", force, 2);
}
END_TEST

START_TEST(c4_but_pushes_as_it_is_printed) {
    double force[2];
    c4_solve(COMPLIANT_PRINTED, force);
    assert_case("C4.printed", "", "printed QP (83)-(85)", force, 2);
}
END_TEST

// ---- C5r: a box on four feet of Hertz contact, on a slope

static const double slope_gravity = 9.8, hertz = 1e10, half[3] = {0.1, 0.05, 0.025};
#define SLOPE (15.0 / 180.0 * 3.14159265358979323846)

typedef struct Slider {
    Vec3 position, velocity, spin; // world: x down the slope, z off it
    Quat orientation;
    double h, mu;
    ProblemBuild build;
    Arena arena;
    SolverSettings settings;
} Slider;

static double slider_depth(void) {
    return pow(slope_gravity * cos(SLOPE) / 4.0 / hertz, 2.0 / 3.0);
}

static Sym3 box_inertia(void) {
    double x = 4.0 * half[0] * half[0], y = 4.0 * half[1] * half[1], z = 4.0 * half[2] * half[2];
    return (Sym3){(y + z) / 12.0, (x + z) / 12.0, (x + y) / 12.0, 0.0, 0.0, 0.0};
}

static void slider_begin(Slider *p) {
    p->position = vec3(0.0, 0.0, half[2] - slider_depth());
    p->orientation = quat_identity();
    p->settings = solver_solve_default(SOLVER_COMPLIANT);
    set(&p->settings, "tolerance", 1e-14);
    set(&p->settings, "tangential_damping", 1e6 / p->h);
    set(&p->settings, "activation", COMPLIANT_CONTACT);
    arena_init(&p->arena, (size_t)1 << 22);
    problem_build_init(&p->build);
    p->build.problem.time_step = p->h;
    const double none[6] = {0.0};
    problem_build_free(&p->build, 1.0, box_inertia(), none);
    for (int foot = 0; foot < 4; foot++) {
        problem_build_side(problem_build_contact(&p->build, vec3(0.0, 0.0, 1.0), p->mu, 0.0), 1, 0,
                           vec3(0.0, 0.0, 0.0));
    }
}

static void slider_end(Slider *p) {
    problem_build_deinit(&p->build);
    arena_deinit(&p->arena);
}

// v + h M^-1 F, with the gyroscopic term at the old velocity, and the mass as it is turned.
static void slider_free(Slider *p) {
    Mat3 axes = quat_to_mat3(p->orientation);
    Vec3 spin = mat3_tmul_vec(axes, p->spin);
    Vec3 torque = vec3_neg(vec3_cross(spin, sym3_mul_vec(box_inertia(), spin)));
    Vec3 change = mat3_mul_vec(axes, sym3_mul_vec(sym3_inverse(box_inertia()), torque));
    double *v = p->build.v_free, h = p->h;
    p->build.free[0] = problem_free_mass(1.0, sym3_rotate(axes, box_inertia()));
    vec3_store(v, vec3_add(p->velocity, vec3(h * slope_gravity * sin(SLOPE), 0.0,
                                             -h * slope_gravity * cos(SLOPE))));
    vec3_store(v + 3, vec3_add_scaled(p->spin, h, change));
}

// The spring that a foot is at its depth: the tangent of F = E d^1.5, and its force there.
static void slider_feet(Slider *p) {
    for (int foot = 0; foot < 4; foot++) {
        Vec3 corner =
            vec3(foot < 2 ? -half[0] : half[0], foot % 2 == 0 ? -half[1] : half[1], -half[2]);
        Vec3 arm = quat_rotate(p->orientation, corner);
        ProblemContact *contact = &p->build.contact[foot];
        ContactLaw *law = &p->build.law[foot];
        double depth = -(p->position.z + arm.z), root = depth > 0.0 ? sqrt(depth) : 0.0;
        contact->side[1].arm = arm;
        contact->gap = -depth;
        // one that does not touch is not asked
        law->stiffness = depth > 0.0 ? 1.5 * hertz * root : 1.0;
        law->damping = 1.5 * root;
        law->force = hertz * depth * root;
    }
}

static SolveResult slider_step(Slider *p) {
    slider_free(p);
    slider_feet(p);
    SolveResult result = solve(&p->build.problem, &p->settings, &p->arena);
    p->velocity = vec3_load(result.answer.v);
    p->spin = vec3_load(result.answer.v + 3);
    p->position = vec3_add_scaled(p->position, p->h, p->velocity);
    p->orientation = quat_turn(p->orientation, p->spin, p->h);
    return result;
}

typedef struct FirstStep {
    double v, mu;
    const char *part, *printed;
} FirstStep;

static const FirstStep first_steps[] = {
    {0.0, 0.0, "v0=0.0 down-slope, mu=0.0;", "v0=0.0 mu=0.0"},
    {0.0, 0.125, "v0=0.0 down-slope, mu=0.125;", "v0=0.0 mu=0.125"},
    {1.0, 0.125, "v0=1.0 down-slope, mu=0.125;", "v0=1.0 mu=0.125"},
    {1.0, 0.25, "v0=1.0 down-slope, mu=0.25;", "v0=1.0 mu=0.25"},
    {0.0, 0.375, "v0=0.0 down-slope, mu=0.375;", "v0=0.0 mu=0.375"}};

START_TEST(c5r_the_first_step_of_a_box_on_a_slope) {
    const FirstStep *of = &first_steps[_i];
    Slider p = {.h = 0.01, .mu = of->mu, .velocity = {of->v, 0.0, 0.0}};
    slider_begin(&p);
    SolveResult result = slider_step(&p);
    double force[4];
    for (size_t foot = 0; foot < 4; foot++) {
        force[foot] = result.answer.contact_impulse[3 * foot] / p.h;
    }
    ck_assert(result.certificate.converged);
    assert_case("C5r.coulomb_step", of->part, "", force, 4);
    slider_end(&p);
}
END_TEST

// What is printed is not Coulomb's law, and the certificate shows it, while it claims the program.
START_TEST(c5r_the_same_step_as_it_is_printed) {
    const FirstStep *of = &first_steps[_i];
    Slider p = {.h = 0.01, .mu = of->mu, .velocity = {of->v, 0.0, 0.0}};
    slider_begin(&p);
    set(&p.settings, "friction", COMPLIANT_PRINTED);
    set(&p.settings, "tolerance", 1e-9);
    SolveResult result = slider_step(&p);
    const double *gamma = result.answer.contact_impulse, *v = result.answer.v;
    const double values[5] = {gamma[0] / p.h, gamma[6] / p.h, v[0], v[2], v[4]};
    ck_assert(result.certificate.converged);
    ck_assert_int_eq(result.answer.relation, RELATION_PROGRAM);
    // v_z of the last is what roundings of forces leave in the file as here
    bool is_still = of->mu == 0.375;
    ck_assert(!is_still || fabs(v[2]) <= 1e-13);
    assert_case("C5r.qcqp_step", "", of->printed, values, is_still ? 3 : 5);
    slider_end(&p);
}
END_TEST

// As heavy as can be, normal forces are the least that the law lets them be, and nothing is left of
// friction but what they carry; as printed they grow.
START_TEST(c5r_zeta_weighs_normal_forces) {
    double sum[2];
    for (int heavy = 0; heavy < 2; heavy++) {
        Slider p = {.h = 0.01, .mu = 0.25, .velocity = {1.0, 0.0, 0.0}};
        slider_begin(&p);
        set(&p.settings, "friction", COMPLIANT_PRINTED);
        set(&p.settings, "zeta", heavy == 1 ? 1e20 : 0.0);
        set(&p.settings, "tolerance", 1e-6);
        SolveResult result = slider_step(&p);
        sum[heavy] = 0.0;
        for (size_t foot = 0; foot < 4; foot++) {
            sum[heavy] += result.answer.contact_impulse[3 * foot] / p.h;
        }
        slider_end(&p);
    }
    double weight = slope_gravity * cos(SLOPE);
    ck_assert_double_ge(sum[0], 20.0 * weight);
    ck_assert_double_le(sum[1], 1.1 * weight);
}
END_TEST

typedef struct SlideCase {
    double mu, h;
    const char *part;
} SlideCase;

static const SlideCase slides[] = {{0.0, 0.01, "mu=0.0 h=0.01"},
                                   {0.125, 0.01, "mu=0.125 h=0.01"},
                                   {0.125, 0.001, "mu=0.125 h=0.001"},
                                   {0.25, 0.001, "mu=0.25 h=0.001"},
                                   {0.375, 0.01, "mu=0.375 h=0.01"}};

START_TEST(c5r_a_box_slides_down_a_slope) {
    const SlideCase *of = &slides[_i];
    Slider p = {.h = of->h, .mu = of->mu};
    slider_begin(&p);
    for (int i = 0, steps = (int)(1.0 / of->h + 0.5); i < steps; i++) {
        slider_step(&p);
    }
    assert_case("C5r.x", of->part, "", &p.position.x, 1);
    slider_end(&p);
}
END_TEST

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

static TCase *case_rows(void) {
    TCase *tcase = tcase_create("rows");
    tcase_add_loop_test(tcase, c1_a_pendulum_of_almost_rigid_rows, 0, COUNT(pendulum_cases));
    tcase_add_loop_test(tcase, c1_the_pendulum_stays_bounded_up_to_large_steps, 0,
                        COUNT(bounded_cases));
    tcase_add_loop_test(tcase, c8_the_same_rows_twice_change_nothing, 0, 2);
    tcase_add_loop_test(tcase, c1_the_papers_terms_gain_energy, 0, COUNT(gaining_cases));
    tcase_add_test(tcase, c0_the_spectral_radius_of_an_implicit_spring);
    tcase_add_loop_test(tcase, c0_the_spectral_radius_of_an_almost_rigid_spring, 0, 2);
    tcase_add_loop_test(tcase, c2_a_limit_of_the_range_gives_back_what_the_step_lets_it, 0,
                        campaign_count(1) > 1 ? RANGE_CASES : RANGE_CASES_SHORT);
    tcase_add_loop_test(tcase, c2_restitution_depends_on_the_step_alone, 0, COUNT(bounce_cases));
    tcase_add_test(tcase, c4_what_separates_does_not_push);
    tcase_add_test(tcase, c4_but_pushes_as_it_is_printed);
    return tcase;
}

static TCase *case_contacts(void) {
    TCase *tcase = tcase_create("contacts");
    tcase_add_loop_test(tcase, c5r_the_first_step_of_a_box_on_a_slope, 0, COUNT(first_steps));
    tcase_add_loop_test(tcase, c5r_the_same_step_as_it_is_printed, 0, COUNT(first_steps));
    tcase_add_test(tcase, c5r_zeta_weighs_normal_forces);
    tcase_add_loop_test(tcase, c5r_a_box_slides_down_a_slope, 0, COUNT(slides));
    return tcase;
}

SUITE_MAIN("solve/compliant_cases", case_rows, case_contacts)
