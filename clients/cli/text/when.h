// SPDX-License-Identifier: MIT
// Moments as people write them.
#pragma once

#include <stdbool.h>

// [s] since 1970
double when_now(void);

// "2026-11-21", "2026-11-21 14:05", "2026-11-21T14:05:30" in local time, or how long before `now`:
// "90s", "15min", "2h", "3d". false: neither.
bool when_parse(const char *text, double now, double *seconds);
