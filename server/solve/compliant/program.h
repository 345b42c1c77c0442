// SPDX-License-Identifier: MIT
// The paper's friction program as it prints it, on one island: with forces x = gamma / h,
//
//     min  sum zeta / 2 x_n^2 + 1/2 |x_t|^2 + 1/2 |beta|^2,    beta = x_t + B_t u_t,
//     |x_t| <= mu x_n,    x_n >= F0 - (h K + B) u_n,    u of the end of the step.
//
// One-sided rows are contacts without tangents; rows that are bounded from both sides are friction
// whose bound is given; bilateral rows are springs that push as they do, and belong to the mass.
// It is strictly convex, and not Coulomb's law, nor the max law: a contact that separates may push,
// and pushes harder to gain friction.
//
// In the numbers of law.h, with R_t = 1 / (h B_t), and B_t^2 taken out,
//
//     min  sum zeta R_t^2 / 2 gamma_n^2 + R_t^2 / 2 |gamma_t|^2 + 1/2 |b|^2,
//     b = u_t + R_t gamma_t - target_t,    p = u_n + R_n gamma_n - target_n >= 0,
//
// so what decides is 1e-10 or less of what does not: normal equations have no digits left. A
// primal-dual interior-point method finds it in velocities v and their adjoint y,
//
//     A (v - v*) = J^T gamma,    A y = J^T (-eta e_n + b),
//
// which is a sparse system on the graph of trees with blocks of twice their width, whose residuals
// are of the size of what decides.
#pragma once

#include "solve/compliant/law.h"
#include "solve/newton/island.h"

typedef struct ProgramPart ProgramPart;

typedef struct CompliantProgram {
    const NewtonIsland *island; // borrowed
    const CompliantLaw *contact_law, *row_law;
    double zeta, tangent; // tangent: R_t
    double weight;        // of the whole objective
    Graph graph;          // that of the island, twice as wide
    LdltPlan plan;
    Ldlt ldlt;
    ProgramPart *part; // [constraint_count]
    double *v, *y;     // [velocity_count]
    ProgramPart *best; // the iterate of the least gap after a good step
    double *best_v, *best_y, best_gap, mark, first_gap;
    uint32_t marked_at; // its iteration
    double *rest;       // [2 velocity_count] right side and step, for each tree of v and of y
    double *work;       // [5 velocity_count]
    double *kept;       // [2 velocity_count]
    double *piece;      // [2 (2 width_max)^2] and what makes them
    uint32_t bound_count;
    uint32_t iterations;
    double gap;   // of the iterate: of one bound, gamma z [m^2/s^2]
    double taken; // how much of the newest step was
    Asker asker;
} CompliantProgram;

typedef enum ProgramOutcome {
    PROGRAM_MET,
    PROGRAM_STALLED,
    PROGRAM_SPENT,
    PROGRAM_NOT_FINITE,
    PROGRAM_STOPPED
} ProgramOutcome;

// `island` and the laws of the problem stay the caller's. RESOURCE_EXHAUSTED when the arena ends,
// or a factor would be too large.
Status compliant_program_init(CompliantProgram *p, const NewtonIsland *island,
                              const CompliantLaw *contact_law, const CompliantLaw *row_law,
                              double zeta, double tangent, const Stop *stop, Arena *arena,
                              Error *error);

// Steps until there are so many, or doubles know no better.
ProgramOutcome compliant_program_minimise(CompliantProgram *p, double tolerance,
                                          uint32_t iterations_max);

// Impulses, and what the certificate needs to judge them by, to their places in the answer. Of the
// arena nothing stays taken.
Status compliant_program_store(CompliantProgram *p, Answer *answer, Arena *arena, Error *error);
