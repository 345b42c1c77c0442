// SPDX-License-Identifier: MIT
// One island of a contact problem, solved by Newton's method to any accuracy that doubles have:
// exact Coulomb friction, or maximum dissipation where mu |(A_nt, A_no)| < A_nn (elsewhere that law
// is another, and what comes is only measured by it), with rows of all kinds and trees of any
// width.
//
// All unknowns are in velocity space: a step is one sparse system with as many unknowns as the
// island has velocities, however many contacts hold it (island.h). The laws are smoothed
// (cone.h), and the smoothing made less on three ways, in turn: two that are short
// (path.c), and the whole curve of solutions through all its folds (arc.c), which
// takes hundreds to thousands of factorisations and misses few. Where it is lost it is followed in
// another manner, then others are. Not every problem is solved, and none is known to have a
// solution: but it always ends, and hands back the best that it has seen, which is no worse than
// where it began.
//
// A pure function: no state, no clock; what bounds it is counted.
#pragma once

#include "base/context.h"
#include "solve/certificate.h"
#include "solve/island.h"

typedef struct NewtonTask {
    const ContactProblem *problem;
    const ProblemMass *mass; // with the blocks of the island's contacts
    const Islands *islands;
    uint32_t island;
    RelationKind law; // RELATION_CONE (rigid, s = 1) or RELATION_DISSIPATION
    double v_scale;   // V of the island [m/s]
    double enough;    // its largest own residual, as a share of V, that needs nothing more …
    double tolerance; // … and what is aimed at where more is needed, and missed where that is far
    uint32_t factorisations_max;
    double operations_max; // multiplications, about; no factorisation that exceeds it is begun …
    double least;          // … and nothing at all where it does not suffice for so many
    uint32_t iterations;   // of the history, before this
    Asker *asker;          // who may stop it, and what was done since it was asked
} NewtonTask;

// How the following of a whole curve ended.
#define NEWTON_CURVE_MAP(X)                                                                        \
    X(SOLVED, "solved")                                                                            \
    X(SPENT, "cut off: it had what it may have")                                                   \
    X(LOST, "lost: no step along it, however short, leads back to it")                             \
    X(OFF, "without end: its impulses grow")                                                       \
    X(DONE, "at its end, which solves nothing")

#define X(upper, text) NEWTON_CURVE_##upper,
typedef enum NewtonCurveEnd { NEWTON_CURVE_MAP(X) NEWTON_CURVE_END_COUNT } NewtonCurveEnd;
#undef X

typedef struct NewtonCurve {
    NewtonCurveEnd end;
    double kappa; // of its last point; 0: none was found
    uint32_t factorisations, folds;
    double residual; // of the best until then
} NewtonCurve;

// Turns of the three ways, each with a curve.
enum { NEWTON_CURVES = 8 };

typedef struct NewtonResult {
    // of what is handed back, as a share of V; infinite where nothing was begun, not a number where
    // the problem has what is not
    double residual;
    uint32_t factorisations;
    double operations;
    bool is_too_dear;     // nothing was begun
    bool is_spent;        // it ended because what was left is less than a factorisation
    uint32_t curve_count; // that were followed
    NewtonCurve curve[NEWTON_CURVES];
} NewtonResult;

// Reads where to start from, and writes what was found, at the island's places in the impulses of
// the whole problem (3 per contact, 1 per row). RESOURCE_EXHAUSTED when the arena ends or, without
// a bound on operations, the island is too large for any: then nothing is written. ABORTED when it
// was asked to stop.
Status newton_solve(const NewtonTask *task, const Context *context, Arena *arena,
                    double *contact_impulse, double *row_impulse, NewtonResult *result,
                    Error *error);
