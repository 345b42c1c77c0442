// SPDX-License-Identifier: MIT
// Whether a problem that our own step made is one: that all that is named in it exists, and that
// its numbers and frames are. (What comes from outside is judged by problem_check, which also asks
// whether masses are definite; that is the solvers' to find out here.)
#pragma once

#include "base/defect.h"
#include "solve/island.h"
#include "solve/problem.h"

bool problem_is_valid(const ContactProblem *problem, Defect *defect);

// Every tree, and each contact and row with a tree, is on one island, that of all its trees, and
// listed there; the lists rise. What shares have to do is all there is, once.
bool islands_are_valid(const ContactProblem *problem, const Islands *islands, Defect *defect);
