// SPDX-License-Identifier: MIT
// Ctrl-C as a question that a long command asks between two pieces of its work; and a file that is
// not to outlive a signal.
#pragma once

#include <stdbool.h>

// From now on the first Ctrl-C asks for an end; the second one ends.
void interrupt_catch(void);

// The end was asked for; never before interrupt_catch.
bool interrupt_wanted(void);

// Until interrupt_keeps, Ctrl-C, TERM or HUP removes this file before it ends the program.
// `path` is borrowed until then.
void interrupt_removes(const char *path);
void interrupt_keeps(void);
