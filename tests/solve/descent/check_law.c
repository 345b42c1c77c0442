// SPDX-License-Identifier: MIT
// The laws of sap on random numbers: what comes is the projection that was meant, its slope is its
// derivative, and both are those of one convex potential.
#include "solve/descent/law.h"

#include "support/problem_build.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

enum { SEEDS = 40, ROUNDS = 200, KINDS = 3 };

static double positive(uint64_t *state) {
    return pow(10.0, 3.0 * problem_build_random(state)); // 1e-3 … 1e3
}

static SapLaw make_law(uint64_t *state, int kind) {
    double target[3], normal = positive(state), tangent = positive(state);
    for (int k = 0; k < 3; k++) {
        target[k] = problem_build_random(state);
    }
    double size = positive(state);
    switch (kind) {
    case SAP_LAW_CONE:
        return sap_law_cone(target, normal, tangent, size < 0.01 ? 0.0 : size);
    case SAP_LAW_LAGGED:
        return sap_law_lagged(target, normal, tangent, size < 0.01 ? 0.0 : size);
    default:
        return sap_law_row(target[0], normal, -size, size < 1.0 ? HUGE_VAL : 2.0 * size);
    }
}

static void make_velocity(uint64_t *state, const SapLaw *law, double *u) {
    for (uint32_t k = 0; k < sap_law_size(law); k++) {
        u[k] = 3.0 * problem_build_random(state);
    }
}

static double dot(const double *a, const double *b, uint32_t count) {
    double sum = 0.0;
    for (uint32_t k = 0; k < count; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

static double norm2(const double *x) {
    return sqrt(x[0] * x[0] + x[1] * x[1]);
}

// gamma in K, z = R (gamma - y) in its dual cone, gamma . z = 0
static void assert_on_cone(const SapLaw *law, const double *gamma, const double *z, double size) {
    double tolerance = 1e-14 * size * (1.0 + law->mu);
    ck_assert_double_le(norm2(gamma + 1), law->mu * gamma[0] * (1.0 + 1e-14));
    ck_assert_double_le(law->mu * norm2(z + 1), z[0] + tolerance);
    ck_assert_double_le(fabs(dot(gamma, z, 3)), tolerance * (fabs(gamma[0]) + norm2(gamma + 1)));
}

// both parts for themselves: a ray, and a disc
static void assert_on_disc(const SapLaw *law, const double *gamma, const double *z, double size) {
    ck_assert(gamma[0] >= 0.0 && z[0] >= 0.0);
    ck_assert_double_eq(gamma[0] * z[0], 0.0);
    double length = norm2(gamma + 1);
    ck_assert_double_le(length, law->bound * (1.0 + 1e-14));
    // z pulls straight back from the rim
    ck_assert_double_le(fabs(dot(gamma + 1, z + 1, 2) + law->bound * norm2(z + 1)),
                        1e-14 * size * (law->bound + length));
}

START_TEST(impulses_are_the_projection_of_what_is_asked_for) {
    uint64_t state = 100 + (uint64_t)_i;
    for (int round = 0; round < ROUNDS; round++) {
        SapLaw law = make_law(&state, round % KINDS);
        double u[3], y[3], gamma[3], z[3];
        make_velocity(&state, &law, u);
        sap_law_ask(&law, u, y);
        sap_law_impulse(&law, y, gamma);
        for (uint32_t k = 0; k < sap_law_size(&law); k++) {
            z[k] = (k == 0 ? law.normal : law.tangent) * (gamma[k] - y[k]);
        }
        double size = 10.0; // of velocities: targets and u are below 4
        if (law.kind == SAP_LAW_CONE) {
            assert_on_cone(&law, gamma, z, size);
        } else if (law.kind == SAP_LAW_LAGGED) {
            assert_on_disc(&law, gamma, z, size);
        } else {
            ck_assert(gamma[0] == fmin(fmax(y[0], law.low), law.high));
        }
    }
}
END_TEST

static void impulse_of(const SapLaw *law, const double *u, double *gamma) {
    double y[3];
    sap_law_ask(law, u, y);
    sap_law_impulse(law, y, gamma);
}

static double potential_of(const SapLaw *law, const double *u) {
    double y[3], gamma[3];
    sap_law_ask(law, u, y);
    sap_law_impulse(law, y, gamma);
    return sap_law_potential(law, y, gamma);
}

// Central differences against the slope, of step 1e-5: their error is that of the third derivative,
// 1e-10 of it, unless a kink lies between, where the two sides differ: those are left out.
START_TEST(slopes_are_the_derivatives_of_impulses) {
    uint64_t state = 500 + (uint64_t)_i;
    int compared = 0;
    for (int round = 0; round < ROUNDS; round++) {
        SapLaw law = make_law(&state, round % KINDS);
        uint32_t n = sap_law_size(&law);
        double u[3], y[3], gamma[3], slope[9], step = 1e-5;
        make_velocity(&state, &law, u);
        sap_law_ask(&law, u, y);
        sap_law_slope(&law, y, gamma, slope);
        double size = 1.0 / law.normal + (n == 3 ? 1.0 / law.tangent : 0.0);
        for (uint32_t k = 0; k < n; k++) {
            double ahead[3], behind[3], kept = u[k];
            u[k] = kept + step;
            impulse_of(&law, u, ahead);
            u[k] = kept - step;
            impulse_of(&law, u, behind);
            u[k] = kept;
            for (uint32_t r = 0; r < n; r++) {
                double right = (gamma[r] - ahead[r]) / step, left = (behind[r] - gamma[r]) / step;
                if (fabs(right - left) > 1e-3 * size) {
                    continue;
                }
                compared++;
                ck_assert_msg(fabs(0.5 * (right + left) - slope[r * n + k]) <= 1e-5 * size,
                              "kind %d, [%u,%u]: %g, wanted %g", law.kind, r, k, slope[r * n + k],
                              0.5 * (right + left));
                ck_assert_double_le(fabs(slope[r * n + k] - slope[k * n + r]), 1e-15 * size);
            }
        }
    }
    // of 200 laws with 9, 9 and 1 numbers
    ck_assert_int_gt(compared, 1000);
}
END_TEST

START_TEST(slopes_are_never_negative) {
    uint64_t state = 900 + (uint64_t)_i;
    for (int round = 0; round < ROUNDS; round++) {
        SapLaw law = make_law(&state, round % KINDS);
        uint32_t n = sap_law_size(&law);
        double u[3], y[3], gamma[3], slope[9], x[3];
        make_velocity(&state, &law, u);
        make_velocity(&state, &law, x);
        sap_law_ask(&law, u, y);
        sap_law_slope(&law, y, gamma, slope);
        double sum = 0.0, size = 0.0;
        for (uint32_t r = 0; r < n; r++) {
            sum += x[r] * dot(slope + r * n, x, n);
            size += fabs(x[r] * dot(slope + r * n, x, n));
        }
        ck_assert_double_ge(sum, -1e-14 * size);
    }
}
END_TEST

START_TEST(impulses_are_what_the_potential_falls_by) {
    uint64_t state = 1300 + (uint64_t)_i;
    for (int round = 0; round < ROUNDS; round++) {
        SapLaw law = make_law(&state, round % KINDS);
        uint32_t n = sap_law_size(&law);
        double u[3], gamma[3], step = 1e-6;
        make_velocity(&state, &law, u);
        impulse_of(&law, u, gamma);
        double steep = 1.0 / law.normal + (n == 3 ? 1.0 / law.tangent : 0.0);
        for (uint32_t k = 0; k < n; k++) {
            double kept = u[k];
            u[k] = kept + step;
            double ahead = potential_of(&law, u);
            u[k] = kept - step;
            double behind = potential_of(&law, u);
            u[k] = kept;
            // a kink of gamma costs steep step, rounding 1e-16 of some 10 steep over the step
            ck_assert_double_le(fabs((behind - ahead) / (2.0 * step) - gamma[k]),
                                steep * (step + 1e-8));
        }
    }
}
END_TEST

// Pitfall: with "stick" before "off" a frictionless contact that separates would pull.
START_TEST(a_frictionless_contact_never_pulls) {
    const double target[3] = {0.0, 0.0, 0.0};
    SapLaw law = sap_law_cone(target, 0.1, 0.001, 0.0);
    for (int k = 0; k < 3; k++) {
        const double u[3] = {k * 0.5, 0.0, 0.0};
        double y[3], gamma[3], slope[9];
        sap_law_ask(&law, u, y);
        sap_law_slope(&law, y, gamma, slope);
        ck_assert_double_eq(gamma[0], 0.0);
        ck_assert_double_eq(gamma[1], 0.0);
        ck_assert_double_eq(slope[0], 0.0);
    }
}
END_TEST

START_TEST(what_is_not_a_number_stays_so) {
    const double target[3] = {0.0, 0.0, 0.0}, u[3] = {NAN, 0.0, 0.0};
    SapLaw laws[3] = {sap_law_cone(target, 0.1, 0.001, 0.5),
                      sap_law_lagged(target, 0.1, 0.001, 0.5),
                      sap_law_row(0.0, 0.1, 0.0, HUGE_VAL)};
    for (int k = 0; k < 3; k++) {
        double gamma[3];
        impulse_of(&laws[k], u, gamma);
        ck_assert(gamma[0] != gamma[0]);
    }
}
END_TEST

static TCase *case_law(void) {
    TCase *tcase = tcase_create("law");
    tcase_add_loop_test(tcase, impulses_are_the_projection_of_what_is_asked_for, 0, SEEDS);
    tcase_add_loop_test(tcase, slopes_are_the_derivatives_of_impulses, 0, SEEDS);
    tcase_add_loop_test(tcase, slopes_are_never_negative, 0, SEEDS);
    tcase_add_loop_test(tcase, impulses_are_what_the_potential_falls_by, 0, SEEDS);
    tcase_add_test(tcase, a_frictionless_contact_never_pulls);
    tcase_add_test(tcase, what_is_not_a_number_stays_so);
    return tcase;
}

SUITE_MAIN("solve/sap_law", case_law)
