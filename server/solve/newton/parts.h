// SPDX-License-Identifier: MIT
// What the ways of newton.h work with and leave behind: the island's sparse system, the iterate,
// the best that any of them has seen, and what has been spent.
//
//   settle.c          Newton's method for one smoothing, with a line search
//   path.c            less and less smoothing; and the same around a center that follows
//   arc.c             the curve of solutions, through its folds
//   sweep.c           Gauss-Seidel over the island's constraints
#pragma once

#include "base/context.h"
#include "solve/block.h"
#include "solve/newton/newton.h"
#include "solve/newton/cone.h"

typedef struct NewtonWork {
    const NewtonIsland *island; // borrowed
    double enough, tolerance;   // as a share of V, see newton.h
    uint32_t enough_at;         // factorisations, when there was enough
    LdltPlan plan;
    Ldlt ldlt;
    double *impulse, *v;             // the iterate
    double *trial_impulse, *trial_v; // the next, perhaps
    double *center;                  // the newest impulses that one may go back to
    double *kept;                    // what sweeps began with
    double *d_impulse, *d_v;
    double *fall;     // d impulse by d log kappa
    double *tangent;  // of the curve
    double *base;     // where a step along it began
    double *anchor;   // the center of what compliance the curve has
    double *weight;   // [constraint_count] of kappa
    NewtonLaw *law;   // [constraint_count]
    MdpPlan *sweep;   // [contact_count]
    double *response; // M^-1 J^T, as the Jacobians of the island's blocks, one after the other
    double *best_impulse;
    double best; // its residual
    // spent, and how much there is: a factorisation, and a multiplication of anything, about
    uint32_t factorisations, factorisations_max;
    uint32_t iterations; // of the history, before the first
    double operations, operations_max;
    uint32_t curve_count; // of whole curves, and how each ended
    NewtonCurve curve[NEWTON_CURVES];
    const Context *context; // borrowed
    bool is_stopped;
    bool is_too_dear; // nothing else is set up
} NewtonWork;

// Starts from zero impulses. RESOURCE_EXHAUSTED when the arena ends or the system is too large;
// unless it is too dear, which is said first: one factorisation, with all that goes with it, takes
// more than there is. What is too large for any memory is too dear, where there is a bound. ABORTED
// when it was asked to stop.
Status newton_work_init(NewtonWork *work, const NewtonIsland *island, double operations_max,
                        const Context *context, Arena *arena, Error *error);

// What goes with a factorisation of so many constraints: more than it takes itself where they are
// few.
double newton_cost_of_constraints(uint32_t count);

// Multiplications of a factorisation, about.
double newton_cost_of_factor(const NewtonWork *work);

// The best residual after the newest factorisation, for whoever asked for its history. Once for
// each.
void newton_note(const NewtonWork *work);

// Counts, and asks whether to stop every 10^6 operations or earlier.
void newton_spend(NewtonWork *work, double operations);

// Whether what is left is less than a factorisation.
bool newton_is_spent(const NewtonWork *work);

// Whether to end: it is solved, stopped, or all is spent.
bool newton_is_over(const NewtonWork *work);

// Looks at impulses, projected on their cones and bounds, and keeps them if they are the best so
// far. Returns their residual; what was tried is lost.
double newton_consider(NewtonWork *work, const double *impulse);

// Sum of squares and largest of the sizes of all laws.
typedef struct NewtonMerit {
    double square, largest;
} NewtonMerit;

// Of impulses, whose velocities are made into v.
NewtonMerit newton_measure(NewtonWork *work, const NewtonSmoothing *smoothing,
                           const double *impulse, double *v);

// Linearises all laws at the iterate, whose velocities are there, and factorises. False: something
// is not finite, or it was stopped.
bool newton_factorise(NewtonWork *work, const NewtonSmoothing *smoothing);

// Then d := -phi - H J d v, or the same of what falls with log kappa. False: not finite.
bool newton_direction(NewtonWork *work, bool of_kappa, double *d);

// Newton's method from the iterate. The number of steps until every law's size is a share of kappa,
// or NEWTON_FAILED, after so many steps, or where no step leads down.
enum { NEWTON_FAILED = -1 };
int newton_settle(NewtonWork *work, const NewtonSmoothing *smoothing, int step_max);

// What sweeps need, once.
void newton_sweep_init(NewtonWork *work);
// Sweeps over the iterate, which ends on its cones, velocities made anew.
void newton_sweep(NewtonWork *work, int count);

// From nothing, along the curve of solutions for kappa from 1 to 0 and through its folds, until it
// is solved, the curve is lost, or so many factorisations are made. Of the turns from 0 on, every
// other one follows the curve of the one before in another manner; from the second on the weights
// of kappa differ, which makes another curve. Each turn once.
void newton_arc(NewtonWork *work, uint32_t turn, uint32_t factorisations_max);

// From the iterate at kappa down, until it is solved, a fold is met, or so many factorisations are
// made.
void newton_follow(NewtonWork *work, double kappa, uint32_t factorisations_max);

// From the iterate, around a center, until it is solved, or nothing helps, or so many
// factorisations are made.
void newton_approach(NewtonWork *work, uint32_t factorisations_max);
