// SPDX-License-Identifier: MIT
// One island under `lcp`: what it does feels nothing of the others. Its complementarity problem has
// the contacts that carried something in the step before or that the trees would come into; what
// its answer drives together joins, until nothing is: that saves work and changes nothing.
//
// The gaps are those at the end of the step. With geometry, a contact is taken as it is where the
// trees have come to with the velocities vh of the pass before,
//
//     u_n + bias = n (v - vh) + (gap(vh) - floor) / h >= 0,
//
// floor = gap - h bias of the problem, the gap that it asks for, 0 but for overlaps that leave more
// slowly and for bounces; and so again until v = vh, where it says gap(v) >= floor exactly. The
// first pass is the problem as it came, the linear version. A contact whose feature is lost, or
// whose plane has turned so far from where it was that the bodies pass each other, keeps the plane
// that it had from then on.
#pragma once

#include "base/context.h"
#include "solve/geometry.h"
#include "solve/island.h"
#include "solve/lcp/ladder.h"
#include "solve/lcp/matrix.h"

// What the islands of one solve share. Arrays are of the whole problem.
typedef struct LcpSolve {
    ContactProblem problem;      // as it was last linearised
    ProblemContact *contact;     // its contacts
    const ProblemContact *given; // as they came
    ProblemMass *mass;           // of that problem
    const GeometryAsk *geometry; // Nullable: the linear version
    IterationHistory *history;   // Nullable
    const double *parameter;
    const Direction *direction;
    Arena *arena;
    Error *error;
    LcpCount count;
    double *impulse;         // 3 per contact; holds what to start from
    double *row_impulse;     // likewise
    double *warm, *row_warm; // what the last pass started from
    bool is_warm;            // passes start from the impulses of the one before, or the step before
    double *v, *v_before;
    double *floor;      // [contact_count] gap to be met at the end of the step [m]
    double *bias;       // [contact_count] that the answer declares: what the gaps came to
    uint8_t *is_active; // [contact_count]
    uint8_t *is_lost;
    uint32_t passes; // of the island with the most
    uint64_t pivots; // of the island with the most
    LcpRung rung;    // the highest that an island needed
} LcpSolve;

// `scale` is the island's V [m/s].
Status lcp_island_solve(LcpSolve *solve, const Islands *islands, uint32_t island, double scale);
