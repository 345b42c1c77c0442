// SPDX-License-Identifier: MIT
// Trees that fly by stages: schemes that ask for accelerations at places on their way, and give
// back a velocity and what moves the tree there, `moving`, from where it was. What is along the
// coordinates is taken as it is at each stage, nothing of it is implicit: so a tree goes by stages
// only in a step that resolves it, and as under symplectic otherwise.
//
// Three turns move by Cayley's rotation (tree_advance): with p(s) = normalise(1, s/2), q p(s) turns
// by the spin w where s' = w + 1/2 s x w + 1/4 s (s . w), and in numbers s the scheme of Runge and
// Kutta keeps its order (Munthe-Kaas).
#pragma once

#include "step/trees/flight.h"

// What springs, dampers and drives may make of h^2 w^2 and h times the slowing of rates, all of a
// tree added up: no mode of it is faster. Stages are stable up to 2.8, and keep energies up to 1
// but for 1/72 in a step.
#define STAGED_STIFF 1.0

// [rad] that no link may turn by in a step.
#define STAGED_TURN 0.5

// Takes a step of links as at its begin, and leaves them there, with `matrix` of a narrow tree.
// false: not resolved; links are anywhere.
bool tree_fly_staged(TreeFlight *flight, double *v);
