// SPDX-License-Identifier: MIT
// What can still be read of a file that SQLite finds damaged, copied into a new one.
#pragma once

#include "base/status.h"

#include <stdio.h>

// Copies row by row, skipping what cannot be read. The damaged file is only read. Chunks whose
// recording's row is lost get one made from their own headers, recordings without an episode an
// episode named `recovered`. A sentence per table goes to `out`. ALREADY_EXISTS when there is
// something at `target`.
Status salvage_file(const char *path, const char *target, FILE *out, Error *error);
