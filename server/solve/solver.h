// SPDX-License-Identifier: MIT
// The contact solvers, side by side behind one interface: each has one entry point and one row in
// the table of solver.c.
#pragma once

#include "solve/method.h"

const Solver *solver_get(SolverKind kind);

// false: no solver of that name
bool solver_find(const char *name, SolverKind *kind);

// Defaults: for a world, or for the call Solve.
SolverSettings solver_default(SolverKind kind);
SolverSettings solver_solve_default(SolverKind kind);

// Sets one parameter after checking it. `field` of the error is the parameter's name.
Status solver_set(SolverSettings *settings, const char *name, double value, Error *error);

// Leaves only so much effort as a solve may take every time, after some that were in vain.
void solver_ease(SolverSettings *settings);

// Solves; the result's arrays live in `arena`. Fails only when the arena ends (RESOURCE_EXHAUSTED),
// when it was asked to stop (ABORTED), or when the problem lacks what the model cannot do without
// (INVALID_ARGUMENT; `field` is the key in the file format, as contacts[3].stiffness); a solver
// that did not reach its tolerance, or ended in numbers that are not finite, says so in the
// certificate.
Status solver_solve(const SolverSettings *settings, const ContactProblem *problem,
                    const Context *context, Arena *arena, SolveResult *result, Error *error);
