// SPDX-License-Identifier: MIT
// The laws of compliant contacts and rows: what a spring and a damper do at the end of the step.
// With stiffness K, damping B and the force F0 of the gap before it (-K phi for a linear spring),
//
//     lambda = F0 - (h K + B) u_n,    gamma = h lambda,    R = 1 / (h (h K + B)),
//
// so that u_n + R gamma_n is a *target*, F0 / (h K + B), where it pushes: the max law. Friction is
// Coulomb's, of a damper B_t that holds up to mu gamma_n, R_t = 1 / (h B_t).
//
// All of it is a projection in another metric, S = R + w, in which impulses and velocities are of
// one size whatever the stiffness:
//
//     gamma = P(x),    e = u - target + R gamma - S (gamma - x)    is to be 0.
//
// P first cuts x_n at 0, and then what is beside it at the disc of mu gamma_n: this is not the
// projection on the cone, and no gradient of anything, but Coulomb's law exactly.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct CompliantLaw {
    bool is_row;
    double target[3]; // of u, what moves by itself taken off [m/s]; of a row the first
    double normal;    // R_n, of a row R [1/kg]; > 0
    double tangent;   // R_t [1/kg]; > 0
    double mu;        // of a contact
    double low, high; // of a row [N s]
} CompliantLaw;

static inline uint32_t compliant_law_size(const CompliantLaw *law) {
    return law->is_row ? 1 : 3;
}

// Targets that are further away than this are those of what may not push at all [m/s].
#define COMPLIANT_LAW_FAR 1e29

static inline bool compliant_law_is_far(const CompliantLaw *law) {
    return law->target[0] < -COMPLIANT_LAW_FAR || law->target[0] > COMPLIANT_LAW_FAR;
}

// R of number r of the law's
static inline double compliant_law_r(const CompliantLaw *law, uint32_t r) {
    return r == 0 ? law->normal : law->tangent;
}

// gamma = P(x).
void compliant_law_impulse(const CompliantLaw *law, const double *x, double *gamma);

// What Newton's method needs at x, row by row, with T = dP/dx: `inverse` = (S - w T)^-1 and
// `slope` = T (S - w T)^-1, which where a contact slides is not symmetric.
void compliant_law_linearise(const CompliantLaw *law, double w, const double *x, double *inverse,
                             double *slope);
