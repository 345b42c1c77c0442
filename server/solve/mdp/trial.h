// SPDX-License-Identifier: MIT
// One contact of a sweep, before its block is solved and after.
#pragma once

#include "solve/mdp/ball.h"
#include "solve/block.h"

// The block problem of one contact: where momentum carried its impulse, what it is solved for, and
// the answer, which starts as the first of them.
typedef struct MdpTrial {
    double carried[3], b[3], x[3];
} MdpTrial;

// at the relative velocity u (offset included)
static inline void mdp_trial_begin(const MdpPlan *plan, double ratio, const double u[3],
                                   const double impulse[3], const double before[3],
                                   MdpTrial *trial) {
    const MdpBlock *a = &plan->block;
    double z0 = impulse[0], z1 = impulse[1], z2 = impulse[2];
    double p0 = z0 + ratio * (z0 - before[0]), p1 = z1 + ratio * (z1 - before[1]),
           p2 = z2 + ratio * (z2 - before[2]);
    *trial = (MdpTrial){{p0, p1, p2},
                        {a->nn * p0 + a->nt * p1 + a->no * p2 - u[0],
                         a->nt * p0 + a->tt * p1 + a->to * p2 - u[1],
                         a->no * p0 + a->to * p1 + a->oo * p2 - u[2]},
                        {p0, p1, p2}};
}

// What a contact adds to the sums of its island.
typedef struct MdpChange {
    double square, along;
} MdpChange;

// The answer is stored, and what it differs by from where the old impulse was carried goes to d.
static inline MdpChange mdp_trial_take(const MdpTrial *trial, double weight, double impulse[3],
                                       double before[3], double d[3]) {
    const double *x = trial->x, *p = trial->carried;
    double z0 = impulse[0], z1 = impulse[1], z2 = impulse[2];
    d[0] = x[0] - p[0];
    d[1] = x[1] - p[1];
    d[2] = x[2] - p[2];
    double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    double along = d[0] * (x[0] - z0) + d[1] * (x[1] - z1) + d[2] * (x[2] - z2);
    before[0] = z0;
    before[1] = z1;
    before[2] = z2;
    impulse[0] = x[0];
    impulse[1] = x[1];
    impulse[2] = x[2];
    return (MdpChange){weight * square, weight * along};
}

static inline void mdp_trial_note(MdpSum *sum, MdpChange change) {
    sum->residual += change.square;
    sum->opposition -= change.along;
    sum->largest = mdp_note_change(sum->largest, change.square);
}
