// SPDX-License-Identifier: MIT
// The ranges of every number that a client may set in a world: one table, used by the checks and by
// Describe, so that what is said and what is done agree.
#pragma once

#include "base/status.h"
#include "world/setting_map.h"

#include <stddef.h>

// Those of a world's settings are in their own rows, setting_map.h. Here:
// name, message and field on the wire, unit, minimum, maximum, is the minimum itself refused,
// meaning
#define RANGE_MAP(X)                                                                               \
    X(BOUNDS, "WorldSettings.bounds", "m", -1e9, 1e9, false,                                       \
      "corners of the box outside of which dynamic bodies are removed")                            \
    X(FRICTION, "Material.friction", "1", 0.0, 1e6, false, "Coulomb coefficient")                  \
    X(RESTITUTION, "Material.restitution", "1", 0.0, 1.0, false,                                   \
      "share of the normal velocity that comes back")                                              \
    X(STIFFNESS, "Material.stiffness", "N/m", 0.0, 1e18, true,                                     \
      "contact stiffness of the compliant solvers")                                                \
    X(DISSIPATION_TIME, "Material.dissipation_time", "s", 0.0, 1e6, false,                         \
      "dissipation of solver sap")                                                                 \
    X(DAMPING, "Material.damping", "N s/m", 0.0, 1e18, false, "damping of solver compliant")       \
    X(HERTZ_EXPONENT, "Material.hertz_exponent", "1", 1.0, 3.0, false,                             \
      "p of a force stiffness d^p, under solver compliant; a multiple of 0.5")                     \
    X(PRIORITY, "Material.priority", "1", -1e6, 1e6, false,                                        \
      "of two materials the numbers of the one with the higher count; whole")                      \
    X(FOUNDATION_MODULUS, "WorldAddShapes.foundation_modulus", "Pa", 0.0, 1e18, true,              \
      "how stiff an elastic foundation is")                                                        \
    X(FOUNDATION_DEPTH, "WorldAddShapes.foundation_depth", "m", 0.0, 1e6, true, "how thick it is") \
    X(FOUNDATION_DAMPING, "WorldAddShapes.foundation_damping", "N s/m", 0.0, 1e18, false,          \
      "damping of each of its cells")                                                              \
    X(DENSITY, "WorldAddShapes.density", "kg/m^3", 0.0, 1e12, true, "mass per volume")             \
    X(RADIUS, "SceneSphere.radius", "m", 0.0, 1e6, true, "radius of what is round")                \
    X(HALF_EXTENT, "SceneBox.half_extents", "m", 0.0, 1e6, true,                                   \
      "half the side of a box, per axis")                                                          \
    X(HALF_LENGTH, "SceneCapsule.half_length", "m", 0.0, 1e6, true,                                \
      "half the axis of what is round")                                                            \
    X(POSITION, "WorldAddBodies.pose", "m", -1e9, 1e9, false,                                      \
      "coordinates of positions, and of local poses")                                              \
    X(LINEAR_VELOCITY, "WorldAddBodies.velocity", "m/s", -1e9, 1e9, false, "per axis")             \
    X(ANGULAR_VELOCITY, "WorldAddBodies.velocity", "rad/s", -1e9, 1e9, false, "per axis")          \
    X(MASS, "WorldAddBodies.mass", "kg", 0.0, 1e18, true, "mass of a dynamic body")                \
    X(INERTIA, "WorldAddBodies.inertia", "kg m^2", -1e30, 1e30, false,                             \
      "entries of a positive definite tensor whose principal moments obey the triangle "           \
      "inequality")                                                                                \
    X(WRENCH, "WorldStep.wrench", "N, N m", -1e18, 1e18, false,                                    \
      "force at the centre of mass, torque")                                                       \
    X(JOINT_POSITION, "WorldAddJoints.position", "m, rad", -1e9, 1e9, false,                       \
      "of joints: limits, rests, targets and numbers")                                             \
    X(JOINT_VELOCITY, "WorldAddJoints.velocity", "m/s, rad/s", -1e9, 1e9, false, "per axis")       \
    X(JOINT_STIFFNESS, "WorldAddJoints.stiffness", "N/m, N m", 0.0, 1e18, false,                   \
      "of a spring, of a drive")                                                                   \
    X(JOINT_DAMPING, "WorldAddJoints.damping", "N s/m, N m s", 0.0, 1e18, false,                   \
      "of a damper, of a drive")                                                                   \
    X(JOINT_FRICTION, "WorldAddJoints.friction", "N, N m", 0.0, 1e18, false, "dry, of a joint")    \
    X(JOINT_ARMATURE, "WorldAddJoints.armature", "kg, kg m^2", 0.0, 1e18, false,                   \
      "inertia of the axis itself")                                                                \
    X(JOINT_EFFORT_MAX, "WorldAddJoints.effort_max", "N, N m", 0.0, 1e18, false,                   \
      "what a drive is able to")                                                                   \
    X(JOINT_STALL_EFFORT, "WorldAddJoints.stall_effort", "N, N m", 0.0, 1e18, false,               \
      "what a motor is able to at standstill; 0: there is none")                                   \
    X(JOINT_NO_LOAD_SPEED, "WorldAddJoints.no_load_speed", "m/s, rad/s", 1e-9, 1e9, false,         \
      "at which a motor has nothing left; 0: at none")                                             \
    X(JOINT_LAG_TIME, "WorldAddJoints.lag_time", "s", 0.0, 1e6, false,                             \
      "time constant by which drives follow their commands")                                       \
    X(JOINT_DELAY_STEPS, "WorldAddJoints.delay_steps", "1", 0.0, 1000.0, false,                    \
      "steps by which commands come later; whole")                                                 \
    X(JOINT_EFFORT, "WorldStep.effort", "N, N m", -1e18, 1e18, false, "fed forward, per axis")     \
    X(JOINT_RATIO, "WorldAddJoints.ratio", "1", -1e6, 1e6, false, "of a gear")                     \
    X(JOINT_COEFFICIENT, "WorldAddJoints.coefficients", "1, m/rad", -1e6, 1e6, false,              \
      "what a unit of an axis lengthens a tendon by")                                              \
    X(JOINT_LENGTH, "WorldAddJoints.length", "m", 0.0, 1e9, true, "of a distance")                 \
    X(JOINT_BREAK, "WorldAddJoints.break_force", "N, N m", 0.0, 1e18, true,                        \
      "what breaks a joint of rows")                                                               \
    X(IDLE_TIMEOUT, "WorldCreate.idle_timeout_s", "s", 1.0, 1e9, false,                            \
      "worlds that no call names are destroyed")

#define X_SETTING(bit, section, upper, ...) RANGE_##upper,
#define X_NONE(...)
#define X(name, path, unit, minimum, maximum, exclusive, meaning) RANGE_##name,
typedef enum RangeKind {
    SETTING_MAP(X_SETTING, X_SETTING, X_NONE, X_NONE, X_SETTING) RANGE_MAP(X) RANGE_COUNT
} RangeKind;
#undef X
#undef X_NONE
#undef X_SETTING

typedef struct Range {
    const char *path; // message.field
    const char *unit;
    double minimum, maximum;
    bool exclusive; // the minimum itself is refused
    const char *meaning;
} Range;

const Range *range_get(RangeKind kind);

bool range_holds(RangeKind kind, double value);

// INVALID_ARGUMENT with a sentence that says value and range when the value, or NaN, lies outside.
// `field` is the path to blame; index < 0: no index, else [index] is appended.
Status range_check(RangeKind kind, double value, const char *field, int64_t index, Error *error);

typedef struct RangeColumn {
    RangeKind kind;
    const double *values; // NULL: none
    const char *field;
} RangeColumn;

// Every number of the columns, in their order, of `length` each; blames field[i].
Status range_check_columns(const RangeColumn *columns, size_t count, size_t length, Error *error);
