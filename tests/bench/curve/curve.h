// SPDX-License-Identifier: MIT
// What `moreau bench curve` draws: of a scene the residual over the time of a step, ours by each
// way of solving and peers by each amount of work, everybody judged by one certificate.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CURVE_NAME_BYTES = 32, CURVE_POINTS_MAX = 16, CURVE_LINES_MAX = 12 };

// Of the steps of a sequence, or of a peer's own.
typedef struct CurvePoint {
    char name[CURVE_NAME_BYTES]; // as "10 sweeps"
    double ns, ns_worst;         // CPU time of a whole step: median and largest
    double ds, ds_worst;         // e_DS, the largest of a step's islands: median and largest
    uint32_t count;              // steps
} CurvePoint;

// Points by growing work.
typedef struct CurveLine {
    char name[CURVE_NAME_BYTES]; // "sweeps", or an engine and its version
    bool is_peer;
    bool is_bound; // it gives velocities alone: residuals are what no impulses can make smaller
    CurvePoint point[CURVE_POINTS_MAX];
    size_t count;
} CurveLine;

// Ours first.
typedef struct CurveScene {
    const char *name, *about; // static
    uint32_t bodies;          // that move
    double contacts;          // of a step, mean
    double outside_ns;        // of a step of ours, what is not solving: median. In every ns of ours
    CurveLine line[CURVE_LINES_MAX];
    size_t count;
} CurveScene;
