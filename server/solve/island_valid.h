// SPDX-License-Identifier: MIT
// Whether islands are those of a problem.
#pragma once

#include "base/defect.h"
#include "solve/island.h"

// Every tree, and each contact and row with a tree, is on one island, that of all its trees, and
// listed there; the lists rise. What shares have to do is all there is, once.
bool islands_are_valid(const ContactProblem *problem, const Islands *islands, Defect *defect);
