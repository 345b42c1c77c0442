// SPDX-License-Identifier: MIT
// Trees that fly by stages: schemes that ask for accelerations at places on their way, and give
// back a velocity and what moves the tree there, `moving`, from where it was. What is along the
// coordinates is taken as it is at each stage, nothing of it is implicit: so a tree goes by stages
// only in a step that resolves it, and as under symplectic otherwise.
#pragma once

#include "step/trees/flight.h"

// Takes a step of links as at its begin, and leaves them there, with `matrix` of a narrow tree, and
// that of their masses and `added` factored, as rows ask for it (step/rows/mobility.c). false: not
// resolved; links are anywhere.
bool tree_fly_staged(TreeFlight *flight, double *v);
