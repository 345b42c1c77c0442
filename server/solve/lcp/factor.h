// SPDX-License-Identifier: MIT
// The part of a linear complementarity problem that a basis picks, N x = -b on its rows, by
// Gaussian elimination with complete pivoting: what the largest entries say comes first, and where
// nothing but rounding is left the rank is found.
#pragma once

#include "solve/lcp/system.h"

typedef struct LcpFactor {
    const LcpSystem *system;
    size_t count, rank;
    size_t stride;    // of a row
    double *number;   // count rows: U, and left of its diagonal L
    uint32_t *row;    // [count] the unknown whose equation a row is
    uint32_t *column; // [count] the unknown of a column
    double *largest;  // [count] size of a number of the row, but for columns of pivots
} LcpFactor;

// Of the unknowns of the basis. Memory is the arena's, and stays taken; false: it has too little.
bool lcp_factor_make(const LcpSystem *system, const uint8_t *basis, Arena *arena, LcpCount *count,
                     LcpFactor *factor);

// The x that makes the equations of the pivots' rows right sides `y`, [count] in the order of rows,
// in whose place it is, in the order of columns; unknowns that are no pivots stay 0.
void lcp_factor_solve(const LcpFactor *factor, double *y, LcpCount *count);
