// SPDX-License-Identifier: MIT
// A second opinion: the problem of a step, solved again with exact Coulomb friction, however the
// step solved it, and how far apart the two answers are.
//
//   gap = max over contacts and rows i of |J_i (v - v')| / V
//
// v: the velocities that the step went on with; v': those of mdp with friction = coulomb; J_i: the
// Jacobian of contact i (three numbers) or row i (one); V: the velocity scale of the island that it
// is on, as of the certificate. 0 where nothing touches.
//
// Only what is wrong shall be a gap, not what a model is meant to do. So v' belongs to the problem
// that the solver was handed: the same contacts, biases, and masses. Of a model that is soft in
// the normal direction, or in rows, each contact and row is asked for the velocity that its own
// spring and damper give at the impulse that the solver found: an exact answer of such a model has
// no gap. What the model does to friction (a cone that launches, regularised friction that creeps,
// a polyhedron), and what it left unsolved, is one. And v' is looked for from the step's own
// impulses: where Coulomb friction has several answers, one that the step found has no gap.
#pragma once

#include "solve/solver.h"

// A problem and its answer, in memory of their own. Data of whoever keeps it.
typedef struct OpinionCase {
    ContactProblem problem; // its impulses to start from are the answer's
    const double *v;        // [velocity_count] the answer
    double e_ds;            // its distance from exact Coulomb friction, of its own certificate
    bool converged;
} OpinionCase;

// What a case needs beside itself, aligned as malloc does.
size_t opinion_bytes(const ContactProblem *problem);

// Copies what a solver was asked and has answered. `memory`: so many bytes, the case's from now on.
void opinion_keep(OpinionCase *kept, const ContactProblem *problem, const SolveResult *result,
                  void *memory);

typedef struct Opinion {
    double gap;
    double residual; // e_own of the exact answer; above the tolerance: it was not found
} Opinion;

// What is not finite is OPINION_NOT_FINITE. Fails as solver_solve does. `scratch` is used and given
// back.
#define OPINION_NOT_FINITE 1.7976931348623157e308
Status opinion_give(const OpinionCase *kept, double tolerance, const Context *context,
                    Arena *scratch, Opinion *opinion, Error *error);
