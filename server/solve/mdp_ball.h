// SPDX-License-Identifier: MIT
// Balls, four at a time: the contacts of a pile of spheres, swept side by side. A *quad* holds four
// contacts that share no moving body, lane by lane, so that one vector instruction does the same to
// each. What a lane computes is what it would compute alone, bit by bit, on every machine: where
// there are vectors of four doubles they are used, elsewhere the compiler splits them.
//
// Lanes that no contact fills stand between the static body and itself and push nothing.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { MDP_LANES = 4 };

typedef double MdpLanes __attribute__((vector_size(MDP_LANES * sizeof(double))));

// four vectors
typedef struct MdpLanes3 {
    MdpLanes x, y, z;
} MdpLanes3;

// How the momentum of an island stands (mdp_momentum.h). Sweeps read `ratio` and add to `residual`
// and `opposition`.
typedef struct MdpIsland {
    double ratio;          // what share of the last way every impulse goes on
    double residual;       // |z - y|^2 of the last sweep, as a velocity over V
    double opposition;     // (y - z).(z - z_before): positive where the sweep works against it
    double age;            // Nesterov's t
    double gap;            // the ratio stays below 1 - gap
    double residual_least; // since the momentum began
    double residual_last;  // when the momentum before ended
    double residual_plain; // of the sweep before, while `plain` counts
    uint32_t plain;        // sweeps without momentum on the way to a leap
    bool leaps;            // the last carry was a leap
} MdpIsland;

typedef union MdpBody {
    struct {
        double v[6]; // linear, angular
        double inverse_mass;
        double inverse_inertia; // of bodies with isotropic inertia; meaningless for others
    };
    MdpLanes half[2]; // the same
} MdpBody;

// the normals point from a to b; the impulses act with + on b
typedef struct MdpQuad {
    uint32_t a[MDP_LANES], b[MDP_LANES], island[MDP_LANES];
    bool is_mixed; // not all lanes are of one island
    MdpLanes3 normal;
    MdpLanes3 impulse;               // world axes [N s]
    MdpLanes3 before;                // the impulse of one sweep earlier
    MdpLanes arm_a, arm_b;           // the arms are these times the normal [m]
    MdpLanes inverse_nn, inverse_tt; // A is diagonal
    MdpLanes mu;
    MdpLanes offset; // bias + normal motion [m/s]
    MdpLanes weight; // (w / V)^2: turns an impulse's change into a share of V
} MdpQuad;

// One sweep over quads [begin, end) in their order: returns the
// square of the largest change of an impulse, as a velocity over V, not less than `largest`; not a
// number when anything is not.
double mdp_ball_sweep(MdpQuad *quad, uint32_t begin, uint32_t end, MdpBody *body, MdpIsland *island,
                      double largest);

// the larger of two changes; once not a number, always
static inline double mdp_note_change(double largest, double change) {
    return change > largest || change != change ? change : largest;
}
