// SPDX-License-Identifier: MIT
// Momentum between sweeps. Gauss-Seidel alone needs O(N^2) sweeps for a column of N, and tens of
// thousands for a stack of boxes; carried on by Nesterov's rule it needs the root of that.
//
// A sweep maps a start y to z = T(y), whose fixed points are the solutions. The next start is z +
// ratio (z - z_before), for impulses and velocities alike, so that both keep belonging together. It
// need not lie in any cone: a sweep reads of a contact's old impulse only what the contact did to
// the velocities, and what a sweep leaves is always in the cone. So momentum changes the way, never
// the goal.
//
// Friction makes T anything but a gradient step, so every island is watched: its momentum ends (and
// begins anew) where the sweep works against it, or where the residual |z - y| has doubled since
// its least; and where the residual at such an end is no better than at the end before, the ratio
// is held further below 1. At worst that leaves plain Gauss-Seidel.
#pragma once

#include "solve/mdp_pack.h"

// One impulse on its way, of a contact or (first number alone) of a row.
typedef struct MdpTrail {
    double start[3];  // y: where the last sweep began
    double before[3]; // z of the sweep before
    uint32_t island;
} MdpTrail;

typedef struct MdpIsland {
    double age;            // Nesterov's t
    double gap;            // the ratio stays below 1 - gap
    double residual;       // |z - y|^2 of the last sweep, as a velocity over V
    double residual_least; // since the momentum began
    double residual_last;  // when the momentum before ended
    double
        opposition; // (y - z).(z - z_before): positive where the sweep works against the momentum
    double ratio;
} MdpIsland;

typedef struct MdpMomentum {
    MdpPack *pack;                  // borrowed
    const uint32_t *island_of_tree; // borrowed
    MdpTrail *trail;                // balls, points, wide contacts, rows
    double *before;                 // [velocity_count] velocities at z_before
    MdpIsland *island;
    uint32_t island_count;
} MdpMomentum;

Status mdp_momentum_init(MdpMomentum *momentum, MdpPack *pack, const CertificateScale *scale,
                         Arena *arena, Error *error);

// Forgets all momentum: what the pack holds now is the start.
void mdp_momentum_begin(MdpMomentum *momentum);

// After a sweep: turns what it left into the start of the next.
void mdp_momentum_carry(MdpMomentum *momentum);
