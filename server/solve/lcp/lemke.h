// SPDX-License-Identifier: MIT
// Lemke's algorithm with lexicographic degeneracy resolution (Cottle, Pang, Stone: The Linear
// Complementarity Problem, 4.4 and 4.9) on the condensed tableau: of the columns of
//
//     [ I | -N | -d ] (w, z, z0) = b
//
// only those of the variables that are not basic are kept, as the others are unit vectors. The
// columns of the inverse of the basis, which ties are resolved by, are those of w.
//
// An entry of the ratio test counts where it is more than 1e-11 of the largest of its column. What
// would be smaller than `tie` of the largest variable after the pivot ties. Where z0 would be
// smaller than a hundred times that share of the terms it is the sum of, it leaves: with b full of
// exact zeros it leaves in a multiple tie, and an absolute tolerance would end in rays that are
// none.
//
// A careful run costs about twice as much for each pivot, and loses less to rounding: rows tie only
// where they differ by what rounding leaves in them, and every tenth of as many pivots as there are
// rows the tableau is made anew from the basis, by the largest pivots that there are.
#pragma once

#include "base/history.h"
#include "solve/lcp/system.h"

typedef enum LemkeEnd {
    LEMKE_SOLVED,
    LEMKE_RAY,   // the column of the variable that enters bounds nothing
    LEMKE_PIVOTS // as many as were allowed: they go round, or were too few
} LemkeEnd;

typedef struct LemkeOptions {
    const double *cover; // [count] d > 0
    double tie;          // relative tolerance of ties
    double softness;     // e: N + e D stands for N (system.h)
    bool is_careful;
    uint64_t pivot_max;
    IterationHistory *history; // Nullable: filled with z0, of the scale of b, after each pivot
} LemkeOptions;

// Where it ends. LEMKE_SOLVED: z, and the basis it belongs to. All memory is given back.
Status lemke_run(const LcpSystem *system, const LemkeOptions *options, Arena *arena,
                 LcpCount *count, double *z, uint8_t *basis, LemkeEnd *end);
