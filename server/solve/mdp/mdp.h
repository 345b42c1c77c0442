// SPDX-License-Identifier: MIT
// The row of `mdp` in the table of solvers: Gauss-Seidel over contacts and rows, each contact
// solved exactly (solve/block.h), or Newton's method over islands (newton.h). How a problem is laid
// out for the sweeps is in pack.h, their order in colour.h.
#pragma once

#include "solve/method.h"

// Parameters, in the order of the table.
enum {
    MDP_TOLERANCE,          // of the certificate's e_own
    MDP_MAX_ITERATIONS,     // sweeps; Newton: factorisations of one island
    MDP_FRICTION,           // MdpFriction
    MDP_OVERLAP_CORRECTION, // eps: share of an overlap that a step asks to remove
    MDP_WARM_START,
    MDP_METHOD,       // MdpMethod
    MDP_ACCELERATION, // whether sweeps are more than the paper's
    MDP_PARTITIONS,   // of the paper's blend, for each island
    MDP_RELAXATION,   // of the same
    MDP_BUDGET,       // multiplications of a step for Newton's method, under auto
    MDP_PARAMETER_COUNT
};

typedef enum MdpFriction { MDP_MAXIMUM_DISSIPATION, MDP_COULOMB } MdpFriction;
typedef enum MdpMethod { MDP_GAUSS_SEIDEL, MDP_NEWTON, MDP_AUTO } MdpMethod;

extern const ParameterRow mdp_parameters[MDP_PARAMETER_COUNT];

SolverProc mdp_solve;
SolverBiasProc mdp_bias;

// The share of the budget that a step takes in vain without a second thought.
#define MDP_EASY_SHARE 0x1p-5
void mdp_ease(double *parameter);
