// SPDX-License-Identifier: MIT
// First-order methods for one island: nothing is factored, each iteration is one product with N =
// J M^-1 J^T + R, constraint by constraint and tree by tree. Variables are scaled, x = gamma
// sqrt(w), so that the diagonal of N is about 1 and mass ratios do not decide.
//
//   accelerated   projected gradients with Nesterov's momentum, which restarts where it leads up
//                 (APGD, Mazhar et al.). N is linear, so N y of the next point follows from N x
//                 of the last two
//   spectral      projected gradients with Barzilai and Borwein's steps, of both kinds, each no
//                 longer than keeps the cost below the largest of the last ten
#pragma once

#include "solve/ccp/island.h"

enum { CCP_DESCENT_MEMORY = 10, CCP_DESCENT_SHORT = 3 };

typedef struct CcpDescent {
    CcpIsland *of; // borrowed
    bool is_accelerated;
    double *scale;   // [constraint_count] sqrt(w)
    double *p;       // the gradient at 0; these and what follows [impulse_count]
    double *x, *n_x; // the iterate, and N x
    double *y, *n_y; // where the gradient is taken
    double *next, *n_next;
    double *gamma, *v;  // scratch of the product
    double theta, step; // momentum; 1 / L, or the spectral step
    double cost[CCP_DESCENT_MEMORY];
    double short_step[CCP_DESCENT_SHORT]; // the newest short spectral steps …
    double ratio;                         // … and how much of the long one they may be
} CcpDescent;

// RESOURCE_EXHAUSTED when the arena ends.
Status ccp_descent_init(CcpDescent *d, CcpIsland *island, bool is_accelerated, Arena *arena,
                        Error *error);

// To the island's gamma.
void ccp_descent_begin(CcpDescent *d);

// One iteration; the island's gamma is that of the iterate. `change` becomes the largest number of
// the projected gradient [m/s].
CcpOutcome ccp_descent_step(CcpDescent *d, double *change);
