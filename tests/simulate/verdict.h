// SPDX-License-Identifier: MIT
// What a file must hold after all that was done to its servers: every episode that an answer
// promised, as far as it promised, and nothing that did not happen. The README's table "What is
// guaranteed when" is checked line by line.
#pragma once

#include "simulate/history.h"

// Asks the server that now has the file about every episode of the history, and goes on with every
// group that was recorded. A task's, like a client.
void verdict_ask(const char *address, History *history);

// The file that a server has left at its orderly end: alone, and sound.
void verdict_file(const char *path);

// A copy of it that was made while it was written, if there is one: whole.
void verdict_copy(const char *path);
