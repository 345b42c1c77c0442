// SPDX-License-Identifier: MIT
// What contacts that are swept side by side have in common: places of a quad, bodies, and the sums
// of islands.
#pragma once

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

enum { MDP_QUAD = 4 };

// one number of each contact of a quad
typedef struct MdpFour {
    alignas(32) double at[MDP_QUAD];
} MdpFour;

typedef struct MdpFour3 {
    MdpFour x, y, z;
} MdpFour3;

// What sweeps read of an island, and what they tell of it.
typedef struct MdpSum {
    double ratio;      // what share of the last way every impulse goes on
    double residual;   // |z - y|^2 of the sweep, as a velocity over V
    double opposition; // (y - z).(z - z_before): positive where the sweep works against it
    double largest; // the square of the largest change of an impulse, as a velocity over V; not a
                    // number when anything is not
    bool is_done;   // its answer is stored: what becomes of it here does not count
} MdpSum;

typedef struct MdpBody {
    alignas(32) double v[6]; // linear, angular
    double inverse_mass;
    double inverse_inertia; // of bodies with isotropic inertia; meaningless for others
} MdpBody;

// the larger of two changes; once not a number, always
static inline double mdp_note_change(double largest, double change) {
    return change > largest || change != change ? change : largest;
}
