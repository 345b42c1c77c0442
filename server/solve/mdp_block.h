// SPDX-License-Identifier: MIT
// The analytic single-contact solutions behind `mdp`: given A (3x3, symmetric positive definite,
// order normal, tangent, tangent) and b, the reaction x with  dv = A x - b  under maximum
// dissipation, or under exact Coulomb friction.
#pragma once

#include <stdbool.h>

typedef struct MdpBlock {
    double nn, nt, no, tt, to, oo; // A
    double mu;
} MdpBlock;

// Which branch answered: for tests and statistics.
typedef enum MdpBranch { MDP_OPEN, MDP_FRICTIONLESS, MDP_STICK, MDP_GRAZING, MDP_SLIDE } MdpBranch;

// Maximum dissipation: minimises 1/2 x'Ax - x'b over the friction cone on the plane of maximum
// compression.
MdpBranch mdp_block_dissipation(const MdpBlock *block, const double b[3], double x[3]);

// Exact Coulomb: zero if b_n <= 0, else stick, else the sliding solution of least energy.
MdpBranch mdp_block_coulomb(const MdpBlock *block, const double b[3], double x[3]);

// Every Coulomb solution with b_n > 0 that slides: fills at most 4, returns how many. For tests and
// studies.
int mdp_block_coulomb_all(const MdpBlock *block, const double b[3], double x[4][3]);
