// SPDX-License-Identifier: MIT
// What belongs to a world as a whole. The solver and its parameters are carried as numbers; their
// meaning is solve/solver.h's, which this room does not know.
#pragma once

#include "base/status.h"
#include "base/vec.h"
#include "world/material.h"
#include "world/setting_map.h"

#include <stddef.h>

enum { SETTINGS_PARAMETER_MAX = 24 }; // step/ asserts that it is the solvers' own limit

// What moves positions and orientations, v0 before and v1 after the step; the numbers are those of
// the wire.
typedef enum Integrator {
    INTEGRATOR_SYMPLECTIC, // v1
    INTEGRATOR_EXPLICIT,   // v0
    INTEGRATOR_IMPLICIT,   // v1, and forces that depend on the state are taken at its end
    INTEGRATOR_MIDPOINT,   // (v0 + v1)/2
    INTEGRATOR_RK4,        // what nothing pushes goes by stages of fourth order
    INTEGRATOR_VERLET,     // … by those of Störmer and Verlet, which keep areas of phase space
    INTEGRATOR_COUNT
} Integrator;

// By stages goes what nothing pushes, and what is resolved: all else as under symplectic, and so do
// rows of joints.
static inline bool integrator_is_staged(uint8_t integrator) {
    return integrator == INTEGRATOR_RK4 || integrator == INTEGRATOR_VERLET;
}

static inline uint8_t integrator_of_pushed(uint8_t integrator) {
    return integrator_is_staged(integrator) ? (uint8_t)INTEGRATOR_SYMPLECTIC : integrator;
}

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

// What a step may cost (solve/effort.h); the numbers are those of the wire.
typedef enum WorldEffort {
    WORLD_EXACT,
    WORLD_BALANCED,
    WORLD_FAST,
    WORLD_EFFORT_COUNT
} WorldEffort;

#define X(bit, section, upper, ...) SETTING_##upper,
typedef enum SettingKind { SETTING_MAP(X, X, X, X, X) SETTING_COUNT } SettingKind;
#undef X

typedef enum SettingType {
    SETTING_IS_VECTOR, // Vec3
    SETTING_IS_NUMBER, // double
    SETTING_IS_CHOICE, // uint8_t
    SETTING_IS_FLAG,   // bool
    SETTING_IS_COUNT   // uint32_t
} SettingType;

typedef struct Setting {
    const char *name;
    SettingType type;
    uint32_t bit;        // the one bit of SettingsChange.given
    uint32_t section;    // of a snapshot
    size_t offset;       // in WorldSettings
    double initial[3];   // default; of a vector all three
    int range;           // RangeKind of its numbers; of a choice, how many there are
    const char *choices; // of a choice, as told
} Setting;

const Setting *setting_get(SettingKind kind);

// Bounds are a box in world axes: a dynamic body whose centre of mass is outside of it after a step
// is removed, as the last part of that step. Static and kinematic bodies stay wherever they are:
// whoever placed or moves them knows where they go.
#define X_VECTOR(bit, section, upper, name, ...) Vec3 name;
#define X_NUMBER(bit, section, upper, name, ...) double name;
#define X_CHOICE(bit, section, upper, name, ...) uint8_t name;
#define X_FLAG(bit, section, upper, name, ...)   bool name;
#define X_COUNT(bit, section, upper, name, ...)  uint32_t name;
typedef struct WorldSettings {
    SETTING_MAP(X_VECTOR, X_NUMBER, X_CHOICE, X_FLAG, X_COUNT)
    bool has_bounds;
    uint32_t solver;                 // SolverKind
    Vec3 bounds_lower, bounds_upper; // [m] corners; zero without bounds
    double parameter[SETTINGS_PARAMETER_MAX];
} WorldSettings;
#undef X_VECTOR
#undef X_NUMBER
#undef X_CHOICE
#undef X_FLAG
#undef X_COUNT

// Where a setting is.
static inline void *setting_at(WorldSettings *settings, const Setting *setting) {
    return (char *)settings + setting->offset;
}

static inline const void *setting_of(const WorldSettings *settings, const Setting *setting) {
    return (const char *)settings + setting->offset;
}

// The number that a setting is; a choice its number, a flag 0 or 1. What is none of the choices
// stays none. Of a vector there is no such number.
double setting_number(const WorldSettings *settings, const Setting *setting);
void setting_set_number(WorldSettings *settings, const Setting *setting, double number);

// A choice of the wire as the settings hold it.
static inline uint8_t settings_choice(uint32_t choice) {
    return choice < UINT8_MAX ? (uint8_t)choice : UINT8_MAX;
}

void setting_copy(WorldSettings *to, const WorldSettings *from, const Setting *setting);
void setting_reset(WorldSettings *settings, const Setting *setting); // to its default
bool setting_is_initial(const WorldSettings *settings, const Setting *setting);

// To the last bit.
bool settings_are_same(const WorldSettings *a, const WorldSettings *b);

// Gravity, step and thresholds as documented in the proto; solver 0 with all parameters 0: the
// caller sets them.
WorldSettings settings_default(void);

// Judges all but solver and parameters.
Status settings_check(const WorldSettings *settings, Error *error);
