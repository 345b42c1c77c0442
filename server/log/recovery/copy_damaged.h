// SPDX-License-Identifier: MIT
// What can still be read of a file that SQLite finds damaged, copied into a new one: rows first,
// as far as SQLite reads them, and then every sealed chunk that lies on any page.
#pragma once

#include "base/status.h"

#include <stdio.h>

// The damaged file is only read. The rows of the copy say what they said: rebuild_rows makes them
// right. A sentence per table goes to `out`. ALREADY_EXISTS when there is something at `target`.
Status copy_damaged(const char *path, const char *target, FILE *out, Error *error);
