// SPDX-License-Identifier: MIT
// One island of a contact problem, laid out for Newton's method: contacts and rows alike are
// constraints, of three rows or of one, with a dense Jacobian for each tree that they move, and the
// trees are the blocks of a sparse system (base/ldlt.h) in velocity space:
//
//     v = v_free + M^-1 J^T gamma,   u = J v + offset (+ R gamma),   A(H) = M + J^T H J
//
// where H is a 3 x 3 or 1 x 1 block for each constraint. `offset` is motion and bias.
#pragma once

#include "base/ldlt.h"
#include "solve/certificate_relation.h"
#include "solve/island.h"
#include "solve/mass.h"

enum { NEWTON_ROWS_MAX = 3 };

typedef struct NewtonBlock {
    uint32_t tree; // of the island
    uint32_t width;
    size_t velocity;        // of its velocities in the island's
    const double *jacobian; // rows x width, row by row
} NewtonBlock;

typedef struct NewtonConstraint {
    uint32_t index;       // contact or row of the problem
    uint32_t rows;        // 3: a contact, 1: a row
    size_t first;         // of its impulses in the island's
    uint32_t block_first; // in `block`
    uint32_t block_count; // trees that it moves; 0: nothing, its impulse stays 0
    size_t edge_first;    // in the graph: one for each pair of its blocks
    double w;             // trace(A_ii) / rows
    double offset[NEWTON_ROWS_MAX];
    double mu;
    double low, high, compliance; // of a row
    double turn[2];               // maximum dissipation: k a, see cone.h; else 0
} NewtonConstraint;

typedef struct NewtonIsland {
    const ContactProblem *problem;                        // borrowed
    const ProblemMass *mass;                              // borrowed
    uint32_t tree_count, constraint_count, contact_count; // contacts come first
    size_t velocity_count, impulse_count;
    const uint32_t *tree; // [tree_count] of the problem; borrowed
    size_t *velocity;     // [tree_count + 1] where a tree's velocities begin
    double *v_free;       // [velocity_count]
    NewtonConstraint *constraint;
    NewtonBlock *block;
    Graph graph;      // of the trees
    double v_scale;   // V [m/s]
    RelationKind law; // RELATION_CONE or RELATION_DISSIPATION
    double *scratch;  // [6 width_max]
    double *piece;    // [width_max^2]
    Asker *asker;     // Nullable: hears of all work here; who stops it does so between two pieces
} NewtonIsland;

// Lays out island number `island`; `asker` (Nullable) is borrowed. RESOURCE_EXHAUSTED when the
// arena ends.
Status newton_island_init(NewtonIsland *n, const ContactProblem *problem, const ProblemMass *mass,
                          const Islands *islands, uint32_t island, RelationKind law, double v_scale,
                          Asker *asker, Arena *arena, Error *error);

// u := J v, without its offset
void newton_product(const NewtonIsland *n, const NewtonConstraint *c, const double *v, double *u);

// p += J^T gamma
void newton_momentum(const NewtonIsland *n, const NewtonConstraint *c, const double *gamma,
                     double *p);

// p := M v
void newton_masses(const NewtonIsland *n, const double *v, double *p);

// v := v_free + M^-1 J^T gamma
void newton_velocities(const NewtonIsland *n, const double *impulse, double *v);

// The matrix, without any constraint.
void newton_begin_matrix(const NewtonIsland *n, Ldlt *ldlt);
// += J^T H J of one constraint, H row by row. Of a symmetric matrix H must be symmetric.
void newton_add_matrix(const NewtonIsland *n, Ldlt *ldlt, const NewtonConstraint *c,
                       const double *h);

// The largest own residual of the island over V, as the certificate has it, of impulses whose
// velocities are v; NaN where something is not a number.
double newton_residual(const NewtonIsland *n, const double *impulse, const double *v);
