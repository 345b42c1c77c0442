// SPDX-License-Identifier: MIT
// Whether a step resolves a tree, so that it may go by stages (staged.h).
#pragma once

#include "step/trees/flight.h"

// What springs, dampers and drives may make of h^2 w^2 and h times the slowing of rates, all of a
// tree added up: no mode of it is faster. Runge and Kutta's stages are stable up to 2.8, and keep
// energies up to 1 but for 1/72 in a step; Verlet's up to 2.
#define STAGED_STIFF 1.0

// [rad] that no link may turn by in a step.
#define STAGED_TURN 0.5

// Of links that are moving.
bool tree_turns_little(const TreeFlight *flight);

// Of links as at the begin; `rest` is lost.
bool tree_is_soft(TreeFlight *flight);

// Of changes of velocity, of links that are placed; how these move is lost.
double tree_change_energy(TreeFlight *flight, const double *change);

// Between links as at the begin of the step, with the factor of their mass, and those of stages.
void tree_change_links(TreeFlight *flight);
