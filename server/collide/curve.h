// SPDX-License-Identifier: MIT
// Points, lines and circles that are nearest to each other: the exact end of a search that knows
// which of them meet, and roughly how.
#pragma once

#include "base/vec.h"

#include <stdbool.h>

typedef enum CurveKind { CURVE_POINT, CURVE_LINE, CURVE_CIRCLE } CurveKind;

typedef struct Curve {
    CurveKind kind;
    Vec3 center;
    Vec3 x, y;     // of a line: x, unit, along it; of a circle: unit, in its plane
    double extent; // of a line: half its length; of a circle: its radius [m]
    double skin;   // how far its body's surface is around it [m]
} Curve;

Curve curve_point(Vec3 point);
Curve curve_line(Vec3 from, Vec3 to);
Curve curve_circle(Vec3 center, Mat3 axes, double radius); // in the plane of c0 and c1

typedef struct CurveLink {
    Vec3 point[2]; // on the curves
    Vec3 normal;   // unit, from the first to the second as the guess has it
} CurveLink;

// The points of two curves between which all is at right angles to both, near to the guesses
// `near`; `rough` goes from the first to the second. false: none inside the curves' extents.
bool curve_meet(const Curve curve[2], const Vec3 near[2], Vec3 rough, CurveLink *link);
