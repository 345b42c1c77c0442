// SPDX-License-Identifier: MIT
// `moreau-server --check FILE`: says what is wrong with a file, and changes nothing. A server may
// have it open.
#pragma once

#include "base/status.h"

#include <stdio.h>

// A sentence per find goes to `out`, and one that sums them up. DATA_LOSS when there is one.
Status inspect_file(const char *path, FILE *out, Error *error);
