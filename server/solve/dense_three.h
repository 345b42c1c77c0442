// SPDX-License-Identifier: MIT
// Three columns solved at once, as contacts have them: one alone waits for its factor more than it
// computes. Each becomes what dense_solve makes of it, bit by bit, on every machine:
//
//   dense_three_simd.h    the solve, for vectors of SIMD_COUNT columns
//   dense_three_avx2.c    four of them, where the machine has AVX2
//   dense_three.c         two of them, which every machine has; the choice
#pragma once

#include <stddef.h>

enum { DENSE_THREE_MAX = 32 }; // wider ones are solved one by one

// x := (L D L^T)^-1 of three columns of `from`, one behind the other; `factor` is dense_factor's.
void dense_solve_three(size_t n, const double *factor, const double *from, double *x);

// The same, up to DENSE_THREE_MAX, for machines with AVX2 only.
void dense_solve_three_avx2(size_t n, const double *factor, const double *from, double *x);
