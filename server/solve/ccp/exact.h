// SPDX-License-Identifier: MIT
// Exact Coulomb friction from the convex problem (De Saxce; Acary and Cadoux): the relaxed contact
// is lifted by mu |u_t| as it slides, so its target is lowered by as much, from pass to pass, until
// what was lowered is what slides:
//
//     K in gamma _|_ u + mu |u_t + R gamma_t|_before e_n + R gamma in K^*
//
// Each pass is a relaxed problem, and declared as such while it is solved.
#pragma once

#include "solve/ccp/island.h"

// Declares what is solved of the island from now on: exact friction, or one pass of it as it is.
void ccp_exact_declare(const CcpIsland *s, Answer *answer, bool is_exact);

// Lowers the targets by what slides in the answer; the largest change of one [m/s].
double ccp_exact_lower(CcpIsland *s, const Answer *answer);
