// SPDX-License-Identifier: MIT
// What the machine, or the container that we run in, gives us.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// [bytes] of main memory that this process may use: the machine's, or less when its cgroup (version
// 1 or 2) says so.
uint64_t machine_memory_bytes(void);

// Of a terminal; 0 where it is none, or does not tell.
size_t machine_terminal_columns(FILE *stream);
