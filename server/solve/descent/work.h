// SPDX-License-Identifier: MIT
// A solve by descents, island after island: what its solvers have in common. A solver says by a
// DescentSolver what its contacts and rows obey and how an island is solved; in that it steps, and
// has the judge look at the answer in between, through one of these.
//
//     descent_solve ──► make_contact, declare_row, make_row, of all
//                   └─► solve_island, of each ──► descent_lay_out
//                                             ├─► descent_descend, of any steps that it has
//                                             └─► descent_end
#pragma once

#include "solve/descent/island.h"
#include "solve/judge.h"

// What one solve carries from part to part.
typedef struct DescentWork {
    const ContactProblem *problem;
    const double *parameter;
    const Context *context;
    Arena *arena;
    SolveResult *result;
    Error *error;
    Judge judge;
    void *contact_law;   // [contact_count] of the solver's own
    void *row_law;       // [row_count]
    uint32_t iterations; // of the island with the most
} DescentWork;

typedef struct DescentSolver {
    size_t law_bytes;
    uint32_t warm_start, budget; // its parameters of that meaning
    // NULL: any problem will do
    Status (*check)(DescentWork *work);
    RelationKind (*relation)(const DescentWork *work);
    void (*make_contact)(DescentWork *work, uint32_t index);
    // its bias first, as the scales are made of it
    void (*declare_row)(DescentWork *work, uint32_t index);
    void (*make_row)(DescentWork *work, uint32_t index);
    JudgeEach *solve_island;
} DescentSolver;

// Up to the answer, which the judge has ended. The rest of `work` must be there.
Status descent_solve(DescentWork *work, const DescentSolver *solver);

// One island at work.
typedef struct DescentIsland {
    DescentWork *work;
    const SapIsland *steps; // counts them, and what they cost
    // so far, to the answer
    void (*store)(struct DescentIsland *one);
    uint32_t share, island;
    uint32_t most;    // steps
    SapOutcome ended; // the newest of them
    Status status;
} DescentIsland;

// Steps to such a share, of what is the solver's own, until there are so many.
typedef SapOutcome DescentStep(DescentIsland *one, double share, uint32_t most);

// The layout of an island, and room in the budget for what follows, which costs as much again.
Status descent_lay_out(DescentWork *work, uint32_t island, NewtonIsland *layout,
                       double *operations);

// Steps, one by one where each is noted.
SapOutcome descent_minimise(DescentIsland *one, DescentStep *step, double share);

// Stores, and judges; whether it is met.
bool descent_is_met(DescentIsland *one);

// Steps and judgements in turn, the steps to a smaller share where the judge says no, `tightening`
// of the one before, down to `least`. `settle` (Nullable) follows each. True: it is met, or nothing
// more is to be had.
bool descent_descend(DescentIsland *one, DescentStep *step, double share, double tightening,
                     double least, void (*settle)(DescentIsland *one, SapOutcome outcome));

// Of an island that has made its steps: why it is not met, if so, and what it cost. Where time is
// over it ends with what it has, or had.
Status descent_end(DescentIsland *one, Status status);
