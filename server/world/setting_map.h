// SPDX-License-Identifier: MIT
// The settings of a world, as rows.
//
// A row is the bit in SettingsChange.given (run/worlds/input.h) and the section of a snapshot that
// it stands in (step/snapshot/sections.c), both for ever; the name as a constant, and in
// WorldSettings, on the wire and in scenes; then what its type needs. Of numbers that are unit,
// minimum, maximum, default and meaning, of which range.h makes the ranges that are checked and
// described; of a choice the default, how many there are, and which; of a flag the default; of a
// count minimum, maximum, default and meaning.
//
// The early ones stand at places of their own in inputs and snapshots. To add a setting, add a row
// to the later ones, with the next bit and a section that is free, and a field of that name to
// WorldSettings in the proto: inputs, snapshots, scenes, checks, Describe and the calls that set
// and get read the row. Bounds, and a solver with its parameters, are no rows: they are several
// numbers that only mean something together.
#pragma once

enum { SUBSTEPS_MAX = 16 };

// A time step below 1 ns is none: a body 1 m from the origin that moves at 1 m/s would go by less
// than some million roundings of its position, and overlaps divided by it have no speed that means
// anything.
#define SETTING_EARLY_MAP(VECTOR, NUMBER, CHOICE)                                                  \
    VECTOR(0, 1, GRAVITY, gravity, "m/s^2", -1e6, 1e6, 0.0, 0.0, -9.81,                            \
           "acceleration of every body, per axis")                                                 \
    NUMBER(1, 1, TIME_STEP, time_step, "s", 1e-9, 10.0, 1.0 / 240.0, "simulated time per step")    \
    NUMBER(2, 1, MARGIN, margin, "m", 0.0, 10.0, 0.001,                                            \
           "how much earlier than needed contacts enter")                                          \
    NUMBER(3, 1, RESTITUTION_THRESHOLD, restitution_threshold, "m/s", 0.0, 1e6, 0.05,              \
           "slower impacts do not bounce")                                                         \
    NUMBER(8, 1, RECOVERY_SPEED, recovery_speed, "m/s", 0.0, 1e9, 1.0,                             \
           "overlaps leave no faster; 1e9: as fast as the solver has it")                          \
    NUMBER(11, 10, SLEEP_SPEED, sleep_speed, "m/s", 0.0, 1e6, 0.0,                                 \
           "no point of a body at rest is faster; 0: nothing falls asleep")                        \
    NUMBER(12, 10, SLEEP_TIME, sleep_time, "s", 0.0, 1e6, 0.5,                                     \
           "how long an island is at rest before it falls asleep")                                 \
    CHOICE(6, 1, INTEGRATOR, integrator, INTEGRATOR_SYMPLECTIC, INTEGRATOR_COUNT,                  \
           "SYMPLECTIC 0, EXPLICIT 1, IMPLICIT 2, MIDPOINT 3, RK4 4, VERLET 5")                    \
    CHOICE(7, 1, ROTATION, rotation, ROTATION_MIDPOINT, ROTATION_COUNT,                            \
           "MIDPOINT 0, EXPLICIT 1, IMPLICIT 2")                                                   \
    CHOICE(9, 1, CONTACT_PLANE, contact_plane, CONTACT_PLANE_APPROACH, CONTACT_PLANE_COUNT,        \
           "APPROACH 0, START 1")

// joint_projection: joints of rows are brought together after every step. effort: what a step may
// cost; what came before there was such a setting is exact, and a world that is created today has
// what the proto says (wire/scene/scene.c). friction_rule: what two materials' frictions make.
// fluid_…: of step/fluid.h.
// substeps: of step/substeps.c.
#define SETTING_LATER_MAP(VECTOR, NUMBER, CHOICE, FLAG, COUNT)                                     \
    FLAG(13, 19, JOINT_PROJECTION, joint_projection, false)                                        \
    CHOICE(14, 20, EFFORT, effort, WORLD_EXACT, WORLD_EFFORT_COUNT, "EXACT 0, BALANCED 1, FAST 2") \
    CHOICE(15, 24, FRICTION_RULE, friction_rule, FRICTION_GEOMETRIC, FRICTION_RULE_COUNT,          \
           "GEOMETRIC 0, MAXIMUM 1, MINIMUM 2, PRODUCT 3")                                         \
    NUMBER(16, 28, FLUID_DENSITY, fluid_density, "kg/m^3", 0.0, 1e6, 0.0,                          \
           "of what fills the world and drags at bodies; 0: nothing does")                         \
    NUMBER(17, 29, FLUID_VISCOSITY, fluid_viscosity, "Pa s", 0.0, 1e9, 0.0, "likewise; 0: none")   \
    COUNT(18, 31, SUBSTEPS, substeps, 1.0, SUBSTEPS_MAX, 1.0,                                      \
          "in which the law of a step is applied, its contacts found once")

#define SETTING_MAP(VECTOR, NUMBER, CHOICE, FLAG, COUNT)                                           \
    SETTING_EARLY_MAP(VECTOR, NUMBER, CHOICE) SETTING_LATER_MAP(VECTOR, NUMBER, CHOICE, FLAG, COUNT)
