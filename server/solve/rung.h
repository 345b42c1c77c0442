// SPDX-License-Identifier: MIT
// What it took to solve a linear complementarity problem, from easy to hard; the last ones are not
// solved, and the certificate says how far off their answers are.
#pragma once

typedef enum LcpRung {
    LCP_RUNG_NONE,              // nothing was to be solved
    LCP_RUNG_BASIS,             // the basis of the solve before solves it
    LCP_RUNG_LEMKE,             // Lemke's algorithm, softened or as it is
    LCP_RUNG_COVER,             // … with another covering vector
    LCP_RUNG_TIES,              // … with wider ties
    LCP_RUNG_DIAGONAL,          // … with a multiple of the identity, which is taken out again
    LCP_RUNG_UNSOLVED_RAY,      // Lemke's algorithm ended in a ray
    LCP_RUNG_UNSOLVED_PIVOTS,   // max_iterations pivots were not enough, or they go round
    LCP_RUNG_UNSOLVED_RESIDUAL, // what was found does not pass the check
    LCP_RUNG_COUNT
} LcpRung;
