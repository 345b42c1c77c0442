// SPDX-License-Identifier: MIT
// A linear complementarity problem and the judgement of its answers:
//
//     w = N z + b,     z >= 0,   w >= 0,   z_i w_i = 0
//
// Rows are scaled so that the diagonal of N is about 1 and the largest entry of b, but for those
// that are wide, is 1: tolerances are plain numbers.
//
// Where more contacts hold than are needed, many answers are as good, and physics says which: all
// give way a little, and so share what they carry. With D, the diagonal that N would have were each
// contact and row alone, N + e D has one answer there, and what becomes of it as e goes to 0 is the
// smallest z in the norm of D.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "solve/lcp/count.h"

#include <stdbool.h>
#include <stdint.h>

// What of D is an unknown's: between the directions of one contact's friction the product of their
// shares, of any other impulse 1, and of multipliers nothing. Directions go round, each at less
// than half a turn from the next, and behind the last come the contact's normal impulse and its
// multiplier.
typedef struct LcpShare {
    uint32_t begin, end; // the unknowns of the same contact's friction, or itself; empty: none
    double share[2];
} LcpShare;

typedef struct LcpSystem {
    uint32_t count;
    double *matrix;         // N, count x count, row by row
    double *b;              // [count]
    const uint8_t *is_wide; // [count] b_i is a bound of any size, which says nothing of the scale
    const LcpShare *share;  // [count]
} LcpSystem;

// D between two unknowns of one contact's friction, or of one with itself.
static inline double lcp_share(const LcpSystem *system, uint32_t i, uint32_t j) {
    const double *a = system->share[i].share, *b = system->share[j].share;
    return a[0] * b[0] + a[1] * b[1];
}

// With four sums, of every fourth number each.
double lcp_dot(const double *a, const double *x, size_t count);

// w = N z + b, and how far the two are from being an answer: the largest |min(z_i, w_i)|; infinite
// where anything is not a number.
double lcp_residual(const LcpSystem *system, const double *z, double *w, LcpCount *count);

// Whether z and w = N z + b, which lcp_residual has made, are an answer where min(z_i, w_i) is
// `enough` below or above 0, or the rounding of what w_i is the sum of.
bool lcp_is_answer(const LcpSystem *system, const double *z, const double *w, double enough,
                   LcpCount *count);

// Whether so little is rounding in row i.
bool lcp_is_rounding(const LcpSystem *system, const double *z, uint32_t i, double value);

// What a basis says of an unknown.
typedef enum LcpBasis { LCP_OUT, LCP_IN } LcpBasis;
