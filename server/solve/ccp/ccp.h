// SPDX-License-Identifier: MIT
// The row of `ccp` in the table of solvers: contacts with friction and rows together as one cone
// complementarity problem, the optimality conditions of a convex program (Negrut, Serban, Tasora):
//
//     K in gamma _|_ u + R gamma in K^*,   u = J v + motion + bias e_n,
//     v = v_free + M^-1 (J^T gamma + G^T r)
//
// The methods are in files of their own: interior.h, ...; what they share in island.h.
#pragma once

#include "solve/method.h"

// Parameters, in the order of the table.
enum {
    CCP_TOLERANCE,      // of the certificate's e_own
    CCP_MAX_ITERATIONS, // of one island
    CCP_COMPLIANCE,     // alpha [m/N] of contacts
    CCP_WARM_START,
    CCP_METHOD,  // CcpMethod
    CCP_COULOMB, // CcpCoulomb
    CCP_BUDGET,  // operations of a step
    CCP_PARAMETER_COUNT
};

typedef enum CcpMethod {
    CCP_INTERIOR_POINT,
    CCP_GAUSS_SEIDEL,
    CCP_APGD,
    CCP_BARZILAI_BORWEIN
} CcpMethod;

typedef enum CcpCoulomb { CCP_RELAXED, CCP_EXACT } CcpCoulomb;

extern const ParameterRow ccp_parameters[CCP_PARAMETER_COUNT];

SolverProc ccp_solve;
SolverBiasProc ccp_bias;
