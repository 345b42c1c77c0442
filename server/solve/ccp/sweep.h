// SPDX-License-Identifier: MIT
// Gauss-Seidel over the constraints of one island: each alone is solved exactly (local.h), the
// velocities following at once. The published step 3 / trace(N_ii) diverges where a block is not
// round, and 1 / lambda_max takes thousands of sweeps; the exact solution has no step.
#pragma once

#include "solve/ccp/island.h"

typedef struct CcpSweep {
    CcpIsland *of;    // borrowed
    double *v;        // of the island's gamma
    double *response; // M^-1 J^T, as the Jacobians of the island's blocks, one after the other
    uint32_t fresh;   // sweeps since v was made anew
} CcpSweep;

// RESOURCE_EXHAUSTED when the arena ends.
Status ccp_sweep_init(CcpSweep *p, CcpIsland *island, Arena *arena, Error *error);

// One sweep, an iteration; `change` becomes the largest change of an impulse, as a velocity [m/s].
CcpOutcome ccp_sweep_step(CcpSweep *p, double *change);
