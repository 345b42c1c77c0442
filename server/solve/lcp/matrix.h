// SPDX-License-Identifier: MIT
// The contacts and rows of an island as a linear complementarity problem (Stewart and Trinkle 1996)
// in the impulses, the Schur complement over the mass blocks, and its answer as impulses. A contact
// with friction brings, for k directions d_j,
//
//     w_j   = d_j u_t + lambda          >= 0  _|_  beta_j >= 0      j = 0 … k-1
//     w_n   = u_n                       >= 0  _|_  c_n    >= 0
//     w_lam = mu c_n - sum beta_j       >= 0  _|_  lambda >= 0,
//
// one without only w_n. A row y = G v + bias + R r that is bilateral is eliminated; one that only
// pushes is an unknown of its own; one with two bounds, friction that hangs on no contact (section
// 3.5 of the paper), has r = low + s and
//
//     w_s   = y + lambda                >= 0  _|_  s      >= 0
//     w_lam = high - low - s            >= 0  _|_  lambda >= 0.
//
// Unknowns are scaled by the square root of what the contact or row weighs, b by its largest entry.
// Bilateral rows that say what others say already carry nothing. Bounds that are too far away to be
// met are taken for none, and the answer shows whether they were.
#pragma once

#include "solve/direction.h"
#include "solve/lcp/system.h"
#include "solve/mass.h"

// What of a problem is to be solved. All is borrowed.
typedef struct LcpPart {
    const ContactProblem *problem;
    const ProblemMass *mass;
    uint32_t direction_count;
    const Direction *direction; // the second half is the first one's negative, exactly
    uint32_t contact_count, row_count;
    const uint32_t *contact, *row; // indices
    double v_scale;                // V
    bool keeps_far; // bounds of rows count also where no impulse is likely to come near them
} LcpPart;

// A contact's three velocities or a row's one is a *line* of the Schur complement.
typedef struct LcpUnknown {
    uint32_t line[2]; // an impulse: along line[0] by share[0] and along line[1] by share[1]
    double share[2];
    double scale; // the unknown, in its unit, is scale times its z
    bool is_impulse;
    uint32_t first; // a multiplier: of the unknowns that it bounds
} LcpUnknown;

typedef struct LcpLine {
    double base;        // a row's impulse where its unknown is 0 [N s]
    double sign;        // of its impulse above base
    double range;       // largest s; infinite: none
    double weight;      // diagonal of the Schur complement, before rows are eliminated [1/kg]
    bool is_eliminated; // bilateral, or taken for it
    bool is_skipped;    // it moves nothing, or it cannot change
} LcpLine;

typedef struct LcpMatrix {
    const LcpPart *part;
    LcpSystem system;
    LcpUnknown *unknown; // [system.count]
    double scale;        // of b
    uint32_t line_count;
    LcpLine *line;
    double *schur;    // line_count x line_count
    double *velocity; // [line_count] u or y without impulses
    uint32_t *pivot;  // [pivot_count] eliminated lines, in order
    uint32_t pivot_count;
    double *impulse; // [line_count] scratch
} LcpMatrix;

// How many rows the part's complementarity problem has, those to be eliminated among them.
uint64_t lcp_matrix_rows(const LcpPart *part);

// Memory is the arena's, and stays taken. Status RESOURCE_EXHAUSTED or ABORTED.
Status lcp_matrix_make(const LcpPart *part, Arena *arena, LcpCount *count, LcpMatrix *matrix);

// The impulses of the part's contacts and rows, of arrays of the whole problem; others stay.
void lcp_matrix_impulses(const LcpMatrix *matrix, const double *z, double *contact_impulse,
                         double *row_impulse);

// Whether the newest impulses of rows whose bounds were taken for none are within them.
bool lcp_matrix_is_within(const LcpMatrix *matrix);

// The basis that impulses of the whole problem, and the velocities that they make, hint at.
void lcp_matrix_guess(const LcpMatrix *matrix, const double *contact_impulse,
                      const double *row_impulse, const double *v, uint8_t *basis);
