// SPDX-License-Identifier: MIT
// The row of `lcp` in the table of solvers: a polyhedral friction cone, Lemke's algorithm, and gaps
// that are met at the end of the step (Stewart and Trinkle 1996). How an island becomes a linear
// complementarity problem is in matrix.h, how that is solved in ladder.h, how geometry
// enters in island.h.
#pragma once

#include "solve/lcp/parameters.h"

SolverProc lcp_solve;
SolverBiasProc lcp_bias;
