// SPDX-License-Identifier: MIT
// A complementarity problem once it is known which unknowns are not 0: a linear system.
#pragma once

#include "solve/lcp/system.h"

// The z whose entries are 0 but for those of the basis, where w is 0, with one refinement; of many,
// as where more contacts hold than need be, the smallest, multipliers counted as impulses. Whether
// w is 0 in rows that depend on others as well is for the residual to say. RESOURCE_EXHAUSTED,
// ABORTED; all memory is given back.
Status lcp_solve_basis(const LcpSystem *system, const uint8_t *basis, Arena *arena, LcpCount *count,
                       double *z);

// A contact that sticks has no velocity along any direction, and so any two of them may make its
// friction: where the basis makes it with a negative share, the two that it lies between take its
// place, which changes no velocity.
void lcp_turn_friction(const LcpSystem *system, uint8_t *basis, LcpCount *count, double *z);
