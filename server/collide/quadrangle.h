// SPDX-License-Identifier: MIT
// Of the corners of a convex polygon the four that bear: all quadrangles are gone through, and the
// one that covers most is kept.
#pragma once

#include "base/vec.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { QUADRANGLE_CORNERS = 4 };

// A quadrangle must be larger than the best so far by this part, or the earlier one is kept:
// symmetric polygons have many that differ by rounding only.
#define QUADRANGLE_GAIN_MIN 1e-6

typedef struct Quadrangle {
    double covered; // [m^2] twice its area, times the lowest points in it; -HUGE_VAL: none yet
    double spread;  // [m^2] the squares of its diagonals
    uint32_t corner[QUADRANGLE_CORNERS];
} Quadrangle;

static inline Quadrangle quadrangle_none(void) {
    return (Quadrangle){.covered = -HUGE_VAL};
}

// The corners of the next quadrangle, which rise, as those of 0 1 2 3, the first one, do. false:
// there is no other.
static inline bool quadrangle_next(uint32_t corner[QUADRANGLE_CORNERS], uint32_t count) {
    uint32_t k = QUADRANGLE_CORNERS;
    while (k > 0 && corner[k - 1] == count - QUADRANGLE_CORNERS + k - 1) {
        k--;
    }
    if (k == 0) {
        return false;
    }
    corner[k - 1]++;
    for (; k < QUADRANGLE_CORNERS; k++) {
        corner[k] = corner[k - 1] + 1;
    }
    return true;
}

// Takes a quadrangle with so many of the lowest points, one at least, whose diagonals these are, if
// it covers more. Of those that cover as much, as where an edge lies along a diagonal, the one that
// reaches farthest: which is named first a mirror turns round.
static inline void quadrangle_offer(Quadrangle *best, const uint32_t corner[QUADRANGLE_CORNERS],
                                    Vec3 p, Vec3 q, Vec3 up, int lowest) {
    const double covered = lowest * fabs(vec3_dot(up, vec3_cross(p, q)));
    if (covered < best->covered * (1.0 - QUADRANGLE_GAIN_MIN)) {
        return;
    }
    const double spread = vec3_dot(p, p) + vec3_dot(q, q);
    if (covered > best->covered * (1.0 + QUADRANGLE_GAIN_MIN) ||
        spread > best->spread * (1.0 + QUADRANGLE_GAIN_MIN)) {
        *best = (Quadrangle){covered, spread, {corner[0], corner[1], corner[2], corner[3]}};
    }
}
