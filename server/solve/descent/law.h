// SPDX-License-Identifier: MIT
// The laws of the regularised problem, one for each contact and row: the impulse is a function
// of the relative velocity u = J v alone,
//
//     y = R^-1 (target - u),   gamma = P(y),
//
// where P is the projection, in the norm of R, on what the impulse may be: the friction cone of
// a contact, the bounds of a row, or, where friction is lagged, a ray beside a disc. All are
// gradients of convex functions of the velocity, their potentials:
//
//     l_i(u) = gamma . R y - gamma . R gamma / 2,   d l_i / d u = -gamma,
//     d gamma / d u = -slope, symmetric and not negative.
#pragma once

#include <stdint.h>

typedef enum SapLawKind { SAP_LAW_CONE, SAP_LAW_LAGGED, SAP_LAW_ROW } SapLawKind;

typedef struct SapLaw {
    SapLawKind kind;
    double target[3];  // of u, what moves by itself taken off [m/s]; of a row the first
    double normal;     // R_n, of a row R [1/kg]; > 0
    double tangent;    // R_t [1/kg]; > 0
    double mu;         // of a cone
    double bound;      // of lagged friction, the largest there is [N s]
    double low, high;  // of a row [N s]
    double share;      // of a cone: 1 / (1 + mu^2 R_t / R_n)
    double normal_off; // of a cone: mu R_t / R_n
} SapLaw;

SapLaw sap_law_cone(const double target[3], double normal, double tangent, double mu);
SapLaw sap_law_lagged(const double target[3], double normal, double tangent, double bound);
SapLaw sap_law_row(double target, double compliance, double low, double high);

// 3, of a row 1: how many numbers an impulse has
static inline uint32_t sap_law_size(const SapLaw *law) {
    return law->kind == SAP_LAW_ROW ? 1 : 3;
}

// y of u.
void sap_law_ask(const SapLaw *law, const double *u, double *y);

// gamma of y.
void sap_law_impulse(const SapLaw *law, const double *y, double *gamma);

// gamma and the slope of y, row by row.
void sap_law_slope(const SapLaw *law, const double *y, double *gamma, double *slope);

// The same target, cone or bounds, in the norm of another R.
SapLaw sap_law_with(const SapLaw *law, double normal, double tangent);

// The potential where y is asked for and gamma is what comes.
double sap_law_potential(const SapLaw *law, const double *y, const double *gamma);
