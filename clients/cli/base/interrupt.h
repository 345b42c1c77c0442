// SPDX-License-Identifier: MIT
// Ctrl-C as a question that a long command asks between two pieces of its work.
#pragma once

#include <stdbool.h>

// From now on the first Ctrl-C asks for an end; the second one ends.
void interrupt_catch(void);

// The end was asked for; never before interrupt_catch.
bool interrupt_wanted(void);
