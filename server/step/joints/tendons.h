// SPDX-License-Identifier: MIT
// Tendons in a step: a force f along one pulls each axis that it couples with c f, c what it has of
// that axis. Limits, dry friction, and what is taken where the integrator says, are rows (rows.c);
// efforts, and under the explicit integrator springs, dampers and drives, are those of the begin.
#pragma once

#include "step/state/state.h"

// Once it is known which commands act. false: memory ends.
bool tendons_pull(StepState *state);

// Where the step takes a tendon, and how fast it is then (Nullable). `later`: a world whose poses,
// and velocities, are those of bodies then.
void tendon_after(const StepState *state, const World *later, const Joint *tendon, double *length,
                  double *rate);

// What springs hold, in the energy book, and of what pulled at joints as if it were fed forward
// what springs and dampers did. Once all bodies have landed.
void tendons_book(const StepState *state, StepEnergy *energy);
