// SPDX-License-Identifier: MIT
// Our ways of solving, from two sweeps to the exact answer, on a recording.
#pragma once

#include "bench/curve/curve.h"
#include "bench/curve/record.h"

// Adds a line for each family of ways: all solve each problem from the same impulses. A solve that
// takes longer than so many seconds ends with the best that it has then.
void ways_run(const Recording *recording, double seconds, CurveScene *scene);
