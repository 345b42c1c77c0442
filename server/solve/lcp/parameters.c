// SPDX-License-Identifier: MIT
#include "solve/lcp/parameters.h"

// About: of entries of tableaux, for the most part.
#define BUDGET_DEFAULT 5e9

const ParameterRow lcp_parameters[LCP_PARAMETER_COUNT] = {
    [LCP_TOLERANCE] = {"tolerance", PARAMETER_NUMBER, "", 1e-15, 1.0, 1e-6, 1e-6, NULL,
                       "largest own residual of a converged answer, as a share of V"},
    [LCP_MAX_ITERATIONS] = {"max_iterations", PARAMETER_COUNT, "", 1.0, 1e7, 100000.0, 100000.0,
                            NULL, "pivots after which a complementarity problem is given up"},
    [LCP_DIRECTIONS] = {"directions", PARAMETER_EVEN, "", 4.0, LCP_DIRECTIONS_MAX, 8.0, 8.0, NULL,
                        "edges of the friction cone, the first along the contact's first tangent"},
    [LCP_PASSES] =
        {"passes", PARAMETER_COUNT, "", 1.0, 1000.0, 20.0, 1.0, NULL,
         "how often contacts are taken anew where bodies come to; 1: the linear version"},
    [LCP_MAX_ROWS] =
        {"max_rows", PARAMETER_COUNT, "", 1.0, LCP_ROWS_MAX, 2000.0, 2000.0, NULL,
         "rows of one island, directions + 2 for each contact with friction; more are refused"},
    [LCP_WARM_START] = {"warm_start", PARAMETER_BOOL, "", 0.0, 1.0, 1.0, 1.0, NULL,
                        "try the basis of the step before"},
    [LCP_BUDGET] = {"budget", PARAMETER_NUMBER, "", 0.0, 1e15, BUDGET_DEFAULT, BUDGET_DEFAULT, NULL,
                    "operations of a step, about, of which small islands have their share first"},
};
