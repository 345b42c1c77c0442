// SPDX-License-Identifier: MIT
// One contact with friction alone, solved exactly:
//
//     K in gamma _|_ N gamma + b in K^*,     N = A_ii + R, symmetric and positive.
//
// It is off (gamma = 0), sticks (gamma = -N^-1 b), or slides: gamma and N gamma + b both lie on the
// boundaries of their cones, opposite each other, which is
//
//     (N + s Q) gamma = -b,   Q = diag(-mu^2, 1, 1),   mu gamma_n = |gamma_t|
//
// for one s > 0. N + s Q turns singular at one pole s_p > 0, whose null vector is inside K; the
// root is below the pole where b points away from it, and above it otherwise.
#pragma once

#include "solve/mass.h"

// `regular` is added to the diagonal of the block.
void ccp_local_solve(const MassBlock *block, double regular, double mu, const double b[3],
                     double gamma[3]);
