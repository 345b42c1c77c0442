// SPDX-License-Identifier: MIT
#include "solve/mass_links.h"

#include "solve/mass.h"
#include "support/links_mass.h"
#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

enum { TREES = 24, WIDTH_MAX = 64 * 6 };

// A random tree of 1 to 24 links, its mass both ways, and by its definition.
typedef struct Fixture {
    ProblemBuild links, dense;
    ProblemMass links_mass, dense_mass;
    uint32_t width;
    uint64_t state;
} Fixture;

static void fixture_init(Fixture *f, int seed) {
    f->state = 0x9e3779b97f4a7c15u * (uint64_t)(seed + 1);
    problem_build_init(&f->links);
    problem_build_init(&f->dense);
    problem_build_random_links(&f->links, &f->state, (uint32_t)seed + 1);
    problem_build_densify(&f->links.problem, &f->dense);
    Error error = {0};
    ck_assert_int_eq(mass_init(&f->links_mass, &f->links.problem, NULL, &f->links.arena, &error),
                     STATUS_OK);
    ck_assert_int_eq(mass_init(&f->dense_mass, &f->dense.problem, NULL, &f->dense.arena, &error),
                     STATUS_OK);
    f->width = f->links.tree[0].width;
}

static void fixture_deinit(Fixture *f) {
    problem_build_deinit(&f->links);
    problem_build_deinit(&f->dense);
}

// Both are symmetric positive definite: a difference is measured in the mass's own norm,
// sqrt(x . M x), and a solve may amplify rounding by the matrix's condition number, which for these
// trees (eigenvalues from 0.05 of the armature up to some thousand) stays below 1e6.
#define ROUNDING  1e-13
#define CONDITION 1e6

static double largest(const double *x, uint32_t count) {
    double most = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

START_TEST(the_matrix_is_the_one_of_the_definition) {
    Fixture f;
    fixture_init(&f, _i);
    double *matrix = arena_take_array(&f.links.arena, (size_t)f.width * f.width, sizeof(double));
    mass_tree_matrix(&f.links_mass, 0, matrix);
    for (uint32_t i = 0; i < f.width; i++) {
        for (uint32_t j = 0; j < f.width; j++) {
            long double wanted = links_mass(&f.links.problem, 0, i, j);
            double size = sqrt(matrix[i * (f.width + 1)] * matrix[j * (f.width + 1)]);
            ck_assert_double_eq_tol(matrix[i * f.width + j], (double)wanted, ROUNDING * size);
        }
    }
    fixture_deinit(&f);
}
END_TEST

START_TEST(multiplying_is_multiplying_with_the_matrix) {
    Fixture f;
    fixture_init(&f, _i);
    double v[WIDTH_MAX], p[WIDTH_MAX], q[WIDTH_MAX];
    for (uint32_t i = 0; i < f.width; i++) {
        v[i] = problem_build_random(&f.state);
    }
    mass_dense_multiply(&f.links_mass, 0, v, p);
    mass_dense_multiply(&f.dense_mass, 0, v, q);
    for (uint32_t i = 0; i < f.width; i++) {
        ck_assert_double_eq_tol(p[i], q[i], ROUNDING * largest(q, f.width));
    }
    fixture_deinit(&f);
}
END_TEST

START_TEST(solving_is_solving_with_the_matrix) {
    Fixture f;
    fixture_init(&f, _i);
    double p[WIDTH_MAX], q[WIDTH_MAX], back[WIDTH_MAX];
    for (uint32_t i = 0; i < f.width; i++) {
        p[i] = q[i] = problem_build_random(&f.state);
    }
    mass_solve(&f.links_mass, p);
    mass_solve(&f.dense_mass, q);
    for (uint32_t i = 0; i < f.width; i++) {
        ck_assert_double_eq_tol(p[i], q[i], 1e-16 * CONDITION * largest(q, f.width));
    }
    mass_dense_multiply(&f.links_mass, 0, p, back);
    mass_solve(&f.links_mass, back);
    for (uint32_t i = 0; i < f.width; i++) {
        ck_assert_double_eq_tol(back[i], p[i], 1e-16 * CONDITION * largest(p, f.width));
    }
    fixture_deinit(&f);
}
END_TEST

// ---- special trees

// A chain of unit links on hinges about z, along x, half a metre to either side of each center.
static uint32_t add_chain(ProblemBuild *build, uint32_t count) {
    ProblemBuildLink *link = arena_take_zeroed(&build->arena, count, sizeof(*link));
    double *v_free = arena_take_zeroed(&build->arena, count, sizeof(*v_free));
    for (uint32_t i = 0; i < count; i++) {
        link[i] = (ProblemBuildLink){.parent = i == 0 ? PROBLEM_NO_LINK : i - 1,
                                     .count = 1,
                                     .mass = 1.0,
                                     .inertia = {0.1, 0.1, 0.1, 0.0, 0.0, 0.0},
                                     .center = vec3(0.5 + i, 0.0, 0.0),
                                     .motion = {0.0, 0.5, 0.0, 0.0, 0.0, 1.0}};
    }
    return problem_build_links(build, count, link, v_free);
}

// Its factor has 13 numbers for each link, and its response at the tip is the closed form of two
// links: with m = 1, I = 0.1, l = 1, M = [I + m/4 + I + m + m/4 + m cos.. , ..] for straight links.
START_TEST(a_double_pendulum_has_the_mass_of_the_textbook) {
    ProblemBuild build;
    ProblemMass mass;
    Error error = {0};
    problem_build_init(&build);
    add_chain(&build, 2);
    ck_assert_int_eq(mass_init(&mass, &build.problem, NULL, &build.arena, &error), STATUS_OK);
    double matrix[4];
    mass_tree_matrix(&mass, 0, matrix);
    // m_22 = I + m (l/2)^2, m_12 = m_22 + m l (l/2), m_11 = m_22 + m_22 + m l^2 + 2 m l (l/2)
    const double wanted[4] = {0.35 + 0.35 + 2.0, 0.35 + 0.5, 0.35 + 0.5, 0.35};
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(matrix[i], wanted[i], 1e-15 * wanted[0]);
    }
    problem_build_deinit(&build);
}
END_TEST

START_TEST(a_factor_grows_with_the_links) {
    ProblemBuild build;
    problem_build_init(&build);
    add_chain(&build, 10);
    add_chain(&build, 1000);
    ck_assert_uint_eq(mass_links_numbers(&build.problem, 0), 130);
    ck_assert_uint_eq(mass_links_numbers(&build.problem, 1), 13000);
    problem_build_deinit(&build);
}
END_TEST

// The order in which links hang on their parents is nobody's business: combs, stars, chains.
static uint32_t parent_in(int shape, uint32_t i) {
    switch (shape) {
    case 0: // a spine with a rib at each link, the spine first
        return i % 2 == 0 ? (i < 2 ? 0 : i - 2) : i - 1;
    case 1: // a star
        return 0;
    case 2: // a binary tree
        return (i - 1) / 2;
    default: // several roots
        return i % 5 == 0 ? PROBLEM_NO_LINK : i - 1;
    }
}

START_TEST(trees_of_all_shapes_answer_as_dense_ones) {
    enum { LINKS = 63 };
    Fixture f = {.state = 11};
    ProblemBuildLink link[LINKS];
    double v_free[LINKS] = {0.0};
    problem_build_init(&f.links);
    problem_build_init(&f.dense);
    for (uint32_t i = 0; i < LINKS; i++) {
        link[i] = (ProblemBuildLink){.parent = i == 0 ? PROBLEM_NO_LINK : parent_in(_i, i),
                                     .count = 1,
                                     .mass = 1.0 + 0.01 * i,
                                     .inertia = {0.3, 0.2, 0.1, 0.02, 0.01, 0.03}};
        double *numbers[2] = {&link[i].center.x, link[i].motion};
        for (int k = 0; k < 9; k++) {
            *(k < 3 ? numbers[0] + k : numbers[1] + k - 3) = problem_build_random(&f.state);
        }
        link[i].added[0] = 0.1;
    }
    problem_build_links(&f.links, LINKS, link, v_free);
    problem_build_densify(&f.links.problem, &f.dense);
    Error error = {0};
    mass_init(&f.links_mass, &f.links.problem, NULL, &f.links.arena, &error);
    mass_init(&f.dense_mass, &f.dense.problem, NULL, &f.dense.arena, &error);
    double p[LINKS], q[LINKS];
    for (uint32_t i = 0; i < LINKS; i++) {
        p[i] = q[i] = problem_build_random(&f.state);
    }
    mass_solve(&f.links_mass, p);
    mass_solve(&f.dense_mass, q);
    for (uint32_t i = 0; i < LINKS; i++) {
        ck_assert_double_eq_tol(p[i], q[i], 1e-16 * CONDITION * largest(q, LINKS));
    }
    fixture_deinit(&f);
}
END_TEST

// A spine with a rib at each of its links, whose ribs come first: what is gathered on the way waits
// in a slot for the rib alone, not for all of the spine.
START_TEST(a_long_comb_needs_two_slots) {
    enum { LINKS = 1001 };
    ProblemBuild build;
    ProblemMass mass;
    Error error = {0};
    problem_build_init(&build);
    ProblemBuildLink *link = arena_take_zeroed(&build.arena, LINKS, sizeof(*link));
    double *v_free = arena_take_zeroed(&build.arena, LINKS, sizeof(*v_free));
    for (uint32_t i = 0; i < LINKS; i++) {
        // 0, then rib 1 and spine 2, on which rib 3 and spine 4 hang, …
        link[i] = (ProblemBuildLink){.parent = i == 0 ? PROBLEM_NO_LINK : (i - 1) / 2 * 2,
                                     .count = 1,
                                     .mass = 1.0,
                                     .inertia = {0.1, 0.1, 0.1, 0.0, 0.0, 0.0},
                                     .center = vec3(0.5 * i, 0.0, 0.0),
                                     .motion = {0.0, 0.0, 0.0, 0.0, 0.0, 1.0}};
    }
    problem_build_links(&build, LINKS, link, v_free);
    ck_assert_int_eq(mass_init(&mass, &build.problem, NULL, &build.arena, &error), STATUS_OK);
    for (uint32_t i = 0; i < LINKS; i++) {
        ck_assert_uint_le(mass.link[i].slot, 1);
    }
    problem_build_deinit(&build);
}
END_TEST

// A free body is a tree of one link with six velocities.
START_TEST(a_body_is_a_tree_of_one_link) {
    ProblemBuild build;
    ProblemMass mass;
    Error error = {0};
    ProblemBuildLink link = {.parent = PROBLEM_NO_LINK,
                             .count = 6,
                             .mass = 2.0,
                             .inertia = {0.3, 0.2, 0.4, 0.02, 0.01, 0.03}};
    const double v_free[6] = {0.0};
    for (size_t k = 0; k < 6; k++) {
        link.motion[7 * k] = 1.0;
    }
    problem_build_init(&build);
    problem_build_links(&build, 1, &link, v_free);
    problem_build_free(&build, 2.0, link.inertia, v_free);
    ck_assert_int_eq(mass_init(&mass, &build.problem, NULL, &build.arena, &error), STATUS_OK);
    double p[12] = {1.0, -2.0, 3.0, 0.5, 0.25, -1.0, 1.0, -2.0, 3.0, 0.5, 0.25, -1.0};
    mass_solve(&mass, p);
    for (int k = 0; k < 6; k++) {
        // the inertia's condition number is about 2
        ck_assert_double_eq_tol(p[k], p[6 + k], 1e-14);
    }
    problem_build_deinit(&build);
}
END_TEST

static TCase *case_random(void) {
    TCase *tcase = tcase_create("random trees");
    tcase_add_loop_test(tcase, the_matrix_is_the_one_of_the_definition, 0, TREES);
    tcase_add_loop_test(tcase, multiplying_is_multiplying_with_the_matrix, 0, TREES);
    tcase_add_loop_test(tcase, solving_is_solving_with_the_matrix, 0, TREES);
    return tcase;
}

static TCase *case_special(void) {
    TCase *tcase = tcase_create("special trees");
    tcase_add_test(tcase, a_double_pendulum_has_the_mass_of_the_textbook);
    tcase_add_test(tcase, a_factor_grows_with_the_links);
    tcase_add_loop_test(tcase, trees_of_all_shapes_answer_as_dense_ones, 0, 4);
    tcase_add_test(tcase, a_long_comb_needs_two_slots);
    tcase_add_test(tcase, a_body_is_a_tree_of_one_link);
    return tcase;
}

SUITE_MAIN("solve/mass_links", case_random, case_special)
