// SPDX-License-Identifier: MIT
// Who is ahead, and in what time: of curves, of each scene in one line.
#pragma once

#include "bench/curve/curve.h"

#define VERDICT_RATIO_AIM 0.5  // of a peer's time, to reach its residual
#define VERDICT_MET       1e-6 // a residual that nobody asks more of: what is below counts as this

enum { VERDICT_BYTES = 160 };

// Beside one peer, or, where `ahead_of` is 0, beside nobody.
typedef struct Verdict {
    size_t ahead, ahead_of; // of its points, at which we have the smaller residual in its time
    double ratio_max; // of our time to its residual to its own, the worst of its points; INFINITY:
                      // some residual is never reached. Bounds of 0 say nothing and are left out
    const CurvePoint *point; // which that is; NULL: none
} Verdict;

Verdict verdict_of(const CurveScene *scene, const CurveLine *peer);

// The least residual of ours within so much time, INFINITY where none is as fast; and the least
// time to a residual, VERDICT_MET at least, INFINITY where none has it.
double verdict_residual(const CurveScene *scene, double ns);
double verdict_ns(const CurveScene *scene, double ds);

// One line, without its end.
void verdict_write(const CurveScene *scene, char text[VERDICT_BYTES]);
