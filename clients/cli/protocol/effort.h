// SPDX-License-Identifier: MIT
// What a step may cost, as it is typed.
#pragma once

#include "cli/cli.h"
#include "moreau.pb-c.h"

// Of a world whose settings do not say.
#define EFFORT_DEFAULT MOREAU__V1__EFFORT__KIND__BALANCED

// EXIT_USAGE, with what is wrong said, where it is none.
int effort_read(Cli *cli, const char *text, Moreau__V1__Effort__Kind *effort);
