// SPDX-License-Identifier: MIT
// What the machine, or the container that we run in, gives us.
#pragma once

#include <stdint.h>

// [bytes] of main memory that this process may use: the machine's, or less when its cgroup (version
// 1 or 2) says so.
uint64_t machine_memory_bytes(void);
