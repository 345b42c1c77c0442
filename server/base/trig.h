// SPDX-License-Identifier: MIT
// Sine, cosine and arctangent of our own: libm's differ in their last bits between machines and
// versions, and so would worlds. Of +, -, *, / and floor alone; sine and cosine
// are within 1 unit in the last place, the arctangent within 3.
#pragma once

// Beyond it [rad] an angle is no place on a circle any more: its own rounding is 1e-7, and sine and
// cosine are NaN.
#define TRIG_ANGLE_MAX 1e9

typedef struct SinCos {
    double sin, cos;
} SinCos;

SinCos trig_sin_cos(double angle);

// The angle of the point (x, y), in [-pi, pi]; 0 where both are 0.
double trig_atan2(double y, double x);
