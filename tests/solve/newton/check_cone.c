// SPDX-License-Identifier: MIT
#include "solve/newton/cone.h"

#include "support/problem_build.h"
#include "support/suite.h"

#include <string.h>

// An island of one contact, or of one row, as far as the laws look at it.
static NewtonIsland island = {.v_scale = 2.0, .law = RELATION_CONE};

static NewtonConstraint contact_of(double mu) {
    return (NewtonConstraint){.rows = 3, .w = 1.7, .mu = mu};
}

static void random3(uint64_t *state, double size, double x[3]) {
    for (int k = 0; k < 3; k++) {
        x[k] = size * problem_build_random(state);
    }
}

// Solves d gamma + h du + fall d log kappa = -phi by d gamma: at the step's end Phi, linearised, is
// zero. So with du, d log kappa and the d gamma that belongs to them, Phi at a share s of all is
// 1 - s of what it was.
static double miss(const NewtonConstraint *c, const NewtonSmoothing *smoothing, const double *gamma,
                   const double *u, double share) {
    NewtonLaw law = newton_law(&island, c, smoothing, gamma, u);
    const double du[3] = {0.3, -0.2, 0.5}, growth = 0.4;
    NewtonSmoothing next = *smoothing;
    next.kappa *= 1.0 + growth * share;
    double next_gamma[3], next_u[3];
    for (uint32_t r = 0; r < c->rows; r++) {
        double sum = law.phi[r] + growth * law.fall[r];
        for (uint32_t q = 0; q < c->rows; q++) {
            sum += law.h[r * c->rows + q] * du[q];
        }
        next_gamma[r] = gamma[r] - share * sum;
        next_u[r] = u[r] + share * du[r];
    }
    double before = law.size;
    double after = newton_law_size(&island, c, &next, next_gamma, next_u);
    return fabs(after - (1.0 - share) * before);
}

START_TEST(a_step_of_a_law_is_its_derivative) {
    uint64_t state = 31 + (uint64_t)_i;
    const double center[3] = {0.4, 0.1, -0.3};
    for (int round = 0; round < 200; round++) {
        NewtonConstraint c = contact_of(_i == 0 ? 0.0 : 0.2 + fabs(problem_build_random(&state)));
        if (_i == 3) {
            c = (NewtonConstraint){
                .rows = 1, .w = 1.7, .low = -0.2, .high = 0.6, .compliance = 0.3};
        }
        if (_i == 2) {
            c.turn[0] = 0.4, c.turn[1] = -0.5;
        }
        double gamma[3], u[3];
        random3(&state, 1.0, gamma);
        random3(&state, 1.0, u);
        if (_i == 0) {
            gamma[1] = gamma[2] = 0.0;
        }
        // with a center and without, where what damps is too little to show
        const NewtonSmoothing smoothing = {.kappa = 0.3,
                                           .eta = round % 2 == 0 ? 0.2 : 1e-13,
                                           .center = round % 2 == 0 ? center : NULL};
        // what is left is of second order; third order is 2e-3 cubed
        double half = miss(&c, &smoothing, gamma, u, 1e-3),
               whole = miss(&c, &smoothing, gamma, u, 2e-3);
        ck_assert_double_le(half, 1e-3 * 0.1);
        ck_assert_msg(whole < 1e-8 || fabs(whole / half - 4.0) < 0.5, "%g, then %g", half, whole);
    }
}
END_TEST

START_TEST(a_law_is_met_by_sticking_sliding_and_open_contacts) {
    // without smoothing to speak of
    const NewtonSmoothing smoothing = {.kappa = 1e-12, .eta = 1e-10};
    const NewtonConstraint c = contact_of(0.5);
    const double gamma[3][3] = {{2.0, 0.4, -0.3}, {2.0, -0.8, 0.6}, {0.0, 0.0, 0.0}};
    const double u[3][3] = {{0.0, 0.0, 0.0}, {0.0, 0.8, -0.6}, {0.7, 3.0, 1.0}};
    ck_assert_double_le(newton_law_size(&island, &c, &smoothing, gamma[_i], u[_i]), 1e-9);
    const double wrong[3] = {-0.1, -0.8, 0.6};
    ck_assert_double_gt(newton_law_size(&island, &c, &smoothing, gamma[_i], wrong), 0.05);
}
END_TEST

START_TEST(a_turned_velocity_has_the_size_that_the_law_says) {
    uint64_t state = 3;
    NewtonConstraint c = contact_of(0.5);
    for (int round = 0; round < 100; round++) {
        c.turn[0] = 0.6 * problem_build_random(&state);
        c.turn[1] = 0.6 * problem_build_random(&state);
        double u[3], turned[2], derivative[4];
        random3(&state, 1.0, u);
        newton_turn(&c, u, turned, derivative);
        double nu = sqrt(turned[0] * turned[0] + turned[1] * turned[1]);
        ck_assert_double_eq_tol(turned[0], u[1] + nu * c.turn[0], 1e-14);
        ck_assert_double_eq_tol(turned[1], u[2] + nu * c.turn[1], 1e-14);
    }
    // at rest it is at rest
    double u[3] = {1.0, 0.0, 0.0}, turned[2], derivative[4];
    newton_turn(&c, u, turned, derivative);
    ck_assert_double_eq(turned[0], 0.0);
    ck_assert(numbers_are_finite(derivative, 4));
}
END_TEST

START_TEST(projected_impulses_are_in_their_cone) {
    uint64_t state = 9;
    const NewtonConstraint c = contact_of(0.3);
    for (int round = 0; round < 100; round++) {
        double gamma[3];
        random3(&state, 1.0, gamma);
        newton_project(&c, gamma);
        double t = sqrt(gamma[1] * gamma[1] + gamma[2] * gamma[2]);
        ck_assert_double_ge(gamma[0], 0.0);
        ck_assert_double_le(t, 0.3 * gamma[0] * (1.0 + 1e-15));
    }
    NewtonConstraint row = {.rows = 1, .low = -1.0, .high = 2.0};
    double r = 3.0;
    newton_project(&row, &r);
    ck_assert_double_eq(r, 2.0);
}
END_TEST

static TCase *case_cone(void) {
    TCase *tcase = tcase_create("cone");
    tcase_add_loop_test(tcase, a_step_of_a_law_is_its_derivative, 0, 4);
    tcase_add_loop_test(tcase, a_law_is_met_by_sticking_sliding_and_open_contacts, 0, 3);
    tcase_add_test(tcase, a_turned_velocity_has_the_size_that_the_law_says);
    tcase_add_test(tcase, projected_impulses_are_in_their_cone);
    return tcase;
}

SUITE_MAIN("solve/newton_cone", case_cone)
