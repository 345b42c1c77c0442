// SPDX-License-Identifier: MIT
// A motor: what a drive and what is fed forward ask for, as far as it is able to at its speed. With
// v the rate of the axis, tau the stall effort, v0 the no-load speed and E the lesser of tau and
// effort_max, it gives
//
//     f(v) = asked(v), at most        min(E, tau max(0, 1 - v/v0))
//                      and at least  -min(E, tau max(0, 1 + v/v0))
//
// so that in the direction in which it turns nothing is left at v0 and beyond, and against that it
// brakes with all of E. Without a no-load speed it gives E to either side.
//
// asked = force - slope v never rises with v, and neither do the bounds, so f is a sum of parts
//
//     f_i(v) = slope_i (zero_i - v), from low_i <= 0 to high_i >= 0
//
// each of which is a row of the problem that is soft: the motor is taken at the end of the step
// (step/trees/axes.h), however steep its curve is, and never beyond the no-load speed.
#pragma once

#include "world/joint.h"

#include <math.h>

typedef struct MotorAsk {
    double force, slope; // >= 0, what is asked for at no speed, and what that loses with it
    double most;         // E
    double stall, speed; // tau, v0; 0: no no-load speed
} MotorAsk;

typedef struct MotorPart {
    double slope; // > 0
    double zero, low, high;
} MotorPart;

// Which parts there may be, of which at most three are.
typedef enum MotorPartKind {
    MOTOR_DRIVE,   // what is asked for, from or through zero
    MOTOR_FORTH,   // the curve, where it drives forth
    MOTOR_BACK,    // and back
    MOTOR_SHALLOW, // what is asked for, where that is less than the curve, far below v0
    MOTOR_PARTS
} MotorPartKind;

static inline bool motor_is(const JointAxis *axis) {
    return axis->stall_effort > 0.0;
}

// Whether what a drive asks for by place and rate is worth a row, which is softened by one over it:
// of less than this nobody sees anything, and one over it may be no number [N/m, N m/rad, and of
// rates].
static inline bool joint_rows_feel(double stiffness, double damping) {
    static const double least = 1e-200;
    return stiffness > least || damping > least;
}

// One that does the same at all places and speeds.
static inline bool motor_is_force(const JointAxis *axis) {
    return axis->no_load_speed == 0.0 &&
           !joint_rows_feel(axis->drive_stiffness, axis->drive_damping);
}

// What it loses of its effort by each unit of speed; 0: nothing.
static inline double motor_steepness(const JointAxis *axis) {
    return axis->no_load_speed > 0.0 ? axis->stall_effort / axis->no_load_speed : 0.0;
}

static inline double motor_most(const JointAxis *axis) {
    return fmin(axis->effort_max, axis->stall_effort);
}

// f(v); without stall and speed it is what is asked for, up to `most`.
double motor_force(const MotorAsk *ask, double rate);

// Parts that are not there have the slope 0. What is asked for without a slope, of a motor without
// a no-load speed, is no part but a force.
void motor_parts(const MotorAsk *ask, MotorPart parts[MOTOR_PARTS]);
