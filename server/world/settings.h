// SPDX-License-Identifier: MIT
// What belongs to a world as a whole. The solver and its parameters are carried as numbers; their
// meaning is solve/solver.h's, which this room does not know.
#pragma once

#include "base/status.h"
#include "base/vec.h"

enum { SETTINGS_PARAMETER_MAX = 24 }; // step/ asserts that it is the solvers' own limit

// Which velocity moves positions and orientations, v0 before and v1 after the step; the numbers are
// those of the wire.
typedef enum Integrator {
    INTEGRATOR_SYMPLECTIC, // v1
    INTEGRATOR_EXPLICIT,   // v0
    INTEGRATOR_IMPLICIT,   // v1, and forces that depend on the state are taken at its end
    INTEGRATOR_MIDPOINT,   // (v0 + v1)/2
    INTEGRATOR_COUNT
} Integrator;

// How the spin of a body changes by its own gyroscopic torque; numbers of the wire.
typedef enum Rotation {
    ROTATION_MIDPOINT, // at the mean of the spins before and after: neither gains nor loses
    ROTATION_EXPLICIT, // at the spin before: gains
    ROTATION_IMPLICIT, // at the spin after: loses
    ROTATION_COUNT
} Rotation;

// Where a contact's plane is taken from; the numbers are those of the wire.
typedef enum ContactPlane {
    CONTACT_PLANE_APPROACH, // of the free motion of the step: where bodies touch, or pass
    CONTACT_PLANE_START,    // of where bodies are at the start of the step
    CONTACT_PLANE_COUNT
} ContactPlane;

// Bounds are a box in world axes: a dynamic body whose centre of mass is outside of it after a step
// is removed, as the last part of that step. Static and kinematic bodies stay wherever they are:
// whoever placed or moves them knows where they go.
typedef struct WorldSettings {
    Vec3 gravity;                 // [m/s^2]
    double time_step;             // [s]
    double margin;                // [m]
    double restitution_threshold; // [m/s]
    double recovery_speed;        // [m/s]: overlaps leave no faster; 1e9: as the solver has it
    double sleep_speed;           // [m/s]: of what is at rest; 0: nothing falls asleep (sleep.h)
    double sleep_time;            // [s] at rest until an island falls asleep
    uint8_t integrator;           // Integrator
    uint8_t rotation;             // Rotation
    uint8_t contact_plane;        // ContactPlane
    bool has_bounds;
    uint32_t solver;                 // SolverKind
    bool joint_projection;           // joints of rows are brought together after every step
    uint8_t unused[7];               // zero: settings are compared as bytes
    Vec3 bounds_lower, bounds_upper; // [m] corners; zero without bounds
    double parameter[SETTINGS_PARAMETER_MAX];
} WorldSettings;

// A choice of the wire as the settings hold it: what is none stays none.
static inline uint8_t settings_choice(uint32_t choice) {
    return choice < UINT8_MAX ? (uint8_t)choice : UINT8_MAX;
}

// To the last bit.
bool settings_are_same(const WorldSettings *a, const WorldSettings *b);

// Gravity, step and thresholds as documented in the proto; solver 0 with all parameters 0: the
// caller sets them.
WorldSettings settings_default(void);

// Judges all but solver and parameters.
Status settings_check(const WorldSettings *settings, Error *error);
