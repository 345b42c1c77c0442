// SPDX-License-Identifier: MIT
// Newton's method for the same problem in impulses. Every law is written in another metric, S = R +
// w, in which impulses and velocities are of one size,
//
//     gamma = P_S(x),   v = v* + A^-1 J^T gamma,
//     e = J v - target + R gamma - S (gamma - x)  is to be 0   (Robinson's normal map),
//
// which has the same solution as the minimiser in velocities:
//
//     T = (dP_S/dx) S^-1,  N = (I - w T)^-1,    (A + J^T T N J) d_v = -J^T T N e,
//     d_x = -S^-1 N (e + J d_v).
//
// The matrix is as sparse as the Hessian. What slides, sticks or leaves is told from impulse and
// velocity together, not from a velocity over an R that may be small: from far away it takes a
// third of the steps, and near the end it has digits where velocities have none left, as only e,
// what is left, is divided. But nothing falls with every step, so it need not come: it says so.
#pragma once

#include "solve/descent/island.h"

typedef struct SapImpulse {
    SapIsland *island;    // borrowed; its gamma is that of x, its v that of gamma
    SapLaw *scaled;       // [constraint_count] in the metric S
    double *x;            // [impulse_count]
    SapNearest nearest;   // so far
    double *e;            // [impulse_count]
    double *inverse;      // [9 constraint_count] N
    double *slope;        // [9 constraint_count] T N
    uint32_t refinements; // how often a solve is followed by one of what it left
    double residual;      // the largest number of e [m/s]
} SapImpulse;

// Memory for as many uses as one likes. RESOURCE_EXHAUSTED when the arena ends.
Status sap_impulse_init(SapImpulse *p, SapIsland *island, Arena *arena, Error *error);

// Starts from the island's gamma, or from none, whichever is nearer.
void sap_impulse_begin(SapImpulse *p);

// From where sap_island_minimise ended.
void sap_impulse_take_over(SapImpulse *p);

// Steps until the documented test holds with J^T T N e for the gradient,
//     |D J^T T N e| <= 1e-14 + tolerance max(|D A v|, |D J^T gamma|),
// and no number of e is above `velocity`, or as many as there are. More may follow. SAP_STALLED: it
// has not come half as near for some steps.
SapOutcome sap_impulse_minimise(SapImpulse *p, double tolerance, double velocity,
                                uint32_t iterations_max);

// Back to where it was nearest.
void sap_impulse_end(SapImpulse *p);
