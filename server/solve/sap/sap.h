// SPDX-License-Identifier: MIT
// The row of `sap` in the table of solvers: compliant contact with regularised friction, convex, by
// Newton's method (Castro, Permenter, Han). The laws of contacts and rows are in
// solve/descent/law.h, the minimiser of an island in solve/descent/island.h.
#pragma once

#include "solve/method.h"

// Parameters, in the order of the table.
enum {
    SAP_TOLERANCE,      // of the certificate's e_own, and of the momentum balance
    SAP_MAX_ITERATIONS, // Newton steps of one island
    SAP_FRICTION,       // SapFriction
    SAP_BETA,           // of contacts: how many steps a near-rigid one takes to swing
    SAP_SIGMA,          // R_t over w
    SAP_ROW_BETA,
    SAP_STIFFNESS_DEFAULT, // of contacts that have none; 0: near-rigid
    SAP_WARM_START,
    SAP_METHOD, // SapMethod
    SAP_BUDGET, // operations of a step
    SAP_PARAMETER_COUNT
};

typedef enum SapFriction { SAP_CONVEX, SAP_LAGGED } SapFriction;

typedef enum SapMethod { SAP_AUTO, SAP_NEWTON } SapMethod;

extern const ParameterRow sap_parameters[SAP_PARAMETER_COUNT];

SolverProc sap_solve;
SolverBiasProc sap_bias;
SolverTimeProc sap_time;
