// SPDX-License-Identifier: MIT
// The last digits of an island under ccp. Along the central path of cones the error falls with the
// root of m, and doubles end at some 1e-8 of it; but from near the solution Newton's method in
// impulses (solve/descent/impulse.h) squares the error in each step. It wants a compliance, which
// is given around the impulses of the round before,
//
//     K in gamma _|_ u + R gamma + rho (gamma - gamma_before) in K^*,   rho a share of w,
//
// and so vanishes from round to round (proximal point), the faster as rho falls. Contacts may be
// redundant as they like.
#pragma once

#include "solve/ccp/island.h"
#include "solve/descent/impulse.h"

typedef struct CcpFinish {
    CcpIsland *of; // borrowed
    SapIsland velocities;
    SapImpulse impulses;
    SapLaw *law;  // [constraint_count]
    double share; // rho / w of the next round
} CcpFinish;

// Memory for as many uses as one likes; none where the island is stopped meanwhile.
// RESOURCE_EXHAUSTED when the arena ends.
Status ccp_finish_init(CcpFinish *f, CcpIsland *island, Arena *arena, Error *error);

// The first of some rounds follows.
void ccp_finish_begin(CcpFinish *f);

// One round, from the island's gamma to the next, of no more than so many iterations, which are
// counted: until it is solved to `velocity` [m/s]. CCP_GOES_ON: it was solved. Patient, it comes
// down in velocities where impulses do not come, which takes tens of iterations.
CcpOutcome ccp_finish_round(CcpFinish *f, double velocity, uint32_t iterations_max,
                            bool is_patient);
