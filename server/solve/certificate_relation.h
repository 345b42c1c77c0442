// SPDX-License-Identifier: MIT
// The residual of one contact in one of the five relations that a solver may claim, in m/s.
// certificate.md gives the formulas; every function lets NaN through, so that a lost digit never
// looks like a small residual.
#pragma once

#include "solve/answer.h"

// What has run away is told from what is there: a natural map looks at an impulse as a velocity,
// w gamma, that it does not let be more than so many V, or the velocity beside it would be lost in
// rounding.
#define CERTIFICATE_IMPULSE_MAX 1e8

// One contact as the certificate sees it.
typedef struct ContactState {
    double block[9]; // A_ii, row by row
    double w;        // trace / 3
    double c;        // scale of the natural maps: w, or less where the impulse is huge
    double mu;
    double u[3]; // J v + motion + bias e_n
    double gamma[3];
} ContactState;

// the larger and the smaller of two numbers; NaN when either is
static inline double relation_max(double a, double b) {
    return a > b || a != a ? a : b;
}

static inline double relation_min(double a, double b) {
    return a < b || a != a ? a : b;
}

// The residual of the relation of `answer`.
double relation_residual(const Answer *answer, const ContactRelation *relation,
                         const ContactState *state, double time_step);
