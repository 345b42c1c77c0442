// SPDX-License-Identifier: MIT
// Whether a problem that our own step made is one: that all that is named in it exists, and that
// its numbers and frames are. (What comes from outside is judged by problem_check, which also asks
// whether masses are definite; that is the solvers' to find out here.)
#pragma once

#include "base/defect.h"
#include "solve/problem.h"

bool problem_is_valid(const ContactProblem *problem, Defect *defect);
