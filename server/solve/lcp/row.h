// SPDX-License-Identifier: MIT
// What pivots spend their time on: from a row of the tableau is taken a multiple of another
// one. The same bits by either,
//
//   row.c             two numbers at a time, on every machine
//   row_avx2.c        four of them, where the machine has AVX2
#pragma once

#include <stddef.h>

// row -= factor above. Both are aligned to 64 bytes, and `count` is a multiple of 8.
void lcp_row_subtract(double *row, const double *above, double factor, size_t count);

// The same; returns the largest size of a number that the row has then.
double lcp_row_subtract_largest(double *row, const double *above, double factor, size_t count);

void lcp_row_subtract_avx2(double *row, const double *above, double factor, size_t count);

double lcp_row_subtract_largest_avx2(double *row, const double *above, double factor, size_t count);
