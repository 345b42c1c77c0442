// SPDX-License-Identifier: MIT
// Balls, four at a time: the contacts of a pile of spheres, swept side by side. A *quad* holds four
// contacts that share no moving body, place by place, so that one vector instruction does the same
// to several. What a place computes is what it would compute alone, bit by bit, on every machine:
//
//   mdp_ball_simd.h    the loop, for vectors of SIMD_COUNT numbers
//   mdp_ball_avx2.c    four of them, where the machine has AVX2
//   mdp_ball.c         two of them, which every machine has; the choice
//
// Places that no contact fills stand between the static body and itself and push nothing.
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
    uint32_t wait;         // carries until the next aim (mdp_direct.h)
    uint32_t wait_next;    // ... and after that one, if it fails
    bool aims;             // the last carry was a leap to where an aim said
    bool leaps;            // the last carry was a leap
} MdpIsland;

typedef struct MdpBody {
    alignas(32) double v[6]; // linear, angular
    double inverse_mass;
    double inverse_inertia; // of bodies with isotropic inertia; meaningless for others
} MdpBody;

// the normals point from a to b; the impulses act with + on b
typedef struct MdpQuad {
    uint32_t a[MDP_QUAD], b[MDP_QUAD], island[MDP_QUAD];
    bool is_mixed; // not all places are of one island
    MdpFour3 normal;
    MdpFour3 impulse;               // world axes [N s]
    MdpFour3 before;                // the impulse of one sweep earlier
    MdpFour arm_a, arm_b;           // the arms are these times the normal [m]
    MdpFour inverse_nn, inverse_tt; // A is diagonal
    MdpFour mu;
    MdpFour offset; // bias + normal motion [m/s]
    MdpFour weight; // (w / V)^2: turns an impulse's change into a share of V
} MdpQuad;

// One sweep over quads [begin, end) in their order: returns the square of the largest change of an
// impulse, as a velocity over V, not less than `largest`; not a number when anything is not.
double mdp_ball_sweep(MdpQuad *quad, uint32_t begin, uint32_t end, MdpBody *body, MdpIsland *island,
                      double largest);

// The same, for machines with AVX2 only.
double mdp_ball_sweep_avx2(MdpQuad *quad, uint32_t begin, uint32_t end, MdpBody *body,
                           MdpIsland *island, double largest);

// the larger of two changes; once not a number, always
static inline double mdp_note_change(double largest, double change) {
    return change > largest || change != change ? change : largest;
}
