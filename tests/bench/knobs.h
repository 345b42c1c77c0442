// SPDX-License-Identifier: MIT
// A solver's parameters as a table of a bench has them: "method=newton tolerance=1e-8".
#pragma once

#include "solve/solver.h"

// Sets all; a choice by its name, on and off. false: this build does not have one of them.
bool knobs_set(SolverSettings *settings, const char *parameters);
