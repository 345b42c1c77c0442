// SPDX-License-Identifier: MIT
// The row of `compliant` in the table of solvers: springs and dampers, one for each contact and
// row, integrated implicitly (Drumwright), with Coulomb friction. The laws are in law.h,
// the optimiser of an island in island.h.
#pragma once

#include "solve/method.h"

// Parameters, in the order of the table.
enum {
    COMPLIANT_TOLERANCE,      // of the certificate's e_own
    COMPLIANT_MAX_ITERATIONS, // Newton steps of one island
    COMPLIANT_TANGENTIAL_DAMPING,
    COMPLIANT_STIFFNESS_DEFAULT, // of contacts and rows that have none; 0: they are refused
    COMPLIANT_ACTIVATION,        // CompliantActivation
    COMPLIANT_WARM_START,
    COMPLIANT_GDOT,     // CompliantGdot
    COMPLIANT_FRICTION, // CompliantFriction
    COMPLIANT_ZETA,     // of the printed program; 0: 1 / time_step
    COMPLIANT_BUDGET,   // operations of a step
    COMPLIANT_PARAMETER_COUNT
};

typedef enum CompliantActivation {
    COMPLIANT_PREDICTIVE, // whatever is within reach may push
    COMPLIANT_CONTACT     // what does not overlap as the step begins does not
} CompliantActivation;

typedef enum CompliantGdot {
    COMPLIANT_GDOT_OFF,
    COMPLIANT_GDOT_ON // the paper's terms of a Jacobian that changes (gdot.h)
} CompliantGdot;

typedef enum CompliantFriction {
    COMPLIANT_COULOMB,
    COMPLIANT_PRINTED // the paper's program, which is not Coulomb (program.h)
} CompliantFriction;

extern const ParameterRow compliant_parameters[COMPLIANT_PARAMETER_COUNT];

// Whether it reads what a step knows of changing Jacobians.
bool compliant_wants_gdot(const double *parameter);

SolverProc compliant_solve;
SolverBiasProc compliant_bias;
SolverTimeProc compliant_time;
