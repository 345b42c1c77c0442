// SPDX-License-Identifier: MIT
// One island of the cone complementarity problem, as its methods share it: the layout with what
// each constraint obeys, the impulses, what has been counted. A constraint is a cone (a contact
// with friction), a line (a row, or a contact without friction, whose only impulse is the normal
// one, between bounds that may be infinite), or idle, where nothing that it does moves anything.
#pragma once

#include "solve/newton/island.h"

// so many operations, about: a constraint laid out, looked at, added to the matrix or solved alone;
// a velocity in all that is done with all of them between
#define CCP_OPERATIONS_LAYOUT   2000.0
#define CCP_OPERATIONS_LOOK     200.0
#define CCP_OPERATIONS_STEP     1500.0
#define CCP_OPERATIONS_VELOCITY 20.0

typedef enum CcpKind { CCP_IDLE, CCP_CONE, CCP_LINE } CcpKind;

typedef struct CcpIsland {
    NewtonIsland island; // compliance of contacts as well, low and high of lines as well
    CcpKind *kind;       // [constraint_count]
    double *gamma;       // [impulse_count]
    uint32_t iterations; // so far
    Asker asker;
} CcpIsland;

typedef enum CcpOutcome {
    CCP_GOES_ON,    // another iteration may help
    CCP_STALLED,    // none does, as doubles have it
    CCP_NOT_FINITE, // numbers are not
    CCP_STOPPED     // it was asked to stop
} CcpOutcome;

// Lays out an island with contacts of compliance R [1/kg]. RESOURCE_EXHAUSTED when the arena ends.
Status ccp_island_init(CcpIsland *s, const NewtonIsland *island, double compliance,
                       const Stop *stop, Arena *arena, Error *error);

// Counts, and asks whether to stop once in 10^6.
void ccp_island_spend(CcpIsland *s, double operations);

// gamma from its places in the impulses of the whole problem, and back. What is loaded is brought
// into cones and bounds.
void ccp_island_load(CcpIsland *s, const double *contact_impulse, const double *row_impulse);
void ccp_island_store(const CcpIsland *s, double *contact_impulse, double *row_impulse);
