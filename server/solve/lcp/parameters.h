// SPDX-License-Identifier: MIT
// What can be said to `lcp`.
#pragma once

#include "solve/method.h"

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
