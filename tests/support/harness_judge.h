// SPDX-License-Identifier: MIT
// A second certificate, made of plain loops over whole matrices in long doubles, from nothing but
// the problem and what an answer says: velocities, impulses, and the relations that it declares.
// It shares no code with the first, so a mistake would have to be made twice.
//
// Where long doubles are 64 bits wide, as on some machines, it is as exact as what it judges, and
// the tolerance that harness_judge gives still holds.
#pragma once

#include "support/harness.h"

// One contact or row as a law sees it: what it leaves, and what has been given.
typedef struct HarnessLaw {
    uint32_t island;  // UINT32_MAX: on none
    bool moves;       // else nothing is measured
    int rows;         // 3 or 1
    long double z[3]; // contact: u - shift + R gamma + s mu |…| e_n of (*); row: G v + bias + R r
    long double impulse[3];
    long double own; // [m/s] residual of the relation
    long double c;   // scale of its natural map [1/kg]
} HarnessLaw;

typedef struct HarnessVerdict {
    double entry[CERTIFICATE_ENTRY_COUNT]; // as the certificate's
    double rounding; // by how much those that are divided by V may differ from numbers in doubles
    double momentum_rounding; // the same of e_mom
    double cone_claimed;      // e_cone; 0 where friction is lagged, whose bound is another
    double scale;
    double rest; // |M (v - v*) - J^T gamma - G^T r| of all islands, in the norm of M^-1
    bool converged;
    HarnessLaw *contact, *row; // of the arena; [contact_count], [row_count]
} HarnessVerdict;

// What is not a number stays none.
void harness_judge(const ContactProblem *problem, const SolveResult *result, Arena *arena,
                   HarnessVerdict *verdict);

// |M^(1/2) (a - b)|^2 of two velocities of one problem.
long double harness_distance(const ContactProblem *problem, const double *a, const double *b);
