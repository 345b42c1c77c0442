// SPDX-License-Identifier: MIT
// The interior-point method for one island: Mehrotra's predictor and corrector along the central
// path of
//
//     M (v - v*) = J^T gamma,   s = u + R gamma,   z o s = omega m e     (cones: cone.h)
//
// in Nesterov and Todd's scaling, m falling to 0. Eliminated down to velocities, each iteration is
// one sparse system for two right sides,
//
//     (M + J^T H J) dv = ...,   H = (W^2 + R)^-1,
//
// as sparse as the graph of trees and contacts, so that one plan of elimination serves all. omega =
// 1 / w makes m the square of a velocity, and every contact as near to its law as the others,
// whatever their masses.
//
// W^2 vanishes where a contact holds, and there is none where a row is bilateral: a share of w is
// added, and what it leaves of the equations is solved again with the same factor. So contacts and
// rows may be redundant as they like.
#pragma once

#include "solve/ccp/island.h"

typedef struct CcpBarrier CcpBarrier;

typedef struct CcpInterior {
    CcpIsland *of;       // borrowed
    Ldlt *ldlt;          // borrowed, for its graph
    CcpBarrier *barrier; // [constraint_count]
    double *v, *d_v;     // the iterate, and its change
    double *p;           // what is left of the balance of momentum
    double *rest;        // of a linear system
    double *work;        // [velocity_count]
    double *d_gamma;     // [impulse_count]
    double m;            // [m^2/s^2] how far along the path
    double *gamma;       // [impulse_count] of the iterate
    double best;         // the least m so far …
    uint32_t best_at;    // … and after how many iterations
} CcpInterior;

// Memory for as many uses as one likes. RESOURCE_EXHAUSTED when the arena ends.
Status ccp_interior_init(CcpInterior *p, CcpIsland *island, Ldlt *ldlt, Arena *arena, Error *error);

// To where it begins: from the island's gamma, which leaves `residual` [m/s] of its laws, or, where
// that is as much as V, from none.
void ccp_interior_begin(CcpInterior *p, double residual);

// One iteration. The island's gamma is that of the iterate; none where impulses run away, and it
// has stalled.
CcpOutcome ccp_interior_step(CcpInterior *p);
