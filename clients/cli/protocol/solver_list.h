// SPDX-License-Identifier: MIT
// --solver NAMES: one solver, several with commas between, or all.
#pragma once

#include "cli/cli.h"

enum { SOLVER_LIST_BYTES = 256 };

// `text` is where the names stay. A list that is none is a usage error, after a sentence.
int solver_list_read(Cli *cli, const char *wanted, char text[SOLVER_LIST_BYTES],
                     OptionList *solvers);
