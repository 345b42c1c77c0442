// SPDX-License-Identifier: MIT
// How deep two convex bodies overlap, by the expanding polytope algorithm (van den Bergen 2001): a
// polytope inside the difference a - b grows by support points where it is nearest to the origin,
// until no support point is farther out there.
#pragma once

#include "collide/gjk.h"

typedef struct EpaResult {
    bool is_found;   // false: the difference is flat, and nothing below is set
    double doubt;    // by how much a way may be shorter than the one found [m]
    Vec3 normal;     // unit: b leaves a the shortest way along it
    GjkSimplex face; // three vertices with the weights of the point nearest to the origin
} EpaResult;

// `simplex` is what a search by gjk.h ended with that found no distance. `slack` is how much
// farther out a support point may be than the polytope [m]: zero, and rounding decides.
EpaResult epa_depth(const GjkBody *a, const GjkBody *b, const GjkSimplex *simplex, double slack);
