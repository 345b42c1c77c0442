// SPDX-License-Identifier: MIT
// The row of `lcp` in the table of solvers: a polyhedral friction cone, Lemke's algorithm, and gaps
// that are met at the end of the step (Stewart and Trinkle 1996). How an island becomes a linear
// complementarity problem is in lcp_matrix.h, how that is solved in lcp_ladder.h, how geometry
// enters in lcp_island.h.
#pragma once

#include "solve/solver.h"

enum { LCP_DIRECTIONS_MAX = 128, LCP_ROWS_MAX = 20000 };

// Parameters, in the order of the table.
enum {
    LCP_TOLERANCE,      // of the certificate's e_own
    LCP_MAX_ITERATIONS, // pivots for one complementarity problem
    LCP_DIRECTIONS,     // k, even
    LCP_PASSES,         // linearisations
    LCP_MAX_ROWS,       // of one complementarity problem
    LCP_WARM_START,
    LCP_BUDGET, // operations of a step
    LCP_PARAMETER_COUNT
};

extern const ParameterRow lcp_parameters[LCP_PARAMETER_COUNT];

SolverProc lcp_solve;
SolverBiasProc lcp_bias;
