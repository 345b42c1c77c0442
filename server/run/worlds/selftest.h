// SPDX-License-Identifier: MIT
// Whether this build computes the bits of its dynamics version: a golden scene is stepped when the
// server starts, and its hash compared with the one that is compiled in. A compiler that fuses
// multiplications and additions, or reorders sums, makes a server that works and whose recordings
// no other server can repeat: that one records nothing and verifies nothing.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Steps the scene: some milliseconds. 0: memory ended.
uint64_t selftest_hash(void);

// The hash that every build of this dynamics version gives. When it is meant to change: run
// `MOREAU_PRINT_GOLDEN=1 run-worlds-check_selftest` and copy the value (tests/step/check_golden.c
// says when).
uint64_t selftest_golden(void);
