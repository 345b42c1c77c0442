// SPDX-License-Identifier: MIT
// What of `mdp` is done by Newton's method (newton.h): the islands that are not met, one after the
// other, the small ones first, each from the impulses that it has. Within a budget that is counted,
// never timed, and without a state of its own: the same problem takes the same way wherever it is
// solved.
#pragma once

#include "solve/judge.h"

typedef struct MdpNewton {
    double tolerance;      // aimed at, no larger than the judge's
    double iterations_max; // factorisations of one island
    double operations_max; // multiplications of all of them, about
    double least;          // what is left for an island must suffice for so many factorisations …
    bool *is_left;         // … or it is left as it is, and this says so; [islands], Nullable
    const bool *is_asked;  // [islands] of others nothing is done; Nullable: all are
} MdpNewton;

// Multiplications: of all islands, and of those that stay open.
typedef struct MdpSpent {
    double all, vain;
} MdpSpent;

// Islands are judged afterwards, with the reason why they ended. The most factorisations of any are
// added to the result's iterations. Where the judge's limit is met it says so, and ends with what
// it has.
Status mdp_newton(Judge *judge, const MdpNewton *budget, MdpSpent *spent);
