// SPDX-License-Identifier: MIT
// How a linear complementarity problem is solved whatever it is like: a basis that is at hand, if
// need be with what it gets wrong exchanged a few times, then Lemke's algorithm, and where its
// answer does not pass the check, a rung higher, with care (lemke.h).
//
// Where more contacts hold than are needed there are many answers, and a vertex, which is what
// pivots find, has all that a face carries in one corner: about it a box that two fingers hold is
// free to turn, and does. So Lemke's algorithm is first run on N + e D, whose answer all corners
// carry, and the answer is the smallest of its basis (system.h) without e.
//
// A higher rung is the proximal point algorithm (Rockafellar 1976): with a multiple of the identity
// added to N, more contacts than are needed make no ties, and
//
//     w = N z + b + e (z - z_before)
//
// is solved again and again until z = z_before, which takes out what was added. Every answer is
// that of its basis, and is checked: z >= 0, w >= 0 and complementary, to a share of the scale of
// b, or to what rounding leaves of the terms of a row: where impulses are a million times b no rung
// finds anything better. The best of all that was found is returned.
#pragma once

#include "solve/lcp/lemke.h"
#include "solve/rung.h"

typedef struct LcpClimbOptions {
    bool has_basis;            // there is one to try first
    uint64_t pivot_max;        // of all attempts
    double enough;             // of the scale of b: what passes the check
    IterationHistory *history; // Nullable: of the first attempt with Lemke
} LcpClimbOptions;

typedef struct LcpClimb {
    LcpRung rung;
    double residual; // of the answer
} LcpClimb;

// `basis` holds the basis to try first, if there is one, and the answer's afterwards. Status
// RESOURCE_EXHAUSTED or ABORTED; all memory is given back.
Status lcp_climb(const LcpSystem *system, const LcpClimbOptions *options, Arena *arena,
                 LcpCount *count, double *z, uint8_t *basis, LcpClimb *climb);
