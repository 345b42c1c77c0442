// SPDX-License-Identifier: MIT
// One island of the convex regularised problem, solved by Newton's method in its velocities:
//
//     l(v) = (v - v*) . A (v - v*) / 2  +  sum_i l_i(J_i v)            (laws: law.h)
//     gradient  A (v - v*) - J^T gamma,   Hessian  A + J^T slope J
//
// strictly convex, so there is one solution, whatever is redundant. The Hessian is as sparse as the
// graph of trees and contacts: one plan of elimination serves all steps.
#pragma once

#include "solve/descent/bed.h"
#include "solve/descent/law.h"
#include "solve/newton/island.h"

// so many operations, about: a constraint laid out, looked at, or added to the Hessian; a velocity
// in all that is done with all of them between
#define SAP_OPERATIONS_LAYOUT   2000.0
#define SAP_OPERATIONS_LOOK     200.0
#define SAP_OPERATIONS_STEP     1000.0
#define SAP_OPERATIONS_VELOCITY 20.0

typedef struct SapIsland {
    NewtonIsland island; // its layout, with the trees' mass blocks
    LdltPlan plan;
    Ldlt ldlt;
    const SapLaw **law; // [constraint_count] NULL: it moves nothing, or is a cell of a bed
    uint32_t *next;     // [constraint_count + 1] Nullable: the first, from each on, that is no cell
    Bed *bed;           // [bed_count] whose friction is lagged
    uint32_t bed_count;
    double *v;       // the iterate
    double *d_v;     // the newest step
    double *p;       // A (v - v*)
    double *push;    // J^T gamma
    double *p_free;  // A v*
    double *scale;   // [velocity_count] D = diag(A)^(-1/2)
    double *work;    // [velocity_count]
    double *u, *d_u; // J v, J d_v, without what moves by itself
    double *y, *gamma;
    double cost;         // l(v)
    uint32_t iterations; // steps so far
    Asker asker;
    bool is_stopped;
} SapIsland;

typedef enum SapOutcome {
    SAP_MET,        // the gradient is small enough
    SAP_STALLED,    // the cost falls no more, as doubles have it
    SAP_SPENT,      // no iterations are left
    SAP_NOT_FINITE, // numbers are not, or the Hessian is not positive
    SAP_STOPPED     // it was asked to stop
} SapOutcome;

// What came nearest in Newton's steps where nothing falls with each.
typedef struct SapNearest {
    double *x;          // [impulse_count]
    double residual;    // the least there has been [m/s]
    double mark;        // the last that was half the one before it …
    uint32_t marked_at; // … and how many iterations there were
} SapNearest;

// The first constraint from `from` on that is no cell of a bed.
static inline uint32_t sap_island_next(const SapIsland *s, uint32_t from) {
    return s->next == NULL ? from : s->next[from];
}

// Only x is, so far.
void sap_nearest_forget(SapNearest *nearest, const SapIsland *s, const double *x);

// Keeps the nearer; false: it has not come half as near for so many steps.
bool sap_nearest_keep(SapNearest *nearest, const SapIsland *s, const double *x, double residual,
                      uint32_t patience);

// A step of Newton's method by what is left, e, of which each constraint has a block of each of two
// matrices, all of one size.
enum { SAP_BLOCK = NEWTON_ROWS_MAX * NEWTON_ROWS_MAX };

// work := -A d_v - J^T D (e + J d_v), what d_v leaves of its equation; d_v is none at first.
void sap_island_remainder(SapIsland *s, const double *slope, const double *e, bool is_first);

// change := N (e + J d_v) of one constraint; false: it moves nothing or is a cell, and nothing is
// set.
bool sap_island_change(SapIsland *s, uint32_t constraint, const double *inverse, const double *e,
                       double change[NEWTON_ROWS_MAX]);

// Lays out an island whose laws are for the caller to fill; so far it has none. RESOURCE_EXHAUSTED
// when the arena ends.
Status sap_island_lay_out(SapIsland *s, const NewtonIsland *island, const Stop *stop, Arena *arena,
                          Error *error);

// Lays out an island whose laws are `contact_law` and `row_law`, those of the problem.
// RESOURCE_EXHAUSTED when the arena ends.
Status sap_island_init(SapIsland *s, const NewtonIsland *island, const SapLaw *contact_law,
                       const SapLaw *row_law, const Stop *stop, Arena *arena, Error *error);

// gamma, from its places in the impulses of the whole problem.
void sap_island_load(SapIsland *s, const double *contact_impulse, const double *row_impulse);

// To the better of v* and the velocities of gamma.
void sap_island_start(SapIsland *s);

// Steps until
//     |D gradient| <= 1e-14 + tolerance max(|D A v|, |D J^T gamma|),
// or as many as there are. More may follow.
SapOutcome sap_island_minimise(SapIsland *s, double tolerance, uint32_t iterations_max);

// Counts, and asks whether to stop once in 10^6.
void sap_island_spend(SapIsland *s, double operations);

// A pass over each bed in turn, whose work is counted; bed_add_momentum to p where that is there.
void sap_island_beds(SapIsland *s, BedKind kind, BedPass *pass, double *p);

// Factors the matrix that was made, and solves it for x.
LdltOutcome sap_island_factor(SapIsland *s);
void sap_island_solve(SapIsland *s, double *x);

// v := v* + A^-1 J^T gamma
void sap_island_velocities(SapIsland *s, const double *gamma, double *v);

// v and A (v - v*) of J^T gamma, which is made.
void sap_island_follow(SapIsland *s);

// |D gradient| <= 1e-14 + tolerance max(|D A v|, |D J^T gamma|)
bool sap_island_is_small(const SapIsland *s, const double *gradient, double tolerance);

// The impulses of the iterate, to their places in those of the whole problem.
void sap_island_store(const SapIsland *s, double *contact_impulse, double *row_impulse);
