// SPDX-License-Identifier: MIT
// One island of compliant contacts, in its velocities: with the laws of law.h,
//
//     gamma = P(x),   v = v* + A^-1 J^T gamma,   e(x) = 0,
//
// one Newton's method for normals, rows and friction together. With D = T (S - w T)^-1
//
//     (A + J^T D J) d_v = -J^T D e,    d_x = -(S - w T)^-1 (e + J d_v).
//
// The matrix is of the trees' velocities, M plus the springs that push: however stiff they are, and
// however many of them say the same, velocities keep their digits, as only e, what is left, is
// divided by an R that may be small; in forces the condition would be that of z W. It is as sparse
// as the graph of trees and contacts, and one plan of elimination serves all steps. Where contacts
// slide it is not symmetric.
//
// Coulomb's law is the gradient of nothing, so Newton's steps need not come. Where they do not, a
// *path* mostly leads there: everything as soft as the bodies are heavy, R at least `share` w, and
// stiffer from answer to answer; there a step is halved until e falls. Where that ends, too, the
// *staggered* iteration goes on: friction within bounds mu gamma_n of the normal impulses before,
// which is strictly convex (that of sap with lagged friction, solve/descent/island.h, in this
// model's R), and bounds anew from the impulses that come of it. Its fixed points are the same. A
// path may also fold: what comes after it is almost an answer and none, and there neither ends.
#pragma once

#include "solve/compliant/law.h"
#include "solve/descent/island.h"

typedef struct CompliantIsland {
    SapIsland sweep;          // its layout, velocities and impulses, and what a sweep needs
    SapLaw *sweep_law;        // [constraint_count] with the bounds of the newest sweep
    Ldlt ldlt;                // not symmetric
    const CompliantLaw **own; // [constraint_count] NULL: it moves nothing, or is a cell of a bed …
    const CompliantLaw **bed_law; // [constraint_count] … whose law this is
    bool has_rough_bed;           // of cells with friction
    CompliantLaw *law;            // [constraint_count] the same, softened
    bool halves;                  // steps that do not lead down
    double *x;                    // [impulse_count]
    SapNearest nearest;           // since x was set
    double *from_x, *d_x;         // the newest step
    double *e;                    // [impulse_count] [m/s]
    double *kept;                 // [impulse_count] impulses
    double *inverse;              // [9 constraint_count] (S - w T)^-1
    double *slope;                // [9 constraint_count] D
    double residual;              // the largest number of e [m/s]
    double merit;                 // e . S^-1 e
} CompliantIsland;

// `sweep` is laid out, without laws; those of the problem are `contact_law` and `row_law`. The rest
// is nothing before. RESOURCE_EXHAUSTED when the arena ends.
Status compliant_island_init(CompliantIsland *p, const CompliantLaw *contact_law,
                             const CompliantLaw *row_law, Arena *arena, Error *error);

// Starts from impulses of the whole problem, or from none, whichever is nearer.
void compliant_island_begin(CompliantIsland *p, const double *contact_impulse,
                            const double *row_impulse);

// Newton's steps until no number of e is above `velocity`, or as many as there are. More may
// follow. SAP_STALLED: it has not come half as near for some steps.
SapOutcome compliant_island_newton(CompliantIsland *p, double velocity, uint32_t iterations_max);

// Back to where it was nearest.
void compliant_island_back(CompliantIsland *p);

// From the impulses at hand, with every R at least this share of its w; 0: as it is.
void compliant_island_soften(CompliantIsland *p, double share);

// Keeps the impulses at hand, and puts them back.
void compliant_island_keep(CompliantIsland *p);
void compliant_island_restore(CompliantIsland *p);

// So many sweeps of the staggered iteration, each to `tolerance`.
SapOutcome compliant_island_stagger(CompliantIsland *p, uint32_t sweeps, double tolerance,
                                    uint32_t iterations_max);

// The impulses to their places in those of the whole problem.
void compliant_island_store(const CompliantIsland *p, double *contact_impulse, double *row_impulse);
