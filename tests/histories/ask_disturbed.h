// SPDX-License-Identifier: MIT
// An answer that is wrong, with the certificate that the server gives it. Solvers make velocities
// of their impulses, so that of their answers e_mom is never more than rounding: whether it tells
// what is unaccounted for shows only where something is.
#pragma once

#include "solve/solver.h"

// The answer with its impulses, and its velocities, disturbed by up to a thousandth. What it points
// to lives in the arena.
SolveResult ask_disturbed(const ContactProblem *problem, const SolveResult *result, uint64_t seed,
                          Arena *arena);
