// SPDX-License-Identifier: MIT
// Time for servers, logs and benchmarks. Nothing in the dynamics reads it: a step is handed a clock
// by whoever runs it.
#pragma once

#include <stdint.h>

// [ns] of a clock that never goes back
uint64_t clock_now_ns(void);

// [ns] since 1970
uint64_t clock_wall_ns(void);
