// SPDX-License-Identifier: MIT
// Secrets that clients show.
#pragma once

#include <stdbool.h>

// Compares all of both, so that the time says nothing about where they differ.
bool secret_matches(const char *given, const char *wanted);

// Overwrites it, whoever reads the memory afterwards. Nullable.
void secret_wipe(char *secret);
