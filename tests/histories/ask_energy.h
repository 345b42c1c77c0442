// SPDX-License-Identifier: MIT
// What the book of energy of a step may leave unexplained, and which worlds gain energy as they are
// told to.
#pragma once

#include "support/harness_judge.h"
#include "world/world.h"

// What a world has of energy beside gravity, and by what it can come; before a step, or after. [J]
double ask_energy_scale(const World *world, double time_step);

// Of the velocities that were solved for: what falls asleep with its step has none after it. [J]
double ask_energy_of_motion(const ContactProblem *problem, const SolveResult *result, Arena *arena);

// By how much, in J, the book may be wrong as the answer's velocities are numbers in doubles; of a
// world as before the step. `rest` is what the momentum balance leaves, of the second certificate.
// HUGE_VAL: it cannot be told.
double ask_energy_rounding(const World *world, const ContactProblem *problem,
                           const SolveResult *result, double rest, Arena *arena);

// Explicit steps of what no step resolves gain energy without end, as is documented.
bool ask_energy_gains(const World *world, double time_step);

// Rows of joints at odds with each other, which all but repeat others: what meets them is as fast
// as targets divided by what is left of a row. true: faster than some 1e4 m/s.
bool ask_energy_is_at_odds(const ContactProblem *problem, double v_scale, Arena *arena);
