// SPDX-License-Identifier: MIT
// What belongs to a world as a whole. The solver and its parameters are carried as numbers; their
// meaning is solve/solver.h's, which this room does not know.
#pragma once

#include "base/status.h"
#include "base/vec.h"

enum { SETTINGS_PARAMETER_MAX = 24 }; // step/ asserts that it is the solvers' own limit

typedef struct WorldSettings {
    Vec3 gravity;                 // [m/s^2]
    double time_step;             // [s]
    double margin;                // [m]
    double restitution_threshold; // [m/s]
    uint32_t solver;              // SolverKind
    double parameter[SETTINGS_PARAMETER_MAX];
} WorldSettings;

// Gravity, step and thresholds as documented in the proto; solver 0 with all parameters 0: the
// caller sets them.
WorldSettings settings_default(void);

// Judges all but solver and parameters.
Status settings_check(const WorldSettings *settings, Error *error);
