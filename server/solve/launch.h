// SPDX-License-Identifier: MIT
// What a convex friction cone does beside friction. A relaxed contact that pushes obeys
//
//     u_n = shift - R_n gamma_n + (1 - s) mu |u_t + R_t gamma_t|,
//
// of which the last term is nothing of the contact's: it *launches* what slides, until that
// *glides* so high that the target of its gap has eaten the term up. Of models whose friction is
// Coulomb's, s = 1, or is bounded by another impulse, both are 0.
#pragma once

#include "solve/certificate.h"

typedef struct Launch {
    double speed;    // [m/s] the largest last term of contacts that push
    double height;   // [m] how far above touching the highest of them is after the step, >= 0
    int64_t contact; // with the largest speed; -1: none launches
} Launch;

Launch launch_of(const ContactProblem *problem, const Answer *answer);
