// SPDX-License-Identifier: MIT
// A linear complementarity problem and the judgement of its answers:
//
//     w = N z + b,     z >= 0,   w >= 0,   z_i w_i = 0
//
// Rows are scaled so that the diagonal of N is about 1 and the largest entry of b, but for those
// that are wide, is 1: tolerances are plain numbers.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "solve/lcp_count.h"

#include <stdint.h>

typedef struct LcpSystem {
    uint32_t count;
    double *matrix;         // N, count x count, row by row
    double *b;              // [count]
    const uint8_t *is_wide; // [count] b_i is a bound of any size, which says nothing of the scale
} LcpSystem;

// w = N z + b, and how far the two are from being an answer: the largest |min(z_i, w_i)|; infinite
// where anything is not a number.
double lcp_residual(const LcpSystem *system, const double *z, double *w, LcpCount *count);

// What a basis says of an unknown; of two that are one too many, the likely one stays.
typedef enum LcpBasis { LCP_OUT, LCP_LIKELY, LCP_IN } LcpBasis;

// The z whose entries are 0 but for those of the basis, where w is 0, by Gaussian elimination with
// partial pivoting and one refinement. Unknowns whose columns depend on those before them, as where
// more contacts hold than need be, stay 0: whether w is 0 there all the same is for the residual to
// say. RESOURCE_EXHAUSTED, ABORTED; all memory is given back.
Status lcp_solve_basis(const LcpSystem *system, const uint8_t *basis, Arena *arena, LcpCount *count,
                       double *z);
